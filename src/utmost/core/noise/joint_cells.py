"""Noise for several cells that one individual changes together: joint noise, or a rotated pair.

If one individual changes only k cells, each by at most s, independent noise at epsilon/k is larger than necessary. Two
distributions are better:

**Joint.** P(X = x) proportional to q^(max |x_i|) with q = exp(-epsilon/s). The distribution is a mixture of cubes,
since q^m = (1 - q) sum of q^n over n >= m: X is uniform on {-N, ..., N}^k, with P(N = n) proportional to (2n + 1)^k
q^n.

**Rotated.** The sum and the difference of two cells each get geometric noise with q = exp(-epsilon/2s). One individual
changes sum and difference together by |d_1 + d_2| + |d_1 - d_2| = 2 max |d_i| <= 2s. The first cell is half of
(sum + difference), so its noise is (G_1 + G_2)/2. The pair can be relaxed without loss.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.intervals import Interval, narrow_interval, nearest
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact, natural
from utmost.core.exact.scalars import FormulaWithPowers
from utmost.core.noise.combination import Combination
from utmost.core.noise.distribution import distribution_level, distribution_text, positive_integer
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.norm_staircase import BallMixture, Norm
from utmost.core.noise.powers import cleared_bits


@dataclass(frozen=True, slots=True, init=False, repr=False)
class JointCells(BallMixture):
    r"""P(X = x) proportional to q^max(|x_1|, ..., |x_k|) on k integers, with q = exp(-epsilon / sensitivity).

    Args:
        epsilon, alpha: Level of all cells together, as epsilon or as alpha = exp(-epsilon).
        cells: Number k of cells that one individual changes together, at least 1.
        sensitivity: Largest change of a cell by one individual, an integer >= 1.

    Raises:
        NotALevel: unless exactly one of epsilon and alpha is passed.
        OutOfRange, NotANumber: if the sensitivity or the number of cells is below 1, or is no integer.

    Promise: epsilon-DP for k integers, each changed by at most the sensitivity, and for no smaller epsilon. The noise
        cannot be relaxed.
    Source: proofs/theory/cells-together.md.

    >>> distribution = JointCells(alpha="1/2", cells=2)
    >>> distribution.pmf([0, 0]), distribution.pmf([1, -1]), distribution.marginal_pmf(0), distribution.margin("0.95")
    (Fraction(1, 17), Fraction(1, 34), Fraction(3, 17), 6)
    >>> JointCells(1, 2).mean_size, JointCells(1, 3).mean_size, JointCells(1, 2).variance
    (1.42..., 1.95..., 3.902...)
    """

    level: Level
    cells: int
    sensitivity: int

    def __init__(
        self,
        epsilon: Number | Level | None = None,
        cells: Number = 2,
        sensitivity: Number = 1,
        *,
        alpha: Number | None = None,
    ) -> None:
        object.__setattr__(self, "level", distribution_level(epsilon, alpha, "JointCells"))
        object.__setattr__(self, "cells", positive_integer(cells, "cells", "JointCells"))
        object.__setattr__(self, "sensitivity", positive_integer(sensitivity, "sensitivity", "JointCells"))

    @property
    def ball(self) -> Norm:
        """The name of the norm of the balls: "max", for max |x_i|."""
        return "max"

    @property
    def first(self) -> int:
        """The radius of the smallest ball: 0."""
        return 0

    @property
    def stride(self) -> int:
        """The difference of neighbouring radii: 1."""
        return 1

    @property
    def ratio(self) -> Level:
        """The level per unit, whose alpha is q."""
        return self.level.scaled(Fraction(1, self.sensitivity))

    def __repr__(self) -> str:
        return distribution_text(self, cells=self.cells)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RotatedPair:
    r"""The noise of one cell is (G_1 + G_2)/2, that of the other (G_1 - G_2)/2, with G_i geometric, q = exp(-epsilon /
    (2 sensitivity)).

    Args:
        epsilon, alpha: Level of both cells together, as epsilon or as alpha = exp(-epsilon).
        sensitivity: Largest change of either cell by one individual, an integer >= 1.

    Promise: epsilon-DP for two integers, each changed by at most the sensitivity, and for no smaller epsilon. The noise
        can be relaxed.
    Source: proofs/theory/cells-together.md.

    >>> distribution = RotatedPair(1)
    >>> distribution.mean_size, distribution.variance, distribution.margin("0.95")
    (1.46..., 3.91..., 4.0)
    """

    level: Level
    sensitivity: int

    cells = 2

    def __init__(
        self, epsilon: Number | Level | None = None, sensitivity: Number = 1, *, alpha: Number | None = None
    ) -> None:
        object.__setattr__(self, "level", distribution_level(epsilon, alpha, "RotatedPair"))
        object.__setattr__(self, "sensitivity", positive_integer(sensitivity, "sensitivity", "RotatedPair"))

    @property
    def ratio(self) -> Level:
        """The level per unit of the sum and of the difference."""
        return self.level.scaled(Fraction(1, 2 * self.sensitivity))

    def pmf(self, x: Sequence[Any]) -> Fraction | float:
        """P(X = x) for two multiples of 1/2. The probability is 0 if only one of the two is an integer."""
        natural(len(x), "the number of cells of x", least=2, most=2)
        first, second = (exact(number, "x") for number in x)
        total, difference = first + second, first - second
        if total.denominator != 1 or difference.denominator != 1:
            return Fraction(0)
        geometric = Geometric(self.ratio)
        product: Fraction | float = geometric.pmf(total) * geometric.pmf(difference)
        return product

    def marginal_pmf(self, x: Number) -> Fraction | float:
        """P(X_1 = x) = ((1-q)/(1+q))^2 q^n (n + (1+q^2)/(1-q^2)) with n = 2|x|, for a multiple x of 1/2."""
        n = 2 * abs(exact(x, "x"))
        if n.denominator != 1:
            return Fraction(0)
        steps = n.numerator
        return self._number(
            lambda q, power: power(steps) * ((1 - q) / (1 + q)) ** 2 * (steps + (1 + q * q) / (1 - q * q))
        )

    @property
    def mean_size(self) -> Fraction | float:
        """E|X_1|, for one cell."""
        return self._number(lambda q, _: 2 * q * (1 + q + q * q) / ((1 - q) * (1 + q) ** 3))

    @property
    def variance(self) -> Fraction | float:
        """E X_1^2, for one cell: half the variance of G."""
        return self._number(lambda q, _: q / (1 - q) ** 2)

    def margin(self, confidence: Number = DEFAULT_CONFIDENCE) -> float:
        """The least multiple r of 1/2 with a certificate that P(|X_1| <= r) >= confidence."""
        return float(Combination([Fraction(1, 2)], self.ratio, [2]).margin(confidence))

    def __repr__(self) -> str:
        return distribution_text(self)

    def _number(self, formula: FormulaWithPowers) -> Fraction | float:
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

        return nearest(narrow_interval(around))
