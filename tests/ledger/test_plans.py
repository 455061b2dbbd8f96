"""Plans in a ledger: each marginal at its budget share, relaxed and viewed without loss; disjoint parts. `Account`
is imported from its module: irrational sums that nearly tie would need many releases of a ledger, and repeated requests
and growing levels are decided by an account without a release."""

import warnings
from fractions import Fraction

import numpy as np
import pytest

import utmost as ut
from asking import asked
from utmost.counting import CountedTable
from utmost.errors import (
    AlreadyPublished,
    BudgetExceeded,
    DataChanged,
    IndividualLeftOut,
    OutOfRange,
    Unsupported,
    WrongKind,
)
from utmost.exact import level
from utmost.ledger import Ledger, read_sealed
from utmost.noise import Geometric, costs
from utmost.privacy import Unit
from utmost.testing import seeded_ledger
from utmost.workloads import Domain, Plan, hierarchy

ONE_STORE = True

DOMAIN = Domain(place=hierarchy({"N": ["a", "b"], "S": ["c", "d"]}, names=["region", "district"]), sex=["men", "women"])
CELLS = np.array([[3, 40], [0, 5], [60, 7], [1, 1]])
ONE = Unit(1, 1)
SHARES = {"district sex": "1/2", "region": "3/10", "": "1/5"}


def choose_plan(unit=ONE):
    return Plan(DOMAIN, unit, SHARES)


def counted(cells=CELLS, unit=ONE, **about):
    return CountedTable(DOMAIN, cells, unit, **about)


def measured(release):
    """The sums that a release measured, by marginal, as flat arrays."""
    return {marginal: sums.ravel().tolist() for marginal, sums in release.measured.items()}


def test_a_plan_stands_for_the_promise_of_its_sums(ledger):
    part = counted(part=("town", "Bern"))
    answer = ledger.publish("census", part, choose_plan(), epsilon=1)
    assert answer.promise == ut.Promise(noise=choose_plan(), part=("town", "Bern"))
    again = ledger.publish("census", part, answer.promise, epsilon=1)
    assert measured(again.table) == measured(answer.table)
    with pytest.raises(WrongKind, match="promise must be"):
        ledger.publish("census", part, "plan", epsilon=1)


def test_a_counted_table_says_who_was_counted_under_any_promise(ledger):
    """It does so for a plan, for cells, and without a ledger; a promise that says otherwise is refused."""
    table = counted(individual="one household", proved=True)
    for name, promise in {"plan": ut.Promise(noise=choose_plan()), "cells": ut.Promise.of_counted(counted())}.items():
        for answer in (
            ledger.publish(name, table, promise, epsilon=1, dataset="people"),
            ledger.publish(name, table, promise, epsilon=1, dataset="people"),
            ledger.view(name, epsilon="1/2"),
            ut.release(table, promise, epsilon=1),
        ):
            assert answer.promise == promise.of_table(table)
            assert "One individual is one household. Utmost counted the table" in answer.statement["guarantee"]
        assert ledger.spent(name) == level(1)
    for own in ({"individual": "one person"}, {"part": ("town", "Bern")}):
        promise = ut.Promise(noise=choose_plan(), **own)
        for call in (promise.of_table, lambda table, own=promise: ut.release(table, own, epsilon=1)):
            with pytest.raises(OutOfRange, match="the promise must name the"):
                call(table)
    with pytest.raises(OutOfRange, match="needs a table that utmost counted"):
        ut.Promise(noise=choose_plan(), proved=True).of_table(counted())


def test_a_request_is_published_as_it_is_and_warns_of_who_was_counted(ledger):
    """A second person may have approved it."""
    table = counted(individual="one household", proved=True)
    promise = ut.Promise(noise=choose_plan())
    request = ut.ledger.PublishRequest("census", promise, level(1), "people")
    with pytest.warns(IndividualLeftOut, match=r"Promise.of_counted\(table\), for a plan with noise=plan"):
        assert ledger.publish_measures([request], {"census": table})["census"].promise == promise
    whole = ut.ledger.PublishRequest("again", ut.Promise.of_counted(table, noise=choose_plan()), level(1), "people")
    with warnings.catch_warnings(action="error", category=IndividualLeftOut):
        ledger.publish_measures([whole], {"again": table})


