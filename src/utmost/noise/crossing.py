r"""Where the folded cost M overtakes the expected cost V of the staircase that ends its first step there.

V is a mean of M with weight 1 before the edge and b after it. M never falls, so sums over cells from the left ends and
from the right ends enclose V, and where M lies outside that enclosure the sign of M - V is certain.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import NotMonotone
from utmost.noise.folded import Folded

_FALLING = 1e-9
_ROUNDING = 1e-11  # far above the rounding of the sums, far below the width of the cells
_DOUBT = 4e-13  # M and V come from sums that are right to about this much, relatively


@dataclass(frozen=True, slots=True)
class Enclosure:
    """Edges between which the crossing certainly lies: M < V at ``low`` or it is the first edge, M >= V at ``high``.

    Where M >= V at no edge, ``high`` is the last one.
    """

    low: Any
    high: Any


def enclose_crossing(
    folded: Folded, edges: NDArray[Any], last: NDArray[Any], normaliser: NDArray[np.float64], at_zero: float
) -> Enclosure:
    """Enclose the least edge with M >= V, using only that M never falls.

    Args:
        folded: the folded cost M.
        edges: ascending, from 0 to the whole period, in units of the cost's argument.
        last: the last point of each cell between neighbouring edges: the next edge on the reals, the integer before it
            on the integers.
        normaliser: half of N at each edge; NaN at an edge that is no candidate.
        at_zero: what the atom at zero takes off, half of (1 - b) L(0); nothing on the reals.
    """
    values, b = _in_chunks(folded, edges), folded.powers.b
    if np.any(values[1:] < values[:-1] * (1 - _FALLING)):
        place = edges[np.argmax(values[1:] < values[:-1] * (1 - _FALLING))]
        raise NotMonotone("a cost must not fall as |x| grows", came=f"a cost that does, some periods beyond {place}")
    sizes = np.diff(edges).astype(np.float64)
    bounds = []
    for ends in (values[:-1], _in_chunks(folded, last)):
        before = np.concatenate([[0.0], np.cumsum(sizes * ends)])
        bounds.append((before * folded.powers.complement + b * before[-1] - at_zero) / normaliser)
    below = np.flatnonzero(values < bounds[0] * (1 - _ROUNDING))
    above = np.flatnonzero(values >= bounds[1] * (1 + _ROUNDING))
    low = edges[below[-1]] if below.size else edges[0]
    high = edges[above[0]] if above.size else edges[-1]
    return Enclosure(low, high)


def find_crossing(
    excess: Callable[[Any], float], enclosure: Enclosure, trial: Callable[[Any, Any, float | None], Any | None]
) -> Any:
    """An edge at which the excess (M - V)/V vanishes up to rounding, else the upper end of where it changes sign.

    False position with Illinois's remedy, and a halving wherever three steps did not halve the bracket.

    Args:
        excess: (M - V)/V at an edge; negative before the crossing.
        enclosure: edges around the crossing.
        trial: an edge strictly between two, at a share of the way, or in the middle for None; None where there is none.
    """
    low, high = enclosure.low, enclosure.high
    left = right = 0.0  # excess at the ends, 0 where not known
    width, steps, share = high - low, 0, None
    while (here := trial(low, high, share)) is not None:
        value = excess(here)
        if abs(value) <= _DOUBT:
            return here
        if value > 0:
            left, right, high = left / 2, value, here
        else:
            left, right, low = value, right / 2, here
        steps += 1
        if steps == 3:
            stuck, width, steps = 2 * (high - low) > width, high - low, 0
        else:
            stuck = False
        share = None if stuck or left == 0 or right == 0 else left / (left - right)
    return high


def edge_count(folded: Folded) -> int:
    """How many edges are worth their time: fewer where the cost is asked about one number at a time."""
    return 1024 if folded.cost.vectorised else 128


def _in_chunks(folded: Folded, edges: NDArray[Any]) -> NDArray[np.float64]:
    return np.concatenate([folded(part) for part in np.array_split(edges, -(-edges.size // 512))])
