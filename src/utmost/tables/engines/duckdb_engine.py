"""DuckDB's relations. Batches are read on a second cursor, mapped, and returned as a new relation over an Arrow stream.

A mapped relation is like a view: each evaluation reads the original relation again and maps its batches, on a cursor of
the same connection. So a mapped relation can be joined and written like any other relation of that connection.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any

from utmost.errors import Unsupported
from utmost.tables.engines.engine_frames import (
    CHOSEN_BY_THE_ENGINE,
    Batches,
    BatchMap,
    Constants,
    WithConstants,
    check_no_pattern,
    evaluated,
    even_batches,
)
from utmost.tables.engines.local_frames import LocalFrame
from utmost.tables.files.hive_folders import FolderColumns
from utmost.tables.optional_imports import extra

_CHUNK = 1 << 17
_LEAST = 2
_FILE = "file_index"
_HUGE = ("HUGEINT", "UHUGEINT")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DuckRelation(LocalFrame):
    native: Any
    engine: str = "duckdb"
    kind: str = "dataframe:pyarrow"
    folds_case: bool = True

    def __post_init__(self) -> None:
        version = extra("duckdb", "duckdb").__version__
        if int(version.partition(".")[0]) < _LEAST or not hasattr(self.native, "_con"):
            raise Unsupported(f"relations need DuckDB {_LEAST} or later", came=version, remedy="Update DuckDB.")

    def schema(self) -> Any:
        """The Arrow schema of the rows. Columns of 128-bit integers are marked, because DuckDB, and not the user, may
        have chosen this type.
        """
        # DuckDB itself chooses 128 bits for sums, and for the integers of a file that contains a large one.
        schema = _reader(self.native.limit(0)).read_all().schema
        for at, kind in enumerate(map(str, self.native.types)):
            if kind in _HUGE:
                schema = schema.set(at, schema.field(at).with_metadata({CHOSEN_BY_THE_ENGINE: b"wide"}))
        return schema

    def select(self, names: Sequence[str]) -> "DuckRelation":
        """The relation with only these columns. Collations are removed, so that text is compared by its bytes."""
        check_no_pattern(names)
        kinds = dict(zip(self.native.columns, map(str, self.native.types), strict=True))
        columns = []
        for name in names:
            quoted = '"' + name.replace('"', '""') + '"'
            # A UUID becomes text in Arrow.
            is_text = kinds[name] in ("VARCHAR", "UUID") or kinds[name].startswith("ENUM")
            columns.append(f"{quoted}::VARCHAR COLLATE C AS {quoted}" if is_text else quoted)
        return DuckRelation(self.native.project(", ".join(columns)))

    def mapped(self, work: BatchMap, schema: Any, constants: Constants) -> Any:
        self.check_mapped()
        stream = _Stream(self.native, WithConstants(work, schema, constants), schema)
        return stream.home.from_arrow(stream)

    def check_mapped(self) -> None:
        """Check that the relation can be read while another query is running."""
        duckdb = extra("duckdb", "duckdb")
        try:
            _reader(_on_new_cursor(self.native).limit(0)).read_all()
        except duckdb.CatalogException:
            raise Unsupported(
                "a mapped relation must not read temporary tables, which only one connection can see",
                came="a temporary table",
                remedy="Create the table without TEMP, or write it to Parquet.",
            ) from None

    def batches(self) -> Batches:
        """The rows, in the order of the relation."""
        return self.passing()

    def passing(self) -> Generator[Any, None, None]:
        """The rows, in the order of the relation."""
        return _batches(self.native)


class _Stream:
    """An Arrow stream that can be read several times. Each reading evaluates the relation and maps its batches."""

    def __init__(self, relation: Any, work: BatchMap, schema: Any) -> None:
        self._relation, self._work, self._schema = relation, work, schema
        self.home = relation._con  # DuckDB has no other name for a relation's connection

    def __arrow_c_schema__(self) -> Any:
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        arrow = extra("pyarrow", "tables")
        batches = map(self._work, _batches(_on_new_cursor(self._relation)))
        reader = arrow.RecordBatchReader.from_batches(self._schema, even_batches(batches, self._schema))
        return reader.__arrow_c_stream__(requested_schema)


def _on_new_cursor(relation: Any) -> Any:
    """The relation on a new cursor: DuckDB refuses a query inside a query of the same cursor."""
    below = relation  # noqa: F841  (DuckDB finds it by its name)
    return relation._con.cursor().sql("SELECT * FROM below")


def _reader(relation: Any) -> Any:
    return relation.to_arrow_reader(_CHUNK)


def _batches(relation: Any) -> Generator[Any, None, None]:
    """Yield the batches of rows of a relation. Closing the generator frees the connection."""
    with evaluated():
        reader = _reader(relation)
        try:
            yield from reader
        finally:
            reader.close()


def lake_relation(files: Sequence[Path], folders: FolderColumns) -> DuckRelation:
    """Parquet files, and the columns in the names of their folders, as one relation on a new connection."""
    duckdb = extra("duckdb", "duckdb")
    names = [escape(str(path)) for path in files]
    lake = duckdb.connect().read_parquet(names, hive_partitioning=False)
    if folders.names and _FILE in map(str.casefold, lake.columns):
        required = f"Parquet files in folders named key=cell must have no column {_FILE!r}"
        raise Unsupported(required, came=repr(_FILE), remedy="Rename the column.")
    place = duckdb.ColumnExpression(_FILE).cast("BIGINT") + duckdb.ConstantExpression(1)
    columns = [duckdb.StarExpression()]
    for field, cells in zip(folders.schema, folders.cells, strict=True):
        listed = duckdb.ConstantExpression(cells.to_pylist()).cast("VARCHAR[]")
        columns.append(duckdb.FunctionExpression("list_extract", listed, place).alias(field.name))
    return DuckRelation(lake.project(*columns) if folders.names else lake)
