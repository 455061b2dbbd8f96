"""Kernels by the compiled walk and by double description, against brute force and the tables; and estimates of them."""

import sys
from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.channels import Channel

# Two searches, of which a public call takes one; the walk stopped and gone on; sets counted one by one.
# The parts of the two searches are compared with each other, and each with brute force.
from utmost.design.geometry import kernel_search
from utmost.design.geometry.decomposition import null_vector, solve_columns
from utmost.design.geometry.kernel_estimates import _Completions
from utmost.design.geometry.kernel_search import kernel_blocks, kernels_by_double_description
from utmost.design.geometry.kernel_supports import WalkPosition, scaled_differences
from utmost.design.geometry.kernel_walk import PairCompletions, count_by_walk, walk_kernels
from utmost.design.geometry.symmetries import column_permutations, moved_supports
from utmost.errors import OutOfRange, Undecided, Unsupported
from utmost.geometry import (
    Automorphisms,
    count_kernels,
    decompose,
    estimate_kernels,
    is_kernel,
    is_vertex_mechanism,
    kernel_sizes,
    kernels,
    vertices,
)
from utmost.privacy_types import PrivacyType
from utmost.spaces import Space, counts, discrete, grid, hamming
from utmost_papers.fernandes import SEVEN_VERTICES

levels = st.sampled_from([{"alpha": "1/2"}, {"alpha": "2/3"}, {"alpha": "9/10"}, {"epsilon": 1}, {"epsilon": "1/3"}])


def brute_force(listed):
    """Every set of at most n vertices: independent, and a strictly positive combination of them is constant."""
    columns = [list(column) for column in listed.weights.T]
    n, ones = len(columns[0]), [Fraction(1)] * len(columns[0])
    found = []
    for size in range(1, n + 1):
        for support in combinations(range(len(columns)), size):
            chosen = [columns[v] for v in support]
            if null_vector(chosen) is None:
                scale = solve_columns(chosen, ones)
                if scale is not None and min(scale) > 0:
                    found.append(support)
    return found


def by_walk(listed):
    supports = np.concatenate([block.supports for block in walk_kernels(listed)])
    rows = [tuple(int(v) for v in row if v >= 0) for row in supports]
    return sorted(rows, key=lambda support: (len(support), support))


@pytest.mark.parametrize("space", [counts(2), counts(3), discrete(3), discrete(4), hamming(2)])
@pytest.mark.parametrize("alpha", ["1/3", "4/5"])
def test_three_routes_agree(space, alpha):
    """Compiled walk = double description = brute force in rationals."""
    listed = vertices(PrivacyType(space, alpha=alpha))
    expected = brute_force(listed)
    assert kernels_by_double_description(listed) == expected
    assert by_walk(listed) == expected


@settings(max_examples=5)
@given(st.lists(st.integers(1, 4), min_size=6, max_size=6), levels)
def test_both_searches_agree_on_any_metric_and_level(sides, at):
    """On four secrets with arbitrary distances, at rational and irrational alpha."""
    d = np.zeros((4, 4), dtype=np.int64)
    d[np.triu_indices(4, 1)] = sides
    d += d.T
    for k in range(4):
        d = np.minimum(d, d[:, k, None] + d[None, k])
    listed = vertices(PrivacyType(Space(d), **at))
    assert by_walk(listed) == kernels_by_double_description(listed)


@pytest.mark.parametrize(
    ("space", "count"),
    [
        (counts(0), 1),
        *[(counts(n), c) for n, c in ((1, 1), (2, 2), (3, 11), (4, 187))],
        *[(discrete(k), c) for k, c in ((1, 1), (2, 1), (3, 5), (4, 41), (5, 1291))],
        (grid(2, 2), 403),
        (hamming(2), 4),
    ],
)
def test_counts_of_the_tables(space, count):
    """[fernandes2022], tables 4 to 7, without those of ten thousand, which `utmost-papers` counts."""
    assert count_kernels(PrivacyType(space, alpha="1/2")) == count


