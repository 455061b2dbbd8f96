"""Staircases of a norm: one random vector as noise for several integers that one individual changes together.

P(X = x) is proportional to q^j, with j = 0 for |x| < r, j = 1 on the next s values of |x|, j = 2 on the next s, and so
on, and q = exp(-epsilon). If one individual changes the cells by d with |d| <= s, then |x + d| <= |x| + s, so j changes
by at most 1. Hence the noise is epsilon-DP for every step r = 1, ..., s. Any distribution that is a decreasing step
function of |x| is a **mixture of balls**: X is uniform on the ball of radius N = r - 1 + j s, with P(j) proportional to
q^j times the number of points in that ball.

- *max*: |x| = max |x_i|, for changes of at most s in each cell, of either sign. The ball is a cube.
- *range*: |x| = max(x_i, 0) - min(x_i, 0), for changes that lower no cell (or that raise none). The ball of radius s in
  this norm is the smallest convex set that contains all such changes of at most s. The ball of radius N has (N +
  1)^(k+1) - N^(k+1) points: x_i = z_i - z_0 for the z of {0, ..., N}^(k+1) with an entry 0.

The numbers of points of balls, and their sums of |x_1| and x_1^2, are polynomials in N, so that masses, moments and
tails have closed forms.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from flint import fmpz_poly
from numpy.typing import NDArray

from utmost.core.exact.arguments import one_of
from utmost.core.exact.arrays import Floats
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval, narrow_interval, nearest
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact_integer, first_integer, natural, read_confidence
from utmost.core.exact.scalars import FormulaWithPowers, Q
from utmost.core.noise.distribution import distribution_level, distribution_text, positive_integer
from utmost.core.noise.polynomials import eulerian
from utmost.core.noise.powers import cleared_bits
from utmost.errors import OutOfRange

Norm = Literal["max", "range"]
"""The size of a change: its largest absolute entry, or the range of its entries and 0."""

CellCost = Literal["absolute", "squared"]
"""The minimised cost: the mean absolute error of a cell, or its variance."""

_SPREAD = 1025  # number of steps that are compared at a time


class BallMixture(Display, ABC):
    """Noise of k cells that is uniform on a ball of random radius; one individual changes each cell by at most s."""

    __slots__ = ()

    level: Level
    cells: int
    sensitivity: int

    @property
    @abstractmethod
    def ball(self) -> Norm:
        """The norm of the balls."""

    @property
    @abstractmethod
    def first(self) -> int:
        """The radius of the smallest ball."""

    @property
    @abstractmethod
    def stride(self) -> int:
        """The difference of neighbouring radii."""

    @property
    @abstractmethod
    def ratio(self) -> Level:
        """The level per stride, whose alpha is q."""

    def pmf(self, x: Sequence[Any]) -> Fraction | float:
        """P(X = x) for k integers: a Fraction if q is rational, else a float."""
        natural(len(x), "the number of cells of x", least=self.cells, most=self.cells)
        index = self._ball_index(norm_of(self.ball, [exact_integer(number, "x") for number in x]))
        return self._number(lambda q, power: power(index) / ((1 - q) * self._sum(self._size, q)), index)

    def marginal_pmf(self, x: Number) -> Fraction | float:
        """P(X_1 = x), for one cell."""
        a = abs(exact_integer(x, "x"))
        index, points = self._ball_index(a), points_at(self.ball, self.cells, a)
        return self._number(
            lambda q, power: power(index) * self._sum(points, q, index) / self._sum(self._size, q), index
        )

    def tail(self, t: int) -> Fraction | float:
        """P(|X_1| > t) for one cell, with t >= 0."""
        t = natural(t, "t")
        return self._number(lambda q, power: self._tail(t, q, power), self._ball_index(t + 1))

    @property
    def mean_size(self) -> Fraction | float:
        """E|X_1|, for one cell."""
        return self._moment(1)

    @property
    def variance(self) -> Fraction | float:
        """E X_1^2, for one cell."""
        return self._moment(2)

    def margin(self, confidence: Number = DEFAULT_CONFIDENCE) -> int:
        """The least t with P(|X_1| <= t) >= confidence for one cell: exact if q is rational, else certified."""
        miss = 1 - read_confidence(confidence)
        above = 1
        # Doubling and then bisection need few comparisons, even for a margin of thousands. Each one evaluates a
        # polynomial.
        while not self._covers(above, miss):
            above *= 2
        return first_integer(-1, above, lambda t: self._covers(t, miss))

    def sizes(self) -> tuple[int, ...]:
        """The coefficients h_i in: sum over j of |ball(first + j stride)| z^j = (sum over i <= k of h_i z^i) / (1 -
        z)^(k+1).
        """
        # No h_i is negative, so that j is I + k + 1 geometric variables, with P(I = i) proportional to h_i q^i.
        k, size = self.cells, self._size
        balls = [int(size(self.first + j * self.stride)) for j in range(k + 1)]
        # The generating function of a polynomial of degree k has the denominator (1 - z)^(k+1): multiply by it.
        signs = [(-1) ** i * math.comb(k + 1, i) for i in range(k + 1)]
        return tuple(sum(signs[i] * balls[j - i] for i in range(j + 1)) for j in range(k + 1))

    @property
    def _size(self) -> fmpz_poly:
        return points_of(self.ball, self.cells)

    def _ball_index(self, radius: int) -> int:
        """The index of the smallest ball with at least this radius."""
        return max(0, -(-(radius - self.first) // self.stride))

    def _moment(self, order: int) -> Fraction | float:
        sums, below = moment_of(self.ball, self.cells, order)
        return self._number(lambda q, _: self._sum(sums, q) / (self._sum(self._size, q) * below))

    def _tail(self, t: int, q: Q, power: Callable[[int], Q]) -> Q:
        index = self._ball_index(t + 1)
        return power(index) * self._sum(points_beyond(self.ball, self.cells, t), q, index) / self._sum(self._size, q)

    def _sum(self, points: fmpz_poly, q: Q, index: int = 0) -> Q:
        """The sum over j >= 0 of points(radius of ball ``index`` + j) q^j, from nonnegative terms."""
        coefficients = points(fmpz_poly([self.first + index * self.stride, self.stride])).coeffs()
        terms = [_at(eulerian(i), q) / (1 - q) ** (i + 1) * int(of) for i, of in enumerate(coefficients)]
        return sum(terms, 0 * q)

    def _covers(self, t: int, miss: Fraction) -> bool:
        if self.ratio.is_rational:
            return bool(self.tail(t) <= miss)
        for bits in (128, 512, 2048, 8192):  # if the comparison is undecided, the margin becomes larger by 1
            around = self._interval(lambda q, power: self._tail(t, q, power), bits, self._ball_index(t + 1))
            if around.upper <= miss or around.lower > miss:
                return around.upper <= miss
        return False

    def _number(self, formula: FormulaWithPowers, near: int = 0) -> Fraction | float:
        if self.ratio.is_rational:
            q = self.ratio.alpha_fraction()
            return Fraction(formula(q, lambda n: q**n))
        return nearest(narrow_interval(lambda bits: self._interval(formula, bits, near)))

    def _interval(self, formula: FormulaWithPowers, bits: int, near: int) -> Interval:
        """An interval around the value of a formula at q, computed with guard bits."""
        k, widest = self.cells, self.first + (near + 2) * self.stride + 2
        # Each of k + 3 divisions by 1 - q loses as many bits as 1 - q has leading zeros, and a product with a number of
        # points loses the bits of that number.
        guard = 64 + (k + 4) * (2 * cleared_bits(self.ratio) + 2 * widest.bit_length() + k.bit_length())
        inner = bits + guard

        def power(n: int) -> Interval:
            return self.ratio.scaled(n).alpha_interval(inner) if n else Interval.of(1, inner)

        result: Interval = formula(self.ratio.alpha_interval(inner), power)
        return result.at(bits)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class NormStaircase(BallMixture):
    """P(X = x) proportional to q^j for |x| on step j. Step 0 has r values of |x|, and every other step as many as the
    sensitivity.
    """

    level: Level
    cells: int
    sensitivity: int
    norm: Norm
    step: int

    def __init__(
        self,
        epsilon: Number | Level | None = None,
        cells: Number = 2,
        sensitivity: Number = 1,
        norm: Norm = "max",
        step: Number = 1,
        *,
        alpha: Number | None = None,
    ) -> None:
        name = "NormStaircase"
        object.__setattr__(self, "level", distribution_level(epsilon, alpha, name))
        object.__setattr__(self, "cells", positive_integer(cells, "cells", name))
        object.__setattr__(self, "sensitivity", positive_integer(sensitivity, "sensitivity", name))
        object.__setattr__(self, "norm", _norm(norm))
        object.__setattr__(self, "step", positive_integer(step, "step", name))
        if self.step > self.sensitivity:
            raise OutOfRange("step must be at most the sensitivity", came=step, where=name, remedy="Leave out step=.")

    @classmethod
    def optimal(
        cls, level: Level, cells: int, sensitivity: int, norm: Norm = "max", cost: CellCost = "absolute"
    ) -> "NormStaircase":
        """The staircase whose first step has the least cost in floats. All steps are compared if there are at most
        1025; else the steps of successively finer grids.

        >>> from utmost.exact import level
        >>> NormStaircase.optimal(level(3), 2, 20)
        NormStaircase(epsilon=3, sensitivity=20, cells=2, norm='max', step=9)
        """
        kind = _norm(norm)
        one_of(cost, CellCost, "cost")
        sums, _ = moment_of(kind, cells, 1 if cost == "absolute" else 2)
        low, high = 1, sensitivity
        while True:
            count = min(_SPREAD, high - low + 1)
            steps = [low + (high - low) * at // max(1, count - 1) for at in range(count)]
            u = np.array([(step - 1) / sensitivity for step in steps])
            costs = _scaled(sums, u, level, sensitivity) / _scaled(points_of(kind, cells), u, level, sensitivity)
            best = int(costs.argmin())
            if high - low < _SPREAD:
                return cls(level, cells, sensitivity, norm, steps[best])
            # The next grid is finer, and lies between the neighbours of the best step.
            low, high = steps[max(0, best - 1)], steps[min(count - 1, best + 1)]

    @property
    def ball(self) -> Norm:
        return self.norm

    @property
    def first(self) -> int:
        return self.step - 1

    @property
    def stride(self) -> int:
        return self.sensitivity

    @property
    def ratio(self) -> Level:
        return self.level

    def __repr__(self) -> str:
        return distribution_text(self, cells=self.cells, norm=self.norm, step=self.step)


def norm_of(norm: Norm, x: Sequence[int]) -> int:
    """The norm |x| of an integer point."""
    return max(map(abs, x)) if _norm(norm) == "max" else max(*x, 0) - min(*x, 0)


@lru_cache(maxsize=256)
def points_of(norm: Norm, k: int) -> fmpz_poly:
    """The number of integer points of k dimensions in the ball of radius N, a polynomial in N."""
    return _ODD**k if norm == "max" else _NEXT ** (k + 1) - _N ** (k + 1)


@lru_cache(maxsize=256)
def moment_of(norm: Norm, k: int, order: int) -> tuple[fmpz_poly, int]:
    """The sum of |x_1| or x_1^2 over the ball of radius N, as a polynomial in N and an integer denominator."""
    if norm == "max":
        return (_ODD ** (k - 1) * _N * _NEXT, 1) if order == 1 else (_ODD**k * _N * _NEXT, 3)
    high, low = (k + 2, k) if order == 1 else (k + 3, k + 1)
    return _NEXT**high - _NEXT**low - _N**high + _N**low, 3 * order


@lru_cache(maxsize=256)
def points_at(norm: Norm, k: int, a: int) -> fmpz_poly:
    """The number of points with x_1 = a in the ball of radius N >= |a|, a polynomial in N."""
    if norm == "max":
        return _ODD ** (k - 1)
    left = _N - a
    # left + 1 windows of N + 1 integers contain 0 and a; neighbouring windows have N integers in common.
    return (left + 1) * _NEXT ** (k - 1) - left * _N ** (k - 1)


@lru_cache(maxsize=256)
def points_beyond(norm: Norm, k: int, t: int) -> fmpz_poly:
    """The number of points with |x_1| > t in the ball of radius N > t."""
    left = _N - t
    if norm == "max":
        return left * 2 * _ODD ** (k - 1)
    return left * (left + 1) * _NEXT ** (k - 1) - left * (left - 1) * _N ** (k - 1)


_N, _NEXT, _ODD = fmpz_poly([0, 1]), fmpz_poly([1, 1]), fmpz_poly([1, 2])


def _norm(norm: Any) -> Norm:
    chosen: Norm = one_of(norm, Norm, "norm")
    return chosen


def _at(coefficients: tuple[int, ...], q: Q) -> Q:
    """Evaluate a polynomial by Horner's rule."""
    value = 0 * q
    for coefficient in reversed(coefficients):
        value = value * q + coefficient
    return value


def _scaled(points: fmpz_poly, u: NDArray[np.float64], level: Level, sensitivity: int) -> Floats:
    """The sums over j of points(s (u + j)) q^j, up to a factor that is the same for every u."""
    degree = points.degree()
    scaled = [float(Fraction(int(of), sensitivity ** (degree - i))) for i, of in enumerate(points.coeffs())]
    epsilon = level.epsilon_float
    q, left = math.exp(-epsilon), -math.expm1(-epsilon)
    total, slopes = np.zeros_like(u), np.polynomial.Polynomial(scaled)
    for i in range(degree + 1):
        # All sums are multiplied by left^(degree+1): at a small level they would overflow floats without this common
        # factor.
        weight = float(_at(eulerian(i), q)) * left ** (degree - i) / math.factorial(i)
        total = total + slopes(u) * weight
        slopes = slopes.deriv()
    return total
