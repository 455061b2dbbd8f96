"""The values that a curator brings: the columns of a table, read and put on the lattice of the release."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import BadTable
from utmost.release.columns import check_distinct, integer_column, real_column
from utmost.release.doors import Door, door_of
from utmost.release.ledger.promise import Promise
from utmost.release.table import check_no_copy, check_size, chosen_columns
from utmost.sampling.wide import Integers


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Source:
    """True values; they live as long as one call.

    Attributes:
        table: as it came, through ``door``.
        columns: name to values in steps of the lattice, shape (rows,).
        identifiers: the text of each row's identifier, or None.
        rows: how many there are.
        public: the columns that are published as they are.
    """

    table: Any
    door: Door
    columns: Mapping[str, Integers]
    identifiers: NDArray[np.object_] | None
    rows: int
    public: tuple[str, ...]

    @property
    def kind(self) -> str:
        """What kind of table it is, so that a view can be of the same."""
        return self.door.kind(self.table, list(self.columns))

    def texts(self) -> Mapping[str, list[str]]:
        """The columns beside the released ones whose cells are all text: what a reader takes for the rows' names.

        None where an ``id_column`` says which they are.
        """
        found: dict[str, list[str]] = {}
        if self.identifiers is not None:
            return found
        for name in self.door.names(self.table):
            if name not in self.columns:
                column = self.door.column(self.table, name)
                cells = column.tolist() if isinstance(column, np.ndarray) else list(column)
                if cells and all(isinstance(cell, str) for cell in cells):
                    found[str(name)] = cells
        return found

    def check_sizes(self, promise: Promise) -> None:
        """Check that no value is larger than was declared, or than a response of so many cells takes.

        Raises:
            BadTable: naming the first cell that is, and not its value.
        """
        most = promise.largest_steps(self.rows * len(self.columns))
        for name, column in self.columns.items():
            if column.size and max(int(column.max()), -int(column.min())) > most:
                row = next(row for row, cell in enumerate(column.tolist()) if abs(cell) > most)
                bound = f"{promise.largest}" if promise.largest is not None else f"2^{most.bit_length()} steps"
                raise BadTable(
                    f"no value may be larger than {bound}",
                    came="one that is",
                    where=f"{self.door.place(self.table, row)}, column {name!r}",
                    mend="Declare largest=, a public bound on the size of any value there could be.",
                )

    def with_released(self, released: Mapping[str, NDArray[Any]]) -> Any:
        """The table that came, with released values in place of the true ones, and no column that is not public."""
        names = self.door.names(self.table)
        unsaid = [name for name in names if name not in self.columns and name not in self.public]
        return self.door.with_columns(self.door.without(self.table, unsaid), released, {})


def read_source(
    table: Any, columns: str | Sequence[str], promise: Promise, id_column: str | None, public: Sequence[str] = ()
) -> Source:
    """Read and check every value that is to be released.

    Args:
        public: the columns to publish as they are; all others are left out of what `Source.with_released` gives.

    Raises:
        BadTable: for a column that is missing or a cell that cannot be released, with its row and column.
    """
    door = door_of(table)
    chosen = chosen_columns(columns, tuple(door.names(table)), id_column)

    def place(row: int) -> str:
        return door.place(table, row)

    identifiers = None
    if id_column is not None:
        identifiers = _identifiers(door, table, id_column, place)
    read = integer_column if promise.grid is None else real_column
    lattice = promise.lattice
    values = {name: lattice.steps(lattice.read(read(door.column(table, name), name, place))) for name in chosen}
    rows = {name: column.size for name, column in values.items()}
    if len(set(rows.values())) > 1:
        raise BadTable("all columns must have the same number of rows", came=str(rows))
    kept = tuple(name for name in door.names(table) if name in public)
    return Source(table, door, values, identifiers, rows[chosen[0]], kept)


def check_source(source: Source, promise: Promise) -> None:
    """Check a table that is published for the first time as `release_table` does, once its cells have been read.

    Raises:
        BadTable, OutOfRange: for a table without rows, too many cells, and a public column that repeats a released one.
    """
    check_size(promise.unit, source.rows, len(source.columns))
    column = source.door.column
    for name in source.public:
        copied = column(source.table, name)
        check_no_copy(name, copied, {released: column(source.table, released) for released in source.columns})


def _identifiers(door: Door, table: Any, name: str, place: Callable[[int], str]) -> NDArray[np.object_]:
    column = door.column(table, name)
    check_distinct(column, name, place)
    keys = column.tolist() if isinstance(column, np.ndarray) else list(column)
    texts = np.empty(len(keys), object)
    texts[:] = [str(key) for key in keys]
    return texts
