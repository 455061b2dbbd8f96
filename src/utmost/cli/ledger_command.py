"""`utmost ledger`: status, history, budgets, verification, backups."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from utmost.cli import options
from utmost.cli.screen import facts, grid, number, percent, screen
from utmost.documents.reports import print_json
from utmost.documents.statement_files import sidecar_path
from utmost.errors import OutOfRange
from utmost.tables.atomic import check_absent

_RELEASE = ("name", "version", "dataset", "columns", "rows", "levels")
_BUDGET = ("dataset", "limit", "spent", "remaining")
_TOLD = ("name", "version", "level", "how", "dataset", "columns", "rows", "limit", "reason", "missing")


def show_answer(said: Mapping[str, Any], out: Path | None) -> None:
    """Print what an answer is worth: beside the table on standard error, or after it was written."""
    sure = percent(said["confidence"])
    rows = {
        "release": f"{said['name']}, version {said['data_version']}",
        "level": f"epsilon = {said['epsilon']} in all, epsilon = {said['per_cell']['epsilon']} for each cell",
        "error bar": f"± {number(said['radius'])} around each released cell, at {sure} confidence",
        "answered at": ", ".join(said["levels"]),
        "together": f"epsilon = {said['together']['epsilon']}, whatever answers are put together",
    }
    if out is not None:
        rows["written"] = f"{out} and {sidecar_path(out)}"
    shown = Group(Text("Answered.", style="bold"), Padding(Text(said["guarantee"]), (0, 0, 1, 0)), facts(rows))
    screen(stderr=out is None).print(shown)


def show_rehearsal(after: Mapping[str, Any], name: str, level: str, *, new: bool) -> None:
    """Print what would be spent."""
    rows = {"release": name, "level": f"epsilon = {level}", **_budget(after)}
    if new:
        rows["ledger"] = "would be made"
    screen().print(Group(Text("Nothing was drawn. After this call it would be:", style="bold"), facts(rows)))


def show_budget(report: Mapping[str, Any]) -> None:
    """Print the budget of a dataset."""
    screen().print(facts(_budget(report)))


def show_status(status: Mapping[str, Any], headline: str | None = None) -> None:
    """Print what a ledger holds."""
    sealed = "sealed: each level under a key of its own" if status["sealed"] else "open: stored as they are"
    rows = {
        "ledger": status["place"],
        "identity": status["identity"],
        "events": str(status["events"]),
        "responses": sealed,
        "noise": "derived from the key" if status["derived"] else "from the operating system",
        "quarantine": status["quarantine"] or "none",
    }
    shown: list[Any] = [] if headline is None else [Text(headline, style="bold")]
    shown.append(facts(rows))
    for titles, found in ((_RELEASE, status["releases"]), (_BUDGET, status["datasets"])):
        if found:
            shown.append(grid(titles, [[_cell(one[title]) for title in titles] for one in found]))
    screen().print(Group(*shown))


def show_verification(report: Mapping[str, Any]) -> None:
    """Print what was found sound."""
    rows = {
        "events": str(report["events"]),
        "responses": f"{report['responses']} with {report['cells']} cells",
        "spent": ", ".join(f"{dataset}: epsilon = {spent}" for dataset, spent in report["spent"].items()) or "nothing",
        "quarantine": report["quarantine"] or "none",
    }
    screen().print(Group(Text("Everything in the ledger is as it was written.", style="bold"), facts(rows)))


def show_history(events: Sequence[Mapping[str, Any]]) -> None:
    """Print events, oldest first."""
    rows = [[str(one["number"]), one["time"], one["kind"], _facts(one["facts"])] for one in events]
    screen().print(grid(("event", "time", "kind", "facts"), rows, left=4))


def _budget(report: Mapping[str, Any]) -> dict[str, str]:
    return {
        "dataset": _cell(report["dataset"]),
        "limit": "none" if report["limit"] is None else f"epsilon = {report['limit']}",
        "spent": f"epsilon = {report['spent']}",
        "remaining": "no limit is set" if report["remaining"] is None else f"epsilon = {report['remaining']}",
    }


def _facts(found: Mapping[str, Any]) -> str:
    """What people want to know of an event; digests are for programs."""
    return ", ".join(f"{name} {_cell(found[name])}" for name in _TOLD if found.get(name) is not None)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Look after a ledger: check it, budget it, copy it.",
)

Dataset = Annotated[str | None, typer.Option("--dataset", metavar="NAME", help="The dataset.")]
NameFilter = Annotated[str | None, typer.Option("--name", metavar="NAME", help="Only the events of this release.")]


@app.command()
def status(
    ledger: options.LedgerPlace,
    key_file: options.KeyFile = None,
    witness: options.WitnessFile = None,
    as_json: options.AsJson = False,
) -> None:
    """Show what the ledger holds: its releases, their levels, and what each dataset has spent."""
    from utmost.cli import ledger_answers
    from utmost.cli.ledger_place import Place

    with Place.of(ledger, key_file, witness).opened() as opened:
        report = ledger_answers.status_report(opened.status(), opened.releases)
    if as_json:
        return print_json(report)

    show_status(report)


@app.command()
def verify(
    ledger: options.LedgerPlace,
    key_file: options.KeyFile = None,
    witness: options.WitnessFile = None,
    as_json: options.AsJson = False,
) -> None:
    """Read the whole ledger and recompute all of it; exit code 1 where it is damaged or in quarantine."""
    from utmost.cli import ledger_answers
    from utmost.cli.ledger_place import Place
    from utmost.cli.screen import busy

    with Place.of(ledger, key_file, witness).opened() as opened, busy("Verifying"):
        found, quarantine = opened.verify(), opened.status().quarantine
    report = ledger_answers.verification_report(found) | {"quarantine": quarantine}
    if as_json:
        print_json(report)
    else:
        show_verification(report)
    if quarantine is not None:
        raise typer.Exit(1)


@app.command()
def history(
    ledger: options.LedgerPlace,
    name: NameFilter = None,
    dataset: Dataset = None,
    key_file: options.KeyFile = None,
    witness: options.WitnessFile = None,
    as_json: options.AsJson = False,
) -> None:
    """List what has happened, oldest first."""
    from utmost.cli import ledger_answers
    from utmost.cli.ledger_place import Place

    with Place.of(ledger, key_file, witness).opened() as opened:
        events = [ledger_answers.event_report(event) for event in opened.history(name, dataset=dataset)]
    if as_json:
        return print_json(events)

    show_history(events)


@app.command()
def budget(
    ledger: options.LedgerPlace,
    dataset: Annotated[str, typer.Option("--dataset", metavar="NAME", help="The dataset.")],
    limit: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Set the limit: the epsilon that all its releases may spend.")
    ] = None,
    key_file: options.KeyFile = None,
    witness: options.WitnessFile = None,
    as_json: options.AsJson = False,
) -> None:
    """Show what a dataset has spent and may still spend, and set its limit."""
    from utmost.cli import ledger_answers
    from utmost.cli.ledger_place import Place

    with Place.of(ledger, key_file, witness).opened() as opened:
        report = ledger_answers.budget_report(opened.budget(dataset, limit))
    if as_json:
        return print_json(report)

    show_budget(report)


@app.command()
def backup(
    copy: Annotated[Path, typer.Argument(metavar="FILE", help="The copy, an SQLite file; never over another file.")],
    ledger: options.LedgerPlace,
    key_file: options.KeyFile = None,
    witness: options.WitnessFile = None,
    as_json: options.AsJson = False,
) -> None:
    """Write a consistent copy of the ledger, whatever else is being written. Keep the key apart from it."""
    from utmost.cli.ledger_place import Place
    from utmost.cli.screen import busy

    check_absent(copy)
    with Place.of(ledger, key_file, witness).opened() as opened, busy("Copying"):
        opened.backup(copy)
        report = {"backup": str(copy), "receipt": opened.receipt()}
    if as_json:
        return print_json(report)
    typer.echo(f"Copied to {copy}. Keep this receipt elsewhere:\n{report['receipt']}")


@app.command()
def restore(
    copy: Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="What `backup` wrote.")],
    ledger: options.LedgerPlace,
    key_file: options.KeyFile = None,
    witness: options.WitnessFile = None,
    as_json: options.AsJson = False,
) -> None:
    """Make a new ledger from a backup. It shows what it holds, and answers nothing new before it is resumed."""
    from utmost.cli import ledger_answers
    from utmost.cli.ledger_place import Place
    from utmost.ledger import Ledger

    place = Place.of(ledger, key_file, witness)
    if place.path is not None:
        check_absent(place.path)
    with Ledger.restore(copy, place.text, **place.options) as opened:
        report = ledger_answers.status_report(opened.status(), opened.releases)
    if as_json:
        return print_json(report)

    show_status(report, "Restored, and in quarantine: it answers nothing new before `utmost ledger resume`.")


@app.command()
def resume(
    ledger: options.LedgerPlace,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why the ledger may go on; it is recorded.")],
    missing: Annotated[
        list[str] | None,
        typer.Option(metavar="DATASET=EPSILON", help="What a dataset may have spent beyond what the ledger knows."),
    ] = None,
    nothing_missing: Annotated[
        bool, typer.Option("--nothing-missing", help="Nothing was said that the ledger does not know.")
    ] = False,
    key_file: options.KeyFile = None,
    witness: options.WitnessFile = None,
    as_json: options.AsJson = False,
) -> None:
    """End a quarantine. What may have been spent since the copy was made is charged, and old releases stay closed."""
    from utmost.cli import ledger_answers
    from utmost.cli.ledger_place import Place

    charged = dict(_charge(text) for text in missing or [])
    if charged and nothing_missing:
        raise OutOfRange("one of --missing and --nothing-missing can be given", came="both")
    with Place.of(ledger, key_file, witness).opened() as opened:
        opened.resume(reason, missing=charged if charged or nothing_missing else None)
        report = ledger_answers.status_report(opened.status(), opened.releases)
    if as_json:
        return print_json(report)

    show_status(report, "Resumed.")


@app.command()
def receipt(
    ledger: options.LedgerPlace,
    check: Annotated[
        str | None, typer.Option(metavar="RECEIPT", help="Find out whether the ledger is older than this receipt.")
    ] = None,
    key_file: options.KeyFile = None,
    witness: options.WitnessFile = None,
    as_json: options.AsJson = False,
) -> None:
    """Print a line to keep elsewhere, by which a ledger that was put back is found out; or check one."""
    from utmost.cli.ledger_place import Place

    with Place.of(ledger, key_file, witness).opened() as opened:
        if check is not None:
            opened.check(check)
        line = opened.receipt()
    if as_json:
        return print_json({"receipt": line, "checked": check is not None})
    typer.echo(line if check is None else "The ledger is as new as the receipt.")


def _charge(text: str) -> tuple[str, str]:
    dataset, mark, epsilon = text.rpartition("=")
    if not mark or not dataset or not epsilon:
        raise OutOfRange("what is missing is written as DATASET=EPSILON", came=text, where="--missing")
    return dataset, epsilon
