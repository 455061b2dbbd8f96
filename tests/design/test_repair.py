"""Repair: what was nearly private becomes exactly private, at a change that is bounded and reported."""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.channels import Channel, geometric_channel, planar_geometric_channel
from utmost.errors import NotAChannel, PromiseBroken
from utmost.optima import repair
from utmost.privacy_types import PrivacyType
from utmost.spaces import Space, counts, discrete, grid
from utmost.testing import strategies


def variation(one, other):
    """The largest total variation distance of two rows, taken as the rationals that they are."""
    return max(sum(abs(F(a) - F(b)) for a, b in zip(p, q, strict=True)) for p, q in zip(one, other, strict=True)) / 2


@given(st.data(), strategies.levels)
def test_any_channel_becomes_private_within_the_bound(data, at):
    n = data.draw(st.integers(1, 5))
    ptype = PrivacyType(Space(data.draw(strategies.metrics(n))), at)
    C = data.draw(strategies.channels(n, 4))
    for given_channel in (C, C.to_floats()):
        found = repair(ptype, given_channel)
        assert found.channel.is_exact
        assert Channel(found.channel.matrix).same_as(found.channel)
        assert ptype.contains(found.channel)
        assert found.change == variation(found.channel.matrix, given_channel.matrix)
        assert found.change <= found.bound
        assert 0 <= found.share <= 1


@given(st.integers(1, 6), strategies.alphas)
def test_what_is_private_is_left_alone(n, alpha):
    G = geometric_channel(n + 1, alpha=alpha)
    found = repair(PrivacyType(counts(n), alpha=alpha), G)
    assert found.channel.same_as(G)
    assert found.change == found.bound == found.breach == found.share == 0


@given(st.integers(1, 6), strategies.levels, st.integers(0, 2**32 - 1))
def test_a_solvers_error_costs_a_change_of_its_own_size(n, at, seed):
    """Noise of 1e-9 on a private matrix: a change of at most some 1e-9 over 1 - alpha."""
    rng = np.random.default_rng(seed)
    near = geometric_channel(n + 1, at).to_floats().matrix + rng.uniform(-1e-9, 1e-9, (n + 1, n + 1))
    ptype = PrivacyType(counts(n), at)
    found = repair(ptype, near)
    assert ptype.contains(found.channel)
    slack = 1 - float(ptype.alpha)
    assert found.change <= found.bound <= 20 * (n + 1) * 1e-9 * (1 + 1 / slack)


def test_the_bound_is_the_share_of_the_constant_channel():
    """D = 1/20, alpha = 1/2: theta = D / (D + 1 - alpha) = 1/11."""
    found = repair(PrivacyType(discrete(2), alpha="1/2"), [["2/3", "1/3"], ["3/10", "7/10"]])
    assert (found.breach, found.share, found.bound) == (F(1, 20), F(1, 11), F(1, 11))
    assert found.change <= F(1, 11)


def test_float_noise_of_the_plane_becomes_exact_and_keeps_its_names():
    places = planar_geometric_channel(3, 3, epsilon=1)
    found = repair(PrivacyType(grid(3, 3), epsilon=1), places, within="1e-12")
    assert found.channel.secrets == places.secrets
    assert found.change < F(1, 10**12)


@pytest.mark.parametrize(
    ("matrix", "error", "says"),
    [
        ([[1, 0]], NotAChannel, "2 rows"),
        ([[1, 0], [2, -1]], NotAChannel, "not be negative"),
        ([[1.0, 0.0], [1.001, 0.0]], NotAChannel, "row 1 of the channel must sum to 1"),
        ([["1/2", "1/3"], [1, 0]], NotAChannel, "row 0"),
        ([[1.0, float("nan")], [1.0, 0.0]], NotAChannel, "finite"),
        ([[1, 0], [0, 1]], PromiseBroken, "within 1/10"),
    ],
)
def test_refusals(matrix, error, says):
    with pytest.raises(error, match=says):
        repair(PrivacyType(discrete(2), alpha="1/2"), matrix, within="1/10")
