"""CSV files. No rows are kept in memory, and every cell that is not released is written unchanged.

`text_files.py` finds the separator and the encoding of a file, and `utmost.tables.cells.spelling` reads its numbers.
"""

import codecs
import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from operator import eq
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import plain_cells
from utmost.core.sampling.item_words import Identifiers
from utmost.errors import BadTable
from utmost.tables.cells.spelling import PLAIN_SPELLING, Spelling
from utmost.tables.files.csv_blocks import CsvBlock, NotInBlocks, read_blocks
from utmost.tables.files.digit_buffers import Bytes, Offsets, digits, joined
from utmost.tables.files.formulas import without_formulas
from utmost.tables.files.text_files import TextFile, limits_of
from utmost.tables.frames import adapters
from utmost.tables.frames.adapters import Column, distinct_names
from utmost.tables.frames.table import TableMethods
from utmost.tables.optional_imports import extra

_LARGEST = np.iinfo(np.int64).max
_LONGEST_CELL = 1 << 24  # largest number of characters in a cell: the outline of a country has several million


@dataclass(frozen=True, slots=True, eq=False)
class CsvTable(TableMethods):
    """A CSV file, together with the released columns that replace some of its columns or are added to them."""

    path: Path  # UTF-8 with a header; tabs separate the cells if the name ends in ``.tsv``
    header: tuple[str, ...]  # names of the file's columns; a column without a name is named by its position: "column 1"
    rows: int  # number of records after the header
    released: Mapping[str, Column] = field(default_factory=dict)  # released columns by name, each of length ``rows``
    after: Mapping[str, str] = field(default_factory=dict)  # for each new column, the column before it
    dropped: tuple[str, ...] = ()  # columns of the file that are not written
    in_blocks: bool = False  # whether `csv_blocks` can read the file with the same result

    @property
    def names(self) -> list[str]:
        """The names of all columns, in the order of the written file."""
        return [name for name in adapters.column_order(self.header, self.after) if name not in self.dropped]

    def keys(self) -> list[str]:
        return self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, name: str, /) -> Column:
        """The released column with this name, or else the column of the file, as text."""
        adapters.check_columns_exist([name], self.names)
        return _CsvAdapter().label(self, name)


def read(path: Path | str) -> CsvTable:
    """Check the whole file, and return it as a table without storing its cells."""
    path = TextFile.of(path if isinstance(path, Path) else Path(path))
    lines = records(path)
    first = next(lines, (1, []))[1]
    if not first:
        raise BadTable("a CSV file must start with a header", came="an empty file", where=str(path))
    # A column without a name, such as R's row numbers, is named by its position.
    names = [name if name.strip() else f"column {at}" for at, name in enumerate(first, 1)]
    header = distinct_names(names, f"{path}, line 1")
    limits, rows = limits_of(path), 0
    with suppress(NotInBlocks):
        for block in read_blocks(path, len(header), delimiter_of(path)):
            rows += block.rows
            if limits is not None:
                limits.check_cells(".csv", rows * len(header), str(path))
        return CsvTable(path, tuple(header), rows, in_blocks=True)
    rows = 0
    for line, record in lines:
        rows += 1
        if limits is not None:
            limits.check_cells(".csv", rows * len(header), str(path))
        if len(record) != len(header):
            raise BadTable(
                f"every row must have {len(header)} cells",
                came=f"{len(record)} cells",
                where=f"{path}, {_row_name(rows - 1, line)}",
                remedy="Declare a name for every column, separated by commas; or name the separator with separator=."
                if _is_headed(path)
                else "Quote cells with the separator or a line break, or name the separator with separator=.",
            )
    return CsvTable(path, tuple(header), rows)


def write(table: CsvTable, file: BinaryIO, *, delimiter: str = ",") -> None:
    """Write a table. Released columns replace columns of the file, and every other cell keeps its text."""
    for _, text in pieces(table, delimiter):
        file.write(text)


Piece = tuple[int, bytes]
"""Some rows of a written file: the number of rows, and their text."""


