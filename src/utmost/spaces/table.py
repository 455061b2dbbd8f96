"""A metric given by its table of distances, and the check that it is one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import NotAMetric, NotANumber
from utmost.exact import Array, Surd, as_array, frozen, is_exact, objects, to_floats
from utmost.spaces.detours import has_detour
from utmost.spaces.metric import Metric


@dataclass(frozen=True, slots=True, eq=False, init=False)
class TableMetric(Metric):
    """A metric on {0, ..., n-1} as an (n, n) table, checked.

    Args:
        distances: (n, n); integers, Fractions and `Surd` stay exact.
        tolerance: for float64 distances only: by how much, relative, rounding may break the triangle inequality.

    Attributes:
        exact: the distances as they are known: int64, float64, or objects (Fraction or Surd).
        shown: the same as numbers: the nearest float64 where a Surd is among them.
        roads: pairs among which the essential edges are, or None for all pairs.

    Raises:
        NotAMetric: naming the pair or triple that breaks an axiom.

    Cost: O(n^3).
    """

    exact: Array
    shown: Array
    roads: NDArray[np.intp] | None

    def __init__(self, distances: object, tolerance: float = 1e-12) -> None:
        values = distance_table(distances)
        _check_pairs(values)
        _check_triangles(values, tolerance)
        self._keep(values, None)

    @classmethod
    def trusted(cls, values: Array, roads: NDArray[np.intp] | None = None) -> "TableMetric":
        """A table that is a metric by construction: shortest paths along roads, or part of another metric's table."""
        metric = object.__new__(cls)
        metric._keep(values, roads)
        return metric

    def _keep(self, values: Array, roads: NDArray[np.intp] | None) -> None:
        irrational = values.dtype == object and any(isinstance(d, Surd) for d in values.flat)
        object.__setattr__(self, "exact", frozen(values))
        object.__setattr__(self, "shown", to_floats(values) if irrational else self.exact)
        object.__setattr__(self, "roads", roads)

    @property
    def size(self) -> int:  # noqa: D102
        return int(self.exact.shape[0])

    def distance(self, x: Any, y: Any) -> Any:  # noqa: D102
        return self.shown[x, y]

    def lengths(self, x: Any, y: Any) -> Any:  # noqa: D102
        return self.exact[x, y]

    def table(self) -> Array:  # noqa: D102
        return self.shown

    def edges(self) -> NDArray[np.intp]:  # noqa: D102
        pairs = np.column_stack(np.triu_indices(self.size, k=1)) if self.roads is None else self.roads
        return pairs[~has_detour(self.exact, pairs)]

    def __reduce__(self) -> tuple[Any, ...]:
        return TableMetric.trusted, (self.exact, self.roads)

    def __repr__(self) -> str:
        return f"TableMetric({self.size} secrets)"


def distance_table(distances: object) -> Array:
    """Distances as they are known: int64, objects (Fraction or Surd), or float64.

    Raises:
        NotAMetric: for what is no matrix of numbers.
    """
    if isinstance(distances, np.ndarray) and distances.dtype.kind in "iu" and distances.ndim == 2:
        return distances.astype(np.int64)
    try:
        surds = _surd_table(distances)
        array = as_array(distances, "distance matrix", ndim=2) if surds is None else surds
    except NotANumber as error:
        raise NotAMetric(error.required, came=error.came, mend=error.mend) from None
    if surds is None and is_exact(array) and all(d.denominator == 1 and abs(d) < 2**60 for d in array.flat):
        return array.astype(np.int64)
    return array


def _surd_table(distances: object) -> Array | None:
    if not isinstance(distances, np.ndarray | list | tuple):
        return None
    raw = np.asarray(distances) if isinstance(distances, np.ndarray) else np.array(distances, dtype=object)
    if raw.dtype != object or raw.ndim != 2 or not any(isinstance(d, Surd) for d in raw.flat):
        return None
    exactly = (d.simplified() if isinstance(d, Surd) else as_array(d, "distance").item() for d in raw.flat)
    return objects(exactly, raw.shape)


def _check_pairs(values: Array) -> None:
    n, m = values.shape
    if n != m or n == 0:
        raise NotAMetric("a distance matrix must be square and hold at least one secret", came=f"shape {n} x {m}")
    apart = ~np.eye(n, dtype=bool)
    checks: list[tuple[str, Array, Callable[[int, int], str]]] = [
        ("d(x, y) = d(y, x)", values != values.T, lambda x, y: f" but d({y}, {x}) = {values[y, x]}"),
        ("d(x, x) = 0", (values != 0) & ~apart, lambda x, y: ""),
        ("d(x, y) > 0 for x != y", (values <= 0) & apart, lambda x, y: ""),
    ]
    for axiom, broken, remark in checks:
        for x, y in np.argwhere(broken)[:1]:
            raise NotAMetric(f"{axiom} must hold", came=f"d({x}, {y}) = {values[x, y]}{remark(x, y)}")


def _check_triangles(values: Array, tolerance: float) -> None:
    pairs = np.column_stack(np.triu_indices(len(values), k=1))
    for x, y in pairs[has_detour(values, pairs, strictly=True, tolerance=tolerance)][:1]:
        z = min((z for z in range(len(values)) if z not in (x, y)), key=lambda z: values[x, z] + values[z, y])
        raise NotAMetric(
            "the triangle inequality d(x, y) <= d(x, z) + d(z, y) must hold",
            came=f"d({x}, {y}) = {values[x, y]} > d({x}, {z}) + d({z}, {y}) = {values[x, z] + values[z, y]}",
            mend="If these are lengths of roads between places, use their shortest paths (`graph`).",
        )
