"""Add up the events of each person in each cell, from batches of events; return all sums of a person together.

Where each row is a person, rows are passed on as they come. Where a column names the persons, the events of a person
may come in any order, and are read once, as Arrow columns. Many events are spilled to the disk into buckets, by a hash
of their person: all events of a person are in one bucket, and a bucket is small enough to be counted in memory. This
hash only decides in which bucket the events are stored, not which cells of a person are kept.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from secrets import token_bytes
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from utmost.core.sampling.item_words import SECRET_BYTES, item_tags
from utmost.publish.counting.bounding import EventCells, EventSums, Pairs, PairSums
from utmost.tables.cells.event_batches import Batch, Events
from utmost.tables.cells.event_codes import PersonCodes, TextsInArrow
from utmost.tables.cells.similar_identifiers import plain_identifiers
from utmost.tables.cells.spelling import NOT_A_NUMBER, Spelling
from utmost.tables.files.spill_file import SpillFile
from utmost.tables.frames.arrow_arrays import integers_of_arrow, integers_to_arrow, texts_to_arrow
from utmost.tables.frames.arrow_identifiers import arrow_identifiers, is_text
from utmost.tables.optional_imports import extra

BUCKETS = 256
_MOST_UNCOMPRESSED = 1 << 25
"""The most events that are spilled uncompressed (about 24 bytes each): compression takes a fifth of the time."""
_PERSON, _CELL, _AMOUNT = "person", "cell", "amount"
_AT_ONCE = 1 << 19
_IN_MEMORY = 1 << 20  # beyond a million events, they are stored in a file without a name (in TMPDIR)
_LARGEST = 1 << 24
_SHORT = 1 << 31
CompletePersons = Iterator[tuple[Sequence[PairSums], Sequence[str]]]
"""Groups of persons: all pairs of these persons, for each `EventCells`; and the persons' texts, by code."""


class EventReader(Protocol):
    """How events are read, and which cells of a person are kept: a `CountingRule`, or the reader of `count_keys`."""

    @property
    def person(self) -> str | None:
        """The column of the events' owners; None where each row is a person."""

    @property
    def spelling(self) -> Spelling:
        """The spelling of numbers, dates and missing values."""

    @property
    def amounts_in_cells(self) -> Sequence[int]:
        """The number of amounts in each of the `EventCells` that `placed` returns."""

    def placed(self, batch: Mapping[str, Any], before: int) -> Sequence[EventCells]:
        """Return the cells and amounts of some events; measures with the same cells share one entry."""

    def summed(self, pairs: Sequence[PairSums], texts: Sequence[str]) -> Any:
        """Return the sum of the kept contributions of some persons, as an Arrow batch."""


def row_pairs(reader: EventReader, batch: Batch, before: int) -> Sequence[PairSums]:
    """Return the pairs of a batch in which each row is a person; ``before`` is the number of earlier rows."""
    pairs = list[PairSums]()
    for cells, amounts in reader.placed(batch, before):
        rows = np.flatnonzero(cells >= 0)
        sums = np.ones(len(rows), dtype=np.int64), *(of[rows] for of in amounts)
        pairs.append([Pairs(rows, cells[rows], of) for of in sums])
    return pairs


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RowPersons:
    """Add up the kept contributions of persons, from batches in which each row is another person."""

    reader: EventReader

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the sums of each batch, as an Arrow batch."""
        before = 0
        for batch in batches:
            columns = {name: batch.column(name) for name in batch.schema.names}
            yield self.reader.summed(row_pairs(self.reader, columns, before), ())
            before += batch.num_rows


def persons_of(reader: EventReader, read: Events) -> CompletePersons:
    """Yield all pairs of a table's persons, for some persons at a time; for all at once if the columns are lists."""
    batches, before = read.watched(), 0
    if reader.person is None:
        for batch in batches:
            yield row_pairs(reader, batch, before), ()
            before += len(next(iter(batch.values())))
        return
    first = next(batches, None)
    if first is not None and hasattr(first[reader.person], "dictionary_encode"):
        # Rows in memory are not spilled to the disk.
        buckets = PersonsInBuckets(reader, read.rows) if read.in_memory else PersonsInBuckets(reader)
        yield from buckets.counted(chain([first], batches))
        return
    if first is None:
        yield _no_pairs(reader), ()
        return
    persons, tallies = PersonCodes(reader.person, reader.spelling), [EventSums() for _ in reader.amounts_in_cells]
    for batch in chain([first], batches):
        who = persons.codes(batch[reader.person])
        for tally, (cells, amounts) in zip(tallies, reader.placed(batch, before), strict=True):
            tally.add(who, cells, amounts)
        before += len(who)
    yield [tally.pairs() for tally in tallies], persons.texts


