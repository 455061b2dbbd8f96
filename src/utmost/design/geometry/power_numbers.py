"""Exact arithmetic with alpha^sqrt(2): rational functions of irrational powers of alpha, compared by balls.

What occurs in mechanisms on Euclidean grids, and on every space where alpha is e^-epsilon for a rational epsilon, is a
quotient of sums of powers alpha^(a + b sqrt 2 + ...) with rational coefficients. Each such number is kept as what it
was made of, with a float and a radius around it. Where the radius leaves the sign open, the quotient of polynomials is
worked out, and if its numerator is zero so is the number; else balls of Arb are taken with more and more bits.

That ends with certainty in two cases. For a rational epsilon the generators e^(-epsilon sqrt r) for different
square-free r are algebraically independent (Lindemann and Weierstrass: sqrt r are linearly independent over the
rationals). For an algebraic alpha and one irrational root, alpha^sqrt(r) is transcendental (Gelfond and Schneider). In
both a polynomial that is not zero has no zero there. With a rational alpha and two irrational roots or more that is
believed (it follows from Schanuel's conjecture) and unproved: a sign that balls of `MOST_BITS` bits leave open is
refused as `Undecided`, and never guessed.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np
from flint import Ordering, arb, fmpq, fmpz_mpoly, fmpz_mpoly_ctx

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import Array, objects
from utmost.core.exact.intervals import working_precision
from utmost.core.exact.numbers import exact, exact_integer
from utmost.design.geometry.log_domain import Field, LogPowers
from utmost.design.geometry.power_steps import (
    TINY,
    ULP,
    WIDER,
    Quotient,
    around,
    ball_of,
    combined,
    image_step,
    near_rational,
)
from utmost.errors import BadTable, OutOfRange, Undecided, Unsupported

MOST_BITS = 1 << 14
"""So many bits are tried where it is not proved that they decide."""
# The image in a prime field tells most formal zeros from numbers that are none, without their polynomials.
_PRIME_ABOVE = 1 << 61
_FIRST_BITS = 128
_RATIONAL = (int, Fraction, np.int64)
_MOST_KEPT = 1 << 12

Terms = dict[tuple[int, ...], int]
_images_decide: ContextVar[bool] = ContextVar("images decide", default=False)


@contextmanager
def images_decide() -> Iterator[None]:
    """Within, a number is taken for zero as soon as its image in the prime field is, without its polynomials.

    For a search whose result is checked outside: the image of another number is zero for one prime in 2^60.
    """
    token = _images_decide.set(True)
    try:
        yield
    finally:
        _images_decide.reset(token)


@dataclass(frozen=True, eq=False)
class PowerField:
    """The numbers that rational arithmetic makes of the powers of a level along some distances.

    Attributes:
        powers: Powers.
        degree: Alpha of one unit is generator^step for an algebraic generator of this degree; 0 where it is none.
    """

    powers: LogPowers
    degree: int
    step: int
    images: Field
    ring: Any
    _balls: dict[int, list[arb]] = field(default_factory=dict, repr=False)
    _rationals: "dict[tuple[int, int], PowerNumber]" = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, powers: LogPowers) -> "PowerField":
        """The field of the powers of a type: base^(1/degree) and base^sqrt(r), or e^(-epsilon sqrt r)."""
        instance(powers, LogPowers, "powers")
        level = powers.level
        ring = fmpz_mpoly_ctx.get(tuple(f"x{k}" for k in range(len(powers.roots))), Ordering.lex)
        step, degree = level.power.as_integer_ratio() if level.base is not None and powers.roots[0] == 1 else (1, 0)
        return cls(powers, degree, step, powers.field(_PRIME_ABOVE), ring)

    def __reduce__(self) -> tuple[Any, ...]:
        return PowerField.of, (self.powers,)

    @property
    def is_proved(self) -> bool:
        """Whether it is proved that no polynomial but zero vanishes at the generators."""
        return self.powers.level.base is None or sum(root != 1 for root in self.powers.roots) <= 1

    def number(self, value: object) -> "PowerNumber":
        """A rational number as one of the field."""
        rational = value if isinstance(value, int | Fraction) else exact(value)
        key = rational.numerator, rational.denominator
        if key in self._rationals:
            return self._rationals[key]
        rational = Fraction(rational)
        quotient = self.ring.constant(rational.numerator), self.ring.constant(rational.denominator)
        number = PowerNumber(self, near_rational(rational), self._image(rational), known=quotient)
        if len(self._rationals) < _MOST_KEPT:
            self._rationals[key] = number
        return number

    def power(self, exponent: tuple[int, ...]) -> "PowerNumber":
        """alpha^(sum_k c_k sqrt(roots[k])) of one unit, for whole c."""
        sides = [tuple(max(sign * c, 0) for c in exponent) for sign in (1, -1)]
        above, below = (self.ring.from_dict({self._stepped(side): 1}) for side in sides)
        quotient = self.reduced((above, below))
        return PowerNumber(self, self.near(quotient), self.images.power(exponent), known=quotient)

    def fractions(self, values: Array) -> Array:
        """An array of rational numbers as numbers of the field; those that are of it stay."""
        flat = [v if isinstance(v, PowerNumber) else self.number(v) for v in values.ravel()]
        return objects(flat, values.shape)

    def array(self, exponents: Array) -> Array:
        """The powers of an (..., K) array of exponents."""
        rows = [tuple(int(c) for c in row) for row in exponents.reshape(-1, exponents.shape[-1])]
        known = {row: self.power(row) for row in set(rows)}
        return objects([known[row] for row in rows], exponents.shape[:-1])

    def reduced(self, quotient: Quotient) -> Quotient:
        """The quotient in lowest terms, with the algebraic generator at powers below its degree."""
        above, below = quotient
        if self.degree:
            (above, first), (below, second) = self._lowered(above), self._lowered(below)
            above, below = above * second, below * first
        # Lowest terms: degrees would double with each step of an elimination.
        common = above.gcd(below)
        return above // common, below // common

    def ball(self, quotient: Quotient, bits: int) -> tuple[arb, arb]:
        """Balls around a numerator and a denominator."""
        with working_precision(bits):
            generators = self._generators(bits)
            return ball_of(quotient[0], generators), ball_of(quotient[1], generators)

    def near(self, quotient: Quotient, bits: int = _FIRST_BITS) -> tuple[float, float]:
        """A float near a quotient, and how far it may be off."""
        above, below = self.ball(quotient, bits)
        with working_precision(bits):
            value = above / below
            middle = float(value.mid())
            reach = float((value - arb(middle)).abs_upper()) if isfinite(middle) else float("nan")
        return middle, reach * WIDER + TINY

    def read(self, stored: Any) -> "PowerNumber":
        """The number that `PowerNumber.stored` wrote.

        Raises:
            BadTable: for anything else.
        """
        if not isinstance(stored, list) or len(stored) != 2:
            raise BadTable("a number must be stored as the terms of a numerator and of a denominator", came=stored)
        above, below = (self._polynomial(terms) for terms in stored)
        image = self._evaluated(below)
        if below.is_zero() or image == 0:
            raise BadTable("a denominator must not be zero", came=stored)
        quotient = self.reduced((above, below))
        residue = self._evaluated(above) * pow(image, -1, self.images.prime) % self.images.prime
        return PowerNumber(self, self.near(quotient), residue, known=quotient)

    def _polynomial(self, terms: Any) -> Any:
        if not isinstance(terms, list) or not all(isinstance(term, list) and len(term) > 1 for term in terms):
            raise BadTable("a polynomial must be a list of terms: a coefficient and exponents", came=terms)
        coefficients: Terms = {}
        for coefficient, *exponents in terms:
            place = tuple(exact_integer(e, "exponent") for e in exponents)
            if len(place) != len(self.powers.roots) or min(place) < 0 or max(place) > 10**6:
                raise BadTable(f"a term must have {len(self.powers.roots)} exponents from 0 on", came=exponents)
            coefficients[place] = exact_integer(coefficient, "coefficient")
        return self.ring.from_dict(coefficients)

    def _evaluated(self, polynomial: fmpz_mpoly) -> int:
        """The image of a polynomial in the prime field; the generator of degree d is read at its d-th step."""
        total, prime = 0, self.images.prime
        for place, coefficient in polynomial.to_dict().items():
            exponent = tuple(map(int, place))
            total += int(coefficient) * self._image_of(exponent)
        return total % prime

    def _image_of(self, place: tuple[int, ...]) -> int:
        prime = self.images.prime
        if not self.degree:
            return self.images.power(place)
        # generator = (generator^step)^u base^v with u step + v degree = 1
        u = pow(self.step, -1, self.degree) if self.degree > 1 else 0
        v = (1 - u * self.step) // self.degree
        base = self.powers.level.base
        assert base is not None, "an algebraic generator has a base"
        generator = pow(self.images.generators[0], u, prime) * pow(self._image(base), v, prime) % prime
        rest = self.images.power((0, *place[1:]))
        return pow(generator, place[0], prime) * rest % prime

    def _stepped(self, side: tuple[int, ...]) -> tuple[int, ...]:
        return (side[0] * self.step, *side[1:]) if self.degree else side

    def _lowered(self, polynomial: fmpz_mpoly) -> tuple[fmpz_mpoly, int]:
        """A polynomial with generator^degree = base put in, times the integer that is returned with it."""
        if polynomial.is_zero() or polynomial.degrees()[0] < self.degree:
            return polynomial, 1
        base, terms = self.powers.level.base, polynomial.to_dict()
        assert base is not None, "an algebraic generator has a base"
        turns = {place: int(place[0]) // self.degree for place in terms}
        lowered: Terms = {}
        # The largest denominator is taken out once, so that coefficients stay integers.
        most = max(turns.values(), default=0)
        for place, coefficient in terms.items():
            k = turns[place]
            left = (int(place[0]) - k * self.degree, *map(int, place[1:]))
            amount = int(coefficient) * base.numerator**k * base.denominator ** (most - k)
            lowered[left] = lowered.get(left, 0) + amount
        return self.ring.from_dict(lowered), base.denominator**most

    def _generators(self, bits: int) -> list[arb]:
        """Balls around the generators, at the working precision."""
        if bits not in self._balls:
            level = self.powers.level
            if level.base is None:
                epsilon = arb(fmpq(level.power.numerator, level.power.denominator))
            else:
                whole = level.power / ((self.degree and self.step) or 1)
                base = arb(fmpq(level.base.numerator, level.base.denominator))
                epsilon, first = (
                    -base.log() * arb(fmpq(level.power.numerator, level.power.denominator)),
                    (base.log() * arb(fmpq(whole.numerator, whole.denominator))).exp(),
                )
            balls = [(-epsilon * arb(root).sqrt()).exp() for root in self.powers.roots]
            if self.degree:
                balls[0] = first
            self._balls[bits] = balls
        return self._balls[bits]

    def _image(self, value: Fraction) -> int:
        prime = self.images.prime
        if value.denominator % prime == 0:
            raise Unsupported("a denominator must have no prime factor of 62 bits", came=value)
        return value.numerator * pow(value.denominator, -1, prime) % prime


class PowerNumber:
    """A real number of a `PowerField`: + - * /, comparison with its kind and with rationals, ``float``.

    >>> from utmost.design.geometry.log_domain import Distances
    >>> from utmost.exact import level
    >>> from utmost.spaces import grid
    >>> powers = LogPowers.of(level(alpha="1/2"), Distances.of(grid(2, 2)))
    >>> a = PowerField.of(powers).power((0, 1))                         # 2^-sqrt(2)
    >>> float(a), a > Fraction(3, 8), (1 - a * a) / (1 + a) == 1 - a
    (0.37521422724648..., True, True)
    """

    __slots__ = ("_image", "_known", "_near", "_operation", "field")

    def __init__(
        self,
        of: PowerField,
        near: tuple[float, float],
        image: int,
        *,
        operation: tuple[str, "PowerNumber", "PowerNumber"] | None = None,
        known: Quotient | None = None,
    ) -> None:
        self.field, self._near, self._image, self._operation, self._known = of, near, image, operation, known

    @property
    def quotient(self) -> Quotient:
        """Numerator and denominator, in lowest terms: worked out when they are first asked for."""
        todo = [self]
        while todo:
            # A stack of our own: what a number is made of may be thousands deep, and Python's is not.
            at = todo[-1]
            if at._known is not None:
                todo.pop()
                continue
            assert at._operation is not None, "a number is known or made of others"
            _, first, second = at._operation
            missing = [part for part in (first, second) if part._known is None]
            if missing:
                todo += missing
                continue
            at._known = at.field.reduced(combined(at._operation[0], first.quotient, second.quotient))
            # Parts that nobody else holds go: a search would else keep all that it ever tried.
            at._operation = None
            if at is self:
                at._near = at.field.near(at._known)
        assert self._known is not None, "worked out above"
        return self._known

    @property
    def sign(self) -> int:
        """-1, 0 or 1.

        Raises:
            Undecided: where `MOST_BITS` bits leave it open, and no theorem says that more of them will not.
        """
        middle, reach = self._near
        # Nearly always a float decides; polynomials are worked out for the rest, and balls for what of it is not zero.
        if middle > reach or middle < -reach:
            return 1 if middle > 0 else -1
        if _images_decide.get() and self._image == 0:
            return 0
        above, _ = quotient = self.quotient
        if above.is_zero():
            return 0
        bits = _FIRST_BITS
        while self.field.is_proved or bits <= MOST_BITS:
            over, under = self.field.ball(quotient, bits)
            if not (over.contains(0) or under.contains(0)):
                return (1 if over > 0 else -1) * (1 if under > 0 else -1)
            bits *= 2
        raise Undecided(
            "the sign of a sum of irrational powers must be decided",
            came=f"one that {MOST_BITS} bits leave open",
            remedy="With a rational epsilon, instead of a rational alpha, it is proved that bits decide.",
        )

    def stored(self) -> list[list[list[Any]]]:
        """Terms of the numerator and of the denominator, each a coefficient as text and its exponents."""
        return [
            [[str(int(c)), *map(int, place)] for place, c in sorted(part.to_dict().items())] for part in self.quotient
        ]

    def __reduce__(self) -> tuple[Any, ...]:
        return PowerField.read, (self.field, self.stored())

    def __bool__(self) -> bool:
        return self.sign != 0

    def __float__(self) -> float:
        bits = _FIRST_BITS
        middle, reach = self.field.near(self.quotient, bits)
        while not self.quotient[0].is_zero() and not reach <= 4 * ULP * abs(middle) + 2 * TINY and bits < MOST_BITS:
            bits *= 2
            middle, reach = self.field.near(self.quotient, bits)
        return middle

    def __neg__(self) -> Any:
        return self * -1

    def __abs__(self) -> Any:
        return -self if self.sign < 0 else self

    def __add__(self, other: Any) -> Any:
        if _is_zero(other):
            return self
        return self._combined_with("+", other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self if _is_zero(other) else self._combined_with("-", other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if type(other) in _RATIONAL and other in (0, 1):
            return self if other else 0
        return self._combined_with("*", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._combined_with("/", other)

    def __rtruediv__(self, other: Any) -> Any:
        return 0 if _is_zero(other) else self.field.number(other) / self

    def _combined_with(self, sign: str, other: Any) -> Any:
        that = self._lift(other)
        if that is None:
            return NotImplemented
        if sign == "/" and not that:
            raise OutOfRange("a divisor must not be zero", came=0, where="PowerNumber")
        image = image_step(sign, self._image, that._image, self.field.images.prime)
        if image == 0 and _images_decide.get():
            return 0
        return PowerNumber(self.field, around(sign, self._near, that._near), image, operation=(sign, self, that))

    def _lift(self, other: Any) -> "PowerNumber | None":
        if isinstance(other, PowerNumber):
            if other.field is not self.field and other.field.powers != self.field.powers:
                raise OutOfRange("numbers of one privacy type must be used together", came="of two")
            return other
        return self.field.number(other) if isinstance(other, _RATIONAL) else None

    def _sign_of_difference(self, other: Any) -> int | None:
        """The sign of the difference to another number; None for what is no number of the field."""
        if _is_zero(other):
            return self.sign
        that = self._lift(other)
        if that is None or self is that:
            return None if that is None else 0
        (a, r), (b, s) = self._near, that._near
        # The gap itself is rounded once, by half an ULP of it.
        if abs(gap := a - b) > (r + s + ULP * abs(gap)) * WIDER + TINY:
            return 1 if gap > 0 else -1
        difference = self - that
        return difference.sign if isinstance(difference, PowerNumber) else 0

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PowerNumber) and self._image != other._image and self.field.is_proved:
            # Numbers that are equal have one image, whatever formula they come from: another image is another number.
            return False  # different as formulas, and so as numbers
        sign = self._sign_of_difference(other)
        return NotImplemented if sign is None else sign == 0

    def __lt__(self, other: Any) -> bool:
        sign = self._sign_of_difference(other)
        return NotImplemented if sign is None else sign < 0

    def __le__(self, other: Any) -> bool:
        sign = self._sign_of_difference(other)
        return NotImplemented if sign is None else sign <= 0

    def __gt__(self, other: Any) -> bool:
        sign = self._sign_of_difference(other)
        return NotImplemented if sign is None else sign > 0

    def __ge__(self, other: Any) -> bool:
        sign = self._sign_of_difference(other)
        return NotImplemented if sign is None else sign >= 0

    def __hash__(self) -> int:
        return hash(self._image)

    def __str__(self) -> str:
        return f"{float(self):.6g}"

    def __repr__(self) -> str:
        return f"PowerNumber(~{self})"


def worked_out(values: Iterable[Any]) -> None:
    """Replace what numbers are made of by what they are: a search that goes on from them starts afresh."""
    for value in values:
        if isinstance(value, PowerNumber):
            _ = value.quotient  # kept when it is first asked for


def _is_zero(other: Any) -> bool:
    return type(other) in _RATIONAL and not other
