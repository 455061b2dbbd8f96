"""The charge of a plan: the exact privacy loss of one individual, and the budget shares that use up the level.

Let D be all changes that one individual may make. Independent geometric noise of level e_i on integer sums a_i.x has
the privacy loss

    max over d in D of sum_i e_i |a_i.d|

and this loss is attained. If each marginal has one level, let e_0 be the level of the total and R the sum of all other
levels, in units of the sensitivity s; let k be the number of cells that one individual changes, n the number of all
cells, m = min(k, n), and b = min(m, n - m). The loss is

    add-remove                         m (R + e_0)
    change-one                        2m (R + e_0)
    change-one, nothing negative      max(m (R + e_0), (m + b) R + (m - b) e_0)
    change-one, everybody in m cells  2b R

If the sum of the changes of all cells is at most P, and P/s < m, then m is P/s, which need not be an integer. The loss
of change-one is attained if the old record adds -c to the cells, and the new one adds c. If nothing is negative, a
replaced record leaves b cells and enters m others, so the total changes by m - b only. The proofs are in
proofs/theory/workloads.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, prod

import numpy as np

from utmost.core.exact.arguments import instance, mapping
from utmost.core.exact.arrays import Floats
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange
from utmost.tables.axes.domain import Domain, Marginal


@dataclass(frozen=True, slots=True)
class ShareCondition:
    """A condition under which budget shares satisfy the level: shares = ``scale`` * (parts that add up to 1)."""

    scale: Fraction  # shares are fractions of the level that noise of single cells would have, see `Unit.per_cell`
    free: Fraction = Fraction(0)  # an additional part that the total may have

    def free_of(self, totals: Iterable[bool]) -> Floats:
        """Return what is added to each marginal's part before scaling: ``free`` for the first total, else 0."""
        free = np.array([float(self.free) * bool(total) for total in totals])
        free[int(free.argmax()) + 1 :] = 0
        return free

    def shares(self, domain: Domain, parts: Mapping[Marginal, Fraction]) -> dict[Marginal, Fraction]:
        """Return the shares of marginals, from parts that add up to 1."""
        free, totals = self.free, [is_total(domain, marginal) for marginal in parts]
        first = totals.index(True) if free and True in totals else None
        shares = [self.scale * (part + (free if place == first else 0)) for place, part in enumerate(parts.values())]
        return {marginal: share for marginal, share in zip(parts, shares, strict=True) if share}


_PUBLIC, _LOUDEST = 256, 600.0  # a public total has at most 256 times the level of share 1, and at most the level 600

SHARES_ADD_UP_TO_1 = ShareCondition(Fraction(1))
"""The condition that shares add up to 1, which satisfies the level for every unit."""

TOTAL_FREE = ShareCondition(Fraction(1), Fraction(1))
"""The condition if a replaced record does not change the total: the total may have a share of 1 in addition."""


def charge_of(domain: Domain, unit: Unit, shares: Mapping[Marginal, Fraction]) -> Fraction:
    """Return the privacy loss of one individual at these shares, divided by the level; 1 if the shares use it up.

    The number is the exact loss if `is_exact` is true, else an upper bound.

    Args:
        domain: Declared domain.
        unit: Unit of privacy.
        shares: Share of each measured marginal, as a fraction of the level of `Unit.per_cell`.

    Source: proofs/theory/workloads.md, "What a plan is charged".

    >>> domain = Domain(cell=range(100))
    >>> halves = {(0,): Fraction(1), (1,): Fraction(1)}
    >>> [str(charge_of(domain, Unit(1, 1, "change-one", nonnegative=known), halves)) for known in (False, True)]
    ['2', '1']
    """
    instance(domain, Domain, "domain")
    instance(unit, Unit, "unit")
    mapping(shares, "shares")
    ways = spent_by(domain, unit, shares)
    return max(
        sum((part * share for part, share in zip(way, shares.values(), strict=True)), Fraction(0)) for way in ways
    )


def spent_by(domain: Domain, unit: Unit, marginals: Iterable[Marginal]) -> list[tuple[Fraction, ...]]:
    """For each extreme change by one individual, return each marginal's loss at share 1, divided by the level."""
    # Shares satisfy the level if, for each extreme change, the sum of share times loss is at most 1.
    totals, whole = [is_total(domain, marginal) for marginal in marginals], Fraction(unit.epsilon_parts)
    return [tuple((y if total else x) / whole for total in totals) for x, y in _closed_forms(unit, domain.size)]


