"""List or count the vertices of a privacy type: the extreme posteriors of its channels for a uniform prior."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import prod

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, integer, sequence_of
from utmost.core.exact.arrays import Array, frozen
from utmost.core.exact.arrays import indices as places
from utmost.core.exact.display import Display
from utmost.core.exact.memory import fitting_memory
from utmost.core.exact.numbers import natural
from utmost.core.exact.progress_bar import progress_bar
from utmost.design.channels.channel import Channel
from utmost.design.geometry.essential_graph import BipartiteGraph, blocks, count_height_functions, essential_edges
from utmost.design.geometry.log_domain import Distances, LogPowers
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.space import Space
from utmost.errors import OutOfRange, Unsupported

Heights = NDArray[np.int16]


def height_functions(graph: BipartiteGraph, rows: int = 1 << 16) -> Iterator[Heights]:
    """Yield, in (m, n) blocks, all integer functions h with |h(x) - h(y)| = 1 along every edge and h(order[0]) = 0."""
    # The tight pairs of h join all secrets only if h has everywhere the parity of the number of edges from order[0], so
    # every edge is tight. Secrets get heights one after another. By McShane's theorem a function that is Lipschitz on
    # some secrets extends to all, so every partial function can be completed. Cost: O(n^2) for each vertex, and O(n^2
    # rows) memory.
    n = len(graph.order)
    reach = graph.hops[np.ix_(graph.order, graph.order)]
    position = np.argsort(graph.order)
    waiting = [np.zeros((1, 1), dtype=np.int16)]
    while waiting:
        known = waiting.pop()
        if len(known) > rows:
            waiting.extend(reversed(np.array_split(known, -(-len(known) // rows))))
        elif known.shape[1] == n:
            yield known[:, position]
        else:
            # Extend every function to one more secret, within the distances to all secrets that have a height.
            steps = reach[known.shape[1], : known.shape[1]]
            lowest, highest = (known - steps).max(axis=1), (known + steps).min(axis=1)
            free = lowest < highest
            heights = np.concatenate([lowest, highest[free]])
            parents = np.concatenate([np.arange(len(known)), np.flatnonzero(free)])
            order = np.argsort(parents, kind="stable")
            waiting.append(np.column_stack([known[parents[order]], heights[order]]))


# Sets of secrets are bit masks in Python integers; bit x is secret x.


@dataclass(frozen=True, slots=True)
class TightGraph:
    """The tight pairs of a Lipschitz function h, as a graph with an arc from x to y if h(x) - h(y) = d(x, y)."""

    below: tuple[int, ...]  # for each x, a mask of the y with an arc from x
    above: tuple[int, ...]  # for each x, a mask of the y with an arc to x

    @classmethod
    def of(cls, h: Array, distances: Array) -> "TightGraph":
        """Return the tight graph of h, (n,), from an (n, n) matrix of distances."""
        tight = (h[:, None] - h[None, :]) == distances
        tight.flat[:: len(h) + 1] = False
        packed = np.packbits(np.concatenate([tight, tight.T]), axis=1, bitorder="little")
        if packed.shape[1] > 8:
            masks = tuple(int.from_bytes(row.tobytes(), "little") for row in packed)
        else:
            padded = np.zeros((len(packed), 8), dtype=np.uint8)
            padded[:, : packed.shape[1]] = packed
            masks = tuple(padded.view("<u8")[:, 0].tolist())
        return cls(masks[: len(h)], masks[len(h) :])

    def closure(self, start: int, down: bool) -> int:
        """Return all secrets that can be reached from the set ``start`` along arcs if ``down``, else against arcs."""
        arcs = self.below if down else self.above
        seen, todo = start, start
        while todo:
            x = todo.bit_length() - 1
            todo ^= 1 << x
            fresh = arcs[x] & ~seen
            seen |= fresh
            todo |= fresh
        return seen

    def component(self, start: int, within: int) -> int:
        """Return the secrets that arcs inside the set ``within``, in either direction, join to the set ``start``."""
        seen, todo = start, start
        while todo:
            x = todo.bit_length() - 1
            todo ^= 1 << x
            fresh = (self.below[x] | self.above[x]) & within & ~seen
            seen |= fresh
            todo |= fresh
        return seen


def vertices_by_reverse_search(distances: Array) -> Iterator[Array]:
    """Yield all vertices h of {h: h(x) - h(y) <= d(x, y), h(0) = 0}, each once, for an (n, n) integer metric."""
    # This is Avis and Fukuda's reverse search. From any vertex except the top, d(., 0), a fixed rule chooses an upward
    # edge, which leads to the parent of the vertex; so the vertices form a tree with the top as root. The search stores
    # only the path to the root, with O(n^2) memory for each vertex on it. An edge of the polytope lifts a set of
    # secrets that is closed along tight pairs, connected, and has a connected complement. Cost: O(n^2) for each vertex
    # and each of its downward edges.
    top = distances[0].copy()
    yield top
    path = [_children(top, distances)]
    while path:
        child = next(path[-1], None)
        if child is None:
            path.pop()
        else:
            yield child
            path.append(_children(child, distances))


def _children(h: Array, distances: Array) -> Iterator[Array]:
    """Yield the children of h: the lower neighbours h' on the polytope that have h as parent."""
    room = distances + h[:, None] - h[None, :]
    everything = (1 << len(h)) - 1
    for moved in _sinking_sets(TightGraph.of(h, distances)):
        # Lower h on the set until one more pair becomes tight.
        inside = [x for x in range(len(h)) if moved >> x & 1]
        outside = [x for x in range(len(h)) if not moved >> x & 1]
        child = h.copy()
        child[inside] -= room[inside][:, outside].min()
        # Let ``lowest`` be the first secret whose height is below the largest possible height d(., 0). The step from
        # the child to its parent raises every secret that can be reached along arcs from ``lowest``, and every secret
        # that these secrets cut off from secret 0. The raised set and its complement are then connected, so the step
        # runs along an edge of the polytope. A cheap check comes first: ``lowest`` must be in the lowered set.
        lowest = int(np.argmax(child < distances[0]))
        if moved >> lowest & 1:
            graph = TightGraph.of(child, distances)
            must = graph.closure(1 << lowest, down=True)
            if everything & ~graph.component(1, everything & ~must) == moved:
                yield child


