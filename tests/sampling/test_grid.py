"""Snapping by floor is exact and keeps the sensitivity; the grid hangs on the law alone."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from utmost.errors import NotANumber, OutOfRange
from utmost.exact import level
from utmost.noise import DiscreteStaircase, Geometric, Laplace, Staircase
from utmost.sampling.draw import on_grid
from utmost.sampling.grid import (
    chosen_exponent,
    declared_exponent,
    snapped,
    snapped_exactly,
    steps,
    unsnapped,
    unsnapped_one,
)

floats = st.floats(allow_nan=False, allow_infinity=False)
exponents = st.one_of(st.integers(-1023, 1074), st.integers(-70, 70))
sensitivities = st.one_of(
    st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(5, 2), Fraction(1, 3), Fraction(2) ** -60]),
    st.fractions(Fraction(1, 10**9), 10**9),
)


def true_floor(x, exponent):
    return math.floor(Fraction(x) * Fraction(2) ** exponent)


@given(st.lists(floats, max_size=6), exponents)
@example([-5e-324, 5e-324, -0.0, 1.7976931348623157e308], -3)
@example([-5e-324, 2.2250738585072014e-308], 1074)
@example([2.0**61, -(2.0**61), 2.0**62, 2.0**63], 0)
@example([-1.0, -(2.0**60)], -70)
def test_snapping_is_the_exact_floor(values, exponent):
    """floor(x 2^k) in rationals, for tiny, huge, negative and subnormal floats, on fine and coarse grids."""
    want = [true_floor(x, exponent) for x in values]
    assert snapped(np.array(values, np.float64), exponent).tolist() == want
    assert [snapped_exactly(x, exponent) for x in values] == want


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4), exponents)
@example([2**53 + 1, -(2**61) - 1], 0)  # no float holds them
def test_machine_integers_are_snapped_exactly_too(values, exponent):
    want = [true_floor(x, exponent) for x in values]
    assert snapped(np.array(values, np.int64), exponent).tolist() == want
    positive = [abs(x) for x in values]
    assert snapped(np.array(positive, np.uint64), exponent).tolist() == [true_floor(x, exponent) for x in positive]


@pytest.mark.parametrize("kind", ["f2", "f4", "i1", "u2", "i4"])
def test_narrow_numbers_are_snapped_exactly(kind):
    values = np.array([0, 1, 3, 100, -7 if kind[0] != "u" else 7], kind)
    for exponent in (-2, 0, 5, 40):
        assert snapped(values, exponent).tolist() == [true_floor(x, exponent) for x in values.tolist()]


@pytest.mark.parametrize("value", [Fraction(1, 3), Decimal("0.1"), Decimal("-1e-40"), 10**40, -1])
def test_exact_numbers_are_snapped_as_they_are(value):
    for exponent in (-50, 0, 50):
        assert snapped_exactly(value, exponent) == true_floor(Fraction(value), exponent)


@given(floats, floats, sensitivities, st.integers(-30, 90))
@example(0.1, 0.30000000000000004, Fraction(1, 5), 52)
@example(-0.5, 0.5, Fraction(1), 0)
@example(-5e-324, 5e-324, Fraction(1, 10), 10)
def test_values_within_the_sensitivity_stay_within_it_on_the_grid(x, y, sensitivity, exponent):
    """|x - y| <= Delta implies |floor(x/g) - floor(y/g)| <= ceil(Delta/g), for the reals that the floats are."""
    near = Fraction(x) + max(-sensitivity, min(sensitivity, Fraction(y) - Fraction(x)))
    assert abs(true_floor(near, exponent) - true_floor(x, exponent)) <= steps(sensitivity, exponent)
    if abs(Fraction(x) - Fraction(y)) <= sensitivity:
        a, b = snapped(np.array([x, y]), exponent).tolist()
        assert abs(a - b) <= steps(sensitivity, exponent)


@given(sensitivities, exponents)
def test_the_sensitivity_on_the_grid_is_not_rounded_up_in_vain(sensitivity, exponent):
    D, width = steps(sensitivity, exponent), Fraction(2) ** -exponent
    assert (D - 1) * width < sensitivity <= D * width
    if (sensitivity / width).denominator == 1:
        assert D * width == sensitivity


def test_rounding_to_nearest_would_not_keep_the_sensitivity():
    """Planted: ties to even put 1/2 and 3/2 two apart, where floor keeps them one apart."""
    values = np.array([0.5, 1.5])
    assert np.diff(np.rint(values)).tolist() == [2.0]
    assert np.diff(snapped(values, 0)).tolist() == [1]


@given(st.lists(st.one_of(st.integers(-(2**53), 2**53), st.integers(-(2**62), 2**62)), max_size=5), exponents)
def test_grid_points_become_the_nearest_floats(values, exponent):
    """Exact below 2^53 steps while the grid is no finer than the floats there; nearest beyond; never infinite."""
    machine = unsnapped(np.array(values, np.int64), exponent).tolist()
    single = [unsnapped_one(n, exponent) for n in values]
    assert machine == single or exponent > 1000  # there, a float may be subnormal and rounded once more
    for n, x in zip(values, single, strict=True):
        true = n * Fraction(2) ** -exponent
        assert math.isfinite(x)
        if abs(n) <= 2**53 and abs(exponent) < 900:
            assert Fraction(x) == true
            assert snapped_exactly(x, exponent) == n


def test_beyond_the_floats_lies_the_largest_one():
    largest = 1.7976931348623157e308
    assert unsnapped(np.array([2**62, -(2**62), 3]), -1000).tolist() == [largest, -largest, 3 * 2.0**1000]
    assert unsnapped(np.array([10**400, -(10**400), 1], object), 0).tolist() == [largest, -largest, 1.0]
    assert unsnapped(np.array([], object), 3).shape == (0,)


@given(sensitivities, st.fractions(Fraction(1, 10**6), 50))
def test_the_chosen_grid_is_fine_enough_and_no_finer(sensitivity, epsilon):
    k = chosen_exponent(sensitivity, level(epsilon))
    wanted = 20 + float(epsilon) * math.log2(math.e) / 2 - math.log2(sensitivity)
    assert wanted - 1e-9 <= k < wanted + 1 + 1e-9


@pytest.mark.parametrize(("digits", "epsilon"), [(-400, 1), (400, 1), (0, "1e9"), (-5000, "1e9")])
def test_the_chosen_grid_stays_among_the_floats(digits, epsilon):
    assert -1023 <= chosen_exponent(Fraction(10) ** digits, level(epsilon)) <= 1074


@pytest.mark.parametrize("epsilon", ["0.01", "1", "5", "20"])
@pytest.mark.parametrize("sensitivity", ["1", "5/2", "1/10", "1000000"])
def test_noise_on_the_chosen_grid_costs_a_millionth_more_at_most(epsilon, sensitivity):
    """E|X| and E X^2 of the discrete law, in units of the data, against the continuous ones."""
    for law in (Laplace(epsilon=epsilon, sensitivity=sensitivity), Staircase(epsilon=epsilon, sensitivity=sensitivity)):
        lattice, k = on_grid(law)
        for m in (1, 2):
            cost = float(lattice.moment(m)) * 2.0 ** (-k * m)
            assert cost == pytest.approx(float(law.moment(m)), rel=1e-6 * m)


def test_laws_on_the_reals_become_laws_on_the_grid():
    assert on_grid(Laplace(epsilon=1, sensitivity=2), "1/4") == (Geometric(epsilon=1, sensitivity=8), 2)
    assert on_grid(Laplace(epsilon=1, sensitivity="0.3"), "1/4") == (Geometric(epsilon=1, sensitivity=2), 2)
    assert on_grid(Laplace(alpha="1/2"), 8) == (Geometric(alpha="1/2", sensitivity=1), -3)
    for gamma, step in (
        (0, 1),
        (Fraction(1, 16), 1),
        (Fraction(1, 8), 2),
        (Fraction(1, 4), 3),
        (Fraction(1, 2), 5),
        (1, 8),
    ):
        law, k = on_grid(Staircase(epsilon=1, sensitivity=2, gamma=gamma), "1/4")
        odd = gamma == Fraction(1, 2)  # the half step stays one
        assert (law, k) == (DiscreteStaircase(epsilon=1, sensitivity=8 + odd, step=step), 2)
        assert abs(step - (8 * gamma + Fraction(1, 2))) <= Fraction(1, 2)
    geometric = Geometric(epsilon=1)
    assert on_grid(geometric) == (geometric, None)


@pytest.mark.parametrize("grid", [0, -1, "1/3", 3, 0.1, Fraction(2) ** 1024, Fraction(2) ** -1075, Fraction(3, 4)])
def test_a_width_that_is_no_power_of_two_is_refused(grid):
    with pytest.raises(OutOfRange, match="grid must be a power of two"):
        declared_exponent(grid)


@pytest.mark.parametrize("grid", [True, "fine", float("nan"), None])
def test_a_width_that_is_no_number_is_refused(grid):
    with pytest.raises(NotANumber):
        declared_exponent(grid)


@given(exponents)
def test_declared_widths_are_read_exactly(exponent):
    assert declared_exponent(Fraction(2) ** -exponent) == exponent


def test_a_law_on_the_integers_has_no_grid():
    with pytest.raises(OutOfRange, match="no grid"):
        on_grid(Geometric(epsilon=1), "1/4")
