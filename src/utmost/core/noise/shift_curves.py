"""Trade-off curves of the best tests that distinguish noise from its shifted copy, for every additive noise.

**Staircase shapes.** Every distribution with a staircase shape has a density that is constant on a first step of
half-width gamma and on further steps of width 1, each b times as high as the one before: f(x) ~ b^floor(|x| + 1 -
gamma), in units of the width. Noise on the integers has this shape if each probability is spread over an interval of
width 1 around its integer: the discrete staircase of step r and sensitivity D has gamma = (2r-1)/(2D), and two-sided
geometric noise has width 1 and gamma = 1/2. The likelihood ratio of the copy shifted by s, f(x-s)/f(x), is always a
power b^-j. Call j the class of the outcome x. The class lies between -(n+1) and n+1 for n = floor(s).

**Any symmetric noise on the integers.** Let p never grow with |x|, and s >= 0. If p(x - s) > e^epsilon p(x), x lies
right of s/2: the copy is more likely only on the right. So a larger shift is easier to detect: for the best event S at
the shift s, the event S + 1 has the same probability under the copy at the shift s + 1, and no larger one under the
noise. So, for every noise on the integers whose probabilities never grow with |x|, the largest shift that one
individual can cause, the sensitivity, is the easiest to detect.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats
from utmost.core.exact.intervals import Interval, exp_interval
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import first_integer
from utmost.core.noise.powers import ExactPowers, FloatPowers, IntervalPowers, Powers
from utmost.errors import OutOfRange, Unsupported

if TYPE_CHECKING:
    from utmost.core.noise.integer_distribution import IntegerDistribution


class Curve(Protocol):
    """The least missed-detection probability of any test of two hypotheses, at every false alarm probability."""

    @property
    def is_rational(self) -> bool:
        """Whether the curve has rational values at rational points."""

    def missed(self, false_alarm: NDArray[np.float64]) -> NDArray[np.float64]:
        """The least missed-detection probability at each false alarm probability of an array, in floats."""

    def missed_exactly(self, false_alarm: Fraction) -> Fraction:
        """The least missed-detection probability, as a Fraction, at a rational false alarm probability; only if
        `is_rational`.
        """

    def excess_exactly(self, level: Level | None) -> Fraction | None:
        """sup over S of P(X + s in S) - e^epsilon P(X in S), or None if irrational. ``level`` None stands for epsilon
        0.
        """

    def excess_enclosed(self, level: Level | None, bits: int) -> Interval:
        """The value of `excess_exactly` as an interval, for any level."""


class ShiftCurve(Curve, Protocol):
    """The curve of noise and its shifted copy."""

    @property
    def worst_level(self) -> Level | None:
        """The level of the largest likelihood ratio, or None if the hypotheses are equal."""


@dataclass(frozen=True, slots=True)
class LaplaceCurve:
    """The curve of X against X + shift, for Laplace noise X in units of its sensitivity [geng2012, (15)].

    >>> curve = LaplaceCurve(Level.of_alpha("1/2"), Fraction(2))
    >>> curve.missed_exactly(Fraction(1, 8)), curve.excess_exactly(None)
    (Fraction(1, 2), Fraction(1, 2))
    """

    # The least missed-detection probability at false alarm p is, with a = exp(-epsilon shift),
    #     1 - p / a    for p <= a/2,
    #     a / (4 p)    for a/2 <= p <= 1/2,
    #     a (1 - p)    for 1/2 <= p.
    level: Level
    shift: Fraction

    @property
    def worst_level(self) -> Level | None:
        return self.level.scaled(self.shift) if self.shift else None

    @property
    def is_rational(self) -> bool:
        return self.worst_level is None or self.worst_level.is_rational

    def missed(self, false_alarm: Floats) -> Floats:
        epsilon, p = (self.worst_level.epsilon_float if self.worst_level else 0.0), false_alarm
        a = np.exp(-epsilon)
        part = np.divide(p, a, out=np.zeros_like(p), where=(p <= a / 2) & (p > 0))
        # This is a / (4 p), computed by logarithms because a may underflow.
        middle = np.exp(-epsilon - np.log(np.where(p > a / 2, 4 * p, 4)))
        return np.select([p <= a / 2, p <= 0.5], [1 - part, middle], a * (1 - p))

    def missed_exactly(self, false_alarm: Fraction) -> Fraction:
        a, p = (self.worst_level.alpha_fraction() if self.worst_level else Fraction(1)), false_alarm
        if p <= a / 2:
            return 1 - p / a
        return a / (4 * p) if p <= Fraction(1, 2) else a * (1 - p)

    def excess_exactly(self, level: Level | None) -> Fraction | None:
        """max(0, 1 - sqrt(a e^epsilon)), where a is the alpha of `worst_level`; None if the value is irrational."""
        if self._is_private(level):
            return Fraction(0)
        assert self.worst_level is not None
        if level is not None and level.base != self.worst_level.base:
            return None
        root = Level(self.worst_level.base, (self.worst_level.power - (level.power if level else 0)) / 2)
        return 1 - root.alpha_fraction() if root.is_rational else None

    def excess_enclosed(self, level: Level | None, bits: int) -> Interval:
        if self._is_private(level):
            return Interval.of(0, bits)
        assert self.worst_level is not None
        slope = -self.worst_level.epsilon_interval(bits)
        return 1 - exp_interval((slope if level is None else slope + level.epsilon_interval(bits)) / 2, bits)

    def _is_private(self, level: Level | None) -> bool:
        return self.worst_level is None or (level is not None and level >= self.worst_level)


@dataclass(frozen=True, slots=True)
class StaircaseCurve:
    """The curve of X against X + shift, for X with density proportional to b^floor(|x| + 1 - gamma).

    >>> curve = StaircaseCurve(Level.of_alpha("1/2"), Fraction(1, 2), Fraction(1))
    >>> curve.missed_exactly(Fraction(1, 3)), curve.excess_exactly(None)
    (Fraction(1, 3), Fraction(1, 3))
    """

    # Let n + phi = shift and N + theta = shift + 2(1 - gamma), integer parts first. Let B be the broken line through
    # the points (k, b^k), and
    #     kappa = ((1-b) min(phi, 2 gamma) + b phi) / (2 B(1-gamma)).
    # Then tail(j) = P(class of X >= j) is
    #     0                                    for j > n + 1,
    #     b^(n+1) kappa                        for j = n + 1,
    #     B((N+j)/2) / (2 B(1-gamma))          for -n < j <= n and j = N modulo 2,
    #     B((N+j-1)/2 + theta) / (2 B(1-gamma))  for the other j with -n < j <= n,
    #     1 - kappa                            for j = -n,
    #     1                                    for j < -n.
    # The curve of the least missed-detection probability contains the points (tail(j+1), tail(-j)), and has the slope
    # -b^-j between the points of j and j - 1. Source: [geng2012] defines the noise, and in equations (3) to (11) the
    # test. The curve at every shift is derived in proofs/theory/trade-off.md.
    level: Level  # its alpha is b
    gamma: Fraction  # half-width of the first step, in 0..1
    shift: Fraction

    @property
    def is_rational(self) -> bool:
        return self.level.is_rational

    @property
    def worst_level(self) -> Level | None:
        """The level of the largest likelihood ratio, b^-ceil(shift), or None if the hypotheses are equal."""
        return self.level.scaled(math.ceil(self.shift)) if self.shift else None

    def missed(self, false_alarm: Floats) -> Floats:
        """The least missed-detection probability at each false alarm probability. The time per point does not depend on
        the shift.
        """
        b, n, p = FloatPowers(self.level), math.floor(self.shift), false_alarm
        first, last = self._tail(n + 1, b), self._tail(-n, b)
        inside = (p > first) & (p < self._tail(1 - n, b))
        part = np.divide(p, first, out=np.zeros_like(p), where=(p <= first) & (p > 0))
        start = 1 - self._lifted(n + 1, b) * part
        middle = self._missed_inside(np.where(inside, p, 0.5), b)
        end = first + b.power(n) * (last - p)
        return np.select([p <= first, inside, p < last], [start, middle, end], b.power(n + 1) * (1 - p))

    def missed_exactly(self, false_alarm: Fraction) -> Fraction:
        """The least missed-detection probability, by bisection over the classes; b must be rational."""
        b = ExactPowers(self.level)
        high = math.floor(self.shift) + 1
        low = first_integer(-high, high + 1, lambda j: bool(self._tail(j, b) < false_alarm)) - 1
        rest: Fraction = self._tail(1 - low, b) + b.power(-low) * (self._tail(low, b) - false_alarm)
        return rest

    def excess_exactly(self, level: Level | None) -> Fraction:
        b, j = ExactPowers(self.level), 1 + _multiples(level, self.level)
        if j > math.ceil(self.shift):
            return Fraction(0)
        factor = 1 if level is None else 1 / level.alpha_fraction()
        excess: Fraction = 1 - self._tail(1 - j, b) - factor * self._tail(j, b)
        return excess

    def excess_enclosed(self, level: Level | None, bits: int) -> Interval:
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
        return _chord(b, *self._start_of_class(j)) / (2 * _chord(b, 0, 1 - self.gamma))

    def _lifted(self, j: int, b: Powers) -> Any:
        """b^-j tail(j) for j > 0. The result is at most 1, and does not underflow where the tail does."""
        if j == math.floor(self.shift) + 1:
            return self._outer(min(self.shift % 1, 2 * self.gamma), self.shift % 1, b)
        whole, part = self._start_of_class(j)
        return _chord(b, whole - j, part) / (2 * _chord(b, 0, 1 - self.gamma))

    def _outer(self, on_first_step: Fraction, anywhere: Fraction, b: Powers) -> Any:
        """Return kappa for min(phi, 2 gamma) and phi, or 1 - kappa for max(2 gamma - phi, 0) and 2 - phi."""
        return (b.complement * on_first_step + b.b * anywhere) / (2 * _chord(b, 0, 1 - self.gamma))

    def _start_of_class(self, j: int) -> tuple[int, Fraction | int]:
        """The point at which class j begins on the broken line, as (k, part) for the point k + part."""
        whole, theta = divmod(self.shift + 2 * (1 - self.gamma), 1)
        return ((whole + j) // 2, 0) if (whole + j) % 2 == 0 else ((whole + j - 1) // 2, theta)

    def _missed_inside(self, p: Floats, b: FloatPowers) -> Floats:
        """The curve between tail(n+1) and tail(1-n). The class is found by inverting the broken line, and within a
        class the curve is linear.
        """
        # If rounding gives a neighbouring class, no accuracy is lost, since the two pieces of the curve meet there.
        if self.shift > 1 << 1000:  # too large for a float to represent its classes
            remedy = "Pass false_alarm as a Fraction, or a smaller shift."
            raise OutOfRange("the shift must be below 2^1000 for a float false_alarm", came="more", remedy=remedy)
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
    """The broken line B at k + part: b^k ((1 - part)(1 - b) + b), a sum of nonnegative terms."""
    return b.power(k) * ((1 - part) * b.complement + b.b)


def _multiples(level: Level | None, unit: Level) -> int:
    """The largest k for which k times the epsilon of ``unit`` is at most the epsilon of ``level``, decided exactly."""
    if level is None:
        return 0
    if level.base == unit.base:
        return math.floor(level.power / unit.power)
    bits = 128
    while True:  # the loop ends: two levels of different bases have no common multiple
        below = unit.epsilon_interval(bits)
        if below.low > 0:
            times = level.epsilon_interval(bits) / below
            if math.floor(times.lower) == math.floor(times.upper):
                return math.floor(times.lower)
        bits *= 2


_DOUBT = 1e-11  # if two floats differ by less, relatively, intervals decide the sign


@dataclass(frozen=True, slots=True)
class LatticeCurve:
    """The curve of X against X + shift, for any noise on the integers whose probabilities never grow with |x|."""

    # The least missed-detection probability is computed in floats from all outcomes with a probability of at least
    # 1e-280. The divergence is certified. Where the sign of consecutive outcomes is clear in floats, their sum is a
    # difference of exact tails. The other outcomes are added one by one as intervals, and the interval is widened by
    # the probability of all remaining outcomes.
    distribution: "IntegerDistribution"
    shift: int

    @property
    def is_rational(self) -> bool:
        """False, since the curve is computed in floats, and the divergence as an interval."""
        return False

    @property
    def worst_level(self) -> Level | None:
        return self.distribution.worst_level(Fraction(self.shift))

    def missed(self, false_alarm: Floats) -> Floats:
        _, p, q = self._outcomes()
        order = np.argsort(-(np.log(q) - np.log(p)), kind="stable")
        return missed_by(p[order], q[order], false_alarm)

    def missed_exactly(self, false_alarm: Fraction) -> Fraction:
        raise Unsupported("the curve must be rational to have exact points", remedy="Pass false_alarm as a float.")

    def excess_exactly(self, level: Level | None) -> Fraction | None:
        """None, since the divergence is computed only as an interval."""
        return None

    def excess_enclosed(self, level: Level | None, bits: int) -> Interval:
        """sup over S of P(X + shift in S) - e^epsilon P(X in S), as an interval (None: epsilon 0)."""
        worst = self.worst_level
        if worst is None or (level is not None and level >= worst):
            return Interval.of(0, bits)
        x, p, q = self._outcomes()
        # For epsilon >= 0 the copy is more likely only on the right.
        right = 2 * x > self.shift
        x, p, q = x[right], p[right], q[right]
        over = q - p * (1.0 if level is None else math.exp(level.epsilon_float))
        clear, doubtful = over > _DOUBT * q, np.abs(over) <= _DOUBT * q
        inner = bits + 32
        factor = Interval.of(1, inner) if level is None else exp_interval(level.epsilon_interval(inner), inner)

        def excess(first: int, last: int) -> Interval:
            under_copy = self.distribution.interval_between(first - self.shift, last - self.shift, inner)
            return under_copy - factor * self.distribution.interval_between(first, last, inner)

        total = Interval.of(0, inner)
        edges = np.flatnonzero(np.diff(np.concatenate(([False], clear, [False])).astype(np.int8)))
        for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            total = total + excess(int(x[first]), int(x[last - 1]))
        for place in x[doubtful].tolist():
            one = excess(place, place)
            total = total + Interval(max(one.low, 0), max(one.high, 0), inner)
        beyond = self.distribution.tail_interval(int(x[-1]) + 1 - self.shift, inner)
        return (total + Interval(0, beyond.high, inner)).at(bits)

    def _outcomes(self) -> tuple[NDArray[np.int64], Floats, Floats]:
        """The outcomes with probability at least 1e-280 under both hypotheses, ascending, and both probabilities."""
        masses = self.distribution.window()
        last = masses.size - 1
        x = np.arange(self.shift - last, last + 1)
        if x.size == 0:
            required = "both hypotheses must have an outcome of probability at least 1e-280 in common"
            raise Unsupported(required, came=f"a shift of {self.shift}", where="shift")
        return x, masses[np.abs(x)], masses[np.abs(x - self.shift)]


def missed_by(p: Floats, q: Floats, false_alarm: Floats) -> Floats:
    """The least missed-detection probability, from the masses of the outcomes, which are sorted by descending
    likelihood ratio q/p.
    """
    spent, left = np.cumsum(p), np.append(np.cumsum(q[::-1])[::-1], 0.0)
    last = np.minimum(np.searchsorted(spent, false_alarm), len(p) - 1)
    part = np.clip((spent[last] - false_alarm) / p[last], 0, 1)
    return np.asarray(np.minimum(left[last + 1] + q[last] * part, 1.0))
