"""The table to release: declare its columns, and read and check its cells."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
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
from utmost.publish.promises.row_order import RowOrder
from utmost.publish.releases.answer import Answer, drawn_answer
from utmost.tables.cells.columns import RowName, check_distinct, is_missing, is_plainly_there
from utmost.tables.frames.adapters import Column, TableAdapter
from utmost.tables.frames.any_table import adapter_of

if TYPE_CHECKING:  # imported only where needed: few releases are keyed by identifier
    from utmost.core.sampling.item_words import Identifiers, Tags

ReadColumn = Callable[[Any, str, RowName], NDArray[Any]]
"""Function that reads the cells of a released column; a `RowName` names a row in error messages."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Source:
    """The true values of a table, while one call releases it."""

    original: Any  # Table of the caller
    table: Any  # Table that gets noise, read through ``adapter``: the original one, or the sums of a counted table
    adapter: TableAdapter
    promise: Promise  # Promise, with the public columns in the order of the table
    kind: str  # Kind of the table, and of the tables of its answers
    # True values in steps of the lattice, by column, shape (rows,); for points coordinates, see `exact_column`
    columns: Mapping[str, Integers]
    # Each row's identifier as text; None without identifiers, and if noise is keyed by identifier
    identifiers: NDArray[np.object_] | None
    items: "Identifiers | None"  # Identifiers, if noise is keyed by identifier; else None
    rows: int
    names: Sequence[str]  # Names of all columns of the table
    order: Sequence[str]  # Names of the released and public columns, in the order of the table

    def labels(self) -> dict[str, Column]:
        """Return the public columns, as they are published."""
        return {name: self.adapter.label(self.table, name) for name in self.promise.public}

    def texts(self, labels: Mapping[str, Column]) -> Mapping[str, list[str]]:
        """Return columns that may name rows: public ones, and texts that are not released; none if rows have an id."""
        texts: dict[str, list[str]] = {}
        if self.identifiers is not None or self.items is not None:
            return texts
        for name in self.names:
            if name not in self.columns:
                cells = plain_cells(labels[name] if name in labels else self.adapter.column(self.table, name))
                if name in labels or (cells and all(issubclass(kind, str) for kind in set(map(type, cells)))):
                    texts[str(name)] = list(map(_as_text, cells))
        return texts

    def check_sizes(self) -> None:
        """Refuse a true value above the declared `largest`, or above 2^126 steps if none is declared."""
        most, bound = self.promise.lasting_noise.bound()
        for name, column in self.columns.items():
            ends = column[[column.argmin(), column.argmax()]].tolist() if column.size else []
            if any(abs(end) > most for end in ends):
                row = next(row for row, cell in enumerate(column.tolist()) if abs(cell) > most)
                raise BadTable(
                    f"no value may be larger than {bound}",
                    came="a larger value",
                    where=f"{self.adapter.place(self.table, row)}, column {name!r}",
                    remedy="Pass largest=, a public bound on the absolute value of any possible value.",
                )

    def answer(
        self, noise: NoiseAtLevel, columns: Mapping[str, NDArray[Any]], remembered: LedgerFacts | None
    ) -> Answer[Any]:
        """Make the answer: the caller's table with noisy columns and their margins."""

        def bare() -> tuple[TableAdapter, Any]:
            kept = frozenset(self.order)
            left_out = [name for name in self.names if name not in kept]
            return self.adapter, self.adapter.without(self.table, left_out)

        return drawn_answer(self.published_promise, noise, columns, self.kind, remembered, bare)

    @property
    def published_promise(self) -> Promise:
        """The promise with the columns in the order of the published table, unless the noise fixes their order."""
        return self.promise.as_published(self.order, self.promise.public)

    def check_distinct(self, tags: "Tags | None" = None) -> None:
        """Check that no two rows have the same identifier; the error names two rows that do."""
        # Compare the tags first: two of n different identifiers have equal tags with probability below n^2 / 2^128.
        id_column = self.promise.single_id_column
        assert id_column is not None
        if tags is not None:
            from utmost.core.sampling.item_words import check_unique

            with suppress(BadTable):  # the check below raises the error that names the rows
                return check_unique(tags)
        column = self.adapter.identifiers(self.table, id_column)
        return check_distinct(column, id_column, partial(self.adapter.place, self.table))


