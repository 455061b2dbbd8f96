"""The staircase distribution on the integers, and its optimal step.

Let V(r) be the expected cost of the staircase with step r, and M(r) = E L(G D + r), where L is the cost, D the period
and P(G = k) = (1 - b) b^k. V(r + 1) is a weighted mean of V(r) and M(r). M never decreases, so V(r + 1) < V(r) exactly
while M(r) < V(r), and the optimal step is the least r with M(r) >= V(r).
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import numpy as np

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, first_integer
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.noise import polynomials
from utmost.core.noise.costs import Cost, Moment, absolute, check_integers, read_cost
from utmost.core.noise.distribution import (
    NO_CLAIM,
    RELAXABLE,
    THEOREM_11,
    costs_to_name,
    distribution_level,
    distribution_text,
    least_cost,
    positive_integer,
)
from utmost.core.noise.folded import Enclosure, Folded, enclose_crossing, find_crossing, integer_edges
from utmost.core.noise.integer_periods import IntegerPeriods, folded_integers
from utmost.core.noise.polynomials import power_sum, sign
from utmost.core.noise.profile_distribution import ProfileDistribution
from utmost.core.noise.profiles import Profile
from utmost.errors import OutOfRange


def optimal_step(
    epsilon: Number | Level | None = None,
    sensitivity: Number = 1,
    cost: Cost = absolute,
    *,
    alpha: Number | None = None,
) -> int:
    """The least r in 1..D whose staircase has the least expected cost.

    The result is exact for moments of integer order: O(log D) signs of polynomials in alpha are decided exactly. For
    any other cost the sums are in floats, and the expected cost may exceed the least one by one part in 10^12. At
    epsilon 10 or more, and sensitivity 4096 or less, the floats of the cost are summed exactly.

    Raises:
        NotALoss: if the cost of x differs from that of -x, or is negative, at the sizes tried.
        NotMonotone: if the cost falls as |x| grows. The integers are checked up to where probabilities are below e^-40,
            and at most the first 2^20 of them (2^14 if the cost takes no arrays).
        Unsupported: if the expected cost is infinite or cannot be summed.

    Source: [geng2012], Theorem 12; for the absolute error the step is ceil(D / (1 + exp(epsilon/2))).

    >>> from utmost.core.noise.costs import squared
    >>> optimal_step(1, 5), optimal_step("1/10", 10**9, squared), optimal_step(1, 5, lambda x: abs(x) >= 2)
    (2, 491666668, 2)
    """
    level = distribution_level(epsilon, alpha, "optimal_step")
    D = positive_integer(sensitivity, "sensitivity", "optimal_step")
    if isinstance(cost, Moment) and cost.is_integer:
        m = int(cost.order)

        def gains_nothing(r: int) -> bool:
            # Decide M(r) >= V(r) for |x|^m by the sign of a polynomial in b: both sides are multiplied by N (1 - b)^m.
            above = polynomials.times(polynomials.shifted_moment_cleared(m, D, r), {0: 2 * r - 1, 1: 2 * (D - r) + 1})
            for i in range(m + 1):
                low, high = power_sum(m - i, r), power_sum(m - i, D)
                part = polynomials.times(polynomials.geometric_moment_cleared(i, m), {0: low, 1: high - low})
                above = polynomials.plus(above, polynomials.scaled(part, -2 * math.comb(m, i) * D**i))
            return sign(level, above) >= 0

        return first_integer(0, D, gains_nothing)
    check_integers(cost, level.epsilon_float, D)
    folded = folded_integers(level, D, cost)
    return folded.step() if isinstance(folded, IntegerPeriods) else _searched_step(folded, D)


@progress_bar("Searching for the step of least cost")
def _searched_step(folded: Folded, D: int) -> int:
    """Find the optimal step: enclose it between two steps, then compare M with V at trial steps between them."""
    edges, b = integer_edges(folded.cost, D), folded.powers.b
    normaliser = (edges - 0.5) + b * (D - edges + 0.5)
    # 0 is no step: NaN in its place excludes it from the search.
    normaliser[0] = np.nan
    atom = folded.powers.complement * folded.at_zero / 2
    enclosed = enclose_crossing(folded, edges, edges[1:] - 1, normaliser, atom)
    bracket = Enclosure(int(enclosed.low), int(enclosed.high))
    before = folded.total(0, bracket.low)
    total = before + folded.total(bracket.low, bracket.high) + folded.total(bracket.high, D)

    def excess(r: int) -> float:
        here = before + folded.total(bracket.low, r, b * total)
        value = Profile(folded.powers.level, D, r).folded_cost(here, total - here, folded.at_zero)
        return float(folded(np.array([r]))[0]) / value - 1 if value > 0 else 0.0

    def trial(low: int, high: int, share: float | None) -> int | None:
        if high - low <= 1:
            return None
        # The trial step lies strictly inside, so that the bracket becomes narrower at every trial.
        return (low + high) // 2 if share is None else min(max(low + round(share * (high - low)), low + 1), high - 1)

    return int(find_crossing(excess, bracket, trial))


@dataclass(frozen=True, slots=True, init=False, repr=False)
class DiscreteStaircase(ProfileDistribution):
    r"""p(i) = a b^floor((|i| + D - r)/D) on the integers, with b = exp(-epsilon), sensitivity D and step r in 1..D.

    Args:
        epsilon, alpha: Privacy level, as epsilon or as alpha = exp(-epsilon).
        sensitivity: Largest change D of the query by one individual, an integer >= 1.
        cost: Cost for which the step is optimal, unless ``step`` is passed.
        step: First step r.

    Promise: epsilon-DP for integer queries of sensitivity D, and for no smaller epsilon.
    Source: [geng2012], (79)-(80) and Theorem 12.

    >>> distribution = DiscreteStaircase(epsilon=1, sensitivity=5)
    >>> distribution, distribution.pmf([0, 1, 2])
    (DiscreteStaircase(epsilon=1, sensitivity=5, step=2), array([0.11338168, 0.11338168, 0.04171079]))
    """

    level: Level
    sensitivity: int
    step: int
    cost: Cost = field(compare=False)

    def __init__(
        self,
        epsilon: Number | Level | None = None,
        sensitivity: Number = 1,
        cost: Cost = absolute,
        *,
        step: Number | None = None,
        alpha: Number | None = None,
    ) -> None:
        object.__setattr__(self, "level", distribution_level(epsilon, alpha, "DiscreteStaircase"))
        object.__setattr__(self, "sensitivity", positive_integer(sensitivity, "sensitivity", "DiscreteStaircase"))
        object.__setattr__(self, "cost", cost)
        read_cost(cost, float(self.sensitivity), integers=True)
        if step is None:
            r = optimal_step(self.level, self.sensitivity, self.cost)
        else:
            check_integers(cost, self.level.epsilon_float, self.sensitivity)
            r = positive_integer(step, "step", "DiscreteStaircase")
            if r > self.sensitivity:
                raise OutOfRange(f"step must lie in 1..{self.sensitivity}", came=step, where="DiscreteStaircase")
        object.__setattr__(self, "step", r)

    @classmethod
    def optimal(
        cls,
        epsilon: Number | Level | None = None,
        sensitivity: Number = 1,
        cost: Cost = absolute,
        *,
        alpha: Number | None = None,
    ) -> "DiscreteStaircase":
        """The staircase with the step of least expected cost, from `optimal_step`.

        >>> DiscreteStaircase.optimal(1, 5).step
        2
        """
        return cls(epsilon, sensitivity, cost, alpha=alpha)

    @classmethod
    def half_step(
        cls, epsilon: Number | Level | None = None, sensitivity: Number = 1, *, alpha: Number | None = None
    ) -> "DiscreteStaircase":
        """The staircase of step (D + 1)/2 for odd D: uniform noise plus D times geometric noise. It can be relaxed."""
        D = positive_integer(sensitivity, "sensitivity", "DiscreteStaircase.half_step")
        if D % 2 == 0:
            raise OutOfRange(
                "the half-step staircase needs an odd sensitivity", came=D, remedy=f"Pass sensitivity={D + 1}."
            )
        return cls(epsilon, D, step=(D + 1) // 2, alpha=alpha)

    @property
    def profile(self) -> Profile:
        """The staircase of period D and step r."""
        return Profile(self.level, self.sensitivity, self.step)

    @property
    def theorem(self) -> str:
        """A text: for which costs this noise is optimal, and by which theorem."""
        if self.sensitivity == 1:
            return THEOREM_11
        best = [c for c in costs_to_name(self.cost) if optimal_step(self.level, self.sensitivity, c) == self.step]
        relaxable = f"; {RELAXABLE}" if 2 * self.step == self.sensitivity + 1 else ""
        if best:
            checked = partial(check_integers, epsilon=self.level.epsilon_float, period=self.sensitivity)
            return f"{least_cost(best, 'integers', checked)} [geng2012, Theorem 12]{relaxable}"
        return f"its step was chosen by the caller; {NO_CLAIM}{relaxable}"

    @property
    def parameters(self) -> dict[str, int | float | Fraction]:
        """The sensitivity and the first step."""
        return {"sensitivity": self.sensitivity, "step": self.step}

    def __repr__(self) -> str:
        return distribution_text(self, step=self.step)