@pytest.mark.parametrize(
    ("at", "count"),
    [
        ({"alpha": "1/2"}, 187),
        ({"alpha": "1/3"}, 195),
        ({"epsilon": 1}, 195),
        ({"epsilon": 3}, 195),
        ({"epsilon": "1/2"}, 218),
        ({"epsilon": "1/10"}, 230),
        ({"epsilon": "1e-6"}, 230),
        ({"epsilon": 50}, 195),
    ],
)
def test_the_line_of_five_depends_on_the_level(at, count):
    """187 at ln 2, a degenerate level; 195, 218, 230 elsewhere; the same by double description."""
    ptype = PrivacyType(counts(4), **at)
    assert count_kernels(ptype) == count == len(kernels_by_double_description(vertices(ptype)))


def test_kernels_of_the_discrete_space_are_balanced_collections():
    """Minimal balanced collections but the grand one: 1_S with a unique positive combination to 1, found apart."""
    for n in (3, 4):
        sets = [[Fraction(s >> x & 1) for x in range(n)] for s in range(1, 2**n - 1)]
        balanced = 0
        for size in range(1, n + 1):
            for chosen in combinations(sets, size):
                scale = None if null_vector(chosen) else solve_columns(chosen, [Fraction(1)] * n)
                balanced += scale is not None and min(scale) > 0
        assert balanced == count_kernels(PrivacyType(discrete(n), alpha="1/2"))


def test_every_kernel_is_one():
    """Row-stochastic, of the type, with independent vertices as columns."""
    for space in (counts(3), discrete(4), hamming(2)):
        ptype = PrivacyType(space, alpha="2/3")
        listed = kernels(ptype)
        for channel in listed:
            assert channel.is_exact
            assert ptype.contains(channel)
            assert is_kernel(ptype, channel)


def test_kernels_at_an_irrational_alpha_are_float_channels():
    """alpha^sqrt(2) is no rational; the channels keep the promise to rounding."""
    ptype = PrivacyType(grid(2, 2), epsilon=1)
    listed = kernels(ptype)
    assert not listed[0].is_exact
    assert all(ptype.contains(channel) for channel in (listed[at] for at in range(0, len(listed), 5)))


def test_no_kernel_lies_within_another():
    """[fernandes2022], property 1."""
    listed = kernels(PrivacyType(counts(4), alpha="1/2"))
    sets = [frozenset(listed.support(k)) for k in range(len(listed))]
    assert not any(one < two for one in sets for two in sets)


def test_a_mixture_of_kernels_is_a_vertex_mechanism_and_one_again():
    """[fernandes2022], property 2, both ways: a mixture has vertices only, and is peeled into kernels of its own."""
    ptype = PrivacyType(hamming(2), alpha="1/3")
    listed = list(kernels(ptype))
    mixture = Channel(np.concatenate([kernel.matrix / len(listed) for kernel in listed], axis=1))
    assert is_vertex_mechanism(ptype, mixture)
    found = decompose(ptype, mixture)
    assert found.verify(mixture)
    assert masses(found.mixture) == masses(mixture), "the same vertices with the same weights: nothing was mixed again"


@pytest.mark.parametrize("space", [counts(3), discrete(3), hamming(2)])
@pytest.mark.parametrize("alpha", ["1/2", "3/4"])
def test_no_kernel_refines_another(space, alpha):
    """[fernandes2022], property 3: K P = L has no channel P, for any two kernels; K's columns leave one candidate."""
    listed = list(kernels(PrivacyType(space, alpha=alpha)))
    for one, two in permutations(listed, 2):
        columns = [list(column) for column in one.matrix.T]
        found = [solve_columns(columns, list(column)) for column in two.matrix.T]
        assert any(x is None or min(x) < 0 for x in found)


def masses(channel):
    """How much of each posterior there is."""
    total = Counter()
    for column in channel.matrix.T:
        total[tuple(column / column.sum())] += column.sum()
    return total


@pytest.mark.slow
def test_orbits_of_the_three_bit_cube():
    """29213 kernels in orbits under the 48 symmetries of the cube; sizes listed and counted."""
    ptype = PrivacyType(hamming(3), alpha="1/2")
    listed = kernels(ptype)
    assert listed.sizes == kernel_sizes(ptype) == {2: 1, 3: 26, 4: 89, 5: 450, 6: 2716, 7: 7388, 8: 18543}
    check_burnside(listed)


