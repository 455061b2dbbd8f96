"""The kernel alpha^d of a privacy type: its different entries, and which pair of secrets has which."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from utmost.exact import Array, Interval, Level, Surd, frozen, objects
from utmost.privacy import PrivacyType
from utmost.privacy.ratios import Length, near_length, power_intervals
from utmost.spaces import EuclideanGridMetric, LineMetric, Space, TableMetric

# What is fixed by a type is kept as long as the type is.
_kept: WeakKeyDictionary[PrivacyType, "Kernel"] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Kernel:
    """E[x, y] = alpha^d(x, y), written as powers[kinds[x, y]].

    The essential facts of a privacy type for its capacities: a column of a private channel that is 1 at y lies between
    E[., y] and 1 / E[., y].

    Attributes:
        level: the level of one unit of distance.
        kinds: (n, n) the number of the distance of each pair; kind 0 is distance 0.
        lengths: the different distances, exactly, ascending.

    >>> from utmost.spaces import grid
    >>> Kernel.of(PrivacyType(grid(2, 2), alpha="1/2")).lengths
    (Fraction(0, 1), Fraction(1, 1), Surd(1 sqrt(2)))
    """

    level: Level
    kinds: NDArray[np.int32]
    lengths: tuple[Length, ...]

    @classmethod
    def of(cls, ptype: PrivacyType) -> "Kernel":
        """The kernel of a type, made once. Cost: O(n^2) time and 4 n^2 bytes, as long as the type lives."""
        if ptype not in _kept:
            kinds, lengths = _kinds(ptype.space)
            _kept[ptype] = cls(ptype.level, frozen(kinds), lengths)
        return _kept[ptype]

    @property
    def size(self) -> int:
        """The number of secrets."""
        return len(self.kinds)

    @cached_property
    def is_rational(self) -> bool:
        """Whether every power is a rational number."""
        return all(not isinstance(d, Surd) and (d == 0 or self.level.scaled(d).is_rational) for d in self.lengths)

    @cached_property
    def fractions(self) -> Array:
        """alpha^d by kind, as Fractions, where all are rational."""
        values = [self.level.scaled(d).alpha_fraction() if d else Fraction(1) for d in self._rational_lengths()]
        return frozen(objects(values))

    @cached_property
    def floats(self) -> NDArray[np.float64]:
        """alpha^d by kind, to float64: for searching, not for promises."""
        return frozen(np.exp(-self.level.epsilon_float * np.array([near_length(d) for d in self.lengths])))

    def intervals(self, bits: int) -> tuple[Interval, ...]:
        """alpha^d by kind, a few units of 2^-bits wide."""
        return power_intervals(self.level, self.lengths, bits)

    def matrix(self, sign: int = 1, floats: bool = False) -> Array:
        """alpha^(sign d), (n, n): Fractions where all are rational, else (or if so asked) float64."""
        table = self.floats if floats or not self.is_rational else self.fractions
        return frozen((table if sign > 0 else 1 / table)[self.kinds])

    def _rational_lengths(self) -> list[Fraction]:
        return [d for d in self.lengths if not isinstance(d, Surd)]


def _kinds(space: Space) -> tuple[NDArray[np.int32], tuple[Length, ...]]:
    metric = space.metric
    if isinstance(metric, EuclideanGridMetric):
        return _lattice_kinds(metric)
    if isinstance(metric, LineMetric):
        return space.distances.astype(np.int32), tuple(map(Fraction, range(space.size)))
    table = metric.exact if isinstance(metric, TableMetric) else space.distances
    if table.dtype == object:
        return _object_kinds(table)
    values, kinds = np.unique(table, return_inverse=True)
    return kinds.reshape(table.shape).astype(np.int32), tuple(Fraction(value) for value in values.tolist())


def _lattice_kinds(metric: EuclideanGridMetric) -> tuple[NDArray[np.int32], tuple[Length, ...]]:
    """All squared distances occur from a corner: they are numbered there, and looked up everywhere."""
    squares = np.unique(metric.squares(0, np.arange(metric.size)))
    number = np.zeros(int(squares[-1]) + 1, dtype=np.int32)
    number[squares] = np.arange(len(squares))
    rows, cols = (np.arange(side) for side in (metric.rows, metric.cols))
    steps = number[(rows**2)[:, None] + cols**2]
    across, down = abs(cols[:, None] - cols), abs(rows[:, None] - rows)
    kinds = steps[down[:, None, :, None], across[None, :, None, :]].reshape(metric.size, metric.size)
    return kinds, tuple(Surd.sqrt(int(square)).simplified() for square in squares)


def _object_kinds(table: Array) -> tuple[NDArray[np.int32], tuple[Length, ...]]:
    """The kinds of a table of Fractions and Surds."""
    flat = table.ravel().tolist()
    lengths = tuple(sorted(set(flat)))
    number = {d: k for k, d in enumerate(lengths)}
    return np.array([number[d] for d in flat], dtype=np.int32).reshape(table.shape), lengths