def _no_pairs(reader: EventReader) -> Sequence[PairSums]:
    none = np.zeros(0, dtype=np.int64)
    return [[Pairs(none, none, none)] * (1 + amounts) for amounts in reader.amounts_in_cells]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PersonsInBuckets:
    """Add up the kept contributions of persons, from batches of events in any order."""

    reader: EventReader
    in_memory: int = _IN_MEMORY  # the largest number of events that are not spilled to the disk
    at_once: int = _AT_ONCE  # the number of events that are spilled at a time
    largest: int = _LARGEST  # if a bucket has more events, its batches are added up one by one

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield sums by cell as Arrow batches, from record batches of events."""
        columns = ({name: batch.column(name) for name in batch.schema.names} for batch in batches)
        return (self.reader.summed(*persons) for persons in self.counted(columns))

    def counted(self, batches: Iterable[Batch]) -> CompletePersons:
        """Yield all pairs of some persons at a time; if events are spilled, of the persons in a few buckets."""
        # Memory grows with the distinct (person, cell) pairs of one 256th of the persons, the spill file with the
        # events.
        located, first, rows = self._located(batches), [], 0
        for table in located:
            first.append(table)
            rows += table.num_rows
            if rows > self.in_memory:
                break
        else:
            yield self._pairs(iter(first), rows)
            return
        with SpillFile(BUCKETS) as spill:
            spilled = _SpilledEvents(spill)
            for part in _gathered(chain(first, located), self.at_once):
                spilled.add(part)
            first.clear()
            for some in spilled.parts(self.at_once):
                yield self._pairs(spilled.tables(some), sum(int(spilled.rows[bucket]) for bucket in some))

    def _located(self, batches: Iterable[Batch]) -> Iterator[Any]:
        """Yield the events inside the domain as Arrow tables: persons, and cells and amounts of all `EventCells`."""
        arrow, before, name = extra("pyarrow", "tables"), 0, self.reader.person
        assert name is not None, "rows that are persons are passed on as they come"
        for batch in batches:
            persons = _checked_persons(batch[name], name, self.reader.spelling)
            placed = self.reader.placed(batch, before)
            rows = len(persons)
            if not rows:
                continue
            before += rows
            located, inside = {_PERSON: persons}, np.zeros(rows, dtype=bool)
            for number, (cells, amounts) in enumerate(placed):
                inside |= cells >= 0
                located[f"{_CELL} {number}"] = integers_to_arrow(cells)
                for at, of in enumerate(amounts):
                    # Amounts that exceed 64 bits are text.
                    located[f"{_AMOUNT} {number} {at}"] = (
                        integers_to_arrow(of)
                        if of.dtype != object
                        else arrow.array(list(map(str, of.tolist())), arrow.string())
                    )
            table = arrow.table(located)
            yield table if inside.all() else table.take(integers_to_arrow(np.flatnonzero(inside)))

    def _pairs(self, tables: Iterator[Any], rows: int) -> tuple[Sequence[PairSums], Sequence[str]]:
        """Add up the ``rows`` events in some tables; return the pairs, and the persons' texts by code."""
        arrow = extra("pyarrow", "tables")
        if not rows:
            return _no_pairs(self.reader), []
        tallies = [EventSums() for _ in self.reader.amounts_in_cells]
        if rows > self.largest:  # these events may not fit the memory: one person may own most of them
            assert self.reader.person is not None, "rows that are persons are passed on as they come"
            by_table = PersonCodes(self.reader.person, self.reader.spelling)
            for table in tables:
                who = by_table.codes(table[_PERSON])
                for number, tally in enumerate(tallies):
                    tally.add(who, *_cells_and_amounts([table], number))
            return [tally.pairs() for tally in tallies], by_table.texts
        events = list(tables)
        whole = arrow.chunked_array([_wide(chunk) for table in events for chunk in table[_PERSON].chunks])
        persons = whole.combine_chunks().dictionary_encode()
        del whole
        who = integers_of_arrow(persons.indices)
        for number, tally in enumerate(tallies):
            tally.add(who, *_cells_and_amounts(events, number))
        return [tally.pairs() for tally in tallies], TextsInArrow(persons.dictionary)


