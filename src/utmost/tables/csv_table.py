"""CSV files: read in passes that keep no row, written with every untouched cell as it was."""

import csv
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, TextIO

from utmost.errors import BadTable
from utmost.release import adapters
from utmost.release.adapters import Column

_INTEGER = re.compile(r"[+-]?[0-9]{1,4000}")
_DECIMAL = re.compile(r"[+-]?([0-9]{1,4000}\.?[0-9]{0,4000}|\.[0-9]{1,4000})([eE][+-]?[0-9]{1,3})?")


@dataclass(frozen=True, slots=True, eq=False)
class CsvTable:
    """A CSV file, and the columns that a release has laid over it.

    Attributes:
        path: the file; UTF-8, its first record the header, separated by tabs where its name ends in ``.tsv``.
        header: the names of the file's columns.
        rows: how many records follow the header.
        laid: released columns by name, each of length ``rows``.
        after: for each laid column that the file lacks, the column behind which it stands.
        left_out: columns of the file that are not written.
    """

    path: Path
    header: tuple[str, ...]
    rows: int
    laid: Mapping[str, Column] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """All columns, in the order in which they are written."""
        return [name for name in adapters.in_order(self.header, self.after) if name not in self.left_out]


def read(path: Path | str) -> CsvTable:
    """Check the whole file and return it as a table; no cell stays in memory.

    Raises:
        BadTable: for a file that is empty or no UTF-8 text, a column without a name or with another's, and a row
            with more or fewer cells than the header.
    """
    path = path if isinstance(path, Path) else Path(path)
    rows = 0
    found = records(path)
    _, header = next(found, (1, []))
    _check_header(header, path)
    for line, record in found:
        rows += 1
        if len(record) != len(header):
            raise BadTable(
                f"every row must have {len(header)} cells",
                came=f"{len(record)} cells",
                where=f"{path}, {_place(rows - 1, line)}",
                remedy="Quote cells that hold the separator or a line break.",
            )
    return CsvTable(path, tuple(header), rows)


def write(table: CsvTable, file: TextIO, *, delimiter: str = ",") -> None:
    """Write the table: the laid columns in their places, every other cell with the text it had.

    Raises:
        BadTable: where the file is no longer as long as it was.
    """
    write_rows(file, table.names, rows(table), delimiter=delimiter)


def write_rows(file: TextIO, header: list[str], body: Iterable[list[str]], *, delimiter: str = ",") -> None:
    """Write a header and rows of cells, quoted where that is needed."""
    for row in itertools.chain([header], body):
        file.write(_line(row, delimiter))


def rows(table: CsvTable) -> Iterator[list[str]]:
    """Each row as it is written.

    Raises:
        BadTable: where the file is no longer as long as it was.
    """
    laid = {name: map(str, column) for name, column in table.laid.items()}
    sources = [laid.get(name) or table.header.index(name) for name in table.names]
    count = 0
    for _, record in _body(table):
        count += 1
        if count <= table.rows:
            yield [record[at] if isinstance(at, int) else next(at) for at in sources]
    if count != table.rows:
        raise _changed(table, count)


def register() -> None:
    """Let CSV tables into releases."""
    adapters.register(_CsvAdapter())


class _CsvAdapter:
    def knows(self, table: Any) -> bool:
        """Whether the table was read by `read`."""
        return isinstance(table, CsvTable)

    def names(self, table: CsvTable) -> list[str]:
        return table.names

    def column(self, table: CsvTable, name: str) -> Column:
        if name in table.laid:
            return table.laid[name]
        at = table.header.index(name)
        cells = [_number(record[at]) for _, record in _body(table)]
        if len(cells) != table.rows:
            raise _changed(table, len(cells))
        return cells

    def place(self, table: CsvTable, row: int) -> str:
        line = next((line for at, (line, _) in enumerate(_body(table)) if at == row), 0)
        return f"{table.path.name}, {_place(row, line)}"

    def with_columns(self, table: CsvTable, columns: Mapping[str, Column], after: Mapping[str, str]) -> CsvTable:
        laid, behind = {**table.laid, **columns}, {**table.after, **after}
        return CsvTable(table.path, table.header, table.rows, laid, behind, table.left_out)

    def without(self, table: CsvTable, names: Sequence[str]) -> CsvTable:
        left_out = (*table.left_out, *names)
        return CsvTable(table.path, table.header, table.rows, table.laid, table.after, left_out)

    def kind(self, table: CsvTable, names: Sequence[str]) -> str:
        return "csv"

    def made(self, kind: str, columns: Mapping[str, Column]) -> None:
        """A CSV table is a file; columns without one are given as a dict."""


def _line(row: list[str], delimiter: str) -> str:
    """The row as it stands in a file; csv.writer would leave a lone carriage return bare, which splits the row."""
    line = delimiter.join(row)
    if line.count(delimiter) >= len(row) or any(mark in line for mark in '"\n\r'):
        line = delimiter.join(_quoted(cell, delimiter) for cell in row)
    return (line or '""') + "\n"


def _quoted(cell: str, delimiter: str) -> str:
    if any(mark in cell for mark in (delimiter, '"', "\n", "\r")):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _changed(table: CsvTable, rows: int) -> BadTable:
    return BadTable("the file must not change while it is released", came=f"{rows} rows", where=str(table.path))


def _number(text: str) -> Any:
    """The number that the text spells, exactly; None for an empty cell; the text itself where it is no number."""
    stripped = text.strip()
    if _INTEGER.fullmatch(stripped):
        return int(stripped)
    return Decimal(stripped) if _DECIMAL.fullmatch(stripped) else stripped or None


def _body(table: CsvTable) -> Iterator[tuple[int, list[str]]]:
    found = records(table.path)
    next(found, None)
    return found


def records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Each record with the number of the line on which it starts; blank lines count only where a row has one cell."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter_of(path), strict=True)
        start, width = 1, 0
        try:
            for record in reader:
                width = width or len(record)
                if record or width == 1:
                    yield start, record or [""]
                start = reader.line_num + 1
        except UnicodeDecodeError as error:
            # The codec's own words quote a byte, and where it stands in some buffer.
            came = f"bytes of another encoding ({error.reason})"
            raise BadTable("a CSV file must be UTF-8 text", came=came, where=f"{path}, after line {start}") from None
        except csv.Error as error:
            raise BadTable("a CSV file must be well formed", came=str(error), where=f"{path}, line {start}") from None


def _check_header(header: list[str], path: Path) -> None:
    if not header:
        raise BadTable("a CSV file must start with a header", came="an empty file", where=str(path))
    for at, name in enumerate(header):
        if not name.strip():
            raise BadTable("every column must have a name", came=f"none for column {at + 1}", where=f"{path}, line 1")
        if name in header[:at]:
            raise BadTable(
                "column names must be distinct",
                came=f"columns {header.index(name) + 1} and {at + 1}",
                where=f"{path}, line 1",
            )


def _place(row: int, line: int) -> str:
    return f"row {row + 1} (line {line})"


def numbers_of(texts: Iterable[str]) -> list[Any]:
    """The number that each text spells, exactly; None for an empty one, and the text itself where it is no number."""
    return list(map(_number, texts))


def delimiter_of(path: Path) -> str:
    """What separates the cells of a file with this name."""
    return "\t" if path.suffix == ".tsv" else ","
