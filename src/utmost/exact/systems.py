"""Dense rational linear systems, solved exactly."""

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat, nmod_mat

from utmost.errors import SolverFailed
from utmost.exact.arrays import Array, frozen, rationals
from utmost.exact.matrix_products import by_integers

_PRIME = (1 << 61) - 1


def independent(matrix: Array) -> tuple[list[int], list[int]]:
    """Rows and columns, equally many, whose square submatrix is invertible, and as large as can be modulo a prime.

    Both are the first ones that are independent modulo 2^61 - 1. What is invertible there is invertible over the
    rationals; the rank over the rationals is at least as large, and equal but for a few primes.

    Args:
        matrix: (n, m) Fractions.

    >>> from utmost.exact import as_array
    >>> independent(as_array([[1, 2, 3], [2, 4, 7]]))
    ([0, 1], [0, 2])
    """
    if matrix.size == 0:
        return [], []
    residues = nmod_mat(fmpz_mat(by_integers(matrix)[0].tolist()), _PRIME)
    return _pivots(residues.transpose()), _pivots(residues)


def _pivots(matrix: nmod_mat) -> list[int]:
    """The first independent columns: where the rows of the reduced echelon form begin."""
    reduced, rank = matrix.rref()
    columns, j = [], 0
    for i in range(rank):
        while int(reduced[i, j]) == 0:
            j += 1
        columns.append(j)
    return columns


def solve_lifted(matrix: Array, right: Array) -> Array:
    """The X with matrix @ X = right, for a square nonsingular matrix; all in Fractions.

    Args:
        matrix: (n, n) Fractions. right: (n, k) Fractions.

    Raises:
        SolverFailed: where the matrix is singular.

    Cost: O(n^3 + n^2 k) operations for each digit of X, not of those that X might have.

    >>> from utmost.exact import as_array
    >>> solve_lifted(as_array([[2, 1], [1, 1]]), as_array([["1/2"], ["1/3"]])).tolist()
    [[Fraction(1, 6)], [Fraction(1, 6)]]
    """
    if right.size == 0:
        return frozen(np.empty(right.shape, dtype=object))
    try:
        found = _flint(matrix).solve(_flint(right), "dixon")
    except ZeroDivisionError:
        raise SolverFailed("a linear system must be nonsingular", came=f"{len(matrix)} dependent equations") from None
    return frozen(rationals(((x.p, x.q) for x in found.entries()), right.shape))


def _flint(matrix: Array) -> fmpq_mat:
    n, m = matrix.shape
    return fmpq_mat(n, m, [fmpq(x.numerator, x.denominator) for x in matrix.ravel().tolist()])
