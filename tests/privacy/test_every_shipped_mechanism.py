"""Every mechanism that ships keeps the level it states, checked in rationals entry by entry, and wastes none of it."""

from itertools import combinations

import numpy as np
import pytest

from utmost import losses, priors
from utmost.channels import (
    Channel,
    abstract_staircase,
    dual_randomized_response,
    exponential_mechanism,
    geometric_channel,
    laplace_channel,
    randomized_response,
    renormalised_epsilon,
    renormalised_geometric_channel,
    unbounded_geometric_channel,
)
from utmost.exact import is_exact, level
from utmost.gradual import Tightening
from utmost.noise import DiscreteStaircase, Geometric
from utmost.optima import folded_channel, minimax_mechanism, optimal_mechanism
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, Space, counts, discrete, hamming

ALPHAS = ["4/9", "1/100", "9801/10000"]
"""Squares, so that half a level is rational too."""


def distances(n):
    """Costs |i - j| of the counts: their row sums differ."""
    return np.abs(np.subtract.outer(np.arange(n + 1), np.arange(n + 1)))


def stretched(n, sensitivity):
    """Counts whose neighbours differ by up to so much: ceil(|i - j| / sensitivity) individuals apart."""
    return Space(-(-distances(n) // sensitivity))


def uneven(n):
    return Consumer(priors.from_counts([1 + i % 3 for i in range(n + 1)]), losses.absolute)


ON_COUNTS = {
    "geometric": lambda n, alpha: geometric_channel(n + 1, alpha=alpha),
    "unbounded geometric": lambda n, alpha: unbounded_geometric_channel(n + 1, alpha=alpha),
    "Laplace noise, rounded": lambda n, alpha: laplace_channel(n + 1, alpha=alpha),
    "exponential": lambda n, alpha: exponential_mechanism(distances(n), alpha=alpha, space=counts(n)),
    "abstract staircase": lambda n, alpha: abstract_staircase(distances(n), alpha=alpha, space=counts(n)),
    "folded geometric noise": lambda n, alpha: folded_channel(Geometric(alpha=alpha), n + 1),
    "best for a consumer": lambda n, alpha: optimum(n, alpha).channel,
    "best against all priors": lambda n, alpha: minimax_mechanism(type_of(n, alpha), losses.squared).channel,
}
TIGHT = {"geometric", "unbounded geometric", "folded geometric noise"}
"""The others need not attain their level: their row sums differ, or a remap has taken what its consumer has no use for.
"""
ON_DISCRETE = {
    "randomised response": randomized_response,
    "dual randomised response": dual_randomized_response,
    "exponential, equal sums": lambda k, alpha: exponential_mechanism(1 - np.eye(k, dtype=int), alpha=alpha),
    "abstract staircase, equal sums": lambda k, alpha: abstract_staircase(1 - np.eye(k, dtype=int), alpha=alpha),
}


def type_of(n, alpha):
    return PrivacyType(counts(n), alpha=alpha)


def optimum(n, alpha):
    return optimal_mechanism(type_of(n, alpha), uneven(n))


def check_kept(channel, space, alpha, tight):
    """In rationals: the level is kept, and where it should be, a level 1/1000 lower is not."""
    assert is_exact(channel.matrix)
    assert PrivacyType(space, alpha=alpha).contains(channel)
    if tight:
        assert not PrivacyType(space, level(alpha=alpha).scaled("999/1000")).contains(channel)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("name", ON_COUNTS)
def test_mechanisms_on_counts(name, alpha):
    for n in (1, 2, 3, 12):
        check_kept(ON_COUNTS[name](n, alpha=alpha), counts(n), alpha, name in TIGHT)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_rounded_laplace_noise_attains_its_level_beyond_two_counts(alpha):
    """Between 0 and 1 the only threshold lies halfway, and that outcome tells less."""
    for n in (2, 12):
        check_kept(laplace_channel(n + 1, alpha=alpha), counts(n), alpha, tight=True)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("name", ON_DISCRETE)
def test_mechanisms_of_the_local_model(name, alpha):
    for k in (2, 3, 13):
        check_kept(ON_DISCRETE[name](k, alpha=alpha), discrete(k), alpha, tight=True)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("sensitivity", [1, 2, 5])
def test_staircases_of_every_step(sensitivity, alpha):
    """Along the metric of individuals: who changes the count by up to D is distinguished no better than the level
    says."""
    for n in (1, 2, 3, 12):
        for step in range(1, sensitivity + 1):
            distribution = DiscreteStaircase(alpha=alpha, sensitivity=sensitivity, step=step)
            check_kept(folded_channel(distribution, n + 1), stretched(n, sensitivity), alpha, tight=n >= sensitivity)


@pytest.mark.parametrize("space", [discrete(3), discrete(5), hamming(2), hamming(3)], ids=repr)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_designs_by_program_are_repaired_to_exact_privacy(space, alpha):
    ptype = PrivacyType(space, alpha=alpha)
    consumer = Consumer(priors.from_counts(range(1, space.size + 1)), losses.binary)
    channel = optimal_mechanism(ptype, consumer, method="program").channel
    assert is_exact(channel.matrix)
    assert ptype.contains(channel)


@pytest.mark.parametrize("n", [1, 2, 12])
def test_renormalised_truncation_keeps_what_it_says(n):
    """It does not keep the level of its noise; the level that it does keep is stated, rounded up."""
    channel = renormalised_geometric_channel(n + 1, alpha="1/2")
    assert PrivacyType(counts(n), renormalised_epsilon(n + 1, alpha="1/2")).contains(channel)
    assert type_of(n, "1/2").contains(channel) == (n < 2)


def joint_channel(n, levels):
    """What a coalition sees of a count in 0..n: the response at the highest level, then each lower one, made of it.

    A response at a lower level is that at a higher plus noise W, here clamped too, which is one more remap.
    """
    steps = np.arange(-n, n + 1)
    joint = geometric_channel(n + 1, alpha=levels[-1].alpha_fraction()).matrix.reshape(n + 1, n + 1)
    for higher, lower in zip(levels[:0:-1], levels[-2::-1], strict=True):
        masses = Tightening(lower, higher).pmf(steps.astype(object))
        tails = Tightening(lower, higher).ccdf(np.arange(0, n + 1).astype(object))
        remap = np.array([[masses[n + k - j] for k in range(n + 1)] for j in range(n + 1)])
        remap[:, 0] += [tails[j] for j in range(n + 1)]
        remap[:, n] += [tails[n - j] for j in range(n + 1)]
        shape = joint.shape
        last = joint.reshape(n + 1, -1, n + 1)
        joint = (last[:, :, :, None] * remap[None, None]).reshape(n + 1, -1, n + 1).reshape(*shape[:1], -1)
    return Channel(joint)


LADDER = [level(alpha="3/4"), level(alpha="1/2"), level(alpha="1/3")]


@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_coalition_learns_its_largest_level(n):
    """Every coalition's joint channel, entry by entry in rationals: private at its largest level, and no lower."""
    for size in (1, 2, 3):
        for levels in combinations(LADDER, size):
            check_kept(joint_channel(n, list(levels)), counts(n), levels[-1].alpha_fraction(), tight=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_COUNTS)
def test_mechanisms_on_counts_up_to_200(name):
    """The best against all priors is a program of n^2 unknowns, solved in rationals: up to 16."""
    sizes = (5, 8, 16) if name == "best against all priors" else (*range(1, 60, 7), 100, 150, 199, 200)
    for n in sizes:
        check_kept(ON_COUNTS[name](n, alpha="4/9"), counts(n), "4/9", name in TIGHT)
    largest = 8 if name == "best against all priors" else 200
    for alpha in ALPHAS[1:]:
        check_kept(ON_COUNTS[name](largest, alpha=alpha), counts(largest), alpha, name in TIGHT)


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_DISCRETE)
def test_mechanisms_of_the_local_model_up_to_201(name):
    for k in (*range(2, 60, 7), 100, 201):
        check_kept(ON_DISCRETE[name](k, alpha="4/9"), discrete(k), "4/9", tight=True)


@pytest.mark.slow
@pytest.mark.parametrize("sensitivity", [1, 2, 3, 7, 30])
def test_staircases_up_to_200(sensitivity):
    for n in (30, 100, 200):
        for step in {1, (sensitivity + 1) // 2, sensitivity}:
            distribution = DiscreteStaircase(alpha="4/9", sensitivity=sensitivity, step=step)
            check_kept(folded_channel(distribution, n + 1), stretched(n, sensitivity), "4/9", tight=n >= sensitivity)


@pytest.mark.slow
def test_pairs_of_views_on_many_counts():
    for levels in combinations(LADDER, 2):
        check_kept(joint_channel(30, list(levels)), counts(30), levels[-1].alpha_fraction(), tight=True)
