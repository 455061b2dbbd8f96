"""Privacy types: membership against its definition over all pairs, tight, for every kind of number, in every corner."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.channels import (
    Channel,
    dual_randomized_response,
    geometric_channel,
    laplace_channel,
    randomized_response,
    renormalised_geometric_channel,
    unbounded_geometric_channel,
)
from utmost.errors import NotAChannel
from utmost.exact import Level, Surd, level
from utmost.privacy_types import PrivacyType, smallest_epsilon
from utmost.spaces import Space, counts, discrete, graph, grid, hamming
from utmost.testing import strategies

LADDER = ["1/10", "1/2", "2/3", "9/10"]


def in_type_by_definition(c, d, alpha):
    """C[x, y] alpha^d(x, z) <= C[z, y] for all x, z, y: integer distances, rational alpha."""
    n, m = c.shape
    return all(
        c.matrix[x, y] * alpha ** int(d[x][z]) <= c.matrix[z, y] for x in range(n) for z in range(n) for y in range(m)
    )


@given(st.data(), st.integers(1, 5), st.integers(1, 4), strategies.alphas)
def test_membership_means_all_pairs_and_outcomes(data, n, m, alpha):
    """Looking along essential edges only is looking everywhere."""
    d = data.draw(strategies.metrics(n))
    c = data.draw(strategies.channels(n, m))
    assert PrivacyType(Space(d), alpha=alpha).contains(c) == in_type_by_definition(c, d, alpha)


@given(st.integers(1, 6), strategies.alphas)
def test_the_geometric_mechanism_is_private_at_its_level_and_no_other(n, alpha):
    """G is in the type of alpha, and in no lower one."""
    g, space = geometric_channel(n + 1, alpha=alpha), counts(n)
    assert PrivacyType(space, alpha=alpha).contains(g)
    assert not PrivacyType(space, alpha=alpha + (1 - alpha) / 10**30).contains(g)
    assert smallest_epsilon(g, space).level == level(alpha=alpha)


@given(st.data(), st.integers(0, 5), strategies.alphas)
def test_post_processing_stays_in_the_type(data, n, alpha):
    """G followed by any remap keeps the level."""
    at = level(alpha=alpha)
    c = data.draw(strategies.private_channels(n + 1, at))
    assert PrivacyType(counts(n), at).contains(c)
    found = smallest_epsilon(c, counts(n))
    assert found.level is None or found.level <= at


@given(st.data(), st.integers(1, 5), strategies.alphas, st.fractions(min_value=0, max_value=1, max_denominator=9))
def test_a_type_is_closed_under_mixing_choosing_and_restriction(data, n, alpha, p):
    """[fernandes2022] IV-C: choice and restriction stay within the type."""
    at, space = level(alpha=alpha), counts(n)
    c, d = data.draw(strategies.private_channels(n + 1, at)), geometric_channel(n + 1, at)
    kept = data.draw(st.lists(st.integers(0, n), min_size=1, max_size=n + 1, unique=True))
    assert PrivacyType(space, at).contains(c.choose(d, p))
    assert PrivacyType(space, at).contains(d.mix(d, p))
    assert PrivacyType(space, at).restrict(kept).contains(c.restrict(kept))
    assert PrivacyType(space, at.scaled(2)).contains(c.parallel(d))


@given(st.data(), st.integers(2, 5), st.integers(1, 4), st.booleans())
def test_smallest_epsilon_is_the_threshold_of_membership(data, n, m, positive):
    """A channel is in the type of its smallest epsilon, and in none below it; the pair and outcome attain it."""
    space, c = Space(data.draw(strategies.metrics(n))), data.draw(strategies.channels(n, m))
    if positive:  # an entry that is zero in one row alone makes epsilon infinite
        c = Channel((4 * c.matrix + Fraction(1, m)) / 5)
    found = smallest_epsilon(c, space)
    if found.value == 0:
        assert (c.matrix == c.matrix[0]).all()
        assert (found.level, found.pair, found.outcome) == (None, None, None)
        return
    (x, z), y = found.pair, found.outcome
    if found.value == float("inf"):
        assert c.matrix[x, y] > 0 == c.matrix[z, y]
        assert not PrivacyType(space, epsilon=10**6).contains(c)
        return
    assert PrivacyType(space, found.level).contains(c)
    assert PrivacyType(space, epsilon=found.value).contains(c)
    assert not PrivacyType(space, found.level.scaled(Fraction(10**20 - 1, 10**20))).contains(c)
    assert Level.of_alpha(c.matrix[z, y] / c.matrix[x, y]) == found.level.scaled(space.length(x, z))
    assert found.level.epsilon <= found.value <= found.level.epsilon * (1 + 1e-15)


@given(st.integers(1, 6), strategies.levels)
def test_float_channels_are_in_their_type_up_to_rounding(n, at):
    """The float64 geometric and Laplace channels are members with the default tolerance, and not far below."""
    space = counts(n)
    assert PrivacyType(space, at).contains(geometric_channel(n + 1, at).to_floats())
    assert PrivacyType(space, at).contains(unbounded_geometric_channel(n + 1, at).to_floats())
    assert PrivacyType(space, at).contains(laplace_channel(n + 1, at).to_floats())
    assert not PrivacyType(space, at.scaled("9/10")).contains(geometric_channel(n + 1, at).to_floats())


def test_floats_can_be_decided_as_the_rationals_that_they_are():
    """With tolerance 0 a float matrix that rounding pushed over the level is not a member; smallest_epsilon agrees."""
    g, space = geometric_channel(61, epsilon=1), counts(60)
    assert PrivacyType(space, epsilon=1).contains(g)
    assert not PrivacyType(space, epsilon=1).contains(g, tolerance=0)
    found = smallest_epsilon(g, space)
    assert 1 < found.value < 1 + 1e-12
    assert PrivacyType(space, epsilon=found.value).contains(g, tolerance=0)
    assert PrivacyType(space, alpha="1/2").contains([[0.5, 0.5], [0.25, 0.75], *[[0.5, 0.5]] * 59], tolerance=0)


def test_a_float_zero_stands_for_what_is_too_small_for_a_float():
    """epsilon = 50 on {0..20}: entries underflow, and the channel counts as private; a zero beside 1/10 does not."""
    g = geometric_channel(21, epsilon=50)
    assert (g.matrix == 0).any()
    assert PrivacyType(counts(20), epsilon=50).contains(g)
    assert not PrivacyType(counts(20), epsilon=49).contains(g)
    assert not PrivacyType(counts(1), epsilon=50).contains([[0.9, 0.1], [1.0, 0.0]])
    assert smallest_epsilon([[0.9, 0.1], [1.0, 0.0]], counts(1)).value == float("inf")


@pytest.mark.parametrize("alpha", LADDER)
def test_the_renormalised_mechanism_is_not_in_its_nominal_type(alpha):
    """THEORY 1.14: for n >= 2 dividing by row sums costs privacy."""
    for n in (2, 3, 6):
        c = renormalised_geometric_channel(n + 1, alpha=alpha)
        assert not PrivacyType(counts(n), alpha=alpha).contains(c)
    assert PrivacyType(counts(1), alpha=alpha).contains(renormalised_geometric_channel(2, alpha=alpha))


@pytest.mark.parametrize("alpha", LADDER)
@pytest.mark.parametrize("k", [1, 2, 5])
def test_randomised_response_and_its_dual_are_tight_on_discrete_secrets(alpha, k):
    """Both attain the level of the discrete type."""
    for make in (randomized_response, dual_randomized_response):
        c = make(k, alpha=alpha)
        assert PrivacyType(discrete(k), alpha=alpha).contains(c)
        assert PrivacyType(discrete(k), alpha=alpha).contains(c.to_floats())
        if k > 1:
            assert smallest_epsilon(c, discrete(k)).level == level(alpha=alpha)
            assert not PrivacyType(discrete(k), alpha=Fraction(alpha) + Fraction(1, 10**9)).contains(c)
            assert not PrivacyType(discrete(k), alpha=Fraction(alpha) + Fraction(1, 10**9)).contains(c.to_floats())


@given(st.data(), st.integers(2, 5), st.integers(1, 4), strategies.alphas)
def test_the_discrete_shortcut_agrees_with_all_pairs(data, n, m, alpha):
    """Extremes of columns decide for equal distances, as the table of the same metric does edge by edge."""
    c = data.draw(strategies.channels(n, m))
    table = Space(discrete(n).distances)
    assert PrivacyType(discrete(n), alpha=alpha).contains(c) == PrivacyType(table, alpha=alpha).contains(c)
    one, other = smallest_epsilon(c, discrete(n)), smallest_epsilon(c, table)
    assert (one.value, one.level) == (other.value, other.level)


def two_rows(ratio):
    """A channel on two secrets whose largest ratio is the one given."""
    p = 1 / (1 + Fraction(ratio))
    return Channel([[p, 1 - p], [1 - p, p]])


def test_irrational_powers_are_decided_exactly():
    """alpha^(1/2), exp(-epsilon) and alpha^sqrt(2): a ratio a hair below is inside, a hair above outside."""
    hair = Fraction(1, 10**40)
    half = Space([[0, "1/2"], ["1/2", 0]])
    assert PrivacyType(half, alpha="1/4").contains(two_rows(2))
    assert not PrivacyType(half, alpha="1/4").contains(two_rows(2 + hair))
    two = level(alpha="1/2").epsilon_interval(400)
    below, above = two.lower, two.upper
    for space, factor in ((counts(1), 1), (half, 2), (grid(2, 2).restrict([0, 3]), None)):
        scale = factor if factor else 1 / Surd.sqrt(2).interval(400).lower
        assert PrivacyType(space, epsilon=above * scale + hair).contains(two_rows(2))
        assert not PrivacyType(space, epsilon=below * scale - hair).contains(two_rows(2))
    root = PrivacyType(grid(2, 2).restrict([0, 3]), alpha="1/2")
    assert root.contains(two_rows(Fraction("2.6651441426902251886502972498731")))
    assert not root.contains(two_rows(Fraction("2.6651441426902251886502972498732")))


def test_smallest_epsilon_along_surds():
    """On a Euclidean grid the value is log(ratio) / sqrt(2), rounded up, with no rational level."""
    found = smallest_epsilon(two_rows(2), grid(2, 2).restrict([0, 3]))
    assert found.level is None
    assert found.value == pytest.approx(np.log(2) / np.sqrt(2), rel=1e-15, abs=0)
    e = grid(3, 3)
    m = np.exp(-e.distances)
    m /= m.sum(axis=1)[:, None]
    brute = max(np.log(m[x] / m[z]).max() / e.distances[x, z] for x in range(9) for z in range(9) if x != z)
    assert smallest_epsilon(m, e).value == pytest.approx(brute, rel=1e-13, abs=0)
    one, two, three = (Surd.sqrt(2) * k for k in (1, 2, 3))
    straight = Space([[0, one, three], [one, 0, two], [three, two, 0]])
    tie = Channel([["1/2", "1/2"], ["1/4", "3/4"], ["1/16", "15/16"]])
    assert smallest_epsilon(tie, straight).value == pytest.approx(np.log(2) / np.sqrt(2))


def test_different_distances_are_compared_exactly():
    """log 2 over 1 against log(5) over 2 and log 4 over 2: the steepest, and the first of equals."""
    path = graph([(0, 1, 1), (1, 2, 2)])
    p = Fraction(1, 16)
    steeper = Channel([[2 * p, 1 - 2 * p], [p, 1 - p], [5 * p, 1 - 5 * p]])
    assert smallest_epsilon(steeper, path).pair == (2, 1)
    equal = Channel([[2 * p, 1 - 2 * p], [p, 1 - p], [4 * p, 1 - 4 * p]])
    assert smallest_epsilon(equal, path).pair == (0, 1)
    assert smallest_epsilon(equal, path).level == level(alpha="1/2")


@pytest.mark.parametrize("hair", [Fraction(1, 10**12), -Fraction(1, 10**12), Fraction(1, 10**40)])
def test_slopes_that_floats_cannot_tell_apart_are_compared_exactly(hair):
    """2 over distance 1 against 4 (1 + hair) over 2; and 2 over sqrt(2) against 2^sqrt(3/2) (1 + hair) over sqrt(3)."""
    near, far = 2, 4 * (1 + hair)
    p = Fraction(1, 16)
    c = Channel([[near * p, 1 - near * p], [p, 1 - p], [far * p, 1 - far * p]])
    assert smallest_epsilon(c, graph([(0, 1, 1), (1, 2, 2)])).pair == ((2, 1) if hair > 0 else (0, 1))
    one, two = Surd.sqrt(2), Surd.sqrt(3)
    space = Space([[0, one, one + two], [one, 0, two], [one + two, two, 0]])
    power = Fraction("2.33714115661740401646242459387620152314148032563561933205201") * (1 + hair)
    c = Channel([[near * p, 1 - near * p], [p, 1 - p], [power * p, 1 - power * p]])
    assert smallest_epsilon(c, space).pair == ((2, 1) if hair > 0 else (0, 1))


def test_tiny_leaks_are_rounded_up_not_to_zero():
    """Ratios 1 + 10^-60: the value is positive and not below the truth."""
    found = smallest_epsilon(two_rows(1 + Fraction(1, 10**60)), counts(1))
    assert 1e-60 * (1 - 1e-15) < found.value <= 1e-60 * (1 + 1e-15)
    assert found.level.epsilon <= found.value


def test_one_secret_has_nothing_to_tell():
    """Any distribution is private on one secret."""
    assert PrivacyType(counts(0), epsilon="1e-9").contains([["1/3", "2/3"]])
    assert PrivacyType(discrete(1), epsilon="1e-9").contains([[0.5, 0.5]])
    assert smallest_epsilon([[1, 0]], counts(0)).value == 0
    assert smallest_epsilon([[0.5, 0.5]], discrete(1)).value == 0


def test_the_surface():
    """Level, epsilon and alpha as given; copies are the same type."""
    t = PrivacyType(hamming(2), epsilon="1/2")
    assert (t.epsilon, t.level) == (Fraction(1, 2), level("1/2"))
    assert PrivacyType(hamming(2), alpha=0.5).alpha == Fraction(1, 2)
    for again in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t)):
        assert again.same_as(t)
    assert not t.same_as(PrivacyType(hamming(2), epsilon=1))
    assert not t.same_as(PrivacyType(discrete(4), epsilon="1/2"))
    assert repr(t) == "PrivacyType(spaces.hamming(2), epsilon='1/2')"


def test_rows_that_are_named_after_secrets_stand_in_the_order_of_the_space():
    """Else the distance of a and b would be that of c and a, and epsilon too small."""
    rows, roads = [["2/3", "1/3"], ["1/3", "2/3"], ["8/15", "7/15"]], graph([("a", "b", 1), ("b", "c", 10)])
    assert smallest_epsilon(Channel(rows, ["a", "b", "c"]), roads).level == level(alpha="1/2")
    moved, others = Channel([rows[2], *rows[:2]], ["c", "a", "b"]), Channel(rows, ["a", "b", "d"])
    for channel in (moved, others):
        with pytest.raises(NotAChannel, match="a, b, c"):
            smallest_epsilon(channel, roads)
        with pytest.raises(NotAChannel, match="a, b, c"):
            PrivacyType(roads, epsilon=1).contains(channel)
    with pytest.raises(NotAChannel, match="order"):
        smallest_epsilon(Channel(rows, ["2", "0", "1"]), counts(2))
    for names in (None, ["0", "1", "2"]):  # a channel without names, and the file of one
        assert smallest_epsilon(Channel(rows, names), roads).level == level(alpha="1/2")
    for channel in (others, Channel(rows, ["2", "0", "1"])):  # all distances are equal
        assert smallest_epsilon(channel, discrete(3)).level == level(alpha="1/2")
