"""A release holds no cell outside the published table: neither in its files, nor in its memory, nor in its pickles."""

import pickle
import struct
from decimal import Decimal

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import ipc

import utmost as ut
from every_format import WRITTEN
from utmost.tables.files.table_formats import as_arrow

TEXT, NUMBER = "HIDDEN-text-longer-than-12-bytes", 987654321987654
MARKERS = (
    b"HIDDEN",
    *(struct.pack("<q", number) for number in (NUMBER, 100 * NUMBER)),
    struct.pack("<d", float(NUMBER)),
    str(NUMBER).encode(),
)
PROMISE = ut.Promise("n", public="ward", unit=ut.Unit(1, 1))


def hidden_in(content):
    return [marker for marker in MARKERS if marker in content]


def feather_of(table):
    sink = pa.BufferOutputStream()
    with ipc.new_file(sink, table.schema) as file:
        file.write_table(table)
    return sink.getvalue().to_pybytes()


def texts(kind):
    return pa.array(["Ash" * 6, None, "Elm" * 6, TEXT, TEXT]).cast(kind)


def numbers(kind):
    return pa.array([1, None, 2, NUMBER, NUMBER]).cast(kind)


def lists(kind):
    return pa.array([["Ash"], None, ["Elm", None], [TEXT], [TEXT]], kind)


UUIDS = pa.array([b"a" * 16, None, b"b" * 16, b"HIDDEN-HIDDEN-12", b"HIDDEN-HIDDEN-34"], pa.binary(16))
PAIRS = [[("a", 1)], None, [("b", None)], [(TEXT, NUMBER)], [(TEXT, 2)]]
COLUMNS = {
    "string": texts(pa.string()),
    "large string": texts(pa.large_string()),
    "string view": texts(pa.string_view()),
    "binary": texts(pa.binary()),
    "binary view": texts(pa.binary()).cast(pa.binary_view()),
    "dictionary": texts(pa.string()).dictionary_encode(),
    "dictionary of views": pa.DictionaryArray.from_arrays(
        pa.array([0, None, 1, 2, 2], pa.int8()), pa.array(["Ash", "Elm", TEXT]).cast(pa.string_view())
    ),
    "runs": pa.compute.run_end_encode(texts(pa.string())),
    "list": lists(pa.list_(pa.string())),
    "large list": lists(pa.large_list(pa.string())),
    "list view": lists(pa.list_view(pa.string())),
    "list of dictionaries": pa.ListArray.from_arrays(
        pa.array([0, 1, 2, 3, 4, 5]), pa.array(["a", "b", "c", TEXT, TEXT]).dictionary_encode()
    ),
    "pairs": pa.array([[1, 2], None, [3, None], [NUMBER, 1], [NUMBER, 2]], pa.list_(pa.int64(), 2)),
    "struct": pa.array([{"a": "x", "b": 1}, None, {"a": None, "b": 2}, {"a": TEXT, "b": NUMBER}, {"a": TEXT, "b": 3}]),
    "map": pa.array(PAIRS, pa.map_(pa.string(), pa.int64())),
    "sparse union": pa.UnionArray.from_sparse(
        pa.array([0, 1, 0, 1, 0], pa.int8()),
        [pa.array(["a", TEXT, "b", TEXT, TEXT]), pa.array([NUMBER, 1, NUMBER, 2, NUMBER])],
    ),
    "integer": numbers(pa.int64()),
    "float": numbers(pa.float64()),
    "timestamp": numbers(pa.timestamp("us", "UTC")),
    "duration": numbers(pa.duration("us")),
    "decimal": pa.array([Decimal(1), None, Decimal(2), Decimal(NUMBER), Decimal(NUMBER)], pa.decimal128(30, 2)),
    "bytes of 16": UUIDS,
    "extension": pa.ExtensionArray.from_storage(pa.uuid(), UUIDS),
}
SLICES = {
    "one slice": lambda column: [column.slice(0, 3)],
    "middle": lambda column: [column.slice(1, 2)],
    "two chunks": lambda column: [column.slice(0, 1), column.slice(2, 1)],
    "no rows": lambda column: [column.slice(0, 0)],
}


