"""Table files. `TABLE_FORMATS` has a row for each format: its endings, its reader and its writer."""

import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from io import RawIOBase
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from utmost.core.exact.progress_bar import report_progress
from utmost.errors import BadTable, Unsupported
from utmost.tables.engines.engines import engine_frame, is_engine_frame
from utmost.tables.files import csv_table, table_formats
from utmost.tables.files.csv_table import CsvPieces, CsvTable, Piece
from utmost.tables.files.file_pieces import FilePieces, WrittenByPieces
from utmost.tables.files.text_files import GZ, PACKED, TextFile, sheet_named
from utmost.tables.frames.table import Table
from utmost.tables.optional_imports import extra

if TYPE_CHECKING:
    from utmost.tables.files.parquet_pieces import ParquetPieces

PARQUET = (".parquet", ".pq")
TEXT_ENDINGS = (".csv", ".tsv", ".txt", "")
JSON_LINES = (".jsonl", ".ndjson")
FEATHER = (".feather", ".arrow", ".ipc")
EXCEL = (".xlsx",)
LARGE = 1 << 27
"""Files of at least this number of bytes are read one piece at a time, and not stored in memory."""

_CELL = 8


def read(path: Path, *, as_events: bool = False) -> Any:
    """Read and check the table in a file, or in the Parquet files of a directory.

    Text may be compressed: .gz, .zip, .bz2, .xz. The sheet of an Excel file is written after a "#":
    Path("book.xlsx#Sheet").

    Args:
        path: Path of the file or the directory.
        as_events: Whether the rows are events to be counted, so that no column is published. If ``as_events`` is True,
            dates of Excel are read as dates, and nested cells of JSON lines are refused only if their column is used.
    """
    form = TABLE_FORMATS["parquet"] if path.is_dir() else format_of(path)
    if form is None:
        wanted = ", ".join(form.endings[0] for form in TABLE_FORMATS.values())
        remedy = "Convert the file to CSV or Parquet."
        raise Unsupported(f"a table file must end in one of {wanted}", came=path.name, remedy=remedy)
    return form.read(path, as_events)


def ending_of(path: Path) -> str:
    """The ending of a file that shows its format, in lower case and without ".gz" or the like."""
    suffix = sheet_named(path)[0].suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in PACKED else suffix


def format_of(path: Path) -> "TableFormat | None":
    """The format that the ending of a file shows, or None for an ending that no format has."""
    ending = ending_of(path)
    return next((form for form in TABLE_FORMATS.values() if ending in form.endings), None)


def large_pieces(path: Path, *, by_cells: bool = False) -> FilePieces | None:
    """Return a large file or a directory as pieces, or None for a file that is read into memory."""
    # With ``by_cells``, a Parquet file is also large if its cells would be, at 8 bytes each: the file may be 100 times
    # smaller than its cells.
    if path.is_dir():
        return _pieces_of(path)
    if ending_of(path) not in (*PARQUET, *TEXT_ENDINGS) or not path.is_file():
        return None
    is_parquet, is_large = path.suffix.lower() in PARQUET, path.stat().st_size >= LARGE
    if by_cells and is_parquet and not is_large:
        from utmost.tables.files import parquet

        is_large = _CELL * parquet.cells(path) >= LARGE
    if not is_large:
        return None
    return _pieces_of(path) if is_parquet else CsvPieces(csv_table.read(path))


def _pieces_of(path: Path) -> "ParquetPieces":
    from utmost.tables.files.parquet_pieces import ParquetPieces

    return ParquetPieces.of(path)


def table_or_relation(path: Path, *, by_item: bool = False) -> Any:
    """The table at a path, for a release in a ledger: a table in memory, or a relation of DuckDB for large Parquet
    files and folders.
    """
    # A relation allows only noise keyed by identifier (``by_item``); noise by rows needs the rows in memory. If DuckDB
    # is installed, a Parquet file also counts as large because of the number of its cells.
    large: Any = large_pieces(path, by_cells=by_item and find_spec("duckdb") is not None)
    if large is None or isinstance(large, CsvPieces):
        return read(path)
    from utmost.tables.engines.duckdb_engine import lake_relation

    return lake_relation(large.files, large.folders).native


def write(table: Any, file: BinaryIO, path: Path, statement: Mapping[str, Any] | None = None) -> None:
    """Write a table of any kind into an open file that will be named ``path``. A workbook also contains the
    statement.
    """
    try:
        _write(table, file, path, statement or {})
    except UnicodeEncodeError:
        required = "the text of public columns and of labels must be valid Unicode"
        remedy = "Correct the text in the data, or write .jsonl."
        raise BadTable(required, came="a lone surrogate", where=path.name, remedy=remedy) from None


