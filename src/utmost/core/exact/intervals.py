"""Intervals that contain a real number; exp, log and sine of such intervals; and conversion to floats.

Python-flint (Arb) computes the functions on balls, whose radius bounds every error. The ends of a ball are converted to
fixed-point integers, rounded outward. A ball is right at any precision: more precision makes the ball narrower.
"""

import math
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock

from flint import arb, ctx, fmpq

from utmost.errors import OutOfRange


@dataclass(frozen=True, slots=True)
class Interval:
    """All reals between ``low / 2**bits`` and ``high / 2**bits``.

    The operations + - * / take an Interval of the same ``bits``, an int or a Fraction, and return an Interval that
    contains every result. A product or quotient adds one or two units of ``2**-bits`` to the width, so a caller asks
    for some bits more than it needs.

    >>> third = Interval.of(Fraction(1, 3), 8)
    >>> third, (third * 3).low, (third * 3).high
    (Interval(low=85, high=86, bits=8), 255, 258)
    """

    low: int
    high: int
    bits: int

    def __post_init__(self) -> None:
        assert self.low <= self.high, "an interval has its ends in order"

    @classmethod
    def of(cls, value: Fraction | int, bits: int) -> "Interval":
        """The narrowest interval of this precision around a rational."""
        value = Fraction(value)
        scaled = value.numerator << bits
        # The lower end is rounded down, and the upper end up: -(-a // b) rounds up.
        return cls(scaled // value.denominator, -(-scaled // value.denominator), bits)

    @property
    def width(self) -> Fraction:
        """The distance between the two ends."""
        return Fraction(self.high - self.low, 1 << self.bits)

    @property
    def lower(self) -> Fraction:
        """The lower end as a rational."""
        return Fraction(self.low, 1 << self.bits)

    @property
    def upper(self) -> Fraction:
        """The upper end as a rational."""
        return Fraction(self.high, 1 << self.bits)

    @property
    def middle(self) -> Fraction:
        """The rational halfway between the two ends."""
        return Fraction(self.low + self.high, 2 << self.bits)

    def contains(self, value: Fraction | int) -> bool:
        """Whether a rational lies in the interval."""
        return self.lower <= value <= self.upper

    def is_below(self, other: "Interval | Fraction | int") -> bool:
        """Whether every number of this interval is smaller than every number of the other."""
        return self.high < self._lift(other).low

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low, self.bits)

    def __add__(self, other: "Interval | Fraction | int") -> "Interval":
        that = self._lift(other)
        return Interval(self.low + that.low, self.high + that.high, self.bits)

    __radd__ = __add__

    def __sub__(self, other: "Interval | Fraction | int") -> "Interval":
        that = self._lift(other)
        return Interval(self.low - that.high, self.high - that.low, self.bits)

    def __rsub__(self, other: Fraction | int) -> "Interval":
        return self._lift(other) - self

    def __mul__(self, other: "Interval | Fraction | int") -> "Interval":
        if isinstance(other, int):
            # A product with an integer is exact: nothing is shifted or rounded.
            ends = (self.low * other, self.high * other)
            return Interval(min(ends), max(ends), self.bits)
        that = self._lift(other)
        # Nearly all intervals here contain probabilities, with ends of at least 0: two products suffice in place of
        # four.
        if self.low >= 0 and that.low >= 0:
            return Interval((self.low * that.low) >> self.bits, -((-self.high * that.high) >> self.bits), self.bits)
        ends4 = [x * y for x in (self.low, self.high) for y in (that.low, that.high)]
        return Interval(min(ends4) >> self.bits, -((-max(ends4)) >> self.bits), self.bits)

    __rmul__ = __mul__

    def __truediv__(self, other: "Interval | Fraction | int") -> "Interval":
        that = self._lift(other)
        if that.low <= 0 <= that.high:
            raise OutOfRange(
                "the interval of a divisor must not contain zero", came=that, remedy="Compute with more bits."
            )
        if self.low >= 0 and that.low > 0:
            return Interval((self.low << self.bits) // that.high, -((-self.high << self.bits) // that.low), self.bits)
        # The extremes of a quotient are at the ends as long as the divisor keeps its sign.
        quotients = [(x << self.bits, y) for x in (self.low, self.high) for y in (that.low, that.high)]
        return Interval(min(x // y for x, y in quotients), max(-(-x // y) for x, y in quotients), self.bits)

    def __rtruediv__(self, other: Fraction | int) -> "Interval":
        return self._lift(other) / self

    def __pow__(self, exponent: int) -> "Interval":
        if exponent < 0:
            return 1 / self**-exponent
        # Repeated squares need the fewest products, and each product widens the interval.
        result, square = Interval.of(1, self.bits), self
        while exponent:
            if exponent & 1:
                result = result * square
            exponent >>= 1
            if exponent:
                square = square * square
        return result

    def at(self, bits: int) -> "Interval":
        """The same interval at another precision, rounded outward if that precision is lower."""
        shift = bits - self.bits
        if shift >= 0:
            return Interval(self.low << shift, self.high << shift, bits)
        # A shift to the right rounds down, also for negative numbers; between two negations it rounds up.
        return Interval(self.low >> -shift, -((-self.high) >> -shift), bits)

    def _lift(self, other: "Interval | Fraction | int") -> "Interval":
        if isinstance(other, Interval):
            if other.bits != self.bits:
                raise OutOfRange(f"both intervals must have {self.bits} bits", came=other.bits)
            return other
        if isinstance(other, int):
            return Interval(other << self.bits, other << self.bits, self.bits)
        return Interval.of(other, self.bits)


def is_lower(
    first: Callable[[int], Interval], second: Callable[[int], Interval], most_bits: int | None = None
) -> bool | None:
    """Whether the first number is below the second, by intervals of growing precision; None if undecided."""
    bits = 128
    # Equal numbers never end the loop without ``most_bits``.
    # The number of bits doubles in each round, so that all rounds together take at most twice as long as the last one.
    while most_bits is None or bits <= most_bits:
        lower, upper = first(bits), second(bits)
        if lower.is_below(upper) or upper.is_below(lower):
            return lower.is_below(upper)
        bits *= 2
    return None


# For a larger x, e^x has more than four hundred thousand digits.
_LARGEST_ARGUMENT = 1_000_000
# Bits that the roundings of the argument and of the function itself may use up.
_GUARD = 10


def exp_interval(x: Fraction | Interval, bits: int) -> Interval:
    """An interval around e^x, for a rational x or for every x of an interval.

    Args:
        x: Exponent, at most 10^6.
        bits: Precision of the result; for a rational x the interval is a few units of ``2**-bits`` wide.

    Raises:
        OutOfRange: if x is above 10^6.

    >>> exp_interval(Fraction(-1), 20).low / 2**20
    0.3678...
    """
    if isinstance(x, Interval):
        low, high = _exp(_dyadic(x.low, x.bits), x.low >> x.bits, bits), None
        if x.high != x.low:
            high = _exp(_dyadic(x.high, x.bits), x.high >> x.bits, bits)
        return Interval(low[0], (high or low)[1], bits)
    return Interval(*_exp(_ratio(x), x.numerator // x.denominator, bits), bits)


def exp_floats(exponents: Iterable[fmpq]) -> list[tuple[float, float] | None]:
    """For each rational x != 0, the two neighbouring floats around e^x, or None if 128 bits do not decide."""
    floats: list[tuple[float, float] | None] = []
    with working_precision(128):
        for x in exponents:
            power = arb(x).exp()
            near = float(power.mid())
            ends = (near, math.nextafter(near, math.inf)) if arb(near) < power else (math.nextafter(near, 0), near)
            floats.append(ends if arb(ends[0]) < power < arb(ends[1]) else None)
    return floats


def log_interval(x: Fraction, bits: int) -> Interval:
    """An interval around the natural logarithm of a positive rational.

    Raises:
        OutOfRange: if x is not positive.

    >>> log_interval(Fraction(2), 20).low / 2**20
    0.6931...
    """
    if x <= 0:
        raise OutOfRange("the logarithm needs a positive number", came=x)
    if x == 1:
        return Interval(0, 0, bits)
    # As many additional bits as |log x| has before the binary point.
    size = max(x.numerator.bit_length(), x.denominator.bit_length())  # a bound on |log x|
    around = _at(bits + size.bit_length() + _GUARD, arb.log, _ratio(x))
    return Interval(*_ends(around, bits), bits)


def sin_interval(x: Interval, bits: int) -> Interval:
    """An interval around the sine of every number of an interval.

    >>> nearest(sin_interval(Interval.of(Fraction(1, 2), 80), 80)) == math.sin(0.5)
    True
    """
    ball = interval_ball(x)
    size = max(abs(x.low), abs(x.high)) >> x.bits
    low, high = _ends(_at(bits + size.bit_length() + _GUARD, arb.sin, ball), bits)
    # The ball, rounded outward, may reach beyond [-1, 1].
    return Interval(max(low, -1 << bits), min(high, 1 << bits), bits)


def _exp(x: fmpq | arb, floor: int, bits: int) -> tuple[int, int]:
    """The ends of an interval around e^x in units of 2^-bits; ``floor`` is x rounded down."""
    if floor >= _LARGEST_ARGUMENT and x > _LARGEST_ARGUMENT:
        raise OutOfRange(f"the exponent must be at most {_LARGEST_ARGUMENT}", came=x)
    if floor < -bits:  # e^x < 2^x < 2^-bits: the result is between 0 and one unit
        return 0, 1
    leading = floor * 14427 // 10000  # e^x is about 2^leading, and needs that many bits before the point
    around = _at(max(0, bits + leading) + floor.bit_length() + _GUARD, arb.exp, x)
    low, high = _ends(around, bits)
    return max(low, 0), min(high, 1 << bits) if floor < 0 else high


def _ratio(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)


def _dyadic(units: int, bits: int) -> arb:
    """The number units / 2^bits as a ball of radius 0."""
    return arb((units, -bits))


def _ends(ball: arb, bits: int) -> tuple[int, int]:
    """The ends of a ball in units of 2^-bits, rounded outward: middle and radius are dyadic numbers, read exactly."""
    (middle, place), (radius, shift) = ball.mid().man_exp(), ball.rad().man_exp()
    left, right = int(place) + bits, int(shift) + bits
    least = min(left, right, 0)
    centre, reach = int(middle) << (left - least), int(radius) << (right - least)
    return (centre - reach) >> -least, -((-centre - reach) >> -least)


# Arb has one precision for the whole process: one thread at a time changes it, and restores it afterwards.
_setting = Lock()


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Set Arb's precision to ``bits`` within this context. Other threads that want to set the precision wait."""
    with _setting:
        before, ctx.prec = ctx.prec, bits
        try:
            yield
        finally:
            ctx.prec = before


def _at(bits: int, function: Callable[[arb], arb], x: fmpq | arb) -> arb:
    with working_precision(bits):
        return function(arb(x))


def normal_tail_interval(square: Fraction, bits: int) -> Interval:
    """An interval around P(N^2 > square) for a standard normal N: erfc(sqrt(square / 2))."""
    return ball_interval(_at(bits + _GUARD, lambda ball: (ball / 2).sqrt().erfc(), _ratio(square)), bits)


def ball_between(low: Fraction, high: Fraction) -> arb:
    """The ball of Arb around all numbers between two rationals, at the working precision."""
    return arb(_ratio(low)).union(arb(_ratio(high)))


def interval_ball(x: Interval) -> arb:
    """The ball of Arb with the ends of an interval."""
    return arb(_dyadic(x.low + x.high, x.bits + 1), _dyadic(x.high - x.low, x.bits + 1))


def ball_interval(ball: arb, bits: int) -> Interval:
    """The narrowest interval of this precision around a ball. Arb itself rounds the radius of a ball upward.

    >>> ball_interval(interval_ball(Interval(3, 5, 4)), 4)
    Interval(low=2, high=6, bits=4)
    """
    return Interval(*_ends(ball, bits), bits)


def _renewed_lock() -> None:
    """Give a forked process a new lock, since the thread that held the old one does not exist there."""
    global _setting
    _setting = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renewed_lock)


def round_up(x: Fraction | Interval | int) -> float:
    """A float that is at least x; the smallest such float if x is rational. A reported epsilon is rounded up.

    >>> Fraction(round_up(Fraction(1, 10))) >= Fraction(1, 10)
    True
    """
    if isinstance(x, Interval):  # a Fraction would look for a common divisor
        top, below = x.high, 1 << x.bits
        near = _quotient(top, x.bits)
    else:
        (top, below), near = Fraction(x).as_integer_ratio(), _nearest(Fraction(x))
    if math.isinf(near):
        return near if near > 0 else math.nextafter(near, 0)
    # A float is a rational: whether it is above x is decided in integers, without rounding.
    above, scale = near.as_integer_ratio()
    return near if above * below >= top * scale else math.nextafter(near, math.inf)


def round_down(x: Fraction | Interval | int) -> float:
    """A float that is at most x; the largest such float if x is rational. A reported utility is rounded down.

    >>> Fraction(round_down(Fraction(1, 10))) <= Fraction(1, 10)
    True
    """
    return -round_up(-x) + 0.0  # avoids -0.0


def nearest(x: Fraction | Interval | int) -> float:
    """One of the two neighbouring floats around x, or around the middle of x if x is an interval."""
    return _quotient(x.low + x.high, x.bits + 1) if isinstance(x, Interval) else _nearest(Fraction(x))


# The smallest positive float is 2^-1074. 54 more bits suffice to round a number of this size; the rest is for sums.
_BITS_OF_ANY_FLOAT = 1200


def narrow_interval(around: Callable[[int], Interval]) -> Interval:
    """Return an interval of 128 bits or more that is narrow enough to determine the two floats around a number.

    `round_up`, `round_down` and `nearest` give the same floats for the interval as for the number, unless the number is
    within 2^-1200 of a number where these floats change. Even then `round_up` is not below the number, and `round_down`
    is not above it.

    Args:
        around: Function from a precision to an interval around the number, a few units of 2^-bits wide.

    >>> nearest(narrow_interval(lambda bits: exp_interval(Fraction(-600), bits))) == math.exp(-600)
    True
    """
    bits = 128
    while bits < _BITS_OF_ANY_FLOAT:
        interval = around(bits)
        near = _quotient(interval.low, interval.bits)
        agree = near == _quotient(interval.high, interval.bits) and math.isfinite(near)
        # The float above is known only if both ends round to one float, and the number is surely on one side of it.
        if agree and (interval.low == interval.high or not interval.contains(Fraction(near))):
            return interval
        bits *= 2
    return around(_BITS_OF_ANY_FLOAT)


def _quotient(n: int, bits: int) -> float:
    try:
        return n / (1 << bits)
    except OverflowError:
        return math.inf if n > 0 else -math.inf


def _nearest(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf
