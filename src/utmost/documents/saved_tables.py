"""Released tables as files, from Python: the table in any format, and its statement beside it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from utmost.documents.statement_files import check_free, publish, signer_of
from utmost.errors import OutOfRange, Unsupported
from utmost.tables import files
from utmost.tables.text_files import FormattedFile


class Savable(Protocol):
    """What has a table and a statement."""

    @property
    def table(self) -> Any:
        """What was released; None for a rehearsal."""
        ...

    def said(self, digest: Mapping[str, str]) -> dict[str, Any]:
        """The statement, with the digest of the table as it is published."""
        ...


def save(release: Savable, path: Path, form: str | None, sign: Path | None) -> dict[str, Any]:
    """Write a release's table and statement, see `TableRelease.save`."""
    if release.table is None:
        raise Unsupported("only what was released can be saved", came="a rehearsal", where="save")
    if form is not None and form not in files.FORMATS:
        raise OutOfRange(f"the format must be one of {', '.join(files.FORMATS)}", came=repr(form), where="format")
    named = FormattedFile.of(path, None if form is None else files.FORMATS[form])
    check_free(path, named, sign)
    return publish(release.table, release.said, named, None, None if sign is None else signer_of(sign))
