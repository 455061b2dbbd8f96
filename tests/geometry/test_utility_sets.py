"""Utility sets: the distributions of theorem 6, lifting, figure 8 found, and whom every mechanism leaves unserved."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost import losses
from utmost.capacities import capacity
from utmost.channels import Channel, geometric_channel, randomized_response
from utmost.errors import OutOfRange, Unsupported
from utmost.geometry import (
    UtilitySet,
    blurred_pair,
    decompose,
    distinguishing_mechanism,
    is_kernel,
    kernels,
    refines,
    trivial_action,
    universal_mechanism,
    universality,
    unserved_consumer,
    vertex_extensions,
)
from utmost.privacy_types import PrivacyType
from utmost.spaces import Space, counts, discrete, graph, hamming, joint_loss, lifted_loss, scaled_loss
from utmost.testing import strategies

HALF = {"alpha": "1/2"}
LINE = PrivacyType(counts(2), **HALF)
NOTHING = Channel([[1], [1], [1]])

small_losses = strategies.any_losses(3, 2) | strategies.any_losses(3, 3)


@given(small_losses)
def test_trivial_losses_are_in_every_set_and_alone_in_that_of_nothing(loss):
    """Theorem 6(1) and (3): telling nothing is optimal exactly for losses with an action that is always the best."""
    trivial = trivial_action(loss) is not None
    assert (loss in UtilitySet(LINE, NOTHING)) == trivial
    assert not trivial or loss in UtilitySet(LINE, geometric_channel(3, **HALF))


@given(small_losses, strategies.channels(3, 2))
def test_a_less_refined_mechanism_serves_more(loss, after):
    """Theorem 6(2): M refined by M' implies that the set of M holds that of M'."""
    higher = geometric_channel(3, **HALF)
    lower = higher @ after
    assert refines(better=higher, worse=lower)
    assert loss not in UtilitySet(LINE, lower) or loss in UtilitySet(LINE, higher)


@given(
    st.sampled_from(range(5)), st.sampled_from(range(5)), strategies.any_losses(3, 2), st.sampled_from(["1/3", "1/2"])
)
def test_a_choice_serves_what_both_serve(one, other, loss, p):
    """Theorem 6(4): the set of M p(+) M' is the intersection, for 0 < p < 1."""
    ptype = PrivacyType(discrete(3), **HALF)
    listed = kernels(ptype)
    both = listed[one].choose(listed[other], Fraction(p))
    inside = [loss in UtilitySet(ptype, channel) for channel in (listed[one], listed[other], both)]
    assert inside[2] == (inside[0] and inside[1])


