r"""The charge of a plan for one individual: exact, with the levels that it leaves room for.

Let D be all that one individual may change. Independent geometric noise of level e_i on integer sums a_i.x keeps

    max over d in D of sum_i e_i |a_i.d|

and nothing less. For families with one level each, R = the levels of all but the total and e_0 = that of the total, in
units of the sensitivity, with k cells, n cells, m = min(k, n) and b = min(m, n - m):

    add-remove                         m (R + e_0)
    change-one                        2m (R + e_0)
    change-one, nothing negative      max(m (R + e_0), (m + b) R + (m - b) e_0)
    change-one, everybody in m cells  2b R

Where all cells together are changed by at most P, m is P/s if that is less, and a part of a cell is left over.

The second is attained by c less -c. In the third, one individual leaves b cells and enters m others, so that a total,
of which everybody is one part, moves by m - b alone: a replacement leaves it where it was. The proofs are in
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
from utmost.tables.axes.domain import Domain, Family


@dataclass(frozen=True, slots=True)
class Room:
    """Which shares keep the level: ``scale`` times what adds up to 1, and ``free`` besides for the total.

    Shares are of the level that each cell's own noise would have, see `Unit.per_cell`.
    """

    scale: Fraction
    free: Fraction = Fraction(0)

    def free_of(self, totals: Iterable[bool]) -> Floats:
        """The free part of each family beside its share, before it is scaled: the first total has it."""
        free = np.array([float(self.free) * bool(total) for total in totals])
        free[int(free.argmax()) + 1 :] = 0
        return free

    def shares(self, domain: Domain, parts: Mapping[Family, Fraction]) -> dict[Family, Fraction]:
        """The shares of families, from parts that add up to 1.

        >>> domain = Domain(cell=range(100))
        >>> {place: str(share) for place, share in TOTAL_FREE.shares(domain, {(0,): Fraction(1), (1,): 0}).items()}
        {(0,): '1', (1,): '1'}
        """
        free, totals = self.free, [is_total(domain, family) for family in parts]
        first = totals.index(True) if free and True in totals else None
        shares = [self.scale * (part + (free if place == first else 0)) for place, part in enumerate(parts.values())]
        return {family: share for family, share in zip(parts, shares, strict=True) if share}


_PUBLIC, _LOUDEST = 256, 600.0  # the level of a public total, in parts of share 1, and at most

PLAIN = Room(Fraction(1))
"""Shares add up to 1: never too much, whatever one individual changes."""

TOTAL_FREE = Room(Fraction(1), Fraction(1))
"""A replacement leaves the total as it is, so that it has a whole share beside what adds up to 1."""


def charge_of(domain: Domain, unit: Unit, shares: Mapping[Family, Fraction]) -> Fraction:
    """How much of its level a plan of these shares spends on one individual: at most 1 if it keeps the level.

    Exact where signs are not known, for add-remove, and wherever `is_exact`; else not less than what it spends.

    Args:
        domain: the declared domain.
        unit: Unit of privacy.
        shares: Share of each measured family, in parts of `Unit.per_cell`.

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


def spent_by(domain: Domain, unit: Unit, families: Iterable[Family]) -> list[tuple[Fraction, ...]]:
    """The part of the level that one individual spends at a share 1 of each family, for each way to change the cells.

    Shares keep the level where no way spends more than 1 of it.

    >>> cells, total = (0,), (1,)
    >>> counts = Unit(1, 1, "change-one", nonnegative=True)
    >>> [[str(part) for part in way] for way in spent_by(Domain(cell=range(100)), counts, [cells, total])]
    [['1/2', '1/2'], ['1', '0']]
    """
    totals, whole = [is_total(domain, family) for family in families], Fraction(unit.charged)
    return [tuple((y if total else x) / whole for total in totals) for x, y in _factors(unit, domain.size)]


