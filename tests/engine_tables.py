"""Tables of engines, as a user has them: a lazy frame of Polars, and a table of one database of DuckDB."""

import itertools

import duckdb
import polars as pl
import pyarrow as pa

_DATABASE = duckdb.connect()  # to open another one takes twenty times as long as to fill a table
_NUMBERS = itertools.count()


def on_duckdb(columns):
    """A table of DuckDB with these columns, of a name and a connection of its own."""
    connection, name = _DATABASE.cursor(), f"table_{next(_NUMBERS)}"
    rows = pa.table(columns)  # noqa: F841  (DuckDB finds it by its name)
    connection.execute(f"CREATE TABLE {name} AS SELECT * FROM rows")
    return connection.table(name)


def of_arrow(columns):
    """A relation that reads a table of Arrow."""
    return _DATABASE.cursor().from_arrow(pa.table(columns))


ENGINES = {"polars": pl.LazyFrame, "duckdb": on_duckdb}


def columns_of(frame):
    """The columns of an engine's frame, as lists."""
    return (frame.collect().to_arrow() if isinstance(frame, pl.LazyFrame) else frame.to_arrow_table()).to_pydict()
