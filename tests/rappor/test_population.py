"""The likeliest population of some answers: against the unbiased one, against a linear search, and by its own gap."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import utmost as ut
from utmost.errors import OutOfRange
from utmost.local import (
    BlockSelection,
    CategoryCounts,
    SubsetSelection,
    balanced_family,
    iterative_bayesian_update,
    report_categories,
)

CHANNELS = st.integers(2, 5).flatmap(
    lambda n: st.lists(st.lists(st.integers(1, 9), min_size=4, max_size=4), min_size=n, max_size=n)
)
COUNTS = st.lists(st.integers(0, 50), min_size=4, max_size=4).filter(any)


def channel_of(weights):
    rows = np.array(weights, float)
    return ut.channels.Channel(rows / rows.sum(axis=1)[:, None])


def likelihood(channel, counts, shares):
    """Of the answers, in nats, for each answer."""
    counts = np.array(counts)
    seen = counts > 0
    return float(counts[seen] @ np.log((shares @ channel.matrix)[seen])) / counts.sum()


@given(CHANNELS, COUNTS, st.integers(0, 3))
def test_no_population_is_likelier_by_more_than_the_gap(weights, counts, steps):
    """After any number of steps; against much longer runs, every single secret, and random populations."""
    channel = channel_of(weights)
    found = iterative_bayesian_update(channel, counts, steps=steps, within=0)
    n = channel.shape[0]
    others = [iterative_bayesian_update(channel, counts, steps=300).shares, *np.eye(n)]
    others += list(np.random.default_rng(1).dirichlet(np.ones(n), 20))
    best = likelihood(channel, counts, found.shares)
    assert found.steps == steps
    assert all(likelihood(channel, counts, other) <= best + found.gap for other in others)


@given(CHANNELS, COUNTS)
def test_every_step_raises_the_likelihood(weights, counts):
    channel = channel_of(weights)
    told = [
        likelihood(channel, counts, iterative_bayesian_update(channel, counts, steps=k, within=0).shares)
        for k in range(6)
    ]
    assert all(later >= earlier - 1e-12 for earlier, later in pairwise(told))


def test_where_the_unbiased_estimate_is_a_population_it_is_the_likeliest():
    """Then the distribution of the answers is their frequencies, and nothing is likelier."""
    report = SubsetSelection(4, 1, ut.level(alpha="1/3"))
    counts = [900, 1400, 700, 1000]
    sets = np.repeat(np.arange(4), counts)[:, None]
    unbiased = CategoryCounts.of(sets, report).estimates(report) / 4000
    found = iterative_bayesian_update(report.channel, counts, within="1e-12")
    assert abs(found.shares - unbiased).max() < 1e-5
    assert found.is_determined
    far = [3000, 10, 10, 10]  # outside: the unbiased estimate is negative somewhere, this one never
    assert CategoryCounts.of(np.repeat(np.arange(4), far)[:, None], report).estimates(report).min() < 0
    assert iterative_bayesian_update(report.channel, far).shares.tolist() == pytest.approx([1, 0, 0, 0], abs=1e-3)


def test_what_answers_cannot_tell_apart_is_said():
    """More secrets than answers, and two secrets with one row; exactly, though floats see no difference."""
    assert not iterative_bayesian_update(
        ut.channels.Channel([["1/2", "1/2"], ["1/3", "2/3"], ["1/4", "3/4"]]), [1, 1]
    ).is_determined
    assert not iterative_bayesian_update(ut.channels.Channel([[0.5, 0.5], [0.5, 0.5]]), [1, 1]).is_determined
    near = ut.channels.Channel([["1/2", "1/2"], [f"{10**30 // 2 + 1}/{10**30}", f"{10**30 // 2 - 1}/{10**30}"]])
    assert iterative_bayesian_update(near, [1, 1]).is_determined


def test_counts_that_are_none_are_refused():
    coin = ut.channels.Channel([["2/3", "1/3", 0], ["1/3", "2/3", 0]])
    for wrong in ([1, 2], [0, 0, 0], [1, -1, 0], [0.5, 1, 0], [1, 1, 1], "abc", [[1, 2, 0]]):
        with pytest.raises(OutOfRange):
            iterative_bayesian_update(coin, wrong)


def test_reports_of_categories_have_the_population_of_their_channel():
    """Sets and blocks, against the channel with a column for each: the same shares, gap and steps; bars of counts."""
    rng = np.random.default_rng(7)
    for how in (SubsetSelection(5, 2, ut.level(1)), BlockSelection(balanced_family(7, 3), ut.level(alpha="1/3"))):
        reports = report_categories(rng.choice(how.categories, 3000, p=rng.dirichlet(np.ones(how.categories))), how)
        by_sets = iterative_bayesian_update(how, reports, steps=300, within=0)
        numbers = {members: number for number, (_, members) in enumerate(how.sets())}
        sets = [tuple(sorted(members)) for members in how.members(how.read(reports)).tolist()]
        counts = np.zeros(len(list(how.sets())), int)
        np.add.at(counts, [numbers[members] for members in sets], 1)
        by_channel = iterative_bayesian_update(how.channel, counts, steps=300, within=0)
        np.testing.assert_allclose(by_sets.shares, by_channel.shares, atol=1e-9)
        assert by_sets.gap == pytest.approx(by_channel.gap, abs=1e-9)
        assert by_sets.errors.tolist() == (CategoryCounts.of(reports, how).errors(how) / 3000).tolist()
        assert (by_channel.errors <= by_sets.errors * 1.05).all()


def test_bars_are_the_spread_of_many_repetitions():
    """Of four places with a channel of eight answers: standard errors within 20 % of the spread of 100 surveys."""
    rng = np.random.default_rng(8)
    channel, shares = channel_of(rng.integers(1, 9, (4, 8))), np.array([0.4, 0.3, 0.2, 0.1])
    surveys = rng.multinomial(40_000, shares @ channel.matrix, 100)
    populations = [iterative_bayesian_update(channel, counts) for counts in surveys]
    spread = np.std([each.shares for each in populations], axis=0)
    assert np.mean([each.errors for each in populations], axis=0) == pytest.approx(spread, rel=0.2)


def test_what_answers_cannot_tell_has_no_bars():
    channel = ut.channels.Channel([["1/2", "1/2"], ["1/2", "1/2"], ["1/3", "2/3"]])
    found = iterative_bayesian_update(channel, [5, 5])
    assert not found.is_determined
    assert np.isinf(found.errors).all()
    with pytest.raises(OutOfRange):
        iterative_bayesian_update(SubsetSelection(4, 2, ut.level(1)), np.zeros((0, 2), int))