def check_statement(path: Path, statement: Mapping[str, Any]) -> None:
    """Check that a workbook contains this statement and no other. Files of other formats contain no statement, and are
    not checked.
    """
    if ending_of(path) in EXCEL:
        from utmost.tables.files import spreadsheets

        spreadsheets.check_statement(path, statement)


def _write(table: Any, file: BinaryIO, path: Path, statement: Mapping[str, Any]) -> None:
    form = format_of(path) or TABLE_FORMATS["csv"]
    assert form.write is not None, "check_same_kind refuses a format that is only read"
    if path.suffix.lower() == GZ and form.is_text:
        with gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
            return _write(table, packed, path.with_suffix(""), statement)  # type: ignore[arg-type]  # it has the methods of a file
    if isinstance(table, WrittenByPieces) and ending_of(path) not in EXCEL:
        _write_pieces(table.written(file), file, table.rows)
    else:
        form.write(table, file, path, statement)


def separator_for(table: Any, path: Path) -> str:
    """The separator for a file of this name: a tab for .tsv, else the separator of the file that was read."""
    if isinstance(table, CsvTable) and path.suffix.lower() != ".tsv" and isinstance(table.path, TextFile):
        return csv_table.delimiter_of(table.path)
    return csv_table.delimiter_of(path)


def write_text(table: Any, file: BinaryIO, delimiter: str = ",") -> None:
    """Write a table of any kind as text."""
    if isinstance(table, CsvTable):
        pieces, count = csv_table.pieces(table, delimiter), table.rows
    else:
        names, rows, count = _rows(table)
        pieces = csv_table.pieces_of(names, rows, delimiter)
    _write_pieces(pieces, file, count)


def write_rows(names: list[str], rows: Iterable[list[str]], file: BinaryIO, path: Path) -> None:
    """Write the names of columns and rows of cells as text into an open file that will be named ``path``."""
    _write_pieces(csv_table.pieces_of(names, rows, csv_table.delimiter_of(path)), file)


def columns(table: Any) -> dict[str, list[Any]]:
    """The table as columns of Python values. Cells of a CSV file that are not released are text."""
    return dict(table.to_pydict()) if hasattr(table, "to_pydict") else table_formats.as_columns(table)


def head(table: Any, count: int) -> tuple[list[str], list[list[str]]]:
    """The names of the columns, and the first rows as text."""
    names, rows, _ = _rows(table)
    return names, list(islice(rows, count))


def check_same_kind(source: Path, out: Path) -> None:
    """Check that the table of ``source`` can be written to ``out``; a large file can be written only in its own
    format.
    """
    form = format_of(out)
    if form is None or form.write is None or out.suffix.lower() in PACKED[1:]:
        wanted = ", ".join(FORMATS.values())
        remedy = f"Choose a name that ends in {wanted}."
        raise Unsupported("a table must be written in a known format", came=out.name, remedy=remedy)
    if form.writer is not None:
        extra(*form.writer)
    if source.is_dir() and out.suffix.lower() not in PARQUET:
        remedy = f"Choose a name that ends in {' or '.join(PARQUET)}."
        raise Unsupported("a directory of Parquet files must be written as Parquet", came=out.name, remedy=remedy)
    is_large = source.is_file() and source.stat().st_size >= LARGE
    for endings in (PARQUET, TEXT_ENDINGS) if is_large else ():
        if ending_of(source) in endings and (ending_of(out) not in endings or out.suffix.lower() == GZ):
            wanted = " or ".join(ending for ending in endings if ending)
            raise Unsupported(
                "a large file must be written in the format in which it was read",
                came=out.name,
                remedy=f"Choose a name that ends in {wanted}.",
            )


def check_fits(table: Any, path: Path) -> None:
    """Raise the errors that writing the table to this file would raise, before any noise is drawn."""
    if ending_of(path) in EXCEL:  # writing a workbook takes ten times as long as these checks
        from utmost.tables.files import spreadsheets

        spreadsheets.check_fits(_cells(table))
    else:
        write(table, cast(BinaryIO, _Nothing()), path)


class _Nothing(RawIOBase):
    """A file object that discards what is written, and counts the bytes."""

    def __init__(self) -> None:
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, text: Any) -> int:
        size = memoryview(text).nbytes
        self._size += size
        return size

    def tell(self) -> int:
        return self._size


def _cells(table: Any) -> Mapping[str, list[Any]]:
    """Return any table as columns, including an engine's frame and a table that is written piece by piece."""
    if is_engine_frame(table):
        table = engine_frame(table)
        batches = [batch.to_pydict() for batch in table.batches()]
        return {name: [cell for batch in batches for cell in batch[name]] for name in table.schema().names}
    if isinstance(table, WrittenByPieces):
        return dict(zip(table.names, map(list, zip(*table.shown, strict=True)), strict=True))
    return columns(table)


