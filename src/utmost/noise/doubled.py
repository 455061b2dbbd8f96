r"""Floats of twice the precision: a value as the sum of two floats, high + low, for products and differences.

The error-free sum and product are Knuth's and Dekker's; NumPy has no fused multiply-add to do it in one step.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.exact import nearest

_SPLIT = 134217729.0  # 2^27 + 1 cuts a 53-bit significand into two halves
_LARGEST = 2.0**510  # products of two such do not overflow; every use has saturated long before


@dataclass(frozen=True, slots=True, eq=False)
class Doubled:
    """The numbers high + low, arrays or scalars, with |low| at most half a unit in the last place of high.

    >>> third = Doubled.of(Fraction(1, 3))
    >>> float(third.high), float(third.low)
    (0.3333333333333333, 1.850371707708594e-17)
    """

    high: Any
    low: Any

    @classmethod
    def of(cls, value: Any) -> "Doubled":
        """A Fraction, a float (array), or integers of any size, kept to 106 bits."""
        if isinstance(value, Fraction):
            high = nearest(value)
            return cls(np.float64(high), np.float64(nearest(value - Fraction(high))))
        if isinstance(value, int) or (isinstance(value, np.ndarray) and value.dtype == object):
            return cls._of_integers(np.asarray(value, dtype=object))
        numbers = np.asarray(value)
        if numbers.dtype.kind in "iu":
            rounded = numbers.astype(np.float64)
            return cls(rounded, (numbers - rounded.astype(np.int64)).astype(np.float64))
        return cls(numbers, np.zeros_like(numbers))

    @classmethod
    def _of_integers(cls, numbers: Any) -> "Doubled":
        high = np.array([min(nearest(n), _LARGEST) for n in numbers.ravel()]).reshape(numbers.shape)
        low = [min(nearest(n - int(h)), _LARGEST) for n, h in zip(numbers.ravel(), high.ravel(), strict=True)]
        return cls(high, np.where(high < _LARGEST, np.array(low).reshape(numbers.shape), 0.0))

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
