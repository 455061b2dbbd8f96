"""Counting where each row is a person: nothing is chosen, so a row is added up as it passes, in any order."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from utmost.core.exact.progress_bar import Progress
from utmost.publish.counting.bounding import Pairs
from utmost.publish.counting.event_reader import EventReader
from utmost.tables.cells.event_batches import Batch, Events


def rows_of(reader: EventReader, read: Events, progress: Progress | None = None) -> Iterator[Pairs]:
    """The pairs of all rows of a table, a batch at a time, as by `row_pairs`."""
    before = 0
    for batch in read.watched(progress):
        yield row_pairs(reader, batch, before)
        before += len(next(iter(batch.values())))


def row_pairs(reader: EventReader, batch: Batch, before: int) -> Pairs:
    """The pairs of person and cell of a batch in which each row is a person: one for each row in the domain.

    Args:
        before: Number of rows that came before these.
    """
    rows = len(next(iter(batch.values())))
    cells, amounts = reader.placed(batch, before)
    inside = np.flatnonzero(cells >= 0)
    if len(cells) > rows:  # several things are counted of each row
        inside = inside[np.argsort(inside % rows, kind="stable")]
    sums = np.ones(len(inside), dtype=np.int64) if amounts is None else amounts[inside]
    return Pairs(inside % max(rows, 1), cells[inside], sums)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RowsAlone:
    """Add up the kept part of persons from batches of rows, each a person.

    Attributes:
        reader: Reader of the rows.
    """

    reader: EventReader

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The sums, in an Arrow batch for each that comes."""
        before = 0
        for batch in batches:
            columns = {name: batch.column(name) for name in batch.schema.names}
            yield self.reader.summed(row_pairs(self.reader, columns, before), ())
            before += batch.num_rows
