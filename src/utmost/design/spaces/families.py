"""Build spaces whose distances have a formula: counts, equal distances, bit strings, cycles and lattices."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import one_of
from utmost.core.exact.numbers import natural
from utmost.core.exact.surds import Surd
from utmost.design.spaces.space import Metric, Space


@dataclass(frozen=True, slots=True)
class LineMetric(Metric):
    """The metric d(i, j) = |i - j| on {0, ..., n}."""

    written: ClassVar[str] = "spaces.counts({0.n})"

    n: int

    @property
    def size(self) -> int:
        return self.n + 1

    def distance(self, x: Any, y: Any) -> Any:
        return np.abs(np.subtract(x, y))

    def edges(self) -> NDArray[np.intp]:
        left = np.arange(self.n)
        return np.column_stack([left, left + 1])


def counts(n: int) -> Space:
    """Return the space of the results {0, ..., n} of a count over n >= 0 rows, with d(i, j) = |i - j|.

    Two databases that differ in one row have counts at distance at most 1. A channel on this space therefore satisfies
    a level if and only if the release of the count through the channel satisfies the level.

    Source: [ghosh2009], section 2.1.

    >>> counts(3).edges.tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    return Space(LineMetric(natural(n, "n")))


@dataclass(frozen=True, slots=True)
class DiscreteMetric(Metric):
    """The metric with d(x, y) = 1 for x != y."""

    written: ClassVar[str] = "spaces.discrete({0.k})"

    k: int

    @property
    def size(self) -> int:
        return self.k

    def distance(self, x: Any, y: Any) -> Any:
        return np.not_equal(x, y).astype(np.int64)

    def edges(self) -> NDArray[np.intp]:
        return np.column_stack(np.triu_indices(self.k, k=1))


