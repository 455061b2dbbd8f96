"""`utmost share`: one level divided among several measures, each with its plan, by weights."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, sqrt
from pathlib import Path
from typing import Annotated, Any

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.levels import Level
from utmost.core.exact.levels import level as level_of
from utmost.core.exact.numbers import read_confidence
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.exact.written_levels import level_text
from utmost.errors import OutOfRange
from utmost.interfaces.cli.ledger_place import LedgerPlaceOptions, MemoryOfMany
from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import argument, option
from utmost.interfaces.cli.screens.screen import facts, grid, number, screen
from utmost.interfaces.cli.screens.terminal import ScreenGroup, ScreenText
from utmost.interfaces.cli.screens.workload_screens import check_document, document_writers, with_confidence
from utmost.interfaces.documents.reports import print_json
from utmost.publish.counting.counted import CountedTable
from utmost.publish.ledger.shared_measures import shared_requests
from utmost.publish.releases.checked_sums import CheckedSums, counted_for
from utmost.publish.releases.shared_release import release_shared
from utmost.publish.statements.counted_files import COUNTED_FORM
from utmost.publish.statements.plan_files import PLAN_FORM
from utmost.publish.workloads.planning.shared_level import SharedLevel, share_level
from utmost.publish.workloads.sums_in_words import TOTAL
from utmost.tables.files.atomic import Writer, write_together
from utmost.tables.files.signatures import signature_path, signer_of

RARE = ("--up-to", "--relax", "--dataset", "--independent", "--yes")


def share(
    plans: Annotated[
        list[file_options.File],
        argument("PLAN...", "Files of `utmost plan`, one for each measure.", parser=file_options.readable),
    ],
    *,
    level: options.AskedLevel,
    weight: Annotated[
        list[str] | None,
        option("NAME=NUMBER", "Weight of a measure's accuracy: visits=3."),
    ] = None,
    up_to: Annotated[str | None, option("NUMBER", "Largest epsilon to which the measures will be relaxed.")] = None,
    publish: Annotated[
        Path | None,
        option(
            "FILE",
            "Counted tables to release: counted.json reads counted-NAME.json for plan NAME.json.",
        ),
    ] = None,
    relax: Annotated[
        Path | None,
        option("FILE", "Counted tables that --publish published in a ledger, to relax."),
    ] = None,
    memory: MemoryOfMany,
    sign: options.Sign = None,
    confidence: options.Confidence = DEFAULT_CONFIDENCE,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
    out: Annotated[
        Path | None,
        option(
            "FILE",
            "File for the shares (.json); releases go to FILE-NAME.json.",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Divide one privacy level among several measures of the same people, with least weighted error.

    utmost share visits.json spent.json --weight visits=3 --epsilon 1 --publish counted.json --out r.json

    More: docs/reference/counting.md
    """
    _check(publish, relax, memory, sign, dry_run=dry_run)
    files = {path.stem: path for path in plans}
    if len(files) < len(plans):
        remedy = "Rename one file: the name of a plan is the name of its measure."
        raise OutOfRange("plans must have different file names", came="two alike", remedy=remedy)
    at, highest = level.read(), None if up_to is None else level_of(up_to)
    chosen = {name: PLAN_FORM.read(path) for name, path in files.items()}
    with progress_bar("Searching for shares"):
        shared = share_level(chosen, epsilon=at, weights=weights_of(weight), up_to=highest)
        report = report_of(shared)
    counted = publish or relax
    if counted is None:
        if options.Output(out, as_json).give(report):
            show(report, files)
        return
    tables = _counted_tables(counted, shared)
    with options.protected(yes):
        if relax is not None:
            with memory.place.opened() as ledger:
                ledger.relax_shared(tables, shared)
            report["ledger"] = {"place": memory.ledger, "done": "relaxed"}
            if options.Output(out, as_json).give(report):
                show(report, files)
            return
        if dry_run:
            _rehearse(tables, shared)
            report = {"dry_run": True, **report}
            return print_json(report) if as_json else show(report, files)
        written = Written(out, sign, read_confidence(confidence), again=memory.ledger is not None)
        _publish(tables, shared, memory, publish_as=counted.stem, written=written, report=report, as_json=as_json)
    if not as_json and (memory.ledger is not None or written.out is not None):
        show(report, files)


@dataclass(frozen=True, slots=True)
class Written:
    """The files of the releases of several measures, beside the named file."""

    # `again`: the files may exist as answers of a repeated request, and are compared.

    out: Path | None
    sign: Path | None
    confidence: Fraction
    again: bool

    def paths(self, names: Iterable[str]) -> dict[str, Path]:
        out = file_options.file_of(self.out)
        return {} if out is None else {name: file_options.beside(out, name) for name in names}

    def check(self, paths: Iterable[Path]) -> None:
        """Check that the files can be written, before any draw."""
        for path in paths:
            if not (self.again and (path.is_file() or signature_path(path).is_file())):
                check_document(path, self.sign)


