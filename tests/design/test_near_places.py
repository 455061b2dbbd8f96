"""Places near each other are taken for one first: designs that begin so prove the same optimum."""

import numpy as np
import pytest

from design.interruptions import check_interrupted
from utmost import losses, priors
from utmost.channels import Channel
from utmost.optima import optimal_mechanism
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, Space, grid


def heaps(seed, count=8, each=5, wide=0.3):
    """Points in heaps that lie about one apart, some places without mass: distances and masses."""
    rng = np.random.default_rng(seed)
    at = np.repeat(3 * rng.random((count, 2)), each, axis=0) + wide * rng.random((count * each, 2))
    masses = rng.pareto(1.1, len(at)) * (rng.random(len(at)) < 0.8)
    return np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1)), masses / masses.sum()


@pytest.mark.parametrize("seed", range(2))
def test_places_parted_late_have_the_same_optimum(seed):
    """The search that takes near places for one ends within the bounds of the simplex method over all."""
    distances, masses = heaps(seed, count=5, each=3, wide=0.1)
    space = Space(distances)
    ptype, consumer = PrivacyType(space, epsilon=1), Consumer(masses, losses.distance(space))
    parted = optimal_mechanism(ptype, consumer, method="columns").certificate
    whole = optimal_mechanism(ptype, consumer, method="program", exactly=False)
    assert parted.gap <= 1e-7 * parted.upper
    assert parted.verify()
    assert parted.lower <= whole.loss
    assert whole.lower <= parted.upper
    assert ptype.contains(Channel(parted.matrix))


def test_a_low_level_is_designed_as_the_simplex_method_does():
    """Places of a grid are near each other where the level is low; such a search once stayed at a gap of 1.3."""
    space = grid(5, 5)
    ptype = PrivacyType(space, epsilon="1/10")
    consumer = Consumer(priors.uniform(25), losses.distance(space))
    certificate = optimal_mechanism(ptype, consumer, method="columns").certificate
    exact = optimal_mechanism(ptype, consumer, method="program")
    assert certificate.gap <= 1e-7 * certificate.upper
    assert certificate.lower <= exact.loss
    assert exact.lower <= certificate.upper


@pytest.mark.slow  # one long search: `pytest -m slow -k astray`
def test_merged_places_that_lead_astray_are_left():
    """A binary loss of 45 places at a low level: begun with merged places it ends at a gap of 2e-3, and begins anew."""
    consumer = Consumer(priors.uniform(45), losses.binary)
    found = optimal_mechanism(PrivacyType(grid(5, 9), epsilon="1/30"), consumer, method="columns").certificate
    assert found.gap <= 1e-7 * found.upper


@pytest.mark.parametrize("last", [1, 3])
def test_an_interruption_while_places_are_taken_for_one_is_answered_for_all(last):
    """Whichever program it ends in: the bounds are those of the places themselves, and enclose the optimum."""
    distances, masses = heaps(1, count=6, each=4)
    space = Space(distances)
    ptype, consumer = PrivacyType(space, epsilon=1), Consumer(masses, losses.distance(space))
    found = check_interrupted(ptype, consumer, last)
    assert found.gap > 1e-6 * found.upper
