"""Compute shortest paths between nodes of a road network, as whole numbers of a step, by Dijkstra's algorithm."""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.numbers import exact
from utmost.errors import NotAMetric, NotANumber, OutOfRange

# Lengths of roads are rounded down to 1 / _PARTS_OF_A_STEP of a step, and sums of lengths to whole steps.
_PARTS_OF_A_STEP = 1 << 10

Roads = list[list[tuple[int, int]]]
"""For each node, a list of pairs: the index of a neighbour, and the length of the road to it."""


def is_network(table: Any) -> bool:
    """Return whether the table is a graph of networkx or osmnx."""
    return all(hasattr(table, name) for name in ("is_directed", "nodes", "edges"))


def network_steps(
    network: Any, weight: str, step: Fraction, among: Sequence[Hashable] | None, both_ways: bool
) -> tuple[list[Hashable], NDArray[np.int64]]:
    """Return the nodes that are places, and the lengths of shortest paths between them as numbers of steps, (n, n)."""
    number = {node: k for k, node in enumerate(network.nodes)}
    chosen = list(number) if among is None else list(among)
    for node in chosen:
        if node not in number:
            remedy = "Remove this node from among=, or check its spelling."
            raise OutOfRange("every place must be a node of the network", came=str(node), where="among", remedy=remedy)
    if not chosen:
        raise NotAMetric(
            "a network needs at least one place", came="none", remedy="Pass a graph with nodes, or another among=."
        )
    # Find the length of the shortest edge from each node to each neighbour; ignore loops.
    lengths: dict[tuple[Hashable, Hashable], int] = {}
    for u, v, length in network.edges(data=weight):
        try:
            parts = exact(length, "length") / (step / _PARTS_OF_A_STEP)
        except NotANumber:
            came = f"{length!r} from {u!r} to {v!r}"
            remedy = "Pass weight=, the name of the edge attribute that contains the lengths."
            raise NotAMetric(
                f"every edge must have the attribute {weight!r}, a number", came=came, remedy=remedy
            ) from None
        if parts < 0:
            raise NotAMetric("lengths must not be negative", came=f"{length!r} from {u!r} to {v!r}")
        if u != v:
            lengths[u, v] = min(lengths.get((u, v), int(parts)), int(parts))
    if network.is_directed() and not both_ways:
        for (u, v), there in lengths.items():
            if lengths.get((v, u)) != there:
                raise NotAMetric(
                    "distances are symmetric, so every street must be as long in both directions",
                    came=f"different lengths from {u!r} to {v!r} and back",
                    remedy="Pass both_ways=True to allow both directions: no distance is then above the true one.",
                )
    roads: Roads = [[] for _ in number]
    for (u, v), length in lengths.items():
        roads[number[u]].append((number[v], length))
        roads[number[v]].append((number[u], length))
    rows = [_shortest_paths_from(roads, number[node]) for node in chosen]
    ends = [number[node] for node in chosen]
    for x, row in enumerate(rows):
        for y, end in enumerate(ends):
            if row[end] is None:
                raise NotAMetric(
                    "a network must be connected",
                    came=f"no path from {chosen[x]!r} to {chosen[y]!r}",
                    remedy="Pass among= with the nodes of one component.",
                )
    return chosen, np.array(
        [[min((row[end] or 0) // _PARTS_OF_A_STEP, 2**60) for end in ends] for row in rows], dtype=np.int64
    )


def _shortest_paths_from(roads: Roads, start: int) -> list[int | None]:
    """Return the length of the shortest path from one node to each node; None for nodes that no path reaches."""
    settled: list[int | None] = [None] * len(roads)
    waiting = [(0, start)]
    while waiting:
        length, node = heappop(waiting)
        # The heap may still contain longer paths to a node whose shortest path is known.
        if settled[node] is not None:
            continue
        settled[node] = length
        for end, road in roads[node]:
            if settled[end] is None:
                heappush(waiting, (length + road, end))
    return settled
