"""The two-sided geometric distribution: the noise for counts and other integers."""

import math
from dataclasses import dataclass
from fractions import Fraction

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number
from utmost.core.noise.distribution import (
    RELAXABLE,
    THEOREM_11,
    distribution_level,
    distribution_text,
    positive_integer,
)
from utmost.core.noise.profile_distribution import ProfileDistribution
from utmost.core.noise.profiles import Profile


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Geometric(ProfileDistribution):
    r"""P(X = x) = (1 - q)/(1 + q) q^|x| on the integers, with q = exp(-epsilon / sensitivity).

    Args:
        epsilon, alpha: Privacy level, as epsilon or as alpha = exp(-epsilon).
        sensitivity: Largest change of the query by one individual, an integer >= 1.

    Raises:
        NotALevel: unless exactly one of epsilon and alpha is passed.
        OutOfRange, NotANumber: if the sensitivity is below 1, or is no integer.

    Promise: epsilon-DP for integer queries of that sensitivity. No smaller epsilon holds.
    Source: [ghosh2009], Section 2; [geng2012], Theorem 11.

    >>> distribution = Geometric(alpha="1/2")
    >>> distribution, distribution.pmf(0), distribution.cdf(-1), distribution.margin(0.95)
    (Geometric(alpha='1/2', sensitivity=1), Fraction(1, 3), Fraction(1, 3), 4)
    """

    level: Level
    sensitivity: int

    def __init__(
        self, epsilon: Number | Level | None = None, sensitivity: Number = 1, *, alpha: Number | None = None
    ) -> None:
        object.__setattr__(self, "level", distribution_level(epsilon, alpha, "Geometric"))
        object.__setattr__(self, "sensitivity", positive_integer(sensitivity, "sensitivity", "Geometric"))

    @property
    def ratio(self) -> Level:
        """The level per unit, with alpha = P(X = x + 1) / P(X = x) for x >= 0."""
        return self.level.scaled(1 / Fraction(self.sensitivity))

    def mean_beyond(self, steps: int) -> float:
        """E max(X - steps, 0) for steps >= 0: q^(steps + 1) / (1 - q^2)."""
        q = math.exp(-self.ratio.epsilon_float)
        return float(q ** (steps + 1) / (1 - q * q))

    @property
    def profile(self) -> Profile:
        """The staircase of period 1."""
        return Profile(self.ratio, 1, 1)

    @property
    def theorem(self) -> str:
        """A text: for which costs this noise is optimal, and by which theorem."""
        if self.sensitivity == 1:
            return THEOREM_11
        return f"not the least noise for a sensitivity above 1 (a staircase is); {RELAXABLE}"

    def __repr__(self) -> str:
        return distribution_text(self)
