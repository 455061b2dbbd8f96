r"""Decide with proof whether one distribution is another plus independent noise.

A response V_2 at a larger epsilon can be turned into one at a smaller epsilon, V_1, without loss exactly when
V_1 = V_2 + W with W independent of V_2. If V_2 is an extreme point of the private distributions, as a staircase is, no
other joint distribution of V_1 and V_2 satisfies both levels. The generating function of W can only be the quotient
of the generating functions of V_1 and V_2. W exists exactly when no coefficient of the quotient is negative.

**The coefficients of W.** With the functions of `generating_functions`, the quotient is

.. math:: \frac{s_1}{s_2 (1 - b_1^2)}\, R(z) \sum_k b_1^{|k|} z^{k D_1},
    \quad R(z) = \frac{N_1(z)\,(1 - b_2 z^{D_2})(1 - b_2 z^{-D_2})}{N_2(z)}.

If N_2 divides N_1, R is a polynomial. If N_2 does not divide N_1, R is a polynomial up to an error E, whose norm sum
|E_i| lambda^{-|i|} is certified. With lambda = b_1^{1/D_1} the error of W at i is then at most lambda^|i| times that
norm, and decreases as fast as the masses of W. So finitely many coefficients decide the signs of all coefficients. With
lambda = 1 the bound is weaker, but holds for every N_2 without zeros on the unit circle.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval, nearest, round_down, round_up
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact
from utmost.core.gradual.generating_functions import GeneratingFunction, NearInverse, convolve, inverse, weighted_norm
from utmost.core.gradual.laplace_steps import LaplaceTightening
from utmost.errors import Unsupported

_WEIGHT_BITS = 40


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """Coefficients of a possible generating function of W, up to a positive factor."""

    values: list[Any]  # Fractions, or Intervals that contain them, for the exponents from -reach to reach
    decides_all: bool  # whether every coefficient beyond the reach is a positive multiple of a listed one

    @property
    def reach(self) -> int:
        return len(self.values) // 2


def polynomial_quotient(lower: GeneratingFunction, higher: GeneratingFunction) -> tuple[list[Fraction], int] | None:
    """Return N_1 / N_2 and its lowest exponent, or None if coefficients are irrational or the division leaves a
    remainder.
    """
    top, bottom = lower.fractions, higher.fractions
    if top is None or bottom is None or len(top) < len(bottom):
        return None
    rest, quotient = list(top), []
    for i in range(len(top) - len(bottom) + 1):
        factor = rest[i] / bottom[0]
        quotient.append(factor)
        if factor:
            for k, value in enumerate(bottom):
                rest[i + k] -= factor * value
    return None if any(rest) else (quotient, lower.start - higher.start)


def exact_candidate(
    lower: GeneratingFunction, higher: GeneratingFunction, quotient: list[Fraction], start: int, bits: int
) -> Candidate:
    """Compute the coefficients of W from N_1 / N_2: as Fractions if both ratios b are rational, else as intervals."""
    b1: Any = lower.exact_ratio
    b2: Any = higher.exact_ratio
    if b1 is None or b2 is None:
        b1, b2 = lower.ratio(bits), higher.ratio(bits)
    core: dict[int, Any] = {}
    for i, value in enumerate(quotient):
        if value:
            for shift, factor in ((0, 1 + b2 * b2), (higher.period, -b2), (-higher.period, -b2)):
                core[start + i + shift] = core.get(start + i + shift, 0) + factor * value
    reach = max(map(abs, core)) + lower.period
    return Candidate(_spread([core.get(i, 0 * b1) for i in range(-reach, reach + 1)], b1, lower.period), True)


def near_candidates(
    lower: GeneratingFunction, higher: GeneratingFunction, reach: int, bits: int
) -> Iterator[Candidate]:
    """One candidate for each certified lambda, from an approximate inverse of N_2 with exponents up to ``reach``."""
    near = inverse(higher.coefficients(bits), higher.start, reach)
    # N_1 (1 - b_2 z^D)(1 - b_2 z^-D) as intervals, and its lowest exponent.
    core, b, D = lower.coefficients(bits), higher.ratio(bits), higher.period
    top, top_start = [Interval(0, 0, bits)] * (len(core) + 2 * D), lower.start - D
    for i, value in enumerate(core):
        for shift, factor in ((D, 1 + b * b), (0, -b), (2 * D, -b)):
            top[i + shift] = top[i + shift] + value * factor
    # With lambda = 1 the coefficients beyond the listed ones are unknown.
    spread = None
    for is_flat in (True,) if lower.level is None else (False, True):
        weight = Fraction(1)
        if not is_flat and lower.level is not None:
            # A rational that is at least 1/lambda = b_1^(-1/D_1), and exceeds it at most slightly.
            low = lower.level.scaled(Fraction(1, lower.period)).alpha_interval(_WEIGHT_BITS + 64).lower
            weight = Fraction(-(-(1 << _WEIGHT_BITS) * low.denominator // low.numerator), 1 << _WEIGHT_BITS)
        defect = near.defect(weight)
        if defect < 1:
            spread = spread or _approximate(lower, top, top_start, near)
            error = error_bound(top, top_start, near, weight, defect)
            # Each coefficient is widened by lambda^|i| times the error.
            half, fall = len(spread) // 2, 1 << bits
            if not is_flat and lower.level is not None:
                fall = lower.level.scaled(Fraction(1, lower.period)).alpha_interval(bits).high
            wide = -((-error.numerator << bits) // error.denominator)
            errors = list(accumulate([fall] * half, lambda e, f: -(-e * f >> bits), initial=wide))
            both = (errors[abs(i - half)] for i in range(len(spread)))
            widened = [Interval(value.low - by, value.high + by, bits) for value, by in zip(spread, both, strict=True)]
            yield Candidate(widened, not is_flat)


def _approximate(lower: GeneratingFunction, top: list[Interval], top_start: int, near: NearInverse) -> list[Interval]:
    """The coefficients of W, computed with the approximate inverse of N_2."""
    bits = near.bits
    middles = convolve([(c.low + c.high) >> 1 for c in top], near.values)
    first = top_start + near.start
    half = max(-first, first + len(middles) - 1)
    padded = [Interval(0, 0, bits)] * (2 * (half + lower.period) + 1)
    for i, value in enumerate(middles):
        padded[first + i + half + lower.period] = Interval(value >> bits, -(-value >> bits), bits)
    return _spread(padded, lower.ratio(bits), lower.period)


def error_bound(top: list[Interval], start: int, near: NearInverse, weight: Fraction, defect: Fraction) -> Fraction:
    """A bound on the weighted norm of the error of R, from Neumann's series and the widths of the intervals ``top``."""
    bits = top[0].bits
    sizes = [max(abs(c.low), abs(c.high)) for c in top]
    size = weighted_norm(sizes, start, weight, bits)
    slack = weighted_norm([c.high - c.low + 1 for c in top], start, weight, bits)
    return near.norm(weight) * (size * defect + slack) / (1 - defect)


