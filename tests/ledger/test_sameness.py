"""Honest mistakes are reported: the same data under two names, a forgotten or misspelt dataset, rows in another
order."""

import warnings
from datetime import date, datetime
from decimal import Decimal
from itertools import product
from math import nan

import numpy as np
import polars as pl
import pytest

import utmost as ut
from asking import asked, publish_items
from utmost.errors import (
    AlreadyPublished,
    BadTable,
    BudgetExceeded,
    BudgetUnused,
    DataChanged,
    OutOfRange,
    RowsRenamed,
    SeparateDatasets,
    WrongKind,
)
from utmost.exact import level
from utmost.ledger import Ledger
from utmost.sampling import Identifiers

KEY = bytes(range(32))
TABLE = {"who": ["a", "b", "c"], "n": [30, 10, 20], "m": [7, 7, 7]}
PROMISE = {"columns": "n", "unit": ut.Unit(1, 1), "epsilon": 1}


def published(ledger, name, table, **options):
    """A release whose other columns are public."""
    released = options["columns"]
    others = [column for column in table if column not in ([released] if isinstance(released, str) else released)]
    return ledger.publish(name, table, **asked(public=others, **options)).table


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        yield ledger


SAME = {
    "the same table": (TABLE, {}),
    "in another order": ({"n": [10, 20, 30]}, {}),
    "under another column": ({"x": [30, 10, 20]}, {"columns": "x"}),
    "as reals": ({"n": [30.0, 10.0, 20.0]}, {"numbers": "reals", "grid": "1/1024"}),
    "beside another column": ({"n": [1, 2, 3], "x": [30, 10, 20]}, {"columns": ["n", "x"]}),
    "for another unit": (TABLE, {"sensitivity": 3, "cells": 2}),
}


@pytest.mark.parametrize("same", SAME)
def test_releases_of_one_dataset_with_equal_values_are_named(ledger, same):
    """The holder of the key can see that one file was published as that of two nights."""
    table, options = SAME[same]
    published(ledger, "monday", TABLE, **PROMISE, dataset="d")
    published(ledger, "tuesday", {"n": [1, 2, 4]}, **PROMISE, dataset="d")
    published(ledger, "wednesday", table, **PROMISE | options, dataset="d")
    assert ledger.equal_values("wednesday") == ("monday",)
    assert ledger.equal_values("tuesday") == ()


def test_versions_of_one_release_with_equal_values_are_named(ledger):
    """A file that came twice may be published as the next version; its level is charged again."""
    published(ledger, "nights", TABLE, **PROMISE)
    published(ledger, "nights", TABLE, **PROMISE, version=2)
    published(ledger, "nights", {"n": [1, 2, 4]}, **PROMISE, version=3)
    assert ledger.spent("nights") == level(3)
    assert [ledger.equal_values("nights", version=version) for version in (1, 2, 3)] == [("nights",), ("nights",), ()]


@pytest.mark.parametrize("same", SAME)
def test_the_same_data_under_two_names_are_told(ledger, same):
    """Each dataset would be private at epsilon, but the individuals pay twice; the message does not name the
    columns."""
    published(ledger, "first", TABLE, dataset="students", **PROMISE)
    table, changes = SAME[same]
    with pytest.raises(AlreadyPublished, match=r"dataset=.*independent=True") as caught:
        published(ledger, "second", table, **PROMISE | changes)
    assert "or independent=True" in str(caught.value)
    assert not any(part in str(caught.value) for part in ("30", "10", "20", "first", "students", "column"))
    column = (PROMISE | changes)["columns"]
    column = column if isinstance(column, str) else column[0] if same != "beside another column" else "x"
    known = f"column {column!r} holds the values of 'n' in 'first', version 1, of dataset 'students'"
    assert caught.value.known_as == known
    assert len(ledger.history()) == 2
    published(ledger, "second", table, dataset="students", **PROMISE | changes)
    assert ledger.spent(dataset="students") == level(2)
    published(ledger, "third", table, independent=True, **PROMISE | changes)


