"""Channels and single releases read by consumers: remaps, losses, posteriors, folded noise."""

import random
from fractions import Fraction

import numpy as np
import pytest

from design.random_consumers import any_consumer, random_type
from utmost import losses, priors
from utmost.channels import Channel, geometric_channel
from utmost.errors import NotAPrior, OutOfRange, Unsupported
from utmost.exact import level
from utmost.noise import DiscreteStaircase, Geometric, Laplace, costs
from utmost.optima import (
    bayes_remap,
    equivalent_response,
    expected_loss,
    face_value_loss,
    face_value_of_noise,
    folded_channel,
    folded_responses,
    posterior,
    read,
)
from utmost.spaces import Consumer


def test_reading_one_response_is_the_bayes_remap_of_the_clamped_channel():
    rng = random.Random(1)
    for _ in range(40):
        n = rng.randint(0, 6)
        consumer, ptype = any_consumer(rng, n), random_type(rng, n)
        G = geometric_channel(n + 1, ptype.level)
        remap = bayes_remap(G, consumer)
        for z in range(-2, n + 3):
            y = min(max(z, 0), n)
            reading = read(ptype.level, consumer, z)
            assert reading.action == remap.actions[y]
            assert bool(reading.ties) == (y in remap.ties)
            assert (reading.posterior == posterior(G, consumer.prior, y)).all()
            assert reading.loss == (reading.posterior * consumer.loss[:, reading.action]).sum()


@pytest.mark.parametrize(
    "distribution", [DiscreteStaircase(alpha="1/3", sensitivity=4, step=2), Geometric(alpha="1/4")]
)
def test_reading_any_distribution_on_the_integers_is_bayes_rule(distribution):
    """P(i | z) against the pmf, near and far; what is a period farther out says the same."""
    for n in (0, 1, 5):
        consumer = Consumer(priors.binomial(n, "1/3"), losses.absolute)
        for z in (-1000, -9, -4, -1, 0, n, n + 1, n + 4, n + 7, 1000):
            joint = [p * distribution.pmf(z - i) for i, p in enumerate(consumer.prior)]
            reading = read(distribution, consumer, z)
            assert (reading.posterior == np.array(joint) / sum(joint)).all()
            near = equivalent_response(distribution, z, n + 1)
            assert -4 < near < n + 4
            assert (read(distribution, consumer, near).posterior == reading.posterior).all()


def test_reading_geometric_noise_by_its_distribution_or_its_level():
    for z in (-3, 0, 2, 9):
        consumer = Consumer(priors.uniform(5), losses.squared)
        one, other = (read(noise, consumer, z) for noise in (level(alpha="1/2"), Geometric(alpha="1/2")))
        assert (one.posterior == other.posterior).all()
    floats = read(DiscreteStaircase(1, 3), Consumer(np.full(4, 0.25), losses.absolute), 2)
    assert floats.posterior.sum() == pytest.approx(1)


def test_the_interval_is_the_shortest_with_its_mass():
    """Against all intervals by brute force."""
    rng = random.Random(2)
    for _ in range(60):
        n = rng.randint(0, 7)
        consumer, ptype = any_consumer(rng, n), random_type(rng, n)
        response, share = rng.randint(0, n), Fraction(rng.randint(1, 99), 100)
        if rng.random() < 0.5:  # a share that a run holds exactly
            belief = read(ptype.level, consumer, response).posterior
            share = min(share if belief[0] in (0, 1) else belief[0], Fraction(99, 100))
        reading = read(ptype.level, consumer, response, share)
        runs = [(a, b) for a in range(n + 1) for b in range(a, n + 1) if reading.posterior[a : b + 1].sum() >= share]
        assert reading.interval == min(runs, key=lambda run: (run[1] - run[0], run[0]))
        assert reading.mass == reading.posterior[reading.interval[0] : reading.interval[1] + 1].sum()
        floats = read(ptype.level, consumer.to_floats(), 0, share)
        assert 0 <= floats.interval[0] <= floats.interval[1] <= n


def test_misuse_is_refused():
    consumer = Consumer(priors.uniform(3), losses.absolute)
    for confidence in (0, 1, 2):
        with pytest.raises(OutOfRange, match="confidence"):
            read(level(epsilon=1), consumer, 1, confidence)
    certain = Consumer(np.array([0.0] * 999 + [1.0]), losses.absolute)
    with pytest.raises(NotAPrior, match="possible"):
        read(level(epsilon=50), certain, 0)


def random_channel(rng, n, outcomes):
    rows = [[rng.choice([0, 0, 1, 2, 5]) for _ in range(outcomes)] for _ in range(n)]
    for row in rows:
        row[rng.randrange(outcomes)] += 1
    return Channel([[Fraction(x, sum(row)) for x in row] for row in rows])


def test_the_bayes_remap_is_no_worse_than_any_other():
    """Against all deterministic remaps of small channels, by brute force; zero rows and columns included."""
    rng = random.Random(1)
    for _ in range(40):
        n, outcomes = rng.randint(1, 4), rng.randint(1, 3)
        consumer = any_consumer(rng, n - 1)
        C = random_channel(rng, n, outcomes)
        best = expected_loss(C, consumer)
        joint = (consumer.prior[:, None] * consumer.loss).T @ C.matrix
        losses_of = [
            sum(joint[r, y] for y, r in enumerate(choice)) for choice in np.ndindex(*[consumer.actions] * outcomes)
        ]
        assert min(losses_of) == best
        remap = bayes_remap(C, consumer)
        assert sum(joint[r, y] for y, r in enumerate(remap.actions)) == best
        assert face_value_loss(C @ remap, consumer) == best


