"""The vertices of a privacy type: the extreme posteriors that its channels can leave behind."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.exact import Array, checked, frozen
from utmost.exact import indices as places
from utmost.geometry.distances import Distances
from utmost.geometry.essential import BipartiteGraph, blocks, essential_edges
from utmost.geometry.heights import height_functions
from utmost.geometry.powers import Powers
from utmost.geometry.reverse_search import TightGraph, vertices_by_reverse_search
from utmost.geometry.transfer import count_height_functions
from utmost.privacy import PrivacyType
from utmost.spaces import Space


@dataclass(frozen=True, slots=True, eq=False)
class Vertices:
    """Vertices of a privacy type in log form: v(x) is proportional to alpha^h(x), with h Lipschitz and min h = 0.

    A sequence of posteriors: ``vertices[k]`` is the k-th one as an (n,) array that sums to 1.

    Attributes:
        exponents: (N, n, K) whole numbers: h(x) = unit * sum_k exponents[., x, k] sqrt(roots[k]).
        distances: the distances of the space, exactly.
        powers: alpha to those exponents.
    """

    exponents: NDArray[np.int64]
    distances: Distances
    powers: Powers

    def __len__(self) -> int:
        return len(self.exponents)

    def __getitem__(self, k: int) -> Array:
        column = self._weights(self.exponents[k])
        return frozen(column / column.sum())

    def __iter__(self) -> Iterator[Array]:
        return (self[k] for k in range(len(self)))

    @property
    def is_exact(self) -> bool:
        """Whether the posteriors are Fractions: where alpha to every distance is rational."""
        return self.powers.is_rational

    @property
    def weights(self) -> Array:
        """alpha^h, columns scaled to a largest entry of 1: (n, N), Fractions where they are rational."""
        return frozen(np.moveaxis(self._weights(self.exponents), -1, 0))

    @property
    def columns(self) -> Array:
        """The posteriors as the columns of an (n, N) array."""
        weights = self.weights
        return frozen(weights / weights.sum(axis=0))

    def chosen(self, indices: object) -> "Vertices":
        """Some of the vertices, in the order given."""
        return Vertices(frozen(self.exponents[places(indices, len(self), "indices")]), self.distances, self.powers)

    def _weights(self, exponents: Array) -> Array:
        return self.powers.fractions(exponents) if self.is_exact else self.powers.floats(exponents)

    def __repr__(self) -> str:
        return f"Vertices({len(self)} on {self.distances.size} secrets)"


@checked
def vertices(ptype: PrivacyType) -> Vertices:
    """All vertices of a privacy type, listed.

    The posteriors that channels of the type can have form a polytope in the simplex. Its vertices are, in log form,
    the functions h with h(x) - h(y) <= d(x, y) whose tight pairs join all secrets: work with exact distances only.

    Source: [fernandes2022], definition 4 and section III. Cost: see `height_functions`, `vertices_by_reverse_search`.

    >>> from utmost.spaces import counts
    >>> listed = vertices(PrivacyType(counts(2), alpha="1/2"))
    >>> len(listed), [str(p) for p in listed[0]]
    (4, ['1/7', '2/7', '4/7'])
    """
    parts = [block.exponents for block in vertex_blocks(ptype)]
    return _vertices(ptype, Distances.of(ptype.space), np.concatenate(parts))


@checked
def vertex_blocks(ptype: PrivacyType, rows: int = 1 << 16) -> Iterator[Vertices]:
    """The same vertices in the same order, at most ``rows`` at a time, in memory that does not grow with their number.

    >>> from utmost.spaces import counts
    >>> sum(len(block) for block in vertex_blocks(PrivacyType(counts(9), alpha="1/2"), rows=100))
    512
    """
    distances = Distances.of(ptype.space)
    for block in _exponent_blocks(distances, rows):
        yield _vertices(ptype, distances, block)


@checked
def count_vertices(where: PrivacyType | Space) -> int:
    """How many vertices a privacy type has; the same at every level, so a space will do.

    The essential graph is cut into its blocks, whose counts multiply; an edge has 2, a bipartite block is counted by
    transfer matrix, k secrets at equal distance have 2^k - 2, any other block is listed by reverse search.

    >>> from utmost.spaces import counts
    >>> count_vertices(counts(100)) == 2**100
    True
    """
    space = where.space if isinstance(where, PrivacyType) else where
    table = Distances.of(space).integers()
    if space.size == 1:
        return 1
    if _is_discrete(table):
        return _count_block(table)
    return prod(_count_block(table[np.ix_(block, block)]) for block in blocks(space.size, essential_edges(table)))


def _count_block(table: Array) -> int:
    if len(table) == 2:
        return 2
    graph = BipartiteGraph.of(table)
    if graph is not None:
        return count_height_functions(graph)
    if _is_discrete(table):
        return int(2 ** len(table) - 2)
    return sum(1 for _ in vertices_by_reverse_search(table))


def _exponent_blocks(distances: Distances, rows: int) -> Iterator[NDArray[np.int64]]:
    table = distances.integers()
    graph = BipartiteGraph.of(table) if len(table) > 1 else None
    if graph is not None:
        x, y = graph.edges[0]
        for heights in height_functions(graph, rows):
            yield _grounded(heights)[..., None] * distances.coefficients[x, y]
    elif len(table) > 2 and _is_discrete(table):
        for start in range(1, 2 ** len(table) - 1, rows):
            codes = np.arange(start, min(start + rows, 2 ** len(table) - 1))
            yield (codes[:, None] >> np.arange(len(table)) & 1)[..., None] * distances.coefficients[0, 1]
    else:
        listed = vertices_by_reverse_search(table)
        while block := [_coefficients(h, table, distances) for h in islice(listed, rows)]:
            yield np.array(block)


def _grounded(heights: NDArray[Any]) -> NDArray[np.int64]:
    grounded: NDArray[np.int64] = heights.astype(np.int64) - heights.min(axis=1, keepdims=True)
    return grounded


def _is_discrete(table: Array) -> bool:
    return bool((table[~np.eye(len(table), dtype=bool)] == table[0, 1]).all())


def _coefficients(h: Array, table: Array, distances: Distances) -> NDArray[np.int64]:
    """The exponents of h in terms of square roots, read along tight pairs from where h is least, (n, K)."""
    graph = TightGraph.of(h, table)
    start = int(np.argmin(h))
    exponents = np.zeros((len(h), len(distances.roots)), dtype=np.int64)
    known = [start]
    for x in known:
        for y in range(len(h)):
            sign = (graph.above[x] >> y & 1) - (graph.below[x] >> y & 1)
            if sign and y not in known:
                exponents[y] = exponents[x] + sign * distances.coefficients[x, y]
                known.append(y)
    return exponents


def _vertices(ptype: PrivacyType, distances: Distances, exponents: NDArray[np.int64]) -> Vertices:
    return Vertices(frozen(exponents), distances, Powers.of(ptype.level, distances))
