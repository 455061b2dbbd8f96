"""The statement as a JSON file beside the table, both written or neither."""

import json
from pathlib import Path
from typing import Any, BinaryIO

from utmost.adapters import files
from utmost.adapters.atomic import write_together
from utmost.errors import BadTable
from utmost.release import TableRelease

KIND = "utmost table release"


def sidecar_path(table: Path) -> Path:
    """Where the statement of a table stands.

    >>> sidecar_path(Path("released.csv")).name
    'released.csv.json'
    """
    return table.with_name(table.name + ".json")


def publish(release: TableRelease, out: Path) -> None:
    """Write the table and its statement: both files appear, or none.

    Raises:
        Unsupported: where one of them exists, and for an ending that is not the table's kind.
        OSError: where the disk refuses.
    """
    files.check_same_kind(release.table, out)

    def table(file: BinaryIO) -> None:
        files.write(release.table, file, out)

    # The statement comes first: a table never stands without it, whatever is cut off.
    write_together({sidecar_path(out): lambda file: write(release.sidecar, file), out: table})


def write(statement: dict[str, Any], file: BinaryIO) -> None:
    """Write a statement as JSON."""
    file.write((json.dumps(statement, indent=2, ensure_ascii=False) + "\n").encode())


def read(path: Path | str) -> dict[str, Any]:
    """Read the statement of a release.

    Raises:
        BadTable: for a file that is no such statement.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadTable("a statement must be JSON", came=str(error), where=str(path)) from None
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise BadTable(f"a statement must be of the kind {KIND!r}", came=type(found).__name__, where=str(path))
    return found
