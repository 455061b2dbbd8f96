"""Geometric and discrete staircase: the laws as theorems, each value by two routes."""

import math
import pickle
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from utmost.errors import Unsupported
from utmost.exact import level
from utmost.noise import DiscreteStaircase, Geometric, Law, costs

alphas = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20)
epsilons = st.sampled_from(["1e-6", "0.0123", "1/3", 1, "2.5", 11, 50])
widths = st.sampled_from([1, 2, 3, 7, 100, 12345, 10**6 + 3, 10**9])


@st.composite
def rational_laws(draw, largest=7):
    """A staircase with rational probabilities, any step."""
    D = draw(st.integers(1, largest))
    return DiscreteStaircase(alpha=draw(alphas), sensitivity=D, step=draw(st.integers(1, D)))


@st.composite
def real_epsilon_laws(draw):
    """Any law on the integers, from epsilon 1e-6 to 50 and sensitivity 1 to 10^9."""
    epsilon, D = draw(epsilons), draw(widths)
    if draw(st.booleans()):
        return Geometric(epsilon, D)
    return DiscreteStaircase(epsilon, D, step=draw(st.integers(1, D)))


@st.composite
def laws_and_points(draw):
    law = draw(real_epsilon_laws())
    profile = law.profile
    deepest = int(draw(st.floats(0, 690)) / profile.level.epsilon_float * profile.period)
    near = draw(st.integers(-2, 2)) + draw(st.sampled_from([0, profile.step, profile.period]))
    return law, draw(st.sampled_from([near, min(deepest, 10**18)])) * draw(st.sampled_from([1, -1]))


# The laws


@given(rational_laws())
def test_the_mass_is_one_and_cdf_adds_it_up(law):
    """cdf(x) - cdf(x - 1) = pmf(x), cdf(x) + ccdf(x) = 1, cdf(-x-1) = ccdf(x), and the middle holds 1 - 2 T."""
    for x in range(-20, 21):
        assert law.cdf(x) - law.cdf(x - 1) == law.pmf(x)
        assert law.cdf(x) + law.ccdf(x) == 1
        assert law.cdf(-x - 1) == law.ccdf(x)
        assert law.pmf(x) == law.pmf(-x) > 0
    assert sum(law.pmf(x) for x in range(-20, 21)) + 2 * law.ccdf(20) == 1


@given(rational_laws())
def test_the_staircase_is_geng_and_viswanaths(law):
    """p(i) = a on [0, r), b a on [r, D), b^k p(i - k D); a = (1 - b)/(2 r + 2 b (D - r) - (1 - b))."""
    b, D, r = law.alpha, law.sensitivity, law.step
    a = (1 - b) / (2 * r + 2 * b * (D - r) - (1 - b))
    for i in range(4 * D):
        k, j = divmod(i, D)
        assert law.pmf(i) == a * b**k * (1 if j < r else b)


@given(rational_laws())
def test_neighbouring_shifts_attain_the_level_and_never_pass_it(law):
    """alpha p(i) <= p(i + s) <= p(i)/alpha for |s| <= D, with equality somewhere at s = D (tight, not only valid)."""
    D, b = law.sensitivity, law.alpha
    p = {i: law.pmf(i) for i in range(-4 * D, 5 * D)}
    for s in range(1, D + 1):
        assert all(b * p[i] <= p[i + s] <= p[i] / b for i in range(-4 * D, 3 * D))
    assert all(p[i + D] == b * p[i] for i in range(3 * D))


@given(alphas, st.integers(1, 5))
def test_the_geometric_law_is_the_staircase_of_period_one(alpha, s):
    """P(X = x) = (1 - q)/(1 + q) q^|x| with q^s = alpha; s = 1 is the staircase with D = 1."""
    law = Geometric(alpha=alpha**s, sensitivity=s)
    assert law.ratio.alpha_fraction() == alpha
    assert law.pmf(3) == (1 - alpha) / (1 + alpha) * alpha**3
    assert law.ccdf(3) == alpha**4 / (1 + alpha)
    assert law.moment(1) == 2 * alpha / (1 - alpha**2)
    assert law.variance() == 2 * alpha / (1 - alpha) ** 2
    assert 1 - law.pmf(0) == 2 * alpha / (1 + alpha)
    unit, staircase = Geometric(alpha=alpha), DiscreteStaircase(alpha=alpha)
    assert all(unit.pmf(x) == staircase.pmf(x) for x in range(-3, 4))


