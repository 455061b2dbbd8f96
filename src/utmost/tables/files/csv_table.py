"""CSV files: read in passes that keep no row, written with every untouched cell as it was."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from utmost.core.sampling.item_words import Identifiers
from utmost.errors import BadTable
from utmost.tables.cells.spelling import PLAIN, Spelling
from utmost.tables.files.csv_blocks import CsvBlock, Unlike, read_blocks
from utmost.tables.files.digits import Bytes, Places, digits, joined
from utmost.tables.files.formulas import without_formulas
from utmost.tables.files.text_files import TextFile
from utmost.tables.frames import adapters
from utmost.tables.frames.adapters import Column, distinct_names
from utmost.tables.optional_imports import extra

_LARGEST = np.iinfo(np.int64).max
_LONGEST_CELL = 1 << 24  # characters: a country's outline has some millions


@dataclass(frozen=True, slots=True, eq=False)
class CsvTable:
    """A CSV file, and the columns that a release has laid over it.

    Attributes:
        path: the file; UTF-8, its first record the header, separated by tabs where its name ends in ``.tsv``.
        header: the names of the file's columns; one without a name is called by its place, "column 1".
        rows: how many records follow the header.
        laid: released columns by name, each of length ``rows``.
        after: for each laid column that the file lacks, the column behind which it stands.
        left_out: columns of the file that are not written.
        in_blocks: whether the file is written so plainly that `csv_blocks` reads it; what is read is the same.
    """

    path: Path
    header: tuple[str, ...]
    rows: int
    laid: Mapping[str, Column] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    in_blocks: bool = False

    @property
    def names(self) -> list[str]:
        """All columns, in the order in which they are written."""
        return [name for name in adapters.in_order(self.header, self.after) if name not in self.left_out]


def read(path: Path | str) -> CsvTable:
    """Check the whole file and return it as a table; no cell stays in memory.

    Raises:
        BadTable: for a file that is empty or no UTF-8 text, a column with another's name, and a row with more or fewer
            cells than the header.
    """
    path = TextFile.of(path if isinstance(path, Path) else Path(path))
    lines = records(path)
    header = _named_header(next(lines, (1, []))[1], path)
    try:
        rows = sum(block.rows for block in read_blocks(path, len(header), delimiter_of(path)))
        return CsvTable(path, tuple(header), rows, in_blocks=True)
    except Unlike:
        return CsvTable(path, tuple(header), _rows_counted(lines, len(header), path))


def write(table: CsvTable, file: BinaryIO, *, delimiter: str = ",") -> None:
    """Write the table: the laid columns in their places, every other cell with the text it had."""
    for _, text in pieces(table, delimiter):
        file.write(text)


Piece = tuple[int, bytes]
"""Some rows of a file that is written: how many, and their text."""


def pieces(table: CsvTable, delimiter: str = ",") -> Iterator[Piece]:
    """The table as it is written, its header first."""
    return without_formulas(_pieces(table, delimiter))


def _pieces(table: CsvTable, delimiter: str) -> Iterator[Piece]:
    if not table.in_blocks or len(table.names) < 2:
        yield from _pieces_of(table.names, rows(table), delimiter)
        return
    yield 0, _header(table.names, delimiter)
    start = 0
    for block in _blocks(table):
        laid = {name: column[start : start + block.rows] for name, column in table.laid.items()}
        yield block.rows, _block_written(table, block, laid, delimiter.encode())
        start += block.rows


_TOGETHER = 1 << 12


def pieces_of(header: list[str], body: Iterable[list[str]], delimiter: str) -> Iterator[Piece]:
    """A header and rows of cells as they are written, quoted where that is needed."""
    return without_formulas(_pieces_of(header, body, delimiter))


def _pieces_of(header: list[str], body: Iterable[list[str]], delimiter: str) -> Iterator[Piece]:
    yield 0, _header(header, delimiter)
    lines = (_line(row, delimiter) for row in body)
    while together := list(islice(lines, _TOGETHER)):
        yield len(together), "".join(together).encode()


def check_names(names: Iterable[str]) -> None:
    """Check that every column has a name by which a CSV file has it.

    Raises:
        BadTable: for a blank one, which is none to whoever reads the file.
    """
    if not all(map(str.strip, names)):
        remedy = "Rename it, or write .parquet or .jsonl."
        raise BadTable("every column of a text file must have a name", came="a blank one", remedy=remedy)


def _header(names: list[str], delimiter: str) -> bytes:
    """The names as the first line; one that begins as a mark of bytes does is quoted, so that it is not read as one."""
    check_names(names)
    line = _line(names, delimiter)
    if line.startswith("\ufeff"):
        line = f'"{names[0]}"{line.removeprefix(names[0])}'
    return line.encode()


def rows(table: CsvTable) -> Iterator[list[str]]:
    """Each row as it is written.

    Raises:
        BadTable: where the file is no longer as long as it was.
    """
    return _chosen(table, _body(table), table.laid)


def _chosen(table: CsvTable, body: Iterable[list[str]], laid: Mapping[str, Column]) -> Iterator[list[str]]:
    """What is written of each record, with the cells of the laid columns in their places."""
    texts = {name: map(str, column) for name, column in laid.items()}
    # Cells that are not released keep the very text they had.
    sources = [texts.get(name) or table.header.index(name) for name in table.names]
    for record in body:
        yield [record[at] if isinstance(at, int) else next(at) for at in sources]


def register() -> None:
    """Let CSV tables into releases."""
    adapters.register(_CsvAdapter())


class _CsvAdapter:
    def knows(self, table: Any) -> bool:
        """Whether the table was read by `read`."""
        return isinstance(table, CsvTable)

    def names(self, table: CsvTable) -> list[str]:
        return table.names

    def column(self, table: CsvTable, name: str, most: int | None = None) -> Column:
        if name in table.laid:
            return table.laid[name][:most]
        at = table.header.index(name)
        if table.in_blocks and most is None:
            return _one_column([_integers_or_cells(block, at, table.path) for block in _blocks(table)])
        return _one_column([numbers_of((record[at] for record in islice(_body(table), most)), spelling_of(table.path))])

    def label(self, table: CsvTable, name: str) -> Column:
        """The cells as the file spells them."""
        if name in table.laid:
            return table.laid[name]
        at = table.header.index(name)
        return [record[at] for record in _body(table)]

    def place(self, table: CsvTable, row: int) -> str:
        lines = records(table.path)
        next(lines, None)
        line = next((line for at, (line, _) in enumerate(lines) if at == row), 0)
        return f"{table.path.name}, {_place(row, line)}"

    def with_columns(self, table: CsvTable, columns: Mapping[str, Column], after: Mapping[str, str]) -> CsvTable:
        laid, behind = {**table.laid, **columns}, {**table.after, **after}
        return replace(table, laid=laid, after=behind)

    def without(self, table: CsvTable, names: Sequence[str]) -> CsvTable:
        return replace(table, left_out=(*table.left_out, *names))

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
    if delimiter in cell or '"' in cell or "\n" in cell or "\r" in cell:
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _changed(table: CsvTable, rows: int) -> BadTable:
    return BadTable("the file must not change while it is released", came=f"{rows} rows", where=str(table.path))


def _body(table: CsvTable) -> Iterator[list[str]]:
    """The records behind the header, of which there must still be as many as there were."""
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
    """The blocks of rows, of which there must still be as many as there were."""
    count = 0
    try:
        for block in read_blocks(table.path, len(table.header), delimiter_of(table.path)):
            count += block.rows
            # Of a file that grew nothing more is given: it is refused at its end.
            if count <= table.rows:
                yield block
    except Unlike:
        raise _changed(table, count) from None
    if count != table.rows:
        raise _changed(table, count)


def _integers_or_cells(block: CsvBlock, at: int, path: Path) -> NDArray[np.int64] | list[Any]:
    """One column of a block: integers where every cell is a short one, else the cells one for one."""
    spelling = spelling_of(path)
    values, odd = block.integers(at)
    if not odd.size and not spelling.missing_numbers:
        return values
    return numbers_of(block.texts(at), spelling)


def _one_column(parts: list[NDArray[np.int64] | list[Any]]) -> Column:
    """The parts of a column as one: an array where every cell is an integer that int64 holds, else a list."""
    packed = [part if isinstance(part, np.ndarray) else _packed(part) for part in parts]
    arrays = [part for part in packed if isinstance(part, np.ndarray)]
    # Of no rows there is no telling what they would hold: a list.
    if len(arrays) == len(packed) and any(part.size for part in arrays):
        return np.concatenate(arrays)
    return list(chain.from_iterable(part.tolist() if isinstance(part, np.ndarray) else part for part in packed))


def _packed(cells: list[Any]) -> NDArray[np.int64] | list[Any]:
    if set(map(type, cells)) == {int} and max(cells) <= _LARGEST and min(cells) >= -_LARGEST:
        return np.array(cells, np.int64)
    return cells


def _block_written(table: CsvTable, block: CsvBlock, laid: Mapping[str, Column], delimiter: bytes) -> bytes:
    """A block as it is written: the pieces of every row, each with the byte behind it, which is then set right."""
    own = delimiter.decode() == delimiter_of(table.path)
    # Under another separator cells that hold it need quotes: such a block is written cell by cell.
    if not own and delimiter in block.text:
        rows = _chosen(table, block.records(), laid)
        return "".join(_line(row, delimiter.decode()) for row in rows).encode()
    # A quoted cell is copied with its quotes: two bytes more, from one byte before.
    quoted = None if block.quoted is None else block.marked(delimiter)
    buffers, size = [block.content], block.content.size
    starts = np.empty((block.rows, len(table.names)), np.int64)
    lengths = np.empty_like(starts)
    for k, name in enumerate(table.names):
        if name in laid:
            buffer, begin, long = _written(laid[name], delimiter)
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
    # Each cell came with a byte behind it: now the separator, or the end of the row.
    text[np.cumsum(lengths) - 1] = np.tile(behind, block.rows)
    return text.tobytes()


def _written(column: Column, delimiter: bytes) -> tuple[Bytes, Places, Places]:
    """Cells as they are written, each with one byte behind it: a buffer, and where they start and how long they are."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "i":
        return digits(column.astype(np.int64), b"\n")
    # Python writes a float as NumPy does, and sooner.
    cells = column.tolist() if isinstance(column, np.ndarray) and column.dtype == np.float64 else column
    texts = [_quoted(str(cell), delimiter.decode()).encode() + b"\n" for cell in cells]
    lengths = np.array(list(map(len, texts)), np.int64)
    return np.frombuffer(b"".join(texts), np.uint8), np.cumsum(lengths) - lengths, lengths


