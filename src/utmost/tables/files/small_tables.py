"""Read small tables (policies, priors, losses, costs, channels, graphs, points) with any separator and decimal mark.

A small table need not have a header, so the separator is found from all of its lines, and the decimal mark from its
cells.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from utmost.core.exact.numbers import exact
from utmost.errors import BadTable, NotANumber
from utmost.tables.cells.cell_values import kind_of
from utmost.tables.files import csv_table
from utmost.tables.files.text_files import SEPARATORS, TextFile

NumberedRows = list[tuple[int, list[str]]]

_OTHERS = re.compile("[;\t|]")
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_POINT, _COMMA = re.compile(r"[+-]?\d*\.\d+"), re.compile(r"[+-]?\d*,\d+")
# A number of this form is ambiguous: 1,500 may mean 1.5 or 1500.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")


@dataclass(frozen=True, slots=True)
class SmallTable:
    """The rows of a small table."""

    path: Path
    rows: NumberedRows  # the number of the first line of each row, and its cells without surrounding blanks
    decimal: str | None  # decimal mark, a point or a comma; None if 1,500 may mean either

    def number(self, cell: str, line: int, column: int) -> Fraction:
        """The exact number in a cell; ``line`` and ``column`` are for messages."""
        where = f"{self.path}, line {line}, column {column}"
        if _COMMA.fullmatch(cell) and self.decimal != ",":
            came = "digits after a comma, which may be thousands" if self.decimal is None else kind_of(cell)
            remedy = "Write decimals with a point: 0.5."
            raise BadTable("every cell must be a finite number", came=came, where=where, remedy=remedy)
        return number_in(self.spelled(cell), where)

    def is_number(self, cell: str) -> bool:
        """Whether a cell spells a finite number, with a decimal point or comma."""
        return is_number(cell.replace(",", ".") if _COMMA.fullmatch(cell) else cell)

    @property
    def columns(self) -> dict[str, list[str]]:
        """The columns, named by the cells of the first row. Numbers are written with a decimal point."""
        header = self.rows[0][1] if self.rows else []
        if len(self.rows) < 2 or any(len(row) != len(header) for _, row in self.rows):
            remedy = "Quote cells that contain the separator."
            required = "a table of columns must have a header, and rows of the same width"
            raise BadTable(required, came="other rows", where=str(self.path), remedy=remedy)
        columns = {name: [row[at] for _, row in self.rows[1:]] for at, name in enumerate(header)}
        return {
            name: list(map(self.spelled, cells)) if all(map(self.is_number, filter(None, cells))) else cells
            for name, cells in columns.items()
        }

    def spelled(self, cell: str) -> str:
        """Write a cell with a decimal point."""
        return cell.replace(",", ".") if self.decimal == "," and _COMMA.fullmatch(cell) else cell


def small_table(path: Path, *, has_header: bool = False) -> SmallTable:
    """Read a small table. Encoding, separator and decimal mark are the declared ones, or else those found in the
    file.
    """
    file = TextFile.of(path)
    file = file if has_header else _separated(file)
    rows = [(line, [cell.strip() for cell in record]) for line, record in csv_table.records(file)]
    cells = [cell for _, row in rows for cell in row]
    decimal: str | None = csv_table.spelling_of(file).decimal or "."
    if csv_table.delimiter_of(file) != "," and decimal == "." and not any(map(_POINT.fullmatch, cells)):
        commas = [cell for cell in cells if _COMMA.fullmatch(cell)]
        is_plain = any(_THOUSANDS.fullmatch(cell) is None for cell in commas)
        decimal = "," if is_plain else None if commas else "."
    return SmallTable(path, rows, decimal)


def number_rows(path: Path) -> list[list[Fraction]]:
    """Read the rows of a file of numbers, all of one length. A first row without numbers is skipped as a header."""
    table, rows = small_table(path), list[list[Fraction]]()
    for at, (line, record) in enumerate(table.rows):
        if at == 0 and not any(map(table.is_number, record)):
            continue
        if record and record[0] and not table.is_number(record[0]) and any(map(table.is_number, record[1:])):
            remedy = "Leave out the names of rows and columns."
            where = f"{path}, line {line}, column 1"
            raise BadTable("every cell must be a finite number", came=kind_of(record[0]), where=where, remedy=remedy)
        rows.append([table.number(cell, line, k + 1) for k, cell in enumerate(record)])
        if len(rows[-1]) != len(rows[0]):
            came = f"a row of {len(rows[-1])} cells after rows of {len(rows[0])}"
            raise BadTable("all rows must have the same number of cells", came=came, where=f"{path}, line {line}")
    if not rows:
        raise BadTable("the file must contain numbers", came="none", where=str(path))
    return rows


def number_in(cell: Any, where: str) -> Fraction:
    """The exact number in a cell; ``where`` is the cell's position for messages."""
    try:
        return exact(cell)
    except NotANumber:
        raise BadTable("every cell must be a finite number", came=kind_of(cell), where=where) from None


def is_number(cell: str) -> bool:
    try:
        exact(cell)
    except NotANumber:
        return False
    return True


def _separated(path: Path) -> Path:
    """Return the file with its separator: the declared separator, a tab for .tsv, or else the only separator that the
    file contains.
    """
    if isinstance(path, TextFile) and path.is_separated:
        return path
    if path.suffix.lower() == ".tsv":
        return path
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            text = _QUOTED.sub("", file.read())
        except UnicodeDecodeError:
            return path  # the reader of records refuses the file, and names the line
    decimal = csv_table.spelling_of(path).decimal or "."
    found = [separator for separator in SEPARATORS if any(_separates(separator, line) for line in text.splitlines())]
    if decimal == "," and len(found) > 1:
        found = [separator for separator in found if separator != decimal]
    if len(found) > 1:
        came = f"{' and '.join(map(repr, found))} in one file"
        remedy = (
            "Quote cells that contain another separator; or name the separator with --separator, if the command has it."
        )
        raise BadTable("one character must separate the cells", came=came, where=str(path), remedy=remedy)
    return TextFile.of(path, found[0] if found else ",")


def _separates(separator: str, line: str) -> bool:
    """Whether a character may separate the cells of a line. A comma that occurs only in numbers is not a separator."""
    if separator == "," and _OTHERS.search(line) is not None:
        return any("," in cell for cell in _OTHERS.split(line) if _COMMA.fullmatch(cell.strip()) is None)
    return separator in line