def _sinking_sets(graph: TightGraph) -> Iterator[int]:
    """Yield every connected set without secret 0 that has a connected complement and that no arc enters."""
    # A branch fixes a set of secrets that keep their height (connected, closed along arcs, with secret 0) and a set
    # that is lowered. If the lowered set lies within one component of all other secrets, this component is one of the
    # sets to yield. So at most half of the branches yield nothing.
    everything = (1 << len(graph.below)) - 1
    todo = [(graph.closure(1, down=True), 0)]
    while todo:
        stay, sink = todo.pop()
        rest = everything & ~stay
        if not rest:
            continue
        if sink:
            rest = graph.component(sink & -sink, rest)
            if sink & ~rest:
                continue
            stay = everything & ~rest
        border, left = 0, stay
        while left:
            x = left.bit_length() - 1
            left ^= 1 << x
            border |= graph.below[x] | graph.above[x]
        border &= ~stay & ~sink
        if not border:
            if sink:
                yield rest
            continue
        y = border & -border
        todo.append((stay | graph.closure(y, down=True), sink))
        todo.append((stay, sink | graph.closure(y, down=False)))


@dataclass(frozen=True, slots=True, eq=False)
class Vertices(Display):
    """Vertices v of a privacy type, stored as logarithms: v(x) is proportional to alpha^h(x), with h Lipschitz and min
    h = 0.

    A `Vertices` object is a sequence of posteriors: ``vertices[k]`` is vertex k as an (n,) array that sums to 1.

    Attributes:
        exponents: (N, n, K) integers: h(x) = unit * sum_k exponents[., x, k] sqrt(roots[k]).
        distances: Exact distances between the secrets.
        powers: Level and roots that turn exponents into powers of alpha.
    """

    exponents: NDArray[np.int64]
    distances: Distances
    powers: LogPowers

    def __len__(self) -> int:
        return len(self.exponents)

    def __getitem__(self, k: int) -> Array:
        column = self._weights(self.exponents[k])
        return frozen(column / column.sum())

    def __iter__(self) -> Iterator[Array]:
        return (self[k] for k in range(len(self)))

    @property
    def is_exact(self) -> bool:
        """Whether the posteriors are Fractions, which holds if alpha^d is rational for every distance d."""
        return self.powers.is_rational

    @property
    def weights(self) -> Array:
        """The columns alpha^h, (n, N), each with largest entry 1; Fractions if all are rational, else floats."""
        return frozen(np.moveaxis(self._weights(self.exponents), -1, 0))

    @property
    def columns(self) -> Array:
        """The posteriors as the columns of an (n, N) array."""
        weights = self.weights
        return frozen(weights / weights.sum(axis=0))

    def chosen(self, indices: object) -> "Vertices":
        """Return some of the vertices, in the given order."""
        return Vertices(frozen(self.exponents[places(indices, len(self), "indices")]), self.distances, self.powers)

    def _weights(self, exponents: Array) -> Array:
        return self.powers.fractions(exponents) if self.is_exact else self.powers.floats(exponents)

    def __repr__(self) -> str:
        return f"Vertices({len(self)} on {self.distances.size} secrets)"