def _of_engines(values):
    """Ways to pass a column of numbers, and the arguments that each way needs."""
    shuffled = {"id": list(range(len(values)))[::-1], "n": values[::-1]}
    by_id = {"id_column": "id", "drop": "id"}
    frame, reals = pl.DataFrame(shuffled), pl.DataFrame(shuffled | {"n": [float(cell) for cell in values[::-1]]})
    relation = pytest.importorskip("duckdb").from_arrow(frame.to_arrow())
    return {
        "rows": ({"n": values}, {}),
        "rows by item": (shuffled, {**by_id, "keyed_by_id": True}),
        "Polars": (frame.lazy(), by_id),
        "DuckDB": (relation, by_id),
        "reals in Polars": (reals.lazy(), {**by_id, "numbers": "reals", "grid": "1/8"}),
    }


WAYS = list(_of_engines([1, 2]))


@pytest.mark.parametrize(
    ("first", "second"), [pair for pair in product(WAYS, WAYS) if WAYS[0] in pair or pair[0] == pair[1]]
)
def test_the_same_data_are_told_wherever_a_table_is(ledger, first, second):
    """Two budgets for one table are refused between lists, frames keyed by identifier and two engines; other data are
    allowed."""
    (early, said), (late, how) = (_of_engines([30, 10, 20])[way] for way in (first, second))
    ledger.publish("first", early, **asked(dataset="students", **PROMISE, **said))
    with pytest.raises(AlreadyPublished) as caught:
        ledger.publish("second", late, **asked(**PROMISE, **how))
    assert "'first', version 1, of dataset 'students'" in caught.value.known_as
    assert len(ledger.history()) == 2
    ledger.publish("second", late, **asked(dataset="students", **PROMISE, **how))
    ledger.publish("third", late, **asked(independent=True, **PROMISE, **how))
    for number, values in enumerate(([30, 10, 21], [30, 10], [7, 7, 7])):
        for again in ("a", "b"):  # a column whose cells are all equal is let pass twice
            if again == "a" or set(values) == {7}:
                other, manner = _of_engines(values)[second]
                ledger.publish(f"other {number} {again}", other, **asked(**PROMISE, **manner))


@pytest.mark.parametrize("first", ["integers", "reals", "points"])
@pytest.mark.parametrize("second", ["integers", "reals", "points"])
def test_the_same_coordinates_are_told_as_numbers_and_as_points(ledger, first, second):
    kinds = {
        "integers": {"sensitivity": 1, "cells": 2},
        "reals": {"sensitivity": 1, "cells": 2, "numbers": "reals", "grid": "1/8"},
        "points": {"noise": ut.PointNoise(1)},
    }
    tables = [{"x": [1, 2, 5], "y": [3, 4, 9]}]
    if "integers" not in (first, second):
        tables.append({"x": [0.5, 2.25, 5.0], "y": [3.5, -4.0, 9.0]})
    for number, table in enumerate(tables):
        ledger.publish(
            f"a{number}", table, **asked(columns=["x", "y"], epsilon=1, dataset=f"A{number}", **(kinds[first]))
        )
        with pytest.raises(AlreadyPublished):
            ledger.publish(f"b{number}", table, **asked(columns=["x", "y"], epsilon=1, **(kinds[second])))


def test_an_empty_frame_and_columns_that_rounding_makes_equal(ledger):
    """Frames of an engine raise no untyped error; and released cells are compared, not the cells before rounding."""
    by_id = {"columns": "v", "id_column": "id", "drop": "id", "unit": ut.Unit(1, 1), "epsilon": 1}
    for schema in ({"id": pl.String, "v": pl.Int64}, {"id": pl.Int64, "v": pl.Float64}):
        say = by_id if schema["v"] == pl.Int64 else by_id | {"numbers": "reals", "grid": 1}
        with pytest.raises(BadTable):
            ledger.publish("empty", pl.LazyFrame({"id": [], "v": []}, schema=schema), **asked(**say))
    reals = by_id | {"numbers": "reals", "grid": 1}
    ledger.publish("a", pl.LazyFrame({"id": [1, 2], "v": [0.1, 0.2]}), **asked(**reals))
    ledger.publish("b", pl.LazyFrame({"id": [1, 2], "v": [0.3, 0.4]}), **asked(**reals))
    key = ledger.items.commitment_key("c", ut.Promise(columns="v", unit=ut.Unit(1, 1)))
    for name in ("c", "d"):
        made = ledger.items.commitment_key(name, ut.Promise(columns="v", unit=ut.Unit(1, 1)))
        one = made.committed([Identifiers.of(["a"])], {"v": [5]})
        publish_items(ledger, name, one, ut.Promise(columns="v", id_column="id", unit=ut.Unit(1, 1)), epsilon=1)
    assert key.likeness is not None


