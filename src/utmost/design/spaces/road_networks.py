"""Shortest paths along roads between some of the nodes of a network, in exact whole steps: Dijkstra's algorithm."""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.numbers import exact
from utmost.errors import NotAMetric, NotANumber, OutOfRange

# Roads are rounded down to this part of a step, and their sums to whole steps.
_PARTS_OF_A_STEP = 1 << 10

Roads = list[list[tuple[int, int]]]
"""For each node the nodes that a road joins it to, and the length of that road."""


def is_network(table: Any) -> bool:
    """Whether something is a graph as networkx and osmnx make them."""
    return all(hasattr(table, name) for name in ("is_directed", "nodes", "edges"))


def network_steps(
    network: Any, weight: str, step: Fraction, among: Sequence[Hashable] | None, both_ways: bool
) -> tuple[list[Hashable], NDArray[np.int64]]:
    """The places of a network and the shortest paths between them in whole steps, rounded down.

    Args:
        network: Graph, directed or not, of networkx or with its methods; of several edges the shortest counts.
        weight: Edges' attribute that holds their lengths.
        step: Step in the unit of the lengths.
        among: Nodes that are places; all if left out. Paths go through every node.
        both_ways: Take one-way streets both ways, so that no distance is above the one that is driven either way.

    Raises:
        NotAMetric: for a street of different lengths to and fro, a length that is missing or no number, and places
            that no path joins.
        OutOfRange: for a place that is no node.

    Cost: O(m log m) for each place and m edges.
    """
    number = {node: k for k, node in enumerate(network.nodes)}
    chosen = list(number) if among is None else list(among)
    for node in chosen:
        if node not in number:
            raise OutOfRange("every place must be a node of the network", came=str(node), where="among")
    if not chosen:
        raise NotAMetric("a network needs at least one place", came="none")
    lengths = _street_lengths(network, weight, step / _PARTS_OF_A_STEP)
    if network.is_directed() and not both_ways:
        _check_both_ways(lengths)
    roads: Roads = [[] for _ in number]
    for (u, v), length in lengths.items():
        roads[number[u]].append((number[v], length))
        roads[number[v]].append((number[u], length))
    rows = [_shortest_paths_from(roads, number[node]) for node in chosen]
    ends = [number[node] for node in chosen]
    for x, row in enumerate(rows):
        for y, end in enumerate(ends):
            if row[end] is None:
                raise NotAMetric("a network must be connected", came=f"no path from {chosen[x]!r} to {chosen[y]!r}")
    return chosen, np.array(
        [[min((row[end] or 0) // _PARTS_OF_A_STEP, 2**60) for end in ends] for row in rows], dtype=np.int64
    )


def _street_lengths(network: Any, weight: str, step: Fraction) -> dict[tuple[Hashable, Hashable], int]:
    """The length of the shortest edge from each node to each neighbour, in whole steps; loops are passed over."""
    shortest: dict[tuple[Hashable, Hashable], int] = {}
    for u, v, length in network.edges(data=weight):
        try:
            steps = exact(length, "length") / step
        except NotANumber:
            came = f"another from {u!r} to {v!r}"
            raise NotAMetric(f"every edge must have a number {weight!r}", came=came) from None
        if steps < 0:
            raise NotAMetric("no edge may have a negative length", came=f"one from {u!r} to {v!r}")
        if u != v:
            shortest[u, v] = min(shortest.get((u, v), int(steps)), int(steps))
    return shortest


def _check_both_ways(lengths: dict[tuple[Hashable, Hashable], int]) -> None:
    for (u, v), there in lengths.items():
        if lengths.get((v, u)) != there:
            raise NotAMetric(
                "distances are symmetric, so every street must be as long in both directions",
                came=f"the one from {u!r} to {v!r}",
                remedy="Pass both_ways=True to take one-way streets both ways: no distance is then above the true one.",
            )


def _shortest_paths_from(roads: Roads, start: int) -> list[int | None]:
    """The shortest paths from one node: None where there is none."""
    settled: list[int | None] = [None] * len(roads)
    waiting = [(0, start)]
    while waiting:
        length, node = heappop(waiting)
        # The heap keeps older, longer ways to a node that has been settled by a shorter one.
        if settled[node] is not None:
            continue
        settled[node] = length
        for end, road in roads[node]:
            if settled[end] is None:
                heappush(waiting, (length + road, end))
    return settled
