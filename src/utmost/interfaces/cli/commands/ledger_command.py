"""`utmost ledger`: create, inspect, verify, charge, back up and restore a ledger."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import click

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import has_decimal_comma
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.exact.written_levels import level_name
from utmost.errors import NotALevel, NotANumber, OutOfRange
from utmost.interfaces.cli import ledger_answers
from utmost.interfaces.cli.ledger_place import LedgerPlaceOptions
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import argument, flag, option
from utmost.interfaces.cli.screens.screen import facts, grid, screen
from utmost.interfaces.cli.screens.terminal import ScreenGroup, ScreenText
from utmost.publish.ledger.ledger import Ledger
from utmost.publish.releases.release_facts import short_bar
from utmost.tables.files.atomic import check_absent

_RELEASE = ("name", "version", "dataset", "columns", "rows", "levels")
_BUDGET = ("dataset", "limit", "spent", "remaining")
_MECHANISM = ("name", "version", "dataset", "persons", "level")
_FACTS = (
    "name",
    "version",
    "level",
    "how",
    "dataset",
    "columns",
    "rows",
    "persons",
    "limit",
    "what",
    "reason",
    "missing",
)


def show_status(status: Mapping[str, Any], headline: str | None) -> None:
    sealed = "encrypted: each level has its own key" if status["sealed"] else "not encrypted"
    rows = {
        "ledger": status["place"],
        "identity": status["identity"],
        "events": str(status["events"]),
        "responses": sealed,
        "noise": "derived from the key" if status["derived"] else "from the operating system",
        "quarantine": status["quarantine"] or "none",
    }
    shown: list[Any] = [] if headline is None else [ScreenText(headline, style="bold")]
    shown.append(facts(rows))
    budgets = [ledger_answers.budget_rows(row) for row in status["datasets"]]
    budgets = [{title: cell.removeprefix("epsilon = ") for title, cell in row.items()} for row in budgets]
    # For the sums of a plan, the columns that were counted are shown.
    releases = [
        row | {"columns": f"sums by {', '.join(row['counted'])}"} if row["counted"] else row
        for row in status["releases"]
    ]
    for titles, entries in ((_RELEASE, releases), (_MECHANISM, status["mechanisms"]), (_BUDGET, budgets)):
        if entries:
            shown.append(grid(titles, [[_cell(row[title]) for title in titles] for row in entries]))
    spent = [float(Fraction(row["spent"])) for row in status["datasets"] if row["spent"] is not None]
    if len(spent) > 1:
        together = f"epsilon = {short_bar(sum(spent))} for a person who is in every dataset; a limit is for one dataset"
        shown.append(facts({"all datasets": together}))
    screen().print(ScreenGroup(*shown))


def show_verification(report: Mapping[str, Any]) -> None:
    rows = {
        "events": str(report["events"]),
        "responses": f"{report['responses']} with {report['cells']} cells",
        "spent": ", ".join(
            f"{dataset}: {ledger_answers.spent_words(spent)}" for dataset, spent in report["spent"].items()
        )
        or "nothing",
        "quarantine": report["quarantine"] or "none",
    }
    if report["answers"]:
        rows["answers"] = f"of {report['answers']} persons"
    headline = "Everything in the ledger is unchanged."
    if report["quarantine"] is not None:  # an older copy verifies, too, and must not be taken for the ledger
        headline = "The ledger is in quarantine: events may be missing, and everything else is unchanged."
    screen().print(ScreenGroup(ScreenText(headline, style="bold"), facts(rows)))


def show_history(events: Sequence[Mapping[str, Any]]) -> None:
    rows = []
    for event in events:
        known = event["facts"]  # without digests
        words = ", ".join(f"{name} {_cell(known[name])}" for name in _FACTS if known.get(name) is not None)
        rows.append([str(event["number"]), event["time"], event["kind"], words])
    screen().print(grid(("event", "time", "kind", "facts"), rows, left=4))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


DatasetFilter = Annotated[str | None, option("NAME", "Dataset whose events are listed.")]
NameFilter = Annotated[str | None, option("NAME", "Release whose events are listed.")]


def status(*, place: LedgerPlaceOptions, answer: options.Output) -> None:
    """Show the ledger's releases, their levels, and the epsilon that each dataset has spent."""
    with place.opened() as opened:
        _give_status(opened, answer)


