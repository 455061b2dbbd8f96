"""Noise of the columns of a table, each cell with its own: integers, amounts in steps, and reals on a grid.

`CellNoise` serves every level; `OnceCells` is the least at one, and no memory keeps it.
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
from utmost.core.noise.costs import Cost, Moment, cost_named
from utmost.core.privacy.unit import Unit, read_unit
from utmost.core.sampling.grid import unsnapped
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.promises.declared_columns import read_numbers
from utmost.publish.promises.drawing import NewResponse, Responder
from utmost.publish.promises.lattice import Lattice, lattice_of_cells, width_of
from utmost.publish.promises.noise_at_level import Margin, NoiseAtLevel, cell_noise_at, cell_noise_of_answer
from utmost.publish.promises.promised_noise import Noise, PlannedNoise, Response
from utmost.publish.promises.table_statements import promise
from utmost.tables.cells.columns import integer_column, real_column

# A cell has noise beyond its word with a probability below 2^-512, which is far below that of guessing a key.
_TAIL = Fraction(356)  # > 513 log 2
_UNDECLARED = (1 << 126) - 1
"""The size in steps that a value may have where no largest is declared: with its noise it has a word of 16 bytes."""
_LARGEST_BITS = 4096


class ColumnNoise(PlannedNoise):
    """Noise of the columns of a table: what is said of an answer is what its plan says."""

    __slots__ = ()

    def margin(self, level: Level, confidence: Number) -> int | float:
        """The largest margin of the plan."""
        return self.at(level, confidence).margin

    def column_bars(self, level: Level, columns: Sequence[str], confidence: Number) -> Mapping[str, tuple[str, Margin]]:
        """The columns of margins, with the column that each stands behind, and the margin."""
        return self.at(level, confidence).bars(columns)

    def check_unit(self, counted: Any) -> None:
        """Check that a unit of amounts is one that was counted, and that no sums and counts are noised together."""
        if counted is None:
            self.unit.check_plain()
        self.unit.check_each_cell("columns")

    def guarantee(self, level: Level, columns: Sequence[str]) -> str:
        """The promise at a level, in plain words."""
        return promise(level, self.unit, "the released columns", "released cell")


def read_largest(largest: Number | None) -> Fraction | None:
    """The declared bound on the size of any true value."""
    bound = None if largest is None else exact(largest, "largest")
    if bound is not None and not (bound > 0 and max(bound.numerator, bound.denominator) < 1 << _LARGEST_BITS):
        raise OutOfRange(
            f"largest must be positive and below 2^{_LARGEST_BITS}",
            came=largest,
            remedy="Give the largest size of any true value.",
        )
    return bound


LARGEST = form("largest true value", write=str, read=written_number)
"""The form of a declared bound on the size of any true value."""


@dataclass(frozen=True, slots=True)
class LatticeNoise(Noise):
    """Noise on a lattice, geometric or the half-step staircase, which is lossless to relax.

    Attributes:
        largest: the declared, public bound on the size of a true value; None where none is declared.
        lattice: unit and grid in steps of the noise; computed.
    """

    largest: Fraction | None = field(metadata=LARGEST)
    lattice: Lattice = field(init=False, repr=False, compare=False)

    @property
    def is_bounded(self) -> bool:
        """Whether a bound on the size of a true value is declared."""
        return self.largest is not None

    @property
    def exponent(self) -> int | None:
        """The k of the grid; None for integers."""
        return self.lattice.exponent

    @property
    def widest(self) -> Lattice:
        """The lattice of the largest noise."""
        return self.lattice

    def bound(self) -> tuple[int, str]:
        """The size that a true value may have, in steps; and in words. Where nothing is declared it is 2^126."""
        if self.largest is not None:
            grid = 1 if self.exponent is None else Fraction(2) ** -self.exponent
            return -(-self.largest // grid) + (self.exponent is not None), f"{self.largest}"
        return _UNDECLARED, "2^126 steps"

    def stored_bound(self) -> int:
        """The size that what is noised may have, in steps."""
        return self.bound()[0]

    def word(self, level: Level) -> int:
        """The bytes that each cell of a response takes on disk: a function of public facts alone.

        A value within `bound`, and noise within the 1 - 2^-512 quantile of the level, fit. Noise beyond makes the words
        of its block longer (so that its law is exact all the same); that is all a length can ever reveal.

        >>> from utmost.exact import level
        >>> small = CellNoise(Unit(1, 1), largest=10**6)
        >>> small.word(level(1)), small.word(level("1/1000000000")), CellNoise(Unit(1, 1)).word(level(1))
        (4, 8, 16)
        """
        bits, epsilon = 128, Fraction(0)
        while epsilon <= 0:  # ends: a level is positive
            epsilon, bits = self.widest.of(level).epsilon_interval(bits).lower, 2 * bits
        noise = self.lattice.block * (-(-_TAIL // epsilon) + 1)
        return width_of(2 + max(self.stored_bound(), noise).bit_length())

    def cells(self, column: Any, name: str, place: Callable[[int], str]) -> NDArray[Any]:
        """The values of a column, in steps of the lattice."""
        if self.exponent is None:
            return integer_column(column, name, place)  # a row of its own: it is already in steps
        return self.lattice.steps(self.lattice.read(real_column(column, name, place)))


@dataclass(frozen=True, slots=True, init=False)
class CellNoise(ColumnNoise, LatticeNoise):
    """Noise for each cell by itself, geometric or half-step staircase; answers can be made more accurate later.

    Args:
        unit: Unit of privacy, what one individual changes.
        numbers: Kind of the numbers, "integers" or "reals".
        grid: Width of the grid of reals, a power of two; chosen by the sensitivity if left out.
        largest: Bound on the size of every possible true value, known without looking at the data. It fixes how many
            bytes a cell takes on disk, since that length must not depend on the values. If left out, 2^126 steps, with
            16 bytes a cell.
        half_step: Whether to take half-step staircase noise, for odd sensitivities above 1: less noise than geometric
            up to an epsilon of 2.5 for each cell.

    Raises:
        OutOfRange, NotANumber, WrongKind: for an argument outside these ranges.
        Unsupported: for a unit that bounds all cells together, with reals or half steps.

    Source: [koufogiannis2015], [geng2012]; proofs/theory/gradual-release.md.

    >>> from utmost.exact import level
    >>> CellNoise(Unit(5, 1), half_step=True).at(level(1)).law
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
            raise OutOfRange("amounts are released in their own steps", came=came, remedy=f"Leave out {came}.")
        if not isinstance(half_step, bool):
            raise OutOfRange("half_step must be true or false", came=half_step, remedy="Leave it out.")
        if half_step or kind != "integers":
            plain.check_each_cell("noise that is not geometric on the integers")
        lattice = lattice_of_cells(kind, plain, grid, half_step)
        object.__setattr__(self, "unit", plain)
        object.__setattr__(self, "numbers", kind)
        object.__setattr__(self, "grid", None if lattice.exponent is None else Fraction(2) ** -lattice.exponent)
        object.__setattr__(self, "largest", read_largest(largest))
        object.__setattr__(self, "half_step", half_step)
        object.__setattr__(self, "lattice", lattice)

    @property
    def subject(self) -> str:
        """ "integers" or "reals"."""
        return self.numbers

    def per_step(self, level: Level) -> Level | None:
        """The level of one unit of a count; None for staircases and on a grid."""
        return None if self.half_step or self.grid is not None else self.lattice.of(level)

    def by_item(self) -> Lattice:
        """The lattice of each cell's noise."""
        return self.lattice

    def responder(self, response: NewResponse, values: Mapping[str, NDArray[Any]] | None) -> Responder:
        """Make a response from the responses beside it, or from the values and their noise at the strict one."""
        from utmost.publish.promises.response_noise import NoiseOnLattice

        return NoiseOnLattice(response.step, self.lattice, response.on(self.lattice))

    def written(self, level: Level, response: Response) -> dict[str, NDArray[Any]]:
        """Integers, amounts in their own unit, or floats on the grid."""
        exponent = self.lattice.exponent
        if exponent is None:
            return {name: self.unit.numbers(steps) for name, steps in response.items()}
        return {name: unsnapped(steps, exponent) for name, steps in response.items()}

    def at(self, level: Level, confidence: Number = DEFAULT_CONFIDENCE) -> Any:
        """The plan by which a response at this level was drawn, whatever other levels were answered.

        >>> from utmost.exact import level
        >>> noise = CellNoise(Unit(1, 2)).at(level(1))
        >>> noise.law, noise.margin
        (Geometric(epsilon='1/2', sensitivity=1), 6)
        """
        sure = read_confidence(confidence)
        return cell_noise_of_answer(self.unit, self.lattice, level, sure)


