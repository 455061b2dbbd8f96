"""Compare Geng and Viswanath (2012) with computed values: Theorems 4, 6, 8, 11, 12, Corollaries 5, 7, Figure 2."""

from collections.abc import Callable, Iterator
from itertools import product
from math import ceil, cosh, exp, expm1, sinh
from typing import Any

from utmost.core.noise import costs
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.laplace import Laplace
from utmost.core.noise.optimal import gain, optimal_noise
from utmost.core.noise.staircase import Staircase, heuristic_gamma, optimal_gamma
from utmost_papers.comparison import Comparison, equal, extended, rounded
from utmost_papers.geng_figures import corollary_9, densities, hypotheses, theorem_13
from utmost_papers.geng_lemmas import appendices

LEVELS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
DIGITS = 11


def geng() -> Iterator[Comparison]:
    """Yield all comparisons with Geng and Viswanath (2012), in the order of the paper."""
    yield from hypotheses()
    yield from densities()
    yield from figure_2()
    yield from theorem_4()
    yield from corollary_5()
    yield from theorem_6()
    yield from corollary_7()
    yield from theorem_8()
    yield from corollary_9()
    yield from heuristic()
    yield from discrete_rows()
    yield from theorem_13()
    yield from appendices()


def figure_2() -> Iterator[Comparison]:
    """Check Figure 2 at epsilon = 10: the cost of Laplace noise divided by the least cost."""
    amplitude, power = (gain(Staircase(10, cost=cost)) for cost in (costs.absolute, costs.squared))
    yield equal(
        "Figure 2",
        "gain in E|X| at epsilon = 10",
        "15",
        rounded(amplitude, 2),
        shown=("about 15-fold", rounded(amplitude, 9)),
    )
    yield equal(
        "Figure 2", "gain in E X^2 at epsilon = 10", "23", str(int(power)), shown=("23-fold", rounded(power, 8))
    )


def theorem_4() -> Iterator[Comparison]:
    """Check Theorem 4: the least E|X| of private noise X, and gamma, the position of the step of the optimal
    staircase.
    """
    yield _formula("Theorem 4", "gamma", "1/(1 + e^(eps/2))", optimal_gamma, lambda e: 1 / (1 + exp(e / 2)))
    yield _formula(
        "Theorem 4",
        "least E|X|",
        "D e^(eps/2)/(e^eps - 1)",
        lambda e: Staircase(e).expected_cost(costs.absolute),
        lambda e: exp(e / 2) / expm1(e),
    )


def corollary_5() -> Iterator[Comparison]:
    """Check Corollary 5: how the least E|X| compares with that of Laplace noise for small epsilon, and its limit for
    large epsilon.
    """
    e = 0.25
    left = 1 / e - Staircase(e).expected_cost(costs.absolute)
    yield equal(
        "Corollary 5",
        "D/eps - V at eps = 1/4",
        rounded(e / 24 - 7 * e**3 / 5760 + 31 * e**5 / 967_680, 6),
        rounded(left, 6),
        shown=("D (eps/24 - 7 eps^3/5760 + O(eps^5))", rounded(left, 6)),
    )
    ratio = rounded(Staircase(40).expected_cost(costs.absolute) / exp(-20), 6)
    yield equal("Corollary 5", "V / (D e^(-eps/2)) at eps = 40", "1", ratio, shown=("tends to 1", ratio))


def theorem_6() -> Iterator[Comparison]:
    """Check Theorem 6: the least E X^2 of private noise X, and gamma, the position of the step of the optimal
    staircase.
    """

    def printed(e: float) -> float:
        b = exp(-e)
        root: float = (b - 2 * b**2 + 2 * b**4 - b**5) ** (1 / 3)
        return -b / (1 - b) + root / (2 ** (1 / 3) * (1 - b) ** 2)

    def gamma(e: float) -> float:
        return optimal_gamma(e, cost=costs.squared)

    yield _formula("Theorem 6", "gamma, as (50) prints it", "(50)", gamma, printed, digits=9)
    yield extended(
        "Theorem 6",
        "gamma at eps = 1e-5",
        rounded((cosh(5e-6) ** (1 / 3) - exp(-5e-6)) / (2 * sinh(5e-6)), 9),
        rounded(gamma(1e-5), 9),
        f"(50) in floating point gives {rounded(printed(1e-5), 5)}: it cancels",
    )
    yield _formula(
        "Theorem 6",
        "least E X^2",
        "D^2 (2^(-2/3) b^(2/3) (1+b)^(2/3) + b)/(1-b)^2",
        lambda e: Staircase(e, cost=costs.squared).expected_cost(costs.squared),
        lambda e: ((exp(-e) * (1 + exp(-e)) / 2) ** (2 / 3) + exp(-e)) / expm1(-e) ** 2,
    )


def corollary_7() -> Iterator[Comparison]:
    """Check Corollary 7: how the least E X^2 compares with that of Laplace noise for small epsilon, and its limit for
    large epsilon.
    """
    e = 0.25
    left = 2 / e**2 - Staircase(e, cost=costs.squared).expected_cost(costs.squared)
    yield equal(
        "Corollary 7",
        "2 D^2/eps^2 - V at eps = 1/4",
        rounded(1 / 12 - e**2 / 720 - e**4 / 18_144, 6),
        rounded(left, 6),
        shown=("D^2 (1/12 - eps^2/720 + O(eps^4))", rounded(left, 6)),
    )
    ratio = rounded(Staircase(60, cost=costs.squared).expected_cost(costs.squared) * 2 ** (2 / 3) * exp(40), 5)
    yield equal("Corollary 7", "V / (2^(-2/3) D^2 e^(-2 eps/3)) at eps = 60", "1", ratio, shown=("tends to 1", ratio))