@pytest.mark.parametrize(("space", "at"), [(hamming(2), "1/2"), (counts(5), "1/2"), (discrete(5), "1/3")])
def test_orbits_satisfy_burnside(space, at):
    """The number of orbits is the mean, over the group, of how many kernels an automorphism fixes."""
    check_burnside(kernels(PrivacyType(space, alpha=at)))


def check_burnside(listed):
    group = Automorphisms.of(listed.vertices.distances.integers())
    fixed = 0
    for move in column_permutations(listed.vertices, group.elements()):
        fixed += int((moved_supports(listed.supports, move) == listed.supports).all(axis=1).sum())
    assert fixed == group.order * len(listed.orbits())
    assert listed.orbits().sizes.sum() == len(listed)


def test_the_walk_goes_on_from_any_position():
    """Stopped after every stretch and begun again elsewhere, the walk finds what it finds in one go."""
    ptype = PrivacyType(counts(5), alpha="1/2")
    whole, pieces, position, shares = kernels(ptype), [], WalkPosition(), []
    while position is not None:
        block = next(kernel_blocks(ptype, rows=500, start=position))
        pieces.append(block.supports)
        shares.append(block.done)
        position = block.position
    supports = np.concatenate(pieces)
    assert len(pieces) > 10
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(supports) == len(np.unique(supports, axis=0)) == len(whole)


@pytest.mark.parametrize(
    "start", [WalkPosition(99), WalkPosition(-1), WalkPosition(0, ()), WalkPosition(0, (1, 99)), WalkPosition(0, (7,))]
)
def test_a_position_of_another_walk_is_refused(start):
    """No such orbit, no level, a column that is not there."""
    with pytest.raises(OutOfRange, match="position"):
        next(kernel_blocks(PrivacyType(counts(4), alpha="1/2"), start=start))


def test_a_walk_over_too_many_vertices_is_refused():
    """The 5-bit cube has 395 094 vertices, a grid of 36 points 3 * 10^7: estimate instead; no list comes first."""
    with pytest.raises(Unsupported, match="5000 vertices"):
        next(walk_kernels(vertices(PrivacyType(hamming(5), alpha="1/2"))))
    for space in (hamming(5), grid(6, 6, metric="manhattan")):
        for search in (kernels, kernel_sizes, count_kernels, lambda ptype: next(kernel_blocks(ptype))):
            with pytest.raises(Unsupported, match="estimate_kernels"):
                search(PrivacyType(space, alpha="1/2"))


def test_small_types_have_one_order_whoever_finds_them(monkeypatch):
    """A process that has searched little does not compile; one that has searched much walks in machine code."""
    pytest.importorskip("numba")
    ptype = PrivacyType(counts(5), alpha="1/2")
    monkeypatch.setattr(kernel_search, "_worked", 0)
    monkeypatch.setattr(kernel_search, "_blocks", None)
    first = kernels(ptype).supports
    monkeypatch.undo()
    monkeypatch.setattr(kernel_search, "_worked", 10**9)
    monkeypatch.setattr(kernel_search, "_all_at_once", None)
    assert np.array_equal(kernels(ptype).supports, first)


def test_without_numba_everything_is_still_there(monkeypatch):
    """The pure path: the same kernels, in one stretch, and no going on from a position."""
    ptype = PrivacyType(counts(4), alpha="1/2")
    compiled = kernels(ptype)
    monkeypatch.setitem(sys.modules, "numba", None)
    assert np.array_equal(kernels(ptype).supports, compiled.supports)
    assert count_kernels(ptype) == 187
    with pytest.raises(Unsupported, match="utmost\\[geometry\\]"):
        list(kernel_blocks(ptype, start=WalkPosition(1)))


@pytest.mark.slow
def test_the_line_of_seven():
    """4 757 698 kernels."""
    assert count_by_walk(vertices(PrivacyType(counts(6), alpha="1/2"))).sum() == 4757698


@pytest.mark.slow
def test_the_three_bit_cube_at_a_generic_level():
    """Two routes at epsilon = 1."""
    listed = vertices(PrivacyType(hamming(3), epsilon=1))
    assert count_by_walk(listed).sum() == len(kernels_by_double_description(listed)) == 37255


