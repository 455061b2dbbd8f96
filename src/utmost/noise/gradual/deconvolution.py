r"""Dividing one law by another, with proof: the inverse of a Laurent polynomial on the unit circle, certified.

A guess c for 1/N is certified by its residue e = N c - 1: where the weighted norm eta = sum |e_i| s^|i| is below 1, N
has no zero in the ring 1/s <= |z| <= s, and the true inverse differs from c by at most |c|_s eta / (1 - eta) in the
same norm (Neumann's series; the weighted norm is submultiplicative).
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np

from utmost.exact import Interval


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
        if step == steps:
            break
        correction = convolve(values, residue)
        cut = correction[reach - start : reach - start + 2 * reach + 1]
        values = [v - (c >> bits) for v, c in zip(values, cut, strict=True)]
    slack = 2 + -(-radius * sum(map(abs, values)) >> bits)
    return Inverse(values, -reach, bits, [abs(r) + slack for r in residue], start - reach)


def convolve(one: list[int], other: list[int]) -> list[int]:
    """The product of two polynomials with integer coefficients, by one product of two large integers.

    >>> convolve([1, -2, 3], [4, 5])
    [4, -3, 2, 15]
    """
    size = max(map(abs, one)).bit_length() + max(map(abs, other)).bit_length()
    width = (size + min(len(one), len(other)).bit_length() + 2 + 7) // 8
    product = _packed(one, width) * _packed(other, width)
    length = len(one) + len(other) - 1
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
