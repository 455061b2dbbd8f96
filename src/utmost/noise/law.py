r"""Laws of additive noise: symmetric about zero, at one level, for one sensitivity.

`Law` is what integers and reals share; `IntegerLaw` adds everything that follows from the staircase profile.
"""

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from utmost.errors import OutOfRange, Unsupported
from utmost.exact import Interval, Level, Number, exact, exact_integer
from utmost.noise.costs import Cost, Moment
from utmost.noise.points import Points
from utmost.noise.powers import ExactPowers, FloatPowers, IntervalPowers
from utmost.noise.profile import Profile
from utmost.noise.refine import refined

# A product of a few intervals loses a few units; sums of moments a few more.
_GUARD = 64


class Law(ABC):
    """What every law of noise knows: its level, its sensitivity, and that it is symmetric about zero."""

    __slots__ = ()

    level: Level

    @property
    def epsilon(self) -> Fraction | float:
        """The level's epsilon: a Fraction, or a float rounded up."""
        return self.level.epsilon

    @property
    def alpha(self) -> Fraction | float:
        """exp(-epsilon): a Fraction, or the nearest float."""
        return self.level.alpha

    @property
    @abstractmethod
    def domain(self) -> Literal["integers", "reals"]:
        """Where the noise lives."""

    @property
    def support(self) -> Literal["integers", "reals"]:
        """Where the noise has mass: all of its domain."""
        return self.domain

    @property
    @abstractmethod
    def theorem(self) -> str:
        """One line: by which theorem the law is optimal, and for what; or that it is not claimed to be."""

    @abstractmethod
    def moment(self, m: Number) -> Fraction | float:
        """E|X|^m."""

    def mean(self) -> int:
        """E X = 0."""
        return 0

    def variance(self) -> Fraction | float:
        """E X^2."""
        return self.moment(2)


