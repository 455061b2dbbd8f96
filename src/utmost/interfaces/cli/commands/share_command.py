"""`utmost share`: divide one level among several measures, each with a plan and a weight."""

import os
from math import ceil, sqrt
from pathlib import Path
from typing import Annotated, Any

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.levels import level as level_of
from utmost.core.exact.numbers import read_confidence
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.exact.written_levels import level_text
from utmost.errors import OutOfRange
from utmost.interfaces.cli.ledger_place import LedgerBudgetOptions
from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import argument, option
from utmost.interfaces.cli.screens.screen import facts, grid, number, screen
from utmost.interfaces.cli.screens.terminal import ScreenGroup, ScreenText
from utmost.interfaces.cli.screens.workload_screens import check_document, document_writers, with_confidence
from utmost.interfaces.documents.reports import print_json
from utmost.publish.ledger.shared_measures import shared_requests
from utmost.publish.promises.table_statements import promise_text
from utmost.publish.releases.checked_sums import CheckedSums, counted_for
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.releases.shared_release import release_shared
from utmost.publish.statements.counted_files import COUNTED_FORM
from utmost.publish.statements.plan_files import PLAN_FORM
from utmost.publish.workloads.planning.shared_level import SharedLevel, share_level
from utmost.publish.workloads.sums_in_words import TOTAL_WORD
from utmost.tables.files.atomic import Writer, write_together
from utmost.tables.files.signatures import signature_path, signer_of

RARE = ("--up-to", "--relax", "--dataset", "--independent", "--yes")


