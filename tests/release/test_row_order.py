"""Rows in the order of a released column show which true value is larger, whatever the noise: every entrance warns."""

import warnings
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import utmost as ut
from utmost.errors import RowsSorted
from utmost.publish.promises.row_order import RowOrder

TOWNS = ["Ulm", "Bonn", "Köln", "Aachen", "Trier", "Hof"]
COUNTS = [90, 81, 40, 12, 5, 1]
PROMISE = ut.Promise("n", public="town", unit=ut.Unit(1, 1))


def warned(call):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in seen if one.category is RowsSorted]


def file_of(folder):
    (folder / "t.csv").write_text("town,n\n" + "".join(f"{town},{n}\n" for town, n in zip(TOWNS, COUNTS, strict=True)))
    return folder / "t.csv"


TABLES = {
    "dict": lambda folder: {"town": TOWNS, "n": COUNTS},
    "pandas": lambda folder: pd.Series(COUNTS, index=pd.Index(TOWNS, name="town"), name="n").to_frame(),
    "polars": lambda folder: pl.DataFrame({"town": TOWNS, "n": COUNTS}),
    "file": file_of,
    "polars, lazy": lambda folder: pl.DataFrame({"town": TOWNS, "n": COUNTS}).lazy(),
    "duckdb": lambda folder: duckdb.connect().from_arrow(pa.table({"town": TOWNS, "n": COUNTS[::-1]})).order("n DESC"),
}


@pytest.mark.parametrize("kind", TABLES)
def test_rows_in_the_order_of_the_counts_are_warned_of(kind, tmp_path):
    table, is_lazy = TABLES[kind](tmp_path), kind in ("polars, lazy", "duckdb")
    promise = replace(PROMISE, id_column=("town",)) if is_lazy else PROMISE
    (text,) = warned(lambda: ut.release(table, promise, epsilon=1, once=True))
    assert "'n'" in text
    assert "Sort the rows by a public column" in text
    with ut.Ledger.open(tmp_path / "l.db", create=True) as ledger:
        assert warned(lambda: ledger.publish("r", table, promise, epsilon=1)) == [text]
        assert is_lazy or not warned(lambda: ledger.view("r", epsilon="1/2"))


OTHERS = {
    "labels in their order": {"town": sorted(TOWNS), "n": COUNTS},
    "numbers in texts": {"town": [f"ward {at}" for at in range(8, 14)], "n": COUNTS},
    "labels from Z to A": {"town": sorted(TOWNS)[::-1], "n": COUNTS},
    "counts in no order": {"town": TOWNS, "n": [1, 3, 2, 4, 5, 6]},
    "four rows": {"town": TOWNS[:4], "n": COUNTS[:4]},
    "nearly all equal": {"town": TOWNS, "n": [0, 0, 0, 0, 0, 7]},
    "all equal": {"town": TOWNS, "n": [7] * 6},
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_tables_are_not_warned_of(name):
    assert not warned(lambda: ut.release(OTHERS[name], PROMISE, epsilon=1, once=True))


def test_the_rows_of_a_counted_table_are_declared():
    counted = ut.counting.CountedTable(ut.Domain(town=TOWNS), np.array(COUNTS), ut.Unit(1, 1))
    assert not warned(lambda: ut.release(counted, ut.Promise.of_counted(counted), epsilon=1, once=True))


@pytest.mark.parametrize("size", range(1, 8))
@pytest.mark.parametrize("cells", [[5, 5, 4, 4, 4, 2, 1], [1, 1, 1, 2], [2, 2], [1]])
def test_blocks_of_rows_are_read_as_the_whole(cells, size):
    whole, parts = RowOrder(), RowOrder()
    for order, step in ((whole, len(cells)), (parts, size)):
        for start in range(0, len(cells), step):
            some = cells[start : start + step]
            order.add({"n": np.array(some)}, ["x"], lambda _, some=some: [f"x{cell}" for cell in some])
    for one, other in ((whole.released["n"], parts.released["n"]), (whole.public["x"], parts.public["x"])):
        assert (one.rises, one.falls, one.orders) == pytest.approx((other.rises, other.falls, other.orders))
