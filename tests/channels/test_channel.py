"""The algebra of channels: distributions, kinds of numbers, names."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.channels import Channel, Remap
from utmost.testing import strategies

chances = st.fractions(min_value=0, max_value=1, max_denominator=12)
COIN = Channel([["3/4", "1/4"], ["1/4", "3/4"]])


@st.composite
def two_channels(draw):
    n, m, k = draw(strategies.sizes), draw(strategies.sizes), draw(strategies.sizes)
    return draw(strategies.channels(n, m)), draw(strategies.channels(n, k))


@given(st.data(), strategies.sizes, strategies.sizes, strategies.sizes, strategies.sizes)
def test_post_processing_is_associative(data, n, m, k, j):
    """(B P) Q = B (P Q), and the identity changes nothing."""
    b, p, q = (
        data.draw(strategies.channels(n, m)),
        data.draw(strategies.channels(m, k)),
        data.draw(strategies.channels(k, j)),
    )
    assert ((b @ p) @ q).same_as(b @ (p @ q))
    assert (b @ Remap.identity(m)).same_as(b)


@given(st.data(), strategies.sizes, strategies.sizes, strategies.sizes)
def test_a_remap_is_its_matrix(data, n, m, k):
    """C @ R is the same for a remap, for its matrix, and for the channel of its matrix; in floats too."""
    c = data.draw(strategies.channels(n, m))
    r = Remap(data.draw(st.lists(st.integers(0, k - 1), min_size=m, max_size=m)), k)
    assert (c @ r).same_as(c @ r.matrix)
    assert (c @ r).same_as(c @ Channel(r.matrix))
    assert (c.to_floats() @ r).same_as(c.to_floats() @ r.matrix, tolerance=1e-15)
    assert (c @ r).is_exact
    assert not (c.to_floats() @ r).is_exact


@given(two_channels(), chances, st.data())
def test_every_operation_gives_a_channel(pair, p, data):
    """Rows of every result are distributions, exactly (the constructor checks)."""
    c, d = pair
    rows = data.draw(st.lists(st.integers(0, c.shape[0] - 1), min_size=1, max_size=4))
    made = [c.choose(d, p), c.parallel(d), c.restrict(rows), c.merge_columns(), c.mix(c, p), c.relabel()]
    for e in made:
        assert Channel(e.matrix).same_as(e)
        assert not e.matrix.flags.writeable


@given(st.data(), strategies.sizes, strategies.sizes, chances)
def test_mixing_is_the_convex_combination(data, n, m, p):
    """mix(C, D, p) = p C + (1 - p) D = choose(C, D, p) with the choice forgotten."""
    c, d = data.draw(strategies.channels(n, m)), data.draw(strategies.channels(n, m))
    mixed = c.mix(d, p)
    assert (mixed.matrix == p * c.matrix + (1 - p) * d.matrix).all()
    assert mixed.same_as(c.choose(d, p) @ Remap([*range(m), *range(m)], m))
    assert c.mix(d, 1).same_as(c)
    assert c.mix(d, 0).same_as(d)
    assert c.to_floats().mix(d, p).same_as(mixed, tolerance=1e-15)


@given(two_channels(), chances)
def test_choosing_juxtaposes_scaled_columns(pair, p):
    """choose(C, D, p) = [p C | (1 - p) D]."""
    c, d = pair
    both = c.choose(d, p)
    assert both.shape == (c.shape[0], c.shape[1] + d.shape[1])
    assert (both.matrix[:, : c.shape[1]] == p * c.matrix).all()
    assert (both.matrix[:, c.shape[1] :] == (1 - p) * d.matrix).all()


@given(two_channels())
def test_parallel_channels_are_independent_given_the_secret(pair):
    """(C || D)[x, (y, z)] = C[x, y] D[x, z]; forgetting one outcome leaves the other channel."""
    c, d = pair
    (n, m), k = c.shape, d.shape[1]
    both = c.parallel(d)
    assert both.matrix.tolist() == [
        [c.matrix[x, y] * d.matrix[x, z] for y in range(m) for z in range(k)] for x in range(n)
    ]
    assert (both @ Remap(np.repeat(np.arange(m), k), m)).same_as(c)
    assert (both @ Remap(np.tile(np.arange(k), m), k)).same_as(d)


def posteriors(c, prior):
    joint = prior[:, None] * c.matrix
    weights = joint.sum(axis=0)
    hyper = {}
    for y in np.flatnonzero(weights):
        inner = tuple(joint[:, y] / weights[y])
        hyper[inner] = hyper.get(inner, 0) + weights[y]
    return hyper


@given(st.data(), strategies.sizes, strategies.sizes)
def test_merging_columns_keeps_every_hyper(data, n, m):
    """Merged or not, a channel leads every prior to the same posteriors with the same weights."""
    c, prior = data.draw(strategies.channels(n, m)), data.draw(strategies.priors(n))
    merged = c.merge_columns()
    assert posteriors(merged, prior) == posteriors(c, prior)
    assert merged.merge_columns().same_as(merged)
    uniform = np.full(n, Fraction(1, n), dtype=object)
    assert len(posteriors(c, uniform)) == merged.shape[1]


@given(st.data(), strategies.sizes, strategies.sizes)
def test_merging_floats_agrees_with_merging_fractions(data, n, m):
    """Up to rounding, proportional float columns are found as well."""
    c = data.draw(strategies.channels(n, m))
    assert c.to_floats().merge_columns().same_as(c.merge_columns(), tolerance=1e-14)
    assert c.to_floats().merge_columns(tolerance=1.0).shape == (n, 1)


def test_merged_outcomes_are_named_by_their_members():
    """Outcome names become tuples; without names there are none."""
    c = Channel([["1/2", 0, "1/4", "1/4"], ["1/4", 0, "1/8", "5/8"]], outcomes="abcd")
    assert c.merge_columns().outcomes == (("a", "c"), ("d",))
    assert Channel(c.matrix).merge_columns().outcomes is None


def test_names_follow_the_algebra():
    """Secrets keep their names; outcomes take those of what follows; pairs for parallel channels."""
    c = COIN.relabel(secrets=["x", "y"], outcomes=["h", "t"])
    assert c.restrict([1]).secrets == ("y",)
    assert (c @ c).outcomes == ("h", "t")
    assert (c @ Remap([0, 0], 1)).secrets == ("x", "y")
    assert (c @ Remap([0, 0], 1)).outcomes is None
    assert c.parallel(c).outcomes == (("h", "h"), ("h", "t"), ("t", "h"), ("t", "t"))
    assert c.parallel(COIN).outcomes is None
    assert c.relabel(outcomes=[1, 2]).secrets == ("x", "y")
    assert c.same_as(COIN)


def test_one_float_makes_the_result_float64():
    """Exact with exact stays exact; a float factor does not hide."""
    assert (COIN @ COIN).is_exact
    assert not (COIN @ np.eye(2)).is_exact
    assert not COIN.mix(COIN.to_floats(), "1/3").is_exact
    assert not COIN.parallel(COIN.to_floats()).is_exact
    assert COIN.mix(COIN, 0.1).is_exact


def test_equality_is_exact_unless_a_tolerance_is_given():
    """1/3 is not the float nearest to it; shapes must agree."""
    third = Channel([["1/3", "2/3"]])
    assert not third.same_as(third.to_floats())
    assert third.same_as(third.to_floats(), tolerance=1e-15)
    assert COIN.same_as(COIN.to_floats())
    assert not COIN.same_as(Channel([[1], [1]]))


@pytest.mark.parametrize("channel", [COIN, COIN.to_floats(), COIN.relabel(secrets="ab")])
def test_copies_are_the_same_channel_and_read_only(channel):
    """Pickle and deepcopy give back the same, read-only matrix and the names."""
    for again in (pickle.loads(pickle.dumps(channel)), copy.deepcopy(channel)):
        assert again.same_as(channel)
        assert again.secrets == channel.secrets
        with pytest.raises(ValueError, match="read-only"):
            again.matrix[0, 0] = 1


def test_the_tolerance_is_an_argument():
    """A matrix printed with four digits is a channel to four digits."""
    assert Channel([[0.3333, 0.6666]], tolerance=1e-3).shape == (1, 2)
