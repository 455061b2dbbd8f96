"""Arrays of integers of any size, and exact uniform integers below a bound."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import objects
from utmost.core.exact.numbers import exact_integer
from utmost.core.sampling.random_bits import Randomness, WordSource, source
from utmost.errors import OutOfRange

Integers = NDArray[Any]
"""An array of some signed integer type, or an object array of Python ints."""

_SMALLEST, _LARGEST = -(1 << 63), (1 << 63) - 1


def smallest_type(bits: int) -> np.dtype[Any]:
    """The smallest signed type for magnitudes below ``2**bits``: int8 to int64, then Python ints."""
    for width in (8, 16, 32, 64):
        if bits < width:
            return np.dtype(f"i{width // 8}")
    return np.dtype(object)


def add(x: Integers, y: Integers) -> Integers:
    """Add elementwise: int64 if all sums fit, else Python ints."""
    if x.size and x.dtype != object and y.dtype != object:
        smallest, largest = int(x.min()) + int(y.min()), int(x.max()) + int(y.max())
        if _fits(smallest, largest):
            return x + y.astype(np.int64, copy=False)
    return narrowed(x.astype(object) + y.astype(object))


def minus(x: Integers, y: Integers) -> Integers:
    """Subtract elementwise: int64 if all differences fit, else Python ints."""
    if x.size and x.dtype != object and y.dtype != object:
        smallest, largest = int(x.min()) - int(y.max()), int(x.max()) - int(y.min())
        if smallest >= -(1 << 63) and largest < 1 << 63:
            return np.subtract(x, y, dtype=np.int64)
    return narrowed(x.astype(object) - y.astype(object))


def narrowed(x: Integers) -> Integers:
    """Return integers as int64 if all of them fit, else unchanged."""
    return x.astype(np.int64, copy=False) if x.dtype != object or not x.size or _fits(x.min(), x.max()) else x


def joined(parts: Iterable[Integers], size: int) -> Integers:
    """Concatenate parts, which together have ``size`` integers: int64 if all of them fit, else Python ints."""
    whole: Integers = np.empty(size, np.int64)
    start = 0
    for part in parts:
        if part.dtype == object and whole.dtype != object:
            part = narrowed(part)
            whole = whole.astype(part.dtype, copy=False)
        whole[start : start + part.size] = part
        start += part.size
    return whole


def _fits(smallest: int, largest: int) -> bool:
    return smallest >= _SMALLEST and largest <= _LARGEST


_LOWER = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def uniform_integers(bound: int, count: int, randomness: Randomness | None = None) -> NDArray[Any]:
    """``count`` independent integers uniform on 0..bound-1, as int64, or as Python ints if the bound exceeds 2^63."""
    n, size, bits = exact_integer(bound, "bound"), exact_integer(count, "count"), source(randomness)
    if n < 1 or not 0 <= size < 1 << 48:
        raise OutOfRange("bound must be at least 1, and count between 0 and 2^48", came=(bound, count))
    if n <= 1 << 63:
        return uniform_below(np.full(size, n, np.uint64), bits).view(np.int64)
    return objects(one_below(n, bits.word) for _ in range(size))


def uniform_below(bounds: NDArray[np.uint64], randomness: Randomness) -> NDArray[np.uint64]:
    """Independent integers, each uniform on 0..n-1 for its bound n in ``bounds`` (1 <= n <= 2^63) [lemire2019]."""
    # The upper half of the product u n, for words u of 64 bits, takes each value for floor(2^64 / n) words or one more.
    # Words for which the lower half of u n is below 2^64 mod n are drawn again, which leaves floor(2^64 / n) words for
    # each value. A redraw is equally likely for all values, so its time reveals nothing. Cost: about 4 ns for each
    # integer.
    words: NDArray[np.uint64] = randomness.words(bounds.size, 64)
    drawn = _upper_half(words, bounds)
    lower = words * bounds
    near = np.flatnonzero(lower < bounds)
    if near.size:
        again = near[lower[near] < -bounds[near] % bounds[near]]
        if again.size:
            drawn[again] = uniform_below(bounds[again], randomness)
    return drawn


def one_below(bound: int, word: WordSource) -> int:
    bits = 64
    while bound >> bits:
        bits += 64
    while True:
        drawn = word()
        for _ in range(64, bits, 64):
            drawn = drawn << 64 | word()
        product = drawn * bound
        lower = product & ((1 << bits) - 1)
        # Lemire's rejection method: the remainder needs a long division, and is computed only if it may matter.
        if lower >= bound or lower >= (1 << bits) % bound:
            return product >> bits


def _upper_half(words: NDArray[np.uint64], bounds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """floor(u n / 2^64) from products of halves; no sum below can exceed 2^64."""
    upper, lower = words >> _HALF, words & _LOWER
    if int(bounds.max(initial=0)) <= int(_LOWER):
        short: NDArray[np.uint64] = (upper * bounds + (lower * bounds >> _HALF)) >> _HALF
        return short
    high, low = bounds >> _HALF, bounds & _LOWER
    middle = upper * low + (lower * low >> _HALF)
    product: NDArray[np.uint64] = upper * high + (middle >> _HALF) + ((lower * high + (middle & _LOWER)) >> _HALF)
    return product
