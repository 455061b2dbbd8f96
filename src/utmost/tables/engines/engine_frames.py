"""The protocol of frames that an engine evaluates, in Arrow batches, and the code that all engines share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from utmost.errors import BadTable, UtmostError
from utmost.tables.optional_imports import extra

Batches = Iterator[Any]
"""Arrow record batches."""

BatchMap = Callable[[Any], Any]
"""Pure function from one Arrow record batch to another. It must be picklable: workers get a copy."""

RowsMap = Callable[[Batches], Batches]
"""Function from the batches of some rows to batches of results. It must be picklable, too."""

Constants = Mapping[str, int | float]
"""Columns with the same number in all rows, by name."""

CHOSEN_BY_THE_ENGINE = b"utmost.undeclared"
"""The mark in the metadata of a field whose width was chosen by the engine, and not declared by the user."""

_FILE_ROWS, _ROWS = 10_000_000, 1 << 17


class EngineFrame(Protocol):
    """A frame that an engine evaluates, and the operations that the engine applies to it."""

    @property
    def engine(self) -> str: ...

    @property
    def kind(self) -> str:
        """Kind of the tables that are made from the frame, see `TableAdapter.kind`."""

    @property
    def native(self) -> Any:
        """The frame in the engine's own type."""

    @property
    def folds_case(self) -> bool:
        """Whether names that differ only in case are the same column."""

    def schema(self) -> Any:
        """The Arrow schema of the rows. Reading the schema does not evaluate the frame."""

    def select(self, names: Sequence[str]) -> "EngineFrame":
        """The frame with only these columns."""

    def mapped(self, work: BatchMap, schema: Any, constants: Constants) -> Any:
        """An unevaluated frame of the engine's own type. ``work`` maps the rows to all columns but ``constants``."""

    def check_mapped(self) -> None:
        """Check that rows can be mapped, before any privacy level is spent."""

    def batches(self) -> Batches:
        """Yield all rows batch by batch, in the order of the frame if it has an order."""

    def written(self, folder: Path) -> None:
        """Write the rows as Parquet files into an empty folder."""

    # ``schema`` has the keys in the first column, each once per batch, and sums in the others. The caller adds up the
    # sums of a key that is in several batches. The engine may call ``work`` with any parts of the rows, in any order.
    def added_up(self, work: RowsMap, schema: Any) -> Batches:
        """Yield batches of the sums that ``work`` returns for the rows."""

    # ``work`` maps rows to batches of the schema ``between``. The engine then shuffles them by key, and calls ``then``
    # ``parts`` times, each time with all rows of some keys; ``then`` returns batches of ``schema``.
    def compared(self, work: RowsMap, between: Any, then: RowsMap, schema: Any, parts: int) -> Batches | None:
        """Yield batches of sums that are computed in two steps. The result is None if this machine reads all rows, so
        that `added_up` suffices.
        """

    def added_up_by(self, column: str, work: RowsMap, schema: Any) -> Batches:
        """Yield batches of sums. Each call of ``work`` is for some values of the column, and gets every row with one of
        these values.
        """


def check_no_pattern(names: Sequence[str]) -> None:
    """Check that no name is a pattern: engines read a star as all columns, and Polars reads regular expressions."""
    for name in names:
        if name == "*" or (name.startswith("^") and name.endswith("$")):
            required = "the name of a column must not be a pattern: neither * nor a regular expression from ^ to $"
            raise BadTable(required, came=repr(name), remedy="Rename the column.")


@contextmanager
def evaluated() -> Iterator[None]:
    """Turn the error of an engine's query into one without the engine's message, which may quote a cell in a log."""
    try:
        yield
    except (UtmostError, MemoryError):
        raise
    except Exception as error:
        # When Ctrl-C cancels a job, Spark's cleanup replaces KeyboardInterrupt by the error of the cancelled job.
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise unevaluated(error) from None


def unevaluated(error: Exception) -> BadTable:
    """Return the error for a frame whose engine raised ``error``; only the kind of that error is shown."""
    return BadTable(
        "the engine must be able to evaluate the frame",
        came=f"an error of the engine ({type(error).__name__})",
        remedy="Evaluate the frame by itself, where nobody else reads the engine's message: it may quote cells.",
    )


def even_batches(batches: Iterator[Any], schema: Any) -> Iterator[Any]:
    """Yield the rows of some batches in batches of equal size; the last one may have fewer rows."""
    # Where an engine or a file ends a batch depends on rows that nobody sees, such as those that a filter removed.
    arrow = extra("pyarrow", "tables")
    waiting, rows = list[Any](), 0
    for batch in batches:
        waiting.append(batch.cast(schema))
        rows += batch.num_rows
        while rows >= _ROWS:
            table = arrow.Table.from_batches(waiting, schema)
            yield _one_batch(table.slice(0, _ROWS))
            waiting, rows = table.slice(_ROWS).to_batches(), rows - _ROWS
    if rows:
        yield _one_batch(arrow.Table.from_batches(waiting, schema))


def _one_batch(table: Any) -> Any:
    arrow = extra("pyarrow", "tables")
    columns = [arrow.concat_arrays(column.chunks) for column in table.columns]
    return arrow.record_batch(columns, schema=table.schema)


def write_parquet(batches: Batches, schema: Any, folder: Path) -> None:
    """Write rows in row groups of equal size into Parquet files of about ten million rows."""
    writer, at = extra("pyarrow.parquet", "tables"), 0
    batches = even_batches(batches, schema)
    batch = next(batches, None)
    while batch is not None or at == 0:
        with writer.ParquetWriter(folder / f"part-{at:05}.parquet", schema) as out:
            rows = 0
            while batch is not None and rows < _FILE_ROWS:
                out.write_batch(batch)
                rows, batch = rows + batch.num_rows, next(batches, None)
        at += 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WithConstants:
    """A map of batches that adds columns with the same number in each row."""

    work: BatchMap  # map that makes the other columns
    schema: Any  # schema of all columns
    constants: Constants  # the added columns

    def __call__(self, batch: Any) -> Any:
        worked = self.work(batch)
        columns = [
            _repeated(self.constants[field.name], field.type, worked.num_rows)
            if field.name in self.constants
            else worked.column(field.name)
            for field in self.schema
        ]
        return extra("pyarrow", "tables").record_batch(columns, schema=self.schema)


@lru_cache(maxsize=8)
def _repeated(number: int | float, kind: Any, rows: int) -> Any:
    """A constant column. The array is cached, because most batches have the same length."""
    arrow = extra("pyarrow", "tables")
    return arrow.repeat(arrow.scalar(number, kind), rows)
