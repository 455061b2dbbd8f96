r"""Noise of several cells that one individual changes together: the joint law of the largest, and the rotated pair.

If one individual changes k cells, each by at most s, and no other cell, independent noise at epsilon/k is more than is
needed. Two better laws:

**Joint.** P(X = x) proportional to q^(max |x_i|) with q = exp(-epsilon/s). As q^m = (1 - q) sum of q^n over n >= m,
it is a mixture of cubes: X is uniform on {-N, ..., N}^k, with P(N = n) proportional to (2n + 1)^k q^n.

**Rotated.** Two cells as their sum and difference, |d_1 + d_2| + |d_1 - d_2| = 2 max |d_i| <= 2s, each with geometric
noise of q = exp(-epsilon/2s); turned back, a cell has (G_1 + G_2)/2, and the two are lossless to relax.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from utmost.laws.exact import Interval, Level, Number, checked, exact, exact_integer, natural, nearest, settled
from utmost.laws.exact.shown import Shown
from utmost.laws.noise.combination import Combination
from utmost.laws.noise.geometric import Geometric
from utmost.laws.noise.law import law_level, law_text, positive_integer, read_confidence
from utmost.laws.noise.powers import cleared_bits


@dataclass(frozen=True, slots=True, init=False, repr=False)
class JointCells(Shown):
    r"""P(X = x) proportional to q^max(|x_1|, ..., |x_k|) on k integers, with q = exp(-epsilon / sensitivity).

    Args:
        epsilon: the level of all cells together, or alpha = exp(-epsilon) instead.
        cells: k, how many cells one individual changes together, at least 1.
        sensitivity: how much one individual can change each of them, an integer >= 1.

    Raises:
        NotALevel: for no level or two.
        OutOfRange: for a sensitivity or number of cells below 1.

    Promise: epsilon-DP for k integers, each changed by at most the sensitivity, attained. Not to be relaxed.
    Source:  docs/theory/cells-together.md.

    >>> law = JointCells(alpha="1/2", cells=2)
    >>> law.pmf([0, 0]), law.pmf([1, -1]), law.marginal_pmf(0), law.radius("0.95")
    (Fraction(1, 17), Fraction(1, 34), Fraction(3, 17), 6)
    """

    level: Level
    cells: int
    sensitivity: int

    @checked
    def __init__(
        self,
        epsilon: Number | Level | None = None,
        cells: Number = 2,
        sensitivity: Number = 1,
        *,
        alpha: Number | None = None,
    ) -> None:
        object.__setattr__(self, "level", law_level(epsilon, alpha, "JointCells"))
        object.__setattr__(self, "cells", positive_integer(cells, "cells", "JointCells"))
        object.__setattr__(self, "sensitivity", positive_integer(sensitivity, "sensitivity", "JointCells"))

    @property
    def ratio(self) -> Level:
        """The level of one unit: its alpha is q."""
        return self.level.scaled(Fraction(1, self.sensitivity))

    def pmf(self, x: Sequence[Any]) -> Fraction | float:
        """P(X = x) for k integers: a Fraction where q is rational, else a float."""
        largest = max(abs(exact_integer(number, "x")) for number in _of_length(x, self.cells))
        k = self.cells
        return self._number(lambda q, power: power(largest) * (1 - q) ** k / _odd(k, q))

    def marginal_pmf(self, x: Number) -> Fraction | float:
        """P(X_1 = x), of one cell."""
        a, k = abs(exact_integer(x, "x")), self.cells
        return self._number(
            lambda q, power: power(a) * _progression(k - 1, 2 * a + 1, q) * (1 - q) ** (k + 1) / _odd(k, q), a
        )

    def tail(self, t: int) -> Fraction | float:
        """P(|X_1| > t), of one cell, for t >= 0."""
        t = natural(t, "t")
        return self._number(lambda q, power: self._tail(t, q, power), t)

    @property
    def mean_size(self) -> Fraction | float:
        """E|X_1|, of one cell.

        >>> JointCells(1, 2).mean_size, JointCells(1, 3).mean_size
        (1.42..., 1.95...)
        """
        k = self.cells
        return self._number(
            lambda q, _: (_odd(k + 1, q) / (1 - q) - _odd(k - 1, q) * (1 - q)) / (4 * _odd(k, q)),
        )

    @property
    def variance(self) -> Fraction | float:
        """E X_1^2, of one cell.

        >>> JointCells(1, 2).variance
        3.902...
        """
        k = self.cells
        return self._number(lambda q, _: (_odd(k + 2, q) / (1 - q) ** 2 - _odd(k, q)) / (12 * _odd(k, q)))

    @checked
    def radius(self, confidence: Number = "0.95") -> int:
        """The least t with P(|X_1| <= t) >= confidence, of each cell by itself.

        Exact, ties included, where q is rational; else certified by intervals.
        """
        miss = 1 - read_confidence(confidence)
        above = 1
        while not self._is_kept(above, miss):
            above *= 2
        below = -1
        while above - below > 1:
            middle = (below + above) // 2
            below, above = (below, middle) if self._is_kept(middle, miss) else (middle, above)
        return above

    def sizes(self) -> tuple[int, ...]:
        """The numbers B_j of sum (2n + 1)^k z^n = (sum over j <= k of B_j z^j) / (1 - z)^(k+1): Eulerian, of type B.

        So N is j, with probability proportional to B_j q^j, plus k + 1 geometric variables.

        >>> JointCells(1, 3).sizes()
        (1, 23, 23, 1)
        """
        return _eulerian_odd(self.cells)

    def __repr__(self) -> str:
        return law_text(self, cells=self.cells)

    def _tail(self, t: int, q: Any, power: Callable[[int], Any]) -> Any:
        """2 sum over n > t of (n - t) (2n + 1)^(k-1) q^n, over sum (2n + 1)^k q^n."""
        k, c = self.cells, 2 * t + 3
        above = _progression(k, c, q) - (2 * t + 1) * _progression(k - 1, c, q)
        return power(t + 1) * above * (1 - q) ** (k + 1) / _odd(k, q)

    def _is_kept(self, t: int, miss: Fraction) -> bool:
        """Whether P(|X_1| > t) <= miss."""
        if self.ratio.is_rational:
            return bool(self.tail(t) <= miss)
        for bits in (128, 512, 2048, 8192):  # nearer to a tie than that, the radius is one too large
            around = self._interval(lambda q, power: self._tail(t, q, power), bits, t)
            if around.upper <= miss or around.lower > miss:
                return around.upper <= miss
        return False

    def _number(self, formula: "_Formula", near: int = 0) -> Fraction | float:
        if self.ratio.is_rational:
            q = self.ratio.alpha_fraction()
            return Fraction(formula(q, lambda n: q**n))
        return nearest(settled(lambda bits: self._interval(formula, bits, near)))

    def _interval(self, formula: "_Formula", bits: int, near: int) -> Interval:
        """The formula with guard bits for what (1 - q)^(k+2) and powers of 2 near + 3 take up."""
        k = self.cells
        guard = 64 + (k + 3) * (2 * cleared_bits(self.ratio) + (2 * near + 3).bit_length() + k.bit_length())
        inner = bits + guard

        def power(n: int) -> Interval:
            return self.ratio.scaled(n).alpha_interval(inner) if n else Interval.of(1, inner)

        result: Interval = formula(self.ratio.alpha_interval(inner), power)
        return result.at(bits)


_Formula = Callable[[Any, Callable[[int], Any]], Any]


def _of_length(x: Sequence[Any], cells: int) -> Sequence[Any]:
    natural(len(x), "the number of cells of x", least=cells, most=cells)
    return x


@lru_cache(maxsize=64)
def _eulerian_odd(n: int) -> tuple[int, ...]:
    """B(n, j) = (2j + 1) B(n-1, j) + (2n - 2j + 1) B(n-1, j-1)."""
    row = [1]
    for m in range(1, n + 1):
        padded = [0, *row, 0]
        row = [(2 * j + 1) * padded[j + 1] + (2 * m - 2 * j + 1) * padded[j] for j in range(m + 1)]
    return tuple(row)


@lru_cache(maxsize=64)
def _eulerian(n: int) -> tuple[int, ...]:
    """The A(n, j) of sum over m >= 0 of m^n z^m = sum A(n, j) z^j / (1 - z)^(n+1)."""
    row = [1]
    for m in range(1, n + 1):
        padded = [0, *row, 0]
        row = [j * padded[j + 1] + (m + 1 - j) * padded[j] for j in range(m + 1)]
    return tuple(row)


def _at(coefficients: tuple[int, ...], q: Any) -> Any:
    """A polynomial, by Horner's rule."""
    value = 0 * q
    for coefficient in reversed(coefficients):
        value = value * q + coefficient
    return value


