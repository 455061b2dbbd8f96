"""Sums along one axis: groups of a level, ranges, prefixes, windows, or the values or weights that somebody listed.

A wanted part of a workload is a product of such rows, one kind for each axis: each answer takes one row of every axis,
and is the sum of the cells in their product, each with the product of its weights.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats, largest_size
from utmost.errors import OutOfRange
from utmost.publish.workloads.measuring.spectra import (
    Chain,
    group_spectrum,
    prefix_spectrum,
    range_spectrum,
    row_spectrum,
    rows_spectrum,
    runs_spectrum,
    window_spectrum,
)
from utmost.tables.axes.axes import Axis

_LARGEST_ENTRY, _MOST_WEIGHTS = 1 << 31, 10**7


class AxisSums(Protocol):
    """Rows of integers along an axis, one for each sum; nearly always of 0 and 1."""

    def level(self, axis: Axis) -> int:
        """The coarsest level whose groups' sums determine these."""

    def lengths(self, axis: Axis) -> Counter[int]:
        """How many values a row takes at least, with one sign, and how many rows take so many."""

    def spectrum(self, chain: Chain) -> list[Fraction]:
        """|Q_t w|^2 by level t, summed over the rows w."""

    def matrix(self, axis: Axis) -> NDArray[Any]:
        """The rows themselves; (rows, values)."""

    def gram(self, axis: Axis) -> Floats:
        """The sum over the rows w of w w': for each two values, how many rows take both; (values, values)."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of a level; or the one of them that is named by its place."""

    at: int
    only: int | None = None

    def level(self, axis: Axis) -> int:
        """The coarsest level whose groups determine these."""
        return self.at

    def lengths(self, axis: Axis) -> Counter[int]:
        """Number of rows by the number of values that they take."""
        sizes = axis.group_sizes(self.at)
        return Counter((sizes if self.only is None else sizes[[self.only]]).tolist())

    def spectrum(self, chain: Chain) -> list[Fraction]:
        """|Q_t w|^2 by level t, summed over the rows w."""
        rows = chain[-1] // chain[self.at] if self.only is None else 1
        return [square * rows for square in group_spectrum(chain, self.at)]

    def matrix(self, axis: Axis) -> NDArray[np.bool_]:
        """The rows; (rows, values)."""
        rows: NDArray[np.bool_] = np.arange(axis.groups(self.at))[:, None] == axis.group_of(self.at)[None, :]
        return rows if self.only is None else rows[[self.only]]

    def gram(self, axis: Axis) -> Floats:
        """Number of rows that take both of two values; (values, values)."""
        groups = axis.group_of(self.at)
        together = groups[:, None] == groups[None, :]
        return np.asarray(together if self.only is None else together & (groups == self.only), dtype=float)


