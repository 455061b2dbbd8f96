"""Matrix products in either number world; the exact one by integers over common denominators."""

from fractions import Fraction
from math import lcm

import numpy as np
from flint import fmpz_mat

from utmost.errors import OutOfRange
from utmost.exact.arrays import Array, frozen, is_exact, one_world


def product(left: Array, right: Array) -> Array:
    """The matrix product ``left @ right``, read-only: exact if both factors are, else float64.

    Args:
        left: (n, k).
        right: (k, m), or (k,) for a vector.

    Raises:
        OutOfRange: for shapes that do not fit.

    Cost: two exact 400 x 400 matrices take a second or two.

    >>> from utmost.exact import as_array
    >>> product(as_array([["1/2", "1/2"]]), as_array(["1/3", "1/6"])).tolist()
    [Fraction(1, 4)]
    """
    left, right = one_world(left, right)
    if left.ndim != 2 or right.ndim not in (1, 2) or left.shape[1] != right.shape[0]:
        raise OutOfRange("a product needs shapes (n, k) and (k, m)", came=f"{left.shape} and {right.shape}")
    if not is_exact(left):
        return frozen(np.asarray(left @ right))
    columns = right if right.ndim == 2 else right[:, None]
    return frozen(_exact_product(left, columns).reshape(left.shape[:1] + right.shape[1:]))


def _exact_product(left: Array, right: Array) -> Array:
    """Rows of the left and columns of the right factor are scaled to integers, multiplied, and scaled back."""
    answer = np.full((left.shape[0], right.shape[1]), Fraction(0), dtype=object)
    if left.size == 0 or right.size == 0:
        return answer
    row_scale = [lcm(*(x.denominator for x in row)) for row in left]
    column_scale = [lcm(*(x.denominator for x in column)) for column in right.T]
    integers = fmpz_mat(_scaled(left, row_scale)) * fmpz_mat(_scaled(right.T, column_scale)).transpose()
    for i, row in enumerate(integers.tolist()):
        answer[i] = [Fraction(int(x), row_scale[i] * column_scale[j]) for j, x in enumerate(row)]
    return answer


def _scaled(rows: Array, scale: list[int]) -> list[list[int]]:
    return [[x.numerator * (s // x.denominator) for x in row] for row, s in zip(rows, scale, strict=True)]
