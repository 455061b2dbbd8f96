"""Small functions of spaces, channels, kernels and optima, each with one example."""

from fractions import Fraction

import numpy as np
import pytest

from utmost.core.noise import costs
from utmost.design.capacities.implicit_mechanisms import distance_profile, product_parts
from utmost.design.capacities.packing import known_symmetries
from utmost.design.capacities.pair_program import PairClasses
from utmost.design.capacities.similarity import Similarity
from utmost.design.channels.channel import Channel, merged_columns
from utmost.design.geometry.best_action_cells import Complex
from utmost.design.geometry.essential_graph import BipartiteGraph, count_height_functions, longest_basis_cycle
from utmost.design.geometry.nearest_remaps import nearest_remaps
from utmost.design.geometry.orders import nearest_mixture
from utmost.design.geometry.refinement_proofs import is_remap_between
from utmost.design.geometry.vertex_search import height_functions, vertices_by_reverse_search
from utmost.design.leakage.channel_capacity import best_subset, corner_priors
from utmost.design.local.bits import draw_bits
from utmost.design.local.categories import best_size
from utmost.design.optima.closed_form import exact_scores
from utmost.design.optima.constrained import Constraint, constraint_rows
from utmost.design.optima.extreme_rays import generic_factors
from utmost.design.optima.loss_curves import _halving, designs_in_turn
from utmost.design.optima.near_places import merging_circles, share_by_mass, sum_at_centres
from utmost.design.optima.periodic_noise import discounted
from utmost.design.optima.sharing import shared_mechanism
from utmost.design.optima.unavoidable_loss import combined
from utmost.design.privacy_types.curves import RowsCurve
from utmost.design.spaces import losses, priors
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.distance_units import is_unit, unit_named
from utmost.design.spaces.position_distances import closure, geodesic_steps, great_circle_steps, plane_steps
from utmost.exact import as_array, level
from utmost.privacy_types import PrivacyType
from utmost.spaces import counts, grid, hamming
from utmost.testing import SeededRandomness

PATH = np.abs(np.arange(5)[:, None] - np.arange(5))
TRIANGLE = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])


def test_units_have_short_names():
    assert [unit_named(word) for word in ("Kilometres", "min", "cells")] == ["km", "min", "cells"]
    assert (is_unit("minutes"), is_unit("cells")) == (True, False)


def test_distances_are_whole_steps_rounded_down():
    equator, pole = (Fraction(0), Fraction(0)), (Fraction(90), Fraction(0))
    assert great_circle_steps([equator, pole], Fraction(1000)).tolist() == [[0, 9951], [9951, 0]]
    paris_and_london = [(Fraction("48.8566"), Fraction("2.3522")), (Fraction("51.5074"), Fraction("-0.1278"))]
    assert geodesic_steps(paris_and_london, Fraction(1))[0, 1] == 343922, "343 923 m along the ellipsoid"
    corners = [(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))]
    assert plane_steps(corners, Fraction(1, 100)).tolist() == [[0, 141], [141, 0]]
    assert closure(np.array([[0, 1, 3], [1, 0, 1], [3, 1, 0]]))[0].tolist() == [0, 1, 2]


def test_the_curve_of_a_coin():
    coin = RowsCurve.of([["3/4", "1/4"], ["1/4", "3/4"]])
    assert (coin.missed_exactly(Fraction(1, 8)), coin.excess_exactly(None)) == (Fraction(5, 8), Fraction(1, 2))


def test_proportional_columns_are_merged():
    matrix = as_array([["1/2", "1/4", 0, "1/4"], ["1/3", "1/6", 0, "1/2"]])
    assert merged_columns(matrix, 0)[1] == [[0, 1], [3]]


def test_the_best_subset_and_the_corners_of_two_actions():
    rows = as_array([["2/3", "1/3"], ["1/2", "1/2"], ["1/3", "2/3"]])
    assert best_subset(rows, lambda k, f: (f - 1) / k) == (0, 2)
    corners = corner_priors(as_array([[1, 0], [0, 1]]), True)
    assert [[str(p) for p in corner] for corner in corners] == [["0", "1"], ["1/2", "1/2"], ["1", "0"]]


