"""Kinds of sums along one axis: groups of a level, ranges, prefixes, windows, listed values, weighted sums.

A part of a workload has one kind of sums for each axis. Each sum is a row of weights, one for each value of the axis.
An answer takes one row of each axis, and adds up all cells, each times the product of its weights in these rows.
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
    """Rows of integer weights along an axis, one row for each sum; nearly always the weights are 0 and 1."""

    def level(self, axis: Axis) -> int:
        """Return the coarsest level whose group sums determine these sums."""

    def lengths(self, axis: Axis) -> Counter[int]:
        """Return the number of rows of each length: a row adds up that many values; 1 if not all weights are 0 or 1."""

    def spectrum(self, chain: Chain) -> list[Fraction]:
        """For each level t, return the sum of |Q_t w|^2 over the rows w."""

    def matrix(self, axis: Axis) -> NDArray[Any]:
        """Return the rows as a matrix; (rows, values)."""

    def gram(self, axis: Axis) -> Floats:
        """Return the sum of w w' over the rows w; (values, values)."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The sums over the groups of a level, or the sum over one of these groups."""

    at: int  # the level
    only: int | None = None  # the index of one group; None for all groups

    def level(self, axis: Axis) -> int:
        return self.at

    def lengths(self, axis: Axis) -> Counter[int]:
        sizes = axis.group_sizes(self.at)
        return Counter((sizes if self.only is None else sizes[[self.only]]).tolist())

    def spectrum(self, chain: Chain) -> list[Fraction]:
        rows = chain[-1] // chain[self.at] if self.only is None else 1
        return [square * rows for square in group_spectrum(chain, self.at)]

    def matrix(self, axis: Axis) -> NDArray[np.bool_]:
        rows: NDArray[np.bool_] = np.arange(axis.groups(self.at))[:, None] == axis.group_of(self.at)[None, :]
        return rows if self.only is None else rows[[self.only]]

    def gram(self, axis: Axis) -> Floats:
        groups = axis.group_of(self.at)
        together = groups[:, None] == groups[None, :]
        return np.asarray(together if self.only is None else together & (groups == self.only), dtype=float)


