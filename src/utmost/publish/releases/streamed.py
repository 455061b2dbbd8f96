"""Release a file larger than memory: check it in one pass, and release it in another, a block of rows at a time.

Noise is added to a block as the block is written, so no second copy is stored; the released values have the same
distribution as those of a table in memory. The second pass reads and checks every cell again. The number of rows, and
the size and time of each file, must be those of the first pass: if a file has changed, nothing is released, and nothing
stays on the disk.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from utmost.core.sampling.item_words import SECRET_BYTES, Tags, check_unique, item_tags
from utmost.core.sampling.random_bits import Randomness, entropy
from utmost.errors import BadTable, Unsupported
from utmost.publish.promises.declared_columns import (
    check_margins_free,
    check_released,
    check_size,
    declared_columns,
    repeated_values_error,
    same_cells,
)
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel, warn_of_rows, warn_of_weakness
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.row_order import RowOrder
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.once import statement_before
from utmost.tables.cells.columns import not_distinct
from utmost.tables.files.file_pieces import FilePiece, FilePieces, ReleasedColumns
from utmost.tables.files.spill_file import SpillFile
from utmost.tables.frames.adapters import check_columns_exist

StreamState = tuple[tuple[int, int, int], ...]
"""The size in bytes, the time of the last change in ns, and the inode of each file."""

_BUCKETS = 256
_SHOWN = 100


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StreamedTable:
    """A released file that can be written only once, because its noise is drawn while it is written."""

    source: FilePieces  # File of the true values
    cells: tuple[str, ...]
    left_out: tuple[str, ...]  # Columns that are not written
    noise: CellNoiseAtLevel
    rows: int
    state: StreamState  # State of the files when they were checked
    randomness: Randomness  # Source of the noise
    shown: list[list[str]] = field(default_factory=list)  # The first released rows as text, once they are written
    drawn: set[str] = field(
        default_factory=set
    )  # Columns whose noise was drawn; a second draw would cost epsilon again

    @property
    def after(self) -> dict[str, str]:
        """The column that each column of margins follows."""
        return {f"{name}_margin": name for name in self.cells}

    @property
    def names(self) -> list[str]:
        behind = {name: [name, f"{name}_margin"] if name in self.cells else [name] for name in self.source.names}
        return [name for old in self.source.names if old not in self.left_out for name in behind[old]]

    def written(self, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
        """Draw and write block by block, yielding each block's number of rows and bytes; refuse a file that changed."""
        if self.drawn:
            raise Unsupported(
                "a table whose noise is drawn while it is written must be written once",
                came="a second file",
                remedy="Copy the first file; a new release of the table spends its epsilon again.",
            )
        self.drawn.update(self.cells)
        margin = "float" if isinstance(self.noise.margin, float) else "int"
        value = "int" if self.noise.exponent is None else "float"
        kinds = {**dict.fromkeys(self.cells, value), **dict.fromkeys(self.after, margin)}
        return self.source.write(file, self._released(), self.after, self.left_out, kinds)

    def _released(self) -> Iterator[tuple[FilePiece, ReleasedColumns]]:
        before = 0
        for piece in self.source.pieces():
            found: dict[str, NDArray[Any]] = {}
            for name in self.cells:
                true = self.noise.read(piece.column(name), name, partial(_place, self.source.path, before))
                found[name] = self.noise.noised_column(true, self.randomness)
            for name in self.after:
                found[name] = np.full(piece.rows, self.noise.margin)
            few = range(min(piece.rows, _SHOWN - len(self.shown)))
            if few:
                columns = [found[name] if name in found else piece.column(name) for name in self.names]
                self.shown.extend(
                    ["" if column[row] is None else str(column[row]) for column in columns] for row in few
                )
            before += piece.rows
            yield piece, found
        if before != self.rows or _state(self.source) != self.state:
            came = f"{before} rows" if before != self.rows else "another file"
            raise BadTable("the file must not change while it is released", came=came, where=str(self.source.path))


