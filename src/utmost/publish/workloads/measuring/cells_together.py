"""Choose noise for k cells that one individual changes together: the kinds of noise, and their errors."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from utmost.core.exact.arguments import instance, one_of, text, truth
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level
from utmost.core.noise.cells_draw import CellsDraw
from utmost.core.noise.costs import absolute, squared
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.integer_distribution import IntegerDistribution
from utmost.core.noise.joint_cells import JointCells, RotatedPair
from utmost.core.noise.norm_staircase import CellCost, Norm, NormStaircase
from utmost.core.noise.optimal import optimal_noise
from utmost.core.noise.signed_cells import SignedCells
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange
from utmost.publish.workloads.planning.signed_search import grouped_rows

TogetherKind = Literal["independent", "rotated", "joint", "signed", "staircase", "range", "two-sided"]
"""Kinds of noise for a group of cells that one individual changes together:

- "independent": each cell has its own noise;
- "rotated": for each pair of cells, the sum and the difference have noise;
- "signed": sums of cells with coefficients 1 and -1 have noise;
- "joint": one draw for all cells, with a density geometric in the largest absolute value of a cell's noise;
- "staircase": one draw for all cells, with a density that is a staircase in the largest absolute value;
- "range": one draw for all cells, with a density that is a staircase in the range of 0 and all values; protects only
individuals who lower no cell;
- "two-sided": one draw for all cells; its distribution depends on the largest rise and the largest fall of a cell.
"""

RAISED: tuple[TogetherKind, ...] = ("signed", "range", "two-sided")
"""The kinds of noise that protect only individuals who lower no cell."""

NORMS: dict[TogetherKind, Norm] = {"staircase": "max", "range": "range"}
"""For each kind that is a staircase, the norm on which its density depends."""

# The budget share of a pair is 7/4 times that of a single cell: sqrt(3) times would minimize the mean error.
_PAIR, _SINGLE = 7, 4
_LEAST = 1e-47  # below this epsilon, margins of sums of noises cannot be computed
_MOST_TWO_SIDED = 50  # for more cells, closed forms with n^2 terms take too long
CellsDistribution = IntegerDistribution | RotatedPair | JointCells | SignedCells | NormStaircase | CellsDraw
"""The distribution of the noise of one group of cells."""


@dataclass(frozen=True, slots=True, repr=False)
class CellsTogether(Display):
    """Noise for k cells that one individual changes together, split into groups; each group has its own noise."""

    kind: TogetherKind
    groups: tuple[int, ...]  # the number of cells in each group
    distributions: tuple[CellsDistribution, ...]  # the joint noise of each group, at its share of the level
    shares: tuple[Fraction, ...]  # the budget share of each group

    @property
    def cells(self) -> int:
        return sum(self.groups)

    @property
    def is_relaxable(self) -> bool:
        """Whether a release with this noise can later be relaxed without loss."""
        return all(
            isinstance(distribution, Geometric | RotatedPair | SignedCells) for distribution in self.distributions
        )

    @property
    def is_read_back(self) -> bool:
        """Whether the released cells determine the noisy sums from which they were computed."""
        return all(
            not isinstance(distribution, SignedCells) or len(distribution.rows) == distribution.cells
            for distribution in self.distributions
        )

    def at(self, level: Level, unit: Unit) -> "CellsTogether":
        """Return the same kind of noise at another privacy level."""
        if not self.is_relaxable:
            raise OutOfRange("only noise that can be relaxed can be moved to another level", came=self.kind)
        spent = presence(level, unit)
        parts = list(zip(self.distributions, self.shares, strict=True))
        distributions = {
            (distribution, share): replaced_level(distribution, spent.scaled(share))
            for distribution, share in dict.fromkeys(parts)
        }
        return replace(self, distributions=tuple(distributions[part] for part in parts))

    @property
    def mean_size(self) -> float:
        """The mean of E|noise| over the cells."""
        return self._mean(
            lambda distribution: float(
                distribution.moment(1) if isinstance(distribution, IntegerDistribution) else distribution.mean_size
            )
        )

    @property
    def variance(self) -> float:
        """The mean of E noise^2 over the cells."""
        return self._mean(
            lambda distribution: float(
                distribution.variance() if isinstance(distribution, IntegerDistribution) else distribution.variance
            )
        )

    def _mean(self, of: Callable[[CellsDistribution], float]) -> float:
        values = {distribution: of(distribution) for distribution in dict.fromkeys(self.distributions)}
        return (
            sum(n * values[distribution] for n, distribution in zip(self.groups, self.distributions, strict=True))
            / self.cells
        )


def ways_together(
    level: Level, unit: Unit, *, relaxable: bool = False, cost: CellCost = "absolute"
) -> tuple[CellsTogether, ...]:
    """Return the kinds of noise for k = ``unit.cells`` cells, if one individual changes only these k cells.

    Args:
        level: Privacy level of all cells together.
        unit: Unit of privacy: one individual changes each of the k cells by at most an integer sensitivity. With
            ``nonnegative``, no individual lowers a cell, so signed sums need less noise.
        relaxable: True to return only kinds of noise that can later be relaxed without loss.
        cost: Name of the expected cost of a cell: "absolute" or "squared".

    Returns:
        Kinds of noise in the order of their cost, the least first. All kinds but "independent" need k >= 2. The kinds
        with one draw ("joint", "staircase", "range" and "two-sided") cannot be relaxed.

    Raises:
        OutOfRange: if the sensitivity is not an integer, or if the cost is unknown.

    Source: proofs/theory/cells-together.md.

    >>> from utmost.exact import level
    >>> [(way.kind, f"{way.mean_size:.3f}") for way in ways_together(level(1), Unit(1, 2))]
    [('joint', '1.429'), ('rotated', '1.468'), ('independent', '1.919')]
    >>> counts = Unit(1, 3, nonnegative=True)
    >>> [(way.kind, f"{way.variance:.2f}") for way in ways_together(level(1), counts, cost="squared")]
    [('range', '4.83'), ('signed', '6.44'), ('joint', '6.59'), ('rotated', '11.52'), ('independent', '17.83')]
    """
    instance(level, Level, "level")
    instance(unit, Unit, "unit")
    relaxable, cost = truth(relaxable, "relaxable"), one_of(text(cost, "cost"), CellCost, "cost")
    if unit.sensitivity.denominator != 1:
        raise OutOfRange("the sensitivity must be an integer", came=unit.sensitivity)
    spent = presence(level, unit)
    ways = [_independent(spent, unit, cost, relaxable=relaxable)]
    if unit.cells >= 2:
        ways.append(_rotated(spent, unit))
        has_bars = spent.epsilon_float / float(unit.sensitivity) > _LEAST
        if unit.nonnegative and unit.cells >= 3 and has_bars:  # for two cells "signed" equals "rotated"
            ways.append(_signed(spent, unit, square=relaxable))
        if not relaxable:
            wide = unit.sensitivity.numerator
            draws: list[tuple[TogetherKind, CellsDistribution]] = [("joint", JointCells(spent, unit.cells, wide))]
            norms = {kind: norm for kind, norm in NORMS.items() if (unit.nonnegative if kind in RAISED else wide > 1)}
            draws += [
                (kind, NormStaircase.optimal(spent, unit.cells, wide, norm, cost)) for kind, norm in norms.items()
            ]
            # At sensitivity 1, "two-sided" equals "range".
            if unit.nonnegative and unit.cells <= _MOST_TWO_SIDED and wide > 1:
                draws.append(("two-sided", two_sided(spent, unit).with_best_step(cost)))
            ways += [
                CellsTogether(kind, (unit.cells,), (distribution,), (Fraction(1),)) for kind, distribution in draws
            ]
    return tuple(sorted(ways, key=lambda way: way.mean_size if cost == "absolute" else way.variance))


def presence(level: Level, unit: Unit) -> Level:
    """Return the level at which one record is added or removed: half of ``level`` if records are replaced, else all."""
    return level.scaled(Fraction(unit.cells, unit.epsilon_parts))


def two_sided(spent: Level, unit: Unit, step: int = 1) -> CellsDraw:
    """Return the distribution of one draw for the cells of a row, if the presence of an individual lowers no cell.

    Args:
        spent: Level at which one record is added or removed, see `presence`. A replaced record may leave one row and
            enter another. The rows have separate draws, so the record spends this level in each of them.
        unit: Unit of privacy.
        step: Width of the first step of the distribution.
    """
    return CellsDraw(spent, unit.cells, unit.cells, unit.sensitivity, step=step)


def pair_noise(level: Level, unit: Unit) -> dict[str, float]:
    """Return a dict from each kind of noise to the variance of a cell of a pair, if one individual changes both cells.

    Args:
        level: Privacy level of both cells together.
        unit: Unit of privacy with ``cells=2``.

    Raises:
        OutOfRange: if the number of cells is not 2, or if the sensitivity is not an integer.

    >>> from utmost.exact import level
    >>> {kind: round(variance, 2) for kind, variance in pair_noise(level(1), Unit(1, 2)).items()}
    {'independent': 7.84, 'rotated': 3.92, 'joint': 3.9}
    """
    instance(level, Level, "level")
    instance(unit, Unit, "unit")
    if unit.cells != 2:
        raise OutOfRange("a unit of pairs must have two cells", came=unit.cells)
    variances: dict[str, float] = {way.kind: way.variance for way in ways_together(level, unit)}
    return {kind: variances[kind] for kind in ("independent", "rotated", "joint")}


def _independent(spent: Level, unit: Unit, cost: CellCost, *, relaxable: bool) -> CellsTogether:
    share, wide = Fraction(1, unit.cells), unit.sensitivity.numerator
    at, of = spent.scaled(share), absolute if cost == "absolute" else squared
    distribution = Geometric(at, wide) if relaxable or wide == 1 else optimal_noise(at, wide, of)
    assert isinstance(distribution, Geometric | DiscreteStaircase), "the noise is on the integers"
    return CellsTogether("independent", (1,) * unit.cells, (distribution,) * unit.cells, (share,) * unit.cells)


def _rotated(spent: Level, unit: Unit) -> CellsTogether:
    pairs, single = divmod(unit.cells, 2)
    groups = (2,) * pairs + (1,) * single
    parts = _PAIR * pairs + _SINGLE * single
    shares = tuple(Fraction(_PAIR if n == 2 else _SINGLE, parts) for n in groups)
    wide = unit.sensitivity
    distributions = tuple(
        RotatedPair(spent.scaled(share), wide) if n == 2 else Geometric(spent.scaled(share), wide)
        for n, share in zip(groups, shares, strict=True)
    )
    return CellsTogether("rotated", groups, distributions, shares)


def _signed(spent: Level, unit: Unit, *, square: bool) -> CellsTogether:
    wide = unit.sensitivity.numerator
    groups, shares, rows = grouped_rows(unit.cells, spent.epsilon_float / wide, square=square)
    distributions = tuple(
        SignedCells(spent.scaled(share), listed, parts, wide)
        for share, (listed, parts) in zip(shares, rows, strict=True)
    )
    return CellsTogether("signed", groups, distributions, shares)


def replaced_level(distribution: CellsDistribution, level: Level) -> CellsDistribution:
    if isinstance(distribution, SignedCells):
        return SignedCells(
            level,
            distribution.rows,
            distribution.shares,
            distribution.sensitivity,
            nonnegative=distribution.nonnegative,
        )
    return (
        RotatedPair(level, distribution.sensitivity)
        if isinstance(distribution, RotatedPair)
        else Geometric(level, distribution.sensitivity)
    )
