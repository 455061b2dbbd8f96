"""Powers of alpha in three kinds of numbers: rationals, certified intervals, floats.

Each formula of a distribution is written once, in terms of b = alpha, 1 - b and b^k, and evaluated in any of the three
kinds of numbers. In floats, 1 - b comes from expm1, and b^k from a product in twice the working precision, so that b^k
is accurate to a few units in the last place even if it is 1e-300.

`Doubled` is a float of twice the precision, the sum of two floats. The error-free sum and product are Knuth's and
Dekker's, because NumPy has no fused multiply-add.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.intervals import Interval, nearest
from utmost.core.exact.levels import Level
from utmost.errors import Unsupported

_SPLIT = 134217729.0  # 2^27 + 1 splits a 53-bit significand into two halves
_LARGEST = 2.0**510  # products of smaller numbers do not overflow; larger ones are clipped to it


@dataclass(frozen=True, slots=True, eq=False)
class Doubled:
    """The numbers high + low, arrays or scalars, with |low| at most half a unit in the last place of high."""

    high: Any
    low: Any

    @classmethod
    def of(cls, value: Any) -> "Doubled":
        """Read a Fraction, a float (array), or integers of any size, to 106 bits."""
        if isinstance(value, Fraction):
            first = nearest(value)
            return cls(np.float64(first), np.float64(nearest(value - Fraction(first))))
        if isinstance(value, int) or (isinstance(value, np.ndarray) and value.dtype == object):
            whole = np.asarray(value, dtype=object)
            high = np.array([min(nearest(n), _LARGEST) for n in whole.ravel()]).reshape(whole.shape)
            low = [min(nearest(n - int(h)), _LARGEST) for n, h in zip(whole.ravel(), high.ravel(), strict=True)]
            return cls(high, np.where(high < _LARGEST, np.array(low).reshape(whole.shape), 0.0))
        numbers = np.asarray(value)
        if numbers.dtype.kind in "iu":
            rounded = numbers.astype(np.float64)
            return cls(rounded, (numbers - rounded.astype(np.int64)).astype(np.float64))
        return cls(numbers, np.zeros_like(numbers))

    def __add__(self, other: "Doubled") -> "Doubled":
        total = self.high + other.high
        part = total - self.high
        error = (self.high - (total - part)) + (other.high - part)
        return _renormalised(total, error + (self.low + other.low))

    def __neg__(self) -> "Doubled":
        return Doubled(-self.high, -self.low)

    def __sub__(self, other: "Doubled") -> "Doubled":
        return self + (-other)

    def __mul__(self, other: "Doubled") -> "Doubled":
        x, y = np.minimum(self.high, _LARGEST), np.minimum(other.high, _LARGEST)
        product = x * y
        x1, y1 = _upper_half(x), _upper_half(y)
        x2, y2 = x - x1, y - y1
        error = ((x1 * y1 - product) + x1 * y2 + x2 * y1) + x2 * y2
        return _renormalised(product, error + (x * other.low + self.low * y))


def _upper_half(x: Any) -> Any:
    scaled = _SPLIT * x
    return scaled - (scaled - x)


def _renormalised(high: Any, low: Any) -> Doubled:
    total = high + low
    return Doubled(total, low - (total - high))


# The most bits of an exact power: one number then takes two megabytes.
_LARGEST_EXACT = 1 << 24


class Powers(Protocol):
    """The powers of alpha that a formula needs: b, 1 - b and b^k for integers k >= 0."""

    @property
    def b(self) -> Any:
        """alpha."""

    @property
    def complement(self) -> Any:
        """1 - alpha, without cancellation."""

    def power(self, k: Any) -> Any:
        """alpha^k."""


@dataclass(frozen=True, slots=True)
class ExactPowers:
    """Powers of a rational alpha as fractions.

    >>> from utmost.exact import level
    >>> ExactPowers(level(alpha="1/3")).power(4)
    Fraction(1, 81)
    """

    level: Level

    @property
    def b(self) -> Fraction:
        return self.level.alpha_fraction()

    @property
    def complement(self) -> Fraction:
        return 1 - self.b

    def power(self, k: int) -> Fraction:
        """alpha^k; a fraction of more than 2^24 bits raises `Unsupported`."""
        size = k * self.b.denominator.bit_length()
        if size > _LARGEST_EXACT:
            raise Unsupported(
                f"an exact probability may take at most {_LARGEST_EXACT} bits",
                came=f"about {size}",
                remedy="Pass a float, or call logpmf.",
            )
        return self.b**k


@dataclass(frozen=True, slots=True)
class IntervalPowers:
    """Powers of alpha as intervals with ``bits`` bits after the point."""

    level: Level
    bits: int

    @property
    def b(self) -> Interval:
        return self.level.alpha_interval(self.bits)

    @property
    def complement(self) -> Interval:
        return 1 - self.b

    def power(self, k: int) -> Interval:
        """alpha^k, computed as exp(-k epsilon), for k of any size."""
        return self.level.scaled(k).alpha_interval(self.bits) if k else Interval.of(1, self.bits)


@dataclass(frozen=True, slots=True)
class FloatPowers:
    """Powers of alpha as floats, right to a few units in the last place unless they underflow.

    >>> from utmost.exact import level
    >>> FloatPowers(level(epsilon=1)).power(np.array([0, 700]))
    array([1.00000000e+000, 9.85967654e-305])
    """

    level: Level

    @property
    def b(self) -> float:
        return float(self.power(1))

    @property
    def complement(self) -> float:
        return -float(np.expm1(-float(self.epsilon.high)))

    @property
    def epsilon(self) -> Doubled:
        """epsilon to 106 bits."""
        return _epsilon(self.level)

    def power(self, k: Any) -> NDArray[np.float64]:
        """alpha^k for k >= 0: an array of int64, of Python ints or of floats."""
        exponent = self.epsilon * Doubled.of(k)
        high = np.minimum(exponent.high, 2000.0)  # e^-2000 is 0, and inf times 0 would be NaN
        return np.asarray(np.exp(-high) * (1.0 - np.where(exponent.high < 2000.0, exponent.low, 0.0)))

    def exponent(self, k: Any) -> NDArray[np.float64]:
        """log(alpha^k) = -k epsilon."""
        numbers = np.asarray(k)
        if numbers.dtype == object:
            numbers = np.array([nearest(n) for n in numbers.ravel()]).reshape(numbers.shape)
        return np.asarray(numbers * -self.epsilon.high)


def cleared_bits(level: Level) -> int:
    """The number of leading zeros of 1 - alpha: the bits that a division by 1 - alpha loses."""
    return max(0, 2 - math.frexp(level.epsilon_float)[1])


@lru_cache(maxsize=256)
def _epsilon(level: Level) -> Doubled:
    bits = 256
    while (interval := level.epsilon_interval(bits)).low < 1 << 128:
        bits *= 2
    high = nearest(interval)
    return Doubled(np.float64(high), np.float64(nearest(interval.lower - Fraction(high))))
