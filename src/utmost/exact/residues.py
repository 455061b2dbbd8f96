"""Which rows and columns of a rational matrix are independent, found modulo a prime."""

from flint import fmpz_mat, nmod_mat

from utmost.exact.arrays import Array
from utmost.exact.limbs import by_integers

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
