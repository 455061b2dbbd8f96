"""Counting people: from events of persons to the table of a declared domain, and the unit of privacy that is proved.

Of each person at most so many cells are kept, each changed by at most so much. What is kept is a function of the key
and of that person's own rows, so that without the person all others stand as they stood: the proof is in
proofs/theory/counting.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from secrets import token_hex
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance
from utmost.core.exact.progress_bar import Progress, progress_bar
from utmost.core.sampling.integers import narrowed
from utmost.errors import FewEventsKept, LeadingZerosRead, NothingCounted, OutOfRange, RowsLeftOut, Unsupported, warn
from utmost.publish.counting.added_cells import AddedCells
from utmost.publish.counting.bounding import added_by_cell
from utmost.publish.counting.cell_totals import CELL, CellTotals, gathered_totals, read_totals, totals_schema
from utmost.publish.counting.counted import CountedTable
from utmost.publish.counting.counted_measures import (
    LEAVE_OUT,
    CountedMeasure,
    MeasureSpec,
    count,
    read_measures,
)
from utmost.publish.counting.counting import Counting
from utmost.publish.counting.counting_report import CountingReport
from utmost.publish.counting.counting_rule import CountedCells, CountingRule
from utmost.publish.counting.declared_axes import chosen_axes, declared_domain, part_axis, whole_rows
from utmost.publish.counting.person_pairs import PersonsInBuckets, RowsAlone, persons_of
from utmost.tables.axes.axes import Axis, Label
from utmost.tables.axes.domain import Domain
from utmost.tables.axes.few_cells import MOST_LAID, FewCells
from utmost.tables.cells.event_batches import any_column, read_events, spelling_of_table
from utmost.tables.cells.event_codes import check_type
from utmost.tables.cells.spelling import PLAIN, Spelling
from utmost.tables.engines.engines import engine_frame, is_engine_frame
from utmost.tables.frames.adapters import check_columns_exist

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
    """Count the events of persons over a declared domain, so that one person changes no more than declared.

    First the events of each person in each cell are counted, or their values summed, and the number is clipped to
    ``per_cell`` of the measure. Then at most ``at_most`` cells of each person are kept, those with the least hash of
    key, person and cell. Last the numbers of all persons are added up; a cell with nobody in it holds 0.

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
        by: Names of the axes of the domain by which to count, in the order of the table; all if left out.
        part: An axis of the domain, or {column: list of labels}, that splits the table into parts. Each person is in
            one part; a person with events in several parts is kept in the one with the least hash.
        spelling: Marks of decimals, thousands, dates and missing values in text, in files and frames alike.
        outside: "leave out" to leave out events outside the domain, or without a value, without a warning. The
            ``other`` of an axis counts such events instead.
        progress: Function that is called as ``progress(done, rows)`` after every batch.

    Returns:
        The table with the unit that this counting proves: sensitivity max(|lowest|, |highest|) of ``per_cell``, of
        amounts in steps, ``at_most`` cells, or as many as there are cells, and ``in_all``; under "change-one" also that
        nothing is negative, where no sum is below 0. With ``part`` a dict of such tables by the label of the part, each
        over the other axes, with ``CountedTable.part`` saying that they share nobody. Their ``report`` says what became
        of the events; it has true numbers, for the curator alone.

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
        LeadingZerosRead: where values begin with a zero that is not read, as codes do.
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
    spelling = spelling_of_table(events, spelling)
    read = {name: CountedMeasure.of(spec, each_row=counting.each_row, name=name) for name, spec in measures.items()}
    most = counting.most_cells(measures.values())
    declared = declared_domain(domain, by)
    of_parts = None if part is None else part_axis(declared, part)
    axes = tuple(axis for axis in chosen_axes(declared, by) if of_parts is None or axis.levels[0] != of_parts.levels[0])
    rows = None if counting.together is None else whole_rows(axes, counting.together, most)
    key = counting.key_of_hashes()
    rule = CountingRule(counting.person, tuple(read.values()), axes, of_parts, spelling, most, rows, key)
    flat, kind, report = counted_cells(events, rule, progress, outside)
    # The tables of one call share an identity that no other call has: parts of two calls may share persons.
    identity, tables = token_hex(16), dict[Label | None, dict[MeasureName, CountedTable]]()
    for (name, measure), first in zip(read.items(), rule.first_tables, strict=True):
        named_axes, sums = rule.axes_of(measure), rule.cells_of(measure, first, flat)
        cells: Sequence[NDArray[Any] | FewCells]
        if isinstance(sums, AddedCells):
            cells = sums.by_part(rule.shape, rule.parts, measure.tables, rule.numbered)
        else:
            # By part; the parts of sums and counts together side by side.
            shaped = (sums if name is not None else narrowed(sums)).reshape(-1, rule.parts, *rule.shape)
            cells = list(shaped[0] if measure.most_events is None else np.moveaxis(shaped, 0, -1))
        raised = rows is not None and rows.values > 2
        unit = measure.unit(min(most, rule.cells), counting.neighbours, in_parts=of_parts is not None, raised=raised)
        whole = CountedTable(
            Domain(named_axes),
            cells[0],
            unit,
            kind,
            together=counting.together,
            report=report.of_measure(None if measure.amount is None else measure.amount.name),
            measure=name,
            individual=counting.individual,
            proved=True,
        )
        for label, table in ({None: whole} if of_parts is None else _split(of_parts, cells, whole, identity)).items():
            tables.setdefault(label, {})[name] = table
    return tables


