"""Write a table, its statement as a JSON file beside it, and the signature of the statement: either all of these files
or none.

The statement may be any JSON document that is computed from the digest of the table's file.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from utmost.core.exact.progress_bar import progress_bar
from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.tables.files import files
from utmost.tables.files.atomic import Writer, check_free_name, write_together
from utmost.tables.files.json_files import encoded, read_json
from utmost.tables.files.signatures import Signer, signature_path

StatementOf = Callable[[dict[str, str]], dict[str, Any]]
"""A function from the digest of a table to its statement."""


def sidecar_path(table: Path) -> Path:
    if not table.name:
        raise OutOfRange("a table must be a file with a name", came=str(table))
    return table.with_name(table.name + ".json")


def check_free(
    source: Path, out: Path | None, sign: Path | None = None, *, overwrite: bool = False, draws: bool = False
) -> None:
    """Check that the release of ``source`` can be written to ``out``; ``draws`` has the same meaning as in
    `check_absent`.
    """
    if out is None:
        if sign is not None:
            remedy = "Name a file with --out, or leave out --sign."
            raise OutOfRange("a signed statement must go to a file", came="no --out", where="--sign", remedy=remedy)
        return
    files.check_same_kind(source, out)
    signature = signature_path(sidecar_path(out))
    is_signed = sign is not None or os.path.lexists(signature)
    for path in (out, sidecar_path(out), *([signature] if is_signed else [])):
        check_free_name(path, overwrite=overwrite, draws=draws)


def publish(
    table: Any,
    report: StatementOf,
    out: Path,
    signer: Signer | None = None,
    *,
    owner_only: bool = False,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write the table, its statement and the statement's signature, or else no file. Return the statement."""
    # ``report`` maps the digest of the written table to the statement, and ``signer`` signs the bytes of its file. With
    # ``overwrite`` the signature of an earlier statement is removed.
    writers, statement = table_writers(table, report, out, signer)
    write_together(writers, owner_only=owner_only, overwrite=overwrite)
    if overwrite and signer is None:
        signature_path(sidecar_path(out)).unlink(missing_ok=True)
    return statement


def table_writers(
    table: Any, report: StatementOf, out: Path, signer: Signer | None = None
) -> tuple[dict[Path, Writer], dict[str, Any]]:
    """Return the functions that write a table, its statement and the statement's signature, and also the statement,
    which is empty until the table is written.
    """
    statement: dict[str, Any] = {}
    text = bytearray()

    def write_table(file: BinaryIO) -> None:
        # A workbook also contains its statement, without the digest of the file.
        within = report({}) if files.ending_of(out) in files.EXCEL else {}
        with progress_bar("Writing"):
            files.write(table, file, out, {name: fact for name, fact in within.items() if name != "table"})
        file.seek(0)
        digest = _sha256(file)
        statement.update(report({"of": "file", "sha256": digest}))
        text.extend(encoded(statement))

    # The statement is renamed first, so that there is never a table without a statement.
    statement_path = sidecar_path(out)
    writers: dict[Path, Writer] = {out: write_table, statement_path: lambda file: file.write(bytes(text))}
    if signer is not None:
        writers[signature_path(statement_path)] = lambda file: file.write(signer(bytes(text)))
    return writers, statement


def publish_again(
    table: Any,
    report: StatementOf,
    out: Path,
    signer: Signer | None = None,
) -> dict[str, Any]:
    """Write the files that a killed run did not write, and check that the existing ones are those of this run."""
    # The same call in another process may write these files meanwhile. Then they are checked in a second attempt.
    paths = (out, sidecar_path(out), signature_path(sidecar_path(out)))
    before = [path.exists() for path in paths]
    try:
        return _published_again(table, report, out, signer)
    except Unsupported:
        if [path.exists() for path in paths] == before:
            raise
    return _published_again(table, report, out, signer)


def _published_again(table: Any, report: StatementOf, out: Path, signer: Signer | None) -> dict[str, Any]:
    statement_path = sidecar_path(out)
    if not any(path.exists() for path in (out, statement_path, signature_path(statement_path))):
        return publish(table, report, out, signer)
    writers, statement = table_writers(table, report, out, signer)
    with tempfile.TemporaryFile(dir=out.parent) as again:
        writers[out](again)
        missing: dict[Path, Writer] = {}
        if out.exists():
            again.seek(0)
            with out.open("rb") as there:
                if _sha256(again) != _sha256(there):
                    raise _another_file(out)
        else:
            again.seek(0)
            missing[out] = partial(shutil.copyfileobj, again)
        missing |= missing_document(statement, statement_path, signer)
        if missing:
            write_together(missing)
    return statement


def missing_document(facts: dict[str, Any], out: Path, signer: Signer | None) -> dict[Path, Writer]:
    """Return functions that write a document and its signature, only for those of the two files that do not exist yet.
    Check the files that exist.
    """
    text, signature = encoded(facts), signature_path(out)
    missing: dict[Path, Writer] = {out: lambda file: file.write(text)}
    signed = b"" if signer is None else signer(text)
    if out.exists():
        check_repeated_document(facts, out)
        missing = {}
        signed = b"" if signer is None else signer(out.read_bytes())  # which another version may have written
    elif signature.exists() and signed != signature.read_bytes():
        raise _another_file(signature)
    if signer is not None and not signature.exists():
        missing[signature] = lambda file: file.write(signed)
    return missing


def check_repeated_document(facts: dict[str, Any], out: Path) -> None:
    """Check that an existing document is identical to this one, except for the version of utmost that it names."""
    there = read_json(out, "a document must")
    version = there.get("utmost") if isinstance(there, dict) else None
    if encoded({**facts, "utmost": version}) != out.read_bytes():
        raise _another_file(out)


def _another_file(out: Path) -> Unsupported:
    return Unsupported(
        "an existing file must be identical to what this run would write",
        came="another file",
        where=str(out),
        remedy="Move the file away and run again: in a ledger this spends nothing.",
    )


def statement_beside(table: Path) -> Path:
    """Return the path of the statement beside a released table; raise BadTable if there is none."""
    beside = sidecar_path(table)
    if not beside.is_file():
        remedy = "Get the statement from where the table was published, or pass statement=."
        described = table.with_suffix("")
        if table.suffix == ".json" and described.is_file():  # somebody named the statement itself
            remedy = f"Name the table, not its statement: {described.name[-80:]}."
        raise BadTable(
            "a released table must have its statement beside it",
            came=f"no {beside.name[-80:]}",
            where=str(table),
            remedy=remedy,
        )
    return beside


def check_unchanged(table: Path, statement: dict[str, Any]) -> None:
    """Refuse a table that was changed after its release: its SHA-256 differs from that in the statement."""
    digest = statement.get("table")
    if not isinstance(digest, dict) or digest.get("of") != "file":
        raise BadTable("the statement must have the digest of the file", came="none", where=str(sidecar_path(table)))
    with table.open("rb") as file:
        if _sha256(file) != digest.get("sha256"):
            raise BadTable(
                "the table was changed after it was released, or belongs to another statement",
                came="another SHA-256 than that in the statement",
                where=str(table),
                remedy="Get both files again from where they were published; "
                "a part of the table, or a copy in another format, differs, too.",
            )
    files.check_statement(table, statement)


def _sha256(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()
