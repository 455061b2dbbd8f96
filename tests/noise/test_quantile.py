"""Quantiles and margins on the integers: decided exactly, ties included."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import NotANumber, OutOfRange
from utmost.exact import exact, level
from utmost.noise import DiscreteStaircase, Geometric

alphas = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20)
probabilities = st.fractions(min_value=Fraction(1, 10**6), max_value=1 - Fraction(1, 10**6))


@st.composite
def distributions(draw):
    D = draw(st.integers(1, 6))
    return DiscreteStaircase(alpha=draw(alphas), sensitivity=D, step=draw(st.integers(1, D)))


@given(distributions(), probabilities)
def test_a_quantile_is_the_least_integer_with_that_much_below(distribution, p):
    """cdf(k) >= p > cdf(k - 1)."""
    k = distribution.icdf(p)
    assert distribution.cdf(k) >= p > distribution.cdf(k - 1)
    k = distribution.iccdf(p)
    assert distribution.ccdf(k) <= p < distribution.ccdf(k - 1)


@given(distributions(), st.integers(-30, 30))
def test_a_tie_goes_to_the_integer_that_attains_it(distribution, k):
    """icdf(cdf(k)) = k, and the least more needs k + 1."""
    assert distribution.icdf(distribution.cdf(k)) == k
    assert distribution.icdf(distribution.cdf(k) + distribution.ccdf(k) / 10**40) == k + 1
    assert distribution.iccdf(distribution.ccdf(k)) == k


@given(distributions(), st.integers(0, 30))
def test_a_margin_covers_and_no_smaller_one_does(distribution, t):
    """margin(P(|X| <= t)) = t, ties included, and the least more needs t + 1."""
    covered = 1 - 2 * distribution.ccdf(t)
    assert distribution.margin(covered) == t
    assert distribution.margin(covered + (1 - covered) / 10**40) == t + 1


def test_a_tie_at_an_irrational_alpha_is_seen():
    """b = 3^(-1/2), D = 2, r = 1: T(2) = b (1 + b)/(1 + 3 b) = 1/3, a rational although b is not."""
    distribution = DiscreteStaircase(level(alpha="1/3").scaled("1/2"), 2, step=1)
    assert distribution.cdf_interval(-2, 400).contains(Fraction(1, 3))
    assert distribution.margin(Fraction(1, 3)) == 1
    assert distribution.margin(Fraction(1, 3) + Fraction(1, 10**300)) == 2
    assert distribution.icdf(Fraction(1, 3)) == -2
    assert distribution.icdf(Fraction(1, 3) + Fraction(1, 10**300)) == -1


@pytest.mark.parametrize(
    "distribution",
    [
        Geometric("1e-6", 10**9),
        Geometric(50),
        DiscreteStaircase("1e-6", 10**9),
        DiscreteStaircase(1, 10**9),
        DiscreteStaircase(50, 1000),
        Geometric("1e-40", 10**90),
    ],
)
@pytest.mark.parametrize("c", ["1e-9", 0.5, 0.95, "0.999999999", Fraction(10**300 - 1, 10**300)])
def test_margins_hold_at_every_level_and_sensitivity(distribution, c):
    """P(|X| <= t) >= c by intervals, and P(|X| <= t - 1) < c."""
    t, c = distribution.margin(c), exact(c)
    bits = 1100
    assert (1 - 2 * distribution.cdf_interval(-t - 1, bits)).upper >= c
    assert (2 * distribution.cdf_interval(-t - 1, bits)).lower <= 1 - c
    if t:
        assert (2 * distribution.cdf_interval(-t, bits)).upper > 1 - c


@pytest.mark.parametrize(
    "distribution",
    [
        Geometric(1),
        DiscreteStaircase("1/10", 7),
        Geometric("1e-6", 10**9),
        Geometric("1e-6", 10**12),
        DiscreteStaircase(3, 10**9),
    ],
)
def test_arrays_agree_with_single_numbers(distribution):
    """Floats settle what they can, exact arithmetic the rest: the same answers one by one."""
    p = np.array([1e-300, 1e-20, 0.01, 0.25, 0.4999999, 0.5, 0.500001, 0.75, 0.999, 1 - 1e-15])
    for method in (distribution.icdf, distribution.iccdf):
        together = method(p)
        assert together.dtype == (np.int64 if max(abs(k) for k in together.tolist()) < 2**63 else object)
        assert together.tolist() == [method(float(one)) for one in p]
        assert method(p.reshape(2, 5)).tolist() == together.reshape(2, 5).tolist()


def test_floats_that_leave_doubt_are_not_trusted():
    """Where a unit moves the tail by a few units in the last place, arrays still agree with exact decisions."""
    distribution, p = Geometric("1e-6", 3 * 10**9), np.random.default_rng(2).random(300)
    assert distribution.icdf(p).tolist() == [distribution.icdf(float(one)) for one in p]
    assert distribution.iccdf(p).tolist() == [distribution.iccdf(float(one)) for one in p]


def test_many_quantiles_invert_the_cdf():
    distribution, rng = DiscreteStaircase("1/3", 11), np.random.default_rng(1)
    p = rng.random(20_000)
    k = distribution.icdf(p)
    assert (distribution.cdf(k) >= p).all()
    assert (distribution.cdf(k - 1) < p).all()


def test_the_ends_are_infinite():
    distribution = Geometric(1)
    assert (distribution.icdf(0), distribution.icdf(1), distribution.iccdf(0), distribution.iccdf(1)) == (
        -math.inf,
        math.inf,
        math.inf,
        -math.inf,
    )
    assert distribution.icdf(np.array([0.0, 0.5, 1.0])).tolist() == [-math.inf, 0, math.inf]
    assert distribution.icdf(np.array([], float)).shape == (0,)


def test_a_float_is_read_as_the_decimal_it_prints():
    """cdf(0) = 9/10 exactly; the float 0.9 is a little above it and means 9/10."""
    distribution = Geometric(alpha="1/9")
    assert distribution.cdf(0) == Fraction(9, 10)
    assert distribution.icdf(0.9) == 0
    assert distribution.icdf(np.array([0.9])).tolist() == [0]
    assert distribution.margin(0.8) == 0


@pytest.mark.parametrize("p", [-0.1, 1.1, [0.5, 2.0], Fraction(3, 2)])
def test_probabilities_lie_between_zero_and_one(p):
    with pytest.raises(OutOfRange):
        Geometric(1).icdf(p)


@pytest.mark.parametrize("p", [True, float("nan"), "x", None, [0.5, float("nan")]])
def test_probabilities_are_numbers(p):
    with pytest.raises(NotANumber):
        Geometric(1).icdf(p)


@pytest.mark.parametrize("c", [0, 1, -1, 2, 1.0])
def test_a_confidence_lies_strictly_between_zero_and_one(c):
    with pytest.raises(OutOfRange, match="confidence"):
        Geometric(1).margin(c)


@pytest.mark.parametrize("distribution", [Geometric(1), DiscreteStaircase(1, 3, step=1)], ids=repr)
@pytest.mark.parametrize("p", [0.5, 0.25, 0.999])
def test_an_array_without_axes_is_answered(distribution, p):
    """A quantile of an array of shape () is that of its number, also where it takes an exact comparison."""
    assert distribution.icdf(np.asarray(p)) == distribution.icdf(p)
    assert distribution.iccdf(np.asarray(p)) == distribution.iccdf(p)
