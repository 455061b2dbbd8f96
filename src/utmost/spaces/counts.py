"""The line of results of a count query."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange
from utmost.exact import exact_integer
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

    def key(self) -> Hashable:  # noqa: D102
        return ("line", self.n)


def counts(n: int) -> Space:
    """The possible results {0, ..., n} of a count query on n rows, with d(i, j) = |i - j|.

    Source: [ghosh2009], section 2.1.

    >>> counts(3).edges.tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    size = exact_integer(n, "n")
    if size < 0:
        raise OutOfRange("n must be at least 0", came=n, where="counts")
    return Space(LineMetric(size))
