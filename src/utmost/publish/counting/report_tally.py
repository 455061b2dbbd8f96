"""The numbers of a report while they are gathered: here, or by the workers of an engine, with the sums of cells.

An engine adds up sums by cell, and the numbers of the report travel with them, in cells below 0: nothing else is asked
of the engine, and the events are read once.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.publish.counting.bounding import Pairs
from utmost.publish.counting.cell_totals import CELL, TOTAL, wide_integers
from utmost.publish.counting.counting_report import CountingReport
from utmost.tables.cells.event_codes import MISSING, OUTSIDE
from utmost.tables.optional_imports import extra

_EVENTS, _LEFT_OUT, _EACH, _PERSONS, _MOVED, _DROPPED, _PAIRS, _COUNTED, _KEPT, _FIRST_AXIS = range(10)


class ReportTally:
    """The numbers that were gathered since the last sums were given away.

    Args:
        axes: the names of the axes whose values are read.
        has_each: whether the amounts of events are moved between ends.
        kept_of: Quantity kept by the bounds, see `CountingReport`.
        amounts: the columns of amounts whose missing ones are left out.
    """

    def __init__(
        self,
        axes: Sequence[str],
        *,
        has_each: bool = False,
        kept_of: str | None = None,
        amounts: Sequence[str] = (),
    ) -> None:
        self._axes, self._has_each, self._kept_of = tuple(axes), has_each, kept_of
        self._amounts = tuple(amounts)
        self._numbers = [0] * (_FIRST_AXIS + 2 * len(self._axes) + len(self._amounts))

    def read(self, inside: NDArray[np.bool_], places: Sequence[NDArray[np.int64]]) -> None:
        """Take a batch of events in.

        Args:
            inside: whether each lies in the domain, and counts in something.
            places: Place of each by axis.
        """
        self._numbers[_EVENTS] += len(inside)
        self._numbers[_LEFT_OUT] += int(np.count_nonzero(~inside))
        for axis, place in enumerate(places):
            if place.min(initial=0) >= 0:
                continue
            self._numbers[_FIRST_AXIS + 2 * axis] += int(np.count_nonzero(place == OUTSIDE))
            self._numbers[_FIRST_AXIS + 2 * axis + 1] += int(np.count_nonzero(place == MISSING))

    def moved(self, events: int) -> None:
        """Take in how many amounts of events inside the domain were moved."""
        self._numbers[_EACH] += events

    def without_amount(self, column: str, events: int) -> None:
        """Take in how many events inside the domain have no amount in a column."""
        self._numbers[_FIRST_AXIS + 2 * len(self._axes) + self._amounts.index(column)] += events

    def bound(self, pairs: Pairs, moved: int, dropped: int) -> None:
        """Take in what was kept of some persons, all of whose pairs these are: how many sums were moved and dropped."""
        self._numbers[_PERSONS] += int(np.count_nonzero(pairs.persons[1:] != pairs.persons[:-1])) + bool(
            len(pairs.persons)
        )
        self._numbers[_MOVED] += moved
        self._numbers[_DROPPED] += dropped

    def kept(self, pairs: int, counted: int, kept: int) -> None:
        """Take in how many cells some persons had, and how much there was in them and is left, see `CountingReport`."""
        self._numbers[_PAIRS] += pairs
        self._numbers[_COUNTED] += counted
        self._numbers[_KEPT] += kept

    def given_to(self, totals: Any) -> Any:
        """Arrow totals by cell with these numbers in cells below 0; they are gathered anew from here on."""
        arrow = extra("pyarrow", "tables")
        cells = arrow.array(-1 - np.arange(len(self._numbers), dtype=np.int64))
        mine = arrow.record_batch({CELL: cells, TOTAL: wide_integers(np.array(self._numbers, dtype=object))})
        self._numbers = [0] * len(self._numbers)
        return arrow.Table.from_batches([mine, totals]).combine_chunks().to_batches()[0]

    def taken_from(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The totals of cells alone; what stands in cells below 0 is taken in."""
        for batch in batches:
            cells = np.asarray(batch.column(CELL).to_numpy())
            mine = np.flatnonzero(cells < 0)
            arrow = extra("pyarrow", "tables")
            for row in mine.tolist():
                self._numbers[-1 - int(cells[row])] += int(batch.column(TOTAL)[row].as_py())
            yield batch.filter(arrow.array(cells >= 0))

    def report(self) -> CountingReport:
        """The report of all that was taken in."""
        numbers, of_amounts = self._numbers, _FIRST_AXIS + 2 * len(self._axes)
        return CountingReport(
            events=numbers[_EVENTS],
            outside_domain=numbers[_LEFT_OUT],
            outside=dict(zip(self._axes, numbers[_FIRST_AXIS:of_amounts:2], strict=True)),
            missing=dict(zip(self._axes, numbers[_FIRST_AXIS + 1 : of_amounts : 2], strict=True)),
            without_amount=dict(zip(self._amounts, numbers[of_amounts:], strict=True)),
            persons=numbers[_PERSONS],
            clipped=numbers[_MOVED],
            removed=numbers[_DROPPED],
            clipped_amounts=numbers[_EACH] if self._has_each else None,
            pairs=numbers[_PAIRS],
            kept_of=self._kept_of,
            counted=numbers[_COUNTED],
            kept=numbers[_KEPT],
        )
