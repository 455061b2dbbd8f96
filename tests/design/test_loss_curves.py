"""Curves of loss: each point is the optimum, warm or cold, and what lies between two is proven."""

from fractions import Fraction

import numpy as np
import pytest

from utmost import losses, priors
from utmost.errors import NotALevel, OutOfRange
from utmost.exact import level
from utmost.optima import LossCurve, even_levels_between, loss_curve, optimal_mechanism
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, Space, counts, discrete, grid, hamming, places

PLACE = grid(5, 5)
PRIOR = np.random.default_rng(3).dirichlet(np.ones(25))
FAR = Consumer(PRIOR, losses.distance(PLACE))


@pytest.fixture(scope="module")
def curve():
    return loss_curve(PLACE, FAR, even_levels_between("1/2", 2, 7), gap=1e-6)


def test_every_point_is_the_optimum_of_its_level(curve):
    """Bounds from a warm start meet those of a search from nothing; the certificate of each is checked again."""
    for at, found in zip(curve.levels, curve.designs, strict=True):
        alone = optimal_mechanism(PrivacyType(PLACE, at), FAR, method="columns")
        assert found.lower <= alone.loss
        assert alone.lower <= found.loss
        assert found.gap <= 1e-6 * found.loss
        assert found.certificate.verify()


def test_the_loss_falls_as_the_level_rises(curve):
    assert list(curve.levels) == sorted(curve.levels)
    assert all(after <= before for before, after in zip(curve.losses, curve.losses[1:], strict=False))


@pytest.mark.parametrize("epsilon", ["0.5", "0.6", "0.75", "1.9", "2"])
def test_what_is_proven_between_levels_holds_there(curve, epsilon):
    bounds = curve.between(epsilon)
    alone = optimal_mechanism(PrivacyType(PLACE, epsilon=epsilon), FAR, method="columns")
    assert bounds.lower <= alone.loss
    assert alone.lower <= bounds.upper


@pytest.mark.parametrize("epsilon", ["0.49", 3])
def test_outside_nothing_is_said(curve, epsilon):
    with pytest.raises(OutOfRange, match="more levels"):
        curve.between(epsilon)


def test_levels_so_far_that_factors_underflow_begin_anew():
    points = np.arange(30.0) * 2.0
    space = Space(abs(points[:, None] - points[None]) ** 1.0)
    consumer = Consumer(np.full(30, 1 / 30), losses.distance(space))
    for found in loss_curve(space, consumer, ["3/2", 2, 3]).designs:
        assert found.certificate.verify()
        assert found.gap <= 1e-3 * found.loss + 1e-9


@pytest.mark.parametrize("space", [counts(8), discrete(4), hamming(2)])
def test_closed_forms_and_vertices_stay_exact(space):
    consumer = Consumer(priors.uniform(space.size), losses.binary)
    found = loss_curve(space, consumer, [level(alpha=Fraction(1, k)) for k in (2, 3, 5)])
    assert all(one.is_exact for one in found.designs)
    assert found.losses == tuple(sorted(found.losses, reverse=True))


def test_an_interruption_leaves_the_levels_so_far():
    def stop(number, rounds, gap):
        if (number, rounds) == (2, 2):
            raise KeyboardInterrupt

    found = loss_curve(PLACE, FAR, ["1/2", 1, "3/2", 2], gap=1e-7, progress=stop)
    assert [str(at.epsilon) for at in found.levels] == ["1/2", "2"]
    assert all(one.certificate.verify() for one in found.designs)


def test_levels_are_for_one_unit_of_distance():
    where = places({f"p{k}": (50 + k / 100, 5.0) for k in range(4)}, unit="km")
    consumer = Consumer(priors.uniform(4), losses.distance(where))
    found = loss_curve(where, consumer, ["1 per 2 km", "1/4"])
    assert [str(at.epsilon) for at in found.levels] == ["1/4", "1/2"]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda: loss_curve(PLACE, FAR, []), OutOfRange),
        (lambda: loss_curve(PLACE, FAR, [0]), NotALevel),
        (lambda: even_levels_between(1, 1, 2), OutOfRange),
        (lambda: even_levels_between(0, 1, 2), OutOfRange),
        (lambda: even_levels_between(1, 2, 1), OutOfRange),
    ],
)
def test_what_is_no_curve_is_refused(wrong, error):
    with pytest.raises(error):
        wrong()


def test_a_curve_of_no_level_has_no_loss():
    assert LossCurve(()).losses == ()
