"""Secrets made of parts: the product of two or more spaces."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product as pairs
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from utmost.errors import NotAMetric, OutOfRange
from utmost.exact import Array, Surd, checked, frozen, objects
from utmost.spaces.metric import Metric, TableMetric, distance_table
from utmost.spaces.space import Space


@dataclass(frozen=True, slots=True)
class SumMetric(Metric):
    """d((a, b), (a', b')) = d(a, a') + d(b, b'); the secret (a, b) is number a m + b for m secrets b."""

    first: Metric
    second: Metric

    @property
    def size(self) -> int:  # noqa: D102
        return self.first.size * self.second.size

    def distance(self, x: Any, y: Any) -> Any:  # noqa: D102
        (a, b), (c, d) = self._parts(x), self._parts(y)
        return _plus(self.first.distance(a, c), self.second.distance(b, d))

    def lengths(self, x: Any, y: Any) -> Any:  # noqa: D102
        (a, b), (c, d) = self._parts(x), self._parts(y)
        return _plus(self.first.lengths(a, c), self.second.lengths(b, d))

    def edges(self) -> NDArray[np.intp]:
        """The essential edges of one factor, the other part held: between others, one part can be changed first."""
        n, m = self.first.size, self.second.size
        across = self.first.edges()[:, None, :] * m + np.arange(m)[None, :, None]
        along = self.second.edges()[None, :, :] + np.arange(n)[:, None, None] * m
        both = np.concatenate([across.reshape(-1, 2), along.reshape(-1, 2)])
        return both[np.lexsort((both[:, 1], both[:, 0]))]

    def _parts(self, x: Any) -> tuple[Any, Any]:
        a, b = np.divmod(x, self.second.size)
        return a, b


@checked
def product(*spaces: Space, metric: Literal["sum", "max", "euclidean"] = "sum") -> Space:
    """Secrets with one part from each space, such as a place and a time, labelled by the tuple of their parts' labels.

    Args:
        spaces: one or more; scale one against another by its distances.
        metric: how the distances of the parts add up. "sum": a secret may be changed part by part (a product of lines
            is a Manhattan grid, a product of `discrete(2)` a Hamming cube). "max": the largest alone counts.
            "euclidean": the root of the sum of squares, exact where the distances are rational.

    Raises:
        NotAMetric: for no space.
        OutOfRange: for another metric.

    >>> from utmost.spaces import counts, cycle
    >>> both = product(counts(2), cycle(4))
    >>> both.size, both.labels[5], both.distances[0, 5].item()
    (12, (1, 1), 2)
    """
    if not spaces:
        raise NotAMetric("a product needs at least one space", came="none")
    ways = {"sum": SumMetric, "max": _largest, "euclidean": _hypotenuse}
    if metric not in ways:
        raise OutOfRange('metric must be "sum", "max" or "euclidean"', came=metric, where="product")
    joined = spaces[0].metric
    for space in spaces[1:]:
        joined = ways[metric](joined, space.metric)
    return Space(joined, _tuples(spaces))


def _tuples(spaces: Sequence[Space]) -> list[Hashable]:
    return list(pairs(*(space.labels for space in spaces)))


def _tables(first: Metric, second: Metric) -> tuple[Array, Array]:
    """The distances of both factors, each over all pairs of secrets of the product."""
    a, b = (_table(metric) for metric in (first, second))
    n, m = len(a), len(b)
    return _one_kind(np.repeat(np.repeat(a, m, axis=0), m, axis=1), np.tile(b, (n, n)))


def _table(metric: Metric) -> Array:
    secrets = np.arange(metric.size)
    return np.asarray(metric.lengths(secrets[:, None], secrets[None, :]))


def _largest(first: Metric, second: Metric) -> TableMetric:
    return TableMetric.trusted(distance_table(np.maximum(*_tables(first, second))))


def _hypotenuse(first: Metric, second: Metric) -> TableMetric:
    a, b = _tables(first, second)
    squares = np.asarray(_squares(a) + _squares(b))
    return TableMetric.trusted(np.sqrt(squares) if squares.dtype == np.float64 else roots(squares))


def _squares(table: Array) -> Array:
    """d^2, exactly where it is rational: integers and Fractions, single roots, but no sum of several roots."""
    if table.dtype == np.float64:
        return np.asarray(table * table)
    return np.asarray(np.frompyfunc(_square, 1, 1)(table))


def _square(d: Any) -> Fraction:
    if not isinstance(d, Surd):
        return Fraction(d) ** 2
    if len(d.terms) != 1:
        raise NotAMetric(
            "a Euclidean product needs distances whose squares are rational",
            came=repr(d),
            remedy="Give that factor its distances as floats.",
        )
    ((radicand, coefficient),) = d.terms
    return coefficient**2 * radicand


def roots(squares: Array) -> Array:
    """The exact square roots of rationals: int64 where all are whole, else Fractions and `Surd`."""
    known = {square: Surd.sqrt(square).simplified() for square in set(squares.flat)}
    if all(isinstance(root, Fraction) and root.denominator == 1 and root < 2**60 for root in known.values()):
        known = {square: int(root) for square, root in known.items()}  # type: ignore[arg-type, misc]
        return frozen(np.array([known[s] for s in squares.flat], dtype=np.int64).reshape(squares.shape))
    return frozen(objects((known[square] for square in squares.flat), squares.shape))


def _plus(a: Any, b: Any) -> Any:
    """Elementwise sums of lengths, as float64 where either is; a sum of surds that is rational becomes a Fraction."""
    one, other = _one_kind(np.asarray(a), np.asarray(b))
    total = np.asarray(one + other)
    return _simplified(total) if total.dtype == object else total[()]


def _one_kind(a: Array, b: Array) -> tuple[Array, Array]:
    if np.float64 in (a.dtype, b.dtype):
        return a.astype(np.float64), b.astype(np.float64)
    return a, b


_simplified = np.frompyfunc(lambda d: d.simplified() if isinstance(d, Surd) else d, 1, 1)
