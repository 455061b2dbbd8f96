"""Dataframes: columns read as they are, and a dataframe of the same library given back."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import utmost as ut
from asking import asked
from running import python
from utmost.errors import BadTable, NotDeclared

# Readers of hostile bytes and cells, and their limits, are tried without a release behind them.
from utmost.tables.frames import any_table, dataframes

COLUMNS = {"sex": ["men", "women"], "admitted": [512, 89], "year": [1973, 1973]}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


@pytest.fixture(params=FRAMES.values(), ids=FRAMES.keys())
def frame(request):
    dataframes.register()
    return request.param(COLUMNS)


def as_dict(frame):
    if isinstance(frame, pa.Table):
        return frame.to_pydict()
    return frame.to_dict("list") if isinstance(frame, pd.DataFrame) else frame.to_dict(as_series=False)


def test_series_of_different_indexes_are_laid_together_by_nobody():
    """By place another person's value would stand beside a label than by index, as pandas has it."""
    labels, values = pd.Series(["A", "B"]), pd.Series([2, 1]).sort_values()
    promise = ut.Promise("n", public="ward", unit=ut.Unit(1, 1))
    with pytest.raises(BadTable, match="one index"):
        ut.release({"ward": labels, "n": values}, promise, epsilon=1)
    ut.release({"ward": labels, "n": values.sort_index()}, promise, epsilon=1)
    ut.release({"ward": labels, "n": values.tolist()}, promise, epsilon=1)


def test_the_same_kind_goes_out_with_new_columns_behind_their_owners(frame):
    adapter = any_table.adapter_of(frame)
    columns = {"admitted": np.array([515, 88]), "admitted_margin": np.array([5, 5])}
    out = adapter.with_columns(frame, columns, {"admitted_margin": "admitted"})
    assert type(out) is type(frame)
    assert list(as_dict(out).items()) == [
        ("sex", ["men", "women"]),
        ("admitted", [515, 88]),
        ("admitted_margin", [5, 5]),
        ("year", [1973, 1973]),
    ]
    assert as_dict(frame) == COLUMNS


def test_columns_are_read_as_arrays_or_as_lists(frame):
    adapter = any_table.adapter_of(frame)
    assert adapter.names(frame) == list(COLUMNS)
    assert adapter.column(frame, "admitted").tolist() == [512, 89]
    assert adapter.column(frame, "sex") == ["men", "women"]
    assert adapter.place(frame, 3) == "row 4 (index 3)"


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"n": pd.array([1, None], dtype="Int64")}),
        pd.DataFrame({"n": [1, None]}),
        pl.DataFrame({"n": [1, None]}),
        pa.table({"n": [1, None]}),
    ],
)
def test_a_missing_cell_is_read_as_none(frame):
    dataframes.register()
    assert any_table.adapter_of(frame).column(frame, "n") == [1, None]


def test_decimals_booleans_and_large_integers_keep_their_kind():
    table = pa.table({"d": pa.array([Decimal("0.1")]), "b": [True], "u": pa.array([2**64 - 1], pa.uint64())})
    read = {name: list(dataframes.read(table, name)) for name in table.column_names}
    assert read == {"d": [Decimal("0.1")], "b": [True], "u": [2**64 - 1]}
    assert type(read["b"][0]) is bool


def test_a_pandas_index_survives():
    frame = pd.DataFrame({"n": [1, 2]}, index=["x", "y"])
    out = dataframes.write(frame, {"n": np.array([8, 9])}, {})
    assert out.loc["y", "n"] == 9


