"""Independent noise for each cell of a table; cells are integers, amounts in steps, or reals on a grid.

`CellNoise` has answers at every level. `CellNoise` is geometric (Laplace noise for reals), whatever the sensitivity,
since only geometric noise and half-step staircases (`half_step=True`) can be relaxed without loss. `OnceCells` is the
staircase of least error at one level, for a release without history.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

from numpy.typing import NDArray

from utmost.core.exact.arguments import text, truth
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.field_forms import form
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import IntegersOrReals, Number, exact, read_confidence, written_number
from utmost.core.noise.costs import Cost, Moment, absolute, cost_named
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.distribution import Distribution
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.integer_distribution import IntegerDistribution
from utmost.core.noise.laplace import Laplace
from utmost.core.privacy.unit import Unit, read_unit
from utmost.core.sampling.grid import unsnapped
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.promises.declared_columns import read_numbers
from utmost.publish.promises.drawing import NewResponse, Responder
from utmost.publish.promises.lattice import Lattice, lattice_of_cells, width_of
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel, NoiseAtLevel, least_cell_noise
from utmost.publish.promises.promised_noise import Noise, PlannedNoise, Response
from utmost.publish.promises.table_statements import promise
from utmost.tables.cells.columns import integer_column, real_column

# Each stored cell takes `word` bytes. A noisy value needs more bytes with a probability below 2^-512, less than
# the probability of guessing a key.
_TAIL = Fraction(356)  # > 513 log 2
UNDECLARED_BOUND = (1 << 126) - 1
"""Bound on |value|, in steps, if none is declared; the sum of value and noise then usually fits 16 bytes."""
_LARGEST_BITS = 4096


class ColumnNoise(PlannedNoise):
    """The base class of noise that is added to columns of a table."""

    __slots__ = ()

    def margin(self, level: Level, confidence: Number) -> int | float:
        """Return the largest margin of all columns."""
        return self.at(level, confidence).margin

    def check_unit(self, counted: Any) -> None:
        """Check that each cell may have its own noise; without a counted table, refuse a unit of amounts in steps."""
        if counted is None:
            self.unit.check_plain()
        else:
            self.unit.check_each_cell("columns")

    def guarantee(self, level: Level, columns: Sequence[str]) -> str:
        return promise(level, self.unit, "the released columns", "released cell")


def read_largest(largest: Number | None) -> Fraction | None:
    """Check a declared bound on the absolute value of every true value; None stands for no bound."""
    bound = None if largest is None else exact(largest, "largest")
    if bound is not None and not (bound > 0 and max(bound.numerator, bound.denominator) < 1 << _LARGEST_BITS):
        raise OutOfRange(
            f"largest= must be positive and below 2^{_LARGEST_BITS}",
            came=largest,
            remedy="Pass a bound on the absolute value of every true value.",
        )
    return bound


LARGEST = form("largest true value", write=str, read=written_number)
"""The form of a declared bound on the absolute value of every true value."""


@dataclass(frozen=True, slots=True)
class LatticeNoise(Noise):
    """Geometric or half-step staircase noise in steps of a `Lattice`; the noise can be relaxed without loss."""

    largest: Fraction | None = field(metadata=LARGEST)
    lattice: Lattice = field(init=False, repr=False, compare=False)  # Computed from unit and grid

    @property
    def is_bounded(self) -> bool:
        return self.largest is not None

    @property
    def exponent(self) -> int | None:
        return self.lattice.exponent

    @property
    def widest(self) -> Lattice:
        """The lattice with the largest noise."""
        return self.lattice

    def bound(self) -> tuple[int, str]:
        """Return the bound on the absolute value of true values, in steps and as text; 2^126 steps by default."""
        if self.largest is not None:
            grid = 1 if self.exponent is None else Fraction(2) ** -self.exponent
            return -(-self.largest // grid) + (self.exponent is not None), f"{self.largest}"
        return UNDECLARED_BOUND, "2^126 steps"

    def stored_bound(self) -> int:
        """Return the bound on the absolute value of the numbers to which noise is added, in steps."""
        return self.bound()[0]

    def word(self, level: Level) -> int:
        # A value within `bound` fits, if its noise is within the 1 - 2^-512 quantile. Larger noise makes all cells of
        # its block longer, so that the distribution stays exact; this is all that a length can reveal.
        bits, epsilon = 128, Fraction(0)
        while epsilon <= 0:  # terminates: a level is positive
            epsilon, bits = self.widest.of(level).epsilon_interval(bits).lower, 2 * bits
        noise = self.lattice.block * (-(-_TAIL // epsilon) + 1)
        return width_of(2 + max(self.stored_bound(), noise).bit_length())

    def cells(self, column: Any, name: str, place: Callable[[int], str]) -> NDArray[Any]:
        """Read a column; return its values in steps of the lattice."""
        if self.exponent is None:
            return integer_column(column, name, place)  # a copy, already in steps
        return self.lattice.steps(self.lattice.read(real_column(column, name, place)))


@dataclass(frozen=True, slots=True, init=False)
class CellNoise(ColumnNoise, LatticeNoise):
    """Independent noise for each cell, geometric or half-step staircase; answers can be made more accurate later.

    Args:
        unit: Unit of privacy: the largest change of the table by one individual.
        numbers: Kind of the numbers, "integers" or "reals".
        grid: Width of the grid of reals, a power of two; chosen by the sensitivity if left out.
        largest: Bound on the absolute value of every possible true value, known without looking at the data. This bound
            determines the number of bytes of a stored cell, which must not depend on the values. If left out, the bound
            is 2^126 steps, and a cell takes 16 bytes.
        half_step: Whether to use half-step staircase noise, which needs an odd sensitivity; above a sensitivity of 1,
            it is smaller than geometric noise up to an epsilon of 2.5 for each cell.

    Raises:
        OutOfRange, NotANumber, WrongKind: if an argument is invalid.
        Unsupported: if the unit bounds all cells together, and the noise is for reals or in half steps.

    Source: [koufogiannis2015], [geng2012]; proofs/theory/gradual-release.md.

    >>> from utmost.exact import level
    >>> CellNoise(Unit(5, 1), half_step=True).at(level(1)).distribution
    DiscreteStaircase(epsilon=1, sensitivity=5, step=3)
    >>> CellNoise(Unit(1, 2, "change-one")).lattice.cells
    4
    """

    kind: ClassVar[str] = "cells"
    json_kind: ClassVar[str] = "cells"

    numbers: IntegersOrReals = field(metadata=form("values"))
    grid: Fraction | None = field(metadata=form("grid of reals", write=str, read=written_number))
    half_step: bool = field(metadata=form("noise in half steps"))

    def __init__(
        self,
        unit: Unit,
        numbers: str = "integers",
        *,
        grid: Number | None = None,
        largest: Number | None = None,
        half_step: bool = False,
    ) -> None:
        plain, kind = read_unit(unit), read_numbers(numbers)
        if plain.amount is not None and kind != "integers":
            came = f"numbers={numbers!r}"
            raise OutOfRange(
                "amounts in steps must be released in these steps, without numbers= or grid=",
                came=came,
                remedy=f"Leave out {came}.",
            )
        if not isinstance(half_step, bool):
            raise OutOfRange(
                "half_step must be true or false", came=half_step, remedy="Pass True, or leave out half_step=."
            )
        if half_step or kind != "integers":
            plain.check_each_cell("noise that is not geometric on the integers")
        lattice = lattice_of_cells(kind, plain, grid, half_step)
        object.__setattr__(self, "unit", plain)
        object.__setattr__(self, "numbers", kind)
        object.__setattr__(self, "grid", None if lattice.exponent is None else Fraction(2) ** -lattice.exponent)
        object.__setattr__(self, "largest", read_largest(largest))
        object.__setattr__(self, "half_step", half_step)
        object.__setattr__(self, "lattice", lattice)

    def check_level(self, level: Level) -> None:
        """Check that the noise at this level has a margin and can be drawn."""
        self.margin(level, DEFAULT_CONFIDENCE)
        Geometric(self.lattice.of(level))  # of one step: a level below that of a change by the sensitivity

    @property
    def subject(self) -> str:
        return self.numbers

    def per_step(self, level: Level) -> Level | None:
        """Return the level for a change of 1 in one count; None if the noise is a staircase or on a grid."""
        return None if self.half_step or self.grid is not None else self.lattice.of(level)

    def by_item(self) -> Lattice:
        """Return the lattice of each cell's noise."""
        return self.lattice

    def responder(self, response: NewResponse, values: Mapping[str, NDArray[Any]] | None) -> Responder:
        """Return the object that draws a response: from stored ones, or from values and the next lower response."""
        from utmost.publish.promises.response_noise import NoiseOnLattice

        return NoiseOnLattice(response.step, self.lattice, response.on(self.lattice), values)

    def written(self, level: Level, response: Response) -> dict[str, NDArray[Any]]:
        """Return the released columns: integers, amounts in their own unit, or floats on the grid."""
        exponent = self.lattice.exponent
        if exponent is None:
            return {name: self.unit.numbers(steps) for name, steps in response.items()}
        return {name: unsnapped(steps, exponent) for name, steps in response.items()}

    def at(self, level: Level, confidence: Number = DEFAULT_CONFIDENCE) -> Any:
        """Return the noise of an answer at this level; it does not depend on other answers.

        >>> from utmost.exact import level
        >>> noise = CellNoise(Unit(1, 2)).at(level(1))
        >>> noise.distribution, noise.margin
        (Geometric(epsilon='1/2', sensitivity=1), 6)
        """
        return _answer_at(self.unit, self.lattice, level, read_confidence(confidence))


