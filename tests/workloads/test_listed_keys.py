"""Keys of several columns that are no product: the same cells through every door, sums of any column's values."""

import itertools
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import utmost as ut
from counting_words import counted_with
from utmost.counting import cells_table
from utmost.errors import BadTable, OutOfRange, WrongKind
from utmost.privacy import Unit
from utmost.workloads import Domain, Workload, choose_plan, listed, periods

NAMES = ["wiki", "country", "page"]
KEYS = [
    ("enwiki", "FR", "Main"), ("frwiki", "FR", "Paris"), ("enwiki", "US", "Main"), ("enwiki", "US", 7),
    ("frwiki", "CH", "Paris"), ("enwiki", "FR", "Zürich"),
]  # fmt: skip


def test_the_list_is_one_axis_grouped_from_the_left():
    axis = listed(KEYS, names=NAMES)
    assert axis.levels == ("page", "country", "wiki")
    assert axis.labels[0] == (
        "enwiki / FR / Main", "enwiki / FR / Zürich", "enwiki / US / Main", "enwiki / US / 7",
        "frwiki / FR / Paris", "frwiki / CH / Paris",
    )  # fmt: skip
    assert axis.labels[1] == ("enwiki / FR", "enwiki / US", "frwiki / FR", "frwiki / CH")
    assert axis.label_columns(1) == {
        "wiki": ["enwiki", "enwiki", "frwiki", "frwiki"],
        "country": ["FR", "US", "FR", "CH"],
    }
    frame = {name: [key[place] for key in KEYS] for place, name in enumerate(NAMES)}
    for rows in (pd.DataFrame(frame), pa.table({**frame, "page": [str(page) for page in frame["page"]]}), frame):
        assert listed(rows).labels == axis.labels
    assert listed([["a"], ["b"]], names=["only"]).labels == (("a", "b"),)


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([("a", "b"), ("a", "b")], ["x", "y"]), ([("a", "b"), ("a",)], ["x", "y"]), ([("a", None)], ["x", "y"]),
        ([("a", 1.5)], ["x", "y"]), ([("a", True)], ["x", "y"]), ([("a", " ")], ["x", "y"]), ([], ["x", "y"]),
        ([("a", "b / c"), ("a / b", "c")], ["x", "y"]), ([("a", "b")], ["x", "x"]), ([("a", "b")], None),
        ({"x": ["a"]}, ["x", "y"]), ({"x": ["a"], "y": ["a", "b"]}, None), ("ab", ["x"]), ([("a",)], []),
    ],
)  # fmt: skip
def test_what_is_no_list_of_keys_is_refused(rows, names):
    with pytest.raises((OutOfRange, WrongKind)):
        listed(rows, names=names)


def test_selections_of_any_column_take_every_row_with_the_value():
    domain = Domain({"month": periods("2013", "2014", every="month"), "key": listed(KEYS, names=NAMES)})
    rows = domain.axes[1].rows
    for place, name in enumerate(NAMES):
        for value in {key[place] for key in KEYS}:
            expected = [row[place] == value for row in rows]
            assert domain.selection({name: value})[1].tolist() == expected
            assert domain.selection({name: [str(value)]})[1].tolist() == expected
    assert domain.selection({"country": "enwiki / US"})[1].sum() == 2
    assert domain.selection({"country": "FR", "wiki": "enwiki"})[1].sum() == 2
    with pytest.raises(OutOfRange, match="a label of the axis"):
        domain.selection({"country": "DE"})


@pytest.mark.parametrize("other", [None, "elsewhere"])
def test_a_listed_domain_is_written_read_back_and_copied(other):
    domain = Domain.listed(KEYS, names=NAMES, other=other)
    again = Domain.of_facts(json.loads(json.dumps(domain.facts())))
    assert again.same_as(domain)
    assert (again.axes[0].rows, again.axes[0].labels) == (domain.axes[0].rows, domain.axes[0].labels)
    assert pickle.loads(pickle.dumps(domain)).axes[0].rows == domain.axes[0].rows


@pytest.mark.parametrize("other", [None, "elsewhere"])
def test_every_door_counts_the_same_keys(other, tmp_path):
    """Against a look-up row by row: of all combinations of values, listed or not, with missing cells among them."""
    duckdb = pytest.importorskip("duckdb")
    domain = Domain.listed(KEYS, names=NAMES, other=other)
    spelled = {tuple(map(str, row)): place for place, row in enumerate(domain.axes[0].rows)}
    combinations = itertools.product(
        ["enwiki", "frwiki", "x"], ["FR", "US", "CH", None], ["Main", "Paris", "7", "Zürich"]
    )
    events = [(f"p{row % 20}", *cells) for row, cells in enumerate(list(combinations) * 2)]
    columns = {name: [event[place] for event in events] for place, name in enumerate(["who", *NAMES])}
    words = {"person": "who", "domain": domain, "at_most": 5, "per_cell": 9, "key": bytes(32)}
    counted = counted_with(columns, **words)
    pairs = {}
    for who, *key in events:
        place = spelled.get(tuple(key), None if other is None else len(spelled) - 1)
        if place is not None:
            pairs[who, place] = pairs.get((who, place), 0) + 1
    whole = counted_with(columns, **{**words, "at_most": 99})
    expected = np.bincount([place for _, place in pairs], weights=list(pairs.values()), minlength=len(spelled))
    assert whole.cells.tolist() == expected.tolist()
    assert counted.unit == Unit(9, 5)
    pd.DataFrame(columns).to_csv(tmp_path / "events.csv", index=False)
    pl.DataFrame(columns).write_parquet(tmp_path / "events.parquet")
    for table in (
        pd.DataFrame(columns), pl.DataFrame(columns), pl.LazyFrame(columns), duckdb.from_arrow(pa.table(columns)),
        tmp_path / "events.csv", tmp_path / "events.parquet",
    ):  # fmt: skip
        assert counted_with(table, **words).cells.tolist() == counted.cells.tolist()
    if other is None:
        assert whole.report.missing["page"] == 2 * 3 * 4
        with pytest.raises(BadTable, match="who"):
            counted_with({**columns, "who": [None] * len(events)}, **words)


def test_listed_keys_are_released_saved_and_asked(tmp_path):
    domain = Domain.listed(KEYS, names=NAMES)
    table = {name: [key[place] for key in KEYS] for place, name in enumerate(NAMES)} | {
        "n": [100, 200, 300, 400, 500, 600]
    }
    table["page"] = [str(page) for page in table["page"]]
    counted = cells_table(table, domain, counts="n", unit=Unit(1, 1))
    assert counted.cells.tolist() == [100, 600, 300, 400, 200, 500]
    plain = ut.release(counted, ut.Promise.of_counted(counted), epsilon=20, once=True)
    assert list(plain.table)[:3] == NAMES
    chosen = choose_plan(Workload(domain, {"page": 1, "wiki": 1}), Unit(1, 1), epsilon=20)
    released = ut.release(counted, chosen, epsilon=20, once=True).table
    assert list(released["country"])[:2] == ["wiki", "country"]
    released.save(tmp_path / "release.csv", marginal="country")
    released.save(tmp_path / "release.json")
    again = ut.read_release(tmp_path / "release.json")
    assert abs(again.total({"country": "FR"}).value - 900) <= 5
    assert abs(again.total({"page": "Main"}).value - 400) <= 5
    header = (tmp_path / "release.csv").read_text().splitlines()[0]
    assert header.startswith("wiki,country,count")
