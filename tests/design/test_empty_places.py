"""Places without mass are decided last: the rows that a level leaves them, and designs that begin without them."""

import numpy as np
import pytest

from design.interruptions import check_interrupted
from utmost import losses
from utmost.channels import Channel

# Searches and evidence are taken apart, forged and compared, which no public call allows.
from utmost.design.optima import search_for_rays
from utmost.design.optima.empty_places import filled, filled_at_a_loss, short_places
from utmost.errors import Infeasible
from utmost.interfaces.documents.consumer_files import prior_file
from utmost.optima import optimal_mechanism
from utmost.privacy_types import PrivacyType
from utmost.programs import LinearProgram, solve
from utmost.spaces import Consumer, Space, grid


def some_rows(seed, t=4):
    """Factors of a square of nine, and rows of some of its places that keep these: as steep as can be, or flatter."""
    rng, factors = np.random.default_rng(seed), np.exp(-np.asarray(grid(3, 3).distances, dtype=float))
    places = np.sort(rng.choice(9, t, replace=False))
    own = factors[np.ix_(places, places)]
    shares = np.linalg.solve(own, np.ones(t))
    assert (shares >= 0).all()
    steep = own * shares
    return steep + rng.choice([0.0, 0.1, 0.5]) * (steep.mean(axis=0) - steep), places, factors


def a_row_exists(rows, there):
    """By the simplex method: entries x_w with x_w >= a_j X[j, w] and X[j, w] >= a_j x_w, of sum 1."""
    t, k = rows.shape
    at = np.arange(t * k)
    low, high = (there[:, None] * rows).ravel(), (rows / there[:, None]).ravel()
    matrix = np.concatenate([at, np.full(k, t * k)]), np.concatenate([np.tile(np.arange(k), t), np.arange(k)])
    try:
        solve(LinearProgram.of_triplets(np.zeros(k), *matrix, np.ones(t * k + k), [*low, 1.0], [*high, 1.0]))
    except Infeasible:
        return False
    return True


def test_a_place_can_go_on_exactly_where_its_ends_enclose_one():
    """One further place: the closed form says what the simplex method says, and the row is one of those."""
    answers = [check_further_places(*some_rows(seed, 3 + seed % 6)) for seed in range(36)]
    assert {True, False} == {can for one_map in answers for can in one_map}


def check_further_places(rows, places, factors):
    """Whether each can go on, the closed form having been compared."""
    answers = []
    for x in np.setdiff1d(np.arange(9), places):
        among = np.append(places, x)
        part = factors[np.ix_(among, among)]
        whole, left_out = filled(rows, np.arange(len(places)), part)
        can = a_row_exists(rows, part[-1, :-1])
        assert (len(left_out) == 0) == can
        assert (x in short_places(rows, places, factors)) <= (not can)
        if can:
            assert whole[-1].sum() == pytest.approx(1, abs=1e-12)
            assert (whole[-1] >= part[-1, :, None] * whole * (1 - 1e-12)).all()
            assert (whole >= part[:, -1, None] * whole[-1] * (1 - 1e-12)).all()
        answers.append(can)
    return answers


@pytest.mark.parametrize("seed", range(12))
def test_what_cannot_go_on_does_at_a_loss(seed):
    """Sums of 1 and all factors kept, in every place."""
    rows, places, factors = some_rows(seed, t=5)
    whole = filled_at_a_loss(rows, places, factors)
    assert whole.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert (whole[:, None] >= factors[:, :, None] * whole[None] * (1 - 1e-12)).all()


@pytest.mark.parametrize("seed", range(6))
def test_fewer_places_prove_the_same_optimum(seed, monkeypatch):
    """Three fifths empty: the search that begins without them ends within both bounds of the one over all."""
    rng = np.random.default_rng(seed)
    at = 4 * rng.random((24, 2))
    space = Space(np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1)))
    prior = rng.dirichlet(np.ones(24)) * (rng.random(24) < 0.4) + 0.01 * (np.arange(24) == seed)
    ptype, consumer = PrivacyType(space, epsilon=1), Consumer(prior / prior.sum(), losses.distance(space))
    few = optimal_mechanism(ptype, consumer, method="columns").certificate
    begun = search_for_rays.RaySearch.begun.__func__
    monkeypatch.setattr(
        search_for_rays.RaySearch, "begun", classmethod(lambda cls, program, _: begun(cls, program, np.arange(24)))
    )
    whole = optimal_mechanism(ptype, consumer, method="columns").certificate
    for certificate in (few, whole):
        assert certificate.gap <= 2e-7 * certificate.upper
        assert certificate.verify()
    assert few.lower <= whole.upper
    assert whole.lower <= few.upper
    assert ptype.contains(Channel(few.matrix))


@pytest.mark.parametrize("last", [1, 2, 5, 12, 20, 30])
def test_an_interruption_among_few_places_ends_with_a_channel_for_all(last):
    """Whichever round it ends in, before or after places were added."""
    place = grid(6, 6)
    prior = prior_file("weights:examples/france_6x6.csv", 36).astype(float) * (np.arange(36) % 3 > 0)
    ptype, consumer = PrivacyType(place, epsilon=1), Consumer(prior / prior.sum(), losses.distance(place))
    check_interrupted(ptype, consumer, last)


def test_a_place_amid_three_that_tell_too_much_has_no_row():
    """The centre of a triangle of side 1/2: its lowest entries sum to 3 e^(-r) / (1 + 2 e^(-1/2)) > 1."""
    near, far = np.exp(-0.5), np.exp(-0.5 / np.sqrt(3))
    factors = np.array([[1, near, near, far], [near, 1, near, far], [near, near, 1, far], [far, far, far, 1]])
    rows = factors[:3, :3] / (1 + 2 * near)
    assert filled(rows, np.arange(3), factors)[1].tolist() == [3]
    assert not a_row_exists(rows, factors[3, :3])