@pytest.mark.parametrize("form", SLICES)
@pytest.mark.parametrize("name", COLUMNS)
def test_a_slice_of_an_arrow_column_is_alone(name, form):
    """Arrow shares the memory of the whole column with a slice, and pickles it whole."""
    column = pa.chunked_array(SLICES[form](COLUMNS[name]))
    table = as_arrow(pa.table({"ward": column}))
    table.validate(full=True)
    assert table["ward"].to_pylist() == column.to_pylist()
    assert not hidden_in(feather_of(table))
    assert not hidden_in(pickle.dumps(table))


def emptied(kind, buffers):
    return pa.Array.from_buffers(kind, 2, [pa.py_buffer(b"\x01"), *map(pa.py_buffer, buffers)])


def nullable():
    column = pd.array([111111, NUMBER], dtype="Int64")
    column._mask[1] = True
    return column


def frame_of(column, **options):
    return pd.DataFrame({"ward": column, "n": range(601, 601 + len(column))}, **options)


def named_frame():
    frame = frame_of(["Ash", "Elm"]).rename_axis(columns="HIDDEN-header", index="HIDDEN-rows")
    frame.attrs = {"note": TEXT}
    return frame


NAMES = ["Ash" * 6, "Elm" * 6, *(f"{TEXT}-{row}" for row in range(50))]
BUFFERS = {
    "int": (pa.int64(), [struct.pack("<2q", 1, NUMBER)]),
    "float": (pa.float64(), [struct.pack("<2d", 1, NUMBER)]),
    "text": (pa.string(), [struct.pack("<3i", 0, 1, 1 + len(TEXT)), b"A" + TEXT.encode()]),
}
SLICED = pa.table({"ward": NAMES, "n": range(len(NAMES))}).slice(0, 2)
TABLES = {
    "arrow, slice": lambda: SLICED,
    "arrow, batch": lambda: SLICED.to_batches()[0],
    "arrow, number under null": lambda: pa.table({"ward": emptied(*BUFFERS["int"]), "n": [601, 370]}),
    "arrow, float under null": lambda: pa.table({"ward": emptied(*BUFFERS["float"]), "n": [601, 370]}),
    "arrow, text under null": lambda: pa.table({"ward": emptied(*BUFFERS["text"]), "n": [601, 370]}),
    "dict, arrow": lambda: {"ward": pa.array(NAMES).slice(0, 2), "n": [601, 370]},
    "dict, masked numbers": lambda: {"ward": np.ma.array([1, NUMBER], mask=[0, 1]), "n": [601, 370]},
    "dict, masked texts": lambda: {"ward": np.ma.array(["A", TEXT], mask=[0, 1]), "n": [601, 370]},
    "dict, categories": lambda: {"ward": pd.Series(NAMES, dtype="category").head(2), "n": [601, 370]},
    "dict, series": lambda: {
        "ward": pd.Series(["Ash", "Elm"], index=pd.Index(NAMES[-2:], name="HIDDEN")),
        "n": [601, 370],
    },
    "dict, narwhals": lambda: {
        "ward": nw.from_native(pl.Series(NAMES, dtype=pl.Enum(NAMES)).head(2), series_only=True),
        "n": [601, 370],
    },
    "pandas, head": lambda: frame_of(pd.array(NAMES, dtype="string[pyarrow]")).head(2),
    "pandas, Arrow": lambda: frame_of(pd.array(NAMES, dtype=pd.ArrowDtype(pa.string()))).head(2),
    "pandas, dictionary": lambda: frame_of(
        pd.Series(NAMES, dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())))
    ).head(2),
    "pandas, categories": lambda: frame_of(pd.Categorical(NAMES)).head(2),
    "pandas, number under the mask": lambda: frame_of(nullable()),
    "pandas, names": named_frame,
    "polars, head": lambda: pl.DataFrame({"ward": NAMES, "n": range(len(NAMES))}).head(2),
    "polars, enum": lambda: pl.DataFrame({"ward": pl.Series(NAMES, dtype=pl.Enum(NAMES)), "n": range(52)}).head(2),
    "polars, list of enums": lambda: pl.DataFrame(
        {"ward": pl.Series([[name] for name in NAMES], dtype=pl.List(pl.Enum(NAMES))), "n": range(52)}
    ).head(2),
    "polars, struct of enums": lambda: pl.DataFrame(
        {"ward": pl.Series([{"a": name} for name in NAMES], dtype=pl.Struct({"a": pl.Enum(NAMES)})), "n": range(52)}
    ).head(2),
    "polars, number under null": lambda: pl.from_arrow(pa.table({"ward": emptied(*BUFFERS["int"]), "n": [601, 370]})),
}


