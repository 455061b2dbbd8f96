"""Counting the height functions of a bipartite graph without listing them, by a transfer matrix over its frontier."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import Unsupported
from utmost.geometry.essential_edges import BipartiteGraph, longest_basis_cycle, neighbour_lists

States = NDArray[np.uint64]

# The 6-cube needs 3 * 10^6; beyond this a count would fill the memory rather than fail.
_MOST_STATES = 1 << 25


def count_height_functions(graph: BipartiteGraph) -> int:
    """How many functions with steps of 1 and -1 along every edge there are, modulo constants.

    Heights are kept modulo an odd M. Labels whose steps are 1 or -1 modulo M lift to heights exactly when the steps
    around every cycle of a basis add up to 0; they add up to an even multiple of M, and a cycle shorter than 2M leaves
    only 0. M = 3 where 4-cycles generate all cycles (lines, trees, cubes, grids): the count is then that of the
    proper 3-colourings, divided by 3.

    Cost: one step for each node and for each way to label the frontier (the visited nodes with an unvisited neighbour).

    Raises:
        Unsupported: where the labels of a frontier do not fit in 64 bits, or more than 2^25 of them are possible.

    >>> path = np.abs(np.arange(5)[:, None] - np.arange(5))
    >>> count_height_functions(BipartiteGraph.of(path))
    16
    """
    modulus = max(3, longest_basis_cycle(len(graph.order), graph.edges) // 2 + 1 | 1)
    bits = (modulus - 1).bit_length()
    states = np.zeros(1, dtype=np.uint64)
    counts: NDArray[Any] = np.ones(1, dtype=np.int64 if len(graph.order) < 63 else object)  # at most 2^(n-1) in all
    plan = _plan(graph)
    widest = 1 + max(step.slot for step in plan)
    if widest * bits > 64:
        raise Unsupported("the labels of a frontier must fit in 64 bits", came=f"{widest} nodes at once")
    for step in plan:
        states, counts = _visit(step, states, counts, modulus, bits)
        states, counts = _merged(states & _kept(step, bits), counts)
        if len(states) > _MOST_STATES:
            raise Unsupported(f"a frontier must have at most {_MOST_STATES} labellings", came=len(states))
    return int(counts.sum())


@dataclass(frozen=True, slots=True)
class _Step:
    """One node of the sweep: its slot, the slots of its visited neighbours, and the slots that fall free after it."""

    slot: int
    near: tuple[int, ...]
    freed: tuple[int, ...]


def _plan(graph: BipartiteGraph) -> list[_Step]:
    """A sweep that goes on, each time, to the node after which the fewest nodes wait for a neighbour."""
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
        steps.append(_Step(slot, near, tuple(slots.pop(y) for y in done)))
        border.update(y for y in waits_for[x] if y not in slots)
    return steps


def _visit(step: _Step, states: States, counts: NDArray[Any], modulus: int, bits: int) -> tuple[States, NDArray[Any]]:
    """Every state continued by every label of the node that differs by one from its visited neighbours' labels."""
    if not step.near:
        return states, counts
    seen = [states >> np.uint64(slot * bits) & np.uint64((1 << bits) - 1) for slot in step.near]
    parts = []
    for move in (1, modulus - 1):
        label = (seen[0] + np.uint64(move)) % np.uint64(modulus)
        gaps = [(label + np.uint64(modulus) - other) % np.uint64(modulus) for other in seen[1:]]
        fits = (
            np.all([(gap == 1) | (gap == modulus - 1) for gap in gaps], axis=0) if gaps else np.full(len(states), True)
        )
        parts.append((states[fits] | label[fits] << np.uint64(step.slot * bits), counts[fits]))
    return np.concatenate([s for s, _ in parts]), np.concatenate([c for _, c in parts])


def _kept(step: _Step, bits: int) -> np.uint64:
    freed = sum(((1 << bits) - 1) << slot * bits for slot in step.freed)
    return np.uint64(((1 << 64) - 1) & ~freed)


def _merged(states: States, counts: NDArray[Any]) -> tuple[States, NDArray[Any]]:
    """Equal states made one, their counts added."""
    order = np.argsort(states)
    states = states[order]
    first = np.flatnonzero(np.concatenate([[True], states[1:] != states[:-1]]))
    return states[first], np.add.reduceat(counts[order], first)
