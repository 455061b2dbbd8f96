"""Places near each other are taken for one first: circles, shares, and designs that begin with them."""

import numpy as np
import pytest

from design.interruptions import check_interrupted
from utmost import losses, priors
from utmost.channels import Channel

# Searches and evidence are taken apart, forged and compared, which no public call allows.
from utmost.design.optima import column_generation
from utmost.design.optima.near_places import merging_circles, share_by_mass, sum_at_centres
from utmost.design.optima.search_for_rays import RayProgram
from utmost.optima import optimal_mechanism
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, Space, grid


def heaps(seed, count=8, each=5, wide=0.3):
    """Points in heaps that lie about one apart, some places without mass: distances and masses."""
    rng = np.random.default_rng(seed)
    at = np.repeat(3 * rng.random((count, 2)), each, axis=0) + wide * rng.random((count * each, 2))
    masses = rng.pareto(1.1, len(at)) * (rng.random(len(at)) < 0.8)
    return np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1)), masses / masses.sum()


@pytest.mark.parametrize("seed", range(8))
def test_circles_are_nested_and_no_wider_than_they_say(seed):
    distances, masses = heaps(seed)
    centres_before = set()
    sizes = merging_circles(distances, masses)
    assert len(sizes) > 1
    for near, radius in zip(sizes, (1.0, 0.5, 0.25, 0.1), strict=False):
        centres = np.unique(near)
        apart = distances[np.ix_(centres, centres)]
        assert (masses[centres] > 0).all()
        assert (near[centres] == centres).all()
        assert (apart[~np.eye(len(centres), dtype=bool)] >= radius).all()
        # A place without mass has nothing to move, and may be farther from all.
        assert (distances[np.arange(len(masses)), near][masses > 0] < radius).all()
        assert (distances[np.arange(len(masses)), near] == distances[:, centres].min(axis=1)).all()
        assert centres_before <= set(centres)
        centres_before = set(centres)


def test_places_far_apart_have_no_circles():
    assert merging_circles(np.asarray(grid(5, 5).distances, dtype=float), np.full(25, 1 / 25)) == []
    assert merging_circles(np.zeros((1, 1)), np.ones(1)) == []


@pytest.mark.parametrize("seed", range(4))
def test_shares_of_sums_are_by_mass_and_add_up_again(seed):
    distances, masses = heaps(seed)
    near = merging_circles(distances, masses)[0]
    prices = np.random.default_rng(seed).random(len(masses)) * (masses > 0)
    sums = sum_at_centres(prices, near)
    shares = share_by_mass(sums, near, masses)
    assert sum_at_centres(shares, near) == pytest.approx(sums, rel=1e-12)
    for centre in np.unique(near):
        members = (near == centre) & (masses > 0)
        assert np.ptp(shares[members] / masses[members]) <= 1e-12 * max(shares[members] / masses[members])
    assert sum_at_centres(np.stack([masses, prices]), near).tolist() == [
        sum_at_centres(masses, near).tolist(),
        sums.tolist(),
    ]


def test_the_program_of_fewer_places_has_all_costs_and_masses():
    distances, masses = heaps(2)
    space = Space(distances)
    whole = RayProgram.of(PrivacyType(space, epsilon=1), Consumer(masses, losses.distance(space)))
    near = merging_circles(distances, masses)[0]
    fewer = whole.gathered(near)
    assert fewer.costs.sum(axis=1) == pytest.approx(whole.costs.sum(axis=1), rel=1e-12)
    assert fewer.prior.sum() == pytest.approx(1, rel=1e-12)
    assert set(np.flatnonzero(fewer.prior)) == set(np.unique(near)) == set(np.flatnonzero(fewer.costs.any(axis=0)))


@pytest.mark.parametrize("seed", range(4))
def test_places_parted_late_have_the_same_optimum(seed, monkeypatch):
    """The search that takes near places for one and the one that does not end within each other's bounds."""
    distances, masses = heaps(seed)
    space = Space(distances)
    ptype, consumer = PrivacyType(space, epsilon=1), Consumer(masses, losses.distance(space))
    sizes = []
    found = column_generation.merging_circles
    monkeypatch.setattr(column_generation, "merging_circles", lambda *of: sizes.extend(found(*of)) or sizes)
    parted = optimal_mechanism(ptype, consumer, method="columns").certificate
    assert len(sizes) > 1
    monkeypatch.setattr(column_generation, "merging_circles", lambda *_: [])
    whole = optimal_mechanism(ptype, consumer, method="columns").certificate
    for certificate in (parted, whole):
        assert certificate.gap <= 1e-7 * certificate.upper
        assert certificate.verify()
    assert parted.lower <= whole.upper
    assert whole.lower <= parted.upper
    assert ptype.contains(Channel(parted.matrix))


@pytest.mark.parametrize("epsilon", ["1/4", "1/10"])
def test_a_low_level_is_designed_as_the_simplex_method_does(epsilon):
    """Places of a grid are near each other where the level is low; such a search once stayed at a gap of 1.3."""
    space = grid(5, 5)
    ptype = PrivacyType(space, epsilon=epsilon)
    consumer = Consumer(priors.uniform(25), losses.distance(space))
    certificate = optimal_mechanism(ptype, consumer, method="columns").certificate
    exact = optimal_mechanism(ptype, consumer, method="program")
    assert certificate.gap <= 1e-7 * certificate.upper
    assert certificate.lower <= exact.loss
    assert exact.lower <= certificate.upper


def test_merged_places_that_lead_astray_are_left():
    """A binary loss of 45 places at a low level: begun with merged places it ends at a gap of 2e-3, and begins anew."""
    consumer = Consumer(priors.uniform(45), losses.binary)
    found = optimal_mechanism(PrivacyType(grid(5, 9), epsilon="1/30"), consumer, method="columns").certificate
    assert found.gap <= 1e-7 * found.upper


@pytest.mark.parametrize("last", [1, 2, 3, 5, 8])
def test_an_interruption_while_places_are_taken_for_one_is_answered_for_all(last):
    """Whichever program it ends in: the bounds are those of the places themselves, and enclose the optimum."""
    distances, masses = heaps(1)
    space = Space(distances)
    ptype, consumer = PrivacyType(space, epsilon=1), Consumer(masses, losses.distance(space))
    found = check_interrupted(ptype, consumer, last)
    assert found.gap > 1e-6 * found.upper
