"""Exact sums of square roots with rational coefficients, such as the distances of a Euclidean lattice."""

from dataclasses import dataclass
from fractions import Fraction
from functools import total_ordering
from math import isqrt

from flint import fmpz

from utmost.core.exact.intervals import Interval
from utmost.core.exact.numbers import exact, precision
from utmost.errors import OutOfRange


@total_ordering
@dataclass(frozen=True, slots=True)
class Surd:
    """The real number ``sum of coefficient * sqrt(radicand)`` over distinct squarefree radicands.

    Square roots of distinct squarefree integers are linearly independent over the rationals. So two surds are equal
    exactly when their terms are equal, and enough bits decide any comparison of different surds.

    Attributes:
        terms: Pairs (radicand, coefficient); the radicands increase, and no coefficient is zero.

    >>> Surd.sqrt(8) + Surd.sqrt("1/2"), Surd.sqrt(2) < Fraction(3, 2)
    (Surd(5/2 sqrt(2)), True)
    """

    terms: tuple[tuple[int, Fraction], ...]

    @classmethod
    def of(cls, value: Fraction | int) -> "Surd":
        """A rational number as a surd."""
        number = exact(value, "value")
        return cls(((1, number),) if number else ())

    @classmethod
    def sqrt(cls, square: Fraction | int | str) -> "Surd":
        """The square root of a nonnegative rational.

        Raises:
            OutOfRange: if the number is negative.
        """
        value = exact(square, "square")
        if value < 0:
            raise OutOfRange("a square root needs a nonnegative number", came=square)
        if value == 0:
            return cls(())
        # sqrt(p/q) = sqrt(p q) / q, and p q = root^2 free with a squarefree free.
        root, free = 1, 1
        for prime, power in fmpz(value.numerator * value.denominator).factor():
            root *= int(prime) ** (power // 2)
            free *= int(prime) ** (power % 2)
        return cls(((free, Fraction(root, value.denominator)),))

    @property
    def is_rational(self) -> bool:
        """Whether the number is rational: it has no radicand except 1."""
        return all(radicand == 1 for radicand, _ in self.terms)

    def simplified(self) -> "Surd | Fraction":
        """The same number, as a Fraction if it is rational."""
        return sum((c for _, c in self.terms), Fraction(0)) if self.is_rational else self

    def interval(self, bits: int) -> Interval:
        """An interval around the number, at most one unit of ``2**-bits`` wide for each term."""
        bits = precision(bits)
        total = Interval(0, 0, bits)
        for radicand, coefficient in self.terms:
            scaled = coefficient**2 * radicand * 4**bits
            low = isqrt(scaled.numerator // scaled.denominator)
            root = Interval(low, low if low * low == scaled else low + 1, bits)
            total = total + (root if coefficient > 0 else -root)
        return total

    def __add__(self, other: "Surd | Fraction | int") -> "Surd":
        sums = dict(self.terms)
        for radicand, coefficient in _lift(other).terms:
            sums[radicand] = sums.get(radicand, Fraction(0)) + coefficient
        return Surd(tuple(sorted((r, c) for r, c in sums.items() if c)))

    __radd__ = __add__

    def __neg__(self) -> "Surd":
        return self * -1

    def __sub__(self, other: "Surd | Fraction | int") -> "Surd":
        return self + -_lift(other)

    def __rsub__(self, other: Fraction | int) -> "Surd":
        return -self + other

    def __mul__(self, factor: Fraction | int) -> "Surd":
        return Surd(tuple((r, c * factor) for r, c in self.terms) if factor else ())

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Surd | Fraction | int) and self.terms == _lift(other).terms

    def __hash__(self) -> int:
        return hash(self.simplified()) if self.is_rational else hash(self.terms)

    def __lt__(self, other: "Surd | Fraction | int") -> bool:
        gap, bits = self - other, 64
        # Square roots of distinct squarefree radicands are independent over the rationals: a surd with a term is not 0,
        # so that the loop ends.
        while gap.terms:
            around = gap.interval(bits)
            if around.high < 0 or around.low > 0:
                return around.high < 0
            bits *= 2
        return False

    def __float__(self) -> float:
        around = self.interval(1200)
        return float((around.lower + around.upper) / 2)

    def __repr__(self) -> str:
        return f"Surd({' + '.join(f'{c} sqrt({r})' for r, c in self.terms) or '0'})"


def _lift(value: "Surd | Fraction | int") -> Surd:
    return value if isinstance(value, Surd) else Surd.of(value)
