"""The method ``save`` of every release: it writes the table in any format, the statement, and a signature.

The statement is in a file with the name of the table's file plus ".json". With a key, the statement's signature is in a
third file, whose name adds ".sig" to that of the statement's file. All files appear, or none. Existing files are
replaced only with ``overwrite``.
"""

import io
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from utmost.core.exact.arguments import optional, text, truth
from utmost.core.exact.arguments import path as as_path
from utmost.core.exact.display import Display
from utmost.errors import OutOfRange, Unsupported
from utmost.tables.files import files
from utmost.tables.files.atomic import Writer, check_free_name, write_together
from utmost.tables.files.json_files import encoded
from utmost.tables.files.sidecars import check_free, publish
from utmost.tables.files.signatures import signature_path, signer_of
from utmost.tables.files.text_files import PIPE, FormattedFile

_TABLES = Path("table.csv")

Digest = Mapping[str, str]
"""The digest of a table from `cells_digest`, or the digest of its file."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SavedContent:
    """The content that `saved` writes: a table and its statement, or one document with both."""

    table: Any
    statement_with: Callable[[Digest | None], dict[str, Any]]  # function from the table's digest to the statement
    # The whole release as one document, for a file that ends in .json.
    document: Callable[[], dict[str, Any]] | None = None
    owner_only: bool = False  # whether only the owner of the file may read it


def saved(
    publication: SavedContent,
    path: Path | str,
    *,
    format: str | None = None,
    sign: Path | str | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write the files of a publication, and return the statement or the document. Every method ``save`` calls this
    function.
    """
    named_format, may_overwrite = optional(format, text, "format"), truth(overwrite, "overwrite")
    document = publication.document if named_format is None else None
    out, key = _checked_paths(path, named_format, sign, overwrite=may_overwrite, is_document=document is not None)
    if str(out) == PIPE:
        if publication.owner_only:
            raise OutOfRange(
                "true values must be saved in a file that only its owner can read", came="standard output", where="path"
            )
        content = io.BytesIO()
        files.write(publication.table, content, Path("table" + files.FORMATS[named_format or "csv"]))
        stream = getattr(sys.stdout, "buffer", None)
        if stream is None:
            sys.stdout.write(content.getvalue().decode("utf-8"))
        else:
            sys.stdout.flush()
            stream.write(content.getvalue())
            stream.flush()
        return publication.statement_with({"of": "file", "sha256": sha256(content.getvalue()).hexdigest()})
    signer = None if key is None else signer_of(key)
    if document is not None and out.suffix.lower() == ".json":
        # The whole release is written as one JSON document, with its signature.
        written, signature = document(), signature_path(out)
        whole = encoded(written)
        writers: dict[Path, Writer] = {out: lambda file: file.write(whole)}
        if signer is not None:
            signed = signer(whole)
            writers[signature] = lambda file: file.write(signed)
        write_together(writers, owner_only=publication.owner_only, overwrite=may_overwrite)
        if may_overwrite and signer is None:
            signature.unlink(missing_ok=True)
        return written
    return publish(
        publication.table,
        publication.statement_with,
        _with_format(out, named_format),
        signer=signer,
        owner_only=publication.owner_only,
        overwrite=may_overwrite,
    )


def _checked_paths(
    path: Path | str, format: str | None, sign: Path | str | None, *, overwrite: bool, is_document: bool
) -> tuple[Path, Path | None]:
    """Check that the files can be written and the key can sign; return the paths of the file and of the key."""
    out = Path(os.fsdecode(as_path(path, "path")))
    if not out.name:
        raise OutOfRange("path must name a file", came=repr(os.fsdecode(path)), where="path")
    if format is not None and format not in files.FORMATS:
        raise OutOfRange(f"the format must be one of {', '.join(files.FORMATS)}", came=repr(format), where="format")
    key = None if sign is None else Path(os.fsdecode(as_path(sign, "sign")))
    if str(out) == PIPE:
        if key is not None:
            remedy = "Pass the path of a file, or leave out sign=."
            raise OutOfRange(
                "a signed statement must go to a file", came="standard output", where="sign", remedy=remedy
            )
        files.check_same_kind(_TABLES, Path("table" + files.FORMATS[format or "csv"]))
        # The standard output of a notebook accepts only text.
        if not files.TABLE_FORMATS[format or "csv"].is_text and getattr(sys.stdout, "buffer", None) is None:
            remedy = 'Pass format="csv", or the path of a file.'
            required = "a table on the standard output of a notebook must be in a text format"
            raise Unsupported(required, came=format, where="format", remedy=remedy)
        return out, key
    if is_document and out.suffix.lower() == ".json":
        for name in (out, signature_path(out)):
            check_free_name(name, overwrite=overwrite)
    else:
        check_free(_TABLES, _with_format(out, format), key, overwrite=overwrite)
    if key is not None:
        signer_of(key)
    return out, key


def _with_format(out: Path, format: str | None) -> Path:
    return FormattedFile.of(out, None if format is None else files.FORMATS[format])


class SavedTable(Display):
    """A release that is a table with a statement."""

    __slots__ = ()

    table: Any

    def statement_with(self, digest: Digest | None) -> dict[str, Any]:
        """The statement, with the digest of the published table."""
        raise Unsupported("a release must have a statement", came=type(self).__name__)

    def save(
        self,
        path: Path | str,
        *,
        format: str | None = None,
        sign: Path | str | None = None,
        overwrite: bool = False,
    ) -> dict[str, Any]:
        """Write the table into ``path``, and its statement into ``path`` + ".json": both files appear, or none.

        Args:
            path: File name ending in .csv, .tsv, .jsonl (each also with .gz), .feather, .parquet or .xlsx; "-" for
                standard output.
            format: "csv", "tsv", "jsonl", "feather", "parquet" or "xlsx", if the ending does not show the format.
            sign: File with the Ed25519 key that signs the statement.
            overwrite: Whether existing files are replaced. After an error the existing files are restored.

        Returns:
            The statement, with the digest of the file.
        """
        publication = SavedContent(self.table, self.statement_with)
        return saved(publication, path, format=format, sign=sign, overwrite=overwrite)
