"""The values that a curator brings, and the commitment to them.

**The commitment to the values of a release: one keyed digest for each column and run of rows.**

    digest_(c, b) = HMAC(K_commit, c || b || values of column c in run b)

K_commit is derived from the ledger's key, the release's name and its version, so that without the key nobody can test a
guess at a value, nor see that two versions have values in common. With the key one can: a digest covers few rows so
that a curator whose table has changed learns where. Row order is committed to with the values.
"""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import objects, plain_cells
from utmost.core.exact.levels import Level
from utmost.core.sampling.integers import Integers
from utmost.core.sampling.item_words import Identifiers, Tags, check_unique
from utmost.errors import BadTable, DataChanged
from utmost.publish.ledger.block_encryption import packed
from utmost.publish.ledger.key import Key
from utmost.publish.ledger.state import Published
from utmost.publish.promises.declared_columns import check_no_copy, check_released, declared_columns
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.promised_noise import Response
from utmost.publish.releases.answer import Answer, drawn_answer
from utmost.publish.releases.item_commitment import committed_rows, first_difference
from utmost.tables.cells.columns import check_distinct, is_plainly_there
from utmost.tables.frames.adapters import Column, TableAdapter
from utmost.tables.frames.any_table import adapter_of
from utmost.tables.frames.arrow_identifiers import text_identifiers


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
    items: Identifiers | None
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

    def answer(self, level: Level, response: Response, remembered: LedgerFacts) -> Answer[Any]:
        """A response as it is returned to whoever brought the table: that table, with released values in it."""
        at_level = self.promise.at_stop(level, remembered.stop)
        promise = self.promise.as_read(tuple(response), [name for name in self.order if name in self.promise.public])

        def bare() -> tuple[TableAdapter, Any]:
            kept = (*self.columns, *self.promise.public)
            return self.adapter, self.adapter.without(self.table, [name for name in self.names if name not in kept])

        written = self.promise.lasting_noise.written(level, response)
        return drawn_answer(promise, at_level, written, self.kind, remembered, bare)

    def check_distinct(self, tags: Tags | None = None) -> None:
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
                return check_unique(tags)
        except BadTable:
            pass  # said below, of rows that have names
        column = self.adapter.column(self.table, id_column)
        check_distinct(column, id_column, partial(self.adapter.place, self.table))
        return None


def read_source(
    table: Any, promise: Promise, public: Sequence[str] | None, *, by_item: bool, kind: str | None
) -> Source:
    """Read and check every value that is to be released.

    Args:
        promise: Promise about the table; columns that are neither released nor public are left out of the answer.
        public: The public columns; those that the table does not have are left out. None where the promise must declare
            every column of the table.
        by_item: Whether noise is keyed by the identifiers.
        kind: Kind of table that the answers are; None for the kind of this table.
    """
    adapter, noise, id_column = adapter_of(table), promise.lasting_noise, promise.single_id_column
    names, chosen = adapter.names(table), promise.columns
    check_released(chosen, names, id_column)
    if public is None:
        public, _ = declared_columns(names, chosen, promise.public, promise.drop)

    def place(row: int) -> str:
        return adapter.place(table, row)

    identifiers, items = None, None
    if id_column is not None:
        if by_item:
            items = _read_items(adapter, table, id_column)
        else:
            keys = adapter.column(table, id_column)
            check_distinct(keys, id_column, place)
            identifiers = objects(map(str, plain_cells(keys)))
    values = {name: noise.cells(adapter.column(table, name), name, place) for name in chosen}
    rows = {name: column.size for name, column in values.items()}
    if len(set(rows.values())) > 1:
        raise BadTable("all columns must have the same number of rows", came=str(rows))
    found = promise.as_read(chosen, [name for name in names if name in public])
    order = [name for name in names if name in values or name in public] if found.public else chosen
    made = adapter.kind(table, order) if kind is None else kind
    return Source(table, adapter, found, made, values, identifiers, items, rows[chosen[0]], names, order)


def _read_items(adapter: TableAdapter, table: Any, name: str) -> Identifiers:
    """The identifiers of the rows, none missing. Whether two are alike is known by their tags: `Source.check_distinct`.

    Raises:
        BadTable: naming the row that has none.
    """
    texts = text_identifiers(table, name)
    if texts is not None:
        return texts
    column = adapter.column(table, name)
    if not is_plainly_there(column):
        check_distinct(column, name, partial(adapter.place, table))
    return Identifiers.of(column)


