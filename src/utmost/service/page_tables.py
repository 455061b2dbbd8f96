"""Tables that people bring to a page and take from it, as CSV; in memory alone."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from utmost.errors import BadTable
from utmost.ledger.verification import response_plan
from utmost.release.statements import cells_digest, statement
from utmost.service.releases import View
from utmost.service.service_answers import columns, plain
from utmost.tables.csv_table import numbers_of

Cells = dict[str, list[Any]]


def csv_columns(content: bytes) -> Cells:
    """The columns of a CSV file, all cells as text.

    Raises:
        BadTable: for what is none; no cell is repeated.

    >>> csv_columns(b"department,admitted\\nA,601\\n")
    {'department': ['A'], 'admitted': ['601']}
    """
    try:
        text = content.decode("utf-8-sig")
        lines = [line for line in csv.reader(io.StringIO(text, newline=""), strict=True) if line]
    except (UnicodeDecodeError, csv.Error):
        raise BadTable("a table must be a CSV file in UTF-8", came="something else", where="file") from None
    if not lines or len(set(lines[0])) != len(lines[0]):
        raise BadTable("a table must have a header with different names", where="file")
    header, rows = lines[0], lines[1:]
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise BadTable("a row must have a cell for each column", came="another number", where=f"line {number}")
    return {name: [row[at] for row in rows] for at, name in enumerate(header)}


def brought_table(content: bytes, released: Sequence[str]) -> Cells:
    """The columns of a CSV file, those to be released as numbers.

    Raises:
        BadTable: for a column that is not there, or a cell that is no number; it is not repeated.
    """
    found = csv_columns(content)
    for name in released:
        if name not in found:
            raise BadTable("the table must have every column that is released", came=f"no {name!r}", where="file")
        found[name] = numbers_of(found[name])
    return found


def with_radii(seen: View) -> Cells:
    """The columns of a view, and behind each released one its error bar, as statements are about tables."""
    found: Cells = {}
    for name, cells in columns(seen.table).items():
        found[name] = cells
        if name in seen.release.columns and seen.release.promise.points is None:
            found[f"{name}_radius"] = [seen.radius] * len(cells)
    return found


def statement_of(seen: View) -> dict[str, Any]:
    """What is promised of a view: the statement that `utmost verify` checks beside the file."""
    table, release = with_radii(seen), seen.release
    radii = {f"{name}_radius" for name in release.columns}
    public = [name for name in table if name not in release.columns and name not in radii]
    plan = response_plan(release.promise, seen.level, "0.95")
    digest = cells_digest(table)
    made = statement(plan, release.columns, public, release.rows, rows_from=release.rows_from, digest=digest)
    said: dict[str, Any] = plain(made)
    return said


def csv_of(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Columns as a CSV file, which spreadsheets read as it is.

    >>> csv_of({"a": [1, 2], "b": ["x", "y, z"]})
    b'a,b\\r\\n1,x\\r\\n2,"y, z"\\r\\n'
    """
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return file.getvalue().encode()