@given(alphas, st.integers(0, 5))
def test_the_half_step_staircase_is_a_uniform_block_plus_a_geometric(alpha, half):
    """With D = 2h + 1 and r = h + 1, X = U + D Z: U uniform on -h..h, Z two-sided geometric."""
    D = 2 * half + 1
    law, jumps = DiscreteStaircase.half_step(alpha=alpha, sensitivity=D), Geometric(alpha=alpha)
    assert law.step == half + 1
    for x in range(-3 * D, 3 * D + 1):
        assert law.pmf(x) == jumps.pmf((x + half) // D) / D


@given(rational_laws(), st.integers(1, 6))
def test_moments_equal_their_series(law, m):
    period = law.sensitivity if isinstance(law, DiscreteStaircase) else 1
    x = np.arange(1, max(4000, int(80 * period / law.level.epsilon_float)))  # what is left out is below e^-80 x^6
    series = 2 * np.sum(law.pmf(x) * x.astype(float) ** m)
    assert float(law.moment(m)) == pytest.approx(series, rel=1e-11)
    assert isinstance(law.moment(m), Fraction)


@given(st.sampled_from(["1/20", "1/2", 1, 3, 10]), st.integers(1, 40))
def test_the_absolute_and_squared_costs_have_the_forms_of_the_paper(epsilon, D):
    """E|X| = 2 a [D b (r + b(D-r))/(1-b)^2 + (r(r-1) + b (D(D-1) - r(r-1)))/(2 (1-b))]."""
    law = DiscreteStaircase(epsilon, D)
    b, r = math.exp(-float(Fraction(epsilon))), law.step
    a = (1 - b) / (2 * r + 2 * b * (D - r) - (1 - b))
    inner = (r * (r - 1) + b * (D * (D - 1) - r * (r - 1))) / (2 * (1 - b))
    assert law.moment(1) == pytest.approx(2 * a * (D * b * (r + b * (D - r)) / (1 - b) ** 2 + inner), rel=1e-12)
    assert law.mean() == 0


# Agreement of floats, fractions and intervals


@given(laws_and_points())
def test_floats_are_right_to_the_last_bits_in_both_tails(case):
    """pmf, cdf and ccdf at any depth down to 1e-300, against intervals of 1300 bits."""
    law, x = case
    for value, enclosure in (
        (law.pmf(np.array([x]))[0], law.pmf_interval(x, 1300)),
        (law.cdf(np.array([x]))[0], law.cdf_interval(x, 1300)),
        (law.ccdf(np.array([x]))[0], law.cdf_interval(-x - 1, 1300)),
        (law.cdf(float(x)) if abs(x) < 2**53 else law.cdf(x), law.cdf_interval(x, 1300)),
    ):
        assert abs(Fraction(float(value)) / enclosure.lower - 1) < Fraction(1, 10**15)


@given(laws_and_points())
def test_the_logarithm_is_right_to_the_last_bits(case):
    law, x = case
    enclosure = law.pmf_interval(x, 1400)
    with localcontext(prec=80):
        exact = Decimal(enclosure.low).ln() - 1400 * Decimal(2).ln()
    assert law.logpmf(x) == pytest.approx(float(exact), rel=1e-15, abs=1e-300)


@given(rational_laws(), st.integers(-40, 40))
def test_fractions_lie_in_the_intervals(law, x):
    assert law.pmf_interval(x, 200).contains(law.pmf(x))
    assert law.cdf_interval(x, 200).contains(law.cdf(x))


def test_the_logarithm_outlives_the_probability():
    law = Geometric(1)
    assert law.pmf(np.array([10**6])).tolist() == [0.0]
    assert law.logpmf(10**6) == pytest.approx(-(10**6) + math.log(math.tanh(0.5)), rel=1e-15)
    assert law.logpmf(10**40) == pytest.approx(-1e40)


def test_scipys_two_sided_geometric_agrees():
    x = np.arange(-30, 31)
    law, other = Geometric("0.7"), stats.dlaplace(0.7)
    np.testing.assert_allclose(law.pmf(x), other.pmf(x), rtol=1e-13)
    np.testing.assert_allclose(law.cdf(x), other.cdf(x), rtol=1e-13)
    np.testing.assert_allclose(law.ccdf(x), other.sf(x), rtol=1e-10, atol=1e-16)


@given(real_epsilon_laws())
def test_moments_survive_every_level_and_sensitivity(law):
    """A float moment is the middle of an interval: compare with the Gaussian limit where epsilon is small."""
    assert law.variance() >= law.moment(1) ** 2 * (1 - 1e-15)
    if isinstance(law, Geometric):
        x = float(law.ratio.epsilon_float)
        assert law.moment(1) == pytest.approx(1 / math.sinh(x), rel=1e-14)
        assert law.variance() == pytest.approx(1 / (2 * math.sinh(x / 2) ** 2), rel=1e-14)


# Kinds of numbers


def test_the_argument_decides_the_kinds_of_numbers():
    law = DiscreteStaircase(alpha="1/2", sensitivity=3, step=2)
    assert law.pmf(0) == Fraction(1, 9)
    assert law.pmf(np.int64(2)) == Fraction(1, 18)
    assert isinstance(law.pmf(0.0), float)
    assert law.pmf([0, 2]).dtype == np.float64
    exact = law.cdf(np.array([0, -1], dtype=object))
    assert exact.tolist() == [Fraction(5, 9), Fraction(4, 9)]
    assert law.pmf(np.zeros((2, 3), int)).shape == (2, 3)
    assert law.pmf([]).shape == (0,)
    assert law.pmf(np.zeros((0,), object)).dtype == object
    irrational = DiscreteStaircase(1, 3)
    assert isinstance(irrational.pmf(0), float)
    assert isinstance(irrational.cdf(Fraction(1, 2)), float)


def test_points_between_the_integers():
    """The mass there is 0, and cdf is the step function it should be."""
    law = Geometric(alpha="1/2")
    assert law.pmf(Fraction(1, 2)) == 0
    assert law.pmf([0.5, 1.0]).tolist() == [0.0, law.pmf(1.0)]
    assert law.logpmf(0.5) == -math.inf
    assert law.pmf(np.array([Fraction(1, 2), 1], dtype=object)).tolist() == [0, Fraction(1, 6)]
    assert law.cdf(Fraction(3, 2)) == law.cdf(1)
    assert law.cdf(-0.5) == law.cdf(-1.0)


@pytest.mark.parametrize("x", [2**63 - 1, -(2**63), 2**64 - 1, 10**30, 1e300])
def test_points_beyond_int64_do_not_wrap(x):
    law = Geometric("1e-6", 10**9)
    points = np.array([x], dtype=None if abs(x) < 2**64 else (float if isinstance(x, float) else object))
    if points.dtype != object:
        assert law.pmf(points)[0] == 0.0
        assert law.cdf(points)[0] == (x > 0)
    assert law.logpmf(x) == pytest.approx(-abs(x) * 1e-15 + math.log(5e-16), rel=1e-12)


def test_integer_arrays_of_every_width():
    law = DiscreteStaircase(1, 5)
    expected = law.pmf([0, 1, 5, 100])
    for kind in (np.int8, np.int16, np.uint8, np.uint64, np.float32):
        np.testing.assert_array_equal(law.pmf(np.array([0, 1, 5, 100], kind)), expected)
    assert law.pmf(np.array([-128], np.int8))[0] == law.pmf(128.0)


# Parameters


def test_levels_and_parameters_are_kept():
    law = DiscreteStaircase(alpha="1/4", sensitivity="5", step=2)
    assert (law.alpha, law.sensitivity, law.step, law.numbers, law.support) == (
        Fraction(1, 4),
        5,
        2,
        *2 * ("integers",),
    )
    assert Geometric(0.5).epsilon == Fraction(1, 2)
    assert Geometric(level(alpha="1/2")).alpha == Fraction(1, 2)
    assert isinstance(law, Law)


@pytest.mark.parametrize(
    "law",
    [
        Geometric(1),
        Geometric(alpha="1/3", sensitivity=7),
        DiscreteStaircase("0.3", 5),
        DiscreteStaircase(1, 6, costs.squared),
        DiscreteStaircase(alpha="1/3", sensitivity=4, step=4),
        DiscreteStaircase(level(alpha="1/2").scaled("1/3"), 4),
    ],
)
def test_laws_are_values(law):
    """Equal, hashed, pickled and printed as the law they are."""
    copy = pickle.loads(pickle.dumps(law))
    assert copy == law
    assert hash(copy) == hash(law)
    assert eval(repr(law), {"Geometric": Geometric, "DiscreteStaircase": DiscreteStaircase, "level": level}) == law
    with pytest.raises(AttributeError):
        law.sensitivity = 3


def test_equal_laws_are_equal_distributions():
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
    assert "(quartic, squared)" in DiscreteStaircase(1, 60, quartic).theorem


def quartic(x):
    return abs(x) ** 4.0