@given(strategies.any_losses(3, 2), strategies.any_losses(3, 2), st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_sets_are_closed_under_sums_and_scaling(one, other, weights):
    """(13) and (14)."""
    useful = UtilitySet(LINE, geometric_channel(3, **HALF))
    if one in useful:
        assert scaled_loss(weights, one) in useful
        assert other not in useful or joint_loss(one, other) in useful


@given(strategies.any_losses(2, 2), st.sampled_from([(0, 1), (1, 2), (0, 2)]))
def test_lifting_from_some_secrets(loss, secrets):
    """Theorem 6(5), the true direction: what the restriction serves, the mechanism serves when lifted."""
    useful = UtilitySet(LINE, geometric_channel(3, **HALF))
    lifted = useful.lifted(loss, secrets)
    if lifted is not None:
        assert lifted.verdict.certificate.verify()
        assert lifted.loss in useful
        assert (lifted.loss == lifted_loss(loss, secrets, 3)).all()


def test_lifting_says_nothing_where_mechanisms_do_not_extend():
    """The converse fails: {0, 2} on the line of three, binary loss."""
    useful = UtilitySet(LINE, geometric_channel(3, **HALF))
    assert useful.lifted(losses.binary, (0, 2)) is None
    assert lifted_loss(losses.binary.matrix(2), (0, 2), 3) in useful


CUBE, PATH = PrivacyType(hamming(3), **HALF), [0b000, 0b100, 0b110, 0b111]


def test_the_kernel_of_figure_8_is_found():
    """[fernandes2022], figure 8: vertices of the cube that are geometric along a path; capacities 2 and 2/3.

    Every extension has as many outcomes as the path has secrets, so it is a kernel, since its restriction is
    invertible. The one that is printed is among them.
    """
    geometric = geometric_channel(4, **HALF)
    found = list(vertex_extensions(CUBE, geometric, PATH))
    assert all(is_kernel(CUBE, K) for K in found)
    assert all(K.restrict(PATH).same_as(geometric) for K in found)
    assert all(CUBE.contains(K) for K in found)
    printed = [["2/3", "1/6", "1/12", "1/12"], ["1/3", "1/3", "1/6", "1/6"], ["1/6", "1/6", "1/3", "1/3"]]
    figure = {tuple(sorted(map(Fraction, row))) for row in printed}
    (K,) = [K for K in found if {tuple(sorted(row)) for row in K.matrix} == figure]
    assert (capacity(K).value, capacity(K, kind="additive").value) == (2, Fraction(2, 3))


def test_the_kernel_of_figure_8_inherits_the_losses_of_the_geometric_mechanism():
    """Lifted from the path: the named losses, a sum and a multiple; the proof is about four secrets."""
    K = next(vertex_extensions(CUBE, geometric_channel(4, **HALF), PATH))
    useful = UtilitySet(CUBE, K)
    for loss in (losses.binary, losses.nib, losses.absolute, losses.squared):
        lifted = useful.lifted(loss, PATH)
        assert lifted.verdict.certificate.verify()
    both = joint_loss(losses.binary.matrix(4), scaled_loss([0, 1, 2, 1], losses.nib.matrix(4)))
    assert useful.lifted(both, PATH)
    assert useful.lifted([[0, 1], [1, 0], [0, 1], [1, 0]], PATH) is None


@pytest.mark.slow
def test_the_listed_kernels_that_are_geometric_along_the_path_are_the_extensions():
    """Of the 29213 kernels with four outcomes those that restrict to the geometric mechanism, up to order."""
    geometric = geometric_channel(4, **HALF)
    wanted = {tuple(column) for column in geometric.matrix.T}
    listed = kernels(CUBE)
    four = (listed[k] for k in range(len(listed)) if len(listed.support(k)) == 4)
    theirs = {columns(K) for K in four if {tuple(column) for column in K.restrict(PATH).matrix.T} == wanted}
    assert theirs == {columns(K) for K in vertex_extensions(CUBE, geometric, PATH)}


def columns(channel):
    return frozenset(tuple(column) for column in channel.matrix.T)


def test_extensions_by_brute_force():
    """All choices of vertices of the 2-bit cube for the columns of the geometric mechanism on a path of three."""
    ptype, path, target = PrivacyType(hamming(2), **HALF), [0, 1, 3], geometric_channel(3, **HALF)
    theirs = {
        columns(kernel)
        for kernel in kernels(ptype)
        if {tuple(column) for column in kernel.restrict(path).matrix.T} == {tuple(c) for c in target.matrix.T}
    }
    assert theirs == {columns(C) for C in vertex_extensions(ptype, target, path)}
    assert list(vertex_extensions(ptype, randomized_response(2, alpha="1/8"), [0, 3])) == []
    with pytest.raises(OutOfRange, match="2 rows"):
        list(vertex_extensions(ptype, target, [0, 1]))
    with pytest.raises(Unsupported, match="rational"):
        list(vertex_extensions(ptype, geometric_channel(3, epsilon=1), path))


@pytest.mark.parametrize(("n", "kernel_count"), [(3, 5), (4, 41)])
@pytest.mark.parametrize("loss", [losses.binary, losses.absolute, losses.squared])
def test_kernels_on_the_discrete_space_blur_a_pair(n, kernel_count, loss):
    """Theorem 12 and corollary 13, kernel by kernel: a prior on two secrets and a better mechanism."""
    ptype = PrivacyType(discrete(n), **HALF)
    found = [blurred_pair(ptype, loss, kernel) for kernel in kernels(ptype)]
    assert len(found) == kernel_count
    assert all(one is not None and one.verify(ptype) for one in found)


def test_nib_is_trivial_on_pairs_and_so_beyond_theorem_12():
    """Naming a third secret is never wrong on a pair; that nib has no mechanism either takes the whole search."""
    ptype = PrivacyType(discrete(3), **HALF)
    assert all(blurred_pair(ptype, losses.nib, kernel) is None for kernel in kernels(ptype))
    assert trivial_action(losses.nib.matrix(3)[:2]) == 2
    assert not universal_mechanism(ptype, losses.nib)


@given(st.integers(3, 6), st.sampled_from(["1/100", "1/2", "9/10"]), st.data())
def test_theorem_12_for_any_mechanism_and_pairwise_loss(n, alpha, data):
    """Every loss that is trivial on no pair refutes every mechanism of the discrete type on n > 2 secrets."""
    ptype = PrivacyType(discrete(n), alpha=alpha)
    loss = data.draw(strategies.any_losses(n, n))
    if data.draw(st.booleans()):  # every secret has an action of its own; few of the others are trivial on no pair
        loss = loss - loss.min() + 1
        np.fill_diagonal(loss, 0)
    channel = randomized_response(n, alpha=alpha) @ data.draw(strategies.channels(n, 3))
    if all(trivial_action(loss[list(pair)]) is None for pair in itertools.combinations(range(n), 2)):
        assert blurred_pair(ptype, loss, channel).verify(ptype)


def test_what_serves_a_pair_is_not_refuted_on_it():
    """Theorem 10, repaired: the mechanism for the two closest secrets, and its loss; no pair speaks against it."""
    for space in (discrete(3), discrete(5), hamming(2), counts(3)):
        ptype = PrivacyType(space, **HALF)
        channel, loss = distinguishing_mechanism(ptype)
        assert blurred_pair(ptype, loss, channel) is None
        assert trivial_action(loss) is None


def test_pairs_agree_with_the_decision():
    """Where a pair refutes a mechanism, the search through all cells of priors does as well."""
    for space in (counts(2), discrete(3), hamming(2)):
        ptype = PrivacyType(space, **HALF)
        for kernel in kernels(ptype):
            for loss in (losses.binary, losses.nib):
                if blurred_pair(ptype, loss, kernel) is not None:
                    assert not universality(ptype, loss, kernel)


@pytest.mark.parametrize("distance", [1, 2])
def test_two_secrets_have_one_mechanism_for_everyone(distance):
    """Theorem 8 and corollary 9: the only kernel leaves nobody unserved; every mechanism is a refinement of it."""
    ptype = PrivacyType(Space([[0, distance], [distance, 0]]), alpha="2/3")
    (T,) = kernels(ptype)
    assert unserved_consumer(ptype, T) is None
    assert unserved_consumer(ptype, Channel([[1], [1]])).verify(ptype)
    lower = T @ Channel([["1/2", "1/2"], ["1/3", "2/3"]])
    assert refines(better=T, worse=lower)


@pytest.mark.parametrize("space", [counts(2), counts(3), discrete(3), discrete(4), hamming(2)])
def test_more_secrets_leave_somebody_unserved(space):
    """Theorem 11: whichever kernel is used, another one is preferred by some consumer, of some loss."""
    ptype = PrivacyType(space, **HALF)
    for kernel in kernels(ptype):
        assert unserved_consumer(ptype, kernel).verify(ptype)


@pytest.mark.parametrize(
    ("space", "loss", "alpha"),
    [
        (counts(2), losses.nib, "1/2"),
        (counts(3), losses.binary, "1/2"),
        (graph([(0, 1), (0, 2), (0, 3)]), losses.binary, "2/5"),
    ],
)
def test_the_kernels_of_an_optimal_mechanism_are_optimal(space, loss, alpha):
    """Corollary 7: a loss in the set of a mechanism is in that of each kernel it decomposes into."""
    ptype = PrivacyType(space, alpha=alpha)
    found = universal_mechanism(ptype, loss)
    assert found
    for kernel in decompose(ptype, found.mechanism).kernels:
        assert loss in UtilitySet(ptype, kernel)


def test_false_witnesses_are_told():
    ptype = PrivacyType(discrete(3), **HALF)
    found = blurred_pair(ptype, losses.binary, randomized_response(3, **HALF))
    swapped = type(found)(found.better, found.channel, found.consumer)
    assert not swapped.verify(ptype)
    outside = type(found)(found.channel, Channel(np.eye(3, dtype=int)), found.consumer)
    assert not outside.verify(ptype)
    with pytest.raises(Unsupported, match="exact"):
        blurred_pair(ptype, losses.binary, randomized_response(3, epsilon=1))
