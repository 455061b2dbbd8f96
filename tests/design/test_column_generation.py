"""Optima of large programs: their certificates against exact optima and the simplex method."""

import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from design.towns import weights_of
from utmost import losses, priors
from utmost.channels import Channel
from utmost.errors import OutOfRange, PromiseBroken
from utmost.optima import Multipliers, optimal_mechanism
from utmost.privacy_types import PrivacyType, smallest_epsilon
from utmost.spaces import Consumer, Space, counts, cycle, discrete, grid, hamming

SPACES = {
    "square": grid(3, 3),
    "manhattan": grid(3, 4, metric="manhattan"),
    "cube": hamming(3),
    "flat": discrete(5),
    "line": counts(6),
    "table": Space([[0, 2, 3], [2, 0, 4], [3, 4, 0]]),
    "one": discrete(1),
    "two": discrete(2),
    "near": Space([[0, 1e-6, 1], [1e-6, 0, 1], [1, 1, 0]]),
}


EPSILONS = ["1/1000000", "1/100", 1, 6, 50]


@pytest.mark.parametrize(
    ("name", "epsilon"),
    [
        (name, EPSILONS[(row + turn) % 5])
        for row, name in enumerate(SPACES)
        for turn in ((0, 2, 4) if row % 2 else (0, 3))
    ],
)
def test_its_bounds_enclose_the_optimum(name, epsilon):
    """The exact (or simplex) optimum lies between the bounds, which are within 1e-6 of each other."""
    space = SPACES[name]
    rng = np.random.default_rng(len(name))
    prior = rng.dirichlet(np.ones(space.size))
    prior[: space.size // 3] = 0  # empty places
    consumer = Consumer(prior / prior.sum(), rng.random((space.size, int(rng.integers(1, 6)))))
    ptype = PrivacyType(space, epsilon=epsilon)
    found, other = (
        optimal_mechanism(ptype, consumer, method="columns").certificate,
        optimal_mechanism(ptype, consumer, method="program"),
    )
    assert found.lower <= other.loss
    assert other.lower <= found.upper
    assert found.gap <= 1e-6 * found.upper
    assert found.verify()


@pytest.mark.parametrize("name", SPACES)
def test_its_channel_is_exactly_private(name):
    space = SPACES[name]
    consumer = Consumer(priors.uniform(space.size), losses.distance(space))
    found = optimal_mechanism(PrivacyType(space, alpha="1/2"), consumer, method="columns")
    channel = found.certificate.matrix
    assert set(channel.sum(axis=1)) == {Fraction(1)}
    assert PrivacyType(space, alpha="1/2").contains(Channel(channel))
    if space.size > 1:
        assert smallest_epsilon(Channel(channel), space).value <= np.nextafter(np.log(2), 1)


@pytest.mark.parametrize("seed", range(10))
def test_random_points_agree_with_the_simplex_method(seed):
    """Points anywhere, priors with rare and empty places, losses of any shape, levels from 1/10 to 10."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 11))
    points = rng.random((n, 2)) * 3
    space = Space(np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1)))
    prior = rng.pareto(1.1, n) * (rng.random(n) < 0.7) + (np.arange(n) == 0)
    consumer = Consumer(prior / prior.sum(), rng.random((n, int(rng.integers(1, 9)))) ** 2)
    ptype = PrivacyType(space, epsilon=float(10 ** rng.uniform(-1, 1)))
    found, other = (
        optimal_mechanism(ptype, consumer, method="columns").certificate,
        optimal_mechanism(ptype, consumer, method="program"),
    )
    assert found.lower <= other.loss
    assert other.lower <= found.upper
    assert found.gap <= 1e-6 * found.upper


@pytest.mark.parametrize(
    ("side", "epsilon", "seeds"),
    [(3, 1.0, (3, 0)), (4, 1.0, (5, 1)), (4, 3.0, (5, 9)), (5, 3.0, (4, 11)), (6, 3.0, (4, 5))],
)
def test_a_ray_that_is_there_is_not_added_again(side, epsilon, seeds):
    """Copies of a ray pushed others out and made rows depend on each other: a gap of nine tenths, or none at all."""
    place = grid(side, side)
    for seed in seeds:
        prior = np.random.default_rng(seed).dirichlet(np.ones(place.size))
        found = optimal_mechanism(
            PrivacyType(place, epsilon=epsilon), Consumer(prior, losses.distance(place)), method="columns"
        ).certificate
        assert found.gap <= 2e-7 * found.upper


@pytest.mark.parametrize("seed", [1, 2, 7])
def test_trees_with_light_places_are_priced_to_their_end(seed):
    """Rays of a large circle weigh 1 in some places and e^-80 in others: flows to the light ones are not rounding."""
    circle, rng = cycle(44), np.random.default_rng(seed)
    prior = rng.pareto(1.1, 44)
    consumer = Consumer(prior / prior.sum(), rng.random((44, 6)) ** 2)
    found = optimal_mechanism(
        PrivacyType(circle, epsilon=float(rng.uniform(3, 8))), consumer, method="columns"
    ).certificate
    assert found.gap <= 2e-7 * found.upper


def test_ties_do_not_hold_it_up():
    """Every place alike, every action as good as another, and each twice: all trees tie."""
    place = grid(3, 3, metric="manhattan")
    loss = np.tile(np.asarray(place.distances, dtype=float), (1, 2))
    found = optimal_mechanism(
        PrivacyType(place, alpha="1/2"), Consumer(np.full(9, 1 / 9), loss), method="columns"
    ).certificate
    one = optimal_mechanism(PrivacyType(place, alpha="1/2"), Consumer(priors.uniform(9), losses.distance(place)))
    assert found.lower <= one.loss <= found.upper
    assert found.gap <= 1e-6 * found.upper


def test_each_action_has_fewer_multipliers_than_places():
    """A tree of n places has n - 1 arcs."""
    place = grid(4, 4)
    consumer = Consumer(np.random.default_rng(2).dirichlet(np.ones(16)), losses.distance(place))
    m = optimal_mechanism(PrivacyType(place, epsilon=1), consumer, method="columns").certificate.multipliers
    assert np.bincount(m.action).max() <= 15


def test_progress_tells_the_gap_and_an_interruption_ends_with_what_is_proven():
    place = grid(4, 4)
    ptype = PrivacyType(place, epsilon=1)
    consumer = Consumer(np.random.default_rng(2).dirichlet(np.ones(16)), losses.distance(place))
    told = []

    def stop(rounds, gap):
        told.append((rounds, gap))
        if rounds == 3:
            raise KeyboardInterrupt

    found = optimal_mechanism(ptype, consumer, progress=stop, method="columns").certificate
    assert [rounds for rounds, _ in told] == [1, 2, 3]
    assert found.verify()
    assert 1e-6 < float(found.gap / found.upper) <= 1.05 * told[-1][1]
    whole = optimal_mechanism(ptype, consumer, method="columns").certificate
    assert found.lower <= whole.upper
    assert whole.lower <= found.upper


def test_a_design_ends_at_the_gap_that_is_asked_for():
    """A wide gap takes fewer rounds, is reached, and the bounds enclose those of a narrow one."""
    place = grid(5, 5)
    consumer, ptype = Consumer(priors.uniform(25), losses.distance(place)), PrivacyType(place, epsilon=1)
    rounds = {}
    for gap in ("1/20", "1e-7"):
        told = []
        found = optimal_mechanism(
            ptype, consumer, method="columns", gap=gap, progress=lambda *told_now, told=told: told.append(told_now)
        )
        assert 0 < found.gap <= float(Fraction(gap)) * found.loss
        assert found.certificate.verify()
        rounds[gap] = len(told), found
    assert rounds["1/20"][0] < rounds["1e-7"][0]
    assert rounds["1/20"][1].lower <= rounds["1e-7"][1].loss
    assert rounds["1e-7"][1].lower <= rounds["1/20"][1].loss
    with pytest.raises(OutOfRange, match="gap"):
        optimal_mechanism(ptype, consumer, gap=0)


def test_an_interruption_before_any_bound_is_one(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    # Planted where it is used: an interruption.
    monkeypatch.setattr("utmost.design.optima.search_for_rays.central_shares", interrupted)
    with pytest.raises(KeyboardInterrupt):
        optimal_mechanism(
            PrivacyType(discrete(3), epsilon=1), Consumer(np.full(3, 1 / 3), losses.binary), method="columns"
        )


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["uniform", "dirichlet", "france"])
def test_four_hundred_places(prior):
    """20 by 20 places, for France with 227 empty ones: a proven gap of 1e-6."""
    place = grid(20, 20)
    weights = {
        "uniform": lambda: np.full(400, 1 / 400),
        "dirichlet": lambda: np.random.default_rng(0).dirichlet(np.ones(400)),
        "france": lambda: priors.from_counts(weights_of("examples/france_20x20.csv", 400)).astype(float),
    }[prior]()
    found = optimal_mechanism(
        PrivacyType(place, epsilon=1), Consumer(weights, losses.distance(place)), method="columns"
    ).certificate
    assert found.gap <= 1e-6 * found.upper
    assert found.verify()


def test_rational_consumers_get_rational_bounds_that_enclose_the_exact_optimum():
    cube = hamming(3)
    ptype, consumer = PrivacyType(cube, alpha="1/2"), Consumer(priors.uniform(8), losses.distance(cube))
    exactly, near = (optimal_mechanism(ptype, consumer, method=m) for m in ("auto", "columns"))
    assert exactly.is_exact
    assert near.lower <= exactly.loss <= near.loss
    assert near.gap <= 1e-6 * near.loss


def test_large_programs_get_their_columns_by_themselves():
    """49 places with a prior of no symmetry: a program of 73 304 rows for each 49 actions."""
    place = grid(7, 7)
    prior = np.random.default_rng(1).dirichlet(np.ones(49))
    found = optimal_mechanism(PrivacyType(place, epsilon=1), Consumer(prior, losses.distance(place)))
    assert found.method == "column generation"
    assert found.gap <= 1e-6 * found.loss
    assert found.certificate.verify()


def test_extreme_consumers():
    """All mass on one place; a loss of zero everywhere; an action that is never wrong."""
    place = grid(2, 3)
    ptype = PrivacyType(place, epsilon=1)
    sure = Consumer(np.eye(6)[2], losses.distance(place))
    assert optimal_mechanism(ptype, sure, method="columns").certificate.upper < 1e-9
    for loss in (np.zeros((6, 3)), np.column_stack([np.zeros(6), np.ones(6)])):
        found = optimal_mechanism(ptype, Consumer(np.full(6, 1 / 6), loss), method="columns").certificate
        assert 0 <= found.upper < 1e-9
        assert -1e-9 < found.lower <= 0


def test_forged_multipliers_prove_nothing():
    certificate = optimal_mechanism(
        PrivacyType(grid(2, 2), epsilon=1), Consumer(np.full(4, 0.25), losses.binary), method="columns"
    ).certificate
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


def test_exact_column_generation_is_refused():
    with pytest.raises(OutOfRange, match="no exact optimum"):
        optimal_mechanism(
            PrivacyType(counts(2), alpha="1/2"),
            Consumer(priors.uniform(3), losses.binary),
            method="columns",
            exactly=True,
        )
