r"""The staircase law on the integers: the least additive noise for one integer query of any sensitivity."""

from dataclasses import dataclass, field

from utmost.errors import OutOfRange
from utmost.exact import Level, Number, checked
from utmost.noise.claim import THEOREM_11, costs_to_name, least_cost
from utmost.noise.cost_reading import read_cost
from utmost.noise.costs import Cost, absolute
from utmost.noise.integer_law import IntegerLaw
from utmost.noise.parameters import law_level, law_text, positive_integer
from utmost.noise.profile import Profile
from utmost.noise.step import optimal_step


@dataclass(frozen=True, slots=True, init=False, repr=False)
class DiscreteStaircase(IntegerLaw):
    r"""p(i) = a b^floor((|i| + D - r)/D) on the integers, with b = exp(-epsilon), sensitivity D and step r in 1..D.

    Args:
        epsilon: the privacy level, or alpha = exp(-epsilon) instead.
        sensitivity: D, how much one individual can change the query, an integer >= 1.
        cost: what the noise is for; the step is the optimal one for it, unless ``step`` is given.
        step: r itself.

    Promise: epsilon-DP for integer queries of sensitivity D, attained.
    Source:  [geng2012], (79)-(80) and Theorem 12.

    >>> law = DiscreteStaircase(epsilon=1, sensitivity=5)
    >>> law, law.pmf([0, 1, 2])
    (DiscreteStaircase(epsilon=1, sensitivity=5, step=2), array([0.11338168, 0.11338168, 0.04171079]))
    """

    level: Level
    sensitivity: int
    step: int
    cost: Cost = field(compare=False)

    @checked
    def __init__(
        self,
        epsilon: Number | Level | None = None,
        sensitivity: Number = 1,
        cost: Cost = absolute,
        *,
        step: Number | None = None,
        alpha: Number | None = None,
    ) -> None:
        object.__setattr__(self, "level", law_level(epsilon, alpha, "DiscreteStaircase"))
        object.__setattr__(self, "sensitivity", positive_integer(sensitivity, "sensitivity", "DiscreteStaircase"))
        object.__setattr__(self, "cost", cost)
        read_cost(cost, float(self.sensitivity), integers=True)
        object.__setattr__(self, "step", self._step(step))

    @classmethod
    def half_step(
        cls, epsilon: Number | Level | None = None, sensitivity: Number = 1, *, alpha: Number | None = None
    ) -> "DiscreteStaircase":
        """The staircase of step (D + 1)/2, D odd: a uniform block plus D times a geometric; lossless to relax."""
        D = positive_integer(sensitivity, "sensitivity", "DiscreteStaircase.half_step")
        if D % 2 == 0:
            raise OutOfRange("the half-step staircase needs an odd sensitivity", came=D, mend=f"Pass {D + 1}.")
        return cls(epsilon, D, step=(D + 1) // 2, alpha=alpha)

    @property
    def profile(self) -> Profile:
        """The staircase of period D and step r."""
        return Profile(self.level, self.sensitivity, self.step)

    @property
    def theorem(self) -> str:
        """By which theorem the law is optimal."""
        if self.sensitivity == 1:
            return THEOREM_11
        best = [c for c in costs_to_name(self.cost) if optimal_step(self.level, self.sensitivity, c) == self.step]
        relaxable = "; lossless to relax" if 2 * self.step == self.sensitivity + 1 else ""
        if best:
            return f"{least_cost(best)} among additive noise on the integers [geng2012, Theorem 12]{relaxable}"
        return f"a given step, not claimed optimal{relaxable}"

    def __repr__(self) -> str:
        return law_text(self, step=self.step)

    def _step(self, given: Number | None) -> int:
        if given is None:
            return optimal_step(self.level, self.sensitivity, self.cost)
        step = positive_integer(given, "step", "DiscreteStaircase")
        if step > self.sensitivity:
            raise OutOfRange(f"step must lie in 1..{self.sensitivity}", came=given, where="DiscreteStaircase")
        return step
