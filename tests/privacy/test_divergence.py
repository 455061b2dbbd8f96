from fractions import Fraction
from math import exp, expm1, tanh

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.finite_pairs import integer_pair, real_pair
from privacy.strategies import alphas, distributions, integer_distributions, staircases

# An enclosure is compared with the float that is reported.
from utmost.design.privacy_types.curves import curve_of
from utmost.errors import NotALevel
from utmost.exact import Level, level
from utmost.noise import DiscreteStaircase, Geometric, Laplace, Staircase
from utmost.privacy_types import delta, profile, total_variation, tradeoff

EPSILONS = ["0", "1e-6", "0.1", "0.5", "1", "2.5", "9", "60"]


# ---- distributions


@given(integer_distributions(), st.integers(-9, 9), st.sampled_from([1, "99/100", "2/3", "1/2", "1/7", "1/5000"]))
def test_delta_of_an_integer_distribution_is_the_sum_of_the_excess_over_outcomes(distribution, shift, alpha):
    """sum over y of max(0, P(X + s = y) - e^epsilon P(X = y)), exactly, whatever the shift."""
    pairs = zip(*integer_pair(distribution, shift), strict=True)
    assert delta(distribution, shift=shift, alpha=alpha) == sum(
        max(Fraction(0), q - p / Fraction(alpha)) for p, q in pairs
    )


@given(staircases(), st.integers(0, 20), st.sampled_from([1, "99/100", "2/3", "1/7", "1/5000"]))
def test_delta_of_a_real_staircase_is_the_sum_of_the_excess_over_cells(distribution, n, alpha):
    shift = Fraction(n, 6) * distribution.sensitivity
    pairs = zip(*real_pair(distribution, shift), strict=True)
    assert delta(distribution, shift=shift, alpha=alpha) == sum(
        max(Fraction(0), q - p / Fraction(alpha)) for p, q in pairs
    )


@given(distributions, st.sampled_from(EPSILONS), st.sampled_from([0, 1, 2, 7]))
def test_delta_is_the_legendre_transform_of_the_curve(distribution, epsilon, shift):
    """delta(epsilon) = max over p of 1 - e^epsilon p - beta(p): never below it at any p, and attained at some p."""
    p = np.concatenate([[0], np.logspace(-40, 0, 400), np.linspace(0, 1, 400)])
    lines = 1 - exp(float(epsilon)) * p - tradeoff(distribution, p, shift)
    assert delta(distribution, epsilon, shift) >= lines.max() - 1e-12


@given(distributions, st.sampled_from(EPSILONS))
def test_the_sensitivity_is_the_worst_of_the_shifts_within_it(distribution, epsilon):
    """delta at |shift| <= D never exceeds delta at D."""
    D = distribution.sensitivity
    inside = range(-D, D + 1) if distribution.numbers == "integers" else [D * Fraction(n, 12) for n in range(-12, 13)]
    deltas = [delta(distribution, epsilon, shift) for shift in inside]
    assert max(deltas) <= delta(distribution, epsilon) == deltas[0] == deltas[-1]
    half = deltas[len(deltas) // 2 :]
    assert half == sorted(half)


@given(distributions)
def test_delta_vanishes_exactly_from_the_level_on(distribution):
    """0 at the distribution's own epsilon, positive just below it."""
    assert delta(distribution, distribution.level) == 0
    assert delta(distribution, distribution.level.scaled(2)) == 0
    assert delta(distribution, distribution.level.scaled(1 - Fraction(1, 10**9))) > 0


@given(alphas, st.sampled_from([Fraction(1, 16), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), 1]))
def test_total_variation_of_a_staircase_is_one_minus_mu_times_tanh(b, gamma):
    """(1 - mu) tanh(epsilon / 2), where mu is the mass of the outcomes that reveal nothing."""
    a = (1 - b) / (2 * (gamma + b * (1 - gamma)))
    mu = a * max(b * (1 - 2 * gamma), 2 * gamma - 1)
    assert total_variation(Staircase(alpha=b, gamma=gamma, sensitivity="5/2")) == (1 - mu) * (1 - b) / (1 + b)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1, 20, 50])
@pytest.mark.parametrize("shift", [0.25, 1, 3])
def test_the_laplace_profile_is_its_closed_form(epsilon, shift):
    """1 - exp((e - epsilon s / D) / 2), with all its digits also where it is small."""
    for e in (0.0, 0.5 * epsilon, 2 * epsilon):
        expected = max(0.0, -expm1((e - epsilon * shift / 4 * 4) / 2))
        assert delta(Laplace(epsilon=epsilon, sensitivity=4), e, 4 * shift) == pytest.approx(expected, rel=1e-14, abs=0)


