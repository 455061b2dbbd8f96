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
from utmost.noise.cost_reading import ReadCost, read_cost
from utmost.noise.costs import Cost
from utmost.noise.powers import FloatPowers

_DEEPEST = 700.0  # e^-700 is still a normal float
_NEGLIGIBLE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Folded:
    """The folded cost of a level, a period D and a cost."""

    powers: FloatPowers
    period: float
    cost: ReadCost

    @classmethod
    def of(cls, level: Level, period: float, cost: Cost, *, integers: bool) -> "Folded":
        """Read the cost, and fold it; errors as in `read_cost`."""
        return cls(FloatPowers(level), float(period), read_cost(cost, float(period), integers=integers))

    @property
    def at_zero(self) -> float:
        """L(0)."""
        return float(self.cost(np.zeros(1))[0])

    def __call__(self, y: NDArray[Any]) -> NDArray[np.float64]:
        """M(y) for an array of y in [0, D].

        Raises:
            Unsupported: when the expectation is infinite, or its tail is too heavy for floats.
        """
        offsets = np.asarray(y, dtype=np.float64)

        def terms(k: NDArray[Any]) -> NDArray[np.float64]:
            return self._weights(k)[:, None] * self.cost(k[:, None] * self.period + offsets[None, :])

        total = integer_sum(terms, self._blocks(), 1e-14).value
        self._check_tail(offsets, total)
        return total

    def total(self, low: int, high: int, scale: float = 0.0) -> float:
        """The sum of M(j) over the integers low <= j < high, to be added to something of size ``scale``."""
        return float(integer_sum(self, [(low, high)], scale=scale).value) if high > low else 0.0

    def integral(self, low: float, high: float, scale: float = 0.0) -> float:
        """The integral of M(u D) over low <= u <= high, to be added to something of size ``scale``."""
        return float(integral(lambda u: self(u * self.period), [(low, high)], scale=scale).value) if high > low else 0.0

    def _weights(self, k: NDArray[Any]) -> NDArray[np.float64]:
        return self.powers.power(k) * self.powers.complement

    def _last(self) -> int:
        """The last k whose weight is a normal float."""
        return min(math.ceil(_DEEPEST / float(self.powers.epsilon.high)), 1 << 61)

    def _blocks(self) -> list[tuple[int, int]]:
        """0..last in blocks that double, so that each sees the cost at one scale."""
        edges = [0, 64]
        while edges[-1] <= self._last():
            edges.append(edges[-1] * 2)
        edges[-1] = self._last() + 1
        return list(pairwise(edges))

    def _check_tail(self, offsets: NDArray[np.float64], total: NDArray[np.float64]) -> None:
        """The terms beyond the last, bounded by a geometric series, must not matter."""
        stride = max(1, self._last() // 64)
        k = np.array([self._last() - stride, self._last()])
        before, last = self._weights(k) * self.cost(k * self.period + offsets.max(initial=0.0))
        ratio = last / before if before > 0 else float(self.powers.power(stride))
        if last > 0 and not (ratio < 1 and stride * last / (1 - ratio) <= _NEGLIGIBLE * float(total.max())):
            raise Unsupported(
                "the expected cost must be finite, and settled before exp(-epsilon k) underflows",
                came="a cost that grows about as fast as the law falls",
                mend="Use a cost that grows more slowly.",
            )