class _SpilledEvents:
    """Stores events on the disk, as a list of Arrow streams for each bucket."""

    def __init__(self, spill: SpillFile) -> None:
        self._spill, self.rows = spill, np.zeros(BUCKETS, dtype=np.int64)
        self._secret = token_bytes(SECRET_BYTES)  # so that nobody can choose names that all fall into one bucket

    def add(self, table: Any) -> None:
        """Append events to their buckets."""
        arrow, ipc = extra("pyarrow", "tables"), extra("pyarrow.ipc", "tables")
        columns = {name: _wide(table[name]).combine_chunks() for name in table.column_names}
        # Similar identifiers go into one bucket, so that `similar_identifiers` sees them together.
        persons = plain_identifiers(columns[_PERSON]) if is_text(columns[_PERSON].type) else columns[_PERSON]
        tags = item_tags(self._secret, [arrow_identifiers(persons, _PERSON)])
        buckets = (tags[:, 0] % BUCKETS).astype(np.uint8)
        counts = np.bincount(buckets, minlength=BUCKETS)
        order = np.argsort(buckets, kind="stable")
        for name in table.column_names:
            if name.startswith(_CELL):
                cells = integers_of_arrow(columns[name])
                if cells.max(initial=0) < _SHORT:
                    columns[name] = integers_to_arrow(cells.astype(np.int32))
        ordered = arrow.record_batch(columns).take(integers_to_arrow(order))
        options = ipc.IpcWriteOptions(compression=None if int(self.rows.sum()) < _MOST_UNCOMPRESSED else "lz4")
        for bucket, end in enumerate(np.cumsum(counts).tolist()):
            count = int(counts[bucket])
            if count:
                written = arrow.BufferOutputStream()
                with ipc.new_stream(written, ordered.schema, options=options) as out:
                    out.write_batch(ordered.slice(end - count, count))
                self._spill.add(bucket, written.getvalue())
        self.rows += counts

    def parts(self, most: int) -> Iterator[list[int]]:
        """Yield groups of buckets with at most ``most`` events together; a larger bucket is a group by itself."""
        some: list[int] = []
        for bucket in np.flatnonzero(self.rows).tolist():
            if some and int(self.rows[[*some, bucket]].sum()) > most:
                yield some
                some = []
            some.append(bucket)
        if some:
            yield some

    def tables(self, buckets: list[int]) -> Iterator[Any]:
        """Yield the events of some buckets, in the tables that were written."""
        arrow, ipc = extra("pyarrow", "tables"), extra("pyarrow.ipc", "tables")
        for bucket in buckets:
            for written in self._spill.read(bucket):
                yield arrow.Table.from_batches(list(ipc.open_stream(written)))


def _gathered(tables: Iterable[Any], rows: int) -> Iterator[Any]:
    """Join tables of one schema to tables of at least ``rows`` rows.

    A table in which amounts are text, because they exceed 64 bits, has another schema.
    """
    arrow = extra("pyarrow", "tables")
    waiting: list[Any] = []
    for table in tables:
        if waiting and table.schema != waiting[0].schema:
            yield arrow.concat_tables(waiting)
            waiting = []
        waiting.append(table)
        if sum(part.num_rows for part in waiting) >= rows:
            yield arrow.concat_tables(waiting)
            waiting = []
    if waiting:
        yield arrow.concat_tables(waiting)


def _checked_persons(column: Any, name: str, spelling: Spelling) -> Any:
    """Read a column of persons as integers or text; `PersonCodes` reads columns of other types, or refuses them."""
    arrow, compute = extra("pyarrow", "tables"), extra("pyarrow.compute", "tables")
    if arrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if arrow.types.is_integer(column.type) and not column.null_count and not spelling.missing_numbers:
        return column
    if is_text(column.type) and not column.null_count:
        column = _wide(column)
        whole = column.combine_chunks() if isinstance(column, arrow.ChunkedArray) else column
        # Texts are compared as `Spelling.is_missing` does it for one text.
        marks = texts_to_arrow(["", *NOT_A_NUMBER, *map(str, spelling.missing_marks)])
        if not compute.any(compute.is_in(compute.utf8_trim_whitespace(whole), value_set=marks)).as_py():
            return whole
    persons = PersonCodes(name, spelling)
    codes = persons.codes(column)
    return arrow.array(persons.texts, arrow.string()).take(arrow.array(codes))


def _wide(column: Any) -> Any:
    """Convert text to 64-bit offsets, which do not overflow; return integers unchanged."""
    return column.cast(extra("pyarrow", "tables").large_string()) if is_text(column.type) else column


def _cells_and_amounts(tables: Sequence[Any], number: int) -> EventCells:
    """Read the ``number``-th `EventCells` of all events from the tables that `_located` made."""

    def column(name: str) -> NDArray[Any]:
        parts = [table[name] for table in tables]
        if not any(is_text(part.type) for part in parts):
            return np.concatenate([integers_of_arrow(chunk) for part in parts for chunk in part.chunks])
        return np.array([int(cell) for part in parts for cell in part.to_pylist()], dtype=object)

    amounts = [name for name in tables[0].column_names if name.startswith(f"{_AMOUNT} {number} ")]
    return column(f"{_CELL} {number}"), [column(name) for name in amounts]
