"""Exact products of fixed-point numbers by float64 matrix products: short digits, so that no sum is ever rounded."""

import numpy as np
from numpy.typing import NDArray

from utmost.exact.arrays import Array

# Sums of products of two digits must stay below this: float64 holds every whole number up to it.
_WHOLE = 53
# Entries of a block of rows: few enough to stay in the cache, and in one thread.
_BLOCK = 1 << 15


def table_product(table: Array, places: NDArray[np.int32], weights: Array) -> list[int]:
    """The sums over j of table[places[x, j]] * weights[j], exactly, for every x.

    Args:
        table: (k,) nonnegative Python integers of any length.
        places: (n, m) indices into the table.
        weights: (m,) nonnegative Python integers of any length.

    Cost: as many float64 products of an (n, m) matrix with a few columns as the table's entries have digits, of some 20
    bits each.

    >>> table_product(np.array([10**20, 1], dtype=object), np.array([[0, 1], [1, 1]]), np.array([3, 10**30]))
    [1000000000300000000000000000000, 1000000000000000000000000000003]
    """
    n, m = places.shape
    width = (_WHOLE - m.bit_length()) // 2
    columns, rows = _digits(weights, width), _digits(table, width)
    totals = [0] * n
    step = max(1, _BLOCK // max(1, m))
    entries = np.empty((min(n, step), m))
    for start in range(0, n, step):
        block = places[start : start + step]
        for power, digit in enumerate(rows):
            np.take(digit, block, out=entries[: len(block)], mode="clip")
            sums = (columns @ entries[: len(block)].T).astype(np.int64).T.tolist()
            for x, row in enumerate(sums):
                part = sum(value << width * place for place, value in enumerate(row))
                totals[start + x] += part << width * power
    return totals


def _digits(values: Array, width: int) -> NDArray[np.float64]:
    """The digits of nonnegative integers in base 2^width, least first: (digits, len(values))."""
    numbers, mask = [int(value) for value in values], (1 << width) - 1
    count = max(1, max((-(-value.bit_length() // width) for value in numbers), default=1))
    return np.array([[value >> width * place & mask for value in numbers] for place in range(count)], dtype=np.float64)
