"""Where features of counting meet: measures, dates, listed keys, weights, bounds in all, rows, parts, engines."""

import json
import random
from datetime import date

import numpy as np
import pytest

import utmost as ut
from counting_words import counted_with
from utmost.workloads import edges, listed, periods

KEY = bytes(range(32))
KEYS = [("N", "a"), ("N", "b"), ("S", "c")]
AXES = {
    "place": listed(KEYS, names=["region", "place"]),
    "day": periods("2024", "2025", every="quarter", missing="no date"),
    "age": edges([0, 18, None], missing="not stated"),
}
DOMAIN = ut.Domain(AXES)
MEASURES = {
    "visits": ut.count(2),
    "few": ut.count(in_all=2),
    "weight": ut.sum("weight", per_cell=5, in_all=7),
    "paid": ut.sum("paid", step="0.5", each=(-1, 4), per_cell=(-2, 6)),
    "both": ut.sum("paid", step="0.5", each=(0, 4), most_events=2, in_all=3),
    "kinds": ut.distinct("kind", of=["x", "y", "z"], at_most=2),
}


def events_of(draw, rows, people=3):
    days = [None, date(2025, 1, 1), *(date(2024, month, 15) for month in range(1, 13))]
    return {
        "user": [f"p{draw.randrange(people)}" for _ in range(rows)],
        "region": [draw.choice("NS") for _ in range(rows)],
        "place": [draw.choice("abcd") for _ in range(rows)],
        "day": [draw.choice(days) for _ in range(rows)],
        "age": [draw.choice([None, 3, 17, 18, 90]) for _ in range(rows)],
        "weight": [draw.randrange(9) for _ in range(rows)],
        "paid": [draw.randrange(-6, 20) / 4 for _ in range(rows)],
        "kind": [draw.choice("xyzw") for _ in range(rows)],
    }


def without(events, person):
    others = [at for at, user in enumerate(events["user"]) if user != person]
    return {name: [cells[at] for at in others] for name, cells in events.items()}


@pytest.mark.filterwarnings("ignore::utmost.errors.NothingCounted")
def test_no_person_changes_more_than_the_unit_of_any_measure():
    """All neighbours of small tables of every feature at once: each bound holds, and most are reached."""
    draw, largest = random.Random(24), {name: [0, 0, 0] for name in MEASURES}
    for turn in range(40):
        events, key = events_of(draw, 14), bytes([turn]) * 32
        words = {"person": "user", "domain": DOMAIN, "at_most": 3, "measures": MEASURES, "key": key}
        whole = counted_with(events, **words)
        for person in ("p0", "p1", "p2"):
            less = counted_with(without(events, person), **words)
            for name, table in whole.items():
                change = np.abs(np.asarray(table.cells - less[name].cells, dtype=object)).ravel()
                unit, seen = table.unit, (max(change), sum(value != 0 for value in change), sum(change))
                most = unit.sensitivity, unit.cells * (2 if unit.is_shared else 1), unit.reach
                assert all(one <= bound for one, bound in zip(seen, most, strict=True)), (name, seen, unit)
                largest[name] = [max(pair) for pair in zip(largest[name], seen, strict=True)]
    assert all(largest[name][2] == whole[name].unit.reach for name in ("few", "weight", "both"))
    assert all(largest[name][0] == whole[name].unit.sensitivity for name in ("visits", "weight", "paid"))


def test_every_engine_gives_the_same_bytes_and_every_row_has_an_report():
    pa, pandas, polars, duckdb = (pytest.importorskip(name) for name in ("pyarrow", "pandas", "polars", "duckdb"))
    events = events_of(random.Random(1), 90, people=11)
    arrow, con = pa.table(events), duckdb.connect()
    con.register("events", arrow)
    forms = [arrow, pandas.DataFrame(events), polars.DataFrame(arrow).lazy(), con.sql("SELECT * FROM events")]
    people = {"person": "user", "at_most": 3, "key": KEY}
    no_kinds = {name: of for name, of in MEASURES.items() if name != "kinds"}
    rows = {
        "n": ut.count(),
        "weight": ut.sum("weight", per_cell=4),
        "paid": ut.sum("paid", step="0.5", each=(0, 4), most_events=1),
    }
    for words in (
        {**people, "domain": DOMAIN, "measures": MEASURES},
        {**people, "domain": DOMAIN, "measures": MEASURES, "neighbours": "change-one"},
        {**people, "domain": ut.Domain(kind=["x", "y", "z"], **AXES), "measures": no_kinds, "part": "kind"},
        {"each_row": True, "domain": DOMAIN, "measures": rows},
    ):
        expected = written(counted_with(events, **words))
        assert len(expected) >= 3
        for form in forms:
            assert written(counted_with(form, **words)) == expected, (words.keys(), type(form))
    con.close()
    table = ut.count_measures(events, DOMAIN, ut.Counting(each_row=True), rows)["n"]
    cells = zip(events["region"], events["place"], events["day"], strict=True)
    inside = sum((region, place) in KEYS and (day is None or day.year == 2024) for region, place, day in cells)
    assert (int(table.cells.sum()), table.report.events) == (inside, 90)


def written(tables):
    """Every table as its file has it, but for the name of the partition, which is drawn anew for each counting."""
    parts = {name: table if isinstance(table, dict) else {"": table} for name, table in tables.items()}
    return {
        (name, label): json.dumps(table.facts() | {"part": None}, sort_keys=True)
        for name, labels in parts.items()
        for label, table in labels.items()
    }
