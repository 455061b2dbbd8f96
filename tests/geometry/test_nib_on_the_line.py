"""The geometric mechanism is universally nib-optimal on every line: both bounds meet, for every prior and level."""

import itertools
from dataclasses import replace
from fractions import Fraction
from math import lcm

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.channels import geometric_channel
from utmost.errors import NotAPrior, Unsupported
from utmost.geometry import least_nib_loss
from utmost.geometry.universal_optima import LeastLoss
from utmost.privacy import PrivacyType
from utmost.spaces import counts, discrete, losses, priors
from utmost.testing.strategies import alphas
from utmost.testing.strategies import priors as any_priors


@given(st.integers(1, 12).flatmap(any_priors), alphas)
@settings(max_examples=100, deadline=None)
def test_what_the_geometric_mechanism_loses_is_a_bound_for_all(prior, alpha):
    """The remap of G loses the sum of a packing t, and no mechanism loses less: the whole theorem, prior by prior."""
    found = least_nib_loss(PrivacyType(counts(len(prior) - 1), alpha=alpha), prior)
    assert found.verify()
    assert np.count_nonzero(found.packing) <= 2


@given(st.integers(2, 5).flatmap(any_priors), st.sampled_from(["1/10", "1/2", "9/10"]))
@settings(max_examples=25, deadline=None)
def test_the_program_over_all_vertices_agrees(prior, alpha):
    """The least loss of any mechanism, by the exact simplex method on the vertices of the type."""
    ptype = PrivacyType(counts(len(prior) - 1), alpha=alpha)
    unit = lcm(*(p.denominator for p in prior))
    whole = np.array([int(p * unit) for p in prior])
    scaled = tuple(int(p) for p in whole // np.gcd.reduce(whole))
    ((_, found),) = LeastLoss.of(ptype, losses.nib).at((scaled,))
    assert found.value == least_nib_loss(ptype, prior).loss


@given(st.integers(1, 4).flatmap(any_priors), alphas)
@settings(max_examples=25, deadline=None)
def test_no_other_remap_of_the_geometric_mechanism_is_better(prior, alpha):
    """All n^n remaps."""
    n = len(prior)
    G = geometric_channel(n, alpha=alpha).matrix
    lost = (sum(prior[w] * G[w, y] for y, w in enumerate(remap)) for remap in itertools.product(range(n), repeat=n))
    assert min(lost) == least_nib_loss(PrivacyType(counts(n - 1), alpha=alpha), prior).loss


def test_the_uniform_prior_gives_the_additive_capacity():
    """1 - n loss is the additive capacity of the line: 1/3, 1/2, 2/3, 3/4, 5/6 (table 4)."""
    capacities = []
    for n in range(2, 7):
        found = least_nib_loss(PrivacyType(counts(n - 1), alpha="1/2"), priors.uniform(n))
        capacities.append(1 - n * found.loss)
    assert [str(c) for c in capacities] == ["1/3", "1/2", "2/3", "3/4", "5/6"]


def test_false_certificates_are_refused():
    found = least_nib_loss(PrivacyType(counts(3), alpha="1/3"), priors.from_counts([1, 2, 3, 2]))
    assert found.verify()
    assert not replace(found, loss=found.loss * Fraction(99, 100)).verify()
    assert not replace(found, packing=found.packing * 2).verify()
    assert not replace(found, packing=-found.packing).verify()
    assert not replace(found, prior=found.prior[::-1]).verify()


def test_refusals():
    line = PrivacyType(counts(2), alpha="1/2")
    for ptype, prior in (
        (PrivacyType(discrete(3), alpha="1/2"), priors.uniform(3)),
        (PrivacyType(counts(2), epsilon=1), priors.uniform(3)),
        (line, [0.5, 0.25, 0.25]),
    ):
        with pytest.raises(Unsupported, match="on counts"):
            least_nib_loss(ptype, prior)
    with pytest.raises(NotAPrior, match="3 probabilities"):
        least_nib_loss(line, priors.uniform(2))
