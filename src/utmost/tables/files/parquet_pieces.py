"""Parquet files and directories of them, read batch by batch, and written row group by row group."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from utmost.core.sampling.item_words import Identifiers
from utmost.errors import BadTable
from utmost.tables.engines.engine_frames import even_batches
from utmost.tables.files import files, parquet
from utmost.tables.files.hive_folders import FolderColumns, shown
from utmost.tables.frames.adapters import Column, column_order
from utmost.tables.frames.arrow_identifiers import arrow_identifiers
from utmost.tables.frames.fresh_columns import bare_type, fresh_part
from utmost.tables.optional_imports import extra

_ROWS = 1 << 17


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ParquetPiece:
    batch: Any

    @property
    def rows(self) -> int:
        return int(self.batch.num_rows)

    def column(self, name: str) -> Column:
        arrow, column = extra("pyarrow", "tables"), self.batch.column(name)
        plain = arrow.types.is_integer(column.type) or arrow.types.is_floating(column.type)
        if plain and not column.null_count:
            return np.asarray(column.to_numpy(zero_copy_only=False))
        cells: list[Any] = column.to_pylist()
        return cells

    def identifiers(self, name: str) -> Identifiers:
        return arrow_identifiers(self.batch.column(name), name)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ParquetPieces:
    """A Parquet file, or all Parquet files in a directory, in the order of their names."""

    path: Path  # file or directory
    files: tuple[Path, ...]
    schema: Any  # the columns of the files, then the columns from the names of folders
    folders: FolderColumns  # columns in the names of folders

    @classmethod
    def of(cls, path: Path) -> "ParquetPieces":
        """Open the files at a path, which must all have the same schema. Names that begin with "_" or "." are
        ignored.
        """
        files = tuple(sorted(filter(partial(_is_part, path), path.glob("**/*")))) if path.is_dir() else (path,)
        if not files:
            raise BadTable("a directory must contain Parquet files", came="none", where=str(path))
        arrow, places = extra("pyarrow", "tables"), [_shown_name(path, files, at) for at in range(len(files))]
        schema = _plain_schema(parquet.opened(files[0], places[0]).schema_arrow)
        for other, where in zip(files[1:], places[1:], strict=True):
            if _plain_schema(parquet.opened(other, where).schema_arrow) != schema:
                raise BadTable("all files must have the same columns", came="other columns", where=where)
        folders = FolderColumns.of(path, files, schema.names)
        return cls(path, files, arrow.schema([*schema, *folders.schema]), folders)

    @property
    def names(self) -> list[str]:
        return list(self.schema.names)

    @property
    def rows(self) -> int:
        """The number of rows, from the metadata of the files."""
        return sum(int(self._opened(at).metadata.num_rows) for at in range(len(self.files)))

    def whole(self) -> Any:
        batches: list[Any] = []
        for at, path in enumerate(self.files):
            read = parquet.read(path, self._shown_name(at)).to_batches()
            batches.extend(self.folders.with_columns(batch, at).cast(self.schema) for batch in read)
        return extra("pyarrow", "tables").Table.from_batches(batches, self.schema)

    def pieces(self) -> Iterator[ParquetPiece]:
        """Yield the batches of all files."""
        for at in range(len(self.files)):
            file = self._opened(at)
            with parquet.well_formed(self._shown_name(at)):
                for group in range(
                    file.num_row_groups
                ):  # the groups are read one by one, since Arrow keeps all groups of a reader in memory
                    for batch in file.iter_batches(batch_size=_ROWS, row_groups=[group]):
                        yield ParquetPiece(self.folders.with_columns(batch, at).cast(self.schema))

    def batches(self, wanted: Sequence[str], rows: int) -> Iterator[dict[str, Any]]:
        """Yield some columns of all files, at most ``rows`` rows at a time."""
        own, folders = [name for name in wanted if name not in self.folders.names], self.folders
        for at in range(len(self.files)):
            file = self._opened(at)
            with parquet.well_formed(self._shown_name(at)):
                for batch in file.iter_batches(batch_size=rows, columns=own):
                    constants = {name: folders.column(name, at, batch.num_rows) for name in wanted if name not in own}
                    yield {name: constants[name] if name in constants else batch.column(name) for name in wanted}

    def _opened(self, at: int) -> Any:
        return parquet.opened(self.files[at], self._shown_name(at))

    def _shown_name(self, at: int) -> str:
        return _shown_name(self.path, self.files, at)

    def write(
        self,
        file: BinaryIO,
        released: Iterator[tuple[ParquetPiece, Mapping[str, Any]]],
        after: Mapping[str, str],
        dropped: Sequence[str],
        kinds: Mapping[str, str],
    ) -> Iterator[tuple[int, bytes]]:
        """Write row groups of equal size. The metadata of the schema are not written, nor those of nested fields."""
        arrow, writer = extra("pyarrow", "tables"), extra("pyarrow.parquet", "tables")
        names = [name for name in column_order(self.names, after) if name not in dropped]
        numbers = {"int": arrow.int64(), "float": arrow.float64()}
        schema = arrow.schema(
            [
                (name, numbers[kinds[name]] if name in kinds else bare_type(self.schema.field(name).type))
                for name in names
            ]
        )

        def batches() -> Iterator[Any]:
            for piece, columns in released:
                cells = [columns[name] if name in columns else fresh_part(piece.batch.column(name)) for name in names]
                try:
                    arrays = [
                        arrow.array(column, field.type) if isinstance(column, np.ndarray) else column
                        for column, field in zip(cells, schema, strict=True)
                    ]
                except (arrow.ArrowInvalid, OverflowError):
                    remedy = "Write CSV, or release in larger units."
                    raise BadTable(
                        "released integers must fit into 64 bits", came="a larger integer", remedy=remedy
                    ) from None
                yield arrow.record_batch(arrays, schema=schema)

        with writer.ParquetWriter(file, schema) as out:
            for batch in even_batches(batches(), schema):
                out.write_batch(batch)
                yield batch.num_rows, b""


def _is_part(folder: Path, path: Path) -> bool:
    """Whether a path in a folder is a Parquet file of the table, and not a file that an engine has not finished."""
    parts = path.relative_to(folder).parts
    is_named = not any(name.startswith(".") or (name.startswith("_") and "=" not in name) for name in parts)
    return is_named and path.suffix.lower() in files.PARQUET and path.is_file()


def _shown_name(root: Path, files: Sequence[Path], at: int) -> str:
    """The name of a file in messages, or its number if the names of its folders contain cells."""
    where = shown(root, files[at])
    return where if where == str(files[at]) else f"{where}, file {at + 1} of {len(files)}"


def _plain_schema(schema: Any) -> Any:
    """The schema without metadata, and with the type of values in place of dictionaries."""
    arrow = extra("pyarrow", "tables")
    plain = [
        (field.name, field.type.value_type if arrow.types.is_dictionary(field.type) else field.type) for field in schema
    ]
    return arrow.schema(plain)