@lru_cache(maxsize=512)
def _answer_at(unit: Unit, lattice: Lattice, at: Level, confidence: Fraction) -> CellNoiseAtLevel:
    """Return the noise of an answer; cached, so that a further release reuses its distribution and sampler."""
    here, steps = unit.per_cell(at), lattice.sensitivity
    is_staircase = lattice.block > 1
    drawn: IntegerDistribution = DiscreteStaircase.half_step(here, steps) if is_staircase else Geometric(here, steps)
    grid = None if lattice.exponent is None else Fraction(2) ** -lattice.exponent
    distribution: Distribution = drawn if grid is None or is_staircase else Laplace(here, Fraction(unit.sensitivity))
    return CellNoiseAtLevel(at, unit, distribution, drawn, absolute, True, confidence, grid)


@dataclass(frozen=True, slots=True)
class OnceCells(ColumnNoise):
    """Independent noise for each cell, with the least error at one level; for a release without history."""

    kind: ClassVar[str] = "columns with noise for one level"
    json_kind: ClassVar[str] = "cells at one level"

    numbers: IntegersOrReals = field(metadata=form("values"))
    cost: Cost = field(
        metadata=form("least error of a cell", write=repr, read=lambda fact, name: cost_named(text(fact, name)))
    )
    relaxable: bool = field(metadata=form("noise that can be relaxed", read=truth))
    # Width of the grid of reals; None for a width chosen by level and sensitivity
    grid: Fraction | None = field(metadata=form("grid of reals", write=str, read=written_number))

    @property
    def subject(self) -> str:
        return self.numbers

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "OnceCells":
        return once_cells(**cls.arguments(facts))

    def at(self, level: Level, confidence: Number = DEFAULT_CONFIDENCE) -> NoiseAtLevel:
        # A user's cost function may be unhashable.
        least_at = _least_at if isinstance(self.cost, Moment) else _least_at.__wrapped__
        return least_at(self, level, read_confidence(confidence))