def _write_pieces(pieces: Iterable[Piece], file: BinaryIO, rows: int | None = None) -> None:
    done = 0
    for count, text in pieces:
        file.write(text)
        done += count
        report_progress(done, rows)


def _rows(table: Any) -> tuple[list[str], Iterable[list[str]], int]:
    """The names of the columns, the rows as text, and the number of rows (0 for an engine's frame)."""
    if isinstance(table, CsvTable):
        return table.names, csv_table.rows(table), table.rows
    if isinstance(table, WrittenByPieces):
        return table.names, table.shown, table.rows
    if is_engine_frame(table):
        frame = engine_frame(table)
        names = list(frame.schema().names)
        return names, (row for batch in frame.batches() for row in _batch_rows(batch)), 0
    if hasattr(table, "to_batches") and hasattr(table, "column_names"):
        batches = table.to_batches(max_chunksize=10_000)
        return table.column_names, (row for batch in batches for row in _batch_rows(batch)), table.num_rows
    return table_formats.as_rows(table)


def _batch_rows(batch: Any) -> Iterator[list[str]]:
    for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
        yield ["" if cell is None else str(cell) for cell in cells]


def _read_text(path: Path, as_events: bool) -> Any:
    csv_table.register()
    return csv_table.read(path)


def _write_text(table: Any, file: BinaryIO, path: Path, statement: Mapping[str, Any]) -> None:
    write_text(table, file, separator_for(table, path))


def _write_json_lines(table: Any, file: BinaryIO, path: Path, statement: Mapping[str, Any]) -> None:
    columns_of = table_formats.as_columns(table)
    pieces = table_formats.write_json_lines(list(columns_of), zip(*columns_of.values(), strict=True))
    _write_pieces(pieces, file, _rows(table)[2])


def _read_parquet(path: Path, as_events: bool) -> Any:
    from utmost.tables.files import parquet  # it is not loaded to release a text file

    parquet.register()
    return _pieces_of(path).whole() if path.is_dir() else parquet.read(path)


def _write_parquet(table: Any, file: BinaryIO, path: Path, statement: Mapping[str, Any]) -> None:
    from utmost.tables.files import parquet

    if is_engine_frame(table):
        frame = engine_frame(table)
        parquet.write_batches(frame.schema(), frame.batches(), file)
    else:
        parquet.write(table, file)


def _read_workbook(path: Path, as_events: bool) -> Any:
    from utmost.tables.files import spreadsheets

    return Table(spreadsheets.read(path, has_dates=as_events))


def _write_workbook(table: Any, file: BinaryIO, path: Path, statement: Mapping[str, Any]) -> None:
    from utmost.tables.files import spreadsheets

    spreadsheets.write(_cells(table), file, statement)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFormat:
    """A format of table files."""

    endings: tuple[str, ...]  # the usual one first
    read: Callable[[Path, bool], Any]  # takes the path, and whether the rows are events to be counted
    write: Callable[[Any, BinaryIO, Path, Mapping[str, Any]], None] | None  # None for a format that is only read
    is_text: bool  # whether the file may be compressed, and be shown on a terminal
    writer: tuple[str, str] | None = None  # the module that writes, and the extra of utmost that installs it


TABLE_FORMATS = {
    "csv": TableFormat(endings=(".csv", ".txt", ""), read=_read_text, write=_write_text, is_text=True),
    "tsv": TableFormat(endings=(".tsv",), read=_read_text, write=_write_text, is_text=True),
    "jsonl": TableFormat(
        endings=JSON_LINES,
        read=lambda path, as_events: Table(table_formats.read_json_lines(TextFile.of(path), has_nested=as_events)),
        write=_write_json_lines,
        is_text=True,
    ),
    "json": TableFormat(
        endings=(".json",),
        read=lambda path, as_events: Table(table_formats.read_json_records(TextFile.of(path), has_nested=as_events)),
        write=None,
        is_text=True,
    ),
    "feather": TableFormat(
        endings=FEATHER,
        read=lambda path, as_events: table_formats.read_feather(path),
        write=lambda table, file, path, statement: table_formats.write_feather(table, file),
        is_text=False,
        writer=("pyarrow", "tables"),
    ),
    "parquet": TableFormat(
        endings=PARQUET, read=_read_parquet, write=_write_parquet, is_text=False, writer=("pyarrow", "tables")
    ),
    "xlsx": TableFormat(
        endings=EXCEL, read=_read_workbook, write=_write_workbook, is_text=False, writer=("xlsxwriter", "excel")
    ),
}
"""All formats by name: a new one needs a row here."""

FORMATS = {name: form.endings[0] for name, form in TABLE_FORMATS.items() if form.write is not None}
"""The usual ending of each format that is written, by the name of the format."""