def test_other_data_are_let_pass(ledger):
    """Other values, some equal values, and columns whose cells are all equal and so identify nothing, are allowed."""
    published(ledger, "first", TABLE, **PROMISE | {"columns": ["n", "m"]})
    for number, values in enumerate(([30, 10, 21], [30, 10], [30, 10, 20, 0], [7, 7, 7], [7])):
        published(ledger, f"other {number}", {"n": values}, **PROMISE)
    wide = {"n": [10**37, -3]}
    published(ledger, "wide", wide, **PROMISE)
    with pytest.raises(AlreadyPublished, match="another dataset"):
        published(ledger, "wide again", {"n": np.array([-3, 10**37], object)}, **PROMISE)


def test_a_budget_is_told_before_commitments_are_compared(ledger):
    """Committing to a table does not test a guess for free: right and wrong values give the same error."""
    promise = ut.Promise(columns="v", id_column="id", unit=ut.Unit(1, 1))
    for name, values in (("first", [5, 6]), ("right", [5, 6]), ("wrong", [7, 6])):
        made = ledger.items.commitment_key(name, ut.Promise(columns="v", unit=ut.Unit(1, 1)))
        one = made.committed([Identifiers.of(["a", "b"])], {"v": values})
        if name == "first":
            publish_items(ledger, name, one, promise, epsilon=1)
            continue
        ledger.budget(name, limit="1/2")
        with pytest.raises(BudgetExceeded):
            publish_items(ledger, name, one, promise, epsilon=1)


def test_a_label_that_cannot_be_written_is_told_before_values_are_compared(ledger):
    """Otherwise a guess could be tested for free: right and wrong values give the same error."""
    published(ledger, "first", TABLE, **PROMISE)
    for values in (TABLE["n"], [3, 2, 1]):
        table = {"n": values, "place": [10**4300] * len(values)}
        with pytest.raises(BadTable, match="4300 digits"):
            published(ledger, "second", table, **PROMISE)


def test_a_misspelt_dataset_is_told_by_its_values(ledger):
    published(ledger, "first", TABLE, dataset="students", **PROMISE)
    with pytest.raises(AlreadyPublished, match="dataset 'studnets'"):
        published(ledger, "second", TABLE, dataset="studnets", **PROMISE)


def test_a_limit_that_waits_is_told_to_a_release_without_one(ledger):
    """The limit was set on a dataset that the release does not name, or misspells."""
    ledger.budget("students", limit=1)
    for dataset in ({}, {"dataset": "studnets"}):
        with pytest.raises(OutOfRange, match="dataset='students'"):
            published(ledger, "admissions", TABLE, **dataset, **PROMISE)
        with pytest.raises(OutOfRange, match="'students'"):
            ledger.rehearse("admissions", epsilon=1, **dataset)
    assert len(ledger.history()) == 2
    assert ledger.rehearse("admissions", epsilon=1, dataset="students").remaining == 0
    assert ledger.rehearse("others", epsilon=1, independent=True).remaining is None
    published(ledger, "others", {"n": [1, 2]}, independent=True, **PROMISE)
    published(ledger, "admissions", TABLE, dataset="students", **PROMISE)
    published(ledger, "more", {"n": [1, 2, 3]}, **PROMISE)


def test_a_limit_on_a_dataset_that_no_release_names_is_told(ledger):
    """Warned at once if the ledger has releases of other datasets; the limit is set all the same."""
    published(ledger, "admissions", TABLE, dataset="students", **PROMISE)
    with pytest.warns(BudgetUnused, match="'studnets'.*'students'"):
        assert ledger.budget("studnets", limit=3).remaining == 3
    assert ledger.budget("students", limit=3).remaining == 2


