"""A release whose level can be relaxed later: answers at any levels, in any order, at the price of the largest."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.gradual.process import Path
from utmost.core.privacy.unit import Unit, read_unit
from utmost.core.sampling.draw import DrawMethod
from utmost.core.sampling.grid import unsnapped_one
from utmost.core.sampling.level_draws import sample_path
from utmost.core.sampling.random_bits import Randomness, secure
from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.publish.promises.cell_noise import CellNoise
from utmost.publish.promises.lattice import Lattice, lattice_of
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.statement import Statement
from utmost.publish.releases.gradual_answers import AnsweredLevels, LaidOut, Said, Saving
from utmost.publish.releases.noised_cells import NoisedColumn
from utmost.tables.frames.adapters import Column


@dataclass(frozen=True, slots=True)
class Values:
    """The kind of values of a gradual release, and whom it protects.

    Attributes:
        unit: Unit of privacy; by column where the columns differ.
        numbers: "integers" or "reals"; by column where the columns differ.
        grid: Grid of reals; None where the sensitivity chooses it.
        half_step: whether noise is the half-step staircase.
    """

    unit: Unit | Mapping[Any, Unit]
    numbers: str | Mapping[Any, str]
    grid: Number | None
    half_step: bool


class GradualRelease(AnsweredLevels):
    """Values and their noise at all levels at once: arrays of any shape, of which each cell may have its own level.

    A table has one level, and is released by `utmost.release`.

    Each cell has noise of its own, geometric on the integers, or geometric on a fine grid (Laplace noise) on the reals.
    The noise at several levels has the joint law of one Markov process, so that answers at levels l_1, ..., l_m are
    together private at the largest of them, and the answer at each has the law that it would have as the only one.

    Args:
        values: an integer or real number, a list or array of any shape, or a table {column: values}. It is copied.
        sensitivity: Most by which one individual changes a value; for a table a number, or one for each column.
        cells: Number of values that one individual changes, 1 if left out. Each cell gets a share 1/cells of the level.
        unit: Unit of privacy, instead of sensitivity and cells; see `Unit`.
        numbers: "integers" or "reals"; for a table one of them, or one for each column. Declared and never guessed from
            the values, so that nothing about them shows but through the noise.
        grid: Width of the grid for reals, a power of two. If left out it is chosen by the sensitivity alone, and
            costs less than a millionth of the accuracy up to epsilon 16.
        half_step: half-step staircase noise, for odd sensitivities above 1: less noise than geometric noise up to a
            level of 2.5 a cell, and as lossless to relax. The loss is counted per cell then, not by the l1 distance.
        randomness: the operating system's if left out; a seeded source is refused.
        method: "constant" or "table", as for `sample`.

    Raises:
        NotANumber, BadTable: for a value that cannot be released, with its place; nothing has been drawn then. Such a
            refusal depends on the data, and is for the curator alone.
        OutOfRange: for a sensitivity or number of cells below 1, and for an unknown ``numbers``.

    Promise: all answers together keep the level `spent`. Choose each level from responses, budgets and costs; a level
    chosen by looking at the true error is not covered.

    Source: [koufogiannis2015], Theorems 1, 11 and 12; on the integers, the process of geometric noise.

    >>> from utmost.exact import level
    >>> answer = GradualRelease([1198, 557], sensitivity=1)
    >>> strict, loose, between = answer.at(epsilon="1/4"), answer.at(epsilon=1), answer.at(epsilon="1/2")
    >>> answer.levels, answer.spent
    ((level(epsilon='1/4'), level(epsilon='1/2'), level(epsilon=1)), level(epsilon=1))
    >>> (answer.at(epsilon="1/4") == strict).all()
    np.True_
    """

    __slots__ = ("_columns", "_half_step", "_is_table", "_method", "_randomness", "_units")

    def __init__(
        self,
        values: Any,
        sensitivity: Number | Mapping[Any, Number] | None = None,
        *,
        unit: Unit | None = None,
        cells: Number | None = None,
        numbers: str | Mapping[Any, str] = "integers",
        grid: Number | None = None,
        half_step: bool = False,
        randomness: Randomness | None = None,
        method: DrawMethod | None = None,
    ) -> None:
        about = Values(units_of(unit, sensitivity, cells), numbers, grid, half_step)
        self._open(values, about, secure(randomness), method)

    def _open(self, values: Any, about: Values, randomness: Randomness, method: DrawMethod | None) -> None:
        self._is_table = isinstance(values, Mapping)
        table = values if isinstance(values, Mapping) else {None: values}
        if not table:
            raise BadTable("a table must have a column", came="none", remedy='Pass {"n": [1, 2]}, say.')
        units, kinds_of_numbers = (
            _each(about.unit, table, "a sensitivity"),
            _each(about.numbers, table, "a kind of numbers"),
        )
        grids = _grids(about.grid, kinds_of_numbers)
        self._columns = {
            name: NoisedColumn.of(column, lattice_of(kinds_of_numbers[name], units[name], grids[name], about.half_step))
            for name, column in table.items()
        }
        self._randomness, self._method = randomness, method
        self._units, self._half_step = units, about.half_step

    def at(
        self,
        epsilon: Number | Level | Mapping[Any, Any] | NDArray[Any] | None = None,
    ) -> Any:
        """The answer at a level; asked again, the same answer.

        Args:
            epsilon: Privacy level: a number or a `Level`. An array of the shape of the values gives each cell its own;
                for a table, a mapping gives each column named its own, and only those are answered.

        Returns:
            A number for a number, an array for a list or an array, a dict for a table. On the integers they are ints,
            int64 in arrays, or Python ints where one of the *released* numbers exceeds int64; on the reals floats.

        Raises:
            NotALevel: for what is no level; nothing is spent then.
            Unsupported: for a new level asked for in another process than the one that made the release.
        """
        with self._alone():
            pairs = {
                column: self._columns[column].answered(levels, self._randomness, self._method)
                for column, levels in self._wanted(epsilon).items()
            }
            self._keep({column: pair[0] for column, pair in pairs.items()})
        answers = {column: answer for column, (_, answer) in pairs.items()}
        return answers if self._is_table else answers[None]

    @property
    def levels(self) -> tuple[Level, ...]:
        """Every level at which some cell has been answered, strictest first."""
        return tuple(sorted({answered for column in self._columns.values() for answered in column.levels}))

    def _published(self, how: Saving) -> tuple[dict[str, Column], Said]:
        unit, lattice = self._promised()
        grid = None if lattice.exponent is None else Fraction(2) ** -lattice.exponent
        numbers = "integers" if grid is None else "reals"
        noise = CellNoise(unit, numbers, grid=grid, half_step=self._half_step)
        LaidOut.of(self._shapes(), how.public)  # refuses what does not fit, before anything is drawn
        laid = LaidOut.of(self.at(how.level), how.public)
        promise = Promise(list(laid.released), public=list(laid.public), noise=noise)
        at_level = noise.at(how.level, how.confidence)
        table = laid.with_margins(dict.fromkeys(laid.released, at_level.margin))
        return table, lambda digest, answered: Statement(promise, at_level, laid.rows, digest, answered).facts()

    def _shapes(self) -> Any:
        """Zeros of the shapes of the values."""
        zeros = {name: np.zeros(column.shape or (), np.int8) for name, column in self._columns.items()}
        return zeros if self._is_table else zeros[None]

    def _promised(self) -> tuple[Unit, Lattice]:
        """The unit and the lattice of all columns.

        Raises:
            Unsupported: for columns of several kinds.
        """
        pairs = {(self._units[name], column.lattice) for name, column in self._columns.items()}
        if len(pairs) > 1:
            remedy = "Make a release for each kind of column."
            raise Unsupported(
                "save needs columns with one sensitivity and one kind of numbers", came="several", remedy=remedy
            )
        return next(iter(pairs))

    def _wanted(self, levels: Any) -> dict[Any, Any]:
        if not isinstance(levels, Mapping):
            return dict.fromkeys(self._columns, levels)
        unknown = [name for name in levels if name not in self._columns]
        if not self._is_table or unknown:
            raise BadTable(
                "levels must name columns of the table",
                came=unknown or type(levels).__name__,
                remedy="Pass one level for all, or one for each column.",
            )
        return dict(levels)

    def _keep(self, columns: dict[Any, NoisedColumn]) -> None:
        """Take the new histories over, all of them or none."""
        fresh = any(columns[name].levels != self._columns[name].levels for name in columns)
        if fresh:
            self._check_owner()
        self._columns |= columns

    def __repr__(self) -> str:
        count = sum(column.values.size for column in self._columns.values())
        return f"GradualRelease({count} cells, spent={self.spent})"


def units_of(
    unit: Unit | None, sensitivity: Number | Mapping[Any, Number] | None, cells: Number | None
) -> Unit | Mapping[Any, Unit]:
    """The unit of privacy: for all columns, or by column where the sensitivities are."""
    if unit is None and isinstance(sensitivity, Mapping):
        return {name: read_unit(None, width, cells, needs=("sensitivity",)) for name, width in sensitivity.items()}
    width: Any = sensitivity  # by column it stands beside no unit, which `read_unit` says
    return read_unit(unit, width, cells, needs=("sensitivity",))


def _each(words: Any, table: Mapping[Any, Any], what: str) -> dict[Any, Any]:
    """Give each column its part of an argument that is for all of them, or by column."""
    if not isinstance(words, Mapping):
        return dict.fromkeys(table, words)
    if set(words) != set(table):
        raise BadTable(
            f"each column needs {what}, and no other name may have one",
            came=sorted(map(str, set(words) ^ set(table))),
            remedy="Pass one for all columns, or a mapping with the names of all.",
        )
    return dict(words)


def _grids(grid: Number | None, kinds_of_numbers: Mapping[Any, str]) -> dict[Any, Number | None]:
    """The grid of each column: columns of integers beside real ones have none."""
    for numbers in kinds_of_numbers.values():
        if not isinstance(numbers, str):
            raise wrong_kind("numbers", '"integers" or "reals"', numbers)
    mixed = "reals" in kinds_of_numbers.values()
    return {name: None if mixed and numbers == "integers" else grid for name, numbers in kinds_of_numbers.items()}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NoisePath(Display):
    """The noise of one value at every level at once; as secret as the value itself.

    Attributes:
        start: the strictest level.
        lattice: Lattice of the noise.
        steps: the path in steps of the noise.
    """

    start: Level
    lattice: Lattice
    steps: Path

    def at(
        self,
        epsilon: Number | Level | None = None,
    ) -> int | float:
        """The noise at a level of the path.

        Raises:
            OutOfRange: for a level stricter than ``start``.
        """
        return self._written(self.steps.at(self.lattice.of(level(epsilon))))

    @property
    def jumps(self) -> tuple[tuple[float, int | float], ...]:
        """(epsilon, size): relaxed past epsilon, the noise moves by ``size``; strictest first."""
        per_step = self.lattice.of(self.start).epsilon_float / self.start.epsilon_float
        jumps_by_level = zip(self.steps.levels, self.steps.jumps, strict=True)
        return tuple(sorted((epsilon / per_step, self._written(-jump.size)) for epsilon, jump in jumps_by_level))

    def _written(self, steps: int) -> int | float:
        return steps if self.lattice.exponent is None else unsnapped_one(steps, self.lattice.exponent)

    def __repr__(self) -> str:
        return f"NoisePath(start={self.start}, {len(self.steps.jumps)} jumps)"


def path(
    start: Number | Level,
    *,
    noise: int | float | None = None,
    unit: Unit | None = None,
    sensitivity: Number | None = None,
    cells: Number | None = None,
    numbers: str = "integers",
    grid: Number | None = None,
    randomness: Randomness | None = None,
) -> NoisePath:
    """A path of geometric noise from the level ``start`` up to epsilon = infinity, where the noise is 0.

    Evaluated at any levels in any order it has the joint law of `GradualRelease`: relax, tighten and bridge are its
    conditional laws. Below ``start`` tighten the noise instead.

    Args:
        start: an epsilon or a level.
        noise: the noise at ``start``; drawn, if left out.
        unit: Unit of privacy; or sensitivity and cells instead, 1 where left out.
        numbers: "integers" or "reals".
        grid: Width of the grid for reals, a power of two.
        randomness: the operating system's if left out.

    Source: [koufogiannis2015], Theorem 1B and Figure 1, on the integers.

    >>> found = path("1/10")
    >>> found.at(epsilon=1) == found.at(epsilon=1), found.at(epsilon=500)
    (True, 0)
    """
    bits = secure(randomness)
    lattice = lattice_of(numbers, read_unit(unit, sensitivity, cells, needs=()), grid)
    noise_there = None
    if noise is not None:
        read = lattice.read(noise)
        if read.shape is not None:
            raise OutOfRange("a path has one noise", came=f"noise of shape {read.shape}", where="noise")
        noise_there = int(lattice.steps(read)[0])
    first = level(start)
    return NoisePath(first, lattice, sample_path(lattice.of(first), noise=noise_there, randomness=bits))
