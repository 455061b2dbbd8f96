"""Frames of engines: counted where they are, by the same choice as on one machine; mapped lazily, twice alike."""

import numpy as np
import polars as pl
import pytest

import utmost as ut
from counting_words import counted_with
from utmost.errors import Unsupported
from utmost.workloads import Domain, bins, plain

duckdb = pytest.importorskip("duckdb")

KEY = bytes(range(32))
DOMAIN = Domain(age=bins(0, 40, width=10), page=plain([f"p{i}" for i in range(5)], other="elsewhere"))


def random_events(seed=9, persons=40, events=2000, integers=False):
    rng = np.random.default_rng(seed)
    users = rng.integers(-5, persons, events)
    return {
        "user": users.tolist() if integers else [f"u{user}" for user in users],
        "page": [None if page == 8 else f"p{page}" for page in rng.integers(0, 9, events)],
        "age": rng.integers(-5, 50, events).tolist(),
        "amount": rng.integers(-4, 9, events).tolist(),
        "side": [f"s{i}" for i in rng.integers(0, 3, events)],
    }


def test_sums_beyond_int64_stay_exact(lazily):
    """Each person adds 2^62, and the cell holds more than any int64."""
    events = {"user": [f"u{i}" for i in range(9)], "page": ["p1"] * 9, "amount": [1 << 62] * 9, "age": [5] * 9}
    say = {"person": "user", "domain": DOMAIN, "at_most": 1, "per_cell": 1 << 62, "values": "amount", "key": KEY}
    found = counted_with(lazily(events), **say).cells
    assert found.sum() == 9 << 62
    assert found.tolist() == counted_with(events, **say).cells.tolist()


def test_texts_that_a_collation_calls_equal_are_two_persons():
    """Were "a" and "A" one group to the engine and two to the choice, one person could have twice the cells."""
    con = duckdb.connect()
    con.execute("CREATE TABLE t (user VARCHAR COLLATE NOCASE, page VARCHAR)")
    con.execute("INSERT INTO t SELECT chr(CASE WHEN i % 2 = 0 THEN 65 ELSE 97 END), 'p' || i FROM range(6) r(i)")
    domain = Domain(page=[f"p{i}" for i in range(6)])
    say = {"person": "user", "domain": domain, "at_most": 1, "key": KEY}
    events = con.table("t").to_arrow_table()
    assert counted_with(con.table("t"), **say).cells.tolist() == counted_with(events, **say).cells.tolist()
    assert counted_with(events, **say).cells.sum() == 2


PROMISE = ut.Promise("n", public="user", id_column="user", unit=ut.Unit(1, 1))


def test_a_released_relation_joins_those_of_its_connection_and_is_released_again():
    con = duckdb.connect()
    con.execute("CREATE TABLE events AS SELECT 'u' || i AS user, i AS n FROM range(5) r(i)")
    made = ut.release(con.table("events"), PROMISE, epsilon=90, once=True).table
    assert con.sql("SELECT sum(made.n * events.n) FROM made JOIN events USING (user)").fetchall() == [(30,)]
    again = ut.release(made.project("user, n * 2 AS n"), PROMISE, epsilon=90, once=True).table
    assert again.aggregate("sum(n)").fetchall() == [(20,)]


def test_a_relation_over_a_temporary_table_is_refused():
    con = duckdb.connect()
    con.execute("CREATE TEMP TABLE events AS SELECT 'u' AS user, 1 AS n")
    with pytest.raises(Unsupported, match="temporary"):
        ut.release(con.table("events"), PROMISE, epsilon=1, once=True)


def test_narwhals_frames_are_seen_through():
    narwhals = pytest.importorskip("narwhals")
    frame = narwhals.from_native(pl.LazyFrame(random_events()))
    say = {"person": "user", "domain": DOMAIN, "at_most": 2, "key": KEY}
    assert counted_with(frame, **say).cells.tolist() == counted_with(random_events(), **say).cells.tolist()
