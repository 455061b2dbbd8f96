"""Sums over m of f(m) q^m for polynomials f. Each sum of this form is a rational function of q, evaluated exactly or
with certified bounds.

The generating function of a polynomial of degree D has the numerator h_0 + ... + h_D z^D over (1 - z)^(D+1). If f
counts the lattice points of the multiples of a lattice polytope, no h is negative [stanley1980]. If no h is negative, a
variable m with P(m) proportional to f(m) q^m is the sum of an index with weights h_i q^i and D + 1 geometric variables.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

from flint import arb, fmpq

from utmost.core.exact.intervals import (
    Interval,
    ball_interval,
    interval_ball,
    narrow_interval,
    nearest,
    working_precision,
)
from utmost.core.exact.levels import Level
from utmost.core.exact.scalars import Formula, Q
from utmost.errors import OutOfRange

_MOST_PRECISION = 1 << 20


@dataclass(frozen=True, slots=True)
class ShellSeries:
    """The sum over m >= first of f(m) q^m, f a polynomial: q^first (h_0 + h_1 q + ...) / (1 - q)^(degree + 1)."""

    heads: tuple[int, ...]  # h_0, ..., h_degree
    first: int = 0

    @classmethod
    def of(cls, values: Sequence[int], first: int = 0) -> "ShellSeries":
        """The series of the polynomial with the values f(first), ..., f(first + degree)."""
        heads = [int(value) for value in values]
        for _ in values:  # multiplied by (1 - z) once for each value
            heads = [after - before for before, after in zip([0, *heads], heads, strict=False)]
        return cls(tuple(heads), first)

    @property
    def is_positive(self) -> bool:
        """Whether no h is negative, so that an index with the weights h_i q^i can be drawn."""
        return min(self.heads) >= 0

    def at(self, q: Q) -> Q:
        """The sum at q, a rational (fmpq) or a ball (arb)."""
        total = 0 * q
        for head in reversed(self.heads):
            total = total * q + head
        return total / (1 - q) ** len(self.heads) * q**self.first


def falling(top: int, size: int) -> int:
    """The binomial coefficient C(top, size), 0 if top is below size or negative."""
    return comb(top, size) if top >= size else 0


def number_at(ratio: Level, formula: Formula) -> Fraction | float:
    """The value of a formula at the alpha of a level: a Fraction if alpha is rational, else a neighbouring float."""
    if ratio.is_rational:
        alpha = ratio.alpha_fraction()
        exact = fmpq(formula(fmpq(alpha.numerator, alpha.denominator)))
        return Fraction(int(exact.p), int(exact.q))
    return nearest(narrow_interval(lambda bits: intervals_at(ratio, lambda q: [formula(q)], bits)[0]))


def intervals_at(ratio: Level, formulas: Callable[[Any], Sequence[Any]], bits: int) -> list[Interval]:
    """Intervals, at most 2^(2-bits) wide, around the values of formulas at the alpha of a level."""
    precision = bits + 64
    while precision < _MOST_PRECISION:
        alpha = ratio.alpha_interval(precision)
        with working_precision(precision):
            balls = [arb(value) for value in formulas(interval_ball(alpha))]
            is_narrow = all(ball.is_finite() and ball.rad() < arb(1) / (1 << bits) for ball in balls)
        if is_narrow:
            return [ball_interval(ball, bits) for ball in balls]
        precision *= 2
    required = "the noise of a level must be computable with 2^20 bits"
    raise OutOfRange(required, came="a level that needs more bits", remedy="Choose a larger epsilon.")


def is_at_most(ratio: Level, formula: Formula, bound: Fraction) -> bool:
    """Whether a formula's value is at most a bound; False if 8192 bits do not decide."""
    for bits in (64, 256, 1024, 8192):
        (around,) = intervals_at(ratio, lambda q: [formula(q)], bits)
        if around.upper <= bound or around.lower > bound:
            return around.upper <= bound
        if ratio.is_rational and bits == 256:
            return bool(number_at(ratio, formula) <= bound)
    return False