def _as_text(cell: Any) -> str:
    """Return a cell as text; equal numbers, equal dates and missing cells have the same text in tables of all kinds."""
    try:
        text = "" if not isinstance(cell, int | str) and is_missing(cell) else str(cell)
    except ValueError:  # Python's limit for the conversion of integers to text
        text = hex(cell)
    if "." in text and _DECIMAL.fullmatch(text):
        return text.rstrip("0").rstrip(".")
    return text.removesuffix(" 00:00:00")  # pandas has no dates without a time


_DECIMAL = re.compile(r"-?[0-9]+\.[0-9]+")


def read_source(
    table: Any,
    promise: Promise,
    read: ReadColumn,
    *,
    public: Sequence[str] | None = None,
    by_item: bool = False,
    kind: str | None = None,
) -> Source:
    """Read and check every value to release; if ``public`` is None, the promise must declare every column."""
    adapter, id_column = adapter_of(table), promise.single_id_column
    names, chosen = adapter.names(table), promise.columns
    check_released(chosen, names, id_column)
    if public is None:
        public, _ = declared_columns(names, chosen, promise.public, promise.drop)
    place = partial(adapter.place, table)
    identifiers, items = None, None
    if id_column is not None:
        if by_item:
            from utmost.core.sampling.item_words import Identifiers
            from utmost.tables.frames.arrow_identifiers import text_identifiers

            # No identifier is missing; `Source.check_distinct` finds repeated identifiers by their tags.
            items = text_identifiers(table, id_column)
            if items is None:
                column = adapter.identifiers(table, id_column)
                if not is_plainly_there(column):
                    check_distinct(column, id_column, place)
                items = Identifiers.of(column)
        else:
            keys = adapter.identifiers(table, id_column)
            check_distinct(keys, id_column, place)
            identifiers = objects(map(str, plain_cells(keys)))
    values = {name: read(adapter.column(table, name), name, place) for name in chosen}
    rows = {name: len(column) for name, column in values.items()}
    if len(set(rows.values())) > 1:
        raise BadTable("all columns must have the same number of rows", came=str(rows))
    found = promise.as_read(chosen, [name for name in names if name in public])
    order = [name for name in names if name in values or name in public] if found.public else chosen
    made = adapter.kind(table, order) if kind is None else kind
    return Source(table, table, adapter, found, made, values, identifiers, items, rows[chosen[0]], names, order)


def checked_source(table: Any, rows: Any, promise: Promise, read: ReadColumn, *, by_item: bool = False) -> Source:
    """Read the values of a table that is released for the first time, and make every check of the table."""
    # Every public column is compared with the released ones, except the labels of a counted table, which were declared.
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
    # The rows of a counted table, and those that the noise makes, have a declared order.
    noise, rows_in_order = promise.noise, RowOrder()
    if not (noise.is_by_plan or noise.labels_rows or noise.names_rows or counted_labels(table)):
        rows_in_order.add(source.columns, dict.fromkeys((*source.promise.public, *promise.id_column)), column)
        rows_in_order.warn()
    return replace(source, original=table)


def new_source(table: Any, promise: Promise, rows: Any = None) -> Source:
    """Read a table for a ledger by `checked_source`, values as numbers of noise steps; check sizes and column names.

    Pass ``rows`` if the rows of the table have been read already.
    """
    noise, rows = promise.lasting_noise, promise.rows_of(table) if rows is None else rows
    noise.check()
    source = checked_source(table, rows, promise, noise.cells, by_item=promise.keyed_by_id)
    source.check_sizes()
    noise.check_names(source.promise.columns, source.promise.public)
    if promise.until is not None and not noise.is_by_plan:
        promise.until.chosen(source.table)  # raises if the rule names cells that the table does not have
    return source
