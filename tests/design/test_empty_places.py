"""Places without mass are decided last: designs that begin without them prove the same optimum."""

import numpy as np
import pytest

from design.interruptions import check_interrupted
from design.towns import weights_of
from utmost import losses
from utmost.channels import Channel
from utmost.optima import optimal_mechanism
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, Space, grid


@pytest.mark.parametrize("seed", range(6))
def test_fewer_places_prove_the_same_optimum(seed):
    """Three fifths empty: the search that begins without them ends within the bounds of the simplex method over all."""
    rng = np.random.default_rng(seed)
    at = 4 * rng.random((16, 2))
    space = Space(np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1)))
    prior = rng.dirichlet(np.ones(16)) * (rng.random(16) < 0.4) + 0.01 * (np.arange(16) == seed)
    ptype, consumer = PrivacyType(space, epsilon=1), Consumer(prior / prior.sum(), losses.distance(space))
    few = optimal_mechanism(ptype, consumer, method="columns").certificate
    whole = optimal_mechanism(ptype, consumer, method="program", exactly=False)
    assert few.gap <= 2e-7 * few.upper
    assert few.verify()
    assert few.lower <= whole.loss
    assert whole.lower <= few.upper
    assert ptype.contains(Channel(few.matrix))


@pytest.mark.parametrize("last", [1, 5, 20])
def test_an_interruption_among_few_places_ends_with_a_channel_for_all(last):
    """Whichever round it ends in, before or after places were added."""
    place = grid(6, 6)
    prior = np.array(weights_of("examples/france_6x6.csv", 36), dtype=float) * (np.arange(36) % 3 > 0)
    ptype, consumer = PrivacyType(place, epsilon=1), Consumer(prior / prior.sum(), losses.distance(place))
    check_interrupted(ptype, consumer, last)
