"""Search for budget shares under each condition that satisfies the level, and return the shares of least error."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Protocol

from utmost.publish.workloads.amount_pair import AmountPair
from utmost.publish.workloads.measuring.unit_charge import ShareCondition, charge_of, share_conditions
from utmost.publish.workloads.measuring.ways.way import Shares
from utmost.publish.workloads.planning.searches.plan_search import FoundSums, PlanRequest, cells_alone
from utmost.publish.workloads.planning.table_limits import limited


class ShareSearch(Protocol):
    """A function that searches for shares that satisfy a condition."""

    def __call__(self, request: PlanRequest, condition: ShareCondition) -> Shares: ...


def least_under_conditions(request: PlanRequest, search: ShareSearch, *, repeats: bool = True) -> Shares:
    """Return the shares of least error that ``search`` finds under a condition, and within any limits of tables."""
    workload, unit = request.workload, request.unit
    if (amounts := AmountPair.of(workload.domain, unit)) is not None:
        # All parts of an amount have the same errors, so the shares are planned for one part.
        named = None if request.candidates is None else tuple(amounts.named(request.candidates))
        part, of_part = amounts.one_part(workload), amounts.one_part_unit(unit)
        shares = amounts.of_both(
            least_under_conditions(
                replace(request, workload=part, unit=of_part, candidates=named), search, repeats=repeats
            )
        )
        charge = max(Fraction(1), charge_of(workload.domain, unit, shares))
        return {marginal: share / charge for marginal, share in shares.items()}
    if unit.is_distinct:
        workload.check_adds(unit)
        return cells_alone(workload, unit)
    found = []
    for condition in share_conditions(unit, workload.domain.size, request.level_of_cells):
        under_condition = partial(search, condition=condition)
        found.append(
            limited(request, under_condition, repeats=repeats) if request.has_limits else under_condition(request)
        )
    return found[0] if len(found) == 1 else min(found, key=lambda of: FoundSums(of).value(request, aim=request.aim))
