"""Snapping to the nearest point is exact and keeps the sensitivity; the grid depends on the distribution alone."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

# The grid is compared in rationals: a release adds noise to what is snapped.
from utmost.core.sampling.grid import (
    FARTHEST,
    chosen_exponent,
    declared_exponent,
    snapped,
    steps,
    unsnapped,
    unsnapped_one,
)
from utmost.errors import NotANumber, OutOfRange
from utmost.exact import level, objects
from utmost.noise import DiscreteStaircase, Geometric, Laplace, Staircase
from utmost.sampling import on_grid

floats = st.floats(allow_nan=False, allow_infinity=False)
exponents = st.one_of(st.integers(-1023, 1074), st.integers(-70, 70))
sensitivities = st.one_of(
    st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(5, 2), Fraction(1, 3), Fraction(2) ** -60]),
    st.fractions(Fraction(1, 10**9), 10**9),
)


def true_place(x, exponent):
    """floor(x/g + 1/2), in rationals."""
    return math.floor(Fraction(x) * Fraction(2) ** exponent + Fraction(1, 2))


@given(st.lists(floats, max_size=6), exponents)
@example([-5e-324, 5e-324, -0.0, 1.7976931348623157e308], -3)
@example([-5e-324, 2.2250738585072014e-308], 1074)
@example([2.0**61, -(2.0**61), 2.0**62, 2.0**63], 0)
@example([-1.0, -(2.0**60)], -70)
@example([0.5, -0.5, 1.5, 0.49999999999999994, -0.5000000000000001, 2.0**52 + 0.5], 0)
@example([2.0**1022, -(2.0**1022), 8.98846567431158e307], -1023)
def test_snapping_is_exact(values, exponent):
    """As in rationals, for tiny, huge, negative and subnormal floats, ties among them, on fine and coarse grids."""
    want = [true_place(x, exponent) for x in values]
    assert snapped(np.array(values, np.float64), exponent).tolist() == want
    assert snapped(objects(values), exponent).tolist() == want


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4), exponents)
@example([2**63 - 1, -(2**63), 2**62 - 1, 2**62], 0)
@example([2**53 + 1, -(2**61) - 1], 0)  # no float holds them
def test_machine_integers_are_snapped_exactly_too(values, exponent):
    want = [true_place(x, exponent) for x in values]
    assert snapped(np.array(values, np.int64), exponent).tolist() == want
    positive = [abs(x) for x in values]
    want = [true_place(x, exponent) for x in positive]
    assert snapped(np.array(positive, np.uint64), exponent).tolist() == want


@pytest.mark.parametrize("kind", ["f2", "f4", "i1", "u2", "i4"])
def test_narrow_numbers_are_snapped_exactly(kind):
    values = np.array([0, 1, 3, 100, -7 if kind[0] != "u" else 7], kind)
    for exponent in (-2, 0, 5, 40):
        assert snapped(values, exponent).tolist() == [true_place(x, exponent) for x in values.tolist()]


@pytest.mark.parametrize(
    "value", [Fraction(np.int64(2**62), 3), Fraction(1, 3), Decimal("0.1"), Decimal("-1e-40"), 10**40, -1]
)
def test_exact_numbers_are_snapped_as_they_are(value):
    for exponent in (-50, 0, 50):
        exact = Fraction(*map(int, value.as_integer_ratio()))
        assert snapped(objects([value]), exponent).tolist() == [true_place(exact, exponent)]


@given(floats, floats, sensitivities, st.integers(-30, 90))
@example(0.1, 0.30000000000000004, Fraction(1, 5), 52)
@example(-0.5, 0.5, Fraction(1), 0)
@example(-5e-324, 5e-324, Fraction(1, 10), 10)
def test_values_within_the_sensitivity_stay_within_it_on_the_grid(x, y, sensitivity, exponent):
    """|x - y| <= Delta implies |n(x) - n(y)| <= ceil(Delta/g), for the reals that the floats are."""
    near = Fraction(x) + max(-sensitivity, min(sensitivity, Fraction(y) - Fraction(x)))
    apart = true_place(near, exponent) - true_place(x, exponent)
    assert abs(apart) <= steps(sensitivity, exponent)
    if abs(Fraction(x) - Fraction(y)) <= sensitivity:
        a, b = snapped(np.array([x, y]), exponent).tolist()
        assert abs(a - b) <= steps(sensitivity, exponent)


@pytest.mark.parametrize("width", [Fraction(1, 4), Fraction(1), Fraction(8)])
def test_the_sensitivity_on_the_grid_is_attained_and_never_passed(width):
    """Over all pairs of a fine lattice, ties among them: the largest difference is ceil(Delta/g), not one less."""
    exponent = declared_exponent(width)
    lattice = [Fraction(n, 16) * width for n in range(-32, 33)]
    places = dict(zip(lattice, snapped(objects(lattice), exponent).tolist(), strict=True))
    for share in (Fraction(1, 16), Fraction(1, 2), Fraction(15, 16), 1, Fraction(17, 16), 2, Fraction(5, 2)):
        far = max(abs(places[x] - places[y]) for x in lattice for y in lattice if abs(x - y) <= share * width)
        assert far == steps(share * width, exponent)


@given(st.lists(floats, max_size=6), st.integers(-60, 60))
def test_no_value_moves_by_more_than_half_a_step(values, exponent):
    """And it is the least that any rule can do: no point of the grid is nearer."""
    width = Fraction(2) ** -exponent
    for x, n in zip(values, snapped(np.array(values), exponent).tolist(), strict=True):
        assert -width / 2 <= n * width - Fraction(x) <= width / 2
    assert Fraction(1, 2) == FARTHEST


def test_rounding_is_unbiased():
    """Over values spread evenly over a step: the mean of what is left is 0."""
    values = (np.arange(1000) + 0.5) / 1000
    assert (snapped(values, 0) - values).mean() == pytest.approx(0, abs=1e-12)


@given(sensitivities, exponents)
def test_the_sensitivity_on_the_grid_is_not_rounded_up_in_vain(sensitivity, exponent):
    D, width = steps(sensitivity, exponent), Fraction(2) ** -exponent
    assert (D - 1) * width < sensitivity <= D * width
    if (sensitivity / width).denominator == 1:
        assert D * width == sensitivity


def test_ties_to_even_would_not_keep_the_sensitivity():
    """Planted: numpy's rounding puts 1/2 and 3/2 two apart, where ties upwards keep them one apart."""
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
            assert snapped(objects([x]), exponent).tolist() == [n]


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
    """E|X| and E X^2 of the discrete distribution, in units of the data, against the continuous ones."""
    for distribution in (
        Laplace(epsilon=epsilon, sensitivity=sensitivity),
        Staircase(epsilon=epsilon, sensitivity=sensitivity),
    ):
        lattice, k = on_grid(distribution)
        for m in (1, 2):
            cost = float(lattice.moment(m)) * 2.0 ** (-k * m)
            assert cost == pytest.approx(float(distribution.moment(m)), rel=1e-6 * m)


