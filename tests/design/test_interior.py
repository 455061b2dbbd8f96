"""Optima of large programs: their certificates against exact optima and the simplex method."""

import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from utmost.channels import Channel
from utmost.design import Multipliers, interior_certificate, optimal_mechanism
from utmost.design.checker import edge_slacks
from utmost.design.interior import likely_actions
from utmost.errors import OutOfRange, PromiseBroken
from utmost.privacy import PrivacyType, smallest_epsilon
from utmost.spaces import Consumer, Space, counts, discrete, grid, hamming, losses, priors

SPACES = {
    "square": grid(3, 3),
    "manhattan": grid(3, 4, metric="manhattan"),
    "cube": hamming(3),
    "flat": discrete(5),
    "line": counts(6),
    "table": Space([[0, 2, 3], [2, 0, 4], [3, 4, 0]]),
    "one": discrete(1),
}


@pytest.mark.parametrize("epsilon", ["1/100", 1, 6])
@pytest.mark.parametrize("name", SPACES)
def test_its_bounds_enclose_the_optimum(name, epsilon):
    """The exact (or simplex) optimum lies between the bounds, which are within 1e-6 of each other."""
    space = SPACES[name]
    rng = np.random.default_rng(len(name))
    consumer = Consumer(rng.dirichlet(np.ones(space.size)), rng.random((space.size, int(rng.integers(1, 6)))))
    ptype = PrivacyType(space, epsilon=epsilon)
    found, other = interior_certificate(ptype, consumer), optimal_mechanism(ptype, consumer, method="program")
    assert found.lower <= other.loss
    assert other.lower <= found.upper
    assert found.gap <= 1e-6 * found.upper
    assert found.verify()


@pytest.mark.parametrize("name", SPACES)
def test_its_channel_is_exactly_private(name):
    space = SPACES[name]
    consumer = Consumer(priors.uniform(space.size), losses.distance(space))
    found = optimal_mechanism(PrivacyType(space, alpha="1/2"), consumer, method="interior")
    channel = found.certificate.matrix
    assert set(channel.sum(axis=1)) == {Fraction(1)}
    assert PrivacyType(space, alpha="1/2").contains(Channel(channel))
    if space.size > 1:
        assert smallest_epsilon(Channel(channel), space).value <= np.nextafter(np.log(2), 1)


def test_rational_consumers_get_rational_bounds_that_enclose_the_exact_optimum():
    cube = hamming(3)
    ptype, consumer = PrivacyType(cube, alpha="1/2"), Consumer(priors.uniform(8), losses.distance(cube))
    exactly, near = (optimal_mechanism(ptype, consumer, method=m) for m in ("auto", "interior"))
    assert exactly.is_exact
    assert near.lower <= exactly.loss <= near.loss
    assert near.gap <= 1e-6 * near.loss


def test_large_programs_get_an_interior_point_by_themselves():
    """49 places with a prior of no symmetry: a program of 73 304 rows for each 49 actions."""
    place = grid(7, 7)
    prior = np.random.default_rng(1).dirichlet(np.ones(49))
    found = optimal_mechanism(PrivacyType(place, epsilon=1), Consumer(prior, losses.distance(place)))
    assert found.method == "interior point"
    assert found.gap <= 1e-6 * found.loss
    assert found.certificate.verify()


def test_extreme_consumers():
    """All mass on one place; a loss of zero everywhere; an action that is never wrong."""
    place = grid(2, 3)
    ptype = PrivacyType(place, epsilon=1)
    sure = Consumer(np.eye(6)[2], losses.distance(place))
    assert interior_certificate(ptype, sure).upper < 1e-9
    for loss in (np.zeros((6, 3)), np.column_stack([np.zeros(6), np.ones(6)])):
        found = interior_certificate(ptype, Consumer(np.full(6, 1 / 6), loss))
        assert 0 <= found.upper < 1e-9
        assert -1e-9 < found.lower <= 0


def test_an_action_left_out_at_first_is_found(monkeypatch):
    """However the first actions are chosen, pricing brings in those of use."""
    place = grid(3, 3)
    ptype = PrivacyType(place, epsilon=1)
    consumer = Consumer(np.random.default_rng(4).dirichlet(np.ones(9)), losses.distance(place))
    whole = interior_certificate(ptype, consumer)
    monkeypatch.setattr("utmost.design.interior.likely_actions", lambda *_: np.array([0]))
    again = interior_certificate(ptype, consumer)
    assert again.lower <= whole.upper
    assert whole.lower <= again.upper


def test_likely_actions_are_few_where_the_prior_is_concentrated():
    place = grid(6, 6)
    prior = np.zeros(36)
    prior[[0, 35]] = 0.5
    ptype = PrivacyType(place, epsilon=2)
    assert len(likely_actions(ptype, Consumer(prior, losses.distance(place)))) < 10


def test_listed_multipliers_mean_the_same_as_a_table():
    ptype = PrivacyType(grid(2, 2), epsilon=1)
    consumer = Consumer(np.full(4, 0.25), losses.binary)
    rng = np.random.default_rng(5)
    edges = ptype.space.edges
    table, dual = rng.random((len(edges), 2, 4)), rng.random(4)
    e, side, action = np.nonzero(table)
    listed = Multipliers(edges[e, side], edges[e, 1 - side], action, table[e, side, action])
    by_table, by_list = (edge_slacks(ptype, consumer, dual, m, exactly=False) for m in (table, listed))
    assert np.allclose(by_table, by_list, atol=1e-14)


def test_forged_multipliers_prove_nothing():
    certificate = interior_certificate(PrivacyType(grid(2, 2), epsilon=1), Consumer(np.full(4, 0.25), losses.binary))
    m = certificate.multipliers
    assert pickle.loads(pickle.dumps(certificate)).verify()
    larger = np.array(m.value)
    larger[int(np.argmax(larger))] *= 1.5
    with pytest.raises(PromiseBroken):
        replace(certificate, multipliers=Multipliers(m.low, m.high, m.action, larger)).check()
    with pytest.raises(PromiseBroken, match="negative"):
        replace(certificate, multipliers=Multipliers(m.low, m.high, m.action, -m.value)).check()


@pytest.mark.parametrize("parts", [([0], [0], [0], [1.0]), ([0], [1], [0], [1.0, 2.0]), ([-1], [1], [0], [1.0])])
def test_what_is_no_list_of_multipliers_is_refused(parts):
    with pytest.raises(OutOfRange):
        Multipliers(*parts)


def test_an_exact_interior_point_is_refused():
    with pytest.raises(OutOfRange, match="near the optimum"):
        optimal_mechanism(
            PrivacyType(counts(2), alpha="1/2"),
            Consumer(priors.uniform(3), losses.binary),
            method="interior",
            exactly=True,
        )
