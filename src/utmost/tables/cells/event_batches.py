"""Read events of any kind in batches: dicts of columns, frames of any library through narwhals, CSV and Parquet files.

Only the columns that are needed are read. Engines count the events of their frames themselves.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from utmost.core.exact.arguments import instance
from utmost.core.exact.progress_bar import report_progress
from utmost.errors import BadTable
from utmost.tables.cells.spelling import PLAIN_SPELLING, Spelling
from utmost.tables.engines.engines import engine_frame
from utmost.tables.files import files
from utmost.tables.files.csv_table import CsvPieces, CsvTable, spelling_of
from utmost.tables.files.hive_folders import FolderColumns
from utmost.tables.files.parquet_pieces import ParquetPieces
from utmost.tables.frames import dataframes
from utmost.tables.frames.adapters import COLUMNS, check_columns_exist
from utmost.tables.frames.pandas_frames import cells_of_categories, is_categorical
from utmost.tables.optional_imports import extra

Batch = Mapping[str, Any]
"""Some of the events: columns by name. Each column is an Arrow array, a NumPy array or a list, and all have the same
length.
"""

_ROWS = 1 << 18
_MANY = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """A table of events that is read once."""

    kind: str  # kind of the tables that are made from the events, see `TableAdapter.kind`
    rows: int  # number of rows to come to come
    batches: Callable[[], Iterator[Batch]]
    in_memory: bool = True  # whether the rows are already in memory
    folders: FolderColumns | None = None  # columns whose cells are in the names of a directory's folders

    def watched(self) -> Iterator[Batch]:
        """Yield the batches, and report each one as done when the next one is requested."""
        done = 0
        for batch in self.batches():
            yield batch
            done += len(next(iter(batch.values())))
            report_progress(done, self.rows)


def read_events(
    events: Any, wanted: Sequence[str], values: Sequence[str] = (), spelling: Spelling = PLAIN_SPELLING
) -> Events:
    """Open a table of events to read the columns ``wanted``. If the list is empty, one column is read to count rows."""
    # Events are a dict of columns, a list of dicts (rows), a structured NumPy array, a frame of any library that
    # narwhals reads, a CSV table, or the path of a file or of a directory of Parquet files. ``values`` are columns of
    # amounts, whose numbers have the given spelling.
    if isinstance(events, Path):
        if events.is_dir() or events.suffix.lower() in files.PARQUET:
            whole = ParquetPieces.of(events)
            check_columns_exist(wanted, whole.names)
            wanted = wanted or any_column(whole.names)
            return Events("dataframe:pyarrow", whole.rows, lambda: whole.batches(wanted, _ROWS), False, whole.folders)
        events = files.read(events, as_events=True)
    if isinstance(events, CsvTable):
        events = replace(events, header=tuple(_without_quotes(events.header, wanted)))
        check_columns_exist(wanted, events.header)
        wanted = wanted or any_column(events.header)
        in_arrow = events.rows >= _MANY and find_spec("pyarrow") is not None
        return Events("columns:", events.rows, lambda: _csv_batches(events, wanted, values, in_arrow, spelling), False)
    if isinstance(events, list):
        events = _columns_of_rows(events)
    if isinstance(events, np.ndarray) and events.dtype.names is not None:
        events = {name: events[name] for name in events.dtype.names}
    if isinstance(events, Mapping):
        names = COLUMNS.names(events)
        check_columns_exist(wanted, names)
        wanted = wanted or any_column(names)
        chosen = {name: _as_array_or_list(events[name]) for name in wanted}
        rows = len(chosen[wanted[0]])
        for name, column in chosen.items():
            if isinstance(column, np.ndarray) and column.ndim != 1:
                raise BadTable(
                    "a column must be one-dimensional",
                    came=f"shape {column.shape}",
                    where=f"column {name!r}",
                    remedy="Call, for example, ravel() on the column.",
                )
        # With fewer rows, loading Arrow takes longer than it saves.
        if rows >= _MANY and find_spec("pyarrow") is not None:
            chosen = {name: _as_arrow_if_plain(column) for name, column in chosen.items()}
        return Events("columns:", rows, lambda: _slices(chosen, rows))
    nw = extra("narwhals", "tables")
    frame = dataframes.through_narwhals(events, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        engine_frame(events)  # an unknown engine is refused; known engines count their own frames
    if not isinstance(frame, nw.DataFrame):
        remedy = 'Pass {"user": [...]}, a pandas, Polars, Arrow or DuckDB table, or the pathlib.Path of a file.'
        raise BadTable(
            "events must be a dict of columns, a list of dicts or a dataframe",
            came=type(events).__name__,
            remedy=remedy,
        )
    check_columns_exist(wanted, frame.columns)
    frame = frame.select(*(wanted or any_column(frame.columns)))
    columns = {name: _arrow_or_list(frame.get_column(name), nw) for name in frame.columns}
    rows = len(frame)
    return Events(f"dataframe:{frame.implementation.value}", rows, lambda: _slices(columns, rows))


def _without_quotes(names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The names of a file's columns. A column whose name in the file is 'PID', with quotes, is called PID if ``wanted``
    contains PID.
    """
    bare = {f"{quote}{name}{quote}": name for name in wanted if name not in names for quote in _QUOTES}
    found = [bare.get(name, name) for name in names]
    return found if len(set(found)) == len(names) else list(names)


