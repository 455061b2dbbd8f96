"""The charge of a plan: the exact privacy loss of one individual, and the shares that use up the level.

Let D be all changes that one individual may make. Independent geometric noise of level e_i on integer sums a_i.x has
the privacy loss

    max over d in D of sum_i e_i |a_i.d|

and no less. For marginals with one level each, let R be the sum of all levels but the total's, e_0 the level of the
total (both in units of the sensitivity), k the cells of an individual, n all cells, m = min(k, n), b = min(m, n - m):

    add-remove                         m (R + e_0)
    change-one                        2m (R + e_0)
    change-one, nothing negative      max(m (R + e_0), (m + b) R + (m - b) e_0)
    change-one, everybody in m cells  2b R

If the sum of the changes of all cells is at most P, and P/s < m, then m is P/s; it need not be an integer. The second
line is attained by the change d = c - (-c). In the third, one individual leaves b cells and enters m others, so that
the total changes by m - b only: a replacement leaves it as it was. The proofs are in proofs/theory/workloads.md.
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
    """A condition on the shares that keeps the level: shares = ``scale`` * (parts that add up to 1)."""

    scale: Fraction  # shares are fractions of the level that noise of single cells would have, see `Unit.per_cell`
    free: Fraction = Fraction(0)  # an additional part for the total

    def free_of(self, totals: Iterable[bool]) -> Floats:
        """The additional part of each marginal, to which `scale` also applies: ``free`` for the first total, else 0."""
        free = np.array([float(self.free) * bool(total) for total in totals])
        free[int(free.argmax()) + 1 :] = 0
        return free

    def shares(self, domain: Domain, parts: Mapping[Marginal, Fraction]) -> dict[Marginal, Fraction]:
        """The shares of marginals, from parts that add up to 1."""
        free, totals = self.free, [is_total(domain, marginal) for marginal in parts]
        first = totals.index(True) if free and True in totals else None
        shares = [self.scale * (part + (free if place == first else 0)) for place, part in enumerate(parts.values())]
        return {marginal: share for marginal, share in zip(parts, shares, strict=True) if share}


_PUBLIC, _LOUDEST = 256, 600.0  # a public total has at most 256 times the level of share 1, and at most the level 600

PLAIN = ShareCondition(Fraction(1))
"""The condition that shares add up to 1: such shares keep the level for every unit."""

TOTAL_FREE = ShareCondition(Fraction(1), Fraction(1))
"""The condition where a replaced record does not change the total: the total may have a share of 1 in addition."""


def charge_of(domain: Domain, unit: Unit, shares: Mapping[Marginal, Fraction]) -> Fraction:
    """The privacy loss of one individual in a plan of these shares, divided by the level; at most 1 if they keep it.

    The loss is exact if `is_exact`, and else an upper bound.

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
    """For each extreme change by one individual, the loss at share 1 of each marginal, over the level."""
    # Shares keep the level where their weighted sum is at most 1 for each extreme change.
    totals, whole = [is_total(domain, marginal) for marginal in marginals], Fraction(unit.epsilon_parts)
    return [tuple((y if total else x) / whole for total in totals) for x, y in _factors(unit, domain.size)]


def share_conditions(unit: Unit, cells: int, level: float = 1.0) -> tuple[ShareCondition, ...]:
    """The conditions under which shares keep the level exactly: one, or two to compare."""
    present, left = _cells_entered_and_left(unit, cells)
    if not unit.leaves_totals:
        return (ShareCondition(unit.reach / unit.sensitivity / present),)
    if unit.exactly:
        if not left:
            remedy = "Publish the number of individuals; or leave exactly= out."
            raise OutOfRange(
                "exactly=True needs more cells than one individual has: else no cell is confidential",
                came=cells,
                remedy=remedy,
            )
        # A public total costs nothing: its level is the largest that floats can hold beside the other levels.
        times = max(1, min(_PUBLIC, int(_LOUDEST / level)))
        return (ShareCondition(Fraction(unit.epsilon_parts) / (2 * left), Fraction(times)),)
    without_total = ShareCondition(Fraction(unit.epsilon_parts) / (present + left))
    if not left:
        return (without_total,)
    return (TOTAL_FREE,) if present == left else (TOTAL_FREE, without_total)


