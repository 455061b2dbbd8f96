"""One table of events through every door: each reader and engine, axis, measure and way to count, to the byte."""

import gzip
import json
from datetime import date
from decimal import Decimal

import numpy as np
import pytest

import utmost as ut
from counting_words import contributions_with, counted_with
from utmost.workloads import bins, edges, hierarchy, periods

KEY = bytes(range(32))
ROWS = 120
EVENTS = {
    "user": [f"person {(row * row) % 17}" for row in range(ROWS)],
    "kind": [None if row % 13 == 5 else "ABCé"[row % 4] for row in range(ROWS)],
    "member": [row % 3 == 0 for row in range(ROWS)],
    "age": [None if row % 11 == 7 else (row * 7) % 90 for row in range(ROWS)],
    "day": [None if row % 17 == 9 else date(2023 + row % 2, 1 + row % 12, 1 + row % 28) for row in range(ROWS)],
    "paid": [Decimal((row * 37) % 101 - 20) / 4 for row in range(ROWS)],
    "item": [f"i{row % 6}" for row in range(ROWS)],
}
AXES = {
    "labels": {"kind": ut.workloads.plain(["A", "B"], other="else", missing="none")},
    "nested": {"kind": hierarchy({"N": ["A", "B"], "S": ["C"]}, names=["part", "kind"])},
    "truth": {"member": [False, True]},
    "open ends": {"age": edges([0, 15, 65, None], missing="not stated")},
    "of one width": {"age": bins(10, 70, width=20, below="under 10", above="70 or more")},
    **{
        f"by {every}": {"day": periods("2023", "2025", every=every, missing="no date")}
        for every in ("month", "quarter", "year")
    },
    "by day": {"day": periods("2023-06-01", "2024-02-01", every="day", other="other days")},
    "by week": {"day": periods("2022-12-26", "2025-01-06", every="week")},
    "listed": {
        "key": ut.workloads.listed([("A", "i0"), ("B", "i1"), ("B", "i5"), ("C", "i2")], names=["kind", "item"])
    },
    "crossed": {"member": [False, True], "day": periods("2023", "2025", every="year"), "age": edges([0, 30, None])},
}
MEASURES = {
    "persons": ut.count(),
    "events": ut.count(3),
    "in all": ut.count(in_total=4),
    "paid": ut.sum("paid", step="0.5", each=(-2, 10), per_cell=(-3, 20)),
    "both": ut.sum("paid", step="0.25", each=(0, 10), most_events=2, in_total=3),
    "bought": ut.distinct("age", of=bins(0, 90, width=30), at_most=2),
}


def written(events, domain):
    """Every table of a counting, as its file has it, and its report."""
    measures = {name: of for name, of in MEASURES.items() if name != "bought" or "age" not in domain.columns}
    tables = ut.count_measures(events, domain, ut.Counting("user", at_most=3, key=KEY), measures)
    return {name: shown(table) for name, table in tables.items()}


def shown(table):
    facts = {name: fact for name, fact in table.facts().items() if name != "part"}  # its identifier is random
    return json.dumps(facts, sort_keys=True), str(table.report)