def _odd(n: int, q: Any) -> Any:
    """(1 - q)^(n+1) sum (2m + 1)^n q^m."""
    return _at(_eulerian_odd(n), q)


def _progression(n: int, first: int, q: Any) -> Any:
    """sum over j >= 0 of (first + 2j)^n q^j."""
    terms = (
        _at(_eulerian(i), q) / (1 - q) ** (i + 1) * (math.comb(n, i) * first ** (n - i) * 2**i) for i in range(n + 1)
    )
    return sum(terms, 0 * q)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RotatedPair:
    r"""The noise (G_1 + G_2)/2 of one cell, (G_1 - G_2)/2 of the other: geometric, q = exp(-epsilon / (2 sensitivity)).

    Args:
        epsilon: the level of both cells together, or alpha = exp(-epsilon) instead.
        sensitivity: how much one individual can change each of the two, an integer >= 1.

    Promise: epsilon-DP for two integers, each changed by at most the sensitivity, attained; lossless to relax.
    Source:  docs/theory/cells-together.md.

    >>> law = RotatedPair(1)
    >>> law.mean_size, law.variance, law.radius("0.95")
    (1.46..., 3.91..., 4.0)
    """

    level: Level
    sensitivity: int

    cells = 2

    @checked
    def __init__(
        self, epsilon: Number | Level | None = None, sensitivity: Number = 1, *, alpha: Number | None = None
    ) -> None:
        object.__setattr__(self, "level", law_level(epsilon, alpha, "RotatedPair"))
        object.__setattr__(self, "sensitivity", positive_integer(sensitivity, "sensitivity", "RotatedPair"))

    @property
    def ratio(self) -> Level:
        """The level of one unit of the sum, and of the difference."""
        return self.level.scaled(Fraction(1, 2 * self.sensitivity))

    def pmf(self, x: Sequence[Any]) -> Fraction | float:
        """P(both noises are x): for multiples of 1/2, both or neither of them whole."""
        first, second = (exact(number, "x") for number in _of_length(x, 2))
        total, apart = first + second, first - second
        if total.denominator != 1 or apart.denominator != 1:
            return Fraction(0)
        geometric = Geometric(self.ratio)
        product: Fraction | float = geometric.pmf(total) * geometric.pmf(apart)
        return product

    def marginal_pmf(self, x: Number) -> Fraction | float:
        """P(X_1 = x), x a multiple of 1/2: ((1-q)/(1+q))^2 q^n (n + (1+q^2)/(1-q^2)) with n = 2|x|."""
        n = 2 * abs(exact(x, "x"))
        if n.denominator != 1:
            return Fraction(0)
        steps = n.numerator
        return self._number(
            lambda q, power: power(steps) * ((1 - q) / (1 + q)) ** 2 * (steps + (1 + q * q) / (1 - q * q))
        )

    @property
    def mean_size(self) -> Fraction | float:
        """E|X_1|, of one cell."""
        return self._number(lambda q, _: 2 * q * (1 + q + q * q) / ((1 - q) * (1 + q) ** 3))

    @property
    def variance(self) -> Fraction | float:
        """E X_1^2, of one cell: half of that of G."""
        return self._number(lambda q, _: q / (1 - q) ** 2)

    @checked
    def radius(self, confidence: Number = "0.95") -> float:
        """The least r, a multiple of 1/2, that is certified to have P(|X_1| <= r) >= confidence."""
        return float(Combination([Fraction(1, 2)], self.ratio, [2]).radius(confidence))

    def __repr__(self) -> str:
        return law_text(self)

    def _number(self, formula: _Formula) -> Fraction | float:
        if self.ratio.is_rational:
            q = self.ratio.alpha_fraction()
            return Fraction(formula(q, lambda n: q**n))
        guard = 64 + 3 * cleared_bits(self.ratio)

        def around(bits: int) -> Interval:
            inner = bits + guard
            result: Interval = formula(
                self.ratio.alpha_interval(inner),
                lambda n: self.ratio.scaled(n).alpha_interval(inner) if n else Interval.of(1, inner),
            )
            return result.at(bits)

        return nearest(settled(around))
