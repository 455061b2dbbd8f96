"""Row sets: families of weighted sums along one axis, each named by an integer.

An integer b > 0 names the sums over groups of b neighbouring values; -s < 0 names the hat functions of spacing s.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import Unsupported
from utmost.publish.workloads.reconstruction.least_squares import even_block
from utmost.tables.axes.axes import Axis
from utmost.tables.axes.hat_functions import hat_count, hat_spread, hat_sums

MOST_HATS, MOST_WEIGHTS = 2000, 10**8
"""Limits along one axis: the number of hat functions, and that number times the number of values."""


def rows_of(axis: Axis, level: int) -> int:
    """Return the row set of a level: the size of its groups, or -s for hat functions of spacing s."""
    return level if level < 0 else even_block(axis, level)


def base_of(sets: Iterable[int]) -> int:
    """Return the size of the smallest measured groups, of which all other rows are sums; 0 if nothing is measured."""
    listed = list(sets)
    groups = [size for size in listed if size > 0]
    if len(groups) < len(listed) and min(groups, default=0) != 1:
        remedy = "Also measure the values of the axis, with the same or finer levels of the other axes."
        raise Unsupported(
            "hat functions can be measured only together with the values of their axis",
            came="hat functions only",
            remedy=remedy,
        )
    return min(groups, default=0)


def check_hats_fit(size: int, sets: Iterable[int]) -> None:
    """Check that there are few enough hat functions for the linear equations."""
    hats = sum(hat_count(size, -rows) for rows in sets if rows < 0)
    if hats > MOST_HATS or hats * size > MOST_WEIGHTS:
        remedy = "Measure hat functions that are farther apart."
        required = (
            f"an axis must have at most {MOST_HATS} hat functions, and this number times that of its values must be at "
            f"most {MOST_WEIGHTS}"
        )
        raise Unsupported(required, came=hats, remedy=remedy)


def row_sums(values: NDArray[Any], size: int, base: int, rows: int) -> NDArray[Any]:
    """Compute the sums of a row set along the first axis, from numbers for the groups of size ``base``."""
    if rows < 0:
        return hat_sums(values, -rows)
    return np.add.reduceat(values, np.arange(0, size // base, rows // base), axis=0)


def row_values(sums: NDArray[Any], size: int, base: int, rows: int) -> NDArray[Any]:
    """Apply the transpose of `row_sums`: from numbers for the rows to numbers for the groups of size ``base``."""
    if rows < 0:
        return hat_spread(sums, size, -rows)
    return np.repeat(sums, rows // base, axis=0)
