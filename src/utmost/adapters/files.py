"""Table files by their ending: which door a path goes through."""

import io
from pathlib import Path
from typing import Any, BinaryIO

from utmost.adapters import csv_table, parquet
from utmost.errors import Unsupported

_PARQUET = (".parquet", ".pq")
_TEXT = (".csv", ".tsv", ".txt", "")


def read(path: Path) -> Any:
    """The table in the file, checked.

    Raises:
        Unsupported: for an ending that no door knows.
        BadTable: for a file that is no such table.
    """
    if path.suffix.lower() in _PARQUET:
        parquet.register()
        return parquet.read(path)
    _check_known(path)
    csv_table.register()
    return csv_table.read(path)


def write(table: Any, file: BinaryIO) -> None:
    """Write the table in the form that it came in."""
    if not isinstance(table, csv_table.CsvTable):
        parquet.write(table, file)
        return
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    csv_table.write(table, text)
    text.flush()
    text.detach()


def _check_known(path: Path) -> None:
    if path.suffix.lower() not in _TEXT:
        raise Unsupported(
            "a table file must end in .csv, .tsv or .parquet", came=path.name, mend="Convert it to CSV or Parquet."
        )
