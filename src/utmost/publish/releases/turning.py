"""Two columns as their sum and difference, and back: multiples of 1/2, kept or rounded by a fair coin."""

from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange
from utmost.laws.exact import checked, objects, plain_array
from utmost.laws.sampling import Randomness
from utmost.laws.sampling.integers import Integers, add, minus
from utmost.laws.sampling.random_bits import secure

Halves = Literal["toss", "keep"]
"""What becomes of multiples of 1/2: rounded up or down by a fair coin, or kept."""

_LARGEST = 1 << 52  # below it, floats hold every multiple of 1/2


@checked
def turned(first: Any, second: Any) -> tuple[Any, Any]:
    """The sum and the difference of two columns of integers: what to put in a `Ledger` or `GradualRelease`, cells=2.

    >>> turned([601, 370], [332, 222])
    (array([933, 592]), array([269, 148]))
    """
    one, two = (whole_numbers(values, "column") for values in (first, second))
    if one.shape != two.shape:
        raise OutOfRange("the two columns must have one length", came=(one.shape, two.shape))
    return add(one, two), minus(one, two)


@checked
def turned_back(
    total: Any, apart: Any, *, halves: Halves = "keep", randomness: Randomness | None = None
) -> tuple[Any, Any]:
    """Two columns from a response to their sum and one to their difference.

    Args:
        total, apart: the responses, integers.
        halves: "keep" gives multiples of 1/2, as floats (or Fractions where floats do not hold them); "toss" rounds
            them by a fair coin each, which leaves the mean of |error| as it is.
        randomness: of the coins; the operating system's if left out.

    >>> turned_back([933, 592], [270, 148])
    (array([601.5, 370. ]), array([331.5, 222. ]))
    """
    one, two = whole_numbers(total, "total"), whole_numbers(apart, "apart")
    if one.shape != two.shape:
        raise OutOfRange("the two responses must have one length", came=(one.shape, two.shape))
    doubled = add(one, two), minus(one, two)
    if one_of(halves, Halves, "halves") == "keep":
        return _halved(doubled[0]), _halved(doubled[1])
    bits = secure(randomness)
    return _tossed(doubled[0], bits), _tossed(doubled[1], bits)


def whole_numbers(values: Any, name: str) -> Integers:
    """A list of integers as a row of int64, or of Python ints.

    Raises:
        OutOfRange: for anything else.
    """
    array = plain_array(values, name)
    if array.ndim != 1 or (array.dtype != object and array.dtype.kind not in "iu") or array.dtype == np.uint64:
        array = objects(list(values)) if np.iterable(values) else array
    if array.ndim != 1 or (array.dtype == object and not all(isinstance(x, int | np.integer) for x in array)):
        raise OutOfRange(f"{name} must be a list of integers", came="another number")
    return array if array.dtype == object else array.astype(np.int64)


def _halved(doubled: Integers) -> NDArray[Any]:
    if not doubled.size or int(np.abs(doubled).max()) < _LARGEST:
        return doubled.astype(np.float64) / 2
    return objects(Fraction(int(x), 2) for x in doubled)


def _tossed(doubled: Integers, randomness: Randomness) -> Integers:
    """Half of each, rounded up or down by a coin of its own, which is drawn whether it is needed or not."""
    coins = (randomness.words(doubled.size, 8) & 1).astype(np.int64)
    return add(doubled, coins) >> 1


def one_of(value: Any, among: Any, name: str) -> Any:
    """The value, which must be one of the words of a literal type.

    Raises:
        OutOfRange: for another.
    """
    if not isinstance(value, str) or value not in get_args(among):
        raise OutOfRange(f"{name} must be one of {', '.join(get_args(among))}", came=value)
    return value
