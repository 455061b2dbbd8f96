"""The ways in which `utmost release` publishes a file, and the options of each."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utmost.core.exact.arguments import one_of
from utmost.core.exact.numbers import read_confidence
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.sampling.random_bits import secure
from utmost.errors import OutOfRange
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.people_options import PersonOptions, split_names
from utmost.interfaces.cli.options.promise_options import ColumnOptions, PromiseTexts, Protected
from utmost.interfaces.cli.options.release_options import ReleaseOptions
from utmost.interfaces.cli.options.shared_options import refuse
from utmost.interfaces.cli.options.table_options import TableAnswer, check_fits
from utmost.interfaces.cli.screens.control_characters import harmless
from utmost.interfaces.cli.screens.release_screen import give, give_promise
from utmost.interfaces.documents.cost_files import cost_of
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.releases.once import checked_table
from utmost.tables.files import files
from utmost.tables.files.file_pieces import FilePieces
from utmost.tables.files.table_formats import holds_records
from utmost.tables.frames.any_table import adapter_of

if TYPE_CHECKING:
    from utmost.interfaces.cli.ledger_answers import Question
    from utmost.publish.counting.counted import CountedTable
    from utmost.publish.workloads.planning.plan import Plan
    from utmost.tables.cells.spelling import Spelling


def publish_table(table: Path, told: ReleaseOptions) -> None:
    """Publish a file in the way that its options name; refuse options that this way would ignore first."""
    told.level.read(), told.answer.file  # refuse invalid ones first
    source = told.spelling.of(table, is_counted=told.people.are_events)
    told.promised.check()
    if told.asked.want is not None:
        by_wanted_tables(source, told, told.asked.want)
    elif told.promised.is_whole:
        whole(source, told)
    elif told.once.is_of_rows:
        together(source, told)
    elif told.once.once == "tables":
        raise OutOfRange("--once tables needs --want", came="none", remedy='Add --want "region sex", say.')
    elif told.once.once is not None:
        in_one_draw(source, told)
    elif told.promised.is_planned:
        by_plan(source, told)
    else:
        table_of_columns(source, told)


def whole(table: Path, told: ReleaseOptions) -> None:
    """Publish by a promise of points, or of noise that only a promise file can name."""
    name = "--planar" if told.promised.stated is None else "such a promise"
    refuse(f"does not go with {name}", told.once, told.people)
    if told.memory.ledger is not None:
        return keep(table, told, None)
    counted = counted_table(table, told.people, told.neighbours, told.spelling.cells)
    assert not isinstance(counted, dict), "nothing is said of persons"
    check_once(told, counted)
    told.answer.check_free(table, draws=True)
    _give_checked(table, files.read(table) if counted is None else counted, told.promised.of(counted), told)


def together(table: Path, told: ReleaseOptions) -> None:
    """Publish columns of which one individual changes only the cells of one row."""
    from utmost.core.noise.norm_staircase import CellCost
    from utmost.publish.promises.noise_together import once_together

    promised, columns = told.promised, told.promised.columns
    cells = Protected(cells=promised.protected.cells)
    other = replace(promised, columns=ColumnOptions(), protected=cells, texts=PromiseTexts())
    refuse(f"does not go with --once {told.once.once}", other, told.memory, told.people, promised.stopping)
    promised.check_columns("columns", "sensitivity")
    released = columns.released
    unit = promised.unit_of_row(released, "counts" if told.once.once == "row-counts" else "any")
    check_fits(told.answer, table, released, split_names(columns.public or []))  # before a search that may take minutes
    noise = once_together(released, unit=unit, cost=one_of(told.once.cost, CellCost, "cost"))
    give_once(table, promised.of(noise=noise), told)


def in_one_draw(table: Path, told: ReleaseOptions) -> None:
    """Draw the noise of all released cells, or of all one-way tables of a counted table, at once."""
    from utmost.publish.promises.one_draw_noise import OneWayDraw

    answer, promised = told.answer, told.promised
    beside = (told.memory, promised.lasting, promised.noise, promised.stopping)
    refuse("does not go with --once", replace(told.once, once=None), *beside)
    if promised.stated is not None:
        required = "only one of --promise and --once may be given"
        raise OutOfRange(required, came="both", remedy="Leave out --once.")
    counted = counted_table(table, told.people, told.neighbours, told.spelling.cells, told.count_key)
    if isinstance(counted, dict):
        remedy = "Leave out --once, or leave out all but one --mean."
        raise OutOfRange("--once needs counts, or one amount", came="several --mean", remedy=remedy)
    answer.check_free(table, draws=True)
    if told.once.once == "one-way":
        refuse("does not go with --once one-way, which names its columns", promised.columns, promised.protected)
        if counted is None:
            remedy = "Count people: add --each-row, --by and --domain; or release what utmost count wrote."
            raise OutOfRange("--once one-way needs people who are counted", came="a table of columns", remedy=remedy)
        promise, source = promised.of(counted, OneWayDraw.of_counted(counted)), counted
    else:
        if counted is None:
            promised.check_columns("columns", "sensitivity", "cells")
        source = files.read(table) if counted is None else counted
        promise = _in_one_draw(source, counted, told, nonnegative=told.once.once == "counts")
    _give_checked(table, source, promise, told)


def _in_one_draw(source: Any, counted: "CountedTable | None", told: ReleaseOptions, *, nonnegative: bool) -> Promise:
    """Return the promise of all released cells in one draw; a counted table has proved its unit."""
    from utmost.publish.promises.one_draw_noise import OneDraw

    if counted is not None:
        signs = nonnegative or (counted.unit.nonnegative and counted.unit.exactly)
        unit = replace(counted.unit, nonnegative=signs)
        return told.promised.of(counted, OneDraw(unit, counted.domain.size))
    promise = told.promised.of(None)
    rows = len(adapter_of(source).column(source, promise.columns[0]))
    unit = replace(promise.unit, nonnegative=nonnegative)
    return promise.with_noise(OneDraw(unit, max(1, rows * len(promise.columns))))


def give_once(table: Path, promise: "Promise", told: ReleaseOptions) -> None:
    """Release a table once, or show what a release would promise."""
    told.answer.check_free(table, draws=told.memory.ledger is None)
    _give_checked(table, files.read(table), promise, told)


def _give_checked(table: Path, source: Any, promise: "Promise", told: ReleaseOptions) -> None:
    """Check a table, draw unless it is a rehearsal, and show or write the result."""
    answer = told.answer
    signer = answer.signer
    check_fits(answer, source, promise.columns, promise.public)
    with progress_bar(f"Checking and noising {table.name}"):
        promise.check(source)
        checked = checked_table(source, promise, told.level.read(), answer.confidence)
        if told.dry_run:
            return give_promise(checked.statement(), answer)
        released = checked.released(secure(None))
    give(released, answer, signer)


def by_plan(table: Path, told: ReleaseOptions) -> None:
    """Publish the sums of a plan, measured on a counted table."""
    from utmost.interfaces.cli.planned_release import planned_table
    from utmost.interfaces.cli.screens.workload_screens import check_document, release_by_plan

    answer, promised, once = told.answer, told.promised, told.once
    if not told.is_repeatable:
        check_document(answer.file, answer.sign, draws=told.memory.ledger is None)
    if told.memory.ledger is not None:
        check_counted_before(told.people, told.count_key)
    unread = Protected() if told.people.are_events else promised.protected
    measured = PersonOptions(mean=told.people.mean, neighbours=told.people.neighbours)
    refuse("cannot be chosen with --plan", TableAnswer(form=answer.form), once, unread, measured)
    plan = promised.plan
    assert plan is not None, "there is a plan"
    people = replace(told.people.people, count_key=told.count_key)
    counted = planned_table(table, people, told.spelling.cells, plan)
    if told.memory.ledger is not None:
        return keep(table, told, counted)
    check_once(told, counted)
    signer, sure = answer.signer, read_confidence(answer.confidence)
    where = (answer.file, signer)
    promise = promised.of(counted)
    release_by_plan(counted, promise, told.level.read(), sure, *where, as_json=answer.as_json, dry_run=told.dry_run)


def by_wanted_tables(table: Path, told: ReleaseOptions, wanted: list[str]) -> None:
    """Publish the wanted tables of a counted table: by the plan of `utmost plan`, or by noise that is drawn once."""
    from utmost.interfaces.cli.screens.workload_screens import check_document, release_by_plan
    from utmost.publish.counting.counted import CountedTable
    from utmost.publish.releases.planned_tables import least_once, plan_for
    from utmost.publish.workloads.sums_in_words import read_wanted

    answer, promised, level = told.answer, told.promised, told.level.read()
    is_once = told.once.once == "tables"
    if told.once.once is not None and not is_once:
        remedy = "Write --once tables: it takes the noise with the least error for these tables."
        raise OutOfRange("--want takes --once tables", came=f"--once {told.once.once}", remedy=remedy)
    other = replace(told.once, once=None)
    refuse("is the noise of cells: it does not go with --want", other)
    if is_once:
        refuse("needs noise for every level: it does not go with --once tables", promised.stopping)
    refuse("does not go with --want", TableAnswer(form=answer.form), promised.columns, promised.noise)
    if promised.stated is not None or promised.protected.cells is not None:
        came = "--cells" if promised.stated is None else "--promise"
        remedy = f"Leave out {came}."
        raise OutOfRange(
            "--want needs no promise: what one person changes is proved by counting", came=came, remedy=remedy
        )
    if told.memory.ledger is None:
        check_once(told)
        if not is_once:
            check_document(answer.file, answer.sign, draws=True)
    else:
        refuse("cannot be chosen with --ledger", told.once)
        check_counted_before(told.people, told.count_key)
        if not told.is_repeatable:
            check_document(answer.file, answer.sign)
    counted = counted_table(table, told.people, told.neighbours, told.spelling.cells, told.count_key)
    if isinstance(counted, dict):
        remedy = "Leave out --want: any total or mean follows from the one table (utmost total). Or keep one --mean."
        raise OutOfRange("--want needs counts, or one --mean", came="several --mean", remedy=remedy)
    if not isinstance(counted, CountedTable):
        remedy = "Add --each-row, or --person COLUMN, and --domain FILE; or give the .json that utmost count wrote."
        raise OutOfRange("--want needs people to count, or a counted table", came=table.name, remedy=remedy)
    amount = counted.unit.amount if counted.unit.is_shared else None
    workload = read_wanted(counted.domain, wanted, without=None if amount is None else amount.name)
    with progress_bar("Searching for shares"):
        plan = plan_for(workload, counted, level)
    if told.memory.ledger is not None:
        return keep(table, told, counted, plan)
    if is_once and (made_once := least_once(plan, counted, level)) is not None:
        read, promise = made_once
        if answer.file is not None and answer.file.suffix.lower() == ".json":
            remedy = f"Write --out {answer.file.with_suffix('.csv')}: its totals are the wanted tables (utmost total)."
            raise OutOfRange("noise made once must be written as a table", came=answer.file.name, remedy=remedy)
        answer.check_free(table, draws=True)
        return _give_checked(table, read, replace(promise, **promised.texts.given), told)
    if is_once:
        check_document(answer.file, answer.sign, draws=True)
    promise, sure = promised.of(counted, plan), read_confidence(answer.confidence)
    release_by_plan(
        counted, promise, level, sure, answer.file, answer.signer, as_json=answer.as_json, dry_run=told.dry_run
    )


def table_of_columns(table: Path, told: ReleaseOptions) -> None:
    """Publish columns of a table, each cell with noise at its share; events are counted first."""
    answer, promised = told.answer, told.promised
    is_document = told.people.mean is not None and answer.out is not None and answer.out.suffix.lower() == ".json"
    if (
        told.people.are_events and not told.is_repeatable and not is_document
    ):  # before counting, which may take a minute
        answer.check_free(table, draws=told.memory.ledger is None)
    if told.memory.ledger is not None:
        check_counted_before(told.people, told.count_key)
    counted = counted_table(table, told.people, told.neighbours, told.spelling.cells, told.count_key)
    if counted is None:
        promised.check_columns("columns", "sensitivity", "cells")
    elif isinstance(counted, dict):
        return table_of_measures(table, counted, told)
    elif counted.unit.needs_sizes and promised.stated is None:
        return table_of_sums(table, counted, told)
    if counted is not None:
        _tell_of_groups(counted)
    if told.memory.ledger is not None:
        return keep(table, told, counted)
    check_once(told, counted)
    promise = promised.of(counted)
    if promise.until is not None:
        return by_rule(table, counted, promise, told)
    if promised.stated is None:
        promise = promise.once(cost_of(told.once.cost))
    else:
        refuse("cannot be chosen with --promise, which has the complete promise", told.once)
    answer.check_free(table, draws=told.memory.ledger is None)
    signer = answer.signer
    large = _streamed(table, told) if counted is None else None
    if large is None and table.is_dir():
        raise OutOfRange(
            "--out must name a file where the table is a folder", came="none", remedy="Add --out released.parquet."
        )
    with progress_bar(f"Checking {table.name}" if large is not None else f"Checking and noising {table.name}"):
        source: Any = large
        if large is None:
            source = files.read(table) if counted is None else counted
            check_fits(answer, source, promise.columns, promise.public)
        promise.check(source)
        checked = checked_table(source, promise, told.level.read(), answer.confidence)
        if told.dry_run:
            return give_promise(checked.statement(), answer)
        released = checked.released(secure(None))
    give(released, answer, signer)


def _tell_of_groups(counted: "CountedTable") -> None:
    """Tell on standard error that the released table has the bins of an axis, and not its groups."""
    for axis in counted.domain.axes:
        if axis.whole is not None and len(axis.levels) > 1:
            names = ", ".join(axis.levels[1:])
            told = harmless(f"the released table has the bins of {axis.levels[0]}, and not its groups: {names}")
            where = harmless(f'--where "{axis.levels[0]}=LOW..HIGH"')
            sys.stderr.write(f"utmost: {told}. `utmost total` adds up bins: {where}.\n")


def by_rule(table: Path, counted: "CountedTable | None", promise: Promise, told: ReleaseOptions) -> None:
    """Publish columns of a table at the first level that meets a rule, without a ledger."""
    from utmost.publish.ledger.releasing import promised_statement, release

    answer, level = told.answer, told.level.read()
    refuse("does not go with --until", told.once)
    answer.check_free(table, draws=True)
    signer = answer.signer
    source = files.read(table) if counted is None else counted
    check_fits(answer, source, promise.columns, promise.public)
    if told.dry_run:
        assert promise.until is not None, "a rule chooses the level"
        ladder = promise.until.ladder(promise.noise, level, read_confidence(answer.confidence))
        return give_promise(promised_statement(source, promise, level), answer, ladder)
    with progress_bar(f"Checking and noising {table.name}"):
        released = release(source, promise, epsilon=level, confidence=answer.confidence)
    give(released, answer, signer)


def table_of_measures(table: Path, counted: "dict[str, CountedTable]", told: ReleaseOptions) -> None:
    """Publish counts, sums and means of several amounts in one table, each with an equal share of the level."""
    from utmost.interfaces.cli.screens.workload_screens import give_measures, give_promised_measures
    from utmost.publish.releases.measures_table import MeasuresTable, release_measures

    answer, level = told.answer, told.level.read()
    beside = told.promised.columns, told.promised.texts, told.promised.stopping
    refuse("does not go with sums and counts together", told.once, *beside)
    if told.promised.stated is not None:
        remedy = "Leave out --promise."
        raise OutOfRange("only one of --promise and several --mean may be given", came="both", remedy=remedy)
    for one in counted.values():
        check_fits(answer, one, (), ())
    if told.memory.ledger is not None:
        from utmost.interfaces.cli.means_in_ledger import publish_means_in_ledger

        counting, question = (told.people, told.spelling), question_of(told)
        return publish_means_in_ledger(table, counted, told.memory, question, dry_run=told.dry_run, counting=counting)
    check_once(told)
    if told.dry_run:
        return give_promised_measures(MeasuresTable.without_data(counted, level, answer.confidence), answer)
    answer.check_free(table, draws=True)
    signer = answer.signer
    with progress_bar("Noising"):
        measures = release_measures(counted, epsilon=level, confidence=answer.confidence)
    give_measures(measures, answer, signer)


def table_of_sums(table: Path, counted: "CountedTable", told: ReleaseOptions) -> None:
    """Publish the cells of a table that needs a plan: of amounts, or of persons bounded over all cells."""
    from utmost.interfaces.cli.screens.workload_screens import drawn_sums, give_cells, release_by_plan
    from utmost.publish.promises.sum_noise import SumNoise

    answer, level = told.answer, told.level.read()
    refuse("does not go with sums and counts together", told.once, told.promised.columns)
    promise = told.promised.of(counted)
    if told.memory.ledger is not None:
        return keep(table, told, counted)
    check_once(told, counted)
    assert isinstance(promise.noise, SumNoise), "the table needs a plan"
    signer, sure, out = answer.signer, read_confidence(answer.confidence), answer.file
    if told.dry_run or (out is not None and out.suffix.lower() == ".json"):
        where = (out, signer)
        return release_by_plan(counted, promise, level, sure, *where, as_json=answer.as_json, dry_run=told.dry_run)
    answer.check_free(table, draws=told.memory.ledger is None)
    check_fits(answer, counted, (), ())
    give_cells(drawn_sums(counted, promise, level, sure), answer, signer)


def _streamed(table: Path, told: ReleaseOptions) -> FilePieces | None:
    """Return a large table in pieces if it need not be shown on a screen; else None."""
    out = told.answer.file
    if out is None:
        return files.streamed(table, by_cells=True) if told.dry_run else None
    return files.streamed(table, by_cells=files.ending_of(out) in files.PARQUET)


def keep(table: Path, told: ReleaseOptions, counted: "CountedTable | None", plan: "Plan | None" = None) -> None:
    """Publish in a ledger; `plan` is for the counted table, if options name the wanted tables."""
    from utmost.interfaces.cli.ledger_answers import publish_in_ledger

    question = question_of(told)
    promise = told.promised.of(counted, plan)
    counting = told.people, told.spelling
    publish_in_ledger(table, promise, told.memory, question, dry_run=told.dry_run, brought=counted, counting=counting)


def question_of(told: ReleaseOptions) -> "Question":
    """Return the name, level and version of a release in a ledger."""
    from utmost.interfaces.cli.ledger_answers import Question

    refuse("cannot be chosen with --ledger", told.once)
    if told.memory.name is None:
        raise OutOfRange("--ledger needs --name", came="none", remedy="Add --name admissions, say.")
    return Question(name=told.memory.name, level=told.level, version=told.memory.version, answer=told.answer)


def check_once(told: ReleaseOptions, counted: "CountedTable | None" = None) -> None:
    """Refuse options that need a ledger, and a promise that does not fit the table."""
    refuse("needs --ledger", told.memory, told.promised.lasting)
    promise = told.promised.stated
    if promise is None:
        return
    if promise.keyed_by_id or (isinstance(promise.noise, Noise) and promise.noise.is_bounded):
        required = "a promise of noise by item, or of a largest value, needs --ledger"
        raise OutOfRange(required, came="none", remedy="Add --ledger releases.db --name NAME, say.")
    promise.check(counted)


def check_counted_before(people: PersonOptions, key: Path | None) -> None:
    """Check that a ledger with persons gets a counting key, or a counted table: a repeated count must agree."""
    if people.person is not None and key is None:
        remedy = (
            "Write `utmost init` in place of `utmost release TABLE`, with the same options: it makes a counting key. "
            "Then utmost release TABLE --recipe release.toml. Or count first by a key of your own: "
            "`head -c 32 /dev/urandom > count.key`, then utmost count TABLE --person ... --count-key count.key "
            "--out counted.json; and release counted.json."
        )
        raise OutOfRange(
            "--ledger with --person needs a counting key, so that the same rows of a person count each time",
            came="none",
            remedy=remedy,
        )


def counted_table(
    table: Path, persons: PersonOptions, neighbours: str, spelling: "Spelling", key: Path | None = None
) -> "CountedTable | dict[str, CountedTable] | None":
    """Return the counted table of events in the file, several by name, or that of `utmost count`; else None."""
    # `key` is the file of the counting key, so that a repeated count keeps the same rows.
    if persons.are_events:
        if persons.domain is None:
            from utmost.interfaces.cli.commands.count_command import DOMAIN_REMEDY

            required = "the possible values of each column must be listed in a file, without looking at the data"
            raise OutOfRange(required, came="no file", where="--domain", remedy=DOMAIN_REMEDY)
        from utmost.publish.statements.counted_files import read_domain

        counted: CountedTable | dict[str, CountedTable]
        people = replace(persons.people, count_key=key)
        counted = people.counted(table, read_domain(persons.domain), neighbours, spelling)
        return counted
    for option in options.told(persons):
        remedy = "Say who is one person: add --each-row if each row is another person, or --person COLUMN."
        raise OutOfRange("events need --person or --each-row", came=f"{option} without them", remedy=remedy)
    if table.suffix.lower() != ".json" or holds_records(table):
        return None
    from utmost.publish.statements.counted_files import COUNTED_FORM

    return COUNTED_FORM.read(table)
