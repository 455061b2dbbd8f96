"""`utmost release --measure`: several measures at one level that they share, once or in a ledger, all or none."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from utmost.core.exact.levels import Level
from utmost.core.exact.levels import level as level_of
from utmost.core.exact.long_work import long_work
from utmost.core.exact.numbers import read_confidence
from utmost.errors import OutOfRange
from utmost.interfaces.cli.commands import share_command
from utmost.interfaces.cli.ledger_place import Place
from utmost.interfaces.cli.options.file_options import beside, readable
from utmost.interfaces.cli.options.release_options import Measures, ReleaseOptions
from utmost.interfaces.cli.options.shared_options import named_values, refuse
from utmost.interfaces.cli.screens.workload_screens import check_document, document_writers, with_confidence
from utmost.interfaces.documents.reports import print_json
from utmost.publish.counting.counted import CountedTable
from utmost.publish.releases.noised_workloads import counted_for
from utmost.publish.releases.shared_release import release_shared
from utmost.publish.releases.table import rehearse_table
from utmost.publish.statements.counted_files import COUNTED_FORM, read_domain
from utmost.publish.statements.plan_files import PLAN_FORM
from utmost.publish.workloads.planning.shared_level import SharedLevel, share_level
from utmost.tables.files.atomic import write_together


def publish_several(table: Path, told: ReleaseOptions) -> None:
    """Share the level, count or read the measures, and release all of them."""
    answer, plans = told.answer, _plans(told.measures)
    paths = {} if answer.file is None else {name: beside(answer.file, name) for name in plans}
    # A ledger gives the same answers again, which are compared with files that are there; else nothing may be there.
    again = told.memory.ledger is not None
    there = again and any(path.is_file() for path in paths.values())
    for path in paths.values():
        if not (there and path.is_file()):
            check_document(path, answer.sign)
    signer, sure = answer.signer, read_confidence(answer.confidence)
    shared = _shared(told, plans)
    tables = _tables(table, told, shared)
    report = share_command.report_of(shared)
    if told.dry_run:
        for name, level in shared.levels(shared.level).items():
            counted, promise = counted_for(tables[name], shared.strategies[name])
            rehearse_table(counted, promise, epsilon=level)
        report = {"dry_run": True, **report}
        return print_json(report) if answer.as_json else share_command.show(report, plans)
    if told.memory.ledger is not None:
        memory = told.memory
        levels = shared.levels(shared.level)
        if there and not (memory.place.is_there and _are_answered(memory.place, levels)):
            check_document(next(path for path in paths.values() if path.is_file()), answer.sign)
        with memory.place.opened(create=memory.create) as ledger:
            call: dict[str, Any] = {"dataset": memory.dataset or table.stem, "independent": memory.independent}
            releases: dict[str, Any] = ledger.publish_shared(tables, shared, **call)
    else:
        with long_work("Noising"):
            releases = dict(release_shared(tables, shared))
    writers: dict[Path, Any] = {}
    for name, path in paths.items():
        writers |= document_writers(with_confidence(releases[name], sure), path, signer, again=again)
    if writers:
        write_together(writers)
    documents = {name: with_confidence(release, sure).facts() for name, release in releases.items()}
    if answer.as_json or not paths:
        print_json({"measures": documents})
    if not answer.as_json:
        report["files"] = {name: str(path) for name, path in paths.items()}
        share_command.show(report, plans)


def _are_answered(place: Place, levels: Mapping[str, Level]) -> bool:
    """Whether a ledger has answered all measures at these levels."""
    with place.opened() as ledger:
        answered = {(release.name, level) for release in ledger.releases for level in release.levels}
    return answered >= set(levels.items())


def _plans(measures: Measures) -> dict[str, Path]:
    written = "a measure is written NAME=PLAN"
    paths = named_values(measures.measure, written, "--measure", "--measure visits=visits.json")
    return {name: readable(path) for name, path in paths.items()}


def _shared(told: ReleaseOptions, plans: dict[str, Path]) -> SharedLevel:
    measures = told.measures
    highest = None if measures.up_to is None else level_of(measures.up_to)
    weights = share_command.weights_of(measures.weight)
    strategies = {name: PLAN_FORM.read(path) for name, path in plans.items()}
    with long_work("Searching for shares"):
        return share_level(strategies, epsilon=told.level.read(), weights=weights, up_to=highest)


def _tables(table: Path, told: ReleaseOptions, shared: SharedLevel) -> dict[str, CountedTable]:
    """The counted tables: of the events in a file, or in files that `utmost count --measures` wrote."""
    people, names = told.people, list(shared.strategies)
    if people.are_events:
        if people.measures is None or people.domain is None:
            missing = "--measures" if people.measures is None else "--domain"
            raise OutOfRange("measures are counted by --measures and --domain", came=f"no {missing}")
        neighbours = next(iter(shared.strategies.values())).unit.neighbours
        tables: dict[str, CountedTable] = people.counted(
            table, read_domain(people.domain), neighbours, told.spelling.cells
        )
        if set(tables) != set(names):
            remedy = f"The measures are {', '.join(tables)}."
            raise OutOfRange("there must be a --measure for each that is counted", came=", ".join(names), remedy=remedy)
        return tables
    whole = next((table.stem.removesuffix(f"-{name}") for name in names if table.stem.endswith(f"-{name}")), None)
    refuse("is for events", people)
    if whole is None or table.suffix.lower() != ".json":
        remedy = "Name one of the files that utmost count --measures wrote, counted-visits.json; the others lie beside."
        raise OutOfRange("a counted table must bear the name of a measure", came=table.name, remedy=remedy)
    files = {name: readable(str(beside(table.with_name(f"{whole}{table.suffix}"), name))) for name in names}
    tables = {name: COUNTED_FORM.read(path) for name, path in files.items()}
    for name, counted in tables.items():
        if counted.measure not in (None, name):
            required = f"the counted table of {name} must be of this measure"
            raise OutOfRange(required, came=counted.measure, where=files[name].name)
    return tables