def create(
    ledger: Annotated[str, argument("PLACE", "New SQLite file, or postgresql://HOST/DATABASE.")],
    *,
    key_file: options.KeyFile = None,
    witness: options.WitnessFile = None,
    answer: options.Output,
) -> None:
    """Create an empty ledger, with its key and witness.

    utmost ledger create releases.db
    """
    with LedgerPlaceOptions(ledger, key_file, witness).opened(create=True) as opened:
        events = opened.status().events
        if events > 1:  # the first event is the creation
            raise OutOfRange(
                "utmost ledger create needs a place without a ledger",
                came=f"a ledger with {events} events",
                where=ledger,
                remedy="Use this ledger, or name another place.",
            )
        text = "An empty ledger was created. Keep its key as safe as the data."
        _give_status(opened, answer, text)


def verify(*, place: LedgerPlaceOptions, answer: options.Output) -> None:
    """Check the whole ledger: exit code 1 if it is damaged or in quarantine."""
    with place.opened() as opened, progress_bar("Verifying"):
        verification, quarantine = opened.verify(), opened.status().quarantine
    report = ledger_answers.verification_report(verification) | {"quarantine": quarantine}
    if answer.give(report):
        show_verification(report)
    if quarantine is not None:
        raise click.exceptions.Exit(1)


def history(
    *, place: LedgerPlaceOptions, name: NameFilter = None, dataset: DatasetFilter = None, answer: options.Output
) -> None:
    """List events of the ledger, oldest first."""
    with place.opened() as opened:
        events = [ledger_answers.event_report(event) for event in opened.history(name, dataset=dataset)]
    if answer.give(events):
        show_history(events)


def budget(
    *,
    place: LedgerPlaceOptions,
    dataset: Annotated[str, option("NAME", "Dataset in the ledger.")],
    limit: Annotated[
        str | None,
        option("NUMBER", 'Largest epsilon that the dataset\'s releases may spend together; "none" for no limit.'),
    ] = None,
    answer: options.Output,
) -> None:
    """Show what a dataset has spent and may still spend, or set its limit.

    utmost ledger budget --ledger releases.db --dataset students --limit 2
    """
    most: Level | None = None
    if limit == "none":
        with place.opened() as opened:
            opened.remove_limit(dataset)
        report = {"dataset": dataset, "limit": None, "spent": "0", "remaining": None}
        if answer.give(report):
            screen().print(facts(ledger_answers.budget_rows(report)))
        return
    if limit is not None:
        try:
            most = options.written_level(limit)
        except (NotALevel, NotANumber) as error:  # name the option
            required = error.required.replace("epsilon", "--limit", 1)
            remedy = error.remedy if has_decimal_comma(limit) else "Write, for example, --limit 2."
            raise type(error)(required, came=limit, remedy=remedy) from None
    with place.opened() as opened:
        report = ledger_answers.budget_report(opened.budget(dataset, most))
        quarantine = opened.status().quarantine
    if quarantine is not None:  # more may have been spent than this copy knows
        report["quarantine"] = quarantine
    if answer.give(report):
        rows = ledger_answers.budget_rows(report)
        if quarantine is not None:
            rows["quarantine"] = f"{quarantine}: more may have been spent than is shown here"
        screen().print(facts(rows))


def charge(
    *,
    place: LedgerPlaceOptions,
    dataset: Annotated[str, option("NAME", "Dataset in the ledger.")],
    level: options.LevelOptions,
    what: Annotated[str, option("TEXT", "Purpose of the charge; another charge needs another text.")],
    independent: Annotated[bool, flag("State that nobody in this new dataset is in another dataset.")] = False,
    answer: options.Output,
) -> None:
    """Charge a dataset with the epsilon that another tool spent. The same charge made twice counts once.

    utmost ledger charge --ledger releases.db --dataset students --epsilon 1/2 --what "OpenDP, mean age, 2025"
    """
    with place.opened() as opened:
        budget = opened.charge(dataset, epsilon=level.read(), what=what, independent=independent)
    report = ledger_answers.budget_report(budget)
    if answer.give(report):
        screen().print(facts(ledger_answers.budget_rows(report)))


