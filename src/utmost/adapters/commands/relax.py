"""`utmost relax`: another response of a release in a ledger, at a larger level, from the table that was published."""

from pathlib import Path
from typing import Annotated

import typer

from utmost.adapters import files, options
from utmost.adapters.consent import protected

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
    from utmost.adapters.ledgers import responses
    from utmost.adapters.ledgers.opening import Place
    from utmost.adapters.screens.progress import busy, counted
    from utmost.adapters.signature import signer_of

    asked = responses.Asked(name, version, epsilon, alpha, confidence)
    responses.check_free(table, out, sign)
    signer = None if sign is None else signer_of(sign)
    with Place.of(ledger, key_file, witness).opened() as opened:
        with busy(f"Checking {table.name}"):
            brought = files.read(table)
        if dry_run:
            return responses.show_spending(
                asked, opened.rehearse(name, epsilon=asked.at, version=version), as_json=as_json
            )
        with protected(yes), counted("Relaxing") as progress:
            answered = opened.relax(name, brought, epsilon=asked.at, version=version, progress=progress)
        responses.give(opened, asked, answered, out, as_json=as_json, signer=signer)
