"""Capacities of a channel: theorems 4 and 5, attained; theorem 15; and capacities of one measure over all priors."""

import itertools
from dataclasses import replace
from fractions import Fraction as F
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost import losses, priors
from utmost.capacities import capacity
from utmost.channels import Channel, dual_randomized_response, geometric_channel, randomized_response
from utmost.exact import as_array
from utmost.geometry import universal_mechanism, universality
from utmost.leakage import (
    bayes_risk,
    bayes_vulnerability,
    g_vulnerability,
    guessing_entropy,
    l_uncertainty,
    shannon_capacity,
    shannon_entropy,
)
from utmost.privacy_types import PrivacyType
from utmost.spaces import Space, counts
from utmost.testing import strategies


def leak(measure, kind):
    return measure.multiplicative_leakage if kind == "multiplicative" else measure.additive_leakage


@st.composite
def channels_priors_gains(draw, least=0):
    """Any channel, prior and gain."""
    n, k = draw(strategies.sizes), draw(st.integers(1, 5))
    entries = draw(st.lists(st.integers(least, 9), min_size=n * k, max_size=n * k))
    return (
        draw(strategies.channels(n, draw(strategies.sizes))),
        draw(strategies.priors(n)),
        as_array(np.array(entries).reshape(n, k)),
    )


@given(channels_priors_gains())
def test_no_prior_and_gain_leak_more_than_the_multiplicative_capacity(given):
    """Theorem 4, exactly and in floats."""
    C, prior, gain = given
    most = capacity(C).value
    assert g_vulnerability(gain).multiplicative_leakage(C, prior) <= most
    floats = g_vulnerability(gain.astype(float)).multiplicative_leakage(C.to_floats(), prior.astype(float))
    assert floats <= capacity(C.to_floats()).value + 1e-12


@given(channels_priors_gains(least=-9))
def test_no_prior_and_bounded_gain_leak_more_than_the_additive_capacity(given):
    """Theorem 5 for gains with 0 <= V_g <= 1: negative entries are allowed, as an added action that pays 0 shows."""
    C, prior, gain = given
    bounded = np.hstack([np.clip(gain / F(9), None, 1), np.full((len(gain), 1), F(0))])
    assert all(0 <= g_vulnerability(bounded).prior(corner) <= 1 for corner in as_array(np.eye(len(gain), dtype=int)))
    assert g_vulnerability(bounded).additive_leakage(C, prior) <= capacity(C, kind="additive").value


@given(channels_priors_gains())
def test_the_capacities_are_attained(given):
    """The certificates of both attain them, by the definition of leakage; and Bayes vulnerability attains the first."""
    C, _, _ = given
    for kind in ("multiplicative", "additive"):
        found = capacity(C, kind=kind)
        assert leak(g_vulnerability(found.certificate.gain), kind)(C, found.certificate.prior) == found.value
        assert found.mechanism is C
        assert found.certificate.verify()
        assert capacity(C.to_floats(), kind=kind).certificate.verify()
        assert not replace(found.certificate, value=found.value + F(1, 10**20)).verify()
    n, m = C.shape
    assert bayes_vulnerability.multiplicative_leakage(C, priors.uniform(n)) == capacity(C).value
    assert 1 <= capacity(C).value <= min(n, m)
    assert 0 <= capacity(C, kind="additive").value <= 1


@given(st.data())
def test_refinement_lowers_both_capacities(data):
    n = data.draw(strategies.sizes)
    B, A = data.draw(strategies.refined_pairs(n, 4, 3))
    assert capacity(A).value <= capacity(B).value
    assert capacity(A, kind="additive").value <= capacity(B, kind="additive").value


@given(st.data())
def test_capacities_are_those_of_the_abstract_channel(data):
    C = data.draw(strategies.channels(data.draw(strategies.sizes), 5))
    assert capacity(C.merge_columns()).value == capacity(C).value
    assert capacity(C.merge_columns(), kind="additive").value == capacity(C, kind="additive").value


