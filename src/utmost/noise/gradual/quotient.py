r"""The one candidate for W in V_1 = V_2 + W, coefficient by coefficient.

With the rational functions of `series`, the quotient is

.. math:: \frac{s_1}{s_2 (1 - b_1^2)}\, R(z) \sum_k b_1^{|k|} z^{k D_1},
    \quad R(z) = \frac{N_1(z)\,(1 - b_2 z^{D_2})(1 - b_2 z^{-D_2})}{N_2(z)}.

R is a polynomial where N_2 divides N_1. Otherwise it is enclosed: a polynomial up to an error whose norm
sum |E_i| lambda^{-|i|} is certified. With lambda = b_1^{1/D_1} the error of W at i is then at most lambda^|i|
times that norm, and falls as fast as W itself, so that finitely many coefficients decide about all; with lambda = 1 the
bound is weaker, but holds for every N_2 without zeros on the unit circle.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

from utmost.exact import Interval
from utmost.noise.gradual.deconvolution import Inverse, convolve, inverse, weighted_norm
from utmost.noise.gradual.series import Series

_WEIGHT_BITS = 40


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """Coefficients of W, up to a positive factor.

    Attributes:
        values: Fractions, or Intervals that contain them, for the exponents from -reach to reach.
        is_all: whether every coefficient beyond is a positive multiple of one that is listed.
    """

    values: list[Any]
    is_all: bool

    @property
    def reach(self) -> int:
        """The largest exponent listed."""
        return len(self.values) // 2


def polynomial_quotient(one: Series, two: Series) -> tuple[list[Fraction], int] | None:
    """N_1 / N_2 with its lowest exponent, where both are rational and the division leaves nothing."""
    top, bottom = one.fractions, two.fractions
    if top is None or bottom is None or len(top) < len(bottom):
        return None
    rest, quotient = list(top), []
    for i in range(len(top) - len(bottom) + 1):
        factor = rest[i] / bottom[0]
        quotient.append(factor)
        if factor:
            for k, value in enumerate(bottom):
                rest[i + k] -= factor * value
    return None if any(rest) else (quotient, one.start - two.start)


def exact_candidate(one: Series, two: Series, quotient: list[Fraction], start: int, bits: int) -> Candidate:
    """W from N_1 / N_2: Fractions where both ratios are rational, else intervals."""
    is_rational = all(s.level is None or s.level.is_rational for s in (one, two))
    b1, b2 = (_ratio(s, bits, is_rational) for s in (one, two))
    core: dict[int, Any] = {}
    for i, value in enumerate(quotient):
        if value:
            for shift, factor in ((0, 1 + b2 * b2), (two.period, -b2), (-two.period, -b2)):
                core[start + i + shift] = core.get(start + i + shift, 0) + factor * value
    reach = max(map(abs, core)) + one.period
    return Candidate(_spread([core.get(i, 0 * b1) for i in range(-reach, reach + 1)], b1, one.period), True)


def near_candidates(one: Series, two: Series, reach: int, bits: int) -> Iterator[Candidate]:
    """W from a certified inverse of N_2 with coefficients up to ``reach``, for each lambda whose certificate holds.

    With lambda = 1 nothing is learnt beyond the coefficients listed.
    """
    guess = inverse(two.core(bits), two.start, reach)
    top, top_start = _numerator(one, two, bits)
    spread = None
    for is_flat in (True,) if one.level is None else (False, True):
        weight = Fraction(1) if is_flat else _weight(one)
        defect = guess.defect(weight)
        if defect < 1:
            spread = spread or _approximate(one, top, top_start, guess)
            error = _error(top, top_start, guess, weight, defect)
            yield Candidate(_widened(one, spread, error, bits, is_flat), not is_flat)


def _approximate(one: Series, top: list[Interval], top_start: int, guess: Inverse) -> list[Interval]:
    """The coefficients of W with the near-inverse in the place of the inverse."""
    bits = guess.bits
    middles = convolve([(c.low + c.high) >> 1 for c in top], guess.values)
    first = top_start + guess.start
    half = max(-first, first + len(middles) - 1)
    padded = [Interval(0, 0, bits)] * (2 * (half + one.period) + 1)
    for i, value in enumerate(middles):
        padded[first + i + half + one.period] = Interval(value >> bits, -(-value >> bits), bits)
    return _spread(padded, one.ratio(bits), one.period)


def _numerator(one: Series, two: Series, bits: int) -> tuple[list[Interval], int]:
    """N_1 (1 - b_2 z^D)(1 - b_2 z^-D) as intervals, and its lowest exponent."""
    core, b, D = one.core(bits), two.ratio(bits), two.period
    out = [Interval(0, 0, bits)] * (len(core) + 2 * D)
    for i, value in enumerate(core):
        for shift, factor in ((D, 1 + b * b), (0, -b), (2 * D, -b)):
            out[i + shift] = out[i + shift] + value * factor
    return out, one.start - D


def _error(top: list[Interval], start: int, guess: Inverse, weight: Fraction, defect: Fraction) -> Fraction:
    """A bound of the weighted norm of R minus its approximation."""
    bits = top[0].bits
    sizes = [max(abs(c.low), abs(c.high)) for c in top]
    size = weighted_norm(sizes, start, weight, bits)
    slack = weighted_norm([c.high - c.low + 1 for c in top], start, weight, bits)
    return guess.norm(weight) * (size * defect + slack) / (1 - defect)


def _spread(core: list[Any], b: Any, period: int) -> list[Any]:
    """The coefficients of core(z) sum_k b^|k| z^(k period), as far as the core is listed."""
    up, down = core[:], [0 * b] * len(core)
    for i in range(period, len(core)):
        up[i] = up[i] + b * up[i - period]
    for i in range(len(core) - period - 1, -1, -1):
        down[i] = b * (core[i + period] + down[i + period])
    return [u + d for u, d in zip(up, down, strict=True)]


def _widened(one: Series, values: list[Interval], error: Fraction, bits: int, is_flat: bool) -> list[Interval]:
    """Each coefficient widened by lambda^|i| times the error."""
    reach = len(values) // 2
    wide = -((-error.numerator << bits) // error.denominator)
    fall = 1 << bits
    if not is_flat and one.level is not None:
        fall = one.level.scaled(Fraction(1, one.period)).alpha_interval(bits).high
    errors = list(accumulate([fall] * reach, lambda e, f: -(-e * f >> bits), initial=wide))
    both = (errors[abs(i - reach)] for i in range(len(values)))
    return [Interval(value.low - by, value.high + by, bits) for value, by in zip(values, both, strict=True)]


def _weight(one: Series) -> Fraction:
    """A rational not below 1/lambda = b_1^(-1/D_1), and hardly above."""
    assert one.level is not None
    low = one.level.scaled(Fraction(1, one.period)).alpha_interval(_WEIGHT_BITS + 64).lower
    return Fraction(-(-(1 << _WEIGHT_BITS) * low.denominator // low.numerator), 1 << _WEIGHT_BITS)


def _ratio(law: Series, bits: int, is_rational: bool) -> Any:
    if not is_rational:
        return law.ratio(bits)
    return Fraction(0) if law.level is None else law.level.alpha_fraction()
