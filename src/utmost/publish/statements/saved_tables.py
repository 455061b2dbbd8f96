"""What is released as files: the table in any format with its statement beside it, or one document that holds both."""

import io
import os
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from utmost.core.exact import arguments
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.statements import codec
from utmost.publish.statements.statement_files import Signer, check_free, publish, signature_path, signer_of
from utmost.tables.files import files
from utmost.tables.files.atomic import Writer, check_free_name, write_together
from utmost.tables.files.saving import Publication
from utmost.tables.files.text_files import FormattedFile

PIPE = "-"
"""The name of standard output."""

_TABLES = Path("table.csv")


def write_publication(
    publication: Publication,
    path: Path | str,
    *,
    format: str | None = None,
    sign: Path | str | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write a release's table and statement, or its document; see `utmost.tables.files.saving.saved`."""
    if publication.table is None:
        raise Unsupported("only what was released can be saved", came="a rehearsal", where="save")
    is_document = format is None and publication.document is not None
    out, key = check_destination(path, format=format, sign=sign, overwrite=overwrite, is_document=is_document)
    if str(out) == PIPE:
        return _through_pipe(publication, format)
    signer = None if key is None else signer_of(key)
    if is_document and out.suffix.lower() == ".json":
        return _write_document(publication, out, signer, overwrite=overwrite)
    named = _named(out, format)
    return publish(
        publication.table, publication.said, named, None, signer, owner_only=publication.owner_only, overwrite=overwrite
    )


def check_destination(
    path: Path | str,
    *,
    format: str | None = None,
    sign: Path | str | None = None,
    overwrite: bool = False,
    is_document: bool = False,
) -> tuple[Path, Path | None]:
    """Where something is to be written, and the key that signs it, checked before anything is drawn.

    Args:
        path, format, sign, overwrite: as for `utmost.tables.files.saving.saved`.
        is_document: whether a file that ends in .json is the whole of it.

    Raises:
        Unsupported, OutOfRange, KeyRefused: as `utmost.tables.files.saving.saved`.
    """
    out = Path(os.fsdecode(arguments.path(path, "path")))
    if not out.name:
        raise OutOfRange("path must name a file", came=repr(os.fsdecode(path)), where="path")
    if format is not None and format not in files.FORMATS:
        raise OutOfRange(f"the format must be one of {', '.join(files.FORMATS)}", came=repr(format), where="format")
    key = None if sign is None else Path(os.fsdecode(arguments.path(sign, "sign")))
    if str(out) == PIPE:
        if key is not None:
            raise OutOfRange("a statement is signed in a file", came="standard output", where="sign")
        _check_pipe(format)
        return out, key
    if is_document and out.suffix.lower() == ".json":
        for name in (out, signature_path(out)):
            check_free_name(name, overwrite=overwrite)
    else:
        check_free(_TABLES, _named(out, format), key, overwrite=overwrite)
    if key is not None:
        signer_of(key)
    return out, key


def _named(out: Path, form: str | None) -> Path:
    return FormattedFile.of(out, None if form is None else files.FORMATS[form])


def _check_pipe(form: str | None) -> None:
    """Check that standard output takes the format: a notebook's takes text alone."""
    files.check_same_kind(_TABLES, Path("table" + files.FORMATS[form or "csv"]))
    if form in ("feather", "parquet", "xlsx") and getattr(sys.stdout, "buffer", None) is None:
        raise Unsupported("standard output takes text here", came=form, where="format")


def _through_pipe(publication: Publication, form: str | None) -> dict[str, Any]:
    """The table on standard output; the statement is with the caller."""
    if publication.owner_only:
        raise OutOfRange("true values are kept in a file of their owner", came="standard output", where="path")
    content = io.BytesIO()
    files.write(publication.table, content, Path("table" + files.FORMATS[form or "csv"]))
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(content.getvalue().decode("utf-8"))
    else:
        sys.stdout.flush()
        stream.write(content.getvalue())
        stream.flush()
    return publication.said({"of": "file", "sha256": sha256(content.getvalue()).hexdigest()})


def _write_document(publication: Publication, out: Path, signer: Signer | None, *, overwrite: bool) -> dict[str, Any]:
    """The whole release as one JSON document, and its signature."""
    document: dict[str, Any] = {} if publication.document is None else publication.document()
    signature, text = signature_path(out), codec.encoded(document)
    writers: dict[Path, Writer] = {out: lambda file: file.write(text)}
    if signer is not None:
        signed = signer(text)
        writers[signature] = lambda file: file.write(signed)
    write_together(writers, owner_only=publication.owner_only, overwrite=overwrite)
    if overwrite and signer is None:
        signature.unlink(missing_ok=True)
    return document
