"""Staircases on the integers, such as two-sided geometric noise: closed forms from a `Profile`."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from utmost.core.exact.arrays import Floats
from utmost.core.exact.intervals import Interval
from utmost.core.exact.levels import Level
from utmost.core.noise.costs import Cost, Moment
from utmost.core.noise.distribution import Periodicity
from utmost.core.noise.evaluation import refined
from utmost.core.noise.integer_distribution import Arithmetic, IntegerDistribution
from utmost.core.noise.integer_periods import IntegerPeriods, folded_integers
from utmost.core.noise.powers import ExactPowers, IntervalPowers, cleared_bits
from utmost.core.noise.profiles import Profile
from utmost.core.noise.shift_curves import StaircaseCurve


class ProfileDistribution(IntegerDistribution):
    """A distribution on the integers whose probabilities are a staircase, so that every answer has a closed form."""

    __slots__ = ()

    @property
    @abstractmethod
    def profile(self) -> Profile:
        """The staircase: the level of one period, the period, the step."""

    @property
    def levels(self) -> tuple[Level, ...]:
        return (self.profile.level,)

    def mass(self, arithmetic: Arithmetic, i: Any) -> Any:
        profile = self.profile
        return profile.mass(arithmetic(profile.level), i)

    def tail(self, arithmetic: Arithmetic, i: Any) -> Any:
        profile = self.profile
        return profile.tail(arithmetic(profile.level), i)

    @property
    def periodicity(self) -> Periodicity:
        profile = self.profile
        return Periodicity(profile.period, profile.level, profile.step)

    @property
    def canonical(self) -> Profile:
        return self.profile

    def first_at_most(self, q: Fraction) -> int:
        return self.profile.first_at_most(q)

    def last_at_least(self, q: Fraction) -> int:
        return self.profile.last_at_least(q)

    def expected_cost(self, cost: Cost) -> Fraction | float:
        """E L(X): in closed form for moments of integer order, else by extrapolated sums, as in the base class."""
        profile = self.profile
        if isinstance(cost, Moment) and cost.is_integer:
            order = int(cost.order)
            if profile.level.is_rational:
                return Fraction(profile.moment(ExactPowers(profile.level), order))
            first = 128 + (order + 1) * cleared_bits(profile.level)
            return refined(lambda bits: profile.moment(IntervalPowers(profile.level, bits), order), first)
        folded = folded_integers(profile.level, profile.period, cost)
        if isinstance(folded, IntegerPeriods):
            return folded.expectation(profile.step)
        below, above = folded.total(0, profile.step), folded.total(profile.step, profile.period)
        return profile.folded_cost(below, above, folded.at_zero)

    def entropy(self) -> float:
        """-E log P(X) in nats: P(X = x) is P(0) b^k on step k of the staircase, and E k has a closed form."""
        shape = self.profile
        epsilon = shape.level.epsilon_float
        most, rest = float(self.pmf(0.0)), 2 * float(self.ccdf(0.0))
        steps = 2 * shape.period * most * math.exp(-epsilon) / math.expm1(-epsilon) ** 2
        return (-math.log1p(-rest) if rest < 0.5 else -math.log(most)) + epsilon * steps

    def log_mean_exponential(self, s: float) -> float:
        """An upper bound of log E exp(s X), in closed form for 0 < s < epsilon/D, else infinity."""
        shape = self.profile
        # For x >= 0 the sum of p(x) e^(s x) is p(0) times [r] + b e^(s r) [D]/(1 - b e^(s D)), where [m] is the sum of
        # e^(s x) over 0 <= x < m. The sums for s and -s together count zero twice.
        epsilon, D, r = shape.level.epsilon_float, shape.period, shape.step
        if s >= epsilon / D:
            return math.inf
        b = math.exp(-epsilon)

        def half(t: float) -> float:
            some = math.expm1(t * r) / math.expm1(t)
            every = math.expm1(t * D) / math.expm1(t)
            return some + math.exp(t * r - epsilon) * every / -math.expm1(t * D - epsilon)

        normaliser = (2 * r - 1) + b * (2 * (D - r) + 1)
        moment = (half(s) + half(-s) - 1) * -math.expm1(-epsilon) / normaliser
        return max(0.0, math.log(moment)) * (1 + 1e-9) + 1e-12  # rounded up, by more than the error of the closed form

    def curve(self, distance: Fraction) -> StaircaseCurve:
        shape = self.profile
        step = Fraction(2 * shape.step - 1, 2 * shape.period)
        return StaircaseCurve(shape.level, step, Fraction(distance) / shape.period)

    def worst_level(self, distance: Fraction) -> Level | None:
        return self.curve(distance).worst_level

    def worst_place(self, distance: int) -> int:
        return self.profile.step - 1

    def check_formulas(self) -> None:
        """Do nothing: `mass` and `tail` agree by proof for every profile."""

    def tail_intervals(self, places: Sequence[int], bits: int) -> list[Interval]:
        """The `tail_interval` at each i of ``places``: one power of alpha for each period, and linear interpolation
        within a period.
        """
        shape = self.profile
        inner = bits + shape.period.bit_length()
        powers, shift = IntervalPowers(shape.level, inner), 2 * inner - bits
        normaliser, fall, top = shape.normaliser(powers), powers.complement, shape.period << inner
        heights: dict[int, Interval] = {}
        found = []
        for place in places:
            k, j = shape.place(place)
            height = heights.get(k) or heights.setdefault(k, powers.power(k) / normaliser)
            low, high = height.low * (top - j * fall.high), height.high * (top - j * fall.low)
            found.append(Interval(low >> shift, -(-high >> shift), bits))
        return found

    @property
    def _lost_bits(self) -> int:
        return self.profile.period.bit_length()

    def _log_mass(self, i: Any) -> Floats:
        return self.profile.log_mass(i)