def read_outside(outside: str | None) -> str | None:
    """How events outside the domain are dealt with: "leave out", or None where nothing was said of it."""
    if outside not in (None, LEAVE_OUT):
        remedy = f'Pass outside="{LEAVE_OUT}", or leave it out; an axis of the domain takes them in with other=.'
        raise OutOfRange(f"outside must be {LEAVE_OUT!r}", came=repr(outside), where="outside", remedy=remedy)
    return outside


def counted_cells(
    events: Any, rule: CountingRule, progress: Progress | None, outside: str | None
) -> tuple[CountedCells, str, CountingReport]:
    """The sum of each cell, of what kind tables made of it are, and the report.

    Warns:
        NothingCounted, RowsLeftOut, LeadingZerosRead, FewEventsKept: as `count_table`.
    """
    try:
        if is_engine_frame(events):
            totals, kind = _added_by_engine(events, rule)
        else:
            totals, kind = _added_here(events, rule, progress)
        flat = AddedCells.of(totals) if rule.size > MOST_LAID else gathered_totals(totals, rule.size)
    except MemoryError:
        remedy = "Count over fewer axes, or events in a file, which is read batch by batch."
        raise Unsupported("the counts must fit the memory", came="more", remedy=remedy) from None
    report = rule.tally.report()
    _warn_of_losses(report, rule, outside)
    return flat, kind, report


