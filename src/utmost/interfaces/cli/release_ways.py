"""The ways in which `utmost release` publishes a file, and which options go with each."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utmost.core.exact.long_work import long_work
from utmost.core.exact.numbers import read_confidence
from utmost.core.privacy.unit import read_unit
from utmost.errors import OutOfRange
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.people_options import People, split_names
from utmost.interfaces.cli.options.promise_options import Columns, Protected
from utmost.interfaces.cli.options.release_options import Once, ReleaseOptions
from utmost.interfaces.cli.options.shared_options import refuse
from utmost.interfaces.cli.options.table_options import TableAnswer, check_fits
from utmost.interfaces.cli.screens.release_screen import give
from utmost.interfaces.documents.cost_files import cost_of
from utmost.publish.promises.promise import Promise
from utmost.publish.releases.table import rehearse_table, release_table
from utmost.tables.files import files
from utmost.tables.files.file_pieces import FilePieces

if TYPE_CHECKING:
    from utmost.publish.counting.counted import CountedTable
    from utmost.tables.cells.spelling import Spelling

_NO_PLACE: dict[str, Any] = {
    name: None if name not in ("create", "independent") else False
    for name in ("ledger", "create", "dataset", "independent", "key_file", "witness")
}
"""What of a memory is of all that is kept there, and not of one release."""


def publish_table(table: Path, told: ReleaseOptions) -> None:
    """Publish a file, in the way that its options name.

    Raises:
        OutOfRange: for options that nobody would read, before anything is.
    """
    told.level.read(), told.answer.file  # refused before all else
    source = told.spelling.of(table, is_counted=told.people.are_given)
    told.promised.check()
    if told.measures.measure:
        return several(source, told)
    refuse("needs --measure", told.measures)
    if told.details.group is not None:
        return detailed(source, told)
    refuse("needs --group", told.details)
    if told.promised.is_whole:
        whole(source, told)
    elif told.once.together:
        together(source, told)
    elif told.promised.is_planned:
        by_plan(source, told)
    else:
        refuse("needs --plan", Once(tables=told.once.tables))
        refuse("needs --together", Once(nonnegative=told.once.nonnegative))
        table_of_columns(source, told)


def several(table: Path, told: ReleaseOptions) -> None:
    """Several measures at one level that they share: in a ledger, or once, all or none."""
    from utmost.interfaces.cli.measures_release import publish_several

    memory = told.memory
    refuse("does not go with --measure", told.promised, told.once, TableAnswer(form=told.answer.form))
    _check_key(told)
    refuse("does not go with --measure: each has its own name", replace(memory, **_NO_PLACE))
    if memory.ledger is None:
        refuse("needs --ledger", memory)
    publish_several(table, told)


def detailed(table: Path, told: ReleaseOptions) -> None:
    """Sums of groups, and of each the breakdown that its noisy sum chooses; events are counted first."""
    from utmost.interfaces.cli.two_stages import publish_detailed

    promised = replace(told.promised, protected=Protected(neighbours=told.promised.protected.neighbours))
    refuse("does not go with --group", replace(promised, protected=Protected()), told.once)
    refuse("does not go with --group; publish both tables in a ledger, in turn", told.memory)
    counted = _counted(table, told.people, told.promised.neighbours, told.spelling.cells)
    if counted is None:
        remedy = "Count first, or here: --person, --at-most and --domain."
        raise OutOfRange("details are of a counted table", came=table.name, where="--group", remedy=remedy)
    publish_detailed(counted, told)


def whole(table: Path, told: ReleaseOptions) -> None:
    """A promise that is of no counted table and of no cells: published in a ledger, or once."""
    name = "--planar" if told.promised.stated is None else "such a promise"
    refuse(f"does not go with {name}", told.once, told.people)
    if told.memory.ledger is not None:
        return keep(table, told, None)
    check_once(told)
    give_once(table, told.promised.of(), told)


def together(table: Path, told: ReleaseOptions) -> None:
    """Columns of which one individual changes the cells of one row, and no other cell."""
    from utmost.publish.promises.noise_together import once_together
    from utmost.publish.promises.promise import Promise

    promised = told.promised
    cells = Protected(cells=promised.protected.cells)
    once = replace(told.once, together=False, relaxable=False, nonnegative=False, cost=Once().cost)
    other = replace(promised, columns=Columns(), protected=cells)
    refuse("does not go with --together", other, told.memory, once, told.people)
    promised.check_columns("columns", "sensitivity")
    columns, released = promised.columns, promised.columns.released or []
    unit = read_unit(None, promised.protected.sensitivity, len(released), promised.neighbours, needs=("sensitivity",))
    check_fits(told.answer, table, released, split_names(columns.public or []))  # before a plan that may take minutes
    least: dict[str, Any] = {"unit": replace(unit, nonnegative=told.once.nonnegative), "cost": told.once.cost}
    promise = Promise(
        released,
        public=split_names(columns.public or []),
        drop=split_names(columns.drop or []),
        rows=columns.rows or "declared",
        id_column=columns.id_column,
        noise=once_together(released, relaxable=told.once.relaxable, **least),
    )
    give_once(table, promise, told)


def give_once(table: Path, promise: "Promise", told: ReleaseOptions) -> None:
    """Release a table once and for all as it is promised, or say what a release would promise, and show it."""
    answer, publish = told.answer, rehearse_table if told.dry_run else release_table
    answer.check_free(table)
    signer, source = answer.signer, files.read(table)
    check_fits(answer, source, promise.columns, promise.public)
    with long_work(f"Checking and noising {table.name}"):
        release = publish(source, promise, epsilon=told.level.read(), confidence=answer.confidence)
    give(release, answer, signer)


def by_plan(table: Path, told: ReleaseOptions) -> None:
    """The sums of a plan, measured on a counted table."""
    from utmost.interfaces.cli.planned_release import planned_table
    from utmost.interfaces.cli.screens.workload_screens import check_document, release_by_plan

    answer, promised, once = told.answer, told.promised, told.once
    if not told.is_repeatable:
        check_document(answer.file, answer.sign)
    _check_key(told)
    unread = Protected() if told.people.are_given else promised.protected
    refuse("cannot be chosen with --plan", TableAnswer(form=answer.form), replace(once, tables=None), unread)
    strategy = promised.strategy
    assert strategy is not None, "there is a plan"
    counted = planned_table(table, told.people, promised.neighbours, told.spelling.cells, strategy)
    if told.memory.ledger is not None:
        return keep(table, told, counted)
    check_once(told, counted)
    signer, sure = answer.signer, read_confidence(answer.confidence)
    where = (answer.file, signer, once.tables)
    release_by_plan(counted, strategy, told.level.read(), sure, *where, as_json=answer.as_json, dry_run=told.dry_run)


def table_of_columns(table: Path, told: ReleaseOptions) -> None:
    """Columns of a table, each cell noised at its share; events are counted first."""
    answer, promised = told.answer, told.promised
    if told.people.are_events and not told.is_repeatable:  # before what may take a minute
        answer.check_free(table)
    _check_key(told)
    counted = _counted(table, told.people, promised.neighbours, told.spelling.cells)
    if counted is None:
        promised.check_columns("columns", "sensitivity", "cells")
    if told.memory.ledger is not None:
        return keep(table, told, counted)
    check_once(told, counted)
    words: dict[str, Any] = {"epsilon": told.level.read(), "confidence": answer.confidence}
    if promised.stated is None:
        words |= {"relaxable": told.once.relaxable, "cost": cost_of(told.once.cost)}
    else:
        refuse("cannot be chosen with --promise, which says all that is promised", told.once)
        words |= {"cost": None}  # the noise is the one that the file says
    promise = promised.of(counted)
    answer.check_free(table)
    signer = answer.signer
    large = _streamed(table, told) if counted is None else None
    if large is None and table.is_dir():
        raise OutOfRange("a folder is released into a file", came="none", where="--out")
    with long_work(f"Checking {table.name}" if large is not None else f"Checking and noising {table.name}"):
        source: Any = large
        if large is None:
            source = files.read(table) if counted is None else counted
            check_fits(answer, source, promise.columns, promise.public)
        release = (rehearse_table if told.dry_run else release_table)(source, promise, **words)
    give(release, answer, signer)


def _streamed(table: Path, told: ReleaseOptions) -> FilePieces | None:
    """The table in pieces, where it is large and nobody wants it on the screen; by its cells where it stays Parquet."""
    out = told.answer.file
    if out is None:
        return files.streamed(table, by_cells=True) if told.dry_run else None
    return files.streamed(table, by_cells=files.ending_of(out) in files.PARQUET)


def keep(table: Path, told: ReleaseOptions, counted: "CountedTable | None") -> None:
    """Publish in a ledger.

    Raises:
        OutOfRange: for what there is only without one, and where the release has no name.
    """
    from utmost.interfaces.cli.ledger_answers import Question, publish_in_ledger

    refuse("cannot be chosen with --ledger", told.once)
    if told.memory.name is None:
        raise OutOfRange("a release in a ledger needs a name", came="none", where="--name")
    question = Question(name=told.memory.name, level=told.level, version=told.memory.version, answer=told.answer)
    promise = told.promised.of(counted)
    publish_in_ledger(table, promise, told.memory, question, dry_run=told.dry_run, brought=counted)


def check_once(told: ReleaseOptions, counted: "CountedTable | None" = None) -> None:
    """Check that nothing is asked for that only a ledger does, and that a promise in a file is one for the table."""
    refuse("needs --ledger", told.memory, told.promised.lasting)
    promise = told.promised.stated
    if promise is None:
        return
    if promise.by_item or promise.noise.largest is not None:
        required = "a promise of noise by item or of a largest value needs --ledger"
        raise OutOfRange(required, came="none", where="--promise")
    promise.check(counted)


def _check_key(told: ReleaseOptions) -> None:
    if told.memory.ledger is not None and told.people.person is not None and told.people.count_key is None:
        remedy = "Keep a file of 32 random bytes for it; or let utmost count write the table, and release its file."
        raise OutOfRange("what a ledger keeps is counted alike each time", came="no --count-key", remedy=remedy)


def _counted(table: Path, people: People, neighbours: str, spelling: "Spelling") -> "CountedTable | None":
    """The counted table where the file holds events, or one that `utmost count` wrote; else None."""
    if people.measures is not None:
        remedy = "Count first: utmost count TABLE --measures FILE --out counted.json, and release each file."
        raise OutOfRange("a release is of one table", came="several measures", where="--measures", remedy=remedy)
    if people.are_given:
        if people.domain is None:
            from utmost.interfaces.cli.commands.count_command import DOMAIN_REMEDY

            required = "events are counted over a declared domain"
            raise OutOfRange(required, came="no file", where="--domain", remedy=DOMAIN_REMEDY)
        from utmost.publish.statements.counted_files import read_domain

        events: CountedTable = people.counted(table, read_domain(people.domain), neighbours, spelling)
        return events
    refuse("needs --person, --count-column or --nested: a counted table has its domain", People(domain=people.domain))
    for option in options.told(people):
        raise OutOfRange("events need --person, --count-column or --nested", came=f"{option} without them")
    if table.suffix.lower() != ".json":
        return None
    from utmost.publish.statements.counted_files import COUNTED_FORM

    counted = COUNTED_FORM.read(table)
    if counted.unit.neighbours != neighbours == "add-remove":
        required = f"this table was counted for {counted.unit.neighbours}"
        raise OutOfRange(required, came=neighbours, where="--neighbours")
    return counted
