"""The optimal gamma: Theorems 4, 6 and 8, Corollaries 5 and 7, and the identity V = E L((G + gamma) D)."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.exact import level, nearest
from utmost.noise import Laplace, Staircase, costs, heuristic_gamma, optimal_gamma

epsilons = st.sampled_from(["1e-6", "0.01", "0.3", 1, 2, 5, 10, 25, 50])


def clipped(x):
    return np.minimum(np.abs(x), 3.0)


def beyond_two(x):
    return (np.abs(x) >= 2) * 1.0


def root(x):
    return np.abs(x) ** 0.5


def clipped_scalar(x):
    return min(abs(x), 3)


# The theorems


@given(epsilons, st.sampled_from([1, "2.5", 10**9]))
def test_theorem_4(epsilon, D):
    """gamma* = 1/(1 + e^(eps/2)) and V = D/(2 sinh(eps/2)) for the absolute error."""
    distribution, e = Staircase(epsilon, D), float(Fraction(str(epsilon)))
    assert distribution.gamma == pytest.approx(1 / (1 + math.exp(e / 2)), rel=1e-15)
    assert distribution.moment(1) == pytest.approx(float(Fraction(str(D))) / (2 * math.sinh(e / 2)), rel=2e-15)


@given(epsilons, st.sampled_from([1, "2.5", 10**9]))
def test_theorem_6(epsilon, D):
    """V = D^2 (1 + cosh(eps/2)^(2/3))/(4 sinh(eps/2)^2) for the squared error."""
    distribution, e, width = (
        Staircase(epsilon, D, costs.squared),
        float(Fraction(str(epsilon))),
        float(Fraction(str(D))),
    )
    expected = width**2 * (1 + math.cosh(e / 2) ** (2 / 3)) / (4 * math.sinh(e / 2) ** 2)
    assert distribution.variance() == pytest.approx(expected, rel=1e-14)
    b = math.exp(-e)
    if e >= 1:
        printed = -b / (1 - b) + (b - 2 * b**2 + 2 * b**4 - b**5) ** (1 / 3) / (2 ** (1 / 3) * (1 - b) ** 2)
        assert distribution.gamma == pytest.approx(printed, rel=1e-9)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
def test_theorem_8(m):
    """gamma* -> 1/2 as eps -> 0, with slope -1/8 (m = 1) or -1/12; gamma* ~ (b/m)^(1/(m+1)) as eps -> infinity."""
    slope = Fraction(-1, 8) if m == 1 else Fraction(-1, 12)
    assert (optimal_gamma("1e-4", cost=costs.moment(m)) - 0.5) / 1e-4 == pytest.approx(float(slope), rel=1e-3)
    limit = (math.exp(-200) / m) ** (1 / (m + 1))
    assert optimal_gamma(200, cost=costs.moment(m)) == pytest.approx(limit, rel=1e-6)
    assert Staircase(200, cost=costs.moment(m)).moment(m) == pytest.approx(
        (math.exp(-200) / m) ** (m / (m + 1)), rel=1e-6
    )


@given(
    st.sampled_from(["0.05", 1, 4, 12]), st.integers(1, 7), st.sampled_from(["0.9", "0.9999999", "1.0000001", "1.1"])
)
def test_no_other_gamma_costs_less(epsilon, m, factor):
    best = Staircase(epsilon, cost=costs.moment(m))
    other = Staircase(epsilon, gamma=Fraction(best.gamma) * Fraction(factor))
    costs_of = [distribution.moment_interval(m, 300) for distribution in (best, other)]
    assert costs_of[0].upper < costs_of[1].lower


@given(st.sampled_from(["0.01", 1, 4, 20]), st.integers(1, 5))
def test_the_optimum_is_the_folded_cost_at_its_edge(epsilon, m):
    """V(gamma*) = E L((G + gamma*) D), in closed form."""
    distribution = Staircase(epsilon, 2, costs.moment(m))
    b, g, terms = float(distribution.alpha), distribution.gamma, range(60_000)
    k = np.array(terms, dtype=float)
    folded = np.sum((1 - b) * np.exp(-k * distribution.level.epsilon_float) * (2 * (k + g)) ** m)
    assert distribution.moment(m) == pytest.approx(folded, rel=1e-9)


# Any cost


@pytest.mark.parametrize(("epsilon", "m"), [(0.1, 1), (0.1, 3), (1, 2), (5, 1), (20, 3)])
def test_a_function_leads_to_the_gamma_of_the_moment_it_is(epsilon, m):
    found = optimal_gamma(epsilon, "2.5", lambda x: np.abs(x) ** float(m))
    assert found == pytest.approx(optimal_gamma(epsilon, cost=costs.moment(m)), rel=1e-10)


@pytest.mark.parametrize(
    ("epsilon", "D", "cost"),
    [(0.5, "7", clipped), (0.5, "7", root), (4, "1.5", beyond_two), (4, "1.5", clipped_scalar)],
)
def test_the_search_finds_the_least_cost(epsilon, D, cost):
    """No gamma on a grid costs less."""
    distribution = Staircase(epsilon, D, cost)
    least = distribution.expected_cost(cost)
    for g in np.linspace(0.02, 0.98, 5):
        assert Staircase(epsilon, D, gamma=float(g)).expected_cost(cost) >= least * (1 - 1e-11)


def test_a_jump_of_the_folded_cost_is_found():
    """D = 3/2 and L = 1{|x| >= 2}: M jumps where 2 = (1 + gamma) D, at gamma = 1/3, and there V turns."""
    assert optimal_gamma(1, "3/2", beyond_two) == pytest.approx(1 / 3, rel=1e-12)


def test_where_the_cost_does_not_depend_on_gamma_any_gamma_is_taken():
    """D = 1 and L = 1{|x| >= 2}: every staircase has P(|X| >= 2) = b^2."""
    distribution = Staircase(1, 1, beyond_two)
    assert distribution.expected_cost(beyond_two) == pytest.approx(math.exp(-2), rel=1e-12)
    assert Staircase(1, 1, gamma=0.9).expected_cost(beyond_two) == pytest.approx(math.exp(-2), rel=1e-12)


# The heuristic


def test_the_heuristic_puts_a_third_on_the_first_step():
    """P(|X| <= gamma D) = (1 - b)/(3 - b) for gamma = b/2."""
    for epsilon in (0.5, 2, 8):
        distribution = Staircase(epsilon, gamma=heuristic_gamma(epsilon))
        b = float(distribution.alpha)
        assert 1 - 2 * distribution.ccdf(distribution.gamma) == pytest.approx((1 - b) / (3 - b), rel=1e-12)


def test_the_heuristic_does_not_perform_well_in_low_privacy():
    """Erratum to Section V-B: E|X| tends to D/3 and E X^2 to 2 D^2/9, worse than Laplace from 1.6069 and 1.2151 on."""
    distribution = Staircase(60, 3, gamma=heuristic_gamma(60))
    assert distribution.moment(1) == pytest.approx(1.0, rel=1e-12)
    assert distribution.variance() == pytest.approx(2.0, rel=1e-12)
    for cost, threshold in ((costs.absolute, 1.606857), (costs.squared, 1.215050)):
        for factor, sign in ((1 - 1e-6, 1), (1 + 1e-6, -1)):
            e = threshold * factor
            loss = Laplace(e).expected_cost(cost) - Staircase(e, gamma=heuristic_gamma(e)).expected_cost(cost)
            assert loss * sign > 0


def test_a_level_and_its_alpha_have_one_gamma():
    assert optimal_gamma(level(1)) == optimal_gamma(alpha=level(1).alpha) == nearest(Fraction(optimal_gamma(1)))
