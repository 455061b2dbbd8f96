"""Intervals that certainly contain a real number: fixed-point ends, every operation rounded outward."""

from dataclasses import dataclass
from fractions import Fraction

from utmost.errors import OutOfRange


@dataclass(frozen=True, slots=True)
class Interval:
    """All reals between ``low / 2**bits`` and ``high / 2**bits``.

    The four operations take an Interval of the same ``bits``, an int or a Fraction, and return an Interval that
    contains every result. A product or quotient loses a unit of ``2**-bits`` or two besides the width that goes in, so
    a caller asks for as many bits as it needs and some to spare.

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
        """Whether every number here is certainly smaller than every number there."""
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
            ends = (self.low * other, self.high * other)
            return Interval(min(ends), max(ends), self.bits)
        that = self._lift(other)
        if self.low >= 0 and that.low >= 0:
            return Interval((self.low * that.low) >> self.bits, -((-self.high * that.high) >> self.bits), self.bits)
        ends4 = [x * y for x in (self.low, self.high) for y in (that.low, that.high)]
        return Interval(min(ends4) >> self.bits, -((-max(ends4)) >> self.bits), self.bits)

    __rmul__ = __mul__

    def __truediv__(self, other: "Interval | Fraction | int") -> "Interval":
        that = self._lift(other)
        if that.low <= 0 <= that.high:
            raise OutOfRange("the divisor must not contain zero", came=that, mend="Ask for more bits.")
        quotients = [(x << self.bits, y) for x in (self.low, self.high) for y in (that.low, that.high)]
        return Interval(min(x // y for x, y in quotients), max(-(-x // y) for x, y in quotients), self.bits)

    def __rtruediv__(self, other: Fraction | int) -> "Interval":
        return self._lift(other) / self

    def __pow__(self, exponent: int) -> "Interval":
        if exponent < 0:
            return 1 / self**-exponent
        result, square = Interval.of(1, self.bits), self
        while exponent:
            if exponent & 1:
                result = result * square
            exponent >>= 1
            if exponent:
                square = square * square
        return result

    def at(self, bits: int) -> "Interval":
        """The same interval at another precision, rounded outward when that is coarser."""
        shift = bits - self.bits
        if shift >= 0:
            return Interval(self.low << shift, self.high << shift, bits)
        return Interval(self.low >> -shift, -((-self.high) >> -shift), bits)

    def _lift(self, other: "Interval | Fraction | int") -> "Interval":
        if isinstance(other, Interval):
            if other.bits != self.bits:
                raise OutOfRange(f"both intervals must have {self.bits} bits", came=other.bits)
            return other
        if isinstance(other, int):
            return Interval(other << self.bits, other << self.bits, self.bits)
        return Interval.of(other, self.bits)
