"""Vertices of a bipartite graph metric: height functions, listed block by block in bounded memory."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from utmost.geometry.essential import BipartiteGraph

Heights = NDArray[np.int16]


def height_functions(graph: BipartiteGraph, rows: int = 1 << 16) -> Iterator[Heights]:
    """All h with h(x) - h(y) = 1 or -1 along every edge and h(order[0]) = 0, in blocks of at most ``rows`` rows.

    A tight graph is connected only if h is whole and has the parity of the hops everywhere, so every edge is tight.
    Secret after secret is given a height; by McShane's theorem a function that is Lipschitz on some secrets extends to
    the rest, so no partial function is a dead end and the work is O(n^2) for each vertex.

    Yields:
        (m, n) int16 arrays; each height function occurs once. Memory: O(n^2 rows), however many there are.

    >>> graph = BipartiteGraph.of(np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]]))
    >>> np.concatenate(list(height_functions(graph))).tolist()
    [[0, -1, -2], [0, -1, 0], [0, 1, 0], [0, 1, 2]]
    """
    n = len(graph.order)
    reach = graph.hops[np.ix_(graph.order, graph.order)]
    place = np.argsort(graph.order)
    waiting = [np.zeros((1, 1), dtype=np.int16)]
    while waiting:
        known = waiting.pop()
        if len(known) > rows:
            waiting.extend(reversed(np.array_split(known, -(-len(known) // rows))))
        elif known.shape[1] == n:
            yield known[:, place]
        else:
            waiting.append(_with_next(known, reach[known.shape[1], : known.shape[1]]))


def _with_next(known: Heights, reach: NDArray[np.int16]) -> Heights:
    """Every function with one more height, within reach of all that are known; one of these belongs to a neighbour."""
    lowest, highest = (known - reach).max(axis=1), (known + reach).min(axis=1)
    free = lowest < highest
    heights = np.concatenate([lowest, highest[free]])
    rows = np.concatenate([np.arange(len(known)), np.flatnonzero(free)])
    order = np.argsort(rows, kind="stable")
    return np.column_stack([known[rows[order]], heights[order]])
