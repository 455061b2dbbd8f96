"""Counters for the counting report, kept while events are read.

An engine's workers count these numbers, too. The workers return each number as the sum of a further cell, with a
negative cell number, so that the engine adds it up like any other sum and reads the events once.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.publish.counting.bounding import Pairs
from utmost.publish.counting.cell_totals import CELL, TOTAL, wide_integers
from utmost.publish.counting.counting_report import CountingReport
from utmost.tables.cells.event_codes import MISSING, OUTSIDE, LeadingZeros
from utmost.tables.cells.similar_identifiers import similar_identifiers
from utmost.tables.optional_imports import extra

_EVENTS, _LEFT_OUT, _PERSONS, _CLIPPED_SUMS, _REMOVED, _PAIRS, _COUNTED, _KEPT, _SIMILAR, _FIRST_AXIS = range(10)


class ReportTally:
    """Counters for a `CountingReport`; an engine's worker returns them with its sums, and starts again from 0."""

    # Each axis has a counter in `zeros`. `clipped`: names of amounts that are clipped. `amounts`: names of amounts
    # whose missing ones are left out.
    def __init__(
        self,
        axes: Sequence[str],
        *,
        kept_of: str | None = None,
        counts_once: bool = False,
        clipped: Sequence[str] = (),
        amounts: Sequence[str] = (),
    ) -> None:
        self._axes, self._kept_of, self._counts_once = tuple(axes), kept_of, counts_once
        self._clipped, self._amounts = tuple(dict.fromkeys(clipped)), tuple(dict.fromkeys(amounts))
        self._of_clipped = _FIRST_AXIS + 3 * len(self._axes)
        self._of_amounts = self._of_clipped + len(self._clipped)
        self._numbers = [0] * (self._of_amounts + len(self._amounts))
        self.zeros = [LeadingZeros() for _ in self._axes]

    def read(self, inside: NDArray[np.bool_], places: Sequence[NDArray[np.int64]]) -> None:
        """Add a batch of events: whether each is counted, and its index on each axis."""
        self._numbers[_EVENTS] += len(inside)
        self._numbers[_LEFT_OUT] += int(np.count_nonzero(~inside))
        for axis, (place, zeros) in enumerate(zip(places, self.zeros, strict=True)):
            self._numbers[_FIRST_AXIS + 3 * axis + 2] += zeros.cells
            zeros.cells = 0
            if place.min(initial=0) >= 0:
                continue
            self._numbers[_FIRST_AXIS + 3 * axis] += int(np.count_nonzero(place == OUTSIDE))
            self._numbers[_FIRST_AXIS + 3 * axis + 1] += int(np.count_nonzero(place == MISSING))

    def clipped(self, amount: str, events: int) -> None:
        """Add a number of events with a clipped amount."""
        self._numbers[self._of_clipped + self._clipped.index(amount)] += events

    def without_amount(self, amount: str, events: int) -> None:
        """Add a number of events without an amount."""
        self._numbers[self._of_amounts + self._amounts.index(amount)] += events

    def bound(
        self, pairs: Pairs, clipped: int, removed: int, *, cells: int = 0, counted: int = 0, kept: int = 0
    ) -> None:
        """Add the effect of the bounds on some persons; ``pairs`` are all pairs of these persons."""
        self._numbers[_PERSONS] += int(np.count_nonzero(pairs.persons[1:] != pairs.persons[:-1])) + bool(
            len(pairs.persons)
        )
        self._numbers[_CLIPPED_SUMS] += clipped
        self._numbers[_REMOVED] += removed
        self._numbers[_PAIRS] += cells
        self._numbers[_COUNTED] += counted
        self._numbers[_KEPT] += kept

    def see_persons(self, texts: Sequence[str]) -> None:
        """Count similar identifiers among the texts of some persons."""
        self._numbers[_SIMILAR] += similar_identifiers(texts)

    def add_numbers_to(self, totals: Any) -> Any:
        """Return Arrow totals with the numbers of this report in cells -1, -2, ..., and set these numbers to 0."""
        arrow = extra("pyarrow", "tables")
        cells = arrow.array(-1 - np.arange(len(self._numbers), dtype=np.int64))
        mine = arrow.record_batch({CELL: cells, TOTAL: wide_integers(np.array(self._numbers, dtype=object))})
        self._numbers = [0] * len(self._numbers)
        return arrow.Table.from_batches([mine, totals]).combine_chunks().to_batches()[0]

    def without_stored(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Add the cells -1, -2, ... to the numbers of this report; yield the totals without these cells."""
        for batch in batches:
            cells = np.asarray(batch.column(CELL).to_numpy())
            mine = np.flatnonzero(cells < 0)
            arrow = extra("pyarrow", "tables")
            for row in mine.tolist():
                self._numbers[-1 - int(cells[row])] += int(batch.column(TOTAL)[row].as_py())
            yield batch.filter(arrow.array(cells >= 0))

    def report(self) -> CountingReport:
        numbers, of_clipped, of_amounts = self._numbers, self._of_clipped, self._of_amounts
        return CountingReport(
            events=numbers[_EVENTS],
            outside_domain=numbers[_LEFT_OUT],
            outside=dict(zip(self._axes, numbers[_FIRST_AXIS:of_clipped:3], strict=True)),
            missing=dict(zip(self._axes, numbers[_FIRST_AXIS + 1 : of_clipped : 3], strict=True)),
            leading_zeros=dict(zip(self._axes, numbers[_FIRST_AXIS + 2 : of_clipped : 3], strict=True)),
            without_amount=dict(zip(self._amounts, numbers[of_amounts:], strict=True)),
            persons=numbers[_PERSONS],
            clipped_sums=numbers[_CLIPPED_SUMS],
            removed=numbers[_REMOVED],
            clipped_amounts=dict(zip(self._clipped, numbers[of_clipped:of_amounts], strict=True)),
            pairs=numbers[_PAIRS],
            kept_of=self._kept_of,
            counts_once=self._counts_once,
            counted=numbers[_COUNTED],
            kept=numbers[_KEPT],
            similar_persons=numbers[_SIMILAR],
        )
