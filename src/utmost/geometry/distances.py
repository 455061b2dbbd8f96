"""Exact distances for work in the log domain: whole combinations of square roots, compared without rounding."""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.exact import Array, exact, frozen
from utmost.spaces import Space


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """d(x, y) = unit * sum_k coefficients[x, y, k] sqrt(roots[k]), exactly.

    Square roots of distinct square-free integers are linearly independent over the rationals, so two distances are
    equal exactly when their coefficients are.

    Attributes:
        coefficients: (n, n, K) whole numbers, int64 or Python integers where those are too short.
        roots: K distinct square-free integers, ascending.
        unit: a positive rational.
    """

    coefficients: Array
    roots: tuple[int, ...]
    unit: Fraction

    @classmethod
    def of(cls, space: Space) -> "Distances":
        """The distances of a space; those of a Euclidean grid as square roots, floats as the decimals they print.

        >>> from utmost.spaces import counts
        >>> Distances.of(counts(1)).coefficients[..., 0].tolist()
        [[0, 1], [1, 0]]
        """
        squares = getattr(space.metric, "squares", None)
        if squares is not None:
            return _from_squares(np.asarray(squares()))
        table = space.distances
        if table.dtype.kind in "iu":
            return _from_whole(table.astype(object), Fraction(1))
        values = np.array([[exact(d) for d in row] for row in table], dtype=object)
        scale = lcm(*(d.denominator for d in values.flat))
        return _from_whole(np.array([[int(d * scale) for d in row] for row in values], dtype=object), Fraction(1, scale))

    @property
    def size(self) -> int:
        """The number of secrets."""
        return int(self.coefficients.shape[0])

    @property
    def is_rational(self) -> bool:
        """Whether every distance is a rational number."""
        return self.roots == (1,)

    def integers(self) -> Array:
        """An integer metric with the same order and the same ties: what decides every vertex, (n, n).

        c -> sum_k c_k floor(2^s sqrt(root_k)) is additive, and for |c_k| <= B it has the sign of sum_k c_k sqrt(root_k)
        once 2^s is large enough: a nonzero combination x is an algebraic integer of degree D, all its conjugates are at
        most B sum_k sqrt(root_k) =: A, and their product is a nonzero integer, so |x| >= A^(1-D).
        """
        if self.is_rational:
            return self.coefficients[..., 0]
        bound = 2 * self.size * int(np.abs(self.coefficients).max())
        largest = bound * sum(isqrt(root) + 1 for root in self.roots)
        bits = (self.degree - 1) * largest.bit_length() + (bound * len(self.roots)).bit_length() + 1
        scaled = [isqrt(root << 2 * bits) for root in self.roots]
        values = self.coefficients.astype(object) @ np.array(scaled, dtype=object)
        return frozen(_narrowed(values, 4 * self.size))

    @property
    def degree(self) -> int:
        """The degree of the number field that holds every distance: 2 to the number of primes under the roots."""
        return 1 << len({prime for root in self.roots for prime in _primes(root)})


def _from_whole(table: Array, unit: Fraction) -> Distances:
    common = int(np.gcd.reduce(table.ravel())) if table.size > 1 else 1
    reduced = table // max(common, 1)
    return Distances(frozen(_narrowed(reduced, 4 * len(table))[..., None]), (1,), unit * max(common, 1))


def _from_squares(squares: NDArray[Any]) -> Distances:
    """sqrt(m^2 r) = m sqrt(r) with r square-free."""
    split = {int(s): _square_free(int(s)) for s in np.unique(squares)}
    roots = tuple(sorted({root for s, (_, root) in split.items() if s})) or (1,)
    coefficients = np.zeros((*squares.shape, len(roots)), dtype=np.int64)
    for s, (multiple, root) in split.items():
        if s:
            coefficients[squares == s, roots.index(root)] = multiple
    if roots == (1,):
        return _from_whole(coefficients[..., 0].astype(object), Fraction(1))
    return Distances(frozen(coefficients), roots, Fraction(1))


def _narrowed(values: Array, headroom: int) -> Array:
    """As int64 where sums of ``headroom`` entries certainly fit, else as Python integers."""
    largest = int(np.abs(values).max()) if values.size else 0
    return values.astype(np.int64) if largest * headroom < 2**62 else values.astype(object)


def _square_free(s: int) -> tuple[int, int]:
    """m and r with s = m^2 r, r square-free."""
    multiple, rest, p = 1, s, 2
    while p * p <= rest:
        while rest and rest % (p * p) == 0:
            rest //= p * p
            multiple *= p
        p += 1
    return multiple, rest


def _primes(n: int) -> set[int]:
    return {p for p in range(2, n + 1) if n % p == 0 and all(p % q for q in range(2, isqrt(p) + 1))}