def private(draw, ptype):
    """A channel of the type: any channel, mixed with one that says nothing just as far as the promise needs."""
    n = ptype.space.size
    C = draw(strategies.channels(n, draw(st.integers(1, 4))))
    flat = C.matrix.sum(axis=0) / n
    share = F(1)
    for x, z in ptype.space.edges.tolist():
        factor = ptype.level.scaled(ptype.space.length(x, z)).alpha_fraction()
        for big, small in ((x, z), (z, x)):
            for y in range(C.shape[1]):
                breach = factor * C.matrix[big, y] - C.matrix[small, y]
                if breach > 0:
                    share = min(share, (1 - factor) * flat[y] / ((1 - factor) * flat[y] + breach))
    return Channel(share * C.matrix + (1 - share) * flat)


@given(st.data(), st.sampled_from([F(1, 2), F(1, 3), F(4, 5)]))
def test_a_mechanism_optimal_for_everyone_with_one_loss_has_the_capacity_of_its_type(data, alpha):
    """Theorem 15, on random types of two and three secrets: every mechanism that is optimal for bin or nib.

    Those that are drawn seldom are; one that is exists for two secrets always, and for three sometimes.
    """
    n = data.draw(st.integers(2, 3))
    ptype = PrivacyType(Space(data.draw(strategies.metrics(n))), alpha=alpha)
    drawn, other = private(data.draw, ptype), private(data.draw, ptype)
    assert ptype.contains(other)
    for loss, kind in ((losses.binary, "multiplicative"), (losses.nib, "additive")):
        found = universal_mechanism(ptype, loss)
        assert found or n == 3
        for best in (drawn, found.mechanism):
            if universality(ptype, loss, best):
                assert capacity(best, kind=kind).value >= capacity(other, kind=kind).value
                assert capacity(best, kind=kind).value == capacity(ptype, kind=kind).value
        assert bool(universality(ptype, loss, found.mechanism)) == bool(found)


@given(st.data(), st.integers(1, 4), strategies.alphas)
def test_the_geometric_mechanism_has_the_capacities_of_counts(data, n, alpha):
    """Theorem 15 where its hypothesis holds: bin and nib are in the utility set of the geometric mechanism."""
    G, ptype = geometric_channel(n + 1, alpha=alpha), PrivacyType(counts(n), alpha=alpha)
    other = private(data.draw, ptype)
    assert capacity(G).value >= capacity(other).value
    assert capacity(G, kind="additive").value >= capacity(other, kind="additive").value
    assert capacity(G).value == ((n + 1) * (1 - alpha) + 2 * alpha) / (1 + alpha), "corollary 20"


def test_geometric_for_two_and_three_counts_is_optimal_for_bin_and_nib():
    for n in (1, 2):
        ptype = PrivacyType(counts(n), alpha="1/2")
        for loss in (losses.binary, losses.nib):
            assert universality(ptype, loss, geometric_channel(n + 1, alpha="1/2"))


@given(st.integers(1, 9), strategies.alphas)
def test_randomised_response_and_its_dual(k, a):
    assert capacity(randomized_response(k, alpha=a)).value == k / (1 + (k - 1) * a)
    assert capacity(dual_randomized_response(k, alpha=a), kind="additive").value == 1 - k / (1 + (k - 1) / a)


def test_the_extremes():
    reported, nothing = Channel(np.eye(3, dtype=int)), Channel([[1]] * 3)
    assert (capacity(reported).value, capacity(reported, kind="additive").value) == (3, 1)
    assert (capacity(nothing).value, capacity(nothing, kind="additive").value) == (1, 0)
    assert (capacity([[1]]).value, capacity([[0, 1]], kind="additive").value) == (1, 0)
    assert float(capacity(np.eye(2))) == 2.0


@given(channels_priors_gains())
def test_the_capacity_of_one_gain_is_attained_and_never_passed(given):
    C, prior, gain = given
    V = g_vulnerability(gain[:4, :3])
    C, prior = C.restrict(range(min(4, len(prior)))), priors.from_counts([*(prior[:4] + F(1, 9))])
    for kind in ("multiplicative", "additive"):
        found = V.capacity(C, kind)
        assert leak(V, kind)(C, found.certificate.prior) == found.value
        assert leak(V, kind)(C, prior) <= found.value
    assert V.capacity(C).value <= capacity(C).value


