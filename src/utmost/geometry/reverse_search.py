"""Vertices of any metric by reverse search over the edges of its Lipschitz polytope: nothing is remembered."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from utmost.exact import Array

# Sets of secrets are bit masks in Python integers: bit x is secret x.


@dataclass(frozen=True, slots=True)
class TightGraph:
    """The tight pairs of a Lipschitz function h: an arc from x to y where h(x) - h(y) = d(x, y).

    Attributes:
        below: for each x, the mask of the y that it has an arc to.
        above: for each x, the mask of the y that have an arc to it.
    """

    below: tuple[int, ...]
    above: tuple[int, ...]

    @classmethod
    def of(cls, h: Array, distances: Array) -> "TightGraph":
        """The tight pairs of h, shape (n,)."""
        tight = (h[:, None] - h[None, :]) == distances
        tight.flat[:: len(h) + 1] = False
        masks = _masks(np.concatenate([tight, tight.T]))
        return cls(masks[: len(h)], masks[len(h) :])

    def closure(self, start: int, down: bool) -> int:
        """Everything reached from a set along arcs (down) or against them."""
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
        """The nodes of ``within`` joined to a node set ``start`` inside it, arcs taken either way."""
        seen, todo = start, start
        while todo:
            x = todo.bit_length() - 1
            todo ^= 1 << x
            fresh = (self.below[x] | self.above[x]) & within & ~seen
            seen |= fresh
            todo |= fresh
        return seen

    @property
    def is_connected(self) -> bool:
        """Whether h is a vertex of the Lipschitz polytope modulo constants."""
        everything = (1 << len(self.below)) - 1
        return self.component(1, everything) == everything


def vertices_by_reverse_search(distances: Array) -> Iterator[Array]:
    """All vertices h of {h: h(x) - h(y) <= d(x, y), h(0) = 0}, each once, as (n,) integer arrays.

    From any vertex but the top one, d(., 0), one fixed upward edge leads to its parent, so the vertices form a tree
    rooted at the top. A vertex's children are the neighbours below it whose parent it is; the walk needs the
    path to the root and no table of vertices seen.

    Args:
        distances: (n, n) integer metric.

    Memory: O(n^2) for each vertex on the path. Cost: for each vertex, O(n^2) for each edge of the polytope below it.
    Source: Avis and Fukuda's reverse search. An edge lifts a set that is closed along tight pairs, connected, and has a
    connected complement.

    >>> triangle = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    >>> sorted(h.tolist() for h in vertices_by_reverse_search(triangle))
    [[0, -1, -1], [0, -1, 0], [0, 0, -1], [0, 0, 1], [0, 1, 0], [0, 1, 1]]
    """
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
    room = distances + h[:, None] - h[None, :]
    for moved in _sinking_sets(TightGraph.of(h, distances)):
        child = _sunk(h, room, moved)
        lowest = int(np.argmax(child < distances[0]))
        # A cheap look first: the secret whose rise leads to the parent must be one that sank.
        if moved >> lowest & 1 and _rising_set(child, lowest, distances) == moved:
            yield child


def _rising_set(h: Array, lowest: int, distances: Array) -> int:
    """The set whose lift leads to the parent of h.

    ``lowest``, the first secret that is not as high as it can be, reaches all that must rise with it. What that cuts
    off from secret 0 rises too, so that both sides stay connected: the lift runs along an edge of the polytope.
    """
    graph = TightGraph.of(h, distances)
    everything = (1 << len(h)) - 1
    must = graph.closure(1 << lowest, down=True)
    return everything & ~graph.component(1, everything & ~must)


def _sunk(h: Array, room: Array, moved: int) -> Array:
    """h lowered on a set until the next pair becomes tight; room[x, y] = d(x, y) + h(x) - h(y)."""
    inside = [x for x in range(len(h)) if moved >> x & 1]
    outside = [x for x in range(len(h)) if not moved >> x & 1]
    lowered = h.copy()
    lowered[inside] -= room[inside][:, outside].min()
    return lowered


def _sinking_sets(graph: TightGraph) -> Iterator[int]:
    """Every set without secret 0, closed against the arcs, that is connected and has a connected complement.

    A branch fixes a set that stays (connected, closed along arcs, with secret 0) and one that sinks. Some component of
    the rest is always an answer as long as what sinks lies within one component, so at most every other branch fails.
    """
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
        border = _border(graph, stay) & ~sink
        if not border:
            if sink:
                yield rest
            continue
        y = border & -border
        todo.append((stay | graph.closure(y, down=True), sink))
        todo.append((stay, sink | graph.closure(y, down=False)))


def _border(graph: TightGraph, stay: int) -> int:
    near, todo = 0, stay
    while todo:
        x = todo.bit_length() - 1
        todo ^= 1 << x
        near |= graph.below[x] | graph.above[x]
    return near & ~stay


def _masks(tight: Array) -> tuple[int, ...]:
    packed = np.packbits(tight, axis=1, bitorder="little")
    if packed.shape[1] > 8:
        return tuple(int.from_bytes(row.tobytes(), "little") for row in packed)
    words = np.zeros((len(tight), 8), dtype=np.uint8)
    words[:, : packed.shape[1]] = packed
    return tuple(words.view("<u8")[:, 0].tolist())
