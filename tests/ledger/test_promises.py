"""The guarantees of a ledger: one answer to each request, nothing spent by a failed call, nothing revealed about
changed data."""

import re

import numpy as np
import pytest

import utmost as ut
from asking import asked, promised
from ledger.crash_points import transactions
from utmost import SumNoise
from utmost.counting import CountedTable
from utmost.errors import (
    AlreadyPublished,
    BudgetExceeded,
    DataChanged,
    LittleProtection,
    OutOfRange,
    PromiseBroken,
    RowsRenamed,
    WrongKind,
)
from utmost.exact import level
from utmost.ledger import Ledger
from utmost.noise import Geometric
from utmost.privacy import Amount, Unit
from utmost.testing import SeededRandomness
from utmost.workloads import Domain, Plan

TABLE = {"department": ["A", "B", "C"], "admitted": [601, 370, 322], "applied": np.array([933, 585, 918])}
PROMISE = {"columns": ["admitted"], "public": ["department"], "drop": ["applied"], "unit": ut.Unit(1, 1)}


def test_a_release_goes_through_levels_in_any_order(ledger):
    """Published, relaxed, viewed between and below: each level has one table, and the largest level is spent."""
    first = ledger.publish("admissions", TABLE, ut.Promise(**PROMISE), epsilon="1/2").table
    higher = ledger.relax("admissions", TABLE, epsilon=2).table
    between = ledger.view("admissions", epsilon=1).table
    lower = ledger.view("admissions", epsilon=ut.level(alpha="9/10")).table
    assert ledger.levels("admissions") == tuple(sorted([level("1/2"), level(2), level(1), level(alpha="9/10")]))
    assert ledger.spent("admissions") == ledger.spent(dataset="admissions") == level(2)
    assert ledger.view("admissions", epsilon="1/2").table == first
    assert ledger.relax("admissions", TABLE, epsilon=2).table["admitted"] == higher["admitted"]
    assert ledger.view("admissions", epsilon=1).table == between
    assert ledger.view("admissions", epsilon=ut.level(alpha="9/10")).table == lower
    assert ledger.verify()


def test_changed_data_are_refused_and_named(ledger):
    """The error is the same wherever the tables differ; `difference` names the place."""
    ledger.publish("admissions", TABLE, ut.Promise(**PROMISE), epsilon=1)
    changed = {**TABLE, "admitted": [601, 371, 322]}
    for call in (
        lambda: ledger.relax("admissions", changed, epsilon=2).table,
        lambda: ledger.relax("admissions", changed, epsilon=1).table,
        lambda: ledger.publish("admissions", changed, ut.Promise(**PROMISE), epsilon=1).table,
    ):
        with pytest.raises(DataChanged) as caught:
            call()
        with pytest.raises(DataChanged) as other:
            ledger.relax("admissions", {**TABLE, "admitted": [0, 0, 0]}, epsilon=2)
        assert str(caught.value) == str(other.value)
    assert ledger.difference("admissions", changed) == "column 'admitted', row 2"
    assert ledger.difference("admissions", TABLE) is None
    with pytest.raises(DataChanged, match="3 rows"):
        ledger.relax("admissions", {"admitted": [601, 370]}, epsilon=2)
    with pytest.raises(DataChanged, match="got other identifiers or values"):
        ledger.relax("admissions", {"admitted": [370, 601, 322]}, epsilon=2)
    assert ledger.spent("admissions") == level(1)


def test_a_new_version_is_asked_for_and_adds_up(ledger):
    """Changed data need a new version, which is never begun automatically."""
    ledger.publish("admissions", TABLE, ut.Promise(**PROMISE), epsilon=1)
    changed = {**TABLE, "admitted": [602, 370, 322]}
    second = ledger.publish("admissions", changed, ut.Promise(**PROMISE), epsilon="1/2", version=2).table
    assert ledger.spent("admissions") == level("3/2")
    assert (
        ledger.publish("admissions", changed, ut.Promise(**PROMISE), epsilon="1/2", version=2).table["admitted"]
        == second["admitted"]
    )
    assert ledger.view("admissions", epsilon="1/2").table["admitted"] == second["admitted"]
    assert ledger.view("admissions", epsilon=1, version=1).table is not None
    with pytest.raises(OutOfRange, match="got 4"):
        ledger.publish("admissions", changed, ut.Promise(**PROMISE), epsilon=1, version=4)
    with pytest.raises(DataChanged):
        ledger.relax("admissions", TABLE, epsilon=2)
    ledger.relax("admissions", TABLE, epsilon=2, version=1)
    assert ledger.spent("admissions") == level("5/2")


