"""Read the arguments of pmf, cdf and quantiles, and return the matching type of numbers.

The result is exact for an int or a Fraction, a float for a float, a float64 array for a numeric array or list, and an
object array of Fractions for an object array.

Quantiles on the integers are decided exactly: by floats if their error cannot matter, else by intervals and algebra.
Let T(i) = P(X >= i). The least k with P(X > k) <= q is k = i - 1 for the least i with T(i) <= q, if q < 1/2. If q >=
1/2, it is k = -i for the largest i with T(i) >= 1 - q.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import objects, plain_array
from utmost.core.exact.intervals import Interval, nearest
from utmost.core.exact.numbers import between_0_and_1
from utmost.core.noise.powers import FloatPowers
from utmost.core.noise.profiles import Profile
from utmost.errors import NotANumber, Unsupported

_SAFE = 1 << 62  # integers below this may be added and negated as int64


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """The arguments of one call of pmf or cdf, rounded down, and the kind of numbers to return."""

    floors: Any  # int64, or Python ints if one does not fit
    integral: NDArray[np.bool_]  # whether each point is an integer
    exact: bool  # whether the answer is in Fractions
    scalar: bool  # whether a single number is returned

    @classmethod
    def of(cls, x: Any) -> "Points":
        """Read a number, a list or an array. Booleans, NaN and infinities are refused."""
        if isinstance(x, Rational) and not isinstance(x, bool):
            return cls._rational(np.asarray(Fraction(x), dtype=object), exact=True, scalar=True)
        array = plain_array(x, "list of points")
        if array.dtype == object:
            return cls._rational(array, exact=isinstance(x, np.ndarray), scalar=False)
        numbers, scalar = finite_numbers(x)
        floors = np.floor(numbers) if numbers.dtype.kind == "f" else numbers  # NumPy's floor of an int8 is a float16
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
        """Evaluate a formula at each point, rounded down; at points that are no integers, return ``elsewhere`` unless
        it is None.
        """
        # ``exact`` is None for irrational probabilities.
        if self.exact and exact is not None:
            pairs = zip(self.floors.ravel().tolist(), self.integral.ravel().tolist(), strict=True)
            values = [exact(n) if is_integer or elsewhere is None else Fraction(elsewhere) for n, is_integer in pairs]
            return values[0] if self.scalar else objects(values, self.floors.shape)
        if self.exact and not self.scalar:
            raise Unsupported(
                "exact probabilities need a rational alpha",
                remedy='Give the level by a rational alpha, such as alpha="1/2", or pass a numeric array.',
            )
        numbers = np.asarray(formula(_narrow(self.floors)), dtype=np.float64)
        if elsewhere is not None:
            numbers = np.where(self.integral, numbers, elsewhere)
        return float(numbers) if self.scalar else numbers


def finite_numbers(x: Any) -> tuple[NDArray[Any], bool]:
    """Return finite numbers as an array, and whether a single number was passed."""
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
    """The same integers as int64 if they can be added and negated without overflow, else as Python ints."""
    if numbers.size == 0 or (int(numbers.max()) < _SAFE and int(numbers.min()) > -_SAFE):
        return numbers.astype(np.int64)
    return objects([int(n) for n in numbers.ravel().tolist()], numbers.shape)


_RELATIVE = 1 << 60
# Half of the least float is 2^-1075: every number below rounds to zero.
_UNDERFLOW_BITS = 1076


def refined(value: Callable[[int], Interval], bits: int = 128) -> float:
    """A positive real as a float of relative error about 2^-53, from intervals of growing precision."""
    # A number below half of the least float is 0.0, so that the precision stays bounded.
    while True:
        interval = value(bits)
        if (interval.high - interval.low) * _RELATIVE <= interval.low:
            break
        if interval.high.bit_length() <= bits - _UNDERFLOW_BITS:
            return 0.0
        bits *= 2
    result = nearest(interval)
    if result == float("inf"):
        raise Unsupported("the result must be at most the largest float", remedy="Pass a smaller order or sensitivity.")
    return result


# Relative errors: that of a tail in floats (some units in the last place), and that of 1 - p, where p is read as a
# decimal.
_DOUBT, _READING = 1e-13, 2.5e-16
_COUNTED = 1 << 60


class TailSearch(Protocol):
    """The two searches that a quantile needs on a tail T(i) = P(X >= i), i >= 0."""

    def first_at_most(self, q: Fraction) -> int:
        """The least i >= 0 with T(i) <= q, for 0 < q < 1."""

    def last_at_least(self, q: Fraction) -> int:
        """The largest i >= 0 with T(i) >= q, for 0 < q <= T(0)."""


def integer_quantiles(tails: TailSearch, p: Any, *, mirrored: bool) -> Any:
    """The least integer k with P(X <= k) >= p, or with P(X > k) <= p if ``mirrored``, for a number or an array."""
    array = plain_array(p, "list of probabilities")
    if array.ndim == 0 and not isinstance(p, np.ndarray):
        return _quantile(tails, _upper(p, mirrored))
    if array.dtype.kind == "f" and isinstance(tails, Profile) and tails.period < _COUNTED:
        values, settled = _by_floats(tails, array.astype(np.float64), mirrored)
    else:
        values, settled = np.zeros(array.shape, np.int64), np.zeros(array.shape, bool)
    results = values.astype(object)
    for place in map(tuple, np.argwhere(~settled).tolist()):
        # Exact rationals decide the quantiles of which floats are not certain.
        results[place] = _quantile(tails, _upper(array[place], mirrored))
    fits = all(isinstance(results[place], int) and abs(results[place]) < 1 << 63 for place in np.ndindex(array.shape))
    return results.astype(np.int64) if fits else results


def read_probability(value: Any) -> Fraction:
    return between_0_and_1(value, "a probability", strictly=False)


def _upper(p: Any, mirrored: bool) -> Fraction:
    """The q such that the wanted quantile is the least k with P(X > k) <= q."""
    return read_probability(p) if mirrored else 1 - read_probability(p)


def _quantile(tails: TailSearch, upper: Fraction) -> int | float:
    if upper in (0, 1):
        return -math.inf if upper else math.inf
    if 2 * upper < 1:
        return tails.first_at_most(upper) - 1
    return -tails.last_at_least(1 - upper)


def _by_floats(profile: Profile, p: NDArray[np.float64], mirrored: bool) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return quantiles from floats, and for each quantile whether it is certain."""
    inside = (p > 0) & (p < 1)
    side = np.where(inside, np.minimum(p, 1 - p), 0.5)
    doubt = side * _DOUBT + _READING * (p > 0.5)
    # An estimate of the i with T(i) = side.
    powers, D = FloatPowers(profile.level), profile.period
    epsilon = float(powers.epsilon.high)
    depth = (math.log(D) - math.log(profile.normaliser(powers)) - np.log(side)) / epsilon
    k = np.floor(depth)
    i = k * D + D * -np.expm1(-epsilon * (depth - k)) / powers.complement - (D - profile.step)
    near = np.clip(i, 0, _COUNTED).astype(np.int64)
    # A quantile is certain if, of the tails at four neighbours, the first is clearly above ``side``, the last clearly
    # below, and none within ``doubt`` of it.
    around = near + np.arange(-1, 3).reshape(-1, *(1,) * p.ndim)
    tails = profile.tail(FloatPowers(profile.level), np.maximum(around, 0))
    above = (tails > side) & (around >= 0) | (around < 0)
    clear = ((abs(tails - side) > doubt) | (around < 0)).all(axis=0) & above[0] & ~above[-1]
    first = near - 1 + above.sum(axis=0)
    lower = (p >= 0.5) if mirrored else (p <= 0.5)
    return np.where(lower, 1 - first, first - 1), clear & inside & (near < _COUNTED)
