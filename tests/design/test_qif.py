"""Agreement with the package qif (libqif) on its own functions; its known faults are asserted, so that they are noticed
when they are corrected.

Faults of qif 1.6.0 that are met here: a loss matrix is (guesses, secrets), and a matrix of the wrong shape is
reported as an invalid prior; the posterior of an impossible outcome is NaN; `factorize` answers an empty matrix where
there is no factor; `geometric` refuses a single outcome; and from 40 counts on `min_loss_given_d` returns a channel
that loses less than the optimum, because it keeps its constraints to 1e-6 only.
"""

from fractions import Fraction

import numpy as np
import pytest

from utmost import losses, priors
from utmost.channels import Channel, geometric_channel
from utmost.optima import bayes_remap, derivation, expected_loss, optimal_mechanism, posterior
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, counts

pytestmark = pytest.mark.oracle
qif = pytest.importorskip("qif")


def random_case(rng):
    n, m, k = (int(rng.integers(1, 7)) for _ in range(3))
    return rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m), size=n), rng.random((n, k))


def test_priors():
    assert np.allclose(qif.probab.uniform(7), priors.uniform(7).astype(float))
    assert np.allclose(qif.probab.normalize(np.array([1.0, 3.0])), priors.from_counts([1, 3]).astype(float))


def test_posteriors_risks_and_strategies():
    rng = np.random.default_rng(1)
    for _ in range(100):
        prior, matrix, loss = random_case(rng)
        C, consumer = Channel(matrix), Consumer(prior, loss)
        guesses = np.ascontiguousarray(loss.T)
        assert expected_loss(C, consumer) == pytest.approx(
            qif.measure.l_risk.posterior(guesses, prior, matrix), rel=1e-12
        )
        assert bayes_remap(C, consumer).actions.tolist() == qif.measure.l_risk.strategy(guesses, prior, matrix).tolist()
        for y in range(C.shape[1]):
            assert np.allclose(posterior(C, prior, y), qif.channel.posterior(matrix, prior, y), rtol=1e-12)


def test_rational_risks():
    rat = qif.rat
    prior, matrix = ["1/4", "3/4"], [["2/3", "1/3"], ["1/5", "4/5"]]
    consumer, C = Consumer(prior, [[0, 1], [2, 0]]), Channel(matrix)

    def rationals(rows):
        return np.array([[rat(x.numerator, x.denominator) for x in row] for row in rows])

    value = qif.measure.l_risk.posterior(
        rationals(consumer.loss.T), rationals([consumer.prior])[0], rationals(C.matrix)
    )
    assert Fraction(str(value)) == expected_loss(C, consumer)


def test_factors():
    rng = np.random.default_rng(2)
    for n in (1, 2, 5):
        G = geometric_channel(n + 1, alpha="1/3")
        Y = rng.dirichlet(np.ones(n + 1), size=n + 1)
        X = Channel(G.matrix.astype(float) @ Y)
        theirs = qif.channel.factorize(X.matrix.copy(), G.matrix.astype(float))
        assert np.allclose(derivation(X, "1/3").remap.matrix, theirs, atol=1e-6)
    stubborn = np.array([[0, 1 / 3, 2 / 3], [0, 2 / 3, 1 / 3], [0, 1 / 3, 2 / 3]])
    assert not derivation(Channel(stubborn), "1/2").is_derivable
    assert qif.channel.factorize(stubborn, geometric_channel(3, alpha="1/2").matrix.astype(float)).size == 0


def test_geometric_channels():
    for n in (1, 4, 9):
        theirs = qif.mechanism.d_privacy.geometric(n + 1, 0.5)
        assert np.allclose(geometric_channel(n + 1, epsilon="1/2").matrix, theirs, rtol=1e-12)
    with pytest.raises(RuntimeError, match="n_cols"):
        qif.mechanism.d_privacy.geometric(1, 0.5)


def test_an_impossible_outcome_is_nan_there_and_none_here():
    matrix, prior = np.array([[1.0, 0], [0.5, 0.5]]), np.array([1.0, 0])
    assert np.isnan(qif.channel.posterior(matrix, prior, 1)).all()
    assert posterior(Channel(matrix), prior, 1) is None


@pytest.mark.parametrize("n", [5, 10, 20])
def test_optimal_losses(n):
    prior = np.random.default_rng(n).dirichlet(np.ones(n + 1))
    theirs = qif_loss(prior, n)
    ours = optimal_mechanism(PrivacyType(counts(n), alpha="1/2"), Consumer(prior, losses.absolute))
    assert theirs == pytest.approx(ours.loss, rel=1e-6)


def test_qif_reports_less_than_the_optimum_at_40_counts():
    """Ours is certified: no private channel loses less than ``lower``; theirs claims to, by some 1e-6."""
    prior = np.random.default_rng(0).dirichlet(np.ones(41))
    ours = optimal_mechanism(PrivacyType(counts(40), alpha="1/2"), Consumer(prior, losses.absolute))
    theirs = qif_loss(prior, 40)
    assert ours.certificate.verify()
    assert theirs < ours.lower
    assert theirs == pytest.approx(ours.loss, rel=1e-4)


def qif_loss(prior, n):
    epsilon = float(np.log(2))

    def distance(x, y):
        return epsilon * abs(x - y)

    def loss(x, y):
        return float(abs(x - y))

    channel = qif.mechanism.d_privacy.min_loss_given_d(prior, n + 1, distance, loss)
    return qif.utility.expected_distance(loss, prior, channel)
