"""Hat functions: overlapping sums along an ordered axis, with weights that increase up to a peak and then decrease.

A hat function of spacing s gives the values around its peak the weights 1, 2, ..., s, ..., 2, 1. Peaks are s values
apart, and lie beyond both ends of the axis, so that every value has a positive weight in two neighbouring hat functions
(or in one, at its peak). **The weights of a value add up to exactly s**: one individual who changes a cell by 1 changes
the sums under all hat functions by s together. A hat function of spacing 1 would be a single value.

A measured marginal is a tuple with a number for each axis: the number of a level, -1 for the difference of an axis with
two values, -s for the hat functions of spacing s, or a number below -10^6 for rows that a plan lists (see
`product_rows` and proofs/theory/workloads.md).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

MARK = "~"
"""The mark between the name of an axis and the spacing of its hat functions: ``age~32``."""

WIDEST = 10**6
"""The largest spacing of hat functions."""

DIFFERENCE = -1
"""The number that represents a difference in a marginal: the first value of an axis minus the second."""

DIFFERENCE_MARK = "-"
"""The mark after the name of an axis whose difference is measured: ``sex-``."""

CLASS_MARK = "#"
"""The mark between the name of an axis and the number of a class of listed rows: ``age#3``."""


def class_code(number: int) -> int:
    """The number that represents a class of listed rows in a marginal."""
    return -(WIDEST + 1 + number)


def class_number(level: int) -> int | None:
    """The number of a class of listed rows, from the number that represents it in a marginal; None for groups and hat
    functions.
    """
    return None if level >= -WIDEST else -level - WIDEST - 1


def hat_count(size: int, spacing: int) -> int:
    """The number of hat functions of a spacing >= 2 that give a value of the axis a positive weight."""
    last = size - 1 + spacing - spacing // 2
    return last // spacing + (2 if last % spacing else 1)


def hat_sums(values: NDArray[Any], spacing: int, place: int = 0) -> NDArray[Any]:
    """The sums of an array weighted by the hat functions of a spacing, along one axis of the array and in the dtype of
    the array.
    """
    moved = np.moveaxis(values, place, 0)
    lower, rising = _under(moved, spacing)
    sums = np.zeros((hat_count(len(moved), spacing) + 1, *moved.shape[1:]), dtype=values.dtype)
    starts = np.flatnonzero(np.diff(lower, prepend=-1))
    # Each run of values between two peaks adds to the two hat functions around it. Beyond the last peak all weights are
    # 0.
    sums[lower[starts]] += np.add.reduceat(moved * (spacing - rising), starts, axis=0)
    sums[lower[starts] + 1] += np.add.reduceat(moved * rising, starts, axis=0)
    return np.moveaxis(sums[: hat_count(len(moved), spacing)], 0, place)


def hat_spread(hats: NDArray[Any], size: int, spacing: int, place: int = 0) -> NDArray[Any]:
    """The transpose of `hat_sums`: each value gets the sum of ``hats``, weighted by the weights of the value in the hat
    functions.
    """
    moved = np.moveaxis(hats, place, 0)
    lower, rising = _under(np.empty((size, *moved.shape[1:]), dtype=hats.dtype), spacing)
    upper = np.minimum(lower + 1, len(moved) - 1)
    return np.moveaxis(np.asarray(moved[lower] * (spacing - rising) + moved[upper] * rising), 0, place)


def hat_rows(size: int, spacing: int) -> NDArray[np.int64]:
    """The hat functions as rows of weights, (hat functions, values)."""
    return np.asarray(hat_spread(np.eye(hat_count(size, spacing), dtype=np.int64), size, spacing).T)


def _under(values: NDArray[Any], spacing: int) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """For each value, the index of the hat function with the last peak at or before it, and the weight of the value in
    the next hat function.
    """
    # The weight in this hat function is s minus the weight in the next one. The second peak is half a spacing from the
    # start, so that both ends of the axis are treated alike. The position of the peaks changes the error by at most one
    # part in a thousand.
    moved = np.arange(len(values)) + spacing - spacing // 2
    rising = (moved % spacing).reshape(-1, *(1,) * (values.ndim - 1))
    return moved // spacing, rising.astype(object) if values.dtype == object else rising
