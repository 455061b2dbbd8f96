"""`utmost view`: a release in a ledger as a recipient of some trust may see it, without the data."""

from pathlib import Path
from typing import Annotated

import typer

from utmost.cli import options

Out = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the columns here; to standard output otherwise.")]


def view(
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
    sign: options.Sign = None,
) -> None:
    """Show a release at any level up to the loosest that was answered; it spends nothing and needs no table.

    The response is made from those in the ledger, kept there, and the same each time. Views of one release together
    tell no more than the loosest of them.
    """
    from utmost.cli import ledger_answers
    from utmost.cli.ledger_place import Place
    from utmost.cli.screen import counted
    from utmost.documents.signatures import signer_of

    asked = ledger_answers.Question(name, version, epsilon, alpha, confidence)
    ledger_answers.check_free(None, out, sign)
    signer = None if sign is None else signer_of(sign)
    with Place.of(ledger, key_file, witness).opened() as opened:
        with counted("Viewing") as progress:
            seen = opened.view(name, epsilon=asked.at, version=version, progress=progress)
        ledger_answers.give(opened, asked, seen, out, as_json=as_json, signer=signer)
