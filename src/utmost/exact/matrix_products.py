"""Exact matrix products, by integers over common denominators."""

from fractions import Fraction
from math import lcm
from operator import attrgetter

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from utmost.errors import OutOfRange
from utmost.exact.arrays import Array, Floats, frozen, is_exact, same_numbers

# Products of two limbs, added up 8192 times, stay below 2^53: float64 adds them exactly.
LIMB_BITS = 20
MOST_TERMS = 1 << 13


def by_integers(rows: Array) -> tuple[Array, Array]:
    """Each row times the least common denominator of its entries, as Python integers, and these denominators (n, 1).

    >>> from utmost.exact import as_array
    >>> by_integers(as_array([["1/2", "1/3"]]))[0].tolist()
    [[3, 2]]
    """
    tops, below = numerators(rows), denominators(rows)
    scales = np.lcm.reduce(below, axis=1, keepdims=True)
    return np.asarray(tops * (scales // below)), scales


def numerators(rationals: Array) -> Array:
    """The numerators of Fractions, as Python integers."""
    return np.asarray(np.frompyfunc(attrgetter("numerator"), 1, 1)(rationals))


def denominators(rationals: Array) -> Array:
    """The denominators of Fractions, as Python integers."""
    return np.asarray(np.frompyfunc(attrgetter("denominator"), 1, 1)(rationals))


def limbs(integers: Array) -> list[Floats]:
    """Float64 matrices whose sum, the k-th times 2^(20 k), is the matrix; entries below 2^20 in absolute value.

    >>> [limb.tolist() for limb in limbs(np.array([[-1, 1 << 21]]))]
    [[[1048575.0, 0.0]], [[-1.0, 2.0]]]
    """
    rest, found, mask = integers, [], (1 << LIMB_BITS) - 1
    while _largest(rest) > mask:
        found.append((rest & mask).astype(np.float64))
        rest = rest >> LIMB_BITS
    return [*found, rest.astype(np.float64)]


def _largest(integers: Array) -> int:
    """The largest absolute value."""
    return max(int(integers.max()), -int(integers.min()))


def matrix_product(left: Array, right: Array) -> Array:
    """The matrix product ``left @ right``, read-only: exact if both factors are, else float64.

    Args:
        left: (n, k).
        right: (k, m), or (k,) for a vector.

    Raises:
        OutOfRange: for shapes that do not fit.

    Cost: two exact 400 x 400 matrices take a second or two.

    >>> from utmost.exact import as_array
    >>> matrix_product(as_array([["1/2", "1/2"]]), as_array(["1/3", "1/6"])).tolist()
    [Fraction(1, 4)]
    """
    left, right = same_numbers(left, right)
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
