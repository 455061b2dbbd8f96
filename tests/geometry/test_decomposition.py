"""Theorem 3: every mechanism is a refinement of a mixture of kernels."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.channels import Channel, geometric_channel, randomized_response
from utmost.errors import PromiseBroken, Unsupported
from utmost.geometry import decompose, is_kernel, is_vertex_mechanism, kernels
from utmost.privacy_types import PrivacyType
from utmost.spaces import Space, counts, discrete, grid, hamming

HALF = {"alpha": "1/2"}
SPACES = [counts(1), counts(3), counts(5), discrete(3), discrete(4), hamming(2), hamming(3), Space([[0]])]


@st.composite
def private_channels(draw):
    """A kernel mixture of a random type, post-processed by a random channel: a member of the type by theorem 3."""
    space = draw(st.sampled_from([counts(2), counts(3), discrete(3), hamming(2)]))
    ptype = PrivacyType(space, alpha=draw(st.sampled_from(["1/2", "3/4", "1/5"])))
    listed = kernels(ptype)
    chosen = draw(st.lists(st.integers(0, len(listed) - 1), min_size=1, max_size=3))
    weights = np.array(draw(st.lists(st.integers(1, 5), min_size=len(chosen), max_size=len(chosen))), dtype=object)
    columns = np.concatenate(
        [listed[k].matrix * Fraction(int(w), int(weights.sum())) for k, w in zip(chosen, weights, strict=True)], axis=1
    )
    outcomes = draw(st.integers(1, 4))
    rows = [draw(st.lists(st.integers(0, 3), min_size=outcomes, max_size=outcomes)) for _ in range(columns.shape[1])]
    post = [[Fraction(k, sum(row)) if sum(row) else Fraction(1, outcomes) for k in row] for row in rows]
    return Channel(columns) @ Channel(np.array(post, dtype=object)), ptype


@given(private_channels())
def test_every_channel_of_the_type_decomposes(case):
    """B @ P = M in rationals, weights a distribution, every part a kernel."""
    channel, ptype = case
    found = decompose(ptype, channel)
    assert found.verify(channel)
    assert all(is_kernel(ptype, kernel) for kernel in found.kernels)


@pytest.mark.parametrize("space", SPACES)
def test_the_trivial_channel_decomposes(space):
    """One outcome, whatever the secret."""
    channel = Channel(np.full((space.size, 1), Fraction(1), dtype=object))
    found = decompose(PrivacyType(space, **HALF), channel)
    assert found.verify(channel)


@pytest.mark.parametrize("space", SPACES)
def test_a_mixture_of_all_kernels_decomposes(space):
    """Many more columns than secrets, some of them twice."""
    ptype = PrivacyType(space, **HALF)
    listed = [kernel for _, kernel in zip(range(7), kernels(ptype), strict=False)]
    mixture = Channel(np.concatenate([kernel.matrix / len(listed) for kernel in listed], axis=1))
    found = decompose(ptype, mixture)
    assert found.verify(mixture)
    assert is_vertex_mechanism(ptype, mixture)


def test_a_kernel_is_its_own_decomposition():
    """One kernel of weight 1, the same posteriors."""
    for n in (2, 3, 5):
        channel = geometric_channel(n + 1, alpha="1/2")
        found = decompose(PrivacyType(counts(n), **HALF), channel)
        assert found.weights == (1,)
        assert {tuple(c) for c in found.kernels[0].matrix.T} == {tuple(c) for c in channel.matrix.T}


def test_a_wrong_witness_is_seen():
    """verify compares with the channel."""
    found = decompose(PrivacyType(counts(2), **HALF), geometric_channel(3, alpha="1/2"))
    assert not found.verify(geometric_channel(3, alpha="2/3"))


@given(st.integers(1, 7), st.fractions(min_value="1/20", max_value="19/20", max_denominator=20))
def test_the_geometric_mechanism_is_a_kernel(n, alpha):
    """[fernandes2022], lemma 19."""
    assert is_kernel(PrivacyType(counts(n), alpha=alpha), geometric_channel(n + 1, alpha=alpha))


@given(st.integers(2, 7), st.fractions(min_value="1/20", max_value="19/20", max_denominator=20))
def test_randomised_response_is_a_kernel(k, alpha):
    """[fernandes2022], lemma 21, for the matrix of definition 10 and for its dual."""
    ptype = PrivacyType(discrete(k), alpha=alpha)
    low, high = alpha / (1 + (k - 1) * alpha), 1 / (1 + (k - 1) * alpha)
    response = Channel(np.where(np.eye(k, dtype=bool), high, low).astype(object))
    dual = Channel(np.where(np.eye(k, dtype=bool), alpha / (alpha + k - 1), 1 / (alpha + k - 1)).astype(object))
    assert is_kernel(ptype, response)
    assert is_kernel(ptype, dual)
    assert randomized_response(k, alpha=alpha).same_as(response)


def test_what_is_no_kernel():
    """A higher level's mechanism has no vertices; a mixture of two kernels has dependent ones or too many."""
    ptype = PrivacyType(counts(2), **HALF)
    assert not is_vertex_mechanism(ptype, geometric_channel(3, alpha="3/4"))
    assert not is_kernel(ptype, geometric_channel(3, alpha="3/4"))
    one, two = kernels(ptype)
    both = Channel(np.concatenate([one.matrix / 2, two.matrix / 2], axis=1))
    assert is_vertex_mechanism(ptype, both)
    assert not is_kernel(ptype, both)
    split = Channel(np.concatenate([one.matrix / 2, one.matrix / 2], axis=1))
    assert is_kernel(ptype, split)


def test_refusals():
    """Channels outside the type, floats and irrational powers, with the place named."""
    ptype = PrivacyType(counts(2), **HALF)
    with pytest.raises(PromiseBroken, match=r"C\[0, 0\]"):
        decompose(ptype, geometric_channel(3, alpha="1/3"))
    with pytest.raises(PromiseBroken, match="3 rows"):
        decompose(ptype, geometric_channel(4, alpha="1/2"))
    with pytest.raises(Unsupported, match="float64"):
        decompose(ptype, geometric_channel(3, epsilon=1))
    with pytest.raises(Unsupported, match="irrational"):
        is_kernel(PrivacyType(grid(2, 2), **HALF), geometric_channel(4, alpha="1/2"))
