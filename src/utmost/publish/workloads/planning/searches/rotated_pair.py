"""Search for sums and differences along an axis of two values, if one individual changes both cells of a row."""

from dataclasses import replace
from fractions import Fraction

from utmost.core.privacy.unit import Unit
from utmost.publish.workloads.measuring.pair_axis import PairAxis
from utmost.publish.workloads.measuring.unit_charge import condition_of_rows
from utmost.publish.workloads.measuring.ways.way import Shares
from utmost.publish.workloads.planning.searches.marginals import shares_of_marginals
from utmost.publish.workloads.planning.searches.plan_search import (
    FoundSums,
    PlanRequest,
    SearchObstacle,
    coarsest,
    mean_alone,
)
from utmost.publish.workloads.planning.table_limits import budget_shares, mixed_within, table_limits
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Marginal


class RotatedSearch:
    """Search for sums and differences separately: each has its own budget and error."""

    name = "rotated sums"

    def obstacle(self, request: PlanRequest) -> SearchObstacle | None:
        if request.together is None:
            remedy = "Pass together=, the axis along which one individual changes all cells of a row."
            return SearchObstacle("rotated sums need together=, an axis of two values", remedy)
        if request.together.values != 2:
            return SearchObstacle("rotated sums need an axis of two values", 'Pass method="signed".')
        if request.unit.in_total is not None:
            remedy = "Leave out together=, or count without in_total=."
            return SearchObstacle("only one of together= and in_total= may be given", remedy)
        if request.unit.is_distinct:
            return SearchObstacle("distinct counts do not add up", 'Pass method="marginals".')
        return mean_alone(self.name, request)

    def search(self, request: PlanRequest) -> FoundSums:
        assert request.together is not None, "an obstacle"
        pair = PairAxis.of(request.workload.domain, request.together.name)
        condition = condition_of_rows(request.unit, pair.rows.size)
        sums, differences = (
            {} if side is None else shares_of_marginals(replace(request, workload=side), condition)
            for side in pair.sides(request.workload)
        )
        found = FoundSums(pair.joined(sums, differences), pair.name)
        if not request.has_limits:
            return found
        # To keep the limits, mix in the sums and the differences that determine each wanted part, at the part's budget
        # share.
        budget = budget_shares(request.workload)
        halves: tuple[dict[Marginal, Fraction], dict[Marginal, Fraction]] = ({}, {})
        for part in request.workload.parts:
            sides = pair.sides(Workload.of_parts(request.workload.domain, [part]))
            for half, side in zip(halves, sides, strict=True):
                if side is not None:
                    marginal = coarsest(side)
                    half[marginal] = half.get(marginal, Fraction(0)) + budget[part.name]
        for half in halves:  # the shares of parts without sums, or without differences, go to the other parts
            spent = sum(half.values(), Fraction(0))
            half.update({marginal: share / spent * condition.scale for marginal, share in half.items()})
        return mixed_within(request, found, pair.joined(*halves), table_limits(request))


def rows_alone(pair: PairAxis, workload: Workload, unit: Unit) -> Shares:
    """Return the coarsest two marginals, one of sums and one of differences, that determine all wanted sums."""
    scale = condition_of_rows(unit, pair.rows.size).scale
    sums, differences = ({} if side is None else {coarsest(side): scale} for side in pair.sides(workload))
    return pair.joined(sums, differences)
