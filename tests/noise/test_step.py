"""The optimal step: against full scans, the closed form, a linear program, and certain bounds."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import coo_array

from utmost.errors import NotMonotone
from utmost.exact import level
from utmost.noise import DiscreteStaircase, Staircase, costs, optimal_gamma, optimal_noise, optimal_step

epsilons = st.sampled_from(["1e-6", "0.01", "0.3", 1, 2, 5, 10, 50])
alphas = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20)


def clipped(x):
    return min(abs(x), 3)


def beyond_two(x):
    return abs(x) >= 2


def three_halves(x):
    return np.abs(x) ** 1.5


FIVE_COSTS = [costs.absolute, costs.squared, clipped, beyond_two, three_halves]


# The theorem


@given(alphas, st.integers(1, 60), st.integers(1, 4))
def test_no_step_costs_less_and_ties_go_to_the_least(alpha, D, m):
    """A full scan in fractions."""
    prices = [DiscreteStaircase(alpha=alpha, sensitivity=D, step=r).moment(m) for r in range(1, D + 1)]
    assert optimal_step(alpha=alpha, sensitivity=D, cost=costs.moment(m)) == 1 + prices.index(min(prices))


@given(epsilons, st.integers(1, 10**9))
def test_the_closed_form_of_the_absolute_error(epsilon, D):
    """r = ceil(D/(1 + e^(eps/2))), decided by intervals."""
    half = level(epsilon).scaled("1/2").alpha_interval(200)
    quotient = D * half / (1 + half)
    assert math.ceil(quotient.lower) == math.ceil(quotient.upper)
    assert optimal_step(epsilon, D) == math.ceil(quotient.lower)


def test_a_tie_is_seen():
    """At eps = 2 ln((D - r)/r) the steps r and r + 1 cost the same; just beside it they do not."""
    alpha = Fraction(4, 9)  # D = 5, r = 2: e^(-eps/2) = r/(D - r)
    assert DiscreteStaircase(alpha=alpha, sensitivity=5, step=2).moment(1) == Fraction(
        DiscreteStaircase(alpha=alpha, sensitivity=5, step=3).moment(1)
    )
    assert optimal_step(alpha=alpha, sensitivity=5) == 2
    assert optimal_step(alpha=alpha + Fraction(1, 10**40), sensitivity=5) == 3
    assert optimal_step(alpha=alpha, sensitivity=5 * 10**8) == 2 * 10**8


@pytest.mark.parametrize("epsilon", ["1e-6", "0.01", "0.5", 1, 3, 10, 50])
def test_sensitivity_two_always_takes_the_first_step(epsilon):
    assert optimal_step(epsilon, 2, costs.absolute) == optimal_step(epsilon, 2, costs.squared) == 1


@given(epsilons, st.integers(2, 10**9), st.integers(1, 4))
def test_neighbouring_steps_cost_no_less_at_any_sensitivity(epsilon, D, m):
    """V(r) <= V(r - 1) and V(r) <= V(r + 1), to the rounding of their closed forms."""
    best = DiscreteStaircase(epsilon, D, costs.moment(m))
    for r in (best.step - 1, best.step + 1):
        if 1 <= r <= D:
            assert best.moment(m) <= DiscreteStaircase(epsilon, D, step=r).moment(m) * (1 + 1e-14)


def test_the_step_follows_gamma():
    """(r - 1/2)/D approaches gamma* of the same cost as D grows."""
    for cost in (costs.absolute, costs.squared, costs.moment(3)):
        r = optimal_step(2, 10**9, cost)
        assert (r - 0.5) / 1e9 == pytest.approx(optimal_gamma(2, cost=cost), abs=1e-8)


# Any cost


@given(st.sampled_from([0.3, 1, 3, 8]), st.integers(1, 60), st.sampled_from(FIVE_COSTS))
def test_functions_find_the_least_of_a_full_scan(epsilon, D, cost):
    """Every step's expected cost summed term by term."""
    x = np.arange(math.ceil(45 / epsilon) * D)
    values = np.array([float(cost(int(i))) for i in x])
    prices = []
    for r in range(1, D + 1):
        p = DiscreteStaircase(epsilon, D, step=r).pmf(x)
        prices.append(2 * np.sum(p[1:] * values[1:]) + p[0] * values[0])
    best = optimal_step(epsilon, D, cost)
    assert prices[best - 1] <= min(prices) * (1 + 1e-12)
    assert DiscreteStaircase(epsilon, D, cost).expected_cost(cost) == pytest.approx(prices[best - 1], rel=1e-12)


@given(st.sampled_from([0.3, 1, 3]), st.integers(1, 500), st.sampled_from([1.0, 1e3, 1e5]))
def test_a_constant_added_to_the_cost_changes_nothing(epsilon, D, constant):
    """The atom at zero counts once."""
    found = optimal_step(epsilon, D, lambda x: np.abs(x) + constant)
    prices = [DiscreteStaircase(epsilon, D, step=r).moment(1) + constant for r in (found, optimal_step(epsilon, D))]
    assert prices[0] <= prices[1] * (1 + 1e-12)