def records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Each record with the number of the line on which it starts; blank lines count only where a row has one cell."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        # The limit is Python's own, of all readers: it is raised and never lowered.
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
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
            remedy = "Add --encoding cp1252, say."
            where = f"{path}, after line {start}"
            raise BadTable("a CSV file must be UTF-8 text", came=came, where=where, remedy=remedy) from None
        except csv.Error as error:
            if "field limit" in str(error):
                required, came = f"a cell must have at most {_LONGEST_CELL} characters", "more"
                remedy = "See whether a quote is not closed; or leave the column out."
                raise BadTable(required, came=came, where=f"{path}, line {start}", remedy=remedy) from None
            raise BadTable("a CSV file must be well formed", came=str(error), where=f"{path}, line {start}") from None


def _rows_counted(lines: Iterator[tuple[int, list[str]]], width: int, path: Path) -> int:
    """How many records there are behind the header, each as wide as it."""
    rows = 0
    for line, record in lines:
        rows += 1
        if len(record) != width:
            raise BadTable(
                f"every row must have {width} cells",
                came=f"{len(record)} cells",
                where=f"{path}, {_place(rows - 1, line)}",
                remedy="Quote cells that hold the separator or a line break; or name the separator: --separator.",
            )
    return rows


def _named_header(header: list[str], path: Path) -> list[str]:
    """The names of the columns; one without a name, as R and pandas write of the rows' numbers, is called by its place.

    >>> _named_header(["", "sex"], Path("t.csv"))
    ['column 1', 'sex']
    """
    if not header:
        raise BadTable("a CSV file must start with a header", came="an empty file", where=str(path))
    names = [name if name.strip() else f"column {at}" for at, name in enumerate(header, 1)]
    return distinct_names(names, f"{path}, line 1")


