"""Laplace and staircase on the reals: the distributions as theorems, each value by two routes."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from utmost.errors import OutOfRange
from utmost.exact import level
from utmost.noise import DiscreteStaircase, Geometric, Laplace, Staircase, costs

epsilons = st.sampled_from(["1e-6", "0.0123", "1/3", 1, "2.5", 11, 50])
widths = st.sampled_from([1, "2.5", "1/3", "1e-3", 10**9])
gammas = st.sampled_from([None, "1/2", 0, 1, "0.1", "1/3"])


@st.composite
def distributions(draw):
    if draw(st.integers(0, 3)) == 0:
        return Laplace(draw(epsilons), draw(widths))
    return Staircase(draw(epsilons), draw(widths), gamma=draw(gammas))


@st.composite
def distributions_and_points(draw):
    distribution = draw(distributions())
    periods = draw(st.floats(0, 690)) / distribution.level.epsilon_float
    return distribution, float(distribution.sensitivity) * draw(st.sampled_from([draw(st.floats(0, 3)), periods]))


moderate = st.builds(
    Staircase, st.sampled_from([0.3, 1, 4]), st.sampled_from([1, 2.5]), gamma=st.sampled_from([0, 0.2, 0.5, 0.9, 1])
)

# The distributions


@given(moderate)
def test_the_density_is_geng_and_viswanaths(distribution):
    """f = a on [0, gD), b a on [gD, D), b^k f(x - kD); a = (1 - b)/(2 D (g + b (1 - g)))."""
    b, D, g = float(np.exp(-distribution.level.epsilon_float)), float(distribution.sensitivity), distribution.gamma
    a = (1 - b) / (2 * D * (g + b * (1 - g)))
    for k in range(4):
        for u in (0.05, 0.15, 0.3, 0.6, 0.95):
            assert distribution.pdf((k + u) * D) == pytest.approx(a * b**k * (1 if u < g else b), rel=1e-13)
            assert distribution.pdf(-(k + u) * D) == distribution.pdf((k + u) * D)
            assert distribution.logpdf((k + u) * D) == pytest.approx(math.log(distribution.pdf((k + u) * D)), abs=1e-13)


@given(moderate, st.floats(-20, 20), st.floats(-1, 1))
def test_the_density_keeps_the_level(distribution, x, s):
    """f(x) <= e^epsilon f(x + s) for |s| <= D, and a shift by D attains it everywhere beyond."""
    D, level_ratio = float(distribution.sensitivity), math.exp(distribution.level.epsilon_float)
    assert distribution.pdf(x) <= level_ratio * distribution.pdf(x + s * D * 0.999999) * (1 + 1e-12)
    inside = abs(x) + D * 1e-9
    if abs(inside / D - distribution.gamma - round(inside / D - distribution.gamma)) > 1e-6:
        assert distribution.pdf(inside) == pytest.approx(level_ratio * distribution.pdf(inside + D), rel=1e-12)


def test_the_density_is_right_continuous_at_the_edges():
    """At x = (n + gamma) D the lower step begins, though the quotient x/D may round below n + gamma."""
    for D, g in (("0.1", "0.3"), ("2.5", "0.1"), ("1/3", "1/7"), (3, "1/3")):
        distribution = Staircase(1, D, gamma=g)
        for n in range(200):
            edge = float((n + Fraction(g)) * Fraction(Decimal(D) if "." in str(D) else Fraction(D)))
            here, before = distribution.pdf(edge), distribution.pdf(math.nextafter(edge, 0.0))
            assert before == pytest.approx(here * math.e, rel=1e-12)
            assert distribution.pdf(math.nextafter(edge, math.inf)) == here


def test_the_density_is_flat_across_the_multiples_of_the_sensitivity():
    distribution = Staircase(1, "0.1")
    x = np.arange(1, 300) * 0.1
    np.testing.assert_array_equal(distribution.pdf(x), distribution.pdf(x * (1 + 1e-9)))
    np.testing.assert_array_equal(distribution.pdf(x), distribution.pdf(x * (1 - 1e-9)))


@given(moderate)
def test_the_cdf_integrates_the_density(distribution):
    D, g = float(distribution.sensitivity), distribution.gamma
    edges = sorted({0.0, *((k + e) * D for k in range(4) for e in (g, 1))})
    for x in (0.3 * D, 1.7 * D, 3.2 * D):
        pieces = [e for e in edges if e < x] + [x]
        mass = sum(integrate.quad(distribution.pdf, lo, hi)[0] for lo, hi in pairwise(pieces))
        assert distribution.cdf(x) - 0.5 == pytest.approx(mass, rel=1e-9)
        assert distribution.cdf(-x) == pytest.approx(distribution.ccdf(x), rel=1e-15)


@given(st.sampled_from(["0.2", 1, 5]), st.floats(-6, 6))
def test_the_half_step_staircase_is_a_uniform_plus_a_geometric(epsilon, x):
    """With gamma = 1/2, X = U + Z, U uniform on [-1/2, 1/2] and Z two-sided geometric (sensitivity 1)."""
    distribution, jumps = Staircase.half_step(epsilon), Geometric(epsilon)
    n = math.floor(x + 0.5)
    expected = jumps.cdf(float(n - 1)) + jumps.pmf(float(n)) * (x + 0.5 - n)
    assert distribution.cdf(x) == pytest.approx(expected, rel=1e-13)
    b = float(distribution.alpha)
    assert distribution.moment(1) == pytest.approx(2 * b / (1 - b**2) + (1 - b) / (4 * (1 + b)), rel=1e-14)
    assert distribution.variance() == pytest.approx(1 / 12 + 2 * b / (1 - b) ** 2, rel=1e-14)


@given(st.sampled_from(["0.2", 1, 5]), st.integers(1, 9), st.data())
def test_an_integer_staircase_plus_a_uniform_is_a_staircase_on_the_reals(epsilon, D, data):
    """Discrete (D, r) plus a uniform on [-1/2, 1/2] has gamma = (r - 1/2)/D."""
    r = data.draw(st.integers(1, D))
    integers, reals = DiscreteStaircase(epsilon, D, step=r), Staircase(epsilon, D, gamma=Fraction(2 * r - 1, 2 * D))
    x = np.arange(-3 * D, 3 * D + 1)
    np.testing.assert_allclose(reals.cdf(x + 0.5), integers.cdf(x), rtol=1e-13)
    np.testing.assert_allclose(reals.pdf(x), integers.pmf(x), rtol=1e-13)


def test_laplace_is_scipys():
    distribution, other, x = Laplace("0.7", "2.5"), stats.laplace(scale=2.5 / 0.7), np.linspace(-30, 30, 121)
    np.testing.assert_allclose(distribution.pdf(x), other.pdf(x), rtol=1e-13)
    np.testing.assert_allclose(distribution.logpdf(x), other.logpdf(x), rtol=1e-13)
    np.testing.assert_allclose(distribution.cdf(x), other.cdf(x), rtol=1e-13)
    np.testing.assert_allclose(distribution.ccdf(x), other.sf(x), rtol=1e-13)
    p = np.array([1e-12, 0.1, 0.3, 0.5, 0.7, 0.999])
    np.testing.assert_allclose(distribution.icdf(p), other.ppf(p), rtol=1e-13, atol=1e-15)


# Agreement of floats and intervals


@given(distributions_and_points())
def test_floats_are_right_to_the_last_bits_in_both_tails(case):
    distribution, x = case
    for value, enclosure in (
        (distribution.ccdf(x), distribution.cdf_interval(-Fraction(x), 1300)),
        (distribution.cdf(-x), distribution.cdf_interval(-Fraction(x), 1300)),
        (distribution.cdf(x), distribution.cdf_interval(Fraction(x), 1300)),
    ):
        assert abs(Fraction(value) / enclosure.lower - 1) < Fraction(2, 10**15)


@given(distributions(), st.floats(1e-290, 0.5))
def test_quantiles_invert_the_cdf(distribution, p):
    """icdf is right to the last bit of x; how far cdf is from p then depends on the density beside x."""
    x = distribution.icdf(p)
    assert x <= 0
    assert distribution.iccdf(p) == -x
    slack = 2 * math.ulp(x) * distribution.pdf(max(abs(x) - math.ulp(x), 0.0))
    assert abs(distribution.cdf(x) - p) <= 4e-15 * p + slack
    assert distribution.icdf(1 - Fraction(p)) == -x


def test_quantiles_at_the_ends_and_in_the_middle():
    for distribution in (Laplace(1), Staircase(1, 3)):
        assert (distribution.icdf(0), distribution.icdf(0.5), distribution.icdf(1)) == (-math.inf, 0.0, math.inf)
        assert (distribution.iccdf(0), distribution.iccdf(1)) == (math.inf, -math.inf)
        assert distribution.icdf(np.array([[0.25, 0.5], [0.75, 1.0]])).shape == (2, 2)
        assert distribution.icdf(Fraction(10**30 - 1, 10**30)) == -distribution.icdf("1e-30")
        assert distribution.icdf([0.25]) == -distribution.icdf([0.75])


@given(distributions(), st.sampled_from(["1e-9", "0.5", 0.95, "0.999999999", Fraction(10**200 - 1, 10**200)]))
def test_a_margin_covers_and_the_float_below_does_not(distribution, confidence):
    """P(|X| <= t) >= c with certainty, and t is the least such float."""
    t, missed = distribution.margin(confidence), (1 - Fraction(str(confidence))) / 2
    assert distribution.cdf_interval(-Fraction(t), 1200).upper <= missed
    assert distribution.cdf_interval(-Fraction(math.nextafter(t, 0.0)), 1200).upper > missed


@given(moderate, st.integers(1, 5))
def test_moments_equal_quadrature(distribution, m):
    D = float(distribution.sensitivity)
    edges = np.concatenate([[0.0], (np.arange(160) + distribution.gamma) * D])
    lo, hi = edges[:-1], edges[1:]
    total = 2 * np.sum(distribution.pdf((lo + hi) / 2) * (hi ** (m + 1) - lo ** (m + 1)) / (m + 1))
    assert distribution.moment(m) == pytest.approx(total, rel=1e-11)
    assert distribution.moment_interval(m, 100).lower == pytest.approx(distribution.moment(m), rel=1e-14)


@given(epsilons, widths)
def test_laplace_moments(epsilon, width):
    """E|X|^m = m! (D/epsilon)^m, and Gamma(m + 1) (D/epsilon)^m in between."""
    distribution, scale = Laplace(epsilon, width), Fraction(str(width)) / Fraction(str(epsilon))
    assert distribution.moment(1) == float(scale)
    assert distribution.variance() == float(2 * scale**2)
    assert distribution.moment(3) == float(6 * scale**3)
    assert distribution.moment("1/2") == pytest.approx(math.gamma(1.5) * float(scale) ** 0.5, rel=1e-14)
    assert distribution.mean() == 0


# Parameters


def test_points_are_read_in_every_form():
    distribution = Staircase(1, "1/3")
    for form in (2, 2.0, Fraction(2), np.float32(2), np.int64(2)):
        assert distribution.cdf(form) == distribution.cdf(2.0)
        assert isinstance(distribution.pdf(form), float)
    assert distribution.pdf([0, 2]).tolist() == [distribution.pdf(0), distribution.pdf(2)]
    assert distribution.pdf([]).shape == (0,)
    assert distribution.cdf(np.array(2.0)).shape == ()


def test_levels_and_parameters_are_kept():
    distribution = Staircase(alpha="1/4", sensitivity=2.5, gamma=0.25)
    assert (distribution.alpha, distribution.sensitivity, distribution.gamma) == (Fraction(1, 4), Fraction(5, 2), 0.25)
    assert (distribution.numbers, distribution.support) == ("reals", "reals")
    assert Laplace(2, 4).rate == level("1/2")


def test_a_first_step_too_narrow_for_floats_is_refused():
    with pytest.raises(OutOfRange, match="DiscreteStaircase"):
        Staircase(3000)
    assert Staircase(600).moment(1) == pytest.approx(math.exp(-300), rel=1e-12)


def test_theorems_are_named_where_they_hold():
    assert Staircase(1).theorem.startswith(
        "no other noise that is added to real numbers has a smaller expected cost (absolute)"
    )
    assert "smaller expected cost (moment(3))" in Staircase(1, 1, costs.moment(3)).theorem
    assert "Theorem 3" in Staircase(1).theorem
    assert "not claimed" in Staircase(1, gamma=0.2).theorem
    assert "more accurate later" in Staircase.half_step(1).theorem
    assert "Theorem 9" in Laplace(1).theorem
