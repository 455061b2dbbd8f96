"""The joint distribution: the same whatever the order of requests, private at the largest level, and no less."""

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import OutOfRange
from utmost.exact import level
from utmost.gradual import Bridge, Relaxing, Tightening, correlation, expected_change, joint_pmf, largest_ratio
from utmost.noise import Geometric

alphas = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20)
triples = st.lists(alphas, min_size=3, max_size=3, unique=True).map(
    lambda drawn: [level(alpha=a) for a in sorted(drawn, reverse=True)]
)


def probability_of_requests(order, noise):
    """The probability that answering the levels in this order gives this noise: one transition per request."""
    known = {}
    total = Fraction(1)
    for at in order:
        lower = max((one for one in known if one < at), default=None)
        higher = min((one for one in known if at < one), default=None)
        if lower is None and higher is None:
            total *= Geometric(alpha=at.alpha).pmf(noise[at])
        elif higher is None:
            total *= Relaxing(lower, at).pmf(noise[at], known[lower])
        elif lower is None:
            total *= Tightening(at, higher).pmf(noise[at] - known[higher])
        else:
            bridge = Bridge(lower, at, higher)
            total *= bridge.pmf(noise[at] - known[higher], known[lower] - known[higher])
        known[at] = noise[at]
    return total


@settings(max_examples=5)
@given(triples)
def test_every_order_of_three_requests_has_the_same_joint_distribution(levels):
    """R3: 6 orders, every noise of a small domain, equal as rationals."""
    for values in product((-2, 0, 1), repeat=3):
        noise = dict(zip(levels, values, strict=True))
        expected = joint_pmf(values, levels)
        for order in permutations(levels):
            assert probability_of_requests(order, noise) == expected
            assert joint_pmf([noise[one] for one in order], order) == expected


@settings(max_examples=5)
@given(triples)
def test_any_set_of_levels_is_private_at_the_largest_and_no_less(levels):
    """b P(v) <= P(v + 1) <= P(v)/b for the smallest alpha b, with equality somewhere."""
    for chosen in (levels[:1], levels[:2], levels[::2], levels):
        b = min(one.alpha for one in chosen)
        ratios = []
        for values in product(range(-2, 3), repeat=len(chosen)):
            here = joint_pmf(values, chosen)
            there = joint_pmf([v + 1 for v in values], chosen)
            ratios.append(there / here)
        assert set(ratios) == {b, 1 / b}


@settings(max_examples=5)
@given(triples)
def test_summing_out_a_level_gives_the_joint_distribution_of_the_rest(levels):
    """Each margin is the joint distribution of the levels left (to the mass that a finite sum leaves out)."""
    lower, at, higher = levels
    reach = math.ceil(60 / min(one.epsilon_float for one in levels))
    middle = np.arange(-reach, reach + 1)
    for x, y in ((0, 0), (3, 1), (-2, 1)):
        total = joint_pmf([x, middle, y], [lower, at, higher]).sum()
        assert total == pytest.approx(float(joint_pmf([x, y], [lower, higher])), rel=1e-12)


def test_equal_levels_give_equal_responses():
    half = level(alpha="1/2")
    assert joint_pmf([1, 1], [half, half]) == Geometric(alpha="1/2").pmf(1)
    assert joint_pmf([1, 0], [half, half]) == 0


@given(triples)
def test_correlation_and_expected_change(levels):
    """Cov(V_1, V_2) = Var V_2; E|V_1 - V_2| by summing the joint distribution."""
    lower, _, higher = levels
    one, other = (Geometric(alpha=x.alpha).variance() for x in (lower, higher))
    assert correlation(lower, higher) == correlation(higher, lower) == pytest.approx(math.sqrt(other / one))
    W, k = Tightening(lower, higher), np.arange(1, math.ceil(45 / lower.epsilon_float))
    assert expected_change(higher, lower) == pytest.approx(2 * (k * W.pmf(k)).sum())
    assert (correlation(higher, higher), expected_change(higher, higher)) == (1, 0)


def test_small_levels_behave_like_laplace_noise():
    """Correlation e_1/e_2 and E|V_1 - V_2| = (1 - (e_1/e_2)^2)/e_1, as epsilon goes to 0."""
    one, other = level(epsilon="1e-6"), level(epsilon="3e-6")
    assert correlation(one, other) == pytest.approx(1 / 3, rel=1e-11)
    assert expected_change(one, other) == pytest.approx((1 - 1 / 9) / 1e-6, rel=1e-11)


def test_one_noise_for_each_level():
    with pytest.raises(OutOfRange, match="the same length"):
        joint_pmf([1], [])
    with pytest.raises(OutOfRange, match="the same length"):
        joint_pmf([1, 2], [level(epsilon=1)])


def test_a_distribution_of_too_many_points_is_refused():
    """Three levels of 217 values each have more than 10^7 points."""
    levels = [level(alpha=f"1/{k}") for k in (2, 3, 4)]
    with pytest.raises(OutOfRange, match="points"):
        largest_ratio(levels, reach=108)
