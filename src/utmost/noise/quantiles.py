"""Quantiles on the integers, decided exactly, and floats that are certain to the last bits.

Quantiles on the integers, decided exactly: by floats where they leave no doubt, else by intervals and algebra.

The upper quantile is the least i with T(i) <= q for a tail q < 1/2, and then k = i - 1; the lower one is the largest i
with T(i) >= q, and then k = -i.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange, Unsupported
from utmost.exact import Interval, exact, nearest, plain_array
from utmost.noise.powers import FloatPowers
from utmost.noise.profiles import Profile

_RELATIVE = 1 << 60
# Half of the least float is 2^-1075: what is certainly below is zero to the nearest float, however small it is.
_UNDERFLOW_BITS = 1076


def refined(value: Callable[[int], Interval], bits: int = 128) -> float:
    """A positive real as a float, from intervals of growing precision, ``bits`` at first: relative error about 2^-53.

    A number that lies nearer to 0 than to any other float is 0.0, so the precision stays bounded whatever its size.

    Raises:
        Unsupported: when the number exceeds the largest float.

    >>> from utmost.exact import exp_interval
    >>> refined(lambda bits: exp_interval(-600, bits))
    2.65039655300431...e-261
    """
    while True:
        interval = value(bits)
        if (interval.high - interval.low) * _RELATIVE <= interval.low:
            break
        if interval.high.bit_length() <= bits - _UNDERFLOW_BITS:
            return 0.0
        bits *= 2
    result = nearest(interval)
    if result == float("inf"):
        raise Unsupported("the result exceeds the largest float", remedy="Ask for a smaller order or sensitivity.")
    return result


# A tail is a few units in the last place from the truth; reading 1 - p as a decimal moves it by one unit more.
_DOUBT, _READING = 1e-13, 2.5e-16
_SAFE = 1 << 60


def integer_quantiles(profile: Profile, p: Any, *, mirrored: bool) -> Any:
    """The least integer k with P(X <= k) >= p, or with P(X > k) <= p where mirrored, for a number or an array."""
    array = plain_array(p, "list of probabilities")
    if array.ndim == 0 and not isinstance(p, np.ndarray):
        return _quantile(profile, _upper(p, mirrored))
    if array.dtype.kind == "f" and profile.period < _SAFE:
        values, settled = _by_floats(profile, array.astype(np.float64), mirrored)
    else:
        values, settled = np.zeros(array.shape, np.int64), np.zeros(array.shape, bool)
    results = values.astype(object)
    for place in zip(*np.nonzero(~settled), strict=True):
        results[place] = _quantile(profile, _upper(array[place], mirrored))
    fits = all(isinstance(results[place], int) and abs(results[place]) < 1 << 63 for place in np.ndindex(array.shape))
    return results.astype(np.int64) if fits else results


def read_probability(value: Any) -> Fraction:
    """A probability, read exactly."""
    p = exact(value, "probability")
    if not 0 <= p <= 1:
        raise OutOfRange("a probability must lie between 0 and 1", came=value)
    return p


def _upper(p: Any, mirrored: bool) -> Fraction:
    """What P(X > k) must not exceed."""
    return read_probability(p) if mirrored else 1 - read_probability(p)


def _quantile(profile: Profile, upper: Fraction) -> int | float:
    if upper in (0, 1):
        return -math.inf if upper else math.inf
    if 2 * upper < 1:
        return profile.first_at_most(upper) - 1
    return -profile.last_at_least(1 - upper)


def _by_floats(profile: Profile, p: NDArray[np.float64], mirrored: bool) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Quantiles by floats, and where the tails around them leave no doubt that they are right."""
    inside = (p > 0) & (p < 1)
    side = np.where(inside, np.minimum(p, 1 - p), 0.5)
    doubt = side * _DOUBT + _READING * (p > 0.5)
    near = _near(profile, side)
    around = near + np.arange(-1, 3).reshape(-1, *(1,) * p.ndim)
    tails = profile.tail(FloatPowers(profile.level), np.maximum(around, 0))
    above = (tails > side) & (around >= 0) | (around < 0)
    clear = ((abs(tails - side) > doubt) | (around < 0)).all(axis=0) & above[0] & ~above[-1]
    first = near - 1 + above.sum(axis=0)
    lower = (p >= 0.5) if mirrored else (p <= 0.5)
    return np.where(lower, 1 - first, first - 1), clear & inside & (near < _SAFE)


def _near(profile: Profile, side: NDArray[np.float64]) -> NDArray[np.int64]:
    """About the i with T(i) = side."""
    powers, D = FloatPowers(profile.level), profile.period
    epsilon = float(powers.epsilon.high)
    depth = (math.log(D) - math.log(profile.normaliser(powers)) - np.log(side)) / epsilon
    k = np.floor(depth)
    i = k * D + D * -np.expm1(-epsilon * (depth - k)) / powers.complement - (D - profile.step)
    return np.clip(i, 0, _SAFE).astype(np.int64)
