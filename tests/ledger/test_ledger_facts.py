"""A ledger adds one record to every statement, whatever was released: name, version, levels, and their cost."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

import utmost as ut
from utmost.counting import CountedTable
from utmost.errors import BadTable
from utmost.ledger import Ledger
from utmost.promises import Promise
from utmost.releases import DetailRule, NoisySums, release_detailed, release_shared
from utmost.statements import read_release, stated_release
from utmost.workloads import Domain, Plan, Workload, bins, choose_plan, share_level

KEY = bytes(range(32))
ONE = ut.Unit(1, 1)
FACTS = {"name", "data_version", "levels", "together"}
TWO = Domain(x=bins(4), kind=["a", "b"])
PAIRED = ut.Unit(1, 2, nonnegative=True)
NOISES = {
    "cells": (Promise("n", unit=ONE), {"n": [1, 2, 3, 4]}),
    "items": (
        Promise("n", public="w", id_column="w", keyed_by_id=True, unit=ONE),
        {"w": list("abcd"), "n": [1, 2, 3, 4]},
    ),
    "points": (Promise(["x", "y"], noise=ut.PointNoise(1)), {"x": [1, 2], "y": [3, 4]}),
    "sums": (Promise(noise=Plan(TWO, ONE, {"x": 1})), CountedTable(TWO, np.arange(8).reshape(4, 2), ONE)),
    "sums together": (
        Promise(noise=Plan(TWO, PAIRED, {"x": 1, "x kind": 1}, together="kind")),
        CountedTable(TWO, np.arange(8).reshape(4, 2), PAIRED, together="kind"),
    ),
}


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as opened:
        yield opened


@pytest.mark.parametrize("noise", NOISES)
def test_every_statement_of_a_ledger_says_of_which_release_it_is(ledger, tmp_path, noise):
    """The record is stated, saved, read again and checked; a record that does not fit is refused."""
    promise, table = NOISES[noise]
    ledger.publish("r", table, promise, epsilon="1/2")
    ledger.relax("r", table, epsilon=1)
    ending = "json" if "sums" in noise else "csv"
    saved = ledger.view("r", epsilon=1).save(tmp_path / f"r.{ending}")
    said = json.loads(json.dumps(ledger.view("r", epsilon=1).statement))
    for one in (saved, said):
        assert {name: one[name] for name in FACTS - {"together"}} == {
            "name": "r", "data_version": 1, "levels": ["1/2", "1"],
        }  # fmt: skip
        assert one["together"]["epsilon"] == "1"
    said = json.loads(json.dumps(saved))  # of sums the whole document, which alone can be checked
    assert stated_release(said).own_level == ut.level(1)
    assert {fact.label: fact.value for fact in stated_release(said).first}["answered at"] == "epsilon = 0.5, 1"
    for wrong in ({"name": ""}, {"data_version": 0}, {"levels": ["1/2"]}, {"levels": ["1", "1"]},
                  {"levels": ["1", "1/2"]}, {"together": {"epsilon": "1/2"}}, {"levels": "1"},
                  {"together": "1"}):  # fmt: skip
        with pytest.raises(BadTable):
            stated_release(said | wrong)
    for name in FACTS - {"name"}:
        with pytest.raises(BadTable):
            stated_release({field: fact for field, fact in said.items() if field != name})


def test_a_document_of_sums_keeps_what_its_ledger_adds(ledger, tmp_path):
    promise, table = NOISES["sums"]
    made = ledger.publish("r", table, promise, epsilon=1).table
    facts = made.ledger_facts
    assert (facts.name, facts.data_version, facts.levels) == ("r", 1, (ut.level(1),))
    for again in (
        ledger.view("r", epsilon=1).table,
        ledger.relax("r", table, epsilon=1).table,
        pickle.loads(pickle.dumps(made)),
    ):
        assert again.ledger_facts == facts
    ledger.view("r", epsilon=1).save(tmp_path / "r.json")
    ledger.view("r", epsilon=1).save(tmp_path / "x.csv", marginal="x")
    assert (
        ut.read_release(tmp_path / "r.json").ledger_facts == ut.read_release(tmp_path / "x.csv").ledger_facts == facts
    )
    assert read_release(tmp_path / "r.json").total() == made.total()
    once = ut.release(table, promise.noise.plan, epsilon=1, once=True).table
    assert FACTS.isdisjoint(once.statement)


def test_two_stages_in_a_ledger_say_both_releases(ledger):
    """Each stage keeps its level: the choice of groups is that of the first answer, whatever comes later."""
    domain = Domain(county=["A", "B"], sex=["men", "women"])
    counted = CountedTable(domain, np.array([[900, 800], [3, 0]]), ONE)
    rule = DetailRule("county", {"sex": 100})
    first = ledger.publish("first", counted, Promise(noise=Plan(domain, ONE, {"county": 1})), epsilon=1)
    chosen = rule.chosen(first.table)
    fine = rule.counted(counted, first.table)
    plan = Promise(noise=Plan(fine.domain, fine.unit, {fine.domain.finest: 1}))
    second = ledger.publish("second", fine, plan, epsilon=1, dataset="first")
    told = second.statement, plain(second.table)
    ledger.relax("first", counted, epsilon=9)
    ledger.relax("second", fine, epsilon=9)
    assert rule.chosen(first.table) == chosen
    assert (second.statement, plain(second.table)) == told
    assert (first.statement["name"], second.statement["name"]) == ("first", "second")
    assert ledger.spent(dataset="first") == ut.level(18)


def plain(release):
    return {name: sums.tolist() for name, sums in release.measured.items()}


def test_a_second_stage_says_nothing_of_a_public_total():
    """People in groups without a breakdown are not in its rows, so its unit has no exactly=True."""
    domain = Domain(county=["A", "B"], sex=["men", "women"])
    everybody = ut.Unit(1, 1, "change-one", nonnegative=True, exactly=True)
    counted = CountedTable(domain, np.array([[900, 800], [3, 0]]), everybody)
    release = release_detailed(counted, "county", {"sex": 300}, epsilon=4)
    document = json.loads(json.dumps(release.facts()))
    assert "the total is public" in document["first"]["guarantee"]
    assert "the total is public" not in document["fine"]["guarantee"]
    assert not release.fine.unit.exactly
    assert release.fine.unit == replace(everybody, exactly=False)
    stated_release(document)


def test_the_digest_of_selected_keys_covers_their_noisy_counts():
    promise = ut.Promise(noise=ut.promises.key_noise(delta="1e-9"))
    found = ut.release({"key": ["flu", "measles"], "count": [800, 650]}, promise, epsilon=1)
    said, (first, second) = json.loads(json.dumps(found.statement)), found.table["count"]
    ut.statements.check_statement(said, found.table)
    for wrong in ({"count": [first + 1, second]}, {"key": ["flu", "mumps"]}):
        with pytest.raises(BadTable):
            ut.statements.check_statement(said, found.table | wrong)


def test_measures_keep_their_names_in_files(tmp_path):
    """Two counts have a column of the same name; their files name the measure."""
    events = {"user": ["ann", "bob", "bob"], "shop": ["A", "A", "B"], "paid": [3, 7, 9]}
    measures = {"visits": ut.count(2), "days": ut.count(1)}
    tables = ut.count_measures(events, {"shop": ["A", "B"]}, ut.Counting("user", at_most=2), measures)
    for name, table in tables.items():
        assert table.save(tmp_path / f"{name}.json")["measure"] == name
        assert table.save(tmp_path / f"{name}.csv")["measure"] == name
        assert pickle.loads(pickle.dumps(table)).measure == name
    plans = {name: choose_plan(Workload(table.domain, {"shop": 1}), table.unit, epsilon=1)
             for name, table in tables.items()}  # fmt: skip
    for name, release in release_shared(tables, share_level(plans, epsilon=1)).items():
        release.save(tmp_path / f"released-{name}.json")
        again = ut.read_release(tmp_path / f"released-{name}.json")
        assert isinstance(again.table, NoisySums)
        assert again.table.measure == name
        facts = {fact.label: fact.value for fact in stated_release(again.table.facts()).first}
        assert facts["released"].startswith(f"{name}: ")
    alone = ut.count_table(events, {"shop": ["A", "B"]}, ut.Counting("user", at_most=2), measure=ut.count(2))
    assert alone.measure is None


def test_the_cost_of_several_versions_is_never_too_small(ledger):
    """For the curator, and for a recipient who sees no larger level: versions add up, each at its largest visible
    level."""
    promise = Promise("n", public="g", unit=ONE)
    ledger.publish("w", {"g": ["a", "b"], "n": [100, 50]}, promise, epsilon="1/4")
    ledger.publish("w", {"g": ["a", "b"], "n": [100, 51]}, promise, epsilon="1/2", version=2)
    ledger.relax("w", {"g": ["a", "b"], "n": [100, 50]}, epsilon=2, version=1)
    whole = ledger.view("w", epsilon="1/2", version=1)
    assert whole.ledger_facts.together == ut.level("5/2")
    assert whole.ledger_facts.seen_at(whole.level).together == ut.level(1)
    assert whole.ledger_facts.seen_at(whole.level).levels == (ut.level("1/4"), ut.level("1/2"))
    second = ledger.view("w", epsilon="1/2", version=2)
    assert second.ledger_facts.together == second.ledger_facts.seen_at(second.level).together == ut.level("3/4")
    said = " ".join(stated_release(second.statement).composition.split())
    assert "cost the largest of their levels, epsilon = 0.5, and not the sum" in said
    assert "With the other versions of the data the cost is epsilon = 0.75 in total." in said