def test_parts_profiles_and_symmetries_of_spaces():
    assert [part.space.size for part in product_parts(PrivacyType(grid(2, 5, "manhattan"), 1))] == [2, 5]
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


def test_graphs_without_odd_cycles_are_bipartite_and_their_height_functions_are_counted():
    assert BipartiteGraph.of(2 * PATH[:3, :3]).edges == [(0, 1), (1, 2)]
    assert BipartiteGraph.of(TRIANGLE) is None
    assert longest_basis_cycle(4, [(0, 1), (1, 2), (2, 3), (0, 3)]) == 4
    assert longest_basis_cycle(2, [(0, 1)]) == 0
    assert count_height_functions(BipartiteGraph.of(PATH)) == 16
    blocks = list(height_functions(BipartiteGraph.of(PATH[:3, :3])))
    assert np.concatenate(blocks).tolist() == [[0, -1, -2], [0, -1, 0], [0, 1, 0], [0, 1, 2]]


def test_reverse_search_finds_the_six_vertices_of_a_triangle():
    found = sorted(h.tolist() for h in vertices_by_reverse_search(TRIANGLE))
    assert found == [[0, -1, -1], [0, -1, 0], [0, 0, -1], [0, 0, 1], [0, 1, 0], [0, 1, 1]]


def test_nearest_remaps_and_mixtures():
    *_, last = nearest_remaps(np.eye(2), np.array([[0.5, 0.5], [0.25, 0.75]]))
    assert last.round(6).tolist() == [[0.5, 0.5], [0.25, 0.75]]
    found = nearest_mixture(as_array([[0, 1], [1, 0]]), as_array(["1/4", "3/4"]))
    assert (found.distance, found.weights.tolist()) == (0, [Fraction(3, 4), Fraction(1, 4)])
    half = Channel([["1/2", "1/2"], ["1/2", "1/2"]])
    assert is_remap_between(Channel([[1, 0], [0, 1]]), half, half)


def test_bits_with_certain_chances_and_the_best_size_of_a_thousand_categories():
    drawn = draw_bits(np.array([0, 1], np.uint8), [Fraction(0), Fraction(1)], SeededRandomness(1))
    assert drawn.tolist() == [False, True]
    assert best_size(1000, level(1)) == 269


def test_scores_and_constraints_of_small_programs():
    swept, scale = exact_scores(level(alpha="1/2"), Consumer(priors.uniform(2), losses.absolute))
    assert ([[int(x) for x in score] for score in swept], scale) == ([[1, 2], [2, 1]], 4)
    assert constraint_rows([Constraint.FAIRNESS], 3)[0].entries == (((0, 0), 1), ((1, 1), -1))


def test_factors_and_merged_places_of_column_generation():
    factors = generic_factors(np.array([[0.0, 1.0], [1.0, 0.0]]), 1.0)
    assert factors.round(6).tolist() == [[1.0, 0.367879], [0.367879, 1.0]]
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
    assert list(_halving(4)) == [(3, ()), (0, (3,)), (1, (0, 3)), (2, (1, 3))]


def test_two_consumers_of_counts_share_a_mechanism():
    both = [Consumer(priors.uniform(3), loss) for loss in (losses.binary, losses.absolute)]
    assert shared_mechanism(PrivacyType(counts(2), alpha="1/2"), both).regret == 0


def test_sums_of_tails_and_of_linear_forms():
    assert discounted(costs.squared, 0, 2, Fraction(1, 2)) == 24
    assert discounted(lambda x: min(abs(x), 1), 0, 1, 0.5, settled=1) == 1.0
    assert combined(({0: 1.0}, 2.0), ({0: 1.0, 1: 1.0}, -1.0)) == {0: 1.0, 1: -1.0}