def test_axes_and_branches_keep_their_order(ledger, reopened):
    """Events have sorted keys; a domain whose names are not sorted keeps its order when it is read."""
    domain = Domain(sex=["w", "m"], place=hierarchy({"S": ["d", "c"], "N": ["b", "a"]}, names=["region", "district"]))
    table = CountedTable(domain, np.array([[60, 7, 1, 0], [3, 40, 2, 5]]), ONE)
    plan = Plan(domain, ONE, {"sex": "1/2", "region": "1/2"})
    first = ledger.publish("census", table, ut.Promise(noise=plan), epsilon=1).table
    again = reopened()
    assert again.view("census", epsilon=1).table.domain.same_as(domain)
    assert measured(again.view("census", epsilon=1).table) == measured(first)
    assert again.relax("census", table, epsilon=2).table.domain.same_as(domain)
    turned = Domain(place=domain.axes[1], sex=domain.axes[0])
    assert not domain.same_as(turned)
    with pytest.raises(OutOfRange):
        again.relax("census", CountedTable(turned, table.cells.T, ONE), epsilon=3)


def test_at_a_large_level_the_sums_are_the_true_ones(ledger):
    """So each sum is at its place, marginal by marginal."""
    with pytest.warns(UserWarning, match="protects practically nobody"):
        released = ledger.publish("census", counted(), ut.Promise(noise=choose_plan(Unit(1, 1))), epsilon=800).table
    true = {marginal: sums.ravel().tolist() for marginal, sums in choose_plan().sums(CELLS).items()}
    assert measured(released) == true


def test_each_marginal_has_the_noise_of_its_share(tmp_path):
    """20 000 sums of each marginal: the variances are those of geometric noise at the shares of the level."""
    domain = Domain(cell=range(20_000), side=["l", "r"])
    plan = Plan(domain, Unit(2, 1), {"cell side": "2/3", "cell": "1/3"})
    zero = CountedTable(domain, np.zeros(domain.shape, dtype=np.int64), Unit(2, 1))
    with seeded_ledger(tmp_path / "l.db", "plan", create=True) as ledger:
        ledger.publish("z", zero, ut.Promise(noise=plan), epsilon="1/4")
        released = ledger.relax("z", zero, epsilon=3).table
        for at in ("1/4", 3):
            for marginal, sums in ledger.view("z", epsilon=at).table.measured.items():
                distribution = Geometric(plan.levels(level(at))[marginal], 2)
                expected = float(distribution.expected_cost(costs.squared))
                assert np.mean(sums.astype(float) ** 2) == pytest.approx(expected, rel=0.05)
    assert released.measured[domain.marginal("cell")].shape == (20_000, 1)


@pytest.mark.parametrize("derived", [False, True])
def test_runs_that_cross_blocks_are_as_runs_that_do_not(tmp_path, derived):
    """Views of a derived ledger are the same after a rollback, also where a marginal ends inside a block."""
    domain = Domain(cell=range(5_000), side=["l", "r"])
    plan = Plan(domain, Unit(1, 1), {"cell": "1/2", "cell side": "1/4", "side": "1/4"})
    table = CountedTable(domain, np.arange(10_000).reshape(domain.shape), Unit(1, 1))
    with Ledger.open(tmp_path / "l.db", create=True, derived=derived) as ledger:
        first = ledger.publish("r", table, ut.Promise(noise=plan), epsilon=1).table
        assert measured(ledger.view("r", epsilon=1).table) == measured(first)
        noise = first.measured[domain.marginal("cell side")] - table.cells
        assert 0 < np.abs(noise).mean() < 20


