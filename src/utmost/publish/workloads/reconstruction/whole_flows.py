"""Integer flows: round a fractional flow through two chains of groups to an integer flow, along cycles [ahuja1993].

A cell is an arc from its finest group in one chain of marginals to its finest group in the other chain. A group is an
arc to the group that contains it; an outermost group is an arc to one common node. At every node the inflow equals the
outflow, so no node has exactly one arc with a fractional flow: a walk along such arcs returns to a node that it has
visited. Around this cycle all flows change by the same amount, in the direction that costs less, until one flow is an
integer. No flow leaves the interval between the integers below and above it.

In a large table most cells become integers before the walk, by many cycles of four arcs in one array operation. In such
a cycle two arcs that end in one node exchange flow, and two other arcs with the same two tails exchange it back.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats
from utmost.errors import SolverFailed

_WHOLE = 1e-6  # a flow that is nearer to an integer counts as this integer
_LAST = 1e-2  # tolerance at the last arc of a node, where the rounding errors of the node's other arcs add up
_FEW = 2000  # for fewer fractional arcs, the walk is fast enough


def whole_flow(cells: Floats, costs: Floats, chains: Sequence[Sequence[NDArray[np.int64]]]) -> Floats:
    """Round the cells' flows to adjacent integers, such that all sums of groups are integers, at no higher cost."""
    # `cells` are flows in [0, 1], (n,); `costs` are the costs per unit of flow in each cell, (n,). Each of the two
    # `chains` has the group of every cell, (n,), for each marginal from fine to coarse. This takes a few sorts of the
    # cells, and a cycle for each cell that is then still fractional.
    tails, heads, flows = _arcs(cells, chains)
    parts = flows - np.floor(flows + _WHOLE)
    parts[: cells.size] = _in_fours(tails[: cells.size], heads[: cells.size], parts[: cells.size], costs)
    walk = _Walk.along(tails, heads, parts, np.concatenate([costs, np.zeros(flows.size - costs.size)]))
    walk.make_whole()
    return np.asarray(np.rint(np.floor(cells + _WHOLE) + np.array(walk.parts[: cells.size])))


