"""Read and write JSON lines and Feather files; convert any table to columns, rows of text or an Arrow table."""

import json
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from utmost.core.exact.arrays import plain_cells
from utmost.errors import BadTable
from utmost.tables.files import csv_table
from utmost.tables.files.csv_table import CsvTable
from utmost.tables.files.text_files import limits_of
from utmost.tables.frames.adapters import column_order, distinct_names
from utmost.tables.frames.any_table import adapter_of
from utmost.tables.optional_imports import extra

# A Feather file is refused if it unpacks to more than 1 GB and 200 times its size: it may be a bomb.
_INFLATION, _INFLATED = 200, 1 << 30


def read_json_lines(path: Path, *, has_nested: bool = False) -> dict[str, list[Any]]:
    """Read a table with a JSON object in each line. The columns are in order of appearance, and missing cells are
    None.
    """
    # Numbers with a point are read exactly. With ``has_nested``, cells may be lists and objects, and the caller refuses
    # them in the columns that it uses.
    with path.open(encoding="utf-8-sig") as file:
        lines = (
            (f"{path}, line {number}", _decoded(line)) for number, line in enumerate(file, start=1) if line.strip()
        )
        columns = _columns_of(lines, "a line must be a JSON object of plain cells", path, has_nested=has_nested)
    if columns is None:
        raise BadTable("each line of JSON lines must be an object", came="an empty file", where=str(path))
    return columns


def holds_records(path: Path) -> bool:
    """Whether a .json file begins with an array, which means that it is a table and not a document."""
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(256).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


def read_json_records(path: Path, *, has_nested: bool = False) -> dict[str, list[Any]]:
    """Read a table from an array of JSON objects, one for each row, as `read_json_lines` does."""
    with path.open(encoding="utf-8-sig") as file:
        rows = _decoded(file.read())
    is_array = isinstance(rows, list) and not isinstance(rows, _Pairs)
    places = ((f"{path}, record {number}", row) for number, row in enumerate(rows if is_array else (), start=1))
    columns = _columns_of(places, "a record must be a JSON object of plain cells", path, has_nested=has_nested)
    if columns is None:
        came = "an empty array" if is_array else "an object" if isinstance(rows, _Pairs) else "something else"
        remedy = "If this is a counted table, leave out --each-row and --person." if came == "an object" else None
        raise BadTable("a table in .json must be an array of objects", came=came, where=str(path), remedy=remedy)
    return columns


def _decoded(text: str) -> Any:
    try:
        return _JSON.decode(text.strip())
    except (ValueError, RecursionError):
        return None


def _columns_of(
    rows: Iterable[tuple[str, Any]], required: str, path: Path, *, has_nested: bool
) -> dict[str, list[Any]] | None:
    """Turn pairs (position in the file, JSON object) into columns, or None if there are no objects."""
    records: list[dict[str, Any]] = []
    for where, pairs in rows:
        if not isinstance(pairs, _Pairs) or (not has_nested and any(isinstance(cell, list) for _, cell in pairs)):
            raise BadTable(required, came="something else", where=where)
        record = dict(pairs)
        if len(record) < len(pairs):
            raise BadTable("column names must be distinct", came="one name twice", where=where)
        records.append(record)
    names = dict.fromkeys(name for record in records for name in record)
    if (limits := limits_of(path)) is not None:  # rows with different names make a table of rows times names
        limits.check_cells(".json", len(records) * len(names), str(path))
    return None if not records else {name: [record.get(name) for record in records] for name in names}


class _Pairs(list[tuple[str, Any]]):
    """The names and cells of a JSON object, in which names may be repeated."""


_JSON = json.JSONDecoder(parse_float=Decimal, object_pairs_hook=_Pairs)


def write_json_lines(names: list[str], rows: Iterable[Iterable[Any]]) -> Iterator[tuple[int, bytes]]:
    """Yield pairs: the number of rows, which is 1, and a row as a JSON object on one line."""
    for row in rows:
        cells = (f"{json.dumps(name)}: {_spelled(cell)}" for name, cell in zip(names, row, strict=True))
        yield 1, f"{{{', '.join(cells)}}}\n".encode("ascii")


