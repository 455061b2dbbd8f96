"""Parts of searches that make designs and capacities quick and change none of them, each with one example."""

from fractions import Fraction

import numpy as np
import pytest

# What only makes a search quick shows in no design.
from utmost.design.capacities.implicit_mechanisms import distance_profile
from utmost.design.capacities.packing import known_symmetries
from utmost.design.capacities.pair_program import PairClasses
from utmost.design.capacities.similarity import Similarity
from utmost.design.geometry.best_action_cells import Complex
from utmost.design.geometry.nearest_remaps import nearest_remaps
from utmost.design.optima.loss_curves import designs_in_turn
from utmost.design.optima.near_places import merging_circles, share_by_mass, sum_at_centres
from utmost.design.spaces.distance_units import is_unit
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, counts, grid, hamming, losses, priors


def test_cells_are_no_unit():
    assert (is_unit("minutes"), is_unit("cells")) == (True, False)


def test_profiles_and_symmetries_of_spaces():
    assert [*distance_profile(hamming(3)).values()] == [1, 3, 3, 1]
    assert distance_profile(counts(2)) is None
    assert [len(known_symmetries(space)) for space in (grid(3, 3), grid(2, 3), counts(3))] == [8, 4, 1]
    classes = [PairClasses.of(Similarity.of(PrivacyType(space, 1))) for space in (hamming(4), counts(3))]
    assert [len(some) for some in classes] == [5, 8]
    lengths = Similarity.of(PrivacyType(grid(2, 2), alpha="1/2")).lengths
    assert [float(length) for length in lengths] == pytest.approx([0, 1, 2**0.5])


def test_two_actions_cut_the_priors_into_halves():
    halves = Complex.of(np.array([[Fraction(1)], [Fraction(1)]]), np.array([[0, 1], [1, 0]]))
    assert halves.priors == ((0, 1), (1, 0), (1, 1))


def test_nearest_remaps():
    *_, last = nearest_remaps(np.eye(2), np.array([[0.5, 0.5], [0.25, 0.75]]))
    assert last.round(6).tolist() == [[0.5, 0.5], [0.25, 0.75]]


def test_merged_places():
    at = np.array([0.0, 0.2, 5.0])
    circles = merging_circles(abs(at[:, None] - at), np.array([0.2, 0.5, 0.3]))
    assert [near.tolist() for near in circles] == [[1, 1, 2]] * 3
    near, masses = np.array([0, 0, 2]), np.array([3.0, 1.0, 1.0])
    assert share_by_mass(sum_at_centres(np.array([1.0, 1.0, 5.0]), near), near, masses).tolist() == [1.5, 0.5, 5.0]


def test_designs_in_turn_prove_themselves():
    place = grid(5, 5)
    ptype = PrivacyType(place, epsilon=1)
    both = [Consumer(priors.uniform(25), loss) for loss in (losses.distance(place), losses.binary)]
    assert all(found.certificate.verify() for found in designs_in_turn([(ptype, consumer) for consumer in both]))