def _publish(
    tables: dict[str, CountedTable],
    shared: SharedLevel,
    memory: MemoryOfMany,
    *,
    publish_as: str,
    written: Written,
    report: dict[str, Any],
    as_json: bool,
) -> None:
    """Release all measures, once or in a ledger, and write all of them or none."""
    paths = written.paths(tables)
    written.check(paths.values())
    signer = None if written.sign is None else signer_of(written.sign)
    releases: dict[str, Any]
    if memory.ledger is not None:
        there = [path for path in paths.values() if path.is_file() or signature_path(path).is_file()]
        if there and not _are_answered(memory.place, shared.levels(shared.level)):
            check_document(there[0], written.sign)  # refuse a file that is no repeated answer
        with memory.place.opened() as ledger:
            dataset = memory.dataset or publish_as
            requests = shared_requests(tables, shared, dataset=dataset, independent=memory.independent)
            answers = ledger.publish_measures(requests, tables)
            releases = {name: answer.table for name, answer in answers.items()}
        report["ledger"] = {"place": memory.ledger, "done": "published"}
    else:
        with progress_bar("Noising"):
            releases = {name: answer.table for name, answer in release_shared(tables, shared).items()}
    sure = {name: with_confidence(release, written.confidence) for name, release in releases.items()}
    writers: dict[Path, Writer] = {}
    for name, path in paths.items():
        writers |= document_writers(sure[name], path, signer, again=written.again)
    if writers:
        write_together(writers)
    report["files"] = {name: str(path) for name, path in paths.items()}
    if as_json or not (paths or memory.ledger):
        print_json({**report, "releases": {name: release.facts() for name, release in sure.items()}})


def _check(publish: Path | None, relax: Path | None, memory: MemoryOfMany, sign: Path | None, *, dry_run: bool) -> None:
    """Check that the options go together."""
    if publish is not None and relax is not None:
        raise OutOfRange("only one of --publish and --relax may be given", came="both", remedy="Leave one out.")
    if publish is relax is None:
        options.refuse("needs --publish or --relax", memory)
        for name, given in (("--sign", sign is not None), ("--dry-run", dry_run)):
            if given:
                raise OutOfRange(f"{name} needs --publish", came="none", remedy=f"Add --publish, or leave out {name}.")
    if relax is not None and memory.ledger is None:
        remedy = "Add --ledger releases.db: each measure has the name of its plan there."
        raise OutOfRange("--relax needs --ledger", came="none", remedy=remedy)
    if relax is not None and dry_run:
        remedy = "Leave out --dry-run: utmost relax --dry-run shows what one of them would spend."
        raise OutOfRange("--dry-run needs --publish", came="--relax", remedy=remedy)
    if memory.ledger is None:
        options.refuse("needs --ledger", memory)


def _counted_tables(whole: Path, shared: SharedLevel) -> dict[str, CountedTable]:
    """Read the counted table of each plan, with the names of `utmost count --measures FILE --out counted.json`."""
    files = {name: file_options.readable(str(file_options.beside(whole, name))) for name in shared.plans}
    tables = {name: COUNTED_FORM.read(path) for name, path in files.items()}
    for name, counted in tables.items():
        if counted.measure not in (None, name):
            required = f"the counted table of {name} must be of this measure"
            raise OutOfRange(required, came=counted.measure, where=files[name].name)
    return tables


def _rehearse(tables: dict[str, CountedTable], shared: SharedLevel) -> None:
    """Run all checks of a release of the measures."""
    for name, level in shared.levels(shared.level).items():
        CheckedSums.of(*counted_for(tables[name], shared.plans[name]), level)


def _are_answered(place: LedgerPlaceOptions, levels: Mapping[str, Level]) -> bool:
    """Check whether a ledger has answered all measures at these levels."""
    with place.opened() as ledger:
        answered = {(release.name, level) for release in ledger.releases for level in release.levels}
    return answered >= set(levels.items())


def weights_of(texts: list[str] | None) -> dict[str, str]:
    return options.named_values(texts, "a weight is written NAME=NUMBER", "--weight", "visits=3")


def report_of(shared: SharedLevel) -> dict[str, Any]:
    return {
        "level": level_text(shared.level),
        "within": shared.within,
        "measures": {
            name: {
                "share": str(shared.shares[name]),
                "level": level_text(level),
                "standard_deviations": {part: sqrt(v) for part, v in shared.plans[name].variances.items()},
            }
            for name, level in shared.levels(shared.level).items()
        },
    }


def show(report: dict[str, Any], files: dict[str, Path]) -> None:
    """Show the shares, and for each measure the next command, or the written file."""
    rows, commands = [], {}
    for name, measure in report["measures"].items():
        deviations = measure["standard_deviations"].items()
        shown = ", ".join(f"{part or TOTAL} {number(deviation, 4)}" for part, deviation in deviations)
        rows.append([name, measure["share"], measure["level"], shown])
        if report.get("dry_run"):
            continue
        commands[name] = f"utmost release COUNTED --plan {files[name]} --epsilon {measure['level']} --out release.json"
        if name in report.get("files", {}):
            commands[name] = f"released, {report['files'][name]}"
            continue
        if (ledger := report.get("ledger")) is not None:
            view = f"utmost view --ledger {ledger['place']} --name {name} --epsilon {measure['level']}"
            commands[name] = f"{ledger['done']}; {view} --out {name}-released.json"
    nothing = "Nothing was drawn. " if report.get("dry_run") else ""
    within = report["within"]
    best = {} if within is None else {"error": f"at most {ceil(within * 1000) / 1000:g} times that of any other shares"}
    screen().print(
        ScreenGroup(
            ScreenText(f"{nothing}epsilon = {report['level']}, shared:", style="bold"),
            grid(["measure", "share", "epsilon", "standard deviation"], rows, left=4),
            facts(best | commands),
        )
    )
