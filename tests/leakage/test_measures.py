"""Distributions of every measure: data processing, what is not seen, certainty; and each by its definition."""

import itertools
from fractions import Fraction as F
from math import inf, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost import losses, priors
from utmost.channels import Channel, geometric_channel
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
from utmost.spaces import Consumer
from utmost.testing import strategies

MEASURES = {
    "bayes vulnerability": bayes_vulnerability,
    "bayes risk": bayes_risk,
    "absolute": l_uncertainty(losses.absolute),
    "signed gain": g_vulnerability(lambda x, w: (x - w) * (1 if x % 2 else -1)),
    "parity": property_vulnerability(lambda x: x % 2),
    "guessing": guessing_entropy,
    "shannon": shannon_entropy,
}
each_measure = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES.keys())


@st.composite
def situations(draw):
    """A channel, one that it refines to, and a prior."""
    n = draw(strategies.sizes)
    B, A = draw(strategies.refined_pairs(n, draw(st.integers(1, 5)), draw(st.integers(1, 5))))
    return B, A, draw(strategies.priors(n))


@each_measure
@given(situations())
def test_post_processing_leaks_no_more(measure, situation):
    """The measure after A = B P lies between the prior measure and the measure after B."""
    B, A, prior = situation
    slack = 1e-12 if measure is shannon_entropy else 0
    values = [measure.prior(prior), measure.posterior(A, prior), measure.posterior(B, prior)]
    if not measure.rises:
        values.reverse()
    assert values[0] <= values[1] + slack
    assert values[1] <= values[2] + slack
    assert measure.additive_leakage(A, prior) <= measure.additive_leakage(B, prior) + slack


@each_measure
@given(situations())
def test_leakage_compares_prior_and_posterior(measure, situation):
    B, _, prior = situation
    before, after = measure.prior(prior), measure.posterior(B, prior)
    gained = measure.additive_leakage(B, prior)
    assert gained == pytest.approx(float(abs(after - before)), abs=1e-12)
    if measure is not shannon_entropy:
        assert gained == abs(after - before)
    assert gained >= 0


@each_measure
@given(situations())
def test_a_hyper_is_all_that_a_measure_needs(measure, situation):
    B, _, prior = situation
    same = pytest.approx if measure is shannon_entropy else lambda x: x
    assert measure.posterior(hyper(B, prior)) == same(measure.posterior(B, prior))


@each_measure
@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_channel_that_says_nothing_leaks_nothing(measure, n):
    nothing = Channel([[1]] * n)
    assert measure.additive_leakage(nothing, priors.uniform(n)) == 0
    if measure is not MEASURES["signed gain"]:
        assert measure.multiplicative_leakage(nothing, priors.uniform(n)) == 1


@given(st.data())
def test_bayes_vulnerability_and_risk_are_the_guess_of_the_secret(data):
    n = data.draw(strategies.sizes)
    C, prior = data.draw(strategies.channels(n, 4)), data.draw(strategies.priors(n))
    right = [[int(x == w) for w in range(n)] for x in range(n)]
    assert bayes_vulnerability.posterior(C, prior) == g_vulnerability(right).posterior(C, prior)
    assert bayes_risk.posterior(C, prior) == 1 - bayes_vulnerability.posterior(C, prior)
    assert bayes_risk.posterior(C, prior) == l_uncertainty(losses.binary.matrix(n)).posterior(C, prior)
    assert bayes_vulnerability.prior(prior) == max(prior)
    assert bayes_risk.prior(prior) == 1 - max(prior)


@given(st.data())
def test_the_posterior_form_is_the_best_of_all_remaps(data):
    """Remark 1: (1), the least over remaps r: Y -> W of the expected loss, equals (5), by trying every remap."""
    n, m, k = (data.draw(st.integers(1, 3)) for _ in range(3))
    C, prior, loss = (
        data.draw(strategies.channels(n, m)),
        data.draw(strategies.priors(n)),
        data.draw(strategies.any_losses(n, k)),
    )
    least = min(
        sum(prior[x] * C.matrix[x, y] * loss[x, r[y]] for x in range(n) for y in range(m))
        for r in itertools.product(range(k), repeat=m)
    )
    assert l_uncertainty(loss).posterior(C, prior) == least
    chosen = l_uncertainty(loss).strategy(C, prior).actions
    assert least == sum(prior[x] * C.matrix[x, y] * loss[x, chosen[y]] for x in range(n) for y in range(m))


@given(st.data())
def test_a_gain_is_a_loss_turned_over(data):
    n, k = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    C, prior, loss = (
        data.draw(strategies.channels(n, 3)),
        data.draw(strategies.priors(n)),
        data.draw(strategies.any_losses(n, k)),
    )
    assert g_vulnerability(9 - loss).posterior(C, prior) == 9 - l_uncertainty(loss).posterior(C, prior)
    assert g_vulnerability(9 - loss).additive_leakage(C, prior) == l_uncertainty(loss).additive_leakage(C, prior)
    assert (
        g_vulnerability(9 - loss).strategy(C, prior).actions == l_uncertainty(loss).strategy(C, prior).actions
    ).all()