@pytest.mark.parametrize(
    ("space", "at"), [(counts(4), {"alpha": "1/2"}), (hamming(2), {"epsilon": 1}), (discrete(4), {"alpha": "1/2"})]
)
def test_intervals_hold_the_truth(space, at):
    """Every size: the 99.99% interval holds the number of kernels; the seed is fixed."""
    ptype = PrivacyType(space, **at)
    for size, count in kernel_sizes(ptype).items():
        found = estimate_kernels(ptype, 150, np.random.default_rng(size), size=size, confidence=0.9999)
        assert found.low <= count <= found.high


def test_an_exhaustive_sample_is_exact():
    """Averaged over all sets of the sampled size, the estimator is the number: it is unbiased."""
    listed = vertices(PrivacyType(counts(3), alpha="1/2"))
    counter = _Completions(listed, scaled_differences(listed))
    for size, count in kernel_sizes(PrivacyType(counts(3), alpha="1/2")).items():
        total = sum(counter.count(np.array(chosen)) for chosen in combinations(range(len(listed)), size - 1))
        assert total == size * count
        assert comb(len(listed), size - 1) >= total / len(listed)


@pytest.mark.slow
def test_nine_points_of_the_plane():
    """About 2.78 * 10^24 kernels of nine outcomes."""
    found = estimate_kernels(PrivacyType(grid(3, 3), alpha="1/2"), 6000, np.random.default_rng(5), confidence=0.999)
    assert found.low < 2.78e24 < found.high
    assert found.high < 2 * found.low


def test_refusals():
    """Samples, size and confidence out of range."""
    ptype, generator = PrivacyType(counts(2), alpha="1/2"), np.random.default_rng(0)
    with pytest.raises(OutOfRange, match="at least 2"):
        estimate_kernels(ptype, 1, generator)
    with pytest.raises(OutOfRange, match="between 1 and 3"):
        estimate_kernels(ptype, 10, generator, size=4)
    with pytest.raises(OutOfRange, match="between 0 and 1"):
        estimate_kernels(ptype, 10, generator, confidence=1.0)


@pytest.mark.parametrize(
    ("space", "at"),
    [
        (counts(3), {"epsilon": "1/2"}),
        (discrete(4), {"epsilon": 1}),
        (hamming(2), {"alpha": "1/2"}),
        *(pytest.param(space, {"alpha": "1/2"}, marks=pytest.mark.slow) for space in (counts(4), grid(2, 2))),
    ],
)
def test_pairs_that_complete_a_set(space, at):
    """Summed over all sets of n - 2 vertices, each kernel of n is completed once for each of its pairs."""
    ptype, n = PrivacyType(space, **at), space.size
    completions = PairCompletions.of(vertices(ptype))
    total = sum(completions.count(chosen) for chosen in combinations(range(len(vertices(ptype))), n - 2))
    assert total == comb(n, 2) * kernel_sizes(ptype)[n]


@pytest.mark.slow
def test_one_set_of_the_plane_has_more_completions_than_the_paper_could_list():
    """[fernandes2022], table 6: more than 10 000 kernels on nine points; so many have the same seven vertices."""
    listed = vertices(PrivacyType(grid(3, 3), alpha="1/2"))
    assert PairCompletions.of(listed).count(SEVEN_VERTICES) > 10_000


@pytest.mark.parametrize(("space", "level"), [(counts(3), 50), (grid(2, 2), "1e-12"), (hamming(2), "1e-12")])
def test_irrational_kernels_are_channels_at_every_level(space, level):
    """Positive entries, rows of sum 1, and of two columns the exact ratios of each: no float cancels."""
    listed = kernels(PrivacyType(space, epsilon=level))
    for k, channel in enumerate(listed):
        assert (channel.matrix >= 0).all()
        weights = listed.vertices.chosen(listed.support(k)).weights
        np.testing.assert_allclose(channel.matrix * weights.max(axis=0), weights * channel.matrix.max(axis=0), 1e-12)


def test_a_level_whose_powers_need_too_many_bits_is_refused_in_words_of_the_caller():
    """The error named a number of bits, which the caller did not give; a rational alpha works, as its remedy says."""
    with pytest.raises(Undecided, match="rational alpha"):
        count_kernels(PrivacyType(counts(3), epsilon=100_000))
    assert count_kernels(PrivacyType(counts(3), alpha="1e-100")) == 11