def share(
    plans: Annotated[
        list[file_options.File],
        argument("PLAN...", "Files of `utmost plan`, one for each measure.", parser=file_options.readable),
    ],
    *,
    level: options.LevelOptions,
    weight: Annotated[
        list[str] | None,
        option("NAME=NUMBER", "Weight of a measure's error, say visits=3."),
    ] = None,
    up_to: Annotated[str | None, option("NUMBER", "Largest epsilon to which the measures will be relaxed.")] = None,
    publish: Annotated[
        Path | None,
        option(
            "FILE",
            "Counted tables to release; counted.json stands for the files counted-NAME.json, one for each plan "
            "NAME.json.",
        ),
    ] = None,
    relax: Annotated[
        Path | None,
        option("FILE", "Counted tables to relax, which --publish published in a ledger."),
    ] = None,
    memory: LedgerBudgetOptions,
    sign: options.Sign = None,
    confidence: options.Confidence = DEFAULT_CONFIDENCE,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
    out: Annotated[
        Path | None,
        option(
            "FILE",
            "File for the shares, say r.json; the release by plan NAME.json goes to r-NAME.json.",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Divide one privacy level among several measures of the same people, with least weighted error.

    utmost share visits.json spent.json --weight visits=3 --epsilon 1 --publish counted.json --out r.json

    More: docs/reference/counting.md
    """
    if publish is not None and relax is not None:
        raise OutOfRange("only one of --publish and --relax may be given", came="both", remedy="Leave one out.")
    if publish is relax is None:
        options.refuse("needs --publish or --relax", memory)
    of_releases = {"--sign": sign is not None, "--confidence": confidence != DEFAULT_CONFIDENCE}
    of_releases |= {"--dry-run": dry_run} if relax is None else {}
    for name, given in of_releases.items():
        if given and publish is None:
            came = "none" if relax is None else "--relax"
            raise OutOfRange(f"{name} needs --publish", came=came, remedy=f"Leave out {name}; or add --publish.")
    if relax is not None and memory.ledger is None:
        remedy = "Add --ledger releases.db: each measure has the name of its plan there."
        raise OutOfRange("--relax needs --ledger", came="none", remedy=remedy)
    if relax is not None and dry_run:
        remedy = "Leave out --dry-run: utmost relax --dry-run shows what a single measure would spend."
        raise OutOfRange("--dry-run needs --publish", came="--relax", remedy=remedy)
    if memory.ledger is None:
        options.refuse("needs --ledger", memory)

    files = {path.stem: path for path in plans}
    if len(files) < len(plans):
        remedy = "Rename one file: the file name of a plan is the name of its measure."
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

    # Files of counted tables by plan, named as `utmost count --measures FILE --out counted.json` names them.
    counted_files = {name: file_options.readable(str(file_options.named_file(counted, name))) for name in shared.plans}
    tables = {name: COUNTED_FORM.read(path) for name, path in counted_files.items()}
    for name, table in tables.items():
        if table.measure not in (None, name):
            required = f"the counted table for the plan {name} must count the measure {name}"
            raise OutOfRange(required, came=table.measure, where=counted_files[name].name)

    with options.refusing_weak_levels(yes):
        if relax is not None:
            output = options.Output(out, as_json)  # refuses a file that exists
            with memory.place.opened() as ledger:
                ledger.relax_shared(tables, shared)
            report["ledger"] = {"place": memory.ledger, "done": "relaxed"}
            if output.give(report):
                show(report, files)
            return
        # Release all measures, once or in a ledger, and write all files or none. In a ledger, the files of a repeated
        # call exist already; they are compared with the stored answers.
        sure, file, in_ledger = read_confidence(confidence), file_options.file_of(out), memory.ledger is not None
        paths = {} if file is None else {name: file_options.named_file(file, name) for name in tables}
        existing = [path for path in paths.values() if any(map(os.path.isfile, (path, signature_path(path))))]
        for path in paths.values():
            if not in_ledger or path not in existing:
                check_document(path, sign)
        signer = None if sign is None else signer_of(sign)
        releases: dict[str, NoisySums]
        if in_ledger and existing:
            with memory.place.opened() as ledger:
                answered = {(release.name, each) for release in ledger.releases for each in release.levels}
            if not answered >= set(shared.levels(shared.level).items()):
                check_document(existing[0], sign)  # refuse a file that is no repeated answer
        if dry_run:
            for name, own in shared.levels(shared.level).items():  # make all checks of a release
                CheckedSums.of(*counted_for(tables[name], shared.plans[name]), own)
            report = {"dry_run": True, **report}
            return print_json(report) if as_json else show(report, files)
        if in_ledger:
            with memory.place.opened() as ledger:
                dataset = memory.dataset or counted.stem
                requests = shared_requests(tables, shared, dataset=dataset, independent=memory.independent)
                answers = ledger.publish_measures(requests, tables)
            report["ledger"] = {"place": memory.ledger, "done": "published"}
        else:
            with progress_bar("Noising"):
                answers = release_shared(tables, shared)
        releases = {name: with_confidence(answer.table, sure) for name, answer in answers.items()}
        writers: dict[Path, Writer] = {}
        for name, path in paths.items():
            writers |= document_writers(releases[name], path, signer, again=in_ledger)
        if writers:
            write_together(writers)
        report["files"] = {name: str(path) for name, path in paths.items()}
        if as_json or not (paths or in_ledger):
            print_json({**report, "releases": {name: release.facts() for name, release in releases.items()}})
    if not as_json and (in_ledger or out is not None):
        show(report, files)


def weights_of(texts: list[str] | None) -> dict[str, str]:
    return options.named_values(texts, "a weight must be written as NAME=NUMBER", "--weight", "--weight visits=3")


def report_of(shared: SharedLevel) -> dict[str, Any]:
    units = {name: plan.unit for name, plan in shared.plans.items()}
    changes = "; ".join(f"{unit.changes_text('cell')} ({name})" for name, unit in units.items())
    return {
        "level": level_text(shared.level),
        "guarantee": promise_text(shared.level, next(iter(units.values())), "all releases together", changes),
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
    """Print the shares, and for each measure the next command or the written file."""
    rows, commands = [], {}
    for name, measure in report["measures"].items():
        deviations = measure["standard_deviations"].items()
        shown = ", ".join(f"{part or TOTAL_WORD} {number(deviation, 4)}" for part, deviation in deviations)
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
    best = (
        {}
        if within is None
        else {"error": f"at most {ceil(within * 1000) / 1000:g} times the error with any other shares"}
    )
    screen().print(
        ScreenGroup(
            ScreenText(f"{nothing}epsilon = {report['level']}, shared:", style="bold"),
            grid(["measure", "share", "epsilon", "standard deviation"], rows, left=4),
            facts(best | commands | {"promise": report["guarantee"]}),
        )
    )
