"""Text files with any compression, encoding and separator, read as if they were plain UTF-8."""

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from utmost.errors import BadTable, OutOfRange
from utmost.tables.cells.spelling import PLAIN_SPELLING, Spelling

GZ, ZIP, BZ2, XZ = ".gz", ".zip", ".bz2", ".xz"
PACKED = (GZ, ZIP, BZ2, XZ)
"""Endings of the compressed text files that can be read."""

PIPE = "-"
"""The name of the pipe: standard input for reading, standard output for writing."""

SEPARATORS = ",;\t|"
"""Separators in the order of the search: the first one in the header outside quotes is used."""

_FIRST = 1 << 16
_GZIPPED = b"\x1f\x8b"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """Limits on what is read of an uploaded file, because a small file can contain very many cells."""

    cells: Mapping[str, int]  # by ending
    unpacked: int  # in bytes
    remedy: str

    def check_cells(self, ending: str, cells: int, where: str) -> None:
        most = self.cells[ending]
        if cells > most:
            raise BadTable(f"this file may have at most {most} cells", came="more", where=where, remedy=self.remedy)

    def check_unpacked(self, size: int, where: str) -> None:
        if size > self.unpacked:
            required = f"this file may have at most {self.unpacked} bytes when it is unpacked"
            raise BadTable(required, came="more", where=where, remedy=self.remedy)


def limits_of(path: object) -> ReadLimits | None:
    """Return the limits of an uploaded file, None for a file of this machine."""
    inner = path.inner if isinstance(path, TextFile) else path
    return inner.limits if isinstance(inner, MemoryFile) else None


_SHEET = re.compile(r"(?P<book>.+\.xlsx)#(?P<sheet>.+)", re.IGNORECASE | re.DOTALL)


def sheet_named(path: Path) -> tuple[Path, str | None]:
    """Return the workbook and the sheet that a path such as "book.xlsx#Sheet" names; for any other path, return the
    path and None.

    >>> sheet_named(Path("data/book.xlsx#May 2020"))[1]
    'May 2020'
    """
    named = None if isinstance(path, MemoryFile) else _SHEET.fullmatch(path.name)
    if named is None or path.exists():
        return path, None
    return path.with_name(named["book"]), named["sheet"]


class TextFile(type(Path())):  # type: ignore[misc]  # before Python 3.12 no subclass of Path itself is a path
    """A file that is read as UTF-8 text, whatever its compression and encoding."""

    inner: Path  # file on the disk, or standard input
    separator: str | None  # None for the usual separator of the file's ending
    encoding: str | None  # None for UTF-8
    spelling: Spelling  # declared spelling of its cells
    is_separated: bool  # whether the separator was declared, and not found in the header
    header: bytes  # declared names of the columns, as the first line of the file; empty if the file has a header

    @classmethod
    def of(
        cls,
        path: Path,
        separator: str | None = None,
        encoding: str | None = None,
        spelling: Spelling = PLAIN_SPELLING,
        header: Sequence[str] = (),
    ) -> Path:
        """Return the file with its declared settings, or with those found in its header. If all settings are the usual
        ones, return the path unchanged.
        """
        is_separated = separator is not None or (isinstance(path, cls) and path.is_separated)
        if isinstance(path, cls) and path.header:
            return path
        if isinstance(path, cls):
            separator, encoding = separator or path.separator, encoding or path.encoding
            spelling, path = spelling.completed_by(path.spelling), path.inner
        file = cls(str(path))
        file.is_separated = is_separated
        file.inner, file.encoding, file.spelling, file.header = path, read_encoding(encoding), spelling, b""
        first = file.header_line()
        # The first line of a file without a header is a row, and one row must not decide how all others are read.
        is_guessed = not header and file.suffix.lower() in (".csv", ".txt", "")
        guess = _guessed_separator(first) if is_guessed else None
        file.separator = guess if separator is None else read_separator(separator)
        if header:
            line = io.StringIO()
            csv.writer(line, delimiter=file.separator or ",", lineterminator="").writerow(header)
            if first.rstrip("\r") == line.getvalue():
                raise BadTable(
                    "a file with declared names must have no header",
                    came="a first line with these names",
                    where=str(path),
                )
            end = "\r\n" if first.endswith("\r") else "\n"
            file.header = f"{line.getvalue()}{end}".encode()
            return file
        is_plain = path.suffix.lower() not in PACKED and file.encoding is None and file.spelling == PLAIN_SPELLING
        # A reader that has only the path uses the separator in the header. Any other separator must be stored in this
        # object.
        usual = {guess, file.separator} <= {None, "\t" if path.suffix.lower() == ".tsv" else ","}
        return path if is_plain and usual and not is_separated else file

    @property
    def suffix(self) -> str:
        """The ending that shows the format, such as ".csv" for "counts.csv.gz"."""
        suffix = self.inner.suffix
        return Path(self.inner.stem).suffix if suffix.lower() in PACKED else suffix

    def open(
        self, mode: str = "r", buffering: int = -1, encoding: Any = None, errors: Any = None, newline: Any = None
    ) -> Any:
        """Open the text in UTF-8, from its beginning."""
        if self.inner.is_dir():
            raise BadTable("a table must be a file", came="a directory", where=str(self.inner))
        stored: Any = self.inner.open("rb")
        read = _unpacked(stored, self.inner.suffix.lower(), str(self.inner))
        limits = limits_of(self)
        text = _Utf8(read, stored, self.encoding or "utf-8", str(self.inner), self.header, limits)
        content = io.BufferedReader(text)
        return content if "b" in mode else io.TextIOWrapper(content, "utf-8-sig", errors, newline)

    def header_line(self) -> str:
        """The first line, without its line feed."""
        with self.open("rb") as file:
            start = file.read(_FIRST).removeprefix(codecs.BOM_UTF8)
        return str(start.decode("utf-8", "replace").lstrip("\r\n").split("\n", 1)[0])


