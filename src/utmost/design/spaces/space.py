"""Define a space, which is a finite set of secrets with a metric, and check that a table of distances is a metric."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, label, real, sequence_of
from utmost.core.exact.arrays import (
    Array,
    PickledByFields,
    as_array,
    check_array,
    frozen,
    is_exact,
    objects,
    plain_array,
    to_floats,
)
from utmost.core.exact.display import Display
from utmost.core.exact.numbers import natural, refused_as
from utmost.core.exact.surds import Surd
from utmost.errors import NotAMetric, OutOfRange


class Metric(ABC):
    """A metric on the secrets 0, 1, ..., n-1, given by a formula or a table."""

    __slots__ = ()

    written: ClassVar[str] = ""
    """Format string of the call that makes the space of this metric; empty if no call does."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number n of secrets."""

    @abstractmethod
    def distance(self, x: Any, y: Any) -> Any:
        """Return d(x, y) elementwise over arrays of secrets: integers or Fractions if d is rational, else float64."""

    @abstractmethod
    def edges(self) -> NDArray[np.intp]:
        """Return the pairs x < y with no third secret between them, as an (m, 2) array in lexicographic order."""

    def lengths(self, x: Any, y: Any) -> Any:
        """Return d(x, y) elementwise, with `Surd` for irrational distances that are known exactly."""
        return self.distance(x, y)

    def length_table(self, among: NDArray[np.intp] | None = None) -> Array:
        """Return the (n, n) table of `lengths` between all secrets, or between the secrets ``among``."""
        secrets = np.arange(self.size) if among is None else among
        return np.asarray(self.lengths(secrets[:, None], secrets[None, :]))

    def length(self, x: int, y: int) -> Fraction | Surd:
        """Return d(x, y) as an exact number; a float64 distance is converted exactly."""
        value = self.lengths(x, y)
        if isinstance(value, Surd):
            return value.simplified()
        return Fraction(int(value)) if isinstance(value, int | np.integer) else Fraction(value)

    def labels(self) -> Sequence[Hashable]:
        """Return the default labels of the secrets."""
        return range(self.size)

    def table(self) -> Array:
        """Return all distances d(x, y) as an (n, n) read-only array."""
        secrets = np.arange(self.size)
        return frozen(np.asarray(self.distance(secrets[:, None], secrets[None, :])))


# Number of sums that are computed together: so many fit into the processor's cache.
_BLOCK = 1 << 17
# If the floats of two sums differ by more than this relative distance, the floats decide which is larger.
_FLOATS_DECIDE = 1e-12
# Sums of two distances are compared as floats first, so they must not overflow.
_LARGEST_DISTANCE = 10**300


def has_intermediate(
    values: Array, pairs: NDArray[np.intp], strictly: bool = False, tolerance: float = 0.0
) -> NDArray[np.bool_]:
    """Return, for each pair x < y, whether a third secret z has d(x, z) + d(z, y) <= d(x, y): (m,) booleans."""
    # ``values`` is (n, n) int64, float64, Fractions or Surds; ``pairs`` is (m, 2), sorted by x. Sums of floats are
    # compared without rounding. With ``strictly``, the sum must be below d(x, y) by more than the relative
    # ``tolerance``.
    if values.dtype == object:
        # Use integers over a common denominator if they fit into int64. Otherwise compare the pairs one by one.
        if not any(isinstance(d, Surd) for d in values.flat):
            scale = lcm(*(d.denominator for d in values.flat))
            if scale * max(values.flat) < 2**60:
                return has_intermediate((values * scale).astype(np.int64), pairs, strictly)
        floats = values.astype(np.float64)
        return np.array([_one_intermediate(values, floats, int(x), int(y), strictly) for x, y in pairs], dtype=bool)
    if values.dtype == np.int64 and values.size and 4 * int(values.max()) < 2**31:
        # int32 takes half the memory and time, and sums of two distances fit into it.
        values = values.astype(np.int32)
    shortest = _shortest_sums(values, pairs)
    direct = values[pairs[:, 0], pairs[:, 1]]
    if strictly:
        return shortest < direct * (1 - tolerance) if values.dtype == np.float64 else shortest < direct
    has_between: NDArray[np.bool_] = shortest <= direct
    if values.dtype == np.float64:
        # A sum that rounds to d(x, y) is at most d(x, y) if and only if its rounding error is not positive.
        for tie in np.flatnonzero(shortest == direct):
            x, y = pairs[tie]
            first, second = values[x], values[y]
            total = first + second
            part = total - first
            # Knuth's two-sum: the rounding error of a sum of two floats is itself a float.
            error = (first - (total - part)) + (second - part)
            tied = (total == values[x, y]) & (error <= 0)
            tied[[x, y]] = False
            has_between[tie] = tied.any()
    return has_between


