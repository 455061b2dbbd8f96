"""The best end of a staircase's first step, for any cost L. L is folded into one period D: M(y) = E L(G D + y).

G is geometric, P(G = k) = (1 - b) b^k. Every staircase is a mixture over y in [0, D) of the points y + G D, so that its
expected cost is a mean of M. Let V(y) be the expected cost of the staircase whose first step ends at y. A longer first
step costs less exactly while M(y) < V(y), and M never decreases. So the best end is the smallest y with M(y) >= V(y).

V(y) is a mean of M with weight 1 before y and b after y. The period is divided into cells. M never decreases, so the
sum of M over the left ends of the cells and the sum over their right ends enclose V(y), and the sign of M(y) - V(y) is
certain if M(y) is outside that enclosure.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.levels import Level
from utmost.core.exact.progress_bar import report_progress
from utmost.core.noise.costs import Cost, ReadCost, check_cost, read_cost
from utmost.core.noise.period_series import LEAST_EPSILON
from utmost.core.noise.powers import FloatPowers
from utmost.core.noise.quadrature import integer_sum, integral
from utmost.errors import NotMonotone, Unsupported

_DEPTHS = np.concatenate([np.linspace(0.0, 30.0, 61), np.arange(32.0, 701.0, 4.0)])  # e^-700 is still a normal float
_LEAST_EPSILON = 3.1e-16  # 700 of its reciprocals still fit int64
_NEGLIGIBLE = 1e-12
_LEAST_COST = 1e-280  # smaller sums may have lost digits to underflow
_FARTHEST = 2.0**60  # a number of periods
_BLOCK = 1 << 16  # periods that are searched together


@dataclass(frozen=True, slots=True, eq=False)
class Folded:
    """The folded cost M(y) = E L(G D + y) of a cost L at a level and a period D."""

    powers: FloatPowers
    period: float
    cost: ReadCost
    last: int  # terms beyond this k do not matter

    @classmethod
    def of(cls, level: Level, period: float, cost: Cost, *, integers: bool) -> "Folded":
        """Read a cost and fold it into one period. The expectation of the cost must be finite, and its tail must be a
        sum of floats that converges.
        """
        powers, width = FloatPowers(level), float(period)
        read = read_cost(cost, width, integers=integers)
        # Find the last k that matters: terms with a larger k add less than one part in 10^17, for any cost that never
        # decreases. The terms from k to n add at most b^k L((n + 1) D), and the terms from k on at least b^k L(k D).
        # Beyond b^k = e^-700 the terms are assumed to decrease as fast as they do there.
        epsilon = float(powers.epsilon.high)
        if epsilon < _LEAST_EPSILON:
            raise Unsupported(
                f"a cost that is a function needs an epsilon of at least {_LEAST_EPSILON} for each period of the noise",
                came=epsilon,
                remedy="Count in larger units, or use a moment of integer order.",
            )
        k = np.unique(np.concatenate([np.ceil(_DEPTHS / epsilon).astype(np.int64), np.arange(4)]))
        weights = powers.power(k)
        sizes: NDArray[np.float64] = k * np.float64(width)
        with np.errstate(over="ignore", invalid="ignore"):
            costs = read(sizes)
            check_cost(sizes, costs)
            least = float(np.max(weights * costs))
            parts = weights[:-1] * read(sizes[1:] + width)
            before, last = (weights[-2:] * read(sizes[-2:] + width)).tolist()
        # Suppose that the terms keep falling by the ratio last / before: the sum of this geometric series must be
        # negligible.
        falls = 0 <= last < before
        rest = last / (1 - last / before) if falls else last
        if not (math.isfinite(before + last) and (falls or before == 0) and rest <= _NEGLIGIBLE * least):
            raise Unsupported(
                "the expected cost must be finite, and its sum must converge before exp(-epsilon k) is 0 in floats",
                came="a cost that grows about as fast as the probabilities decrease",
                remedy="Use a cost that grows more slowly.",
            )
        beyond = np.append(np.cumsum(parts[::-1])[::-1], 0.0)
        return cls(powers, width, read, int(k[np.argmax(beyond <= 1e-17 * least)]))

    @property
    def at_zero(self) -> float:
        return float(self.cost(np.zeros(1))[0])

    def __call__(self, y: NDArray[Any]) -> NDArray[np.float64]:
        """M(y) for an array of y in [0, D]."""
        offsets = np.asarray(y, dtype=np.float64)

        def terms(k: NDArray[Any]) -> NDArray[np.float64]:
            weights = self.powers.power(k) * self.powers.complement
            return weights[:, None] * self.cost(k[:, None] * self.period + offsets[None, :])

        # k = 0..last in blocks of doubling length, so that the costs within a block have similar sizes.
        edges = [0, 64]
        while edges[-1] <= self.last:
            edges.append(edges[-1] * 2)
        edges[-1] = self.last + 1
        return integer_sum(terms, list(pairwise(edges)), 1e-14).value

    def fall(self, before: float, after: float) -> str:
        """Say where the cost falls, if the folded cost falls from ``before`` to ``after`` in a period."""
        for first in range(0, self.last + 1, _BLOCK):
            starts = np.arange(first, min(first + _BLOCK, self.last + 1), dtype=np.float64) * self.period
            low, high = self.cost(starts + before), self.cost(starts + after)
            falls = np.flatnonzero(high < low * (1 - _FALLING))
            if falls.size:
                k = int(falls[0])
                return f"{low[k]} at {starts[k] + before} but {high[k]} at {starts[k] + after}"
        return "a cost that falls"

    def is_lost(self) -> bool:
        """Whether M has lost digits by underflow; if so, an epsilon below `LEAST_EPSILON` raises `Unsupported`."""
        # M underflows if errors cost nothing until they are many periods large.
        if self(np.array([self.period]))[0] > _LEAST_COST:
            return False
        epsilon = float(self.powers.epsilon.high)
        if epsilon >= LEAST_EPSILON:
            return True
        if self.cost(np.array([self.period * _FARTHEST]))[0] > 0:
            raise Unsupported(
                "the smallest error with a positive cost must have a probability above the least float",
                came=f"epsilon={epsilon}",
                remedy="Use a moment of integer order, or a larger epsilon.",
            )
        return False

    def total(self, low: int, high: int, scale: float = 0.0) -> float:
        """The sum of M(j) over integers low <= j < high, accurate enough to add it to a number of size ``scale``."""
        return float(integer_sum(self, [(low, high)], scale=scale).value) if high > low else 0.0

    def integral(self, low: float, high: float, scale: float = 0.0) -> float:
        """The integral of M(u D) over low < u < high, accurate enough to add it to a number of size ``scale``."""
        # M may jump at an end, and the jump belongs to the next piece: the float next to the end is used instead.
        first, last = math.nextafter(low * self.period, math.inf), math.nextafter(high * self.period, 0.0)
        if not first < last:
            return 0.0

        def inside(u: NDArray[np.float64]) -> NDArray[np.float64]:
            return self(np.clip(u * self.period, first, last))

        return float(integral(inside, [(low, high)], scale=scale).value)


_FALLING = 1e-9
_JUMP = 1e-9  # least rise that matters, relative to M
_MOST_LEFT = 0.8  # a larger fraction of a rise in its steeper half means that the rise is a jump
_ROUNDING = 1e-11  # well above the rounding of sums, well below a cell's width
_DOUBT = 4e-13  # relative error of the sums in M and V


@dataclass(frozen=True, slots=True)
class Enclosure:
    """Two ends of the first step around the best: M < V at ``low``, or ``low`` is 0; M >= V at ``high``, or it is the
    period.
    """

    low: Any
    high: Any


def enclose_crossing(
    folded: Folded, edges: NDArray[Any], last: NDArray[Any], normaliser: NDArray[np.float64], at_zero: float
) -> Enclosure:
    """Enclose the least end y with M(y) >= V(y), using only that M never decreases; ``edges`` ascend from 0 to the
    period.
    """
    # ``last`` has the last point of each cell: the next edge on the reals, the integer before it on the integers.
    # ``normaliser`` is N/2 at each edge, NaN at an edge that is no candidate; ``at_zero`` is (1 - b) L(0)/2, which the
    # atom at zero subtracts, and 0 on the reals.
    values, b = _in_chunks(folded, edges), folded.powers.b
    if np.any(values[1:] < values[:-1] * (1 - _FALLING)):
        i = int(np.argmax(values[1:] < values[:-1] * (1 - _FALLING)))
        raise NotMonotone("a cost must not fall as |x| grows", came=folded.fall(float(edges[i]), float(edges[i + 1])))
    sizes = np.diff(edges).astype(np.float64)
    bounds = []
    # The cost never decreases: a cell's sum lies between those of its first and of its last point.
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
    """An edge at which the excess (M - V)/V is 0 up to rounding, or else the edge just above the change of sign."""
    # False position with the Illinois rule, and a halving after three steps that did not halve the bracket. ``trial``
    # gives an edge strictly between two edges, at the given fraction of their distance (None: 1/2). It returns None
    # if no edge lies between them.
    low, high = enclosure.low, enclosure.high
    left = right = 0.0  # excess at the ends, 0 if unknown
    width, steps, share = high - low, 0, None
    # The bracket is halved until it is one integer wide, or until a real edge has 13 digits.
    end = 1.0 if isinstance(low, int) else max(1e-13 * high, math.ulp(0.0))
    halvings, first = math.log2(max(width / end, 2.0)), width
    while (here := trial(low, high, share)) is not None:
        value = excess(here)
        if abs(value) <= _DOUBT:
            return here
        if value > 0:
            left, right, high = left / 2, value, here
        else:
            left, right, low = value, right / 2, here
        report_progress(math.log2(first / max(high - low, end)), halvings)
        steps += 1
        if steps == 3:
            stuck, width, steps = 2 * (high - low) > width, high - low, 0
        else:
            stuck = False
        share = None if stuck or left == 0 or right == 0 else left / (left - right)
    return high


def largest_jump(folded: Folded, low: float, high: float) -> tuple[float, float] | None:
    """Two neighbouring floats, as fractions of the period, between which M jumps most; None without a jump."""
    # Each step continues in the half with the larger rise. A smooth M rises in both halves: if the larger rise is twice
    # in a row less than 0.8 of the whole rise, there is no jump. A jump at 0 does not count.
    ends = folded(np.array([low or math.ulp(0.0), high]) * folded.period)
    rise, gentle = float(ends[1] - ends[0]), 0
    while low < (middle := (low + high) / 2) < high:
        if gentle > 1 or rise <= _JUMP * ends[1]:
            return None
        here = folded(np.array([middle]) * folded.period)[0]
        if here - ends[0] > ends[1] - here:
            high, ends = middle, np.array([ends[0], here])
        else:
            low, ends = middle, np.array([here, ends[1]])
        rise, before = float(ends[1] - ends[0]), rise
        gentle = gentle + 1 if rise < _MOST_LEFT * before else 0
    return low, high


def edge_count(cost: ReadCost) -> int:
    """The number of cells of a period in which a cost is summed; fewer for a cost that takes one number at a time."""
    return 1024 if cost.vectorised else 128


def integer_edges(cost: ReadCost, period: int) -> NDArray[np.int64]:
    """All integers from 0 to a period if it is at most `edge_count`, else a selection of them that is denser near 0."""
    n = edge_count(cost)
    if n >= period:
        return np.arange(period + 1)
    spread = np.concatenate([np.linspace(0, period, n), np.geomspace(1, period, n // 4)])
    return np.unique(np.rint(spread).astype(np.int64))


def _in_chunks(folded: Folded, edges: NDArray[Any]) -> NDArray[np.float64]:
    parts, values = np.array_split(edges, -(-edges.size // 512)), []
    for done, part in enumerate(parts):
        report_progress(done, len(parts), "first bracket")
        values.append(folded(part))
    return np.concatenate(values)
