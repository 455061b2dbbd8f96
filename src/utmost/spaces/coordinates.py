"""Points given by their coordinates, with a named metric or any function that is one."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from utmost.errors import NotAMetric, NotANumber, OutOfRange, quoted
from utmost.exact import Array, as_array, checked, is_exact
from utmost.spaces.metric import TableMetric, distance_table
from utmost.spaces.products import roots
from utmost.spaces.space import Space

Place = Any
"""A point as the function of a metric receives it: what stood in the list of points."""


@checked
def points(
    places: Sequence[Any],
    metric: str | Callable[[Place, Place], Any] = "euclidean",
    labels: Sequence[Hashable] | None = None,
) -> Space:
    """A finite set of points: shops on a map, embedded words, anything with a distance.

    Args:
        places: (n, d) coordinates, or (n,) on a line; integers, Fractions and text stay exact, a float makes all
            float64. For a metric that is a function: a list of anything.
        metric: "euclidean", "manhattan", "chebyshev" (the largest coordinate difference), or a function d(p, q), which
            is asked for every pair and checked to be a metric.
        labels: one per point; the points themselves (as tuples, or as numbers on a line) when left out, if they can be.

    Raises:
        NotAMetric: for two points at one place, for coordinates that are no numbers, and for a function that is no
            metric, naming the pair or the triple.
        OutOfRange: for a metric by another name.

    Cost: O(n^2 d); O(n^3) for a function. Exact Euclidean distances also cost the factors of each squared distance.

    >>> triangle = points([(0, 0), (1, 1), (3, 4)])
    >>> triangle.length(0, 2), triangle.length(0, 1), triangle.labels[1]
    (Fraction(5, 1), Surd(1 sqrt(2)), (1, 1))
    >>> points(["cat", "cart", "dog"], metric=lambda p, q: len(set(p) ^ set(q))).distances[0].tolist()
    [0, 1, 6]
    """
    listed = list(places)
    if callable(metric):
        try:
            table = [[0 if i == j else metric(p, q) for j, q in enumerate(listed)] for i, p in enumerate(listed)]
        except Exception as error:  # the function is the user's, and so is what it raises
            raise NotAMetric("a metric must give a distance for every two places", came=quoted(error)) from error
        return Space(table, _names(listed, labels))
    where, ways = _coordinates(listed), {"euclidean": _euclidean, "manhattan": _manhattan, "chebyshev": _chebyshev}
    if not isinstance(metric, str) or metric not in ways:
        raise OutOfRange('metric must be "euclidean", "manhattan", "chebyshev" or a function', came=metric)
    apart = abs(where[:, None, :] - where[None, :, :])
    same = (apart.sum(axis=2) == 0) & ~np.eye(len(where), dtype=bool)
    for x, y in np.argwhere(same)[:1]:
        raise NotAMetric("points must lie at different places", came=f"points {x} and {y} at {listed[x]!r}")
    return Space(TableMetric.trusted(ways[metric](apart)), _names(listed, labels))


def _coordinates(listed: list[Any]) -> Array:
    try:
        array = as_array(listed, "coordinates")
    except NotANumber as error:
        raise NotAMetric(error.required, came=error.came, remedy=error.remedy) from None
    if array.ndim not in (1, 2) or array.size == 0:
        raise NotAMetric("points need coordinates of shape (n, d) or (n,)", came=f"shape {array.shape}")
    return array if array.ndim == 2 else array[:, None]


def _euclidean(apart: Array) -> Array:
    squares = np.asarray((apart * apart).sum(axis=2))
    return roots(squares) if is_exact(apart) else np.asarray(np.sqrt(squares))


def _manhattan(apart: Array) -> Array:
    return distance_table(apart.sum(axis=2))


def _chebyshev(apart: Array) -> Array:
    return distance_table(apart.max(axis=2))


def _names(listed: list[Any], labels: Sequence[Hashable] | None) -> Sequence[Hashable] | None:
    """The labels asked for; else the points, where they can serve as names."""
    if labels is not None:
        return labels
    names = [
        tuple(p.tolist() if isinstance(p, np.ndarray) else p) if isinstance(p, np.ndarray | list) else p for p in listed
    ]
    try:
        return names if len(set(names)) == len(names) else None
    except TypeError:
        return None
