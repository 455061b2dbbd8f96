"""Parquet files, through Arrow."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from utmost.errors import BadTable
from utmost.tables.engines.engine_frames import even_batches
from utmost.tables.files import table_formats
from utmost.tables.files.text_files import ReadLimits, limits_of
from utmost.tables.frames import dataframes
from utmost.tables.frames.adapters import distinct_names
from utmost.tables.optional_imports import extra

# Columns of counts are compressed at most to a hundredth of their size. A small file may be compressed more.
_INFLATION, _INFLATED = 200, 1 << 30
_BATCH, _AT_ONCE = 1 << 17, 1 << 28


def read(path: Path | str, shown_as: str | None = None) -> Any:
    """Read a file as an Arrow table. Messages call the file ``shown_as``, or else show its path."""
    arrow = extra("pyarrow", "tables")
    file, where = opened(path, shown_as), str(path) if shown_as is None else shown_as
    with well_formed(where):
        # The file is read batch by batch, so that one that expands too much is refused before the memory is full.
        source = _readable(path)
        size = len(source.getbuffer()) if isinstance(source, io.BytesIO) else os.path.getsize(source)
        most, limits = max(_INFLATED, _INFLATION * size), limits_of(path)
        rows_of_batch = _BATCH if limits is None else _rows_of_batch(file.metadata, limits, where)
        batches, size, rows, texts = [], 0, 0, 0
        for batch in file.iter_batches(batch_size=rows_of_batch):
            batches.append(batch)
            size, rows = size + batch.nbytes, rows + batch.num_rows
            if limits is not None:  # the file may have more than its footer says
                limits.check_cells(".parquet", rows * batch.num_columns, where)
                texts += table_formats.text_size(arrow, batch)
                limits.check_unpacked(max(size, texts), where)
            if size > most:
                raise BadTable(
                    f"a Parquet file of this size must have at most {most} bytes of cells", came="more", where=where
                )
        return arrow.Table.from_batches(batches, file.schema_arrow)


def _rows_of_batch(footer: Any, limits: ReadLimits, where: str) -> int:
    """Check what the footer of an uploaded file says, and return how many rows may be read at once."""
    groups = [footer.row_group(at) for at in range(footer.num_row_groups)]
    columns = [group.column(at) for group in groups for at in range(group.num_columns)]
    rows = max(footer.num_rows, sum(group.num_rows for group in groups))
    limits.check_cells(".parquet", max(rows * footer.num_columns, sum(column.num_values for column in columns)), where)
    limits.check_unpacked(sum(column.total_uncompressed_size for column in columns), where)
    # A dictionary stores a text once for many rows: no text is longer than all of them together.
    texts = sum(column.total_uncompressed_size for column in columns if column.physical_type.endswith("BYTE_ARRAY"))
    return max(1, min(_BATCH, _AT_ONCE // max(1, int(texts))))


def opened(path: Path | str, shown_as: str | None = None) -> Any:
    """Open a file for reading batch by batch, and check that its columns have distinct names."""
    reader, where = extra("pyarrow.parquet", "tables"), str(path) if shown_as is None else shown_as
    with well_formed(where):
        file = reader.ParquetFile(_readable(path))
    distinct_names(file.schema_arrow.names, where)
    return file


def cells(path: Path | str) -> int:
    """The number of cells of a file, rows times columns, from its metadata."""
    metadata = opened(path).metadata
    return int(metadata.num_rows * metadata.num_columns)


def _readable(path: Path | str) -> Any:
    """The path of a file on the disk, or the content of a pipe."""
    if not isinstance(path, Path) or type(path) is type(Path()):
        return path
    with path.open("rb") as file:
        return io.BytesIO(file.read())


@contextmanager
def well_formed(path: Path | str) -> Iterator[None]:
    """Turn errors of Arrow into an error that reveals nothing about the content of the file."""
    arrow = extra("pyarrow", "tables")
    try:
        yield
    except FileNotFoundError:
        raise
    except (arrow.ArrowException, OSError, ValueError) as error:  # Arrow has several kinds for a file that is damaged
        if isinstance(error, BadTable):
            raise
        raise BadTable(
            "a Parquet file must be well formed",
            came="a file that Arrow cannot read",
            where=str(path),
            remedy="Write the file again: it may be incomplete.",
        ) from None


def write(table: Any, file: BinaryIO) -> None:
    """Write an Arrow table, or a dict of columns."""
    whole = table_formats.as_arrow(table)
    extra("pyarrow.parquet", "tables").write_table(whole, file)


def write_batches(schema: Any, batches: Iterator[Any], file: BinaryIO) -> None:
    """Write Arrow batches in row groups of equal size."""
    with extra("pyarrow.parquet", "tables").ParquetWriter(file, schema) as out:
        for batch in even_batches(batches, schema):
            out.write_batch(batch)


def register() -> None:
    dataframes.register()
