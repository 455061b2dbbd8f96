"""Capacities by any measure: the program over vertices against other ways, and against random mechanisms."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost import priors
from utmost.capacities import capacity, capacity_over_vertices
from utmost.channels import Channel, geometric_channel
from utmost.errors import OutOfRange, UtmostError
from utmost.geometry import vertices
from utmost.leakage import bayes_risk, bayes_vulnerability, g_vulnerability, guessing_entropy, shannon_entropy
from utmost.privacy_types import PrivacyType
from utmost.spaces import counts, discrete, grid, hamming

TYPES = {
    "line": PrivacyType(counts(3), alpha="1/2"),
    "equal": PrivacyType(discrete(4), alpha="1/3"),
    "cube": PrivacyType(hamming(3), alpha="1/2"),
    "places": PrivacyType(grid(2, 2), epsilon=1),
    "irrational line": PrivacyType(counts(3), epsilon=1),
}
MEASURES = {
    "Bayes": bayes_vulnerability,
    "risk": bayes_risk,
    "guessing": guessing_entropy,
    "Shannon": shannon_entropy,
}


@pytest.mark.parametrize("name", TYPES)
def test_bayes_vulnerability_at_the_uniform_prior_gives_the_multiplicative_capacity(name):
    """V[u, C] = 1/n sum_y max_x C[x, y]: theorem 4 with its gain and prior."""
    ptype = TYPES[name]
    n = ptype.space.size
    found = capacity_over_vertices(ptype, bayes_vulnerability)
    most = capacity(ptype)
    assert float(found) * n + 1 == pytest.approx(float(most), rel=1e-11)
    if most.is_exact:
        assert found.value * n + 1 == most.value
        assert found.value == capacity_over_vertices(ptype, bayes_risk).value


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", TYPES)
def test_the_mechanism_attains_it_and_the_dual_proves_it(name, measure):
    ptype, by = TYPES[name], MEASURES[measure]
    prior = priors.binomial(ptype.space.size - 1, "1/3")
    found = capacity_over_vertices(ptype, by, prior)
    assert found.certificate.verify()
    assert ptype.contains(found.mechanism)
    assert float(by.additive_leakage(found.mechanism, prior)) == pytest.approx(float(found), abs=1e-11)
    lowered = replace(found.certificate, dual=found.certificate.dual - Fraction(1, 1000))
    assert not lowered.verify()


@given(st.integers(0, 2**32 - 1))
def test_no_random_mechanism_leaks_more(seed):
    """Theorem 14: random mixtures of vertices, as mechanisms, stay below the capacity of every measure."""
    rng = np.random.default_rng(seed)
    ptype = TYPES["line"]
    prior = rng.dirichlet(np.ones(4))
    for by in MEASURES.values():
        best = float(capacity_over_vertices(ptype, by, prior))
        mechanism = _random_mechanism(ptype, rng)
        assert float(by.additive_leakage(mechanism, prior)) <= best + 1e-9


def _random_mechanism(ptype, rng):
    """The geometric mechanism followed by a random remap, mixed with another one."""
    remap = rng.dirichlet(np.ones(5), 4)
    return Channel(geometric_channel(4, alpha="1/2").matrix.astype(float) @ remap)


def test_a_gain_of_ones_own():
    """For a gain that pays for the parity of the secret, too."""
    gain = np.array([[Fraction(int(x % 2 == w)) for w in range(2)] for x in range(4)])
    found = capacity_over_vertices(TYPES["line"], g_vulnerability(gain))
    best = vertices(TYPES["line"]).columns
    assert isinstance(found.value, Fraction)
    assert 0 < found.value < (best.max(axis=0)).max()


def test_another_number_of_secrets_is_refused():
    with pytest.raises(OutOfRange, match="4 entries"):
        capacity_over_vertices(TYPES["line"], bayes_vulnerability, priors.uniform(3))
    with pytest.raises(UtmostError):
        capacity_over_vertices(TYPES["line"], bayes_vulnerability, ["a", "b", "c", "d"])
