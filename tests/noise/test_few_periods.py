"""Any cost on the reals at large epsilon: the optimal gamma and the cost, against sums of hundreds of digits."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from utmost.errors import OutOfRange, Unsupported
from utmost.noise import Staircase, costs, optimal_gamma

# Costs by their steps: ((threshold, height), ...), what an error beyond each threshold costs more.
STEPS = [
    ((Fraction(1, 2), 1),),
    ((Fraction(0.1), 1), (Fraction(0.7), 3)),  # as floats have them: the function that is given compares with floats
    ((Fraction(3, 8), 1), (Fraction(11, 8), 10**6), (Fraction(9, 4), 1)),
    ((Fraction(5, 2), 1),),
    ((Fraction(2), 1), (Fraction(21, 4), 1)),
]


def function_of(steps):
    return lambda x: sum(height * (np.abs(x) > float(at)) for at, height in steps) * 1.0


def step_cost(steps, epsilon, D, gamma):
    """log E L(X), in 450 digits: the sum of the heights times twice the tail at each threshold."""
    with mpmath.workdps(450):
        b, total = mpmath.exp(-mpmath.mpf(epsilon)), mpmath.mpf(0)
        for at, height in steps:
            place = at / D + 1 - gamma
            k = math.floor(place)
            t = place - k
            tail = b**k * (mpmath.mpf((1 - t).numerator) / (1 - t).denominator + b * t.numerator / t.denominator)
            total += height * tail
        g = mpmath.mpf(gamma.numerator) / gamma.denominator
        return mpmath.log(total / (g + b * (1 - g)))


@pytest.mark.parametrize(
    ("epsilon", "D", "steps"),
    [
        *((720, Fraction(3, 10), steps) for steps in STEPS[1::2]),
        *(
            pytest.param(e, D, steps, marks=pytest.mark.slow)
            for e in (12, 100, 720, 10**4)
            for D in (Fraction(1), Fraction(3, 10))
            for steps in STEPS
        ),
    ],
)
def test_no_step_is_missed(epsilon, steps, D):
    """V falls up to a step and rises from it, so gamma = 0, 1 and the steps modulo D are all that can be optimal.

    The gamma found costs what the best of them does, to one part in 10^9, and in no way what its other side does.
    """
    if (epsilon, D, steps) == (10**4, 1, STEPS[4]):  # V is least where gamma is e^-5000 or so, which is no float
        with pytest.raises(OutOfRange, match="largest float"):
            Staircase(epsilon, D, function_of(steps))
        return
    distribution = Staircase(epsilon, D, function_of(steps))
    candidates = {at / D - math.floor(at / D) for at, _ in steps} | {Fraction(1)}
    best = min(step_cost(steps, epsilon, D, gamma) for gamma in candidates if gamma)
    assert float(step_cost(steps, epsilon, D, Fraction(distribution.gamma)) - best) == pytest.approx(0, abs=1e-9)
    with mpmath.workdps(30):
        found = float(mpmath.exp(step_cost(steps, epsilon, D, Fraction(distribution.gamma))))
    assert distribution.expected_cost(function_of(steps)) == pytest.approx(found, rel=1e-11, abs=5e-324)


@pytest.mark.parametrize("epsilon", [pytest.param("1e-9", marks=pytest.mark.slow), "1e-3", 9, 11, 10**4])
def test_a_step_on_the_first_period_is_the_optimum(epsilon):
    """L = 1{|x| > 1/2}, D = 1: P(|X| > 1/2) is least, b/(1 + b) 2, where the first step ends just there."""
    distribution = Staircase(epsilon, 1, function_of(STEPS[0]))
    b = math.exp(-float(Fraction(epsilon)))
    assert distribution.gamma == pytest.approx(0.5, abs=1e-10)
    assert distribution.expected_cost(function_of(STEPS[0])) == pytest.approx(2 * b / (1 + b), rel=1e-9)
    if float(Fraction(epsilon)) > 1e-6:
        assert distribution.gamma == 0.5


@pytest.mark.parametrize("epsilon", [11, 1200])
def test_a_clipped_cost_costs_what_the_absolute_error_does(epsilon):
    """min(|x|, 3) and |x| differ by b^3: gamma = 1/(1 + e^(eps/2)), V = 1/(2 sinh(eps/2)), in 50 digits."""
    cost = lambda x: np.minimum(np.abs(x), 3.0)  # noqa: E731
    distribution, rel = Staircase(epsilon, 1, cost), 1e-9 if epsilon > 15 else 1e-7
    with mpmath.workdps(50):
        gamma, least = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon) / 2)), 1 / (2 * mpmath.sinh(mpmath.mpf(epsilon) / 2))
    assert distribution.gamma == pytest.approx(float(gamma), rel=rel)
    assert distribution.expected_cost(cost) == pytest.approx(float(least), rel=rel)


@pytest.mark.parametrize(
    ("m", "epsilon"),
    [(2, 9), (2, 11), *(pytest.param(m, e, marks=pytest.mark.slow) for m in (1, 3) for e in (9, 11, 30))],
)
def test_both_routes_find_one_gamma(m, epsilon):
    """All periods folded, period by period from epsilon 10 on, and the roots of polynomials agree."""
    cost = lambda x: np.abs(x) ** float(m)  # noqa: E731
    found, known = optimal_gamma(epsilon, "5/2", cost), optimal_gamma(epsilon, cost=costs.moment(m))
    assert found == pytest.approx(known, rel=1e-9)


def test_a_far_step_is_not_lost_to_rounding():
    """1000.25 has floats 1e-13 apart; gamma ends before the step all the same, at 4 and at 10^4."""
    for epsilon in (4, 10**4):
        assert optimal_gamma(epsilon, 1, lambda x: 1.0 * (abs(x) > 1000.25)) == 0.25


@pytest.mark.parametrize("epsilon", [9, 12])
def test_a_late_jump_is_weighed_by_its_height(epsilon):
    """|x| + 10^300 1{|x| > 20.3}: b^20 10^300 outweighs all before, and 0.3 is the gamma of the jump alone."""
    cost = lambda x: np.abs(x) + 1e300 * (np.abs(x) > 20.3)  # noqa: E731
    distribution = Staircase(epsilon, 1, cost)
    assert distribution.gamma == pytest.approx(0.3, abs=1e-12)
    assert distribution.expected_cost(cost) == pytest.approx(1e300 * 2 * float(distribution.ccdf(20.3)), rel=1e-9)


def test_terms_of_one_power_are_compared_at_any_epsilon():
    """L = 1{|x| > 0.9} + h 1{|x| > 1.1}: both are of order b; h = 1000 wants gamma 0.1, h = 1/1000 wants 0.9."""
    for epsilon, height, gamma in ((1000, 1000, 0.1), ("1e18", 0.001, 0.9)):
        cost = lambda x, h=height: 1.0 * (np.abs(x) > 0.9) + h * (np.abs(x) > 1.1)  # noqa: E731
        assert optimal_gamma(epsilon, 1, cost) == pytest.approx(gamma, abs=1e-12)


@pytest.mark.parametrize("epsilon", ["0.1", "5"])
def test_a_jump_is_found_where_its_chance_underflows(epsilon):
    """1{|x| > n + 0.3}, its chance below e^-1000; sums of zeros said 0 before."""
    n = math.ceil(1000 / float(epsilon))
    assert optimal_gamma(epsilon, 1, lambda x: 1.0 * (np.abs(x) > n + 0.3)) == pytest.approx(0.3, abs=1e-9)


def test_a_jump_whose_chance_is_no_float_is_refused():
    with pytest.raises(Unsupported, match="least float"):
        optimal_gamma("1e-4", 1, lambda x: 1.0 * (np.abs(x) > 1e9))


def test_costs_that_depend_on_no_gamma_get_one():
    for cost in (lambda x: 1.0 * (x != 0), lambda x: 2.0 + 0 * x, lambda x: np.floor(np.abs(x))):
        assert optimal_gamma(2000, 1, cost) == 0.5


def test_costs_whose_floats_tell_nothing_are_refused():
    """1 - e^-|x| is 0 in floats up to 1e-16, x^4 up to 1e-81; -expm1(-|x|) keeps its digits."""
    for cost in (lambda x: 1 - np.exp(-np.abs(x)), lambda x: np.minimum(x**4, 1)):
        with pytest.raises(Unsupported, match="more than rounding"):
            optimal_gamma(1000, 1, cost)
    assert optimal_gamma(1000, 1, lambda x: -np.expm1(-np.abs(x))) > 0
    with pytest.raises(Unsupported, match="finite"):
        optimal_gamma(20, 20, lambda x: np.exp(2 * np.abs(x)))
    with pytest.raises(OutOfRange, match="largest float"):
        Staircase(1300, 1, lambda x: np.minimum(np.abs(x), 3.0))
