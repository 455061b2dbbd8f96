"""Any cost on the integers at large epsilon: the optimal step and the cost, against many digits and fractions."""

import math
from fractions import Fraction
from itertools import cycle, product

import mpmath
import numpy as np
import pytest

from utmost.errors import NotALoss, Unsupported
from utmost.noise import DiscreteStaircase, Geometric, costs, optimal_step

# Costs by their steps: ((threshold, height), ...), what an error beyond each threshold costs more.
STEPS = [
    ((2, 1),),
    ((0, 1), (2, 1)),
    ((3, 1), (11, 10**6), (18, 1)),
    ((14, 0.125),),  # at epsilon 300 a sum over all periods underflows, and took step 1
    ((4, 1e-3), (6, 1e300), (20, 1e100)),
    ((9, 1), (25, 1e300)),
    ((1, 1), (5, 1), (8, 2.5)),
]


def function_of(steps):
    return lambda x: sum(height * (np.abs(x) > at) for at, height in steps) * 1.0


def longer(*values):
    """Values between those of the default run, for the long proofs."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


def costs_of_steps(steps, b, D):
    """E L(X) of each staircase: the heights times twice the tail beyond each threshold."""
    found = []
    for r in range(1, D + 1):
        total = 0
        for at, height in steps:
            k, j = divmod(at + 1 + D - r, D)
            total = total + Fraction(height).numerator * 2 * b**k * ((D - j) + b * j) / Fraction(height).denominator
        found.append(total / ((2 * r - 1) + b * (2 * (D - r) + 1)))
    return found


@pytest.mark.parametrize(
    ("steps", "epsilon"),
    [
        *zip(STEPS, cycle([10, 709, 3000])),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in product(STEPS, [10, 12, 300, 707, 709, 800, 3000])),
    ],
)
def test_no_step_costs_less_in_hundreds_of_digits(steps, epsilon):
    """A full scan of all steps, with b = exp(-epsilon) to 9000 digits and more."""
    for D in (1, 3, 30):
        with mpmath.workdps(int(60 + (26 // D + 3) * epsilon / 2.3)):
            prices = costs_of_steps(steps, mpmath.exp(-epsilon), D)
            least = min(prices)
            distribution = DiscreteStaircase(epsilon, D, function_of(steps))
            assert prices[distribution.step - 1] <= least * (1 + mpmath.mpf(10) ** -12)
            found = distribution.expected_cost(function_of(steps))
            assert abs(found - least) <= least * mpmath.mpf(10) ** -11 + 5e-324


@pytest.mark.parametrize("exponent", [5, 310, 400, 3000])
@pytest.mark.parametrize("D", [1, 2, 5, 12])
def test_rational_levels_agree_with_fractions(exponent, D):
    """alpha = 10^-exponent, exact: the least step of least cost, ties included; epsilon is up to 6908."""
    b = Fraction(1, 10**exponent)
    for steps in STEPS[:4]:
        prices = costs_of_steps(steps, b, D)
        assert optimal_step(alpha=b, sensitivity=D, cost=function_of(steps)) == 1 + prices.index(min(prices))


def test_ties_go_to_the_least_step():
    """D = 2, L = 1{|x| > 1}: V(1) = 2b/(1 + 3b) > V(2) = b (1 + b)/(3 + b); and constant costs take step 1."""
    assert optimal_step(1000, 2, lambda x: 1.0 * (np.abs(x) > 1)) == 2
    for D in (1, 2, 9, 10**6):
        assert optimal_step(1000, D, lambda x: 2.0 + 0 * x) == 1
        assert optimal_step(1000, D, lambda x: 1.0 * (x != 0)) == 1
        assert optimal_step(1000, D, lambda x, D=D: np.floor(np.abs(x) / D)) == D
    # 2 c_1 = 2 (phi_1 - psi_0) = 0: step 2 gains b^2 psi_1 on step 1, and so is taken, at levels whose b is no float
    steps = ((2, 1), (4, 1), (5, 5))
    with mpmath.workdps(9000):
        prices = costs_of_steps(steps, mpmath.exp(-3000), 3)
        assert optimal_step(3000, 3, function_of(steps)) == 1 + prices.index(min(prices))


@pytest.mark.parametrize("epsilon", ["10", "1e20", *longer("11", "30", "300", "720", "1e4")])
@pytest.mark.parametrize("D", [5, 4096, 4097, 10**9])
def test_functions_find_the_step_of_the_moment_they_are_at_every_epsilon(epsilon, D):
    """|x| and x^4 as functions, and by the exact signs of polynomials; and the cost in closed form."""
    for m in (1, 4):
        cost = lambda x, m=m: np.abs(x) ** float(m)  # noqa: E731
        distribution, best = DiscreteStaircase(epsilon, D, cost), optimal_step(epsilon, D, costs.moment(m))
        assert abs(distribution.step - best) <= (0 if D <= 4096 else 1 + 1e-9 * D)
        known = float(DiscreteStaircase(epsilon, D, step=distribution.step).moment(m))
        assert distribution.expected_cost(cost) == pytest.approx(known, rel=1e-11, abs=5e-324)


@pytest.mark.parametrize("cost", [lambda x: np.minimum(np.abs(x), 7.0), lambda x: min(abs(x), 40) ** 1.5])
@pytest.mark.parametrize("D", [3, 50, 5000])
def test_both_routes_find_one_step_where_one_gives_way_to_the_other(cost, D):
    assert optimal_step("9.9999999999", D, cost) == optimal_step("10.0000000001", D, cost)


def test_the_geometric_distribution_costs_what_its_sum_says():
    """E 1{|X| > 2} = 2 b^3/(1 + b), and a clipped cost, at levels where b is and is not a float."""
    for epsilon in (11, 200, 600, 800):
        with mpmath.workdps(50):
            b = mpmath.exp(-mpmath.mpf(epsilon))
            wanted = float(2 * b**3 / (1 + b)), float(2 * b / (1 - b) * (1 - b**3) / (1 + b))
        prices = lambda x: 1.0 * (abs(x) > 2), lambda x: np.minimum(np.abs(x), 3.0)
        for cost, value in zip(prices, wanted, strict=True):
            assert Geometric(epsilon).expected_cost(cost) == pytest.approx(value, rel=1e-12, abs=5e-324)


def test_tables_of_costs_are_served_beyond_708():
    cost = costs.tabled({0: 0, 2: 0, 3: 1, 100: "1e6"})
    assert optimal_step(900, 5, cost) == 3
    assert DiscreteStaircase(900, 5, cost).expected_cost(costs.absolute) > 0


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "5", "50"])
def test_an_error_that_costs_far_away_is_not_lost_to_underflow(epsilon):
    """L = 1{|x| >= n D + 2}, its chance below e^-1000: step 2 ends a step just there; sums of zeros said 1 before."""
    n = math.ceil(1000 / float(epsilon))
    assert optimal_step(epsilon, 5, lambda x: 1.0 * (np.abs(x) >= 5 * n + 2)) == 2
    assert DiscreteStaircase(epsilon, 5, step=2).expected_cost(lambda x: 1.0 * (np.abs(x) >= 5 * n + 2)) == 0


def test_what_cannot_be_told_is_refused():
    far = lambda x: 1.0 * (np.abs(x) > 10**9)  # noqa: E731
    with pytest.raises(Unsupported, match="least float"):
        optimal_step("1e-4", 5, far)
    with pytest.raises(Unsupported, match="more than rounding"):  # 1 - e^-t is 0 in floats up to t = 1e-16
        optimal_step(1000, 10**18, lambda x: 1 - np.exp(-np.abs(x) / 5e16))
    assert optimal_step(1000, 10**18, lambda x: -np.expm1(-np.abs(x) / 5e16)) == 1
    with pytest.raises(Unsupported, match="finite"):
        optimal_step(20, 20, lambda x: np.exp(2 * np.abs(x)))
    with pytest.raises(NotALoss, match="even"):
        optimal_step(800, 5, lambda x: max(x, 0))
    for epsilon in (1, 1000):
        with pytest.raises(Unsupported, match="at most 2\\^60"):
            optimal_step(epsilon, 10**30, lambda x: 1.0 * (x != 0))
        with pytest.raises(Unsupported, match="at most 2\\^60"):
            DiscreteStaircase(epsilon, 10**30).expected_cost(lambda x: 1.0 * (x != 0))
