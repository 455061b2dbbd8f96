"""`utmost relax`: another response of a release in a ledger, at a larger level, from the table that was published."""

from pathlib import Path
from typing import Annotated

import typer

from utmost.cli import options
from utmost.cli.consent import protected
from utmost.tables import files

Out = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the table here; to standard output otherwise.")]


def relax(
    table: options.TableFile,
    ledger: options.LedgerPlace,
    name: options.LedgerName,
    epsilon: options.LevelEpsilon = None,
    alpha: options.Alpha = None,
    version: options.DataVersion = None,
    key_file: options.KeyFile = None,
    witness: options.WitnessFile = None,
    confidence: options.Confidence = "0.95",
    out: Out = None,
    as_json: options.AsJson = False,
    dry_run: options.LedgerDryRun = False,
    yes: options.Yes = False,
    sign: options.Sign = None,
) -> None:
    """Answer a release of a ledger again, at a larger level, and lose nothing by the answers before.

    All answers of the release together cost the largest level among them. The table must be the one that was published:
    the ledger holds a commitment to its values, and refuses any other. A level that was answered before is repeated.
    """
    from utmost.cli import ledger_answers
    from utmost.cli.ledger_place import Place
    from utmost.cli.screen import busy, counted
    from utmost.documents.signatures import signer_of

    asked = ledger_answers.Question(name, version, epsilon, alpha, confidence)
    ledger_answers.check_free(table, out, sign)
    signer = None if sign is None else signer_of(sign)
    with Place.of(ledger, key_file, witness).opened() as opened:
        with busy(f"Checking {table.name}"):
            brought = files.read(table)
        if dry_run:
            return ledger_answers.show_spending(
                asked, opened.rehearse(name, epsilon=asked.at, version=version), as_json=as_json
            )
        with protected(yes), counted("Relaxing") as progress:
            answered = opened.relax(name, brought, epsilon=asked.at, version=version, progress=progress)
        ledger_answers.give(opened, asked, answered, out, as_json=as_json, signer=signer)
