"""The points at which a law is evaluated, and the kind of number in which the answer is wanted.

An int or a Fraction asks for an exact answer, a float for a float, a numeric array (or a list of numbers) for a float64
array, an object array for an object array of fractions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import NotANumber, Unsupported
from utmost.exact import nearest, objects, plain_array

_SAFE = 1 << 62  # integers below this may be added and negated as int64


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """The integers at or below the points asked for, and which points are integers themselves.

    Attributes:
        floors: the floors, an array of int64, or of Python ints where int64 would not hold them.
        integral: which points are integers, an array of booleans of the same shape.
        exact: whether the answer is wanted in fractions.
        scalar: whether one number was asked for.

    >>> points = Points.of([1.5, -2.0])
    >>> points.floors, points.integral, points.exact
    (array([ 1, -2]), array([False,  True]), False)
    """

    floors: Any
    integral: NDArray[np.bool_]
    exact: bool
    scalar: bool

    @classmethod
    def of(cls, x: Any) -> "Points":
        """Read a number, a list or an array.

        Raises:
            NotANumber: for booleans, NaN, infinities and what is no number.
        """
        if isinstance(x, Rational) and not isinstance(x, bool):
            return cls._rational(np.asarray(Fraction(x), dtype=object), exact=True, scalar=True)
        array = plain_array(x, "list of points")
        if array.dtype == object:
            return cls._rational(array, exact=isinstance(x, np.ndarray), scalar=False)
        numbers, scalar = finite_numbers(x)
        floors = np.floor(numbers) if numbers.dtype.kind == "f" else numbers  # the floor of an int8 would be a float16
        return cls(_narrow(floors), floors == numbers, exact=False, scalar=scalar)

    @classmethod
    def _rational(cls, array: NDArray[Any], *, exact: bool, scalar: bool) -> "Points":
        floors, integral = np.empty(array.shape, dtype=object), np.empty(array.shape, dtype=bool)
        for place, value in np.ndenumerate(array):
            if not isinstance(value, Rational) or isinstance(value, bool):
                raise NotANumber("points must be integers or fractions", came=value, remedy="Pass a float64 array.")
            floors[place], integral[place] = int(value.numerator) // int(value.denominator), value.denominator == 1
        return cls(floors, integral, exact=exact, scalar=scalar)

    def answer(
        self, formula: Callable[[Any], Any], exact: Callable[[int], Fraction] | None, *, elsewhere: Any = None
    ) -> Any:
        """The formula at the floors, as the kind of number that was asked for.

        Args:
            formula: floats from an array of integers.
            exact: the fraction at one integer; None where the law's probabilities are irrational, and then a single
                point is answered with a float and an object array is refused.
            elsewhere: the answer at points that are no integers, where that is not the one at their floors.
        """
        if self.exact and exact is not None:
            values = [exact(n) if w or elsewhere is None else Fraction(elsewhere) for n, w in self._pairs()]
            return values[0] if self.scalar else objects(values, self.floors.shape)
        if self.exact and not self.scalar:
            raise Unsupported(
                "exact probabilities need a rational alpha",
                remedy='Give the level as alpha="1/2", say, or pass a numeric array.',
            )
        numbers = np.asarray(formula(_narrow(self.floors)), dtype=np.float64)
        if elsewhere is not None:
            numbers = np.where(self.integral, numbers, elsewhere)
        return float(numbers) if self.scalar else numbers

    def _pairs(self) -> list[tuple[int, bool]]:
        return list(zip(self.floors.ravel().tolist(), self.integral.ravel().tolist(), strict=True))


def finite_numbers(x: Any) -> tuple[NDArray[Any], bool]:
    """A number, list or numeric array as an array of finite numbers, and whether one number was given.

    Raises:
        NotANumber: for booleans, NaN, infinities and what is no number.
    """
    array = plain_array(nearest(Fraction(x)) if isinstance(x, Rational) and not isinstance(x, bool) else x, "points")
    if array.size == 0 and isinstance(x, list | tuple):
        array = array.astype(np.float64)
    if array.dtype.kind not in "iuf":
        raise NotANumber("points must be numbers", came=x, remedy="Pass numbers, or a numeric array.")
    if array.dtype.kind == "f":
        array = array.astype(np.float64)
        if not np.isfinite(array).all():
            raise NotANumber("points must be finite", came=x)
    return array, array.ndim == 0 and not isinstance(x, np.ndarray)


def _narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """The same integers as int64 where that is safe, else as Python ints."""
    if numbers.size == 0 or (int(numbers.max()) < _SAFE and int(numbers.min()) > -_SAFE):
        return numbers.astype(np.int64)
    return objects([int(n) for n in numbers.ravel().tolist()], numbers.shape)
