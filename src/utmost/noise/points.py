r"""The points at which a law is evaluated, and the number world in which the answer is wanted.

An int or a Fraction asks for an exact answer, a float for a float, a numeric array (or a list of numbers) for a float64
array, an object array for an object array of fractions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from utmost.errors import NotANumber, Unsupported

_SAFE = 1 << 62  # integers below this may be added and negated as int64


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Integers at or below the points asked for, and which points are integers themselves.

    Attributes:
        floors: the floors, an array of int64, or of Python ints where int64 would not hold them.
        whole: which points are integers, an array of booleans of the same shape.
        exact: whether the answer is wanted in fractions.
        scalar: whether one number was asked for.
    """

    floors: Any
    whole: Any
    exact: bool
    scalar: bool

    @classmethod
    def of(cls, x: Any) -> "Points":
        """Read a number, a list or an array.

        Raises:
            NotANumber: for booleans, NaN, infinities and what is no number.
        """
        if isinstance(x, Rational) and not isinstance(x, bool):
            return cls._exact(np.asarray(Fraction(x), dtype=object), scalar=True)
        array = np.asarray(x)
        if array.dtype == object and (isinstance(x, np.ndarray) or array.size):
            return cls._exact(array, scalar=False, exact=isinstance(x, np.ndarray))
        if array.size == 0 and array.dtype.kind in "iuf":
            return cls(array.astype(np.int64), np.ones(array.shape, bool), exact=False, scalar=False)
        return cls._numeric(array, x)

    @classmethod
    def _exact(cls, array: Any, *, scalar: bool, exact: bool = True) -> "Points":
        floors, whole = np.empty(array.shape, dtype=object), np.empty(array.shape, dtype=bool)
        for place, value in np.ndenumerate(array):
            if not isinstance(value, Rational) or isinstance(value, bool):
                raise NotANumber("points must be integers or fractions", came=value, mend="Pass a float64 array.")
            floors[place], whole[place] = int(value.numerator) // int(value.denominator), value.denominator == 1
        return cls(floors, whole, exact=exact, scalar=scalar)

    @classmethod
    def _numeric(cls, array: Any, x: Any) -> "Points":
        if array.dtype.kind not in "iuf":
            raise NotANumber("points must be numbers", came=x)
        scalar = array.ndim == 0 and not isinstance(x, np.ndarray)
        if array.dtype.kind != "f":
            return cls(_narrow(array), np.ones(array.shape, bool), exact=False, scalar=scalar)
        if not np.isfinite(array).all():
            raise NotANumber("points must be finite", came=x)
        floors = np.floor(array.astype(np.float64))
        return cls(_narrow(floors), floors == array, exact=False, scalar=scalar)

    def answer(self, formula: Callable[[Any], Any], exact: Callable[[int], Fraction] | None) -> Any:
        """The formula at the floors, in the world that was asked for.

        Args:
            formula: floats from an array of integers.
            exact: the fraction at one integer; None where the law's probabilities are irrational, and then a single
                point is answered with a float and an object array is refused.
        """
        if self.exact and exact is not None:
            values = np.array([exact(int(n)) for n in self.floors.ravel()] + [None], dtype=object)[:-1]
            return values[0] if self.scalar else values.reshape(self.floors.shape)
        if self.exact and not self.scalar:
            raise Unsupported(
                "exact probabilities need a rational alpha",
                mend='Give the level as alpha="1/2", say, or pass a numeric array.',
            )
        numbers = np.asarray(formula(_narrow(self.floors)), dtype=np.float64)
        return float(numbers) if self.scalar else numbers


def _narrow(numbers: Any) -> Any:
    """The same integers as int64 where that is safe, else as Python ints."""
    if numbers.size == 0 or (numbers.max() < _SAFE and numbers.min() > -_SAFE):
        return numbers.astype(np.int64)
    return np.array([int(n) for n in numbers.ravel()] + [None], dtype=object)[:-1].reshape(numbers.shape)
