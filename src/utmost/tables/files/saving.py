"""Saving what was released: one verb, whatever a user holds.

Every release has ``save``: the table into a file of any format, its statement beside it as the file's name and ".json",
and the statement's signature where a key is given. All files appear, or none; none is written over unless that is
asked for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, cast

from utmost.core.exact.arguments import optional, text, truth
from utmost.core.exact.shown import Shown
from utmost.errors import Unsupported
from utmost.provided import provided

Digest = Mapping[str, str]
"""The digest of a table, as `cells_digest` gives it, or of its file."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Publication:
    """What is written: a table and its statement, or one document that holds both.

    Attributes:
        table: what goes into a file of a table; None for a rehearsal.
        said: from the table's digest to the statement that stands beside it.
        document: the whole as one JSON document, for a file that ends in .json; None where there is none.
        owner_only: whether nobody but the file's owner may read it.
    """

    table: Any
    said: Callable[[Digest | None], dict[str, Any]]
    document: Callable[[], dict[str, Any]] | None = None
    owner_only: bool = False


class FileWords(TypedDict, total=False):
    """The words that say how files are written, see `saved`."""

    format: str | None
    sign: Path | str | None
    overwrite: bool


def file_words(words: Mapping[str, Any]) -> FileWords:
    """How an answer is written, among the words of a save."""
    return cast(FileWords, {name: word for name, word in words.items() if name in FileWords.__annotations__})


def saved(
    publication: Publication,
    path: Path | str,
    *,
    format: str | None = None,
    sign: Path | str | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write a publication; every ``save`` is this.

    Args:
        path: the file: .csv, .tsv, .jsonl (each also with .gz), .feather, .parquet, .xlsx, where the release is one
            document also .json; "-" for standard output, where the statement is only returned.
        format: "csv", "tsv", "jsonl", "feather", "parquet" or "xlsx", where the ending does not say it.
        sign: a file with the Ed25519 key that signs the statement.
        overwrite: whether files of these names give way; they come back where something fails.

    Returns:
        The statement, with the digest of what was written; or the document.

    Raises:
        Unsupported: where one of the files exists, for another ending, and for a rehearsal.
        OutOfRange: for a format that nobody knows, and a signature on standard output.
        KeyRefused: for a file that holds no key, or that others may read.
    """
    written: dict[str, Any] = provided("publication").write_publication(
        publication,
        path,
        format=optional(format, text, "format"),
        sign=sign,
        overwrite=truth(overwrite, "overwrite"),
    )
    return written


def check_destination_free(
    path: Path | str,
    *,
    is_document: bool = False,
    format: str | None = None,
    sign: Path | str | None = None,
    overwrite: bool = False,
) -> None:
    """Check, before anything is drawn, that `saved` could write here.

    Args:
        path, format, sign, overwrite: as for `saved`.
        is_document: whether a file that ends in .json is the whole of what is written.
    """
    provided("publication").check_destination(
        path, is_document=is_document, format=format, sign=sign, overwrite=overwrite
    )


class SavedTable(Shown):
    """A release that is a table with a statement; see `saved`."""

    __slots__ = ()

    table: Any

    def said(self, digest: Digest | None) -> dict[str, Any]:
        """The statement, with the digest of the table as it is published."""
        raise Unsupported("a release must say what it promises", came=type(self).__name__)

    def save(
        self,
        path: Path | str,
        *,
        format: str | None = None,
        sign: Path | str | None = None,
        overwrite: bool = False,
    ) -> dict[str, Any]:
        """Write the table and, beside it, its statement as ``path`` and ".json": both appear, or none.

        Args:
            path, format, sign, overwrite: as for `saved`.

        Returns:
            The statement, with the digest of the file.
        """
        publication = Publication(self.table, self.said)
        return saved(publication, path, format=format, sign=sign, overwrite=overwrite)