def test_integers_beyond_int64_are_held_whatever_their_size():
    large = np.array([2**70, 1], dtype=object)
    assert dataframes.write(pd.DataFrame({"n": [1, 2]}), {"n": large}, {})["n"].tolist() == [2**70, 1]
    assert dataframes.write(pl.DataFrame({"n": [1, 2]}), {"n": large}, {})["n"].to_list() == [2**70, 1]
    assert dataframes.write(pa.table({"n": [1, 2]}), {"n": large}, {})["n"].to_pylist() == [2**70, 1]
    vast = np.array([2**200, 1], dtype=object)
    for frame in (pl.DataFrame({"n": [1, 2]}), pa.table({"n": [1, 2]})):
        assert list(map(int, dataframes.read(dataframes.write(frame, {"n": vast}, {}), "n"))) == vast.tolist()


@pytest.mark.parametrize("true", [3, -(1 << 100)])
def test_integers_of_128_bits_are_released_as_what_they_are(true):
    frame = pl.DataFrame({"n": pl.Series([true, 5], dtype=pl.Int128)})
    found = ut.release(frame, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon=50, once=True).table["n"].to_list()
    assert max(abs(found[0] - true), abs(found[1] - 5)) < 40


def test_two_columns_of_one_name_are_refused():
    dataframes.register()
    with pytest.raises(BadTable, match="column names must be distinct"):
        ut.release(
            pd.DataFrame([[1, 2]], columns=["n", "n"]),
            ut.Promise(columns="n", unit=ut.Unit(1, 1)),
            epsilon=1,
            once=True,
        )


def test_a_lazy_dataframe_is_refused():
    dataframes.register()
    with pytest.raises(BadTable, match=r"Call its collect\(\) first"):
        any_table.adapter_of(pl.LazyFrame({"n": [1]}))


@pytest.mark.parametrize("table", [None, 3, "table", [1, 2], np.zeros((2, 2))], ids=repr)
def test_what_is_no_table_is_refused(table):
    dataframes.register()
    with pytest.raises(BadTable, match="a dict of columns or a dataframe"):
        any_table.adapter_of(table)


def test_without_narwhals_the_extra_is_named():
    code = """if True:
        import sys
        sys.modules["narwhals"] = None
        from utmost.tables.frames import dataframes
        from utmost.errors import Unsupported
        from utmost.tables.frames import any_table
        dataframes.register()
        assert any_table.adapter_of({"a": [1]}).names({"a": [1]}) == ["a"]
        class Frame:
            columns = ["a"]
        try:
            any_table.adapter_of(Frame())
        except Unsupported as error:
            assert 'pip install "utmost[tables]"' in str(error), error
        else:
            raise AssertionError
    """
    python("-c", code)


def test_an_index_is_a_column_that_must_be_declared():
    """Rows that keep the names of people, or tell which rows were left out, are not published by the way."""
    dataframes.register()
    promise = {"columns": "n", "epsilon": 1, "unit": ut.Unit(1, 1)}
    pairs = pd.MultiIndex.from_tuples([(0, 1), (1, 2)], names=["ward", None])
    for index, names in (
        (["Ann", "Bob"], ["index"]),
        ([3, 7], ["index"]),
        (pd.RangeIndex(1, 3), ["index"]),
        (pd.Index(["Ann", "Bob"], name="who"), ["who"]),
        (pairs, ["ward", "level_1"]),
    ):
        frame = pd.DataFrame({"n": [5, 6]}, index=index)
        with pytest.raises(NotDeclared, match=f"dropped; got '{names[0]}'"):
            ut.release(frame, **asked(**promise), once=True)
        kept = ut.release(frame, **asked(public=names, **promise), once=True).table
        assert kept.index.equals(frame.index)
        assert kept.index.names == frame.index.names
        left = ut.release(frame, **asked(drop=names, **promise), once=True).table
        assert list(left.index) == [0, 1]
        assert left.index.names == [None]
    part = ut.release(
        pd.DataFrame({"n": [5, 6]}, index=pairs), **asked(public="ward", drop="level_1", **promise), once=True
    ).table
    assert part.index.tolist() == [0, 1]
    assert part.index.names == ["ward"]
    ut.release(frame.reset_index(drop=True), **asked(**promise), once=True)