def _place(row: int, line: int) -> str:
    return f"row {row + 1} (line {line})"


def numbers_of(texts: Iterable[str], spelling: Spelling = PLAIN) -> list[Any]:
    """The number that each text spells, exactly; None for a missing one, and the text itself where it is no number.

    >>> numbers_of(["7", "2.5", "2,5", ""]), numbers_of(["7", "2.5", "2,5"], Spelling(","))
    ([7, Decimal('2.5'), '2,5', None], [7, '2.5', Decimal('2.5')])
    """
    return list(map(spelling.cell, texts))


def spelling_of(path: Path) -> Spelling:
    """The marks that are declared for the cells of a file."""
    return path.spelling if isinstance(path, TextFile) else PLAIN


def delimiter_of(path: Path) -> str:
    """What separates the cells of a file with this name."""
    stated = path.separator if isinstance(path, TextFile) else None
    return stated or ("\t" if path.suffix.lower() == ".tsv" else ",")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CsvPiece:
    """Some rows of a CSV file: a block of it, or records."""

    table: CsvTable
    block: CsvBlock | None
    body: list[list[str]]

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.body) if self.block is None else self.block.rows

    def column(self, name: str) -> Column:
        """The numbers of one column, and whatever is no number as text."""
        at = self.table.header.index(name)
        if self.block is not None:
            return _integers_or_cells(self.block, at, self.table.path)
        return numbers_of((row[at] for row in self.body), spelling_of(self.table.path))

    def amounts(self, name: str) -> Column:
        """The integers of one column where every cell is a short one, else its cells as they stand in the file."""
        if self.block is not None:
            values, odd = self.block.integers(self.table.header.index(name))
            if not odd.size:
                return values
        return self.texts(name)

    def texts(self, name: str) -> list[str]:
        """The cells of one column as they stand in the file."""
        at = self.table.header.index(name)
        return [row[at] for row in self.body] if self.block is None else self.block.texts(at)

    def in_arrow(self, name: str) -> Any:
        """The same as an Arrow array of text, without a Python object for each."""
        arrow = extra("pyarrow", "tables")
        offsets, content = (None, None) if self.block is None else self.block.buffers(self.table.header.index(name))
        if content is None:
            return arrow.array(self.texts(name), arrow.large_string())
        buffers = [None, arrow.py_buffer(offsets), arrow.py_buffer(content)]
        return arrow.Array.from_buffers(arrow.large_string(), self.rows, buffers)

    def identifiers(self, name: str) -> Identifiers:
        """The texts of one column."""
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
        """The names of the columns."""
        return list(self.table.header)

    @property
    def path(self) -> Path:
        """The file."""
        return self.table.path

    @property
    def files(self) -> tuple[Path, ...]:
        """The one file that it is."""
        return (self.table.path,)

    def pieces(self) -> Iterator[CsvPiece]:
        """The blocks, or records some thousands at a time."""
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
        left_out: Sequence[str],
        kinds: Mapping[str, str],
    ) -> Iterator[tuple[int, bytes]]:
        """The pieces as they are written: whoever asks writes them."""
        return without_formulas(self._written(released, after, left_out))

    def _written(
        self,
        released: Iterator[tuple[CsvPiece, Mapping[str, Any]]],
        after: Mapping[str, str],
        left_out: Sequence[str],
    ) -> Iterator[Piece]:
        delimiter, whole = delimiter_of(self.path), None
        for piece, columns in released:
            table = replace(self.table, laid=columns, after=after, left_out=tuple(left_out))
            if whole is None:
                whole = table.names
                yield 0, _header(whole, delimiter)
            # A single cell that is empty has quotes, which a block does not write.
            if piece.block is not None and len(whole) > 1:
                yield piece.rows, _block_written(table, piece.block, columns, delimiter.encode())
            else:
                body = piece.body if piece.block is None else piece.block.records()
                yield piece.rows, "".join(_line(row, delimiter) for row in _chosen(table, body, columns)).encode()
