"""Spark's dataframes, classic and Connect: batches are mapped by `mapInArrow` on the workers.

The workers import this package, so it must be installed there. A task that Spark runs twice, after a failure or by
speculation, evaluates the same pure function again.
"""

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

from utmost import errors
from utmost.errors import Unsupported, UtmostError
from utmost.tables.engines.engine_frames import Batches, BatchMap, Constants, RowsMap, check_no_pattern, unevaluated
from utmost.tables.optional_imports import extra

REFUSAL = "refusal"
_WRONG_PYTHON = re.compile(r"No module named '[\w.]+'|PYTHON_VERSION_MISMATCH|Cannot run program")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SparkRows:
    native: Any
    engine: str = "spark"
    kind: str = "columns:"
    folds_case: bool = True

    def schema(self) -> Any:
        convert = extra("pyspark.sql.pandas.types", "spark").to_arrow_schema
        zone = {"timezone": "UTC"} if "timezone" in signature(convert).parameters else {}  # required from 4.1 on
        return convert(self.native.schema, **zone)

    def select(self, names: Sequence[str]) -> "SparkRows":
        check_no_pattern(names)
        return SparkRows(self.native.select(*map(_ticked, names)))

    def mapped(self, work: BatchMap, schema: Any, constants: Constants) -> Any:
        """The dataframe of the mapped rows. Constant columns are literals of Spark."""
        in_rows = extra("pyarrow", "tables").schema([field for field in schema if field.name not in constants])
        frame = self._in_arrow(_OneByOne(work), in_rows)
        if not constants:
            return frame
        functions, types = extra("pyspark.sql.functions", "spark"), extra("pyspark.sql.pandas.types", "spark")
        columns = []
        for field in schema:
            if field.name not in constants:
                columns.append(functions.col(_ticked(field.name)))
                continue
            number, kind = constants[field.name], types.from_arrow_type(field.type)
            written = functions.lit(str(number) if isinstance(number, int) else number)
            columns.append(written.cast(kind).alias(field.name))
        return frame.select(*columns)

    def check_mapped(self) -> None:
        """Do nothing, because every dataframe can be mapped."""

    def batches(self) -> Batches:
        """Raise an error: the rows are on other machines, and are not read here."""
        raise Unsupported(
            "rows of Spark must be written by Spark", came="a dataframe", remedy="Call its write.parquet()."
        )

    def written(self, folder: Path) -> None:
        """Let the workers write the files, into a folder that they all share."""
        self.native.write.mode("append").parquet(folder.resolve().as_uri())

    def added_up(self, work: RowsMap, schema: Any) -> Batches:
        """The sums, computed on the workers and added up by Spark."""
        return _added_up(self._in_arrow(_Refusing(work, schema), schema.append(refusal_field())), schema)

    def compared(self, work: RowsMap, between: Any, then: RowsMap, schema: Any, parts: int) -> Batches:
        """The sums, after Spark has shuffled the results of the first step by their keys."""
        worked = self._in_arrow(_Refusing(work, between), between.append(refusal_field()))
        met = SparkRows(worked.repartition(parts, schema.names[0]))
        return _added_up(met._in_arrow(then, schema.append(refusal_field())), schema)

    def added_up_by(self, column: str, work: RowsMap, schema: Any) -> Batches:
        """The sums, computed with all rows of each value of the column in one partition."""
        # A collation may make different texts equal, and so mix the rows of several persons.
        kinds = dict(self.native.dtypes)
        for name in self.native.columns:
            if "collate" in kinds[name].lower():
                raise Unsupported(
                    "a column for grouping must have a collation in which only identical texts are equal",
                    came=kinds[name],
                    where=f"column {name!r}",
                    remedy="Cast it to a string of the collation UTF8_BINARY.",
                )
        parted = SparkRows(self.native.repartition(_ticked(column)))
        return parted.added_up(work, schema)

    def _in_arrow(self, work: Any, schema: Any) -> Any:
        types = extra("pyspark.sql.pandas.types", "spark")
        # Workers on this machine run this Python unless the user chose another; Spark would run any `python3`. Workers
        # on other machines and servers of Spark Connect have other paths, so nothing is set for them.
        is_connected = type(self.native).__module__.startswith("pyspark.sql.connect.")
        if "PYSPARK_PYTHON" not in os.environ and not is_connected:
            context = self.native.sparkSession.sparkContext
            if context.master.startswith("local") and context.pythonExec == "python3" and sys.executable:
                context.pythonExec = sys.executable
        return self.native.mapInArrow(work, types.from_arrow_schema(schema))


class _OneByOne:
    """Applies a map of one batch to every batch of a partition of Spark."""

    def __init__(self, work: BatchMap) -> None:
        self._work = work

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield self._work(batch)


class _Refusing:
    """Wraps a map so that an error becomes a row. The driver reads this row and raises the same error."""

    def __init__(self, work: RowsMap, schema: Any) -> None:
        self._work, self._schema = work, schema

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        arrow = extra("pyarrow", "tables")
        try:
            for batch in self._work(batches):
                yield batch.append_column(refusal_field(), arrow.nulls(batch.num_rows, arrow.string()))
        except UtmostError as error:
            nothing = [arrow.nulls(1, field.type) for field in self._schema]
            facts = [type(error).__name__, error.required, error.came, error.where, error.remedy]
            refusal = arrow.array([json.dumps([fact if fact is None else str(fact) for fact in facts])])
            yield arrow.record_batch([*nothing, refusal], schema=self._schema.append(refusal_field()))


def refusal_field() -> Any:
    """The column that contains an error as JSON. The column is null in all rows without an error."""
    arrow = extra("pyarrow", "tables")
    return arrow.field(REFUSAL, arrow.string())


def _added_up(worked: Any, schema: Any) -> Batches:
    functions = extra("pyspark.sql.functions", "spark")
    keys, *sums = schema.names
    totals = worked.groupBy(keys, REFUSAL).agg(*(functions.sum(name).alias(name) for name in sums))
    # The totals are few, so they are collected in one Arrow table.
    arrow = extra("pyarrow", "tables")
    try:
        rows = totals.collect()
    except Exception as error:
        # When Ctrl-C cancels the job, Spark's cleanup may replace KeyboardInterrupt by the error of the cancelled job.
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
        found = _WRONG_PYTHON.search(str(error))
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        if found is None:
            raise unevaluated(error) from None
        raise Unsupported(
            "Spark's workers must run the same version of Python as this process, with this package installed",
            came=f"another Python ({found[0]})",
            remedy="Set the environment variable PYSPARK_PYTHON to the path of this Python on the workers, before the "
            "session begins.",
        ) from None
    for refusal in sorted(row[REFUSAL] for row in rows if row[REFUSAL] is not None):
        kind, required, came, where, remedy = json.loads(refusal)
        raise getattr(errors, kind)(required, came=came, where=where, remedy=remedy)
    columns = {field.name: arrow.array([row[field.name] for row in rows], field.type) for field in schema}
    return iter([arrow.table(columns)])


def _ticked(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
