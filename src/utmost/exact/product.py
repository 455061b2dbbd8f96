"""Matrix products in either number world; the exact one by integers over common denominators."""

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from utmost.exact.arrays import Array, frozen, is_exact, one_world


def product(left: Array, right: Array) -> Array:
    """The matrix product ``left @ right``, read-only, in the world of its factors (float64 if one of them is).

    Args:
        left: (n, k) or (k,).
        right: (k, m) or (k,).

    Cost: exact products of a few hundred rows take seconds with python-flint (the extra ``utmost[exact]``), and some
    ten times longer without it.

    >>> from utmost.exact import as_array
    >>> product(as_array([["1/2", "1/2"]]), as_array([["1/3"], ["1/6"]])).tolist()
    [[Fraction(1, 4)]]
    """
    left, right = one_world(left, right)
    if not is_exact(left):
        return frozen(np.asarray(left @ right))
    rows = left if left.ndim == 2 else left[None, :]
    columns = right if right.ndim == 2 else right[:, None]
    if rows.shape[1] != columns.shape[0]:
        raise ValueError(f"cannot multiply shapes {left.shape} and {right.shape}")
    answer = _exact_product(rows, columns)
    if left.ndim == 1:
        answer = answer[0]
    if right.ndim == 1:
        answer = answer[..., 0]
    return frozen(answer) if isinstance(answer, np.ndarray) else _scalar(answer)


def _exact_product(left: Array, right: Array) -> Array:
    """Rows of the left and columns of the right factor are scaled to integers, multiplied, and scaled back."""
    (n, k), m = left.shape, right.shape[1]
    row_scale = [lcm(*(x.denominator for x in row)) for row in left]
    column_scale = [lcm(*(x.denominator for x in column)) for column in right.T]
    answer = np.empty((n, m), dtype=object)
    if k == 0:
        answer[:] = Fraction(0)
        return answer
    integers = _integer_product(_scaled(left, row_scale), _scaled(right.T, column_scale))
    for i, row in enumerate(integers):
        answer[i] = [Fraction(int(x), row_scale[i] * column_scale[j]) for j, x in enumerate(row)]
    return answer


def _scaled(rows: Array, scale: list[int]) -> list[list[int]]:
    return [[x.numerator * (s // x.denominator) for x in row] for row, s in zip(rows, scale, strict=True)]


def _integer_product(rows: list[list[int]], columns: list[list[int]]) -> list[list[Any]]:
    try:
        from flint import fmpz_mat
    except ImportError:
        left, right = np.array(rows, dtype=object), np.array(columns, dtype=object)
        return [list(row) for row in left @ right.T]
    return (fmpz_mat(rows) * fmpz_mat(columns).transpose()).tolist()  # type: ignore[no-any-return]


def _scalar(value: Any) -> Array:
    held = np.empty((), dtype=object)
    held[()] = value
    return frozen(held)