@pytest.fixture(scope="module")
def doors(tmp_path_factory):
    """The same events in every form that is read."""
    pa, pandas, polars = (pytest.importorskip(name) for name in ("pyarrow", "pandas", "polars"))
    duckdb, parquet, csv, feather = (
        pytest.importorskip(name) for name in ("duckdb", "pyarrow.parquet", "pyarrow.csv", "pyarrow.feather")
    )
    folder, arrow = tmp_path_factory.mktemp("doors"), pa.table(EVENTS)
    parquet.write_table(arrow, folder / "events.parquet", row_group_size=31)
    csv.write_csv(arrow, folder / "events.csv", csv.WriteOptions(quoting_style="needed"))
    feather.write_feather(arrow, folder / "events.feather")
    (folder / "events.csv.gz").write_bytes(gzip.compress((folder / "events.csv").read_bytes()))
    rows = [dict(zip(EVENTS, row, strict=True)) for row in zip(*EVENTS.values(), strict=True)]
    lines = (json.dumps(row, default=lambda cell: str(cell) if isinstance(cell, date) else float(cell)) for row in rows)
    (folder / "events.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "parts").mkdir()
    for at in range(3):
        parquet.write_table(arrow.slice(at * 40, 40), folder / "parts" / f"{at}.parquet")
    con = duckdb.connect()
    con.register("events", arrow)
    yield {
        "Arrow": arrow,
        "pandas": pandas.DataFrame(EVENTS),
        "pandas of Arrow": arrow.to_pandas(types_mapper=pandas.ArrowDtype),
        "Arrow in pieces": pa.concat_tables([arrow.slice(0, 9), arrow.slice(9)]),
        "Arrow, categories": arrow.set_column(1, "kind", arrow["kind"].dictionary_encode()),
        "pandas, categories": pandas.DataFrame(EVENTS).astype({"kind": "category", "user": "category"}),
        "pandas, index": pandas.DataFrame(EVENTS, index=[f"row {row}" for row in range(ROWS)]),
        "Polars": polars.DataFrame(arrow),
        "Polars, categories": polars.DataFrame(arrow).with_columns(polars.col("user", "kind").cast(polars.Categorical)),
        "Polars, lazy": polars.DataFrame(arrow).lazy(),
        "DuckDB": con.sql("SELECT * FROM events"),
        "rows": rows,
        "rows without what is missing": [
            {name: cell for name, cell in row.items() if cell is not None} for row in rows
        ],
        "fields of NumPy": np.array([*map(tuple, map(dict.values, rows))], dtype=[(name, object) for name in EVENTS]),
        "columns of NumPy": {name: np.array(cells, dtype=object) for name, cells in EVENTS.items()},
        "backwards": {name: cells[::-1] for name, cells in EVENTS.items()},
        **{path.name: path for path in sorted(folder.iterdir())},
    }
    con.close()


READ_ALIKE = {"of one width", "by quarter", "by year", "by day", "by week"}
"""Axes of cells that another axis reads alike: they are asked for at a door in memory and at one of an engine."""


@pytest.mark.parametrize("kind", AXES)
def test_every_door_gives_the_same_files(kind, doors):
    domain = ut.Domain(AXES[kind])
    expected = written(EVENTS, domain)
    assert sum(sum(json.loads(text)["cells"]) != 0 for text, _ in expected.values()) >= 5
    for door in ("pandas", "DuckDB") if kind in READ_ALIKE else doors:
        assert written(doors[door], domain) == expected, door


FEW = {"member": [False, True], "kind": ut.workloads.plain(["A", "B"], other="else")}
PERSONS = {"person": "user", "domain": FEW, "at_most": 2, "key": KEY}
WAYS = {
    "parts": lambda events: counted_with(events, part={"item": ["i0", "i1", "i4"]}, **PERSONS),
    "measures in parts": lambda events: counted_with(
        events, part={"item": ["i1", "i2"]}, measures={"n": ut.count(2), "paid": MEASURES["both"]}, **PERSONS
    ),
    "rows kept whole": lambda events: counted_with(events, together="member", **PERSONS),
    "fewer axes": lambda events: counted_with(events, by="kind", **PERSONS),
    "records replaced": lambda events: counted_with(events, neighbours="change-one", per_cell=(-1, 2), **PERSONS),
    "rows": lambda events: ut.count_measures(
        events, FEW, ut.Counting(each_row=True), {"n": ut.count(), "paid": MEASURES["paid"], "items": KINDS_OF_ITEMS}
    ),
    "cells of a person": lambda events: contributions_with(events, FEW, person="user", at_most=[1, 2, 3]),
    "events of a person": lambda events: contributions_with(events, FEW, person="user", in_total=[1, 4, 9]),
    "sums of a person": lambda events: contributions_with(
        events, FEW, person="user", values="paid", step="0.5", each=(-2, 10), per_cell=[5, 20, 80]
    ),
    "keys": lambda events: ut.counting.count_keys(events, person="user", column="item", at_most=2, key=KEY),
    "shares of keys": lambda events: ut.counting.count_keys(
        events, person="user", column="item", at_most=2, shares=60, key=KEY
    ),
}
KINDS_OF_ITEMS = ut.distinct("item", of=["i0", "i3"], at_most=1)


def flat(counted):
    """Tables in tables by name, keys as they are."""
    if isinstance(counted, dict):
        return {name: flat(one) for name, one in counted.items()}
    return shown(counted) if hasattr(counted, "facts") else counted


@pytest.mark.parametrize("way", WAYS)
def test_every_door_counts_alike_in_every_way(way, doors):
    expected = flat(WAYS[way](EVENTS))
    for door, events in doors.items():
        assert flat(WAYS[way](events)) == expected, door


@pytest.mark.parametrize("column", ["user", "kind"])
@pytest.mark.parametrize("cells", [["1", "1.0"], ["1.0", "1"], ["2", "1E+1"]])
def test_decimals_with_places_are_no_names_whichever_comes_first(column, cells):
    """1 and 1.0 are equal, and were one person in a list that began with 1; in Arrow 1.0 has two digits for all."""
    pa = pytest.importorskip("pyarrow")
    words = {"person": "user", "domain": {"kind": ["1", "2"]}, "at_most": 1, "key": KEY}
    other = {"user": ["a", "b"], "kind": ["1", "2"]}
    for table in (list, np.array, lambda numbers: pa.array(numbers, pa.decimal128(10, 1))):
        with pytest.raises(ut.errors.BadTable, match="with a point"):
            counted_with(other | {column: table(list(map(Decimal, cells)))}, **words)
    whole = counted_with(other | {column: list(map(Decimal, ["1", "2"]))}, **words)
    assert whole.cells.tolist() == [1, 1]
