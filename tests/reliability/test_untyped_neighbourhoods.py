"""Wrong keys, huge and tiny levels, empty inputs, pickles made by hand: each ends, in an answer or in a typed error."""

import inspect
import itertools
import pickle
import warnings
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest

import utmost as ut
from utmost.counting import CountedTable
from utmost.errors import BadTable, OutOfRange, UtmostError, WrongKind
from utmost.privacy_types import PolicyType
from utmost.releases import DetailRule, Texts, Tuples, release_detailed, select_cells
from utmost.spaces import Policy
from utmost.workloads import SharedLevel, edges, share_level

ODD = ["1e-400", "1e-49", "1e400", 0, -1, 10**30, 1.5, Fraction(1, 3), "x", "", None, True, float("nan"), float("inf")]
ODD += [[], {}, "county", "age sex", "zzz"]
PLAIN = [odd for odd in ODD if not isinstance(odd, list | dict)]
DOMAIN = ut.Domain(county=["A", "B"], age=["young", "old"], sex=["men", "women"])
TABLE = CountedTable(DOMAIN, np.array([900, 800, 700, 600, 3, 0, 2, 4]).reshape(2, 2, 2), ut.Unit(1, 1))
AGES = ut.Domain(age=edges([0, 18, 65, None]), sex=["men", "women"])


def ends(call, *arguments, **named):
    """Whether a call ends in an answer that can be shown, or in an error of the project."""
    with warnings.catch_warnings(), suppress(UtmostError):
        warnings.simplefilter("ignore")
        repr(call(*arguments, **named))


def test_a_level_that_is_too_small_or_too_large_to_name_cells_is_refused_at_once():
    """Thresholds at 1e-400, and draws at 10 000, took for ever."""
    words = Texts("ab", most=3)
    for level in ("1e-400", "1e-60", 10**4, "1e400"):
        with pytest.raises(OutOfRange):
            select_cells({"ab": 3}, words, epsilon=level)
    assert select_cells({"ab": 3}, words, epsilon=50).keys == ("ab",)


def test_names_of_cells_end_typed():
    words, pairs = Texts("ab", most=3), Tuples(range(10), ["f", "m"])
    for odd in ODD:
        ends(select_cells, {"ab": 3}, words, epsilon=odd)
        ends(select_cells, {}, words, epsilon=1, keys=odd)
        ends(select_cells, odd, words, epsilon=1)
        ends(select_cells, {"ab": odd}, words, epsilon=1)
        ends(select_cells, {}, odd, epsilon=1)
        for universe in (words, pairs):
            ends(universe.key, odd)
            ends(universe.place, odd)
            ends(universe.place, (1, odd))
    for facts in ({}, {"lists": 5}, {"lists": [{}]}, {"lists": [{"range": [0, 9, 0]}]}, {"lists": [{"range": 5}]}, 5):
        ends(Tuples.of_facts, facts)
        ends(Texts.of_facts, facts)


def test_releases_in_two_stages_end_typed():
    """A group of two levels, or of none, was a KeyError."""
    for group in ("age sex", "", "zzz"):
        with pytest.raises(OutOfRange):
            release_detailed(TABLE, group, {"county": 1}, epsilon=1)
    rule, release = DetailRule("county", {"age": 100}), release_detailed(TABLE, "county", {"age": 100}, epsilon=20)
    for odd in ODD:
        ends(release_detailed, TABLE, odd, {"age": 100}, epsilon=1)
        ends(release_detailed, TABLE, "county", odd, epsilon=1)
        ends(release_detailed, TABLE, "county", {"age": odd}, epsilon=1)
        ends(release_detailed, TABLE, "county", {"age": 100}, epsilon=odd)
        ends(release_detailed, TABLE, "county", {"age": 100}, epsilon=1, first=odd)
        ends(release_detailed, odd, "county", {"age": 100}, epsilon=1)
        ends(rule.detail_of, odd)
        ends(rule.marginal, DOMAIN, odd)
        ends(rule.keys, DOMAIN, odd)
        ends(rule.keys, DOMAIN, {"A": odd})
        ends(rule.domain_of, odd, {"A": "age"})
        ends(rule.chosen, odd)
        ends(rule.counted, odd, release.first)
        ends(rule.counted, TABLE, odd)
        ends(release.total, odd)
        ends(release.total, {"county": odd})
    for odd in PLAIN:
        ends(release_detailed, TABLE, "county", {odd: 1}, epsilon=1)
        ends(release.total, {odd: "A"})


def test_shared_levels_end_typed():
    """A weight that no float holds was an OverflowError."""
    plans = {
        name: ut.choose_plan(ut.Workload(DOMAIN, {name: 1}), ut.Unit(1, 1), epsilon=1) for name in ("county", "age sex")
    }
    with pytest.raises(OutOfRange, match="weights"):
        share_level(plans, epsilon=1, weights={"county": "1e400"})
    for odd in ("1e-400", "1e400", 10**30):
        ends(share_level, plans, epsilon=odd)
        ends(share_level, plans, epsilon=1, up_to=odd)
    alone = {"county": plans["county"]}  # has all of the level, after the same checks
    for odd in ODD:
        ends(share_level, alone, epsilon=odd)
        ends(share_level, alone, epsilon=1, up_to=odd)
        ends(share_level, alone, epsilon=1, weights=odd)
        ends(share_level, alone, epsilon=1, weights={"county": odd})
        ends(share_level, odd, epsilon=1)
        ends(share_level, {"county": odd}, epsilon=1)
        ends(SharedLevel, plans, {"county": odd, "age sex": 1}, ut.level(1))
        ends(SharedLevel, plans, odd, ut.level(1))
    for odd in PLAIN:
        ends(share_level, plans, epsilon=1, weights={odd: 1})


