"""A finite set of secrets and the metric between them."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import NotAMetric, OutOfRange
from utmost.exact import Array, Surd, checked, natural, plain_array
from utmost.spaces.metric import Metric, TableMetric


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Space:
    """Secrets 0, 1, ..., n-1 with a metric d, and a label for each.

    A metric is symmetric, zero exactly on the diagonal, and has d(x, y) <= d(x, z) + d(z, y). The named spaces
    (`counts`, `discrete`, `hamming`, `grid`, `graph`) know their structure; this constructor takes any matrix and
    checks it.

    Args:
        distances: (n, n), n >= 1. Integers, Fractions and `Surd` stay exact; a float makes the matrix float64.
        labels: one per secret, distinct; 0, 1, ..., n-1 when left out.
        tolerance: for float64 distances only: by how much, relative, rounding may break the triangle inequality.

    Raises:
        NotAMetric: naming the pair or the triple that breaks an axiom.

    Cost: O(n^3) for the triangle inequality.

    >>> Space([[0, 1, 2], [1, 0, 1], [2, 1, 0]]).edges.tolist()
    [[0, 1], [1, 2]]
    """

    metric: Metric
    names: tuple[Hashable, ...] | None

    @checked
    def __init__(self, distances: object, labels: Sequence[Hashable] | None = None, tolerance: float = 1e-12) -> None:
        metric = distances if isinstance(distances, Metric) else TableMetric(distances, tolerance)
        object.__setattr__(self, "metric", metric)
        object.__setattr__(self, "names", None if labels is None else _distinct(labels, metric.size))

    @property
    def size(self) -> int:
        """The number n of secrets."""
        return self.metric.size

    @property
    def labels(self) -> Sequence[Hashable]:
        """The names of the secrets, in order."""
        return self.metric.labels() if self.names is None else self.names

    @property
    def distances(self) -> Array:
        """d as an (n, n) read-only array: int64 or Fraction where d is rational, else float64 (see `length`)."""
        return self.metric.table()

    @property
    def edges(self) -> NDArray[np.intp]:
        """The essential edges: pairs x < y with no third secret strictly between them, as an (m, 2) array.

        z is strictly between x and y when d(x, z) + d(z, y) = d(x, y). A promise kept along the essential edges is kept
        for all pairs. Float64 distances are taken as the rationals that they are, so rounding may make a pair essential
        that is none in the metric that was rounded.
        """
        return self.metric.edges()

    @checked
    def length(self, x: int, y: int) -> Fraction | Surd:
        """d(x, y) as an exact number; a float64 distance is the rational that the float is."""
        last = self.size - 1
        return self.metric.length(natural(x, "x", 0, last), natural(y, "y", 0, last))

    def restrict(self, secrets: Sequence[int]) -> "Space":
        """The same metric on some of the secrets, in the order given.

        >>> from utmost.spaces import counts
        >>> counts(9).restrict([0, 4, 9]).distances.tolist()
        [[0, 4, 9], [4, 0, 5], [9, 5, 0]]
        """
        kept = plain_array(secrets, "list of secrets")
        if kept.dtype.kind not in "iu" or kept.ndim != 1 or len(set(kept.tolist())) != kept.size or kept.size == 0:
            raise OutOfRange("a restriction needs a list of distinct secrets", came=secrets, where="restrict")
        if kept.min() < 0 or kept.max() >= self.size:
            raise OutOfRange(f"secrets must lie in 0..{self.size - 1}", came=secrets, where="restrict")
        values = np.asarray(self.metric.lengths(kept[:, None], kept[None, :]))
        return Space(TableMetric.trusted(values), [self.labels[x] for x in kept.tolist()])

    @checked
    def same_as(self, other: "Space") -> bool:
        """Whether both have the same labels and the same distances."""
        if self.size != other.size or tuple(self.labels) != tuple(other.labels):
            return False
        return self.metric == other.metric or bool((self.distances == other.distances).all())

    def __len__(self) -> int:
        return self.size

    def __reduce__(self) -> tuple[Any, ...]:
        return Space, (self.metric, self.names)

    def __repr__(self) -> str:
        return f"Space({self.metric!r})"


def _distinct(labels: Sequence[Hashable], size: int) -> tuple[Hashable, ...]:
    names = tuple(labels)
    if len(names) != size:
        raise NotAMetric(f"a space of {size} secrets needs {size} labels", came=len(names))
    if len(set(names)) != size:
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise NotAMetric("labels must be distinct", came=f"{twice!r} twice")
    return names
