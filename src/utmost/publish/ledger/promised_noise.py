"""The noise of a promise at every level: whom it protects, and on which lattice it lives."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any, get_args

from utmost.errors import OutOfRange
from utmost.laws.exact import Level, Number, exact, natural, round_up
from utmost.laws.gradual.euclidean_noise import MOST_DIMENSIONS
from utmost.laws.noise import DiscreteStaircase, Geometric
from utmost.laws.noise.law import read_confidence
from utmost.laws.privacy.unit import Unit, read_unit
from utmost.laws.sampling.grid import Snapping, reach
from utmost.publish.ledger.point_paths import PointPromise
from utmost.publish.ledger.vault import width_of
from utmost.publish.releases.lattice import Lattice, lattice_of
from utmost.publish.releases.plan import warn_of_level
from utmost.publish.releases.planar_law import read_width
from utmost.publish.workloads import Strategy
from utmost.publish.workloads.measured_families import load_of

# A cell has noise beyond its word with a probability below 2^-512, which is far below that of guessing a key.
_TAIL = Fraction(356)  # > 513 log 2
# Where no largest value is declared, the words of a response share so many bytes, within these bounds each.
_SHARED, _LEAST_WORD, _LARGEST_WORD = 1 << 16, 16, 160
_LARGEST_BITS = 4096


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise that is promised, whatever the level.

    Attributes:
        unit: what one individual changes.
        half_step: whether the noise is the half-step staircase rather than geometric.
        grid: the width 2^-k of the grid on which reals are released; None for integers.
        lattice: the same in steps of the noise, with the rule by which reals get to the grid.
        largest: the declared, public bound on the size of a true value; None where none is declared.
        strategy: where the cells are the sums that a strategy measures, family by family, each family at its share of
            the level; None where all cells have one level.
        points: where the columns are the coordinates of one point, what is promised of it, the unit then being one row,
            moved by one ``per`` of distance; None elsewhere.
    """

    unit: Unit
    half_step: bool
    grid: Fraction | None
    lattice: Lattice
    largest: Fraction | None = None
    strategy: Strategy | None = None
    points: PointPromise | None = None

    @property
    def relation(self) -> str:
        """Against what the levels protect: those of releases with one relation add up."""
        return self.unit.neighbours if self.points is None else f"a point moved by {self.points.per}"

    @property
    def runs(self) -> tuple[tuple[int, Lattice], ...]:
        """The families of a strategy, in order: how many sums each has, and the lattice of their noise."""
        if self.strategy is None:
            return ()
        sizes = (prod(self.strategy.measured_shape(family)) for family in self.strategy.shares)
        lattices = (replace(self.lattice, share=one / load_of(of)) for of, one in self.strategy.shares.items())
        return tuple(zip(sizes, lattices, strict=True))

    @property
    def widest(self) -> Lattice:
        """The lattice of the largest noise."""
        return min((lattice for _, lattice in self.runs), key=lambda one: one.share, default=self.lattice)

    @property
    def width(self) -> Fraction | None:
        """The width of the grid on which answers lie, where it was declared or is one for all levels."""
        return self.grid if self.points is None else self.points.declared

    @property
    def numbers(self) -> str:
        """ "integers" or "reals"."""
        return "integers" if self.grid is None else "reals"

    def radius(self, level: Level, confidence: Number) -> int | float:
        """The least distance within which a released value lies of the true one, with this confidence.

        Of a strategy's sums, those with the least share of the level; of points, their Euclidean distance.
        """
        sure = read_confidence(confidence)
        if self.points is not None:
            return self.points.law(level).radius(sure)
        if self.half_step:
            steps = DiscreteStaircase.half_step(self.unit.per_cell(level), self.lattice.sensitivity).radius(sure)
        else:
            steps = Geometric(self.widest.of(level)).radius(sure)
        return (
            self.unit.radius(int(steps))
            if self.grid is None
            else round_up((steps + reach(self.lattice.snapping)) * self.grid)
        )

    def check_level(self, level: Level) -> None:
        """Check that a response at a level would have an error bar, so that it can be drawn, shown and stated.

        Raises:
            OutOfRange: for a level so strict that it has none: below epsilon 1e-50 for one step of the noise.
        """
        self.radius(level, "0.95")

    def largest_steps(self, cells: int) -> int:
        """The size that a true value may have, in steps, in a response of so many cells.

        Where nothing is declared it is 2^1278 for up to 409 cells, 2^126 from 4096 on, and in between such that the
        response takes about 64 KiB.
        """
        if self.largest is not None:
            return -(-self.largest // (1 if self.grid is None else self.grid)) + (self.grid is not None)
        word = max(_LEAST_WORD, min(_LARGEST_WORD, _SHARED // max(cells, 1) // 8 * 8))
        return (1 << (8 * word - 2)) - 1

    def word(self, level: Level, cells: int) -> int:
        """The bytes that each cell of a response takes on disk: a function of public facts alone.

        A value within `largest_steps`, and noise within the 1 - 2^-512 quantile of the level, fit. Noise beyond makes
        the words of its block longer (so that its law is exact all the same); that is all a length can ever reveal.

        >>> from utmost.laws.exact import level
        >>> small = read_noise(sensitivity=1, cells=1, largest=10**6)
        >>> small.word(level(1), 12), small.word(level("1/1000000000"), 12)
        (4, 8)
        >>> [read_noise(sensitivity=1, cells=1).word(level(1), cells) for cells in (12, 1024, 10**6)]
        [160, 64, 16]
        """
        if self.points is not None:
            return self.points.word(level, self.largest)
        bits, epsilon = 128, Fraction(0)
        while epsilon <= 0:  # ends: a level is positive
            epsilon, bits = self.widest.of(level).epsilon_interval(bits).lower, 2 * bits
        noise = self.lattice.block * (-(-_TAIL // epsilon) + 1)
        return width_of(2 + max(self.largest_steps(cells), noise).bit_length())

    def warn(self, level: Level, *, above: int = 4) -> None:
        """Warn of a level at which practically nobody is protected, see `warn_of_level`.

        Never for points: a level for each unit of distance says nothing by itself.
        """
        if self.points is None:
            warn_of_level(level, Geometric(self.unit.per_cell(level), self.lattice.sensitivity), above=above)

    def facts(self) -> dict[str, Any]:
        """The noise as an event keeps it."""
        return {
            **self.unit.facts(),
            "half_step": self.half_step,
            "grid": None if self.grid is None else str(self.grid),
            "largest": None if self.largest is None else str(self.largest),
            "snapping": None if self.grid is None else self.lattice.snapping,
            # As text: events are written with sorted keys, and the order of axes and branches is part of a domain.
            "strategy": None if self.strategy is None else json.dumps(self.strategy.facts()),
            "points": None if self.points is None else self.points.facts(),
        }

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "Noise":
        """The noise that an event keeps."""
        numbers = "integers" if facts["grid"] is None else "reals"
        names = ("half_step", "grid", "largest")
        noise = read_noise(unit=Unit.of_facts(facts), numbers=numbers, **{name: facts[name] for name in names})
        if facts["points"] is not None:
            return replace(noise, points=PointPromise.of_facts(facts["points"]))
        if facts["strategy"] is not None:
            return noise.measuring(Strategy.of_facts(json.loads(facts["strategy"]), noise.unit))
        return noise if facts["grid"] is None else noise.snapped_by(facts["snapping"])

    def measuring(self, strategy: Strategy) -> "Noise":
        """The same for the sums that a strategy measures.

        Raises:
            OutOfRange: for reals, half-step noise, and a strategy for another unit of privacy.
        """
        if self.grid is not None or self.half_step or replace(strategy.unit, nonnegative=False) != self.unit:
            remedy = "Leave out numbers=, grid=, half_step= and the unit, or pass those of the strategy."
            raise OutOfRange("a strategy measures integers with geometric noise, for its own unit", remedy=remedy)
        return replace(self, strategy=strategy, unit=strategy.unit)

    def snapped_by(self, rule: str) -> "Noise":
        """The same with another rule of snapping.

        Raises:
            OutOfRange: for a rule that is none.

        >>> read_noise(sensitivity=1, cells=1, numbers="reals").snapped_by("floor").lattice.snapping
        'floor'
        """
        known = {one: one for one in get_args(Snapping)}
        if rule not in known:
            raise OutOfRange('snapping must be "nearest" or "floor"', came=rule)
        return replace(self, lattice=replace(self.lattice, snapping=known[rule]))


def read_noise(
    *,
    unit: Unit | None = None,
    sensitivity: Number | None = None,
    cells: Number | None = None,
    neighbours: str | None = None,
    amount: Any = None,
    numbers: str = "integers",
    grid: Number | None = None,
    half_step: bool = False,
    largest: Number | None = None,
) -> Noise:
    """Read what is promised of a table's noise.

    Raises:
        OutOfRange, NotANumber: for a parameter that is no such thing.

    >>> read_noise(sensitivity=1, cells=2, neighbours="change-one").lattice.cells
    4
    """
    protected = read_unit(unit, sensitivity, cells, neighbours, amount)
    if protected.amount is not None and numbers != "integers":
        raise OutOfRange("amounts are released in their own steps", came=f"numbers={numbers!r}", remedy="Leave it out.")
    if not isinstance(half_step, bool):
        raise OutOfRange("half_step must be true or false", came=half_step)
    in_steps = Unit(protected.sensitivity, protected.cells, protected.neighbours)
    lattice = lattice_of(numbers, in_steps, grid, half_step)
    width = None if lattice.exponent is None else Fraction(2) ** -lattice.exponent
    bound = None if largest is None else exact(largest, "largest")
    if bound is not None and not (bound > 0 and max(bound.numerator, bound.denominator) < 1 << _LARGEST_BITS):
        raise OutOfRange(
            f"largest must be positive and below 2^{_LARGEST_BITS}",
            came=largest,
            remedy="Give the largest size of any true value.",
        )
    return Noise(protected, half_step, width, lattice, bound)


def read_point_noise(per: Number, dimensions: int, grid: Number | None, largest: Number | None) -> Noise:
    """The noise of points: a level for each ``per`` of Euclidean distance.

    Raises:
        OutOfRange, NotANumber: for a parameter that is no such thing.

    >>> read_point_noise(200, 2, None, None).relation
    'a point moved by 200'
    """
    declared = None if grid is None else read_width(grid, "grid")
    points = PointPromise(
        read_width(per, "per"), declared, natural(dimensions, "dimensions", least=1, most=MOST_DIMENSIONS)
    )
    return replace(read_noise(unit=Unit(1, 1, "change-one"), largest=largest), points=points)