def discrete(k: int) -> Space:
    """Return the space of k >= 1 secrets at distance 1 from each other: the space of the local model and of sum
    queries.

    Source: [fernandes2022], section VI-B (the metric d_D).

    >>> discrete(3).edges.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return Space(DiscreteMetric(natural(k, "k", least=1)))


@dataclass(frozen=True, slots=True)
class HammingMetric(Metric):
    """The Hamming metric on 0, ..., 2^bits - 1: the number of binary digits in which x and y differ."""

    written: ClassVar[str] = "spaces.hamming({0.bits})"

    bits: int

    @property
    def size(self) -> int:
        return 1 << self.bits

    def distance(self, x: Any, y: Any) -> Any:
        return np.bitwise_count(np.bitwise_xor(x, y)).astype(np.int64)

    def edges(self) -> NDArray[np.intp]:
        x = np.arange(self.size)[:, None]
        flipped = x | (1 << np.arange(self.bits))[None, :]
        x = np.broadcast_to(x, flipped.shape)
        return np.column_stack([x[x != flipped], flipped[x != flipped]])

    def labels(self) -> Sequence[Hashable]:
        return tuple(tuple(x >> b & 1 for b in reversed(range(self.bits))) for x in range(self.size))


def hamming(bits: int) -> Space:
    """Return the space of all strings of ``bits`` >= 1 binary digits. The distance of two strings is the number of
    digits in which they differ.

    The label of secret x is the tuple of its binary digits, most significant digit first.

    Source: [fernandes2022], section VI-D.

    >>> hamming(2).labels[1], hamming(2).edges.tolist()
    ((0, 1), [[0, 1], [0, 2], [1, 3], [2, 3]])
    """
    return Space(HammingMetric(natural(bits, "bits", least=1, most=24)))


@dataclass(frozen=True, slots=True)
class CycleMetric(Metric):
    """The metric d(i, j) = min(|i - j|, n - |i - j|) on {0, ..., n-1}."""

    written: ClassVar[str] = "spaces.cycle({0.n})"

    n: int

    @property
    def size(self) -> int:
        return self.n

    def distance(self, x: Any, y: Any) -> Any:
        along = np.abs(np.subtract(x, y))
        return np.minimum(along, self.n - along)

    def edges(self) -> NDArray[np.intp]:
        left = np.arange(self.n - 1)
        neighbours = np.column_stack([left, left + 1])
        if self.n < 3:
            return neighbours
        return np.insert(neighbours, 1, [0, self.n - 1], axis=0)


def cycle(n: int) -> Space:
    """Return the space of n >= 1 secrets around a circle, each at distance 1 from the next.

    >>> cycle(5).distances[0].tolist(), cycle(4).edges.tolist()
    ([0, 1, 2, 2, 1], [[0, 1], [0, 3], [1, 2], [2, 3]])
    """
    return Space(CycleMetric(natural(n, "n", least=1)))


@dataclass(frozen=True, slots=True)
class EuclideanGridMetric(Metric):
    """The Euclidean metric on the points (r, c) of a rows x cols lattice; point (r, c) has the index r cols + c."""

    written: ClassVar[str] = "spaces.grid({0.rows}, {0.cols})"

    rows: int
    cols: int

    @property
    def size(self) -> int:
        return self.rows * self.cols

    def squares(self, x: Any, y: Any) -> Any:
        """Return d(x, y)^2 elementwise, as integers."""
        dr, dc = _row_and_column_steps(self.cols, x, y)
        return dr * dr + dc * dc

    def distance(self, x: Any, y: Any) -> Any:
        return np.sqrt(self.squares(x, y))

    # A distance is irrational unless its square is the square of an integer; irrational distances are `Surd`.
    def lengths(self, x: Any, y: Any) -> Any:
        return _exact_roots(self.squares(x, y))

    def edges(self) -> NDArray[np.intp]:
        """Return the pairs of points with no lattice point between them: the row difference and the column difference
        of such a pair have no common divisor above 1.
        """
        x, y = np.triu_indices(self.size, k=1)
        essential = np.gcd(*_row_and_column_steps(self.cols, x, y)) == 1
        return np.column_stack([x[essential], y[essential]])

    def labels(self) -> Sequence[Hashable]:
        return _grid_labels(self.rows, self.cols)


@dataclass(frozen=True, slots=True)
class ManhattanGridMetric(Metric):
    """The Manhattan metric on the points (r, c) of a rows x cols lattice; point (r, c) has the index r cols + c."""

    written: ClassVar[str] = "spaces.grid({0.rows}, {0.cols}, 'manhattan')"

    rows: int
    cols: int

    @property
    def size(self) -> int:
        return self.rows * self.cols

    def distance(self, x: Any, y: Any) -> Any:
        return np.add(*_row_and_column_steps(self.cols, x, y))

    def edges(self) -> NDArray[np.intp]:
        """Return the pairs of points that are neighbours in a row or in a column."""
        numbers = np.arange(self.size).reshape(self.rows, self.cols)
        across = np.column_stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()])
        down = np.column_stack([numbers[:-1].ravel(), numbers[1:].ravel()])
        both = np.concatenate([across, down])
        return both[np.lexsort((both[:, 1], both[:, 0]))]

    def labels(self) -> Sequence[Hashable]:
        return _grid_labels(self.rows, self.cols)


GridMetric = Literal["euclidean", "manhattan"]
"""Names of the distances on a lattice."""


def grid(rows: int, cols: int, metric: GridMetric = "euclidean") -> Space:
    """Return the space of the points of a rows x cols lattice with step 1, labelled (row, column).

    For a lattice with another step, scale the level: with a step of 100 m, pass 100 times the epsilon of one metre.

    Source: [fernandes2022], section VI-C.

    >>> grid(2, 2).distances[0].tolist(), grid(2, 3, metric="manhattan").distances[0].tolist()
    ([0.0, 1.0, 1.0, 1.414...], [0, 1, 2, 1, 2, 3])
    """
    one_of(metric, GridMetric, "metric", "grid")
    kinds: dict[str, type[EuclideanGridMetric] | type[ManhattanGridMetric]] = {
        "euclidean": EuclideanGridMetric,
        "manhattan": ManhattanGridMetric,
    }
    return Space(kinds[metric](natural(rows, "rows", least=1), natural(cols, "cols", least=1)))


_exact_roots = np.frompyfunc(lambda square: Surd.sqrt(int(square)).simplified(), 1, 1)


def _row_and_column_steps(cols: int, x: Any, y: Any) -> tuple[Any, Any]:
    (r, c), (s, t) = np.divmod(x, cols), np.divmod(y, cols)
    return np.abs(r - s), np.abs(c - t)


def _grid_labels(rows: int, cols: int) -> tuple[tuple[int, int], ...]:
    return tuple((r, c) for r in range(rows) for c in range(cols))
