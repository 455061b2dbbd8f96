from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.finite_pairs import integer_pair, real_pair
from privacy.strategies import distributions, integer_distributions, staircases
from utmost.errors import PromiseBroken
from utmost.exact import Level, level
from utmost.noise import DiscreteStaircase, Geometric, Laplace, Staircase
from utmost.privacy_types import check_promise, smallest_level


def largest_ratio(rows):
    return max(max(p / q, q / p) for p, q in zip(*rows, strict=True))


# ---- distributions


@given(integer_distributions(), st.integers(1, 14))
def test_the_kept_level_is_the_largest_likelihood_ratio_over_all_outcomes(distribution, shift):
    """e^epsilon = max over y of P(X + s = y) / P(X = y): attained, not only bounded, at every shift."""
    assert smallest_level(distribution, shift) == Level.of_alpha(1 / largest_ratio(integer_pair(distribution, shift)))


@given(staircases(), st.integers(1, 20))
def test_the_kept_level_of_a_real_staircase_is_the_largest_ratio_over_all_cells(distribution, n):
    shift = Fraction(n, 5) * distribution.sensitivity
    assert smallest_level(distribution, shift) == Level.of_alpha(1 / largest_ratio(real_pair(distribution, shift)))


@given(distributions, st.integers(1, 10**9))
def test_beyond_the_sensitivity_staircases_pay_by_whole_sensitivities_and_laplace_by_the_length(distribution, shift):
    """ceil(s / D) epsilon, or s / D times epsilon: groups of individuals are protected less."""
    times = Fraction(shift) / distribution.sensitivity
    if isinstance(distribution, DiscreteStaircase | Staircase):
        times = ceil(times)
    assert (
        smallest_level(distribution, shift) == smallest_level(distribution, -shift) == distribution.level.scaled(times)
    )


@given(distributions)
def test_every_distribution_keeps_its_promise_with_equality(distribution):
    check_promise(distribution)


@pytest.mark.parametrize("epsilon", ["1e-6", "0.1", 1, 50, level(alpha="1/2"), level(alpha="1/2").scaled("1/3")])
@pytest.mark.parametrize("D", [1, 2, 5, 10**9])
def test_every_distribution_of_every_size_keeps_its_promise(epsilon, D):
    for distribution in (
        Geometric(epsilon, D),
        DiscreteStaircase(epsilon, D),
        Staircase(epsilon, D),
        Laplace(epsilon, D),
    ):
        check_promise(distribution)


# ---- tightness


@pytest.mark.parametrize("epsilon", ["1e-6", 1, level(alpha="1/2")])
def test_a_promise_missed_by_one_part_in_a_trillion_is_refused_on_either_side(epsilon):
    distribution = Staircase(epsilon, sensitivity=2)
    with pytest.raises(PromiseBroken, match="more noise"):
        check_promise(distribution, distribution.level.scaled(1 - Fraction(1, 10**12)))
    with pytest.raises(PromiseBroken, match="less noise"):
        check_promise(distribution, distribution.level.scaled(1 + Fraction(1, 10**12)))


def test_a_distribution_for_a_smaller_sensitivity_breaks_the_promise_and_one_for_a_larger_wastes_noise():
    with pytest.raises(PromiseBroken, match="more noise"):
        check_promise(DiscreteStaircase(epsilon=1, sensitivity=3), shift=4)
    with pytest.raises(PromiseBroken, match="less noise"):
        check_promise(Laplace(epsilon=1, sensitivity=3), shift="5/2")
    check_promise(DiscreteStaircase(epsilon=1, sensitivity=3), shift=2)


class OneTooWide(DiscreteStaircase):
    """A planted fault: the first step is one place wider on the right than the distribution says."""

    def pmf(self, x):
        return super().pmf(x if x <= 0 else x - 1)

    def pmf_interval(self, k, bits=128):
        return super().pmf_interval(k if k <= 0 else k - 1, bits)


@pytest.mark.parametrize("promise", [{"alpha": "1/2"}, {"epsilon": 1}])
def test_wrong_probabilities_are_noticed(promise):
    """At D = 1 the far probability is alpha too high: exactly where it is rational, by intervals where it is not."""
    with pytest.raises(PromiseBroken, match="alpha"):
        check_promise(OneTooWide(sensitivity=1, **promise))
