"""Leaving the exact world by a named door: the float just above, just below, or nearest."""

import math
from fractions import Fraction

from utmost.exact.interval import Interval


def round_up(x: Fraction | Interval | int) -> float:
    """The smallest float that is certainly not below x (a reported epsilon is rounded this way).

    >>> Fraction(round_up(Fraction(1, 10))) >= Fraction(1, 10)
    True
    """
    upper = x.upper if isinstance(x, Interval) else Fraction(x)
    near = _nearest(upper)
    return near if near == math.inf or Fraction(near) >= upper else math.nextafter(near, math.inf)


def round_down(x: Fraction | Interval | int) -> float:
    """The largest float that is certainly not above x (a reported utility is rounded this way).

    >>> Fraction(round_down(Fraction(1, 10))) <= Fraction(1, 10)
    True
    """
    return -round_up(-x)


def nearest(x: Fraction | Interval | int) -> float:
    """A float next to x; for an interval, next to its middle."""
    return _nearest((x.lower + x.upper) / 2 if isinstance(x, Interval) else Fraction(x))


def _nearest(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf
