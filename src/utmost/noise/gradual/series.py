r"""A law on the integers as a rational function of z.

.. math:: \sum_i p(i) z^i = s\, \frac{N(z)}{(1 - b z^D)(1 - b z^{-D})}

For a staircase of period D, step r and ratio b, N = B_{2r-1} + b B_{2(D-r)+1}, where B_n, for odd n, is the block
z^{-(n-1)/2} + ... + z^{(n-1)/2}. With g = gcd(2r-1, 2D) the block B_g divides N: its zeros lie on the unit circle, and
two laws can only be divided by each other where these cancel. For a table of finitely many probabilities b = 0.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange
from utmost.exact import Interval, Level, Number, exact, exact_integer, objects
from utmost.noise.integer_law import IntegerLaw
from utmost.noise.profile import Profile


@dataclass(frozen=True, slots=True)
class Series:
    """The rational function of a law.

    Attributes:
        plain, marked: the coefficients of N over its block are plain + b marked, from exponent ``start`` upward.
        start: the lowest exponent of N over its block.
        level: b as a level, or None for b = 0.
        period: D.
        block: g.
    """

    plain: tuple[Fraction, ...]
    marked: tuple[Fraction, ...]
    start: int
    level: Level | None
    period: int
    block: int = 1

    def over(self, common: int) -> "Series":
        """The same function divided by the block B_common, for a divisor of ``block``, with the rest multiplied out."""
        count = self.block // common
        comb = [Fraction(int(i % common == 0)) for i in range((count - 1) * common + 1)]
        plain, marked = (tuple(np.convolve(objects(part), objects(comb))) for part in (self.plain, self.marked))
        return Series(plain, marked, self.start - (len(comb) - 1) // 2, self.level, self.period)

    @property
    def stride(self) -> int:
        """The largest u such that the function is one of z^u."""
        exponents = [self.start + i for i, (p, m) in enumerate(zip(self.plain, self.marked, strict=True)) if p or m]
        return math.gcd(*exponents, self.period if self.level is not None else 0)

    def thinned(self, stride: int) -> "Series":
        """The same function with z for z^stride."""
        first = -self.start % stride
        plain, marked = self.plain[first::stride], self.marked[first::stride]
        return Series(plain, marked, (self.start + first) // stride, self.level, max(1, self.period // stride))

    @property
    def fractions(self) -> tuple[Fraction, ...] | None:
        """The coefficients where they are rational."""
        if not any(self.marked):
            return self.plain
        if self.level is None or not self.level.is_rational:
            return None
        b = self.level.alpha_fraction()
        return tuple(p + b * m for p, m in zip(self.plain, self.marked, strict=True))

    def core(self, bits: int) -> list[Interval]:
        """The coefficients as intervals."""
        b = self.ratio(bits)
        return [b * m + p for p, m in zip(self.plain, self.marked, strict=True)]

    def ratio(self, bits: int) -> Interval:
        """b as an interval."""
        return Interval.of(0, bits) if self.level is None else self.level.alpha_interval(bits)

    def scale(self, bits: int) -> Interval:
        """s = (1 - b)^2 / N(1), block aside."""
        b = self.ratio(bits)
        return (1 - b) ** 2 / (b * sum(self.marked) + sum(self.plain))

    def characteristic(self, angles: NDArray[np.float64]) -> NDArray[np.complex128]:
        """E[exp(i t X)] over the block's, in floats."""
        b = float(self.ratio(64).upper)
        values = np.zeros(angles.shape, np.complex128)
        for k, (p, m) in enumerate(zip(self.plain, self.marked, strict=True)):
            values += (float(p) + b * float(m)) * np.exp(1j * (self.start + k) * angles)
        total = float(sum(self.plain)) + b * float(sum(self.marked))
        tail = (1 - b) ** 2 / (1 - 2 * b * np.cos(self.period * angles) + b * b)
        return np.asarray(values / total * tail, np.complex128)

    def squared_modulus(self, x: Fraction, y: Fraction, bits: int) -> Interval:
        """|E[z^X]|^2 over the block's, at z = x + iy on the unit circle, as an interval."""
        real, imaginary = Interval.of(0, bits), Interval.of(0, bits)
        for coefficient in reversed(self.core(bits)):  # Horner's rule; the factor z^start has modulus 1
            real, imaginary = real * x - imaginary * y + coefficient, real * y + imaginary * x
        b, cosine = self.ratio(bits), _cosine(x, self.period, bits)
        rest = 1 - 2 * b * cosine + b * b
        return (real * real + imaginary * imaginary) * self.scale(bits) ** 2 / rest**2


def series(law: Any) -> Series:
    """The rational function of an integer law, or of a table {integer: probability}.

    Raises:
        OutOfRange: for probabilities that are negative or do not sum to 1, and for what is neither.

    >>> series({0: "1/2", 1: "1/2"}).plain
    (Fraction(1, 2), Fraction(1, 2))
    """
    if isinstance(law, IntegerLaw):
        return _staircase(law.profile)
    if isinstance(law, Mapping):
        return _table(law)
    raise OutOfRange("a law on the integers, or a table {integer: probability}, is needed", came=law)


def _staircase(profile: Profile) -> Series:
    D, near = profile.period, 2 * profile.step - 1
    far, block = 2 * D - near, math.gcd(near, 2 * D)
    if near == far:  # N = (1 + b) B_D, and a constant factor does not matter
        return Series((Fraction(1),), (Fraction(0),), 0, profile.level, D, block)
    reach = (max(near, far) - block) // 2
    plain, marked = (
        tuple(Fraction(int(2 * abs(i) < n and i % block == 0)) for i in range(-reach, reach + 1)) for n in (near, far)
    )
    return Series(plain, marked, -reach, profile.level, D, block)


def _table(table: Mapping[Any, Number]) -> Series:
    masses = {exact_integer(k, "outcome"): exact(p, "probability") for k, p in table.items()}
    if sum(masses.values()) != 1 or any(p < 0 for p in masses.values()):
        raise OutOfRange("the probabilities must not be negative and must sum to 1", came=sum(masses.values()))
    support = sorted(k for k, p in masses.items() if p)
    plain = tuple(masses.get(k, Fraction(0)) for k in range(support[0], support[-1] + 1))
    return Series(plain, tuple(Fraction(0) for _ in plain), support[0], None, 1)


def _cosine(cosine: Fraction, multiple: int, bits: int) -> Interval:
    """cos(nt) from cos(t), by doubling."""
    guard = bits + 2 * multiple.bit_length() + 8
    low, high = Interval.of(1, guard), Interval.of(cosine, guard)  # cos(kt) and cos((k+1)t)
    for digit in bin(multiple)[2:]:
        middle = 2 * low * high - cosine
        low, high = (middle, 2 * high * high - 1) if digit == "1" else (2 * low * low - 1, middle)
    return low.at(bits)