def test_a_second_dataset_is_warned_about_before_anything_is_drawn(ledger):
    """Two names for the same people would split their budget silently."""
    other = {"n": [1, 2, 3]}
    with warnings.catch_warnings():
        warnings.simplefilter("error", SeparateDatasets)
        published(ledger, "persons", TABLE, **PROMISE)
        published(ledger, "persons 2", {"n": [4, 5]}, dataset="persons", **PROMISE)
        events = len(ledger.history())
        with pytest.raises(SeparateDatasets, match="dataset='persons'"):
            published(ledger, "ages", other, **PROMISE)
        with pytest.raises(SeparateDatasets):
            ledger.rehearse("ages", epsilon=1)
        assert len(ledger.history()) == events
        ledger.rehearse("ages", epsilon=1, independent=True)
        published(ledger, "ages", other, independent=True, **PROMISE)
        published(ledger, "ages 2", {"n": [9, 9]}, dataset="ages", **PROMISE)
        with pytest.raises(AlreadyPublished, match="dataset= as before, or leave it out as before"):
            published(ledger, "ages", other, dataset="persons", **PROMISE)
        with pytest.raises(AlreadyPublished, match=r"dataset= as before.*ledger\.charge"):
            published(ledger, "ages 2", {"n": [9, 9]}, **PROMISE)
        with pytest.raises(OutOfRange, match="Pass dataset='ages'"):  # both remedies were to leave it out
            published(ledger, "ages 2", {"n": [9, 8]}, version=2, **PROMISE)
        published(ledger, "ages 2", {"n": [9, 8]}, dataset="ages", version=2, **PROMISE)


def test_independent_is_true_or_false(ledger):
    with pytest.raises(WrongKind, match="independent"):
        published(ledger, "first", TABLE, independent="yes", **PROMISE)


def test_rows_in_another_order_are_told_to_be_so(ledger):
    """The commitment covers the order: the holder of the key may ask, and learns that only the order differs."""
    published(ledger, "first", TABLE, **PROMISE)
    with pytest.raises(DataChanged, match="version=2"):
        ledger.relax("first", {"n": [10, 20, 30]}, epsilon=2)
    assert "not the order in which" in ledger.difference("first", {"n": [10, 20, 30]})
    with pytest.raises(DataChanged, match="version=2"):
        ledger.relax("first", {"n": [10, 20, 31]}, epsilon=2)
    with pytest.raises(DataChanged, match="3 rows"):
        ledger.relax("first", {"n": [10, 20]}, epsilon=2)


def test_rows_that_were_renamed_are_told(ledger):
    """Without an id_column the order identifies rows; different texts in the same columns cause a warning."""
    published(ledger, "first", TABLE, **PROMISE)
    with pytest.warns(RowsRenamed, match="id_column"):
        ledger.relax("first", TABLE | {"who": ["b", "a", "c"]}, epsilon=2)
    for table in (TABLE, {"n": TABLE["n"]}, TABLE | {"ward": ["x", "y", "z"]}, TABLE | {"m": [1, 2, 3]}):
        ledger.relax("first", table, epsilon=2)
    published(ledger, "second", TABLE, **PROMISE | {"id_column": "who", "dataset": "first"})
    with pytest.raises(DataChanged, match="identifiers"):
        ledger.relax("second", TABLE | {"who": ["b", "a", "c"]}, epsilon=2)


def test_public_labels_of_any_type_that_changed_are_told(ledger):
    """Equal counts under other age bands have the same noise, so both tables together show that they are equal."""
    ages = {"age": [0, 10, 20], "n": [3, 2, 1]}
    promise = ut.Promise("n", public="age", unit=ut.Unit(1, 1))
    ledger.publish("first", ages, promise, epsilon=1)
    ledger.publish("first", ages, promise, epsilon=1)  # warns of nothing
    other = ages | {"age": [0, 5, 10]}
    with pytest.warns(RowsRenamed):
        ledger.publish("first", other, promise, epsilon=1)
    with pytest.warns(RowsRenamed):
        ledger.relax("first", other, epsilon=2)