def _warn_of_losses(report: CountingReport, rule: CountingRule, outside: str | None) -> None:
    """Warn of events that are not counted, by the names of axes and bounds: no number of the data is told."""
    undeclared, missing = report.lost
    if report.outside_domain == report.events > 0:
        axes = ", ".join(repr(name) for name in report.outside if name in (*undeclared, *missing))
        text = f"Every event lies outside the declared domain, on {axes}: the table is zeros. Compare the declared "
        text += "values with the spelling and the type of the column's."
        integers = [axis.levels[0] for axis in rule.read if any(isinstance(label, int) for label in axis.labels[0])]
        if numbered := [name for name in integers if name in report.outside]:
            text += f' Integers are declared for {", ".join(map(repr, numbered))}: if the data write 01, declare "01".'
        warn(text, NothingCounted)
        return
    if outside is None and (undeclared or missing):
        lost = [f"lie outside the declared domain on {', '.join(map(repr, undeclared))}"] if undeclared else []
        lost += [f"have no value on {', '.join(map(repr, missing))}"] if missing else []
        remedy = "Declare the values, or marks of missing cells, give the axis other=, " if undeclared else ""
        remedy += 'Count missing ones under a label, missing="not stated" of the axis, ' if missing else ""
        remedy += 'or say that they are meant to go: ut.count_table(..., outside="leave out").'
        warn(f"Some events {' or '.join(lost)}, and are not counted. {remedy}", RowsLeftOut)
    if padded := [name for name, events in report.leading_zeros.items() if events]:
        names = ", ".join(map(repr, padded))
        text = f"Some values of {names} begin with a zero, 01005 among numbers or where 1005 is declared. If they are "
        text += f'codes, declare them as text, "{padded[0]}": ["01005", ...]. print(counted.report) says how many.'
        warn(text, LeadingZerosRead)
    measure, counted, kept = rule.measures[rule.reported], report.counted, report.kept
    if measure.ends == (0, 1) and measure.amount is None and measure.in_all is None:
        # A person counts once in a cell, however many events: what is lost are cells.
        counted, kept = report.pairs, report.pairs - report.removed
    if 2 * kept < counted:
        remedy = "print(counted.report) says how much; count_contributions (utmost bounds) weighs larger bounds."
        warn(f"The bounds on one person keep less than half of the {report.kept_of}. {remedy}", FewEventsKept)


def _added_here(events: Any, rule: CountingRule, progress: Progress | None) -> tuple[Iterator[CellTotals], str]:
    """The sums of cells over some persons at a time, and of what kind tables made of them are."""
    read = read_events(events, rule.columns, rule.amount_columns)
    if read.folders is not None:
        read.folders.check_labels((*rule.read, *rule.valued))
    kept = (rule.chosen(pairs, texts) for pairs, texts in persons_of(rule, read, progress))
    return map(added_by_cell, kept if rule.seen is None else map(rule.seen.taken, kept)), read.kind


def _added_by_engine(events: Any, rule: CountingRule) -> tuple[Iterator[CellTotals], str]:
    """The same of a frame whose rows stay with the engine: persons come in order, and only sums of cells here."""
    frame = engine_frame(events)
    if rule.numbered is not None:
        remedy = "Write it to Parquet files and pass their pathlib.Path; or count over fewer axes."
        required = "an engine counts over fewer than 2^62 cells"
        raise Unsupported(required, came=frame.kind, where="domain", remedy=remedy)
    schema = frame.schema()
    check_columns_exist(rule.columns, schema.names)
    if rule.person is not None:
        check_type(schema.field(rule.person), rule.person)
    for axis in (*rule.read, *rule.valued):
        for name in axis.columns:
            check_type(schema.field(name), name, axis)
    read = frame.select(rule.columns or any_column(schema.names))
    if rule.person is None:
        batches = read.added_up(RowsAlone(rule), totals_schema(CELL))
    else:
        batches = read.added_up_by(rule.person, PersonsInBuckets(rule), totals_schema(CELL))
    batches = rule.tally.taken_from(batches)
    return read_totals(batches if rule.seen is None else rule.seen.taken_from(batches)), frame.kind


def _split(
    part: Axis, cells_of_parts: Sequence[NDArray[Any] | FewCells], whole: CountedTable, identity: str
) -> dict[Label, CountedTable]:
    """A table for each part; those of one call share an identity that no other call has."""
    name, tables = part.levels[0], dict[Label, CountedTable]()
    for label, cells in zip(part.labels[0], cells_of_parts, strict=True):
        domain = whole.domain if whole.domain.axes else Domain({name: [label]})
        shaped = cells if isinstance(cells, FewCells) else cells.reshape(domain.shape)
        tables[label] = replace(whole, domain=domain, cells=shaped, part=(identity, str(label)))
    return tables
