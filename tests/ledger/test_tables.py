"""Answers are tables of the kind that was passed, with the same names and released values; identifiers fix the rows."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import utmost  # noqa: F401  (registers the adapter of dataframes)
import utmost as ut
from asking import asked
from utmost.errors import BadTable, DataChanged, NotDeclared, OutOfRange, RowsObserved
from utmost.ledger import Ledger

KEY = bytes(range(32))
PROMISE = {"columns": ["n", "m"], "public": ["who"], "unit": ut.Unit(1, 2), "epsilon": 1}
PLAIN = {"who": ["a", "b", "c"], "n": [10, 20, 30], "m": [1, 2, 3]}


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        yield ledger


MAKERS = {
    "dict of lists": lambda: PLAIN,
    "dict of arrays": lambda: {name: np.array(column) for name, column in PLAIN.items()},
    "pandas": lambda: pd.DataFrame(PLAIN),
    "polars": lambda: pl.DataFrame(PLAIN),
    "arrow": lambda: pa.table(PLAIN),
}


def plain(table):
    """Any table as a dict of lists."""
    if isinstance(table, dict):
        return {name: list(column) for name, column in table.items()}
    return {name: column.to_list() for name, column in nw.from_native(table).to_dict().items()}


@pytest.mark.parametrize("make", MAKERS)
def test_each_kind_comes_back(ledger, make):
    """From publish, relax and view, with all columns and margins."""
    table = MAKERS[make]()
    released = ledger.publish("r", table, **asked(**PROMISE)).table
    relaxed = ledger.relax("r", table, epsilon=2).table
    view = ledger.view("r", epsilon=1).table
    expected = ut.Table if isinstance(table, dict) else type(table)
    assert type(released) is type(relaxed) is type(view) is expected
    assert list(plain(relaxed)) == ["who", "n", "n_margin", "m", "m_margin"]
    assert plain(released)["who"] == plain(relaxed)["who"] == PLAIN["who"]
    assert plain(released)["n_margin"] == [ledger.margin("r", epsilon=1)] * 3
    assert plain(view) == plain(released)
    assert plain(ledger.view("r", epsilon=2).table) == plain(relaxed)


def test_identifiers_are_committed_to_with_the_rows(ledger):
    """Equal values with other identifiers are another table: a response would belong to another row."""
    table = {"who": ["a", "b"], "n": [5, 5]}
    ledger.publish("r", table, ut.Promise(columns="n", public="who", unit=ut.Unit(1, 1), id_column="who"), epsilon=1)
    assert ledger.relax("r", table, epsilon=2).table
    with pytest.raises(DataChanged, match="identifiers"):
        ledger.relax("r", {"who": ["b", "a"], "n": [5, 5]}, epsilon=3)
    with pytest.raises(BadTable, match="distinct"):
        ledger.publish(
            "s",
            {"who": ["a", "a"], "n": [5, 5]},
            ut.Promise(columns="n", drop="who", unit=ut.Unit(1, 1), id_column="who"),
            epsilon=1,
        )
    with pytest.raises(BadTable, match="'who'"):
        ledger.relax("r", {"n": [5, 5]}, epsilon=3)


def test_a_row_of_a_large_table_is_found_by_its_run(ledger):
    """Beyond 256 rows a digest covers several rows; the first run of rows that differs is found."""
    values = np.arange(5000)
    ledger.publish("r", {"n": values}, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon=1)
    values[1236] += 1
    with pytest.raises(DataChanged, match="got other identifiers or values"):
        ledger.relax("r", {"n": values}, epsilon=2)
    assert ledger.difference("r", {"n": values}) == "column 'n', rows 1221 to 1240"


@pytest.mark.parametrize(
    ("table", "wrong", "error"),
    [
        ({"n": [1, None]}, {}, BadTable),
        ({"n": [1.5]}, {}, BadTable),
        ({"n": [True]}, {}, BadTable),
        ({"n": [float("nan")]}, {"numbers": "reals"}, BadTable),
        ({"n": [1]}, {"columns": "m"}, BadTable),
        ({"n": []}, {}, BadTable),
        ({"n": [1]}, {"epsilon": float("nan")}, ValueError),
        ({"n": [1]}, {"version": 0}, OutOfRange),
        ({"n": [1]}, {"version": 2}, OutOfRange),
        ({"n": [1]}, {"version": 1.5}, ValueError),
        ({"n": [1]}, {"dataset": ""}, OutOfRange),
        ({"n": [1]}, {"request": " r"}, OutOfRange),
        ({"n": [1]}, {"dataset": "a\nb"}, OutOfRange),
        ([1, 2], {}, BadTable),
        ({"n": [1], "m": [1, 2]}, {"columns": ["n", "m"]}, BadTable),
    ],
    ids=str,
)
def test_bad_input_spends_nothing(ledger, table, wrong, error):
    """Every argument is checked before anything is drawn or written."""
    with pytest.raises(error):
        ledger.publish("r", table, **asked(**({"columns": "n", "unit": ut.Unit(1, 1), "epsilon": 1} | wrong)))
    assert len(ledger.history()) == 1
    assert ledger.releases == ()


def test_a_column_that_nobody_declared_is_refused_by_name(ledger):
    """A column that is neither released nor public nor dropped would be published without noise."""
    unit = {"columns": "n", "unit": ut.Unit(1, 1), "epsilon": 1}
    with pytest.raises(NotDeclared, match="got 'who', 'm'"):
        ledger.publish("r", PLAIN, **asked(**unit))
    with pytest.raises(BadTable, match=r"'copy'.*'n'"):
        ledger.publish("r", {"n": [1, 2], "copy": [1, 2]}, **asked(public="copy", **unit))
    with pytest.raises(OutOfRange, match=r"^cells.* 3"):
        ledger.publish("r", PLAIN, **asked(public="who", drop="m", **(unit | {"cells": 4})))
    assert len(ledger.history()) == 1


def test_relaxing_publishes_no_column_that_was_not_public(ledger):
    """The ledger stores which columns were declared public, and where the list of rows comes from."""
    unit = {"columns": "n", "unit": ut.Unit(1, 1)}
    with pytest.warns(RowsObserved):
        released = ledger.publish("r", PLAIN, **asked(public="who", drop="m", rows="observed", epsilon=1, **unit)).table
    relaxed = ledger.relax("r", PLAIN | {"diagnosis": ["x", "y", "z"]}, epsilon=2).table
    assert list(released) == list(relaxed) == ["who", "n", "n_margin"]
    (kept,) = ledger.releases
    assert (kept.public, kept.promise.rows) == (("who",), "observed")


@pytest.mark.parametrize("rows", [1, 1 << 16, (2 << 16) + 1])
def test_blocks_end_where_they_must(ledger, rows):
    """At the ends of blocks, with several columns, every level is near the values where epsilon is large."""
    table = {"n": np.arange(rows), "m": -np.arange(rows)}
    calls = []
    ledger.publish(
        "r", table, **asked(**(PROMISE | {"public": []}), progress=lambda done, size: calls.append((done, size)))
    )
    ledger.relax("r", table, epsilon=200)
    for epsilon in (100, 200, 150):
        view = ledger.view("r", epsilon=epsilon).table
        assert all((view[name] == table[name]).all() for name in table)
    assert calls[-1] == (2 * rows, 2 * rows)
    assert ledger.verify().cells == 4 * 2 * rows