@pytest.mark.parametrize(
    "same",
    [
        ([1, 2, None], ["1", "2", ""], [1.0, 2.0, nan]),
        ([Decimal("1.50"), Decimal("2.00"), Decimal(-1)], ["1.50", "2.00", "-1"], [1.5, 2.0, -1.0]),
        ([date(2026, 1, day) for day in (1, 2, 3)], [datetime(2026, 1, day) for day in (1, 2, 3)]),
    ],
    ids=["integers", "decimals", "dates"],
)
def test_public_labels_of_another_type_are_no_other_labels(ledger, same):
    """A file, pandas and Arrow type one table in three ways; a service would count the warning as a guess."""
    promise = ut.Promise("n", public="label", unit=ut.Unit(1, 1))
    for label in same:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RowsRenamed)
            ledger.publish("first", {"label": label, "n": [3, 2, 1]}, promise, epsilon=1)
    long = {"label": [10**5000, 2, 3], "n": [3, 2, 1]}
    with pytest.warns(RowsRenamed):
        ledger.publish("first", long, promise, epsilon=1)


@pytest.mark.parametrize("keyed", [False, True], ids=["stored", "keyed"])
def test_identifiers_of_a_csv_are_what_the_file_spells(ledger, tmp_path, keyed):
    """010 and 10 are two persons, in the file and in a frame; a column of plain integers is that of a frame."""
    promise = ut.Promise("n", id_column="id", drop="id", unit=ut.Unit(1, 1), keyed_by_id=keyed)
    spelled = {"texts": ["010", "10", "1.50"], "signs": ["+7", "7", "-0"]}
    for name, ids in {**spelled, "integers": [7, -2, 0], "large": [7, -2, 10**20]}.items():
        file = tmp_path / f"{name}.csv"
        file.write_text("id,n\n" + "".join(f"{one},{n}\n" for n, one in enumerate(ids)))
        ledger.publish(name, file, promise, epsilon=1, dataset=name, independent=True)
        frame = ledger.relax(name, {"id": ids, "n": [0, 1, 2]}, epsilon=2)
        assert frame.table["n"] == list(map(int, ledger.relax(name, file, epsilon=2).table.released["n"]))


def test_after_a_restart_the_same_data_are_told_too(tmp_path):
    """The ledger stores the digests encrypted; with another key they are reported as damage, not ignored."""
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        published(ledger, "first", TABLE, **PROMISE)
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger, pytest.raises(AlreadyPublished):
        published(ledger, "second", TABLE, **PROMISE)


def test_what_a_failed_transaction_took_back_is_not_known_again(ledger):
    """The first of two tables was drawn, and rolled back together with the second one, which another dataset has."""
    published(ledger, "there", {"n": [1, 2, 3]}, **PROMISE)
    promise = ut.Promise("n", unit=ut.Unit(1, 1))
    requests = [ut.ledger.PublishRequest(name, promise, level(1), "both") for name in ("first", "second")]
    with pytest.raises(AlreadyPublished, match="one dataset"):
        ledger.publish_measures(requests, {"first": {"n": [4, 5, 6]}, "second": {"n": [3, 2, 1]}})
    published(ledger, "elsewhere", {"n": [4, 5, 6]}, **PROMISE, independent=False)
    with pytest.raises(AlreadyPublished, match="one dataset"):
        published(ledger, "again", {"n": [6, 5, 4]}, **PROMISE)


def test_equal_values_are_named_before_they_are_published(ledger):
    published(ledger, "monday", TABLE, **PROMISE, dataset="d")
    promise = ut.Promise("n", public=["who", "m"], unit=ut.Unit(1, 1))
    assert ledger.equal_values("tuesday", table=TABLE, promise=promise) == ("monday",)
    assert ledger.equal_values("monday", table=TABLE, promise=promise) == ("monday",), "another version"
    assert ledger.equal_values("tuesday", table=TABLE | {"n": [1, 2, 4]}, promise=promise) == ()
    for one in ({"table": TABLE}, {"promise": promise}):  # a table alone was ignored
        with pytest.raises(OutOfRange, match="both table= and promise= must be passed"):
            ledger.equal_values("monday", **one)
    assert len(ledger.history()) == 2, "nothing is written"
