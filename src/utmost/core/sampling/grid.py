"""The grid, of a width that is a power of two, on which real data get integer noise.

A real x becomes the nearest integer n = floor(x / g + 1/2), g = 2^-k, ties upwards, and an integer n becomes the float
n g. Reals at most Delta apart have integers at most D = ceil(Delta / g) apart: let x <= x' <= x + Delta. Then
x'/g + 1/2 <= x/g + 1/2 + D, and floor is monotone and commutes with adding the integer D, so n' <= n + D. No smaller D
suffices. (Rounding ties to even would break this bound: 1/2 and 3/2 are 1 apart and go to 0 and 2.) So integer noise
for sensitivity D protects the reals at exactly its level, and floats occur only before the snapping and after the
noise. Snapping to the grid adds an error of at most g/2 to each value. An average over releases of the same value does
not remove this error. Over values that are spread over many steps, the error averages out.

The bound holds for the binary numbers, not for the decimals that floats print: 0.1 and 1.1 are slightly more than 1
apart. A sum of floats also has rounding errors, so count money in cents.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import largest_size, objects
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact
from utmost.core.sampling.integers import Integers
from utmost.errors import OutOfRange

FARTHEST = Fraction(1, 2)
"""The largest change of a value by rounding to the grid, in grid steps."""

FINEST, COARSEST = 1074, -1023
"""The exponents k of the finest grid, whose width is the smallest float, and of the coarsest."""

_EXACT = 2.0**62
_ENOUGH = 400  # at a larger epsilon the noise is zero except with probability 10^-86, on any grid
_LARGEST_FLOAT = math.nextafter(math.inf, 0)


def chosen_exponent(sensitivity: Fraction, level: Level) -> int:
    """The k of the default grid: the least k >= 20 + epsilon log2(e)/2 - log2(Delta)."""
    # k depends on the sensitivity and the level, never on the data. Noise on so fine a grid costs less than a millionth
    # more than the best noise on the reals.
    log2 = math.log2(sensitivity.numerator) - math.log2(sensitivity.denominator)
    least = 20 + min(level.epsilon_float, _ENOUGH) * math.log2(math.e) / 2 - log2
    return max(COARSEST, min(FINEST, math.ceil(least)))


def declared_exponent(grid: Number) -> int:
    """The k of a declared width 2^-k; any other width raises `OutOfRange`."""
    width = exact(grid, "grid")
    top, bottom = width.numerator, width.denominator
    if width > 0 and (top & (top - 1)) == 0 and (bottom & (bottom - 1)) == 0:
        exponent = bottom.bit_length() - top.bit_length()
        if COARSEST <= exponent <= FINEST:
            return exponent
    raise OutOfRange(
        "grid must be a power of two between 2^-1074 and 2^1023", came=grid, remedy='Pass, for example, grid="1/1024".'
    )


def steps(length: Fraction, exponent: int) -> int:
    """ceil(length / 2^-exponent), the largest number of grid steps in a change by ``length``."""
    return math.ceil(length * Fraction(2) ** exponent)


def snapped(x: NDArray[Any], exponent: int) -> Integers:
    """The index of the grid point nearest to each x. Ties go upwards."""
    # floor(y + 1/2) = floor((floor(2 y) + 1) / 2), so the floors on a grid of half the width suffice.
    return (_floors(x, exponent + 1) + 1) >> 1


def _floors(x: NDArray[Any], exponent: int) -> Integers:
    """floor(x 2^exponent), exactly, for a row of finite numbers: as int64, or as Python ints if one exceeds int64."""
    up, down = max(exponent, 0), min(max(-exponent, 0), 63)
    if x.dtype.kind == "f" and x.dtype.itemsize <= 8:
        with np.errstate(over="ignore"):
            # Scaling up is exact. Scaling down could round tiny values to zero; a shift after the floor cannot.
            floors = np.floor(np.ldexp(x.astype(np.float64, copy=False), up))
        if np.all(np.abs(floors) < _EXACT):
            return floors.astype(np.int64) >> down
    if x.dtype.kind in "iu" and largest_size(x).bit_length() + up < 63:
        return x.astype(np.int64) << up >> down
    # A Fraction may consist of NumPy integers, which would overflow.
    ratios = (map(int, value.as_integer_ratio()) for value in x.tolist())
    return objects((numerator << up) // (denominator << max(-exponent, 0)) for numerator, denominator in ratios)


def unsnapped(n: Integers, exponent: int) -> NDArray[np.float64]:
    """The floats n 2^-exponent: exact below 2^53, else rounded. Rounding has no privacy loss, because n is noisy."""
    if n.dtype == object:
        return np.array([unsnapped_one(value, exponent) for value in n.ravel().tolist()], np.float64).reshape(n.shape)
    with np.errstate(over="ignore", under="ignore"):
        return np.clip(np.ldexp(n.astype(np.float64), -exponent), -_LARGEST_FLOAT, _LARGEST_FLOAT)


def unsnapped_one(n: int, exponent: int) -> float:
    """The float nearest to n 2^-exponent, at most the largest float."""
    try:
        return (n << max(-exponent, 0)) / (1 << max(exponent, 0))
    except OverflowError:
        return _LARGEST_FLOAT if n > 0 else -_LARGEST_FLOAT
