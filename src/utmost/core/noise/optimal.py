"""The best additive noise for a level, a sensitivity and a cost, and its gain over Laplace or geometric noise."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from utmost.core.exact.arguments import iterable, one_of
from utmost.core.exact.intervals import nearest
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import IntegersOrReals, Number, exact
from utmost.core.noise.costs import Cost, absolute, check_integers, read_cost
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.distribution import Distribution, positive_integer
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.laplace import Laplace
from utmost.core.noise.staircase import Staircase
from utmost.errors import NotANumber, OutOfRange


def optimal_noise(
    epsilon: Number | Level | None = None,
    sensitivity: Number = 1,
    cost: Cost = absolute,
    numbers: IntegersOrReals = "integers",
    *,
    alpha: Number | None = None,
) -> Geometric | DiscreteStaircase | Staircase:
    """The distribution of least expected cost among all additive noise that is epsilon-private for one number.

    For an integer query of sensitivity 1 the result is geometric noise, whatever the cost. For an integer query of
    larger sensitivity the result is a staircase with the optimal step, and for a real query a staircase with the
    optimal gamma. The attribute ``theorem`` of the result names the theorem. If one individual changes several numbers
    together, independent noise of this kind may not be the best.

    Args:
        epsilon, alpha: Privacy level, as epsilon or as alpha = exp(-epsilon).
        sensitivity: Largest change of the query by one individual; an integer >= 1 for integers.
        cost: Cost L(x), even and nondecreasing in |x|.
        numbers: Kind of numbers that the query returns, "integers" or "reals".

    Raises:
        NotALevel, NotANumber, OutOfRange: if the level, the sensitivity or the kind of numbers is invalid.
        NotALoss, NotMonotone, Unsupported: if the theorems do not cover the cost, or if the cost is too large for
            floats.

    Source: [geng2012], Theorems 3, 11 and 12.

    >>> optimal_noise(1), optimal_noise(1, 5), optimal_noise(1, 5, numbers="reals")
    (Geometric(epsilon=1, sensitivity=1), DiscreteStaircase(epsilon=1, sensitivity=5, step=2),
     Staircase(epsilon=1, sensitivity=5, gamma=0.37754066879814546))
    """
    if one_of(numbers, IntegersOrReals, "numbers", "optimal_noise") == "reals":
        return Staircase(epsilon, sensitivity, cost, alpha=alpha)
    if _integer_sensitivity(sensitivity, "optimal_noise") == 1:
        read_cost(cost, 1.0, integers=True)
        noise = Geometric(epsilon, alpha=alpha)
        check_integers(cost, noise.level.epsilon_float, 1)
        return noise
    return DiscreteStaircase(epsilon, sensitivity, cost, alpha=alpha)


def relaxable_noise(
    epsilon: Number | Level | None = None,
    sensitivity: Number = 1,
    cost: Cost = absolute,
    numbers: IntegersOrReals = "integers",
    *,
    alpha: Number | None = None,
) -> Geometric | DiscreteStaircase | Laplace | Staircase:
    """The noise of least expected cost that can be relaxed to larger epsilons without loss, any number of times.

    The candidates on the integers are geometric noise and the half-step staircase (whose period is odd, so that an even
    sensitivity is increased by one). On the reals the candidates are Laplace noise and the staircase with gamma = 1/2.
    Better noise that can be relaxed may exist. This function takes the arguments of `optimal_noise`, and raises the
    same exceptions.

    >>> relaxable_noise(1), relaxable_noise(1, 5), relaxable_noise("1/10", 5)
    (Geometric(epsilon=1, sensitivity=1), DiscreteStaircase(epsilon=1, sensitivity=5, step=3),
     DiscreteStaircase(epsilon='1/10', sensitivity=5, step=3))
    """
    candidates: list[Geometric | DiscreteStaircase | Laplace | Staircase]
    if one_of(numbers, IntegersOrReals, "numbers", "relaxable_noise") == "reals":
        candidates = [
            Staircase.half_step(epsilon, sensitivity, alpha=alpha),
            Laplace(epsilon, sensitivity, alpha=alpha),
        ]
    else:
        width = _integer_sensitivity(sensitivity, "relaxable_noise")
        candidates = [Geometric(epsilon, width, alpha=alpha)]
        if width > 1:
            candidates.append(DiscreteStaircase.half_step(epsilon, width | 1, alpha=alpha))
    return min(candidates, key=lambda distribution: float(distribution.expected_cost(cost)))


def gain(
    distribution: Distribution,
    over: Distribution | Literal["laplace", "geometric"] = "laplace",
    cost: Cost | None = None,
) -> float:
    """The quotient of expected costs E L(other) / E L(distribution).

    Args:
        distribution: Distribution in the denominator.
        over: Other distribution, or "laplace" or "geometric" for the noise with the level and sensitivity of
            ``distribution``.
        cost: Cost L; by default the cost for which ``distribution`` is optimal, or the absolute error.

    Raises:
        OutOfRange: if an argument is no distribution, if ``over`` is any other text, or if the expected cost is zero.
        NotANumber: if ``over`` is "geometric" and the sensitivity is no integer.

    Source: [geng2012], Figure 2.

    >>> gain(optimal_noise(10, numbers="reals")), gain(Geometric(1))
    (14.840642..., 1.175201...)
    """
    if not isinstance(distribution, Distribution):
        raise OutOfRange("the first argument of gain must be a distribution of noise", came=distribution)
    if isinstance(over, Distribution):
        other = over
    elif isinstance(over, str) and over == "laplace":  # comparing an array with a text would give an array
        other = Laplace(distribution.level, distribution.sensitivity)
    elif isinstance(over, str) and over == "geometric":
        other = Geometric(distribution.level, distribution.sensitivity)
    else:
        raise OutOfRange('over= must be "laplace", "geometric" or a distribution of noise', came=over, where="gain")
    chosen = cost if cost is not None else getattr(distribution, "cost", absolute)
    least = distribution.expected_cost(chosen)
    if least <= 0:
        raise OutOfRange(
            "the expected cost must be positive", came=least, where="gain", remedy="Pass a smaller epsilon."
        )
    ratio = nearest(Fraction(other.expected_cost(chosen)) / Fraction(least))
    if ratio == math.inf:
        raise OutOfRange("the gain must be at most the largest float", came="more", where="gain")
    return ratio


def _integer_sensitivity(sensitivity: Number, where: str) -> int:
    """Read the sensitivity of a query with integer values. A sensitivity that is no integer raises an error."""
    try:
        return positive_integer(sensitivity, "sensitivity", where)
    except NotANumber as error:
        remedy = 'For a query with real values pass numbers="reals".'
        raise NotANumber(error.required, came=error.came, where=where, remedy=remedy) from None


def gain_curve(
    epsilons: Sequence[Number], cost: Cost, sensitivity: Number = 1, numbers: IntegersOrReals = "reals"
) -> list[float]:
    """E L(Laplace) / E L(optimal noise) at each epsilon, and its limit 1 at epsilon = 0.

    Args:
        epsilons: Levels, shape (n,), each >= 0.
        cost, sensitivity, numbers: Arguments of `optimal_noise`.

    Source: [geng2012], Figure 2; Corollaries 5 and 7 for the limit.

    >>> from utmost.core.noise.costs import absolute, squared
    >>> [round(gain_curve([0, 10], cost)[-1], 2) for cost in (absolute, squared)]
    [14.84, 23.61]
    """
    iterable(epsilons, "epsilons")
    values: list[Fraction] = [exact(epsilon, "epsilon") for epsilon in epsilons]
    return [gain(optimal_noise(e, sensitivity, cost, numbers), "laplace", cost) if e else 1.0 for e in values]
