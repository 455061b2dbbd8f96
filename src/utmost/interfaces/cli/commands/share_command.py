"""`utmost share`: one level for several measures, each by its plan: which share each gets, by weights."""

from math import ceil, sqrt
from pathlib import Path
from typing import Annotated, Any

from utmost.core.exact.levels import level as level_of
from utmost.core.exact.long_work import long_work
from utmost.core.exact.written_levels import level_text
from utmost.errors import OutOfRange
from utmost.interfaces.cli.ledger_place import MemoryOfMany
from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import argument, option
from utmost.interfaces.cli.screens.screen import facts, grid, number, screen
from utmost.interfaces.cli.screens.terminal import Group, Text
from utmost.publish.statements.counted_files import COUNTED_FORM
from utmost.publish.statements.plan_files import PLAN_FORM
from utmost.publish.workloads.planning.shared_level import SharedLevel, share_level
from utmost.publish.workloads.sums_in_words import TOTAL

Plans = Annotated[
    list[file_options.File],
    argument("PLAN...", "What utmost plan wrote, a file for each measure.", parser=file_options.readable),
]
Weight = Annotated[
    list[str] | None, option("NAME=NUMBER", "How much the error of a plan counts, by its file's name; 1.", "--weight")
]
Publish = Annotated[
    Path | None,
    option(
        "FILE", "Publish counted-NAME.json for each plan NAME.json, all or none: --publish counted.json.", "--publish"
    ),
]
Relax = Annotated[
    Path | None, option("FILE", "Relax what was published so, each to its share, all or none.", "--relax")
]
UpTo = Annotated[str | None, option("NUMBER", "The largest epsilon they will ever be relaxed to.", "--up-to")]


def share(
    plans: Plans,
    *,
    level: options.AskedLevel,
    weight: Weight = None,
    up_to: UpTo = None,
    publish: Publish = None,
    relax: Relax = None,
    memory: MemoryOfMany,
    yes: options.Yes = False,
    answer: options.Answer,
) -> None:
    """Share one level among several measures of the same people, so that their weighted errors add up to the least.

    An error is in units of the square of what one person may change, so that euros and visits can be compared. Nothing
    is looked at but the plans. Each is then released, and relaxed, at its share: together they cost the level. With
    --publish or --relax a ledger does so in one transaction; utmost view shows each.
    """
    counted = _counted_files(plans, publish or relax)
    if (publish is None) == (relax is None) and (publish is not None or memory.ledger is not None):
        raise OutOfRange("a ledger publishes, or relaxes", came="both" if publish else "neither", where="--ledger")
    if counted and memory.ledger is None:
        remedy = "Pass --ledger and --dataset; each measure has the name of its plan."
        raise OutOfRange("measures are published together in a ledger", came="none", remedy=remedy)
    files = {path.stem: path for path in plans}
    if len(files) < len(plans):
        raise OutOfRange("plans must have names that differ", came="two alike")
    at, highest = level.read(), None if up_to is None else level_of(up_to)
    strategies = {name: PLAN_FORM.read(path) for name, path in files.items()}
    weights = weights_of(weight)
    with long_work("Searching for shares"):
        shared = share_level(strategies, epsilon=at, weights=weights, up_to=highest)
        report = report_of(shared)
    if counted:
        with options.protected(yes), memory.place.opened(create=memory.create and publish is not None) as ledger:
            tables = {name: COUNTED_FORM.read(path) for name, path in counted.items()}
            if publish is not None:
                dataset = memory.dataset or publish.stem
                ledger.publish_shared(tables, shared, dataset=dataset, independent=memory.independent)
            else:
                ledger.relax_shared(tables, shared)
            report["ledger"] = {"place": memory.ledger, "done": "published" if relax is None else "relaxed"}
    answer.give(report, lambda: show(report, files))


def _counted_files(plans: list[Path], whole: Path | None) -> dict[str, Path]:
    """For each plan, the file of its measure, as `utmost count --measures FILE --out counted.json` names it."""
    return {} if whole is None else {plan.stem: file_options.beside(whole, plan.stem) for plan in plans}


def weights_of(texts: list[str] | None) -> dict[str, str]:
    """The weights as people write them."""
    return options.named_values(texts, "a weight is written NAME=NUMBER", "--weight", "visits=3")


def report_of(shared: SharedLevel) -> dict[str, Any]:
    """What a program is told of the shares."""
    return {
        "level": level_text(shared.level),
        "within": shared.within,
        "measures": {
            name: {
                "share": str(shared.shares[name]),
                "level": level_text(level),
                "standard_deviations": {part: sqrt(v) for part, v in shared.strategies[name].variances.items()},
            }
            for name, level in shared.levels(shared.level).items()
        },
    }


def show(report: dict[str, Any], files: dict[str, Path]) -> None:
    """The shares on a screen, and beside each measure the command that follows, or the file that was written."""
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
        elif (ledger := report.get("ledger")) is not None:
            view = f"utmost view --ledger {ledger['place']} --name {name} --epsilon {measure['level']}"
            commands[name] = f"{ledger['done']}; {view} --out {name}-released.json"
    nothing = "Nothing was drawn. " if report.get("dry_run") else ""
    within = report["within"]
    best = {} if within is None else {"error": f"at most {ceil(within * 1000) / 1000:g} times that of any other shares"}
    screen().print(
        Group(
            Text(f"{nothing}epsilon = {report['level']}, shared:", style="bold"),
            grid(["measure", "share", "epsilon", "standard deviation"], rows, left=4),
            facts(best | commands),
        )
    )
