"""A table is checked in the same way, whatever memory its release has."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import utmost as ut
from utmost.errors import BadTable
from utmost.ledger import Ledger, PublishRequest
from utmost.tables.files import csv_table


def once(table, promise, _folder):
    return ut.release(table, promise, epsilon=1, once=True)


def in_this_process(table, promise, _folder):
    return ut.release(table, promise, epsilon=1)


def in_a_ledger(table, promise, folder):
    with Ledger.open(folder / "l.db", create=True) as ledger:
        return ledger.publish("t", table, promise, epsilon=1)


def with_others(table, promise, folder):
    with Ledger.open(folder / "l.db", create=True) as ledger:
        request = PublishRequest("t", promise, ut.level(1), "t")
        return ledger.publish_measures([request], {"t": table})["t"]


@pytest.fixture(params=[once, in_this_process, in_a_ledger, with_others])
def released(request, tmp_path):
    return lambda table, promise: request.param(table, promise, tmp_path)


@pytest.mark.parametrize(
    ("true", "copy"),
    [([601.0, 370.0], ["601", "370 "]), ([601, 370], ["601.0", "3.7e2"]), ([601.0, 370.0], [601, 370])],
)
def test_a_copy_is_known_however_its_numbers_are_written(released, true, copy):
    with pytest.raises(BadTable, match="column 'n'"):
        released({"n": true, "copy": copy}, ut.Promise("n", public="copy", unit=ut.Unit(1, 1)))


def test_labels_that_were_declared_beforehand_may_be_what_the_counts_are(released):
    """Refusing such labels would reveal that the counts are equal to them."""
    domain = ut.Domain(size=[1, 2, 3])
    counted = ut.counting.CountedTable(domain, np.array([1, 2, 3]), ut.Unit(1, 1))
    assert list(released(counted, ut.Promise.of_counted(counted)).table["size"]) == [1, 2, 3]


def test_the_name_of_a_margin_is_free_once_the_column_that_has_it_is_dropped(released):
    table = {"n": [601, 370], "n_margin": [1, 2]}
    with pytest.raises(BadTable, match="'n_margin'"):
        released(table, ut.Promise("n", public="n_margin", unit=ut.Unit(1, 1)))
    answer = released(table, ut.Promise("n", drop="n_margin", unit=ut.Unit(1, 1)))
    assert answer.table["n_margin"] == [3, 3]


# The promise names the columns in another order than the table.
CROSSED = {"town": ["A", "B"], "b": [3, 4], "kind": ["x", "y"], "a": [9, 8]}
IN_ANOTHER_ORDER = ut.Promise(["a", "b"], public=["kind", "town"], unit=ut.Unit(1, 1))


def in_a_view(table, promise, folder):
    with Ledger.open(folder / "l.db", create=True) as ledger:
        ledger.publish("t", table, promise, epsilon=2)
        return ledger.view("t", epsilon=1)


def relaxed(table, promise, folder):
    with Ledger.open(folder / "l.db", create=True) as ledger:
        ledger.publish("t", table, promise, epsilon="1/2")
        return ledger.relax("t", table, epsilon=1)


def in_pieces(table, promise, folder):
    pl.DataFrame(table).write_csv(folder / "t.csv")
    csv_table.register()
    return ut.release(csv_table.CsvPieces(csv_table.read(folder / "t.csv")), promise, epsilon=1, once=True)


def by_an_engine(table, promise, folder):
    keyed = replace(promise, id_column="town")
    return ut.release(pl.LazyFrame(table), keyed, epsilon=1, once=True)


@pytest.mark.parametrize(
    "way", [once, in_this_process, in_a_ledger, with_others, in_a_view, relaxed, in_pieces, by_an_engine]
)
def test_a_statement_names_columns_in_the_order_of_its_table(way, tmp_path):
    """Another order was believed: a reader takes the first of two coordinates for the second."""
    way(CROSSED, IN_ANOTHER_ORDER, tmp_path).save(tmp_path / "out.csv")
    said = json.loads((tmp_path / "out.csv.json").read_text())
    assert (said["promise"]["columns"], said["promise"]["public"]) == (["b", "a"], ["town", "kind"])
    assert ut.read_release(tmp_path / "out.csv").columns == ("b", "a")
    said["promise"]["columns"] = ["a", "b"]
    (tmp_path / "out.csv.json").write_text(json.dumps(said))
    with pytest.raises(BadTable, match="in the order of the table"):
        ut.read_release(tmp_path / "out.csv")
