"""alpha^d of a privacy type as a rational: exact where it is rational, else a float just above or just below."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from utmost.exact import Array, Surd, round_down, round_up
from utmost.privacy import PrivacyType
from utmost.privacy.ratios import Allowance

_BITS = 2048  # more than the smallest float has places


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
    found: Array = np.empty(len(pairs), dtype=object)
    lengths = np.asarray(ptype.space.metric.lengths(pairs[:, 0], pairs[:, 1]))
    powers: dict[Fraction | Surd, Fraction] = {}
    for e, length in enumerate(lengths.tolist()):
        exactly = length if isinstance(length, Surd) else Fraction(length)
        if exactly not in powers:
            powers[exactly] = _between(ptype, exactly)[side]
        found[e] = powers[exactly]
    return found


def _between(ptype: PrivacyType, length: Fraction | Surd) -> tuple[Fraction, Fraction]:
    if isinstance(length, Surd):  # irrational distances exactly: their nearest float may be too long
        low, high = Allowance(ptype.level, length).factors
        return Fraction(round_down(low)), Fraction(round_up(high))
    at = ptype.level.scaled(length)
    if at.is_rational:
        return at.alpha_fraction(), at.alpha_fraction()
    around = at.alpha_interval(_BITS)
    return Fraction(round_down(around)), Fraction(round_up(around))