def test_quantiles_of_many_digits_and_of_wrong_names_end_typed():
    """A share of more digits than int64 holds was an OverflowError."""
    table = CountedTable(AGES, np.arange(AGES.size).reshape(AGES.shape), ut.Unit(1, 1))
    plan = ut.choose_plan(ut.Workload(AGES, {"age sex": 1}), table.unit, epsilon=1)
    release = ut.release(table, plan, epsilon=100, once=True).table
    assert release.quantile("age", "0.999999999999999999999").estimate == release.quantile("age", "0.999").estimate
    for odd in ODD:
        ends(release.quantile, "age", odd)
        ends(release.quantile, odd, "0.5")
        ends(release.quantile, "age", "0.5", where=odd)
        ends(release.quantile, "age", "0.5", where={"sex": odd})
        ends(release.quantile, "age", "0.5", confidence=odd)
        ends(release.median, odd)
        ends(release.mean, odd)
        ends(release.total, odd)
        ends(release.raw, odd)
        ends(release.distributions, odd)
        ends(release.__getitem__, odd)


LOSSES = ["1/3", "3/2", 0, 1, 2.5, 0.1, Fraction(7, 3), 10**30, "1e-400", "1e400", 5e-324, -1, "x", None, True, "", []]


def made_losses():
    """The losses of all these numbers that there are."""
    for make, count in (
        (ut.losses.power, 1),
        (ut.losses.asymmetric, 2),
        (ut.losses.thresholded, 1),
        (ut.losses.capped, 1),
    ):
        for numbers in itertools.product(LOSSES, repeat=count):
            try:
                yield make(*numbers)
            except UtmostError:
                continue
    yield from (ut.losses.absolute, ut.losses.squared, ut.losses.binary, ut.losses.nib)
    yield ut.losses.capped("1/2", ut.losses.capped(3, ut.losses.power("3/2")))


def test_losses_are_shown_as_they_are_typed_back():
    """`asymmetric("1/3", 1)` showed a float, `capped("1/2")` another one, `thresholded("3/2")` 1.5."""
    assert repr(ut.losses.asymmetric("1/3", 1)) == "losses.asymmetric('1/3', 1)"
    assert repr(ut.losses.capped("1/2")) == "losses.capped('1/2', losses.absolute)"
    assert repr(ut.losses.thresholded("3/2")) == "losses.thresholded('3/2')"
    for loss in made_losses():
        again = eval(repr(loss), {"losses": ut.losses})
        assert repr(again) == repr(loss)
        try:
            values = loss.matrix(4)
        except UtmostError:
            continue
        assert again.exact == loss.exact
        assert (again.matrix(4) == values).all(), repr(loss)


def test_losses_of_single_numbers_are_numbers():
    assert [int(ut.losses.thresholded(2)(0, action)) for action in (2, 5)] == [0, 1]
    places = [0, 5, -1, 10**30, Fraction(1, 2), 0.5, np.array([1, 2]), np.array([]), [1, 2], np.int64(3), float("inf")]
    losses = [*made_losses(), ut.losses.distance(ut.spaces.hamming(2)), ut.losses.distance(ut.spaces.grid(2, 2))]
    for loss in losses[:: max(1, len(losses) // 40)] + losses[-6:]:
        for secret, action in itertools.product(places, repeat=2):
            ends(loss, secret, action)


def values():
    """One of each kind whose pickle is a call with parts."""
    table = CountedTable(AGES, np.arange(AGES.size).reshape(AGES.shape), ut.Unit(1, 1))
    plan = ut.choose_plan(ut.Workload(AGES, {"age": 1}), table.unit, epsilon=1)
    release = ut.release(table, plan, epsilon=1, once=True).table
    ptype = ut.PrivacyType(ut.spaces.counts(3), alpha="1/2")
    consumer = ut.Consumer(ut.priors.uniform(4), ut.losses.absolute)
    best = ut.optimal_mechanism(ptype, consumer)
    policy = Policy.of_edges([("a", "b")], ["a", "b"])
    yield from (AGES, AGES.axes[0], table, ut.Workload(AGES, {"age": 1}), plan, release, release.reconstruction)
    yield release.clean()
    yield from (ptype, ptype.space, consumer, best, best.certificate, best.channel, ut.capacity(ptype))
    yield from (policy, PolicyType(policy, alpha="1/2"), ut.Unit(1, 2), share_level({"a": plan}, epsilon=1))
    yield from (ut.optimal_noise(1, sensitivity=3), BadTable("it must be so", came=1))


def test_pickles_made_by_hand_end_typed():
    """A call with parts of another kind ended in an AttributeError of our code."""
    parts = [None, 0, "x", [], {}, 1.5, (), object(), np.array(["a"]), (1, 2, 3), {"a": 1}]
    for value in values():
        reduced = value.__reduce_ex__(4)
        if len(reduced) > 2 and reduced[2] is not None:
            continue  # Python's own, which calls nothing of ours
        call, arguments = reduced[:2]
        assert callable(call)
        assert type(pickle.loads(pickle.dumps(value))) is type(value)
        for place, part in itertools.product(range(len(arguments)), parts):
            ends(call, *arguments[:place], part, *arguments[place + 1 :])
    with pytest.raises(WrongKind):
        inspect.unwrap(type(AGES).__reduce__)(AGES)[0]("no axes")
