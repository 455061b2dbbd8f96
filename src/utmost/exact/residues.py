"""Elimination modulo a prime: which rows and columns of an integer matrix are independent, and inverses."""

from collections.abc import Iterator
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from utmost.exact.arrays import Array
from utmost.exact.limbs import LIMB_BITS

Residues = NDArray[np.int64]


def primes() -> Iterator[int]:
    """The primes below 2^20, downwards: their residues are limbs.

    >>> next(primes())
    1048573
    """
    return (p for p in range((1 << LIMB_BITS) - 1, 1 << 19, -2) if all(p % q for q in range(3, isqrt(p) + 1)))


def residues(integers: Array, prime: int) -> Residues:
    """An integer array (Python integers or int64) modulo a prime."""
    return np.asarray(integers % prime).astype(np.int64)


def independent(matrix: Residues, prime: int) -> tuple[list[int], list[int]]:
    """Rows and columns, equally many, whose square submatrix is invertible modulo the prime, and as large as can be.

    The columns are the first ones that are independent. Over the rationals the rank is at least theirs, and equal but
    for a few primes. Cost: O(rows columns rank).

    >>> independent(np.array([[1, 2, 3], [2, 4, 7]]), 101)
    ([0, 1], [0, 2])
    """
    work, rows, columns = matrix.copy(), [], []
    free = np.ones(len(work), dtype=bool)
    for j in range(work.shape[1]):
        column = work[:, j] % prime
        candidates = np.flatnonzero(column.astype(bool) & free)
        if not candidates.size:
            continue
        i = int(candidates[0])
        free[i] = False
        rows.append(i)
        columns.append(j)
        if len(rows) == len(work):
            break
        head = work[i, j:] % prime * pow(int(column[i]), -1, prime) % prime
        column[~free] = 0
        # Only pivot rows and columns are reduced: other entries grow by less than 2^40 a step, far from 2^63.
        work[:, j:] -= np.outer(column, head)
    return rows, columns


def inverse(matrix: Residues, prime: int) -> Residues | None:
    """The inverse of a square matrix modulo a prime; None for a singular one. Cost: O(n^3).

    >>> inverse(np.array([[2, 1], [1, 1]]), 101).tolist()
    [[1, 100], [100, 2]]
    """
    n = len(matrix)
    work = np.concatenate([matrix % prime, np.eye(n, dtype=np.int64)], axis=1)
    for j in range(n):
        column = work[:, j] % prime
        below = np.flatnonzero(column[j:])
        if not below.size:
            return None
        i = j + int(below[0])
        work[[i, j]], column[[i, j]] = work[[j, i]], column[[j, i]]
        work[j] = work[j] % prime * pow(int(column[j]), -1, prime) % prime
        column[j] = 0
        work -= np.outer(column, work[j])
    return np.asarray(work[:, n:] % prime)
