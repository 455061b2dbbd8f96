"""Compute the essential graph of a metric and its biconnected components, and count its height functions.

An edge of the essential graph joins two secrets without a third secret between them. A height function changes by 1 or
-1 along every edge. A transfer matrix counts height functions without listing them; its states are the heights of the
visited nodes that have an unvisited neighbour.
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
    # Every distance is the length of a path of essential edges. So a function that is Lipschitz along essential edges
    # is Lipschitz, and a path of tight essential edges joins every tight pair.
    through = distances.copy()  # d(x, z) for z not in {x, y}
    np.fill_diagonal(through, 2 * distances.max() + 1)
    sums = (np.min(through[x][:, None] + through, axis=0) for x in range(len(distances)))
    return [
        (x, int(y)) for x, sum_over_z in enumerate(sums) for y in np.flatnonzero(distances[x] < sum_over_z) if x < y
    ]


def blocks(n: int, edges: EdgeList) -> list[list[int]]:
    """Return the biconnected components of a connected graph with nodes 0, ..., n-1, each a sorted list of nodes."""
    # A function is Lipschitz if and only if it is Lipschitz on each block. Its tight graph is connected if and only if
    # it is connected on each block, so the number of vertices is the product of the numbers of vertices of the blocks.
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
                # No edge from x or from a node below x leads above the parent of x, so a block ends at the parent.
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
    """A connected bipartite graph with edges of equal length. The distance of two secrets is the length of a shortest
    path.
    """

    order: tuple[int, ...]  # the nodes; each after the first is a neighbour of an earlier one
    hops: NDArray[np.int16]  # (n, n) the number of edges of a shortest path between each pair
    edges: EdgeList

    @classmethod
    def of(cls, distances: Array) -> "BipartiteGraph | None":
        """Return the essential graph of a metric if all edges are equally long and no cycle is odd; else None."""
        edges = essential_edges(distances)
        lengths = {int(distances[x, y]) for x, y in edges}
        if len(lengths) != 1:
            return None
        hops = (distances // lengths.pop()).astype(np.int16)
        side = hops[0] % 2
        if any(side[x] == side[y] for x, y in edges):
            return None
        # List the nodes in breadth-first order.
        neighbours, order = neighbour_lists(len(distances), edges), [0]
        for x in order:
            order.extend(y for y in neighbours[x] if y not in order)
        return cls(tuple(order), hops, edges)


def longest_basis_cycle(n: int, edges: EdgeList) -> int:
    """Return the length of the longest cycle in a minimum cycle basis; 0 for a tree."""
    # Horton's candidate cycles contain a minimum basis; a candidate is an edge with a shortest path from a root to each
    # of its ends. Candidates are tried by ascending length, and a candidate joins the basis if it is independent of the
    # earlier ones over the field of two elements. Independence over this field implies independence over the rationals,
    # so a sum of steps that is 0 on the basis is 0 on every cycle. Cost: O(n m) candidates for m edges, each reduced by
    # at most m - n + 1 others.
    basis_size = len(edges) - n + 1
    index = {edge: k for k, edge in enumerate(edges)}
    index |= {(y, x): k for (x, y), k in index.items()}
    # A cycle is a bit mask of edges. If the two paths share edges, their symmetric difference is a shorter cycle, or
    # empty.
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
        if len(pivots) == basis_size:
            break
        length, rest = cycle.bit_count(), cycle
        while rest and (pivot := pivots.get(rest.bit_length())) is not None:
            rest ^= pivot
        if rest:
            pivots[rest.bit_length()] = rest
            longest = length
    return longest


States = NDArray[np.uint64]

# The 6-cube needs 3 * 10^6 labellings. More than this limit would fill the memory.
_MOST_STATES = 1 << 25


def count_height_functions(graph: BipartiteGraph) -> int:
    """Return the number of functions, up to a constant, that change by 1 or -1 along every edge."""
    # Count labellings modulo an odd M in place of functions. A labelling with steps 1 or -1 modulo M comes from a
    # function if and only if the steps around every cycle of a basis sum to 0. The sum is an even multiple of M, so it
    # is 0 for cycles shorter than 2M. M = 3 suffices if 4-cycles generate all cycles (lines, trees, cubes, grids): the
    # count is then a third of the number of proper 3-colourings. The frontier consists of the visited nodes with an
    # unvisited neighbour. Cost: one step for each node and each labelling of the frontier.
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
            f"a count of vertices may keep at most {64 // bits} secrets in a state of the graph",
            came=f"{widest}",
            remedy="Use fewer secrets.",
        )
    for step in plan:
        if step.near:
            # Extend every state by the two labels that differ by one from the label of the first visited neighbour, if
            # they also differ by one from the labels of the other visited neighbours.
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
        # Clear the slots that become free, and merge states that have become equal.
        freed = sum(((1 << bits) - 1) << slot * bits for slot in step.freed)
        states = states & np.uint64(((1 << 64) - 1) & ~freed)
        order = np.argsort(states)
        states = states[order]
        first = np.flatnonzero(np.concatenate([[True], states[1:] != states[:-1]]))
        states, counts = states[first], np.add.reduceat(counts[order], first)
        if len(states) > _MOST_STATES:
            raise Unsupported(
                f"a count of vertices may keep at most {_MOST_STATES} states of the graph in memory",
                came=len(states),
                remedy="Use fewer secrets.",
            )
    return int(counts.sum())


@dataclass(frozen=True, slots=True)
class _SweepStep:
    """One visited node: its slot in a state, the slots of its visited neighbours, and the slots that become free."""

    slot: int
    near: tuple[int, ...]
    freed: tuple[int, ...]


def _sweep(graph: BipartiteGraph) -> list[_SweepStep]:
    """Return a `_SweepStep` for each node, in an order in which few visited nodes ever have an unvisited neighbour."""
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
