"""Arrays of floats with proven error bounds: each entry is a float and a radius, and the true number is within the
radius of the float.

Operations on balls are interval arithmetic on arrays. A ball is a float m and a float r >= 0, and stands for every real
within r of m. Each operation returns a ball that contains every result. If no finite ball contains every result, the
radius is infinite or NaN, and every comparison with the ball is undecided.

The proofs assume that the machine's + - * / and sqrt of float64 follow IEEE 754 and round to one of the two floats next
to the true result (in any direction), except that results below 2^-1022 may be flushed to zero. The proofs assume
nothing about the machine's logarithm, cosine and exponential. This module computes the three functions from the five
operations and exact scaling by powers of two, by Taylor series, and bounds the remainders and rounding errors.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.intervals import round_up

Reals = NDArray[np.float64]

ROUNDING = 2.0**-52
"""u: |computed - true| <= u |computed| for each operation, in each rounding mode of the machine."""
TINY = 1e-300
"""An upper bound of the error by underflow in a few operations."""
# A radius is a sum of at most eight products of numbers >= 0, each rounded by a factor of at least 1 - u.
_WIDER = 1 + 32 * ROUNDING


@dataclass(frozen=True, slots=True, eq=False)
class Balls:
    """Balls as two arrays of one shape (or two numbers): the middles and the radii."""

    middle: Any
    radius: Any

    @classmethod
    def of(cls, value: Any) -> "Balls":
        """The balls of radius 0 around floats."""
        middle = np.asarray(value, np.float64)
        return cls(middle, np.zeros_like(middle))

    @classmethod
    def between(cls, low: Fraction, high: Fraction) -> "Balls":
        """One ball around all numbers between two rationals."""
        try:
            middle = float((low + high) / 2)
        except OverflowError:
            return cls(np.float64(0.0), np.float64(math.inf))
        radius = round_up(max(high - Fraction(middle), Fraction(middle) - low))
        return cls(np.float64(middle), np.float64(radius))

    def part(self, where: Any) -> "Balls":
        """The balls at the indices ``where``, or under the mask ``where``."""
        return Balls(self.middle[where], self.radius[where])

    def __neg__(self) -> "Balls":
        return Balls(-self.middle, self.radius)

    def __add__(self, other: Union["Balls", int]) -> "Balls":
        that = _lift(other)
        middle = self.middle + that.middle
        return Balls(middle, (self.radius + that.radius + ROUNDING * np.abs(middle)) * _WIDER + TINY)

    __radd__ = __add__

    def __sub__(self, other: Union["Balls", int]) -> "Balls":
        return self + -_lift(other)

    def __rsub__(self, other: int) -> "Balls":
        return _lift(other) + -self

    def __mul__(self, other: Union["Balls", int]) -> "Balls":
        that = _lift(other)
        middle = self.middle * that.middle
        spread = np.abs(self.middle) * that.radius + (np.abs(that.middle) + that.radius) * self.radius
        return Balls(middle, (spread + ROUNDING * np.abs(middle)) * _WIDER + TINY)

    __rmul__ = __mul__

    def __truediv__(self, other: Union["Balls", int]) -> "Balls":
        """|x/y - a/b| <= (|x - a| + |a/b| |y - b|) / |y|; the radius is infinite where the divisor may be 0."""
        that = _lift(other)
        quotient = self.middle / that.middle
        least = (np.abs(that.middle) - that.radius) * (1 - 4 * ROUNDING)
        spread = (self.radius + np.abs(quotient) * (1 + 4 * ROUNDING) * that.radius + TINY) / least
        bound = (spread + ROUNDING * np.abs(quotient)) * _WIDER + TINY
        return Balls(quotient, np.where(least > 0, bound, math.inf))

    def sqrt(self) -> "Balls":
        """The square root of numbers >= 0: |sqrt x - sqrt m| <= |x - m| / sqrt m."""
        root = np.sqrt(self.middle)
        bound = (self.radius / root * (1 + 4 * ROUNDING) + ROUNDING * root) * _WIDER + TINY
        return Balls(root, np.where(self.middle > TINY, bound, math.inf))

    def log(self) -> "Balls":
        """The logarithm of numbers > 0: |log x - log m| <= |x - m| / min(x, m)."""
        logs = _log(self.middle)
        least = (self.middle - self.radius) * (1 - 4 * ROUNDING)
        bound = (self.radius / least + LOG_ERROR * np.abs(logs)) * _WIDER + TINY
        return Balls(logs, np.where(least > TINY, bound, math.inf))

    def exp(self) -> "Balls":
        """The exponential of numbers from -700 to 0: |e^x - e^m| <= e^m (e^r - 1) <= e^m 2r for r <= 1."""
        powers = _exp(self.middle)
        relative = (EXP_ERROR + EXP_SLOPE * np.abs(self.middle)) + 3 * self.radius
        known = (self.middle <= 0) & (self.middle > _LEAST_EXPONENT) & (self.radius <= 2.0**-4)
        return Balls(powers, np.where(known, powers * relative * _WIDER + TINY, math.inf))

    def cos_pi(self) -> "Balls":
        """cos(pi x) for x from 0 to 2. The slope is at most pi < 4."""
        return Balls(_cos_pi(self.middle), (TURN_ERROR + 4 * self.radius) * _WIDER)

    def sin_cos_pi(self) -> tuple["Balls", "Balls"]:
        """sin(pi x) and cos(pi x) for x from 0 to 2."""
        quarter, y = _reduced(self.middle)
        cosine, sine = _series(y)
        radius = (TURN_ERROR + 4 * self.radius) * _WIDER
        return Balls(_turned(quarter + 3, cosine, sine), radius), Balls(_turned(quarter, cosine, sine), radius)

    @property
    def is_positive(self) -> NDArray[np.bool_]:
        """Whether every number of the ball is above 0."""
        return np.asarray(self.middle > self.radius)

    @property
    def floor(self) -> tuple[Reals, NDArray[np.bool_]]:
        """Return a floor for each ball, and whether all numbers of the ball have that floor."""
        reach = (self.radius + 4 * ROUNDING * np.abs(self.middle)) * _WIDER + TINY
        low, high = np.floor(self.middle - reach), np.floor(self.middle + reach)
        return low, (low == high) & (np.abs(low) < _MOST_WHOLE)


# An integer up to 2^52 is a float, and so is the next integer on either side.
_MOST_WHOLE = 2.0**52


def _lift(value: Balls | int) -> Balls:
    # Integers below 2^53 are floats themselves: their radius is 0.
    return value if isinstance(value, Balls) else Balls(np.float64(value), np.float64(0.0))


def _polynomial(x: Reals, coefficients: list[float]) -> Reals:
    """Evaluate a polynomial by Horner's rule. The coefficient of x^0 comes first."""
    total: Any = np.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total *= x
        total += coefficient
    return np.asarray(total)


