"""alpha^d of a privacy type as a rational: exact where it is rational, else a float just above or just below."""

from fractions import Fraction
from math import inf, nextafter
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from utmost.exact import Array, Level, Surd, objects, round_down, round_up
from utmost.privacy import PrivacyType
from utmost.privacy.ratios import Length, power_interval

# What is fixed by a type is kept as long as the type is: powers by length, from below and from above.
_kept: WeakKeyDictionary[PrivacyType, dict[Length, tuple[Fraction, Fraction]]] = WeakKeyDictionary()


def alpha_above(ptype: PrivacyType, i: int, j: int) -> Fraction:
    """alpha^d(i, j) or a float just above it: whatever keeps this factor is private."""
    return _between(ptype, ptype.space.length(i, j))[1]


def alpha_below(ptype: PrivacyType, i: int, j: int) -> Fraction:
    """alpha^d(i, j) or a float just below it: whatever is private keeps this factor."""
    return _between(ptype, ptype.space.length(i, j))[0]


def alphas_above(ptype: PrivacyType, pairs: NDArray[np.intp]) -> Array:
    """`alpha_above` of many pairs (m, 2), as an object array (m,). Cost: one power for each distinct length."""
    return _of_pairs(ptype, pairs, 1)


def alphas_below(ptype: PrivacyType, pairs: NDArray[np.intp]) -> Array:
    """`alpha_below` of many pairs (m, 2), as an object array (m,)."""
    return _of_pairs(ptype, pairs, 0)


def _of_pairs(ptype: PrivacyType, pairs: NDArray[np.intp], side: int) -> Array:
    lengths = np.asarray(ptype.space.metric.lengths(pairs[:, 0], pairs[:, 1]))
    exactly = (d if isinstance(d, Surd) else Fraction(d) for d in lengths.tolist())
    return objects(_between(ptype, d)[side] for d in exactly)


def _between(ptype: PrivacyType, length: Length) -> tuple[Fraction, Fraction]:
    powers = _kept.setdefault(ptype, {})
    if length not in powers:
        powers[length] = _enclosed(ptype.level, length)
    return powers[length]


def _enclosed(level: Level, length: Length) -> tuple[Fraction, Fraction]:
    """alpha^length twice where it is rational, else the floats around it: more bits until these are neighbours."""
    if not isinstance(length, Surd) and level.scaled(length).is_rational:
        alpha = level.scaled(length).alpha_fraction()
        return alpha, alpha
    bits = 128
    while True:  # ends: an irrational number is no float, so that narrow intervals lie between two of them
        around = power_interval(level, length, bits)
        low, high = round_down(around), round_up(around)
        if nextafter(low, inf) == high:
            return Fraction(low), Fraction(high)
        bits *= 2