@given(st.data())
def test_uncertainties_have_capacities_too(data):
    n = data.draw(st.integers(1, 4))
    C, prior = data.draw(strategies.channels(n, 3)), data.draw(strategies.priors(n))
    for U in (bayes_risk, l_uncertainty(losses.absolute), guessing_entropy):
        for kind in ("multiplicative", "additive"):
            found = capacity(C, U, kind)
            assert leak(U, kind)(C, found.certificate.prior) == found.value
            assert found.certificate.verify()
            assert leak(U, kind)(C, prior) <= found.value
    assert bayes_risk.capacity(C, "additive").value == bayes_vulnerability.capacity(C, "additive").value


@given(st.data(), st.booleans())
def test_the_best_set_is_that_of_trying_all(data, exactly):
    n = data.draw(st.integers(1, 6))
    C = data.draw(strategies.channels(n, 4))
    C = C if exactly else C.to_floats()
    sets = [list(chosen) for size in range(1, n + 1) for chosen in itertools.combinations(range(n), size)]
    best = max((C.matrix[chosen].max(axis=0).sum() - 1) / len(chosen) for chosen in sets)
    assert float(bayes_vulnerability.capacity(C, "additive").value) == pytest.approx(float(best), abs=1e-12)


def test_the_best_of_a_billion_sets():
    C = Channel(np.random.default_rng(3).dirichlet(np.ones(30), size=30))
    found = bayes_vulnerability.capacity(C, "additive")
    assert found.value >= bayes_vulnerability.additive_leakage(C, priors.uniform(30))
    pairs = [[x in (y, z) for x in range(30)] for y, z in itertools.combinations(range(30), 2)]
    assert found.value >= max(bayes_vulnerability.additive_leakage(C, np.array(pair) / 2) for pair in pairs)


def entropy(p):
    return -sum(x * log2(x) for x in (p, 1 - p) if x)


@pytest.mark.parametrize("p", [0.0, 1e-6, 0.11, 0.25, 0.4999, 0.5])
def test_shannon_capacity_of_a_flipped_bit(p):
    found = shannon_capacity(Channel([[1 - p, p], [p, 1 - p]]))
    assert found.value <= 1 - entropy(p) + 1e-15 <= found.certificate.upper + 2e-15
    assert found.value == pytest.approx(1 - entropy(p), abs=1e-9)


@pytest.mark.parametrize("p", [0.001, 0.3, 0.9])
def test_shannon_capacity_of_a_one_sided_error(p):
    """The Z-channel: log2(1 + (1-p) p^(p/(1-p)))."""
    found = shannon_capacity(Channel([[1, 0], [p, 1 - p]]))
    assert found.value == pytest.approx(log2(1 + (1 - p) * p ** (p / (1 - p))), abs=1e-9)


@given(st.data())
def test_shannon_capacity_lies_between_its_bounds(data):
    """Mutual information of any prior is below the upper bound; that of the certificate is the lower one."""
    n = data.draw(strategies.sizes)
    C, prior = data.draw(strategies.channels(n, 5)), data.draw(strategies.priors(n))
    found = shannon_entropy.capacity(C, "additive")
    assert found.certificate.upper - found.certificate.lower <= 1e-9
    assert shannon_entropy.additive_leakage(C, prior) <= found.certificate.upper
    own = shannon_entropy.additive_leakage(C.to_floats(), found.certificate.prior)
    assert found.value == pytest.approx(own, abs=1e-12)
    assert found.value <= own
    assert found.value <= log2(float(capacity(C).value)) + 1e-9, "Shannon is below min-entropy capacity"


def test_shannon_capacity_at_the_edge_of_the_simplex():
    """A secret that the optimum leaves out, by nothing or by little: rounds alone would need millions."""
    for third in ([0.5, 0.5], [0.9, 0.1], [0.7, 0.3]):
        found = shannon_capacity(Channel([[0.9, 0.1], [0.1, 0.9], third]))
        assert found.value == pytest.approx(1 - entropy(0.1), abs=1e-9)
    assert shannon_capacity(Channel(np.eye(5))).value == pytest.approx(log2(5))
    assert shannon_capacity(Channel([[1, 0]])).value == 0


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), float("nan"), 0.5])
def test_an_attained_value_is_a_number(value):
    found = capacity(Channel([[0.75, 0.25], [0.25, 0.75]])).certificate
    assert found.verify()
    assert not replace(found, value=value).verify()
