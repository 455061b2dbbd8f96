"""The essential graph of a metric: its blocks, a minimum cycle basis, and the number of its height functions.

Height functions are counted without listing them, by a transfer matrix over the frontier of the graph.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Array
from utmost.errors import Unsupported

EdgeList = list[tuple[int, int]]


def essential_edges(distances: Array) -> EdgeList:
    """Return the pairs x < y with no third secret between them: d(x, z) + d(z, y) > d(x, y) for every other z."""
    # Every distance is the length of a shortest path of these edges, so a function that is Lipschitz along them is
    # Lipschitz, and a tight pair is joined by tight essential edges.
    through = distances.copy()  # d(x, z) for z not in {x, y}
    np.fill_diagonal(through, 2 * distances.max() + 1)
    sums = (np.min(through[x][:, None] + through, axis=0) for x in range(len(distances)))
    return [
        (x, int(y)) for x, sum_over_z in enumerate(sums) for y in np.flatnonzero(distances[x] < sum_over_z) if x < y
    ]


def blocks(n: int, edges: EdgeList) -> list[list[int]]:
    """Return the biconnected components of a connected graph as sorted lists of nodes; every edge is in exactly one."""
    # A Lipschitz function is one on each block, joined at the cut nodes. Its tight graph is connected if and only if it
    # is connected on each block, so the vertices are products of vertices of the blocks.
    neighbours = neighbour_lists(n, edges)
    number, low = [-1] * n, [0] * n
    components: list[list[int]] = []
    open_edges: EdgeList = []
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
                # No edge from x or below leads above its parent, so a block ends at the parent.
                if low[x] >= number[parent]:
                    first = open_edges.index((parent, x))
                    components.append(sorted({node for edge in open_edges[first:] for node in edge}))
                    del open_edges[first:]
            continue
        open_edges.append((x, y))
        if number[y] >= 0:
            low[x] = min(low[x], number[y])
        else:
            clock += 1
            number[y] = low[y] = clock
            stack.append((y, x, iter(neighbours[y])))
    return components


def neighbour_lists(n: int, edges: EdgeList) -> list[list[int]]:
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for x, y in edges:
        neighbours[x].append(y)
        neighbours[y].append(x)
    return neighbours


@dataclass(frozen=True, slots=True, eq=False)
class BipartiteGraph:
    """A connected bipartite graph whose shortest-path metric, times one edge length, is a given metric."""

    order: tuple[int, ...]  # the nodes; each after the first is a neighbour of an earlier one
    hops: NDArray[np.int16]  # (n, n) shortest-path distances between nodes
    edges: EdgeList

    @classmethod
    def of(cls, distances: Array) -> "BipartiteGraph | None":
        """Return the graph if all essential edges are equally long and no cycle is odd; else None."""
        edges = essential_edges(distances)
        lengths = {int(distances[x, y]) for x, y in edges}
        if len(lengths) != 1:
            return None
        hops = (distances // lengths.pop()).astype(np.int16)
        side = hops[0] % 2
        if any(side[x] == side[y] for x, y in edges):
            return None
        # Breadth-first order.
        neighbours, order = neighbour_lists(len(distances), edges), [0]
        for x in order:
            order.extend(y for y in neighbours[x] if y not in order)
        return cls(tuple(order), hops, edges)


def longest_basis_cycle(n: int, edges: EdgeList) -> int:
    """Return the length of the longest cycle in a minimum cycle basis; 0 for a tree."""
    # Horton's candidates (an edge, and a shortest path from a root to each of its ends) contain a minimum basis. They
    # are taken by length if independent over the field of two elements. Independence there implies independence over
    # the rationals, so a sum of steps that is 0 on the basis is 0 on every cycle. Cost: O(n m) candidates for m edges,
    # each reduced by at most m - n + 1 others.
    wanted = len(edges) - n + 1
    index = {edge: k for k, edge in enumerate(edges)}
    index |= {(y, x): k for (x, y), k in index.items()}
    # A cycle is a mask of its edges. Paths that share more than the root leave a shorter cycle, or none.
    neighbours, candidates = neighbour_lists(n, edges), set[int]()
    for root in range(n):
        path = {root: 0}
        for x in (queue := [root]):
            for y in neighbours[x]:
                if y not in path:
                    path[y] = path[x] | 1 << index[x, y]
                    queue.append(y)
        candidates |= {path[x] ^ path[y] ^ 1 << index[x, y] for x, y in edges} - {0}
    pivots: dict[int, int] = {}
    longest = 0
    for cycle in sorted(candidates, key=lambda c: c.bit_count()):
        if len(pivots) == wanted:
            break
        longest_if_kept, rest = cycle.bit_count(), cycle
        while rest and (pivot := pivots.get(rest.bit_length())) is not None:
            rest ^= pivot
        if rest:
            pivots[rest.bit_length()] = rest
            longest = longest_if_kept
    return longest


States = NDArray[np.uint64]

# The 6-cube needs 3 * 10^6 labellings; more than this would fill the memory.
_MOST_STATES = 1 << 25


def count_height_functions(graph: BipartiteGraph) -> int:
    """Return the number of functions with steps of 1 or -1 along every edge, up to a constant."""
    # Heights are counted modulo an odd M. Labels with steps 1 or -1 modulo M lift to heights if and only if the steps
    # around every cycle of a basis sum to 0. The sum is an even multiple of M, so it is 0 for cycles shorter than 2M.
    # M = 3 suffices if 4-cycles generate all cycles (lines, trees, cubes, grids): the count is then a third of the
    # number of proper 3-colourings. Cost: one step for each node and each labelling of the frontier, which are the
    # visited nodes with an unvisited neighbour.
    modulus = max(3, longest_basis_cycle(len(graph.order), graph.edges) // 2 + 1 | 1)
    bits = (modulus - 1).bit_length()
    states = np.zeros(1, dtype=np.uint64)
    counts: NDArray[Any] = np.ones(
        1, dtype=np.int64 if len(graph.order) < 63 else object
    )  # the total is at most 2^(n-1)
    plan = _sweep(graph)
    widest = 1 + max(step.slot for step in plan)
    if widest * bits > 64:
        raise Unsupported(
            "the labels of a frontier must fit in 64 bits", came=f"{widest} nodes at once", remedy="Use fewer secrets."
        )
    for step in plan:
        if step.near:
            # Every state is extended by both labels that differ by one from the first visited neighbour's, if they also
            # differ by one from the labels of the others.
            seen = [states >> np.uint64(slot * bits) & np.uint64((1 << bits) - 1) for slot in step.near]
            parts = []
            for move in (1, modulus - 1):
                label = (seen[0] + np.uint64(move)) % np.uint64(modulus)
                fits = np.full(len(states), True)
                for other in seen[1:]:
                    gap = (label + np.uint64(modulus) - other) % np.uint64(modulus)
                    fits &= (gap == 1) | (gap == modulus - 1)
                parts.append((states[fits] | label[fits] << np.uint64(step.slot * bits), counts[fits]))
            states, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
        # Clear the slots that become free, and merge the states that are now equal.
        freed = sum(((1 << bits) - 1) << slot * bits for slot in step.freed)
        states = states & np.uint64(((1 << 64) - 1) & ~freed)
        order = np.argsort(states)
        states = states[order]
        first = np.flatnonzero(np.concatenate([[True], states[1:] != states[:-1]]))
        states, counts = states[first], np.add.reduceat(counts[order], first)
        if len(states) > _MOST_STATES:
            raise Unsupported(
                f"a frontier must have at most {_MOST_STATES} labellings", came=len(states), remedy="Use fewer secrets."
            )
    return int(counts.sum())


@dataclass(frozen=True, slots=True)
class _SweepStep:
    """One node of the sweep: its slot, the slots of its visited neighbours, and the slots that become free after it."""

    slot: int
    near: tuple[int, ...]
    freed: tuple[int, ...]


def _sweep(graph: BipartiteGraph) -> list[_SweepStep]:
    """Return an order of the nodes; each next node leaves the fewest nodes with an unvisited neighbour."""
    n = len(graph.order)
    neighbours = neighbour_lists(n, graph.edges)
    waits_for = [set(near) for near in neighbours]
    slots: dict[int, int] = {}
    steps, border = [], {0}
    while border:
        x = min(border, key=lambda y: (len(waits_for[y]) > 0, -sum(len(waits_for[z]) == 1 for z in neighbours[y]), y))
        border.discard(x)
        near = tuple(slots[y] for y in neighbours[x] if y in slots)
        slot = slots[x] = next(k for k in range(n) if k not in slots.values())
        for y in neighbours[x]:
            waits_for[y].discard(x)
        done = [y for y in (x, *neighbours[x]) if y in slots and not waits_for[y]]
        steps.append(_SweepStep(slot, near, tuple(slots.pop(y) for y in done)))
        border.update(y for y in waits_for[x] if y not in slots)
    return steps
