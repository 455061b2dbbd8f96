"""Compare Koufogiannis, Han and Pappas (2015) with computed values: Theorems 9 to 12, equations (12) to (39)."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product
from math import exp, log, sqrt
from typing import Any

import numpy as np

from utmost.core.exact.levels import Level, level
from utmost.core.gradual.laplace_steps import LaplaceRelaxing, LaplaceTightening, laplace_expected_jumps
from utmost.core.gradual.process import correlation, expected_jumps, joint_pmf, largest_ratio
from utmost.core.gradual.steps import Bridge, Relaxing, Tightening
from utmost.core.noise import costs
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.laplace import Laplace
from utmost.core.noise.staircase import Staircase
from utmost.design.channels.calibrated import exponential_mechanism
from utmost.design.optima.noise_program import least_noise
from utmost.design.privacy_types.smallest_level import smallest_epsilon
from utmost.design.spaces.families import discrete
from utmost_papers.comparison import Comparison, corrected, equal, extended, rounded
from utmost_papers.koufogiannis_applications import applications
from utmost_papers.koufogiannis_market import figure_2, market, networks, rules, theorem_1

F = Fraction
DIGITS = 11


def background() -> Iterator[Comparison]:
    """Yield the comparisons with sections 1 and 2 in the order of the paper."""
    yield from theorem_1()
    yield from rules()
    yield from proposition_7()
    yield from theorem_9()
    yield from figure_2()
    yield from market()


def proposition_7() -> Iterator[Comparison]:
    """Show that the exponential mechanism can have a privacy loss above epsilon if the sums of e^(eps s) differ from
    secret to secret.
    """
    scores = [[F(0), F(-1), F(-1)], [F(-1), F(0), F(0)]]  # scores that are 1-Lipschitz in two secrets at distance 1
    weights = [[F(1, 2) ** -score for score in row] for row in scores]
    printed = max(weights[0][y] / sum(weights[0]) * sum(weights[1]) / weights[1][y] for y in range(3))
    yield corrected(
        "Proposition 7",
        "largest ratio for three outcomes, e^eps = 2",
        "at most 2",
        F(5, 2),
        printed,
        "it holds for equal sums of e^(eps s); in general it keeps 2 eps, and tends to that with more outcomes",
    )
    repaired = exponential_mechanism([[0, 1, 1], [1, 0, 0]], alpha="1/2")
    is_kept = smallest_epsilon(repaired, discrete(2)).value <= level(alpha=F(1, 2)).epsilon_float
    yield extended("Proposition 7", "with half of eps the level is kept", "yes", "yes" if is_kept else "no")


def theorem_9() -> Iterator[Comparison]:
    """Check Theorem 9: of all noise with a privacy loss of at most epsilon times the distance, Laplace noise has the
    least variance.
    """
    squares = [rounded(Laplace(e, 1).moment(2) * float(F(e)) ** 2, DIGITS) for e in ("1/4", "1", "5/2")]
    yield equal("(12)", "E V^2 times eps^2, Laplace noise", ["2"] * 3, squares, shown=("2", ", ".join(squares)))
    alphas = [F(1, 10), F(1, 2), F(4, 5)]
    least = [
        least_noise(cost, 1, alpha=a).cost == Geometric(alpha=a).moment(power)
        for a in alphas
        for cost, power in ((costs.absolute, 1), (costs.squared, 2))
    ]
    yield extended(
        "Theorem 9",
        "least noise on the integers, by program",
        "geometric, 6 of 6",
        f"geometric, {sum(least)} of {len(least)}",
        "exactly, in rationals: the twin of the theorem",
    )
    distribution = Staircase(1, 1)
    fall = rounded(distribution.pdf(distribution.gamma - 1e-9) / distribution.pdf(distribution.gamma + 1e-9), 9)
    yield equal(
        "Section 2.3",
        "the staircase is not Lipschitz private",
        rounded(exp(1), 9),
        fall,
        shown=("discontinuous", f"falls by a factor {fall} at one point"),
    )


PAIRS = ((1.0, 2.0), (0.25, 3.0), (1.5, 1.6))
POINTS = tuple(product((-2.5, -1.0, 0.0, 0.5, 3.0), (-1.75, 0.0, 0.5, 1.25)))
HALF, THIRD, QUARTER = (level(alpha=F(1, n)) for n in (2, 3, 4))


def koufogiannis() -> Iterator[Comparison]:
    """Yield all comparisons with Koufogiannis et al. (2015), in the order of the paper."""
    yield from background()
    yield from theorem_10()
    yield from algorithm_1()
    yield from tightening()
    yield from theorems_11_and_12()
    yield from the_process()
    yield from applications()
    yield from networks()


def theorem_10() -> Iterator[Comparison]:
    """Check the joint distribution of the noise at two levels, its marginals, and the correlation."""
    yield _everywhere("(20)", "joint density off the diagonal", "(20)", _library_joint, _printed_joint)
    diagonal = [
        (LaplaceTightening(level(e1), level(e2)).stay * Laplace(e2, 1).pdf(y), e1**2 / (2 * e2) * exp(-e2 * abs(y)))
        for e1, e2 in PAIRS
        for y in (-1.0, 0.0, 2.0)
    ]
    right = sum(rounded(by_library, DIGITS) == rounded(by_print, DIGITS) for by_library, by_print in diagonal)
    yield equal(
        "(20)", "density on the diagonal", len(diagonal), right, shown=("e1^2/(2 e2) e^(-e2|y|)", f"{right} of 9")
    )
    margin, known = _margin_21(), rounded(exp(-1) / 2, 6)
    yield corrected(
        "(21)",
        "its last line at x = 1, eps 1 and 2",
        f"as printed: {rounded(_printed_21(1.0, 1.0, 2.0), 6)}",
        known,
        rounded(margin, 6),
        "its last term lacks the factor e^(e1 x); with it the margin is (e1/2) e^(-e1 x)",
    )
    twins = [
        joint_pmf([x, y], [HALF, QUARTER]) == Geometric(alpha=F(1, 4)).pmf(y) * Tightening(HALF, QUARTER).pmf(x - y)
        for x, y in product(range(-4, 5), repeat=2)
    ]
    yield extended(
        "Theorem 10", "its twin on the integers", 81, sum(twins), "joint distribution, 81 places, in rationals"
    )
    ratio = largest_ratio([HALF, QUARTER])
    yield equal("(24)", "the pair loses the larger level", F(4), ratio, shown=("eps2", f"a factor {ratio} = 1/alpha2"))
    found_corr = rounded(sqrt(LaplaceTightening(level(1), level(2)).stay), 9)
    yield equal("Section 3.1.1", "correlation for eps 1 and 2", "0.5", found_corr, shown=("eps1/eps2", found_corr))
    yield extended(
        "Section 3.1.1",
        "correlation on the integers, alpha 1/2 and 1/4",
        rounded(sqrt(2 / 9), 12),
        rounded(correlation(HALF, QUARTER), 12),
        "sqrt(a2/a1) (1 - a1)/(1 - a2)",
    )


def algorithm_1() -> Iterator[Comparison]:
    """Check the distribution of the noise at the larger epsilon given the noise at the smaller one, (25) to (27)."""
    yield _everywhere("(25)", "density away from its atom", "(25)", _library_given, _printed_given)
    near, far = LaplaceRelaxing(level(1), level("1.000001")), LaplaceRelaxing(level(1), level(4000))
    stays, vanishes = rounded(near.pieces(1.5).stay, 5), rounded(far.cdf(0.01, 1.5) - far.cdf(-0.01, 1.5), 5)
    yield equal("(26)", "V2 = x for eps2 = eps1 + 1e-6", "1", stays, shown=("tends to certain", stays))
    yield equal("(27)", "abs(V2) < 1/100 at eps2 = 4000", "1", vanishes, shown=("tends to certain", vanishes))
    distribution = LaplaceRelaxing(level(1), level(2))
    pieces = [rounded(piece, 4) for piece in distribution.pieces(1.0)]
    known = [rounded(value, 4) for value in (exp(-1) / 2, 1 / 4, 3 / 4 * (1 - exp(-1)), exp(-1) / 4)]
    yield equal(
        "Algorithm 1", "its four cases at x = 1 (Figure 3)", known, pieces, shown=(" ".join(known), " ".join(pieces))
    )
    at_zero = distribution.pieces(0.0)
    yield corrected(
        "Algorithm 1",
        "atom at x = 0, eps 1 and 2",
        "1 with sgn(0) = 0",
        "0.5",
        rounded(at_zero.stay, 6),
        "sgn(0) must be +1, else all four cases return 0; case 3 lacks its return",
    )
    twin = Relaxing(HALF, QUARTER)
    right = sum(
        twin.pmf(y, x) == joint_pmf([x, y], [HALF, QUARTER]) / Geometric(alpha=F(1, 2)).pmf(x)
        for x, y in product(range(-4, 5), repeat=2)
    )
    yield extended("Algorithm 1", "its twin on the integers", 81, right, "P(V2 = y | V1 = x), 81 places, in rationals")


def tightening() -> Iterator[Comparison]:
    """Check (28) and (29): the distribution of the noise at the smaller epsilon, given the noise at the larger one."""
    weights = [rounded(LaplaceTightening(level(e1), level(e2)).stay, DIGITS) for e1, e2 in PAIRS]
    known = [rounded((e1 / e2) ** 2, DIGITS) for e1, e2 in PAIRS]
    yield equal("(28)", "weight of the atom", known, weights, shown=("(eps1/eps2)^2", ", ".join(weights)))
    W = Tightening(HALF, QUARTER)
    yield extended("(28)", "its twin, alpha 1/4 to 1/2", F(2, 9), W.stay.number, "(a2/a1) ((1 - a1)/(1 - a2))^2")
    spread = Geometric(alpha=F(1, 4)).moment(2) + W.variance
    yield corrected(
        "(29)",
        "which of the two is the sum",
        "y2 = y1 + V",
        "y1 = y2 + V",
        "y1 = y2 + V" if spread == Geometric(alpha=F(1, 2)).moment(2) else "neither",
        "the response at the lower epsilon has the larger variance",
    )


def theorems_11_and_12() -> Iterator[Comparison]:
    """Check Theorem 11 on vectors of noise, and Theorem 12 on the noise at three levels."""
    geometric = Geometric(alpha=F(1, 4))
    losses = [
        max(
            geometric.pmf(v) * geometric.pmf(w) / (geometric.pmf(v - s) * geometric.pmf(w - t))
            for v, w in product(range(-4, 5), repeat=2)
        )
        for s, t in ((1, 0), (1, 1), (2, -1))
    ]
    yield equal(
        "Theorem 11",
        "loss by the l1 distance: moves (1,0), (1,1), (2,-1)",
        [F(4), F(16), F(64)],
        losses,
        shown=("eps2 |u - u'|_1", ", ".join(f"{ratio} = 4^{d}" for ratio, d in zip(losses, (1, 2, 3), strict=True))),
    )
    right = sum(_every_order_agrees(noise) for noise in product((-1, 0, 2), repeat=3))
    yield equal(
        "Theorem 12",
        "joint distribution of three levels, in all six orders",
        27,
        right,
        shown=("(36)", f"{right} of 27 places"),
    )
    ratio = largest_ratio([HALF, THIRD, QUARTER])
    yield equal(
        "Theorem 12", "three responses lose the largest level", F(4), ratio, shown=("eps3", f"a factor {ratio}")
    )
    printed, repaired = (rounded(_slope_39(divisor, factor), 6) for divisor, factor in (("l_4", "l"), ("l^2", "l'")))
    yield corrected(
        "(39)",
        "abs(h_x + h_y + h_z)/h for eps 1, 2, 3",
        f"with l / l_(eps2^2): {printed}",
        "3",
        repaired,
        "read l' / (l_eps2)^2; then it is eps3",
    )


def the_process() -> Iterator[Comparison]:
    """Check how often the noise jumps as epsilon grows (Figure 1, sections 1.1 and 3.4)."""
    mean = rounded(laplace_expected_jumps(level(1), level(3)), 6)
    yield extended(
        "Section 3.4", "mean number of jumps, eps 1 to 3", rounded(2 * log(3), 6), mean, "Poisson, 2 ln(eps2/eps1)"
    )
    grown = rounded(
        laplace_expected_jumps(level("1/1000"), level(1)) - laplace_expected_jumps(level("1/10"), level(1)), 6
    )
    yield corrected(
        "Section 1.1",
        "a single sample of the process on (0, infinity)",
        "finitely many jumps",
        rounded(2 * log(100), 6),
        grown,
        "so many more for two decades of eps, on either side: infinitely many in all",
    )
    whole = rounded(expected_jumps(level("1/10")), 6)
    yield extended(
        "Figure 1",
        "jumps of a whole path on the integers, eps 1/10 to infinity",
        rounded(-2 * log(1 - exp(-0.1)), 6),
        whole,
        "finite: -2 ln(1 - alpha)",
    )


def _library_joint(e1: float, e2: float, x: float, y: float) -> float:
    return float(LaplaceTightening(level(e1), level(e2)).density(x - y) * Laplace(e2, 1).pdf(y))


def _printed_joint(e1: float, e2: float, x: float, y: float) -> float:
    return e1 * (e2**2 - e1**2) / (4 * e2) * exp(-e1 * abs(x - y) - e2 * abs(y))


def _library_given(e1: float, e2: float, x: float, y: float) -> float:
    return float(LaplaceRelaxing(level(e1), level(e2)).density(y, x))


def _printed_given(e1: float, e2: float, x: float, y: float) -> float:
    return (e2**2 - e1**2) / (2 * e2) * exp(-e1 * abs(y - x) - e2 * abs(y) + e1 * abs(x))


def _everywhere(place: str, what: str, printed: str, mine: Any, theirs: Any) -> Comparison:
    """Compare two functions of (eps1, eps2, x, y) at every pair of levels in PAIRS and every point in POINTS."""
    cases = [(*pair, *point) for pair, point in product(PAIRS, POINTS)]
    right = sum(rounded(mine(*case), DIGITS) == rounded(theirs(*case), DIGITS) for case in cases)
    shown = f"the same to {DIGITS} digits at {right} of {len(cases)} points"
    return equal(place, what, len(cases), right, shown=(printed, shown))


def _margin_21() -> float:
    """Return the marginal density of (20) at x = 1 for eps 1 and 2: its atom plus a numerical integral of the rest."""
    y = np.linspace(-30, 30, 600_001)
    smooth = np.exp(-np.abs(1 - y) - 2 * np.abs(y)) * 3 / 8
    return float(np.sum((smooth[1:] + smooth[:-1]) / 2) * (y[1] - y[0]) + exp(-2) / 4)


def _printed_21(x: float, e1: float, e2: float) -> float:
    """Return the fourth line of (21) with the antiderivatives as the paper prints them."""
    first = e1 * (e2 - e1) / (4 * e2) * exp(-e1 * x)
    second = e1 * (e1 + e2) / (4 * e2) * exp(-e1 * x) * (1 - exp(-(e2 - e1) * x))
    third = e1 * (e2 - e1) / (4 * e2) * exp(-(e1 + e2) * x)
    return e1**2 / (2 * e2) * exp(-e2 * x) + first + second + third


def _slope_39(divisor: str, factor: str) -> float:
    """Return |h_x + h_y + h_z|/h of (39) at y = 2/5, eps 1, 2, 3, with the given factor and divisor in one of its
    terms.
    """
    e2, e3, y = 2.0, 3.0, 0.4

    def density(rate: float) -> float:
        return rate / 2 * exp(-rate * y)

    above = {"l": density(e2), "l'": -e2 * density(e2)}[factor]
    below = {"l_4": density(e2**2), "l^2": density(e2) ** 2}[divisor]
    return abs(-e2 - e3 - above * density(e2) / below)


def _every_order_agrees(noise: tuple[int, ...]) -> bool:
    levels = [HALF, THIRD, QUARTER]
    known = joint_pmf(noise, levels)
    return all(_by_transitions(order, noise, levels) == known for order in permutations(range(3)))


def _by_transitions(order: tuple[int, ...], noise: tuple[int, ...], levels: list[Level]) -> Fraction:
    """Return the probability of the noise if the levels are requested in the given order: a product of transitions."""
    mass = F(1)
    answered: list[int] = []
    for at in order:
        lower = max((i for i in answered if i < at), default=None)
        higher = min((i for i in answered if i > at), default=None)
        if lower is None and higher is None:
            mass *= Geometric(levels[at]).pmf(noise[at])
        elif higher is None:
            assert lower is not None
            mass *= Relaxing(levels[lower], levels[at]).pmf(noise[at], noise[lower])
        elif lower is None:
            mass *= Tightening(levels[at], levels[higher]).pmf(noise[at] - noise[higher])
        else:
            transition = Bridge(levels[lower], levels[at], levels[higher])
            mass *= transition.pmf(noise[at] - noise[higher], noise[lower] - noise[higher])
        answered.append(at)
    return mass