def _read_cost(fact: Any, name: str) -> Cost:
    return cost_named(text(fact, name))


def _read_truth(fact: Any, name: str) -> bool:
    return truth(fact, name)


@dataclass(frozen=True, slots=True)
class OnceCells(ColumnNoise):
    """Noise of its own for each cell, the least at the level of one release; no memory takes it, see `Promise.noise`.

    Attributes:
        numbers: "integers" or "reals".
        cost: error of a cell that is least.
        relaxable: whether the noise is the least of those that can later be relaxed without loss.
        grid: width of the grid of reals; chosen by level and sensitivity where it is None.
    """

    kind: ClassVar[str] = "columns with noise for one level"
    json_kind: ClassVar[str] = "cells at one level"

    numbers: IntegersOrReals = field(metadata=form("values"))
    cost: Cost = field(metadata=form("least error of a cell", write=repr, read=_read_cost))
    relaxable: bool = field(metadata=form("noise that can be relaxed", read=_read_truth))
    grid: Fraction | None = field(metadata=form("grid of reals", write=str, read=written_number))

    @property
    def subject(self) -> str:
        """ "integers" or "reals"."""
        return self.numbers

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "OnceCells":
        """The noise that `facts` wrote."""
        return once_cells(**cls.arguments(facts))

    def at(self, level: Level, confidence: Number = DEFAULT_CONFIDENCE) -> NoiseAtLevel:
        """The least noise at a level."""
        # A function of the user's need not be hashable.
        least_at = _least_at if isinstance(self.cost, Moment) else _least_at.__wrapped__
        return least_at(self, level, read_confidence(confidence))