def test_a_request_made_again_begins_no_version(ledger):
    """A repeated named request gets its answer, even if newer versions exist."""
    first = ledger.publish("admissions", TABLE, ut.Promise(**PROMISE), epsilon=1, request="r1").table
    changed = {**TABLE, "admitted": [602, 370, 322]}
    ledger.publish("admissions", changed, ut.Promise(**PROMISE), epsilon=1, version=2, request="r2")
    again = ledger.publish("admissions", TABLE, ut.Promise(**PROMISE), epsilon=1, request="r1").table
    assert again["admitted"] == first["admitted"]
    with pytest.raises(AlreadyPublished, match="request"):
        ledger.publish("admissions", TABLE, ut.Promise(**PROMISE), epsilon=2, request="r1")
    with pytest.raises(AlreadyPublished, match="request"):
        ledger.publish("other", TABLE, ut.Promise(**PROMISE), epsilon=1, request="r1")


def test_a_release_keeps_its_promise_and_its_levels(ledger):
    """Publishing again with another promise, or at another level, is refused."""
    ledger.publish("admissions", TABLE, ut.Promise(**PROMISE), epsilon=1)
    for other in (
        {"cells": 2},
        {"sensitivity": 2},
        {"neighbours": "change-one"},
        {"columns": ["applied"], "drop": ["admitted"]},
        {"public": [], "drop": ["department", "applied"]},
        {"rows": "observed"},
    ):
        with pytest.raises(AlreadyPublished, match="columns, its promise, its dataset"):
            ledger.publish("admissions", TABLE, **asked(epsilon=1, **(PROMISE | other)))
    with pytest.raises(AlreadyPublished, match="columns, its promise, its dataset"):
        ledger.publish("admissions", TABLE, ut.Promise(**PROMISE), epsilon=1, dataset="elsewhere")
    with pytest.raises(AlreadyPublished, match="publish answers one level"):
        ledger.publish("admissions", TABLE, ut.Promise(**PROMISE), epsilon=2)


def test_the_parts_of_a_partition_are_two_releases(ledger):
    """Equal cells of another part of the individuals have another promise."""
    domain, unit = Domain(shop=["A", "B"]), Unit(1, 1)
    women, men = (CountedTable(domain, np.array([3, 4]), unit, part=("sex", part)) for part in ("women", "men"))
    ledger.publish("visits", women, ut.Promise.of_counted(women), epsilon=1)
    with pytest.raises(AlreadyPublished, match="columns, its promise, its dataset"):
        ledger.publish("visits", men, ut.Promise.of_counted(men), epsilon=1)


def test_the_bars_of_sums_are_in_the_amounts_own_unit():
    """Sums are in cents; an approver reads euros, beside the names of the marginals."""
    euros = Unit(500, 1, amount=Amount("spent", "0.01"))
    noise = SumNoise(Plan(Domain(shop=["A", "B"]), euros, {"shop": "1/4", "": "3/4"}))
    cents = [int(Geometric(lattice.of(level(1))).margin("0.95")) for _, lattice in noise.runs]
    assert noise.named_bars(level(1), "0.95", 9) == (("shop", cents[0] / 100), ("total", cents[1] / 100))


