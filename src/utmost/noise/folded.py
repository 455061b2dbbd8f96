r"""A cost folded into one period: M(y) = E L(G D + y), with G geometric, P(G = k) = (1 - b) b^k.

Every staircase is a mixture over y in [0, D) of the points y + G D, so that its expected cost is a mean of M, and
whether the cost falls as the first step grows is the sign of M at its edge against that mean. M never falls as y grows.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import Unsupported
from utmost.exact import Level
from utmost.noise.adaptive import integer_sum, integral
from utmost.noise.cost_reading import ReadCost, check_monotone, read_cost
from utmost.noise.costs import Cost
from utmost.noise.powers import FloatPowers

_DEPTHS = np.concatenate([np.linspace(0.0, 30.0, 61), np.arange(32.0, 701.0, 4.0)])  # e^-700 is still a normal float
_LEAST_EPSILON = 3.1e-16  # 700 of its reciprocals still fit int64
_NEGLIGIBLE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Folded:
    """The folded cost of a level, a period D and a cost."""

    powers: FloatPowers
    period: float
    cost: ReadCost
    last: int  # terms beyond this k do not matter

    @classmethod
    def of(cls, level: Level, period: float, cost: Cost, *, integers: bool) -> "Folded":
        """Read the cost, and fold it.

        Raises:
            NotALoss, NotMonotone: as in `read_cost`.
            Unsupported: when the expectation is infinite, or its tail is too heavy for floats.
        """
        powers, width = FloatPowers(level), float(period)
        read = read_cost(cost, width, integers=integers)
        return cls(powers, width, read, _last_that_matters(powers, width, read))

    @property
    def at_zero(self) -> float:
        """L(0)."""
        return float(self.cost(np.zeros(1))[0])

    def __call__(self, y: NDArray[Any]) -> NDArray[np.float64]:
        """M(y) for an array of y in [0, D].

        Raises:
            Unsupported: when a term exceeds the floats.
        """
        offsets = np.asarray(y, dtype=np.float64)

        def terms(k: NDArray[Any]) -> NDArray[np.float64]:
            weights = self.powers.power(k) * self.powers.complement
            return weights[:, None] * self.cost(k[:, None] * self.period + offsets[None, :])

        return integer_sum(terms, self._blocks(), 1e-14).value

    def total(self, low: int, high: int, scale: float = 0.0) -> float:
        """The sum of M(j) over the integers low <= j < high, to be added to something of size ``scale``."""
        return float(integer_sum(self, [(low, high)], scale=scale).value) if high > low else 0.0

    def integral(self, low: float, high: float, scale: float = 0.0) -> float:
        """The integral of M(u D) over low <= u <= high, to be added to something of size ``scale``."""
        return float(integral(lambda u: self(u * self.period), [(low, high)], scale=scale).value) if high > low else 0.0

    def _blocks(self) -> list[tuple[int, int]]:
        """0..last in blocks that double, so that each sees the cost at one scale."""
        edges = [0, 64]
        while edges[-1] <= self.last:
            edges.append(edges[-1] * 2)
        edges[-1] = self.last + 1
        return list(pairwise(edges))


def _last_that_matters(powers: FloatPowers, period: float, cost: ReadCost) -> int:
    """A k beyond which the terms add less than one part in 10^17, by bounds that use only that the cost never falls.

    From k to n they add at most b^k L((n + 1) D), and from k on at least b^k L(k D). Beyond b^k = e^-700 the terms are
    taken to fall as they fall there.
    """
    epsilon = float(powers.epsilon.high)
    if epsilon < _LEAST_EPSILON:
        raise Unsupported(
            f"a cost given as a function needs an epsilon of at least {_LEAST_EPSILON} for each period of the law",
            came=epsilon,
            mend="Count in larger units, or use a moment of integer order.",
        )
    k = np.unique(np.ceil(_DEPTHS / epsilon).astype(np.int64))
    weights = powers.power(k)
    sizes: NDArray[np.float64] = k * np.float64(period)
    with np.errstate(over="ignore", invalid="ignore"):
        costs = cost(sizes)
        check_monotone(sizes, costs)
        least = float(np.max(weights * costs))
        parts = weights[:-1] * cost(sizes[1:] + period)
        before, last = (weights[-2:] * cost(sizes[-2:] + period)).tolist()
    if not (math.isfinite(before + last) and _settles(before, last, least)):
        raise Unsupported(
            "the expected cost must be finite, and settled before exp(-epsilon k) underflows",
            came="a cost that grows about as fast as the law falls",
            mend="Use a cost that grows more slowly.",
        )
    beyond = np.append(np.cumsum(parts[::-1])[::-1], 0.0)
    return int(k[np.argmax(beyond <= 1e-17 * least)])


def _settles(before: float, last: float, least: float) -> bool:
    """Whether a geometric series that goes on as from ``before`` to ``last`` is negligible beside ``least``."""
    if last == 0 or before == 0:
        return last <= _NEGLIGIBLE * least
    return last < before and last / (1 - last / before) <= _NEGLIGIBLE * least