def _spread(core: list[Any], b: Any, period: int) -> list[Any]:
    """The coefficients of core(z) sum_k b^|k| z^(k period), at the exponents of the list ``core``."""
    up, down = core[:], [0 * b] * len(core)
    for i in range(period, len(core)):
        up[i] = up[i] + b * up[i - period]
    for i in range(len(core) - period - 1, -1, -1):
        down[i] = b * (core[i + period] + down[i + period])
    return [u + d for u, d in zip(up, down, strict=True)]


# The first attempt lists coefficients over four times the longest period, and the last attempt over 64 times, with
# enough bits for the tail there.
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, repr=False)
class NegativeMass(Display):
    """Obstacle: the only possible W would have P(W = at) <= mass < 0."""

    at: int
    mass: float


@dataclass(frozen=True, slots=True)
class LargerCharacteristic:
    """Obstacle: |E z^V1| >= ratio |E z^V2| with ratio > 1 at z = x + iy on the unit circle, but |E z^W| <= 1.

    Attributes:
        x, y: Rationals with x^2 + y^2 = 1. For distributions on the reals, z = e^(itw), where w is the width of the
            common grid.
        ratio: Certified lower bound of the quotient.
    """

    x: Fraction
    y: Fraction
    ratio: float


@dataclass(frozen=True, slots=True)
class BoundedSupport:
    """Obstacle: V_1 is bounded and V_2 is not."""


