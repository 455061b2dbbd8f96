from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

# Two routes to one number are compared; a public law takes whichever suits its parameters.
from utmost.core.noise.powers import Doubled

rationals = st.fractions(min_value=Fraction(1, 10**9), max_value=10**9)


def total(x):
    return Fraction(float(x.high)) + Fraction(float(x.low))


@given(rationals, rationals)
def test_products_keep_a_hundred_bits(x, y):
    assert abs(total(Doubled.of(x) * Doubled.of(y)) / (x * y) - 1) < Fraction(1, 1 << 100)


@given(rationals, rationals)
def test_differences_keep_a_hundred_bits_of_the_larger_term(x, y):
    assert abs(total(Doubled.of(x) - Doubled.of(y)) - (x - y)) <= max(x, y) / (1 << 100)


@given(st.integers(0, 10**30))
def test_integers_of_any_size_are_read_to_a_hundred_bits(n):
    for given_as in (n, np.array(n, dtype=object)):
        assert abs(total(Doubled.of(given_as)) - n) <= Fraction(n, 1 << 100)


@given(st.integers(0, (1 << 62) - 1))
def test_int64_is_read_exactly(n):
    assert total(Doubled.of(np.array(n))) == n


def test_what_is_out_of_reach_saturates_without_a_warning():
    huge = Doubled.of(10**400) * Doubled.of(Fraction(1))
    assert np.isfinite(huge.high)
    assert huge.high > 1e150