def pieces(table: CsvTable, delimiter: str = ",") -> Iterator[Piece]:
    """Yield the table as text in pieces, beginning with its header. A cell with a formula raises `BadTable`."""

    def unchecked() -> Iterator[Piece]:
        if not table.in_blocks or len(table.names) < 2:
            yield from _pieces_of(table.names, rows(table), delimiter)
            return
        yield 0, _header(table.names, delimiter)
        start = 0
        for block in _blocks(table):
            released = {name: column[start : start + block.rows] for name, column in table.released.items()}
            yield block.rows, _block_written(table, block, released, delimiter.encode())
            start += block.rows

    return without_formulas(unchecked())


_TOGETHER = 1 << 12


def pieces_of(header: list[str], body: Iterable[list[str]], delimiter: str) -> Iterator[Piece]:
    """Yield a header and rows as text, with quotes where needed. A cell with a formula raises `BadTable`."""
    return without_formulas(_pieces_of(header, body, delimiter))


def _pieces_of(header: list[str], body: Iterable[list[str]], delimiter: str) -> Iterator[Piece]:
    yield 0, _header(header, delimiter)
    lines = (_line(row, delimiter) for row in body)
    while together := list(islice(lines, _TOGETHER)):
        yield len(together), "".join(together).encode()


def check_names(names: Iterable[str]) -> None:
    """Check that every column has a name that is not blank, as readers of CSV require."""
    if not all(map(str.strip, names)):
        remedy = "Rename the column, or write .parquet or .jsonl."
        raise BadTable("every column of a text file must have a name", came="a blank name", remedy=remedy)


def _header(names: list[str], delimiter: str) -> bytes:
    """The names as the first line. Quotes prevent a name from being read as a byte order mark."""
    check_names(names)
    line = _line(names, delimiter)
    if line.startswith("\ufeff"):
        line = f'"{names[0]}"{line.removeprefix(names[0])}'
    return line.encode()


def rows(table: CsvTable) -> Iterator[list[str]]:
    """Yield the rows to write. If the number of rows of the file has changed, `BadTable` is raised."""
    return _chosen(table, _body(table), table.released)


def _chosen(table: CsvTable, body: Iterable[list[str]], released: Mapping[str, Column]) -> Iterator[list[str]]:
    """Yield, for each record, the cells to write: the cells of released columns, and the text of all other cells."""
    texts = {name: map(str, column) for name, column in released.items()}
    # Cells that are not released keep their text.
    sources = [texts.get(name) or table.header.index(name) for name in table.names]
    for record in body:
        yield [record[at] if isinstance(at, int) else next(at) for at in sources]


def register() -> None:
    adapters.register(_CsvAdapter())


class _CsvAdapter:
    def knows(self, table: Any) -> bool:
        return isinstance(table, CsvTable)

    def names(self, table: CsvTable) -> list[str]:
        return table.names

    def column(self, table: CsvTable, name: str, most: int | None = None) -> Column:
        if name in table.released:
            return table.released[name][:most]
        at = table.header.index(name)
        if table.in_blocks and most is None:
            return _one_column([_integers_or_cells(block, at, table.path) for block in _blocks(table)])
        return _one_column([numbers_of((record[at] for record in islice(_body(table), most)), spelling_of(table.path))])

    def label(self, table: CsvTable, name: str) -> Column:
        """The cells of a column, spelled as in the file."""
        if name in table.released:
            return table.released[name]
        at = table.header.index(name)
        if table.in_blocks:
            return list(chain.from_iterable(block.texts(at) for block in _blocks(table)))
        return [record[at] for record in _body(table)]

    def identifiers(self, table: CsvTable, name: str) -> Column:
        """Integers if every cell is written as Python writes integers; else texts, so that 010 and 10 are different
        identifiers.
        """
        read = self.column(table, name)
        in_file = table.in_blocks and name not in table.released
        if in_file and isinstance(read, np.ndarray) and _is_plain(table, table.header.index(name), read):
            return read
        cells, texts = plain_cells(read), self.label(table, name)
        if set(map(type, cells)) == {int} and all(map(eq, map(str, cells), texts)):
            return read
        return [None if cell is None else text for cell, text in zip(cells, texts, strict=True)]

    def place(self, table: CsvTable, row: int) -> str:
        lines = records(table.path)
        next(lines, None)
        line = next((line for at, (line, _) in enumerate(lines) if at == row), 0)
        return f"{table.path.name}, {_row_name(row, line)}"

    def with_columns(self, table: CsvTable, columns: Mapping[str, Column], after: Mapping[str, str]) -> CsvTable:
        released, behind = {**table.released, **columns}, {**table.after, **after}
        return replace(table, released=released, after=behind)

    def without(self, table: CsvTable, names: Sequence[str]) -> CsvTable:
        return replace(table, dropped=(*table.dropped, *names))

    def kind(self, table: CsvTable, names: Sequence[str]) -> str:
        return "csv"

    def made(self, kind: str, columns: Mapping[str, Column]) -> None:
        """Return None: a CSV table is a file, so new columns become a dict."""