def test_budgets_hold_before_anything_is_drawn(ledger):
    """The budget limits the sum of the largest levels of the releases; a refused call writes nothing."""
    ledger.budget("students", limit=2)
    ledger.publish("one", TABLE, ut.Promise(**PROMISE), epsilon=1, dataset="students")
    ledger.publish("two", TABLE, ut.Promise(**PROMISE), epsilon="1/2", dataset="students")
    before = len(ledger.history())
    with pytest.raises(BudgetExceeded, match="1/2"):
        ledger.publish("three", TABLE, ut.Promise(**PROMISE), epsilon="3/4", dataset="students")
    with pytest.raises(BudgetExceeded):
        ledger.relax("two", TABLE, epsilon="1.01")
    with pytest.raises(BudgetExceeded):
        ledger.rehearse("two", epsilon="1.01")
    assert len(ledger.history()) == before
    assert ledger.rehearse("two", epsilon=1).remaining == 0
    with pytest.raises(WrongKind, match="two names"):
        ledger.rehearse("four", epsilon="1/2", dataset="students", part="north")
    ledger.relax("two", TABLE, epsilon=1)
    assert ledger.budget("students").remaining == 0
    assert ledger.spent(dataset="students") == level(2)
    ledger.view("one", epsilon="1/8")
    ledger.budget("students", limit=1)
    assert ledger.view("one", epsilon="1/4").table is not None
    assert ledger.verify()


def test_irrational_levels_add_up_exactly(ledger):
    """alpha = 1/2 twice is exactly alpha = 1/4."""
    ledger.budget("d", limit=level(alpha="1/4"))
    for name in ("one", "two"):
        ledger.publish(name, TABLE, ut.Promise(**PROMISE), epsilon=ut.level(alpha="1/2"), dataset="d")
    assert ledger.spent(dataset="d") == level(alpha="1/4")
    with pytest.raises(BudgetExceeded):
        ledger.publish("three", TABLE, ut.Promise(**PROMISE), epsilon="1/1000000", dataset="d")


def test_one_dataset_has_one_relation(ledger):
    """Levels add up for one neighbouring relation only."""
    ledger.publish("one", TABLE, ut.Promise(**PROMISE), epsilon=1, dataset="d")
    with pytest.raises(OutOfRange, match="neighbours"):
        ledger.publish("two", TABLE, promised(neighbours="change-one", **PROMISE), epsilon=1, dataset="d")


def test_a_seeded_source_is_refused(tmp_path):
    with pytest.raises(PromiseBroken):
        Ledger.open(tmp_path / "releases.db", create=True, randomness=SeededRandomness(1))


@pytest.fixture
def counted(monkeypatch):
    """The store's transactions, as ["read", "write", ...]."""
    return transactions(monkeypatch)


def test_each_call_is_one_transaction(tmp_path, counted):
    """A new answer takes one transaction under the lock; a repeated answer takes one without the lock."""
    table = {"n": [3, 5, 8]}
    with Ledger.open(tmp_path / "releases.db", create=True) as ledger:
        for call, expected in (
            (
                lambda: ledger.publish("a", table, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon="1/4"),
                "write",
            ),
            (
                lambda: ledger.publish("a", table, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon="1/4"),
                "read",
            ),
            (lambda: ledger.relax("a", table, epsilon=1).table, "write"),
            (lambda: ledger.relax("a", table, epsilon=1).table, "read"),
            (lambda: ledger.view("a", epsilon="1/2").table, "write"),
            (lambda: ledger.view("a", epsilon="1/2").table, "read"),
            (lambda: ledger.budget("a", 2), "write"),
        ):
            counted.clear()
            call()
            assert counted == [expected]


def test_a_version_that_another_process_published_is_the_newest_at_once(tmp_path):
    """Facts of a release are not read again, and still a call never answers for an older version."""
    promise = {"sensitivity": 1, "cells": 1, "epsilon": "1/4"}
    old, new = {"n": [3, 5, 8]}, {"m": [1, 2, 3, 4]}
    place = tmp_path / "releases.db"
    with Ledger.open(place, create=True) as one, Ledger.open(place) as other:
        one.publish("a", old, **asked(columns="n", **promise))
        other.publish("a", new, **asked(columns="m", version=2, **promise))
        assert len(one.relax("a", new, epsilon="1/2").table["m"]) == 4
    with Ledger.open(place) as one, Ledger.open(place) as other:
        other.publish("a", new, **asked(columns="m", version=3, **promise))
        assert len(one.relax("a", new, epsilon="1/2").table["m"]) == 4, "columns as before, and another release"
        assert [event.facts["version"] for event in one.history("a") if event.kind == "answered"] == [2, 3]
        assert list(one.view("a", epsilon="1/8").table) == ["m", "m_margin"]
        with pytest.raises(DataChanged):
            one.relax("a", old | {"m": [9, 9, 9]}, epsilon=1)
        assert other.spent("a") == level("5/4")


