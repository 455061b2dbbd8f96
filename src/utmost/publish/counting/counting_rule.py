"""The rule for counting events: which columns are read, the cell of each event, and which events of a person count."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange, Unsupported
from utmost.publish.counting.bounding import EventCells, Pairs, PairSums, least_hashed
from utmost.publish.counting.cell_totals import cell_totals
from utmost.publish.counting.contribution_selection import by_cell, in_one_part, in_rows, joined_pairs, least_in_total
from utmost.publish.counting.counted_measures import LARGEST_DOMAIN, CountedMeasure
from utmost.publish.counting.distinct_values import ValuesSeen, keep_values
from utmost.publish.counting.numbered_cells import NumberedCells
from utmost.publish.counting.report_tally import ReportTally
from utmost.publish.counting.sparse_totals import SparseTotals
from utmost.publish.workloads.row_unit import WholeRows
from utmost.tables.axes.axes import Axis
from utmost.tables.axes.few_cells import MOST_LAID
from utmost.tables.cells.axis_places import reader_of
from utmost.tables.cells.event_batches import Batch
from utmost.tables.cells.spelling import Spelling

CountedCells = NDArray[Any] | SparseTotals
"""The sums of all cells as an array; in a vast domain, only the sums of the cells with events."""


@dataclass(slots=True, eq=False, repr=False)
class CountingRule:
    """How events are read, and which of a person's contributions are kept.

    The choice depends only on the key and the person's own events.
    """

    person: str | None  # column of persons; None where each row is a person
    measures: tuple[CountedMeasure, ...]
    axes: tuple[Axis, ...]
    part: Axis | None  # axis whose labels split the persons into parts
    spelling: Spelling
    at_most: int  # the largest number of cells that are kept for a person
    whole: WholeRows | None  # rows of cells that are kept together, see `Counting`
    key: bytes
    # A cell is numbered by its table, then its part, then its index in the table.
    read: tuple[Axis, ...] = field(init=False)  # axes whose values are read, the part's first
    valued: tuple[Axis, ...] = field(init=False)  # for each `distinct` measure, the axis of its values
    amount_columns: list[str] = field(init=False)  # distinct columns of amounts
    columns: list[str] = field(init=False)  # distinct columns to read; [] where only rows are counted
    shape: tuple[int, ...] = field(init=False)  # number of values of each axis
    cells: int = field(init=False)  # number of cells of one part
    parts: int = field(init=False)  # number of parts; 1 without parts
    numbered: NumberedCells | None = field(init=False)  # hashed numbers of cells, in a vast domain
    numbers: int = field(init=False)  # cells of one part have numbers below this: `cells`, or 2^bits of `numbered`
    table_size: int = field(init=False)  # the cells of one table, with all parts, have numbers below this
    size: int = field(
        init=False
    )  # cells of all tables of sums have numbers below this; distinct values have larger ones
    first_tables: list[int] = field(init=False)  # index of each measure's first table
    columns_of_tables: list[int] = field(init=False)  # for each table of sums, its column in the sums of pairs
    amounts_in_cells: list[int] = field(init=False)  # see `EventReader.amounts_in_cells`; all sums share one entry
    reported: int = field(init=False)  # index of the reported measure: the first that counts events, else 0
    tally: ReportTally = field(init=False)
    seen: ValuesSeen | None = field(init=False)  # distinct values so far
    _readers: list[Callable[[Batch], NDArray[np.int64]]] = field(init=False, default_factory=list)
    _numbers: dict[str, Any] = field(init=False, default_factory=dict)  # amounts that were read, by text

    def __post_init__(self) -> None:
        measures = self.measures
        # The columns to read.
        self.read = self.axes if self.part is None else (self.part, *self.axes)
        self.valued = tuple(measure.distinct for measure in measures if measure.distinct is not None)
        if self.person is not None and any(self.person == values.levels[0] for values in self.valued):
            remedy = "Pass measure=ut.count(): it counts each person once in a cell."
            raise OutOfRange("distinct= must name another column than person", came=repr(self.person), remedy=remedy)
        who = [] if self.person is None else [self.person]
        self.amount_columns = list(dict.fromkeys(measure.column for measure in measures if measure.column is not None))
        keys = [name for axis in self.read for name in axis.columns]
        of_values = [name for axis in self.valued for name in axis.columns]
        self.columns = list(dict.fromkeys([*who, *keys, *of_values, *self.amount_columns]))
        # An amount may be summed by bins of itself: bins of income give medians beside its means.
        others = [*who, *self.amount_columns]
        twice = {name for name in others if others.count(name) > 1} | {*who} & {*keys} | {*of_values} & {*others, *keys}
        if twice:
            raise OutOfRange(
                "person, amounts, distinct values and axes must be different columns",
                came=f"{min(twice)!r} twice",
                remedy="Name different columns: the values of an axis are published, and the persons are not. Only an "
                "amount may also be an axis.",
            )
        # The numbers of cells: by table, part and index; the tables of distinct values follow those of sums.
        self.shape, self.parts = tuple(axis.size for axis in self.axes), 1 if self.part is None else self.part.size
        self.cells, tables = prod(self.shape), sum(measure.tables for measure in measures)
        self.numbered, self.numbers = None, self.cells
        if tables * self.parts * self.cells >= LARGEST_DOMAIN:
            if any(measure.distinct is not None or measure.tables > 1 for measure in measures):
                remedy = "Count over fewer axes, or count with ut.count and ut.sum alone."
                came = f"{self.cells:.3g}" if self.cells < 10**300 else "more cells"
                raise OutOfRange(
                    "means and distinct values need a domain of fewer than 2^62 cells", came=came, remedy=remedy
                )
            self.numbered = NumberedCells(self.shape, number_bits(tables * self.parts), self.key)
            self.numbers = 1 << self.numbered.bits
        self.table_size = self.parts * self.numbers
        sums = [at for at, measure in enumerate(measures) if measure.distinct is None]
        distinct = [at for at, measure in enumerate(measures) if measure.distinct is not None]
        self.size = sum(measures[at].tables for at in sums) * self.table_size
        self.first_tables, start = [0] * len(measures), 0
        for at in (*sums, *distinct):
            self.first_tables[at], start = start, start + measures[at].tables
        # The first column in the sums of pairs is the number of events.
        self.columns_of_tables, amounts = [], 0
        for measure in (measures[at] for at in sums):
            new = measure.tables - measure.counts_events
            self.columns_of_tables += [0] * measure.counts_events + list(range(amounts + 1, amounts + 1 + new))
            amounts += new
        self.amounts_in_cells = [amounts] * bool(sums) + [0] * len(distinct)
        # Refuse combinations of arguments.
        for measure in measures:
            self.axes_of(measure)  # refuses a name that an axis has
        if self.whole is not None and self.numbered is not None:  # hashed numbers do not show a cell's row
            remedy = "Count over fewer axes, or leave out together=."
            raise OutOfRange(
                "together= needs a domain of fewer than 2^62 cells", came="more cells", where="together", remedy=remedy
            )
        if self.whole is not None and any(measure.most_events is not None for measure in measures):
            required = "only one of together= and most_events= may be given"
            raise OutOfRange(required, came="both", remedy="Leave out together= or most_events=.")
        # The tally is collected while events are read.
        self.reported = next((at for at, measure in enumerate(measures) if measure.counts_events), 0)
        named = [(measure, measure.amount.name) for measure in measures if measure.amount is not None]
        values_read = [f"{one.distinct.levels[0]} as {name}" for one, name in named if one.distinct is not None]
        self.tally = ReportTally(
            [*(axis.levels[0] for axis in self.read), *values_read],
            kept_of=self.kept_of,
            counts_once=measures[self.reported].counts_once,
            clipped=[name for measure, name in named if measure.each is not None],
            amounts=[name for measure, name in named if measure.leaves_missing],
        )
        self.seen = ValuesSeen(self.size) if self.valued else None

    def __reduce__(self) -> tuple[Any, ...]:
        # An engine's workers get the rule with an empty tally. The workers return their tally in cells with negative
        # numbers.
        arguments = self.person, self.measures, self.axes, self.part, self.spelling, self.at_most, self.whole, self.key
        return CountingRule, arguments

    def axes_of(self, measure: CountedMeasure) -> dict[str, Any]:
        """Return {column: axis} of a measure's table; with ``most_events`` the parts of an `AmountPair` are an axis."""
        named: dict[str, Any] = {axis.levels[0]: axis for axis in self.axes}
        if measure.amount is None or measure.distinct is not None:
            return named
        if measure.amount.name in named:
            name = f"{measure.amount.name}_group"
            remedy = f"Give the axis another name, such as {name!r}, for the column {measure.column!r}; in a domain "
            remedy += f'file "{name}": {{..., "column": "{measure.column}"}}.'
            raise OutOfRange(
                "an amount must not have the name of an axis", came=repr(measure.amount.name), remedy=remedy
            )
        if measure.most_events is None:
            return named
        return {**named, measure.amount.name: measure.amount.labels}

    @property
    def kept_of(self) -> str | None:
        """The unit of `CountingReport.kept`: "events", or for example "amount of paid"."""
        measure = self.measures[self.reported]
        if measure.counts_events or measure.amount is None:
            return "events"
        return f"{'amount' if measure.distinct is None else 'distinct values'} of {measure.amount.name}"

    def placed(self, batch: Batch, before: int) -> Sequence[EventCells]:
        """Return each event's cell and amounts, and for each `distinct` measure the number of its (value, cell)."""
        if not self._readers:
            axes = zip((*self.read, *self.valued), self.tally.zeros, strict=True)
            self._readers.extend(reader_of(axis, self.spelling, zeros) for axis, zeros in axes)
        rows = len(next(iter(batch.values())))
        cells, inside = np.zeros(rows, dtype=np.int64), np.ones(rows, dtype=bool)
        places = [read(batch) for read in self._readers]
        for place in places[: len(self.read)]:
            inside &= place >= 0
        if self.numbered is not None:
            some, first = np.flatnonzero(inside), len(self.read) - len(self.axes)
            cells[some] = self.numbered.numbers([place[some] for place in places[first : len(self.read)]])
            if first:
                cells += np.maximum(places[0], 0) * self.numbers
        else:
            # One number for each cell, in row-major order; events outside get 0 here, and -1 below.
            for axis, place in zip(self.read, places, strict=False):
                cells = cells * axis.size + np.maximum(place, 0)
        values = places[len(self.read) :]
        is_counted = inside & np.logical_or.reduce([place >= 0 for place in values]) if self.size == 0 else inside
        self.tally.read(is_counted, places)
        sums, distinct = list[NDArray[Any]](), list[EventCells]()
        for measure, first in zip(self.measures, self.first_tables, strict=True):
            if measure.distinct is not None:
                value = values.pop(0)
                tables = first + np.maximum(value, 0)
                distinct.append((np.where(inside & (value >= 0), cells + tables * self.table_size, -1), ()))
            elif measure.column is not None:
                sums += self._amounts(measure, batch, before, inside)
        if len(distinct) < len(self.measures):
            distinct.insert(0, (cells if inside.all() else np.where(inside, cells, -1), sums))
        return distinct

    def _amounts(
        self, measure: CountedMeasure, batch: Batch, before: int, inside: NDArray[np.bool_]
    ) -> list[NDArray[Any]]:
        """Read and clip amounts; with ``most_events``, subtract the low end and add the marks of missing amounts."""
        amounts, missing = measure.amounts(batch, before, self.spelling, self._numbers)
        clipped, has_amount = measure.clip_amounts(amounts), inside
        if missing is not None:
            has_amount = inside & ~missing
            assert measure.amount is not None, "amounts are missing"
            self.tally.without_amount(measure.amount.name, int(np.count_nonzero(inside & missing)))
        if measure.each is not None and measure.amount is not None:
            self.tally.clipped(measure.amount.name, int(np.count_nonzero(has_amount & (clipped != amounts))))
        if measure.most_events is None or measure.each is None:
            return [clipped if missing is None else np.where(missing, 0, clipped)]
        above = clipped - measure.each[0]
        return [above] if missing is None else [np.where(missing, 0, above), missing.astype(np.int64)]

    def chosen(self, of_persons: Sequence[PairSums], texts: Sequence[str]) -> Pairs:
        """Return the kept contributions of some persons, by table and cell.

        ``of_persons`` must have all pairs of each person.
        """
        # Order of the bounds: each sum is clipped to per_cell, then at_most cells are kept, then their sums are reduced
        # to in_total.
        sums, values = (of_persons[0], of_persons[1:]) if self.columns_of_tables else ((), of_persons)
        count_clipped, tables, few = 0, list[NDArray[Any]](), list[Pairs]()  # the sums of each table; distinct values
        for measure, first in zip(self.measures, self.first_tables, strict=True):
            if measure.distinct is not None:
                of_values = values[len(few)][0]
                part, of_cells = keep_values(of_values, first, self.table_size, measure.ends[1], texts, self.key)
                few.append(part)
                count_clipped += of_cells
                continue
            own = [sums[self.columns_of_tables[at]].sums for at in range(first, first + measure.tables)]
            within, of_cells = measure.clip_sums(own[0])
            count_clipped += of_cells
            tables += [within] if measure.most_events is None else measure.parts(*own)
        # The same cells are kept for all measures. A pair whose sums are all 0 does not count as a cell.
        choices = list(few)
        if sums:
            rows = np.flatnonzero(np.logical_or.reduce([table != 0 for table in tables]))
            choices.insert(0, Pairs(sums[0].persons[rows], sums[0].cells[rows], rows))
        joined = joined_pairs(choices)
        numbers = np.arange(len(joined.cells))
        by_cells = Pairs(joined.persons, joined.cells, numbers)
        if few:
            by_cells, numbers = by_cell(joined, self.table_size)
        is_kept = np.zeros(len(by_cells.cells), dtype=bool)
        is_kept[self._keep_cells(by_cells, texts).sums] = True
        kept, removed = joined.where(is_kept[numbers]), int(np.count_nonzero(~is_kept))
        is_sum = kept.cells < self.table_size * bool(sums)
        rows, few = kept.sums[is_sum], [kept.where(~is_sum)]
        tables, cut = [table[rows] for table in tables], 0
        if any(measure.in_total is not None for measure in self.measures):
            tables, cut = self._reduce_in_total(sums[0].persons[rows], sums[0].cells[rows], tables, texts)
        left = [
            Pairs(sums[0].persons[rows], sums[0].cells[rows] + at * self.table_size, table)
            for at, table in enumerate(tables)
        ]
        chosen = joined_pairs([*(pairs.where(pairs.sums != 0) for pairs in left), *few])
        self._tally_bounds(of_persons, chosen, clipped=count_clipped + cut, removed=removed)
        self.tally.see_persons(texts)
        return chosen

    def _keep_cells(self, pairs: Pairs, texts: Sequence[str]) -> Pairs:
        """Keep at most ``at_most`` pairs of each person, all in one part."""
        if self.part is not None:
            pairs = in_one_part(pairs, self.numbers, texts, self.key)
        # The hash is of the cell's index within the part. A hash of the part would let the choice reveal the part.
        inner = Pairs(pairs.persons, pairs.cells % self.numbers, pairs.sums)
        if self.whole is not None:
            rows = self.at_most // self.whole.values
            return pairs.where(in_rows(inner, self.whole, rows, texts, self.key))
        return pairs.where(least_hashed(inner, self.at_most, texts, key=self.key, purpose=b"atom"))

    def _reduce_in_total(
        self, persons: NDArray[np.int64], cells: NDArray[np.int64], tables: list[NDArray[Any]], texts: Sequence[str]
    ) -> tuple[list[NDArray[Any]], int]:
        """Reduce each measure's sums to its bound ``in_total``; return all sums, and the number of reduced pairs."""
        tables, cut = list(tables), 0
        for measure, first in zip(self.measures, self.first_tables, strict=True):
            if measure.in_total is None:
                continue
            of_tables = slice(first, first + measure.tables)
            sizes = measure.sizes_of(tables[of_tables])
            left = least_in_total(Pairs(persons, cells, sizes), measure.in_total, texts, key=self.key)
            tables[of_tables] = measure.reduced_to(tables[of_tables], sizes, left)
            cut += int(np.count_nonzero(left != sizes))
        return tables, cut

    def _tally_bounds(self, of_persons: Sequence[PairSums], left: Pairs, *, clipped: int, removed: int) -> None:
        """Tally the clipped sums and removed pairs, and the total of the reported measure before and after bounding."""
        measure, first = self.measures[self.reported], self.first_tables[self.reported]

        def size(sums: NDArray[Any]) -> int:
            wide = sums.dtype == object or int(np.abs(sums).max(initial=0)) * len(sums) >= LARGEST_DOMAIN
            return int(np.abs(sums.astype(object) if wide else sums).sum())

        table = left.cells // self.table_size
        sums = left.sums[(table >= first) & (table < first + measure.tables)]
        if measure.distinct is None:
            # With most_events, the first table counts events, and all kept tables count steps of the parts.
            counted = size(of_persons[0][self.columns_of_tables[first]].sums)
            kept = min(size(sums) // measure.steps_of_event, counted)
        else:
            # The first measure is reported if none counts events.
            counted, kept = len(of_persons[bool(self.columns_of_tables)][0].cells), len(sums)
        pairs = of_persons[0][0]
        if len(of_persons) > 1 or not self.columns_of_tables:
            pairs = by_cell(joined_pairs([of[0] for of in of_persons]), self.table_size)[0]
        self.tally.bound(pairs, clipped, removed, cells=len(pairs.cells), counted=counted, kept=kept)

    def summed(self, of_persons: Sequence[PairSums], texts: Sequence[str]) -> Any:
        """Add up the kept contributions of some persons, as Arrow totals by cell.

        The totals have further cells, with the numbers of the tally.
        """
        return self.tally.add_numbers_to(cell_totals(self.chosen(of_persons, texts)))

    def cells_of(self, measure: CountedMeasure, first: int, sums: CountedCells) -> CountedCells:
        """Select a measure's cells from those of all measures; ``first`` is the number of the measure's first table."""
        if measure.distinct is not None and self.table_size > MOST_LAID:
            remedy = "Count over fewer axes."
            raise Unsupported(f"distinct values need at most {MOST_LAID} cells", came="more cells", remedy=remedy)
        low, high = first * self.table_size, (first + measure.tables) * self.table_size
        if isinstance(sums, SparseTotals) and measure.distinct is None:
            return sums.between(low, high)
        if measure.distinct is not None:
            assert self.seen is not None, "distinct values are counted"
            return self.seen.counts(first, measure.tables, self.table_size)
        assert isinstance(sums, np.ndarray), "a domain too large for an array was handled above"
        return sums[low:high]


def number_bits(tables: int) -> int:
    """Return how many bits a cell number may have, if all tables together must have at most 2^62 cell numbers."""
    return (LARGEST_DOMAIN // tables).bit_length() - 1
