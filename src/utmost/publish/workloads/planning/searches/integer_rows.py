"""Search for integer rows along every axis, and their products."""

from utmost.publish.workloads.measuring.product_errors import MOST_VALUES_WITH_ROWS
from utmost.publish.workloads.measuring.wanted_sums import wants_marginals
from utmost.publish.workloads.planning.product_search import product_rows
from utmost.publish.workloads.planning.searches.plan_search import FoundSums, PlanRequest, SearchObstacle, mean_alone


class RowSearch:
    """Search for real rows along one axis after another, rounded to integers."""

    name = "integer rows"

    def obstacle(self, request: PlanRequest) -> SearchObstacle | None:
        if request.unit.is_shared or request.together is not None:
            return SearchObstacle("integer rows cannot be combined with ut.mean or together=", "Leave out method=.")
        if wants_marginals(request.workload):
            return SearchObstacle(
                "integer rows can be searched only for at most 64 tables over a small domain", "Leave out method=."
            )
        sizes = request.workload.domain.shape
        if max(sizes, default=1) > MOST_VALUES_WITH_ROWS or max(sizes, default=1) < 2:
            return SearchObstacle(
                f"integer rows can be searched only along axes of 2 to {MOST_VALUES_WITH_ROWS} values",
                "Leave out method=.",
            )
        return mean_alone(self.name, request)

    def search(self, request: PlanRequest) -> FoundSums:
        rows, _ = product_rows(request.workload, request.level_of_cells)
        return FoundSums(rows.shares, rows=rows)