@lru_cache(maxsize=512)
def _least_at(noise: OnceCells, level: Level, confidence: Fraction) -> NoiseAtLevel:
    """Choose the noise of least error at a level; cached, so that a further release reuses distribution and sampler."""
    return least_cell_noise(
        level, noise.unit, noise.cost, noise.numbers, confidence, relaxable=noise.relaxable, grid=noise.grid
    )


def once_cells(
    unit: Unit,
    *,
    cost: str | Cost = "absolute",
    numbers: str = "integers",
    relaxable: bool = False,
    grid: Number | None = None,
) -> OnceCells:
    """Return the noise that `cell_noise_at` would choose at each level, for a release made once."""
    width = None if grid is None else written_number(grid, "grid")
    return OnceCells(read_unit(unit), read_numbers(numbers), cost_named(cost), truth(relaxable, "relaxable"), width)


def least_once(noise: PlannedNoise, cost: str | Cost, *, relaxable: bool) -> PlannedNoise:
    """Replace promised noise of cells, which is defined for every level, by noise with the least error at one level."""
    # A declared grid of reals stays; a grid that was chosen by the sensitivity is chosen again for the level.
    if not isinstance(noise, CellNoise) or noise.half_step:
        if cost != "absolute" or relaxable:
            came = "relaxable=True" if relaxable else f"cost={cost!r}"
            remedy = "Leave out cost= and relaxable=: the promise determines the noise."
            raise Unsupported(
                "cost= and relaxable= are allowed only with independent noise of cells",
                came=came,
                where=noise.kind,
                remedy=remedy,
            )
        return noise
    chosen = None if noise.grid is None else CellNoise(noise.unit, "reals").grid
    grid = None if noise.grid == chosen else noise.grid
    return OnceCells(noise.unit, noise.numbers, cost_named(cost), relaxable, grid)