@dataclass(frozen=True, slots=True)
class Taken:
    """A sum over listed values of an axis."""

    values: bytes  # a byte for each value of the axis: 1 if it is in the sum, else 0

    @property
    def row(self) -> NDArray[np.bool_]:
        return np.frombuffer(self.values, dtype=bool)

    def level(self, axis: Axis) -> int:
        row = self.row
        fitting = 0
        for level in range(1, len(axis.levels) + 1):
            starts = axis.group_starts(level)
            if (np.logical_and.reduceat(row, starts) != np.logical_or.reduceat(row, starts)).any():
                break
            fitting = level
        return fitting

    def lengths(self, axis: Axis) -> Counter[int]:
        return Counter([int(self.row.sum())])

    def spectrum(self, chain: Chain) -> list[Fraction]:
        return row_spectrum(chain, self.row)

    def matrix(self, axis: Axis) -> NDArray[np.bool_]:
        return self.row[None, :]

    def gram(self, axis: Axis) -> Floats:
        return np.outer(self.row, self.row).astype(float)


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The n sums of the first 1, 2, ..., n values of an axis of n values."""

    def level(self, axis: Axis) -> int:
        return 0

    def lengths(self, axis: Axis) -> Counter[int]:
        return Counter(range(1, axis.size + 1))

    def spectrum(self, chain: Chain) -> list[Fraction]:
        return prefix_spectrum(chain)

    def matrix(self, axis: Axis) -> NDArray[np.bool_]:
        return np.tri(axis.size, dtype=bool)

    def gram(self, axis: Axis) -> Floats:
        places = np.arange(axis.size)
        return (axis.size - np.maximum.outer(places, places)).astype(float)


@dataclass(frozen=True, slots=True)
class Ranges:
    """The n(n+1)/2 sums over runs of neighbouring values of an axis of n values."""

    def level(self, axis: Axis) -> int:
        return 0

    def lengths(self, axis: Axis) -> Counter[int]:
        return Counter({length: axis.size + 1 - length for length in range(1, axis.size + 1)})

    def spectrum(self, chain: Chain) -> list[Fraction]:
        return range_spectrum(chain)

    def matrix(self, axis: Axis) -> NDArray[np.bool_]:
        places = np.arange(axis.size)
        low, high = np.triu_indices(axis.size)
        return (low[:, None] <= places) & (places <= high[:, None])

    def gram(self, axis: Axis) -> Floats:
        places = np.arange(axis.size, dtype=float)
        return np.asarray((np.minimum.outer(places, places) + 1) * (axis.size - np.maximum.outer(places, places)))


@dataclass(frozen=True, slots=True)
class Windows:
    """The sums over all runs of ``length`` neighbouring values of an axis."""

    length: int

    def level(self, axis: Axis) -> int:
        return 0

    def lengths(self, axis: Axis) -> Counter[int]:
        return Counter({self.length: axis.size + 1 - self.length})

    def spectrum(self, chain: Chain) -> list[Fraction]:
        return window_spectrum(chain, self.length)

    def matrix(self, axis: Axis) -> NDArray[np.bool_]:
        behind = np.arange(axis.size) - np.arange(axis.size + 1 - self.length)[:, None]
        return (behind >= 0) & (behind < self.length)

    def gram(self, axis: Axis) -> Floats:
        places = np.arange(axis.size)
        first = np.maximum(np.maximum.outer(places, places) + 1 - self.length, 0)
        last = np.minimum(np.minimum.outer(places, places), axis.size - self.length)
        return np.asarray(np.maximum(last + 1 - first, 0), dtype=float)


@dataclass(frozen=True, slots=True)
class Weighed:
    """Weighted sums: rows of integers, none of which is a row of zeros."""

    rows: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, axis: Axis, matrix: Any) -> "Weighed":
        """Check a matrix (rows, values) of integers below 2^31, with at most 10^7 entries, and return its rows."""
        where = repr(axis.levels[0])
        try:
            rows = np.array(matrix)
        except ValueError:  # the rows differ in length
            rows = np.zeros(0)
        if rows.ndim != 2 or not len(rows) or rows.shape[1] != axis.size:
            raise OutOfRange(
                f"each row must have {axis.size} entries, one for each value of the axis", came=rows.shape, where=where
            )
        if rows.dtype.kind not in "biu" or largest_size(rows) >= _LARGEST_ENTRY:
            raise OutOfRange("the entries of the rows must be integers below 2^31", came=rows.dtype, where=where)
        if rows.size > _MOST_WEIGHTS or not rows.any(axis=1).all():
            raise OutOfRange(
                "the rows must have at most 10^7 entries together, and no row may be all zeros",
                came=rows.shape,
                where=where,
            )
        return cls(tuple(map(tuple, rows.astype(np.int64).tolist())))

    def level(self, axis: Axis) -> int:
        columns = self.matrix(axis).T
        for level in range(len(axis.levels), 0, -1):  # from the coarsest level: the columns of a group must be equal
            starts = axis.group_starts(level)
            if (columns[starts].repeat(np.diff(starts, append=len(columns)), axis=0) == columns).all():
                return level
        return 0

    def lengths(self, axis: Axis) -> Counter[int]:
        return Counter(sum(row) if {*row} <= {0, 1} else 1 for row in self.rows)  # for other weights 1 is a lower bound

    def spectrum(self, chain: Chain) -> list[Fraction]:
        return rows_spectrum(chain, np.array(self.rows, dtype=object))

    def matrix(self, axis: Axis) -> NDArray[np.int64]:
        return np.array(self.rows, dtype=np.int64)

    def gram(self, axis: Axis) -> Floats:
        rows = np.array(self.rows, dtype=float)
        return np.asarray(rows.T @ rows)


@dataclass(frozen=True, slots=True)
class Runs:
    """The sums over groups of neighbouring values; the groups partition the axis, and may differ in size."""

    starts: tuple[int, ...]  # the first value of each group

    def level(self, axis: Axis) -> int:
        fitting = [set(self.starts) <= set(axis.group_starts(level).tolist()) for level in range(len(axis.levels) + 1)]
        return max(level for level, fits in enumerate(fitting) if fits)

    def lengths(self, axis: Axis) -> Counter[int]:
        return Counter(np.diff(self.starts, append=axis.size).tolist())

    def spectrum(self, chain: Chain) -> list[Fraction]:
        return runs_spectrum(chain, self.starts)

    def matrix(self, axis: Axis) -> NDArray[np.bool_]:
        return np.asarray(np.arange(len(self.starts))[:, None] == self._run_of(axis)[None, :])

    def gram(self, axis: Axis) -> Floats:
        runs = self._run_of(axis)
        return np.asarray(runs[:, None] == runs[None, :], dtype=float)

    def _run_of(self, axis: Axis) -> NDArray[np.intp]:
        return np.repeat(np.arange(len(self.starts)), np.diff(self.starts, append=axis.size))


def count_of(sums: AxisSums, axis: Axis) -> int:
    if isinstance(sums, Groups):
        return axis.groups(sums.at) if sums.only is None else 1
    return sums.lengths(axis).total()


IN_ORDER = Ranges | Prefixes | Windows
"""Kinds of sums that depend only on the order of the values of an axis."""


def sum_of_values(axis: Axis, taken: NDArray[np.bool_]) -> AxisSums:
    """Return the sum over these values: as `Groups` if they are a group of some level, else as `Taken`."""
    places = np.flatnonzero(taken)
    low, high = int(places[0]), int(places[-1]) + 1
    if len(places) == high - low:
        for level in range(len(axis.levels), -1, -1):
            bounds = np.append(axis.group_starts(level), axis.size)
            place = int(np.searchsorted(bounds, low))
            if bounds[place] == low and bounds[place + 1] == high:
                return Groups(level, place if level < len(axis.levels) else None)
    return Taken(np.ascontiguousarray(taken, dtype=bool).tobytes())
