"""Telling Laplace noise from its shifted copy."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from utmost.exact import Interval, Level, exp_interval

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LaplaceCurve:
    """X against X + s for Laplace noise X, where ``kept`` is the level that X keeps at the shift s.

    With a = kept.alpha, the least missed-detection probability at false alarm p is

        1 - p / a    for p <= a/2,
        a / (4 p)    for a/2 <= p <= 1/2,
        a (1 - p)    for 1/2 <= p.

    Source: [geng2012], equation (15).

    >>> curve = LaplaceCurve(Level.of_alpha("1/4"))
    >>> curve.missed_exactly(Fraction(1, 8)), curve.excess_exactly(None)
    (Fraction(1, 2), Fraction(1, 2))
    """

    kept: Level

    @property
    def is_rational(self) -> bool:
        """Whether the curve is rational at rational points."""
        return self.kept.is_rational

    def missed(self, false_alarm: Floats) -> Floats:
        """The least missed-detection probability at an array of probabilities."""
        a, p = np.exp(-self.kept.epsilon_float), false_alarm
        part = np.divide(p, a, out=np.zeros_like(p), where=(p <= a / 2) & (p > 0))
        middle = np.exp(-self.kept.epsilon_float - np.log(np.maximum(4 * p, a)))  # a / (4 p) without underflow of a
        return np.select([p <= a / 2, p <= 0.5], [1 - part, middle], a * (1 - p))

    def missed_exactly(self, false_alarm: Fraction) -> Fraction:
        """The same for one rational probability; a must be rational."""
        a, p = self.kept.alpha_fraction(), false_alarm
        if p <= a / 2:
            return 1 - p / a
        return a / (4 * p) if p <= Fraction(1, 2) else a * (1 - p)

    def excess_exactly(self, level: Level | None) -> Fraction | None:
        """1 - sqrt(a e^epsilon), or 0 where that is negative; None where it is irrational."""
        if level is not None and level >= self.kept:
            return Fraction(0)
        if level is not None and level.base != self.kept.base:
            return None
        root = Level(self.kept.base, (self.kept.power - (level.power if level else 0)) / 2)
        return 1 - root.alpha_fraction() if root.is_rational else None

    def excess_enclosed(self, level: Level | None, bits: int) -> Interval:
        """The same as an interval, for any level."""
        if level is not None and level >= self.kept:
            return Interval.of(0, bits)
        slope = -self.kept.epsilon_interval(bits)
        return 1 - exp_interval((slope if level is None else slope + level.epsilon_interval(bits)) / 2, bits)
