"""Read CSV tables that people upload to a page; the tables stay in memory."""

import csv
import io
from collections.abc import Sequence
from typing import Any

from utmost.errors import BadTable
from utmost.tables.files.csv_table import numbers_of

UploadedColumns = dict[str, list[Any]]


def csv_columns(content: bytes) -> UploadedColumns:
    """Read a CSV file, all cells as text; error messages repeat no cell."""
    # Where the decimal mark is a comma, Excel separates by semicolons.
    try:
        text = content.decode("utf-8-sig")
        first = text.partition("\n")[0]
        mark = next((mark for mark in ";\t" if mark in first and "," not in first), ",")
        lines = [line for line in csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=mark) if line]
    except (UnicodeDecodeError, csv.Error):
        remedy = "Save the table as CSV UTF-8, and choose the saved file."
        raise BadTable(
            "a table must be a CSV file in UTF-8", came="another file", where="file", remedy=remedy
        ) from None
    if not lines or len(set(lines[0])) != len(lines[0]):
        remedy = "Write a name for each column into the first line."
        raise BadTable(
            "a table must have a header with different names", came="another first line", where="file", remedy=remedy
        )
    header, rows = lines[0], lines[1:]
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            came = f"{len(row)} cells, where the header has {len(header)}"
            remedy = "Put each cell that contains a comma into quotation marks."
            raise BadTable("a row must have a cell for each column", came=came, where=f"line {number}", remedy=remedy)
    return {name: [row[at] for row in rows] for at, name in enumerate(header)}


def read_csv_file(content: bytes, released: Sequence[str]) -> UploadedColumns:
    """Read a CSV file with the released columns as numbers, others as text; error messages repeat no cell."""
    cells = csv_columns(content)
    for name in released:
        if name not in cells:
            remedy = "Add the column, or choose the right file."
            raise BadTable(
                "the table must have every released column", came=f"no {name!r}", where="file", remedy=remedy
            )
        cells[name] = numbers_of(cells[name])
    return cells
