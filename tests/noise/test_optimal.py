"""optimal_noise and gain: the least noise, and how much less it is."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import NotANumber, OutOfRange
from utmost.noise import DiscreteStaircase, Geometric, Laplace, Staircase, costs, gain, optimal_noise, relaxable_noise


def test_the_domain_and_the_sensitivity_decide_the_distribution():
    assert optimal_noise(1) == Geometric(1)
    assert optimal_noise(1, 5, costs.squared) == DiscreteStaircase(1, 5, costs.squared)
    assert optimal_noise(1, "5/2", costs.squared, "reals") == Staircase(1, "5/2", costs.squared)
    assert optimal_noise(alpha="1/2", sensitivity=1) == Geometric(alpha="1/2")
    assert "Theorem 11" in optimal_noise(1).theorem
    assert "Theorem 12" in optimal_noise(1, 5).theorem
    assert "Theorem 3" in optimal_noise(1, 5, numbers="reals").theorem


@given(st.sampled_from(["1e-6", "0.1", 1, 5, 50]), st.sampled_from([1, 3, 10**9]), st.integers(1, 3))
def test_the_optimum_gains_over_everything(epsilon, D, m):
    """No gain is below 1, over Laplace, geometric and half-step noise, on either domain."""
    integers, reals = optimal_noise(epsilon, D, costs.moment(m)), optimal_noise(epsilon, D, costs.moment(m), "reals")
    assert gain(integers, "geometric", costs.moment(m)) >= 1
    assert gain(reals, "laplace") >= 1
    assert gain(reals, Staircase.half_step(epsilon, D)) >= 1
    if D % 2:
        assert gain(integers, DiscreteStaircase.half_step(epsilon, D), costs.moment(m)) >= 1


def test_gains_survive_small_epsilon():
    """V(Laplace)/V = 1 + eps^2/24 + ...: no digit is lost to cancellation before the float itself."""
    assert gain(Staircase("1e-6")) - 1 == pytest.approx(1e-12 / 24, abs=4e-16)
    assert gain(Staircase("1e-3")) - 1 == pytest.approx(1e-6 / 24, rel=1e-6)


def test_the_cost_is_the_distributions_own_unless_another_is_named():
    distribution = Staircase(2, 1, costs.squared)
    assert gain(distribution) == gain(distribution, cost=costs.squared) != gain(distribution, cost=costs.absolute)
    assert gain(Geometric(1)) == gain(Geometric(1), cost=costs.absolute)
    assert gain(distribution, Laplace(1)) == pytest.approx(float(Laplace(1).variance() / distribution.variance()))
    assert gain(distribution, cost=lambda x: np.abs(x) ** 2.0) == pytest.approx(gain(distribution), rel=1e-11)
    assert gain(Geometric(alpha="1/2"), Geometric(alpha="3/4"), costs.squared) == 24 / 4
    assert Geometric(alpha=Fraction(3, 4)).variance() == 24


def test_half_step_overheads():
    """Against the optimum at epsilon 0.5, 1, 2: .05%, .72%, 9.6% (absolute) and .02%, .34%, 5.4% (squared)."""
    for epsilon, in_absolute, in_squared in ((0.5, 0.0005, 0.0002), (1, 0.0072, 0.0034), (2, 0.096, 0.054)):
        half = Staircase.half_step(epsilon)
        assert gain(Staircase(epsilon), half) - 1 == pytest.approx(in_absolute, rel=0.06)
        assert gain(Staircase(epsilon, cost=costs.squared), half) - 1 == pytest.approx(in_squared, rel=0.15)


@pytest.mark.parametrize("cost", [costs.absolute, costs.squared])
def test_what_lossless_noise_costs_on_the_integers(cost):
    """Up to epsilon = 1: the half step at most 1 % more for odd sensitivities, geometric noise at most 4.3 % for any.

    For an even sensitivity the half step protects one more: half as much again at 2. It is less than geometric noise
    up to a level of 2.5, and at sensitivity 3 no longer at 2.6.
    """
    for epsilon, D in itertools.product(["1/10", "1/2", 1], [2, 3, 4, 7, 10, 25, 1000]):
        best = DiscreteStaircase(epsilon, D, cost)
        assert gain(best, Geometric(epsilon, D)) < 1.043
        if D % 2:
            assert gain(best, DiscreteStaircase.half_step(epsilon, D)) < 1.01
    assert gain(DiscreteStaircase("1/2", 2), DiscreteStaircase.half_step("1/2", 3)) == pytest.approx(1.5, abs=0.01)
    for D in (3, 7, 101):
        assert gain(DiscreteStaircase.half_step("5/2", D), Geometric("5/2", D), cost) > 1
    assert gain(DiscreteStaircase.half_step("2.6", 3), Geometric("2.6", 3), costs.absolute) < 1


@given(
    st.sampled_from(["1e-6", "0.1", 1, 3, 6, 50]), st.integers(1, 60), st.sampled_from([costs.absolute, costs.squared])
)
def test_relaxable_noise_is_the_cheapest_of_the_lossless_distributions(epsilon, D, cost):
    """And it keeps the level for the sensitivity asked, which an even one rounded up still does."""
    distribution = relaxable_noise(epsilon, D, cost)
    others = [Geometric(epsilon, D), DiscreteStaircase.half_step(epsilon, D | 1)]
    assert distribution.expected_cost(cost) == min(other.expected_cost(cost) for other in others)
    assert distribution.sensitivity >= D
    assert "more accurate later" in distribution.theorem
    real = relaxable_noise(epsilon, D, cost, "reals")
    assert real in (Laplace(epsilon, D), Staircase.half_step(epsilon, D))
    assert gain(real, "laplace", cost) >= 1


def test_relaxable_noise_knows_its_domains():
    with pytest.raises(OutOfRange, match="numbers"):
        relaxable_noise(1, numbers="naturals")
    with pytest.raises(NotANumber):
        relaxable_noise(1, "5/2")
    assert relaxable_noise(8, numbers="reals") == Laplace(8)