def _unpacked(stored: BinaryIO, suffix: str, where: str) -> Any:
    """Open the content of a file that may be compressed. The module for a compression is imported only if it is
    needed.
    """
    if suffix == GZ:
        return gzip.GzipFile(fileobj=stored, mode="rb")
    if suffix == BZ2:
        import bz2

        return bz2.BZ2File(stored)
    if suffix == XZ:
        import lzma

        return lzma.LZMAFile(stored)
    if suffix != ZIP:
        return stored
    import zipfile

    try:
        archive = zipfile.ZipFile(stored)
        names = [info.filename for info in archive.infolist() if not info.is_dir()]
        if len(names) == 1:
            return archive.open(names[0])
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError):  # RuntimeError: the archive needs a password
        stored.close()
        required = "a .zip file must be well formed, without a password"
        raise BadTable(required, came="a file that zipfile cannot read", where=where) from None
    stored.close()
    raise BadTable(
        "a .zip file must have one file",
        came=f"{len(names)} files",
        where=where,
        remedy="Unpack the archive, and name one of its files.",
    )


def _errors_of_damaged_files() -> tuple[type[Exception], ...]:
    """The errors that damaged compressed files raise; their modules are imported only after an error."""
    from lzma import LZMAError
    from zipfile import BadZipFile

    return EOFError, OSError, zlib.error, LZMAError, BadZipFile


class MemoryFile(type(Path())):  # type: ignore[misc]  # as above
    """A file in memory, which came from a pipe or was uploaded to a page."""

    content: bytes
    limits: ReadLimits | None = None  # of what is read, if a stranger uploaded it

    @classmethod
    def of(cls, name: str, content: bytes, limits: ReadLimits | None = None) -> "MemoryFile":
        """A file in memory with this content, and a name for messages."""
        file = cls(name)
        file.content, file.limits = content, limits
        return file

    def open(
        self, mode: str = "r", buffering: int = -1, encoding: Any = None, errors: Any = None, newline: Any = None
    ) -> Any:
        content = io.BytesIO(self.content)
        return content if "b" in mode else io.TextIOWrapper(content, encoding, errors, newline)

    def with_name(self, name: str) -> Path:
        """The path on the disk with another name."""
        return Path(name)

    @property
    def suffix(self) -> str:
        """The usual file ending for this content."""
        return ending_of_content(self.content)


