"""Sets of rows of weights along one axis: the groups of b neighbouring values, or the hat functions of spacing s, as
-s."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import Unsupported
from utmost.publish.workloads.reconstruction.least_squares import even_block
from utmost.tables.axes.axes import Axis
from utmost.tables.axes.hat_functions import hat_count, hat_spread, hat_sums

MOST_HATS, MOST_WEIGHTS = 2000, 10**8
"""Along one axis."""


def rows_of(axis: Axis, level: int) -> int:
    """The rows that are measured: of a level its groups, by their size; of -s the hat functions of spacing s."""
    return level if level < 0 else even_block(axis, level)


def base_of(sets: Iterable[int]) -> int:
    """The size of the smallest groups that are measured, to which everything else is added; 0 where nothing is."""
    listed = list(sets)
    groups = [size for size in listed if size > 0]
    if len(groups) < len(listed) and min(groups, default=0) != 1:
        remedy = "Give the values a share of the level, beside the same levels of the other axes or finer ones."
        raise Unsupported(
            "hat functions must be measured beside the values under them", came="hat functions alone", remedy=remedy
        )
    return min(groups, default=0)


def check_hats_fit(size: int, sets: Iterable[int]) -> None:
    """Refuse more hat functions than linear equations are solved for."""
    hats = sum(hat_count(size, -rows) for rows in sets if rows < 0)
    if hats > MOST_HATS or hats * size > MOST_WEIGHTS:
        remedy = "Measure hat functions that are farther apart."
        required = (
            f"there may be {MOST_HATS} hat functions along an axis at most, and {MOST_WEIGHTS} for all of its values"
        )
        raise Unsupported(required, came=hats, remedy=remedy)


def row_sums(values: NDArray[Any], size: int, base: int, rows: int) -> NDArray[Any]:
    """The sums by a set of rows along the first axis, of numbers for the groups of the base.

    >>> row_sums(np.array([1, 2, 3, 4]), 4, 1, 2).tolist(), row_sums(np.array([1, 2, 3, 4]), 4, 1, -2).tolist()
    ([3, 7], [1, 8, 11])
    """
    if rows < 0:
        return hat_sums(values, -rows)
    return np.add.reduceat(values, np.arange(0, size // base, rows // base), axis=0)


def row_values(sums: NDArray[Any], size: int, base: int, rows: int) -> NDArray[Any]:
    """The transpose of `row_sums`."""
    if rows < 0:
        return hat_spread(sums, size, -rows)
    return np.repeat(sums, rows // base, axis=0)