def backup(
    *,
    place: LedgerPlaceOptions,
    out: Annotated[Path, option("FILE", "New SQLite file for the copy.")],
    as_json: options.AsJson = False,
) -> None:
    """Copy the ledger while it is in use. Keep its key elsewhere.

    utmost ledger backup --ledger releases.db --out backup.db
    """
    check_absent(out)
    with place.opened() as opened, progress_bar("Copying"):
        opened.backup(out)
        report = {"backup": str(out), "receipt": opened.receipt()}
    text = f"Copied to {out}. Keep this receipt elsewhere:\n{report['receipt']}"
    if options.Output(None, as_json).give(report):
        click.echo(text)


def restore(
    copy: Annotated[Path, argument("FILE", "File that `utmost ledger backup` wrote.", exists=True, dir_okay=False)],
    *,
    place: LedgerPlaceOptions,
    answer: options.Output,
) -> None:
    """Make a ledger from a backup; it draws nothing new until it is resumed.

    Pass the witness file of the lost ledger, so that its releases can still be relaxed.

    utmost ledger restore copy.db --ledger new.db --key-file old.db.key --witness old.db.witness
    """
    if place.path is not None:
        check_absent(place.path)
    with Ledger.restore(copy, place.ledger, key=place.key, witness=place.witness_path) as opened:
        text = "Restored, and in quarantine: no new answers before `utmost ledger resume`."
        if place.witness is None:
            text += " Without the --witness of the lost ledger no earlier release can be relaxed."
        _give_status(opened, answer, text)


def resume(
    *,
    place: LedgerPlaceOptions,
    reason: Annotated[str, option("TEXT", "Reason for resuming, which is recorded.")],
    missing: Annotated[
        list[str] | None, option("DATASET=EPSILON", "Epsilon that the dataset has spent, but the ledger lacks.")
    ] = None,
    nothing_missing: Annotated[bool, flag("Confirm that the ledger lacks no spent epsilon.")] = False,
    answer: options.Output,
) -> None:
    """End a quarantine, and charge what may have been spent since the backup.

    Releases that lost answers cannot be relaxed.

    utmost ledger resume --ledger restored.db --reason "disk failure" --missing students=3/4
    """
    charged = options.named_values(missing, _MISSING, "--missing", "--missing admissions=1/2")
    if charged and nothing_missing:
        remedy = "Leave out --nothing-missing if anything may have been spent since the backup."
        raise OutOfRange("only one of --missing and --nothing-missing may be given", came="both", remedy=remedy)
    with place.opened() as opened:
        known = {budget.dataset for budget in opened.status().datasets}
        levels = opened.resume(reason, missing=charged if charged or nothing_missing else None)
        text = "No lost epsilon was charged."
        if levels:
            lost = "; ".join(f"{name}: {' and '.join(map(level_name, each))}" for name, each in levels.items())
            # `charged` has the names that were typed, so only these may be misspelt; `levels` also has names of the
            # witness.
            new = ", ".join(repr(name) for name in charged if name not in known)
            text = f"Lost epsilon was charged: {lost}."
            if new:
                text += f" Check the name: the ledger had no dataset {new}."
                text += " If the name is misspelt, charge the right dataset, too: utmost ledger charge."
        _give_status(opened, answer, f"Resumed. {text}")


def receipt(
    *,
    place: LedgerPlaceOptions,
    check: Annotated[str | None, option("RECEIPT", "Receipt to compare with the ledger.")] = None,
    answer: options.Output,
) -> None:
    """Print a receipt to keep elsewhere; or compare one, to detect that the ledger is an older copy."""
    with place.opened() as opened:
        if check is not None:
            opened.check(check)
        line = opened.receipt()
    text = line if check is None else "The ledger has all events of the receipt, or was charged for those that it lost."
    if answer.give({"receipt": line, "checked": check is not None}):
        click.echo(text)


ELSEWHERE = {
    "new": "create",
    "init": "create",
    "list": "status",
    "show": "status",
    "log": "history",
    "spent": "budget",
    "limit": "budget",
}
"""Words that people may type, and the subcommands that they then look for."""

PARTS = (create, status, verify, history, budget, charge, backup, restore, resume, receipt)
"""The subcommands of `utmost ledger`, in the order of the help."""


def _give_status(ledger: Ledger, answer: options.Output, headline: str | None = None) -> None:
    report = ledger_answers.status_report(ledger.status(), ledger.releases, ledger.mechanisms)
    if answer.give(report):
        show_status(report, headline)


_MISSING = "lost epsilon must be written as DATASET=EPSILON"
