"""Telling Laplace noise from its shifted copy."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.exact import Floats, Interval, Level, exp_interval


@dataclass(frozen=True, slots=True)
class LaplaceCurve:
    """X against X + shift, for Laplace noise X in units of its sensitivity.

    With a = exp(-epsilon shift), the least missed-detection probability at false alarm p is

        1 - p / a    for p <= a/2,
        a / (4 p)    for a/2 <= p <= 1/2,
        a (1 - p)    for 1/2 <= p.

    Attributes:
        level: the law's level at its sensitivity.
        shift: distance of the two hypotheses in sensitivities, at least 0.

    Source: [geng2012], equation (15).

    >>> curve = LaplaceCurve(Level.of_alpha("1/2"), Fraction(2))
    >>> curve.missed_exactly(Fraction(1, 8)), curve.excess_exactly(None)
    (Fraction(1, 2), Fraction(1, 2))
    """

    level: Level
    shift: Fraction

    @property
    def kept(self) -> Level | None:
        """The level of the largest likelihood ratio; None where the hypotheses are equal."""
        return self.level.scaled(self.shift) if self.shift else None

    @property
    def is_rational(self) -> bool:
        """Whether the curve is rational at rational points."""
        return self.kept is None or self.kept.is_rational

    def missed(self, false_alarm: Floats) -> Floats:
        """The least missed-detection probability at an array of probabilities."""
        epsilon, p = (self.kept.epsilon_float if self.kept else 0.0), false_alarm
        a = np.exp(-epsilon)
        part = np.divide(p, a, out=np.zeros_like(p), where=(p <= a / 2) & (p > 0))
        middle = np.exp(-epsilon - np.log(np.where(p > a / 2, 4 * p, 4)))  # a / (4 p), also where a underflows
        return np.select([p <= a / 2, p <= 0.5], [1 - part, middle], a * (1 - p))

    def missed_exactly(self, false_alarm: Fraction) -> Fraction:
        """The same for one rational probability; a must be rational."""
        a, p = (self.kept.alpha_fraction() if self.kept else Fraction(1)), false_alarm
        if p <= a / 2:
            return 1 - p / a
        return a / (4 * p) if p <= Fraction(1, 2) else a * (1 - p)

    def excess_exactly(self, level: Level | None) -> Fraction | None:
        """1 - sqrt(a e^epsilon), or 0 where that is negative; None where it is irrational."""
        if self._is_kept(level):
            return Fraction(0)
        assert self.kept is not None
        if level is not None and level.base != self.kept.base:
            return None
        root = Level(self.kept.base, (self.kept.power - (level.power if level else 0)) / 2)
        return 1 - root.alpha_fraction() if root.is_rational else None

    def excess_enclosed(self, level: Level | None, bits: int) -> Interval:
        """The same as an interval, for any level."""
        if self._is_kept(level):
            return Interval.of(0, bits)
        assert self.kept is not None
        slope = -self.kept.epsilon_interval(bits)
        return 1 - exp_interval((slope if level is None else slope + level.epsilon_interval(bits)) / 2, bits)

    def _is_kept(self, level: Level | None) -> bool:
        return self.kept is None or (level is not None and level >= self.kept)
