"""Releases of engines' frames: checked by aggregates before the first draw, and the same bytes at every evaluation."""

from decimal import Decimal
from traceback import format_exception

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import utmost as ut
from asking import asked
from engine_tables import columns_of, of_arrow, on_duckdb
from utmost import Unit
from utmost.errors import BadTable, NotDeclared, OutOfRange, Unsupported
from utmost.noise import Geometric, costs

duckdb = pytest.importorskip("duckdb")

SAY = {"columns": "visits", "public": "ward", "id_column": "ward", "unit": Unit(1, 1), "epsilon": 1}
ROWS = 3000


def wards(rows=ROWS):
    return {"ward": [f"w{i}" for i in range(rows)], "visits": [i % 97 for i in range(rows)]}


def test_three_evaluations_give_the_same_bytes_in_any_part_and_order(lazily):
    """The noise is a function of the identifier: of no evaluation, filter, order or batch."""
    made = ut.release(lazily(wards()), **asked(**SAY), once=True)
    assert type(made.table) is type(lazily(wards(1)))
    first, second, third = (columns_of(made.table) for _ in range(3))
    assert first == second == third
    assert first["visits"] != wards()["visits"]
    assert first["visits_margin"] == [made.margin()] * ROWS
    again = ut.release(lazily(wards()), **asked(**SAY), once=True)  # a second call is a second release
    assert columns_of(again.table)["visits"] != first["visits"]
    known = dict(zip(first["ward"], first["visits"], strict=True))
    if isinstance(made.table, pl.LazyFrame):
        some = made.table.filter(pl.col("visits") > 50).sort("visits").collect().to_dict(as_series=False)
    else:
        some = columns_of(made.table.filter("visits > 50").order("visits"))
    assert {ward: known[ward] for ward in some["ward"]} == dict(zip(some["ward"], some["visits"], strict=True))


def test_what_duckdb_writes_does_not_show_where_a_filter_removed_rows(tmp_path):
    """DuckDB ends row groups where the batches end that it gets; these have equal sizes."""
    groups, rows = [], 150_000
    for gone in (0, rows):
        source, out = tmp_path / "source.parquet", tmp_path / "out.parquet"
        ids = np.arange(rows + 100)
        visits = np.where((ids >= gone) & (ids < gone + 100), -1, 1)
        pl.DataFrame({"ward": ids, "visits": visits}).write_parquet(source, row_group_size=50_000)
        frame = duckdb.connect().sql(f"SELECT * FROM read_parquet('{source}') WHERE visits > 0")
        ut.release(frame, **asked(**SAY), once=True).table.write_parquet(str(out))
        written = pq.read_metadata(out)
        groups.append([written.row_group(at).num_rows for at in range(written.num_row_groups)])
    assert sum(groups[0]) == rows
    assert groups[0] == groups[1]


def test_the_noise_is_that_of_the_plan(lazily):
    """At 20 000 cells the frequencies of the noise are those of the geometric distribution, within seven deviations."""
    rows = 20_000
    made = ut.release(lazily(wards(rows)), **asked(**SAY), once=True)
    noise = np.array(columns_of(made.table)["visits"]) - np.array(wards(rows)["visits"])
    distribution = Geometric(epsilon=1)
    for x in range(-3, 4):
        p = float(distribution.pmf(x))
        assert abs((noise == x).sum() - rows * p) < 7 * (rows * p * (1 - p)) ** 0.5


def test_several_columns_say_which_item_a_row_is(lazily):
    columns = {"ward": ["a", "a", "b"], "year": [1, 2, 1], "visits": [5, 6, 7]}
    say = SAY | {"public": ["ward", "year"], "id_column": ["ward", "year"]}
    made = ut.release(lazily(columns), **asked(**say), once=True)
    assert columns_of(made.table) == columns_of(made.table)
    with pytest.raises(BadTable, match="distinct"):
        ut.release(lazily(columns), **asked(**(say | {"id_column": ["ward"]})), once=True)


def test_an_identifier_need_not_be_published(lazily):
    made = ut.release(
        lazily(wards() | {"id": list(range(ROWS))}), **asked(**(SAY | {"id_column": "id", "drop": "id"})), once=True
    )
    assert list(columns_of(made.table)) == ["ward", "visits", "visits_margin"]


