"""Table files by their ending: which reader a path goes to."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from utmost.errors import Unsupported
from utmost.tables import csv_table, parquet
from utmost.tables.csv_table import CsvPieces, CsvTable, Piece
from utmost.tables.engines import engine_frame, is_engine_frame
from utmost.tables.parquet_pieces import ParquetPieces
from utmost.tables.streamed import FilePieces, StreamedTable

PARQUET = (".parquet", ".pq")
TEXT = (".csv", ".tsv", ".txt", "")

LARGE = 1 << 27
"""Files of so many bytes are read a piece at a time, and not into memory."""

Watch = Callable[[Iterable[Piece], int], Iterator[Piece]]
"""Passes the pieces of a file through, which has so many rows, and shows how far they are."""


def read(path: Path) -> Any:
    """The table in the file, checked.

    Raises:
        Unsupported: for an ending that no reader knows, and where a package is missing.
        BadTable: for a file that is no such table.
    """
    if path.suffix.lower() in PARQUET:
        parquet.register()
        return parquet.read(path)
    if path.suffix.lower() not in TEXT:
        raise Unsupported(
            "a table file must end in .csv, .tsv or .parquet", came=path.name, remedy="Convert it to CSV or Parquet."
        )
    csv_table.register()
    return csv_table.read(path)


def streamed(path: Path) -> FilePieces | None:
    """The file or directory as what is read a piece at a time, where it is large; None where it is read whole.

    Raises:
        Unsupported, BadTable: as `read`.
    """
    if path.is_dir():
        return ParquetPieces.of(path)
    if path.suffix.lower() in (*PARQUET, *TEXT) and path.is_file() and path.stat().st_size >= LARGE:
        if path.suffix.lower() in PARQUET:
            return ParquetPieces.of(path)
        return CsvPieces(csv_table.read(path))
    return None


def brought(path: Path) -> Any:
    """The table at a path as a ledger takes it: read, or for large Parquet files and folders a relation of DuckDB.

    Raises:
        Unsupported, BadTable: as `read`.
    """
    large = streamed(path)
    if not isinstance(large, ParquetPieces):
        return read(path)
    return import_module("utmost.tables.duckdb_engine").lake_relation(large.files).native


def write(table: Any, file: BinaryIO, path: Path, watch: Watch | None = None) -> None:
    """Write the table into an open file that will have this name."""
    if isinstance(table, StreamedTable):
        written = table.written(file)
        _write_pieces(written if watch is None else watch(written, table.rows), file)
    elif is_engine_frame(table) and path.suffix.lower() in PARQUET:
        frame = engine_frame(table)
        parquet.write_batches(frame.schema(), frame.batches(), file)
    elif path.suffix.lower() in PARQUET:
        parquet.write(table, file)
    else:
        write_text(table, file, csv_table.delimiter_of(path), watch)


def write_text(table: Any, file: BinaryIO, delimiter: str = ",", watch: Watch | None = None) -> None:
    """Write any table as text."""
    if isinstance(table, CsvTable):
        pieces, count = csv_table.pieces(table, delimiter), table.rows
    else:
        names, rows, count = _rows(table)
        pieces = csv_table.pieces_of(names, rows, delimiter)
    _write_pieces(pieces if watch is None else watch(pieces, count), file)


def write_rows(names: list[str], rows: Iterable[list[str]], file: BinaryIO, path: Path) -> None:
    """Write rows under their names as text into an open file that will have this name."""
    _write_pieces(csv_table.pieces_of(names, rows, csv_table.delimiter_of(path)), file)


def columns(table: Any) -> dict[str, list[Any]]:
    """The table as columns of plain Python values; of a CSV, released cells are numbers and all others text."""
    if isinstance(table, Mapping):
        return {name: np.asarray(column).tolist() for name, column in table.items()}
    if not isinstance(table, CsvTable):
        return dict(table.to_pydict())
    names, rows = table.names, list(csv_table.rows(table))
    texts = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    laid = {name: np.asarray(column).tolist() for name, column in table.laid.items()}
    return {name: laid.get(name, texts[name]) for name in names}


def head(table: Any, count: int) -> tuple[list[str], list[list[str]]]:
    """The names of the columns, and the first rows as text."""
    names, rows, _ = _rows(table)
    return names, list(islice(rows, count))


def check_same_kind(source: Path, out: Path) -> None:
    """Check that what is read from ``source`` can be written to ``out``: text as text, Parquet as Parquet.

    Raises:
        Unsupported: for an ending of another kind.
    """
    if source.is_dir() and out.suffix.lower() not in PARQUET:
        remedy = f"Give a name that ends in {' or '.join(PARQUET)}."
        raise Unsupported("a directory of Parquet files is written as one", came=out.name, remedy=remedy)
    for endings in () if source.is_dir() else (PARQUET, TEXT):
        if source.suffix.lower() in endings and out.suffix.lower() not in endings:
            wanted = " or ".join(ending for ending in endings if ending)
            raise Unsupported(
                "a table is written as it was read", came=out.name, remedy=f"Give a name that ends in {wanted}."
            )


def _write_pieces(pieces: Iterable[Piece], file: BinaryIO) -> None:
    for _, text in pieces:
        file.write(text)


def _rows(table: Any) -> tuple[list[str], Iterable[list[str]], int]:
    """The names of the columns, the rows as text, and how many there are."""
    if isinstance(table, CsvTable):
        return table.names, csv_table.rows(table), table.rows
    if isinstance(table, StreamedTable):
        return table.names, table.shown, table.rows
    if is_engine_frame(table):
        frame = engine_frame(table)
        names = list(frame.schema().names)
        return names, (row for batch in frame.batches() for row in _batch_rows(batch)), 0
    if isinstance(table, Mapping):
        return list(table), _mapping_rows(table), max(map(len, table.values()), default=0)
    return table.column_names, _arrow_rows(table), table.num_rows


def _mapping_rows(table: Mapping[str, Any]) -> Iterator[list[str]]:
    return map(list, zip(*(map(str, np.asarray(column).tolist()) for column in table.values()), strict=True))


def _arrow_rows(table: Any) -> Iterator[list[str]]:
    for batch in table.to_batches(max_chunksize=10_000):
        yield from _batch_rows(batch)


def _batch_rows(batch: Any) -> Iterator[list[str]]:
    for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
        yield ["" if cell is None else str(cell) for cell in cells]