# log f = 2 (s + s^3/3 + ...), s = (f - 1)/(f + 1), f in [1/sqrt 2, sqrt 2]: z = s^2 <= 0.02944.
_LOG_TERMS = [1 / (2 * j + 1) for j in range(12)]
_LOG2 = 0.6931471805599453
LOG_ERROR = 16 * ROUNDING
"""|_log(x) - log x| <= 16 u |log x|.

f - 1 is exact, so s errs by a factor within 2u (f + 1, and the quotient). Term j of the sum is rounded at most 7 j + 2
times (its coefficient, a product and a sum in each step of Horner's rule, z from s twice, and its product), the first
one twice, so the sum errs by at most (2 + sum over j >= 1 of (7j + 2) z^j/(2j + 1)) u < 2.2 u of itself, and the rest
of the series is below z^12/(25 (1 - z)) < 10^-19. With 2 s times the sum: 5.3 u of log f. e log 2 errs by 1.5 u (its
constant, the product). If e = 0 that is all, with the last sum 6.3 u. Else |e log 2| <= 2 |log x| and
|log f| <= |log x|: 5.3 u + 3 u + u.
"""


def _log(x: Reals) -> Reals:
    with np.errstate(invalid="ignore", divide="ignore"):
        fraction, exponent = np.frexp(x)
        low = fraction < math.sqrt(0.5)
        fraction = np.where(low, 2 * fraction, fraction)
        power = exponent - low
        s = (fraction - 1) / (fraction + 1)
        return np.asarray(power * _LOG2 + 2 * (s * _polynomial(s * s, _LOG_TERMS)))