@given(st.data())
def test_guessing_entropy_is_the_best_order_of_guesses(data):
    n = data.draw(st.integers(1, 4))
    C, prior = data.draw(strategies.channels(n, 3)), data.draw(strategies.priors(n))
    orders = list(itertools.permutations(range(1, n + 1)))
    loss = [[order[x] for order in orders] for x in range(n)]
    assert guessing_entropy.posterior(C, prior) == l_uncertainty(loss).posterior(C, prior)
    assert guessing_entropy.prior(prior) == l_uncertainty(loss).prior(prior)
    order = guessing_entropy.strategy(prior)[:, 0]
    assert guessing_entropy.prior(prior) == sum((k + 1) * prior[x] for k, x in enumerate(order))


@given(st.data())
def test_shannon_entropy_by_its_definition(data):
    n = data.draw(strategies.sizes)
    C, prior = data.draw(strategies.channels(n, 4)), data.draw(strategies.priors(n))
    found = hyper(C, prior)
    each = [-sum(float(p) * log2(p) for p in column if p) for column in found.posteriors.T]
    assert shannon_entropy.posterior(C, prior) == pytest.approx(float(found.weights @ each), abs=1e-12)
    assert shannon_entropy.prior(priors.uniform(n)) == pytest.approx(log2(n))


def test_mutual_information_of_a_nearly_useless_channel_keeps_its_digits():
    """I = e^2 / (2 ln 2) + O(e^4) for a coin off by e/2: the difference of entropies would have no digit left."""
    e = 1e-7
    C = Channel([[(1 + e) / 2, (1 - e) / 2], [(1 - e) / 2, (1 + e) / 2]])
    assert shannon_entropy.additive_leakage(C, [0.5, 0.5]) == pytest.approx(e**2 / (2 * np.log(2)), rel=1e-2)


@given(st.data())
def test_a_property_can_be_given_in_three_ways(data):
    n = data.draw(strategies.sizes)
    C, prior = data.draw(strategies.channels(n, 3)), data.draw(strategies.priors(n))
    blocks = [block for block in ({x for x in range(n) if x % 3 == r} for r in range(3)) if block]
    ways = [lambda x: x % 3, [x % 3 for x in range(n)], blocks]
    assert len({property_vulnerability(way).posterior(C, prior) for way in ways}) == 1
    chance = sum(max(sum(prior[x] * C.matrix[x, y] for x in block) for block in blocks) for y in range(3))
    assert property_vulnerability(blocks).posterior(C, prior) == chance


def test_the_finest_property_is_the_secret_and_the_coarsest_leaks_nothing():
    C, prior = geometric_channel(4, alpha="1/2"), priors.uniform(4)
    assert property_vulnerability(range(4)).posterior(C, prior) == bayes_vulnerability.posterior(C, prior)
    assert property_vulnerability([range(4)]).additive_leakage(C, prior) == 0


@given(st.data())
def test_a_measure_reads_what_it_is_given(data):
    """Channel and prior; the channel as rows; a hyper; a consumer in the place of its prior."""
    n = data.draw(strategies.sizes)
    C, consumer = data.draw(strategies.channels(n, 3)), data.draw(strategies.consumers(n))
    prior, U = consumer.prior, l_uncertainty(consumer)
    ways = [(C, prior), (C.matrix, prior), (C, consumer), (hyper(C, prior),)]
    assert {bayes_vulnerability.posterior(*way) for way in ways} == {sum((prior[:, None] * C.matrix).max(axis=0))}
    for of in (U.posterior, U.additive_leakage, bayes_risk.multiplicative_leakage):
        assert len({of(*way) for way in ways}) == 1
    assert U.prior(consumer) == U.prior(prior) == l_uncertainty(consumer.loss).prior(prior)
    assert U.additive_leakage(C, prior) == U.prior(prior) - U.posterior(C, prior)


def test_floats_stay_floats_and_agree():
    rng = np.random.default_rng(5)
    for _ in range(20):
        matrix, prior, loss = rng.dirichlet(np.ones(4), size=5), rng.dirichlet(np.ones(5)), rng.random((5, 3))
        value = l_uncertainty(loss).posterior(Channel(matrix), prior)
        assert isinstance(value, float)
        assert value == pytest.approx(sum((prior[:, None] * matrix[:, [y]] * loss).sum(axis=0).min() for y in range(4)))
        assert isinstance(bayes_vulnerability.multiplicative_leakage(Channel(matrix), prior), float)


def test_an_uncertainty_that_vanishes_has_infinite_leakage():
    reported = Channel([[1, 0], [0, 1]])
    assert bayes_risk.multiplicative_leakage(reported, ["1/2", "1/2"]) == inf
    assert bayes_risk.multiplicative_leakage(reported, [1, 0]) == 1


def test_a_consumer_with_fewer_actions_than_secrets_keeps_them():
    consumer = Consumer(priors.uniform(4), losses.absolute, actions=2)
    assert l_uncertainty(consumer).prior(consumer) == F(2 + 1 + 0 + 1, 4)
    assert l_uncertainty(Consumer(priors.uniform(4), losses.binary, actions=2)).prior(priors.uniform(4)) == F(3, 4)


def test_strategies_of_a_prior_alone():
    assert bayes_vulnerability.strategy([F(1, 4), F(3, 4)]).actions.tolist() == [1]
    assert l_uncertainty(losses.absolute).strategy(hyper([[1, 0], [0, 1]], ["1/2", "1/2"])).actions.tolist() == [0, 1]
    assert bayes_vulnerability.strategy(priors.uniform(2)).ties == (0,)
