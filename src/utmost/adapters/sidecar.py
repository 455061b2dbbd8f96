"""The statement as a JSON file beside the table, both written or neither."""

import json
from pathlib import Path
from typing import Any, BinaryIO

from utmost.adapters import files
from utmost.adapters.atomic import check_absent, write_together
from utmost.adapters.json_stream import read_json
from utmost.errors import BadTable
from utmost.release import TableRelease

KIND = "utmost table release"


def sidecar_path(table: Path) -> Path:
    """Where the statement of a table stands.

    >>> sidecar_path(Path("released.csv")).name
    'released.csv.json'
    """
    return table.with_name(table.name + ".json")


def check_free(source: Path, out: Path | None) -> None:
    """Check, before anything is drawn, that the release of ``source`` can be written to ``out``.

    Raises:
        Unsupported: where the file or its statement exists, and for an ending of another kind.
    """
    if out is not None:
        files.check_same_kind(source, out)
        check_absent(out)
        check_absent(sidecar_path(out))


def publish(release: TableRelease, out: Path, watch: files.Watch | None = None) -> None:
    """Write the table and its statement: both files appear, or none.

    Args:
        release: a release that has a table.
        out: the table's name; the statement's is ``out`` and ``.json``.
        watch: is shown the rows as they are written.

    Raises:
        Unsupported: where one of them exists.
        OSError: where the disk refuses.
    """

    stated = release.sidecar  # first, so that nothing is written where it cannot be said

    def table(file: BinaryIO) -> None:
        files.write(release.table, file, out, watch)

    # The statement comes first: a table never stands without it, whatever is cut off.
    write_together({sidecar_path(out): lambda file: write(stated, file), out: table})


def write(statement: dict[str, Any], file: BinaryIO) -> None:
    """Write a statement as JSON."""
    file.write((json.dumps(statement, indent=2, ensure_ascii=False) + "\n").encode())


def read(path: Path | str) -> dict[str, Any]:
    """Read the statement of a release.

    Raises:
        BadTable: for a file that is no such statement.
    """
    found = read_json(Path(path), "a statement must")
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise BadTable(f"a statement must be of the kind {KIND!r}", came=type(found).__name__, where=str(path))
    return found