@dataclass(frozen=True, slots=True, eq=False)
class CheckedPieces:
    """A file that passed every check for a release; its noise is drawn while the released file is written."""

    source: FilePieces
    promise: Promise
    noise: CellNoiseAtLevel
    columns: tuple[str, ...]
    public: tuple[str, ...]
    dropped: tuple[str, ...]
    state: StreamState
    rows: int

    @classmethod
    def of(cls, source: FilePieces, promise: Promise, noise: CellNoiseAtLevel) -> "CheckedPieces":
        """Check the file in one pass; this needs memory for one block, and 16 bytes of disk for each identifier."""
        names = tuple(source.names)
        promise.check_single_id()
        chosen = promise.columns
        check_released(chosen, names, promise.single_id_column)
        published, dropped = declared_columns(names, chosen, promise.public, promise.drop)
        check_margins_free({f"{name}_margin": name for name in chosen}, names)
        state, rows = _state(source), 0
        # Check that released cells are numbers, identifiers distinct, and no public column a copy of a released one.
        copies, order = {(name, released) for name in published for released in chosen}, RowOrder()
        with SpillFile(_BUCKETS) as spill:
            seen = _DistinctIdentifiers(spill, promise.single_id_column)
            for piece in source.pieces():
                check_columns_exist(chosen, source.names)
                place = partial(_place, source.path, rows)
                true = {name: noise.read(piece.column(name), name, place) for name in chosen}
                copies = {pair for pair in copies if same_cells(piece.column(pair[0]), true[pair[1]])}
                order.add(true, dict.fromkeys((*published, *promise.id_column)), piece.column)
                seen.add(piece)
                rows += piece.rows
            seen.check(source.path)
        for name, released in copies if rows else ():
            raise repeated_values_error(name, released)
        check_size(noise.unit, rows, len(chosen))
        warn_of_weakness(noise.weakness())
        warn_of_rows(promise.rows)
        order.warn()
        return cls(source, promise, noise, chosen, published, dropped, state, rows)

    def statement(self) -> dict[str, Any]:
        return statement_before(self._promised(), self.noise, self.rows)

    def released(self, randomness: Randomness) -> Answer[StreamedTable]:
        """Make the answer; noise is drawn from ``randomness`` while its table is written."""
        about = self.source, self.columns, self.dropped, self.noise, self.rows, self.state
        table = StreamedTable(*about, randomness)
        return Answer(table, self._promised(), self.noise, self.rows, None, None)

    def _promised(self) -> Promise:
        return self.promise.as_published(self.source.names, self.public)


def _state(source: FilePieces) -> StreamState:
    return tuple((one.st_size, one.st_mtime_ns, one.st_ino) for one in map(os.stat, source.files))


def _place(path: Path, before: int, row: int) -> str:
    return f"{path.name}, row {before + row + 1}"


class _DistinctIdentifiers:
    """A check that identifiers are distinct: tags are stored on the disk in parts that fit into memory."""

    def __init__(self, spill: SpillFile, name: str | None) -> None:
        self._spill, self._name, self._secret = spill, name, entropy(SECRET_BYTES)

    def add(self, piece: FilePiece) -> None:
        if self._name is None:
            return
        tags = item_tags(self._secret, [piece.identifiers(self._name)])
        buckets = (tags[:, 0] % _BUCKETS).astype(np.int64)
        order = np.argsort(buckets, kind="stable")
        ends = np.cumsum(np.bincount(buckets, minlength=_BUCKETS))
        for bucket, part in enumerate(np.split(tags[order], ends[:-1])):
            if len(part):
                self._spill.add(bucket, part.tobytes())

    def check(self, path: Path) -> None:
        """Check that no two identifiers are equal; the error cannot name the rows, since rows are not stored."""
        for bucket in range(_BUCKETS):
            tags: Tags = np.frombuffer(b"".join(self._spill.read(bucket)), np.uint64).reshape(-1, 2)
            try:
                check_unique(tags)
            except BadTable:
                raise not_distinct("one in two rows", f"{path.name}, column {self._name!r}") from None
