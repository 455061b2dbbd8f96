"""A finite set of secrets and the metric between them."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import NotAMetric
from utmost.exact import Array
from utmost.spaces.metric import Metric, TableMetric


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Space:
    """Secrets 0, 1, ..., n-1 with a metric d, and a label for each.

    A metric is symmetric, zero exactly on the diagonal, and d(x, z) <= d(x, y) + d(y, z). The named spaces (`counts`,
    `discrete`, `hamming`, `grid`, `graph`) know their structure and store no matrix; this constructor takes any matrix
    and checks it.

    Args:
        distances: (n, n), n >= 1. Integers and Fractions stay exact; floats are float64, and then the triangle
            inequality may fail by rounding only.
        labels: one per secret, distinct; 0, 1, ..., n-1 when left out.

    Raises:
        NotAMetric: naming the pair or the triple that breaks an axiom.

    Cost: O(n^3) for the triangle inequality.

    >>> Space([[0, 1, 2], [1, 0, 1], [2, 1, 0]]).edges.tolist()
    [[0, 1], [1, 2]]
    """

    metric: Metric
    labels: Sequence[Hashable]

    def __init__(self, distances: object, labels: Sequence[Hashable] | None = None) -> None:
        metric = distances if isinstance(distances, Metric) else TableMetric(distances)
        object.__setattr__(self, "metric", metric)
        object.__setattr__(self, "labels", _labels(labels, metric.size))

    @property
    def size(self) -> int:
        """The number n of secrets."""
        return self.metric.size

    @property
    def distances(self) -> Array:
        """d as an (n, n) read-only array: int64 or Fraction where d is exact, else float64."""
        return self.metric.table()

    @property
    def edges(self) -> NDArray[np.intp]:
        """The essential edges: pairs x < y with no third secret strictly between them, as an (m, 2) array.

        z is strictly between x and y when d(x, z) + d(z, y) = d(x, y). A promise that holds along the essential edges
        holds for all pairs. For float64 distances a few edges that are not essential may be among them.
        """
        return self.metric.edges()

    def same_as(self, other: "Space") -> bool:
        """Whether both have the same labels and the same distances."""
        return (
            self.size == other.size
            and tuple(self.labels) == tuple(other.labels)
            and (self.metric.key() == other.metric.key() or bool((self.distances == other.distances).all()))
        )

    def __len__(self) -> int:
        return self.size

    def __reduce__(self) -> tuple[Any, ...]:
        return Space, (self.metric, self.labels)

    def __repr__(self) -> str:
        return f"Space({self.metric!r})"


def _labels(labels: Sequence[Hashable] | None, size: int) -> Sequence[Hashable]:
    if labels is None:
        return range(size)
    kept = labels if isinstance(labels, range) else tuple(labels)
    if len(kept) != size:
        raise NotAMetric(f"a space of {size} secrets needs {size} labels", came=len(kept))
    if len(set(kept)) != size:
        twice = next(x for k, x in enumerate(kept) if x in kept[:k])
        raise NotAMetric("labels must be distinct", came=f"{twice!r} twice")
    return kept
