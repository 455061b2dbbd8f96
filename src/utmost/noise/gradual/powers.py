"""Integers as arguments, and alpha to their powers: exact for a rational alpha, else floats."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from utmost.errors import NotANumber
from utmost.exact import Level, exact_integer, log_interval, nearest
from utmost.noise.gradual.quantity import Quantity


def integers(k: ArrayLike, name: str = "k") -> NDArray[Any]:
    """The integers of an array, as int64 where they fit and as Python ints where they do not.

    Raises:
        NotANumber: for booleans, fractions, NaN and whatever is no integer.

    >>> integers([0, -2]).tolist(), integers(10**30).item()
    ([0, -2], 1000000000000000000000000000000)
    """
    array = np.asarray(k)
    if array.dtype.kind == "i" or (array.dtype.kind == "u" and array.dtype.itemsize < 8):
        return array.astype(np.int64)
    if array.size and array.dtype.kind == "b":
        raise NotANumber(f"{name} must be integers", came=k)
    read = [exact_integer(one, name) for one in array.astype(object).reshape(-1)]
    fits = all(-(1 << 62) <= one < 1 << 62 for one in read)
    out = np.empty(array.shape, dtype=np.int64 if fits else object)
    out.reshape(-1)[:] = read
    return out


def powers(base: Level | Quantity, exponents: NDArray[Any]) -> NDArray[Any]:
    """base^k for each k >= 0, for a base in (0, 1]: Fractions for a rational base, else floats."""
    if base.is_rational:
        root = base.alpha_fraction() if isinstance(base, Level) else base.fraction()
        return _each(lambda k: root ** int(k), exponents)
    rate = base.epsilon_float if isinstance(base, Level) else _rate(base)
    return np.exp(-rate * np.asarray(exponents).astype(np.float64))


def _rate(base: Quantity) -> float:
    """-log(base), good to a float's last digits however near 1 the base is."""
    bits = 256
    while (gap := 1 - base(bits)).low < 1 << (bits // 2):
        bits *= 2
    return -nearest(log_interval(1 - (gap.lower + gap.upper) / 2, bits))


def plain(value: Any) -> Any:
    """The array, or its only element as a Python number where it has no axis."""
    return np.asarray(value).item() if np.ndim(value) == 0 else value


def where(condition: NDArray[np.bool_], value: Fraction | float) -> NDArray[Any]:
    """``value`` where the condition holds and zero elsewhere, in the number world of ``value``."""
    return np.where(condition, value, 0 * value)


def _each(function: Any, array: NDArray[Any]) -> NDArray[Any]:
    out = np.empty(np.shape(array), dtype=object)
    out.reshape(-1)[:] = [function(k) for k in np.asarray(array).reshape(-1).tolist()]
    return out
