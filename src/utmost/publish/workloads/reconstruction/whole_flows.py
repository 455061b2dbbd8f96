"""Whole flows: a fractional flow through two chains of groups is made whole along cycles [ahuja1993].

A cell is an arc from its finest group in one chain of families to that in the other; a group is an arc to the group
that holds it, and a group that none holds to one common place. What flows into a place flows out of it. So no place
has a single arc that is not whole: a walk along such arcs comes back to where it was, and around that cycle all flows
change by one amount, in the direction that costs less, until one of them is whole. No arc leaves the interval between
the whole numbers below and above it.

A large table has most of its cells made whole before, many cycles of four arcs at once: two arcs that end in one place
exchange flow, another two of the same beginnings exchange it back.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats
from utmost.errors import SolverFailed

_WHOLE = 1e-6  # a flow that is so near to a whole number is that number
_LAST = 1e-2  # the last arc of a place gathers what the others left out
_FEW = 2000  # open arcs up to which a walk alone is quick


def whole_flow(cells: Floats, costs: Floats, chains: Sequence[Sequence[NDArray[np.int64]]]) -> Floats:
    """Whole numbers next to the flows of the cells, all sums of groups next to theirs, at no higher cost.

    Args:
        cells: (n,) flows in [0, 1].
        costs: (n,) of one more of a cell.
        chains: two, of each family, from fine to coarse, the group (n,) of every cell.

    Raises:
        SolverFailed: where a sum of flows is left that is not whole, which rounding of floats alone can do.

    Cost: a few sorts of the cells, and for each one that is not whole then, a fifth of a large table, a cycle.

    >>> rows, columns = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> whole_flow(np.full(4, 0.5), np.array([0.0, 1, 1, 1]), [[rows], [columns]]).tolist()
    [1.0, 0.0, 0.0, 1.0]
    """
    tails, heads, flows = _arcs(cells, chains)
    parts = flows - np.floor(flows + _WHOLE)
    parts[: cells.size] = _in_fours(tails[: cells.size], heads[: cells.size], parts[: cells.size], costs)
    walk = _Walk.along(tails, heads, parts, np.concatenate([costs, np.zeros(flows.size - costs.size)]))
    walk.make_whole()
    return np.asarray(np.rint(np.floor(cells + _WHOLE) + np.array(walk.parts[: cells.size])))


def _arcs(
    cells: Floats, chains: Sequence[Sequence[NDArray[np.int64]]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Beginning, end and flow of every arc; first those of the cells."""
    flows, places = [cells], 1  # place 0 is where both chains end
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
    """The flows with most of them whole, as much through every place as before, at no higher cost.

    Beginnings are taken together by two, by four, by eight, until few exchanges are of the same two.
    """
    parts, together = parts.copy(), 2
    while (opened := np.flatnonzero((parts > _WHOLE) & (parts < 1 - _WHOLE))).size > _FEW:
        end = (tails[opened] // together) * (int(heads.max()) + 1) + heads[opened]
        order = np.lexsort((tails[opened], end))
        opened, end = opened[order], end[order]
        first = np.flatnonzero(np.diff(end, prepend=end[0] - 1))  # where the arcs of another end begin
        nth = np.arange(end.size) - np.repeat(first, np.diff(first, append=end.size))
        pairs = np.flatnonzero((nth[:-1] % 2 == 0) & (end[:-1] == end[1:]))
        if pairs.size == 0 or not _exchange(opened[pairs], opened[pairs + 1], tails, parts, costs):
            break
        # Beginnings two by two, then four by four: what is left open is joined under larger and larger groups.
        together *= 2
    return parts


def _exchange(
    one_arc: NDArray[np.int64], other_arc: NDArray[np.int64], tails: NDArray[np.int64], parts: Floats, costs: Floats
) -> bool:
    """Exchange flow within the pairs, what each two beginnings send being the same after it; whether that paid.

    All pairs of the same two beginnings are filled in the order of what it costs, so that one is left between its ends.
    """
    kind = tails[one_arc] * (int(tails.max()) + 1) + tails[other_arc]
    # Within one kind the exchange that saves most comes first, and takes all the room that there is.
    order = np.lexsort((costs[one_arc] - costs[other_arc], kind))
    one_arc, other_arc, kind = one_arc[order], other_arc[order], kind[order]
    total = parts[one_arc] + parts[other_arc]
    least = np.maximum(total - 1, 0.0)
    room = np.minimum(total, 1.0) - least
    first = np.flatnonzero(np.diff(kind, prepend=kind[0] - 1))
    lengths = np.diff(first, append=kind.size)
    before = np.cumsum(room) - room
    before -= np.repeat(before[first], lengths)
    sent = np.repeat(np.add.reduceat(parts[one_arc] - least, first), lengths)
    parts[one_arc] = least + np.clip(sent - before, 0.0, room)
    parts[other_arc] = total - parts[one_arc]
    return bool(kind.size > 2 * first.size)


@dataclass(slots=True)
class _Walk:
    """A walk along arcs that are not whole; ``parts`` are the flows above the whole number below them.

    Lists, since every step reads and writes a single arc.
    """

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
        """Walk from every place until none of its arcs is open."""
        for place in range(len(self.arcs_of)):
            while self._next_arc(place, -1) >= 0:
                self._walk_from(place)

    def _walk_from(self, start: int) -> None:
        """Go on until the start has no open arc that the walk could leave by."""
        tails, heads, next_arc = self.tails, self.heads, self._next_arc
        places, arcs, position = [start], [-1], {start: 0}
        while (arc := next_arc(places[-1], arcs[-1])) >= 0:
            # The only arc that is left here: all others of the place are whole, so this one is, but for rounding.
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
        """An open arc of the place, another than the last one where there is one; -1 where none is open."""
        arcs, is_open = self.arcs_of[place], self.is_open
        while arcs:
            arc = arcs[-1]
            if is_open[arc]:
                if arc != last:
                    return arc
                break
            arcs.pop()
        # Closed arcs are dropped as they are met: over the whole walk each is looked at once.
        for k in range(len(arcs) - 2, -1, -1):
            if not is_open[arcs[k]]:
                del arcs[k]
            else:
                return arcs[k]
        return arcs[0] if arcs else -1

    def _push(self, places: list[int], arcs: list[int]) -> int:
        """Change the flows around a cycle until one is whole; which of its arcs is the first that is."""
        parts, tails, costs = self.parts, self.tails, self.costs
        is_forth, cost, down, up = [], 0.0, 1.0, 1.0  # one loop: here is half of the time of a large table
        for arc, place in zip(arcs, places, strict=True):
            part, forth = parts[arc], tails[arc] == place
            is_forth.append(forth)
            if forth:
                cost, room, back = cost + costs[arc], 1 - part, part
            else:
                cost, room, back = cost - costs[arc], part, 1 - part
            if room < up:
                up = room
            if back < down:
                down = back
        # In the direction that costs less; one of the flows becomes whole there, so that each cycle closes an arc at
        # least.
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
            raise SolverFailed("the flows through a place must add up", came=self.parts[arc], where="clean")
        self.parts[arc], self.is_open[arc] = whole, False
