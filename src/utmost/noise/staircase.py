r"""The staircase law on the reals: the least additive noise for one real query."""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange
from utmost.exact import Interval, Level, Number, checked, exact, nearest
from utmost.noise.claim import costs_to_name, least_cost
from utmost.noise.cost_reading import read_cost
from utmost.noise.costs import Cost, absolute
from utmost.noise.folded import Folded
from utmost.noise.gamma import optimal_gamma
from utmost.noise.parameters import law_level, law_text, positive_number
from utmost.noise.powers import FloatPowers, IntervalPowers, cleared_bits
from utmost.noise.real_law import RealLaw
from utmost.noise.real_profile import RealProfile

_LEAST_WIDTH = 1e-280


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Staircase(RealLaw):
    r"""f(x) = a b^floor(|x|/D + 1 - gamma) on the reals, with b = exp(-epsilon) and sensitivity D.

    The density is a on |x| < gamma D, b times that up to D, and falls by b from each period to the next.

    Args:
        epsilon: the privacy level, or alpha = exp(-epsilon) instead.
        sensitivity: D, how much one individual can change the query, a positive number.
        cost: what the noise is for; gamma is the optimal one for it, unless ``gamma`` is given.
        gamma: the first step's share of the period, in [0, 1].

    Raises:
        NotALevel: for no level or two.
        OutOfRange: when the sensitivity or gamma is outside its range.
        NotALoss, NotMonotone, Unsupported: when gamma cannot be chosen for the cost; see `optimal_gamma`.

    Promise: epsilon-DP for real queries of sensitivity D, attained.
    Source:  [geng2012], (25)-(26) and Theorem 3.

    >>> law = Staircase(epsilon=2, sensitivity=1)
    >>> law, law.expected_cost(absolute)
    (Staircase(epsilon=2, sensitivity=1, gamma=0.2689414213699951), 0.425459064119660...)
    """

    level: Level
    sensitivity: Fraction
    gamma: float
    cost: Cost = field(compare=False)

    @checked
    def __init__(
        self,
        epsilon: Number | Level | None = None,
        sensitivity: Number = 1,
        cost: Cost = absolute,
        *,
        gamma: Number | None = None,
        alpha: Number | None = None,
    ) -> None:
        object.__setattr__(self, "level", law_level(epsilon, alpha, "Staircase"))
        object.__setattr__(self, "sensitivity", positive_number(sensitivity, "sensitivity", "Staircase"))
        object.__setattr__(self, "cost", cost)
        chosen = optimal_gamma(self.level, self.sensitivity, cost) if gamma is None else _read_gamma(gamma)
        read_cost(cost, nearest(self.sensitivity), integers=False)
        object.__setattr__(self, "gamma", chosen)
        if float(self.profile.normaliser(FloatPowers(self.level))) * min(1.0, nearest(self.sensitivity)) < _LEAST_WIDTH:
            raise OutOfRange(
                "the first step must be wide enough for floats",
                came=f"{self.level} and gamma={chosen}",
                where="Staircase",
                mend="Take an epsilon below about 1400, or a DiscreteStaircase on a grid.",
            )

    @classmethod
    def half_step(
        cls, epsilon: Number | Level | None = None, sensitivity: Number = 1, *, alpha: Number | None = None
    ) -> "Staircase":
        """The staircase of gamma = 1/2: uniform noise on [-D/2, D/2] plus D times a geometric; lossless to relax."""
        return cls(epsilon, sensitivity, gamma=Fraction(1, 2), alpha=alpha)

    @property
    def profile(self) -> RealProfile:
        """The staircase of period D and first step gamma."""
        return RealProfile(self.level, self.sensitivity, Fraction(self.gamma))

    @property
    def theorem(self) -> str:
        """By which theorem the law is optimal."""
        best = [c for c in costs_to_name(self.cost) if optimal_gamma(self.level, self.sensitivity, c) == self.gamma]
        if best:
            return f"{least_cost(best)} among additive noise on the reals [geng2012, Theorem 3]"
        relaxable = "; lossless to relax" if self.gamma == 0.5 else ""
        return f"a given gamma, not claimed optimal{relaxable}"

    @checked
    def moment_interval(self, order: int, bits: int = 128) -> Interval:
        """An interval around E|X|^order, for an integer order >= 1."""
        guard = 64 + self.profile.narrow_bits() + (order + 1) * cleared_bits(self.level)
        result: Interval = self.profile.moment(IntervalPowers(self.level, bits + guard), order)
        return result.at(bits)

    def __repr__(self) -> str:
        return law_text(self, gamma=self.gamma)

    def _density(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        profile = self.profile
        return np.asarray(profile.density(FloatPowers(self.level), profile.steps(x)))

    def _log_density(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        profile = self.profile
        return profile.log_density(profile.steps(x))

    def _tail(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        profile = self.profile
        return np.asarray(profile.tail(FloatPowers(self.level), *profile.places(x)))

    def _inverse_tail(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.profile.inverse_tail(q)

    def _tail_interval(self, x: Fraction, bits: int) -> Interval:
        profile = self.profile
        k, t = profile.place(x)
        result: Interval = profile.tail(IntervalPowers(self.level, bits + profile.narrow_bits()), k, 1 - t, t)
        return result.at(bits)

    def _near_radius(self, confidence: Fraction) -> float:
        return nearest(self.profile.radius(confidence))

    def _integrated_cost(self, cost: Cost) -> float:
        powers = FloatPowers(self.level)
        folded = Folded.of(self.level, nearest(self.sensitivity), cost, integers=False)
        below, above = folded.integral(0.0, self.gamma), folded.integral(self.gamma, 1.0)
        return float((below + powers.b * above) / self.profile.normaliser(powers))


def _read_gamma(gamma: Number) -> float:
    value = exact(gamma, "gamma")
    if not 0 <= value <= 1:
        raise OutOfRange("gamma must lie in [0, 1]", came=gamma, where="Staircase")
    return nearest(value)
