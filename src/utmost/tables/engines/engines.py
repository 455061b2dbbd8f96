"""Frames that an engine evaluates on demand: Polars' lazy frames, DuckDB's relations, Spark's dataframes.

A release of a frame uses two operations. A *map* turns each batch of rows into a batch of rows, in Arrow, by a
pure function: the engine may evaluate the function repeatedly, on any batches, in any order, on any machine. For an
*aggregate*, the engine returns only a few numbers. The rows of a frame are never collected in this process.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from utmost.errors import Unsupported
from utmost.tables.engines.engine_frames import EngineFrame
from utmost.tables.optional_imports import extra

_ENGINES = {
    "polars.lazyframe": ("LazyFrame", "polars"),
    "duckdb": ("DuckDBPyRelation", "duckdb"),
    "_duckdb": ("DuckDBPyRelation", "duckdb"),
    "pyspark.sql": ("DataFrame", "spark"),
}


def is_engine_frame(table: Any) -> bool:
    """Whether a table is a frame of an engine, or narwhals' view of such a frame."""
    return _engine_of(_bare(table)) is not None


def engine_frame(table: Any) -> EngineFrame:
    native = _bare(table)
    engine = _engine_of(native)
    if engine is None:
        raise Unsupported(
            "a lazy frame must be one of Polars, DuckDB or Spark",
            came=f"{type(native).__module__.partition('.')[0]}'s {type(native).__name__}",
            remedy="Write the frame to Parquet, or collect it first.",
        )
    if engine == "polars":
        from utmost.tables.engines.polars_engine import LazyPolars

        return LazyPolars(native)
    if engine == "duckdb":
        from utmost.tables.engines.duckdb_engine import DuckRelation

        return DuckRelation(native)
    from utmost.tables.engines.spark_engine import SparkRows

    return SparkRows(native)


def with_constants(frame: Any, constants: Mapping[str, int | float]) -> Any:
    """Put new numbers into columns that have the same number in all rows. The types of the columns stay the same."""
    nw = extra("narwhals", "tables")
    lazy = nw.from_native(_bare(frame))
    kinds = lazy.collect_schema()
    numbers = {name: Decimal(value) if isinstance(value, int) else value for name, value in constants.items()}
    return lazy.with_columns(
        *(nw.lit(number).cast(kinds[name]).alias(name) for name, number in numbers.items())
    ).to_native()


def _bare(table: Any) -> Any:
    """Return the native frame of a lazy narwhals frame, and any other table unchanged."""
    kind = type(table)
    if kind.__module__.startswith("narwhals") and kind.__name__ == "LazyFrame":
        return table.to_native()
    return table


def _engine_of(native: Any) -> str | None:
    """The engine of a frame, found by the names of its classes, so that no engine is imported."""
    for kind in type(native).__mro__:
        for place, (name, engine) in _ENGINES.items():
            if kind.__name__ == name and (kind.__module__ == place or kind.__module__.startswith(f"{place}.")):
                return engine
    return None
