"""The rule of one counting: which columns are read, in which cell an event falls, and what of a person is kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange, Unsupported
from utmost.publish.counting.added_cells import AddedCells
from utmost.publish.counting.bounding import Pairs, least_hashed
from utmost.publish.counting.cell_totals import cell_totals
from utmost.publish.counting.contribution_selection import by_cell, in_one_part, in_rows, joined_pairs, least_in_all
from utmost.publish.counting.counted_measures import LARGEST_DOMAIN, CountedMeasure
from utmost.publish.counting.counting_report import ReportTally
from utmost.publish.counting.distinct_values import ValuesSeen, few_values
from utmost.publish.counting.numbered_cells import NumberedCells
from utmost.publish.workloads.row_unit import WholeRows
from utmost.tables.axes.axes import Axis
from utmost.tables.axes.few_cells import MOST_LAID
from utmost.tables.cells.axis_places import reader_of
from utmost.tables.cells.event_batches import Batch
from utmost.tables.cells.spelling import Spelling

CountedCells = NDArray[Any] | AddedCells
"""The sum of each cell; or, where they are more than can be laid out, of those that hold one."""


@dataclass(slots=True, eq=False, repr=False)
class CountingRule:
    """How events are read, and what is kept of a person: pure functions of the key and the person's own events.

    A cell is numbered by its table, then its part, then its place in the table.

    Args:
        person: Column of persons; None where each row is one.
        measures: What is counted of each cell, each in one table or several.
        axes: Axes of the table.
        part: Axis of the parts; None where the table is whole.
        spelling: Marks that are declared for the cells of all columns.
        at_most: Number of cells that are kept of a person.
        whole: Rows of cells that are kept of a person, all or none; None where each cell is kept alone.
        key: Key of the hashes.

    Attributes:
        read: Axes whose values are read, the part's first.
        valued: Axis of the values of each measure of distinct values.
        amount_columns: Columns of amounts, each once.
        columns: Columns that are read, each once; none where rows alone are counted, which any column does.
        shape: Number of values of each axis.
        cells: Number of cells of one part.
        parts: Number of parts; 1 where the table is whole.
        numbered: Numbers of the cells where there are more cells than numbers; else None.
        numbers: Number of numbers that cells of a part have: one each, or fewer where there are too many.
        each_size: Number of cells of one table, in all parts.
        size: Number of cells of sums, of all measures and in all parts.
        first_tables: Number of each measure's first table; those of values come behind all sums.
        reported: Place of the measure that the report regards: the first that counts events, else the first.
        tally: Numbers of the report so far.
        seen: Distinct values so far; None where none are counted.

    Raises:
        OutOfRange: for one column twice, an axis with the name of an amount, and too many cells.
    """

    person: str | None
    measures: tuple[CountedMeasure, ...]
    axes: tuple[Axis, ...]
    part: Axis | None
    spelling: Spelling
    at_most: int
    whole: WholeRows | None
    key: bytes
    read: tuple[Axis, ...] = field(init=False)
    valued: tuple[Axis, ...] = field(init=False)
    amount_columns: list[str] = field(init=False)
    columns: list[str] = field(init=False)
    shape: tuple[int, ...] = field(init=False)
    cells: int = field(init=False)
    parts: int = field(init=False)
    numbered: NumberedCells | None = field(init=False)
    numbers: int = field(init=False)
    each_size: int = field(init=False)
    size: int = field(init=False)
    first_tables: list[int] = field(init=False)
    reported: int = field(init=False)
    tally: ReportTally = field(init=False)
    seen: ValuesSeen | None = field(init=False)
    _readers: list[Callable[[Batch], NDArray[np.int64]]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        measures = self.measures
        # Which columns are read.
        self.read = self.axes if self.part is None else (self.part, *self.axes)
        self.valued = tuple(measure.distinct for measure in measures if measure.distinct is not None)
        if self.person is not None and any(self.person == values.levels[0] for values in self.valued):
            remedy = "Pass measure=ut.count(): it counts each person once in a cell."
            raise OutOfRange("distinct must name another column than person", came=repr(self.person), remedy=remedy)
        who = [] if self.person is None else [self.person]
        self.amount_columns = list(dict.fromkeys(measure.column for measure in measures if measure.column is not None))
        keys = [name for axis in self.read for name in axis.columns]
        of_values = [name for axis in self.valued for name in axis.columns]
        self.columns = list(dict.fromkeys([*who, *keys, *of_values, *self.amount_columns]))
        others = [*who, *dict.fromkeys(values.columns[0] for values in self.valued), *self.amount_columns]
        if len({*others, *keys}) < len(others) + len(set(keys)):
            raise OutOfRange(
                "persons, amounts and axes must be different columns",
                came="one column twice",
                where=", ".join(self.columns),
                remedy="Name another column for one of them: the values of an axis are published, and persons are not.",
            )
        # How cells are numbered: by table, part and place; the tables of distinct values come behind those of sums.
        self.shape, self.parts = tuple(axis.size for axis in self.axes), 1 if self.part is None else self.part.size
        self.cells, tables = prod(self.shape), sum(measure.tables for measure in measures)
        self.numbered, self.numbers = None, self.cells
        if tables * self.parts * self.cells >= LARGEST_DOMAIN:
            if any(measure.distinct is not None or measure.tables > 1 for measure in measures):
                remedy = "Count over fewer axes, or plain counts and sums."
                came = f"{self.cells:.3g}" if self.cells < 10**300 else "more"
                raise OutOfRange(
                    "means and distinct values need a domain of fewer than 2^62 cells", came=came, remedy=remedy
                )
            self.numbered = NumberedCells(self.shape, number_bits(tables * self.parts), self.key)
            self.numbers = 1 << self.numbered.bits
        self.each_size = self.parts * self.numbers
        sums = [at for at, measure in enumerate(measures) if measure.distinct is None]
        distinct = [at for at, measure in enumerate(measures) if measure.distinct is not None]
        self.size = sum(measures[at].tables for at in sums) * self.each_size
        self.first_tables, start = [0] * len(measures), 0
        for at in (*sums, *distinct):
            self.first_tables[at], start = start, start + measures[at].tables
        # What does not go together.
        for measure in measures:
            self.axes_of(measure)  # refuses a name that an axis has
        if self.whole is not None and self.numbered is not None:  # numbers do not say in which row a cell lies
            remedy = "Count over fewer axes, or leave together= out."
            raise OutOfRange(
                "whole rows are kept in fewer than 2^62 cells", came="more", where="together", remedy=remedy
            )
        if self.whole is not None and any(measure.most_events is not None for measure in measures):
            required = "sums and counts together are kept cell by cell"
            raise OutOfRange(required, came="together=", remedy="Leave one of them out.")
        # What is gathered while events are read.
        self.reported = next((at for at, measure in enumerate(measures) if measure.counts_events), 0)
        named = [(measure, measure.amount.name) for measure in measures if measure.amount is not None]
        values_read = [f"{one.distinct.levels[0]} as {name}" for one, name in named if one.distinct is not None]
        self.tally = ReportTally(
            [*(axis.levels[0] for axis in self.read), *values_read],
            kept_of=self.kept_of,
            clipped=[name for measure, name in named if measure.each is not None],
            amounts=[name for measure, name in named if measure.leaves_missing],
        )
        self.seen = ValuesSeen(self.size) if self.valued else None

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers of an engine get the rule without what it has tallied here; they send their tallies back in cells
        # below 0.
        arguments = self.person, self.measures, self.axes, self.part, self.spelling, self.at_most, self.whole, self.key
        return CountingRule, arguments

    def axes_of(self, measure: CountedMeasure) -> dict[str, Any]:
        """The axes of what a measure counts, by the columns that hold their values: of sums and counts one more.

        Raises:
            OutOfRange: where an axis has its name.
        """
        named: dict[str, Any] = {axis.levels[0]: axis for axis in self.axes}
        if measure.amount is None or measure.most_events is None:
            return named
        if measure.amount.name in named:
            remedy = "Count by other axes, or name the measure otherwise."
            raise OutOfRange(
                "an amount must not have the name of an axis", came=repr(measure.amount.name), remedy=remedy
            )
        return {**named, measure.amount.name: measure.amount.labels}

    @property
    def kept_of(self) -> str | None:
        """The quantity of which the report says how much is kept, see `CountingReport`."""
        measure = self.measures[self.reported]
        if measure.counts_events or measure.amount is None:
            return "events"
        return f"{'amount' if measure.distinct is None else 'distinct values'} of {measure.amount.name}"

    def placed(self, batch: Batch, before: int) -> tuple[NDArray[np.int64], NDArray[Any] | None]:
        """The cell of each event of a batch, -1 outside the domain, and its amount."""
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
            # One number for each cell, in row-major order; what lies outside is put to -1 below, and 0 here keeps it
            # small.
            for axis, place in zip(self.read, places, strict=False):
                cells = cells * axis.size + np.maximum(place, 0)
        values = places[len(self.read) :]
        is_counted = inside & np.logical_or.reduce([place >= 0 for place in values]) if self.size == 0 else inside
        self.tally.read(is_counted, places)
        listed: list[tuple[NDArray[np.int64], NDArray[Any] | None]] = []
        for measure, first in zip(self.measures, self.first_tables, strict=True):
            if measure.distinct is not None:
                value = values.pop(0)
                tables = first + np.maximum(value, 0)
                listed.append((np.where(inside & (value >= 0), cells + tables * self.each_size, -1), None))
                continue
            each = [None] if measure.column is None else self._amounts(measure, batch, before, inside)
            for at, amounts in enumerate(each, first):
                listed.append((np.where(inside, cells + at * self.each_size, -1), amounts))
        if len(listed) == 1:
            return listed[0]
        ones = np.ones(rows, dtype=np.int64)
        amounts_of_all = [ones if amounts is None else amounts for _, amounts in listed]
        return np.concatenate([placed for placed, _ in listed]), np.concatenate(amounts_of_all)

    def _amounts(
        self, measure: CountedMeasure, batch: Batch, before: int, inside: NDArray[np.bool_]
    ) -> list[NDArray[Any] | None]:
        """The amount of each event; for sums and counts together first None, as each counts as one."""
        amounts, missing = measure.amounts(batch, before, self.spelling)
        moved, is_moved = measure.within(amounts), inside
        if missing is not None:
            is_moved = inside & ~missing
            assert measure.amount is not None, "amounts are missing"
            self.tally.without_amount(measure.amount.name, int(np.count_nonzero(inside & missing)))
        if measure.each is not None and measure.amount is not None:
            self.tally.clipped(measure.amount.name, int(np.count_nonzero(is_moved & (moved != amounts))))
        if measure.most_events is None or measure.each is None:
            return [moved if missing is None else np.where(missing, 0, moved)]
        above = moved - measure.each[0]
        return [None, above] if missing is None else [None, np.where(missing, 0, above), missing.astype(np.int64)]

    def chosen(self, pairs: Pairs, texts: Sequence[str]) -> Pairs:
        """The part of these persons that is kept, all of whose pairs these are: here each person's bounds are applied.

        First each sum is moved into ``per_cell``, then ``at_most`` cells are kept, then what is left is cut by
        ``in_all``.
        """
        if len(self.measures) == 1 and self.size == self.each_size:
            moved, count_moved = self.measures[0].moved(pairs)
            kept = self._few_cells(moved, texts)
            removed = len(moved.cells) - len(kept.cells)
        else:
            count_moved, every, parts = 0, pairs.cells // self.each_size, list[Pairs]()
            for measure, first in zip(self.measures, self.first_tables, strict=True):
                if measure.distinct is not None:
                    of_values = pairs.where((every >= first) & (every < first + measure.tables))
                    few, cut = few_values(of_values, first, self.each_size, measure.ends[1], texts, self.key)
                    parts, count_moved = [*parts, few], count_moved + cut
                    continue
                own = [pairs.where(every == of) for of in range(first, first + measure.tables)]
                within, of_cells = measure.moved(own[0])
                count_moved += of_cells
                parts += [within] if measure.most_events is None else measure.parts(*own)
            # Which cells are kept is decided once for all measures: they are counts and sums of the same people.
            joined = joined_pairs(parts)
            by_cells, numbers = by_cell(joined, self.each_size)
            is_kept = np.zeros(len(by_cells.cells), dtype=bool)
            is_kept[self._few_cells(by_cells, texts).sums] = True
            kept, removed = joined.where(is_kept[numbers]), int(np.count_nonzero(~is_kept))
        left, cut = kept, 0
        if any(measure.in_all is not None for measure in self.measures):
            left, cut = self._left_in_all(kept, texts)
        self._tally_bounds(pairs, left, clipped=count_moved + cut, removed=removed)
        return left

    def _few_cells(self, pairs: Pairs, texts: Sequence[str]) -> Pairs:
        """The pairs of one part for each person, and of these no more than ``at_most``."""
        if self.part is not None:
            pairs = in_one_part(pairs, self.numbers, texts, self.key)
        # By the place within the part: the same choice whichever part a person is in, so that parts share no
        # information.
        inner = Pairs(pairs.persons, pairs.cells % self.numbers, pairs.sums)
        if self.whole is not None:
            rows = self.at_most // self.whole.values
            return pairs.where(in_rows(inner, self.whole, rows, texts, self.key))
        return pairs.where(least_hashed(inner, self.at_most, texts, key=self.key, purpose=b"atom"))

    def _left_in_all(self, pairs: Pairs, texts: Sequence[str]) -> tuple[Pairs, int]:
        """The kept pairs of these persons within the bounds in all, and how many sums these bounds changed."""
        parts, cut, tables = list[Pairs](), 0, pairs.cells // self.each_size
        for measure, first in zip(self.measures, self.first_tables, strict=True):
            own = pairs.where((tables >= first) & (tables < first + measure.tables))
            if measure.in_all is None:
                parts.append(own)
                continue
            by_cells, numbers = by_cell(own, self.each_size)
            of_cells = measure.sizes_in_cells(own, numbers, len(by_cells.cells))
            left = least_in_all(Pairs(by_cells.persons, by_cells.cells, of_cells), measure.in_all, texts, key=self.key)
            parts.append(measure.left_of(own, numbers, of_cells, left, own.cells // self.each_size - first))
            cut += int(np.count_nonzero(left != of_cells))
        return joined_pairs(parts), cut

    def _tally_bounds(self, pairs: Pairs, left: Pairs, *, clipped: int, removed: int) -> None:
        """Tell the report what the bounds did, and how much of the measure that it regards there was and is left."""
        at = self.reported
        measure, first = self.measures[at], self.first_tables[at]

        def size(some: Pairs, tables: int) -> int:
            every = some.cells // self.each_size
            sums = some.sums[(every >= first) & (every < first + tables)]
            if measure.distinct is not None:
                return len(sums)
            wide = sums.dtype == object or int(np.abs(sums).max(initial=0)) * len(sums) >= LARGEST_DOMAIN
            return int(np.abs(sums.astype(object) if wide else sums).sum())

        # Of sums and counts together, events came in the first table, and are left in steps of both.
        together = measure.most_events is not None
        counted, kept = size(pairs, 1 if together else measure.tables), size(left, measure.tables)
        cells = pairs if self.size == self.each_size else by_cell(pairs, self.each_size)[0]
        kept = min(kept // measure.events_in_steps, counted)
        self.tally.bound(pairs, clipped, removed, cells=len(cells.cells), counted=counted, kept=kept)

    def summed(self, pairs: Pairs, texts: Sequence[str]) -> Any:
        """The kept part of these persons, added up by cell; and the report's numbers, in cells below 0."""
        return self.tally.given_to(cell_totals(self.chosen(pairs, texts)))

    def cells_of(self, measure: CountedMeasure, first: int, sums: CountedCells) -> CountedCells:
        """The counted cells of a measure, from all that was added up.

        Raises:
            Unsupported: for distinct values in more cells than can be laid out.
        """
        if measure.distinct is not None and self.each_size > MOST_LAID:
            remedy = "Count over fewer axes: distinct values do not add up, so that every cell would be released."
            raise Unsupported(f"distinct values are counted in {MOST_LAID} cells at most", came="more", remedy=remedy)
        low, high = first * self.each_size, (first + measure.tables) * self.each_size
        if isinstance(sums, AddedCells) and measure.distinct is None:
            return sums.between(low, high)
        if measure.distinct is not None:
            assert self.seen is not None, "distinct values are counted"
            return self.seen.counts(first, measure.tables, self.each_size)
        assert isinstance(sums, np.ndarray), "cells that cannot be laid out were taken before"
        return sums[low:high]


def number_bits(tables: int) -> int:
    """The bits of the numbers of cells of so many tables, in each of which there are more cells than numbers."""
    return (LARGEST_DOMAIN // tables).bit_length() - 1
