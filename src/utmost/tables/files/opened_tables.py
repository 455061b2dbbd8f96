"""A table as a caller passes it: a path is read, a reader of Arrow batches too."""

from pathlib import Path
from typing import Any


def opened_table(table: Any) -> Any:
    """Open what a caller passes: a path as the file's table, a reader of Arrow batches as its table; else as it is.

    >>> opened_table({"n": [1]})
    {'n': [1]}
    """
    if isinstance(table, Path):
        # A release of a dict starts without the readers of files.
        from utmost.tables.files import files

        return files.brought(table) if table.is_dir() else files.read(table)
    if type(table).__name__ == "RecordBatchReader" and type(table).__module__.startswith("pyarrow"):
        return table.read_all()
    return table
