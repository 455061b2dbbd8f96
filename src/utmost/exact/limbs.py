"""Integer matrices as sums of float64 matrices of small integers, and their products, exactly."""

from fractions import Fraction
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from utmost.exact.arrays import Array

# Products of two limbs, added up 8192 times, stay below 2^53: float64 adds them exactly.
LIMB_BITS = 20
MOST_TERMS = 1 << 13

Floats = NDArray[np.float64]


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


def over(integers: Array, shared: list[int]) -> Array:
    """Rows of integers, each over its own denominator, as Fractions."""
    found = np.empty(integers.shape, dtype=object)
    for i, (row, below) in enumerate(zip(integers.tolist(), shared, strict=True)):
        made = {top: Fraction(top, below) for top in set(row)}
        found[i] = [made[top] for top in row]
    return found


def limbs(integers: Array) -> list[Floats]:
    """Float64 matrices whose sum, the k-th times 2^(20 k), is the matrix; entries below 2^20 in absolute value.

    >>> [limb.tolist() for limb in limbs(np.array([[-1, 1 << 21]]))]
    [[[1048575.0, 0.0]], [[-1.0, 2.0]]]
    """
    rest, found, mask = integers, [], (1 << LIMB_BITS) - 1
    while largest(rest) > mask:
        found.append((rest & mask).astype(np.float64))
        rest = rest >> LIMB_BITS
    return [*found, rest.astype(np.float64)]


def limb_product(left: list[Floats], right: list[Floats]) -> Array:
    """The product of two matrices given as limbs: int64 where it is sure to fit, else Python integers.

    The inner dimension must be at most `MOST_TERMS`.
    """
    sums: dict[int, NDArray[np.int64]] = {}
    for i, one in enumerate(left):
        for j, other in enumerate(right):
            sums[i + j] = sums.get(i + j, np.int64(0)) + (one @ other).astype(np.int64)
    if len(sums) == 1:
        return sums[0]
    total = sums[len(sums) - 1].astype(object)
    for k in range(len(sums) - 2, -1, -1):
        total = (total << LIMB_BITS) + sums[k]
    return np.asarray(total)


def integer_product(left: Array, right: Array) -> Array:
    """left @ right for integer matrices, int64 or Python integers.

    >>> integer_product(np.array([[1 << 40, 1]], dtype=object), np.array([[1 << 30], [1]], dtype=object)).tolist()
    [[1180591620717411303425]]
    """
    return limb_product(limbs(left), limbs(right))


def compact(integers: Array) -> Array:
    """The same integers as int64 where, with room for a difference, they fit."""
    return integers.astype(np.int64) if integers.dtype == object and largest(integers) < 1 << 61 else integers


def largest(integers: Array) -> int:
    """The largest absolute value."""
    return max(int(integers.max()), -int(integers.min()))
