"""Build products of spaces (secrets with several parts), and spaces of points given by coordinates."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product as pairs
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, label, one_of, sequence, sequence_of
from utmost.core.exact.arrays import Array, as_array, frozen, is_exact, objects
from utmost.core.exact.numbers import refused_as
from utmost.core.exact.surds import Surd
from utmost.design.spaces.place_tables import is_geometry, planar_points
from utmost.design.spaces.space import Metric, Space, TableMetric, distance_table
from utmost.errors import NotAMetric, OutOfRange, quoted


@dataclass(frozen=True, slots=True)
class SumMetric(Metric):
    """The metric d((a, b), (a', b')) = d(a, a') + d(b, b'); secret (a, b) has the index a m + b, m = second.size."""

    first: Metric
    second: Metric

    @property
    def size(self) -> int:
        return self.first.size * self.second.size

    def distance(self, x: Any, y: Any) -> Any:
        (a, b), (c, d) = self._parts(x), self._parts(y)
        return _elementwise_sum(self.first.distance(a, c), self.second.distance(b, d))

    def lengths(self, x: Any, y: Any) -> Any:
        (a, b), (c, d) = self._parts(x), self._parts(y)
        return _elementwise_sum(self.first.lengths(a, c), self.second.lengths(b, d))

    def edges(self) -> NDArray[np.intp]:
        """Return the essential edges: they change one part of the secret along an edge of that part's space."""
        n, m = self.first.size, self.second.size
        across = self.first.edges()[:, None, :] * m + np.arange(m)[None, :, None]
        along = self.second.edges()[None, :, :] + np.arange(n)[:, None, None] * m
        both = np.concatenate([across.reshape(-1, 2), along.reshape(-1, 2)])
        return both[np.lexsort((both[:, 1], both[:, 0]))]

    def _parts(self, x: Any) -> tuple[Any, Any]:
        a, b = np.divmod(x, self.second.size)
        return a, b


ProductMetric = Literal["sum", "max", "euclidean"]
"""Names of the methods that combine the distances of the parts of a product."""


def product(*spaces: Space, metric: ProductMetric = "sum") -> Space:
    """Return the product space: each secret has one part from each space, such as a place and a time.

    The label of a secret is the tuple of the labels of its parts.

    Args:
        spaces: One or more spaces. To give one space more weight than another, multiply its distances by a number.
        metric: Combination of the distances of the parts. "sum": their sum (a product of lines is a Manhattan grid, a
            product of `discrete(2)` a Hamming cube). "max": the largest. "euclidean": the square root of the sum of
            their squares, exact if the distances are rational.

    Raises:
        NotAMetric: if no space is given, or if the metric is "euclidean" and the square of a distance is irrational.
        OutOfRange: if ``metric`` is none of "sum", "max" and "euclidean".

    >>> from utmost.spaces import counts, cycle
    >>> both = product(counts(2), cycle(4))
    >>> both.size, both.labels[5], both.distances[0, 5].item()
    (12, (1, 1), 2)
    """
    for space in spaces:
        instance(space, Space, "every one of spaces")
    one_of(metric, ProductMetric, "metric", "product")
    if not spaces:
        raise NotAMetric(
            "a product needs at least one space", came="none", remedy="Pass spaces: product(counts(2), cycle(4))."
        )
    joined = spaces[0].metric
    for space in spaces[1:]:
        if metric == "sum":
            joined = SumMetric(joined, space.metric)
            continue
        # Expand the distances of both factors to all pairs of secrets of the product.
        a, b = joined.length_table(), space.metric.length_table()
        n, m = len(a), len(b)
        a, b = _same_kind(np.repeat(np.repeat(a, m, axis=0), m, axis=1), np.tile(b, (n, n)))
        if metric == "max":
            table = distance_table(np.maximum(a, b))
        else:
            squares = np.asarray(_squares(a) + _squares(b))
            table = np.sqrt(squares) if squares.dtype == np.float64 else roots(squares)
        joined = TableMetric.trusted(table)
    return Space(joined, list(pairs(*(space.labels for space in spaces))))


def _squares(table: Array) -> Array:
    """Return d^2 for each distance, exactly for rationals and single roots; raise NotAMetric for sums of roots."""
    if table.dtype == np.float64:
        return np.asarray(table * table)

    def square(d: Any) -> Fraction:
        if not isinstance(d, Surd):
            return Fraction(d) ** 2
        if len(d.terms) != 1:
            raise NotAMetric(
                "a Euclidean product needs factors whose squared distances are rational",
                came=repr(d),
                remedy="Give the distances of that factor as floats.",
            )
        ((radicand, coefficient),) = d.terms
        return coefficient**2 * radicand

    return np.asarray(np.frompyfunc(square, 1, 1)(table))


def roots(squares: Array) -> Array:
    """Return the exact square roots of rationals: int64 if all roots are integers, else Fractions and `Surd`."""
    known: dict[Any, Any] = {square: Surd.sqrt(square).simplified() for square in set(squares.flat)}
    if all(isinstance(root, Fraction) and root.denominator == 1 and root < 2**60 for root in known.values()):
        known = {square: int(root) for square, root in known.items()}
        return frozen(np.array([known[s] for s in squares.flat], dtype=np.int64).reshape(squares.shape))
    return frozen(objects((known[square] for square in squares.flat), squares.shape))


