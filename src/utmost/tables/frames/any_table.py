"""Find the adapter of a table of any kind, open tables at paths, and make tables from columns."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from utmost.errors import BadTable, OutOfRange
from utmost.tables.frames.adapters import Column, LabelledTable, TableAdapter, known_adapters
from utmost.tables.frames.table import Table


def _adapters_in_order() -> Iterator[TableAdapter]:
    """Yield the adapters in the order in which they are tried. The adapters of dataframes import packages, so they come
    last.
    """
    yield from known_adapters()
    _load_dataframes()
    yield from known_adapters()


@cache
def _load_dataframes() -> None:
    from utmost.tables.frames import dataframes

    dataframes.register()


def opened_table(table: Any) -> Any:
    """Open the table at a path, or read all batches of an Arrow reader. Return any other table unchanged."""
    if isinstance(table, Path):
        # Imported here, so that a release of a dict does not load the readers of files.
        from utmost.tables.files import files

        return files.table_or_relation(table) if table.is_dir() else files.read(table)
    if type(table).__name__ == "RecordBatchReader" and type(table).__module__.startswith("pyarrow"):
        return table.read_all()
    return table


def adapter_of(table: Any) -> TableAdapter:
    for adapter in _adapters_in_order():
        if adapter.knows(table):
            return adapter
    raise BadTable(
        "a table must be a dict of columns or a dataframe",
        came=type(table).__name__,
        remedy='Pass {"name": [values]}, a pandas, Polars or Arrow table, or a table read from a file.',
    )


_ENGINES = ("polars", "duckdb", "_duckdb", "pyspark", "narwhals")


def is_engine_table(table: Any) -> bool:
    """Return whether an engine evaluates the table. No engine is imported for the tables of other packages."""
    if type(table).__module__.partition(".")[0] not in _ENGINES:
        return False
    from utmost.tables.engines.engines import is_engine_frame

    return is_engine_frame(table)


def published_names(table: Any) -> list[str]:
    """The names of the columns of a released table, which may be a frame that an engine evaluates."""
    if is_engine_table(table):
        from utmost.tables.engines.engines import engine_frame

        return list(engine_frame(table).schema().names)
    return adapter_of(table).names(table)


def table_of(kind: str, columns: Mapping[str, Column]) -> Any:
    """Make a table of the kind that an adapter described. If no adapter can make the table here, the result is a dict
    of arrays.
    """
    for adapter in _adapters_in_order():
        table = adapter.made(kind, columns)
        if table is not None:
            return table
    return Table({name: np.asarray(column) for name, column in columns.items()})


def labelled(kind: str, labels: Mapping[str, Column], columns: Mapping[str, Column]) -> LabelledTable:
    """Return columns of labels followed by columns of numbers, as a dataframe of the given kind or as a dict of
    arrays.
    """
    for name in columns:
        if name in labels:
            remedy = "Rename the level or the column."
            raise OutOfRange("no level may have the name of a column of numbers", came=repr(name), remedy=remedy)
    whole: dict[str, Column] = {**{name: np.array(values) for name, values in labels.items()}, **columns}
    table: LabelledTable = table_of(kind if kind.startswith("dataframe:") else f"columns:{'a' * len(whole)}", whole)
    return table
