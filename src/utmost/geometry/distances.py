"""Exact distances for work in the log domain: whole combinations of square roots, compared without rounding."""

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, isqrt, lcm

import numpy as np

from utmost.exact import Array, Surd, exact, frozen
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
        """The distances of a space, as they are known; floats are read as the decimals they print.

        >>> from utmost.spaces import grid
        >>> corners = Distances.of(grid(2, 2))
        >>> corners.roots, corners.coefficients[0].tolist()
        ((1, 2), [[0, 0], [1, 0], [1, 0], [0, 1]])
        """
        secrets = np.arange(space.size)
        table = np.asarray(space.metric.lengths(secrets[:, None], secrets[None, :]), dtype=object)
        entries = table.ravel().tolist()
        terms = {d: _terms(d) for d in set(entries)}
        roots = tuple(sorted({root for known in terms.values() for root in known})) or (1,)
        scale = lcm(*(c.denominator for known in terms.values() for c in known.values()))
        common = gcd(*(int(c * scale) for known in terms.values() for c in known.values())) or 1
        whole = {d: [int(known.get(r, Fraction(0)) * scale) // common for r in roots] for d, known in terms.items()}
        coefficients = np.array([whole[d] for d in entries], dtype=object).reshape(*table.shape, len(roots))
        return cls(frozen(_narrowed(coefficients, 4 * space.size)), roots, Fraction(common, scale))

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


def _terms(distance: object) -> dict[int, Fraction]:
    """The coefficient of each square root in a distance."""
    if isinstance(distance, Surd):
        return dict(distance.terms)
    value = exact(distance)
    return {1: value} if value else {}


def _narrowed(values: Array, headroom: int) -> Array:
    """As int64 where sums of ``headroom`` entries certainly fit, else as Python integers."""
    largest = int(np.abs(values).max()) if values.size else 0
    return values.astype(np.int64) if largest * headroom < 2**62 else values.astype(object)


def _primes(n: int) -> set[int]:
    return {p for p in range(2, n + 1) if n % p == 0 and all(p % q for q in range(2, isqrt(p) + 1))}