def new_source(table: Any, promise: Promise) -> Source:
    """The values of a table that is published: every column declared, every cell read, sizes checked.

    Args:
        table: Table as `Promise.rows_of` gives it.

    Raises:
        NotDeclared, BadTable, OutOfRange, WrongKind: for a table that cannot be published by this promise.
    """
    noise = promise.lasting_noise
    noise.check()
    promise.check_single_id()
    rows, kind = noise.measured(table)
    source = read_source(rows, promise, None, by_item=promise.keyed_by_id, kind=kind)
    noise.check_size(source.rows, len(source.columns))
    column = source.adapter.column
    true = {released: column(rows, released) for released in source.columns} if source.promise.public else {}
    for name in source.promise.public:
        check_no_copy(name, partial(column, rows, name), true)
    return source


def release_source(release: Published, table: Any) -> Source:
    """The values of a table that is brought again for a release that is there."""
    noise = release.noise
    rows, _ = noise.measured(noise.rows_of(table, release.columns))
    by_item = release.items is not None
    return read_source(rows, release.promise, release.public, by_item=by_item, kind=release.kind)


_BYTES = 16
_MOST_RUNS = 256


def commitment(key: Key, name: str, version: int, source: Source) -> bytes:
    """The digests of all columns, one after the other; that of the identifiers last, where there are any.

    Where the noise is addressed by item, the sums of the rows' digests by item block: see `ItemCommitment`.
    """
    if source.items is not None:
        by_item = commitment_secret(key, name, version)
        return committed_rows(by_item, [source.items], list(source.columns.values())).content
    secret = key.derived("commitment", name, str(version))
    columns = [_packed_runs(column) for column in source.columns.values()]
    if source.identifiers is not None:
        columns.append(_text_runs(source.identifiers))
    return b"".join(
        hmac.digest(secret, c.to_bytes(4, "big") + b.to_bytes(4, "big") + run, sha256)[:_BYTES]
        for c, runs in enumerate(columns)
        for b, run in enumerate(runs)
    )


def commitment_secret(key: Key, name: str, version: int) -> bytes:
    """The secret under which a release by item is committed to."""
    return key.derived("item commitment", name, str(version))


def noise_secret(key: Key, name: str, version: int, committed: bytes) -> bytes:
    """The secret of the noise of a release by item: one for each table that could be published so."""
    return key.derived("item noise", name, str(version), sha256(committed).hexdigest())


def check_unchanged(committed: bytes, now: bytes, source: Source, rows: int, where: str, remedy: str) -> None:
    """Check that two commitments to a release agree: yes or no for the whole table, and not where they differ.

    Whoever is told where a guess differs finds every value by walking it; so only `difference` says it, to whoever
    holds the ledger's key.
    """
    if source.rows != rows:
        raise DataChanged(
            f"the table must have the {rows} rows published", came=source.rows, where=where, remedy=remedy
        )
    if not hmac.compare_digest(committed, now):
        if source.items is not None:
            source.check_distinct()
        raise DataChanged(OTHERS, came="others", where=where, remedy=remedy)


OTHERS = "identifiers and values must be those that were published"
"""The requirement on a table that is brought again."""


def difference(committed: bytes, now: bytes, source: Source, rows: int) -> str | None:
    """The place where a table first differs from the published one, in words without a value; None if it does not."""
    if source.rows != rows:
        return f"the table has {source.rows} rows, and {rows} were published"
    if hmac.compare_digest(committed, now):
        return None
    if source.items is not None:
        return f"item block {first_difference(committed, now)}"
    step, names = _run(rows), [*source.columns, "identifiers"]
    differs = (at for at in range(0, len(now), _BYTES) if committed[at : at + _BYTES] != now[at : at + _BYTES])
    column, run = divmod(next(differs) // _BYTES, -(-rows // step))
    first, last = run * step + 1, min((run + 1) * step, rows)
    span = f"row {first}" if first == last else f"rows {first} to {last}"
    return f"column {names[column]!r}, {span}"


def _packed_runs(column: Integers) -> list[bytes]:
    """The runs of a column as bytes that depend on the values alone."""
    step = _run(column.size)
    return [cell_bytes(column[start : start + step]) for start in range(0, column.size, step)]


def cell_bytes(column: NDArray[Any]) -> bytes:
    """Cells as bytes that depend on the values alone."""
    if column.dtype.kind == "f":
        return column.astype(">f8").tobytes()
    if column.size and isinstance(column[0], Fraction):
        return ",".join(map(str, column.tolist())).encode()
    return packed(column)


def _text_runs(column: NDArray[np.object_]) -> list[bytes]:
    step = _run(column.size)
    texts = [text.encode("utf-8", "surrogatepass") for text in column.tolist()]
    sized = [len(text).to_bytes(8, "big") + text for text in texts]
    return [b"".join(sized[start : start + step]) for start in range(0, len(sized), step)]


def _run(rows: int) -> int:
    """Number of rows to a digest: one where there are few rows, and never more than 256 digests to a column."""
    return max(1, -(-rows // _MOST_RUNS))
