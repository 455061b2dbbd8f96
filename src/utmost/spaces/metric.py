"""What a metric on {0, ..., n-1} must tell, and the metric that is a plain table."""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import NotAMetric, NotANumber
from utmost.exact import Array, as_array, frozen, is_exact


class Metric(ABC):
    """Distances between the secrets 0, 1, ..., n-1."""

    __slots__ = ()

    @property
    @abstractmethod
    def size(self) -> int:
        """How many secrets there are."""

    @abstractmethod
    def distance(self, x: Any, y: Any) -> Any:
        """d(x, y), elementwise over arrays of secrets."""

    @abstractmethod
    def edges(self) -> NDArray[np.intp]:
        """The essential edges, as an (m, 2) array of pairs x < y."""

    @abstractmethod
    def key(self) -> Hashable:
        """Equal for equal metrics."""

    def table(self) -> Array:
        """d as an (n, n) read-only array."""
        secrets = np.arange(self.size)
        return frozen(np.asarray(self.distance(secrets[:, None], secrets[None, :])))


@dataclass(frozen=True, slots=True, eq=False, init=False)
class TableMetric(Metric):
    """A metric given by its (n, n) table, checked.

    Attributes:
        values: int64 or Fraction (exact), or float64; read-only.
    """

    values: Array

    def __init__(self, distances: object) -> None:
        values = _exact_or_float(distances)
        _check_axioms(values)
        object.__setattr__(self, "values", values)

    @property
    def size(self) -> int:  # noqa: D102
        return int(self.values.shape[0])

    def distance(self, x: Any, y: Any) -> Any:  # noqa: D102
        return self.values[x, y]

    def table(self) -> Array:  # noqa: D102
        return self.values

    def edges(self) -> NDArray[np.intp]:  # noqa: D102
        detour = shortest_detours(self.values)
        return np.argwhere(np.triu(self.values < detour, k=1))

    def key(self) -> Hashable:  # noqa: D102
        return ("table", self.values.dtype.str, self.values.tobytes() if self.values.dtype != object else id(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return TableMetric, (self.values,)

    def __repr__(self) -> str:
        return f"TableMetric({self.size} secrets)"


def shortest_detours(values: Array) -> Array:
    """min over z not in {x, y} of d(x, z) + d(z, y), as (n, n); a sentinel above every distance where n < 3.

    Float sums are rounded up, so that no detour is taken for shorter than it is.
    """
    n = len(values)
    far = 2 * values.max() + 1
    open_ended = values.copy()
    np.fill_diagonal(open_ended, far)
    best = np.empty_like(values)
    for x in range(n):
        sums = open_ended[x][:, None] + open_ended
        best[x] = sums.min(axis=0)
    return np.nextafter(best, np.inf) if best.dtype == np.float64 else best


def _exact_or_float(distances: object) -> Array:
    if isinstance(distances, np.ndarray) and distances.dtype.kind in "iu" and distances.ndim == 2:
        return frozen(distances.astype(np.int64))
    try:
        array = as_array(distances, "distance matrix", ndim=2)
    except NotANumber as error:
        raise NotAMetric(error.required, came=error.came, mend=error.mend) from None
    if is_exact(array) and all(x.denominator == 1 and abs(x.numerator) < 2**60 for x in array.flat):
        return frozen(array.astype(np.int64))
    return array


def _check_axioms(values: Array) -> None:
    n, m = values.shape
    if n != m or n == 0:
        raise NotAMetric("a distance matrix must be square and hold at least one secret", came=f"shape {n} x {m}")
    _refuse(values != values.T, values, "d(x, y) = d(y, x)", lambda x, y: f"d({x}, {y}) and d({y}, {x}) differ")
    apart = ~np.eye(n, dtype=bool)
    _refuse((values != 0) & ~apart, values, "d(x, x) = 0", lambda x, _: f"d({x}, {x}) is not")
    _refuse((values <= 0) & apart, values, "d(x, y) > 0 for x != y", lambda x, y: f"d({x}, {y}) is not")
    detour = shortest_detours(values)
    # Three roundings separate a float table from the metric that it was computed from.
    slack = 4 * np.finfo(np.float64).eps * values if values.dtype == np.float64 else 0
    for x, y in np.argwhere((detour + slack < values) & apart)[:1]:
        z = next(z for z in range(n) if z not in (x, y) and values[x, z] + values[z, y] < values[x, y])
        raise NotAMetric(
            "the triangle inequality d(x, y) <= d(x, z) + d(z, y) must hold",
            came=f"d({x}, {y}) = {values[x, y]} > d({x}, {z}) + d({z}, {y}) = {values[x, z] + values[z, y]}",
            mend="Use the shortest-path distances (`graph`) if these are edge lengths.",
        )


def _refuse(broken: NDArray[np.bool_], values: Array, axiom: str, says: Any) -> None:
    for x, y in np.argwhere(broken)[:1]:
        raise NotAMetric(f"{axiom} must hold", came=f"{says(x, y)}: {values[x, y]}")
