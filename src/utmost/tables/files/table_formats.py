"""Formats of table files beside CSV and Parquet: JSON lines and Feather; and any table as columns, or as Arrow's."""

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
from utmost.tables.frames.adapters import distinct_names, in_order
from utmost.tables.frames.any_table import adapter_of
from utmost.tables.optional_imports import extra

_INFLATION, _INFLATED = 200, 1 << 30


def read_json_lines(path: Path, *, has_nested: bool = False) -> dict[str, list[Any]]:
    """A table of which each line is an object: its columns in the order in which they first come, None where one lacks.

    Numbers with a point are read exactly.

    Args:
        path: of the file.
        has_nested: whether lists and objects are let in as cells, for a reader that refuses them where it needs them.
    """
    rows: list[dict[str, Any]] = []
    names: dict[str, None] = {}
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                rows.append(_object(line, f"{path}, line {number}", has_nested=has_nested))
                names |= dict.fromkeys(rows[-1])
    if not rows:
        raise BadTable("JSON lines must hold an object each", came="an empty file", where=str(path))
    return {name: [row.get(name) for row in rows] for name in names}


def _object(line: str, where: str, *, has_nested: bool) -> dict[str, Any]:
    try:
        pairs = _JSON.decode(line)
    except (ValueError, RecursionError):
        pairs = None
    if not isinstance(pairs, _Pairs) or (not has_nested and any(isinstance(cell, list) for _, cell in pairs)):
        raise BadTable("a line must be a JSON object of plain cells", came="something else", where=where)
    record = dict(pairs)
    if len(record) < len(pairs):
        raise BadTable("column names must be distinct", came="one name twice", where=where)
    return record


class _Pairs(list[tuple[str, Any]]):
    """The names and cells of an object, as they stand in it."""


_JSON = json.JSONDecoder(parse_float=Decimal, object_pairs_hook=_Pairs)


def write_json_lines(names: list[str], rows: Iterable[Iterable[Any]]) -> Iterator[tuple[int, bytes]]:
    """Rows as JSON objects, a line each: how many, and their text."""
    for row in rows:
        cells = (f"{json.dumps(name)}: {_spelled(cell)}" for name, cell in zip(names, row, strict=True))
        yield 1, f"{{{', '.join(cells)}}}\n".encode("ascii")


def _spelled(cell: Any) -> str:
    """A cell as JSON: a Decimal with its digits, no number that is none, and anything else as text."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, Decimal) and cell.is_finite():
        return str(cell)
    if isinstance(cell, float) and cell != cell:
        return "null"
    plain = cell is None or (isinstance(cell, bool | int | float | str) and cell not in (float("inf"), float("-inf")))
    return json.dumps(cell if plain else str(cell))


def read_feather(path: Path) -> Any:
    """A Feather file, which is a file of Arrow, as an Arrow table.

    Raises:
        BadTable: for a file that is none, and for two columns of one name.
        Unsupported: where pyarrow is not installed.
    """
    from utmost.tables.frames import dataframes

    dataframes.register()
    arrow, ipc = extra("pyarrow", "tables"), extra("pyarrow.ipc", "tables")
    with path.open("rb") as file:
        content = file.read()
    most, batches, size = max(_INFLATED, _INFLATION * len(content)), [], 0
    try:
        opened = ipc.open_file(arrow.BufferReader(content)) if content[:6] == b"ARROW1" else ipc.open_stream(content)
        some = opened if hasattr(opened, "read_next_batch") else map(opened.get_batch, range(opened.num_record_batches))
        for batch in some:
            batches.append(batch)
            size += batch.nbytes
            if size > most:
                raise BadTable(f"a file of this size may hold {most} bytes of cells", came="more", where=str(path))
        whole = arrow.Table.from_batches(batches, opened.schema)
    except (arrow.ArrowException, OSError, ValueError) as error:
        if isinstance(error, BadTable):
            raise
        raise BadTable("a Feather file must be well formed", came="what Arrow cannot read", where=str(path)) from None
    distinct_names(whole.column_names, str(path))
    return whole


def write_feather(table: Any, file: BinaryIO) -> None:
    """Write any table as a Feather file, without compression: its length is a function of what is published."""
    whole = as_arrow(table)
    with extra("pyarrow.ipc", "tables").new_file(file, whole.schema) as out:
        out.write_table(whole)


def as_columns(table: Any) -> dict[str, list[Any]]:
    """Any table as columns of plain Python values; of a CSV, released cells are numbers and all others text."""
    if isinstance(table, CsvTable):
        names, rows = table.names, list(csv_table.rows(table))
        texts = {name: [row[at] for row in rows] for at, name in enumerate(names)}
        laid = {name: np.asarray(column).tolist() for name, column in table.laid.items()}
        return {name: laid.get(name, texts[name]) for name in names}
    adapter = adapter_of(table)
    cells = {name: adapter.label(table, name) for name in adapter.names(table)}
    return {name: plain_cells(column) for name, column in cells.items()}


def as_arrow(table: Any) -> Any:
    """Any table as one of Arrow."""
    arrow = extra("pyarrow", "tables")
    if hasattr(table, "replace_schema_metadata") and hasattr(table, "to_batches"):
        return table
    columns = as_columns(table) if not isinstance(table, Mapping) else {str(name): table[name] for name in table}
    return arrow.table({name: _arrow_cells(arrow, column) for name, column in columns.items()})


def _arrow_cells(arrow: Any, column: Any) -> Any:
    """A column of Arrow; what it has no type for as text."""
    cells = column.tolist() if isinstance(column, np.ndarray) and column.dtype == object else column
    try:
        return arrow.array(cells)
    except (arrow.ArrowException, OverflowError, TypeError, ValueError):
        exact = [None if cell is None else str(cell) for cell in cells]
        return arrow.array(exact, arrow.string())


def with_blanks(table: Any, columns: Mapping[str, list[Any]], after: Mapping[str, str]) -> Any:
    """A table in memory with columns in which a cell may be None: of its kind, or columns where it came from a file.

    Args:
        table: any table but an engine's frame.
        columns: replaced, or new; integers stay integers beside None.
        after: behind which column each new one stands.

    >>> with_blanks({"n": [5, 7], "n_margin": [3, 3]}, {"n": [5, None], "mark": ["", "x"]}, {"mark": "n"})
    {'n': [5, None], 'mark': ['', 'x'], 'n_margin': [3, 3]}
    """
    known = as_columns(table)
    whole = {name: columns.get(name, known.get(name, [])) for name in in_order(list(known), after)}
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
    """The names of any table's columns, its rows as text, and how many there are."""
    columns = as_columns(table)
    texts = (map(_text, column) for column in columns.values())
    return list(columns), map(list, zip(*texts, strict=True)), max(map(len, columns.values()), default=0)


def _text(cell: Any) -> str:
    return "" if cell is None else str(Fraction(cell)) if isinstance(cell, Fraction) else str(cell)
