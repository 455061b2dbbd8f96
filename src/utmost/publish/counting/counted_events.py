"""Counting people: from events of persons to the table of a declared domain, and the unit of privacy that is proved.

Of each person at most so many cells are kept, each changed by at most so much. What is kept is a function of the key
and of that person's own rows, so that without the person all others stand as they stood: the proof is in
proofs/theory/counting.md.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from secrets import token_bytes, token_hex
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance
from utmost.core.exact.progress_bar import Progress, progress_bar
from utmost.core.sampling.integers import narrowed
from utmost.errors import FewEventsKept, NothingCounted, OutOfRange, RowsLeftOut, Unsupported, warn
from utmost.publish.counting.added_cells import AddedCells
from utmost.publish.counting.bounding import Pairs, added_by_cell, least_hashed
from utmost.publish.counting.cell_totals import CELL, cell_totals, gathered_totals, read_totals, totals_schema
from utmost.publish.counting.contribution_selection import by_cell, in_one_part, in_rows, joined_pairs, least_in_all
from utmost.publish.counting.counted import CountedTable
from utmost.publish.counting.counted_measures import (
    LARGEST_DOMAIN,
    LEAVE_OUT,
    CountedMeasure,
    MeasureSpec,
    count,
    read_measures,
)
from utmost.publish.counting.counting import Counting
from utmost.publish.counting.counting_plan import CountingPlan
from utmost.publish.counting.counting_report import CountingReport
from utmost.publish.counting.declared_axes import declared_domain, whole_rows
from utmost.publish.counting.distinct_values import ValuesSeen, few_values
from utmost.publish.counting.numbered_cells import NumberedCells
from utmost.publish.counting.persons_in_buckets import PersonsInBuckets, persons_of
from utmost.publish.counting.report_tally import ReportTally
from utmost.publish.counting.row_per_person import RowsAlone, rows_of
from utmost.publish.workloads.row_unit import WholeRows
from utmost.tables.axes.axes import Axis, Label
from utmost.tables.axes.domain import Domain
from utmost.tables.axes.few_cells import MOST_LAID, FewCells
from utmost.tables.cells.axis_places import reader_of
from utmost.tables.cells.event_batches import Batch, any_column, declared_spelling, read_events
from utmost.tables.cells.event_codes import check_type
from utmost.tables.cells.spelling import PLAIN, Spelling
from utmost.tables.engines.engines import engine_frame, is_engine_frame
from utmost.tables.frames.adapters import check_columns_exist

KEY_BYTES = 32


EVENTS = count()

Parts = str | Mapping[str, Sequence[Label]]
"""The axis whose labels are parts that share nobody, or a column with its labels."""


@overload
def count_table(
    events: Any,
    domain: Domain | Mapping[str, Any],
    counting: Counting,
    *,
    measure: MeasureSpec = ...,
    by: str | Sequence[str] | None = ...,
    part: None = ...,
    spelling: Spelling = ...,
    outside: str | None = ...,
    progress: Progress | None = ...,
) -> CountedTable: ...


@overload
def count_table(
    events: Any,
    domain: Domain | Mapping[str, Any],
    counting: Counting,
    *,
    measure: MeasureSpec = ...,
    by: str | Sequence[str] | None = ...,
    part: Parts,
    spelling: Spelling = ...,
    outside: str | None = ...,
    progress: Progress | None = ...,
) -> dict[Label, CountedTable]: ...


@progress_bar("Counting events")
def count_table(
    events: Any,
    domain: Domain | Mapping[str, Any],
    counting: Counting,
    *,
    measure: MeasureSpec = EVENTS,
    by: str | Sequence[str] | None = None,
    part: Parts | None = None,
    spelling: Spelling = PLAIN,
    outside: str | None = None,
    progress: Progress | None = None,
) -> CountedTable | dict[Label, CountedTable]:
    """Count the events of persons over a declared domain, so that one person changes no more than is said.

    Of each person and cell the events are counted, or their values summed, and the sum is moved into ``per_cell`` of
    the measure; of a person's cells whose sum is not 0 the ``at_most`` with the least hash of key, person and cell are
    kept, exactly so many where there are as many. Then the sums are added up over all persons; cells with nobody in
    them hold 0.

    Args:
        events: One row an event: a dict of columns, a list of dicts, a NumPy array with named fields, a frame of any
            library that narwhals reads (pandas, Polars, Arrow; those of an engine, lazy ones of Polars, DuckDB and
            Spark, are counted where they are, and only the sums of cells come here), or the pathlib.Path of a CSV or
            Parquet file, or of a directory of Parquet files, which is read batch by batch; folders such as
            ``year=2020`` are columns, too.
        domain: The declared domain, or a mapping that `Domain.of_facts` reads. Events outside it are left out, or put
            to an axis's ``other``, and are never published.
        counting: Owner of each event, and how many cells one person may change.
        measure: Counted quantity: `count` with a bound by cell, `sum` of amounts, or `distinct` values; events, each
            person once a cell, if left out. See `count_measures` for several in one pass.
        by: Axes of the domain that the table has, by the names of their columns, in this order; all if left out.
        part: An axis of the domain, or {column: list of labels}, that splits the table into parts each person is in
            only one of: a person with events in several is kept in the one with the least hash.
        spelling: Marks of decimals, thousands, dates and missing values in text, in files and frames alike.
        outside: "leave out" where events outside the domain, or without a value there, are meant to go: then nothing
            warns of them. An axis's ``other`` takes them in instead.
        progress: Function that is called as ``progress(done, rows)`` after every batch.

    Returns:
        The table with the unit that this counting proves: sensitivity max(|lowest|, |highest|) of ``per_cell``, of
        amounts in steps, ``at_most`` cells, or as many as there are cells, and ``in_all``; under "change-one" also that
        nothing is negative, where no sum is below 0. With ``part`` a dict of such tables by the label of the part, each
        over the other axes, with ``CountedTable.part`` saying that they share nobody. Their ``report`` says, to the
        curator alone, what became of the events; that of parts is of them all.

    Raises:
        NotDeclared: without a domain, or for a column that is no axis of it.
        BadTable: for an event without a person, persons or values of listed axes that are neither text nor integers,
            values of bins that are no numbers, amounts that are missing or no finite numbers, or without a step no
            integers, and columns that are not there.
        OutOfRange: for bounds that leave nothing. WrongKind: for an argument of another type.
        Unsupported: where a frame needs a package that is missing.

    Warns:
        RowsLeftOut: where some events lie outside the domain or have no value there, and ``outside`` does not say that
            they are meant to go; it names the axes, and no number.
        NothingCounted: where every event lies outside the domain.
        FewEventsKept: where ``at_most``, ``per_cell`` or ``in_all`` keep fewer than half of the events in the domain,
            of amounts less than half of the sizes of persons' sums; where a person counts once, of the cells they have.

    Cost: below 1 s for a million events, 4 to 7 s for ten million in a file. Memory goes with the distinct pairs of
        person and cell; of files and engines' frames with the domain, and those pairs of a 256th of the persons, while
        more than a million events wait on the disk, in a file without a name.

    >>> events = {"user": ["ann", "ann", "bob", "ann"], "page": ["A", "B", "A", "A"]}
    >>> counted = count_table(events, Domain(page=["A", "B", "C"]), Counting("user", at_most=2))
    >>> counted.table("page")["count"].tolist(), counted.unit
    ([2, 1, 0], Unit(1, cells=2))
    """
    measures = {None: instance(measure, MeasureSpec, "measure")}
    tables = _counted(events, domain, counting, measures, by, part, spelling, outside, progress)
    if part is None:
        return tables[None][None]
    return {label: table[None] for label, table in tables.items() if label is not None}


@overload
def count_measures(
    events: Any,
    domain: Domain | Mapping[str, Any],
    counting: Counting,
    measures: Mapping[str, MeasureSpec],
    *,
    by: str | Sequence[str] | None = ...,
    part: None = ...,
    spelling: Spelling = ...,
    outside: str | None = ...,
    progress: Progress | None = ...,
) -> dict[str, CountedTable]: ...


@overload
def count_measures(
    events: Any,
    domain: Domain | Mapping[str, Any],
    counting: Counting,
    measures: Mapping[str, MeasureSpec],
    *,
    by: str | Sequence[str] | None = ...,
    part: Parts,
    spelling: Spelling = ...,
    outside: str | None = ...,
    progress: Progress | None = ...,
) -> dict[Label, dict[str, CountedTable]]: ...


@progress_bar("Counting events")
def count_measures(
    events: Any,
    domain: Domain | Mapping[str, Any],
    counting: Counting,
    measures: Mapping[str, MeasureSpec],
    *,
    by: str | Sequence[str] | None = None,
    part: Parts | None = None,
    spelling: Spelling = PLAIN,
    outside: str | None = None,
    progress: Progress | None = None,
) -> dict[str, CountedTable] | dict[Label, dict[str, CountedTable]]:
    """Count several things of the same persons in one pass, each over the same cells of each person.

    Args:
        events, domain, counting, by, part, spelling, outside, progress: Arguments of `count_table`.
        measures: Counted quantities, by name: `count`, `sum` and `distinct`, each with bounds of its own.

    Returns:
        A table for each measure, with its own unit; for each part such tables. Releases of several measures add up.

    Raises:
        As `count_table`.

    >>> events = {"user": ["ann", "ann", "bob"], "shop": ["A", "A", "B"], "paid": [3, 5, 2]}
    >>> from utmost import sum
    >>> measures = {"visits": count(2), "spent": sum("paid", per_cell=6)}
    >>> tables = count_measures(events, Domain(shop=["A", "B"]), Counting("user", at_most=1), measures)
    >>> {name: table.cells.tolist() for name, table in tables.items()}
    {'visits': [2, 1], 'spent': [6, 2]}
    """
    named = read_measures(measures)
    tables = _counted(events, domain, counting, named, by, part, spelling, outside, progress)
    if part is None:
        return tables[None]
    return {label: of for label, of in tables.items() if label is not None}


MeasureName = TypeVar("MeasureName", None, str)


def _counted(
    events: Any,
    domain: Domain | Mapping[str, Any],
    counting: Counting,
    measures: Mapping[MeasureName, MeasureSpec],
    by: str | Sequence[str] | None,
    part: Parts | None,
    spelling: Spelling,
    outside: str | None,
    progress: Progress | None,
) -> dict[Label | None, dict[MeasureName, CountedTable]]:
    """The tables of each part, None for the whole, by the names of the measures."""
    counting, outside = instance(counting, Counting, "counting"), read_outside(outside)
    marks = instance(spelling, Spelling, "spelling").beside(declared_spelling(events))
    read = {name: CountedMeasure.of(spec, each_row=counting.each_row, name=name) for name, spec in measures.items()}
    most = counting.most_cells(measures.values())
    plan = CountingPlan.of(declared_domain(domain, by), by, part, counting.person, tuple(read.values()), marks)
    named_axes = {axis.levels[0]: axis for axis in plan.axes}
    is_vast = plan.bits is not None
    rows = None if counting.together is None else whole_rows(named_axes, counting.together, most, is_vast=is_vast)
    if rows is not None and any(measure.most_events is not None for measure in plan.measures):
        required = "sums and counts together are kept cell by cell"
        raise OutOfRange(required, came="together=", remedy="Leave one of them out.")
    rule = CountingRule(plan, most, rows, hash_key(counting.hash_key))
    flat, kind, report = counted_cells(events, rule, progress, outside)
    # The tables of one call share an identity that no other call has: parts of two calls may share persons.
    identity, tables = token_hex(16), dict[Label | None, dict[MeasureName, CountedTable]]()
    for (name, measure), first in zip(read.items(), plan.first_tables, strict=True):
        axes, sums = plan.axes_of(measure), rule.cells_of(measure, first, flat)
        cells: Sequence[NDArray[Any] | FewCells]
        if isinstance(sums, AddedCells):
            cells = sums.by_part(plan.shape, plan.parts, measure.tables, rule.numbered)
        else:
            cells = list(_by_part(sums if name is not None else narrowed(sums), measure, plan))
        raised = rows is not None and rows.values > 2
        unit = measure.unit(min(most, plan.cells), counting.neighbours, in_parts=plan.part is not None, raised=raised)
        whole = CountedTable(
            Domain(axes),
            cells[0],
            unit,
            kind,
            together=counting.together,
            report=report,
            measure=name,
            individual=counting.individual,
            proved=True,
        )
        of_parts = {None: whole} if plan.part is None else _split(plan.part, cells, whole, axes, identity)
        for label, table in of_parts.items():
            tables.setdefault(label, {})[name] = table
    return tables


CountedCells = NDArray[Any] | AddedCells
"""The sum of each cell; or, where they are more than can be laid out, of those that hold one."""


def hash_key(key: bytes | None) -> bytes:
    """The key of the hashes; new random bytes where none came."""
    # Without a key of the caller's nobody can make the choice again, nor tell from the table whom it kept.
    return token_bytes(KEY_BYTES) if key is None else key


def read_outside(outside: str | None) -> str | None:
    """How events outside the domain are dealt with: "leave out", or None where nothing was said of it."""
    if outside not in (None, LEAVE_OUT):
        remedy = f'Pass outside="{LEAVE_OUT}", or leave it out; an axis of the domain takes them in with other=.'
        raise OutOfRange(f"outside must be {LEAVE_OUT!r}", came=repr(outside), where="outside", remedy=remedy)
    return outside


def counted_cells(
    events: Any, rule: "CountingRule", progress: Progress | None, outside: str | None
) -> tuple[CountedCells, str, CountingReport]:
    """The sum of each cell, of what kind tables made of it are, and the report.

    Warns:
        NothingCounted, RowsLeftOut, FewEventsKept: as `count_table`.
    """
    try:
        if is_engine_frame(events):
            flat, kind = _counted_by_engine(events, rule)
        else:
            flat, kind = _counted_here(events, rule, progress)
    except MemoryError:
        remedy = "Count over fewer axes, or events in a file, which is read batch by batch."
        raise Unsupported("the counts must fit the memory", came="more", remedy=remedy) from None
    report = rule.tally.report()
    if report.outside_domain == report.events > 0:
        axes = ", ".join(repr(name) for name in report.outside if report.outside[name] or report.missing[name])
        text = (
            f"Every event lies outside the declared domain, on {axes}: the table is zeros. Compare the declared values "
        )
        text += "with the spelling and the type of the column's."
        numbered = [
            axis.levels[0]
            for axis in rule.plan.read
            if report.outside.get(axis.levels[0]) and any(isinstance(label, int) for label in axis.labels[0])
        ]
        if numbered:
            text += f' Integers are declared for {", ".join(map(repr, numbered))}: if the data write 01, declare "01".'
        warn(text, NothingCounted)
    else:
        _warn_of_losses(report, rule, outside)
    return flat, kind, report


def _warn_of_losses(report: CountingReport, rule: "CountingRule", outside: str | None) -> None:
    """Warn of events that are not counted, by the names of axes and bounds: no number of the data is told."""
    undeclared, missing = report.lost
    if outside is None and (undeclared or missing):
        told = [f"lie outside the declared domain on {', '.join(map(repr, undeclared))}"] if undeclared else []
        told += [f"have no value on {', '.join(map(repr, missing))}"] if missing else []
        remedy = "Declare the values, give the axis other=, " if undeclared else ""
        remedy += 'Count missing ones under a label, missing="not stated" of the axis, ' if missing else ""
        remedy += 'or say that they are meant to go: ut.count_table(..., outside="leave out").'
        warn(f"Some events {' or '.join(told)}, and are not counted. {remedy}", RowsLeftOut)
    counted, kept = rule.cut_of(report)
    if 2 * kept < counted:
        remedy = "print(counted.report) says how much; count_contributions (utmost bounds) weighs larger bounds."
        warn(f"The bounds on one person keep less than half of the {report.kept_of}. {remedy}", FewEventsKept)


def _counted_here(events: Any, rule: "CountingRule", progress: Progress | None) -> tuple[CountedCells, str]:
    """The sum of each cell, and of what kind tables made of it are."""
    read = read_events(events, rule.plan.columns, rule.plan.summed)
    if read.folders is not None:
        read.folders.check_labels((*rule.plan.read, *rule.plan.valued))
    if rule.plan.person is None:
        parts = (rule.chosen(pairs, ()) for pairs in rows_of(rule, read, progress))
    else:
        parts = (rule.chosen(pairs, texts) for pairs, texts in persons_of(rule, read, progress))
    sums = (rule.seen.taken(pairs) for pairs in parts)
    if rule.size > MOST_LAID:
        return AddedCells.of(map(added_by_cell, sums)), read.kind
    return _added(sums, rule.size, rule.bound), read.kind


def _added(parts: Iterator[Pairs], size: int, bound: int) -> NDArray[Any]:
    """The sum of each cell over all parts: int64, or Python integers where that could overflow."""
    summed, count = np.zeros(size, dtype=np.int64 if bound < LARGEST_DOMAIN else object), 0
    for pairs in parts:
        cells, sums = added_by_cell(pairs)
        count += len(pairs.cells)
        # What has been counted bounds every sum so far: int64 as long as that fits.
        if bound * count >= LARGEST_DOMAIN:  # beyond, int64 might wrap
            summed, sums = summed.astype(object), sums.astype(object)
        summed[cells] += sums
    return summed


def _counted_by_engine(events: Any, rule: "CountingRule") -> tuple[CountedCells, str]:
    """The counts of a frame whose rows stay with the engine: persons come in order, and only sums of cells here."""
    frame, plan = engine_frame(events), rule.plan
    if plan.bits is not None:
        remedy = "Write it to Parquet files and pass their pathlib.Path; or count over fewer axes."
        required = "an engine counts over fewer than 2^62 cells"
        raise Unsupported(required, came=frame.kind, where="domain", remedy=remedy)
    schema = frame.schema()
    check_columns_exist(plan.columns, schema.names)
    if plan.person is not None:
        check_type(schema.field(plan.person), plan.person)
    for axis in (*plan.read, *plan.valued):
        for name in axis.columns:
            check_type(schema.field(name), name, axis)
    read = frame.select(plan.columns or any_column(schema.names))
    if plan.person is None:
        batches = read.added_up(RowsAlone(rule), totals_schema(CELL))
    else:
        batches = read.added_up_by(plan.person, PersonsInBuckets(rule), totals_schema(CELL))
    sums = rule.seen.taken_from(rule.tally.taken_from(batches))
    if rule.size > MOST_LAID:
        return AddedCells.of(read_totals(sums)), frame.kind
    return gathered_totals(sums, rule.size), frame.kind


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CountingRule:
    """How events are read, and what is kept of a person: pure functions of the key and the person's own events."""

    plan: CountingPlan
    at_most: int
    whole: WholeRows | None
    key: bytes
    tally: ReportTally = field(init=False)
    seen: ValuesSeen = field(init=False)
    numbered: NumberedCells | None = field(init=False)
    _readers: list[Callable[[Batch], NDArray[np.int64]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        object.__setattr__(
            self,
            "tally",
            ReportTally(
                (
                    *(axis.levels[0] for axis in self.plan.read),
                    *(
                        f"{measure.distinct.levels[0]} as {measure.amount.name}"
                        for measure in self.plan.measures
                        if measure.distinct is not None and measure.amount is not None
                    ),
                ),
                has_each=any(measure.each is not None for measure in self.plan.measures),
                amounts=tuple(
                    dict.fromkeys(str(measure.column) for measure in self.plan.measures if measure.leaves_missing)
                ),
                kept_of=self.kept_of,
            ),
        )
        object.__setattr__(self, "seen", ValuesSeen(self.size))
        bits = self.plan.bits
        numbered = None if bits is None else NumberedCells(self.plan.shape, bits, self.key)
        object.__setattr__(self, "numbered", numbered)

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers of an engine get the rule without what it has tallied here; they send their tallies back in cells
        # below 0.
        return CountingRule, (self.plan, self.at_most, self.whole, self.key)

    @property
    def size(self) -> int:
        """Number of cells of sums, of all measures and in all parts."""
        return self.plan.size

    @property
    def bound(self) -> int:
        """The largest size of what one person changes in a cell."""
        return max(measure.bound for measure in self.plan.measures)

    @property
    def kept_of(self) -> str | None:
        """The quantity of which the report says how much is kept, see `CountingReport`."""
        measure = self.plan.measures[self.plan.reported]
        if measure.counts_events or measure.amount is None:
            return "events"
        return f"{'amount' if measure.distinct is None else 'distinct values'} of {measure.amount.name}"

    def cut_of(self, report: CountingReport) -> tuple[int, int]:
        """How much there was inside the domain, and how much is kept: cells of persons where each counts once."""
        measure = self.plan.measures[self.plan.reported]
        if measure.ends == (0, 1) and measure.amount is None and measure.in_all is None:
            return report.pairs, report.pairs - report.removed
        return report.counted, report.kept

    def _tally_kept(self, pairs: Pairs, left: Pairs) -> None:
        """Tell the report how much of the measure that it regards there was, and is left."""
        at = self.plan.reported
        measure, first = self.plan.measures[at], self.plan.first_tables[at]

        def size(some: Pairs, tables: int) -> int:
            every = some.cells // self.plan.each_size
            sums = some.sums[(every >= first) & (every < first + tables)]
            if measure.distinct is not None:
                return len(sums)
            wide = sums.dtype == object or int(np.abs(sums).max(initial=0)) * len(sums) >= LARGEST_DOMAIN
            return int(np.abs(sums.astype(object) if wide else sums).sum())

        # Of sums and counts together, events came in the first table, and are left in steps of both.
        together = measure.most_events is not None
        counted, kept = size(pairs, 1 if together else measure.tables), size(left, measure.tables)
        cells = pairs if self.size == self.plan.each_size else by_cell(pairs, self.plan.each_size)[0]
        self.tally.kept(len(cells.cells), counted, min(kept // measure.events_in_steps, counted))

    @property
    def person(self) -> str:
        """The column that says whose event it is; nothing where each row is a person."""
        return self.plan.person or ""

    @property
    def spelling(self) -> Spelling:
        """The marks that are declared for the cells of all columns."""
        return self.plan.spelling

    def placed(self, batch: Batch, before: int) -> tuple[NDArray[np.int64], NDArray[Any] | None]:
        """The cell of each event of a batch, -1 outside the domain, and its amount."""
        if not self._readers:
            self._readers.extend(reader_of(axis, self.spelling) for axis in (*self.plan.read, *self.plan.valued))
        rows = len(next(iter(batch.values())))
        cells, inside = np.zeros(rows, dtype=np.int64), np.ones(rows, dtype=bool)
        places = [read(batch) for read in self._readers]
        for place in places[: len(self.plan.read)]:
            inside &= place >= 0
        if self.numbered is not None:
            some, first = np.flatnonzero(inside), len(self.plan.read) - len(self.plan.axes)
            cells[some] = self.numbered.numbers([place[some] for place in places[first : len(self.plan.read)]])
            if first:
                cells += np.maximum(places[0], 0) * self.plan.numbers
        else:
            # One number for each cell, in row-major order; what lies outside is put to -1 below, and 0 here keeps it
            # small.
            for axis, place in zip(self.plan.read, places, strict=False):
                cells = cells * axis.size + np.maximum(place, 0)
        values = places[len(self.plan.read) :]
        is_counted = inside & np.logical_or.reduce([place >= 0 for place in values]) if self.size == 0 else inside
        self.tally.read(is_counted, places)
        listed: list[tuple[NDArray[np.int64], NDArray[Any] | None]] = []
        for measure, first in zip(self.plan.measures, self.plan.first_tables, strict=True):
            if measure.distinct is not None:
                value = values.pop(0)
                tables = first + np.maximum(value, 0)
                listed.append((np.where(inside & (value >= 0), cells + tables * self.plan.each_size, -1), None))
                continue
            for at, amounts in enumerate(self._amounts(measure, batch, before, inside), first):
                listed.append((np.where(inside, cells + at * self.plan.each_size, -1), amounts))
        if len(listed) == 1:
            return listed[0]
        ones = np.ones(rows, dtype=np.int64)
        amounts_of_all = [ones if amounts is None else amounts for _, amounts in listed]
        return np.concatenate([placed for placed, _ in listed]), np.concatenate(amounts_of_all)

    def _amounts(
        self, measure: CountedMeasure, batch: Batch, before: int, inside: NDArray[np.bool_]
    ) -> list[NDArray[Any] | None]:
        """The amount of each event, None where each counts as one; for sums and counts together first the count."""
        amounts, missing = measure.amounts(batch, before, self.spelling)
        if amounts is None:
            return [None]
        moved, is_moved = measure.within(amounts), inside
        if missing is not None:
            is_moved = inside & ~missing
            self.tally.without_amount(str(measure.column), int(np.count_nonzero(inside & missing)))
        self.tally.moved(int(np.count_nonzero(is_moved & (moved != amounts))))
        if measure.most_events is None or measure.each is None:
            return [moved if missing is None else np.where(missing, 0, moved)]
        above = moved - measure.each[0]
        return [None, above] if missing is None else [None, np.where(missing, 0, above), missing.astype(np.int64)]

    def chosen(self, pairs: Pairs, texts: Sequence[str]) -> Pairs:
        """The part of these persons that is kept, all of whose pairs these are."""
        if len(self.plan.measures) == 1 and self.size == self.plan.each_size:
            clipped, moved = self.plan.measures[0].moved(pairs)
            chosen = self._within(clipped, texts)
            left, cut = self._left_in_all(chosen, texts)
            self.tally.bound(pairs, moved + cut, len(clipped.cells) - len(chosen.cells))
            self._tally_kept(pairs, left)
            return left
        moved, every, parts = 0, pairs.cells // self.plan.each_size, list[Pairs]()
        for measure, first in zip(self.plan.measures, self.plan.first_tables, strict=True):
            if measure.distinct is not None:
                of_values = pairs.where((every >= first) & (every < first + measure.tables))
                few, cut = few_values(of_values, first, self.plan.each_size, measure.ends[1], texts, self.key)
                parts, moved = [*parts, few], moved + cut
                continue
            own = [pairs.where(every == of) for of in range(first, first + measure.tables)]
            within, of_cells = measure.moved(own[0])
            moved += of_cells
            parts += [within] if measure.most_events is None else measure.parts(*own)
        # Which cells are kept is decided once for all measures: they are counts and sums of the same people.
        joined = joined_pairs(parts)
        by_cells, numbers = by_cell(joined, self.plan.each_size)
        is_kept = np.zeros(len(by_cells.cells), dtype=bool)
        is_kept[self._within(by_cells, texts).sums] = True
        left, cut = self._left_in_all(joined.where(is_kept[numbers]), texts)
        self.tally.bound(pairs, moved + cut, int(np.count_nonzero(~is_kept)))
        self._tally_kept(pairs, left)
        return left

    def _left_in_all(self, pairs: Pairs, texts: Sequence[str]) -> tuple[Pairs, int]:
        """The kept pairs of these persons within the bounds in all, and how many sums these bounds changed."""
        if all(measure.in_all is None for measure in self.plan.measures):
            return pairs, 0
        parts, cut, tables = list[Pairs](), 0, pairs.cells // self.plan.each_size
        for measure, first in zip(self.plan.measures, self.plan.first_tables, strict=True):
            own = pairs.where((tables >= first) & (tables < first + measure.tables))
            if measure.in_all is None:
                parts.append(own)
                continue
            by_cells, numbers = by_cell(own, self.plan.each_size)
            of_cells = measure.sizes_in_cells(own, numbers, len(by_cells.cells))
            left = least_in_all(Pairs(by_cells.persons, by_cells.cells, of_cells), measure.in_all, texts, key=self.key)
            parts.append(measure.left_of(own, numbers, of_cells, left, own.cells // self.plan.each_size - first))
            cut += int(np.count_nonzero(left != of_cells))
        return joined_pairs(parts), cut

    def cells_of(self, measure: CountedMeasure, first: int, sums: CountedCells) -> CountedCells:
        """The counted cells of a measure, from all that was added up.

        Raises:
            Unsupported: for distinct values in more cells than can be laid out.
        """
        if measure.distinct is not None and self.plan.each_size > MOST_LAID:
            remedy = "Count over fewer axes: distinct values do not add up, so that every cell would be released."
            raise Unsupported(f"distinct values are counted in {MOST_LAID} cells at most", came="more", remedy=remedy)
        low, high = first * self.plan.each_size, (first + measure.tables) * self.plan.each_size
        if isinstance(sums, AddedCells) and measure.distinct is None:
            return sums.between(low, high)
        if measure.distinct is not None:
            return self.seen.counts(first, measure.tables, self.plan.each_size)
        assert isinstance(sums, np.ndarray), "cells that cannot be laid out were taken before"
        return sums[low:high]

    def _within(self, pairs: Pairs, texts: Sequence[str]) -> Pairs:
        """The pairs of one part for each person, and of these no more than ``at_most``."""
        if self.plan.part is not None:
            pairs = in_one_part(pairs, self.plan.numbers, texts, self.key)
        # By the place within the part: the same choice whichever part a person is in, so that parts share no
        # information.
        inner = Pairs(pairs.persons, pairs.cells % self.plan.numbers, pairs.sums)
        if self.whole is not None:
            rows = self.at_most // self.whole.values
            return pairs.where(in_rows(inner, self.whole, rows, texts, self.key))
        return pairs.where(least_hashed(inner, self.at_most, texts, key=self.key, purpose=b"atom"))

    def summed(self, pairs: Pairs, texts: Sequence[str]) -> Any:
        """The kept part of these persons, added up by cell; and the report's numbers, in cells below 0."""
        return self.tally.given_to(cell_totals(self.chosen(pairs, texts)))


def _by_part(flat: NDArray[Any], measure: CountedMeasure, plan: CountingPlan) -> NDArray[Any]:
    """The counted cells of a measure, by part; the two parts of sums and counts together side by side."""
    shaped = flat.reshape(-1, plan.parts, *plan.shape)
    return shaped[0] if measure.most_events is None else np.moveaxis(shaped, 0, -1)


def _split(
    part: Axis,
    cells_of_parts: Sequence[NDArray[Any] | FewCells],
    whole: CountedTable,
    named: dict[str, Any],
    identity: str,
) -> dict[Label, CountedTable]:
    """A table for each part; those of one call share an identity that no other call has."""
    name, tables = part.levels[0], {}
    for label, cells in zip(part.labels[0], cells_of_parts, strict=True):
        domain = Domain(named or {name: [label]})
        shaped = cells if isinstance(cells, FewCells) else cells.reshape(domain.shape)
        tables[label] = replace(whole, domain=domain, cells=shaped, part=(identity, str(label)))
    return tables