@dataclass(frozen=True, slots=True)
class UnmatchedZero:
    """Obstacle: in an interval, the characteristic function E exp(itV) has a zero for V = V_2, and none for V = V_1.

    Attributes:
        after, before: Ends of the interval of t. The certificate consists of the signs of the function for V_2 at both
            ends, and of an enclosure of the function for V_1 between them.
    """

    after: Fraction
    before: Fraction


@dataclass(frozen=True, slots=True)
class IrrationalSteps:
    """Obstacle: gamma of one staircase is irrational. The characteristic function of V_2 has a zero that V_1 lacks."""


@dataclass(frozen=True, slots=True)
class DiscontinuousDensity:
    """Obstacle: the density of V_1 jumps, but V_2 plus any independent noise has a continuous density."""


@dataclass(frozen=True, slots=True)
class SmallerVariance:
    """Obstacle: V_1 has a smaller variance than V_2."""


Obstacle = (
    NegativeMass
    | LargerCharacteristic
    | BoundedSupport
    | UnmatchedZero
    | IrrationalSteps
    | DiscontinuousDensity
    | SmallerVariance
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Difference(Display):
    """The distribution of W on the points (k * stride + offset) * unit, with the list of probabilities for |k| <=
    reach.
    """

    # Beyond the listed masses, P is multiplied by b with each period.
    listed: tuple[Any, ...]
    level: Level | None
    period: int
    stride: int = 1
    offset: int = 0
    unit: Fraction = Fraction(1)  # width of the grid of W; 1 for distributions on the integers

    def pmf(self, x: Number) -> Fraction | float:
        """P(W = x): a Fraction if all coefficients are rational, else a float."""
        place = exact(x, "x") / self.unit
        return self._mass(place.numerator) if place.denominator == 1 else Fraction(0)

    def _mass(self, k: int) -> Fraction | float:
        if (k - self.offset) % self.stride:
            return Fraction(0)
        k = (k - self.offset) // self.stride
        reach, size = len(self.listed) // 2, abs(k)
        if size <= reach:
            mass = self.listed[k + reach]
            return mass if isinstance(mass, Fraction) else nearest(mass)
        if self.level is None:
            return Fraction(0)
        # Beyond the listed masses, each period has b times the masses of the period before.
        steps = -(-(size - reach) // self.period)
        nearer = size - steps * self.period
        inner = self._mass((nearer if k > 0 else -nearer) * self.stride + self.offset)
        if isinstance(inner, Fraction):
            return inner * self.level.alpha_fraction() ** steps
        return inner * math.exp(-steps * self.level.epsilon_float)


@dataclass(frozen=True, slots=True, repr=False)
class Losslessness(Display):
    """The verdict whether V_1 = V_2 + W, as ``bool(verdict)``, with the distribution of W or an obstacle."""

    difference: Difference | LaplaceTightening | None
    obstacle: Obstacle | None

    def __bool__(self) -> bool:
        return self.difference is not None


def lattice_losslessness(lower: GeneratingFunction, higher: GeneratingFunction) -> Losslessness:
    """Decide whether ``lower`` is ``higher`` plus independent noise, from the generating functions of both."""
    if lower == higher:
        return Losslessness(Difference((Fraction(1),), None, 1), None)
    if lower.level is None and higher.level is not None:
        return Losslessness(None, BoundedSupport())
    common = math.gcd(lower.block, higher.block)
    lower, higher = lower.over_block(common), higher.over_block(common)
    larger = _larger_characteristic(lower, higher)
    if larger is not None:
        return Losslessness(None, larger)
    stride = math.gcd(lower.stride, higher.stride) or 1
    shifts = [distribution.exponents[0] % stride for distribution in (lower, higher)]
    first, second = (
        distribution.shifted(-by).thinned(stride) for distribution, by in zip((lower, higher), shifts, strict=True)
    )
    verdict, offset = _decision(first, second), shifts[0] - shifts[1]
    # The verdict was found for functions of z. Here z^stride replaces z, and the quotient is multiplied by z^offset.
    if stride > 1 and isinstance(verdict.difference, Difference):
        return Losslessness(replace(verdict.difference, stride=stride, offset=offset), None)
    if stride > 1 and isinstance(verdict.obstacle, NegativeMass):
        return Losslessness(None, NegativeMass(verdict.obstacle.at * stride + offset, verdict.obstacle.mass))
    return verdict


def _decision(lower: GeneratingFunction, higher: GeneratingFunction) -> Losslessness:
    """Decide as `lattice_losslessness` does, for two functions without a common block or stride."""
    quotient = polynomial_quotient(lower, higher)
    fall = 0.0 if lower.level is None else lower.level.epsilon_float / lower.period
    rough: Losslessness | None = None
    for attempt in range(_ATTEMPTS):
        reach = 4 * max(8, len(lower.constant), len(higher.constant), lower.period, higher.period) << attempt
        bits = 128 + 64 * attempt + math.ceil(3 * reach * fall)
        exact = [exact_candidate(lower, higher, *quotient, bits)] if quotient is not None else None
        for candidate in exact or near_candidates(lower, higher, reach, bits):
            verdict, is_sharp = _candidate_verdict(lower, higher, candidate, bits)
            if verdict is not None and is_sharp:
                return verdict
            rough = rough if verdict is None else verdict
    if rough is not None:
        return rough
    raise Unsupported(
        "for these two levels, neither 'lossless' nor 'not lossless' could be proved",
        remedy="Change one of the levels slightly.",
    )


def _candidate_verdict(
    lower: GeneratingFunction, higher: GeneratingFunction, candidate: Candidate, bits: int
) -> tuple[Losslessness | None, bool]:
    """Return the verdict (None if a sign is uncertain), and whether the error of each mass is at most 2^-40."""
    # s_1 / (s_2 (1 - b_1^2)), a Fraction where both ratios are rational.
    scale: Interval | Fraction
    b1, b2 = lower.exact_ratio, higher.exact_ratio
    if b1 is None or b2 is None:
        ratio = lower.ratio(bits)
        scale = lower.scale(bits) / higher.scale(bits) / (1 - ratio * ratio)
    else:
        s1, s2 = ((1 - b) ** 2 / (sum(s.constant) + b * sum(s.linear)) for s, b in ((lower, b1), (higher, b2)))
        scale = s1 / s2 / (1 - b1**2)
    values = [value * scale for value in candidate.values]
    is_sharp = all(isinstance(value, Fraction) or (value.high - value.low) >> (bits - 40) == 0 for value in values)
    uppers = [value.high if isinstance(value, Interval) else value for value in values]
    if min(uppers) < 0:
        at = min(range(len(values)), key=uppers.__getitem__)
        at = at if uppers[~at] >= 0 else max(at, len(values) - 1 - at)  # the positive one of two mirrored positions
        return Losslessness(None, NegativeMass(at - candidate.reach, round_up(values[at]))), is_sharp
    lowers = [value.low if isinstance(value, Interval) else value for value in values]
    if min(lowers) < 0 or not candidate.decides_all:
        return None, False
    return Losslessness(Difference(tuple(values), lower.level, lower.period), None), is_sharp


def _larger_characteristic(lower: GeneratingFunction, higher: GeneratingFunction) -> LargerCharacteristic | None:
    """Find a point of the unit circle at which V_1 certainly has a larger characteristic function than V_2."""
    size = 64 * max(64, len(lower.constant), len(higher.constant), lower.period, higher.period)
    angles = np.linspace(0, math.pi, size, endpoint=False) + math.pi / (2 * size)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.nan_to_num(np.abs(lower.characteristic(angles)) / np.abs(higher.characteristic(angles)))
    place = int(np.argmax(ratios))
    if ratios[place] < 1 + 1e-9:  # rounding alone may lift a ratio above 1
        return None
    # A rational t = tan(angle / 2) makes the point rational and exactly on the circle.
    t = Fraction(math.tan(angles[place] / 2)).limit_denominator(1 << 24)
    x, y = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    quotient = lower.squared_modulus(x, y, 512) / higher.squared_modulus(x, y, 512)
    if quotient.lower <= 1:
        return None
    return LargerCharacteristic(x, y, round_down(Fraction(math.isqrt(quotient.low << 512), 1 << 512)))