@progress_bar("Listing vertices")
@fitting_memory("vertices")
def vertices(ptype: PrivacyType) -> Vertices:
    """List all vertices of a privacy type.

    The posteriors of channels of the type, for a uniform prior, form a polytope in the simplex. A posterior
    proportional to alpha^h is a vertex if and only if h(x) - h(y) <= d(x, y) for all secrets x, y, and the tight pairs,
    for which equality holds, join all secrets. The search computes with exact distances.

    Source: [fernandes2022], definition 4 and section III. Cost: see `height_functions`, `vertices_by_reverse_search`.

    >>> from utmost.spaces import counts
    >>> listed = vertices(PrivacyType(counts(2), alpha="1/2"))
    >>> len(listed), [str(p) for p in listed[0]]
    (4, ['1/7', '2/7', '4/7'])
    """
    instance(ptype, PrivacyType, "ptype")
    parts = list(vertex_blocks(ptype))
    exponents = np.concatenate([block.exponents for block in parts])
    return Vertices(frozen(exponents), parts[0].distances, parts[0].powers)


def vertex_blocks(ptype: PrivacyType, rows: int = 1 << 16) -> Iterator[Vertices]:
    """Yield the vertices in the order of `vertices`, at most ``rows`` at a time, in bounded memory."""
    distances = Distances.of(ptype.space)
    powers = LogPowers.of(ptype.level, distances)
    for block in _exponent_blocks(distances, natural(rows, "rows", 1)):
        yield Vertices(frozen(block), distances, powers)