def check(answer, folder, endings=()):
    assert not hidden_in(pickle.dumps(answer.table))
    if hasattr(answer.table, "__arrow_c_stream__"):
        assert not hidden_in(feather_of(pa.table(answer.table)))
    assert not hidden_in(pickle.dumps(answer.withhold(below=10).table))
    for ending in endings:
        file = folder / f"t{ending}"
        answer.save(file, overwrite=True)
        assert not hidden_in(file.read_bytes()), ending


@pytest.mark.parametrize("name", TABLES)
def test_releases_hold_only_published_cells(name, tmp_path):
    table = TABLES[name]()
    check(ut.release(table, PROMISE, epsilon=1, once=True), tmp_path, WRITTEN)
    with ut.Ledger.open(tmp_path / "l.db", create=True) as ledger:
        check(ledger.publish("r", table, PROMISE, epsilon=1), tmp_path)
        check(ledger.view("r", epsilon="1/2"), tmp_path)
        check(ledger.relax("r", table, epsilon=2), tmp_path)


def test_numbers_under_the_mask_are_gone():
    """The cells below the mask of a NumPy array are part of the array."""
    table = ut.release(TABLES["dict, masked numbers"](), PROMISE, epsilon=1, once=True).table
    assert table["ward"].tolist() == [1, None]
    assert table["ward"].data.tolist() == [1, 0]
    sliced = {"ward": np.array(NAMES)[:2], "n": [601, 370]}
    ward = ut.release(sliced, PROMISE, epsilon=1, once=True).table["ward"]
    assert ward.dtype == "<U18"
    assert ward.base is None


def test_names_beside_the_columns_of_pandas_are_gone():
    table = ut.release(named_frame(), PROMISE, epsilon=1, once=True).table
    assert table.columns.name is None
    assert table.index.name is None
    assert not table.attrs


LAZY = {
    "text": (pl.String, NAMES),
    "enum": (pl.Enum(NAMES), NAMES),
    "list": (pl.List(pl.String), [[name] for name in NAMES]),
    "list of enums": (pl.List(pl.Enum(NAMES)), [[name] for name in NAMES]),
    "struct of enums": (pl.Struct({"a": pl.Enum(NAMES)}), [{"a": name} for name in NAMES]),
}
BY_ID = ut.Promise("n", public=["ward", "id"], id_column="id", unit=ut.Unit(1, 1))


@pytest.mark.parametrize("kind", LAZY)
def test_lazy_frames_hold_only_published_cells(kind, tmp_path):
    """Polars shares texts with rows that a filter removed, and the type of an Enum lists its categories."""
    of, cells = LAZY[kind]
    rows = pl.DataFrame({"id": range(52), "ward": pl.Series(cells, dtype=of), "n": range(601, 653)})
    answer = ut.release(rows.lazy().filter(pl.col("id") < 2), BY_ID, epsilon=1, once=True)
    table = answer.table.collect()
    assert str(table["ward"].to_list()) == str(rows.head(2)["ward"].to_list())
    assert b"HIDDEN" not in pickle.dumps(table)
    assert b"HIDDEN" not in feather_of(table.to_arrow())
    answer.save(tmp_path / "t.parquet")
    assert b"HIDDEN" not in (tmp_path / "t.parquet").read_bytes()


@pytest.mark.parametrize("cell", ["ward", "[ward]", "{'a': ward}", "union_value(a := ward)"])
def test_relations_hold_only_published_cells(cell):
    rows = pa.table({"id": list(range(52)), "ward": NAMES, "n": list(range(601, 653))})  # noqa: F841
    relation = duckdb.connect().sql(f"SELECT id, {cell} AS ward, n FROM rows WHERE id < 2")
    table = ut.release(relation, BY_ID, epsilon=1, once=True).table.to_arrow_table()
    assert table["ward"].to_pylist() == relation.to_arrow_table()["ward"].to_pylist()
    assert b"HIDDEN" not in feather_of(table)
