"""Laws of noise on the integers: everything that follows from the staircase profile."""

import math
from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from utmost.core.exact.intervals import Interval
from utmost.core.exact.numbers import Number, exact_integer, precision, read_confidence
from utmost.core.noise.costs import Cost, Moment
from utmost.core.noise.evaluation import Points, integer_quantiles, refined
from utmost.core.noise.integer_periods import IntegerPeriods, folded_integers
from utmost.core.noise.law import Law
from utmost.core.noise.powers import ExactPowers, FloatPowers, IntervalPowers, cleared_bits
from utmost.core.noise.profiles import Profile

# A product of a few intervals of probabilities loses a few units of the last place.
_GUARD = 64


class IntegerLaw(Law):
    """A law on the integers whose probabilities are a staircase `Profile`.

    Kinds of numbers of pmf, cdf and ccdf: an int (or a Fraction) is answered exactly, with a Fraction, where alpha of
        the
    profile is rational, else with a float; a float with a float; a numeric array or list with a float64 array; an
    object array with an object array of Fractions. Floats are right to a few units in the last place, in both tails.
    """

    __slots__ = ()

    sensitivity: int

    @property
    @abstractmethod
    def profile(self) -> Profile:
        """The staircase: the level of one period, the period, the step."""

    @property
    def numbers(self) -> Literal["integers", "reals"]:
        """The integers."""
        return "integers"

    def pmf(self, x: Any) -> Any:
        """P(X = x); 0 where x is no integer.

        Raises:
            NotANumber: for booleans, NaN, infinities and what is no number.
            Unsupported: for an exact answer of more than 2^24 bits (use logpmf), and for an object array where alpha
                is irrational.
        """
        profile = self.profile
        return Points.of(x).answer(
            lambda n: profile.mass(FloatPowers(profile.level), abs(n)),
            self._exactly(lambda powers, n: profile.mass(powers, abs(n))),
            elsewhere=0,
        )

    def logpmf(self, x: Any) -> Any:
        """log P(X = x), always floats; finite long after the probability itself has underflowed."""
        points = Points.of(x)
        return points.answer(lambda n: self.profile.log_mass(abs(n)), None, elsewhere=-np.inf)

    def cdf(self, x: Any) -> Any:
        """P(X <= x) for any real x; errors as for pmf."""
        return self._at_most(x, mirrored=False)

    def ccdf(self, x: Any) -> Any:
        """P(X > x), accurate in the far tail where 1 - cdf(x) would be 0."""
        return self._at_most(x, mirrored=True)

    def icdf(self, p: Any) -> Any:
        """The least integer k with cdf(k) >= p, decided exactly; minus infinity at p = 0, infinity at p = 1.

        Args:
            p: a number in [0, 1], or an array of them; a float is read as the decimal it prints.

        Returns:
            An int, or an array of int64; Python ints and infinite floats in an object array where int64 fails.
        """
        return integer_quantiles(self.profile, p, mirrored=False)

    def iccdf(self, q: Any) -> Any:
        """The least integer k with ccdf(k) <= q: quantiles of the upper tail for q too small to write as 1 - p."""
        return integer_quantiles(self.profile, q, mirrored=True)

    def expected_cost(self, cost: Cost) -> Fraction | float:
        """E L(X): in closed form for moments of integer order (a Fraction where alpha of the profile is rational).

        Any other cost is summed with adaptive extrapolation, in bounded time and memory whatever the sensitivity. The
        relative error is about 1e-12 for costs that are smooth between finitely many kinks and jumps.

        Raises:
            NotALoss, NotMonotone: when the cost is not even, nonnegative and nondecreasing in |x| at some point tried.
            Unsupported: when the expectation is infinite, exceeds the floats, or is not settled to one part in 10^6.
        """
        if isinstance(cost, Moment) and cost.is_integer:
            return self._moment(int(cost.order))
        profile = self.profile
        folded = folded_integers(profile.level, profile.period, cost)
        if isinstance(folded, IntegerPeriods):
            return folded.expectation(profile.step)
        below, above = folded.total(0, profile.step), folded.total(profile.step, profile.period)
        return profile.folded_cost(below, above, folded.at_zero)

    def entropy(self) -> float:
        """-E log P(X), in nats: P(X = x) is P(0) b^k on step k of the staircase, and E k has a closed form.

        >>> from utmost.noise import Geometric
        >>> round(Geometric(alpha="1/2").entropy(), 12)
        2.022808529415
        """
        shape = self.profile
        epsilon = shape.level.epsilon_float
        most, rest = float(self.pmf(0.0)), 2 * float(self.ccdf(0.0))
        steps = 2 * shape.period * most * math.exp(-epsilon) / math.expm1(-epsilon) ** 2
        return (-math.log1p(-rest) if rest < 0.5 else -math.log(most)) + epsilon * steps

    def margin(self, confidence: Number) -> int:
        """The least t with P(|X| <= t) >= confidence, decided exactly, ties included.

        Args:
            confidence: strictly between 0 and 1; a float is read as the decimal it prints.
        """
        return _margin(self.profile, read_confidence(confidence))

    def pmf_interval(self, k: Number, bits: int = 128) -> Interval:
        """An interval around P(X = k), a few units of ``2**-bits`` wide."""
        bits = precision(bits)
        powers = self._interval_powers(bits)
        result: Interval = self.profile.mass(powers, abs(exact_integer(k, "k")))
        return result.at(bits)

    def cdf_interval(self, k: Number, bits: int = 128) -> Interval:
        """An interval around P(X <= k), a few units of ``2**-bits`` wide."""
        bits = precision(bits)
        powers, n = self._interval_powers(bits), exact_integer(k, "k")
        result: Interval = self.profile.tail(powers, -n) if n < 0 else 1 - self.profile.tail(powers, n + 1)
        return result.at(bits)

    def _at_most(self, x: Any, *, mirrored: bool) -> Any:
        """P(X <= x), or P(X > x) where mirrored: the tail on one side of zero, 1 minus the tail on the other."""
        profile = self.profile

        def one(powers: ExactPowers, n: int) -> Fraction:
            tail: Fraction = profile.tail(powers, n + 1 if n >= 0 else -n)
            return tail if (n >= 0) == mirrored else 1 - tail

        def many(n: Any) -> Any:
            tail = profile.tail(
                FloatPowers(profile.level), np.where(n >= 0, *(np.asarray(i, n.dtype) for i in (n + 1, -n)))
            ).astype(np.float64)
            return np.where((n >= 0) == mirrored, tail, 1.0 - tail)

        return Points.of(x).answer(many, self._exactly(one))

    def _interval_powers(self, bits: int) -> IntervalPowers:
        return IntervalPowers(self.profile.level, bits + _GUARD + self.profile.period.bit_length())

    def _exactly(self, formula: Callable[[ExactPowers, int], Fraction]) -> Callable[[int], Fraction] | None:
        level = self.profile.level
        return (lambda n: formula(ExactPowers(level), n)) if level.is_rational else None

    def _moment(self, order: int) -> Fraction | float:
        profile = self.profile
        if profile.level.is_rational:
            return Fraction(profile.moment(ExactPowers(profile.level), order))
        first = 128 + (order + 1) * cleared_bits(profile.level)
        return refined(lambda bits: profile.moment(IntervalPowers(profile.level, bits), order), first)


@lru_cache(maxsize=1024)
def _margin(profile: Profile, sure: Fraction) -> int:
    """The margin of a profile; whoever views a release again asks for the same one."""
    return max(0, profile.first_at_most((1 - sure) / 2) - 1)
