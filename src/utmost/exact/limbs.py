"""Rationals over common denominators, and integers as sums of float64 arrays of small integers."""

from operator import attrgetter

import numpy as np

from utmost.exact.arrays import Array, Floats

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
