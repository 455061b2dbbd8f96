import random
from fractions import Fraction

import numpy as np
import pytest

from design.random_consumers import any_consumer, random_type
from utmost.channels import geometric_channel
from utmost.design import bayes_remap, posterior, read
from utmost.design.reading import equivalent_response
from utmost.errors import NotAPrior, OutOfRange
from utmost.exact import level
from utmost.noise import DiscreteStaircase, Geometric
from utmost.spaces import Consumer, losses, priors


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


@pytest.mark.parametrize("law", [DiscreteStaircase(alpha="1/3", sensitivity=4, step=2), Geometric(alpha="1/4")])
def test_reading_any_law_on_the_integers_is_bayes_rule(law):
    """P(i | z) against the pmf, near and far; what is a period farther out says the same."""
    for n in (0, 1, 5):
        consumer = Consumer(priors.binomial(n, "1/3"), losses.absolute)
        for z in (-1000, -9, -4, -1, 0, n, n + 1, n + 4, n + 7, 1000):
            joint = [p * law.pmf(z - i) for i, p in enumerate(consumer.prior)]
            reading = read(law, consumer, z)
            assert (reading.posterior == np.array(joint) / sum(joint)).all()
            near = equivalent_response(law, z, n + 1)
            assert -4 < near < n + 4
            assert (read(law, consumer, near).posterior == reading.posterior).all()


def test_reading_geometric_noise_by_its_law_or_its_level():
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
