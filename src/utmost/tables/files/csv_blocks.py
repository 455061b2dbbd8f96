"""Read CSV in blocks of rows. NumPy finds the starts and ends of all cells in a megabyte at once.

There are two readers. `csv_table.records` uses Python's csv module, and defines the cells of a file. The reader in this
module gives the same cells for files in which quotes stand only around whole cells, and doubled inside them, and whose
lines all end in the same way. Any other file raises `NotInBlocks`, and `csv_table.records` reads or refuses it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from utmost.tables.files.digit_buffers import Bytes, Offsets, joined

_BLOCK = 1 << 20
_LONGEST = 1 << 20  # most bytes of a record; the other reader takes longer records
_MARK = b"\xef\xbb\xbf"
_QUOTE, _LINE, _RETURN, _ZERO = b'"\n\r0'
_FEW = 512
_DIGITS = 18  # numbers of so many digits always fit int64


class NotInBlocks(Exception):
    """The file cannot be read in blocks, and the caller uses `csv_table.records`."""


@dataclass(frozen=True, slots=True, eq=False)
class CsvBlock:
    """Whole records of a CSV file."""

    text: bytes  # in UTF-8; the last byte is a line feed
    content: Bytes  # the same bytes as an array
    starts: Offsets  # (rows, columns): start of each cell's text, after the quote of a quoted cell
    lengths: Offsets  # (rows, columns): length of each cell's text in bytes, without quotes
    quoted: NDArray[np.bool_] | None  # whether each cell is quoted; None if no cell is

    @property
    def rows(self) -> int:
        return int(self.starts.shape[0])

    def texts(self, at: int) -> list[str]:
        if not self.rows:
            return []
        starts, ends = self.starts[:, at], self.starts[:, at] + self.lengths[:, at]
        first = int(starts[0])
        text = self.text[first : int(ends[-1])]
        places = zip((starts - first).tolist(), (ends - first).tolist(), strict=True)
        if text.isascii():  # every byte is decoded as one character
            decoded = text.decode()
            cells = [decoded[start:end] for start, end in places]
        else:
            cells = [text[start:end].decode() for start, end in places]
        if self.quoted is not None:
            for row in np.flatnonzero(self.quoted[:, at]).tolist():
                cells[row] = cells[row].replace('""', '"')
        return cells

    def buffers(self, at: int) -> tuple[Offsets, Bytes | None]:
        """Join the cells of a column: n + 1 offsets, and the bytes, or None if a cell contains an escaped quote."""
        lengths = self.lengths[:, at]
        content = joined(self.content, self.starts[:, at], lengths)
        offsets = np.zeros(self.rows + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return offsets, None if self.quoted is not None and (content == _QUOTE).any() else content

    def records(self) -> Iterator[list[str]]:
        """Yield each record as a list of texts. Few records are converted at a time, since callers often need only the
        first.
        """
        for start in range(0, self.rows, _FEW):
            few = slice(start, start + _FEW)
            quoted = None if self.quoted is None else self.quoted[few]
            some = replace(self, starts=self.starts[few], lengths=self.lengths[few], quoted=quoted)
            yield from map(list, zip(*map(some.texts, range(self.starts.shape[1])), strict=True))

    def integers(self, at: int) -> NDArray[np.int64] | None:
        """One column as integers, or None if a cell does not consist of an optional sign and 1 to 18 digits."""
        starts, lengths = self.starts[:, at], self.lengths[:, at]
        if self.rows and b"." in self.text[starts[0] : starts[0] + lengths[0]]:
            return None  # most columns of decimals are recognised by their first cell
        first = self.content[starts]
        signed = (first == ord("+")) | (first == ord("-"))
        digits = lengths - signed
        if digits.min(initial=1) < 1 or digits.max(initial=0) > _DIGITS:
            return None
        values, last = np.zeros(self.rows, np.int64), starts + lengths - 1
        for place in range(int(digits.max(initial=0))):
            # A byte below "0" becomes a number above 9 by overflow.
            digit = self.content[last - place] - np.uint8(_ZERO)
            there = digits > place
            if (there & (digit > 9)).any():
                return None
            values += np.where(there, digit, 0) * np.int64(10**place)
        return np.where(first == ord("-"), -values, values)

    def decimals(self, at: int) -> tuple[NDArray[np.int64], int] | None:
        """One column in units of its last decimal, and the number of its decimals; None if a cell is no plain number.

        A plain number consists of an optional sign, digits, and at most one point between digits. A plain number has at
        most 18 digits when it is written with the decimals of the column.
        """
        lengths, last = self.lengths[:, at], self.starts[:, at] + self.lengths[:, at] - 1
        first = self.content[self.starts[:, at]]
        digits = lengths - ((first == ord("+")) | (first == ord("-")))
        longest = int(digits.max(initial=0))
        if not self.rows or digits.min() < 1 or longest > _DIGITS + 1:
            return None
        values, decimals = np.zeros(self.rows, np.int64), np.zeros(self.rows, np.int64)
        has_point = np.zeros(self.rows, np.bool_)
        for place in range(longest):
            byte = self.content[last - place]
            there = digits > place
            is_point = there & (byte == ord("."))
            digit = byte - np.uint8(_ZERO)  # a byte below "0" becomes a number above 9 by overflow
            wrong = is_point & (has_point | (place == 0) | (digits == place + 1)) | there & ~is_point & (digit > 9)
            if wrong.any():
                return None
            power = np.where(has_point, np.int64(10 ** max(place - 1, 0)), np.int64(10 ** min(place, _DIGITS)))
            values += np.where(there & ~is_point, digit, 0) * power
            decimals[is_point] = place
            has_point |= is_point
        scale = int(decimals.max())
        if int((digits - has_point + scale - decimals).max()) > _DIGITS:
            return None
        values *= np.int64(10) ** (scale - decimals)
        return np.where(first == ord("-"), -values, values), scale

    def marked(self, delimiter: bytes) -> NDArray[np.bool_]:
        """Whether each cell needs quotes, shape (rows, columns)."""
        special = self.content == delimiter[0]
        for mark in (_QUOTE, _LINE, _RETURN):
            special |= self.content == mark
        before = np.zeros(special.size + 1, np.int64)
        np.cumsum(special, out=before[1:])
        return np.asarray(before[self.starts + self.lengths] > before[self.starts])


def read_blocks(path: Path, width: int, delimiter: str) -> Iterator[CsvBlock]:
    """Yield the records after a header of ``width`` cells, in blocks."""
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
                raise NotInBlocks
        if rest:
            yield _block(rest if rest.endswith(b"\n") else rest + b"\n", width, delimiter.encode(), heads)


def _last_end(text: bytes) -> int:
    """The index after the last line feed that is not in a quoted cell; 0 if there is none."""
    end = len(text)
    if text.count(b'"') % 2:
        end = text.rfind(b'"')
    while end > 0:
        before = text.rfind(b'"', 0, end)  # the quote that closes the last quoted cell before ``end``
        line = text.rfind(b"\n", before + 1, end)
        if line >= 0:
            return line + 1
        end = text.rfind(b'"', 0, max(before, 0))
    return 0


def _block(text: bytes, width: int, delimiter: bytes, heads: int) -> CsvBlock:
    """Find the cells of a block of whole records, without its first ``heads`` records."""
    # Blank lines before the header, and bytes that are not UTF-8, are left to the other reader.
    if heads and text[:1] in (b"\n", b"\r"):
        raise NotInBlocks
    if not text.isascii():
        try:
            text.decode()
        except UnicodeDecodeError:
            raise NotInBlocks from None
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
        # A lone carriage return ends a record in the other reader, so that reader is used.
        if (content[np.flatnonzero(returns) + 1] != _LINE).any():
            raise NotInBlocks
        lengths -= ends & returns[stops - 1] & (stops > 0)
    # Blank lines are skipped in files with more than one column.
    if not _is_grid(ends, width) and width > 1:
        blank = ends & (lengths == 0) & np.concatenate([[True], ends[:-1]])
        starts, lengths, ends = starts[~blank], lengths[~blank], ends[~blank]
    if not _is_grid(ends, width):
        raise NotInBlocks
    starts, lengths = starts.reshape(-1, width)[heads:], lengths.reshape(-1, width)[heads:]
    quoted = None
    if inside is not None:
        quoted = content[starts] == _QUOTE
        starts, lengths = starts + quoted, lengths - 2 * quoted
    return CsvBlock(text, content, starts, lengths, quoted)


def _inside_quotes(content: Bytes, delimiter: bytes) -> NDArray[np.bool_]:
    """Whether each byte is in a quoted cell, including the opening quote."""
    # Quotes open and close alternately. An opening quote is at the start of a cell or right after a closing quote, and
    # a closing quote is at the end of a cell or right before an opening quote: two quotes within a cell mean one.
    quotes = content == _QUOTE
    places = np.flatnonzero(quotes)
    if places.size % 2:
        raise NotInBlocks
    opening, closing = places[0::2], places[1::2]
    before, behind = content[opening - 1], content[closing + 1]  # index -1 is the last byte of the block, a line feed
    doubled = np.zeros(opening.size + 1, np.bool_)
    doubled[1:-1] = opening[1:] == closing[:-1] + 1
    starts_cell = (before == delimiter[0]) | (before == _LINE) | doubled[:-1]
    ends_cell = (behind == delimiter[0]) | (behind == _LINE) | (behind == _RETURN) | doubled[1:]
    if not (starts_cell.all() and ends_cell.all()):
        raise NotInBlocks
    # Only the parity is needed, so overflow modulo 256 is harmless.
    return np.asarray(np.add.accumulate(quotes.view(np.uint8), dtype=np.uint8) & 1, np.bool_)


def _is_grid(ends: NDArray[np.bool_], width: int) -> bool:
    """Whether every ``width``-th cell, and no other, is the last one of its line."""
    rows, rest = divmod(ends.size, width)
    return rest == 0 and int(np.count_nonzero(ends)) == rows and bool(ends[width - 1 :: width].all())
