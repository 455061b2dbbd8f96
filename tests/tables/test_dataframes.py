"""Dataframes: columns read as they are, and a dataframe of the same library given back."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import utmost as ut
from asking import asked
from running import python
from utmost.errors import BadTable, NotDeclared, Unsupported, UtmostError

COLUMNS = {"sex": ["men", "women"], "admitted": [512, 89], "year": [1973, 1973]}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


@pytest.fixture(params=FRAMES.values(), ids=FRAMES.keys())
def frame(request):
    return request.param(COLUMNS)


def as_dict(frame):
    if isinstance(frame, pa.Table):
        return frame.to_pydict()
    return frame.to_dict("list") if isinstance(frame, pd.DataFrame) else frame.to_dict(as_series=False)


def test_series_of_different_indexes_are_laid_together_by_nobody():
    """By place another person's value would stand beside a label than by index, as pandas has it."""
    labels, values = pd.Series(["A", "B"]), pd.Series([2, 1]).sort_values()
    promise = ut.Promise("n", public="ward", unit=ut.Unit(1, 1))
    with pytest.raises(BadTable, match="same index"):
        ut.release({"ward": labels, "n": values}, promise, epsilon=1)
    ut.release({"ward": labels, "n": values.sort_index()}, promise, epsilon=1)
    ut.release({"ward": labels, "n": values.tolist()}, promise, epsilon=1)


PROMISE = ut.Promise("n", unit=ut.Unit(1, 1))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"n": pd.array([1, None], dtype="Int64")}),
        pd.DataFrame({"n": [1, None]}),
        pl.DataFrame({"n": [1, None]}),
        pa.table({"n": [1, None]}),
    ],
)
def test_a_missing_cell_is_refused_by_its_row(frame):
    with pytest.raises(BadTable, match=r"row 2.*missing"):
        ut.release(frame, PROMISE, epsilon=1, once=True)


@pytest.mark.parametrize("large", [2**70, 2**200])
def test_integers_beyond_int64_are_released_whatever_their_size(large):
    numbers = {"n": np.array([large, 1], dtype=object)}
    for frame in (numbers, pd.DataFrame(numbers)):
        assert list(ut.release(frame, PROMISE, epsilon=90, once=True).table["n"]) == [large, 1]


@pytest.mark.parametrize("true", [3, -(1 << 100)])
def test_integers_of_128_bits_are_released_as_what_they_are(true):
    frame = pl.DataFrame({"n": pl.Series([true, 5], dtype=pl.Int128)})
    found = ut.release(frame, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon=50, once=True).table["n"].to_list()
    assert max(abs(found[0] - true), abs(found[1] - 5)) < 40


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(BadTable, match="distinct"):
        ut.release(
            pd.DataFrame([[1, 2]], columns=["n", "n"]),
            ut.Promise(columns="n", unit=ut.Unit(1, 1)),
            epsilon=1,
            once=True,
        )


@pytest.mark.parametrize("table", [None, 3, "table", [1, 2], np.zeros((2, 2))], ids=repr)
def test_what_is_no_table_is_refused(table):
    with pytest.raises(UtmostError):
        ut.release(table, PROMISE, epsilon=1, once=True)


def test_without_narwhals_the_extra_is_named(monkeypatch):
    for name in ("narwhals", "narwhals.stable", "narwhals.stable.v2"):
        monkeypatch.setitem(sys.modules, name, None)

    class Frame:
        columns = ("n",)

    ut.release({"n": [1]}, PROMISE, epsilon=1, once=True)
    with pytest.raises(Unsupported, match=r'pip install "utmost\[tables\]"'):
        ut.release(Frame(), PROMISE, epsilon=1, once=True)


def test_an_index_is_a_column_that_must_be_declared():
    """Rows that keep the names of people, or tell which rows were left out, are not published by the way."""
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
    frame = pd.DataFrame({"ward": pd.Categorical(["a", "b", "Ann"]), "n": [1, 5, 6]})[:2]
    arrow = pa.table({"ward": pa.array(["a", "b", "Ann"]).dictionary_encode(), "n": [1, 5, 6]}).slice(0, 2)
    promise = {"columns": "n", "public": "ward", "epsilon": 1, "unit": ut.Unit(1, 1)}
    assert list(ut.release(frame, **asked(**promise), once=True).table["ward"].cat.categories) == ["a", "b"]
    assert "Ann" in frame["ward"].cat.categories
    column = ut.release(arrow, **asked(**promise), once=True).table.column("ward")
    assert [chunk.dictionary.to_pylist() for chunk in column.chunks] == [["a", "b"]]


@pytest.mark.parametrize("kind", ["int8", "uint16", "int64", "uint64", "float32", "float64"])
def test_public_numbers_pass_through_arrow_as_they_are(kind):
    """Out of an Arrow table in pieces, some cut out of larger ones, and into one: same numbers, same type."""
    numbers = np.array([1, 2, 3, 100, 5], kind)
    pieces = pa.chunked_array([pa.array(numbers)[1:3], pa.array(numbers[:0]), pa.array(numbers)[3:]])
    frame = pa.table({"n": [9, 8, 7, 6], "k": pieces})
    made = ut.release(frame, ut.Promise("n", public="k", unit=ut.Unit(1, 1)), epsilon=90, once=True).table
    assert made.column_names == ["n", "n_margin", "k"]
    assert made["k"].type == pieces.type
    assert made["k"].to_pylist() == numbers[1:].tolist()
    if "float" not in kind:
        assert ut.release(pa.table({"n": pieces}), PROMISE, epsilon=90, once=True).table["n"].to_pylist() == [
            2,
            3,
            100,
            5,
        ]


def test_a_parquet_file_is_released_without_pandas(tmp_path):
    """Loading pandas takes longer than the release of a million rows."""
    parquet.write_table(pa.table({"n": [1, 2], "w": ["a", "b"]}), tmp_path / "t.parquet")
    code = "import runpy, sys\ntry: runpy.run_module('utmost', run_name='__main__', alter_sys=True)\n"
    code += "finally: assert 'pandas' not in sys.modules"
    promise = ["--columns", "n", "--public", "w", "--epsilon", "1", "--sensitivity", "1", "--cells", "1"]
    files = str(tmp_path / "t.parquet"), *promise, "--out", str(tmp_path / "out.parquet")
    python("-c", code, "release", *files)
    assert parquet.read_table(tmp_path / "out.parquet").column_names == ["n", "n_margin", "w"]