@lru_cache(maxsize=512)
def _least_at(noise: OnceCells, level: Level, confidence: Fraction) -> NoiseAtLevel:
    """Nothing here depends on data: a release after another finds its law, and the law's sampler, made."""
    return cell_noise_at(
        level,
        unit=noise.unit,
        cost=noise.cost,
        numbers=noise.numbers,
        relaxable=noise.relaxable,
        confidence=confidence,
        grid=noise.grid,
    )


def once_cells(
    unit: Unit,
    *,
    cost: str | Cost = "absolute",
    numbers: str = "integers",
    relaxable: bool = False,
    grid: Number | None = None,
) -> OnceCells:
    """The noise of cells that is least at its level: the arguments of `cell_noise_at`.

    >>> from utmost.exact import level
    >>> once_cells(Unit(5, 1), cost="squared").at(level(8)).law
    DiscreteStaircase(epsilon=8, sensitivity=5, step=1)
    """
    width = None if grid is None else written_number(grid, "grid")
    return OnceCells(read_unit(unit), read_numbers(numbers), cost_named(cost), truth(relaxable, "relaxable"), width)


def least_once(noise: PlannedNoise, cost: str | Cost, *, relaxable: bool) -> PlannedNoise:
    """The least noise at one level, where the promised one serves every level and leaves a choice.

    Reals keep a grid that was declared; the one that the sensitivity alone has chosen gives way to one for the level.
    """
    if not isinstance(noise, CellNoise) or noise.half_step:
        if cost != "absolute" or relaxable:
            came = "relaxable=True" if relaxable else f"cost={cost!r}"
            remedy = "Leave it out: the promise says which noise it is."
            raise Unsupported("a cost chooses among noises of cells", came=came, where=noise.kind, remedy=remedy)
        return noise
    chosen = None if noise.grid is None else CellNoise(noise.unit, "reals").grid
    grid = None if noise.grid == chosen else noise.grid
    return OnceCells(noise.unit, noise.numbers, cost_named(cost), relaxable, grid)
