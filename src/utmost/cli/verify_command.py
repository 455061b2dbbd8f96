"""`utmost verify`: whether a published table is what its statement says, and who signed it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from utmost.cli import options
from utmost.documents import statement_files
from utmost.documents.reports import print_json
from utmost.documents.statement_check import ON_TRUST, check_statement, stated_plan
from utmost.errors import BadTable
from utmost.release.statements import guarantee
from utmost.tables import files

Release = Annotated[
    Path, typer.Argument(metavar="RELEASE", exists=True, dir_okay=False, help="The file of a released table.")
]
Statement = Annotated[
    Path | None,
    typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Its statement; RELEASE.json if left out."),
]
PublicKey = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", exists=True, dir_okay=False, help="The curator's Ed25519 public key: check the signature, too."
    ),
]


def verify(
    release: Release, statement: Statement = None, public_key: PublicKey = None, as_json: options.AsJson = False
) -> None:
    """Check that a statement follows from itself, that the table is the one it tells of, and who signed it.

    Level, law, parameters, error bar and sentences of the statement are computed again. What nothing can show, such as
    how many cells one individual changes, is listed as taken on trust.
    """
    path = statement or statement_files.sidecar_path(release)
    said = statement_files.read(path)
    plan = stated_plan(said)
    if said["format"] == 1:
        raise BadTable("a statement must hold a digest of its table", came="none: format 1 had none", where=str(path))
    statement_files.check_unchanged(release, said)
    check_statement(said, files.read(release), digested=False)
    report: dict[str, Any] = {
        "release": str(release),
        "statement": "consistent",
        "format": said["format"],
        "table": "unchanged",
        "sha256": said["table"]["sha256"],
        "signature": _signature(path, public_key),
        "guarantee": said["guarantee"],
        "law": repr(plan.law),
        "on_trust": list(ON_TRUST),
    }
    assert said["guarantee"].startswith(guarantee(plan)), "compared"
    if as_json:
        return print_json(report)
    from utmost.cli.release_command import show_verification

    show_verification(report)


def _signature(statement: Path, public_key: Path | None) -> str:
    """Whether the statement was signed by the owner of the key; without a key, only whether there is a signature."""
    signature = statement_files.signature_path(statement)
    if public_key is None:
        return "not checked, for want of a public key" if signature.exists() else "none"
    if not signature.exists():
        raise BadTable("the statement must be signed", came="no signature", where=str(signature))
    from utmost.documents.signatures import check_signature

    check_signature(signature.read_bytes(), statement.read_bytes(), public_key, str(signature))
    return "valid"
