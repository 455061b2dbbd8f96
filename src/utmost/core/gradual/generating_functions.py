r"""Generating functions of distributions on the integers, as rational functions of z, and certified quotients.

**The generating function of a distribution.**

.. math:: \sum_i p(i) z^i = s\, \frac{N(z)}{(1 - b z^D)(1 - b z^{-D})}

A staircase of period D, step r and ratio b has N = B_{2r-1} + b B_{2(D-r)+1}, where B_n, for odd n, is the block
z^{-(n-1)/2} + ... + z^{(n-1)/2}. With g = gcd(2r-1, 2D) the block B_g divides N. The zeros of B_g lie on the unit
circle, and the quotient of two generating functions exists only if these zeros cancel. A table of finitely many
probabilities has b = 0.

**The certified inverse of a Laurent polynomial on the unit circle.** A guess c for 1/N is certified by its residue e =
N c - 1. If the weighted norm eta = sum |e_i| s^|i| is below 1, N has no zero in the annulus 1/s <= |z| <= s, and the
true inverse differs from c by at most |c|_s eta / (1 - eta) in the same norm (Neumann's series; the weighted norm is
submultiplicative).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import mapping
from utmost.core.exact.arrays import objects
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact, exact_integer, natural
from utmost.core.noise.distribution import Distribution
from utmost.core.noise.profile_distribution import ProfileDistribution
from utmost.errors import OutOfRange, Unsupported


@dataclass(frozen=True, slots=True)
class GeneratingFunction:
    """The generating function of a distribution on the integers."""

    # The coefficients of N / B_g, from exponent ``start`` upward, are constant + b linear.
    constant: tuple[Fraction, ...]
    linear: tuple[Fraction, ...]
    start: int  # lowest exponent of N / B_g
    level: Level | None  # its alpha is b; None for b = 0
    period: int  # the period D
    block: int = 1  # the block number g

    def over_block(self, common: int) -> "GeneratingFunction":
        """The same function with the block B_common, for a divisor ``common`` of g: N / B_common replaces N / B_g."""
        count = self.block // common
        comb = [Fraction(int(i % common == 0)) for i in range((count - 1) * common + 1)]
        constant, linear = (tuple(np.convolve(objects(part), objects(comb))) for part in (self.constant, self.linear))
        return GeneratingFunction(constant, linear, self.start - (len(comb) - 1) // 2, self.level, self.period)

    @property
    def exponents(self) -> list[int]:
        """The exponents of N / B_g, ascending."""
        return [self.start + i for i, (p, m) in enumerate(zip(self.constant, self.linear, strict=True)) if p or m]

    @property
    def stride(self) -> int:
        """The largest u for which the function is a power of z times a function of z^u."""
        first, *others = self.exponents
        return math.gcd(*(e - first for e in others), self.period if self.level is not None else 0)

    def shifted(self, exponent: int) -> "GeneratingFunction":
        """Multiply by z^exponent."""
        return replace(self, start=self.start + exponent)

    def thinned(self, stride: int) -> "GeneratingFunction":
        """Substitute z for z^stride."""
        first = -self.start % stride
        constant, linear = self.constant[first::stride], self.linear[first::stride]
        return GeneratingFunction(
            constant, linear, (self.start + first) // stride, self.level, max(1, self.period // stride)
        )

    @property
    def fractions(self) -> tuple[Fraction, ...] | None:
        """The coefficients of N / B_g, or None if they are irrational."""
        if not any(self.linear):
            return self.constant
        b = self.exact_ratio
        return None if b is None else tuple(p + b * m for p, m in zip(self.constant, self.linear, strict=True))

    def coefficients(self, bits: int) -> list[Interval]:
        b = self.ratio(bits)
        return [b * m + p for p, m in zip(self.constant, self.linear, strict=True)]

    @property
    def exact_ratio(self) -> Fraction | None:
        """The ratio b as a Fraction, or None if b is irrational."""
        if self.level is None:
            return Fraction(0)
        return self.level.alpha_fraction() if self.level.is_rational else None

    def ratio(self, bits: int) -> Interval:
        """The ratio b as an interval."""
        return Interval.of(0, bits) if self.level is None else self.level.alpha_interval(bits)

    def scale(self, bits: int) -> Interval:
        """(1 - b)^2 / (value of N / B_g at z = 1): the factor s without the block."""
        b = self.ratio(bits)
        return (1 - b) ** 2 / (b * sum(self.linear) + sum(self.constant))

    def characteristic(self, angles: NDArray[np.float64]) -> NDArray[np.complex128]:
        """E[exp(i t X)] without the factor of the block B_g, in floats."""
        b = float(self.ratio(64).upper)
        values = np.zeros(angles.shape, np.complex128)
        for k, (p, m) in enumerate(zip(self.constant, self.linear, strict=True)):
            values += (float(p) + b * float(m)) * np.exp(1j * (self.start + k) * angles)
        total = float(sum(self.constant)) + b * float(sum(self.linear))
        tail = (1 - b) ** 2 / (1 - 2 * b * np.cos(self.period * angles) + b * b)
        return np.asarray(values / total * tail, np.complex128)

    def squared_modulus(self, x: Fraction, y: Fraction, bits: int) -> Interval:
        """|E[z^X]|^2 without the factor of the block B_g, at z = x + iy on the unit circle."""
        real, imaginary = Interval.of(0, bits), Interval.of(0, bits)
        for coefficient in reversed(self.coefficients(bits)):  # Horner's rule. The factor z^start has modulus 1.
            real, imaginary = real * x - imaginary * y + coefficient, real * y + imaginary * x
        guard = bits + 2 * self.period.bit_length() + 8
        low, high = Interval.of(1, guard), Interval.of(x, guard)  # cos(kt) and cos((k+1)t)
        for digit in bin(self.period)[2:]:
            middle = 2 * low * high - x
            low, high = (middle, 2 * high * high - 1) if digit == "1" else (2 * low * low - 1, middle)
        b, cosine = self.ratio(bits), low.at(bits)
        rest = 1 - 2 * b * cosine + b * b
        return (real * real + imaginary * imaginary) * self.scale(bits) ** 2 / rest**2


@dataclass(frozen=True, slots=True, init=False, repr=False)
class TailedTable(Display):
    """A distribution on the integers from a table of masses, with geometric tails on both sides of the table.

    Beyond the table each mass is alpha times the mass one period nearer to the table: P(i + period) = alpha P(i) above
    the table, P(i - period) = alpha P(i) below. The generating function is N(z) / ((1 - alpha z^D)(1 - alpha z^-D)),
    where D is the period. The coefficient of z^k in N is (1 + alpha^2) P(k) - alpha P(k - D) - alpha P(k + D), which is
    0 beyond the table.

    Args:
        masses: Mass of each integer of the table, >= 0, up to one common factor; integers missing within the table have
            mass 0.
        alpha: Ratio of the tails, a rational strictly between 0 and 1.
        period: Number D of integers after which each mass is multiplied by alpha; at most the width of the table.

    Raises:
        OutOfRange, NotANumber: if a mass is negative, if all masses are 0, or if a number is outside its range.
        NotALevel: if ``alpha`` is not strictly between 0 and 1.

    Source: proofs/theory/staircase-is-not-gradual.md, whose generating functions are used here with any numerator.

    >>> from utmost.gradual import losslessness
    >>> from utmost.noise import Geometric
    >>> flat = TailedTable({-1: 3, 0: 4, 1: 3}, alpha="1/2")  # 1.5 at 2 and -2, and so on
    >>> losslessness(flat, Geometric(alpha="1/4")).difference.pmf(0)
    Fraction(11, 36)
    >>> bool(losslessness(TailedTable({-1: 1, 0: 5, 1: 1}, alpha="1/2"), Geometric(alpha="1/4")))
    False
    """

    masses: Mapping[int, Fraction]
    alpha: Fraction
    period: int

    def __init__(self, masses: Mapping[int, Number], alpha: Number, period: int = 1) -> None:
        read = {exact_integer(k, "outcome"): exact(p, "mass") for k, p in mapping(masses, "masses").items()}
        support = [k for k, p in read.items() if p]
        if not support or min(read.values()) < 0:
            raise OutOfRange(
                "no mass may be negative, and at least one mass must be positive", came="other masses", where="masses"
            )
        width = max(support) - min(support) + 1
        object.__setattr__(self, "masses", {k: read.get(k, Fraction(0)) for k in range(min(support), max(support) + 1)})
        object.__setattr__(self, "alpha", Level.of_alpha(exact(alpha, "alpha")).alpha_fraction())
        object.__setattr__(self, "period", natural(period, "period", least=1, most=width))

    def __repr__(self) -> str:
        return f"TailedTable of {len(self.masses)} masses, alpha={str(self.alpha)!r}, period={self.period}"

    def generating_function(self) -> GeneratingFunction:
        """The generating function N(z) / ((1 - alpha z^D)(1 - alpha z^-D))."""
        b, low, high = self.alpha, min(self.masses), max(self.masses)
        extended = dict(self.masses)
        for step in range(1, self.period + 1):
            extended[high + step] = b * extended[high + step - self.period]
            extended[low - step] = b * extended[low - step + self.period]
        numerator = {
            k: (1 + b * b) * extended[k] - b * extended[k - self.period] - b * extended[k + self.period]
            for k in range(low, high + 1)
        }
        ends = [k for k, coefficient in numerator.items() if coefficient]
        constant = tuple(numerator[k] for k in range(ends[0], ends[-1] + 1))
        return GeneratingFunction(constant, (Fraction(0),) * len(constant), ends[0], Level.of_alpha(b), self.period)


def generating_function(distribution: Any) -> GeneratingFunction:
    """The generating function of a staircase on the integers, of a table {integer: probability}, or of a `TailedTable`.

    >>> generating_function({0: "1/2", 1: "1/2"}).constant
    (Fraction(1, 2), Fraction(1, 2))
    """
    if isinstance(distribution, ProfileDistribution):
        profile = distribution.profile
        return staircase_generating_function(profile.level, profile.period, 2 * profile.step - 1)
    if isinstance(distribution, Distribution):
        remedy = "If the tails of the distribution are geometric, pass its masses as a ut.gradual.TailedTable."
        raise Unsupported(
            "the distribution must have a rational generating function: a staircase on the integers",
            came=distribution,
            remedy=remedy,
        )
    if isinstance(distribution, TailedTable):
        return distribution.generating_function()
    if isinstance(distribution, Mapping):
        masses = {exact_integer(k, "outcome"): exact(p, "probability") for k, p in distribution.items()}
        if sum(masses.values()) != 1 or any(p < 0 for p in masses.values()):
            raise OutOfRange("the probabilities must not be negative and must sum to 1", came=sum(masses.values()))
        support = sorted(k for k, p in masses.items() if p)
        constant = tuple(masses.get(k, Fraction(0)) for k in range(support[0], support[-1] + 1))
        return GeneratingFunction(constant, tuple(Fraction(0) for _ in constant), support[0], None, 1)
    remedy = "Pass a table {integer: probability}, or a ut.gradual.TailedTable for masses with geometric tails."
    raise OutOfRange(
        "the noise must be a distribution on the integers, or a table of probabilities",
        came=distribution,
        remedy=remedy,
    )


def staircase_generating_function(level: Level, period: int, near: int) -> GeneratingFunction:
    """The generating function with N = B_near + b B_(2 D - near), 1 <= near <= 2 D; near = 2r - 1 on the integers."""
    # For a staircase on the reals, in cells of width D/n, near is 2 gamma n, and n replaces D. The exponents are the
    # middles of the cells: half-integers, which become integers by the division by the block.
    far, block = 2 * period - near, math.gcd(near, 2 * period)
    if near == far:  # here N = (1 + b) B_D, and a constant factor does not matter
        return GeneratingFunction((Fraction(1),), (Fraction(0),), 0, level, period, block)
    reach = (max(near, far) - block) // 2
    constant, linear = (
        tuple(
            Fraction(int(2 * abs(i) <= n - block and (2 * i - n + block) % (2 * block) == 0))
            for i in range(-reach, reach + 1)
        )
        for n in (near, far)
    )
    return GeneratingFunction(constant, linear, -reach, level, period, block)


@dataclass(frozen=True, slots=True)
class NearInverse:
    """Coefficients c of an approximate inverse of a Laurent polynomial N."""

    values: list[int]  # values[i] / 2^bits is the coefficient of z^(start + i)
    start: int
    bits: int
    residue: list[int]  # upper bounds of the absolute coefficients of N c - 1
    residue_start: int  # lowest exponent of the residue

    def norm(self, weight: Fraction) -> Fraction:
        """The weighted norm |c|_s for s = ``weight``, rounded up."""
        return weighted_norm([abs(v) for v in self.values], self.start, weight, self.bits)

    def defect(self, weight: Fraction) -> Fraction:
        """The weighted norm eta of the residue N c - 1 for s = ``weight``, rounded up."""
        return weighted_norm(self.residue, self.residue_start, weight, self.bits)


def inverse(core: list[Interval], start: int, reach: int) -> NearInverse:
    """An approximate inverse of N(z) = sum core_i z^(start + i), with exponents from -reach to reach."""
    bits = core[0].bits
    middles = [(c.low + c.high) >> 1 for c in core]
    radius = max(c.high - c.low for c in core)
    # The first values come from floats: 1/N at roots of unity.
    size = 1 << max(10, (4 * reach + 2 * len(middles)).bit_length())
    folded = np.zeros(size)
    for i, c in enumerate(middles):
        folded[(start + i) % size] += c / (1 << bits)
    with np.errstate(divide="ignore", invalid="ignore"):
        spectrum = np.nan_to_num(1 / np.fft.fft(folded), posinf=0, neginf=0)
    near = np.fft.ifft(spectrum).real
    values = [int(Fraction(float(near[i % size])) * (1 << bits)) for i in range(-reach, reach + 1)]
    steps = max(1, (bits // 40).bit_length() + 1)
    for step in range(steps + 1):
        residue = convolve(middles, values)
        residue = [-(-r >> bits) for r in residue]
        residue[reach - start] -= 1 << bits
        # The last round of Newton only measures the residue.
        if step == steps:
            break
        correction = convolve(values, residue)
        cut = correction[reach - start : reach - start + 2 * reach + 1]
        values = [v - (c >> bits) for v, c in zip(values, cut, strict=True)]
    # The residue was computed with the middles of the intervals of N; ``slack`` bounds the error of this choice.
    slack = 2 + -(-radius * sum(map(abs, values)) >> bits)
    return NearInverse(values, -reach, bits, [abs(r) + slack for r in residue], start - reach)


def convolve(first: list[int], second: list[int]) -> list[int]:
    """Multiply two polynomials with integer coefficients, by one product of two large integers."""
    size = max(map(abs, first)).bit_length() + max(map(abs, second)).bit_length()
    width = (size + min(len(first), len(second)).bit_length() + 2 + 7) // 8
    product = _packed(first, width) * _packed(second, width)
    length = len(first) + len(second) - 1
    # Half of the range of a digit is added to each digit, which makes all digits positive.
    half = 1 << (8 * width - 1)
    shift = int.from_bytes(half.to_bytes(width, "little") * length, "little")
    data = (product + shift).to_bytes(width * length + 1, "little", signed=True)
    return [int.from_bytes(data[i * width : (i + 1) * width], "little") - half for i in range(length)]


def weighted_norm(sizes: list[int], start: int, weight: Fraction, bits: int) -> Fraction:
    """The sum of sizes_i weight^|start + i| / 2^bits, rounded up."""
    reach = max(abs(start), abs(start + len(sizes) - 1))
    unit = 64
    step = -(-(weight.numerator << unit) // weight.denominator)
    weights = list(accumulate([step] * reach, lambda w, s: -(-w * s >> unit), initial=1 << unit))
    total = sum(size * weights[abs(start + i)] for i, size in enumerate(sizes))
    return Fraction(total, 1 << (bits + unit))


def _packed(digits: list[int], width: int) -> int:
    """The sum of digits_i 2^(8 width i), for digits of either sign."""
    half = 1 << (8 * width - 1)
    data = b"".join((d + half).to_bytes(width, "little") for d in digits)
    return int.from_bytes(data, "little") - int.from_bytes(half.to_bytes(width, "little") * len(digits), "little")