class FormattedFile(type(Path())):  # type: ignore[misc]  # as above
    """A file that is written in a format other than the one that its name shows."""

    ending: str | None = None  # ending of the format

    @classmethod
    def of(cls, path: Path, ending: str | None) -> Path:
        """Return the file with the format of an ending. If the ending is None, return the path unchanged."""
        if ending is None:
            return path
        file = cls(str(path))
        file.ending = ending
        return file

    @property
    def suffix(self) -> str:
        return self.ending or Path(self.name).suffix


def unzipped(content: bytes, where: str) -> bytes:
    """The content of a pipe, decompressed if it was compressed by gzip.

    >>> unzipped(gzip.compress(b"ward,n"), "pipe")
    b'ward,n'
    """
    if not content.startswith(_GZIPPED):
        return content
    try:
        return gzip.decompress(content)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        came = "a file that gzip cannot read"
        raise BadTable("compressed input must be well formed", came=came, where=where) from None


def ending_of_content(content: bytes) -> str:
    """The usual ending for content without a file name. Several JSON objects, one on each line, count as JSON lines."""
    for start, ending in ((b"PAR1", ".parquet"), (b"ARROW1", ".feather"), (b"PK\3\4", ".xlsx"), (_GZIPPED, GZ)):
        if content.startswith(start):
            return ending
    lines = content[:_FIRST].lstrip().split(b"\n")
    if lines[0].startswith(b"{") and lines[0].rstrip().endswith(b"}") and any(map(bytes.strip, lines[1:])):
        return ".jsonl"
    return ".json" if lines[0][:1] in (b"{", b"[") else ".csv"


class _Utf8(io.RawIOBase):
    """The bytes of a file, converted from its encoding to UTF-8. An error for invalid bytes does not quote them."""

    def __init__(
        self,
        content: Any,
        stored: BinaryIO,
        encoding: str,
        where: str,
        header: bytes,
        limits: ReadLimits | None,
    ) -> None:
        self._content, self._stored, self._encoding, self._where, self._rest = content, stored, encoding, where, header
        self._limits, self._unpacked = limits, 0
        self._is_headed = bool(header)  # otherwise a byte order mark could follow the header; here it is removed
        self._decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)()

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        """Close this stream and the file."""
        self._content.close()
        self._stored.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            try:
                read = self._content.read(1 << 16)
                self._unpacked += len(read)
                if self._limits is not None:
                    self._limits.check_unpacked(self._unpacked, self._where)
                self._rest = read if self._decoder is None else self._decoder.decode(read, not read).encode()
                if self._is_headed and read:
                    self._rest, self._is_headed = self._rest.removeprefix(codecs.BOM_UTF8), False
            except _errors_of_damaged_files() as error:
                # An error of the disk has an errno, but errors of bz2 have none.
                if isinstance(error, OSError) and error.errno is not None:
                    raise
                required = "a compressed file must be well formed"
                raise BadTable(required, came="a file that cannot be decompressed", where=self._where) from None
            except (UnicodeError, ValueError) as error:
                if isinstance(error, BadTable):
                    raise
                came = f"bytes that are not {self._encoding}"
                remedy = 'Pass, for example, encoding="cp1252".'
                raise BadTable(
                    "a file must be text in its encoding", came=came, where=self._where, remedy=remedy
                ) from None
            if not read:
                break
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def read_separator(text: str) -> str:
    """Read a separator: one character, or a name for it."""
    named = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
    separator = named.get(text, text)
    if len(separator) != 1 or separator in '"\r\n' or not separator.isascii():
        remedy = "Write ; or , or | or tab."
        raise OutOfRange("a separator must be one character", came=repr(text), where="separator", remedy=remedy)
    return separator


def read_encoding(name: str | None) -> str | None:
    """Read the name of an encoding, or None for UTF-8, the usual one."""
    if name is None:
        return None
    try:
        known = codecs.lookup(name)
    except LookupError:
        known = None
    if known is None or not known._is_text_encoding:
        remedy = "Write, for example, cp1252, latin1 or utf-16."
        raise OutOfRange("an encoding must be one that Python knows", came=repr(name), where="encoding", remedy=remedy)
    return None if known.name == "utf-8" else known.name


def _guessed_separator(header: str) -> str:
    """The first separator that occurs in the header outside quotes; a comma if none does."""
    for separator in SEPARATORS:
        try:
            if len(next(csv.reader([header], delimiter=separator), [])) > 1:
                return separator
        except csv.Error:
            continue
    return ","
