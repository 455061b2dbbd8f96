"""Hat functions: overlapping sums along an axis whose values are in order, with weights that rise to a peak and fall
again.

A hat function of spacing s weighs the values around its peak by 1, 2, ..., s, ..., 2, 1. Peaks stand s values apart,
over both ends of the axis, so that every value lies under two neighbouring hat functions (or under one peak) **with
weights that add up to exactly s**: one individual who changes a cell by 1 changes the hat functions by s together. The
hat function of spacing 1 would be the value itself.

A measured family has on an axis the number of a level, -1 for the difference of an axis' two values, or -s for the
hat functions of spacing s, or a number beyond those of hat functions for rows that a plan lists itself, see
`product_rows`. See proofs/theory/workloads.md.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

MARK = "~"
"""Between the name of an axis and the spacing of its hat functions: ``age~32``."""

WIDEST = 10**6
"""The largest spacing of hat functions."""

DIFFERENCE = -1
"""The number in a family, in the place of a level, for the first of an axis' two values less the second."""

DIFFERENCE_MARK = "-"
"""Behind the name of an axis whose difference is measured: ``sex-``."""

CLASS_MARK = "#"
"""Between the name of an axis and the number of a class of listed rows: ``age#3``."""


def class_code(number: int) -> int:
    """The number of a class of listed rows in a family, in the place of a level.

    >>> class_number(class_code(3)), class_number(-3), class_number(0)
    (3, None, None)
    """
    return -(WIDEST + 1 + number)


def class_number(level: int) -> int | None:
    """The class of listed rows that a family has on an axis; None for groups and hat functions."""
    return None if level >= -WIDEST else -level - WIDEST - 1


def hat_count(size: int, spacing: int) -> int:
    """How many hat functions of a spacing, from 2, have a value of the axis under them.

    >>> [hat_count(10, spacing) for spacing in (2, 4, 5, 100)]
    [6, 4, 4, 2]
    """
    last = size - 1 + spacing - spacing // 2
    return last // spacing + (2 if last % spacing else 1)


def hat_sums(values: NDArray[Any], spacing: int, place: int = 0) -> NDArray[Any]:
    """The sums under the hat functions of a spacing, along one axis of an array; in the type of the array.

    >>> hat_sums(np.array([1, 1, 1, 1, 1]), 2).tolist()
    [1, 4, 4, 1]
    """
    moved = np.moveaxis(values, place, 0)
    lower, rising = _under(moved, spacing)
    sums = np.zeros((hat_count(len(moved), spacing) + 1, *moved.shape[1:]), dtype=values.dtype)
    starts = np.flatnonzero(np.diff(lower, prepend=-1))
    # the hat functions on either side of each run of values between two peaks; beyond the last peak no value has a
    # weight
    sums[lower[starts]] += np.add.reduceat(moved * (spacing - rising), starts, axis=0)
    sums[lower[starts] + 1] += np.add.reduceat(moved * rising, starts, axis=0)
    return np.moveaxis(sums[: hat_count(len(moved), spacing)], 0, place)


def hat_spread(hats: NDArray[Any], size: int, spacing: int, place: int = 0) -> NDArray[Any]:
    """The transpose of `hat_sums`: for each value, the sum of the numbers of its hat functions, by their weights.

    >>> hat_spread(np.array([1, 1, 1]), 4, 2).tolist()
    [2, 2, 2, 2]
    """
    moved = np.moveaxis(hats, place, 0)
    lower, rising = _under(np.empty((size, *moved.shape[1:]), dtype=hats.dtype), spacing)
    upper = np.minimum(lower + 1, len(moved) - 1)
    return np.moveaxis(np.asarray(moved[lower] * (spacing - rising) + moved[upper] * rising), 0, place)


def hat_rows(size: int, spacing: int) -> NDArray[np.int64]:
    """The hat functions as rows of weights; (hat functions, values).

    >>> hat_rows(6, 3).tolist()
    [[1, 0, 0, 0, 0, 0], [2, 3, 2, 1, 0, 0], [0, 0, 1, 2, 3, 2], [0, 0, 0, 0, 0, 1]]
    """
    return np.asarray(hat_spread(np.eye(hat_count(size, spacing), dtype=np.int64), size, spacing).T)


def _under(values: NDArray[Any], spacing: int) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """The hat function of each value whose peak is the last one at or below it, and its weight in the next; the rest
    of s is in this one. The second peak stands half a spacing in, so that both ends lie alike: where it stands moves
    the error by a part in a thousand or less.
    """
    moved = np.arange(len(values)) + spacing - spacing // 2
    rising = (moved % spacing).reshape(-1, *(1,) * (values.ndim - 1))
    return moved // spacing, rising.astype(object) if values.dtype == object else rising