def share_conditions(unit: Unit, cells: int, level: float = 1.0) -> tuple[ShareCondition, ...]:
    """Return one or two conditions, each of which is enough for budget shares that satisfy the level exactly."""
    present, left = _cells_entered_and_left(unit, cells)
    if not unit.leaves_totals:
        return (ShareCondition(unit.reach / unit.sensitivity / present),)
    if unit.exactly:
        if not left:
            remedy = "Publish the number of individuals instead of the cells; or leave out exactly=."
            raise OutOfRange(
                "exactly=True needs more cells than one individual changes, or no cell is confidential",
                came=cells,
                remedy=remedy,
            )
        # A public total costs nothing: its level is the largest one that floats can represent beside the other levels.
        times = max(1, min(_PUBLIC, int(_LOUDEST / level)))
        return (ShareCondition(Fraction(unit.epsilon_parts) / (2 * left), Fraction(times)),)
    without_total = ShareCondition(Fraction(unit.epsilon_parts) / (present + left))
    if not left:
        return (without_total,)
    return (TOTAL_FREE,) if present == left else (TOTAL_FREE, without_total)


def condition_around(domain: Domain, unit: Unit, marginals: Sequence[Marginal]) -> ShareCondition:
    """Return a condition that holds for all shares that satisfy the level, for lower bounds on errors."""
    present, left = _cells_entered_and_left(unit, domain.size)
    # The first closed form of `_closed_forms` is at most the loss.
    if unit.leaves_totals and left == present and is_exact(domain, unit, marginals):
        return TOTAL_FREE
    return ShareCondition(Fraction(unit.epsilon_parts) / _closed_forms(unit, domain.size)[0][0])


def condition_of_rows(unit: Unit, rows: int) -> ShareCondition:
    """Return the condition that the shares of sums, and also those of differences, meet if whole rows change."""
    # A replaced record may leave some rows and enter as many others: that is twice the rows of one record.
    whole = unit.cells // 2
    reached = min(2 * whole, rows) if unit.leaves_totals else min(whole, rows) * (int(unit.epsilon_parts) // unit.cells)
    return ShareCondition(Fraction(unit.epsilon_parts) / (2 * reached))


def is_total(domain: Domain, marginal: Marginal) -> bool:
    """Whether a marginal has one group of all cells, so that replacing a record does not change its sum."""
    return min(marginal, default=0) >= 0 and prod(domain.group_shape(marginal)) == 1


def is_exact(domain: Domain, unit: Unit, marginals: Iterable[Marginal]) -> bool:
    """Whether `charge_of` is the exact privacy loss for all shares of these marginals.

    A replaced record leaves some cells and enters others. The loss is exact if each axis can be cut into two sides such
    that no group, except the total's, has cells of both sides; and if all cells that the record leaves fit on one side
    of every cut, and all cells that it enters fit on the other side.
    """
    present, left = _cells_entered_and_left(unit, domain.size)
    if not (unit.leaves_totals and left):
        return True
    if left < present != int(present):
        return False  # a cell changes by a fraction of the sensitivity: the closed form may exceed the loss
    measured = [marginal for marginal in marginals if not is_total(domain, marginal)]
    if any(min(marginal, default=0) < 0 for marginal in measured):  # hat functions or differences are measured
        return False
    one_side, other_side = 1, 1
    for place, axis in enumerate(domain.axes):
        coarsest = max((marginal[place] for marginal in measured if axis.groups(marginal[place]) > 1), default=None)
        ends = [] if coarsest is None else axis.group_starts(coarsest)[1:].tolist()
        # Cut at the line nearest to the middle: the cells that the old record leaves must fit on one side, and the
        # cells that the new record enters on the other side.
        split = min(ends, key=lambda end: abs(2 * end - axis.size), default=axis.size)
        one_side, other_side = one_side * split, other_side * (axis.size - split if ends else split)
    return max(one_side, other_side) >= ceil(present) and min(one_side, other_side) >= ceil(left)


def _cells_entered_and_left(unit: Unit, cells: int) -> tuple[Fraction, Fraction]:
    """Return how many cells one individual changes by the whole sensitivity, and how many a replaced record leaves."""
    # If `in_total` bounds the sum of all changes, a cell may change by a fraction of the sensitivity.
    present = min(unit.reach / unit.sensitivity, Fraction(cells))
    return present, min(present, cells - present)


def _closed_forms(unit: Unit, cells: int) -> tuple[tuple[Fraction, Fraction], ...]:
    """Return the factors of R and of e_0 in each form of the loss (see the module); the loss is the largest of them."""
    present, left = _cells_entered_and_left(unit, cells)
    if unit.exactly:
        return ((2 * left, Fraction(0)),)
    if unit.leaves_totals:
        return (present, present), (present + left, present - left)
    times = present * unit.epsilon_parts * unit.sensitivity / unit.reach
    return ((times, times),)
