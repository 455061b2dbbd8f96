from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

# Two routes to one number are compared; a public law takes whichever suits its parameters.
from utmost.core.noise.polynomials import (
    eulerian,
    geometric_moment,
    geometric_moment_cleared,
    plus,
    power_sum,
    scaled,
    shifted_moment_cleared,
    times,
)
from utmost.core.noise.powers import ExactPowers, FloatPowers
from utmost.exact import level

alphas = st.fractions(min_value=Fraction(1, 50), max_value=Fraction(4, 5), max_denominator=50)


@given(st.integers(0, 9), st.integers(0, 40))
def test_faulhaber_equals_the_sum_itself(order, n):
    assert power_sum(order, n) == sum(j**order for j in range(n))


def test_power_sums_take_any_size():
    assert power_sum(1, 10**30) == 10**30 * (10**30 - 1) // 2


@given(st.integers(1, 12))
def test_eulerian_numbers_count_permutations(order):
    """They add up to order!, and read the same from both ends."""
    numbers = eulerian(order)
    total = 1
    for n in range(1, order + 1):
        total *= n
    assert sum(numbers) == total
    assert numbers[1:] == numbers[:0:-1]


@given(alphas, st.integers(0, 6))
def test_geometric_moments_equal_their_series(alpha, order):
    closed = geometric_moment(order, ExactPowers(level(alpha=alpha)))
    series = sum((1 - alpha) * alpha**k * k**order for k in range(400))
    assert float(series) == pytest.approx(float(closed), rel=1e-12)
    assert geometric_moment(order, FloatPowers(level(alpha=alpha))) == pytest.approx(float(closed), rel=1e-14)


@given(alphas, st.integers(0, 4), st.integers(0, 3))
def test_cleared_moments_are_moments_times_a_power_of_the_complement(alpha, i, more):
    value = sum(c * alpha**n for n, c in geometric_moment_cleared(i, i + more).items())
    assert value == geometric_moment(i, ExactPowers(level(alpha=alpha))) * (1 - alpha) ** (i + more)


@given(alphas, st.integers(1, 3), st.integers(1, 5), st.integers(0, 5))
def test_shifted_moments_equal_their_series(alpha, order, period, shift):
    value = sum(c * alpha**n for n, c in shifted_moment_cleared(order, period, shift).items()) / (1 - alpha) ** order
    series = sum((1 - alpha) * alpha**k * (k * period + shift) ** order for k in range(400))
    assert float(series) == pytest.approx(float(value), rel=1e-12)


def test_polynomials_add_multiply_and_scale():
    p, q = {0: 1, 2: 3}, {1: Fraction(1, 2)}
    assert plus(p, q) == {0: 1, 1: Fraction(1, 2), 2: 3}
    assert times(p, q) == {1: Fraction(1, 2), 3: Fraction(3, 2)}
    assert scaled(p, 2) == {0: 2, 2: 6}