@dataclass(frozen=True, slots=True)
class Taken:
    """One row, of any values; one byte for each value, 1 where it is taken."""

    values: bytes

    @property
    def row(self) -> NDArray[np.bool_]:
        """The row as an array."""
        return np.frombuffer(self.values, dtype=bool)

    def level(self, axis: Axis) -> int:
        """The coarsest level whose groups determine these."""
        row = self.row
        fitting = 0
        for level in range(1, len(axis.levels) + 1):
            starts = axis.group_starts(level)
            if (np.logical_and.reduceat(row, starts) != np.logical_or.reduceat(row, starts)).any():
                break
            fitting = level
        return fitting

    def lengths(self, axis: Axis) -> Counter[int]:
        """Number of rows by the number of values that they take."""
        return Counter([int(self.row.sum())])

    def spectrum(self, chain: Chain) -> list[Fraction]:
        """|Q_t w|^2 by level t, summed over the rows w."""
        return row_spectrum(chain, self.row)

    def matrix(self, axis: Axis) -> NDArray[np.bool_]:
        """The rows; (rows, values)."""
        return self.row[None, :]

    def gram(self, axis: Axis) -> Floats:
        """Number of rows that take both of two values; (values, values)."""
        return np.outer(self.row, self.row).astype(float)


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The sums of the first 1, 2, ..., n values."""

    def level(self, axis: Axis) -> int:
        """The coarsest level whose groups determine these."""
        return 0

    def lengths(self, axis: Axis) -> Counter[int]:
        """Number of rows by the number of values that they take."""
        return Counter(range(1, axis.size + 1))

    def spectrum(self, chain: Chain) -> list[Fraction]:
        """|Q_t w|^2 by level t, summed over the rows w."""
        return prefix_spectrum(chain)

    def matrix(self, axis: Axis) -> NDArray[np.bool_]:
        """The rows; (rows, values)."""
        return np.tri(axis.size, dtype=bool)

    def gram(self, axis: Axis) -> Floats:
        """Number of rows that take both of two values; (values, values)."""
        places = np.arange(axis.size)
        return (axis.size - np.maximum.outer(places, places)).astype(float)


@dataclass(frozen=True, slots=True)
class Ranges:
    """The n(n+1)/2 sums of neighbouring values."""

    def level(self, axis: Axis) -> int:
        """The coarsest level whose groups determine these."""
        return 0

    def lengths(self, axis: Axis) -> Counter[int]:
        """Number of rows by the number of values that they take."""
        return Counter({length: axis.size + 1 - length for length in range(1, axis.size + 1)})

    def spectrum(self, chain: Chain) -> list[Fraction]:
        """|Q_t w|^2 by level t, summed over the rows w."""
        return range_spectrum(chain)

    def matrix(self, axis: Axis) -> NDArray[np.bool_]:
        """The rows; (rows, values)."""
        places = np.arange(axis.size)
        low, high = np.triu_indices(axis.size)
        return (low[:, None] <= places) & (places <= high[:, None])

    def gram(self, axis: Axis) -> Floats:
        """Number of rows that take both of two values; (values, values)."""
        places = np.arange(axis.size, dtype=float)
        return np.asarray((np.minimum.outer(places, places) + 1) * (axis.size - np.maximum.outer(places, places)))


@dataclass(frozen=True, slots=True)
class Windows:
    """The sums of so many neighbouring values, for each place where such a window lies inside the axis."""

    length: int

    def level(self, axis: Axis) -> int:
        """The coarsest level whose groups determine these."""
        return 0

    def lengths(self, axis: Axis) -> Counter[int]:
        """Number of rows by the number of values that they take."""
        return Counter({self.length: axis.size + 1 - self.length})

    def spectrum(self, chain: Chain) -> list[Fraction]:
        """|Q_t w|^2 by level t, summed over the rows w."""
        return window_spectrum(chain, self.length)

    def matrix(self, axis: Axis) -> NDArray[np.bool_]:
        """The rows; (rows, values)."""
        behind = np.arange(axis.size) - np.arange(axis.size + 1 - self.length)[:, None]
        return (behind >= 0) & (behind < self.length)

    def gram(self, axis: Axis) -> Floats:
        """Number of rows that take both of two values; (values, values)."""
        places = np.arange(axis.size)
        first = np.maximum(np.maximum.outer(places, places) + 1 - self.length, 0)
        last = np.minimum(np.minimum.outer(places, places), axis.size - self.length)
        return np.asarray(np.maximum(last + 1 - first, 0), dtype=float)


@dataclass(frozen=True, slots=True)
class Weighed:
    """Rows of any integers, none of them zero throughout."""

    rows: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, axis: Axis, matrix: Any) -> "Weighed":
        """The rows of a matrix, (rows, values).

        Raises:
            OutOfRange: for other than a matrix of integers below 2^31 with a column for each value, for more than 10^7
                entries, and for a row of zeros.
        """
        where = repr(axis.levels[0])
        try:
            rows = np.array(matrix)
        except ValueError:  # rows of several lengths
            rows = np.zeros(0)
        if rows.ndim != 2 or not len(rows) or rows.shape[1] != axis.size:
            raise OutOfRange(f"the rows must have {axis.size} entries each", came=rows.shape, where=where)
        if rows.dtype.kind not in "biu" or largest_size(rows) >= _LARGEST_ENTRY:
            raise OutOfRange("the rows must be of integers below 2^31", came=rows.dtype, where=where)
        if rows.size > _MOST_WEIGHTS or not rows.any(axis=1).all():
            raise OutOfRange("there may be 10^7 entries, and no row of zeros", came=rows.shape, where=where)
        return cls(tuple(map(tuple, rows.astype(np.int64).tolist())))

    def level(self, axis: Axis) -> int:
        """The coarsest level whose groups determine these."""
        columns = self.matrix(axis).T
        alike = (level for level in range(len(axis.levels), 0, -1) if _alike(columns, axis.group_starts(level)))
        return next(alike, 0)

    def lengths(self, axis: Axis) -> Counter[int]:
        """Number of rows by the number of values that they take; 1 for other weights than 0 and 1: never too many."""
        return Counter(sum(row) if {*row} <= {0, 1} else 1 for row in self.rows)

    def spectrum(self, chain: Chain) -> list[Fraction]:
        """|Q_t w|^2 by level t, summed over the rows w."""
        return rows_spectrum(chain, np.array(self.rows, dtype=object))

    def matrix(self, axis: Axis) -> NDArray[np.int64]:
        """The rows; (rows, values)."""
        return np.array(self.rows, dtype=np.int64)

    def gram(self, axis: Axis) -> Floats:
        """The sum over the rows w of w w'; (values, values)."""
        rows = np.array(self.rows, dtype=float)
        return np.asarray(rows.T @ rows)


