"""Integers of any size in arrays: machine integers where the values fit, else Python ints; never wrapped."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[Any]
"""An array of some signed integer type, or an object array of Python ints."""

_SMALLEST, _LARGEST = -(1 << 63), (1 << 63) - 1


def smallest_type(bits: int) -> np.dtype[Any]:
    """The smallest signed type for magnitudes below ``2**bits``: int8 to int64, then Python ints.

    >>> smallest_type(7), smallest_type(8), smallest_type(64)
    (dtype('int8'), dtype('int16'), dtype('O'))
    """
    for width in (8, 16, 32, 64):
        if bits < width:
            return np.dtype(f"i{width // 8}")
    return np.dtype(object)


def add(x: Integers, y: Integers) -> Integers:
    """The sums, in int64 where all of them fit.

    >>> add(np.array([2**63 - 1]), np.array([1]))
    array([9223372036854775808], dtype=object)
    """
    if x.size and x.dtype != object and y.dtype != object:
        smallest, largest = int(x.min()) + int(y.min()), int(x.max()) + int(y.max())
        if _fits(smallest, largest):
            return x + y.astype(np.int64, copy=False)
    return narrowed(x.astype(object) + y.astype(object))


def narrowed(x: Integers) -> Integers:
    """The same integers as int64 where all of them fit."""
    return x.astype(np.int64, copy=False) if x.dtype != object or not x.size or _fits(x.min(), x.max()) else x


def joined(parts: Iterable[Integers], size: int) -> Integers:
    """The parts one after the other, ``size`` integers in all, in int64 where all of them fit."""
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
