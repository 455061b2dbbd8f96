"""The noise of an answer at its level: distribution and margins, settled before anything is read or drawn."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import truth
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import round_up
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, read_confidence
from utmost.core.exact.written_levels import level_facts
from utmost.core.noise.costs import Cost, Moment, absolute, cost_named
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.integer_law import IntegerLaw
from utmost.core.noise.laplace import Laplace
from utmost.core.noise.law import THEOREM_11, Law
from utmost.core.noise.optimal import relaxable_noise
from utmost.core.noise.staircase import Staircase
from utmost.core.privacy.unit import Unit, read_unit
from utmost.core.sampling.draw import on_grid
from utmost.core.sampling.grid import FARTHEST, declared_exponent
from utmost.core.sampling.random_bits import Randomness
from utmost.errors import LittleProtection, OutOfRange, PromiseBroken, RowsObserved, warn
from utmost.publish.promises.declared_columns import read_numbers
from utmost.publish.promises.lattice import Lattice, whole_sensitivity
from utmost.publish.promises.table_statements import law_parameters
from utmost.publish.promises.values import noised_by
from utmost.tables.cells.columns import RowName, integer_column, real_column

if TYPE_CHECKING:  # few releases are in one draw
    from utmost.core.noise.one_draw import DrawLaw


def optimal_law(level: Level, sensitivity: Fraction, cost: Cost, numbers: str) -> Law:
    """The law with the least expected cost of all noise that can be added to one cell at this level."""
    if numbers == "integers":
        units = whole_sensitivity(sensitivity)
        return Geometric(level, units) if units == 1 else DiscreteStaircase(level, units, cost)
    return Staircase(level, sensitivity, cost)


def relaxable_law(level: Level, sensitivity: Fraction, cost: Cost, numbers: str) -> Law:
    """`relaxable_noise` for a release: the cheapest law that can be relaxed without loss, with the release's refusals.

    Source: [koufogiannis2015], Theorem 9, and its discrete counterpart.
    """
    if numbers == "integers":
        return relaxable_noise(level, whole_sensitivity(sensitivity), cost)
    return relaxable_noise(level, sensitivity, cost, "reals")


# A cost that is a function is summed step by step; on finer grids nothing is claimed for it.
_MOST_STEPS = 1_000_000


Margin = int | float | tuple[int | float, ...]
"""The margin of a column; several, one for each row, where cells have several distributions."""


def bar_column(bar: Margin, rows: int) -> NDArray[Any]:
    """A margin, or one for each row, as a column.

    >>> bar_column(3, 2).tolist(), bar_column((3, 4), 2).tolist()
    ([3, 3], [3, 4])
    """
    return np.array(bar) if isinstance(bar, tuple) else np.full(rows, bar)


class NoiseAtLevel(Protocol):
    """The noise of an answer at its level, known before anything is drawn: distribution, margins, way to draw it."""

    @property
    def level(self) -> Level:
        """The level of the whole release."""

    @property
    def unit(self) -> Unit:
        """The unit of privacy."""

    @property
    def law(self) -> Any:
        """The noise."""

    @property
    def margin(self) -> int | float:
        """The distance within which a released value lies of the true one; the largest of all columns."""

    @property
    def confidence(self) -> Fraction:
        """The probability with which it does."""

    def with_confidence(self, confidence: Fraction) -> "NoiseAtLevel":
        """This noise with margins of another confidence."""

    def bars(self, columns: Sequence[str]) -> Mapping[str, tuple[str, "Margin"]]:
        """The columns of margins, with the column that each stands behind, and the margin."""

    def warn(self) -> None:
        """Warn of a level at which practically nobody is protected, see `warn_of_level`."""

    def read(self, column: Any, name: str, place: RowName) -> NDArray[Any]:
        """The values of a column as `noised` takes them.

        Raises:
            BadTable: for a cell that cannot be released.
        """

    def noised(self, cells: Mapping[str, NDArray[Any]], randomness: Randomness) -> dict[str, Any]:
        """The columns with noise, each as it is published; of cells as `read` reads them."""

    def facts(self) -> dict[str, Any]:
        """The noise as JSON values, for a statement: "drawn", "theorem", and the numbers of its kind."""


@dataclass(frozen=True, slots=True, repr=False)
class CellNoiseAtLevel(Display):
    """The level, the individual it protects, and the one law that noises every released cell; made by `cell_noise_at`.

    Its law is compared with the level and the unit whoever makes it, and its margin follows from the law.

    Attributes:
        level: Level of the whole release.
        unit: Unit of privacy.
        law: the noise of one cell, at ``unit.per_cell(level)``; on the reals, what it is on an endlessly fine grid.
        drawn: the law of the integers that are drawn: the law itself, or in steps of the grid the one that is used
            there. Level, error bar, cost and claim are those of what is drawn.
        cost: Cost for which the law is optimal.
        relaxable: whether the law was chosen so that the release can later be relaxed without loss.
        confidence: the probability with which a released cell lies within ``margin`` of the true one.
        margin: the least such distance, in the amounts' own unit; on a grid, the half step that rounding to it may add
            is in it.
        grid: the width of the grid on which reals are released, None for integers.

    Raises:
        PromiseBroken: for a law that does not keep the cell's share of the level for the unit's sensitivity.
        Unsupported: for a law that is not geometric, where all cells together are bounded.
    """

    level: Level
    unit: Unit
    law: Law
    drawn: IntegerLaw
    cost: Cost
    relaxable: bool
    confidence: Fraction
    margin: int | float = field(init=False)
    grid: Fraction | None

    def __post_init__(self) -> None:
        unit, grid = self.unit, self.grid
        if not isinstance(self.drawn, Geometric):  # a bound over all cells together is kept by geometric noise alone
            unit.check_each_cell(type(self.drawn).__name__)
        _check_kept(self.drawn, self.level, unit, unit.sensitivity if grid is None else unit.sensitivity / grid)
        if self.law is not self.drawn:
            _check_kept(self.law, self.level, unit, unit.sensitivity)
        object.__setattr__(self, "margin", _margin(unit, self.drawn, grid, self.confidence))

    def read(self, column: Any, name: str, place: RowName) -> NDArray[Any]:
        """The values of a column: reals where there is a grid, whatever the law of its steps; else integers."""
        return (integer_column if self.grid is None else real_column)(column, name, place)

    def with_confidence(self, confidence: Fraction) -> "CellNoiseAtLevel":
        """This noise with a margin of another confidence.

        >>> cell_noise_at(epsilon=1, unit=Unit(1, 2)).with_confidence(Fraction(1, 2)).margin
        1
        """
        return replace(self, confidence=confidence)

    def bars(self, columns: Sequence[str]) -> dict[str, tuple[str, int | float]]:
        """One margin behind each column."""
        return {f"{name}_margin": (name, self.margin) for name in columns}

    def warn(self) -> None:
        """Warn of a level at which practically nobody is protected."""
        warn_of_level(self.level, self.law)

    def facts(self) -> dict[str, Any]:
        """The noise as JSON values, for a statement."""
        law = self.law
        return {
            "drawn": repr(self.drawn),
            "theorem": self.theorem,
            "charged": self.unit.charged,
            "per_cell": level_facts(law.level),
            "law": type(law).__name__,
            "parameters": law_parameters(law),
            "relaxable": self.relaxable,
            "grid": None if self.grid is None else str(self.grid),
            "confidence": float(self.confidence),
        }

    def noised(self, cells: Mapping[str, NDArray[Any]], randomness: Randomness) -> dict[str, Any]:
        """Each cell with noise of its own."""
        noisy = {
            name: noised_by(column, self.drawn, self.exponent, randomness=randomness) for name, column in cells.items()
        }
        return {name: self.unit.numbers(column) for name, column in noisy.items()}

    @property
    def theorem(self) -> str:
        """The theorem about the drawn noise, and its scope: for all cells only where an individual changes one.

        Then the noise of any mechanism on any one cell is private at the whole level, so that the sum over all cells is
        least where each of them is. Where an individual changes more cells, noise that is not independent may be less.

        >>> cell_noise_at(epsilon=2, unit=Unit(1, 1), numbers="reals", grid=8).theorem
        'in steps of 8, no other noise that is added to integers has a smaller expected cost, whatever an error costs
        [geng2012, Theorem 11]; kept in a ledger, it can be made more accurate later, and the total cost is then the
        larger epsilon alone; values are rounded to these steps first, by at most 4. This holds for the whole table,
        since one individual changes only one cell'
        """
        if self.unit.charged == 1:
            return f"{self._claim}. This holds for the whole table, since one individual changes only one cell"
        return f"{self._claim}. This holds for each cell at its share of epsilon, not for all cells together"

    @property
    def _claim(self) -> str:
        """The theorem about the noise of one cell."""
        claim = self._drawn_for(self.cost).theorem
        if self.relaxable and claim != THEOREM_11 and self._is_least_relaxable:
            claim = f"{claim}. No noise that is known to allow this has a smaller expected cost"
        width = self.grid
        if width is None:
            amount = self.unit.amount
            return claim if amount is None or amount.step == 1 else f"in steps of {amount.text(1)}, {claim}"
        half = width * FARTHEST
        return f"in steps of {width}, {claim}; values are rounded to these steps first, by at most {half}"

    @property
    def width(self) -> Fraction | None:
        """How wide the steps are in which noise is drawn: of the grid, or of amounts; None where they are 1."""
        return self.grid if self.grid is not None or self.unit.step == 1 else self.unit.step

    @property
    def exponent(self) -> int | None:
        """The k of the grid's width 2^-k; None for integers."""
        return None if self.grid is None else declared_exponent(self.grid)

    @property
    def expected_cost(self) -> float:
        """E L(noise), of the noise that is drawn; on a grid, the rounding of the value itself is not in it.

        >>> noise = cell_noise_at(epsilon=2, unit=Unit(1, 1), numbers="reals", grid=8)
        >>> float(noise.law.expected_cost(noise.cost)), noise.expected_cost
        (0.425459064119660..., 2.205764...)
        """
        if self.width is not None and isinstance(self.cost, Moment):
            scale = math.pow(self.width, self.cost.order)
            return float(self.drawn.expected_cost(self.cost)) * scale
        return float(self.drawn.expected_cost(in_steps(self.cost, self.width)))

    def _drawn_for(self, cost: Cost) -> IntegerLaw:
        """The law drawn, made for this cost, so that its theorem speaks of it where that can be checked."""
        if not isinstance(self.drawn, DiscreteStaircase) or not _can_be_summed(cost, self.drawn.sensitivity):
            return self.drawn
        made_for = in_steps(cost, self.width)
        return DiscreteStaircase(self.drawn.level, self.drawn.sensitivity, made_for, step=self.drawn.step)

    @property
    def _is_least_relaxable(self) -> bool:
        wide = self.unit.sensitivity if self.grid is None else Fraction(-(-self.unit.sensitivity // self.grid))
        if not _can_be_summed(self.cost, wide):
            return False
        # A function of the user's need not be hashable.
        is_least = _is_least if isinstance(self.cost, Moment) else _is_least.__wrapped__
        return is_least(self.drawn, wide, in_steps(self.cost, self.width))


@lru_cache(maxsize=512)
def _is_least(drawn: IntegerLaw, sensitivity: Fraction, cost: Cost) -> bool:
    """Whether no noise that is known to be relaxed without loss costs less; every statement says it again."""
    least = relaxable_law(drawn.level, sensitivity, cost, "integers")
    return float(drawn.expected_cost(cost)) <= float(least.expected_cost(cost))


def in_steps(cost: Cost, width: Fraction | None) -> Cost:
    """The cost of so many steps of a width. That of a moment is the same up to a factor, so it stays."""
    if width is None or isinstance(cost, Moment):
        return cost

    def scaled(x: Any) -> Any:
        return cost(x * float(width))

    scaled.__name__ = getattr(cost, "__name__", repr(cost))
    return scaled


def _can_be_summed(cost: Cost, sensitivity: Fraction | int) -> bool:
    return (isinstance(cost, Moment) and cost.is_integer) or sensitivity <= _MOST_STEPS


def cell_noise_at(
    epsilon: Number | Level,
    *,
    unit: Unit,
    cost: str | Cost = "absolute",
    numbers: str = "integers",
    relaxable: bool = False,
    confidence: Number = DEFAULT_CONFIDENCE,
    grid: Number | None = None,
) -> CellNoiseAtLevel:
    """Choose the law that a release at this level uses; draws nothing and reads nothing.

    Args:
        epsilon: Privacy level of the whole release.
        unit: Unit of privacy, what one individual changes.
        cost: "absolute", "squared", "moment:3" or any even function nondecreasing in |x|.
        numbers: "integers" or "reals".
        relaxable: choose a law that can later be relaxed without loss, at some cost now.
        confidence: Confidence of the stated margin.
        grid: Width of the grid for reals, a power of two; chosen by level and sensitivity when None.

    Raises:
        NotALevel, NotANumber, OutOfRange: for a parameter that is no such thing.
        Unsupported: for sums and counts that are noised together and cells that are bounded in all: by a plan.

    >>> noise = cell_noise_at(epsilon=1, unit=Unit(1, 2))
    >>> noise.law, noise.margin
    (Geometric(epsilon='1/2', sensitivity=1), 6)
    """
    spent, protected = level(epsilon), read_unit(unit)
    goal, sure = cost_named(cost), read_confidence(confidence)
    choose = relaxable_law if truth(relaxable, "relaxable") else optimal_law
    protected.check_each_cell("a plan of cells")
    if protected.amount is not None and read_numbers(numbers) != "integers":
        remedy = "Leave out numbers= and grid=: amounts are whole steps already."
        raise OutOfRange('numbers must be "integers" for amounts in steps', came="reals", remedy=remedy)
    stepped = in_steps(goal, None if protected.step == 1 else protected.step)
    law = choose(protected.per_cell(spent), protected.sensitivity, stepped, read_numbers(numbers))
    drawn, exponent = on_grid(law, grid)
    width = None if exponent is None else Fraction(2) ** -exponent
    if width is not None and not relaxable and _can_be_summed(goal, drawn.sensitivity):
        best = optimal_law(drawn.level, Fraction(drawn.sensitivity), in_steps(goal, width), "integers")
        assert isinstance(best, IntegerLaw), "the optimal law on the integers is one on the integers"
        drawn = best
    return CellNoiseAtLevel(spent, protected, law, drawn, goal, relaxable, sure, width)


def _check_kept(law: Law, level: Level, unit: Unit, sensitivity: Fraction) -> None:
    """Check that the noise of one cell keeps the cell's share of a level for a sensitivity, both compared exactly.

    Raises:
        PromiseBroken: where it does not, or where the level that the law states is not the one of its probabilities.
    """
    where, share = type(law).__name__, unit.per_cell(level)
    if law.level > share:
        remedy = "Make the law with the level unit.per_cell(level)."
        raise PromiseBroken(f"the noise of a cell must keep {share}", came=str(law.level), where=where, remedy=remedy)
    if law.sensitivity < sensitivity:
        least = -(-sensitivity // 1) if isinstance(law, IntegerLaw) else sensitivity
        required = f"the noise of a cell must be for a sensitivity of at least {least}"
        remedy = "Make the law with the sensitivity unit.sensitivity, on a grid with as many of its steps."
        raise PromiseBroken(required, came=str(law.sensitivity), where=where, remedy=remedy)
    kept = law.worst_level(Fraction(law.sensitivity))
    if kept is not None and kept > law.level:
        required = f"the probabilities of the noise must keep the level that it states, {law.level}"
        remedy = "Let its level be self.ratio_level(place, self.sensitivity), at the place of the largest ratio."
        raise PromiseBroken(required, came=str(kept), where=where, remedy=remedy)


def _margin(unit: Unit, drawn: IntegerLaw, grid: Fraction | None, confidence: Fraction) -> int | float:
    """The margin of a cell, in the amounts' own unit; on a grid with the half step that rounding may add."""
    if grid is None:
        return unit.margin(drawn.margin(confidence))
    return round_up((drawn.margin(confidence) + FARTHEST) * grid)


@lru_cache(maxsize=512)
def cell_noise_of_answer(unit: Unit, lattice: Lattice, at: Level, confidence: Fraction) -> CellNoiseAtLevel:
    """The noise of an answer at this level, whatever other levels were answered.

    >>> from utmost.publish.promises.lattice import lattice_of
    >>> unit = Unit(1, 2)
    >>> noise = cell_noise_of_answer(unit, lattice_of("integers", unit), level(1), Fraction(19, 20))
    >>> noise.law, noise.margin
    (Geometric(epsilon='1/2', sensitivity=1), 6)
    """
    here, steps = unit.per_cell(at), lattice.sensitivity
    is_staircase = lattice.block > 1
    drawn: IntegerLaw = DiscreteStaircase.half_step(here, steps) if is_staircase else Geometric(here, steps)
    grid = None if lattice.exponent is None else Fraction(2) ** -lattice.exponent
    law: Law = drawn if grid is None or is_staircase else Laplace(here, Fraction(unit.sensitivity))
    return CellNoiseAtLevel(at, unit, law, drawn, absolute, True, confidence, grid)


_WEAK = 10  # the epsilon above which odds change by a factor of more than 22 000
_SURE = Fraction(19, 20)


def warn_of_level(level: Level, law: "Law | DrawLaw") -> None:
    """Warn of a level at which practically nobody is protected.

    Args:
        level: Level of the whole release.
        law: the noise of one cell.

    Warns:
        LittleProtection: for epsilon above 10, and where 19 in 20 released cells are the true ones.
    """
    if level.epsilon_interval(64).lower > _WEAK:
        said = f"epsilon is above {_WEAK}, so the odds of any guess about an individual may grow more than 22 000-fold"
    elif law.numbers == "integers" and law.margin(_SURE) == 0:
        said = "more than 19 in 20 released cells will be the true ones"
    else:
        return
    warn(f"This level protects practically nobody: {said}. Choose a smaller one.", LittleProtection)


def warn_of_rows(rows_from: str) -> None:
    """Warn where the list of rows reveals individuals.

    Warns:
        RowsObserved: for rows that were observed in the data.
    """
    if rows_from == "observed":
        said = "The promise does not cover which rows there are: one individual may be the reason that a row is there."
        remedy = "List the rows before you look at the data, with zero where nobody is counted."
        warn(f"{said} {remedy}", RowsObserved)