def test_nothing_is_published_beside_the_columns(frame):
    """Dropped columns are gone, and so are the notes that a schema or a frame carries along."""
    if isinstance(frame, pa.Table):
        frame = frame.replace_schema_metadata({"secret": "Ann"})
        frame = frame.cast(pa.schema([field.with_metadata({"secret": "Ann"}) for field in frame.schema]))
    if isinstance(frame, pd.DataFrame):
        frame.attrs["secret"] = "Ann"
    release = ut.release(
        frame, ut.Promise(columns="admitted", public="sex", drop="year", unit=ut.Unit(1, 1)), epsilon=1, once=True
    )
    assert list(as_dict(release.table)) == ["sex", "admitted", "admitted_margin"]
    assert type(release.table) is type(frame)
    if isinstance(frame, pa.Table):
        assert release.table.schema.metadata is None
        assert all(field.metadata is None for field in release.table.schema)
    if isinstance(frame, pd.DataFrame):
        assert (release.table.attrs, frame.attrs) == ({}, {"secret": "Ann"})


def test_categories_that_no_cell_has_are_not_published():
    """A table that was filtered keeps the names of those it left out."""
    dataframes.register()
    frame = pd.DataFrame({"ward": pd.Categorical(["a", "b", "Ann"]), "n": [1, 5, 6]})[:2]
    arrow = pa.table({"ward": pa.array(["a", "b", "Ann"]).dictionary_encode(), "n": [1, 5, 6]}).slice(0, 2)
    promise = {"columns": "n", "public": "ward", "epsilon": 1, "unit": ut.Unit(1, 1)}
    assert list(ut.release(frame, **asked(**promise), once=True).table["ward"].cat.categories) == ["a", "b"]
    assert "Ann" in frame["ward"].cat.categories
    column = ut.release(arrow, **asked(**promise), once=True).table.column("ward")
    assert [chunk.dictionary.to_pylist() for chunk in column.chunks] == [["a", "b"]]


@pytest.mark.parametrize("kind", ["int8", "uint16", "int64", "uint64", "float32", "float64"])
def test_numbers_pass_through_arrow_as_they_are(kind):
    """Out of an Arrow table in pieces, some cut out of larger ones, and into one: same numbers, same type."""
    numbers = np.array([1, 2, 3, 100, 5], kind)
    pieces = pa.chunked_array([pa.array(numbers)[1:3], pa.array(numbers[:0]), pa.array(numbers)[3:]])
    frame = pa.table({"n": pieces, "m": pa.array(["a", "b", "c", "d"])})
    read = dataframes.read(frame, "n")
    assert read.dtype == numbers.dtype
    assert read.tolist() == numbers[1:].tolist()
    written = dataframes.write(frame, {"n": read[::-1], "k": read}, {"k": "n"})
    assert written.column_names == ["n", "k", "m"]
    assert written["n"].type == pieces.type
    assert written["n"].to_pylist() == numbers[:0:-1].tolist()
    assert dataframes.read(pa.table({"n": pa.array([], kind)}), "n").dtype == numbers.dtype


def test_a_parquet_file_is_released_without_pandas(tmp_path):
    """Loading pandas takes longer than the release of a million rows."""
    parquet.write_table(pa.table({"n": [1, 2], "w": ["a", "b"]}), tmp_path / "t.parquet")
    start = "import sys; from utmost.interfaces.cli.main import main\n"
    code = f"{start}try: main()\nfinally: assert 'pandas' not in sys.modules"
    promise = ["--columns", "n", "--public", "w", "--epsilon", "1", "--sensitivity", "1", "--cells", "1"]
    files = str(tmp_path / "t.parquet"), *promise, "--out", str(tmp_path / "out.parquet")
    python("-c", code, "release", *files)
    assert parquet.read_table(tmp_path / "out.parquet").column_names == ["n", "n_margin", "w"]
