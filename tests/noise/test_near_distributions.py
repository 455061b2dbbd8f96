"""Bars that hold for sums that are nearly one distribution, also for chances that no float holds."""

from fractions import Fraction

import numpy as np
import pytest

# Chances that no float holds, which no table asks for.
from utmost.core.noise.near_distributions import NearDistribution, SpreadBound, heights_at, spread_margins, spreads
from utmost.noise import Combination


@pytest.mark.parametrize("digits", [2, 40, 300, 320, 400])
def test_a_bar_is_that_of_the_reference_and_of_the_spread(digits):
    """P(|D| > d) <= 2 exp(s^2 A/4 - s d): the margin for 10^-n is at most 2.4 n / s and something, and grows with n."""
    reference, spread = Combination([1, 2, "1/3"], 1), SpreadBound(0.01, 1.0)
    miss = Fraction(1, 10**digits)
    near, alone = (
        distribution.margin_for_miss(miss) for distribution in (NearDistribution(reference, spread), reference)
    )
    assert alone < near < alone * 1.1 + 3 * digits + 10
    assert spread.margin_for_miss(miss) > spread.margin_for_miss(10 * miss)
    if digits < 300:
        assert spread.margin_for_miss(miss) == pytest.approx(spread.margin_for_miss(float(miss)), rel=1e-9)


def test_a_sum_that_is_the_reference_has_next_to_no_spread():
    (found,) = spreads(np.zeros((1, 3)), np.ones(3), np.ones(3))
    assert 0 < found.margin_for_miss(1e-9) < 1e-9


@pytest.mark.parametrize("epsilons", [[1, 1, 1], ["1/1000", "1/2", 8], [60, 60, 900]])
@pytest.mark.parametrize("sizes", [[1, 0, 0], [1, 1, 1], [5, "1/3", 100], ["1/1000", 0, 1]])
def test_a_bar_by_the_variance_alone_is_beyond_that_of_the_distribution(epsilons, sizes):
    distribution = Combination(sizes, epsilons)
    edges, heights = heights_at(np.array([float(Fraction(of)) for of in epsilons]), 0.45)
    square = float(np.array([float(Fraction(size)) ** 2 for size in sizes]) @ heights)
    for miss in (Fraction(1, 3), Fraction(1, 20), Fraction(1, 10**9)):
        (far,) = spread_margins(np.array([square]), heights, edges, miss)
        assert distribution.tail(far) <= miss * Fraction(10**9 + 1, 10**9)
        assert distribution.margin_for_miss(miss) <= np.ceil(far * 1000) / 1000 + 1


def test_a_near_distribution_bounds_a_sum_of_its_own():
    """P(|T + D| > r) is never above what the distribution says, by an exact sum of both."""
    (spread,) = spreads(np.array([[0.05, 0.03]]), np.array([1.0, 2.0]), np.ones(2))
    distribution, other = (
        NearDistribution(Combination([1, "1/2"], [1, 2]), spread),
        Combination(["1.05", "0.53"], [1, 2]),
    )
    for sure in ("0.5", "0.9", "0.95", "0.999"):
        assert distribution.margin(sure) >= other.margin(sure) * (1 - 1e-9) - 0.02
        assert distribution.is_certified(distribution.margin(sure), 1 - Fraction(sure))
        assert distribution.tail(distribution.margin(sure)) <= 1
