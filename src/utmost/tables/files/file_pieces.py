"""Protocols of files that are read, and tables that are written, a piece at a time."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

from numpy.typing import NDArray

from utmost.core.sampling.item_words import Identifiers
from utmost.tables.frames.adapters import Column

ReleasedColumns = Mapping[str, NDArray[Any]]


@runtime_checkable
class WrittenByPieces(Protocol):
    """A table that is written piece by piece."""

    @property
    def rows(self) -> int: ...

    @property
    def names(self) -> list[str]: ...

    @property
    def shown(self) -> list[list[str]]:
        """The first rows as text, available after writing."""

    def written(self, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
        """Yield the number of rows and the bytes of each piece; the caller writes the bytes to the file."""


class FilePiece(Protocol):
    @property
    def rows(self) -> int: ...

    def column(self, name: str) -> Column:
        """The cells of one column: an array, or a list whose missing cells are None."""

    def identifiers(self, name: str) -> Identifiers:
        """The cells of one column as identifiers."""


class FilePieces(Protocol):
    """A file that can be read a piece at a time, any number of times."""

    @property
    def names(self) -> list[str]: ...

    @property
    def path(self) -> Path:
        """The path of the file or folder."""

    @property
    def files(self) -> Sequence[Path]:
        """The files of a folder, or the single file."""

    def pieces(self) -> Iterator[FilePiece]:
        """The pieces, in the order of the file."""

    # ``after`` gives the name of the column before each new column, and ``kinds`` is "int" or "float" for each released
    # column.
    def write(
        self,
        file: BinaryIO,
        released: Iterator[tuple[Any, ReleasedColumns]],
        after: Mapping[str, str],
        dropped: Sequence[str],
        kinds: Mapping[str, str],
    ) -> Iterator[tuple[int, bytes]]:
        """Write every piece with its released columns, and yield the number of rows and the bytes of each piece."""