def _shortest_sums(values: Array, pairs: NDArray[np.intp]) -> Array:
    """Return the least d(x, z) + d(z, y) over third secrets z for each pair; without any z, more than all distances."""
    n = len(values)
    direct = values.copy()
    # Replace the diagonal, so that z = x and z = y never give the minimum.
    np.fill_diagonal(direct, direct.max() + 1)
    if len(pairs) * n <= _BLOCK:
        return np.asarray((direct[pairs[:, 0]] + direct[pairs[:, 1]]).min(axis=1))
    best = np.empty(len(pairs), dtype=values.dtype)
    starts = np.searchsorted(pairs[:, 0], np.arange(n + 1))
    width = max(1, _BLOCK // n)
    for x in range(n):
        for start in range(starts[x], starts[x + 1], width):
            block = slice(start, min(start + width, starts[x + 1]))
            best[block] = (direct[pairs[block, 1]] + direct[x]).min(axis=1)
    return best


def _one_intermediate(values: Array, floats: Array, x: int, y: int, strictly: bool) -> bool:
    sums = floats[x] + floats[y]
    sums[[x, y]] = np.inf
    # Compute a sum exactly only if its float is close to d(x, y).
    slack = _FLOATS_DECIDE * floats[x, y]
    if (sums < floats[x, y] - slack).any():
        return True
    for z in np.flatnonzero(sums <= floats[x, y] + slack):
        sum_over_z: Any = values[x, z] + values[z, y]
        if sum_over_z < values[x, y] or (sum_over_z == values[x, y] and not strictly):
            return True
    return False


@dataclass(frozen=True, slots=True, eq=False, init=False, weakref_slot=True)
class TableMetric(Metric):
    """A metric given by an (n, n) table; the constructor checks the axioms in O(n^3), and raises NotAMetric."""

    exact: Array  # distances as int64, Fractions or Surds, or float64
    numbers: Array  # the same distances, but float64 if one of them is a Surd
    edge_candidates: NDArray[np.intp] | None  # pairs that include all essential edges; None for all pairs

    def __init__(self, distances: object, tolerance: float = 1e-12) -> None:
        values = distance_table(distances)
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
                raise NotAMetric(
                    f"{axiom} must hold",
                    came=f"d({x}, {y}) = {values[x, y]}{remark(x, y)}",
                    remedy=None
                    if x == y or values[x, y] < 0
                    else "Use a `Policy` (utmost research policy FILE) for distances that are no metric.",
                )
        pairs = np.column_stack(np.triu_indices(n, k=1))
        for x, y in pairs[has_intermediate(values, pairs, strictly=True, tolerance=tolerance)][:1]:
            z = min((z for z in range(n) if z not in (x, y)), key=lambda z: values[x, z] + values[z, y])
            raise NotAMetric(
                "the triangle inequality d(x, y) <= d(x, z) + d(z, y) must hold",
                came=f"d({x}, {y}) = {values[x, y]} > d({x}, {z}) + d({z}, {y}) = {values[x, z] + values[z, y]}",
                remedy="For lengths of roads between places, pass the roads to `graph`, which computes shortest paths; "
                "by command write --space graph:FILE.",
            )
        self._set_fields(values, None)

    @classmethod
    def trusted(cls, values: Array, edge_candidates: NDArray[np.intp] | None = None) -> "TableMetric":
        """Return a metric without checks, from a table that is a metric by construction, such as shortest paths."""
        check_array(values, "distances", 2)
        metric = object.__new__(cls)
        metric._set_fields(values, edge_candidates)
        return metric

    def _set_fields(self, values: Array, edge_candidates: NDArray[np.intp] | None) -> None:
        irrational = values.dtype == object and any(isinstance(d, Surd) for d in values.flat)
        object.__setattr__(self, "exact", frozen(values))
        object.__setattr__(self, "numbers", to_floats(values) if irrational else self.exact)
        object.__setattr__(self, "edge_candidates", edge_candidates)

    @property
    def size(self) -> int:
        return int(self.exact.shape[0])

    def distance(self, x: Any, y: Any) -> Any:
        return self.numbers[x, y]

    def lengths(self, x: Any, y: Any) -> Any:
        return self.exact[x, y]

    def table(self) -> Array:
        return self.numbers

    def edges(self) -> NDArray[np.intp]:
        if self not in _kept_edges:
            pairs = (
                np.column_stack(np.triu_indices(self.size, k=1))
                if self.edge_candidates is None
                else self.edge_candidates
            )
            _kept_edges[self] = frozen(pairs[~has_intermediate(self.exact, pairs)])
        return _kept_edges[self]

    def __reduce__(self) -> tuple[Any, ...]:
        return TableMetric.trusted, (self.exact, self.edge_candidates)

    def __repr__(self) -> str:
        return f"TableMetric({self.size} secrets)"


_kept_edges: WeakKeyDictionary[TableMetric, NDArray[np.intp]] = WeakKeyDictionary()


def distance_table(distances: object) -> Array:
    """Return distances as int64, as objects (Fraction or Surd) or as float64; raise NotAMetric if one exceeds
    10^300.
    """
    if isinstance(distances, np.ndarray) and distances.dtype.kind in "iu" and distances.ndim == 2 and distances.size:
        least, largest = int(distances.min()), int(distances.max())
        if -(2**60) < least <= largest < 2**60:  # int64 can represent sums of two distances
            return distances.astype(np.int64)
    with refused_as(NotAMetric):
        raw = distances if isinstance(distances, np.ndarray) else np.array(None)
        if isinstance(distances, list | tuple):
            raw = np.array(distances, dtype=object)
        has_surds = raw.dtype == object and raw.ndim == 2 and any(isinstance(d, Surd) for d in raw.flat)
        if has_surds:
            exactly = (d.simplified() if isinstance(d, Surd) else as_array(d, "distance").item() for d in raw.flat)
            array = objects(exactly, raw.shape)
        else:
            array = as_array(distances, "distance matrix", ndim=2)
    if (array > _LARGEST_DISTANCE).any():
        raise NotAMetric(
            "a distance must be at most 10^300", came="a larger one", remedy="Use a larger unit of distance."
        )
    if not has_surds and is_exact(array) and all(d.denominator == 1 and abs(d) < 2**60 for d in array.flat):
        return array.astype(np.int64)
    return array


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Space(Display, PickledByFields):
    """Secrets 0, 1, ..., n-1 with a metric d and a label for each secret.

    A metric is symmetric, zero exactly on the diagonal, and satisfies d(x, y) <= d(x, z) + d(z, y). The constructor
    takes any matrix and checks the axioms of a metric. The functions `counts`, `discrete`, `hamming`, `grid` and
    `graph` make spaces whose structure speeds up computations.

    Args:
        distances: Matrix (n, n), n >= 1. Integers, Fractions and `Surd` stay exact; a float makes the matrix float64.
        labels: Distinct labels of the secrets; by default 0, 1, ..., n-1.
        tolerance: Largest relative violation of the triangle inequality that is accepted as rounding, for float64
            distances only.

    Raises:
        NotAMetric: if the distances violate an axiom. The message names the pair or the triple of secrets.

    Cost: O(n^3) for the triangle inequality.

    >>> Space([[0, 1, 2], [1, 0, 1], [2, 1, 0]]).edges.tolist()
    [[0, 1], [1, 2]]
    """

    metric: Metric
    names: tuple[Hashable, ...] | None

    def __init__(self, distances: object, labels: Sequence[Hashable] | None = None, tolerance: float = 1e-12) -> None:
        if labels is not None:
            sequence_of(labels, label, "labels")
        tolerance = real(tolerance, "tolerance")
        metric = distances if isinstance(distances, Metric) else TableMetric(distances, tolerance)
        object.__setattr__(self, "metric", metric)
        names = None if labels is None else tuple(labels)
        if names is not None and len(names) != metric.size:
            raise NotAMetric(f"a space of {metric.size} secrets needs {metric.size} labels", came=len(names))
        if names is not None and len(set(names)) != metric.size:
            twice = next(name for k, name in enumerate(names) if name in names[:k])
            raise NotAMetric("labels must be distinct", came=f"{twice!r} twice")
        object.__setattr__(self, "names", names)

    @property
    def size(self) -> int:
        """The number n of secrets."""
        return self.metric.size

    @property
    def unit(self) -> str | None:
        """The unit of the distances, such as "m"; None for plain numbers."""
        return None

    @property
    def labels(self) -> Sequence[Hashable]:
        """The labels of the secrets 0, 1, ..., n-1, in this order."""
        return self.metric.labels() if self.names is None else self.names

    @property
    def distances(self) -> Array:
        """All distances, (n, n), read-only: int64 or Fractions if all are rational, else float64 (see `length`)."""
        return self.metric.table()

    @property
    def edges(self) -> NDArray[np.intp]:
        """The essential edges: pairs x < y with no third secret strictly between them, as an (m, 2) array.

        A third secret z is strictly between x and y if d(x, z) + d(z, y) = d(x, y). A level that holds along the
        essential edges holds for all pairs. Float64 distances are compared as exact rationals, so the rounding of
        distances may make a pair essential.
        """
        return self.metric.edges()

    def length(self, x: int, y: int) -> Fraction | Surd:
        """Return d(x, y) as an exact number; a float64 distance is converted to a rational without rounding."""
        last = self.size - 1
        return self.metric.length(natural(x, "x", 0, last), natural(y, "y", 0, last))

    def restrict(self, secrets: Sequence[int]) -> "Space":
        """Return the space of the given secrets only, in the given order, with the same distances.

        >>> from utmost.spaces import counts
        >>> counts(9).restrict([0, 4, 9]).distances.tolist()
        [[0, 4, 9], [4, 0, 5], [9, 5, 0]]
        """
        rows = plain_array(secrets, "list of secrets")
        if rows.dtype.kind not in "iu" or rows.ndim != 1 or len(set(rows.tolist())) != rows.size or rows.size == 0:
            remedy = "Pass at least one secret, and none twice."
            raise OutOfRange(
                "secrets must be a list of distinct secrets", came=secrets, where="restrict", remedy=remedy
            )
        if rows.min() < 0 or rows.max() >= self.size:
            raise OutOfRange(f"secrets must lie in 0..{self.size - 1}", came=secrets, where="restrict")
        return Space(TableMetric.trusted(self.metric.length_table(rows)), [self.labels[x] for x in rows.tolist()])

    def same_as(self, other: "Space") -> bool:
        """Return whether both spaces have equal labels and distances, and the same unit if both have one."""
        instance(other, Space, "other")
        if None not in (self.unit, other.unit) and self.unit != other.unit:
            return False
        if self.size != other.size or tuple(self.labels) != tuple(other.labels):
            return False
        return self.metric == other.metric or bool((self.distances == other.distances).all())

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        written = self.metric.written
        return written.format(self.metric) if written and self.names is None else f"Space({self.metric!r})"
