"""CSV in blocks of rows: where each cell starts and ends, found by NumPy for a megabyte at a time.

This is a second reader beside `csv_table.records`, which is Python's own and the definition of what a file says. A file
in which every quote stands where a writer of CSV puts it, and every line ends in the same way, is read here, to the
same cells; any other is `Unlike`, and is left to the first reader, which reads it or says what is wrong with it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from utmost.tables.files.digits import Bytes, Places, joined

_BLOCK = 1 << 20
_LONGEST = 1 << 20  # of one record; a longer one is left to the other reader
_MARK = b"\xef\xbb\xbf"
_QUOTE, _LINE, _RETURN, _ZERO = b'"\n\r0'
_FEW = 512
_DIGITS = 18  # so many always fit int64


class Unlike(Exception):
    """A file that is not read in blocks: nobody's mistake, and never seen outside of this room."""


@dataclass(frozen=True, slots=True, eq=False)
class CsvBlock:
    """Whole records of a CSV file.

    Attributes:
        text: their bytes, UTF-8; the last one is a line feed.
        content: the same as an array.
        starts: where each cell's text starts, shape (rows, columns); behind the quote of a quoted cell.
        lengths: how many bytes it is long, without its quotes.
        quoted: which cells are quoted; None where none is.
    """

    text: bytes
    content: Bytes
    starts: Places
    lengths: Places
    quoted: NDArray[np.bool_] | None

    @property
    def rows(self) -> int:
        """How many records there are."""
        return int(self.starts.shape[0])

    def texts(self, at: int) -> list[str]:
        """The cells of one column."""
        starts, ends = self.starts[:, at].tolist(), (self.starts[:, at] + self.lengths[:, at]).tolist()
        cells = [self.text[start:end].decode() for start, end in zip(starts, ends, strict=True)]
        if self.quoted is not None:
            for row in np.flatnonzero(self.quoted[:, at]).tolist():
                cells[row] = cells[row].replace('""', '"')
        return cells

    def buffers(self, at: int) -> tuple[Places, Bytes | None]:
        """The cells of one column one behind the other: where each starts and the last ends, and their bytes.

        Of a column in which a quote stands for itself no bytes, since it stands there twice.
        """
        lengths = self.lengths[:, at]
        content = joined(self.content, self.starts[:, at], lengths)
        offsets = np.zeros(self.rows + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return offsets, None if self.quoted is not None and (content == _QUOTE).any() else content

    def records(self) -> Iterator[list[str]]:
        """Each record as the texts of its cells; few at a time, since often only the first are wanted."""
        for start in range(0, self.rows, _FEW):
            few = slice(start, start + _FEW)
            quoted = None if self.quoted is None else self.quoted[few]
            some = replace(self, starts=self.starts[few], lengths=self.lengths[few], quoted=quoted)
            yield from map(list, zip(*map(some.texts, range(self.starts.shape[1])), strict=True))

    def integers(self, at: int) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """One column as integers, and the rows whose cell is more than a sign and up to 18 digits."""
        starts, lengths = self.starts[:, at], self.lengths[:, at]
        first = self.content[starts]
        signed = (first == ord("+")) | (first == ord("-"))
        digits = lengths - signed
        odd = (digits < 1) | (digits > _DIGITS)
        values = np.zeros(self.rows, np.int64)
        last = starts + lengths - 1
        for place in range(int(digits.max(initial=0, where=~odd))):
            digit = self.content[last - place] - np.uint8(_ZERO)  # a byte below "0" wraps to one above 9
            there = digits > place
            odd |= there & (digit > 9)
            values += np.where(there, digit, 0) * np.int64(10**place)
        return np.where(first == ord("-"), -values, values), np.flatnonzero(odd)

    def marked(self, delimiter: bytes) -> NDArray[np.bool_]:
        """Which cells cannot be written without quotes, shape (rows, columns); quoted ones, so none where none is."""
        special = self.content == delimiter[0]
        for mark in (_QUOTE, _LINE, _RETURN):
            special |= self.content == mark
        before = np.zeros(special.size + 1, np.int64)
        np.cumsum(special, out=before[1:])
        return np.asarray(before[self.starts + self.lengths] > before[self.starts])


def read_blocks(path: Path, width: int, delimiter: str) -> Iterator[CsvBlock]:
    """The records behind the header, a block at a time.

    Args:
        path: the file.
        width: how many cells its header has.
        delimiter: what separates them.
    """
    heads = 1
    with path.open("rb") as file:
        mark = file.read(len(_MARK))
        rest = b"" if mark == _MARK else mark
        while read := file.read(_BLOCK):
            text = rest + read
            end = _last_end(text)
            rest = text[end:]
            if end:
                yield _block(text[:end], width, delimiter.encode(), heads)
                heads = 0
            elif len(rest) > _LONGEST:
                raise Unlike
        if rest:
            yield _block(rest if rest.endswith(b"\n") else rest + b"\n", width, delimiter.encode(), heads)


def _last_end(text: bytes) -> int:
    """Behind the last line feed that is in no quoted cell; 0 where there is none."""
    end = len(text)
    if text.count(b'"') % 2:
        end = text.rfind(b'"')
    while end > 0:
        before = text.rfind(b'"', 0, end)  # the quote that closes the last quoted cell in front of ``end``
        line = text.rfind(b"\n", before + 1, end)
        if line >= 0:
            return line + 1
        end = text.rfind(b'"', 0, max(before, 0))
    return 0


def _block(text: bytes, width: int, delimiter: bytes, heads: int) -> CsvBlock:
    """The block, without its first ``heads`` records."""
    _check_text(text, heads)
    content = np.frombuffer(text, np.uint8)
    breaks = (content == delimiter[0]) | (content == _LINE)
    inside = None
    if b'"' in text:
        inside = _inside_quotes(content, delimiter)
        breaks &= ~inside
    stops = np.flatnonzero(breaks)
    starts = np.concatenate([[0], stops[:-1] + 1])
    lengths = stops - starts
    ends = content[stops] == _LINE
    if b"\r" in text:
        returns = content == _RETURN
        if inside is not None:
            returns &= ~inside
        # A lone return ends a record for the csv module, which then reads the file.
        if (content[np.flatnonzero(returns) + 1] != _LINE).any():
            raise Unlike
        lengths -= ends & returns[stops - 1] & (stops > 0)
    starts, lengths = _grid(starts, lengths, ends, width)
    starts, lengths = starts[heads:], lengths[heads:]
    quoted = None
    if inside is not None:
        quoted = content[starts] == _QUOTE
        starts, lengths = starts + quoted, lengths - 2 * quoted
    return CsvBlock(text, content, starts, lengths, quoted)


def _check_text(text: bytes, heads: int) -> None:
    """Check that the text is UTF-8, and does not begin with lines that the other reader would pass over."""
    if heads and text[:1] in (b"\n", b"\r"):
        raise Unlike
    if not text.isascii():
        try:
            text.decode()
        except UnicodeDecodeError:
            raise Unlike from None


def _inside_quotes(content: Bytes, delimiter: bytes) -> NDArray[np.bool_]:
    """Which bytes stand in quoted cells, the opening quote among them.

    Quotes open and close in turn. One that opens stands at the start of a cell or right behind one that closes, one
    that closes at the end of a cell or right before one that opens: then two in the midst of a cell stand for one.
    """
    quotes = content == _QUOTE
    places = np.flatnonzero(quotes)
    if places.size % 2:
        raise Unlike
    opening, closing = places[0::2], places[1::2]
    before, behind = content[opening - 1], content[closing + 1]  # the last byte of a block is a line feed, as [-1]
    doubled = np.zeros(opening.size + 1, np.bool_)
    doubled[1:-1] = opening[1:] == closing[:-1] + 1
    starts_cell = (before == delimiter[0]) | (before == _LINE) | doubled[:-1]
    ends_cell = (behind == delimiter[0]) | (behind == _LINE) | (behind == _RETURN) | doubled[1:]
    if not (starts_cell.all() and ends_cell.all()):
        raise Unlike
    return np.asarray(np.add.accumulate(quotes.view(np.uint8), dtype=np.uint8) & 1, np.bool_)  # parity, modulo 256


def _grid(starts: Places, lengths: Places, ends: NDArray[np.bool_], width: int) -> tuple[Places, Places]:
    """Starts and lengths as rows and columns; blank lines are passed over where a row has more than one cell."""
    if not _is_grid(ends, width) and width > 1:
        blank = ends & (lengths == 0) & np.concatenate([[True], ends[:-1]])
        starts, lengths, ends = starts[~blank], lengths[~blank], ends[~blank]
    if not _is_grid(ends, width):
        raise Unlike
    return starts.reshape(-1, width), lengths.reshape(-1, width)


def _is_grid(ends: NDArray[np.bool_], width: int) -> bool:
    """Whether just every ``width``-th cell ends its line."""
    rows, rest = divmod(ends.size, width)
    return rest == 0 and int(np.count_nonzero(ends)) == rows and bool(ends[width - 1 :: width].all())
