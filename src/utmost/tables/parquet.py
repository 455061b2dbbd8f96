"""Parquet files, through Arrow."""

import os
from pathlib import Path
from typing import Any, BinaryIO

from utmost.errors import BadTable
from utmost.tables import dataframes
from utmost.tables.extra import extra

# Columns of counts shrink to a hundredth at most; a small file may shrink more.
_INFLATION, _INFLATED = 200, 1 << 30
_BATCH = 1 << 17


def read(path: Path | str) -> Any:
    """The file as an Arrow table.

    Raises:
        BadTable: for a file that is no Parquet, and for two columns of one name.
        Unsupported: where pyarrow is not installed.
    """
    arrow, parquet = extra("pyarrow", "tables"), extra("pyarrow.parquet", "tables")
    try:
        table = _read(arrow, parquet.ParquetFile(path), path)
    except FileNotFoundError:
        raise
    except (arrow.ArrowException, OSError, ValueError) as error:  # Arrow has several kinds for a file that is damaged
        if isinstance(error, BadTable):
            raise
        raise BadTable("a Parquet file must be well formed", came="what Arrow cannot read", where=str(path)) from None
    names = table.column_names
    for at, name in enumerate(names):
        if name in names[:at]:
            raise BadTable(
                "column names must be distinct", came=f"columns {names.index(name) + 1} and {at + 1}", where=str(path)
            )
    return table


def _read(arrow: Any, file: Any, path: Path | str) -> Any:
    """The table, batch by batch: a file that inflates beyond all measure is noticed before the memory is full."""
    most = max(_INFLATED, _INFLATION * os.path.getsize(path))
    batches, size = [], 0
    for batch in file.iter_batches(batch_size=_BATCH):
        batches.append(batch)
        size += batch.nbytes
        if size > most:
            raise BadTable(f"a Parquet file of this size may hold {most} bytes of cells", came="more", where=str(path))
    return arrow.Table.from_batches(batches, file.schema_arrow)


def write(table: Any, file: BinaryIO) -> None:
    """Write an Arrow table."""
    extra("pyarrow.parquet", "tables").write_table(table, file)


def register() -> None:
    """Let Arrow tables into releases."""
    dataframes.register()
