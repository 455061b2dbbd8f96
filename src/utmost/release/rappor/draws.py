"""Exact draws of bits whose chance depends on what is known of each: one uniform number against several thresholds."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import NotANumber, OutOfRange
from utmost.exact import Interval
from utmost.sampling.bits import Randomness
from utmost.sampling.categorical import Categorical
from utmost.sampling.draw import CHUNK

Bits = NDArray[np.bool_]
Real = Callable[[int], Interval]
"""A number known to any precision."""

_WORD_BITS = 16
_SORTING_BITS = 256


def draw_bits(states: NDArray[np.uint8], chances: Sequence[Fraction | Real], randomness: Randomness) -> Bits:
    """For each state k an independent bit that is 1 with probability ``chances[k]``.

    A uniform number U is drawn as far as it takes to know which of the chances it is below; the bit is [U < chance of
    its own state]. The numbers drawn are the same whatever the states are.

    Args:
        states: of any shape, with values below the number of chances.
        chances: each a Fraction, or a number known to any precision.

    Cost: about 4 ns a bit.

    >>> from utmost.testing import SeededRandomness
    >>> draw_bits(np.array([0, 1], np.uint8), [Fraction(0), Fraction(1)], SeededRandomness(1)).tolist()
    [False, True]
    """
    reals = [partial(Interval.of, chance) if isinstance(chance, Fraction) else chance for chance in chances]
    order = sorted(range(len(reals)), key=lambda k: reals[k](_SORTING_BITS).middle)
    passed = Categorical(lambda bits: [reals[k](bits) for k in order], word_bits=_WORD_BITS, lookup=True)
    # is_one[k, j]: whether U, having passed j of the chances in their order, is below that of state k.
    is_one = np.array([[j <= order.index(k) for j in range(len(order) + 1)] for k in range(len(order))]).reshape(-1)
    drawn = np.empty(states.shape, np.bool_)
    flat, row = drawn.reshape(-1), states.reshape(-1)
    width = np.uint8(len(order) + 1)
    for start in range(0, row.size, CHUNK):
        part = row[start : start + CHUNK]
        flat[start : start + CHUNK] = is_one.take(part * width + passed.draw(part.size, randomness), mode="clip")
    return drawn


def as_bits(values: object, name: str) -> Bits:
    """An array of bits.

    Raises:
        NotANumber: for anything but bools and the integers 0 and 1.

    >>> as_bits([[0, 1]], "bits")
    array([[False,  True]])
    """
    array = np.asarray(values)
    if array.dtype == np.bool_:
        return array
    if array.dtype.kind not in "iu" or (array.size and not 0 <= array.min() <= array.max() <= 1):
        raise NotANumber(f"{name} must be made of bits, 0 and 1", came=_kind(array))
    return array.astype(np.bool_)


def _kind(array: NDArray[Any]) -> str:
    """What came instead of bits: their type, and where it is right the place of the first that is none; no value."""
    if array.dtype.kind not in "iu":
        return f"an array of {array.dtype}"
    place = np.unravel_index(int(np.argmax((array < 0) | (array > 1))), array.shape)
    return f"another integer at [{', '.join(map(str, place))}]"


def check_same_shape(bits: Bits, responses: Bits) -> None:
    """Check that there is one response for each bit.

    Raises:
        OutOfRange: where there is not.
    """
    if bits.shape != responses.shape:
        raise OutOfRange("bits and responses must have one shape", came=f"{bits.shape} and {responses.shape}")
