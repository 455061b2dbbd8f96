"""Search for marginals and differences of the two values of axes, if complete tables are wanted."""

from functools import partial

from utmost.publish.workloads.measuring.wanted_sums import wants_tables
from utmost.publish.workloads.planning.least_under_conditions import least_under_conditions
from utmost.publish.workloads.planning.searches.marginals import tables_shares
from utmost.publish.workloads.planning.searches.plan_search import (
    FoundSums,
    PlanRequest,
    SearchObstacle,
    mean_alone,
)


class DifferenceSearch:
    """Search for budget shares of tables and of differences, by descent."""

    name = "differences of two values"

    def obstacle(self, request: PlanRequest) -> SearchObstacle | None:
        if request.unit.is_shared or request.together is not None:
            return SearchObstacle(
                "differences of two values cannot be combined with ut.mean or together=", "Leave out method=."
            )
        if not wants_tables(request.workload) or 2 not in request.workload.domain.shape:
            return SearchObstacle(
                "differences can be measured only for complete tables with an axis of two values", "Leave out method=."
            )
        return mean_alone(self.name, request)

    def search(self, request: PlanRequest) -> FoundSums:
        return FoundSums(least_under_conditions(request, partial(tables_shares, signs=True)))
