"""Sections V and VI of Fernandes et al.: theorems 14 and 15, lemma 16, corollaries 20 and 22, on random types."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost import losses
from utmost.capacities import capacity
from utmost.channels import dual_randomized_response, geometric_channel, randomized_response
from utmost.geometry import kernels, universality
from utmost.optima import optimal_mechanism
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, Space, counts, discrete

HALF = Fraction(1, 2)
levels = st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20)


@st.composite
def types(draw, largest=4):
    """Types on at most four secrets with small whole distances."""
    n = draw(st.integers(2, largest))
    table = np.array(draw(st.lists(st.integers(1, 3), min_size=n * n, max_size=n * n))).reshape(n, n)
    table = np.minimum(table, table.T)
    np.fill_diagonal(table, 0)
    for k in range(n):
        table = np.minimum(table, table[:, k, None] + table[None, k])
    return PrivacyType(Space(table), alpha=draw(levels))


def some_mechanism(ptype, rng):
    """A mechanism of the type, exact: the best one for a random consumer."""
    weights = rng.integers(1, 9, ptype.space.size)
    prior = np.array([Fraction(int(w), int(weights.sum())) for w in weights])
    loss = np.array([[Fraction(int(k)) for k in row] for row in rng.integers(0, 5, (ptype.space.size, 3))])
    return optimal_mechanism(ptype, Consumer(prior, loss)).channel


@given(types(), st.integers(0, 2**32 - 1))
def test_no_mechanism_of_a_type_leaks_more_and_one_leaks_as_much(ptype, seed):
    """Theorem 14 and definition 8; lemma 16: as many outcomes as secrets are enough."""
    channel = some_mechanism(ptype, np.random.default_rng(seed))
    assert ptype.contains(channel)
    for kind in ("multiplicative", "additive"):
        found = capacity(ptype, kind=kind)
        assert capacity(channel, kind=kind).value <= found.value
        assert capacity(found.mechanism, kind=kind).value == found.value
        assert ptype.contains(found.mechanism)
        assert found.mechanism.shape[1] <= ptype.space.size


@settings(max_examples=12)
@given(types(largest=3), st.integers(0, 30))
def test_a_universally_optimal_mechanism_attains_the_capacity(ptype, which):
    """Theorem 15: if M serves every prior best for the binary (nib) loss, no mechanism leaks more than M.

    Read backwards, too: a kernel that leaks less is not universally optimal.
    """
    kernel = next(islice(kernels(ptype), which % 3, None), None)
    if kernel is None:
        return
    for loss, kind in ((losses.binary, "multiplicative"), (losses.nib, "additive")):
        is_best = capacity(kernel, kind=kind).value == capacity(ptype, kind=kind).value
        verdict = universality(ptype, loss, kernel)
        assert is_best or not verdict


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("alpha", [HALF, Fraction(2, 7)])
def test_the_geometric_mechanism_is_universally_optimal_and_attains_both(n, alpha):
    """Theorem 15 where its hypothesis holds: on a line, for the binary loss, and for nib as far as it is decided."""
    ptype, geometric = PrivacyType(counts(n), alpha=alpha), geometric_channel(n + 1, alpha=alpha)
    for loss, kind in ((losses.binary, "multiplicative"), (losses.nib, "additive")):
        assert universality(ptype, loss, geometric)
        assert capacity(geometric, kind=kind).value == capacity(ptype, kind=kind).value


@given(st.integers(2, 5), levels, st.integers(0, 2**32 - 1))
def test_corollary_22_corrected_bounds_every_local_mechanism_and_is_attained(n, alpha, seed):
    """n / (1 + (n-1) a) by randomised response; 1 - n / (1 + (n-1) q), not the printed one, by its dual."""
    ptype = PrivacyType(discrete(n), alpha=alpha)
    multiplicative, additive = n / (1 + (n - 1) * alpha), 1 - n / (1 + (n - 1) / alpha)
    channel = some_mechanism(ptype, np.random.default_rng(seed))
    assert capacity(channel).value <= multiplicative
    assert capacity(channel, kind="additive").value <= additive
    assert capacity(randomized_response(n, alpha=alpha)).value == multiplicative
    assert capacity(dual_randomized_response(n, alpha=alpha), kind="additive").value == additive
    if n > 1:
        assert additive < 1 - 1 / (1 + (n - 1) / alpha)
