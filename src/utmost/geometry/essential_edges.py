"""The essential graph of a metric, its blocks, and the shortest cycles that generate all others."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from utmost.exact import Array

Edges = list[tuple[int, int]]


def essential_edges(distances: Array) -> Edges:
    """Pairs x < y with no third secret between them: d(x, z) + d(z, y) > d(x, y) for every other z.

    Every distance is the length of a shortest path along these edges, so a function that is Lipschitz along them is
    Lipschitz, and a tight pair is joined by tight essential edges. Cost: O(n^3).
    """
    through = distances.copy()  # d(x, z) where z may lie between: not at an end
    np.fill_diagonal(through, 2 * distances.max() + 1)
    sums = (np.min(through[x][:, None] + through, axis=0) for x in range(len(distances)))
    return [
        (x, int(y)) for x, sum_over_z in enumerate(sums) for y in np.flatnonzero(distances[x] < sum_over_z) if x < y
    ]


def blocks(n: int, edges: Edges) -> list[list[int]]:
    """The biconnected components of a connected graph, as sorted lists of nodes; every edge lies in exactly one.

    A Lipschitz function on the whole space is one on each block, joined at the cut nodes, and its tight graph is
    connected exactly when each block's is: vertices of the whole are products of vertices of the blocks.
    """
    neighbours = neighbour_lists(n, edges)
    number, low = [-1] * n, [0] * n
    found: list[list[int]] = []
    open_edges: Edges = []
    clock = 0
    stack = [(0, -1, iter(neighbours[0]))]
    number[0] = 0
    while stack:
        x, parent, rest = stack[-1]
        y = next((y for y in rest if y != parent and number[y] < number[x]), None)
        if y is None:
            stack.pop()
            if parent >= 0:
                low[parent] = min(low[parent], low[x])
                if low[x] >= number[parent]:
                    found.append(_close_block(open_edges, (parent, x)))
            continue
        open_edges.append((x, y))
        if number[y] >= 0:
            low[x] = min(low[x], number[y])
        else:
            clock += 1
            number[y] = low[y] = clock
            stack.append((y, x, iter(neighbours[y])))
    return found


def _close_block(open_edges: Edges, edge: tuple[int, int]) -> list[int]:
    nodes: set[int] = set()
    while True:
        last = open_edges.pop()
        nodes.update(last)
        if last == edge:
            return sorted(nodes)


def neighbour_lists(n: int, edges: Edges) -> list[list[int]]:
    """The neighbours of each node."""
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for x, y in edges:
        neighbours[x].append(y)
        neighbours[y].append(x)
    return neighbours


@dataclass(frozen=True, slots=True, eq=False)
class BipartiteGraph:
    """A connected bipartite graph whose shortest-path metric, times one edge length, is the metric at hand.

    Attributes:
        order: the nodes, each but the first one a neighbour of one before it.
        hops: (n, n) shortest-path distances between nodes.
        edges: the edges.
    """

    order: tuple[int, ...]
    hops: NDArray[np.int16]
    edges: Edges

    @classmethod
    def of(cls, distances: Array) -> "BipartiteGraph | None":
        """The graph, where all essential edges are equally long and no cycle is odd; else None.

        >>> BipartiteGraph.of(np.array([[0, 2, 4], [2, 0, 2], [4, 2, 0]])).edges
        [(0, 1), (1, 2)]
        >>> BipartiteGraph.of(np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])) is None
        True
        """
        edges = essential_edges(distances)
        lengths = {int(distances[x, y]) for x, y in edges}
        if len(lengths) != 1:
            return None
        hops = (distances // lengths.pop()).astype(np.int16)
        side = hops[0] % 2
        if any(side[x] == side[y] for x, y in edges):
            return None
        return cls(_breadth_first(len(distances), edges), hops, edges)


def _breadth_first(n: int, edges: Edges) -> tuple[int, ...]:
    neighbours = neighbour_lists(n, edges)
    order = [0]
    for x in order:
        order.extend(y for y in neighbours[x] if y not in order)
    return tuple(order)


def longest_basis_cycle(n: int, edges: Edges) -> int:
    """The length of the longest cycle in a minimum cycle basis; 0 for a tree.

    Horton's candidates (a shortest path to each end of an edge, and the edge) contain a minimum basis; candidates are
    taken by length and kept while independent over the field of two elements. Independence there implies independence
    over the rationals, so a sum of steps that vanishes on the basis vanishes on every cycle.

    Cost: O(n m) candidates for m edges, each reduced against at most m - n + 1 others.

    >>> longest_basis_cycle(4, [(0, 1), (1, 2), (2, 3), (0, 3)]), longest_basis_cycle(2, [(0, 1)])
    (4, 0)
    """
    wanted = len(edges) - n + 1
    index = {edge: k for k, edge in enumerate(edges)}
    index |= {(y, x): k for (x, y), k in index.items()}
    pivots: dict[int, int] = {}
    longest = 0
    for cycle in sorted(_candidates(n, edges, index), key=lambda c: c.bit_count()):
        if len(pivots) == wanted:
            break
        longest_if_kept, rest = cycle.bit_count(), cycle
        while rest and (pivot := pivots.get(rest.bit_length())) is not None:
            rest ^= pivot
        if rest:
            pivots[rest.bit_length()] = rest
            longest = longest_if_kept
    return longest


def _candidates(n: int, edges: Edges, index: dict[tuple[int, int], int]) -> set[int]:
    """Cycles as sets of edges: root to x, the edge (x, y), y back to root, with paths that share only the root."""
    neighbours = neighbour_lists(n, edges)
    found = set()
    for root in range(n):
        path = {root: 0}
        for x in (queue := [root]):
            for y in neighbours[x]:
                if y not in path:
                    path[y] = path[x] | 1 << index[x, y]
                    queue.append(y)
        found |= {path[x] ^ path[y] ^ 1 << index[x, y] for x, y in edges} - {0}
    return found
