"""A release whose level can be relaxed later: answers at any levels, in any order, at the price of the largest."""

import os
import threading
from collections.abc import Mapping
from typing import Any, NoReturn

from numpy.typing import NDArray

from utmost.errors import BadTable, Unsupported
from utmost.exact import Level, Number, level
from utmost.release.gradual.column import Column
from utmost.release.gradual.unit import unit_of
from utmost.release.secure import secure
from utmost.sampling.bits import Randomness
from utmost.sampling.draw import Method


class GradualRelease:
    """Values and their noise at all levels at once.

    Each cell has noise of its own, geometric on the integers, or geometric on a fine grid (Laplace noise) on the reals.
    The noise at several levels has the joint law of one Markov process, so that answers at levels l_1, ..., l_m are
    together private at the largest of them, and the answer at each has the law that it would have as the only one.

    Args:
        values: an integer or real number, a list or array of any shape, or a table {column: values}. It is copied.
        sensitivity: how much one individual can change a value; for a table a number, or one for each column.
        cells: how many values one individual can change. Each cell then gets a share 1/cells of the level.
        domain: "integers" or "reals"; for a table one of them, or one for each column. It is declared and never guessed
            from the values, so that nothing about them shows but through the noise.
        grid: for reals, the width of the grid, a power of two. If left out it is chosen by the sensitivity alone, and
            costs less than a millionth of the accuracy up to epsilon 16.
        half_step: half-step staircase noise, for odd sensitivities above 1: less noise than geometric noise up to a
            level of 2.5 a cell, and as lossless to relax. The loss is counted per cell then, not by the l1 distance.
        randomness: the operating system's if left out; a seeded source is refused.
        method: "constant" or "table", as for `sample`.

    Raises:
        NotANumber, BadTable: for a value that cannot be released, with its place; nothing has been drawn then. Such a
            refusal depends on the data, and is for the curator alone.
        OutOfRange: for a sensitivity or number of cells below 1, and for a domain that is none.

    Promise: all answers together keep the level `spent`. Choose each level from responses, budgets and costs; a level
    chosen by looking at the true error is not covered.

    Source: koufogiannis2015, Theorems 1, 11 and 12; on the integers, the process of geometric noise.

    >>> from utmost.exact import level
    >>> answer = GradualRelease([1198, 557], sensitivity=1)
    >>> strict, loose, between = answer.at(epsilon="1/4"), answer.at(epsilon=1), answer.at(epsilon="1/2")
    >>> answer.levels, answer.spent
    ((Level(epsilon=1/4), Level(epsilon=1/2), Level(epsilon=1)), Level(epsilon=1))
    >>> (answer.at(epsilon="1/4") == strict).all()
    np.True_
    """

    __slots__ = ("_columns", "_is_table", "_lock", "_method", "_process", "_randomness")

    def __init__(
        self,
        values: Any,
        sensitivity: Number | Mapping[Any, Number],
        *,
        cells: Number = 1,
        domain: str | Mapping[Any, str] = "integers",
        grid: Number | None = None,
        half_step: bool = False,
        randomness: Randomness | None = None,
        method: Method | None = None,
    ) -> None:
        self._open(values, sensitivity, cells, domain, grid, half_step, secure(randomness), method)

    def _open(
        self,
        values: Any,
        sensitivity: Number | Mapping[Any, Number],
        cells: Number,
        domain: str | Mapping[Any, str],
        grid: Number | None,
        half_step: bool,
        randomness: Randomness,
        method: Method | None,
    ) -> None:
        self._is_table = isinstance(values, Mapping)
        table = values if isinstance(values, Mapping) else {None: values}
        widths, domains = _each(sensitivity, table, "a sensitivity"), _each(domain, table, "a domain")
        grids = _grids(grid, domains)
        self._columns = {
            name: Column.of(column, unit_of(domains[name], widths[name], cells, grids[name], half_step))
            for name, column in table.items()
        }
        self._randomness, self._method = randomness, method
        self._lock, self._process = threading.Lock(), os.getpid()

    def at(
        self,
        epsilon: Number | Level | Mapping[Any, Any] | NDArray[Any] | None = None,
        *,
        alpha: Number | Mapping[Any, Any] | NDArray[Any] | None = None,
    ) -> Any:
        """The answer at a level; asked again, the same answer.

        Args:
            epsilon: the level, or alpha = exp(-epsilon) instead. An array of the shape of the values gives each cell
                its own level; for a table, a mapping gives each column named its own, and only those are answered.

        Returns:
            A number for a number, an array for a list or an array, a dict for a table. On the integers they are ints,
            int64 in arrays, or Python ints where one of the *released* numbers exceeds int64; on the reals floats.

        Raises:
            NotALevel: for what is no level; nothing is spent then.
            Unsupported: for a new level asked for in another process than the one that made the release.
        """
        if (epsilon is None) == (alpha is None):
            level(epsilon if epsilon is None else 1, alpha if alpha is None else "1/2")
        wanted, name = (epsilon, "epsilon") if alpha is None else (alpha, "alpha")
        with self._lock:
            made = {
                column: self._columns[column].answered(levels, name, self._randomness, self._method)
                for column, levels in self._wanted(wanted).items()
            }
            self._keep({column: pair[0] for column, pair in made.items()})
        answers = {column: answer for column, (_, answer) in made.items()}
        return answers if self._is_table else answers[None]

    @property
    def levels(self) -> tuple[Level, ...]:
        """Every level at which some cell has been answered, strictest first."""
        return tuple(sorted({one for column in self._columns.values() for one in column.levels}))

    @property
    def spent(self) -> Level | None:
        """The largest level answered: that of all answers together. None before the first answer."""
        return max(self.levels, default=None)

    def _wanted(self, levels: Any) -> dict[Any, Any]:
        if not isinstance(levels, Mapping):
            return dict.fromkeys(self._columns, levels)
        unknown = [name for name in levels if name not in self._columns]
        if not self._is_table or unknown:
            raise BadTable(
                "levels by column need a table that has these columns", came=unknown or type(levels).__name__
            )
        return dict(levels)

    def _keep(self, columns: dict[Any, Column]) -> None:
        """Take the new histories over, all of them or none."""
        fresh = any(columns[name].levels != self._columns[name].levels for name in columns)
        if fresh and os.getpid() != self._process:
            raise Unsupported(
                "a release is relaxed by the process that made it: two processes would answer differently",
                where="GradualRelease",
                mend="Keep releases that several processes share in a Ledger.",
            )
        self._columns |= columns

    def __repr__(self) -> str:
        count = sum(column.values.size for column in self._columns.values())
        return f"GradualRelease({count} cells, spent={self.spent})"

    def __reduce__(self) -> NoReturn:
        raise Unsupported(
            "a release must not be copied: each copy would draw noise of its own",
            where="GradualRelease",
            mend="Share the object, or keep the release in a Ledger.",
        )

    def __deepcopy__(self, memo: Any) -> NoReturn:
        self.__reduce__()

    __copy__ = __reduce__


def _each(given: Any, table: Mapping[Any, Any], what: str) -> dict[Any, Any]:
    """What each column gets of something that is given for all of them, or by column."""
    if not isinstance(given, Mapping):
        return dict.fromkeys(table, given)
    if set(given) != set(table):
        raise BadTable(f"each column needs {what}", came=sorted(map(str, set(given) ^ set(table))))
    return dict(given)


def _grids(grid: Number | None, domains: Mapping[Any, str]) -> dict[Any, Number | None]:
    """The grid of each column: columns of integers beside real ones have none."""
    mixed = "reals" in domains.values()
    return {name: None if mixed and domain == "integers" else grid for name, domain in domains.items()}