def test_ties_go_to_the_smallest_action_and_are_reported():
    C = Channel([["1/2", "1/2"], ["1/2", "1/2"]])
    remap = bayes_remap(C, Consumer(["1/2", "1/2"], losses.binary))
    assert (remap.actions.tolist(), remap.ties) == ([0, 0], (0, 1))
    floats = bayes_remap(Channel(C.matrix.astype(float)), Consumer([0.1, 0.9], [[0.0, 0.3], [0.1 / 3, 0.0]]))
    assert (floats.actions.tolist(), floats.ties) == ([0, 0], (0, 1))


def test_an_outcome_of_probability_zero_takes_action_zero():
    C = Channel([[1, 0, 0], ["1/2", "1/2", 0]])
    consumer = Consumer([1, 0], losses.binary)
    remap = bayes_remap(C, consumer)
    assert remap.actions.tolist() == [0, 0, 0]
    assert remap.ties == (1, 2)
    assert posterior(C, consumer.prior, 2) is None
    assert posterior(C, consumer.prior, 0).tolist() == [1, 0]


def test_both_kinds_agree():
    rng = random.Random(2)
    for _ in range(30):
        n = rng.randint(0, 6)
        consumer, ptype = any_consumer(rng, n), random_type(rng, n)
        G = geometric_channel(n + 1, ptype.level)
        floats = Channel(G.matrix.astype(float))
        assert expected_loss(floats, consumer.to_floats()) == pytest.approx(
            float(expected_loss(G, consumer)), rel=1e-13
        )
        assert isinstance(expected_loss(G, consumer), Fraction)
        assert isinstance(expected_loss(floats, consumer), float)


@pytest.mark.parametrize("n", [1, 3, 5, 9])
@pytest.mark.parametrize("alpha", ["1/10", "1/2", "9/10"])
def test_example_2_2(n, alpha):
    """n odd, mass 1/2 at 0 and n, binary loss: 2a/(1+a) at face value, a/(1+a) clamped, a^((n+1)/2)/(1+a) remapped."""
    a = Fraction(alpha)
    prior = np.full(n + 1, Fraction(0), dtype=object)
    prior[0] = prior[n] = Fraction(1, 2)
    consumer = Consumer(prior, losses.binary)
    distribution, G = Geometric(alpha=a), geometric_channel(n + 1, alpha=a)
    assert face_value_of_noise(distribution, consumer) == 2 * a / (1 + a)
    assert face_value_loss(G, consumer) == a / (1 + a)
    assert expected_loss(folded_channel(distribution, n + 1), consumer) == a ** ((n + 1) // 2) / (1 + a)
    assert bayes_remap(G, consumer).actions.tolist() == [0] * ((n + 1) // 2) + [n] * ((n + 1) // 2)


@pytest.mark.parametrize(
    "distribution", [DiscreteStaircase(alpha="1/3", sensitivity=4, step=2), Geometric(alpha="1/16", sensitivity=2)]
)
@pytest.mark.parametrize("n", [0, 1, 2, 5, 11])
def test_folding_loses_nothing(distribution, n):
    """Every response has the likelihoods of its class, up to a factor; and the classes carry all the mass."""
    C, responses = folded_channel(distribution, n + 1), folded_responses(distribution, n + 1)
    period = distribution.profile.period
    assert C.is_exact
    for z in range(-3 * period, n + 3 * period):
        near = z
        while near < responses[0]:
            near += period
        while near > responses[-1]:
            near -= period
        likelihood = np.array([Fraction(distribution.pmf(z - i)) for i in range(n + 1)])
        column = C.matrix[:, responses.tolist().index(near)]
        assert (likelihood * column[0] == column * likelihood[0]).all()


def test_the_folded_staircase_loses_less_when_remapped_than_at_face_value():
    distribution = DiscreteStaircase(alpha="1/2", sensitivity=3, step=2)
    consumer = Consumer(priors.uniform(8), losses.absolute)
    assert expected_loss(folded_channel(distribution, 8), consumer) < face_value_of_noise(distribution, consumer)
    assert face_value_of_noise(distribution, consumer) == distribution.expected_cost(costs.absolute)
    capped = Consumer(priors.uniform(8), losses.capped(1))
    assert face_value_of_noise(distribution, capped) == pytest.approx(float(1 - distribution.pmf(0)), rel=1e-9)


def test_misuse_of_channels_is_refused():
    C, consumer = geometric_channel(3, alpha="1/2"), Consumer(priors.uniform(4), losses.absolute)
    for function in (bayes_remap, expected_loss, face_value_loss):
        with pytest.raises(OutOfRange, match="4 rows"):
            function(C, consumer)
    with pytest.raises(OutOfRange, match="3 outcomes"):
        face_value_loss(C, Consumer(priors.uniform(3), [[0], [1], [1]]))
    with pytest.raises(OutOfRange, match=r"0\.\.2"):
        posterior(C, priors.uniform(3), 3)
    with pytest.raises(Unsupported, match="integers"):
        folded_channel(Laplace(epsilon=1), 4)
    with pytest.raises(Unsupported, match="outside the counts"):
        face_value_of_noise(Geometric(epsilon=1), Consumer(priors.uniform(2), [[0, 1], [1, 0]]))