def _elementwise_sum(a: Any, b: Any) -> Any:
    """Return the elementwise sum of distances, float64 if one array is float64; rational sums become Fractions."""
    first, second = _same_kind(np.asarray(a), np.asarray(b))
    total = np.asarray(first + second)
    return _simplified(total) if total.dtype == object else total[()]


def _same_kind(a: Array, b: Array) -> tuple[Array, Array]:
    if np.float64 in (a.dtype, b.dtype):
        return a.astype(np.float64), b.astype(np.float64)
    return a, b


_simplified = np.frompyfunc(lambda d: d.simplified() if isinstance(d, Surd) else d, 1, 1)
Point = Any
"""An element of the list of points, in the form in which a metric function receives it."""


def points(
    places: Sequence[Any],
    metric: str | Callable[[Point, Point], Any] = "euclidean",
    labels: Sequence[Hashable] | None = None,
) -> Space:
    """Return a space of finitely many points, such as shops on a map or embedded words.

    Args:
        places: Coordinates (n, d), or (n,) on a line; integers, Fractions and text stay exact, one float makes all
            float64. A GeoSeries or GeoDataFrame in a projected reference system is also accepted: the index gives the
            labels, areas are replaced by points inside, and distances have the unit of the system. Any list is allowed
            if the metric is a function.
        metric: "euclidean", "manhattan", "chebyshev" (the largest coordinate difference), or a function d(p, q), which
            is called for every pair and checked to be a metric.
        labels: Label of each point. By default the points (as tuples, or numbers on a line) if they are
            hashable and distinct, else 0, 1, ...

    Raises:
        NotAMetric: if two points are equal, if coordinates are no numbers, or if the function is no metric; the message
            names the pair or the triple of points.
        OutOfRange: if ``metric`` is an unknown name.
        Unsupported: if the geometry is in degrees; `places` measures distances along the earth.

    Cost: O(n^2 d); O(n^3) for a function. For exact Euclidean distances, the integers of each squared distance are also
    factorised.

    >>> triangle = points([(0, 0), (1, 1), (3, 4)])
    >>> triangle.length(0, 2), triangle.length(0, 1), triangle.labels[1]
    (Fraction(5, 1), Surd(1 sqrt(2)), (1, 1))
    >>> points(["cat", "cart", "dog"], metric=lambda p, q: len(set(p) ^ set(q))).distances[0].tolist()
    [0, 1, 6]
    """
    sequence(places, "places")
    if labels is not None:
        sequence_of(labels, label, "labels")
    if is_geometry(places) and not callable(metric):
        names, places = planar_points(places)
        labels = names if labels is None else labels
    listed = list(places)
    if callable(metric):
        try:
            table = [[0 if i == j else metric(p, q) for j, q in enumerate(listed)] for i, p in enumerate(listed)]
        except Exception as error:  # the function comes from the user, and may raise any error
            raise NotAMetric(
                "a metric must give a distance for every two places",
                came=quoted(error),
                remedy="Correct the function d(p, q).",
            ) from error
        return Space(table, _labels_of_points(listed, labels))
    with refused_as(NotAMetric):
        array = as_array(listed, "coordinates")
    if array.ndim not in (1, 2) or array.size == 0:
        raise NotAMetric(
            "points need coordinates of shape (n, d) or (n,)",
            came=f"shape {array.shape}",
            remedy="Pass one row of coordinates for each point.",
        )
    where = array if array.ndim == 2 else array[:, None]
    if not isinstance(metric, str) or metric not in ("euclidean", "manhattan", "chebyshev"):
        raise OutOfRange('metric must be "euclidean", "manhattan", "chebyshev" or a function', came=metric)
    apart = abs(where[:, None, :] - where[None, :, :])
    same = (apart.sum(axis=2) == 0) & ~np.eye(len(where), dtype=bool)
    for x, y in np.argwhere(same)[:1]:
        raise NotAMetric(
            "points must lie at different places",
            came=f"points {x} and {y} at {listed[x]!r}",
            remedy="Keep one of the two points.",
        )
    if metric == "euclidean":
        squares = np.asarray((apart * apart).sum(axis=2))
        distances = roots(squares) if is_exact(apart) else np.sqrt(squares)
    else:
        distances = distance_table(apart.sum(axis=2) if metric == "manhattan" else apart.max(axis=2))
    return Space(TableMetric.trusted(distances), _labels_of_points(listed, labels))


def _labels_of_points(listed: list[Any], labels: Sequence[Hashable] | None) -> Sequence[Hashable] | None:
    """Return the given labels; else the points, if they are hashable and distinct; else None."""
    if labels is not None:
        return labels
    names = [
        tuple(p.tolist() if isinstance(p, np.ndarray) else p) if isinstance(p, np.ndarray | list) else p for p in listed
    ]
    try:
        return names if len(set(names)) == len(names) else None
    except TypeError:
        return None
