"""Sums along one axis: groups of a level, ranges, prefixes, or the values that somebody listed.

A wanted part of a workload is a product of such rows, one kind for each axis: each answer takes one row of every axis,
and is the sum of the atoms in their product.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from utmost.laws.exact import Floats
from utmost.publish.workloads.axes import Axis
from utmost.publish.workloads.spectra import (
    Chain,
    group_spectrum,
    prefix_spectrum,
    range_spectrum,
    row_spectrum,
    runs_spectrum,
)


class AxisSums(Protocol):
    """Rows of 0 and 1 along an axis, one for each sum."""

    def level(self, axis: Axis) -> int:
        """The coarsest level whose groups' sums determine these."""

    def lengths(self, axis: Axis) -> Counter[int]:
        """How many values a row takes, and how many rows take so many."""

    def spectrum(self, chain: Chain) -> list[Fraction]:
        """|Q_t w|^2 by level t, summed over the rows w."""

    def matrix(self, axis: Axis) -> NDArray[np.bool_]:
        """The rows themselves; (rows, values)."""

    def gram(self, axis: Axis) -> Floats:
        """Of each two values, how many rows take both; (values, values)."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of a level; or the one of them that is named by its place."""

    at: int
    only: int | None = None

    def level(self, axis: Axis) -> int:
        """The coarsest level whose groups determine these."""
        return self.at

    def lengths(self, axis: Axis) -> Counter[int]:
        """How many rows take how many values."""
        sizes = np.diff(axis.group_starts(self.at), append=axis.size)
        return Counter((sizes if self.only is None else sizes[[self.only]]).tolist())

    def spectrum(self, chain: Chain) -> list[Fraction]:
        """|Q_t w|^2 by level t, summed over the rows w."""
        rows = chain[-1] // chain[self.at] if self.only is None else 1
        return [square * rows for square in group_spectrum(chain, self.at)]

    def matrix(self, axis: Axis) -> NDArray[np.bool_]:
        """The rows; (rows, values)."""
        found: NDArray[np.bool_] = np.arange(axis.groups(self.at))[:, None] == axis.group_of(self.at)[None, :]
        return found if self.only is None else found[[self.only]]

    def gram(self, axis: Axis) -> Floats:
        """How many rows take both of two values; (values, values)."""
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
        """How many rows take how many values."""
        return Counter([int(self.row.sum())])

    def spectrum(self, chain: Chain) -> list[Fraction]:
        """|Q_t w|^2 by level t, summed over the rows w."""
        return row_spectrum(chain, self.row)

    def matrix(self, axis: Axis) -> NDArray[np.bool_]:
        """The rows; (rows, values)."""
        return self.row[None, :]

    def gram(self, axis: Axis) -> Floats:
        """How many rows take both of two values; (values, values)."""
        return np.outer(self.row, self.row).astype(float)


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The sums of the first 1, 2, ..., n values."""

    def level(self, axis: Axis) -> int:
        """The coarsest level whose groups determine these."""
        return 0

    def lengths(self, axis: Axis) -> Counter[int]:
        """How many rows take how many values."""
        return Counter(range(1, axis.size + 1))

    def spectrum(self, chain: Chain) -> list[Fraction]:
        """|Q_t w|^2 by level t, summed over the rows w."""
        return prefix_spectrum(chain)

    def matrix(self, axis: Axis) -> NDArray[np.bool_]:
        """The rows; (rows, values)."""
        return np.tri(axis.size, dtype=bool)

    def gram(self, axis: Axis) -> Floats:
        """How many rows take both of two values; (values, values)."""
        places = np.arange(axis.size)
        return (axis.size - np.maximum.outer(places, places)).astype(float)


@dataclass(frozen=True, slots=True)
class Ranges:
    """The n(n+1)/2 sums of neighbouring values."""

    def level(self, axis: Axis) -> int:
        """The coarsest level whose groups determine these."""
        return 0

    def lengths(self, axis: Axis) -> Counter[int]:
        """How many rows take how many values."""
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
        """How many rows take both of two values; (values, values)."""
        places = np.arange(axis.size, dtype=float)
        return np.asarray((np.minimum.outer(places, places) + 1) * (axis.size - np.maximum.outer(places, places)))


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
        """How many rows take both of two values; (values, values)."""
        runs = self._run_of(axis)
        return np.asarray(runs[:, None] == runs[None, :], dtype=float)

    def _run_of(self, axis: Axis) -> NDArray[np.intp]:
        return np.repeat(np.arange(len(self.starts)), np.diff(self.starts, append=axis.size))


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
