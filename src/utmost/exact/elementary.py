"""exp and log of rationals, enclosed in intervals.

Both are computed on the balls of python-flint (Arb), whose radius bounds every error; the ends of the ball are carried
over to fixed point as integers, rounded outward. A ball is right whatever its precision, so precision is only a matter
of width.
"""

import os
from collections.abc import Callable
from fractions import Fraction
from threading import Lock

from flint import arb, ctx, fmpq

from utmost.errors import OutOfRange
from utmost.exact.interval import Interval

# e^x for x beyond this has more than four hundred thousand digits, and is no probability.
_LARGEST_ARGUMENT = 1_000_000
# Bits that the roundings of the argument and of the function itself may use up.
_GUARD = 10


def exp_interval(x: Fraction | Interval, bits: int) -> Interval:
    """An interval around e^x, for a rational x or for every x of an interval.

    Args:
        x: the exponent, at most 10^6.
        bits: precision of the result; for a rational x the interval is a few units of ``2**-bits`` wide.

    Raises:
        OutOfRange: when x is above 10^6.

    >>> exp_interval(Fraction(-1), 20).low / 2**20
    0.3678...
    """
    if isinstance(x, Interval):
        low, high = _exp(_dyadic(x.low, x.bits), x.low >> x.bits, bits), None
        if x.high != x.low:
            high = _exp(_dyadic(x.high, x.bits), x.high >> x.bits, bits)
        return Interval(low[0], (high or low)[1], bits)
    return Interval(*_exp(_ratio(x), x.numerator // x.denominator, bits), bits)


def log_interval(x: Fraction, bits: int) -> Interval:
    """An interval around the natural logarithm of a positive rational.

    Raises:
        OutOfRange: when x is not positive.

    >>> log_interval(Fraction(2), 20).low / 2**20
    0.6931...
    """
    if x <= 0:
        raise OutOfRange("the logarithm needs a positive number", came=x)
    if x == 1:
        return Interval(0, 0, bits)
    size = max(x.numerator.bit_length(), x.denominator.bit_length())  # |log x| is below it
    around = _at(bits + size.bit_length() + _GUARD, arb.log, _ratio(x))
    return Interval(*_ends(around, bits), bits)


def _exp(x: fmpq | arb, whole: int, bits: int) -> tuple[int, int]:
    """The ends of e^x in units of 2^-bits; ``whole`` is x rounded down."""
    if whole >= _LARGEST_ARGUMENT and x > _LARGEST_ARGUMENT:
        raise OutOfRange(f"the exponent must be at most {_LARGEST_ARGUMENT}", came=x)
    if whole < -bits:  # e^x < 2^x < 2^-bits: no need to compute what rounds to one unit at most
        return 0, 1
    leading = whole * 14427 // 10000  # e^x is about 2^leading: that many more digits stand before the point
    around = _at(max(0, bits + leading) + whole.bit_length() + _GUARD, arb.exp, x)
    low, high = _ends(around, bits)
    return max(low, 0), min(high, 1 << bits) if whole < 0 else high


def _ratio(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)


def _dyadic(units: int, bits: int) -> arb:
    """The number units / 2^bits itself: a ball of radius 0, at any precision."""
    return arb((units, -bits))


def _ends(ball: arb, bits: int) -> tuple[int, int]:
    """The ends of a ball in units of 2^-bits, rounded outward: middle and radius are dyadic numbers, read exactly."""
    (middle, place), (radius, shift) = ball.mid().man_exp(), ball.rad().man_exp()
    left, right = int(place) + bits, int(shift) + bits
    least = min(left, right, 0)
    centre, reach = int(middle) << (left - least), int(radius) << (right - least)
    return (centre - reach) >> -least, -((-centre - reach) >> -least)


# The precision of balls is one setting for the whole process: it is changed by one thread at a time and put back.
_setting = Lock()


def _at(bits: int, function: Callable[[arb], arb], x: fmpq | arb) -> arb:
    """The function of x, computed with so many bits."""
    with _setting:
        before, ctx.prec = ctx.prec, bits
        try:
            return function(arb(x))
        finally:
            ctx.prec = before


def _renewed_lock() -> None:
    """A forked process must not wait for a thread that it does not have."""
    global _setting
    _setting = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renewed_lock)
