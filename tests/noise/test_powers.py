import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

# Two routes to one number are compared; a public law takes whichever suits its parameters.
from utmost.core.noise.powers import ExactPowers, FloatPowers, IntervalPowers
from utmost.errors import Unsupported
from utmost.exact import level

epsilons = st.fractions(min_value=Fraction(1, 10**15), max_value=60)


@given(epsilons, st.floats(0, 690))
def test_float_powers_agree_with_intervals_down_to_1e_300(epsilon, depth):
    """exp(-k epsilon) for k up to 10^17, where a product of two floats would lose a dozen bits."""
    given_level, k = level(epsilon), int(Fraction(depth) / epsilon)
    value = float(FloatPowers(given_level).power(np.array([k], dtype=object))[0])
    enclosure = IntervalPowers(given_level, 1200).power(k)
    assert abs(Fraction(value) / enclosure.lower - 1) < Fraction(5, 10**16)


@given(epsilons)
def test_the_complement_does_not_cancel(epsilon):
    """1 - alpha by expm1 against intervals."""
    value = FloatPowers(level(epsilon)).complement
    assert abs(Fraction(value) / IntervalPowers(level(epsilon), 300).complement.lower - 1) < Fraction(5, 10**16)


@given(st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000)), st.integers(0, 200))
def test_exact_powers_lie_in_the_intervals(alpha, k):
    given_level = level(alpha=alpha)
    assert IntervalPowers(given_level, 256).power(k).contains(ExactPowers(given_level).power(k))
    assert ExactPowers(given_level).power(k) == alpha**k


def test_a_fraction_of_two_megabytes_is_refused_with_the_remedy():
    with pytest.raises(Unsupported, match="logpmf"):
        ExactPowers(level(alpha="1/3")).power(10**8)


def test_powers_underflow_quietly():
    powers = FloatPowers(level(1))
    assert powers.power(np.array([800, 10**17])).tolist() == [0.0, 0.0]
    assert powers.power(np.array([10**400], dtype=object)).tolist() == [0.0]
    assert powers.exponent(np.array([10**17])).tolist() == [-1e17]


def test_epsilon_is_kept_to_twice_the_precision():
    epsilon = FloatPowers(level(alpha="1/3")).epsilon
    assert float(epsilon.high) == pytest.approx(math.log(3), rel=1e-16)
    exact = level(alpha="1/3").epsilon_interval(300).lower
    assert abs(Fraction(float(epsilon.high)) + Fraction(float(epsilon.low)) - exact) < Fraction(1, 1 << 104)
