"""Parquet files, through Arrow."""

from pathlib import Path
from typing import Any, BinaryIO

from utmost.adapters import dataframes
from utmost.adapters.extra import extra
from utmost.errors import BadTable


def read(path: Path | str) -> Any:
    """The file as an Arrow table.

    Raises:
        BadTable: for a file that is no Parquet, and for two columns of one name.
        Unsupported: where pyarrow is not installed.
    """
    arrow, parquet = extra("pyarrow", "tables"), extra("pyarrow.parquet", "tables")
    try:
        table = parquet.ParquetFile(path).read()
    except arrow.ArrowInvalid:
        raise BadTable("a Parquet file must be well formed", came="what Arrow cannot read", where=str(path)) from None
    names = table.column_names
    for at, name in enumerate(names):
        if name in names[:at]:
            raise BadTable(
                "column names must be distinct", came=f"columns {names.index(name) + 1} and {at + 1}", where=str(path)
            )
    return table


def write(table: Any, file: BinaryIO) -> None:
    """Write an Arrow table."""
    extra("pyarrow.parquet", "tables").write_table(table, file)


def register() -> None:
    """Let Arrow tables into releases."""
    dataframes.register()