def condition_around(domain: Domain, unit: Unit, marginals: Sequence[Marginal]) -> ShareCondition:
    """A condition that all level-keeping shares of these marginals satisfy, for lower bounds of errors."""
    present, left = _cells_entered_and_left(unit, domain.size)
    # Unless a condition is exact, every share must still pay for one individual more or less.
    if unit.leaves_totals and left == present and is_exact(domain, unit, marginals):
        return TOTAL_FREE
    return ShareCondition(Fraction(unit.epsilon_parts) / _factors(unit, domain.size)[0][0])


def condition_of_rows(unit: Unit, rows: int) -> ShareCondition:
    """The condition for sums, and for differences, of the two cells of rows that one individual changes together."""
    # A replaced record may leave some rows while the new record enters as many others: twice the rows of one record.
    whole = unit.cells // 2
    reached = min(2 * whole, rows) if unit.leaves_totals else min(whole, rows) * (int(unit.epsilon_parts) // unit.cells)
    return ShareCondition(Fraction(unit.epsilon_parts) / (2 * reached))


def is_total(domain: Domain, marginal: Marginal) -> bool:
    """Whether a marginal has one group of all cells, so that replacing a record leaves its sum as it is."""
    return min(marginal, default=0) >= 0 and prod(domain.group_shape(marginal)) == 1


def is_exact(domain: Domain, unit: Unit, marginals: Iterable[Marginal]) -> bool:
    """Whether `charge_of` is the exact privacy loss for all shares of these marginals.

    A replaced record leaves some cells and enters others. The loss is exact if each axis can be cut into two sides,
    such that only the total has a group with cells of both sides, all cells that the record leaves fit on one side of
    every cut, and all cells that it enters fit on the other.
    """
    present, left = _cells_entered_and_left(unit, domain.size)
    if not (unit.leaves_totals and left):
        return True
    if left < present != int(present):
        return False  # one cell has a fraction of a full change: the closed form may exceed the loss
    measured = [marginal for marginal in marginals if not is_total(domain, marginal)]
    if any(min(marginal, default=0) < 0 for marginal in measured):  # hat functions and differences
        return False
    one_side, other_side = 1, 1
    for place, axis in enumerate(domain.axes):
        coarsest = max((marginal[place] for marginal in measured if axis.groups(marginal[place]) > 1), default=None)
        ends = [] if coarsest is None else axis.group_starts(coarsest)[1:].tolist()
        # The line nearest to the middle: the cells that the old record leaves must fit on one side, and the cells that
        # the new record enters on the other.
        split = min(ends, key=lambda end: abs(2 * end - axis.size), default=axis.size)
        one_side, other_side = one_side * split, other_side * (axis.size - split if ends else split)
    return max(one_side, other_side) >= ceil(present) and min(one_side, other_side) >= ceil(left)


def _cells_entered_and_left(unit: Unit, cells: int) -> tuple[Fraction, Fraction]:
    """Return how many cells one individual changes by the whole sensitivity, and how many a replaced record leaves."""
    # Where the sum of all changes is bounded, one cell may have a fraction of a full change.
    present = min(unit.reach / unit.sensitivity, Fraction(cells))
    return present, min(present, cells - present)


def _factors(unit: Unit, cells: int) -> tuple[tuple[Fraction, Fraction], ...]:
    """The factors of R and of e_0 in each closed form (see the module); the largest form is the charge."""
    present, left = _cells_entered_and_left(unit, cells)
    if unit.exactly:
        return ((2 * left, Fraction(0)),)
    if unit.leaves_totals:
        return (present, present), (present + left, present - left)
    times = present * unit.epsilon_parts * unit.sensitivity / unit.reach
    return ((times, times),)
