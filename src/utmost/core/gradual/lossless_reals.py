r"""Decide for any two distributions of the library whether one is the other plus independent noise.

**The characteristic function of a staircase on the reals.** With b = e^-epsilon, period D and first step gamma D,

.. math:: \varphi(t) = c\, \frac{g(t)}{t\, |1 - b e^{iDt}|^2}, \quad g(t) = \sin(\gamma D t) + b \sin((1 - \gamma) D t).

If V_1 = V_2 + W with independent W, each zero of the characteristic function of V_2 is a zero of the characteristic
function of V_1. (Below, "a zero of V" means a zero of the characteristic function of V.) If gamma_1 or gamma_2 is
irrational (with equal periods), V_2 has a zero that V_1 lacks. If both gammas are rational, V_i is uniform noise on one
cell of a common grid plus noise on the grid, so that W lies on the common grid, and the module `lossless` decides.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.intervals import Interval, nearest, sin_interval
from utmost.core.gradual.generating_functions import (
    GeneratingFunction,
    generating_function,
    staircase_generating_function,
)
from utmost.core.gradual.laplace_steps import LaplaceTightening
from utmost.core.gradual.lossless import (
    Difference,
    DiscontinuousDensity,
    IrrationalSteps,
    Losslessness,
    SmallerVariance,
    UnmatchedZero,
    lattice_losslessness,
)
from utmost.core.noise.laplace import Laplace
from utmost.core.noise.real_distribution import RealDistribution
from utmost.core.noise.staircase import Staircase
from utmost.errors import OutOfRange, Unsupported

_BITS = 192
# How many zeros of V_2 are computed first, how many at most, and how many of them intervals try to certify.
_NEAR, _FAR, _TRIED = 32, 1 << 14, 8
_CLEAR, _TINY = 0.1, 1e-9
# The width of the bracket around a zero, in units of 1/D.
_BRACKET = Fraction(1, 1 << 26)
_PI = Fraction(245_850_922, 78_256_779)
# The most cells of a period in a table of the common grid.
_MOST_CELLS = 1 << 12


def losslessness(lower: Any, higher: Any) -> Losslessness:
    """Whether V_lower = V_higher + W for some W independent of V_higher.

    Args:
        lower, higher: Distributions V_1 and V_2 of the noise at the lower and at the higher epsilon: two on the
            integers (geometric, staircases of any step and sensitivity, tables {integer: probability} of finite
            support, or tables with geometric tails: `TailedTable`), or two on the reals (staircases of any gamma,
            Laplace).

    Returns:
        A verdict with the distribution of W (in Fractions if all numbers are rational), or with an obstacle.
        Distribution and obstacle are certified, by interval arithmetic if numbers are irrational.

    Raises:
        OutOfRange: if one distribution is of any other kind, or is on the integers while the other one is on the reals.
        Unsupported: if intervals do not decide at the precision in use; or if the search finds no zero of V_2 that V_1
            lacks, for two staircases on the reals whose common grid has more than 4096 cells a period, or for which
            nobody knows whether one gamma is rational.

    Source: the conjecture in Section 5 of [koufogiannis2015], which this function refutes for staircases.

    >>> from utmost.noise import DiscreteStaircase, Geometric
    >>> verdict = losslessness(Geometric(alpha="1/2"), Geometric(alpha="1/4"))
    >>> bool(verdict), verdict.difference.pmf(0), verdict.difference.pmf(1)
    (True, Fraction(13, 27), Fraction(7, 54))
    >>> verdict = losslessness(DiscreteStaircase(1, 3), DiscreteStaircase("3/2", 3))
    >>> bool(verdict), verdict.obstacle
    (False, NegativeMass(at=2, mass=-0.0639...))
    >>> float(losslessness(Staircase(1), Staircase(2)).obstacle.after)
    11.98997...
    >>> bool(losslessness(Staircase(alpha="1/4"), Staircase(alpha="1/25")))
    True
    """
    reals = [isinstance(distribution, RealDistribution) for distribution in (lower, higher)]
    if not any(reals):
        return lattice_losslessness(generating_function(lower), generating_function(higher))
    if not all(reals):
        raise OutOfRange("both distributions must be on the integers, or both on the reals", came=(lower, higher))
    if isinstance(lower, Laplace) and isinstance(higher, Laplace):
        # W is 0 with probability (rate_1/rate_2)^2, else Laplace noise.
        if lower.rate > higher.rate:
            return Losslessness(None, SmallerVariance())
        if lower.rate == higher.rate:
            return Losslessness(Difference((Fraction(1),), None, 1), None)
        return Losslessness(LaplaceTightening(lower.rate, higher.rate), None)
    if isinstance(higher, Laplace):
        return Losslessness(None, DiscontinuousDensity())
    assert isinstance(higher, Staircase), "a distribution on the reals is a staircase or Laplace noise"
    if isinstance(lower, Staircase) and _same(lower, higher):
        return Losslessness(Difference((Fraction(1),), None, 1), None)
    zero = _unmatched_zero(lower, higher, 0, _NEAR)
    if zero is not None:
        return Losslessness(None, zero)
    grid = _common_grid(lower, higher) if isinstance(lower, Staircase) else None
    if grid is not None:
        assert isinstance(lower, Staircase)
        verdict = lattice_losslessness(_on_grid(lower, grid), _on_grid(higher, grid))
        if not isinstance(verdict.difference, Difference):
            return verdict
        return Losslessness(replace(verdict.difference, unit=grid), None)
    zero = _unmatched_zero(lower, higher, _NEAR, _FAR)
    if zero is not None:
        return Losslessness(None, zero)
    if isinstance(lower, Staircase) and (
        lower.sensitivity == higher.sensitivity and (lower.is_gamma_irrational or higher.is_gamma_irrational)
    ):
        return Losslessness(None, IrrationalSteps())
    raise Unsupported(
        "the steps of two staircases must lie on a common grid of at most 4096 cells a period",
        came=f"gamma={lower.gamma}, {higher.gamma}" if isinstance(lower, Staircase) else f"gamma={higher.gamma}",
        remedy="Pass each gamma as a fraction of few digits.",
    )


def _same(lower: Staircase, higher: Staircase) -> bool:
    """Whether two staircases are certainly the same distribution."""
    if (lower.level, lower.sensitivity) != (higher.level, higher.sensitivity):
        return False
    if lower.exact_gamma is None or higher.exact_gamma is None:
        return lower.exact_gamma is higher.exact_gamma and lower.cost == higher.cost
    return lower.exact_gamma % 1 == higher.exact_gamma % 1  # gamma = 0 is gamma = 1


def _common_grid(lower: Staircase, higher: Staircase) -> Fraction | None:
    """The widest cell that divides all steps of both staircases, or None if a period has more than `_MOST_CELLS`."""
    widths: list[Fraction] = []
    for distribution in (lower, higher):
        if distribution.exact_gamma is None:
            return None
        widths += [distribution.sensitivity, distribution.sensitivity * distribution.exact_gamma]
    below = lcm(*(width.denominator for width in widths))
    cell = Fraction(gcd(*(int(width * below) for width in widths)), below)
    return cell if max(widths) / cell <= _MOST_CELLS else None


def _on_grid(distribution: Staircase, cell: Fraction) -> GeneratingFunction:
    """The distribution of the index of the grid cell that contains the noise. Within its cell the noise is uniform."""
    assert distribution.exact_gamma is not None
    period = int(distribution.sensitivity / cell)
    return staircase_generating_function(
        distribution.level, period, int(2 * distribution.exact_gamma * period) or 2 * period
    )


@dataclass(frozen=True, slots=True)
class _Wave:
    """g(t) = sin(gamma D t) + b sin((1 - gamma) D t): it is 0 at t = 0 and where the characteristic function is 0."""

    near: Interval
    far: Interval
    ratio: Interval

    @classmethod
    def of(cls, distribution: Staircase) -> "_Wave":
        gamma = (
            Interval.of(1, _BITS) if distribution.exact_gamma == 0 else distribution.gamma_interval(_BITS)
        )  # the same distribution
        return cls(
            gamma * distribution.sensitivity,
            (1 - gamma) * distribution.sensitivity,
            distribution.level.alpha_interval(_BITS),
        )

    def floats(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        near, far, b = map(nearest, (self.near, self.far, self.ratio))
        return np.asarray(np.sin(near * t) + b * np.sin(far * t))

    def around(self, t: Interval) -> Interval:
        """An interval around all values for t in an interval."""
        return sin_interval(self.near * t, _BITS) + self.ratio * sin_interval(self.far * t, _BITS)


def _unmatched_zero(lower: RealDistribution, higher: Staircase, start: int, end: int) -> UnmatchedZero | None:
    """Find among the zeros start + 1, ..., end of V_2's characteristic function one at which that of V_1 is not 0."""
    # Floats look for the zero, and intervals certify it.
    higher_wave = _Wave.of(higher)
    lower_wave = _Wave.of(lower) if isinstance(lower, Staircase) else None
    for t in _candidates(higher_wave, lower_wave, np.arange(start + 1, end + 1)):
        bracket = _bracket(higher_wave, Fraction(t), 1 / higher.sensitivity)
        if bracket is None:
            continue
        after, before = bracket
        between = Interval(Interval.of(after, _BITS).low, Interval.of(before, _BITS).high, _BITS)
        if lower_wave is None or not lower_wave.around(between).contains(0):
            return UnmatchedZero(after, before)
    if lower_wave is not None:
        return None
    # The first zero may be too large for floats: there, gamma D t differs from pi by at most arcsin b <= b pi/2.
    reach = min(higher_wave.ratio.upper * Fraction(8, 5) + Fraction(1, 1 << 20), Fraction(8, 5))
    after, before = ((_PI + sign * reach) / higher_wave.near.middle for sign in (-1, 1))
    ends = [higher_wave.around(Interval.of(x, _BITS)) for x in (after, before)]
    is_there = ends[0].low > 0 > ends[1].high
    bracket = _halved(higher_wave, after, before, _BRACKET / higher.sensitivity) if is_there else None
    return None if bracket is None else UnmatchedZero(*bracket)


