"""Excel files, .xlsx: the table on the sheet "Values", and its statement in words on the sheet "Statement".

The file depends only on the published table and statement: it has no author, its time stamps are in 1980, and the same
table gives the same bytes. Excel computes in floats and shows fifteen digits, so a column with a longer integer is
written as text.
"""

import io
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import count, islice
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile, ZipFile

import numpy as np

from utmost.core.exact.arrays import plain_cells
from utmost.errors import BadTable, UtmostError
from utmost.tables.files.text_files import MemoryFile, ReadLimits, limits_of, sheet_named
from utmost.tables.optional_imports import extra

EXTRA = "excel"
VALUES, STATEMENT = "Values", "Statement"

_ROWS, _COLUMNS, _LONGEST, _DIGITS = (1 << 20) - 1, 1 << 14, 32_767, 10**15
_PIECE = _LONGEST // 2  # Excel counts some characters as two
# A workbook is refused if it unpacks to more than 1 GB and 200 times its size: it may be a bomb.
_INFLATION, _INFLATED = 200, 1 << 30
_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_x[0-9A-Fa-f]{4}_")
_DAMAGED = BadZipFile, zlib.error, EOFError, OSError, LookupError, ValueError, TypeError, AttributeError, SyntaxError
_MADE = datetime(1980, 1, 1, tzinfo=UTC)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_FIRST_DATE = date(1900, 3, 1)  # Excel has a 29 February 1900, which did not exist
_MOST_LISTED = 20  # most sheets that a message names
_WIDTH_OF_DATE = 11  # in characters; a narrower column shows ####


class _Exact(float):
    """A float that is written with all its digits; the usual format of the writer has sixteen digits."""

    def __format__(self, _: str) -> str:
        return repr(float(self))


def write(columns: Mapping[str, Iterable[Any]], file: BinaryIO, statement: Mapping[str, Any]) -> None:
    """Write columns into an open file. Rows that do not fit on the first sheet continue on the sheet "Values 2"."""
    cells = {str(name): _dated(_plain(column)) for name, column in columns.items()}
    _check_width(len(cells))
    writer = extra("xlsxwriter", EXTRA)
    with closing(writer.Workbook(file, {"in_memory": True})) as book:
        book.set_properties({"created": _MADE})
        looks = book.add_format({"bold": True}), book.add_format({"align": "left"})
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        rows = zip(*cells.values(), strict=True)
        for number in count(1):
            page = list(islice(rows, _ROWS))
            if not page and number > 1:
                break
            sheet = book.add_worksheet(VALUES if number == 1 else f"{VALUES} {number}")
            _fill(sheet, [list(cells), *page], looks, day)
            for at, column in enumerate(cells.values()):
                if any(isinstance(cell, date) for cell in column):
                    sheet.set_column(at, at, _WIDTH_OF_DATE)
        if statement:
            lines = [["", "what is promised of these values"], *_lines(statement)]
            sheet = book.add_worksheet(STATEMENT)
            _fill(sheet, lines, looks)
            sheet.set_column(0, 0, 18)
            sheet.set_column(1, 1, 110, book.add_format({"text_wrap": True}))


def check_fits(columns: Mapping[str, Iterable[Any]]) -> None:
    """Check that these columns fit on a sheet, as `write` also does."""
    _check_width(len(columns))
    for name, column in columns.items():
        for cell in (str(name), *_dated(_plain(column))):
            if cell is not None and not isinstance(cell, int | float | date):
                _text(cell)


def _check_width(columns: int) -> None:
    if columns > _COLUMNS:
        raise BadTable(f"a sheet of Excel can have at most {_COLUMNS} columns", came=columns, remedy="Write .parquet.")