_QUOTES = ("'", '"', "`")


def spelling_of_table(table: Any, spelling: Spelling) -> Spelling:
    """Complete a spelling by the marks in the declaration of a file. A table in memory has no declaration."""
    spelling, path = instance(spelling, Spelling, "spelling"), table.path if isinstance(table, CsvTable) else table
    return spelling.completed_by(spelling_of(path)) if isinstance(path, Path) else spelling


def any_column(names: Sequence[str]) -> list[str]:
    """The first column, which is read to count rows if no column is needed."""
    if not names:
        raise BadTable("a table must have at least one column", came="none", remedy="Add a column of any kind.")
    return [names[0]]


def _columns_of_rows(rows: list[Any]) -> dict[str, list[Any]]:
    """Turn a list of dicts into columns, in the order in which their names first appear. A name that a row lacks
    becomes a missing cell.
    """
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        came = "no rows, so no columns" if not rows else "a row of another type"
        remedy = 'Pass {"user": [...]}, which names its columns even without rows.'
        raise BadTable("each row of a list must be a mapping from names to values", came=came, remedy=remedy)
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _as_arrow_if_plain(column: Any) -> Any:
    """Return a list of text, or of 64-bit integers, as an Arrow array, and any other column unchanged."""
    is_array = type(column) is np.ndarray and column.ndim == 1 and column.dtype.kind in "OU"
    cells = column.tolist() if is_array else column
    kinds = set(map(type, cells)) - {type(None)} if isinstance(cells, list) else set()
    if kinds not in ({str}, {int}):
        return column
    arrow = extra("pyarrow", "tables")
    try:
        return arrow.array(cells, arrow.large_string() if kinds == {str} else arrow.int64())
    # The list contains text with a lone surrogate, or an integer beyond 64 bits.
    except (arrow.ArrowException, UnicodeError, OverflowError):
        return column


def _as_array_or_list(column: Any) -> Any:
    """Return the column as an array or a list. Nullable integers become a list: an array would have floats."""
    if isinstance(column, list | tuple | np.ndarray) or hasattr(column, "dictionary_encode"):
        return column
    if is_categorical(column):
        return cells_of_categories(column)
    listed = getattr(column, "to_list", None) or getattr(column, "tolist", None)
    if listed is None or isinstance(getattr(column, "dtype", None), np.dtype):
        return np.asarray(column)
    return listed()


def _slices(columns: Mapping[str, Any], rows: int) -> Iterator[Batch]:
    # At least one batch is read, so that the types of empty columns are checked.
    for start in range(0, max(rows, 1), _ROWS):
        yield {name: column[start : start + _ROWS] for name, column in columns.items()}


def _csv_batches(
    events: CsvTable, wanted: Sequence[str], values: Sequence[str], in_arrow: bool, spelling: Spelling
) -> Iterator[Batch]:
    has_points = in_arrow and spelling.decimal != ","
    for piece in CsvPieces(events).pieces():
        texts = piece.in_arrow if in_arrow else piece.texts
        yield {name: piece.amounts(name, has_points) if name in values else texts(name) for name in wanted}


def _arrow_or_list(series: Any, nw: Any) -> Any:
    """Return the column as an Arrow array, or as a list if Arrow cannot represent its values."""
    arrow = extra("pyarrow", "tables")
    if series.dtype != nw.Object:
        try:
            column = series.to_arrow()
            # Arrow would keep only the ends of the intervals of pandas.cut and of the periods of pandas.
            values = getattr(column.type, "value_type", column.type)
            if getattr(values, "extension_name", "") not in ("pandas.interval", "pandas.period"):
                return column if isinstance(column, arrow.ChunkedArray) else arrow.chunked_array([column])
        except (arrow.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError):
            pass
    if is_categorical(series.to_native()):
        return cells_of_categories(series.to_native())
    gone = series.is_null().to_list()
    return [None if missing else cell for missing, cell in zip(gone, series.to_list(), strict=True)]
