r"""Laws on the integers as rational functions of z, and dividing one by another with proof.

**A law on the integers as a rational function of z.**

.. math:: \sum_i p(i) z^i = s\, \frac{N(z)}{(1 - b z^D)(1 - b z^{-D})}

For a staircase of period D, step r and ratio b, N = B_{2r-1} + b B_{2(D-r)+1}, where B_n, for odd n, is the block
z^{-(n-1)/2} + ... + z^{(n-1)/2}. With g = gcd(2r-1, 2D) the block B_g divides N: its zeros lie on the unit circle, and
two laws can only be divided by each other where these cancel. For a table of finitely many probabilities b = 0.

**Dividing one law by another, with proof: the inverse of a Laurent polynomial on the unit circle, certified.**

A guess c for 1/N is certified by its residue e = N c - 1: where the weighted norm eta = sum |e_i| s^|i| is below 1, N
has no zero in the annulus 1/s <= |z| <= s, and the true inverse differs from c by at most |c|_s eta / (1 - eta) in the
same norm (Neumann's series; the weighted norm is submultiplicative).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import objects
from utmost.core.exact.intervals import Interval
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact, exact_integer
from utmost.core.noise.law import Law
from utmost.core.noise.profile_law import ProfileLaw
from utmost.errors import OutOfRange, Unsupported


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
    def exponents(self) -> list[int]:
        """The exponents of N over its block, ascending."""
        return [self.start + i for i, (p, m) in enumerate(zip(self.plain, self.marked, strict=True)) if p or m]

    @property
    def stride(self) -> int:
        """The largest u such that the function is one of z^u, but for a power of z."""
        first, *others = self.exponents
        return math.gcd(*(e - first for e in others), self.period if self.level is not None else 0)

    def shifted(self, by: int) -> "Series":
        """The same function times z^by."""
        return replace(self, start=self.start + by)

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
    if isinstance(law, ProfileLaw):
        profile = law.profile
        return staircase_series(profile.level, profile.period, 2 * profile.step - 1)
    if isinstance(law, Law):
        raise Unsupported("only staircases on the integers are known as rational functions", came=law)
    if isinstance(law, Mapping):
        return _table(law)
    raise OutOfRange("a law on the integers, or a table {integer: probability}, is needed", came=law)


def staircase_series(level: Level, period: int, near: int) -> Series:
    """B_near + b B_(2 D - near) over (1 - b z^D)(1 - b z^-D), for 1 <= near <= 2 D.

    On the integers near = 2r - 1. For a staircase on the reals in cells of width D/n it is 2 gamma n, with n for D: the
    exponents are those of the cells' middles, and half-integers, but over the block they are integers again.
    """
    far, block = 2 * period - near, math.gcd(near, 2 * period)
    if near == far:  # N = (1 + b) B_D, and a constant factor does not matter
        return Series((Fraction(1),), (Fraction(0),), 0, level, period, block)
    reach = (max(near, far) - block) // 2
    plain, marked = (
        tuple(
            Fraction(int(2 * abs(i) <= n - block and (2 * i - n + block) % (2 * block) == 0))
            for i in range(-reach, reach + 1)
        )
        for n in (near, far)
    )
    return Series(plain, marked, -reach, level, period, block)


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


@dataclass(frozen=True, slots=True)
class Inverse:
    """Coefficients of a near-inverse of a Laurent polynomial.

    Attributes:
        values: integers; values[i] / 2^bits is the coefficient of z^(start + i).
        start: the lowest exponent.
        bits: of the fixed point.
        residue: N c - 1 as upper bounds of absolute values, in the fixed point, from exponent ``residue_start`` on.
        residue_start: its lowest exponent.
    """

    values: list[int]
    start: int
    bits: int
    residue: list[int]
    residue_start: int

    def norm(self, weight: Fraction) -> Fraction:
        """|c|_s, rounded up."""
        return weighted_norm([abs(v) for v in self.values], self.start, weight, self.bits)

    def defect(self, weight: Fraction) -> Fraction:
        """eta in the norm of this weight, rounded up."""
        return weighted_norm(self.residue, self.residue_start, weight, self.bits)


def inverse(core: list[Interval], start: int, reach: int) -> Inverse:
    """A near-inverse of N(z) = sum core_i z^(start + i), with exponents of absolute value up to ``reach``.

    Args:
        core: the coefficients of N as intervals of one precision.
        start: the lowest exponent.
        reach: how many coefficients on each side.
    """
    bits = core[0].bits
    middles = [(c.low + c.high) >> 1 for c in core]
    radius = max(c.high - c.low for c in core)
    values = _guess(middles, start, reach, bits)
    steps = max(1, (bits // 40).bit_length() + 1)
    for step in range(steps + 1):
        residue = convolve(middles, values)
        residue = [-(-r >> bits) for r in residue]
        residue[reach - start] -= 1 << bits
        # The last round of Newton only measures what is left.
        if step == steps:
            break
        correction = convolve(values, residue)
        cut = correction[reach - start : reach - start + 2 * reach + 1]
        values = [v - (c >> bits) for v, c in zip(values, cut, strict=True)]
    # Middles stood for intervals: so much may the coefficients be off.
    slack = 2 + -(-radius * sum(map(abs, values)) >> bits)
    return Inverse(values, -reach, bits, [abs(r) + slack for r in residue], start - reach)


def convolve(first: list[int], second: list[int]) -> list[int]:
    """The product of two polynomials with integer coefficients, by one product of two large integers.

    >>> convolve([1, -2, 3], [4, 5])
    [4, -3, 2, 15]
    """
    size = max(map(abs, first)).bit_length() + max(map(abs, second)).bit_length()
    width = (size + min(len(first), len(second)).bit_length() + 2 + 7) // 8
    product = _packed(first, width) * _packed(second, width)
    length = len(first) + len(second) - 1
    # Half of the largest digit, added to each, makes all digits positive.
    half = 1 << (8 * width - 1)
    shift = int.from_bytes(half.to_bytes(width, "little") * length, "little")
    data = (product + shift).to_bytes(width * length + 1, "little", signed=True)
    return [int.from_bytes(data[i * width : (i + 1) * width], "little") - half for i in range(length)]


def weighted_norm(sizes: list[int], start: int, weight: Fraction, bits: int) -> Fraction:
    """sum sizes_i weight^|start + i| / 2^bits, rounded up."""
    reach = max(abs(start), abs(start + len(sizes) - 1))
    unit = 64
    step = -(-(weight.numerator << unit) // weight.denominator)
    weights = list(accumulate([step] * reach, lambda w, s: -(-w * s >> unit), initial=1 << unit))
    total = sum(size * weights[abs(start + i)] for i, size in enumerate(sizes))
    return Fraction(total, 1 << (bits + unit))


def _packed(digits: list[int], width: int) -> int:
    """sum digits_i 2^(8 width i), digits of either sign."""
    half = 1 << (8 * width - 1)
    data = b"".join((d + half).to_bytes(width, "little") for d in digits)
    return int.from_bytes(data, "little") - int.from_bytes(half.to_bytes(width, "little") * len(digits), "little")


def _guess(middles: list[int], start: int, reach: int, bits: int) -> list[int]:
    """1/N in floats, by values at roots of unity."""
    size = 1 << max(10, (4 * reach + 2 * len(middles)).bit_length())
    folded = np.zeros(size)
    for i, c in enumerate(middles):
        folded[(start + i) % size] += c / (1 << bits)
    with np.errstate(divide="ignore", invalid="ignore"):
        spectrum = np.nan_to_num(1 / np.fft.fft(folded), posinf=0, neginf=0)
    values = np.fft.ifft(spectrum).real
    return [int(Fraction(float(values[i % size])) * (1 << bits)) for i in range(-reach, reach + 1)]
