"""Secrets around a circle: hours of the day, days of the week, directions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.exact import checked, natural
from utmost.spaces.metric import Metric
from utmost.spaces.space import Space


@dataclass(frozen=True, slots=True)
class CycleMetric(Metric):
    """d(i, j) = min(|i - j|, n - |i - j|) on {0, ..., n-1}."""

    n: int

    @property
    def size(self) -> int:  # noqa: D102
        return self.n

    def distance(self, x: Any, y: Any) -> Any:  # noqa: D102
        along = np.abs(np.subtract(x, y))
        return np.minimum(along, self.n - along)

    def edges(self) -> NDArray[np.intp]:  # noqa: D102
        left = np.arange(self.n - 1)
        neighbours = np.column_stack([left, left + 1])
        if self.n < 3:
            return neighbours
        return np.insert(neighbours, 1, [0, self.n - 1], axis=0)


@checked
def cycle(n: int) -> Space:
    """n >= 1 secrets around a circle, each at distance 1 from the next.

    >>> cycle(5).distances[0].tolist(), cycle(4).edges.tolist()
    ([0, 1, 2, 2, 1], [[0, 1], [0, 3], [1, 2], [2, 3]])
    """
    return Space(CycleMetric(natural(n, "n", least=1)))