def _spelled(cell: Any) -> str:
    """Write a cell as JSON: a Decimal with its digits, NaN as null, and a cell of any type that JSON lacks as text."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, Decimal) and cell.is_finite():
        return str(cell)
    if isinstance(cell, float) and cell != cell:
        return "null"
    plain = cell is None or (isinstance(cell, bool | int | float | str) and cell not in (float("inf"), float("-inf")))
    return json.dumps(cell if plain else str(cell))


def read_feather(path: Path) -> Any:
    """Read a Feather file, Arrow's own format, as an Arrow table."""
    from utmost.tables.files.arrow_messages import unpacked_size
    from utmost.tables.frames import dataframes

    dataframes.register()
    arrow, ipc = extra("pyarrow", "tables"), extra("pyarrow.ipc", "tables")
    with path.open("rb") as file:
        content = file.read()
    most, batches, size = max(_INFLATED, _INFLATION * len(content)), [], 0
    limits, rows, texts = limits_of(path), 0, 0
    try:
        if limits is not None:
            limits.check_unpacked(unpacked_size(content), str(path))
        opened = ipc.open_file(arrow.BufferReader(content)) if content[:6] == b"ARROW1" else ipc.open_stream(content)
        some = opened if hasattr(opened, "read_next_batch") else map(opened.get_batch, range(opened.num_record_batches))
        for batch in some:
            batches.append(batch)
            size, rows = size + batch.nbytes, rows + batch.num_rows
            if limits is not None:
                limits.check_cells(".feather", rows * batch.num_columns, str(path))
                texts += text_size(arrow, batch)
                limits.check_unpacked(texts, str(path))
            if size > most:
                raise BadTable(
                    f"a file of this size must have at most {most} bytes of cells", came="more", where=str(path)
                )
        whole = arrow.Table.from_batches(batches, opened.schema)
    except (arrow.ArrowException, OSError, ValueError) as error:
        if isinstance(error, BadTable):
            raise
        raise BadTable(
            "a Feather file must be well formed",
            came="a file that Arrow cannot read",
            where=str(path),
            remedy="Write the file again: it may be incomplete.",
        ) from None
    distinct_names(whole.column_names, str(path))
    return whole


def text_size(arrow: Any, batch: Any) -> int:
    """Return the size in bytes of all texts of an uploaded batch, where a text that a dictionary stores once counts for
    each row.
    """
    compute, types, size = extra("pyarrow.compute", "tables"), arrow.types, 0
    for column in batch.columns:
        of = column.type.value_type if types.is_dictionary(column.type) else column.type
        views = types.is_binary_view(of) or types.is_string_view(of)
        if views or types.is_nested(of) or types.is_run_end_encoded(of) or types.is_dictionary(of):
            raise BadTable(
                "an uploaded table must have plain cells", came=str(column.type), remedy="Upload a CSV file."
            )
        if types.is_string(of) or types.is_large_string(of) or types.is_binary(of) or types.is_large_binary(of):
            lengths = compute.binary_length(column.dictionary if types.is_dictionary(column.type) else column)
            if types.is_dictionary(column.type):
                lengths = lengths.take(column.indices)
            size += compute.sum(lengths.cast(arrow.int64())).as_py() or 0
    return size


def write_feather(table: Any, file: BinaryIO) -> None:
    """Write any table as a Feather file, without compression, so that its length depends only on published facts."""
    whole = as_arrow(table)
    with extra("pyarrow.ipc", "tables").new_file(file, whole.schema) as out:
        out.write_table(whole)


def as_columns(table: Any) -> dict[str, list[Any]]:
    """Return any table as columns of Python values. Cells of a CSV file that are not released are text."""
    if isinstance(table, CsvTable):
        names, rows = table.names, list(csv_table.rows(table))
        texts = {name: [row[at] for row in rows] for at, name in enumerate(names)}
        released = {name: np.asarray(column).tolist() for name, column in table.released.items()}
        return {name: released.get(name, texts[name]) for name in names}
    adapter = adapter_of(table)
    cells = {name: adapter.label(table, name) for name in adapter.names(table)}
    return {name: plain_cells(column) for name, column in cells.items()}


def as_arrow(table: Any) -> Any:
    arrow = extra("pyarrow", "tables")
    """Return any table as an Arrow table that has only the cells of the table, also in its memory."""
    from utmost.tables.frames.dataframes import fresh_table

    if hasattr(table, "replace_schema_metadata") and hasattr(table, "to_batches"):
        return fresh_table(table)
    columns = as_columns(table) if not isinstance(table, Mapping) else {str(name): table[name] for name in table}
    arrays = {}
    for name, column in columns.items():
        cells = column.tolist() if isinstance(column, np.ndarray) and column.dtype == object else column
        try:
            arrays[name] = arrow.array(cells)
        except (arrow.ArrowException, OverflowError, TypeError, ValueError):  # cells without an Arrow type become text
            texts = [None if cell is None else str(cell) for cell in cells]
            arrays[name] = arrow.array(texts, arrow.string())
    return fresh_table(arrow.table(arrays))


def with_blanks(table: Any, columns: Mapping[str, list[Any]], after: Mapping[str, str]) -> Any:
    """Return a table in memory of the same kind, with new or replaced columns that may contain None. For a file, return
    a dict.
    """
    known = as_columns(table)
    whole = {name: columns.get(name, known.get(name, [])) for name in column_order(list(known), after)}
    module = type(table).__module__.partition(".")[0]
    if module == "pyarrow":
        return as_arrow(whole)
    if module == "polars":
        return extra("polars", "tables").DataFrame(whole, strict=False)
    if isinstance(table, Mapping | CsvTable):
        return whole
    cells = {name: np.array(column, dtype=object) for name, column in columns.items()}
    return adapter_of(table).with_columns(table, cells, after)


def as_rows(table: Any) -> tuple[list[str], Iterator[list[str]], int]:
    """Return the names of the columns of any table, its rows as text, and the number of rows."""
    columns = as_columns(table)
    texts = (
        ("" if cell is None else str(Fraction(cell)) if isinstance(cell, Fraction) else str(cell) for cell in column)
        for column in columns.values()
    )
    return list(columns), map(list, zip(*texts, strict=True)), max(map(len, columns.values()), default=0)