class IntegerLaw(Law):
    """A law on the integers whose probabilities are a staircase `Profile`.

    Number worlds: an int is answered exactly (a Fraction) where alpha of the profile is rational, else with a float; a
    numeric array or list with a float64 array; an object array with an object array of Fractions. Floats are right to a
    few units in the last place, in both tails.
    """

    __slots__ = ()

    sensitivity: int

    @property
    @abstractmethod
    def profile(self) -> Profile:
        """The staircase: the level of one period, the period, the step."""

    @property
    def domain(self) -> Literal["integers", "reals"]:
        """The integers."""
        return "integers"

    def pmf(self, x: Any) -> Any:
        """P(X = x); 0 where x is no integer."""
        points, profile = Points.of(x), self.profile
        inside = points.whole
        return points.answer(
            lambda n: np.where(inside, profile.mass(FloatPowers(profile.level), abs(n)), 0.0),
            self._exactly(lambda powers, n: profile.mass(powers, abs(n))) if np.all(inside) else lambda n: Fraction(0),
        )

    def logpmf(self, x: Any) -> Any:
        """log P(X = x), always floats; finite long after the probability itself has underflowed."""
        points, profile = Points.of(x), self.profile
        inside = points.whole
        values = np.where(inside, profile.log_mass(abs(points.floors)), -np.inf)
        return float(values) if points.scalar else values

    def cdf(self, x: Any) -> Any:
        """P(X <= x)."""
        return self._at_most(Points.of(x))

    def ccdf(self, x: Any) -> Any:
        """P(X > x), accurate in the far tail where 1 - cdf(x) would be 0."""
        return self._at_most(Points.of(x), mirrored=True)

    def icdf(self, p: Any) -> Any:
        """The least integer k with cdf(k) >= p, decided exactly; minus infinity at p = 0, infinity at p = 1.

        Args:
            p: a number in [0, 1] or an array of them; a float is read as the decimal it prints.

        Returns:
            An int, or an array of int64; Python ints and infinite floats in an object array where int64 fails.
        """
        return _each(p, self._quantile)

    def iccdf(self, q: Any) -> Any:
        """The least integer k with ccdf(k) <= q: the quantile for upper tails too small to write as 1 - p."""
        return _each(q, lambda value: self._quantile(1 - value))

    def moment(self, m: Number) -> Fraction | float:
        """E|X|^m for an integer m >= 1: a Fraction where alpha of the profile is rational, else a float.

        Raises:
            OutOfRange: when m is below 1.
            Unsupported: when the moment exceeds the floats.
        """
        order = exact_integer(m, "m")
        if order < 1:
            raise OutOfRange("the order of a moment must be at least 1", came=m)
        profile = self.profile
        if profile.level.is_rational:
            return Fraction(profile.moment(ExactPowers(profile.level), order))
        return refined(lambda bits: profile.moment(IntervalPowers(profile.level, bits), order))

    def expected_cost(self, cost: Cost) -> Fraction | float:
        """E L(X) for a cost L."""
        if isinstance(cost, Moment) and cost.is_integer:
            return self.moment(cost.order)
        raise Unsupported("the expected cost is known for moments", came=cost)

    def radius(self, confidence: Number) -> int:
        """The least t with P(|X| <= t) >= confidence, decided exactly, ties included.

        Args:
            confidence: strictly between 0 and 1; a float is read as the decimal it prints.
        """
        value = exact(confidence, "confidence")
        if not 0 < value < 1:
            raise OutOfRange("confidence must lie strictly between 0 and 1", came=confidence)
        return max(0, self.profile.first_at_most((1 - value) / 2) - 1)

    def pmf_interval(self, k: int, bits: int = 128) -> Interval:
        """An interval around P(X = k), a few units of ``2**-bits`` wide."""
        powers = IntervalPowers(self.profile.level, bits + _GUARD)
        result: Interval = self.profile.mass(powers, abs(exact_integer(k, "k")))
        return result.at(bits)

    def cdf_interval(self, k: int, bits: int = 128) -> Interval:
        """An interval around P(X <= k), a few units of ``2**-bits`` wide."""
        powers, n = IntervalPowers(self.profile.level, bits + _GUARD), exact_integer(k, "k")
        result: Interval = self.profile.tail(powers, -n) if n < 0 else 1 - self.profile.tail(powers, n + 1)
        return result.at(bits)

    def _at_most(self, points: Points, *, mirrored: bool = False) -> Any:
        """P(X <= x), or P(X > x) where mirrored: the tail T on one side, 1 - T on the other."""
        profile = self.profile

        def one_sided(powers: Any, n: Any) -> Any:
            upper = n >= 0
            tail = profile.tail(powers, np.where(upper, n + 1, -n) if isinstance(n, np.ndarray) else abs(n) + upper)
            if isinstance(n, np.ndarray):
                return np.where(upper == mirrored, tail, 1.0 - tail)
            return tail if upper == mirrored else 1 - tail

        return points.answer(lambda n: one_sided(FloatPowers(profile.level), np.asarray(n)), self._exactly(one_sided))

    def _exactly(self, formula: Any) -> Any:
        powers = ExactPowers(self.profile.level)
        return (lambda n: formula(powers, n)) if self.profile.level.is_rational else None

    def _quantile(self, p: Fraction) -> int | float:
        if p in (0, 1):
            return math.inf if p else -math.inf
        if self.profile.compare_tail(0, p) >= 0:
            return -self.profile.last_at_least(p)
        return max(1, self.profile.first_at_most(1 - p) - 1)


def _each(p: Any, quantile: Any) -> Any:
    """A quantile function over a number or an array of probabilities."""
    array = np.asarray(p, dtype=object)
    values = [quantile(_probability(value)) for value in array.ravel().tolist()]
    if array.ndim == 0 and not isinstance(p, np.ndarray):
        return values[0]
    fits = all(isinstance(value, int) and abs(value) < 1 << 63 for value in values)
    return np.array([*values, None], dtype=object)[:-1].reshape(array.shape).astype(np.int64 if fits else object)


def _probability(value: Any) -> Fraction:
    p = exact(value, "probability")
    if not 0 <= p <= 1:
        raise OutOfRange("a probability must lie between 0 and 1", came=value)
    return p
