"""Secrets that are all equally far apart."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.exact import checked, natural
from utmost.spaces.metric import Metric
from utmost.spaces.space import Space


@dataclass(frozen=True, slots=True)
class DiscreteMetric(Metric):
    """d(x, y) = 1 for x != y."""

    k: int

    @property
    def size(self) -> int:  # noqa: D102
        return self.k

    def distance(self, x: Any, y: Any) -> Any:  # noqa: D102
        return np.not_equal(x, y).astype(np.int64)

    def edges(self) -> NDArray[np.intp]:  # noqa: D102
        return np.column_stack(np.triu_indices(self.k, k=1))


@checked
def discrete(k: int) -> Space:
    """k >= 1 secrets at distance 1 from each other: the local model, and sum queries.

    Source: [fernandes2022], section VI-B (the metric d_D).

    >>> discrete(3).edges.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return Space(DiscreteMetric(natural(k, "k", least=1)))
