"""How the gain of the optimal noise over Laplace noise grows with epsilon."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from utmost.exact import Number, exact
from utmost.noise.costs import Cost
from utmost.noise.optimal import gain, optimal_noise


def gain_curve(
    epsilons: Sequence[Number], cost: Cost, sensitivity: Number = 1, domain: Literal["integers", "reals"] = "reals"
) -> list[float]:
    """E L(Laplace) / E L(optimal noise) at each epsilon; 1 at epsilon = 0, to which it tends there.

    Args:
        epsilons: shape (n,), each >= 0.
        cost, sensitivity, domain: as for `optimal_noise`.

    Source: [geng2012], Figure 2; Corollaries 5 and 7 for the limit.

    >>> from utmost.noise.costs import absolute, squared
    >>> [round(gain_curve([0, 10], cost)[-1], 2) for cost in (absolute, squared)]
    [14.84, 23.61]
    """
    values: list[Fraction] = [exact(epsilon, "epsilon") for epsilon in epsilons]
    return [gain(optimal_noise(e, sensitivity, cost, domain), "laplace", cost) if e else 1.0 for e in values]