def _arcs(
    cells: Floats, chains: Sequence[Sequence[NDArray[np.int64]]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return tail, head and flow of every arc; the arcs of the cells come first."""
    flows, places = [cells], 1  # node 0 is where both chains end
    arcs: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    ends: list[NDArray[np.int64]] = []
    for chain in chains:
        outer = np.zeros(cells.size, dtype=np.int64)
        for groups in reversed(chain):
            _, first, number = np.unique(groups, return_index=True, return_inverse=True)
            below, above = places + np.arange(first.size), outer[first]
            arcs.append((above, below) if ends else (below, above))
            flows.append(np.asarray(np.bincount(number, cells), dtype=np.float64))
            outer, places = places + number, places + first.size
        ends.append(outer)
    arcs.insert(0, (ends[1], ends[0]))
    return np.concatenate([tail for tail, _ in arcs]), np.concatenate([head for _, head in arcs]), np.concatenate(flows)


def _in_fours(tails: NDArray[np.int64], heads: NDArray[np.int64], parts: Floats, costs: Floats) -> Floats:
    """Return flows, most of them integers, with the same sums at every node, at no higher cost."""
    # Combine tails by two, by four, by eight, until few exchanges have the same two tails.
    parts, together = parts.copy(), 2
    while (opened := np.flatnonzero((parts > _WHOLE) & (parts < 1 - _WHOLE))).size > _FEW:
        end = (tails[opened] // together) * (int(heads.max()) + 1) + heads[opened]
        order = np.lexsort((tails[opened], end))
        opened, end = opened[order], end[order]
        first = np.flatnonzero(np.diff(end, prepend=end[0] - 1))  # indices where a new value of `end` begins
        nth = np.arange(end.size) - np.repeat(first, np.diff(first, append=end.size))
        pairs = np.flatnonzero((nth[:-1] % 2 == 0) & (end[:-1] == end[1:]))
        if pairs.size == 0 or not _exchange(opened[pairs], opened[pairs + 1], tails, parts, costs):
            break
        # The next round pairs fractional arcs under larger groups of tails.
        together *= 2
    return parts


def _exchange(
    one_arc: NDArray[np.int64], other_arc: NDArray[np.int64], tails: NDArray[np.int64], parts: Floats, costs: Floats
) -> bool:
    """Exchange flow within pairs of arcs, keeping the sum at each tail; return whether another round is worthwhile."""
    # A kind is all pairs with the same two tails. Fill its pairs in order of cost: at most one stays fractional.
    kind = tails[one_arc] * (int(tails.max()) + 1) + tails[other_arc]
    # Within one kind, exchange as much as possible in the cheapest pair first.
    order = np.lexsort((costs[one_arc] - costs[other_arc], kind))
    one_arc, other_arc, kind = one_arc[order], other_arc[order], kind[order]
    total = parts[one_arc] + parts[other_arc]
    least = np.maximum(total - 1, 0.0)
    condition = np.minimum(total, 1.0) - least
    first = np.flatnonzero(np.diff(kind, prepend=kind[0] - 1))
    lengths = np.diff(first, append=kind.size)
    before = np.cumsum(condition) - condition
    before -= np.repeat(before[first], lengths)
    sent = np.repeat(np.add.reduceat(parts[one_arc] - least, first), lengths)
    parts[one_arc] = least + np.clip(sent - before, 0.0, condition)
    parts[other_arc] = total - parts[one_arc]
    return bool(kind.size > 2 * first.size)


@dataclass(slots=True)
class _Walk:
    """A walk along arcs with fractional flow; ``parts`` are the flows minus the integers below them."""

    # Use lists instead of arrays, since every step reads and writes single arcs.
    tails: list[int]
    heads: list[int]
    parts: list[float]
    costs: list[float]
    arcs_of: list[list[int]]
    is_open: list[bool]

    @classmethod
    def along(cls, tails: NDArray[np.int64], heads: NDArray[np.int64], parts: Floats, costs: Floats) -> "_Walk":
        is_open = (parts > _WHOLE) & (parts < 1 - _WHOLE)
        parts = np.where(is_open, parts, np.rint(parts))
        opened = np.flatnonzero(is_open)
        ends = np.concatenate([tails[opened], heads[opened]])
        order = np.argsort(ends, kind="stable")
        cuts = np.cumsum(np.bincount(ends, minlength=int(max(tails.max(), heads.max())) + 1))[:-1]
        arcs_of = [arcs.tolist() for arcs in np.split(np.concatenate([opened, opened])[order], cuts)]
        return cls(tails.tolist(), heads.tolist(), parts.tolist(), costs.tolist(), arcs_of, is_open.tolist())

    def make_whole(self) -> None:
        """Walk from every node until none of its arcs is fractional."""
        for place in range(len(self.arcs_of)):
            while self._next_arc(place, -1) >= 0:
                self._walk_from(place)

    def _walk_from(self, start: int) -> None:
        """Walk until the start has no fractional arc."""
        tails, heads, next_arc = self.tails, self.heads, self._next_arc
        places, arcs, position = [start], [-1], {start: 0}
        while (arc := next_arc(places[-1], arcs[-1])) >= 0:
            # If this is the node's only fractional arc, it must be an integer up to rounding errors, since all others
            # are.
            if arc == arcs[-1]:
                self._close(arc, _LAST)
                del position[places.pop()]
                arcs.pop()
                continue
            tail = tails[arc]
            after = heads[arc] if tail == places[-1] else tail
            if after in position:
                back = position[after]
                whole = back + 1 + self._push(places[back:], [*arcs[back + 1 :], arc])
                for place in places[whole:]:
                    del position[place]
                del places[whole:], arcs[whole:]
            else:
                position[after] = len(places)
                places.append(after)
                arcs.append(arc)

    def _next_arc(self, place: int, last: int) -> int:
        """Return a fractional arc of the node, if possible not ``last``; -1 if none is fractional."""
        arcs, is_open = self.arcs_of[place], self.is_open
        while arcs:
            arc = arcs[-1]
            if is_open[arc]:
                if arc != last:
                    return arc
                break
            arcs.pop()
        # Remove an arc that became an integer when it is found, so that the walk looks at it only once.
        for k in range(len(arcs) - 2, -1, -1):
            if not is_open[arcs[k]]:
                del arcs[k]
            else:
                return arcs[k]
        return arcs[0] if arcs else -1

    def _push(self, places: list[int], arcs: list[int]) -> int:
        """Change the flows around a cycle until one is an integer; return the index of the first such arc."""
        parts, tails, costs = self.parts, self.tails, self.costs
        is_forth, cost, down, up = [], 0.0, 1.0, 1.0  # one loop: it takes half of the time for a large table
        for arc, place in zip(arcs, places, strict=True):
            part, forth = parts[arc], tails[arc] == place
            is_forth.append(forth)
            if forth:
                cost, condition, back = cost + costs[arc], 1 - part, part
            else:
                cost, condition, back = cost - costs[arc], part, 1 - part
            if condition < up:
                up = condition
            if back < down:
                down = back
        # Change flows in the direction that costs less until one is an integer: each cycle closes at least one arc.
        step, first = -down if cost > 0 else up, -1
        for k, arc in enumerate(arcs):
            part = parts[arc] = parts[arc] + step if is_forth[k] else parts[arc] - step
            if not _WHOLE < part < 1 - _WHOLE:
                self._close(arc, _WHOLE)
                first = k if first < 0 else first
        return first

    def _close(self, arc: int, tolerance: float) -> None:
        whole = round(self.parts[arc])
        if abs(self.parts[arc] - whole) > tolerance:
            raise SolverFailed("inflow and outflow must be equal", came=self.parts[arc], where="clean")
        self.parts[arc], self.is_open[arc] = whole, False