def test_reals_are_released_on_the_grid(lazily):
    columns = {"ward": [f"w{i}" for i in range(50)], "visits": [i / 7 for i in range(50)]}
    made = ut.release(lazily(columns), **asked(**SAY, numbers="reals", relaxable=True), once=True)
    found = columns_of(made.table)
    assert found == columns_of(made.table)
    assert all((cell / float(made.noise.grid)).is_integer() for cell in found["visits"])
    assert max(abs(a - b) for a, b in zip(found["visits"], columns["visits"], strict=True)) < 40


def test_sums_that_duckdb_makes_are_released_as_what_they_are_declared_to_be():
    """DuckDB counts in 128 bits, which says nothing: integers of 64 bits unless they are cast to decimals."""
    large = "SELECT 'w' || i AS ward, sum(i * 10::HUGEINT ** 25)::{} AS visits FROM range(9) r(i) GROUP BY 1"
    with pytest.raises(BadTable, match="decimal"):
        ut.release(duckdb.sql(large.format("HUGEINT")), **asked(**SAY), once=True)
    made = ut.release(duckdb.sql(large.format("DECIMAL(38, 0)")), **asked(**SAY), once=True)
    cells = columns_of(made.table)["visits"]
    assert all(isinstance(cell, Decimal) for cell in cells)
    assert max(cells) > 10**25
    small = ut.release(
        duckdb.sql("SELECT 'w' || i AS ward, sum(i) AS visits FROM range(9) r(i) GROUP BY 1"), **asked(**SAY), once=True
    )
    assert all(type(cell) is int for cell in columns_of(small.table)["visits"])


