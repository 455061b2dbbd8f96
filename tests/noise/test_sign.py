from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

# Two routes to one number are compared; a public law takes whichever suits its parameters.
from utmost.core.noise.polynomials import is_zero, sign
from utmost.exact import level

alphas = st.fractions(min_value=Fraction(1, 30), max_value=Fraction(29, 30), max_denominator=30)
coefficients = st.dictionaries(st.integers(0, 12), st.integers(-20, 20), max_size=5)


@given(alphas, coefficients)
def test_signs_at_rational_alpha_equal_exact_arithmetic(alpha, terms):
    value = sum(c * alpha**n for n, c in terms.items())
    assert sign(level(alpha=alpha), terms) == (value > 0) - (value < 0)


@given(alphas, coefficients, st.integers(1, 12))
def test_a_multiple_of_a_vanishing_polynomial_is_zero(alpha, terms, n):
    """(x - alpha) p(x) vanishes at alpha, in whatever power of alpha the level is written."""
    product = {}
    for k, c in terms.items():
        product[k + 1] = product.get(k + 1, 0) + c
        product[k] = product.get(k, 0) - c * alpha
    assert sign(level(alpha=alpha), product) == 0
    root = level(alpha=alpha).scaled(Fraction(1, n))
    assert sign(root, {n * k: c for k, c in product.items()}) == 0


def test_a_square_root_can_tie_and_is_seen_to():
    """b = 3^(-1/2): 9 b^3 = 3 b, though b itself is irrational."""
    root = level(alpha="1/3").scaled("1/2")
    assert sign(root, {3: 9, 1: -3}) == 0
    assert sign(root, {3: 9, 1: -3, 0: Fraction(1, 10**400)}) == 1


def test_a_transcendental_alpha_is_never_a_root():
    """e^-1 agrees with this fraction to 300 digits, and is distinguished."""
    near = level(1).alpha_interval(1000).lower
    assert sign(level(1), {1: 1, 0: -near}) == 1
    assert not is_zero(level(1), {1: Fraction(1), 0: -near})


def test_exponents_may_be_huge():
    third = level(alpha="1/3")
    assert sign(third, {10**12: 1, 10**12 + 1: -3}) == 0
    assert sign(third, {10**12: 1, 10**12 + 1: -2}) == 1
    assert not is_zero(third, {10**12: Fraction(1), 0: Fraction(-1)})


@pytest.mark.parametrize("terms", [{}, {0: 0}, {3: 0}])
def test_the_zero_polynomial_is_zero(terms):
    assert sign(level(1), terms) == 0
