"""Telling a law of staircase shape from its shifted copy.

Every such law has a density that is constant on a first step of half-width gamma and on further steps of width 1, each
b times as high as the one before: f(x) ~ b^floor(|x| + 1 - gamma), in units of the width. So has an integer law when
each integer is given its unit cell: the discrete staircase of step r and sensitivity D has gamma = (2r-1)/(2D), the
two-sided geometric has width 1 and gamma = 1/2. The likelihood ratio of the copy shifted by s, f(x-s)/f(x), is always
a power b^-j. Call j the class of the outcome x; it lies between -(n+1) and n+1 for n = floor(s).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.exact import Floats, Interval, Level, exp_interval
from utmost.noise.powers import ExactPowers, FloatPowers, IntervalPowers, Powers


@dataclass(frozen=True, slots=True)
class StaircaseCurve:
    """X against X + shift, for X with density proportional to b^floor(|x| + 1 - gamma).

    With n + phi = shift and N + theta = shift + 2(1 - gamma), whole parts first, and B the broken line through the
    points (k, b^k), everything follows from

        kappa   = ((1-b) min(phi, 2 gamma) + b phi) / (2 B(1-gamma)),
        tail(j) = P(class of X >= j) = 0                                       for j > n + 1,
                                       b^(n+1) kappa                           for j = n + 1,
                                       B((N+j)/2) / (2 B(1-gamma))             for -n < j <= n and j = N modulo 2,
                                       B((N+j-1)/2 + theta) / (2 B(1-gamma))   for -n < j <= n otherwise,
                                       1 - kappa                               for j = -n,
                                       1                                       for j < -n.

    The least missed-detection probability runs through the points (tail(j+1), tail(-j)), and has slope -b^-j between
    the points of j and j - 1.

    Attributes:
        level: the level whose alpha is b.
        gamma: half-width of the first step, in 0..1.
        shift: distance of the two hypotheses, at least 0.

    Source: [geng2012] gives the law, its equations (3) to (11) the test; the curve at every shift is derived in
    docs/theory/trade-off.md.

    >>> curve = StaircaseCurve(Level.of_alpha("1/2"), Fraction(1, 2), Fraction(1))
    >>> curve.missed_exactly(Fraction(1, 3)), curve.excess_exactly(None)
    (Fraction(1, 3), Fraction(1, 3))
    """

    level: Level
    gamma: Fraction
    shift: Fraction

    @property
    def is_rational(self) -> bool:
        """Whether every probability here is a rational number."""
        return self.level.is_rational

    @property
    def kept(self) -> Level | None:
        """The level of the largest likelihood ratio, b^-ceil(shift); None where the hypotheses are equal."""
        return self.level.scaled(math.ceil(self.shift)) if self.shift else None

    def missed(self, false_alarm: Floats) -> Floats:
        """The least missed-detection probability at an array of probabilities, at a fixed cost per point."""
        b, n, p = FloatPowers(self.level), math.floor(self.shift), false_alarm
        first, last = self._tail(n + 1, b), self._tail(-n, b)
        inside = (p > first) & (p < self._tail(1 - n, b))
        part = np.divide(p, first, out=np.zeros_like(p), where=(p <= first) & (p > 0))
        start = 1 - self._lifted(n + 1, b) * part
        middle = self._missed_inside(np.where(inside, p, 0.5), b)
        end = first + b.power(n) * (last - p)
        return np.select([p <= first, inside, p < last], [start, middle, end], b.power(n + 1) * (1 - p))

    def missed_exactly(self, false_alarm: Fraction) -> Fraction:
        """The same for one rational probability, by bisection over the classes; b must be rational."""
        b = ExactPowers(self.level)
        high = math.floor(self.shift) + 1
        low = -high
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._tail(middle, b) >= false_alarm else (low, middle - 1)
        rest: Fraction = self._tail(1 - low, b) + b.power(-low) * (self._tail(low, b) - false_alarm)
        return rest

    def excess_exactly(self, level: Level | None) -> Fraction:
        """sup over S of P(X + shift in S) - e^epsilon P(X in S), for rational b and e^epsilon (None: epsilon 0)."""
        b, j = ExactPowers(self.level), 1 + _multiples(level, self.level)
        if j > math.ceil(self.shift):
            return Fraction(0)
        factor = 1 if level is None else 1 / level.alpha_fraction()
        excess: Fraction = 1 - self._tail(1 - j, b) - factor * self._tail(j, b)
        return excess

    def excess_enclosed(self, level: Level | None, bits: int) -> Interval:
        """The same as an interval, for any level."""
        b, j = IntervalPowers(self.level, bits), 1 + _multiples(level, self.level)
        if j > math.ceil(self.shift):
            return Interval.of(0, bits)
        slope = -self.level.scaled(j).epsilon_interval(bits)
        factor = exp_interval(slope if level is None else slope + level.epsilon_interval(bits), bits)
        excess: Interval = 1 - self._tail(1 - j, b) - factor * self._lifted(j, b)
        return excess

    def _tail(self, j: int, b: Powers) -> Any:
        n = math.floor(self.shift)
        if abs(j) > n + 1 or j == -n - 1:
            return int(j < 0)
        if j == n + 1:
            return b.power(n + 1) * self._lifted(j, b)
        if j == -n:
            return self._outer(max(2 * self.gamma - self.shift % 1, Fraction(0)), 2 - self.shift % 1, b)
        return _chord(b, *self._place(j)) / (2 * _chord(b, 0, 1 - self.gamma))

    def _lifted(self, j: int, b: Powers) -> Any:
        """b^-j tail(j), for 0 < j: no larger than 1, however small the tail is."""
        if j == math.floor(self.shift) + 1:
            return self._outer(min(self.shift % 1, 2 * self.gamma), self.shift % 1, b)
        whole, part = self._place(j)
        return _chord(b, whole - j, part) / (2 * _chord(b, 0, 1 - self.gamma))

    def _outer(self, on_first_step: Fraction, anywhere: Fraction, b: Powers) -> Any:
        """kappa, and with the lengths of the complement 1 - kappa, as a sum of terms that are not negative."""
        return (b.complement * on_first_step + b.b * anywhere) / (2 * _chord(b, 0, 1 - self.gamma))

    def _place(self, j: int) -> tuple[int, Fraction | int]:
        """Where class j begins on the broken line: whole part and part."""
        whole, theta = divmod(self.shift + 2 * (1 - self.gamma), 1)
        return ((whole + j) // 2, 0) if (whole + j) % 2 == 0 else ((whole + j - 1) // 2, theta)

    def _missed_inside(self, p: Floats, b: FloatPowers) -> Floats:
        """The curve between tail(n+1) and tail(1-n): find the class by inverting the broken line, then interpolate.

        A class misjudged by rounding costs no accuracy, for neighbouring pieces meet where they are confused.
        """
        n, (total, theta) = math.floor(self.shift), divmod(self.shift + 2 * (1 - self.gamma), 1)
        scale, beyond = 2 * _chord(b, 0, 1 - self.gamma), _chord(b, 0, theta)
        depth = -np.log(p) - np.log(scale)
        whole = np.floor(depth / float(b.epsilon.high))
        part = -np.expm1(whole * float(b.epsilon.high) - depth) / b.complement
        index = np.clip(2 * whole + (part >= float(theta)), total + 1 - n, total + n)
        whole, late = np.floor(index / 2), index % 2 == 1
        here = b.power(whole) * np.where(late, beyond, 1)
        rest = b.power(total - whole) * np.where(late, 1, beyond)
        lifted = b.power(total - whole - late) * np.where(late, beyond, 1)
        part = np.divide(p * scale, here, out=np.ones_like(p), where=here > 0)
        missed: Floats = (rest + lifted * np.maximum(1 - part, 0)) / scale
        return np.minimum(missed, 1.0)


def _chord(b: Powers, k: int, part: Fraction | int) -> Any:
    """The broken line B at k + part: b^k ((1 - part)(1 - b) + b), a sum of terms that are not negative."""
    return b.power(k) * ((1 - part) * b.complement + b.b)


def _multiples(level: Level | None, unit: Level) -> int:
    """The largest k with ``k`` times the unit's epsilon at most the level's; decided exactly."""
    if level is None:
        return 0
    if level.base == unit.base:
        return math.floor(level.power / unit.power)
    bits = 128
    while True:  # ends: two levels of different bases have no common multiple
        below = unit.epsilon_interval(bits)
        if below.low > 0:
            times = level.epsilon_interval(bits) / below
            if math.floor(times.lower) == math.floor(times.upper):
                return math.floor(times.lower)
        bits *= 2