def rooms(unit: Unit, cells: int, level: float = 1.0) -> tuple[Room, ...]:
    """The rules under which shares keep the level exactly; one, or two that are worth comparing.

    Where the total is public it costs nothing, and has so many times the level (of share 1) as floats can tell.

    >>> [(str(room.scale), str(room.free)) for room in rooms(Unit(1, 1, "change-one", nonnegative=True), 100)]
    [('1', '1')]
    >>> [str(room.scale) for room in rooms(Unit(1, 6), 1)]
    ['6']
    """
    present, left = _reached(unit, cells)
    if not unit.leaves_totals:
        return (Room(unit.reach / unit.sensitivity / present),)
    if unit.exactly:
        if not left:
            remedy = "Publish the number of individuals; or leave exactly= out."
            raise OutOfRange(
                "exactly=True needs more cells than one person has: else nothing is confidential",
                came=cells,
                remedy=remedy,
            )
        # A public total costs nothing: as loud as floats can hold beside the other levels.
        times = max(1, min(_PUBLIC, int(_LOUDEST / level)))
        return (Room(Fraction(unit.charged) / (2 * left), Fraction(times)),)
    apart = Room(Fraction(unit.charged) / (present + left))
    if not left:
        return (apart,)
    return (TOTAL_FREE,) if present == left else (TOTAL_FREE, apart)


def room_around(domain: Domain, unit: Unit, families: Sequence[Family]) -> Room:
    """A rule that all shares of these families obey which keep the level: the one of `rooms` where it is exact.

    Elsewhere that of one individual more or less, which every share has to pay for.
    """
    present, left = _reached(unit, domain.size)
    if unit.leaves_totals and left == present and is_exact(domain, unit, families):
        return TOTAL_FREE
    return Room(Fraction(unit.charged) / _factors(unit, domain.size)[0][0])


def room_of_rows(unit: Unit, rows: int) -> Room:
    """The rule for the sums, and for the differences, of two cells of one row that one individual changes together."""
    return Room(Fraction(unit.charged) / (2 * _rows_reached(unit, rows)))


def is_total(domain: Domain, family: Family) -> bool:
    """Whether a family's one group is everybody, so that replacing a record leaves its sum as it is.

    >>> domain = Domain(sex=["men", "women"], country=["FR"])
    >>> [is_total(domain, family) for family in domain.families()]
    [False, False, True, True]
    """
    return min(family, default=0) >= 0 and prod(domain.group_shape(family)) == 1


def is_exact(domain: Domain, unit: Unit, families: Iterable[Family]) -> bool:
    """Whether `charge_of` is exact for all shares of these families: no plan of theirs costs less.

    Where a replacement is charged by what is left and what is entered, there must be so many cells on either side of a
    line through each axis that meet in no group but the total's.
    """
    present, left = _reached(unit, domain.size)
    if not (unit.leaves_totals and left):
        return True
    if left < present != int(present):
        return False  # a cell with a part of a change has no room for the other record's
    measured = [family for family in families if not is_total(domain, family)]
    if any(min(family, default=0) < 0 for family in measured):  # hat functions and differences
        return False
    one_side, other_side = 1, 1
    for place, axis in enumerate(domain.axes):
        coarsest = max((family[place] for family in measured if axis.groups(family[place]) > 1), default=None)
        ends = [] if coarsest is None else axis.group_starts(coarsest)[1:].tolist()
        # The line nearest to the middle: what is left and what is entered must each fit on a side of it.
        split = min(ends, key=lambda end: abs(2 * end - axis.size), default=axis.size)
        one_side, other_side = one_side * split, other_side * (axis.size - split if ends else split)
    return max(one_side, other_side) >= ceil(present) and min(one_side, other_side) >= ceil(left)


def _reached(unit: Unit, cells: int) -> tuple[Fraction, Fraction]:
    """How many whole changes one individual can make, and how many others one record less may leave.

    Where all cells together are bounded, one cell may have a part of a change.
    """
    present = min(unit.reach / unit.sensitivity, Fraction(cells))
    return present, min(present, cells - present)


def _factors(unit: Unit, cells: int) -> tuple[tuple[Fraction, Fraction], ...]:
    """The factors of the rest and of the total in each closed form, of which the largest is the charge."""
    present, left = _reached(unit, cells)
    if unit.exactly:
        return ((2 * left, Fraction(0)),)
    if unit.leaves_totals:
        return (present, present), (present + left, present - left)
    times = present * unit.charged * unit.sensitivity / unit.reach
    return ((times, times),)


def _rows_reached(unit: Unit, rows: int) -> int:
    """The number of rows of which one individual may change both cells; twice those where signs may differ."""
    whole = unit.cells // 2
    if unit.leaves_totals:
        return min(2 * whole, rows)
    return min(whole, rows) * (int(unit.charged) // unit.cells)
