"""`utmost ledger`: what a ledger holds, whether it is whole, what is left to spend, and its copies."""

from pathlib import Path
from typing import Annotated

import typer

from utmost.adapters import options
from utmost.adapters.atomic import check_absent
from utmost.adapters.reports import print_json
from utmost.errors import OutOfRange

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
    from utmost.adapters.ledgers import reports
    from utmost.adapters.ledgers.opening import Place

    with Place.of(ledger, key_file, witness).opened() as opened:
        report = reports.status_report(opened.status(), opened.releases)
    if as_json:
        return print_json(report)
    from utmost.adapters.screens.ledger import show_status

    show_status(report)


@app.command()
def verify(
    ledger: options.LedgerPlace,
    key_file: options.KeyFile = None,
    witness: options.WitnessFile = None,
    as_json: options.AsJson = False,
) -> None:
    """Read the whole ledger and recompute all of it; exit code 1 where it is damaged or in quarantine."""
    from utmost.adapters.ledgers import reports
    from utmost.adapters.ledgers.opening import Place
    from utmost.adapters.screens.progress import busy

    with Place.of(ledger, key_file, witness).opened() as opened, busy("Verifying"):
        found, quarantine = opened.verify(), opened.status().quarantine
    report = reports.verification_report(found) | {"quarantine": quarantine}
    if as_json:
        print_json(report)
    else:
        from utmost.adapters.screens.ledger import show_verification

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
    from utmost.adapters.ledgers import reports
    from utmost.adapters.ledgers.opening import Place

    with Place.of(ledger, key_file, witness).opened() as opened:
        events = [reports.event_report(event) for event in opened.history(name, dataset=dataset)]
    if as_json:
        return print_json(events)
    from utmost.adapters.screens.ledger import show_history

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
    from utmost.adapters.ledgers import reports
    from utmost.adapters.ledgers.opening import Place

    with Place.of(ledger, key_file, witness).opened() as opened:
        report = reports.budget_report(opened.budget(dataset, limit))
    if as_json:
        return print_json(report)
    from utmost.adapters.screens.ledger import show_budget

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
    from utmost.adapters.ledgers.opening import Place
    from utmost.adapters.screens.progress import busy

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
    from utmost.adapters.ledgers import reports
    from utmost.adapters.ledgers.opening import Place
    from utmost.release.ledger import Ledger

    place = Place.of(ledger, key_file, witness)
    if place.path is not None:
        check_absent(place.path)
    with Ledger.restore(copy, place.text, **place.options) as opened:
        report = reports.status_report(opened.status(), opened.releases)
    if as_json:
        return print_json(report)
    from utmost.adapters.screens.ledger import show_status

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
    from utmost.adapters.ledgers import reports
    from utmost.adapters.ledgers.opening import Place

    charged = dict(_charge(text) for text in missing or [])
    if charged and nothing_missing:
        raise OutOfRange("one of --missing and --nothing-missing can be given", came="both")
    with Place.of(ledger, key_file, witness).opened() as opened:
        opened.resume(reason, missing=charged if charged or nothing_missing else None)
        report = reports.status_report(opened.status(), opened.releases)
    if as_json:
        return print_json(report)
    from utmost.adapters.screens.ledger import show_status

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
    from utmost.adapters.ledgers.opening import Place

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
