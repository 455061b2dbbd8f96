from fractions import Fraction

import pytest

# The linear program over all noise is the second route to the distributions that are public.
from utmost.design.optima.noise_program import least_noise, noise_bound
from utmost.design.optima.periodic_noise import PeriodicNoise, averaged_translates
from utmost.errors import OutOfRange
from utmost.noise import DiscreteStaircase, Geometric, costs

ALPHAS = ["1/10", "1/3", "1/2", "4/5"]
EPSILONS = ["0.3", "1", "2", "3.5"]


def capped(x):
    return min(abs(x), 3)


def far(x):
    return int(abs(x) >= 2)


EXACT_COSTS = [(costs.absolute, None), (costs.squared, None), (capped, 3), (far, 2)]
COSTS = [cost for cost, _ in EXACT_COSTS] + [costs.moment("3/2")]


def cheapest_staircase(D, cost, constant_from, **promise):
    """min over r of E L(X), each sum exact: the right side of Theorem 12."""
    distributions = (DiscreteStaircase(sensitivity=D, step=r, **promise) for r in range(1, D + 1))
    return min(
        PeriodicNoise.of_distribution(distribution).worst_cost(cost, constant_from) for distribution in distributions
    )


# ---- distributions


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("cost", "constant_from"), EXACT_COSTS)
def test_theorem_11_no_noise_for_counts_costs_less_than_geometric(alpha, cost, constant_from):
    """Exact equality between the linear program's optimum and the geometric distribution, in rationals."""
    geometric = PeriodicNoise.of_distribution(Geometric(alpha=alpha)).worst_cost(cost, constant_from)
    assert least_noise(cost, 1, alpha=alpha, window=4, constant_from=constant_from).cost == geometric


@pytest.mark.parametrize("D", [2, 5])
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("cost", "constant_from"), EXACT_COSTS)
def test_theorem_12_no_noise_costs_less_than_the_best_staircase(D, alpha, cost, constant_from):
    """Exact equality in rationals, and the noise found keeps the level with equality."""
    found = least_noise(cost, D, alpha=alpha, constant_from=constant_from)
    assert found.cost == cheapest_staircase(D, cost, constant_from, alpha=alpha)
    assert found.noise.worst_ratio(D) == Fraction(alpha)
    assert found.noise.worst_cost(cost, constant_from) == found.cost


@pytest.mark.parametrize("D", [1, 3, 5])
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("cost", COSTS)
def test_theorems_11_and_12_for_irrational_alpha_and_the_step_that_the_distribution_chooses(D, epsilon, cost):
    """The distribution that the library would pick for the cost has the program's cost up to a part in 10^10."""
    distribution = DiscreteStaircase(epsilon=epsilon, sensitivity=D, cost=cost)
    assert least_noise(cost, D, epsilon=epsilon).cost == pytest.approx(distribution.expected_cost(cost), rel=1e-10)


# ---- tightness: no tail was assumed in vain


@pytest.mark.parametrize(("D", "window"), [(1, 20), (2, 24), (3, 33), (5, 45)])
@pytest.mark.parametrize("cost", [costs.absolute, capped])
def test_no_noise_whatever_its_tails_beats_the_staircase(D, window, cost):
    """The program without tails bounds all noise from below, exactly, and leaves a gap of about alpha^(w/D)."""
    bound, best = (
        noise_bound(cost, D, alpha="1/10", window=window),
        least_noise(cost, D, alpha="1/10", constant_from=3).cost,
    )
    assert bound <= cheapest_staircase(D, cost, 3 if cost is capped else None, alpha="1/10")
    if cost is capped:
        assert best - bound < Fraction(1, 10) ** (window // D) * 10


def test_the_bound_rises_with_the_window_and_the_optimum_stays():
    bounds = [noise_bound(costs.absolute, 2, alpha="1/3", window=w) for w in (2, 4, 8, 24)]
    optima = [least_noise(costs.absolute, 2, alpha="1/3", window=w).cost for w in (3, 4, 8)]
    assert bounds == sorted(bounds)
    assert len(set(optima)) == 1
    assert bounds[-1] < optima[0] < bounds[-1] + Fraction(1, 10_000)


# ---- query dependence: Theorem 10


@pytest.mark.parametrize("outputs", [2, 4])
@pytest.mark.parametrize("D", [1, 2, 3])
@pytest.mark.parametrize(("cost", "constant_from"), EXACT_COSTS[::2])
def test_nothing_is_gained_when_the_noise_may_depend_on_the_output(outputs, D, cost, constant_from):
    """Over all families of period T the optimum is that of independent noise, exactly; so is the open bound."""
    alone = least_noise(cost, D, alpha="1/3", constant_from=constant_from)
    family = least_noise(cost, D, alpha="1/3", constant_from=constant_from, outputs=outputs)
    assert family.cost == alone.cost
    average = averaged_translates(family.noise, D, alpha="1/3")
    assert average.worst_cost(cost, constant_from) == alone.cost
    open_bound = noise_bound(cost, D, alpha="1/3", window=2 * D + 2, outputs=outputs)
    assert open_bound == noise_bound(cost, D, alpha="1/3", window=2 * D + 2)


@pytest.mark.parametrize("outputs", [2, 4])
@pytest.mark.parametrize("cost", COSTS)
def test_nothing_is_gained_at_irrational_levels_either(outputs, cost):
    family = least_noise(cost, 2, epsilon=1, outputs=outputs).cost
    assert family == pytest.approx(least_noise(cost, 2, epsilon=1).cost, rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [1, 3, 4])
def test_nothing_is_gained_over_a_wide_window(outputs):
    """Period up to 4, D = 5: bound and optimum enclose the truth within 1e-9."""
    best = DiscreteStaircase(alpha="1/10", sensitivity=5).moment(1)
    bound = noise_bound(costs.absolute, 5, alpha="1/10", window=60, outputs=outputs)
    assert bound < best < bound + Fraction(1, 10**9)


# ---- refusals


@pytest.mark.parametrize("wrong", [{"sensitivity": 0}, {"window": 1, "sensitivity": 2}, {"outputs": 0}])
def test_the_program_needs_room(wrong):
    with pytest.raises(OutOfRange):
        least_noise(costs.absolute, alpha="1/2", **wrong)
    with pytest.raises(OutOfRange):
        noise_bound(costs.absolute, alpha="1/2", **wrong)