def theorem_8() -> Iterator[Comparison]:
    """Check Theorem 8 for costs |x|^m, m = 1 to 4: the limits of the optimal gamma for small and large epsilon."""
    moments = [costs.moment(m) for m in (1, 2, 3, 4)]
    small = [rounded(optimal_gamma("1e-6", cost=cost), 5) for cost in moments]
    large = [rounded(optimal_gamma(100, cost=cost), 1) for cost in moments]
    yield equal("Theorem 8", "gamma at eps = 1e-6", ["0.5"] * 4, small, shown=("tends to 1/2", ", ".join(small)))
    vanishing = all(float(value) < 1e-6 for value in large)
    yield equal("Theorem 8", "gamma at eps = 100", True, vanishing, shown=("tends to 0", ", ".join(large)))
    slopes = [rounded((optimal_gamma("1e-3", cost=cost) - 0.5) / 1e-3, 3) for cost in moments]
    known = ["-0.125", "-0.0833", "-0.0833", "-0.0833"]
    yield extended("Theorem 8", "slope of gamma at eps = 0, m = 1 to 4", known, slopes, "-1/8, then -1/12")


def heuristic() -> Iterator[Comparison]:
    """Check the heuristic gamma = e^(-eps)/2: a third of the probability lies near 0, and Laplace noise can have a
    smaller cost.
    """
    distribution = Staircase(20, gamma=heuristic_gamma(20))
    near = rounded(1 - 2 * distribution.ccdf(distribution.gamma), 6)
    yield equal("(65)", "P(|X| <= gamma D) at eps = 20", "0.333333", near, shown=("tends to 1/3", near))
    for cost, name, limit, least in (
        (costs.absolute, "E|X|", "0.333333", 1.606857),
        (costs.squared, "E X^2", "0.222222", 1.215050),
    ):
        cost_in_units = rounded(distribution.expected_cost(cost), 6)
        beside = rounded(Laplace(20, 1).expected_cost(cost), 3)
        yield extended(
            "Section V-B",
            f"heuristic {name} at eps = 20",
            limit,
            cost_in_units,
            f'in units of D; "reasonably good", and Laplace noise costs {beside}',
        )
        below, above = (_heuristic_gain(e, cost) > 1 for e in (least - 1e-5, least + 1e-5))
        yield extended(
            "Section V-B",
            f"worse than Laplace in {name} from",
            f"eps = {least:.6f}",
            f"eps = {least:.6f}" if below and not above else "elsewhere",
        )


def discrete_rows() -> Iterator[Comparison]:
    """Check Theorems 11 and 12: the best integer noise is geometric for sensitivity 1, and a discrete staircase for
    larger sensitivity.
    """
    same = all(
        DiscreteStaircase(e, 1).pmf(k) == Geometric(e).pmf(k) and optimal_noise(e, 1) == Geometric(e)
        for e, k in product(("1/2", "1", "4"), (0, 1, 7))
    )
    yield equal(
        "Theorem 11",
        "the optimum for D = 1",
        True,
        same,
        shown=("geometric", "the same distribution" if same else "other"),
    )
    cases = list(product((2, 3, 5, 8, 13), ("1/2", 1, 2, 4), (costs.absolute, costs.squared)))
    best = sum(_is_best_step(D, e, cost) for D, e, cost in cases)
    yield equal(
        "Theorem 12",
        "the step chosen is the best of 1 to D",
        len(cases),
        best,
        shown=("the least over r", f"{best} of {len(cases)} cases"),
    )
    settings = list(product(range(1, 60), (0.3, 1.1, 2.7, 5.3)))
    closed = sum(DiscreteStaircase(e, D).step == ceil(D / (1 + exp(e / 2))) for D, e in settings)
    yield extended(
        "Theorem 12",
        "the best step for E|X| in closed form",
        f"r = ceil(D/(1 + e^(eps/2))), {len(settings)} of {len(settings)}",
        f"r = ceil(D/(1 + e^(eps/2))), {closed} of {len(settings)}",
    )


def _is_best_step(D: int, e: Any, cost: costs.Cost) -> bool:
    chosen = DiscreteStaircase(e, D, cost).expected_cost(cost)
    return all(chosen <= DiscreteStaircase(e, D, step=r).expected_cost(cost) * (1 + 1e-14) for r in range(1, D + 1))


def _heuristic_gain(e: float, cost: costs.Cost) -> float:
    return gain(Staircase(e, gamma=heuristic_gamma(e)), "laplace", cost)


def _formula(
    place: str,
    what: str,
    printed: str,
    computed: Callable[[float], Any],
    formula: Callable[[float], float],
    digits: int = DIGITS,
) -> Comparison:
    """Compare the paper's ``formula(epsilon)`` with ``computed(epsilon)`` at all LEVELS, to ``digits`` digits."""
    right = sum(rounded(computed(e), digits) == rounded(formula(e), digits) for e in LEVELS)
    shown = f"the same to {digits} digits at {right} of {len(LEVELS)} levels"
    return equal(place, what, len(LEVELS), right, shown=(printed, shown))
