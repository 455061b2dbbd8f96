"""Search for signed sums along an axis of three to five values, if one individual enlarges a row's cells together."""

from utmost.publish.workloads.planning.product_search import product_rows
from utmost.publish.workloads.planning.searches.plan_search import FoundSums, PlanRequest, SearchObstacle, mean_alone


class SignedSearch:
    """Search for sums with coefficients 1 and -1 along the axis ``together``, and integer ones along all other axes."""

    name = "signed sums"

    def obstacle(self, request: PlanRequest) -> SearchObstacle | None:
        if request.together is None:
            remedy = "Pass together=, the axis along which one individual changes all cells of a row."
            return SearchObstacle("signed sums need together=, an axis of three to five values", remedy)
        if request.together.values == 2:
            return SearchObstacle("signed sums need an axis of three to five values", 'Pass method="rotated".')
        if not request.unit.nonnegative or request.unit.needs_sizes:
            remedy = "Pass nonnegative=True in the unit, if no individual lowers a cell."
            return SearchObstacle("signed sums need a unit with nonnegative=True", remedy)
        return mean_alone(self.name, request)

    def search(self, request: PlanRequest) -> FoundSums:
        assert request.together is not None, "an obstacle"
        together = request.together.name
        rows, _ = product_rows(request.workload, request.level_of_cells, together)
        return FoundSums(rows.shares, together, rows)
