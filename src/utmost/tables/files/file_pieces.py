"""A file that is read a piece at a time, and what is written of it in the same way: the protocols that both keep."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

from numpy.typing import NDArray

from utmost.core.sampling.item_words import Identifiers
from utmost.tables.frames.adapters import Column

Columns = Mapping[str, NDArray[Any]]


@runtime_checkable
class WrittenByPieces(Protocol):
    """A table that is yet to be written, piece by piece."""

    @property
    def rows(self) -> int:
        """How many there are."""

    @property
    def names(self) -> list[str]:
        """The columns as they are written."""

    @property
    def shown(self) -> list[list[str]]:
        """The first rows as text, once they are written."""

    def written(self, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
        """Write it; of each piece how many rows it had, and its bytes."""


class FilePiece(Protocol):
    """Some rows of a file."""

    @property
    def rows(self) -> int:
        """How many there are."""

    def column(self, name: str) -> Column:
        """The cells of one column: an array, or a list whose missing cells are None."""

    def identifiers(self, name: str) -> Identifiers:
        """The cells of one column as identifiers."""


class FilePieces(Protocol):
    """A file that is read a piece at a time, as often as is asked."""

    @property
    def names(self) -> list[str]:
        """The names of its columns."""

    @property
    def path(self) -> Path:
        """Where it is."""

    @property
    def files(self) -> Sequence[Path]:
        """The files that it is."""

    def pieces(self) -> Iterator[FilePiece]:
        """The pieces, in the order of the file."""

    def write(
        self,
        file: BinaryIO,
        released: Iterator[tuple[Any, Columns]],
        after: Mapping[str, str],
        left_out: Sequence[str],
        kinds: Mapping[str, str],
    ) -> Iterator[tuple[int, bytes]]:
        """Write every piece with its released columns in it; says after each how many rows it has.

        Args:
            after: for each column that is new, the one behind which it stands.
            left_out: the columns that are not written.
            kinds: "int" or "float", by the name of each released column.
        """