def _line(row: list[str], delimiter: str) -> str:
    """The row as a line of text. (`csv.writer` would not quote a lone carriage return, which would split the row.)"""
    line = delimiter.join(row)
    if line.count(delimiter) >= len(row) or any(mark in line for mark in '"\n\r'):
        line = delimiter.join(_quoted(cell, delimiter) for cell in row)
    return (line or '""') + "\n"


def _quoted(cell: str, delimiter: str) -> str:
    if delimiter in cell or '"' in cell or "\n" in cell or "\r" in cell:
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _changed(table: CsvTable, rows: int) -> BadTable:
    return BadTable(
        "the file must not change while it is released", came=f"another number of rows: {rows}", where=str(table.path)
    )


def _body(table: CsvTable) -> Iterator[list[str]]:
    """Yield the records after the header, and check that their number has not changed."""
    if table.in_blocks:
        for block in _blocks(table):
            yield from block.records()
        return
    count = 0
    lines = records(table.path)
    next(lines, None)
    for _, record in lines:
        count += 1
        if count <= table.rows:
            yield record
    if count != table.rows:
        raise _changed(table, count)


def _blocks(table: CsvTable) -> Iterator[CsvBlock]:
    """Yield the blocks of rows, and check that the number of rows has not changed."""
    count = 0
    try:
        for block in read_blocks(table.path, len(table.header), delimiter_of(table.path)):
            count += block.rows
            # If the file has grown, the additional rows are not yielded, and an error is raised at the end.
            if count <= table.rows:
                yield block
    except NotInBlocks:
        raise _changed(table, count) from None
    if count != table.rows:
        raise _changed(table, count)


def _integers_or_cells(block: CsvBlock, at: int, path: Path) -> NDArray[np.int64] | list[Any]:
    """One column of a block: an array of integers if every cell is a short integer, else a list of the cells."""
    spelling = spelling_of(path)
    values = None if spelling.missing_numbers else block.integers(at)
    return values if values is not None else numbers_of(block.texts(at), spelling)


def _is_plain(table: CsvTable, at: int, integers: NDArray[np.int64]) -> bool:
    """Whether Python would write every integer of a column as the file does. The column is read block by block, and no
    texts are made.
    """
    start = 0
    for block in _blocks(table):
        # Any other spelling of an integer has more characters: 010, +10, 1,000.
        if (digits(integers[start : start + block.rows], b"\n")[2] != block.lengths[:, at] + 1).any():
            return False
        start += block.rows
    return True


def _one_column(parts: list[NDArray[np.int64] | list[Any]]) -> Column:
    """The whole column: an array if every cell is an integer that fits int64, else a list."""
    packed: list[NDArray[np.int64] | list[Any]] = []
    for part in parts:
        if isinstance(part, list) and set(map(type, part)) == {int} and -_LARGEST <= min(part) <= max(part) <= _LARGEST:
            packed.append(np.array(part, np.int64))
        else:
            packed.append(part)
    arrays = [part for part in packed if isinstance(part, np.ndarray)]
    # A column without rows becomes a list, since its type is unknown.
    if len(arrays) == len(packed) and any(part.size for part in arrays):
        return np.concatenate(arrays)
    return list(chain.from_iterable(part.tolist() if isinstance(part, np.ndarray) else part for part in packed))


