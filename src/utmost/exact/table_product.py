"""Exact products of a vector with a matrix whose entries are looked up in a table of integers."""

import numpy as np
from numpy.typing import NDArray

from utmost.exact.arrays import Array
from utmost.exact.limbs import LIMB_BITS, MOST_TERMS, limbs

# Entries of a block of rows: few enough to stay in the cache, and in one thread.
_BLOCK = 1 << 15


def table_product(table: Array, places: NDArray[np.int32], weights: Array) -> list[int]:
    """The sums over j of table[places[x, j]] * weights[j], exactly, for every x.

    Table and weights are cut into limbs, so that float64 adds up exactly; the matrix itself is never formed.

    Args:
        table: (k,) Python integers of any length.
        places: (n, m) indices into the table.
        weights: (m,) Python integers of any length.

    Cost: for each limb of the table one float64 product of an (n, m) matrix with a few columns.

    >>> table_product(np.array([10**20, 1], dtype=object), np.array([[0, 1], [1, 1]]), np.array([3, -(10**30)]))
    [-999999999700000000000000000000, -999999999999999999999999999997]
    """
    n, m = places.shape
    totals = [0] * n
    for start in range(0, m, MOST_TERMS):
        part = slice(start, start + MOST_TERMS)
        columns = np.array(limbs(weights[part]))
        for power, limb in enumerate(limbs(table)):
            _add_up(totals, limb, places[:, part], columns, LIMB_BITS * power)
    return totals


def _add_up(
    totals: list[int], limb: NDArray[np.float64], places: NDArray[np.int32], columns: NDArray[np.float64], shift: int
) -> None:
    """Add the sums of one limb of the table to the totals."""
    n, m = places.shape
    step = max(1, _BLOCK // max(1, m))
    entries = np.empty((min(n, step), m))
    for start in range(0, n, step):
        block = places[start : start + step]
        np.take(limb, block, out=entries[: len(block)], mode="clip")
        sums = (columns @ entries[: len(block)].T).astype(np.int64).T.tolist()
        for x, row in enumerate(sums, start):
            totals[x] += sum(value << LIMB_BITS * place for place, value in enumerate(row)) << shift
