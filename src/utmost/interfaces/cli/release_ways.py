"""Publish a file for `utmost release`, by one method for each combination of its options."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utmost.core.exact.arguments import one_of
from utmost.core.exact.numbers import read_confidence
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.random_bits import secure
from utmost.errors import BadTable, OutOfRange
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.people_options import PersonOptions, split_names
from utmost.interfaces.cli.options.promise_options import ColumnOptions, PromiseTexts, UnitOptions
from utmost.interfaces.cli.options.release_options import ReleaseOptions
from utmost.interfaces.cli.options.shared_options import refuse
from utmost.interfaces.cli.options.table_options import TableAnswer, check_fits
from utmost.interfaces.cli.screens.release_screen import give, give_promise
from utmost.interfaces.cli.screens.terminal import write_note
from utmost.interfaces.documents.cost_files import cost_of
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.releases.once import checked_table
from utmost.publish.releases.tables_before_draw import measures_before_draw, table_before_draw
from utmost.tables.files import files
from utmost.tables.files.csv_table import CsvPieces
from utmost.tables.files.file_pieces import FilePieces
from utmost.tables.files.table_formats import holds_records
from utmost.tables.frames.any_table import adapter_of

if TYPE_CHECKING:
    from utmost.interfaces.cli.ledger_answers import Question
    from utmost.publish.counting.counted import CountedTable
    from utmost.publish.workloads.planning.plan import Plan
    from utmost.tables.cells.spelling import Spelling


def publish_table(table: Path, request: ReleaseOptions) -> None:
    """Publish a file by the method that its options choose; refuse options that this method would ignore."""
    request.level.read(), request.answer.file  # both refuse invalid options before anything is read
    source = request.spelling.of(table, is_counted=request.people.are_events)
    request.promised.check()
    if request.everyday.want is not None:
        publish_requested_sums(source, request, request.everyday.want)
    elif request.promised.needs_no_options:
        publish_complete_promise(source, request)
    elif request.once.is_of_rows:
        publish_row_noise(source, request)
    elif request.once.once == "tables":
        raise OutOfRange("--once tables needs --want", came="none", remedy='Add, for example, --want "region sex".')
    elif request.once.once is not None:
        publish_in_one_draw(source, request)
    elif request.promised.is_planned:
        publish_by_plan(source, request)
    else:
        publish_columns(source, request)


def publish_complete_promise(table: Path, request: ReleaseOptions) -> None:
    """Publish by a promise of points, or by a promise file with a kind of noise that no option can name."""
    name = "--planar" if request.promised.stated is None else "a promise of points or of noise without options"
    refuse(f"cannot be combined with {name}", request.once, request.people)
    if request.memory.ledger is not None:
        return publish_in_named_ledger(table, request, None)
    counted = counted_table(table, request.counting, request.spelling.cells)
    assert not isinstance(counted, dict), "options of persons were refused"
    check_needs_no_ledger(request, counted)
    request.check_free(table, draws=True)
    _give_checked(table, files.read(table) if counted is None else counted, request.promised.of(counted), request)


def publish_row_noise(table: Path, request: ReleaseOptions) -> None:
    """Publish columns of a table in which one individual changes only cells of one row."""
    from utmost.core.noise.norm_staircase import CellCost
    from utmost.publish.promises.noise_together import once_together

    promised, columns = request.promised, request.promised.columns
    cells = UnitOptions(cells=promised.protected.cells)
    other = replace(promised, columns=ColumnOptions(), protected=cells, texts=PromiseTexts())
    refuse(
        f"cannot be combined with --once {request.once.once}", other, request.memory, request.people, promised.stopping
    )
    promised.check_columns("columns", "sensitivity")
    released = columns.released
    unit = promised.unit_of_row(released, "counts" if request.once.once == "row-counts" else "any")
    stated = Promise(released, public=split_names(columns.public or []), unit=Unit(1, 1))  # before a search of minutes
    check_fits(request.answer, table_before_draw(files.read(table), stated))
    noise = once_together(released, unit=unit, cost=one_of(request.once.cost, CellCost, "cost"))
    give_once(table, promised.of(noise=noise), request)


def publish_in_one_draw(table: Path, request: ReleaseOptions) -> None:
    """Publish all released cells, or all one-way tables of a counted table, with joint noise that is drawn once."""
    from utmost.publish.promises.one_draw_noise import OneDraw, OneWayDraw

    promised = request.promised
    beside = (request.memory, promised.lasting, promised.noise, promised.stopping)
    refuse("cannot be combined with --once", replace(request.once, once=None), *beside)
    if promised.stated is not None:
        required = "only one of --promise and --once may be given"
        raise OutOfRange(required, came="both", remedy="Leave out --once.")
    check_column_of_counts(table, request)
    counted = counted_table(table, request.counting, request.spelling.cells, request.counting_key())
    if isinstance(counted, dict):
        remedy = "Leave out --once; or leave out every --mean except one."
        raise OutOfRange("--once needs counts, or only one --mean", came="several --mean", remedy=remedy)
    request.check_free(table, draws=True)
    if request.once.once == "one-way":
        refuse("cannot be combined with --once one-way, which names its columns", promised.columns, promised.protected)
        if counted is None:
            remedy = "Count people: add --each-row, --by and --domain; or release the file that utmost count wrote."
            raise OutOfRange(
                "--once one-way needs events of people to count, or a counted table",
                came="a table of columns",
                remedy=remedy,
            )
        promise, source = promised.of(counted, OneWayDraw.of_counted(counted)), counted
    elif counted is not None:  # counting has proved the unit
        refuse("is for a table that was counted elsewhere: counting has proved the unit", promised.protected)
        signs = request.once.once == "counts" or (counted.unit.nonnegative and counted.unit.exactly)
        noise = OneDraw(replace(counted.unit, nonnegative=signs), counted.domain.size)
        promise, source = promised.of(counted, noise), counted
    else:
        promised.check_columns("columns", "sensitivity", "cells")
        source, promise = files.read(table), promised.of(None)
        rows = len(adapter_of(source).column(source, promise.columns[0]))
        unit = replace(promise.unit, nonnegative=request.once.once == "counts")
        promise = promise.with_noise(OneDraw(unit, max(1, rows * len(promise.columns))))
    _give_checked(table, source, promise, request)


def give_once(table: Path, promise: "Promise", request: ReleaseOptions) -> None:
    """Release a table once, or show what a release would promise."""
    request.check_free(table, draws=request.memory.ledger is None)
    _give_checked(table, files.read(table), promise, request)


def _give_checked(table: Path, source: Any, promise: "Promise", request: ReleaseOptions) -> None:
    """Check a table, draw noise unless the call is a rehearsal, and show or write the result."""
    answer = request.answer
    signer = answer.signer
    with progress_bar(f"Checking and noising {table.name}"):
        promise.check(source)
        checked = checked_table(source, promise, request.level.read(), answer.confidence)
        check_fits(answer, table_before_draw(source, promise))
        if request.dry_run:
            return give_promise(checked.statement(), answer)
        released = checked.released(secure(None))
    give(released, answer, signer)


def publish_by_plan(table: Path, request: ReleaseOptions) -> None:
    """Publish the sums of a plan, measured on a counted table."""
    from utmost.interfaces.cli.planned_release import planned_table
    from utmost.interfaces.cli.screens.workload_screens import check_document, release_by_plan

    answer, promised, once = request.answer, request.promised, request.once
    if not request.is_repeatable:
        check_document(answer.file, answer.sign, draws=request.memory.ledger is None)
    unread = UnitOptions() if request.people.are_events else promised.protected
    measured = PersonOptions(mean=request.people.mean, neighbours=request.people.neighbours)
    refuse("cannot be combined with --plan", TableAnswer(form=answer.form), once, unread, measured)
    plan = promised.plan
    assert plan is not None, "there is a plan"
    counted = planned_table(table, request.people.people, request.spelling.cells, plan, request.counting_key())
    if request.memory.ledger is not None:
        return publish_in_named_ledger(table, request, counted)
    check_needs_no_ledger(request, counted)
    release_by_plan(
        counted,
        promised.of(counted),
        request.level.read(),
        read_confidence(answer.confidence),
        answer.file,
        answer.signer,
        as_json=answer.as_json,
        dry_run=request.dry_run,
    )


def publish_requested_sums(table: Path, request: ReleaseOptions, sums: list[str]) -> None:
    """Publish the requested sums of a counted table: by the plan of `utmost plan`, or by noise that is drawn once."""
    from utmost.interfaces.cli.screens.workload_screens import check_document, release_by_plan
    from utmost.publish.counting.counted import CountedTable
    from utmost.publish.releases.planned_tables import least_once, plan_for
    from utmost.publish.workloads.sums_in_words import read_wanted

    answer, promised, level = request.answer, request.promised, request.level.read()
    is_once = request.once.once == "tables"
    if request.once.once is not None and not is_once:
        remedy = "Write --once tables: it chooses the noise with the least error for these tables."
        raise OutOfRange(
            "--once must be tables if --want is given",
            came=f"--once {request.once.once}",
            remedy=remedy,
        )
    other = replace(request.once, once=None)
    refuse("is only for the noise of cells, and cannot be combined with --want", other)
    if is_once:
        refuse("needs noise for every level, and cannot be combined with --once tables", promised.stopping)
    refuse("cannot be combined with --want", TableAnswer(form=answer.form), promised.columns, promised.noise)
    named = {"--promise": promised.stated, "--sensitivity": promised.protected.sensitivity}
    for came, value in (named | {"--cells": promised.protected.cells}).items():
        if value is not None:
            required = "--want needs no promise: counting proves how much one person changes"
            raise OutOfRange(required, came=came, remedy=f"Leave out {came}.")
    if request.memory.ledger is None:
        check_needs_no_ledger(request)
        if not is_once:
            check_document(answer.file, answer.sign, draws=True)
    else:
        refuse("cannot be combined with --ledger", request.once)
        if not request.is_repeatable:
            check_document(answer.file, answer.sign)
    counted = counted_table(table, request.counting, request.spelling.cells, request.counting_key())
    if isinstance(counted, dict):
        remedy = (
            "Leave out --want: utmost total computes any total or mean from the released table. Or write only "
            "one --mean."
        )
        raise OutOfRange("--want needs counts, or one --mean", came="several --mean", remedy=remedy)
    if not isinstance(counted, CountedTable):
        remedy = (
            "Add --each-row, or --person COLUMN, and --domain FILE; or name the .json file that utmost count wrote."
        )
        raise OutOfRange("--want needs people to count, or a counted table", came=table.name, remedy=remedy)
    amount = counted.unit.amount if counted.unit.is_shared else None
    workload = read_wanted(counted.domain, sums, without=None if amount is None else amount.name)
    with progress_bar("Searching for shares"):
        plan = plan_for(workload, counted, level)
    if request.memory.ledger is not None:
        return publish_in_named_ledger(table, request, counted, plan)
    if is_once and (made_once := least_once(plan, counted, level)) is not None:
        read, promise = made_once
        if answer.file is not None and answer.file.suffix.lower() == ".json":
            remedy = (
                f"Write --out {answer.file.with_suffix('.csv')}; utmost total computes the wanted tables from "
                f"this file."
            )
            required = "--once needs an --out file that is a table, not a .json file"
            raise OutOfRange(required, came=answer.file.name, remedy=remedy)
        request.check_free(table, draws=True)
        return _give_checked(table, read, replace(promise, **promised.texts.given), request)
    if is_once:
        check_document(answer.file, answer.sign, draws=True)
    promise, sure = promised.of(counted, plan), read_confidence(answer.confidence)
    release_by_plan(
        counted, promise, level, sure, answer.file, answer.signer, as_json=answer.as_json, dry_run=request.dry_run
    )


def publish_columns(table: Path, request: ReleaseOptions) -> None:
    """Publish columns of a table, each cell with its own noise; events are counted first."""
    answer, promised = request.answer, request.promised
    is_document = request.people.mean is not None and answer.out is not None and answer.out.suffix.lower() == ".json"
    # Make this check before counting, which may take a minute.
    if request.people.are_events and not request.is_repeatable and not is_document:
        request.check_free(table, draws=request.memory.ledger is None)
    check_column_of_counts(table, request)
    counted = counted_table(table, request.counting, request.spelling.cells, request.counting_key())
    if counted is None:
        promised.check_columns("columns", "sensitivity", "cells")
    elif isinstance(counted, dict):
        return publish_means(table, counted, request)
    elif counted.unit.needs_sizes and promised.stated is None:
        return publish_sums(table, counted, request)
    if counted is not None:
        for axis in counted.domain.axes:
            if axis.whole is not None and len(axis.levels) > 1:
                groups = ", ".join(axis.levels[1:])
                line = f"the released table has the bins of {axis.levels[0]}, but not the coarser levels {groups}"
                where = f'--where "{axis.levels[0]}=LOW..HIGH"'
                write_note(f"{line}. `utmost total` adds up bins, by {where}.")
    if request.memory.ledger is not None:
        return publish_in_named_ledger(table, request, counted)
    check_needs_no_ledger(request, counted)
    promise = promised.of(counted)
    if promise.until is not None:
        return publish_until(table, counted, promise, request)
    if promised.stated is None:
        promise = promise.once(cost_of(request.once.cost))
    else:
        refuse("cannot be combined with --promise, which contains the complete promise", request.once)
    request.check_free(table, draws=request.memory.ledger is None)
    signer = answer.signer
    large: FilePieces | None = None  # pieces of a large table, unless it is printed on a screen
    if counted is None and answer.file is not None:
        large = files.large_pieces(table, by_cells=files.ending_of(answer.file) in files.PARQUET)
    elif counted is None and request.dry_run:
        large = files.large_pieces(table, by_cells=True)
    if large is None and counted is None and table.is_dir():
        raise OutOfRange(
            "--out must name a file if the table is a folder", came="none", remedy="Add --out released.parquet."
        )
    with progress_bar(f"Checking {table.name}" if large is not None else f"Checking and noising {table.name}"):
        source: Any = large
        if large is None:
            source = files.read(table) if counted is None else counted
        promise.check(source)
        checked = checked_table(source, promise, request.level.read(), answer.confidence)
        if large is None:
            check_fits(answer, table_before_draw(source, promise))
        elif request.dry_run and isinstance(large, CsvPieces):  # a release makes this check while it is written
            check_fits(answer, table_before_draw(large.table, promise))
        if request.dry_run:
            return give_promise(checked.statement(), answer)
        released = checked.released(secure(None))
    give(released, answer, signer)


def publish_until(table: Path, counted: "CountedTable | None", promise: Promise, request: ReleaseOptions) -> None:
    """Publish columns of a table at the first level that meets a stopping rule, without a ledger."""
    from utmost.publish.ledger.releasing import promised_statement, release

    answer, level = request.answer, request.level.read()
    refuse("cannot be combined with --until", request.once)
    request.check_free(table, draws=True)
    signer = answer.signer
    source = files.read(table) if counted is None else counted
    check_fits(answer, table_before_draw(source, promise))
    if request.dry_run:
        assert promise.until is not None, "a rule chooses the level"
        ladder = promise.until.ladder(promise.noise, level, read_confidence(answer.confidence))
        return give_promise(promised_statement(source, promise, level), answer, ladder)
    with progress_bar(f"Checking and noising {table.name}"):
        released = release(source, promise, epsilon=level, confidence=answer.confidence)
    give(released, answer, signer)


def publish_means(table: Path, counted: "dict[str, CountedTable]", request: ReleaseOptions) -> None:
    """Publish counts, sums and means of several amounts in one table; each amount has an equal budget share."""
    from utmost.interfaces.cli.screens.workload_screens import give_measures, give_promised_measures
    from utmost.publish.releases.measures_table import MeasuresTable, release_measures
    from utmost.publish.workloads.planning.cells_plan import cells_plan

    answer, level = request.answer, request.level.read()
    beside = request.promised.columns, request.promised.texts, request.promised.stopping
    refuse("cannot be combined with sums and counts together", request.once, *beside)
    if request.promised.stated is not None:
        remedy = "Leave out --promise."
        raise OutOfRange("only one of --promise and several --mean may be given", came="both", remedy=remedy)
    check_fits(answer, measures_before_draw(cells_plan(one.domain, one.unit) for one in counted.values()))
    if request.memory.ledger is not None:
        from utmost.interfaces.cli.means_in_ledger import publish_means_in_ledger

        counting, question = (request.people, request.spelling), question_of(request)
        return publish_means_in_ledger(
            table, counted, request.memory, question, dry_run=request.dry_run, counting=counting
        )
    check_needs_no_ledger(request)
    request.check_free(table, draws=True)
    if request.dry_run:
        return give_promised_measures(MeasuresTable.without_data(counted, level, answer.confidence), answer)
    signer = answer.signer
    with progress_bar("Noising"):
        measures = release_measures(counted, epsilon=level, confidence=answer.confidence)
    give_measures(measures, answer, signer)


def publish_sums(table: Path, counted: "CountedTable", request: ReleaseOptions) -> None:
    """Publish the cells of a counted table of amounts, or of persons with a bound over all cells, by a plan."""
    from utmost.interfaces.cli.screens.workload_screens import check_document, drawn_sums, give_cells, release_by_plan
    from utmost.publish.promises.sum_noise import SumNoise

    answer, level = request.answer, request.level.read()
    refuse("cannot be combined with sums and counts together", request.once, request.promised.columns)
    promise = request.promised.of(counted)
    if request.memory.ledger is not None:
        return publish_in_named_ledger(table, request, counted)
    check_needs_no_ledger(request, counted)
    assert isinstance(promise.noise, SumNoise), "the table needs a plan"
    signer, sure, out = answer.signer, read_confidence(answer.confidence), answer.file
    is_document = out is not None and out.suffix.lower() == ".json"
    check_document(out, answer.sign, draws=True) if is_document else request.check_free(table, draws=True)
    check_fits(answer, table_before_draw(counted, promise))
    if request.dry_run or is_document:
        return release_by_plan(
            counted, promise, level, sure, out, signer, as_json=answer.as_json, dry_run=request.dry_run
        )
    give_cells(drawn_sums(counted, promise, level, sure), answer, signer)


def publish_in_named_ledger(
    table: Path, request: ReleaseOptions, counted: "CountedTable | None", plan: "Plan | None" = None
) -> None:
    """Publish in a ledger; `plan` measures the requested tables of a counted table, if options request tables."""
    from utmost.interfaces.cli.ledger_answers import publish_in_ledger

    question = question_of(request)
    promise = request.promised.of(counted, plan)
    counting = request.people, request.spelling
    publish_in_ledger(
        table, promise, request.memory, question, dry_run=request.dry_run, counted=counted, counting=counting
    )


def question_of(request: ReleaseOptions) -> "Question":
    """Return the name, level and version of a release in a ledger."""
    from utmost.interfaces.cli.ledger_answers import Question

    refuse("cannot be combined with --ledger", request.once)
    if request.memory.name is None:
        raise OutOfRange("--ledger needs --name", came="none", remedy="Add, for example, --name admissions.")
    return Question(
        name=request.memory.name, level=request.level, version=request.memory.version, answer=request.answer
    )


def check_needs_no_ledger(request: ReleaseOptions, counted: "CountedTable | None" = None) -> None:
    """Refuse options that need a ledger, and a promise that does not fit the table."""
    refuse("needs --ledger", request.memory, request.promised.lasting)
    promise = request.promised.stated
    if promise is None:
        return
    if promise.keyed_by_id or (isinstance(promise.noise, Noise) and promise.noise.is_bounded):
        required = "a promise with noise by items, or with --largest, needs --ledger"
        raise OutOfRange(required, came="none", remedy="Add, for example, --ledger releases.db --name NAME.")
    promise.check(counted)


def check_column_of_counts(table: Path, request: ReleaseOptions) -> None:
    """Refuse --columns for events if the file has this column: the option only names the column of counts."""
    for name in request.promised.columns.released if request.people.are_events else ():
        from utmost.tables.cells.event_batches import read_events

        with suppress(BadTable):
            read_events(table, [name])  # refuses a column that the file does not have
            free = "persons" if name == "count" else "count"
            remedy = f"Write --columns {free}; or, to sum and average {name}, --mean {name}=0,200000 without --columns."
            raise OutOfRange(
                "if events are counted, --columns must be a new name for the column of counts",
                came=repr(name),
                remedy=remedy,
            )


def counted_table(
    table: Path, persons: PersonOptions, spelling: "Spelling", key: bytes | None = None
) -> "CountedTable | dict[str, CountedTable] | None":
    """Count the events of the file, or read the file of `utmost count`; return None for another file."""
    # With `key`, a repeated count keeps the same rows of a person.
    if persons.are_events:
        if persons.domain is None:
            from utmost.interfaces.cli.commands.count_command import DOMAIN_REMEDY

            required = "the possible values of each column must be listed in a file, without looking at the data"
            raise OutOfRange(required, came="no file", where="--domain", remedy=DOMAIN_REMEDY)
        from utmost.publish.statements.counted_files import read_domain

        counted: CountedTable | dict[str, CountedTable]
        counted = persons.people.counted(table, read_domain(persons.domain), spelling, key=key)
        return counted
    for option in options.typed_options(persons):
        remedy = "Say who is one person: add --each-row if each row is another person, or --person COLUMN."
        raise OutOfRange(f"{option} needs --person or --each-row", came="neither of them", remedy=remedy)
    if table.suffix.lower() != ".json" or holds_records(table):
        return None
    from utmost.publish.statements.counted_files import COUNTED_FORM

    return COUNTED_FORM.read(table)
