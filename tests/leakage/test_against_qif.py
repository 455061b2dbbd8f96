"""Agreement with the package qif (libqif) on leakage, capacities and mechanisms, in floats and in rationals.

A fault of qif 1.6.0 that is met here, asserted so that it is noticed when it is corrected: `planar_geometric_grid` is
not the clamped noise of the whole lattice (entries are off by some percent), though it is private.
"""

from fractions import Fraction as F

import numpy as np
import pytest

from utmost.capacities import capacity
from utmost.channels import Channel, geometric_channel, planar_geometric_channel, randomized_response, tight_constraints
from utmost.leakage import (
    bayes_risk,
    bayes_vulnerability,
    g_vulnerability,
    guessing_entropy,
    hyper,
    l_uncertainty,
    property_vulnerability,
    shannon_entropy,
)
from utmost.privacy_types import PrivacyType, smallest_epsilon
from utmost.spaces import Space, cycle, grid

pytestmark = pytest.mark.oracle
qif = pytest.importorskip("qif")

CASES = range(60)


def random_case(seed):
    rng = np.random.default_rng(seed)
    n, m, k = (int(rng.integers(1, 7)) for _ in range(3))
    return rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m), size=n), rng.random((n, k))


def rational(array):
    """An array of qif's rationals, through text."""
    return np.array([[qif.rat(str(x)) for x in row] for row in np.atleast_2d(array)], dtype=object)


@pytest.mark.parametrize("seed", CASES)
def test_measures(seed):
    prior, matrix, pay = random_case(seed)
    C, names = Channel(matrix), qif.measure
    n = len(prior)
    for ours, theirs, args in (
        (bayes_vulnerability, names.bayes_vuln, ()),
        (bayes_risk, names.bayes_risk, ()),
        (g_vulnerability(pay), names.g_vuln, (pay.T.copy(),)),
        (l_uncertainty(pay), names.l_risk, (pay.T.copy(),)),
        (shannon_entropy, names.shannon, ()),
        (guessing_entropy, names.guessing, ()),
    ):
        assert ours.prior(prior) == pytest.approx(theirs.prior(*args, prior), abs=1e-9)
        assert ours.posterior(C, prior) == pytest.approx(theirs.posterior(*args, prior, matrix), abs=1e-9)
        assert ours.additive_leakage(C, prior) == pytest.approx(abs(theirs.add_leakage(*args, prior, matrix)), abs=1e-9)
        if n > 1:
            found = ours.multiplicative_leakage(C, prior)
            assert found == pytest.approx(theirs.mult_leakage(*args, prior, matrix), rel=1e-7)
    assert capacity(C).value == pytest.approx(names.bayes_vuln.mult_capacity(matrix))
    assert bayes_vulnerability.strategy(C, prior).actions.tolist() == names.bayes_vuln.strategy(prior, matrix).tolist()


@pytest.mark.parametrize("seed", CASES)
def test_predicates(seed):
    prior, matrix, _ = random_case(seed)
    parity = np.arange(len(prior)) % 2
    ours = property_vulnerability(parity.tolist())
    assert ours.posterior(matrix, prior) == pytest.approx(
        qif.measure.pred_vuln.posterior(parity.astype(np.uint64), prior, matrix)
    )


@pytest.mark.parametrize("seed", range(20))
def test_shannon_capacity(seed):
    _, matrix, _ = random_case(seed)
    found = shannon_entropy.capacity(matrix, "additive")
    theirs = qif.measure.shannon.add_capacity(matrix)
    assert found.value == pytest.approx(theirs[0] if isinstance(theirs, tuple) else theirs, abs=1e-4)


@pytest.mark.parametrize("seed", CASES)
def test_hypers(seed):
    prior, matrix, _ = random_case(seed)
    matrix = np.hstack([matrix / 2, matrix[:, :1] / 2, matrix[:, 1:] / 2])
    ours = hyper(matrix, prior)
    outer, inners = qif.channel.hyper(matrix, prior)
    theirs = sorted(zip(outer, inners.T.tolist(), strict=True))
    mine = sorted(zip(ours.weights, ours.posteriors.T.tolist(), strict=True))
    for (w, p), (v, q) in zip(mine, theirs, strict=True):
        assert w == pytest.approx(v)
        assert p == pytest.approx(q)


def test_mechanisms():
    log2 = np.log(2)
    d_privacy = qif.mechanism.d_privacy
    for n in (2, 3, 6):
        G = d_privacy.tight_constraints(n, lambda x, y: abs(x - y) * log2)
        assert np.allclose(G, geometric_channel(n, alpha="1/2").matrix.astype(float))
        R = d_privacy.randomized_response(n, log2)
        assert np.allclose(R, randomized_response(n, alpha="1/2").matrix.astype(float))
    round_trip = cycle(5)
    T = d_privacy.tight_constraints(5, lambda x, y: float(round_trip.distances[x, y]))
    assert np.allclose(T, tight_constraints(round_trip, epsilon=1).matrix)


@pytest.mark.parametrize("seed", CASES)
def test_smallest_epsilon(seed):
    _, matrix, _ = random_case(seed)
    n = len(matrix)
    places = np.random.default_rng(seed).random((n, 2))
    d = np.hypot(*(places[:, None] - places[None, :]).transpose(2, 0, 1))
    d = (d + d.T) / 2
    if n > 1:
        theirs = qif.measure.d_privacy.smallest_epsilon(matrix, lambda x, y: float(d[x, y]))
        assert smallest_epsilon(matrix, Space(d)).value == pytest.approx(theirs)


def test_planar_geometric_differs():
    theirs = qif.mechanism.geo_ind.planar_geometric_grid(3, 4, 1.0, 0.5)
    ours = planar_geometric_channel(4, 3, epsilon="1/2")
    assert PrivacyType(grid(4, 3), epsilon="1/2").contains(ours)
    assert 0.01 < np.abs(theirs - ours.matrix).max() < 0.1


def test_rationals():
    prior, matrix = [F(1, 3), F(2, 3)], [[F(1, 4), F(3, 4)], [F(2, 3), F(1, 3)]]
    value = qif.measure.bayes_vuln.posterior(rational(prior)[0], rational(matrix))
    assert F(str(value)) == bayes_vulnerability.posterior(matrix, prior)