# An angle is reduced to y turns with y in [-1/8, 1/8], theta = 2 pi y, z = theta^2 <= 0.617.
_COS_TERMS = [(-1) ** j / math.factorial(2 * j) for j in range(9)]
_SIN_TERMS = [(-1) ** j / math.factorial(2 * j + 1) for j in range(9)]
_TWO_PI = 6.283185307179586
TURN_ERROR = 8 * ROUNDING
"""|_cos_pi(x) - cos(pi x)| <= 8 u, and so for the sine, for x from 0 to 2.

y is exact; theta errs by 1.5 u of itself (its constant, the product), z by 4 u. Term j of the cosine is rounded within
(7 j + 2) u: in all (2 cosh(theta) + 7 sum of j z^j/(2j)!) u < 2.7 u + 2.4 u. The sine has the factor theta:
theta (2 sinh(theta)/theta + 7 sum of j z^j/(2j+1)! + 2.5) u < 4.4 u. What is left of either series is below
theta^18/18! < 3e-18 < 0.02 u.
"""


def _reduced(x: Reals) -> tuple[Reals, Reals]:
    """Return the number of quarter turns nearest to x/2 turns, and the remaining turns. Both are exact."""
    quarter = np.floor(2 * x + 0.5)
    return quarter, x / 2 - quarter / 4


def _series(y: Reals) -> tuple[Reals, Reals]:
    theta = _TWO_PI * y
    z = theta * theta
    return _polynomial(z, _COS_TERMS), theta * _polynomial(z, _SIN_TERMS)


def _cos_pi(x: Reals) -> Reals:
    quarter, y = _reduced(x)
    return _turned(quarter, *_series(y))


def _turned(quarter: Reals, cosine: Reals, sine: Reals) -> Reals:
    """cos(theta + quarter pi/2)."""
    odd = np.mod(quarter, 2) == 1
    value = np.where(odd, -sine, cosine)
    return np.where(np.mod(quarter, 4) >= 2, -value, value)


_EXP_TERMS = [1 / math.factorial(j) for j in range(15)]
_LEAST_EXPONENT = -700.0
EXP_ERROR, EXP_SLOPE = 16 * ROUNDING, 8 * ROUNDING
"""|_exp(x) - e^x| <= e^x (16 + 8 |x|) u, -700 < x <= 0.

n = the integer nearest to x/log 2, up to roundings; r = x - n log 2 with |r| < 0.348 errs by 1.5 u |n| log 2 + u |r|,
below 3 u |x| + 2 u. The polynomial, of terms up to r^14/14!, is rounded within (2 j + 1) u a term (and the sum may
cancel: in all sum of (2j + 1) |r|^j/j! u < 2.4 u, against e^r > 0.706), and leaves |r|^15/15! < 2e-19; the scaling by
2^n is exact. Together below (3 |x| + 6) u, by a factor of 1 + (3 |x| + 6) u, which is next to 1.
"""


def _exp(x: Reals) -> Reals:
    with np.errstate(invalid="ignore", over="ignore"):
        bounded = np.where((x <= 0) & (x > _LEAST_EXPONENT), x, 0.0)
    n = np.rint(bounded / _LOG2)
    return np.asarray(np.ldexp(_polynomial(bounded - n * _LOG2, _EXP_TERMS), n.astype(np.int64)))