def test_derived_noise_of_two_marginals_is_not_the_same(tmp_path):
    """With equal shares and equal values each run still has a separate keystream."""
    domain = Domain(one=range(500), other=["only"])
    plan = Plan(domain, Unit(1, 1), {"one other": "1/2", "one": "1/2"})
    table = CountedTable(domain, np.zeros(domain.shape, dtype=np.int64), Unit(1, 1))
    with Ledger.open(tmp_path / "l.db", create=True, derived=True) as ledger:
        fine, coarse = ledger.publish("r", table, ut.Promise(noise=plan), epsilon=1).table.measured.values()
    assert (fine.ravel() != coarse.ravel()).any()


def test_what_does_not_fit_a_plan_is_refused(ledger):
    """It is refused, and nothing is spent."""
    good = {"noise": choose_plan(), "epsilon": 1}
    with pytest.raises(WrongKind, match="counted table"):
        ledger.publish("r", {"n": [1]}, **asked(**good))
    with pytest.raises(OutOfRange, match="noise=plan and columns="):
        ledger.publish("r", counted(), **asked(columns="n", **good))
    with pytest.raises(OutOfRange, match="unit= and noise="):
        ledger.publish("r", counted(), **asked(**good, sensitivity=1, cells=1))
    with pytest.raises(OutOfRange, match="noise=plan and public="):
        ledger.publish("r", counted(), **asked(**good, public="sex"))
    with pytest.raises(OutOfRange, match="at_most="):
        ledger.publish("r", counted(unit=Unit(1, 2)), **asked(**good))
    with pytest.raises(OutOfRange, match="domain"):
        ledger.publish("r", CountedTable(Domain(sex=["men", "women"]), np.array([1, 2]), ONE), **asked(**good))
    with pytest.raises(OutOfRange, match="columns must name"):
        ledger.publish("r", {"n": [1]}, ut.Promise(unit=ut.Unit(1, 1)), epsilon=1)
    assert ledger.releases == ()


def test_what_cannot_be_reconstructed_is_refused_before_anything_is_spent(ledger):
    uneven = Domain(place=hierarchy({"N": ["a", "b"], "S": ["c"]}, names=["region", "district"]), sex=["men", "women"])
    table = CountedTable(uneven, np.zeros((3, 2), dtype=np.int64), ONE)
    with pytest.raises(Unsupported, match="groups"):
        ledger.publish("r", table, ut.Promise(noise=Plan(uneven, ONE, {"region sex": 1})), epsilon=1)
    assert ledger.releases == ()


def test_other_counts_and_other_shares_are_another_release(ledger):
    ledger.publish("r", counted(), ut.Promise(noise=choose_plan()), epsilon="1/2")
    with pytest.raises(DataChanged):
        ledger.relax("r", counted(CELLS + 1), epsilon=1)
    with pytest.raises(AlreadyPublished, match="another value of noise"):
        ledger.publish("r", counted(), ut.Promise(noise=Plan(DOMAIN, Unit(1, 1), {"sex": 1})), epsilon="1/2")


def test_a_level_key_opens_a_plan_and_nothing_that_was_changed(tmp_path):
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        said = ledger.publish("r", counted(), ut.Promise(noise=choose_plan()), epsilon=1).table
        key = ledger.level_key("r", epsilon=1)
    assert measured(read_sealed(tmp_path / "l.db", "r", key).table) == measured(said)


def part(label, partition="by country"):
    return counted(part=(partition, label))


