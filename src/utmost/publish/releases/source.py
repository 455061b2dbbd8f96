"""The table that is to be released: every column declared, every cell read, while the call lasts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import objects, plain_cells
from utmost.core.sampling.integers import Integers
from utmost.errors import BadTable
from utmost.publish.promises.declared_columns import check_no_copy, check_released, declared_columns
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.noise_at_level import NoiseAtLevel
from utmost.publish.promises.promise import Promise, counted_labels
from utmost.publish.releases.answer import Answer, drawn_answer
from utmost.tables.cells.columns import RowName, check_distinct, is_plainly_there
from utmost.tables.frames.adapters import Column, TableAdapter
from utmost.tables.frames.any_table import adapter_of

if TYPE_CHECKING:  # few releases are keyed by identifier
    from utmost.core.sampling.item_words import Identifiers, Tags

ReadColumn = Callable[[Any, str, RowName], NDArray[Any]]
"""The way in which the cells of a released column are read, by column, name, and what rows are called."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Source:
    """The true values of a table; they live as long as one call.

    Attributes:
        table: The table as it came, read through ``adapter``.
        promise: The promise, with its released and public columns as they stand in the table.
        kind: Kind of table, so that a view can be of the same kind.
        columns: Values by column in steps of the lattice, shape (rows,); coordinates for points, see `exact_column`.
        identifiers: Text of each row's identifier, where noise goes by rows; None where there are none.
        items: Identifiers as they are, where noise is keyed by identifier; else None.
        rows: Number of rows.
        names: Names of all columns of the table.
        order: The columns that are published, released and public ones, in the order of the table.
    """

    table: Any
    adapter: TableAdapter
    promise: Promise
    kind: str
    columns: Mapping[str, Integers]
    identifiers: NDArray[np.object_] | None
    items: "Identifiers | None"
    rows: int
    names: Sequence[str]
    order: Sequence[str]

    def labels(self) -> dict[str, Column]:
        """The public columns, as they are published."""
        return {name: self.adapter.label(self.table, name) for name in self.promise.public}

    def texts(self, labels: Mapping[str, Column]) -> Mapping[str, list[str]]:
        """The columns beside the released ones whose cells are all text: what a reader takes for the rows' names.

        None where an ``id_column`` says which they are.

        Args:
            labels: The public columns, as they are published.
        """
        texts: dict[str, list[str]] = {}
        if self.identifiers is not None or self.items is not None:
            return texts
        for name in self.names:
            if name not in self.columns:
                cells = plain_cells(labels[name] if name in labels else self.adapter.column(self.table, name))
                if cells and all(issubclass(kind, str) for kind in set(map(type, cells))):
                    texts[str(name)] = cells
        return texts

    def check_sizes(self) -> None:
        """Check that no value is larger than was declared, or than a word takes."""
        most, bound = self.promise.lasting_noise.bound()
        for name, column in self.columns.items():
            ends = column[[column.argmin(), column.argmax()]].tolist() if column.size else []
            if any(abs(end) > most for end in ends):
                row = next(row for row, cell in enumerate(column.tolist()) if abs(cell) > most)
                raise BadTable(
                    f"no value may be larger than {bound}",
                    came="one that is",
                    where=f"{self.adapter.place(self.table, row)}, column {name!r}",
                    remedy="Declare largest=, a public bound on the size of any value there could be.",
                )

    def answer(
        self, noise: NoiseAtLevel, columns: Mapping[str, NDArray[Any]], remembered: LedgerFacts | None
    ) -> Answer[Any]:
        """The table that came, with noisy columns and their margins in place of the true ones.

        Args:
            noise: Noise of the answer, at its level.
            columns: Released columns, as they are published.
            remembered: Facts that a ledger adds to the statement; None for a release that nothing remembers.
        """

        def bare() -> tuple[TableAdapter, Any]:
            left_out = [name for name in self.names if name not in self.order]
            return self.adapter, self.adapter.without(self.table, left_out)

        return drawn_answer(self.promise, noise, columns, self.kind, remembered, bare)

    def check_distinct(self, tags: "Tags | None" = None) -> None:
        """Check that no two rows have one identifier; two that differ have one tag with a chance below n^2 / 2^128.

        Args:
            tags: Tags of the items, under any secret, by which it is soonest known.

        Raises:
            BadTable: naming the rows as they are called in the table that came.
        """
        id_column = self.promise.single_id_column
        assert id_column is not None
        try:
            if tags is not None:
                from utmost.core.sampling.item_words import check_unique

                return check_unique(tags)
        except BadTable:
            pass  # said below, of rows that have names
        column = self.adapter.column(self.table, id_column)
        check_distinct(column, id_column, partial(self.adapter.place, self.table))
        return None


