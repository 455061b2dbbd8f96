"""Count the events of persons into a table over a declared domain, with the unit of privacy that the counting proves.

Each person changes at most a fixed number of cells, each by at most a fixed amount. The cells that are kept for a
person depend on the key and on the person's own rows only, so that removing the person changes nobody else's
contribution: the proof is in proofs/theory/counting.md.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from secrets import token_hex
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance
from utmost.core.exact.progress_bar import Progress, progress_bar
from utmost.core.sampling.integers import narrowed
from utmost.errors import (
    BadTable,
    FewEventsKept,
    LeadingZerosRead,
    NothingCounted,
    OutOfRange,
    PrivacyWarning,
    RowsLeftOut,
    SimilarPersons,
    Unsupported,
    warn,
)
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
from utmost.publish.counting.counting_report import SIMILAR, CountingReport
from utmost.publish.counting.counting_rule import CountedCells, CountingRule
from utmost.publish.counting.declared_axes import chosen_axes, declared_domain, part_axis, whole_rows
from utmost.publish.counting.person_pairs import PersonsInBuckets, RowPersons, persons_of
from utmost.publish.counting.sparse_totals import SparseTotals
from utmost.tables.axes.axes import Axis, Label, label_text
from utmost.tables.axes.domain import Domain
from utmost.tables.axes.few_cells import MOST_LAID, FewCells
from utmost.tables.cells.event_batches import any_column, read_events, spelling_of_table
from utmost.tables.cells.event_codes import check_type
from utmost.tables.cells.spelling import PLAIN_SPELLING, Spelling
from utmost.tables.engines.engines import engine_frame, is_engine_frame
from utmost.tables.frames.adapters import check_columns_exist

EVENTS = count()

Parts = str | Mapping[str, Sequence[Label]]
"""An axis whose labels split the persons into disjoint parts, or a column with its labels."""


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


def count_table(
    events: Any,
    domain: Domain | Mapping[str, Any],
    counting: Counting,
    *,
    measure: MeasureSpec = EVENTS,
    by: str | Sequence[str] | None = None,
    part: Parts | None = None,
    spelling: Spelling = PLAIN_SPELLING,
    outside: str | None = None,
    progress: Progress | None = None,
) -> CountedTable | dict[Label, CountedTable]:
    """Count the events of persons over a declared domain, so that the contribution of each person is bounded.

    1. For each person and cell, the events are counted, or their amounts added up, and the result is clipped to
       ``per_cell`` of the measure.
    2. At most ``at_most`` cells of each person are kept: those with the least hash of key, person and cell.
    3. The kept results of all persons are added up. A cell without persons is 0.

    Args:
        events: One row for each event: a dict of columns, a list of dicts, a NumPy array with named fields, a dataframe
            that narwhals reads (pandas, Polars, Arrow), or the pathlib.Path of a CSV file, a Parquet file or a
            directory of Parquet files, where folders such as ``year=2020`` are columns. Files are read batch by batch.
            A lazy frame (Polars, DuckDB, Spark) is counted in its engine, and only sums of cells are transferred.
        domain: Declared domain, or a mapping that `Domain.of_facts` reads. Events outside the domain are left out, or
            counted under an axis' ``other``.
        counting: Owner of each event, and bound on the number of cells of one person.
        measure: Counted quantity: `count` with a bound for each cell, `sum` of amounts, or `distinct` values. By
            default each person counts once in a cell. See `count_measures` for several measures in one pass.
        by: Names of the axes of the domain by which to count, in the order of the table; None for all.
        part: Axis of the domain, or {column: list of labels}, that splits the persons into disjoint parts. If a person
            has events in several parts, only those in the part with the least hash are kept.
        spelling: Spelling of decimals, thousands, dates and missing values in text, for files and frames.
        outside: "leave out" turns off the warning of events outside the domain, or without a value.
        progress: Function that is called as ``progress(done, rows)`` after every batch.

    Returns:
        The table with the unit that the counting proves. The sensitivity is the larger of |lowest| and |highest| of
        ``per_cell`` (for amounts, in steps); the number of cells is ``at_most``, or the domain's number of cells if
        that is smaller; ``in_total`` is the bound of the measure. Under "change-one", without ``part`` and
        ``most_events``, the unit is ``nonnegative`` if no sum can be below 0. If ``part`` is set, a dict from the label
        of each part to its table, which has the other axes. The ``report`` of a table has the true numbers of events
        counted and removed, for the curator only.

    Raises:
        NotDeclared: if no domain is passed, or if ``by`` or ``part`` names no axis of the domain.
        BadTable: if a column is missing; if an event has no person; if persons, or the values on an axis of listed
            values, are neither text nor integers; if a value on an axis of bins is no number; or if an amount is
            missing, not finite, or (without ``step``) no integer.
        OutOfRange: if a bound would remove everything, such as ``per_cell=0``, or if arguments exclude each other.
            WrongKind: if an argument has another type.
        Unsupported: if a frame needs a package that is not installed.

    Warns:
        RowsLeftOut: if some events lie outside the domain or have no value, unless ``outside="leave out"``.
            The warning names the axes, but no number.
        NothingCounted: if there are no events, or all lie outside the domain.
        LeadingZerosRead: if values begin with a zero, as codes do, and are read as integers.
        SimilarPersons: if identifiers of persons differ only by blanks, leading zeros, capitals or Unicode form.
        FewEventsKept: if the bounds keep less than half of the events in the domain. What is kept is measured in
            events; for a sum of amounts, by the total of the absolute values of persons' sums; if a person counts once
            in a cell, in (person, cell) pairs.

    Cost: below 1 s for a million events, 4 to 7 s for ten million in a file. Memory grows with the distinct (person,
    cell) pairs. For files and engines the memory grows with the domain and with the pairs of one 256th of the persons;
    more than a million events are spilled to an unnamed file on the disk.

    >>> events = {"user": ["ann", "ann", "bob", "ann"], "page": ["A", "B", "A", "A"]}
    >>> counted = count_table(events, Domain(page=["A", "B", "C"]), Counting("user", at_most=2))
    >>> counted.table("page")["count"].tolist(), counted.unit
    ([2, 1, 0], Unit(1, cells=2))
    """
    measures = {None: instance(measure, MeasureSpec, "measure")}
    with progress_bar("Counting events", progress):
        tables = _counted(events, domain, counting, measures, by, part, spelling, outside)
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


def count_measures(
    events: Any,
    domain: Domain | Mapping[str, Any],
    counting: Counting,
    measures: Mapping[str, MeasureSpec],
    *,
    by: str | Sequence[str] | None = None,
    part: Parts | None = None,
    spelling: Spelling = PLAIN_SPELLING,
    outside: str | None = None,
    progress: Progress | None = None,
) -> dict[str, CountedTable] | dict[Label, dict[str, CountedTable]]:
    """Count several measures in one pass; for each person, the same cells are kept for all measures.

    Args:
        events, domain, counting, by, part, spelling, outside, progress: Arguments of `count_table`.
        measures: Dict from names to counted quantities: `count`, `sum` and `distinct`, each with its own bounds.

    Returns:
        A dict from the name of each measure to its table, each with its own unit; if ``part`` is set, a dict from the
        label of each part to such a dict. If tables of several measures are released, their privacy levels add up.

    Raises:
        The errors of `count_table`.

    >>> events = {"user": ["ann", "ann", "bob"], "shop": ["A", "A", "B"], "paid": [3, 5, 2]}
    >>> from utmost import sum
    >>> measures = {"visits": count(2), "spent": sum("paid", per_cell=6)}
    >>> tables = count_measures(events, Domain(shop=["A", "B"]), Counting("user", at_most=1), measures)
    >>> {name: table.cells.tolist() for name, table in tables.items()}
    {'visits': [2, 1], 'spent': [6, 2]}
    """
    named = read_measures(measures)
    with progress_bar("Counting events", progress):
        tables = _counted(events, domain, counting, named, by, part, spelling, outside)
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
) -> dict[Label | None, dict[MeasureName, CountedTable]]:
    """Count events; return {part: {name of the measure: table}}, with the part None if there are no parts."""
    counting, outside = instance(counting, Counting, "counting"), read_outside(outside)
    spelling = spelling_of_table(events, spelling)
    read = {name: CountedMeasure.of(spec, each_row=counting.each_row, name=name) for name, spec in measures.items()}
    most = counting.most_cells(measures.values())
    declared = declared_domain(domain, by)
    of_parts = None if part is None else part_axis(declared, part)
    axes: tuple[Axis, ...] = tuple(
        axis for axis in chosen_axes(declared, by) if of_parts is None or axis.levels[0] != of_parts.levels[0]
    )
    _warn_of_marks(axes if of_parts is None else (*axes, of_parts), spelling)
    rows = None if counting.together is None else whole_rows(axes, counting.together, most)
    key = counting.key_of_hashes()
    rule = CountingRule(counting.person, tuple(read.values()), axes, of_parts, spelling, most, rows, key)
    flat, kind, report = counted_cells(events, rule, outside)
    # Each call gives the partition a new random name, because parts of two calls may have persons in common.
    identity, tables = token_hex(16), dict[Label | None, dict[MeasureName, CountedTable]]()
    for (name, measure), first in zip(read.items(), rule.first_tables, strict=True):
        named_axes, sums = rule.axes_of(measure), rule.cells_of(measure, first, flat)
        cells: Sequence[NDArray[Any] | FewCells]
        if isinstance(sums, SparseTotals):
            cells = sums.by_part(rule.shape, rule.parts, measure.tables, rule.numbered)
        else:
            # `cells` has one array for each part of the persons; with most_events, the last axis of the array has the
            # parts of an amount.
            shaped = (sums if name is not None else narrowed(sums)).reshape(-1, rule.parts, *rule.shape)
            cells = list(shaped[0] if measure.most_events is None else np.moveaxis(shaped, 0, -1))
        must_not_lower = rows is not None and rows.values > 2
        unit = measure.unit(
            min(most, rule.cells), counting.neighbours, in_parts=of_parts is not None, must_not_lower=must_not_lower
        )
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
        if of_parts is None:
            tables.setdefault(None, {})[name] = whole
            continue
        for label, of_part in zip(of_parts.labels[0], cells, strict=True):
            domain = whole.domain if whole.domain.axes else Domain({of_parts.levels[0]: [label]})
            in_domain = of_part if isinstance(of_part, FewCells) else of_part.reshape(domain.shape)
            table = replace(whole, domain=domain, cells=in_domain, part=(identity, str(label)))
            tables.setdefault(label, {})[name] = table
    return tables


def _warn_of_marks(axes: Iterable[Axis], spelling: Spelling) -> None:
    """Warn if a mark of missing cells is also a declared value of an axis, and so is counted as this value."""
    for axis in axes:
        values = {label_text(label) for label in axis.labels[0]}
        for mark in spelling.missing_marks if axis.edges is None else ():
            if mark in values:
                text = f"The mark {mark!r} of missing cells is also a declared value of {axis.levels[0]}: there it "
                text += (
                    f"counts as this value. If it marks a missing cell, leave it out of the values of {axis.levels[0]}."
                )
                warn(text, PrivacyWarning)


def read_outside(outside: str | None) -> str | None:
    """Check the argument ``outside``: "leave out" or None."""
    if outside not in (None, LEAVE_OUT):
        remedy = (
            f'Pass outside="{LEAVE_OUT}", or leave out outside=; other= on an axis counts events outside the domain.'
        )
        raise OutOfRange(f"outside= must be {LEAVE_OUT!r} or None", came=repr(outside), where="outside", remedy=remedy)
    return outside


def counted_cells(events: Any, rule: CountingRule, outside: str | None) -> tuple[CountedCells, str, CountingReport]:
    """Count events; return the sum of each cell, the kind of dataframe, and the report; warn as `count_table` does."""
    try:
        if is_engine_frame(events):
            totals, kind = _added_by_engine(events, rule)
        else:
            keys = {name for axis in (*rule.read, *rule.valued) for name in axis.columns}  # read as they are written
            values = [name for name in rule.amount_columns if name not in keys]
            read = read_events(events, rule.columns, values, rule.spelling)
            if read.folders is not None:
                read.folders.check_labels((*rule.read, *rule.valued))
            kept = (rule.chosen(pairs, texts) for pairs, texts in persons_of(rule, read))
            totals = map(added_by_cell, kept if rule.seen is None else map(rule.seen.taken, kept))
            kind = read.kind
        flat = SparseTotals.of(totals) if rule.size > MOST_LAID else gathered_totals(totals, rule.size)
    except BadTable as error:
        if not is_engine_frame(events):
            from utmost.publish.counting.column_problems import add_other_problems  # only if a table is refused

            add_other_problems(error, events, rule)
        raise
    except MemoryError:
        remedy = "Count over fewer axes; or count events in a file, which is read batch by batch."
        raise Unsupported(
            "the counts of all cells must fit into memory", came="too many cells", remedy=remedy
        ) from None
    report = rule.tally.report()
    _warn_of_losses(report, rule, outside)
    return flat, kind, report


def _warn_of_losses(report: CountingReport, rule: CountingRule, outside: str | None) -> None:
    """Warn of events that are not counted. The warning names axes and bounds; numbers are confidential."""
    undeclared, missing = report.lost
    if report.events == 0:
        warn("There are no events: every cell is 0. Check whether the table is complete.", NothingCounted)
        return
    if report.outside_domain == report.events > 0:
        axes = ", ".join(repr(name) for name in report.outside if name in (*undeclared, *missing))
        text = f"Every event lies outside the declared domain, on {axes}: every cell is 0. Compare the declared "
        text += "values with the spelling and the type of the values in the column."
        integers = [
            axis.levels[0]
            for axis in rule.read
            if any(
                isinstance(label, int) or (isinstance(label, str) and label.isascii() and label.isdigit())
                for label in axis.labels[0]
            )
        ]
        if numbered := [name for name in integers if name in undeclared]:
            text += f' Integers are declared for {", ".join(map(repr, numbered))}: if the data have 01, declare "01".'
        warn(text, NothingCounted)
        return
    if outside is None and (undeclared or missing):
        lost = [f"lie outside the declared domain on {', '.join(map(repr, undeclared))}"] if undeclared else []
        lost += [f"have no value on {', '.join(map(repr, missing))}"] if missing else []
        remedies = ["Declare the values, or the marks of missing cells", "add other= to the axis"] if undeclared else []
        remedies += (
            ['add missing="not stated" to the axis, which counts missing values under that label'] if missing else []
        )
        remedy = "; or ".join([*remedies, 'turn this warning off: outside="leave out"'])
        remedy = f"{remedy[0].upper()}{remedy[1:]}."
        warn(f"Some events {' or '.join(lost)}, and are not counted. {remedy}", RowsLeftOut)
    if padded := [name for name, events in report.leading_zeros.items() if events]:
        names = ", ".join(map(repr, padded))
        text = f"Some values of {names} begin with a zero, which is ignored: 01005 is read as 1005. If they are "
        text += f'codes, declare them as text, "{padded[0]}": ["01005", ...]. The counting report shows how many.'
        warn(text, LeadingZerosRead)
    if report.similar_persons:
        text = f"{rule.person!r} has persons {SIMILAR}: each spelling counts as another person. If two of them are one "
        text += "individual, write each identifier in one way before counting. The counting report shows how many."
        warn(text, SimilarPersons)
    if not report.keeps_half:
        remedy = (
            "The counting report shows the percentage; ut.count_contributions, or utmost bounds, tests larger bounds."
        )
        warn(
            f"The bounds on each person's contribution keep less than half of the {report.kept_of}. {remedy}",
            FewEventsKept,
        )


def _added_by_engine(events: Any, rule: CountingRule) -> tuple[Iterator[CellTotals], str]:
    """Let an engine add up the cells, so that only sums are transferred; return the sums and the kind of dataframe."""
    frame = engine_frame(events)
    if rule.numbered is not None:
        remedy = "Write the frame to Parquet files and pass their pathlib.Path; or count over fewer axes."
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
        batches = read.added_up(RowPersons(rule), totals_schema(CELL))
    else:
        batches = read.added_up_by(rule.person, PersonsInBuckets(rule), totals_schema(CELL))
    batches = rule.tally.without_stored(batches)
    return read_totals(batches if rule.seen is None else rule.seen.without_stored(batches)), frame.kind
