"""A draw from a mechanism has exactly the distribution of the secret's row, whichever way it is drawn."""

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, chi2

import utmost as ut
from auditing import epsilon_refuted
from goodness import LEVEL, Written
from utmost import losses, priors
from utmost.channels import GeometricMatrix, geometric_channel, randomized_response
from utmost.errors import OutOfRange, PromiseBroken, Unsupported, WrongKind
from utmost.optima import repair
from utmost.spaces import counts, grid, points
from utmost.testing import SeededRandomness, seeded_draw

BOTH = pytest.mark.parametrize("method", ["constant", "table"])


@st.composite
def channels(draw, most=5):
    """Exact channels with zeros, dyadic entries and large denominators among them."""
    n, m = draw(st.integers(1, most)), draw(st.integers(1, most))
    masses = st.one_of(st.integers(0, 3), st.integers(0, 10**30))
    rows = draw(st.lists(st.lists(masses, min_size=m, max_size=m).filter(any), min_size=n, max_size=n))
    return ut.channels.Channel([[Fraction(w, sum(row)) for w in row] for row in rows])


def outcome_of(channel, row, digits, method):
    """The outcome when the random bits are the binary digits of ``digits`` / 2^320, five words of them."""
    first, *later = (digits >> 64 * k & (1 << 64) - 1 for k in reversed(range(5)))
    return int(channel.draw([row], randomness=Written(later, [[first]]), method=method)[0])


