"""Laplace noise on counts, renormalised truncation, randomised response and its dual."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost import priors
from utmost.channels import (
    Channel,
    GeometricMatrix,
    dual_randomized_response,
    fair_channel,
    geometric_channel,
    laplace_channel,
    randomized_response,
    renormalised_epsilon,
    renormalised_geometric_channel,
    unbounded_geometric_channel,
)
from utmost.exact import level
from utmost.noise import Geometric
from utmost.optima import between_levels, folded_channel, folded_responses
from utmost.spaces import counts
from utmost.testing import strategies


def laplace_cdf(x, epsilon):
    return exp(epsilon * x) / 2 if x < 0 else 1 - exp(-epsilon * x) / 2


@given(st.integers(0, 6), strategies.levels)
def test_rounded_laplace_noise_is_the_difference_of_its_distribution_function(n, at):
    """C[i, j] = F(j + 1/2 - i) - F(j - 1/2 - i), with the outer intervals open."""
    c = laplace_channel(n + 1, at)
    assert Channel(c.matrix).shape == (n + 1, n + 1)
    for i in range(n + 1):
        below = [0.0, *(laplace_cdf(j + 0.5 - i, at.epsilon_float) for j in range(n)), 1.0]
        np.testing.assert_allclose(c.matrix[i].astype(float), np.diff(below), rtol=1e-9, atol=1e-16)


@given(st.integers(1, 6), strategies.alphas)
def test_laplace_is_exact_where_the_root_of_alpha_is_rational(n, root):
    """alpha = root^2: every tail is a power of root over 2, and each row sums to 1 exactly."""
    c = laplace_channel(n + 1, alpha=root**2)
    assert c.is_exact
    assert c.matrix[0, -1] == root ** (2 * n - 1) / 2
    assert Channel(c.matrix).same_as(c)
    assert c.same_as(laplace_channel(n + 1, level(alpha=root**2).epsilon), tolerance=1e-12)


def test_small_tails_do_not_cancel():
    """The mass of an interval far out is accurate relative to itself."""
    c = laplace_channel(41, epsilon=2)
    assert c.matrix[0, 39] == pytest.approx((exp(-2 * 38.5) - exp(-2 * 39.5)) / 2, rel=1e-13, abs=0)
    for e in (1e-6, 3e-7, 7e-9):
        tiny = exp(-e / 2) / 2 * (e - e * e / 2 + e**3 / 6)
        assert laplace_channel(3, epsilon=e).matrix[0, 1] == pytest.approx(tiny, rel=1e-14, abs=0)


def test_two_results_lose_half_the_root_of_alpha():
    """Ghosh et al. 6.1: guessing between 0 and 1 fails with sqrt(alpha)/2 under Laplace, alpha/(1+alpha) under G."""
    assert laplace_channel(2, alpha="1/9").matrix[0, 1] == Fraction(1, 6)
    assert geometric_channel(2, alpha="1/9").matrix[0, 1] == Fraction(1, 10)


def test_thresholds_are_the_caller_s_choice():
    """Any increasing numbers, exact where the tails are; none at all reveals nothing."""
    c = laplace_channel(3, alpha="1/2", thresholds=[0, 2])
    assert c.matrix[0].tolist() == [Fraction(1, 2), Fraction(3, 8), Fraction(1, 8)]
    assert laplace_channel(3, epsilon=1, thresholds=[]).matrix.tolist() == [[1.0]] * 3
    assert laplace_channel(3, alpha="1/2", thresholds=[]).matrix.tolist() == [[1]] * 3
    assert laplace_channel(1, epsilon=1).matrix.tolist() == [[1.0]]
    assert not laplace_channel(3, alpha="1/2", thresholds=["1/3"]).is_exact


@given(st.integers(0, 7), strategies.alphas)
def test_renormalising_breaks_the_level_by_the_stated_ratio(n, alpha):
    """Row 1 against row 0 has the ratio (1/a)(1 + (a - a^n)(1 - a)/(1 - a^(n+1))), the worst of all neighbours."""
    c = renormalised_geometric_channel(n + 1, alpha=alpha)
    assert Channel(c.matrix).same_as(c)
    ratios = [
        c.matrix[i, j] / c.matrix[k, j]
        for i in range(n + 1)
        for k in (i - 1, i + 1)
        if 0 <= k <= n
        for j in range(n + 1)
    ]
    if n == 0:
        assert renormalised_epsilon(1, alpha=alpha) == 0
        return
    worst = (1 + (alpha - alpha**n) * (1 - alpha) / (1 - alpha ** (n + 1))) / alpha
    assert max(ratios) == worst
    assert (worst > 1 / alpha) == (n >= 2)
    truth = level(alpha=1 / worst).epsilon
    assert truth <= renormalised_epsilon(n + 1, alpha=alpha) <= truth * (1 + 1e-14)


def test_the_renormalised_example():
    """n = 2, a = 1/2: 16/7 instead of 2; tiny and huge levels stay finite."""
    assert renormalised_geometric_channel(3, alpha="1/2").matrix[0, 0] / Fraction(1, 4) == Fraction(16, 7)
    assert renormalised_epsilon(3, epsilon="1e-60") > 1e-60
    assert renormalised_epsilon(6, epsilon=50) == pytest.approx(50)
    assert renormalised_epsilon(2, epsilon=3) == 3.0
    assert not renormalised_geometric_channel(3, epsilon=1).is_exact


@given(st.integers(1, 7), strategies.alphas)
def test_randomised_response_and_its_dual(k, alpha):
    """R ~ 1 on the diagonal and alpha beside it; the dual the other way round."""
    r, dual = randomized_response(k, alpha=alpha).matrix, dual_randomized_response(k, alpha=alpha).matrix
    off = ~np.eye(k, dtype=bool)
    assert set(np.diag(r)) == {1 / (1 + (k - 1) * alpha)}
    assert set(r[off]) <= {alpha / (1 + (k - 1) * alpha)}
    m = 1 + (k - 1) / alpha
    assert set(np.diag(dual)) == {1 / m}
    assert set(dual[off]) <= {1 / alpha / m}
    Channel(r), Channel(dual)


def test_randomised_response_in_floats():
    """Irrational alpha gives floats."""
    assert randomized_response(2, epsilon=1).matrix[0, 0] == pytest.approx(1 / (1 + exp(-1)))
    assert dual_randomized_response(2, epsilon=1).matrix[0, 0] == pytest.approx(exp(-1) / (1 + exp(-1)))


@given(strategies.sizes, strategies.alphas)
def test_sizes_count_secrets(size, alpha):
    """Whatever is built on counts takes how many they are; `counts` alone takes the largest."""
    at = level(alpha=alpha)
    built = (geometric_channel, unbounded_geometric_channel, renormalised_geometric_channel, laplace_channel)
    for channel in (*(build(size, at) for build in built), fair_channel(size, at), between_levels(size, at, at)):
        assert channel.shape[0] == size == counts(size - 1).size
    assert GeometricMatrix(size, at).matrix().shape == folded_channel(Geometric(at), size).shape == (size, size)
    assert len(priors.truncated_poisson(2, size)) == len(folded_responses(Geometric(at), size)) == size