def test_distributions_on_the_reals_become_distributions_on_the_grid():
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
        distribution, k = on_grid(Staircase(epsilon=1, sensitivity=2, gamma=gamma), "1/4")
        odd = gamma == Fraction(1, 2)  # the half step stays one
        assert (distribution, k) == (DiscreteStaircase(epsilon=1, sensitivity=8 + odd, step=step), 2)
        assert abs(step - (8 * gamma + Fraction(1, 2))) <= Fraction(1, 2)
    geometric = Geometric(epsilon=1)
    assert on_grid(geometric) == (geometric, None)


@pytest.mark.parametrize("grid", [0, -1, "1/3", 3, 0.1, Fraction(2) ** 1024, Fraction(2) ** -1075, Fraction(3, 4)])
def test_a_width_that_is_no_power_of_two_is_refused(grid):
    with pytest.raises(OutOfRange, match="power of two"):
        declared_exponent(grid)


@pytest.mark.parametrize("grid", [True, "fine", float("nan"), None])
def test_a_width_that_is_no_number_is_refused(grid):
    with pytest.raises(NotANumber):
        declared_exponent(grid)


@given(exponents)
@example(-1023)
@example(1074)
def test_declared_widths_are_read_exactly(exponent):
    assert declared_exponent(Fraction(2) ** -exponent) == exponent


def test_a_distribution_on_the_integers_has_no_grid():
    with pytest.raises(OutOfRange, match="no grid"):
        on_grid(Geometric(epsilon=1), "1/4")


def test_how_far_snapping_moves_a_value_is_attained_and_never_passed():
    """Half a step."""
    values = np.array([Fraction(n, 64) for n in range(-200, 200)], object)
    moved = [abs(value * 8 - cell) for value, cell in zip(values, snapped(values, 3).tolist(), strict=True)]
    assert max(moved) == FARTHEST
