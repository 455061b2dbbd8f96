"""A level keeps what was given, orders exactly, and reports epsilon rounded up."""

import pickle
from decimal import Decimal
from fractions import Fraction
from math import exp, inf, nextafter

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import NotALevel
from utmost.exact import level, round_down, round_up

alphas = st.fractions(min_value=Fraction(1, 10**6), max_value=Fraction(10**6 - 1, 10**6), max_denominator=10**6)
epsilons = st.fractions(min_value=Fraction(1, 10**6), max_value=50, max_denominator=10**6)
factors = st.fractions(min_value=Fraction(1, 60), max_value=60, max_denominator=60)


@given(epsilons)
def test_a_rational_epsilon_is_kept(epsilon):
    made = level(epsilon=epsilon)
    assert made.epsilon == epsilon
    assert not made.is_rational, "a power of e is transcendental"
    assert made.alpha == pytest.approx(exp(-epsilon), rel=1e-15)


@given(alphas)
def test_a_rational_alpha_is_kept_and_its_epsilon_is_rounded_up(alpha):
    made = level(alpha=alpha)
    assert made.alpha == made.alpha_fraction() == alpha
    flint.ctx.prec = 200
    truth = -flint.arb(flint.fmpq(alpha.numerator, alpha.denominator)).log()
    assert bool(flint.arb(made.epsilon) >= truth)
    assert bool(flint.arb(nextafter(made.epsilon, 0)) < truth), "up by less than one float"


@given(alphas, factors)
def test_alpha_is_rational_exactly_when_the_root_exists(alpha, factor):
    """(alpha^q)^(p/q) = alpha^p is seen to be rational whatever p/q is."""
    assert level(alpha=alpha**factor.denominator).scaled(factor).alpha_fraction() == alpha**factor.numerator


@given(alphas, factors)
def test_scaling_multiplies_epsilon(alpha, factor):
    made = level(alpha=alpha)
    assert made.scaled(factor).epsilon_float == pytest.approx(float(factor) * made.epsilon_float, rel=1e-14)
    assert made.scaled(factor).scaled(1 / factor) == made


@given(alphas, alphas, factors)
def test_order_is_the_order_of_epsilon(a, b, factor):
    lower, higher = level(alpha=max(a, b)), level(alpha=min(a, b))
    assert lower <= higher
    assert (lower == higher) == (a == b)
    assert (lower.scaled(factor) < lower) == (factor < 1)


@given(epsilons)
def test_order_between_the_two_kinds_is_decided_by_refinement(epsilon):
    """A rational within 1e-40 of exp(-epsilon) still falls on its own side."""
    made = level(epsilon=epsilon)
    near = made.alpha_interval(140)
    assert level(alpha=near.lower - Fraction(1, 2**139)) > made
    assert level(alpha=near.upper) < made


@pytest.mark.parametrize("made", [level(alpha="1/4"), level(epsilon=1), level(alpha="1/2").scaled("1/5")])
def test_levels_are_values(made):
    assert pickle.loads(pickle.dumps(made)) == made
    assert hash(pickle.loads(pickle.dumps(made))) == hash(made)
    assert level(epsilon=made) is made


def test_equal_levels_are_equal_however_written():
    assert level(alpha="1/4") == level(alpha="1/2").scaled(2)
    assert level(epsilon=0.5) == level(epsilon="1/2") == level(epsilon=Decimal("0.5"))


def test_extreme_levels_stay_accurate():
    """1 - alpha = 1e-15 and smaller is where exp and log in floats lose every digit."""
    assert level(epsilon="1e-6").scaled(Fraction(1, 10**9)).epsilon_float == 1e-15
    assert level(alpha=1 - Fraction(1, 10**30)).epsilon_float == pytest.approx(1e-30, rel=1e-15)
    assert level(epsilon=700).alpha == pytest.approx(exp(-700), rel=1e-13)
    assert level(alpha=Fraction(1, 2)).scaled(10**9).epsilon == pytest.approx(693147180.559945)


@given(st.fractions())
def test_directed_rounding_brackets_the_number_within_one_float(x):
    assert Fraction(round_down(x)) <= x <= Fraction(round_up(x))
    assert round_up(x) in (round_down(x), nextafter(round_down(x), inf))


def test_directed_rounding_overflows_outward():
    assert round_up(10**400) == inf
    assert round_down(-(10**400)) == -inf


def test_a_level_that_cannot_be_printed_is_refused():
    """Python prints integers of up to 4300 digits; the refusal must be printable, too."""
    for one in ({"epsilon": "9" * 5000}, {"epsilon": 10**5000}, {"alpha": "1e-5000"}, {"epsilon": "1e-5000"}):
        with pytest.raises(NotALevel, match="4000 digits"):
            level(**one)
    assert "too many digits" in str(NotALevel("epsilon must be positive", came=-(10**5000)))


def test_no_bound_is_a_negative_zero():
    """A printed interval began at -0."""
    assert str(round_down(Fraction(0))) == str(round_up(Fraction(0))) == "0.0"
