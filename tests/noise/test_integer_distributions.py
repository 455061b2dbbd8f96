"""Geometric and discrete staircase: the distributions as theorems, each value by two routes."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from utmost.errors import Unsupported
from utmost.exact import level
from utmost.noise import DiscreteStaircase, Distribution, Geometric, costs

alphas = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20)
epsilons = st.sampled_from(["1e-6", "0.0123", "1/3", 1, "2.5", 11, 50])
widths = st.sampled_from([1, 2, 3, 7, 100, 12345, 10**6 + 3, 10**9])


@st.composite
def rational_distributions(draw, largest=7):
    """A staircase with rational probabilities, any step."""
    D = draw(st.integers(1, largest))
    return DiscreteStaircase(alpha=draw(alphas), sensitivity=D, step=draw(st.integers(1, D)))


@st.composite
def real_epsilon_distributions(draw):
    """Any distribution on the integers, from epsilon 1e-6 to 50 and sensitivity 1 to 10^9."""
    epsilon, D = draw(epsilons), draw(widths)
    if draw(st.booleans()):
        return Geometric(epsilon, D)
    return DiscreteStaircase(epsilon, D, step=draw(st.integers(1, D)))


@st.composite
def distributions_and_points(draw):
    distribution = draw(real_epsilon_distributions())
    profile = distribution.profile
    deepest = int(draw(st.floats(0, 690)) / profile.level.epsilon_float * profile.period)
    near = draw(st.integers(-2, 2)) + draw(st.sampled_from([0, profile.step, profile.period]))
    return distribution, draw(st.sampled_from([near, min(deepest, 10**18)])) * draw(st.sampled_from([1, -1]))


# The distributions


@given(rational_distributions())
def test_the_mass_is_one_and_cdf_adds_it_up(distribution):
    """cdf(x) - cdf(x - 1) = pmf(x), cdf(x) + ccdf(x) = 1, cdf(-x-1) = ccdf(x), and the middle holds 1 - 2 T."""
    for x in range(-20, 21):
        assert distribution.cdf(x) - distribution.cdf(x - 1) == distribution.pmf(x)
        assert distribution.cdf(x) + distribution.ccdf(x) == 1
        assert distribution.cdf(-x - 1) == distribution.ccdf(x)
        assert distribution.pmf(x) == distribution.pmf(-x) > 0
    assert sum(distribution.pmf(x) for x in range(-20, 21)) + 2 * distribution.ccdf(20) == 1


@given(rational_distributions())
def test_the_staircase_is_geng_and_viswanaths(distribution):
    """p(i) = a on [0, r), b a on [r, D), b^k p(i - k D); a = (1 - b)/(2 r + 2 b (D - r) - (1 - b))."""
    b, D, r = distribution.alpha, distribution.sensitivity, distribution.step
    a = (1 - b) / (2 * r + 2 * b * (D - r) - (1 - b))
    for i in range(4 * D):
        k, j = divmod(i, D)
        assert distribution.pmf(i) == a * b**k * (1 if j < r else b)


@given(rational_distributions())
def test_neighbouring_shifts_attain_the_level_and_never_pass_it(distribution):
    """alpha p(i) <= p(i + s) <= p(i)/alpha for |s| <= D, with equality somewhere at s = D (tight, not only valid)."""
    D, b = distribution.sensitivity, distribution.alpha
    p = {i: distribution.pmf(i) for i in range(-4 * D, 5 * D)}
    for s in range(1, D + 1):
        assert all(b * p[i] <= p[i + s] <= p[i] / b for i in range(-4 * D, 3 * D))
    assert all(p[i + D] == b * p[i] for i in range(3 * D))


@given(alphas, st.integers(1, 5))
def test_the_geometric_distribution_is_the_staircase_of_period_one(alpha, s):
    """P(X = x) = (1 - q)/(1 + q) q^|x| with q^s = alpha; s = 1 is the staircase with D = 1."""
    distribution = Geometric(alpha=alpha**s, sensitivity=s)
    assert distribution.ratio.alpha_fraction() == alpha
    assert distribution.pmf(3) == (1 - alpha) / (1 + alpha) * alpha**3
    assert distribution.ccdf(3) == alpha**4 / (1 + alpha)
    assert distribution.moment(1) == 2 * alpha / (1 - alpha**2)
    assert distribution.variance() == 2 * alpha / (1 - alpha) ** 2
    assert 1 - distribution.pmf(0) == 2 * alpha / (1 + alpha)
    unit, staircase = Geometric(alpha=alpha), DiscreteStaircase(alpha=alpha)
    assert all(unit.pmf(x) == staircase.pmf(x) for x in range(-3, 4))


@given(alphas, st.integers(0, 5))
def test_the_half_step_staircase_is_a_uniform_block_plus_a_geometric(alpha, half):
    """With D = 2h + 1 and r = h + 1, X = U + D Z: U uniform on -h..h, Z two-sided geometric."""
    D = 2 * half + 1
    distribution, jumps = DiscreteStaircase.half_step(alpha=alpha, sensitivity=D), Geometric(alpha=alpha)
    assert distribution.step == half + 1
    for x in range(-3 * D, 3 * D + 1):
        assert distribution.pmf(x) == jumps.pmf((x + half) // D) / D


@given(rational_distributions(), st.integers(1, 6))
def test_moments_equal_their_series(distribution, m):
    period = distribution.sensitivity if isinstance(distribution, DiscreteStaircase) else 1
    x = np.arange(
        1, max(4000, int(80 * period / distribution.level.epsilon_float))
    )  # what is left out is below e^-80 x^6
    series = 2 * np.sum(distribution.pmf(x) * x.astype(float) ** m)
    assert float(distribution.moment(m)) == pytest.approx(series, rel=1e-11)
    assert isinstance(distribution.moment(m), Fraction)


@given(st.sampled_from(["1/20", "1/2", 1, 3, 10]), st.integers(1, 40))
def test_the_absolute_and_squared_costs_have_the_forms_of_the_paper(epsilon, D):
    """E|X| = 2 a [D b (r + b(D-r))/(1-b)^2 + (r(r-1) + b (D(D-1) - r(r-1)))/(2 (1-b))]."""
    distribution = DiscreteStaircase(epsilon, D)
    b, r = math.exp(-float(Fraction(epsilon))), distribution.step
    a = (1 - b) / (2 * r + 2 * b * (D - r) - (1 - b))
    inner = (r * (r - 1) + b * (D * (D - 1) - r * (r - 1))) / (2 * (1 - b))
    assert distribution.moment(1) == pytest.approx(
        2 * a * (D * b * (r + b * (D - r)) / (1 - b) ** 2 + inner), rel=1e-12
    )
    assert distribution.mean() == 0


# Agreement of floats, fractions and intervals


@given(distributions_and_points())
def test_floats_are_right_to_the_last_bits_in_both_tails(case):
    """pmf, cdf and ccdf at any depth down to 1e-300, against intervals of 1300 bits."""
    distribution, x = case
    for value, enclosure in (
        (distribution.pmf(np.array([x]))[0], distribution.pmf_interval(x, 1300)),
        (distribution.cdf(np.array([x]))[0], distribution.cdf_interval(x, 1300)),
        (distribution.ccdf(np.array([x]))[0], distribution.cdf_interval(-x - 1, 1300)),
        (distribution.cdf(float(x)) if abs(x) < 2**53 else distribution.cdf(x), distribution.cdf_interval(x, 1300)),
    ):
        assert abs(Fraction(float(value)) / enclosure.lower - 1) < Fraction(1, 10**15)


@given(distributions_and_points())
def test_the_logarithm_is_right_to_the_last_bits(case):
    distribution, x = case
    enclosure = distribution.pmf_interval(x, 1400)
    with localcontext(prec=80):
        exact = Decimal(enclosure.low).ln() - 1400 * Decimal(2).ln()
    assert distribution.logpmf(x) == pytest.approx(float(exact), rel=1e-15, abs=1e-300)


@given(rational_distributions(), st.integers(-40, 40))
def test_fractions_lie_in_the_intervals(distribution, x):
    assert distribution.pmf_interval(x, 200).contains(distribution.pmf(x))
    assert distribution.cdf_interval(x, 200).contains(distribution.cdf(x))


def test_the_logarithm_outlives_the_probability():
    distribution = Geometric(1)
    assert distribution.pmf(np.array([10**6])).tolist() == [0.0]
    assert distribution.logpmf(10**6) == pytest.approx(-(10**6) + math.log(math.tanh(0.5)), rel=1e-15)
    assert distribution.logpmf(10**40) == pytest.approx(-1e40)


def test_scipys_two_sided_geometric_agrees():
    x = np.arange(-30, 31)
    distribution, other = Geometric("0.7"), stats.dlaplace(0.7)
    np.testing.assert_allclose(distribution.pmf(x), other.pmf(x), rtol=1e-13)
    np.testing.assert_allclose(distribution.cdf(x), other.cdf(x), rtol=1e-13)
    np.testing.assert_allclose(distribution.ccdf(x), other.sf(x), rtol=1e-10, atol=1e-16)


@given(real_epsilon_distributions())
def test_moments_survive_every_level_and_sensitivity(distribution):
    """A float moment is the middle of an interval: compare with the Gaussian limit where epsilon is small."""
    assert distribution.variance() >= distribution.moment(1) ** 2 * (1 - 1e-15)
    if isinstance(distribution, Geometric):
        x = float(distribution.ratio.epsilon_float)
        assert distribution.moment(1) == pytest.approx(1 / math.sinh(x), rel=1e-14)
        assert distribution.variance() == pytest.approx(1 / (2 * math.sinh(x / 2) ** 2), rel=1e-14)


# Kinds of numbers


def test_the_argument_decides_the_kinds_of_numbers():
    distribution = DiscreteStaircase(alpha="1/2", sensitivity=3, step=2)
    assert distribution.pmf(0) == Fraction(1, 9)
    assert distribution.pmf(np.int64(2)) == Fraction(1, 18)
    assert isinstance(distribution.pmf(0.0), float)
    assert distribution.pmf([0, 2]).dtype == np.float64
    exact = distribution.cdf(np.array([0, -1], dtype=object))
    assert exact.tolist() == [Fraction(5, 9), Fraction(4, 9)]
    assert distribution.pmf(np.zeros((2, 3), int)).shape == (2, 3)
    assert distribution.pmf([]).shape == (0,)
    assert distribution.pmf(np.zeros((0,), object)).dtype == object
    irrational = DiscreteStaircase(1, 3)
    assert isinstance(irrational.pmf(0), float)
    assert isinstance(irrational.cdf(Fraction(1, 2)), float)


def test_points_between_the_integers():
    """The mass there is 0, and cdf is the step function it should be."""
    distribution = Geometric(alpha="1/2")
    assert distribution.pmf(Fraction(1, 2)) == 0
    assert distribution.pmf([0.5, 1.0]).tolist() == [0.0, distribution.pmf(1.0)]
    assert distribution.logpmf(0.5) == -math.inf
    assert distribution.pmf(np.array([Fraction(1, 2), 1], dtype=object)).tolist() == [0, Fraction(1, 6)]
    assert distribution.cdf(Fraction(3, 2)) == distribution.cdf(1)
    assert distribution.cdf(-0.5) == distribution.cdf(-1.0)


@pytest.mark.parametrize("x", [2**63 - 1, -(2**63), 2**64 - 1, 10**30, 1e300])
def test_points_beyond_int64_do_not_wrap(x):
    distribution = Geometric("1e-6", 10**9)
    points = np.array([x], dtype=None if abs(x) < 2**64 else (float if isinstance(x, float) else object))
    if points.dtype != object:
        assert distribution.pmf(points)[0] == 0.0
        assert distribution.cdf(points)[0] == (x > 0)
    assert distribution.logpmf(x) == pytest.approx(-abs(x) * 1e-15 + math.log(5e-16), rel=1e-12)


def test_integer_arrays_of_every_width():
    distribution = DiscreteStaircase(1, 5)
    expected = distribution.pmf([0, 1, 5, 100])
    for kind in (np.int8, np.int16, np.uint8, np.uint64, np.float32):
        np.testing.assert_array_equal(distribution.pmf(np.array([0, 1, 5, 100], kind)), expected)
    assert distribution.pmf(np.array([-128], np.int8))[0] == distribution.pmf(128.0)


# Parameters


def test_levels_and_parameters_are_kept():
    distribution = DiscreteStaircase(alpha="1/4", sensitivity="5", step=2)
    assert (
        distribution.alpha,
        distribution.sensitivity,
        distribution.step,
        distribution.numbers,
        distribution.support,
    ) == (
        Fraction(1, 4),
        5,
        2,
        *2 * ("integers",),
    )
    assert Geometric(0.5).epsilon == Fraction(1, 2)
    assert Geometric(level(alpha="1/2")).alpha == Fraction(1, 2)
    assert isinstance(distribution, Distribution)


def test_equal_distributions_are_equal_distributions():
    assert DiscreteStaircase(1, 5, costs.absolute) == DiscreteStaircase(1, 5, step=2)
    assert DiscreteStaircase(1, 5, step=1) != DiscreteStaircase(1, 5, step=2)
    assert Geometric(alpha="1/4") == Geometric(level(alpha="1/2").scaled(2))


def test_a_moment_beyond_the_floats_is_refused_not_infinite():
    with pytest.raises(Unsupported, match="float"):
        Geometric("1e-6", 10**9).moment(40)
    assert Geometric(alpha=1 - Fraction(1, 10**15)).moment(24) > 10**380


def test_theorems_are_named_where_they_hold():
    assert "Theorem 11" in Geometric(1).theorem
    assert "Theorem 11" in DiscreteStaircase(1, 1).theorem
    assert "not the least noise" in Geometric(1, 2).theorem
    assert "smaller expected cost (absolute, squared)" in DiscreteStaircase(1, 2).theorem
    assert "not claimed" in DiscreteStaircase(1, 60, step=20).theorem
    assert "more accurate later" in DiscreteStaircase.half_step(3, 61).theorem
    assert (
        "(quartic, if it never decreases as errors grow, checked up to 2400; squared)"
        in DiscreteStaircase(1, 60, quartic).theorem
    )


def quartic(x):
    return abs(x) ** 4.0
