"""Dataframes of pandas, Polars, Arrow and all other libraries that narwhals supports. A release returns a dataframe of
the same kind.

Files are read into Arrow tables. Arrow tables are read without narwhals where possible, because importing narwhals
takes as long as processing a million rows.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import BadTable
from utmost.tables.frames import adapters, fresh_columns, pandas_frames
from utmost.tables.frames.adapters import Column
from utmost.tables.frames.wide_integers import wide_in_arrow
from utmost.tables.optional_imports import extra

_BATCH = "/batch"
"""The ending of the text that describes the kind of a record batch."""


def read(frame: Any, name: str) -> Column:
    """One column: an array if all cells are integers or floats, else a list whose missing cells are None."""
    return _cells(_eager(frame).get_column(name))


def _cells(column: Any) -> Column:
    missing = column.is_null()
    if not missing.any():
        # NumPy has no type for integers of 128 bits.
        if (
            column.dtype.is_numeric()
            and not column.dtype.is_decimal()
            and str(column.dtype) not in ("Int128", "UInt128")
        ):
            if not column.implementation.is_pyarrow() or not len(column):
                return np.asarray(column.to_numpy())
            return _arrow_numbers(column.to_native())
        if not column.implementation.is_pandas_like():
            return list(column.to_list())
    return [None if gone else cell for cell, gone in zip(column.to_list(), missing.to_list(), strict=True)]


def _arrow_numbers(column: Any) -> NDArray[Any]:
    """An Arrow column of numbers without missing cells, as an array."""
    # Arrow's own conversion imports pandas if that is installed, which takes longer than the release.
    parts = [np.from_dlpack(part) for part in column.chunks if len(part)]
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.asarray(column.to_numpy())


def write(frame: Any, columns: Mapping[str, Column], after: Mapping[str, str]) -> Any:
    """Return a dataframe of the same library with these columns; the rows keep their order and their index."""
    # Released integers that do not fit become wider integers, decimals, or text: the noise has already been drawn, so
    # nothing is refused here. The type is a function of released values.
    eager = _eager(frame)
    series = [_series(name, np.asarray(column), eager.implementation) for name, column in columns.items()]
    return eager.with_columns(*series).select(adapters.column_order(eager.columns, after)).to_native()


def register() -> None:
    """Register the adapters of dataframes. The first dataframe imports narwhals."""
    pandas_frames.register()
    adapters.register(_ArrowAdapter())
    adapters.register(_DataframeAdapter())


class _DataframeAdapter(adapters.TableAdapter):
    def knows(self, table: Any) -> bool:
        """Whether narwhals reads the table; a lazy dataframe is refused."""
        # Tables of other adapters do not need narwhals, which a minimal installation lacks.
        if find_spec("narwhals") is None and not hasattr(table, "columns"):
            return False
        nw = _narwhals()
        frame = through_narwhals(table, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            raise BadTable("a table must be in memory", came="a lazy dataframe", remedy="Call its collect() first.")
        return isinstance(frame, nw.DataFrame)

    def names(self, table: Any) -> list[str]:
        frame, index = _eager(table), getattr(table, "index", None)
        # In frames that only resemble those of pandas, an index of names would be published.
        if index is not None and frame.implementation.is_pandas_like() and list(index) != list(range(len(index))):
            remedy = "Call reset_index() to make the index a column, or reset_index(drop=True) to leave it out."
            raise BadTable("the rows must be numbered 0, 1, 2, ...", came="another index", remedy=remedy)
        return list(frame.columns)

    def column(self, table: Any, name: str, most: int | None = None) -> Column:
        column = _eager(table).get_column(name)
        return _cells(column if most is None else column.head(most))

    def with_columns(self, table: Any, columns: Mapping[str, Column], after: Mapping[str, str]) -> Any:
        return _batch_if_batch(table, write(table, columns, after))

    def without(self, table: Any, names: Sequence[str]) -> Any:
        return _batch_if_batch(table, _bare(_eager(table).drop(*names).to_native()))

    def kind(self, table: Any, names: Sequence[str]) -> str:
        kind = f"dataframe:{_eager(table).implementation.value}"
        return f"{kind}{_BATCH}" if _is_batch(table) else kind

    def made(self, kind: str, columns: Mapping[str, Column]) -> Any:
        whole = kind.removesuffix(_BATCH)
        adapter, _, library = whole.partition(":")
        if adapter != "dataframe" or find_spec("narwhals") is None or find_spec(library) is None:
            return None
        nw = _narwhals()
        backend = nw.Implementation.from_string(library)
        series = [
            nw.new_series(name, column, backend=backend)
            if isinstance(column, list)
            else _series(name, np.asarray(column), backend)
            for name, column in columns.items()
        ]
        # narwhals' from_dict takes Polars' series through Arrow, which has no integers of 128 bits.
        frame = series[0].to_frame().with_columns(*series[1:]).to_native()
        return frame if whole == kind else _batch_of(frame)


class _ArrowAdapter(_DataframeAdapter):
    """Tables and record batches of Arrow. Columns that Arrow does not take from NumPy unchanged go through narwhals."""

    def knows(self, table: Any) -> bool:
        return type(table).__module__.startswith("pyarrow") and type(table).__name__ in ("Table", "RecordBatch")

    def names(self, table: Any) -> list[str]:
        return adapters.distinct_names(table.schema.names)

    def column(self, table: Any, name: str, most: int | None = None) -> Column:
        arrow, column = extra("pyarrow", "tables"), _as_frame(table).column(name)
        column = column if most is None else column.slice(0, most)
        kinds, kind = arrow.types, column.type
        is_number = kinds.is_integer(kind) or kinds.is_float32(kind) or kinds.is_float64(kind)
        if is_number and not column.null_count:
            return _arrow_numbers(column)
        try:
            cells: list[Any] = column.to_pylist()
        except (OverflowError, ValueError):  # Arrow's message may quote the cell
            required, remedy = "dates and times must lie in the years 1 to 9999", "Drop the rows, or the column."
            raise BadTable(required, came="another year", where=f"column {name!r}", remedy=remedy) from None
        return cells

    def with_columns(self, table: Any, columns: Mapping[str, Column], after: Mapping[str, str]) -> Any:
        arrays = {name: np.asarray(column) for name, column in columns.items()}
        if any(column.dtype.kind not in "iuf" for column in arrays.values()):
            return super().with_columns(table, columns, after)
        frame, known = _as_frame(table), table.schema.names
        for name, array in arrays.items():
            put = partial(frame.set_column, known.index(name)) if name in known else frame.append_column
            frame = put(name, _in_arrow(array))
        return _batch_if_batch(table, frame.select(adapters.column_order(known, after)))

    def without(self, table: Any, names: Sequence[str]) -> Any:
        remaining = [name for name in table.schema.names if name not in names]
        return _batch_if_batch(table, _bare(_as_frame(table).select(remaining)))

    def kind(self, table: Any, names: Sequence[str]) -> str:
        return f"dataframe:pyarrow{_BATCH}" if _is_batch(table) else "dataframe:pyarrow"


def _eager(table: Any) -> Any:
    return through_narwhals(table, eager_only=True)


def through_narwhals(table: Any, **options: bool) -> Any:
    """The table as a narwhals frame."""
    nw = _narwhals()
    try:
        return nw.from_native(_as_frame(table), **options)
    except nw.exceptions.DuplicateError:
        raise BadTable("column names must be distinct", came="one name twice") from None


def _as_frame(table: Any) -> Any:
    """An Arrow record batch as a table, and a Polars series as a frame of one column. Any other table is returned
    unchanged.
    """
    if _is_batch(table):
        return extra("pyarrow", "tables").Table.from_batches([table])
    if type(table).__module__.startswith("polars.series") and hasattr(table, "to_frame"):
        return table.to_frame(table.name or "value")
    return table


def _is_batch(table: Any) -> bool:
    return type(table).__name__ == "RecordBatch" and type(table).__module__.startswith("pyarrow")


def _batch_if_batch(table: Any, frame: Any) -> Any:
    """Return the frame as a record batch if the original table was a record batch."""
    return _batch_of(frame) if _is_batch(table) else frame


def _batch_of(table: Any) -> Any:
    whole = table.combine_chunks()
    arrays = [column.chunk(0) for column in whole.columns]
    return extra("pyarrow", "tables").RecordBatch.from_arrays(arrays, schema=whole.schema)


def _bare(table: Any) -> Any:
    """Return the table with only its cells and names: without the metadata of an Arrow schema, the attrs of a frame,
    unused categories, and cells of removed rows.
    """
    if hasattr(table, "replace_schema_metadata"):
        return fresh_table(table)
    if type(table).__module__.startswith("polars"):
        return table.with_columns([fresh_columns.fresh_polars(column) for column in table.get_columns()])
    if not hasattr(table, "attrs"):
        return table
    table = table.copy()
    table.attrs = {}
    for name in table.columns[[str(kind) == "category" for kind in table.dtypes]]:
        table[name] = table[name].cat.remove_unused_categories()
    return table


def fresh_table(table: Any) -> Any:
    """Return an Arrow table in fresh memory and without metadata."""
    columns = map(fresh_columns.fresh_arrow, table.columns)
    return extra("pyarrow", "tables").table(dict(zip(table.column_names, columns, strict=True)))


def _series(name: str, column: Any, implementation: Any) -> Any:
    nw = _narwhals()
    if column.dtype != object:
        if implementation.is_pyarrow() and column.dtype.kind in "iuf":
            return nw.from_native(_in_arrow(column), series_only=True).alias(name)
        return nw.new_series(name, column, backend=implementation)
    if implementation.is_pyarrow():
        return nw.from_native(wide_in_arrow(column), series_only=True).alias(name)
    kind = nw.Object if implementation.is_pandas_like() else nw.Int128
    try:
        return nw.new_series(name, column.tolist(), kind, backend=implementation)
    except (AssertionError, OverflowError, TypeError, ValueError, NotImplementedError):
        return nw.new_series(name, list(map(str, column.tolist())), nw.String, backend=implementation)


def _in_arrow(column: NDArray[Any]) -> Any:
    """Return the numbers as an Arrow column over a copy of their memory. Arrow's own conversion is avoided because it
    imports pandas.
    """
    arrow = extra("pyarrow", "tables")
    buffers = [None, arrow.py_buffer(np.array(column, order="C"))]
    kind = arrow.from_numpy_dtype(column.dtype)
    return arrow.chunked_array([arrow.Array.from_buffers(kind, len(column), buffers)])


def _narwhals() -> Any:
    return extra("narwhals", "tables")
