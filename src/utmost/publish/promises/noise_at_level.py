"""The noise of an answer at one level: distribution, margins and theorem, computed before any table is read."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, truth
from utmost.core.exact.defaults import CONFIDENCE, DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import round_up
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import IntegersOrReals, Number, read_confidence
from utmost.core.exact.written_levels import level_facts
from utmost.core.noise.costs import Cost, Moment, absolute, cost_named
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.distribution import NO_CLAIM, RELAXABLE, THEOREM_11, Distribution
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.integer_distribution import IntegerDistribution, check_formulas_once
from utmost.core.noise.optimal import relaxable_noise
from utmost.core.noise.staircase import Staircase
from utmost.core.privacy.unit import Unit, read_unit
from utmost.core.sampling.draw import on_grid
from utmost.core.sampling.grid import FARTHEST, declared_exponent
from utmost.core.sampling.random_bits import Randomness
from utmost.errors import LittleProtection, OutOfRange, PromiseBroken, RowsObserved, warn
from utmost.publish.promises.declared_columns import read_numbers
from utmost.publish.promises.lattice import whole_sensitivity
from utmost.publish.promises.table_statements import distribution_parameters
from utmost.publish.promises.values import noised_cells
from utmost.tables.cells.cell_values import column_cells
from utmost.tables.cells.columns import RowName, integer_column, real_column

if TYPE_CHECKING:  # loaded only for releases in one draw
    from utmost.core.noise.one_draw import DrawDistribution


def optimal_distribution(level: Level, sensitivity: Fraction, cost: Cost, numbers: str) -> Distribution:
    """Return the distribution of least expected cost among all noise that can be added to one cell at this level."""
    if numbers == "integers":
        units = whole_sensitivity(sensitivity)
        return Geometric(level, units) if units == 1 else DiscreteStaircase(level, units, cost)
    return Staircase(level, sensitivity, cost)


def relaxable_distribution(level: Level, sensitivity: Fraction, cost: Cost, numbers: str) -> Distribution:
    """Choose the distribution of least expected cost that can be relaxed without loss [koufogiannis2015, Theorem 9]."""
    if numbers == "integers":
        return relaxable_noise(level, whole_sensitivity(sensitivity), cost)
    return relaxable_noise(level, sensitivity, cost, "reals")


# The expected cost of a general cost function is a sum over this many steps at most; on finer grids optimality is not
# claimed.
_MOST_STEPS = 1_000_000


Margin = int | float | tuple[int | float, ...]
"""The margin of a column; or a tuple with a margin for each row, if the cells have different distributions."""


def bar_column(bar: Margin, rows: int) -> NDArray[Any]:
    """Return the margins of all rows of a column as an array."""
    return np.array(bar) if isinstance(bar, tuple) else np.full(rows, bar)


class NoiseAtLevel(Protocol):
    """The noise of an answer at one level: its distribution, its margins, and a method that draws it."""

    @property
    def level(self) -> Level:
        """The level of the whole release."""

    @property
    def unit(self) -> Unit:
        """The unit of privacy."""

    @property
    def distribution(self) -> Any:
        """The distribution of the noise."""

    @property
    def margin(self) -> int | float:
        """The largest margin of all columns: the error of a released value is at most this, with ``confidence``."""

    @property
    def confidence(self) -> Fraction:
        """The probability with which the margin holds."""

    def with_confidence(self, confidence: Fraction) -> "NoiseAtLevel":
        """Return the same noise with margins of another confidence."""

    def bars(self, columns: Sequence[str]) -> Mapping[str, tuple[str, "Margin"]]:
        """Return {name of a column of margins: (released column that it belongs to, margin)}."""

    def weakness(self) -> str:
        """Return the reason why the level protects practically nobody, see `weakness_of`; empty if it protects."""

    def read(self, column: Any, name: str, place: RowName) -> NDArray[Any]:
        """Read a column in the form that `noised` takes; raise BadTable for a cell that cannot be released."""

    def noised(self, cells: Mapping[str, NDArray[Any]], randomness: Randomness) -> dict[str, Any]:
        """Add noise to cells that `read` returned; return the columns in their published form."""

    def facts(self) -> dict[str, Any]:
        """Return the noise as JSON values for a statement: "drawn", "theorem", and the fields of this kind of noise."""


@dataclass(frozen=True, slots=True, repr=False)
class CellNoiseAtLevel(Display):
    """Independent noise of every released cell at a level, for a unit of privacy; `cell_noise_at` makes it.

    The distribution is checked against the level and the unit on construction, and the margin follows from it.

    Attributes:
        level: Level of the whole release.
        unit: Unit of privacy.
        distribution: Distribution of the noise of one cell, at ``unit.per_cell(level)``; for reals, the limit of
            ``drawn`` on ever finer grids.
        drawn: Distribution of the integers that are drawn: ``distribution`` itself, or on a grid the distribution of
            the noise in grid steps. The level, margin, expected cost and theorem describe ``drawn``.
        cost: Cost for which the distribution is optimal.
        relaxable: Whether the distribution was chosen so that the release can later be relaxed without loss.
        confidence: Probability with which a released cell lies within ``margin`` of the true one.
        margin: Margin of error at ``confidence``, in the unit of the amounts; on a grid it includes the half step of
            rounding.
        grid: Width of the grid of reals; None for integers.
        is_relaxed: Whether a ledger can relax a release with this noise.

    Raises:
        PromiseBroken: if the distribution does not satisfy one cell's share of the level, for the unit's sensitivity.
        Unsupported: if all cells together are bounded and the distribution is not geometric.
    """

    level: Level
    unit: Unit
    distribution: Distribution
    drawn: IntegerDistribution
    cost: Cost
    relaxable: bool
    confidence: Fraction
    margin: int | float = field(init=False)
    grid: Fraction | None
    is_relaxed: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        unit, grid = self.unit, self.grid
        if not isinstance(self.drawn, Geometric):  # only geometric noise satisfies a bound over all cells together
            unit.check_each_cell(type(self.drawn).__name__)
        _check_kept(self.drawn, self.level, unit, unit.sensitivity if grid is None else unit.sensitivity / grid)
        if self.distribution is not self.drawn:
            _check_kept(self.distribution, self.level, unit, unit.sensitivity)
        steps = self.drawn.margin(self.confidence)
        margin = unit.margin(steps) if grid is None else round_up((steps + FARTHEST) * grid)  # rounding: half a step
        object.__setattr__(self, "margin", margin)

    @classmethod
    def of_integers(
        cls, level: Level, unit: Unit, distribution: IntegerDistribution, confidence: Number = DEFAULT_CONFIDENCE
    ) -> "CellNoiseAtLevel":
        """Return noise on the integers that was not chosen for a cost and cannot be relaxed.

        Args:
            level: Level of the whole release.
            unit: Unit of privacy.
            distribution: Distribution of the noise of one cell, at ``unit.per_cell(level)``.
            confidence: Confidence of the margin.

        >>> CellNoiseAtLevel.of_integers(level(1), Unit(1, 2), Geometric("1/2")).margin
        6
        """
        instance(level, Level, "level")
        instance(unit, Unit, "unit")
        instance(distribution, IntegerDistribution, "distribution")
        sure = read_confidence(confidence)
        return cls(level, unit, distribution, distribution, absolute, False, sure, grid=None, is_relaxed=False)

    def read(self, column: Any, name: str, place: RowName) -> NDArray[Any]:
        """Read a column: as reals if there is a grid, else as integers."""
        return (integer_column if self.grid is None else real_column)(column, name, place)

    def with_confidence(self, confidence: Fraction) -> "CellNoiseAtLevel":
        """Return the same noise with a margin of another confidence.

        >>> cell_noise_at(epsilon=1, unit=Unit(1, 2)).with_confidence(Fraction(1, 2)).margin
        1
        """
        return replace(self, confidence=confidence)

    def bars(self, columns: Sequence[str]) -> dict[str, tuple[str, int | float]]:
        """Return {name of a column of margins: (released column that it belongs to, margin)}."""
        # The column of margins is named after the released column: "admitted_margin".
        return {f"{name}_margin": (name, self.margin) for name in columns}

    def weakness(self) -> str:
        """Return the reason why the level protects practically nobody, see `weakness_of`; empty if it protects."""
        return weakness_of(self.level, self.distribution)

    def facts(self) -> dict[str, Any]:
        """Return the noise as JSON values, for a statement."""
        distribution = self.distribution
        return {
            "drawn": repr(self.drawn),
            "theorem": self.theorem,
            "epsilon_parts": self.unit.epsilon_parts,
            "per_cell": level_facts(self.unit.per_cell(self.level)),
            "distribution": type(distribution).__name__,
            "parameters": distribution_parameters(distribution),
            "relaxable": self.relaxable,
            "grid": None if self.grid is None else str(self.grid),
            "confidence": float(self.confidence),
        }

    def noised(self, cells: Mapping[str, NDArray[Any]], randomness: Randomness) -> dict[str, Any]:
        """Add independent noise to each cell; return the columns in their published form."""
        return {name: self.unit.numbers(self.noised_column(column, randomness)) for name, column in cells.items()}

    def noised_column(self, column: NDArray[Any], randomness: Randomness) -> NDArray[Any]:
        """Add noise to a column that `read` returned; the result is in the same steps."""
        noisy: NDArray[Any] = noised_cells(
            column_cells(column, self.exponent), self.drawn, self.exponent, randomness=randomness
        )
        return noisy

    @property
    def theorem(self) -> str:
        """The optimality theorem of the drawn noise, with its scope.

        The theorem covers all cells together only if an individual changes one cell: the noise of each single cell
        then satisfies the whole level in any private mechanism, so that the costs of all cells have the least sum if
        the cost of each cell is least. If an individual changes more cells, dependent noise may have a smaller cost.

        >>> cell_noise_at(epsilon=2, unit=Unit(1, 1), numbers="reals", grid=8).theorem
        'in steps of 8, no other noise that is added to integers has a smaller expected cost, for every cost that never
        decreases as errors grow [geng2012, Theorem 11]; kept in a ledger, it can be made more accurate later, and the
        total cost is then the larger epsilon alone; values are rounded to these steps first, by at most 4. This holds
        for the whole table and costs that add up over cells, since one individual changes only one cell'
        """
        if NO_CLAIM in self._claim:
            return self._claim
        if self.unit.epsilon_parts == 1:
            whole = "This holds for the whole table and costs that add up over cells"
            return f"{self._claim}. {whole}, since one individual changes only one cell"
        alone = "This is proved for one cell at its share of epsilon"
        return f"{self._claim}. {alone}. A whole table may have noise with smaller errors"

    @property
    def _claim(self) -> str:
        drawn = self.drawn
        if isinstance(drawn, DiscreteStaircase) and _can_be_summed(self.cost, drawn.sensitivity):
            # The distribution is constructed for this cost, so that its theorem names the cost if possible.
            drawn = DiscreteStaircase(drawn.level, drawn.sensitivity, in_steps(self.cost, self.width), step=drawn.step)
        claim = drawn.theorem if self.is_relaxed else drawn.theorem.replace(f"; {RELAXABLE}", "")
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
        """The width of the steps (of the grid, or of amounts) in which noise is drawn; None for width 1."""
        return self.grid if self.grid is not None or self.unit.step == 1 else self.unit.step

    @property
    def exponent(self) -> int | None:
        """The k of the grid's width 2^-k; None for integers."""
        return None if self.grid is None else declared_exponent(self.grid)

    @property
    def expected_cost(self) -> float:
        """The expected cost E L(noise) of the drawn noise; for reals, without the error of rounding to the grid.

        >>> noise = cell_noise_at(epsilon=2, unit=Unit(1, 1), numbers="reals", grid=8)
        >>> float(noise.distribution.expected_cost(noise.cost)), noise.expected_cost
        (0.425459064119660..., 2.205764...)
        """
        if self.width is not None and isinstance(self.cost, Moment):
            scale = math.pow(self.width, self.cost.order)
            return float(self.drawn.expected_cost(self.cost)) * scale
        return float(self.drawn.expected_cost(in_steps(self.cost, self.width)))

    @property
    def _is_least_relaxable(self) -> bool:
        wide = self.unit.sensitivity if self.grid is None else Fraction(-(-self.unit.sensitivity // self.grid))
        if not _can_be_summed(self.cost, wide):
            return False
        # A user's cost function may be unhashable.
        is_least = _is_least if isinstance(self.cost, Moment) else _is_least.__wrapped__
        return is_least(self.drawn, wide, in_steps(self.cost, self.width))


@lru_cache(maxsize=512)
def _is_least(drawn: IntegerDistribution, sensitivity: Fraction, cost: Cost) -> bool:
    """Whether no known noise that can be relaxed without loss has a smaller expected cost than ``drawn``."""
    least = relaxable_distribution(drawn.level, sensitivity, cost, "integers")
    return float(drawn.expected_cost(cost)) <= float(least.expected_cost(cost))


def in_steps(cost: Cost, width: Fraction | None) -> Cost:
    """Return the cost as a function of the error in steps of ``width``; a `Moment` stays, since steps only scale it."""
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
    """Choose the noise of a release at a level, without drawing noise or reading data.

    Args:
        epsilon: Privacy level of the whole release.
        unit: Unit of privacy: the largest change of the table by one individual.
        cost: "absolute", "squared", "moment:3" or any even function nondecreasing in |x|.
        numbers: "integers" or "reals".
        relaxable: Whether to choose noise that can later be relaxed without loss, at a larger cost now.
        confidence: Confidence of the margin.
        grid: Width of the grid for reals, a power of two; chosen by level and sensitivity when None.

    Raises:
        NotALevel, NotANumber, OutOfRange: if an argument is invalid.
        Unsupported: if sums and counts share noise, or if the unit bounds several cells together. Use a plan for these.

    >>> noise = cell_noise_at(epsilon=1, unit=Unit(1, 2))
    >>> noise.distribution, noise.margin
    (Geometric(epsilon='1/2', sensitivity=1), 6)
    """
    return least_cell_noise(
        level(epsilon),
        read_unit(unit),
        cost_named(cost),
        read_numbers(numbers),
        read_confidence(confidence),
        relaxable=truth(relaxable, "relaxable"),
        grid=grid,
    )


def least_cell_noise(
    level: Level,
    unit: Unit,
    cost: Cost,
    numbers: IntegersOrReals,
    confidence: Fraction,
    *,
    relaxable: bool,
    grid: Number | None,
) -> CellNoiseAtLevel:
    """Choose the noise as `cell_noise_at` does, from arguments that were read already."""
    unit.check_each_cell("a plan of cells")
    if unit.amount is not None and numbers != "integers":
        remedy = "Leave out numbers= and grid=: amounts in steps are integers already."
        raise OutOfRange('numbers must be "integers" for amounts in steps', came='numbers="reals"', remedy=remedy)
    choose = relaxable_distribution if relaxable else optimal_distribution
    stepped = in_steps(cost, None if unit.step == 1 else unit.step)
    distribution = choose(unit.per_cell(level), unit.sensitivity, stepped, numbers)
    drawn, exponent = on_grid(distribution, grid)
    width = None if exponent is None else Fraction(2) ** -exponent
    if width is not None and not relaxable and _can_be_summed(cost, drawn.sensitivity):
        best = optimal_distribution(drawn.level, Fraction(drawn.sensitivity), in_steps(cost, width), "integers")
        assert isinstance(best, IntegerDistribution), "the optimal distribution is on the integers"
        drawn = best
    return CellNoiseAtLevel(level, unit, distribution, drawn, cost, relaxable, confidence, width)


def _check_kept(distribution: Distribution, level: Level, unit: Unit, sensitivity: Fraction) -> None:
    """Check exactly that the noise of one cell satisfies the cell's share of the level for a sensitivity."""
    where, share = type(distribution).__name__, unit.per_cell(level)
    if distribution.level > share:
        remedy = "Make the distribution with the level unit.per_cell(level)."
        required = f"the level of the noise of a cell must be at most {share}"
        raise PromiseBroken(required, came=str(distribution.level), where=where, remedy=remedy)
    if distribution.sensitivity < sensitivity:
        least = -(-sensitivity // 1) if isinstance(distribution, IntegerDistribution) else sensitivity
        required = f"the sensitivity of the noise of a cell must be at least {least}"
        remedy = (
            "Make the distribution with the sensitivity unit.sensitivity; on a grid, with that "
            "sensitivity in steps of the grid."
        )
        raise PromiseBroken(required, came=str(distribution.sensitivity), where=where, remedy=remedy)
    losses = [distribution.worst_level(Fraction(distribution.sensitivity))]
    # A class of a user may override `worst_level`, or inherit it with other probabilities: a search checks its answer.
    if isinstance(distribution, IntegerDistribution) and not type(distribution).__module__.startswith("utmost."):
        check_formulas_once(distribution)
        losses.append(distribution.searched_level(int(distribution.sensitivity)))
    for loss in losses:
        if loss is None or loss > distribution.level:
            required = (
                f"the probabilities of the noise must satisfy the level of its distribution, {distribution.level}"
            )
            remedy = (
                "Let the distribution have the level self.ratio_level(place, self.sensitivity), at "
                "the place of the largest ratio."
            )
            came = "None from worst_level" if loss is None else str(loss)
            raise PromiseBroken(required, came=came, where=where, remedy=remedy)


WEAK = 10  # the epsilon above which odds change by a factor of more than 22 000


def weakness_of(level: Level, distribution: "Distribution | DrawDistribution") -> str:
    """Say why a level protects practically nobody: epsilon > 10, or over 19 in 20 cells get no noise; "" if neither."""
    if level.epsilon_interval(64).lower > WEAK:
        said = f"epsilon is above {WEAK}, so the odds of any guess about an individual may grow more than 22 000-fold"
    elif distribution.numbers == "integers" and distribution.margin(CONFIDENCE) == 0:
        said = "more than 19 in 20 released cells will be the true ones"
    else:
        return ""
    return f"This level protects practically nobody: {said}. Choose a smaller one."


def warn_of_weakness(weakness: str) -> None:
    """Warn (LittleProtection) with a text of `weakness_of`, unless it is empty."""
    if weakness:
        warn(weakness, LittleProtection)


def warn_of_rows(rows_from: str) -> None:
    """Warn (RowsObserved) if the list of rows was observed in the data, which reveals individuals."""
    if rows_from == "observed":
        said = "The promise does not cover the list of rows: a row may exist because of one individual."
        remedy = "List the rows before you look at the data, with zero for rows without individuals."
        warn(f"{said} {remedy}", RowsObserved)