def _block_written(table: CsvTable, block: CsvBlock, released: Mapping[str, Column], delimiter: bytes) -> bytes:
    """The block as text. Each cell is copied together with the byte after it, which is then replaced by a separator."""
    own = delimiter.decode() == delimiter_of(table.path)
    # Cells that contain the new separator need quotes, so such a block is written cell by cell.
    if not own and delimiter in block.text:
        rows = _chosen(table, block.records(), released)
        return "".join(_line(row, delimiter.decode()) for row in rows).encode()
    # A quoted cell is copied with its quotes, so the copy begins one byte earlier and is two bytes longer.
    quoted = None if block.quoted is None else block.marked(delimiter)
    buffers, size = [block.content], block.content.size
    starts = np.empty((block.rows, len(table.names)), np.int64)
    lengths = np.empty_like(starts)
    for k, name in enumerate(table.names):
        if name in released:
            buffer, begin, long = _written(released[name], delimiter)
            starts[:, k], lengths[:, k] = begin + size, long
            buffers.append(buffer)
            size += buffer.size
        else:
            at = table.header.index(name)
            marks = 0 if quoted is None else quoted[:, at]
            starts[:, k], lengths[:, k] = block.starts[:, at] - marks, block.lengths[:, at] + 2 * marks + 1
    text = joined(np.concatenate(buffers), starts.reshape(-1), lengths.reshape(-1))
    behind = np.full(len(table.names), delimiter[0], np.uint8)
    behind[-1] = ord("\n")
    # The byte after each cell becomes the separator, or the end of the row.
    text[np.cumsum(lengths) - 1] = np.tile(behind, block.rows)
    return text.tobytes()


