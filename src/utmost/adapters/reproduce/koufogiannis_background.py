"""Koufogiannis, Han and Pappas (2015), section 2: Proposition 7 and Theorem 9."""

from collections.abc import Iterator
from fractions import Fraction
from math import exp

from utmost.adapters.reproduce.comparison import Comparison, corrected, equal, extended, rounded
from utmost.channels import exponential_mechanism
from utmost.design.least_noise import least_noise
from utmost.exact import level
from utmost.noise import Geometric, Laplace, Staircase, costs
from utmost.privacy import smallest_epsilon
from utmost.spaces import discrete

F = Fraction
DIGITS = 11


def background() -> Iterator[Comparison]:
    """Every comparison, in the order of the paper."""
    yield from proposition_7()
    yield from theorem_9()


def proposition_7() -> Iterator[Comparison]:
    """The exponential mechanism, where the rows of e^(eps s) do not have one sum."""
    scores = [[F(0), F(-1), F(-1)], [F(-1), F(0), F(0)]]  # 1-Lipschitz in two secrets at distance 1
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
    mended = exponential_mechanism([[0, 1, 1], [1, 0, 0]], alpha="1/2")
    kept = smallest_epsilon(mended, discrete(2)).value <= level(alpha=F(1, 2)).epsilon_float
    yield extended("Proposition 7", "with half of eps the level is kept", "yes", "yes" if kept else "no")


def theorem_9() -> Iterator[Comparison]:
    """The least noise when the loss must be bounded by the distance."""
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
    law = Staircase(1, 1)
    fall = rounded(law.pdf(law.gamma - 1e-9) / law.pdf(law.gamma + 1e-9), 9)
    yield equal(
        "Section 2.3",
        "the staircase is not Lipschitz private",
        rounded(exp(1), 9),
        fall,
        shown=("discontinuous", f"falls by a factor {fall} at one point"),
    )