def test_the_laplace_profile_is_exact_where_the_square_root_is_rational():
    assert total_variation(Laplace(alpha="1/16")) == delta(Laplace(alpha="1/256"), alpha="1/16") == Fraction(3, 4)
    assert total_variation(Laplace(alpha="1/16"), shift="1/2") == delta(Laplace(alpha="1/16"), alpha="1/4") == 0.5
    assert isinstance(total_variation(Laplace(alpha="1/2")), float)
    assert isinstance(delta(Laplace(alpha="1/16"), alpha="1/3"), float)
    assert delta(Laplace(alpha="1/16"), alpha="1/3") == pytest.approx(1 - (3 / 16) ** 0.5, rel=1e-15)


# ---- agreement


@pytest.mark.parametrize(
    "distribution", [Laplace(epsilon=1), Staircase(epsilon=1), Staircase(epsilon="0.3", sensitivity=2, gamma="0.8")]
)
@pytest.mark.parametrize("epsilon", [0, 0.2, 0.7])
@pytest.mark.parametrize("shift", [0.3, 1, 2.6])
def test_delta_is_the_integral_of_the_excess(distribution, epsilon, shift):
    """Quadrature of max(0, f(x - s) - e^epsilon f(x)) between all places where the densities may jump."""
    D, gamma = float(distribution.sensitivity), getattr(distribution, "gamma", 0.5)
    steps = np.add.outer(np.arange(-150, 151), [0, gamma, -gamma]).ravel() * D
    edges = np.unique(np.concatenate([steps, steps + shift, [shift / 2 + epsilon * D / 2]]))
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half = np.diff(edges) / 2
    x = edges[:-1, None] + half[:, None] * (1 + nodes)
    excess = np.maximum(0, distribution.pdf(x - shift) - exp(epsilon) * distribution.pdf(x))
    assert delta(distribution, epsilon, shift) == pytest.approx((half @ excess) @ weights, rel=1e-9, abs=1e-12)


@given(distributions, st.sampled_from(EPSILONS), st.sampled_from([1, 3]))
def test_a_reported_delta_is_rounded_up(distribution, epsilon, shift):
    """It is not below the interval of the true value, and less than two units above it."""
    at = None if epsilon == "0" else level(epsilon)
    true = curve_of(distribution, shift).excess_enclosed(at, 400)
    reported = delta(distribution, epsilon, shift)
    assert Fraction(reported) >= true.lower
    assert Fraction(reported) <= max(true.upper * (1 + Fraction(1, 2**51)), Fraction(5e-324))


def test_small_deltas_keep_their_digits():
    """tanh(5e-7) for epsilon 1e-6, and e^-50 (e - 1)-like leftovers for epsilon 50."""
    assert total_variation(Geometric(epsilon="1e-6")) == pytest.approx(tanh(5e-7), rel=1e-15, abs=0)
    near = delta(Geometric(epsilon=50), level("50").scaled(1 - Fraction(1, 10**12)))
    assert near == pytest.approx(5e-11, rel=1e-9, abs=0)


def test_what_no_float_can_hold_is_reported_as_the_smallest_float():
    """A positive delta is never reported as 0."""
    distribution = DiscreteStaircase(epsilon=1, sensitivity=5, step=2)
    assert delta(distribution, 1999, shift=10_000) > 0


def test_rows_are_compared_in_the_order_given():
    """P shows one outcome that Q never shows: no epsilon hides it from Q's side."""
    P, Q = ["1/2", "1/2", 0], ["1/2", "1/4", "1/4"]
    assert [delta((P, Q), e) for e in (0, 100)] == [Fraction(1, 4), 0.25]
    assert [delta((Q, P), e) for e in (0, 100)] == [Fraction(1, 4), 0.0]
    assert delta(([0.5, 0.5], [0.25, 0.75]), 0) == 0.25


def test_profiles_are_floats_rounded_up():
    found = profile(Geometric(alpha="1/2"), [0, "0.5", Level.of_alpha("1/2")])
    assert found.dtype == np.float64
    assert Fraction(found[0]) > Fraction(1, 3) > Fraction(np.nextafter(found[0], 0))
    assert found[-1] == 0


# ---- refusals


@pytest.mark.parametrize("epsilon", [-1, float("nan"), True, "much"])
def test_what_is_no_level_is_refused(epsilon):
    with pytest.raises(NotALevel):
        delta(Geometric(epsilon=1), epsilon)


def test_one_level_is_needed():
    with pytest.raises(NotALevel):
        delta(Geometric(epsilon=1))
    with pytest.raises(NotALevel):
        delta(Geometric(epsilon=1), 1, alpha="1/2")
    with pytest.raises(NotALevel):
        delta(Geometric(epsilon=1), alpha="3/2")
