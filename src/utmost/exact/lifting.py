"""Dense rational linear systems, solved exactly by python-flint: digit by digit modulo powers of a prime (Dixon)."""

import numpy as np
from flint import fmpq, fmpq_mat

from utmost.errors import SolverFailed
from utmost.exact.arrays import Array, frozen, rationals


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