@settings(max_examples=5)
@given(st.sampled_from(["0.01", 1, 9]), st.sampled_from([1000, 10**6, 10**9]), st.sampled_from([1, 2, 4]))
def test_functions_find_the_step_of_the_moment_they_are(epsilon, D, m):
    """Up to steps whose costs agree to one part in 10^12."""
    found, best = optimal_step(epsilon, D, lambda x: np.abs(x) ** float(m)), optimal_step(epsilon, D, costs.moment(m))
    assert abs(found - best) <= 1 + 1e-9 * D
    prices = [DiscreteStaircase(epsilon, D, step=r).moment(m) for r in (found, best)]
    assert prices[0] <= prices[1] * (1 + 1e-12)


@pytest.mark.parametrize("D", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("epsilon", [0.7, 2.5])
@pytest.mark.parametrize("cost", FIVE_COSTS)
def test_theorem_12_against_a_linear_program(D, epsilon, cost):
    """No symmetric noise of that level costs less: all p(i), i < n D, free, beyond them a geometric tail."""
    b, size = math.exp(-epsilon), math.ceil(24 / epsilon) * D
    scale = b ** (np.arange(size) / D)  # p(i) = scale y(i), or the solver's tolerance would buy the tail
    values = np.array([float(cost(i)) for i in range(size + D * 200)])
    tail = [sum(b**k * values[size + j - D + k * D] for k in range(1, 200)) for j in range(D)]
    objective, mass = 2.0 * values[:size], np.full(size, 2.0)
    objective[0], mass[0] = objective[0] / 2, 1.0
    objective[-D:] += 2 * np.array(tail)
    mass[-D:] += 2 * b / (1 - b)
    pairs = {(abs(i), abs(i + s)) for i in range(-D, size) for s in range(1, D + 1) if i + s < size}
    ordered = np.array(sorted((x, y) for pair in pairs for x, y in (pair, pair[::-1]) if x != y))
    rows, (x, y) = np.arange(len(ordered)), ordered.T
    ratios = coo_array((b * scale[x] / scale[y], (rows, x)), (len(rows), size))
    ones = coo_array((np.ones(len(rows)), (rows, y)), (len(rows), size))
    found = linprog(
        objective * scale,
        A_ub=(ratios - ones).tocsr(),  # b p(x) <= p(y)
        b_ub=np.zeros(len(rows)),
        A_eq=[mass * scale],
        b_eq=[1.0],
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0
    assert DiscreteStaircase(epsilon, D, cost).expected_cost(cost) == pytest.approx(found.fun, rel=1e-8)


@pytest.mark.parametrize("epsilon", [699, 707])
def test_bounded_costs_are_served_as_long_as_powers_are_floats(epsilon):
    """min(|x|, 3) wants step 1, an error bar of 2 all steps up to 3, at levels where only one period counts."""
    assert DiscreteStaircase(epsilon, 5, lambda x: np.minimum(abs(x), 3)).step == 1
    assert DiscreteStaircase(epsilon, 5, lambda x: 1.0 * (abs(x) > 2)).step == 3
    assert Staircase(epsilon, 1, lambda x: 1.0 * (abs(x) > 0.1)).gamma == pytest.approx(0.1)


def test_so_they_are_beyond():
    assert DiscreteStaircase(800, 5, lambda x: np.minimum(abs(x), 3)).step == 1
    assert DiscreteStaircase(800, 5, lambda x: 1.0 * (abs(x) > 2)).step == 3
    assert Staircase(800, 5, lambda x: 1.0 * (abs(x) > 2)).gamma == pytest.approx(0.4, rel=1e-15)


def _but_free_at(*places):
    return lambda x: 0 if abs(x) in places else abs(x)


@pytest.mark.parametrize("places", [(10,), (37,), (110,), (10, 11, 13, 14, 16, 17)])
def test_a_cost_that_falls_at_one_integer_is_refused(places):
    """Every integer with a probability that matters is checked, also for geometric noise and a step of the caller."""
    cost = _but_free_at(*places)
    for make in (
        lambda: optimal_noise(1, 3, cost),
        lambda: optimal_step(1, 3, cost),
        lambda: DiscreteStaircase(1, 3, cost, step=2),
        lambda: optimal_noise("1/3", 1, cost),
    ):
        with pytest.raises(NotMonotone, match=f"0.0 at {places[0]}"):
            make()


def test_the_claim_for_a_function_says_how_far_it_was_checked():
    assert "never decreases as errors grow, checked up to 120;" in optimal_noise(1, 3, _but_free_at()).theorem
    assert "checked up to 16384)" in DiscreteStaircase("1/1000", 20, lambda x: min(abs(x), 3)).theorem
    assert "never decreases as errors grow)" in optimal_noise(1, 3, lambda x: min(abs(x), 3), numbers="reals").theorem
    assert "(absolute, squared)" in optimal_noise(1, 2).theorem