def _candidates(higher: _Wave, lower: _Wave | None, k: NDArray[np.int64]) -> Iterator[float]:
    """Yield zeros of V_2 in floats: the first one that V_1 clearly lacks, then those where V_1 is farthest from 0."""
    # gamma D t + psi(D t), with |psi| <= arcsin b, passes k pi within arcsin b of gamma D t = k pi.
    near, b = nearest(higher.near), nearest(higher.ratio)
    reach = np.arcsin(min(b, 1.0)) * 1.01
    low, high = (np.pi * k - reach) / near, (np.pi * k + reach) / near
    before = np.where(k % 2 == 0, -1.0, 1.0)
    # Bisection: each halving determines one more bit of a float.
    for _ in range(60):
        middle = (low + high) / 2
        is_before = np.sign(higher.floats(middle)) == before
        low, high = np.where(is_before, middle, low), np.where(is_before, high, middle)
    sizes = np.ones(k.size) if lower is None else np.abs(lower.floats(high))
    yield from high[sizes > _CLEAR][:1].tolist()
    yield from (float(high[i]) for i in np.argsort(-sizes)[:_TRIED] if sizes[i] > _TINY)


def _bracket(wave: _Wave, t: Fraction, unit: Fraction) -> tuple[Fraction, Fraction] | None:
    """A narrow bracket around the zero near t, with certain and opposite signs at its ends."""
    step = unit * _BRACKET
    place, width = round(t / step), 1
    while width * _BRACKET < 1:
        after, before = (place - width) * step, (place + width) * step
        ends = [wave.around(Interval.of(x, _BITS)) for x in (after, before)]
        if any(x.high < 0 < y.low for x, y in (ends, ends[::-1])):
            return (after, before) if width == 1 else _halved(wave, after, before, step)
        width *= 4
    return None


def _halved(wave: _Wave, after: Fraction, before: Fraction, step: Fraction) -> tuple[Fraction, Fraction] | None:
    """Halve a bracket until it is at most two steps wide, or None if a sign is uncertain."""
    is_rising = wave.around(Interval.of(after, _BITS)).high < 0
    while before - after > 2 * step:
        middle = (after + before) / 2
        value = wave.around(Interval.of(middle, _BITS))
        if value.contains(0):
            return None
        after, before = (middle, before) if (value.high < 0) == is_rising else (after, middle)
    return after, before