def _lines(statement: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yield the statement as rows, one for each field. A value too long for a cell continues in the rows below."""
    for name, fact in statement.items():
        text = _ESCAPED.sub(
            lambda odd: odd.group().encode("unicode_escape").decode().replace("_x", "_ x"), _fact_text(fact)
        )
        for begin in range(0, max(len(text), 1), _PIECE):
            yield [name if begin == 0 else "", text[begin : begin + _PIECE]]


def _plain(column: Iterable[Any]) -> list[Any]:
    """Convert a column's cells for Excel. All cells become text if one cell is an integer that Excel would round."""
    cells = [cell.item() if isinstance(cell, np.generic) else cell for cell in plain_cells(column)]
    if any(isinstance(cell, int) and abs(cell) >= _DIGITS for cell in cells):
        return [None if cell is None else str(cell) for cell in cells]
    return cells


def _dated(column: list[Any]) -> list[Any]:
    """The column as dates, if all cells are dates, or ISO text of dates, that Excel can represent. `read` returns the
    text again.
    """
    cells = [str(cell) if isinstance(cell, date) else cell for cell in column]
    texts = [cell for cell in cells if cell is not None]
    if not texts or not all(isinstance(cell, str) and _DATE.fullmatch(cell) for cell in texts):
        return cells
    try:
        dates = [None if cell is None else date.fromisoformat(cell) for cell in cells]
    except ValueError:
        return cells
    return cells if any(day is not None and day < _FIRST_DATE for day in dates) else dates


def _fill(sheet: Any, rows: list[Any], looks: tuple[Any, Any], day: Any = None) -> None:
    """Write rows; the first one is a frozen header. An empty cell is stored only with a format, so it gets one."""
    bold, empty = looks
    for at, row in enumerate(rows):
        for place, cell in enumerate(row):
            form = (bold,) if at == 0 else ()
            if isinstance(cell, bool):
                sheet.write_boolean(at, place, cell, *form)
            elif isinstance(cell, int | float) and isfinite(cell):
                sheet.write_number(at, place, _Exact(cell) if isinstance(cell, float) else cell, *form)
            elif isinstance(cell, date):
                sheet.write_datetime(at, place, datetime(cell.year, cell.month, cell.day), day)
            elif cell is not None and cell == cell:
                sheet.write_string(at, place, _text(cell), *form)
            else:
                sheet.write_blank(at, place, None, empty)
    sheet.freeze_panes(1, 0)


def _text(cell: Any) -> str:
    text = str(Fraction(cell)) if isinstance(cell, Fraction) else str(cell)
    if len(text) > _LONGEST:
        required = f"a cell of Excel may have at most {_LONGEST} characters"
        raise BadTable(required, came=f"a cell of {len(text)} characters", remedy="Write .csv or .parquet.")
    if _ESCAPED.search(text):  # a workbook would store these as _x000D_, which some readers show as text or skip
        required = "a cell of Excel must have no control characters, lone surrogates or text like _x000D_"
        raise BadTable(required, came="such text", remedy="Write .jsonl, which keeps the text; or change the text.")
    return text


def _fact_text(fact: Any) -> str:
    if isinstance(fact, Mapping):
        return "; ".join(f"{name}: {_fact_text(part)}" for name, part in fact.items())
    if isinstance(fact, list | tuple):
        return ", ".join(map(_fact_text, fact))
    return str(fact)


def read(path: Path, *, has_dates: bool = False) -> dict[str, list[Any]]:
    """Read the table of an Excel file: the named sheet, the sheets "Values", or the only sheet.

    Args:
        path: Path of the file, or of one of its sheets: "book.xlsx#Sheet".
        has_dates: Whether dates and times are returned as such, and not as text.
    """
    path, sheet = sheet_named(path)
    where = str(path)
    with _opened(path, data_only=True) as book:
        pages = _table_sheets(book, path, sheet)
        for title in pages:
            _check_unmerged(book, title, where)
        rows = list(_rows(book, pages, where, has_dates=has_dates))
    if any(cell is None for row in rows for cell in row):
        _check_formulas_computed(path, pages)
    header = [f"column {at}" if name is None else str(name) for at, name in enumerate(rows[0] if rows else (), 1)]
    if not header or len(set(header)) < len(header):
        required = "the first row of a sheet must have a distinct name for each column"
        raise BadTable(required, came="another first row", where=where, remedy=_HEADER)
    return {name: [row[at] for row in rows[1:]] for at, name in enumerate(header)}


# The header is the first row, so a title above the table would become the names of its columns.
_HEADER = "The header must be the first row: delete titles and notes above it, and unmerge cells."
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=[\"']([A-Z]+[0-9]+(?::[A-Z]+[0-9]+)?)[\"']")
_CHUNK, _OVERLAP = 1 << 20, 1 << 8


def _check_unmerged(book: Any, title: str, where: str) -> None:
    """Check that no cells of a sheet are merged, because all merged cells but the first would be read as empty."""
    rest = b""
    # openpyxl's reader for large files skips the part of the sheet with merged cells, which comes after the rows.
    with book._archive.open(book[title]._worksheet_path) as content:
        while read := content.read(_CHUNK):
            merged = _MERGED.search(rest + read)
            if merged is not None:
                cells = merged[1].decode()
                raise BadTable(
                    "the cells of a table must not be merged",
                    came="merged cells",
                    where=f"{where}, sheet {title!r}, cells {cells}",
                    remedy=f"Unmerge them in Excel, and fill in each cell's value. {_HEADER}",
                )
            rest = (rest + read)[-_OVERLAP:]


def _check_formulas_computed(path: Path, pages: list[str]) -> None:
    """Check that every formula has a stored value. A formula that a program wrote has no stored value until Excel saves
    the file.
    """
    where = str(path)
    with _opened(path, data_only=True) as book, _opened(path, data_only=False) as written:
        for title in pages:
            for values, cells in zip(book[title].iter_rows(values_only=True), written[title].iter_rows(), strict=False):
                for value, cell in zip(values, cells, strict=False):
                    if value is None and cell.data_type == "f":
                        raise BadTable(
                            "a formula must have a stored value",
                            came="a formula without one",
                            where=f"{where}, sheet {title!r}, cell {cell.coordinate}",
                            remedy="Open the file in Excel or LibreOffice and save it, which computes its formulas; "
                            "or replace the formulas by values.",
                        )


@contextmanager
def _opened(path: Path, *, data_only: bool) -> Iterator[Any]:
    """Open the workbook in a file or a pipe. openpyxl reads a sheet only when the rows of the sheet are read."""
    reader, where = extra("openpyxl", EXTRA), str(path)
    with path.open("rb") as file:
        # This is checked before the file is unpacked: its content must not be far larger than the file.
        try:
            with ZipFile(file) as packed:
                size = sum(part.file_size for part in packed.infolist())
        except BadZipFile:
            came = "another file, or a truncated one"
            raise BadTable("an .xlsx file must be a workbook of Excel", came=came, where=where) from None
        most = max(_INFLATED, _INFLATION * file.seek(0, io.SEEK_END))
        if size > most:
            raise BadTable(f"a file of this size must have at most {most} bytes of cells", came=size, where=where)
        if (limits := limits_of(path)) is not None:
            limits.check_unpacked(size, where)
        try:
            with closing(reader.load_workbook(file, read_only=True, data_only=data_only)) as book:
                for page in book.worksheets:
                    # Some programs write wrong dimensions, and cells beyond them would not be read.
                    page.reset_dimensions()
                    if limits is not None:
                        page.iter_rows = partial(_limited_rows, page.iter_rows, limits, where)
                yield book
        except UtmostError:
            raise
        except (*_DAMAGED, reader.utils.exceptions.InvalidFileException):
            came = "a file that openpyxl cannot read"
            raise BadTable("an .xlsx file must be a workbook of Excel", came=came, where=where) from None


def _limited_rows(iter_rows: Any, limits: ReadLimits, where: str, **options: Any) -> Iterator[Any]:
    """Yield the rows of an uploaded sheet; a cell far to the right or below makes many empty cells."""
    cells = 0
    for row in iter_rows(**options):
        cells += max(len(row), 1)
        limits.check_cells(".xlsx", cells, where)
        yield row


def check_statement(path: Path, statement: Mapping[str, Any]) -> None:
    """Check that a workbook has no statement except this one, no other sheets, and no formulas.

    Args:
        path: Workbook from `write`.
        statement: Statement about the values in the workbook. The digest of the file in the statement is ignored.
    """
    expected = _facts_of(_lines({name: fact for name, fact in statement.items() if name != "table"}))
    with _opened(path, data_only=False) as book:
        for sheet in book.worksheets:
            if sheet.title == STATEMENT:
                rows = islice(sheet.iter_rows(values_only=True), 1, None)
                lines = _facts_of((*row, None, None)[:2] for row in rows)
                if not lines.items() <= expected.items():
                    raise BadTable("a workbook must contain its statement", came="another statement", where=str(path))
            elif not (sheet.title == VALUES or sheet.title.startswith(f"{VALUES} ")):
                raise BadTable(
                    "a workbook must have only sheets of values and the sheet of the statement",
                    came=repr(sheet.title),
                    where=str(path),
                )
            elif any(cell.data_type == "f" for row in sheet.iter_rows() for cell in row):
                raise BadTable("released values must not be formulas", came="a formula", where=f"{path}, {sheet.title}")


def _facts_of(lines: Iterable[Iterable[Any]]) -> dict[str, str]:
    """The fields of the statement on a sheet, by name. The lines of each field are joined."""
    facts: dict[str, str] = {}
    last = ""
    for name, text in lines:
        last = name or last
        facts[last] = facts.get(last, "") + ("" if text is None else str(text))
    return facts


def _table_sheets(book: Any, path: Path, sheet: str | None) -> list[str]:
    titles = [page.title for page in book.worksheets]  # chart sheets contain no tables
    if sheet is not None and sheet in titles:
        return [sheet]
    listed = ", ".join(titles[:_MOST_LISTED]) + ", ..." * (len(titles) > _MOST_LISTED)
    name = "" if isinstance(path, MemoryFile) else f'Name one: "{path}#{titles[0]}"'
    if sheet is not None:
        raise BadTable(
            "a named sheet must be in the workbook",
            came=repr(sheet),
            where=str(path),
            remedy=f"The sheets are {listed}.",
        )
    pages = [title for title in titles if title == VALUES or title.startswith(f"{VALUES} ")] or titles
    # A workbook with several sheets is refused until one is named: "book.xlsx#Sheet".
    if VALUES not in pages and len(pages) > 1:
        remedy = f"The sheets are {listed}. {name or 'Save the sheet in a separate file.'}"
        required = "a table must be one sheet of an .xlsx file"
        raise BadTable(required, came=f"{len(pages)} sheets", where=str(path), remedy=remedy)
    return pages


def _rows(book: Any, pages: list[str], where: str, *, has_dates: bool) -> Iterator[tuple[Any, ...]]:
    """The rows of the table, each as long as the header. Empty rows at the end of a file from another program are left
    out.
    """

    def converted(cell: Any) -> Any:
        # As for text files: a time at midnight becomes a date, and an integral float stays a float.
        if isinstance(cell, datetime) and has_dates:
            return cell.date() if cell.time() == datetime.min.time() else cell
        if isinstance(cell, datetime):
            return cell.date().isoformat() if cell.time() == datetime.min.time() else cell.isoformat(sep=" ")
        return cell if isinstance(cell, bool | int | float | str | Decimal | None) else str(cell)

    width, blank = 0, 0
    for number, title in enumerate(pages):
        for at, row in enumerate(book[title].iter_rows(values_only=True)):
            if at == 0 and number:
                continue  # skip the repeated header
            width = width or max((at + 1 for at, cell in enumerate(row) if cell is not None), default=0)
            if VALUES not in pages and not any(cell is not None for cell in row):
                blank += 1
                continue
            yield from ((None,) * width for _ in range(blank))
            blank = 0
            if any(cell is not None for cell in row[width:]):
                place = f"{where}, row {at + 1}"
                raise BadTable(
                    "a row must have one cell for each column", came="more cells", where=place, remedy=_HEADER
                )
            yield tuple(converted(cell) for cell in (*row, *(None,) * width)[:width])