def _written(column: Column, delimiter: bytes) -> tuple[Bytes, Offsets, Offsets]:
    """Return the written cells, each followed by one byte: a buffer, and the start and length of each cell in it."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "i":
        return digits(column.astype(np.int64), b"\n")
    # Python writes floats in the same way as NumPy, but faster.
    cells = column.tolist() if isinstance(column, np.ndarray) and column.dtype == np.float64 else column
    texts = [_quoted(str(cell), delimiter.decode()).encode() + b"\n" for cell in cells]
    lengths = np.array(list(map(len, texts)), np.int64)
    return np.frombuffer(b"".join(texts), np.uint8), np.cumsum(lengths) - lengths, lengths


def records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield each record with the number of its first line. A blank line counts as a record only in a file with one
    column.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        # The limit is a global setting of Python, so it is only raised, and never lowered.
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
        reader = csv.reader(file, delimiter=delimiter_of(path), strict=True)
        start, width = 0 if _is_headed(path) else 1, 0  # a declared header is not a line of the file
        try:
            for record in reader:
                width = width or len(record)
                if record or width == 1:
                    yield start, record or [""]
                start = reader.line_num + (0 if _is_headed(path) else 1)
        except UnicodeDecodeError as error:
            # The message of the codec would quote a byte of the file.
            came = f"bytes of another encoding ({error.reason})"
            with path.open("rb") as content:
                is_utf_16 = content.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
            remedy = 'Pass encoding="utf-16".' if is_utf_16 else 'Pass, for example, encoding="cp1252".'
            where = f"{path}, after line {start}"
            raise BadTable("a CSV file must be UTF-8 text", came=came, where=where, remedy=remedy) from None
        except csv.Error as error:
            if "field limit" in str(error):
                required, came = f"a cell must have at most {_LONGEST_CELL} characters", "more"
                remedy = "Close the quote if it is open, or leave out the column with this cell."
                raise BadTable(required, came=came, where=f"{path}, line {start}", remedy=remedy) from None
            raise BadTable("a CSV file must be well formed", came=str(error), where=f"{path}, line {start}") from None


def _is_headed(path: Path) -> bool:
    """Whether the names of the columns are declared, and not in the file."""
    return isinstance(path, TextFile) and bool(path.header)


def _row_name(row: int, line: int) -> str:
    return f"row {row + 1} (line {line})"


def numbers_of(texts: Iterable[str], spelling: Spelling = PLAIN_SPELLING) -> list[Any]:
    """The exact number of each text; None for a missing cell, and other text unchanged."""
    return list(map(spelling.cell, texts))


def spelling_of(path: Path) -> Spelling:
    """The declared marks in the cells of a file."""
    return path.spelling if isinstance(path, TextFile) else PLAIN_SPELLING


def delimiter_of(path: Path) -> str:
    """The separator of a file's cells: the declared one, else the one that the file's ending implies."""
    declared = path.separator if isinstance(path, TextFile) else None
    return declared or ("\t" if path.suffix.lower() == ".tsv" else ",")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CsvPiece:
    """Some rows of a CSV file, stored as a block or as records."""

    table: CsvTable
    block: CsvBlock | None
    body: list[list[str]]

    @property
    def rows(self) -> int:
        return len(self.body) if self.block is None else self.block.rows

    def column(self, name: str) -> Column:
        """The cells of one column. Cells that spell numbers are converted, and all other cells are text."""
        at = self.table.header.index(name)
        if self.block is not None:
            return _integers_or_cells(self.block, at, self.table.path)
        return numbers_of((row[at] for row in self.body), spelling_of(self.table.path))

    def amounts(self, name: str, has_points: bool) -> Any:
        """One column as integers or, with ``has_points``, as Arrow's decimals, if all cells are such numbers; else as
        text.
        """
        if self.block is not None:
            at = self.table.header.index(name)
            values = self.block.integers(at)
            if values is not None:
                return values
            decimals = self.block.decimals(at) if has_points else None
            if decimals is not None:
                arrow = extra("pyarrow", "tables")
                units, scale = decimals
                words = np.stack([units, units >> 63], axis=1)  # the low and the high half of numbers of 128 bits
                kind = arrow.decimal128(38, scale)
                return arrow.Array.from_buffers(kind, self.rows, [None, arrow.py_buffer(words)])
        return self.texts(name)

    def texts(self, name: str) -> list[str]:
        at = self.table.header.index(name)
        return [row[at] for row in self.body] if self.block is None else self.block.texts(at)

    def in_arrow(self, name: str) -> Any:
        """The column as an Arrow array, without a Python object for each cell."""
        arrow = extra("pyarrow", "tables")
        offsets, content = (None, None) if self.block is None else self.block.buffers(self.table.header.index(name))
        if content is None:
            return arrow.array(self.texts(name), arrow.large_string())
        buffers = [None, arrow.py_buffer(offsets), arrow.py_buffer(content)]
        return arrow.Array.from_buffers(arrow.large_string(), self.rows, buffers)

    def identifiers(self, name: str) -> Identifiers:
        texts = self.texts(name)
        if not all(map(str.strip, texts)):
            raise BadTable("every row must have an identifier", came="a row without one", where=f"column {name!r}")
        return Identifiers.of(texts)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CsvPieces:
    """A CSV file that is read a block at a time."""

    table: CsvTable

    @property
    def names(self) -> list[str]:
        return list(self.table.header)

    @property
    def path(self) -> Path:
        return self.table.path

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.table.path,)

    def pieces(self) -> Iterator[CsvPiece]:
        """Yield the file in blocks if it can be read in blocks, else some thousands of records at a time."""
        if self.table.in_blocks:
            yield from (CsvPiece(self.table, block, []) for block in _blocks(self.table))
            return
        body = _body(self.table)
        while together := list(islice(body, _TOGETHER)):
            yield CsvPiece(self.table, None, together)

    def write(
        self,
        file: BinaryIO,
        released: Iterator[tuple[CsvPiece, Mapping[str, Any]]],
        after: Mapping[str, str],
        dropped: Sequence[str],
        kinds: Mapping[str, str],
    ) -> Iterator[tuple[int, bytes]]:
        """Yield the number of rows and the bytes of each piece; the caller writes the bytes to the file."""
        return without_formulas(self._written(released, after, dropped))

    def _written(
        self,
        released: Iterator[tuple[CsvPiece, Mapping[str, Any]]],
        after: Mapping[str, str],
        dropped: Sequence[str],
    ) -> Iterator[Piece]:
        delimiter, whole = delimiter_of(self.path), None
        for piece, columns in released:
            table = replace(self.table, released=columns, after=after, dropped=tuple(dropped))
            if whole is None:
                whole = table.names
                yield 0, _header(whole, delimiter)
            # In a file of one column an empty row needs quotes, which blocks do not write.
            if piece.block is not None and len(whole) > 1:
                yield piece.rows, _block_written(table, piece.block, columns, delimiter.encode())
            else:
                body = piece.body if piece.block is None else piece.block.records()
                yield piece.rows, "".join(_line(row, delimiter) for row in _chosen(table, body, columns)).encode()
