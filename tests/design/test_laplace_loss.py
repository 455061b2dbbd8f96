"""What Laplace noise costs a consumer of a count: by quadrature, in closed form, and never below the least."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from utmost import losses, priors
from utmost.errors import Unsupported
from utmost.optima import laplace_loss
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, counts, discrete
from utmost.testing import strategies


def by_quadrature(alpha, consumer):
    """The integral over all responses of the least posterior loss, by floats."""
    epsilon, prior, loss = -math.log(alpha), consumer.prior.astype(float), consumer.loss.astype(float)
    secrets = np.arange(len(prior))

    def cost(y):
        return min((prior * np.exp(-epsilon * abs(y - secrets))) @ loss) * epsilon / 2

    far = 60 / epsilon
    ends = [-far, *secrets, len(prior) - 1 + far]
    return sum(quad(cost, low, high, limit=400)[0] for low, high in itertools.pairwise(ends))


@given(st.integers(2, 5).flatmap(strategies.priors), st.sampled_from(["1/10", "1/2", "9/10"]), st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_the_loss_is_the_integral_over_all_responses(prior, alpha, seed):
    """Any loss, monotone or not; and no mechanism loses less than the least."""
    table = np.random.default_rng(seed).integers(0, 9, (len(prior), 3))
    consumer = Consumer(prior, [[Fraction(int(cell)) for cell in row] for row in table])
    found = laplace_loss(PrivacyType(counts(len(prior) - 1), alpha=alpha), consumer)
    assert float(found.loss) == pytest.approx(by_quadrature(float(Fraction(alpha)), consumer), rel=1e-5, abs=1e-9)
    assert found.loss >= found.least * (1 - Fraction(1, 10**20))


def test_two_secrets_are_told_apart_with_the_root_of_alpha():
    """Half of one minus the total variation of two Laplace distributions one step apart, e^(-epsilon/2)/2."""
    found = laplace_loss(PrivacyType(counts(1), alpha="1/4"), Consumer(priors.uniform(2), losses.binary))
    assert abs(found.loss - Fraction(1, 4)) < Fraction(1, 10**20)
    assert found.least == Fraction(1, 5)


def test_on_finer_steps_laplace_noise_comes_near_to_the_best():
    """Steps of 1/n of one number, at about one level: the excess falls as 1/n^2."""
    excess = []
    for n in (4, 8, 16, 32):
        step = PrivacyType(counts(n), alpha=1 - Fraction(1, 2 * n))
        excess.append(laplace_loss(step, Consumer(priors.uniform(n + 1), losses.binary)).ratio - 1)
    assert all(3.5 < before / after < 4.6 for before, after in itertools.pairwise(excess))


def test_one_secret_costs_nothing():
    found = laplace_loss(PrivacyType(counts(0), alpha="1/2"), Consumer(priors.uniform(1), losses.absolute))
    assert (found.loss, found.least, found.ratio) == (0, 0, 1.0)


def test_what_is_no_count_or_inexact_is_refused():
    uniform = Consumer(priors.uniform(3), losses.absolute)
    for ptype, consumer in (
        (PrivacyType(discrete(3), alpha="1/2"), uniform),
        (PrivacyType(counts(2), epsilon=1), uniform),
        (PrivacyType(counts(2), alpha="1/2"), Consumer([0.5, 0.25, 0.25], losses.absolute)),
    ):
        with pytest.raises(Unsupported, match="counts"):
            laplace_loss(ptype, consumer)