WRONG = {
    "a null in the last row": ({"visits": [1] * 2999 + [None]}, BadTable, "missing"),
    "a missing identifier": ({"ward": [f"w{i}" for i in range(2999)] + [None]}, BadTable, "missing"),
    "an empty identifier": ({"ward": [f"w{i}" for i in range(2999)] + [" "]}, BadTable, "empty"),
    "an identifier that comes twice": ({"ward": [f"w{i}" for i in range(2999)] + ["w0"]}, BadTable, "distinct"),
    "floats": ({"visits": [1.5] * 3000}, Unsupported, "integers"),
    "text": ({"visits": ["1"] * 3000}, Unsupported, "integers"),
    "integers without room for noise": ({"visits": [1 << 62] * 3000}, BadTable, "2\\^62"),
    "a copy": ({"copy": [str(i % 97) for i in range(3000)]}, BadTable, "repeat"),
    "a copy in integers": ({"copy": [i % 97 for i in range(3000)]}, BadTable, "repeat"),
    "a copy in floats": ({"copy": [float(i % 97) for i in range(3000)]}, BadTable, "repeat"),
    "a star": ({"*": [1] * 3000}, BadTable, "pattern"),
    "a pattern": ({"^.*$": [1] * 3000}, BadTable, "pattern"),
    "a silent column": ({"other": [1] * 3000}, NotDeclared, "declared"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_released_is_refused(lazily, case):
    change, error, said = WRONG[case]
    say = SAY | ({"public": ["ward", *change]} if {"copy", "*", "^.*$"} & change.keys() else {})
    with pytest.raises(error, match=said) as refusal:
        ut.release(lazily(wards() | change), **asked(**say), once=True)
    assert "w0" not in str(refusal.value)


UNCAST = {
    "release": lambda frame, place: ut.release(frame, **asked(**SAY), once=True),
    "publish": lambda frame, place: ut.Ledger.open(place / "l.db", create=True).publish(
        "visits", frame, **asked(**SAY)
    ),
    "count": lambda frame, place: ut.count_table(frame, {"visits": [1, 2]}, ut.Counting("ward", at_most=1)),
    "count rows": lambda frame, place: ut.count_table(frame, {"visits": [1, 2]}, ut.Counting(each_row=True)),
}


@pytest.mark.parametrize("call", UNCAST)
def test_a_query_that_fails_quotes_no_cell(lazily, call, tmp_path):
    """The engine's own message quotes the cell that it could not convert; a job's log is not as secret as the table."""
    frame = lazily({"ward": ["a", "b"], "visits": ["1", "secret 77"]})
    if isinstance(frame, pl.LazyFrame):
        frame = frame.with_columns(pl.col("visits").cast(pl.Int64))
    else:
        frame = frame.project("ward, visits::BIGINT AS visits")
    with pytest.raises(BadTable, match="evaluate") as refusal:
        UNCAST[call](frame, tmp_path)
    assert "secret 77" not in "".join(format_exception(refusal.value))


def test_the_name_of_a_margin_is_free_also_where_an_engine_folds_case():
    """To DuckDB and Spark N_margin is n_margin: what comes second would have another name, unasked."""
    table = pa.table(wards() | {"VISITS_Margin": [1] * 3000})
    say = SAY | {"public": ["ward", "VISITS_Margin"]}
    with pytest.raises(BadTable, match="'visits_margin'"):
        ut.release(of_arrow(table), **asked(**say), once=True)
    ut.release(pl.from_arrow(table).lazy(), **asked(**say), once=True)


def test_what_is_asked_wrongly_is_refused(lazily):
    frame = lazily(wards())
    with pytest.raises(OutOfRange, match="id_column"):
        ut.release(frame, **asked(**(SAY | {"id_column": None})), once=True)
    with pytest.raises(OutOfRange, match="identifier"):
        ut.release(frame, **asked(**(SAY | {"id_column": "visits"})), once=True)
    with pytest.raises(Unsupported, match="relaxable=True"):
        ut.release(frame, **asked(**(SAY | {"sensitivity": 4})), once=True)
    with pytest.raises(BadTable, match="no column"):
        ut.release(frame, **asked(**(SAY | {"id_column": "wrad"})), once=True)
    with pytest.raises(BadTable, match="one row"):
        ut.release(
            lazily({"ward": pa.array([], pa.string()), "visits": pa.array([], pa.int64())}), **asked(**SAY), once=True
        )


def test_types_that_an_engine_cannot_hand_over_are_refused_before_any_draw():
    """Not when the frame is evaluated: then the release would have been made, and the engine would raise its own."""
    big = on_duckdb(wards(9)).project("hash(ward)::HUGEINT AS ward, visits")
    with pytest.raises(Unsupported, match=r"'ward'.*decimal128"):
        ut.release(big, **asked(**SAY), once=True)
    wide = pl.LazyFrame(wards(9)).with_columns(pl.col("visits").cast(pl.Int128))
    with pytest.raises(Unsupported, match=r"'visits'.*Int128"):
        ut.release(wide, **asked(**SAY), once=True)


def test_noise_beyond_a_type_is_refused_before_any_draw_and_fits_a_decimal(lazily):
    """Else whoever evaluates the frame would be refused, by the engine's own error, when everything has been spent."""
    with pytest.raises(OutOfRange, match=r"'visits'.*decimal\(38, 0\)"):
        ut.release(lazily(wards(9)), **asked(**(SAY | {"epsilon": "1e-18"})), once=True)
    wide = on_duckdb(wards(9)).project("ward, visits::DECIMAL(38, 0) AS visits")
    assert len(columns_of(ut.release(wide, **asked(**(SAY | {"epsilon": "1e-18"})), once=True).table)["visits"]) == 9
    with pytest.raises(OutOfRange, match=r"'visits'.*decimal"):
        ut.release(wide, **asked(**(SAY | {"epsilon": "1e-36"})), once=True)


@pytest.mark.parametrize(("kind", "most"), [("BIGINT", 1 << 62), ("DECIMAL(38, 0)", 5 * 10**37)])
def test_values_leave_noise_half_of_their_type(kind, most):
    for true in (most - 1, 1 - most):
        rows = duckdb.sql(f"SELECT 'a' AS ward, {true}::{kind} AS visits")
        assert abs(int(columns_of(ut.release(rows, **asked(**SAY), once=True).table)["visits"][0]) - true) < 300
    rows = duckdb.sql(f"SELECT 'a' AS ward, {-most}::{kind} AS visits")
    with pytest.raises(BadTable, match=r"integers.*below"):
        ut.release(rows, **asked(**SAY), once=True)


def test_a_statement_of_a_frame_has_no_digest(lazily):
    made = ut.release(lazily(wards()), **asked(**SAY), once=True)
    assert made.statement["table"] is None
    assert made.statement["rows"] == ROWS
    assert made.statement["promise"]["columns"] == ["visits"]


@pytest.mark.parametrize("sensitivity", [3, 4, 5])
def test_a_larger_sensitivity_has_the_relaxable_distribution(lazily, sensitivity):
    made = ut.release(lazily(wards()), **asked(**(SAY | {"sensitivity": sensitivity}), relaxable=True), once=True)
    assert columns_of(made.table) == columns_of(made.table)
    noise = np.array(columns_of(made.table)["visits"]) - np.array(wards()["visits"])
    assert abs(noise.std() / float(made.noise.drawn.expected_cost(costs.squared)) ** 0.5 - 1) < 0.25
