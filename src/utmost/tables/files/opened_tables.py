"""Tables that callers pass as a path or as a reader of Arrow batches."""

from pathlib import Path
from typing import Any


def opened_table(table: Any) -> Any:
    """The table at a path, or of a reader of Arrow batches; any other table is returned.

    >>> opened_table({"n": [1]})
    {'n': [1]}
    """
    if isinstance(table, Path):
        # A release of a dict does not load the readers of files.
        from utmost.tables.files import files

        return files.table_or_relation(table) if table.is_dir() else files.read(table)
    if type(table).__name__ == "RecordBatchReader" and type(table).__module__.startswith("pyarrow"):
        return table.read_all()
    return table
