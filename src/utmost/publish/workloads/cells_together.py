"""Which noise is the least for k cells that one individual changes together, and no other cell."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from utmost.errors import OutOfRange
from utmost.laws.exact import Level, checked
from utmost.laws.exact.shown import Shown
from utmost.laws.noise import DiscreteStaircase, Geometric, IntegerLaw, JointCells, RotatedPair, optimal_noise
from utmost.laws.noise.costs import absolute
from utmost.laws.privacy.unit import Unit

TogetherKind = Literal["independent", "rotated", "joint"]
"""Noise of each cell by itself; of the sum and difference of each pair; of all cells in one draw."""

# Of the level, a pair gets 7 parts where a single cell gets 4: sqrt(3) to 1 is the least in the mean, and 7/4 is near.
_PAIR, _SINGLE = 7, 4


@dataclass(frozen=True, slots=True, repr=False)
class CellsTogether(Shown):
    """One way to noise k cells.

    Attributes:
        kind: "independent", "rotated" or "joint".
        groups: how many cells each law serves, in order.
        laws: one for each group, at its share of the level.
        shares: of the level, for each group.
    """

    kind: TogetherKind
    groups: tuple[int, ...]
    laws: tuple[IntegerLaw | RotatedPair | JointCells, ...]
    shares: tuple[Fraction, ...]

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return sum(self.groups)

    @property
    def is_relaxable(self) -> bool:
        """Whether the release can later be relaxed without loss by this library."""
        return all(isinstance(law, Geometric | RotatedPair) for law in self.laws)

    @property
    def mean_size(self) -> float:
        """The mean over the cells of E|noise|."""
        return self._mean([_mean_size(law) for law in self.laws])

    @property
    def variance(self) -> float:
        """The mean over the cells of E noise^2."""
        return self._mean([float(law.variance() if isinstance(law, IntegerLaw) else law.variance) for law in self.laws])

    def _mean(self, values: list[float]) -> float:
        return sum(n * value for n, value in zip(self.groups, values, strict=True)) / self.cells


@checked
def ways_together(level: Level, unit: Unit, *, relaxable: bool = False) -> tuple[CellsTogether, ...]:
    """The ways to noise ``unit.cells`` cells, where one individual changes these and no other cell.

    Args:
        level: of all cells together.
        unit: what one individual changes: each of the k cells, by at most an integer sensitivity.
        relaxable: only those that can later be relaxed without loss.

    Returns:
        The one of least mean |error| first. "rotated" and "joint" need k >= 2, "joint" cannot be relaxed.

    Raises:
        OutOfRange: for a sensitivity that is no integer.

    Source: docs/theory/cells-together.md.

    >>> from utmost.laws.exact import level
    >>> [(way.kind, f"{way.mean_size:.3f}") for way in ways_together(level(1), Unit(1, 2))]
    [('joint', '1.429'), ('rotated', '1.468'), ('independent', '1.919')]
    """
    if unit.sensitivity.denominator != 1:
        raise OutOfRange("the sensitivity of cells noised together must be an integer", came=unit.sensitivity)
    spent = level.scaled(Fraction(unit.cells, unit.charged))
    ways = [_independent(spent, unit, relaxable)]
    if unit.cells >= 2:
        ways.append(_rotated(spent, unit))
        if not relaxable:
            joint = JointCells(spent, unit.cells, unit.sensitivity)
            ways.append(CellsTogether("joint", (unit.cells,), (joint,), (Fraction(1),)))
    return tuple(sorted(ways, key=lambda way: way.mean_size))


@checked
def pair_noise(level: Level, unit: Unit) -> dict[str, float]:
    """The variance of one cell of a pair that one individual changes together, by the kind of noise.

    Args:
        level: of both cells together.
        unit: what one individual changes; its cells are the two.

    Raises:
        OutOfRange: for another number of cells, and a sensitivity that is no integer.

    >>> from utmost.laws.exact import level
    >>> {kind: round(variance, 2) for kind, variance in pair_noise(level(1), Unit(1, 2)).items()}
    {'independent': 7.84, 'rotated': 3.92, 'joint': 3.9}
    """
    if unit.cells != 2:
        raise OutOfRange("a pair is two cells", came=unit.cells)
    variances = {way.kind: way.variance for way in ways_together(level, unit)}
    return {kind: variances[kind] for kind in ("independent", "rotated", "joint")}


def _independent(spent: Level, unit: Unit, relaxable: bool) -> CellsTogether:
    share, wide = Fraction(1, unit.cells), unit.sensitivity.numerator
    at = spent.scaled(share)
    law = Geometric(at, wide) if relaxable or wide == 1 else optimal_noise(at, wide, absolute)
    assert isinstance(law, Geometric | DiscreteStaircase), "a law on the integers"
    return CellsTogether("independent", (1,) * unit.cells, (law,) * unit.cells, (share,) * unit.cells)


def _rotated(spent: Level, unit: Unit) -> CellsTogether:
    pairs, single = divmod(unit.cells, 2)
    groups = (2,) * pairs + (1,) * single
    parts = _PAIR * pairs + _SINGLE * single
    shares = tuple(Fraction(_PAIR if n == 2 else _SINGLE, parts) for n in groups)
    wide = unit.sensitivity
    laws = tuple(
        RotatedPair(spent.scaled(share), wide) if n == 2 else Geometric(spent.scaled(share), wide)
        for n, share in zip(groups, shares, strict=True)
    )
    return CellsTogether("rotated", groups, laws, shares)


def _mean_size(law: IntegerLaw | RotatedPair | JointCells) -> float:
    return float(law.moment(1) if isinstance(law, IntegerLaw) else law.mean_size)
