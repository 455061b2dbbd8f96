"""Parquet files and directories of them, read batch by batch and written row group by row group."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from utmost.errors import BadTable
from utmost.release.adapters import Column, in_order
from utmost.sampling.item_words import Identifiers
from utmost.tables import parquet
from utmost.tables.extra import extra
from utmost.tables.item_columns import arrow_identifiers

_ROWS = 1 << 17


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ParquetPiece:
    """A batch of rows."""

    batch: Any

    @property
    def rows(self) -> int:
        """How many there are."""
        return int(self.batch.num_rows)

    def column(self, name: str) -> Column:
        """The cells of one column."""
        arrow, column = extra("pyarrow", "tables"), self.batch.column(name)
        plain = arrow.types.is_integer(column.type) or arrow.types.is_floating(column.type)
        if plain and not column.null_count:
            return np.asarray(column.to_numpy(zero_copy_only=False))
        cells: list[Any] = column.to_pylist()
        return cells

    def identifiers(self, name: str) -> Identifiers:
        """The cells of one column as identifiers."""
        return arrow_identifiers(self.batch.column(name), name)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ParquetPieces:
    """A Parquet file, or all those in a directory, in the order of their names.

    Attributes:
        path: of the file or the directory.
        files: the files.
        schema: that all of them have.
    """

    path: Path
    files: tuple[Path, ...]
    schema: Any

    @classmethod
    def of(cls, path: Path) -> "ParquetPieces":
        """The files at a path, found to have one schema; what engines write beside tables begins with "_" or ".".

        Raises:
            BadTable: for a directory without any, and where two of them differ in their columns.
        """
        found = tuple(sorted(filter(partial(_is_part, path), path.glob("**/*")))) if path.is_dir() else (path,)
        if not found:
            raise BadTable("a directory must hold Parquet files", came="none", where=str(path))
        schema = _plain_schema(parquet.opened(found[0]).schema_arrow)
        for other in found[1:]:
            if _plain_schema(parquet.opened(other).schema_arrow) != schema:
                raise BadTable("all files must have the same columns", came="others", where=str(other))
        return cls(path, found, schema)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

    def pieces(self) -> Iterator[ParquetPiece]:
        """The batches of all files."""
        for path in self.files:
            file = parquet.opened(path)
            with parquet.well_formed(path):
                for group in range(file.num_row_groups):  # all at once, Arrow holds on to what was read
                    for batch in file.iter_batches(batch_size=_ROWS, row_groups=[group]):
                        yield ParquetPiece(batch.cast(self.schema))

    def write(
        self,
        file: BinaryIO,
        released: Iterator[tuple[ParquetPiece, Mapping[str, Any]]],
        after: Mapping[str, str],
        left_out: Sequence[str],
        kinds: Mapping[str, str],
    ) -> Iterator[tuple[int, bytes]]:
        """Write a row group for each piece; nothing that the schema kept beside the columns is written."""
        arrow, writer = extra("pyarrow", "tables"), extra("pyarrow.parquet", "tables")
        names = [name for name in in_order(self.names, after) if name not in left_out]
        numbers = {"int": arrow.int64(), "float": arrow.float64()}
        schema = arrow.schema(
            [(name, numbers[kinds[name]] if name in kinds else self.schema.field(name).type) for name in names]
        )
        with writer.ParquetWriter(file, schema) as out:
            for piece, columns in released:
                cells = [columns[name] if name in columns else piece.batch.column(name) for name in names]
                out.write_batch(arrow.record_batch(_in_arrow(cells, schema), schema=schema))
                yield piece.rows, b""


def _is_part(folder: Path, path: Path) -> bool:
    """Whether a path in a folder is a file of its table: not of an attempt that an engine has not ended."""
    is_named = not any(name.startswith(("_", ".")) for name in path.relative_to(folder).parts)
    return is_named and path.suffix.lower() in parquet.ENDINGS and path.is_file()


def _in_arrow(cells: Sequence[Any], schema: Any) -> list[Any]:
    arrow = extra("pyarrow", "tables")
    try:
        return [
            arrow.array(column, field.type) if isinstance(column, np.ndarray) else column
            for column, field in zip(cells, schema, strict=True)
        ]
    except (arrow.ArrowInvalid, OverflowError):
        remedy = "Release it as CSV, or in larger units."
        raise BadTable("released integers must fit 64 bits", came="a larger one", remedy=remedy) from None


def _plain_schema(schema: Any) -> Any:
    """The schema with the values of dictionaries for them, and without notes: categories may be those of no row."""
    arrow = extra("pyarrow", "tables")
    plain = [
        (field.name, field.type.value_type if arrow.types.is_dictionary(field.type) else field.type) for field in schema
    ]
    return arrow.schema(plain)
