"""All responses together reveal as much as the one at the highest level: profiles of the joint distribution, computed
here."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.exact import level
from utmost.gradual import joint_pmf
from utmost.noise import Geometric
from utmost.privacy_types import delta

alphas = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20)
ladders = st.lists(alphas, min_size=1, max_size=4, unique=True).map(
    lambda drawn: [level(alpha=a) for a in sorted(drawn, reverse=True)]
)
LEVELS = [level(alpha="2/3"), level(alpha="1/2"), level(epsilon=1)]


def excess(here, there, epsilon):
    """The hockey-stick divergence: the sum over outcomes of (P - e^epsilon Q) where it is positive."""
    return np.maximum(here - np.exp(epsilon) * there, 0).sum()


def joint(levels, reach, shift=0):
    """The joint distribution of the responses to the value ``shift``, as differences of neighbouring levels and the
    highest response."""
    highest = np.arange(-reach, reach + 1)
    steps = np.meshgrid(*[highest] * len(levels), indexing="ij")
    responses = list(np.cumsum(steps[::-1], axis=0))[::-1]  # the last axis is the response at the highest level
    return joint_pmf([one - shift for one in responses], levels)


@given(ladders, st.integers(-3, 3))
def test_the_response_at_the_highest_level_is_sufficient(levels, shift):
    """P(v)/P(v - d) depends only on the noise at the highest level, so every divergence is that of this level alone."""
    highest = Geometric(alpha=levels[-1].alpha_fraction())
    for v in product((-2, 0, 1), repeat=len(levels)):
        single = highest.pmf(v[-1]) / highest.pmf(v[-1] - shift)
        assert joint_pmf(v, levels) / joint_pmf([one - shift for one in v], levels) == single


@pytest.mark.parametrize("shift", [1, 2])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_profile_of_the_joint_distribution_is_that_of_the_highest_level(count, shift):
    """delta(epsilon) summed over the joint distribution equals that of the single mechanism, up to the omitted tail."""
    for levels in combinations(LEVELS, count):
        here, there = joint(levels, 40), joint(levels, 40, shift)
        assert here.sum() == pytest.approx(1, abs=1e-5)
        for epsilon in (0, 0.1, 0.5, 0.9, 1.3):
            single = float(delta(Geometric(levels[-1]), epsilon, shift=shift))
            assert excess(here, there, epsilon) == pytest.approx(single, abs=1e-5)


def test_independent_answers_tell_more():
    """The same sums with fresh noise at each level: this profile belongs to none of the levels."""
    distributions = [Geometric(one) for one in LEVELS]
    v = np.meshgrid(*[np.arange(-40, 41)] * 3, indexing="ij")
    here, there = (
        np.prod([distribution.pmf(x - s) for distribution, x in zip(distributions, v, strict=True)], axis=0)
        for s in (0, 1)
    )
    assert excess(here, there, 1) > 0.2
    assert float(delta(distributions[-1], 1)) == 0
