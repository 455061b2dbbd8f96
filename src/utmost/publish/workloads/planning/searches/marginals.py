"""Search for marginals to measure: sums over groups, each marginal with a budget share."""

from utmost.errors import Unsupported
from utmost.publish.workloads.measuring.even_levels import EvenLevels
from utmost.publish.workloads.measuring.unit_charge import ShareCondition
from utmost.publish.workloads.measuring.wanted_sums import is_unequal_tree, wants_marginals
from utmost.publish.workloads.measuring.ways.way import Shares
from utmost.publish.workloads.planning.candidate_marginals import candidate_marginals, named_candidates
from utmost.publish.workloads.planning.least_error import least_shares
from utmost.publish.workloads.planning.least_under_conditions import least_under_conditions
from utmost.publish.workloads.planning.marginal_search import marginal_shares
from utmost.publish.workloads.planning.searches.plan_search import (
    FoundSums,
    PlanRequest,
    SearchObstacle,
)
from utmost.publish.workloads.planning.tree_search import least_tree_shares


class MarginalSearch:
    name = "marginals"

    def obstacle(self, request: PlanRequest) -> SearchObstacle | None:
        if not (request.is_restricted and is_unequal_tree(request.workload.domain)):
            return None
        remedy = "Leave out candidates= and aim=, or declare levels whose groups have one size."
        return SearchObstacle("candidates= and aim= cannot be combined with groups of several sizes", remedy)

    def search(self, request: PlanRequest) -> FoundSums:
        return FoundSums(least_under_conditions(request, shares_of_marginals))


def shares_of_marginals(request: PlanRequest, condition: ShareCondition) -> Shares:
    """Return the shares of least error that the search finds under one `ShareCondition`."""
    workload = request.workload
    if not request.is_restricted and wants_marginals(workload):
        return tables_shares(request, condition, signs=False)
    if is_unequal_tree(workload.domain):
        # check again: `obstacle` saw the domain with the axis of an amount's parts, and this is the domain without that
        # axis
        if (obstacle := MarginalSearch().obstacle(request)) is not None:
            raise Unsupported(obstacle.reason, remedy=obstacle.remedy)
        return least_tree_shares(workload, request.unit, request.level, condition)
    even = EvenLevels.of(workload)
    if request.candidates is None:
        marginals = candidate_marginals(even.workload)
        marginals |= dict.fromkeys([even.workload.domain.marginal("")] if condition.free else [], 1)
    else:
        named = [even.reduced(workload.domain.marginal(name)) for name in request.candidates]
        marginals = named_candidates(even.workload, named)
    shares = least_shares(even.workload, marginals, request.level_of_cells, request.aim, condition)
    return {even.restored(marginal): share for marginal, share in shares.items()}


def tables_shares(request: PlanRequest, condition: ShareCondition, *, signs: bool) -> Shares:
    """Return shares of many tables; with ``signs``, also of differences (first value minus second) along axes of two
    values.
    """
    even = EvenLevels.of(request.workload)
    shares = marginal_shares(even.workload, request.level_of_cells, condition, signs=signs)
    return {even.restored(marginal): share for marginal, share in shares.items()}