@progress_bar("Counting vertices")
def count_vertices(where: PrivacyType | Space) -> int:
    """Return the number of vertices of a privacy type on a space; the number is the same for every level.

    The essential graph is divided into blocks (biconnected components), and the result is the product of the numbers
    of vertices of the blocks. A block that is a single edge has 2 vertices, and a block of k secrets at equal distances
    has 2^k - 2 vertices. A transfer matrix counts the vertices of a bipartite block; a reverse search lists those of
    any other block.

    Args:
        where: Privacy type or space.

    >>> from utmost.spaces import counts
    >>> count_vertices(counts(100)) == 2**100
    True
    """
    instance(where, (PrivacyType, Space), "where")
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
        # All edges of the graph have the same length.
        x, y = graph.edges[0]
        for heights in height_functions(graph, rows):
            grounded: NDArray[np.int64] = heights.astype(np.int64) - heights.min(axis=1, keepdims=True)
            yield grounded[..., None] * distances.coefficients[x, y]
    elif len(table) > 2 and _is_discrete(table):
        for start in range(1, 2 ** len(table) - 1, rows):
            codes = np.arange(start, min(start + rows, 2 ** len(table) - 1))
            yield (codes[:, None] >> np.arange(len(table)) & 1)[..., None] * distances.coefficients[0, 1]
    else:
        listed = vertices_by_reverse_search(table)
        while functions := list(islice(listed, rows)):
            block = np.zeros((len(functions), len(table), len(distances.roots)), dtype=np.int64)
            for h, exponents in zip(functions, block, strict=True):
                # Exponents, as combinations of square roots, add up along tight pairs, starting at the minimum of h.
                tight = TightGraph.of(h, table)
                known = [int(np.argmin(h))]
                for x in known:
                    for y in range(len(h)):
                        sign = (tight.above[x] >> y & 1) - (tight.below[x] >> y & 1)
                        if sign and y not in known:
                            exponents[y] = exponents[x] + sign * distances.coefficients[x, y]
                            known.append(y)
            yield block


def _is_discrete(table: Array) -> bool:
    return bool((table[~np.eye(len(table), dtype=bool)] == table[0, 1]).all())


def vertex_extensions(ptype: PrivacyType, channel: Channel, secrets: Sequence[int]) -> Iterator[Channel]:
    """Yield all vertex mechanisms of a type that extend a given mechanism from some secrets to all secrets, with the
    same outcomes.

    On the given secrets, each column of an extension equals the column of ``channel``; on all secrets it is a multiple
    of a vertex of the type. The search chooses one column after another, as long as no row sum exceeds 1.

    Args:
        ptype: Privacy type with rational alpha^d.
        channel: Channel (k, m) of Fractions, without a column of zeros.
        secrets: Indices of k of the n secrets, in the order of the rows of ``channel``.

    Yields:
        Channels C, (n, m), with ``C.restrict(secrets)`` equal to ``channel``.

    Raises:
        Unsupported: if the channel has float64 entries, or if some alpha^d is irrational.
        OutOfRange: if the channel does not have one row for each of ``secrets``.

    Source: [fernandes2022], section VI-D and theorem 6(5).

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import hamming
    >>> cube = PrivacyType(hamming(2), alpha="1/2")
    >>> found = list(vertex_extensions(cube, geometric_channel(3, alpha="1/2"), [0, 1, 3]))
    >>> [[str(p) for p in C.matrix[2]] for C in found]
    [['1/3', '1/3', '1/3']]
    """
    instance(ptype, PrivacyType, "ptype")
    instance(channel, Channel, "channel")
    sequence_of(secrets, integer, "secrets")
    listed = vertices(ptype)
    if not (listed.is_exact and channel.is_exact):
        remedy = "Give the channel as Fractions, and a rational alpha with integer distances."
        raise Unsupported("extensions need rational numbers", came="floats or irrational alpha^d", remedy=remedy)
    if channel.shape[0] != len(secrets):
        raise OutOfRange(f"the channel must have {len(secrets)} rows, one for each secret", came=channel.shape[0])
    rows: list[int] = places(secrets, ptype.space.size, "secrets").tolist()
    # For each column, find the vertices that are proportional to it on the given secrets, and scale them to equal it
    # there.
    choices = []
    for given in channel.matrix.T:
        pivot = int(np.flatnonzero(given != 0)[0])
        scaled = listed.weights * (given[pivot] / listed.weights[rows[pivot]])
        choices.append([column for column in scaled.T if (column[rows] == given).all()])
    yield from _combined_columns(choices, [], np.zeros(len(listed.weights), dtype=object))


def _combined_columns(choices: list[list[Array]], chosen: list[Array], sums: Array) -> Iterator[Channel]:
    if len(chosen) == len(choices):
        if (sums == 1).all():
            yield Channel(np.array(chosen, dtype=object).T)
        return
    for column in choices[len(chosen)]:
        if (sums + column <= 1).all():
            yield from _combined_columns(choices, [*chosen, column], sums + column)
