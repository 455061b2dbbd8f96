"""Counting persons who come in order: of each the cells are chosen when the next one comes, and nothing is kept.

The choice is that of `count_table` on one machine, a function of the key and of the person's own rows, so that parts
with different persons are counted apart, anywhere, and added up.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import Unsupported
from utmost.publish.tables.bounding import Pairs, Tally, added_by_cell
from utmost.publish.tables.engines import EventReader
from utmost.publish.tables.event_batches import Batch
from utmost.publish.tables.event_codes import Persons
from utmost.publish.tables.extra import extra

CELL, TOTAL = "cell", "total"
_FLUSH = 1 << 20
_FITS = 1 << 62


def take_events(
    reader: EventReader, batch: Batch, persons: Persons, tally: Tally, weight: str | None = None, before: int = 0
) -> int:
    """Add a batch to a tally; returns its rows.

    Args:
        weight: the column that says for how many events a row stands; None where each stands for one.
        before: how many rows came before these.
    """
    who = persons.codes(batch[reader.person])
    cells, amounts = reader.placed(batch, weight, before)
    tally.add(who if len(cells) == len(who) else np.tile(who, len(cells) // len(who)), cells, amounts)
    return len(who)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PersonsInOrder:
    """From batches of events in the order of their persons to what is kept of them, added up.

    Attributes:
        reader: of the events.
        weight: the column that says for how many events a row stands; None where each stands for one.
        flush: after how many rows the persons who are complete are added up.
    """

    reader: EventReader
    weight: str | None
    flush: int = _FLUSH

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The sums, in Arrow batches; memory goes with the rows of the largest person.

        Raises:
            BadTable: for what cannot be counted.
            Unsupported: where the persons come in another order than that of their text's bytes.
        """
        open_persons, since, before, last = _Open(self.reader.person), 0, 0, None
        for batch in batches:
            if not batch.num_rows:
                continue
            columns = {name: batch.column(name) for name in batch.schema.names}
            last = _check_order(columns[self.reader.person], self.reader.person, last)
            rows = take_events(self.reader, columns, open_persons.persons, open_persons.tally, self.weight, before)
            since, before = since + rows, before + rows
            if since >= self.flush and len(open_persons.persons.texts) > 1:
                pairs, texts, open_persons = open_persons.split()
                yield self.reader.summed(pairs, texts)
                since = 0
        yield self.reader.summed(open_persons.tally.pairs(), open_persons.persons.texts)


@dataclass(slots=True, eq=False, repr=False)
class _Open:
    """Persons of whom more rows may come: the last one surely, the others not."""

    name: str
    persons: Persons = field(init=False)
    tally: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        self.persons = Persons(self.name)

    def split(self) -> tuple[Pairs, list[str], "_Open"]:
        """The pairs of all but the last person, with their texts; and the last person, still open."""
        pairs, texts = self.tally.pairs(), self.persons.texts
        last = len(texts) - 1
        rest = _Open(self.name)
        rest.persons.add(texts[last])
        done = pairs.persons < last
        left = pairs.where(~done)
        rest.tally.add(np.zeros(len(left.cells), dtype=np.int64), left.cells, left.sums)
        return pairs.where(done), texts, rest


def _check_order(column: Any, name: str, last: Any) -> Any:
    """Check that persons ascend, from those of the batch before on; returns the last one.

    Two runs of one person would be two persons, each with as many cells as one may have.
    """
    arrow, compute = extra("pyarrow", "tables"), extra("pyarrow.compute", "tables")
    if arrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.null_count:  # refused by whoever reads the events
        return last
    steps = compute.less_equal(column.slice(0, len(column) - 1), column.slice(1))
    ascends = compute.all(steps).as_py() is not False
    if last is not None:
        ascends = ascends and compute.less_equal(last, column[0]).as_py()
    if not ascends:
        raise Unsupported(
            "an engine must order persons by the bytes of their text",
            came="another order",
            where=f"column {name!r}",
            remedy="Cast the column to plain text without a collation.",
        )
    return column[len(column) - 1]


def cell_totals(pairs: Pairs) -> Any:
    """The sum of each cell over all persons, as an Arrow batch of cells and totals."""
    arrow = extra("pyarrow", "tables")
    cells, totals = added_by_cell(pairs)
    return arrow.record_batch({CELL: arrow.array(cells, arrow.int64()), TOTAL: wide_integers(totals)})


def wide_integers(numbers: NDArray[Any]) -> Any:
    """Integers as an Arrow array of the type in which engines add them up: decimals of 38 digits."""
    arrow = extra("pyarrow", "tables")
    whole = arrow.decimal128(38, 0)
    if numbers.dtype != object:
        return arrow.array(numbers, arrow.int64()).cast(whole)
    try:
        return arrow.array([Decimal(int(number)) for number in numbers], whole)
    except arrow.ArrowInvalid:
        remedy = "Lower per_cell=, or collect the frame first."
        raise Unsupported("sums in an engine must have at most 38 digits", came="more", remedy=remedy) from None


def totals_schema(keys: str, text: bool = False) -> Any:
    """The Arrow schema of totals by cells, or by texts."""
    arrow = extra("pyarrow", "tables")
    return arrow.schema([(keys, arrow.string() if text else arrow.int64()), (TOTAL, arrow.decimal128(38, 0))])


def gathered_totals(batches: Iterable[Any], size: int) -> NDArray[Any]:
    """The sum of each cell over all batches of cells and totals: int64, or Python integers where that could overflow.

    Args:
        batches: in each of which no cell comes twice.
        size: how many cells there are.
    """
    sums: NDArray[Any] = np.zeros(size, dtype=np.int64)
    largest = 0
    for cells, totals in read_totals(batches):
        largest += max(abs(int(totals.max(initial=0))), abs(int(totals.min(initial=0))))
        if largest >= _FITS:
            sums = sums.astype(object)
        sums[cells] += totals.astype(sums.dtype)
    return sums


def read_totals(batches: Iterable[Any]) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
    """The cells and the totals of each batch."""
    for batch in batches:
        yield np.asarray(batch.column(CELL).to_numpy()), _narrowed(batch.column(TOTAL))


def _narrowed(totals: Any) -> NDArray[Any]:
    """Decimals as int64, or as Python integers where that could overflow."""
    arrow = extra("pyarrow", "tables")
    try:
        return np.asarray(totals.cast(arrow.int64()).to_numpy())
    except arrow.ArrowInvalid:
        return np.array([int(total) for total in totals.to_pylist()], dtype=object)