def test_a_warning_names_the_line_that_called(ledger):
    """However many functions of the library are in between."""
    table = {"d": ["a", "b"], "n": [3, 5]}
    with pytest.warns(LittleProtection) as published:
        ledger.publish("w", table, ut.Promise(columns="n", public="d", unit=ut.Unit(1, 1)), epsilon=20)
    with pytest.warns((LittleProtection, RowsRenamed)) as relaxed:
        ledger.relax("w", table | {"d": ["b", "a"]}, epsilon=30)
    assert {warning.category for warning in relaxed} == {LittleProtection, RowsRenamed}
    assert {warning.filename for warning in [*published, *relaxed]} == {__file__}


def test_nothing_is_drawn_at_a_level_that_has_no_error_bar(ledger):
    """Below 1e-50 for one step of the noise there is no margin: no response is drawn, since its statement could not be
    made and its noise would take hours. The largest sensitivity counts together with the level."""
    ledger.publish("admissions", TABLE, ut.Promise(**PROMISE), epsilon="1/2")
    for at in ("1e-51", "1e-3999"):
        with pytest.raises(OutOfRange, match="1e-50"):
            ledger.view("admissions", epsilon=at)
        with pytest.raises(OutOfRange, match="1e-50"):
            ledger.relax("admissions", TABLE, epsilon=at)
        with pytest.raises(OutOfRange, match="1e-50"):  # a rehearsal refuses what the call itself refuses
            ledger.rehearse("admissions", epsilon=at, table=TABLE)
    wide = PROMISE | {"unit": ut.Unit(10**20, 1)}
    with pytest.raises(OutOfRange, match="1e-50"):
        ledger.publish("wide", TABLE, ut.Promise(**wide), epsilon="1e-40", dataset="admissions")
    with pytest.raises(OutOfRange, match="1e-50"):
        ledger.rehearse("wide", epsilon="1e-40", table=TABLE, promise=ut.Promise(**wide), dataset="admissions")
    assert ledger.levels("admissions") == (level("1/2"),)
    assert [one.name for one in ledger.releases] == ["admissions"]
    assert ledger.view("admissions", epsilon="1e-49").table.keys() == {"department", "admitted", "admitted_margin"}


def test_the_remedy_of_a_recount_names_the_counting_key(ledger):
    """The key in the message, used in both counts, keeps the same cells, and the second call spends nothing."""
    events = {"who": [i for i in range(60) for _ in "ABC"], "page": ["A", "B", "C"] * 60}

    def counted(key=None):
        return ut.count_table(events, {"page": ["A", "B", "C"]}, ut.Counting("who", at_most=1, key=key))

    first = counted()
    ledger.publish("pages", first, ut.Promise.of_counted(first), epsilon=1)
    second = next(table for table in iter(counted, None) if list(table.cells) != list(first.cells))
    with pytest.raises(DataChanged) as caught:
        ledger.publish("pages", second, ut.Promise.of_counted(second), epsilon=1)
    key = eval(re.search(r"ledger\.counting_key\(\)", str(caught.value))[0], {"ledger": ledger})
    for _ in range(2):
        again = counted(key)
        answer = ledger.publish("keyed", again, ut.Promise.of_counted(again), epsilon=1, independent=True)
    assert answer.level == level(1)
    assert len(ledger.levels("keyed")) == 1
    ledger.publish("rows", TABLE, ut.Promise(**PROMISE), epsilon=1, independent=True)
    with pytest.raises(DataChanged) as caught:
        ledger.publish("rows", {**TABLE, "admitted": [0, 0, 0]}, ut.Promise(**PROMISE), epsilon=1, independent=True)
    assert "counting_key" not in str(caught.value)
