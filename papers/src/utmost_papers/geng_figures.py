"""Check Geng and Viswanath (2012): Figures 1, 3, 4 and 5, Algorithm 1, hypothesis tests, Corollary 9 and Theorem 13."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from math import exp
from typing import Any

import numpy as np

from utmost.core.exact.levels import level
from utmost.core.noise import costs
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.laplace import Laplace
from utmost.core.noise.staircase import Staircase, optimal_gamma
from utmost.design.channels.calibrated import abstract_staircase
from utmost.design.privacy_types.smallest_level import smallest_epsilon
from utmost.design.privacy_types.trade_off import tradeoff
from utmost.design.spaces.families import discrete
from utmost_papers.comparison import Comparison, corrected, equal, extended, rounded

F = Fraction
LEVELS = (0.1, 1.0, 4.0)
GAMMAS = (0.25, 0.5, 0.8)


def densities() -> Iterator[Comparison]:
    """Check the staircase densities in Figures 1, 3 and 5, Algorithm 1, which samples from them, and gamma in Figure
    4.
    """
    cases = list(product(LEVELS, GAMMAS, np.linspace(-4.3, 4.3, 44).tolist()))
    right = sum(rounded(Staircase(e, gamma=g).pdf(x), 11) == rounded(printed_density(e, g, x), 11) for e, g, x in cases)
    yield _of("Figure 3", "the density, step by step", "(25) with (26)", right, len(cases))
    crossings = [_crossings(e) for e in (0.5, 1.0, 2.0)]
    yield equal(
        "Figure 1",
        "staircase over Laplace density, and back, within 6 D",
        True,
        min(crossings) >= 6,
        shown=("steps around a smooth density", f"{', '.join(map(str, crossings))} times at eps = 1/2, 1, 2"),
    )
    yield from _algorithm_1()
    yield _figure_4()
    settings = list(product((2, 3, 5), (F(1, 2), F(1, 10)), range(-14, 15)))
    right = sum(
        DiscreteStaircase(alpha=a, sensitivity=D, step=r).pmf(x) == printed_mass(a, D, r, x)
        for D, a, x in settings
        for r in range(1, D + 1)
    )
    yield _of("Figure 5", "the probabilities, step by step", "(79) with (80)", right, 29 * 2 * (2 + 3 + 5), "exactly")


def printed_density(e: float, g: float, x: float) -> float:
    """Return the staircase density (25) at x with normalising constant (26), for epsilon e, gamma g, and D = 1."""
    b = exp(-e)
    a = (1 - b) / (2 * (g + b * (1 - g)))
    k, within = divmod(abs(x), 1.0)
    return float(a * b ** (k + (within >= g)))


def printed_mass(a: Fraction, D: int, r: int, x: int) -> Fraction:
    """Return the probability (79) of x under the discrete staircase with step r, with the normalising constant (80)."""
    top = (1 - a) / (2 * r + 2 * a * (D - r) - (1 - a))
    k, within = divmod(abs(x), D)
    return top * a ** (k + (within >= r))


def _crossings(e: float) -> int:
    """Return how often the density of the staircase crosses the Laplace density at epsilon e, between 0 and 6 D."""
    x = np.linspace(0.0005, 6, 12_000)
    above = Staircase(e).pdf(x) > Laplace(e, 1).pdf(x)
    return int((above[1:] != above[:-1]).sum())


def _algorithm_1() -> Iterator[Comparison]:
    """Check that Algorithm 1 samples the staircase, from a sign S, a number of periods G, a coin B and a uniform U."""
    cases = [(e, g, x) for e, g, x in product(LEVELS, GAMMAS, np.linspace(-3.7, 3.7, 25).tolist())]
    right = sum(abs(float(Staircase(e, gamma=g).cdf(x)) - _mixture_cdf(e, g, x)) < 1e-13 for e, g, x in cases)
    yield _of(
        "Algorithm 1",
        "the distribution of S ((1-B)(G + gamma U) + B(G + gamma + (1-gamma) U)) D",
        "(37)",
        right,
        len(cases),
        "to 1e-13",
    )


def _mixture_cdf(e: float, g: float, x: float) -> float:
    """Return P(X <= x) for the result X of Algorithm 1, as a sum over the number of periods."""
    b = exp(-e)
    first = g / (g + (1 - g) * b)
    below = 0.0
    for k in range(int(50 / e) + 8):
        weight = (1 - b) * b**k
        high = min(max((abs(x) - k) / g, 0), 1)
        low = min(max((abs(x) - k - g) / (1 - g), 0), 1)
        below += weight * (first * high + (1 - first) * low)
    return 0.5 + (0.5 if x > 0 else -0.5) * below


def _figure_4() -> Comparison:
    gammas = [optimal_gamma(F(k, 4), cost=costs.squared) for k in range(1, 121)]
    falls = all(later < earlier for earlier, later in pairwise(gammas))
    ends = f"from {rounded(optimal_gamma('1/1000', cost=costs.squared), 4)} to {rounded(gammas[-1], 2)}"
    return equal(
        "Figure 4",
        "gamma for x^2 falls as eps grows, from 1/2 to 0",
        True,
        falls and gammas[-1] < 1e-4,
        shown=("from 1/2 to 0", f"{ends} at eps = 30, falling at each of 120 levels"),
    )


def hypotheses() -> Iterator[Comparison]:
    """Check (10), (11) and (15), the least errors of hypothesis tests between two answers with noise."""
    points = [k / 40 for k in range(41)]
    cases = [(e, p, float(tradeoff(Laplace(e, 1), p))) for e, p in product((0.5, 1.0, 3.0), points)]
    right = sum(abs(missed - _laplace_errors(e, p)) < 1e-12 for e, p, missed in cases)
    yield _of("(15)", "errors of the second kind under Laplace noise", "(15)", right, len(cases), "to 1e-12")
    distributions: list[Any] = [Geometric(1), Staircase(1), Laplace(1, 1), DiscreteStaircase(1, 4)]
    tests = [(p, float(tradeoff(distribution, p))) for distribution, p in product(distributions, points)]
    holding = sum(min(exp(1) * p + missed, p + exp(1) * missed) >= 1 - 1e-12 for p, missed in tests)
    yield _of("(10), (11)", "e^eps P_FA + P_MD >= 1, and mirrored", "for every test", holding, len(tests), "")


def _laplace_errors(e: float, p: float) -> float:
    if p < exp(-e) / 2:
        return 1 - exp(e) * p
    return exp(-e) / (4 * p) if p < 0.5 else exp(-e) * (1 - p)


def corollary_9() -> Iterator[Comparison]:
    """Check Corollary 9: also for costs that are sums of moments, the optimal gamma tends to 1/2 for small and to 0 for
    large epsilon.
    """
    mixed = {"|x| + x^2": _sum_of(1, 1, 0), "x^2 + 3 x^4": _sum_of(0, 1, 3), "|x| + x^4/10": _sum_of(1, 0, 0.1)}
    small = [rounded(optimal_gamma("1/10000", cost=cost), 3) for cost in mixed.values()]
    large = [optimal_gamma(60, cost=cost) for cost in mixed.values()]
    yield equal(
        "Corollary 9",
        f"gamma at eps = 1/10000 for {', '.join(mixed)}",
        ["0.5"] * 3,
        small,
        shown=("tends to 1/2", ", ".join(small)),
    )
    shown = ", ".join(rounded(g, 1) for g in large)
    yield equal("Corollary 9", "gamma at eps = 60", True, max(large) < 1e-5, shown=("tends to 0", shown))


def _sum_of(weight_1: float, weight_2: float, weight_4: float) -> costs.Cost:
    def cost(x: Any) -> Any:
        return weight_1 * abs(x) + weight_2 * x**2 + weight_4 * x**4

    return cost


def theorem_13() -> Iterator[Comparison]:
    """Check Theorem 13 on staircases over arbitrary outcomes: unequal sums of weights may double epsilon, and equal
    sums do not.
    """
    cost = [[0, 1, 1], [1, 0, 0]]
    a = F(1, 2)
    weights = [[a**c for c in row] for row in cost]
    ratio = weights[0][0] / sum(weights[0]) * sum(weights[1]) / weights[1][0]
    yield corrected(
        "Theorem 13",
        "largest ratio for three outcomes, e^eps = 2",
        "at most 2",
        F(5, 2),
        ratio,
        "dividing by the sum of the weights can cost eps again; it does not where the sums agree",
    )
    is_kept = smallest_epsilon(abstract_staircase(cost, alpha=a), discrete(2)).value <= level(alpha=a).epsilon_float
    yield extended("Theorem 13", "run at eps/2 the level is kept", "yes", "yes" if is_kept else "no")
    turning = [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
    held = smallest_epsilon(abstract_staircase(turning, alpha=a, gamma=1), discrete(3)).value
    exact_level = abs(held - level(alpha=a).epsilon_float) < 1e-12
    yield equal("Theorem 13", "equal sums: eps is kept", True, exact_level, shown=("eps", f"eps = {rounded(held, 9)}"))


def _of(place: str, what: str, printed: str, right: int, cases: int, how: str = "to 10 digits or more") -> Comparison:
    return equal(place, what, cases, right, shown=(printed, f"{right} of {cases}{', ' if how else ''}{how}"))
