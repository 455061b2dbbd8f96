"""Frames of engines: counted where they are, by the same choice as on one machine; mapped lazily, twice alike."""

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from counting_words import counted_with
from utmost import Counting
from utmost.counting import count_keys, count_table
from utmost.errors import BadTable, Unsupported
from utmost.publish.counting import person_pairs

# Readers of hostile bytes and cells, and their limits, are tried without a release behind them.
from utmost.tables.engines.engines import engine_frame, is_engine_frame
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


def on_duckdb(events):
    con = duckdb.connect()
    rows = pa.table(events)  # noqa: F841
    con.execute("CREATE TABLE events AS SELECT * FROM rows")
    return con.table("events").filter("amount > -100")


FRAMES = {"polars": pl.LazyFrame, "duckdb": on_duckdb}


@pytest.fixture(params=FRAMES)
def lazily(request):
    return FRAMES[request.param]


@pytest.mark.parametrize("values", [None, "amount"])
@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("held", [(1, 100, 1 << 24), (1 << 20, 1 << 19, 1 << 24)])
def test_an_engine_counts_as_one_machine_does(lazily, monkeypatch, values, integers, held):
    """The cells kept of a person are a function of the key and that person's rows: one table, whoever counts."""
    monkeypatch.setattr(person_pairs.PersonsInBuckets.__init__, "__defaults__", held)
    events = random_events(integers=integers)
    say = {"person": "user", "domain": DOMAIN, "at_most": 3, "per_cell": (-2, 3), "values": values, "key": KEY}
    here, there = counted_with(events, **say), counted_with(lazily(events), **say)
    assert there.cells.tolist() == here.cells.tolist()
    assert there.unit == here.unit
    assert there.cells.any()


def test_parts_that_share_nobody_are_counted_alike(lazily):
    say = {"person": "user", "domain": DOMAIN, "at_most": 2, "part": {"side": ["s0", "s2"]}, "key": KEY}
    events = random_events()
    here, there = counted_with(events, **say), counted_with(lazily(events), **say)
    assert {name: part.cells.tolist() for name, part in there.items()} == {
        name: part.cells.tolist() for name, part in here.items()
    }


def test_rows_of_two_cells_are_kept_alike(lazily):
    """With ``together=`` a person's cells are kept row by row, here and there the same ones."""
    domain = Domain(page=["p0", "p1", "p2", "p3"], side=["s0", "s1"])
    say = {"person": "user", "domain": domain, "at_most": 4, "together": "side", "key": KEY}
    here, there = counted_with(random_events(), **say), counted_with(lazily(random_events()), **say)
    assert there.cells.tolist() == here.cells.tolist()
    assert there.together == here.together == "side"


def test_keys_found_in_the_data_are_counted_alike(lazily):
    say = {"person": "user", "column": "page", "at_most": 2, "key": KEY}
    for shares in (None, 60):
        assert count_keys(lazily(random_events()), shares=shares, **say) == count_keys(
            random_events(), shares=shares, **say
        )


def test_sums_beyond_int64_stay_exact(lazily):
    """Each person adds 2^62, and the cell holds more than any int64."""
    events = {"user": [f"u{i}" for i in range(9)], "page": ["p1"] * 9, "amount": [1 << 62] * 9, "age": [5] * 9}
    say = {"person": "user", "domain": DOMAIN, "at_most": 1, "per_cell": 1 << 62, "values": "amount", "key": KEY}
    found = counted_with(lazily(events), **say).cells
    assert found.sum() == 9 << 62
    assert found.tolist() == counted_with(events, **say).cells.tolist()


def test_nobody_is_counted_in_an_empty_frame(lazily):
    events = {"user": pa.array([], pa.string()), "page": pa.array([], pa.string()), "amount": pa.array([], pa.int64())}
    say = {"person": "user", "domain": Domain(page=["a"]), "at_most": 1, "key": KEY}
    frame = lazily(pl.from_arrow(pa.table(events)).to_dict() if lazily is pl.LazyFrame else events)
    assert counted_with(frame, **say).cells.tolist() == [0]


def test_an_event_of_nobody_is_refused(lazily):
    with pytest.raises(BadTable, match="must name its person"):
        count_table(lazily(random_events() | {"user": ["a"] * 1999 + [None]}), DOMAIN, Counting("user", at_most=1))


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


def test_categories_are_ordered_by_their_text():
    events = random_events()
    frame = pl.LazyFrame(events).with_columns(pl.col("user", "page").cast(pl.Categorical))
    say = {"person": "user", "domain": DOMAIN, "at_most": 2, "key": KEY}
    assert counted_with(frame, **say).cells.tolist() == counted_with(events, **say).cells.tolist()


def doubled(batch):
    return pa.record_batch({"user": batch.column("user"), "twice": pc.multiply(batch.column("amount"), 2)})


DOUBLED = pa.schema([("user", pa.string()), ("twice", pa.int64())])


def rows_of(frame):
    return frame.collect().rows() if isinstance(frame, pl.LazyFrame) else frame.fetchall()


def test_a_map_is_lazy_and_gives_the_same_kind_and_the_same_rows_twice(lazily):
    events = random_events()
    frame, seen = lazily(events), []

    def watched(batch):
        seen.append(batch.num_rows)
        return doubled(batch)

    made = engine_frame(frame).mapped(watched, DOUBLED, {})
    assert not seen
    assert type(made) is type(frame)
    first, second = rows_of(made), rows_of(made)
    assert (
        first == second == [(user, 2 * amount) for user, amount in zip(events["user"], events["amount"], strict=True)]
    )


def test_a_mapped_relation_joins_those_of_its_connection():
    con = duckdb.connect()
    con.execute("CREATE TABLE events AS SELECT 'u' || i AS user, i AS amount FROM range(5) r(i)")
    made = engine_frame(con.table("events")).mapped(doubled, DOUBLED, {})
    both = con.sql("SELECT sum(twice * amount) FROM made JOIN events USING (user)").fetchall()
    assert both == [(60,)]
    again = engine_frame(made.project("user, twice AS amount")).mapped(doubled, DOUBLED, {})
    assert again.aggregate("sum(twice)").fetchall() == [(40,)]


def test_a_relation_over_a_temporary_table_is_refused():
    con = duckdb.connect()
    con.execute("CREATE TEMP TABLE events AS SELECT 'u' AS user, 1 AS amount")
    with pytest.raises(Unsupported, match="temporary"):
        engine_frame(con.table("events")).mapped(doubled, DOUBLED, {})


def test_narwhals_frames_are_seen_through():
    narwhals = pytest.importorskip("narwhals")
    frame = narwhals.from_native(pl.LazyFrame(random_events()))
    assert is_engine_frame(frame)
    say = {"person": "user", "domain": DOMAIN, "at_most": 2, "key": KEY}
    assert counted_with(frame, **say).cells.tolist() == counted_with(random_events(), **say).cells.tolist()


def test_a_lazy_frame_of_another_engine_is_refused_by_name():
    class LazyThing:
        pass

    with pytest.raises(Unsupported, match="LazyThing"):
        engine_frame(LazyThing())
