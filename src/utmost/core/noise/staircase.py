"""The staircase distribution on the reals, and its optimal gamma.

The staircase with first step g has the expected cost
V(g) = (int_0^g M + b int_g^1 M) / (g + b (1 - g)), where M(u) = E L((G + u) D) never decreases and G is geometric with
ratio b. The slope of V has the sign of M(g) - V(g). So the optimum g* is the smallest g with M(g) >= V(g), and V(g*) =
M(g*) if M is continuous at g*.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.intervals import Interval, nearest
from utmost.core.exact.levels import Level, integer_root
from utmost.core.exact.numbers import Number, exact, natural, precision
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.noise import polynomials
from utmost.core.noise.costs import Cost, Moment, absolute, read_cost, squared
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.distribution import (
    NO_CLAIM,
    RELAXABLE,
    costs_to_name,
    distribution_level,
    distribution_text,
    least_cost,
    positive_number,
)
from utmost.core.noise.evaluation import refined
from utmost.core.noise.few_periods import FewPeriods
from utmost.core.noise.folded import Enclosure, Folded, edge_count, enclose_crossing, find_crossing, largest_jump
from utmost.core.noise.period_series import FEW_FROM
from utmost.core.noise.polynomials import sign
from utmost.core.noise.powers import FloatPowers, IntervalPowers, cleared_bits
from utmost.core.noise.profiles import RealProfile
from utmost.core.noise.real_distribution import RealDistribution
from utmost.core.noise.shift_curves import StaircaseCurve
from utmost.errors import NotALoss, OutOfRange

_LEAST_FLOAT = Fraction(1, 1 << 1074)


def optimal_gamma(
    epsilon: Number | Level | None = None,
    sensitivity: Number = 1,
    cost: Cost = absolute,
    *,
    alpha: Number | None = None,
) -> float:
    """The gamma whose staircase has the least expected cost.

    The absolute and the squared error have closed forms. For moments of integer order, gamma is the root of a
    polynomial, found by exact signs. For all moments of integer order, gamma depends only on epsilon. For any other
    cost, expected costs are computed by quadrature, and gamma is enclosed in a bracket until the costs of its ends
    differ by less than one part in 10^12.

    Raises:
        NotALoss, NotMonotone: if the cost is not even, nonnegative and nondecreasing in |x| at the sizes tried.
        Unsupported: if the expected cost is infinite or cannot be summed.

    Source: [geng2012], Theorems 4 and 6, written so that nothing cancels.

    >>> optimal_gamma(1), optimal_gamma(1, cost=squared), optimal_gamma(1, cost=lambda x: abs(x))
    (0.37754066879814546, 0.4167374349288..., 0.377540668798...)
    """
    if not callable(cost):
        raise NotALoss("a cost must be a function of the error", came=type(cost).__name__)
    level = distribution_level(epsilon, alpha, "optimal_gamma")
    period = positive_number(sensitivity, "sensitivity", "optimal_gamma")
    if cost == absolute:
        half = level.scaled(Fraction(1, 2))
        return refined(lambda bits: half.alpha_interval(bits) / (1 + half.alpha_interval(bits)))
    if cost == squared:
        # ((b(1+b)/2)^(1/3) - b)/(1-b), or with h = epsilon/2: (cosh(h)^(1/3) - exp(-h))/(2 sinh(h)).
        powers = FloatPowers(level)
        h = float(powers.epsilon.high) / 2
        # Two forms of the same number: the first cancels near 0, and the second overflows for large h.
        if h > 0.5:
            b = powers.b
            return float(math.cbrt(b * (1 + b) / 2) - b) / powers.complement
        root = math.expm1(math.log1p(2 * math.sinh(h / 2) ** 2) / 3)
        return (root - math.expm1(-h)) / (2 * math.sinh(h))
    if isinstance(cost, Moment) and cost.is_integer:
        low, high = _moment_bracket(level, int(cost.order))
        return nearest((low + high) / 2)
    folded = _folded(level, period, cost)
    return folded.crossing()[0] if isinstance(folded, FewPeriods) else _searched_gamma(folded)


def heuristic_gamma(epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> float:
    """The gamma exp(-epsilon)/2, usable for every cost: as epsilon grows, the first step has 1/3 of the mass.

    The expected cost does not vanish as epsilon grows: E|X| tends to D/3 and E X^2 to 2 D^2/9. A staircase with this
    gamma is worse than Laplace noise from epsilon 1.6069 on for the absolute error, and from 1.2151 on for the squared
    error. `optimal_gamma` takes no longer to compute.

    Source: [geng2012], (62).

    >>> heuristic_gamma(alpha="1/2")
    0.25
    """
    return FloatPowers(distribution_level(epsilon, alpha, "heuristic_gamma")).b / 2


def _moment_bracket(level: Level, order: int, bits: int = 60) -> tuple[Fraction, Fraction]:
    """A bracket of relative width 2^-bits around the optimal gamma for |x|^order; from 0 if gamma underflows."""
    low, high = Fraction(0), Fraction(1, 2)
    # The bracket is halved in rationals by the sign of a polynomial in alpha: no rounding decides on which side the
    # optimum is.
    while high - low > low / (1 << bits) and high > _LEAST_FLOAT:
        middle = (low + high) / 2 if low else high / 16
        # M(g) >= V(g) for |x|^m and g = p/q, multiplied by (m + 1)(g + b(1 - g))(1 - b)^m q^(m+1): an integer
        # polynomial in b, whose sign is exact for every alpha.
        p, q = middle.numerator, middle.denominator
        terms = polynomials.times(
            polynomials.shifted_moment_cleared(order, q, p), {0: p * (order + 1), 1: (q - p) * (order + 1)}
        )
        for i in range(order + 1):
            first = p ** (order + 1 - i) * q**i
            part = polynomials.times(
                polynomials.geometric_moment_cleared(i, order), {0: first, 1: q ** (order + 1) - first}
            )
            terms = polynomials.plus(terms, polynomials.scaled(part, -math.comb(order + 1, i)))
        if sign(level, terms) >= 0:
            high = middle
        else:
            low = middle
    return low, high


def _folded(level: Level, period: Fraction, cost: Cost) -> Folded | FewPeriods:
    """The cost folded over all periods; or the cost of each single period, if few periods matter or the folded cost
    underflows.
    """
    if level.epsilon_float < FEW_FROM:
        folded = Folded.of(level, nearest(period), cost, integers=False)
        # The sum over all periods may have lost the digits that decide where M reaches V.
        if not folded.is_lost():
            return folded
    return FewPeriods.of(level, period, cost)


@progress_bar("Searching for the gamma of least cost")
def _searched_gamma(folded: Folded) -> float:
    """Find the optimal gamma: enclose it between two floats, then compare M with V at gammas between them."""
    n, b = edge_count(folded.cost), folded.powers.b
    small = np.geomspace(1e-30, 1.0 / n, n // 4)
    edges = np.concatenate([[0.0], small, np.arange(2, n + 1) / n])
    points, normaliser = edges * folded.period, edges + b * (1 - edges)
    enclosed = enclose_crossing(folded, points, points[1:], normaliser * folded.period, 0.0)
    bracket = Enclosure(float(enclosed.low) / folded.period, min(float(enclosed.high) / folded.period, 1.0))
    # M jumps where the cost jumps. If M - V changes its sign at a jump, the optimum is the float before the jump.
    jump = largest_jump(folded, bracket.low, bracket.high)
    cuts = (bracket.low, bracket.high) if jump is None else (bracket.low, *jump, bracket.high)
    parts = [folded.integral(start, end) for start, end in pairwise((0.0, *cuts, 1.0))]
    total = sum(parts)

    def excess(g: float) -> float:
        known = max(k for k, cut in enumerate(cuts) if cut <= g)
        here = sum(parts[: known + 1]) + folded.integral(cuts[known], g, b * total)
        value = (here * folded.powers.complement + b * total) / (g + b * (1 - g))
        return float(folded(np.array([g * folded.period]))[0]) / value - 1 if value > 0 else 0.0

    def trial(low: float, high: float, share: float | None) -> float | None:
        if high - low <= 1e-13 * high:  # the accuracy of (M - V)/V
            return None
        if share is not None:
            return min(max(low + share * (high - low), math.nextafter(low, 1.0)), math.nextafter(high, 0.0))
        return math.sqrt(low * high) if 0 < 4 * low < high else (low + high) / 2

    if jump is not None:
        is_before, is_after = excess(jump[0]) > 0, excess(jump[1]) < 0
        if not (is_before or is_after):
            return jump[0]
        bracket = Enclosure(bracket.low, jump[0]) if is_before else Enclosure(jump[1], bracket.high)
    return float(find_crossing(excess, bracket, trial))


_LEAST_WIDTH = 1e-280


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Staircase(RealDistribution):
    r"""f(x) = a b^floor(|x|/D + 1 - gamma) on the reals, with b = exp(-epsilon) and sensitivity D.

    The density is a on |x| < gamma D, a b from gamma D to D, and is multiplied by b from each period to the next.

    Args:
        epsilon, alpha: Privacy level, as epsilon or as alpha = exp(-epsilon).
        sensitivity: Largest change D of the query by one individual, a positive number.
        cost: Cost for which the gamma is optimal, unless ``gamma`` is passed.
        gamma: Width of the first step as a fraction of D, in [0, 1].

    Attributes:
        gamma: The fraction as a float.
        exact_gamma: ``gamma`` as a Fraction, if ``gamma`` was passed, if the cost is |x| and alpha is the square of a
            rational, or if the cost is a function, for which a search found a float. None if gamma is irrational, or is
            not known to be rational.

    Raises:
        NotALevel: unless exactly one of epsilon and alpha is passed.
        OutOfRange: if the sensitivity or gamma is outside its range.
        NotALoss, NotMonotone, Unsupported: if `optimal_gamma` refuses the cost.

    Promise: epsilon-DP for real queries of sensitivity D, and for no smaller epsilon.
    Source: [geng2012], (25)-(26) and Theorem 3.

    >>> distribution = Staircase(epsilon=2, sensitivity=1)
    >>> distribution, distribution.expected_cost(absolute)
    (Staircase(epsilon=2, sensitivity=1, gamma=0.2689414213699951), 0.425459064119660...)
    """

    level: Level
    sensitivity: Fraction
    gamma: float
    cost: Cost = field(compare=False)
    exact_gamma: Fraction | None = field(compare=False)

    def __init__(
        self,
        epsilon: Number | Level | None = None,
        sensitivity: Number = 1,
        cost: Cost = absolute,
        *,
        gamma: Number | None = None,
        alpha: Number | None = None,
    ) -> None:
        object.__setattr__(self, "level", distribution_level(epsilon, alpha, "Staircase"))
        object.__setattr__(self, "sensitivity", positive_number(sensitivity, "sensitivity", "Staircase"))
        object.__setattr__(self, "cost", cost)
        # Gamma as a Fraction if it is rational. For a cost that is a function, it is the float found.
        known: Fraction | None = None
        if gamma is None:
            chosen = optimal_gamma(self.level, self.sensitivity, cost)
            half = self.level.scaled(Fraction(1, 2))
            if not (isinstance(cost, Moment) and cost.is_integer):
                known = Fraction(chosen)
            elif cost == absolute and half.is_rational:
                known = half.alpha_fraction() / (1 + half.alpha_fraction())
        else:
            known = exact(gamma, "gamma")
            if not 0 <= known <= 1:
                raise OutOfRange("gamma must lie in [0, 1]", came=gamma, where="Staircase")
            chosen = nearest(known)
        read_cost(cost, nearest(self.sensitivity), integers=False)
        object.__setattr__(self, "gamma", chosen)
        object.__setattr__(self, "exact_gamma", known)
        # The density is about the inverse of this width, and must not overflow a float.
        if float(self.profile.normaliser(FloatPowers(self.level))) * min(1.0, nearest(self.sensitivity)) < _LEAST_WIDTH:
            raise OutOfRange(
                "the density must be at most the largest float",
                came=f"{self.level} and gamma={chosen}",
                where="Staircase",
                remedy="Choose an epsilon below about 1290, or a DiscreteStaircase on a grid.",
            )

    @classmethod
    def optimal(
        cls,
        epsilon: Number | Level | None = None,
        sensitivity: Number = 1,
        cost: Cost = absolute,
        *,
        alpha: Number | None = None,
    ) -> "Staircase":
        """The staircase with the gamma of least expected cost, from `optimal_gamma`.

        >>> Staircase.optimal(1).gamma, Staircase.optimal(1, cost=squared).gamma
        (0.37754066879814546, 0.4167374349288...)
        """
        return cls(epsilon, sensitivity, cost, alpha=alpha)

    @classmethod
    def half_step(
        cls, epsilon: Number | Level | None = None, sensitivity: Number = 1, *, alpha: Number | None = None
    ) -> "Staircase":
        """The staircase of gamma = 1/2: uniform noise on [-D/2, D/2] plus D times geometric noise. It can be
        relaxed.
        """
        return cls(epsilon, sensitivity, gamma=Fraction(1, 2), alpha=alpha)

    @property
    def profile(self) -> RealProfile:
        """The staircase of period D and first step gamma."""
        return RealProfile(self.level, self.sensitivity, Fraction(self.gamma))

    @property
    def is_gamma_irrational(self) -> bool:
        """Whether a theorem shows that gamma is irrational: proofs/theory/lossless-on-the-reals.md.

        >>> exceptional = Staircase(alpha="1/4")
        >>> Staircase(1).is_gamma_irrational, exceptional.is_gamma_irrational, exceptional.exact_gamma
        (True, False, Fraction(1, 3))
        """
        if self.exact_gamma is not None or not isinstance(self.cost, Moment):
            return False
        return self.cost in (absolute, squared) or self.level.base is None

    def gamma_interval(self, bits: int = 128) -> Interval:
        """An interval around the exact gamma, a few units of ``2**-bits`` wide.

        >>> Staircase(1, cost=squared).gamma_interval(30).contains(Fraction("0.41673743493"))
        True
        """
        bits = precision(bits)
        if self.exact_gamma is not None:
            return Interval.of(self.exact_gamma, bits)
        inner = bits + 64 + 2 * cleared_bits(self.level)
        if self.cost == absolute:
            half = self.level.scaled(Fraction(1, 2)).alpha_interval(inner)
            return (half / (1 + half)).at(bits)
        if self.cost == squared:
            b = self.level.alpha_interval(inner)
            cube = b * (1 + b) / 2
            low, high = (integer_root(max(0, end) << 2 * inner, 3) for end in (cube.low, cube.high))
            return ((Interval(low, high + 1, inner) - b) / (1 - b)).at(bits)
        assert isinstance(self.cost, Moment)
        least, most = _moment_bracket(self.level, int(self.cost.order), bits)
        return Interval(Interval.of(least, bits).low, Interval.of(most, bits).high, bits)

    @property
    def theorem(self) -> str:
        """A text: for which costs this noise is optimal, and by which theorem."""
        best = [c for c in costs_to_name(self.cost) if optimal_gamma(self.level, self.sensitivity, c) == self.gamma]
        if best:
            return f"{least_cost(best, 'real numbers')} [geng2012, Theorem 3]"
        relaxable = f"; {RELAXABLE}" if self.gamma == 0.5 else ""
        return f"its gamma was chosen by the caller; {NO_CLAIM}{relaxable}"

    def curve(self, distance: Fraction) -> StaircaseCurve:
        """The trade-off curve of the best tests between X and X + distance."""
        return StaircaseCurve(self.level, self.profile.gamma, distance / self.sensitivity)

    def on_steps(self, steps: int) -> DiscreteStaircase:
        """The integer staircase of sensitivity D = ``steps`` that replaces this noise on a grid; an integer n stands
        for n grid steps.

        The first step r of the integer staircase is the integer nearest to gamma D + 1/2. With gamma = 1/2 an even D is
        increased by one, at the same level, so that the staircase can be relaxed.
        """
        period = steps | 1 if self.gamma == 0.5 else steps
        step = min(period, math.floor(Fraction(self.gamma) * period) + 1)
        return DiscreteStaircase(self.level, period, step=step)

    def moment_interval(self, order: int, bits: int = 128) -> Interval:
        """An interval around E|X|^order, for an integer order from 1 to 1000."""
        order, bits = natural(order, "order", least=1, most=1000), precision(bits)
        guard = 64 + self.profile.narrow_bits() + (order + 1) * cleared_bits(self.level)
        result: Interval = self.profile.moment(IntervalPowers(self.level, bits + guard), order)
        return result.at(bits)

    def entropy(self) -> float:
        """-E log of the density, in nats. On step k the density is f(0) b^k, and E k has a closed form."""
        epsilon, most = self.level.epsilon_float, self.logpdf(0.0)
        log_steps = math.log(2) + math.log(self.sensitivity) + most - epsilon - 2 * math.log(-math.expm1(-epsilon))
        return float(epsilon * math.exp(log_steps) - most)

    @property
    def parameters(self) -> dict[str, int | float | Fraction]:
        """The sensitivity and gamma."""
        return {"sensitivity": self.sensitivity, "gamma": self.gamma}

    def __repr__(self) -> str:
        return distribution_text(self, gamma=self.gamma)

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

    def _near_margin(self, confidence: Fraction) -> float:
        return nearest(self.profile.margin(confidence))

    def _integrated_cost(self, cost: Cost) -> float:
        powers, folded = FloatPowers(self.level), _folded(self.level, self.sensitivity, cost)
        if isinstance(folded, FewPeriods):
            return folded.expectation(self.gamma)
        below, above = folded.integral(0.0, self.gamma), folded.integral(self.gamma, 1.0)
        return float((below + powers.b * above) / self.profile.normaliser(powers))