@dataclass(frozen=True, slots=True)
class Runs:
    """Groups of neighbouring values of any sizes, which partition the axis; given by where each begins."""

    starts: tuple[int, ...]

    def level(self, axis: Axis) -> int:
        """The coarsest level whose groups determine these."""
        fitting = [set(self.starts) <= set(axis.group_starts(level).tolist()) for level in range(len(axis.levels) + 1)]
        return max(level for level, fits in enumerate(fitting) if fits)

    def lengths(self, axis: Axis) -> Counter[int]:
        """How many values a row takes, and how many rows take so many."""
        return Counter(np.diff(self.starts, append=axis.size).tolist())

    def spectrum(self, chain: Chain) -> list[Fraction]:
        """|Q_t w|^2 by level t, summed over the rows w."""
        return runs_spectrum(chain, self.starts)

    def matrix(self, axis: Axis) -> NDArray[np.bool_]:
        """The rows; (rows, values)."""
        return np.asarray(np.arange(len(self.starts))[:, None] == self._run_of(axis)[None, :])

    def gram(self, axis: Axis) -> Floats:
        """Number of rows that take both of two values; (values, values)."""
        runs = self._run_of(axis)
        return np.asarray(runs[:, None] == runs[None, :], dtype=float)

    def _run_of(self, axis: Axis) -> NDArray[np.intp]:
        return np.repeat(np.arange(len(self.starts)), np.diff(self.starts, append=axis.size))


def count_of(sums: AxisSums, axis: Axis) -> int:
    """Number of rows."""
    if isinstance(sums, Groups):
        return axis.groups(sums.at) if sums.only is None else 1
    return sums.lengths(axis).total()


IN_ORDER = Ranges | Prefixes | Windows
"""Sums of neighbouring values, which a finer or a coarser axis has as well."""


def _alike(columns: NDArray[Any], starts: NDArray[np.intp]) -> bool:
    """Whether the columns are equal within each group."""
    return bool((columns[starts].repeat(np.diff(starts, append=len(columns)), axis=0) == columns).all())


def sum_of_values(axis: Axis, taken: NDArray[np.bool_]) -> AxisSums:
    """The row that takes these values, as a group of a level where it is one; the coarsest such level."""
    places = np.flatnonzero(taken)
    low, high = int(places[0]), int(places[-1]) + 1
    if len(places) == high - low:
        for level in range(len(axis.levels), -1, -1):
            bounds = np.append(axis.group_starts(level), axis.size)
            place = int(np.searchsorted(bounds, low))
            if bounds[place] == low and bounds[place + 1] == high:
                return Groups(level, place if level < len(axis.levels) else None)
    return Taken(np.ascontiguousarray(taken, dtype=bool).tobytes())