def test_parts_that_share_nobody_cost_the_part_that_costs_most(ledger):
    """Country A at 1.1 and B at 0.2 cost 1.1 together; releases of everybody add up, and so do other partitions."""
    ledger.budget("editors", limit="3/2")
    ledger.publish(
        "a", part("A"), ut.Promise(noise=choose_plan(), part=("by country", "A")), epsilon="1.1", dataset="editors"
    )
    ledger.publish(
        "b", part("B"), ut.Promise(noise=choose_plan(), part=("by country", "B")), epsilon="0.2", dataset="editors"
    )
    assert ledger.budget("editors").spent == Fraction(11, 10)
    ledger.relax("b", part("B"), epsilon=1)
    assert ledger.budget("editors").spent == Fraction(11, 10)
    with pytest.raises(BudgetExceeded):
        ledger.publish("all", counted(CELLS + 1), ut.Promise(noise=choose_plan()), epsilon="1/2", dataset="editors")
    with pytest.raises(BudgetExceeded):
        ledger.relax("b", part("B"), epsilon=2)
    with pytest.raises(BudgetExceeded):
        ledger.publish(
            "c",
            part("A", "by year"),
            ut.Promise(noise=choose_plan(), part=("by year", "A")),
            epsilon="1/2",
            dataset="editors",
        )
    ledger.publish("all", counted(CELLS + 1), ut.Promise(noise=choose_plan()), epsilon="2/5", dataset="editors")
    assert ledger.budget("editors").spent == Fraction(3, 2)
    assert ledger.verify().spent["editors"].epsilon == Fraction(3, 2)


def test_a_counted_table_is_kept_without_a_plan_too(ledger):
    """Its labels are public, its unit is proved, and its part is known."""
    first = ledger.publish("a", part("A"), ut.Promise.of_counted(part("A")), epsilon=1, dataset="editors").table
    assert list(first) == ["district", "sex", "count", "count_margin"]
    ledger.publish(
        "b",
        counted(CELLS + 1, part=("by country", "B")),
        ut.Promise.of_counted(counted(CELLS + 1, part=("by country", "B"))),
        epsilon="1/2",
        dataset="editors",
    )
    assert ledger.budget("editors").spent == 1
    assert list(ledger.relax("a", part("A").table(DOMAIN.finest), epsilon=2).table) == [
        "district",
        "sex",
        "count",
        "count_margin",
    ]
    with pytest.raises(OutOfRange, match="at_most="):
        ledger.publish("c", counted(unit=Unit(1, 3)), ut.Promise(unit=ONE), epsilon=1, dataset="editors")


def charged(ledger, name, label, at):
    """Publish cells of other people in a part of the dataset; without a label, in the whole dataset."""
    cells = CELLS + len(ledger.releases)
    table = counted(cells) if label is None else counted(cells, part=("p", label))
    ledger.publish(name, table, choose_plan(), epsilon=at, dataset="d")
    return table


def test_the_largest_part_is_found_where_sums_are_irrational(ledger):
    """log 2 + log 2 against 1.38 and 1.39; equal sums that are written differently count once."""
    charged(ledger, "x", "x", level(alpha="1/2"))
    charged(ledger, "more of x", "x", level(alpha="1/2"))
    beside = charged(ledger, "y", "y", "1.38")
    assert ledger.spent(dataset="d") == level(alpha="1/4")
    ledger.relax("y", beside, epsilon="1.39")
    assert ledger.spent(dataset="d") == level("1.39")
    charged(ledger, "z", "z", level(alpha="1/4"))
    assert ledger.spent(dataset="d") == level("1.39")


def test_a_release_that_is_relaxed_costs_as_if_it_had_been_published_so(ledger):
    """Releases of everybody and of parts, with levels written by epsilon or alpha, relaxed in any order."""
    steps = [("a", None, "1/2", level(1)), ("b", None, level(alpha="3/4"), level(alpha="1/2"))]
    steps += [("c", "x", "1/10", level("1/5")), ("d", "y", "1/5", level("2/5"))]
    tables = {name: charged(ledger, name, label, lower) for name, label, lower, _ in steps}
    for name, _, _, higher in reversed(steps):
        ledger.relax(name, tables[name], epsilon=higher)
    by_alpha, by_epsilon = level(alpha="1/2"), level("7/5")
    assert ledger.spent(dataset="d").epsilon_float == pytest.approx(by_alpha.epsilon_float + by_epsilon.epsilon_float)
    ledger.budget("d", limit="2.0931")
    with pytest.raises(BudgetExceeded):
        charged(ledger, "e", None, "1/10000")
