"""The line of results of a count query."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.exact import checked, natural
from utmost.spaces.metric import Metric
from utmost.spaces.space import Space


@dataclass(frozen=True, slots=True)
class LineMetric(Metric):
    """d(i, j) = |i - j| on {0, ..., n}; nothing is stored but n."""

    n: int

    @property
    def size(self) -> int:  # noqa: D102
        return self.n + 1

    def distance(self, x: Any, y: Any) -> Any:  # noqa: D102
        return np.abs(np.subtract(x, y))

    def edges(self) -> NDArray[np.intp]:  # noqa: D102
        left = np.arange(self.n)
        return np.column_stack([left, left + 1])


@checked
def counts(n: int) -> Space:
    """The possible results {0, ..., n} of a count over n >= 0 rows, with d(i, j) = |i - j|.

    Two databases that differ in one row have results at distance at most 1, so a channel on this space keeps a level
    exactly when the count is released at that level.

    Source: [ghosh2009], section 2.1.

    >>> counts(3).edges.tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    return Space(LineMetric(natural(n, "n")))


@checked
def line(k: int) -> Space:
    """k >= 1 secrets in a row, each at distance 1 from the next: `counts(k - 1)` by another name.

    >>> line(3).distances[0].tolist()
    [0, 1, 2]
    """
    return counts(natural(k, "k", least=1) - 1)
