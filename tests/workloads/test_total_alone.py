"""A domain without axes has one cell, the total: counted, planned, released, relaxed, checked and read like others."""

import json

import pytest

import utmost as ut
from counting_words import counted_with
from utmost.ledger import Ledger
from utmost.privacy import Unit
from utmost.workloads import Domain, Workload, choose_plan

EVENTS = {"user": ["a", "b", "a", "c"], "n": [1, 2, 3, 4]}
TOTAL = Domain()
KEY = bytes(range(32))


def counted(events=EVENTS, **options):
    return counted_with(events, person="user", domain=TOTAL, at_most=1, **options)


def test_there_is_one_marginal():
    assert (TOTAL.shape, TOTAL.size, list(TOTAL.marginals()), TOTAL.facts()) == ((), 1, [()], {})
    assert Domain.of_facts(json.loads(json.dumps(TOTAL.facts()))).same_as(TOTAL)
    assert not TOTAL.same_as(Domain(a=["x"]))
    assert TOTAL.marginal("") == ()


def test_every_reader_counts_persons_and_sums(tmp_path):
    polars, duckdb, arrow = map(pytest.importorskip, ("polars", "duckdb", "pyarrow"))
    home = duckdb.connect()
    home.register("events", arrow.table(EVENTS))
    for events in (EVENTS, polars.DataFrame(EVENTS), polars.DataFrame(EVENTS).lazy(), home.sql("select * from events")):
        assert int(counted(events).cells) == 3
        assert int(counted(events, per_cell=5).cells) == 4
        assert int(counted(events, values="n", per_cell=3).cells) == 3 + 2 + 3
        assert (
            int(ut.count_table(events, TOTAL, ut.Counting(each_row=True), measure=ut.sum("n", per_cell=3)).cells) == 9
        )
        assert int(ut.count_table(events, TOTAL, ut.Counting(each_row=True)).cells) == len(EVENTS["user"])
    assert counted().unit == Unit(1, 1)
    parts = ut.count_table(EVENTS, Domain(n=[1, 2, 3, 4]), ut.Counting("user", at_most=1), by="n", part="n")
    assert sum(int(part.cells.sum()) for part in parts.values()) == 3


def test_it_is_released_and_relaxed_like_others(tmp_path):
    plan = choose_plan(Workload(TOTAL, {"": 1}), Unit(1, 1), epsilon=1)
    assert dict(plan.shares) == {(): 1}
    assert plan.bound_ratios()[0][1] == 1, "the least error of any mechanism"
    table = counted()
    assert list(ut.release(table, ut.Promise.of_counted(table), epsilon=1, once=True).table) == [
        "count",
        "count_margin",
    ]
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        release = ledger.publish("r", table, ut.Promise(noise=plan), epsilon=50).table
        higher = ledger.relax("r", table, epsilon=60).table
        assert ledger.view("r", epsilon=50).table[""]["count"].tolist() == release[""]["count"].tolist()
        assert higher[""]["count"].tolist() == [3]
        assert ledger.verify()
    answer = release.total({})
    assert (float(answer.value), answer.margin) == (3.0, 0)
    assert [column.tolist() for column in release.clean()[""].values()] == [[3]]
    assert "total" in str(plan)
    saved = release.save(tmp_path / "r.json")
    assert saved["kind"] == "utmost statement"