@BOTH
@given(channels())
def test_the_decision_tree_has_exactly_the_distribution_of_each_row(method, channel):
    """Outcome j is drawn for the U in [T_j, T_(j+1)) and no others: beside each cut U decides as the cut does.

    The tree reads U from its first digit on, and so its leaves are intervals; the outcome never falls as U rises, since
    it is the number of cuts passed. So the distribution is known from the smallest U at which each outcome begins, here
    to 320 digits: an error of 2^-320 at most, and none where the cut has so many digits.
    """
    scale = 1 << 320
    for row, distribution in enumerate(channel.matrix.tolist()):
        ends = [0, *accumulate(distribution)]
        for cut in ends[1:-1]:
            edge = -(-cut.numerator * scale // cut.denominator)
            for digits in {edge - 1, edge} & set(range(max(edge - 1, 0), min(edge, scale - 1) + 1)):
                U = Fraction(digits, scale)
                expected = sum(end <= U for end in ends[1:-1])
                assert outcome_of(channel, row, digits, method) == expected
                assert ends[expected] <= U < ends[expected + 1]


@given(channels(), st.lists(st.integers(0, (1 << 64) - 1), min_size=1, max_size=30), st.data())
def test_both_methods_read_the_same_bits_alike(channel, words, data):
    """Also words at the cells of cuts, and with the bits all 0 or all 1 after them."""
    cuts = [int(cut * 2**64) for row in channel.matrix.tolist() for cut in accumulate(row[:-1])]
    words += [min(max(u + d, 0), (1 << 64) - 1) for u in cuts for d in (-1, 0, 1)]
    rows = np.array([data.draw(st.integers(0, channel.shape[0] - 1)) for _ in words])
    for then in (0, (1 << 64) - 1):
        one, other = (
            channel.draw(rows, randomness=Written(arrays=[words], then=then), method=method)
            for method in ("constant", "table")
        )
        assert one.tolist() == other.tolist()


@BOTH
def test_draws_fit_their_rows(method):
    """Chi-square at a fixed level, over all rows of a channel of 12 places, with draws of mixed secrets."""
    channel = geometric_channel(12, alpha="2/3")
    secrets = np.arange(60_000) % 12
    drawn = seeded_draw(channel, secrets, 20, method=method)
    seen = np.zeros((12, 12))
    np.add.at(seen, (secrets, drawn), 1)
    wanted = channel.to_floats().matrix * 5_000
    statistic = ((seen - wanted) ** 2 / wanted).sum()
    assert LEVEL < chi2.sf(statistic, 12 * 11) < 1 - LEVEL


def test_an_impossible_outcome_is_never_drawn_whatever_the_bits():
    """Columns of probability 0 at both ends and inside; a certain outcome is certain."""
    channel = ut.channels.Channel([[0, "1/2", 0, "1/2", 0], [0, 0, 1, 0, 0]])
    for method in ("constant", "table"):
        for word in (0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1):
            for then in (0, (1 << 64) - 1):
                bits = Written(arrays=[[word, word]], then=then)
                one, certain = channel.draw([0, 1], randomness=bits, method=method)
                assert one == (1 if word < 1 << 63 else 3)
                assert certain == 2


def test_one_secret_or_one_outcome():
    assert ut.channels.Channel([[1]]).draw([0, 0]).tolist() == [0, 0]
    assert ut.channels.Channel([["1/3", "2/3"]]).draw(0) in (0, 1)
    assert ut.channels.Channel([[1], [1]]).draw(1, (2, 0)).shape == (2, 0)
    assert ut.channels.Channel([[1], [1]]).draw([], 3).shape == (3, 0)


def test_what_comes_out_has_the_shape_of_what_was_asked():
    """One for one; an array for a list, an array, or several draws; first the shape, then the secrets'."""
    channel = geometric_channel(4, alpha="1/2")
    assert type(channel.draw(2)) is int
    assert channel.draw([2]).shape == (1,)
    assert channel.draw(np.array(2), ()).__class__ is int
    assert channel.draw(np.zeros((2, 3), np.uint8), 5).shape == (5, 2, 3)
    assert ut.sample(channel, range(4), (2, 2)).shape == (2, 2, 4)
    assert ut.sample(GeometricMatrix(4, ut.level(epsilon=1)), 3, 100).max() <= 3


def test_secrets_come_by_name_and_outcomes_with_them():
    """By name in, by name out; by number in, by number out; a number is a name where some names are numbers."""
    told = ut.channels.Channel([[1, 0], [0, 1]], secrets=["yes", "no"], outcomes=["Y", "N"])
    assert told.draw("no") == "N"
    assert told.draw(1) == 1
    assert told.draw(["yes", "no"]).tolist() == ["Y", "N"]
    assert told.draw(np.array(["no"])).tolist() == ["N"]
    years = told.relabel(secrets=[1, 0], outcomes=[(1, 1), (0, 0)])
    assert years.draw(1) == (1, 1)
    assert years.draw([0, 1]).tolist() == [(0, 0), (1, 1)]
    assert told.relabel(outcomes=[0, 5]).draw("no", 2).tolist() == [5, 5]


def test_a_refusal_tells_no_secret():
    """The place in the list is named, the secret is not."""
    told = ut.channels.Channel([[1, 0], [0, 1]], secrets=["yes", "no"])
    with pytest.raises(OutOfRange, match="at position 1") as found:
        told.draw(["yes", "sesame"])
    assert "sesame" not in str(found.value)
    with pytest.raises(OutOfRange, match=r"0\.\.1.*position 2") as found:
        told.draw([0, 1, 87654])
    assert "87654" not in str(found.value)
    for wrong in (-1, [2], [1 << 70]):
        with pytest.raises(OutOfRange):
            told.draw(wrong)
    for wrong in (0.5, [True], None, [[0], [1]]):
        with pytest.raises((OutOfRange, WrongKind)):
            ut.channels.Channel([[1], [1]]).draw(wrong)


def test_floats_are_refused_with_the_remedy_and_the_remedy_works():
    """A float channel keeps no level exactly; the exact repair of it does, and is drawn."""
    near = geometric_channel(3, epsilon=1)
    with pytest.raises(Unsupported, match="repair"):
        near.draw(1)
    kept = repair(ut.PrivacyType(counts(2), epsilon=1), near).channel
    assert 0 <= kept.draw(1) <= 2


def test_bits_that_can_be_predicted_are_refused():
    channel = geometric_channel(3, alpha="1/2")
    with pytest.raises(PromiseBroken, match="seeded_draw"):
        channel.draw(1, randomness=SeededRandomness(1))
    with pytest.raises(PromiseBroken, match="seeded_draw"):
        ut.sample(channel, 1, randomness=SeededRandomness(1))
    with pytest.raises(Unsupported, match="source of random words"):
        channel.draw(1, randomness=7)
    with pytest.raises(OutOfRange, match="method"):
        channel.draw(1, method="quick")
    with pytest.raises(OutOfRange, match="shape and secret"):
        ut.sample(ut.noise.Geometric(epsilon=1), 3, 4)
    assert ut.sample(ut.noise.Geometric(epsilon=1), shape=3).shape == (3,)


@pytest.mark.parametrize("epsilon", ["1e-6", 1, 50])
def test_designs_on_counts_draw_the_channel_that_they_form(epsilon):
    """Clamped geometric noise and a remap are the rows of the channel, at levels whose alpha is irrational, too."""
    consumer = ut.Consumer(priors.from_counts([3, 1, 1, 5, 2]).astype(float), losses.absolute)
    found = ut.optimal_mechanism(ut.PrivacyType(counts(4), epsilon=epsilon), consumer)
    assert found.remap is not None
    secrets = np.arange(25_000) % 5
    seen = np.zeros((5, 5))
    np.add.at(seen, (secrets, seeded_draw(found, secrets, 5)), 1)
    wanted = np.asarray(found.channel.to_floats().matrix, float) * 5_000
    assert (seen[wanted < 1e-9] == 0).all()
    some = wanted >= 5
    statistic = ((seen - wanted)[some] ** 2 / wanted[some]).sum()
    assert some.sum() == 5 or chi2.sf(statistic, some.sum() - 5) > LEVEL


def test_designs_on_places_draw_the_private_matrix_and_answer_with_places():
    """The matrix of Fractions that the certificate checked is drawn, not the floats that are shown; labels as asked."""
    places = grid(2, 3)
    consumer = ut.Consumer(priors.from_counts([5, 1, 2, 0, 30, 3]).astype(float), losses.distance(places))
    found = ut.optimal_mechanism(ut.PrivacyType(places, epsilon=1), consumer)
    assert found.draw((1, 2)) in places.labels
    assert set(found.draw([(0, 0), (1, 1)], 9).ravel()) <= set(places.labels)
    one = seeded_draw(found, np.arange(6), 3, 50)
    assert one.tolist() == seeded_draw(ut.channels.Channel(found.certificate.matrix), np.arange(6), 3, 50).tolist()
    line = points([0, 2, 3])
    consumer = ut.Consumer(priors.uniform(3), losses.distance(line))
    assert ut.optimal_mechanism(ut.PrivacyType(line, alpha="1/2"), consumer).draw(2) in (0, 2, 3)


def epsilon_of_draws(here, there, doubt=1e-9):
    """The largest log(p/q) over outcomes: p from below and q from above by Clopper-Pearson, the outcome chosen on half.

    An epsilon that the channel breaks, unless the draws are of the kind that comes once in 1/doubt.
    """
    half = len(here) // 2
    size = int(max(here.max(), there.max())) + 1
    before = [np.bincount(draws[:half], minlength=size) + 1 for draws in (here, there)]
    k, m = ((draws[half:] == (before[0] / before[1]).argmax()).sum() for draws in (here, there))
    rest = len(here) - half
    low = beta.ppf(doubt / 2, k, rest - k + 1) if k else 0.0
    high = beta.ppf(1 - doubt / 2, m + 1, rest - m)
    return float(np.log(low / high)) if low else 0.0


@pytest.mark.parametrize("mechanism", ["responses", "places"])
def test_black_box_judges_come_near_the_level_and_never_above(mechanism):
    """Two judges who see draws alone refute nothing above the level, nearly the level itself, and find out a leak."""
    if mechanism == "responses":
        channel, level = randomized_response(5, alpha="1/3"), np.log(3)
    else:
        places = grid(2, 2)
        consumer = ut.Consumer(priors.uniform(4), losses.distance(places))
        design = ut.optimal_mechanism(ut.PrivacyType(places, epsilon=1), consumer)
        channel, level = ut.channels.Channel(design.certificate.matrix), 1.0
    here, there = (seeded_draw(channel, x, 70 + x, 200_000) for x in (0, 1))
    assert 0.9 * level < epsilon_of_draws(here, there) <= level
    assert epsilon_of_draws(there, here) <= level
    assert 0.8 * level < epsilon_refuted(*(np.eye(5)[draws] for draws in (here, there))) <= level
    honest = channel.mix(ut.channels.Channel(np.eye(channel.shape[0], dtype=int)), "1/2")
    assert epsilon_of_draws(*(seeded_draw(honest, x, 80 + x, 200_000) for x in (0, 1))) > 1.1 * level
