"""The protocol of frames that an engine evaluates, in Arrow batches, and the code that all engines share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from utmost.errors import BadTable
from utmost.tables.optional_imports import extra

Batches = Iterator[Any]
"""Arrow record batches."""

BatchMap = Callable[[Any], Any]
"""Pure function from one Arrow record batch to another. It must pickle: workers get a copy."""

RowsMap = Callable[[Batches], Batches]
"""Function from the batches of some rows to batches of results. It must pickle, too."""

Constants = Mapping[str, int | float]
"""Columns that hold one number, by name."""

UNDECLARED = b"utmost.undeclared"
"""The mark in the metadata of a field whose width the engine chose, and nobody declared."""

_FILE_ROWS = 10_000_000


class EngineFrame(Protocol):
    """A frame of one engine, and what the engine can do with it."""

    @property
    def engine(self) -> str:
        """Name of the engine."""

    @property
    def kind(self) -> str:
        """Kind of the tables that are made from it, see `TableAdapter.kind`."""

    @property
    def native(self) -> Any:
        """The engine's own frame."""

    @property
    def folds_case(self) -> bool:
        """Whether names that differ only in case are one column."""

    def schema(self) -> Any:
        """The Arrow schema of the rows; nothing is evaluated."""

    def select(self, names: Sequence[str]) -> "EngineFrame":
        """The frame with these columns alone."""

    def mapped(self, work: BatchMap, schema: Any, constants: Constants) -> Any:
        """The engine's own frame of the mapped rows; not evaluated yet.

        Args:
            work: Function that makes the batches of all columns but the constants.
            schema: Arrow schema of all columns.
            constants: Columns that are the same in each row.
        """

    def check_mapped(self) -> None:
        """Check that rows can be mapped; called before a level is spent."""

    def batches(self) -> Batches:
        """All rows, in their order where they have one, a batch at a time."""

    def written(self, folder: Path) -> None:
        """Write the rows as Parquet files into an empty folder."""

    def added_up(self, work: RowsMap, schema: Any) -> Batches:
        """Batches of the sums that ``work`` returns for the rows, which it gets in any parts and any order.

        Args:
            work: Function from rows to batches of keys and sums.
            schema: Schema of these batches: the keys in the first column, each once per batch, and sums in the others.
                The caller adds up the sums of a key that is in several batches.
        """

    def compared(self, work: RowsMap, between: Any, then: RowsMap, schema: Any, parts: int) -> Batches | None:
        """Add up as `added_up` does, in two steps with a shuffle by key in between.

        Args:
            work: First step, from rows to batches of the schema ``between``.
            between: Schema of the first step's batches.
            then: Second step, from these to batches of ``schema``; each call has all rows of some keys.
            schema: Schema of the sums.
            parts: Number of parts of the second step.

        Returns:
            None where all rows are read in one place, which needs no shuffle.
        """

    def added_up_by(self, column: str, work: RowsMap, schema: Any) -> Batches:
        """Add up as `added_up` does, with all rows of one value of a column in one place, however large the frame is.

        Args:
            column: Name of the column, such as that of persons.
            work: Function from rows to sums; each call has all rows of some values.
            schema: Schema of the sums.
        """


def check_no_pattern(names: Sequence[str]) -> None:
    """Check that no name stands for other columns: engines take a star for all of them, Polars a regular expression.

    Raises:
        BadTable: for one that does.
    """
    for name in names:
        if name == "*" or (name.startswith("^") and name.endswith("$")):
            required = "the name of a column must not be a pattern of names to its engine"
            raise BadTable(required, came=repr(name), remedy="Rename it.")


def write_parquet(batches: Batches, schema: Any, folder: Path) -> None:
    """Write batches of rows, one at a time, into Parquet files of some ten million rows."""
    writer, at = extra("pyarrow.parquet", "tables"), 0
    batch = next(batches, None)
    while batch is not None or at == 0:
        with writer.ParquetWriter(folder / f"part-{at:05}.parquet", schema) as out:
            rows = 0
            while batch is not None and rows < _FILE_ROWS:
                out.write_batch(batch.cast(schema))
                rows, batch = rows + batch.num_rows, next(batches, None)
        at += 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WithConstants:
    """A map of batches that adds columns which are the same in each row.

    Attributes:
        work: Function that makes the other columns.
        schema: Schema of all columns.
        constants: The added columns.
    """

    work: BatchMap
    schema: Any
    constants: Constants

    def __call__(self, batch: Any) -> Any:
        """The batch of all columns."""
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
    """A constant column; cached, since most batches have the same length."""
    arrow = extra("pyarrow", "tables")
    return arrow.repeat(arrow.scalar(number, kind), rows)
