"""alpha^d of a privacy type as a rational: exact where it is rational, else a float just above or just below."""

from fractions import Fraction

from utmost.exact import Surd, round_down, round_up
from utmost.privacy import PrivacyType
from utmost.privacy.ratios import Allowance

_BITS = 2048  # more than the smallest float has places


def alpha_above(ptype: PrivacyType, i: int, j: int) -> Fraction:
    """alpha^d(i, j) or a float just above it: whatever keeps this factor is private."""
    return _between(ptype, i, j)[1]


def alpha_below(ptype: PrivacyType, i: int, j: int) -> Fraction:
    """alpha^d(i, j) or a float just below it: whatever is private keeps this factor."""
    return _between(ptype, i, j)[0]


def _between(ptype: PrivacyType, i: int, j: int) -> tuple[Fraction, Fraction]:
    length = ptype.space.length(i, j)  # irrational distances exactly: their nearest float may be too long
    if isinstance(length, Surd):
        low, high = Allowance(ptype.level, length).factors
        return Fraction(round_down(low)), Fraction(round_up(high))
    at = ptype.level.scaled(length)
    if at.is_rational:
        return at.alpha_fraction(), at.alpha_fraction()
    around = at.alpha_interval(_BITS)
    return Fraction(round_down(around)), Fraction(round_up(around))