def read_source(
    table: Any,
    promise: Promise,
    read: ReadColumn,
    *,
    public: Sequence[str] | None = None,
    by_item: bool = False,
    kind: str | None = None,
) -> Source:
    """Read and check every value that is to be released.

    Args:
        promise: Promise about the table; columns that are neither released nor public are left out of the answer.
        read: Reads the cells of a released column.
        public: The public columns; those that the table does not have are left out. None where the promise must declare
            every column of the table.
        by_item: Whether noise is keyed by the identifiers.
        kind: Kind of table that the answers are; None for the kind of this table.
    """
    adapter, id_column = adapter_of(table), promise.single_id_column
    names, chosen = adapter.names(table), promise.columns
    check_released(chosen, names, id_column)
    if public is None:
        public, _ = declared_columns(names, chosen, promise.public, promise.drop)
    place = partial(adapter.place, table)
    identifiers, items = None, None
    if id_column is not None:
        if by_item:
            items = _read_items(adapter, table, id_column)
        else:
            keys = adapter.column(table, id_column)
            check_distinct(keys, id_column, place)
            identifiers = objects(map(str, plain_cells(keys)))
    values = {name: read(adapter.column(table, name), name, place) for name in chosen}
    rows = {name: len(column) for name, column in values.items()}
    if len(set(rows.values())) > 1:
        raise BadTable("all columns must have the same number of rows", came=str(rows))
    found = promise.as_read(chosen, [name for name in names if name in public])
    order = [name for name in names if name in values or name in public] if found.public else chosen
    made = adapter.kind(table, order) if kind is None else kind
    return Source(table, adapter, found, made, values, identifiers, items, rows[chosen[0]], names, order)


def _read_items(adapter: TableAdapter, table: Any, name: str) -> "Identifiers":
    """The identifiers of the rows, none missing. Whether two are alike is known by their tags: `Source.check_distinct`.

    Raises:
        BadTable: naming the row that has none.
    """
    from utmost.core.sampling.item_words import Identifiers
    from utmost.tables.frames.arrow_identifiers import text_identifiers

    texts = text_identifiers(table, name)
    if texts is not None:
        return texts
    column = adapter.column(table, name)
    if not is_plainly_there(column):
        check_distinct(column, name, partial(adapter.place, table))
    return Identifiers.of(column)


def checked_source(table: Any, rows: Any, promise: Promise, read: ReadColumn, *, by_item: bool = False) -> Source:
    """The values of a table that is released for the first time, with every check of the table itself.

    Args:
        table: Table as it came. The labels of a counted one were declared before anybody was counted, and may be
            whatever they are; every other public column is compared with the released ones.
        rows: The same as `Promise.rows_of` gives it.
        promise: Promise about it.
        read: Reads the cells of a released column.
        by_item: Whether noise is keyed by the identifiers.

    Raises:
        NotDeclared, BadTable, OutOfRange, WrongKind: for a table that cannot be released by this promise.
    """
    promise.check_single_id()
    measured, kind = promise.noise.measured(rows)
    source = read_source(measured, promise, read, by_item=by_item, kind=kind)
    promise.noise.check_size(source.rows, len(source.columns))
    column = partial(source.adapter.column, measured)
    declared = promise.public if promise.noise.labels_rows else counted_labels(table)
    compared = [name for name in source.promise.public if name not in declared]
    true = {name: column(name) for name in source.columns} if compared else {}
    for name in compared:
        check_no_copy(name, partial(column, name), true)
    return source


def new_source(table: Any, rows: Any, promise: Promise) -> Source:
    """`checked_source` of a table whose answers a memory keeps: its values in steps, which is how they are noised."""
    noise = promise.lasting_noise
    noise.check()
    return checked_source(table, rows, promise, noise.cells, by_item=promise.keyed_by_id)
