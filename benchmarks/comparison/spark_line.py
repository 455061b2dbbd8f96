"""A column noised by item in Spark, beside the plain identity map of the same batches."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from statistics import median
from time import perf_counter, process_time_ns
from typing import Any

import numpy as np
from comparison.lines import OURS, Line, is_installed

from utmost.exact import level
from utmost.noise import Geometric
from utmost.privacy import Unit
from utmost.publish.promises.lattice import lattice_of
from utmost.releases import ItemResponder
from utmost.sampling import Identifiers

IDENTITY = "Spark, identity map"


def release() -> ItemResponder:
    """What the driver hands to workers; a key that is published, since the table is a benchmark."""
    one = level(1)
    return ItemResponder(bytes(32), ("n",), lattice_of("integers", Unit(1, 1, "add-remove")), (one,), one)


def noised(batches: Iterator[Any]) -> Iterator[Any]:
    """Each batch with its column noised."""
    at = release()
    for batch in batches:
        yield answered(at, batch)


def answered(at: ItemResponder, batch: Any) -> Any:
    """A batch with its column noised by its identifiers."""
    import pyarrow as pa

    identifiers = Identifiers.of(batch.column(0).to_numpy(zero_copy_only=False))
    found = at.responses([identifiers], {"n": batch.column(1).to_numpy(zero_copy_only=False)})["n"]
    return pa.RecordBatch.from_arrays([batch.column(0), pa.array(found)], ["id", "n"])


def timed_apart(batches: Iterator[Any]) -> Iterator[Any]:
    """Of each batch its rows, and the nanoseconds of processor that noising them takes, after one for the start."""
    import pyarrow as pa

    at = release()
    for number, batch in enumerate(batches):
        if number == 0:
            answered(at, batch)
        start = process_time_ns()
        answered(at, batch)
        took = process_time_ns() - start
        yield pa.RecordBatch.from_arrays([pa.array([batch.num_rows]), pa.array([took])], ["id", "n"])


def carried(batches: Iterator[Any]) -> Iterator[Any]:
    """Each batch as it is."""
    yield from batches


def noised_column(line: Line) -> None:
    """A column of a Spark table noised by item."""
    rows = 20_000 if line.quick else 10_000_000
    work = f"a row of a pipeline over {rows:,}, by the clock"
    if not is_installed("pyspark"):
        return line.absent(IDENTITY, work)
    if shutil.which("java") is None:
        return line.absent(IDENTITY, work, "Java is not installed")
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    with tempfile.TemporaryDirectory() as folder:
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.sql.warehouse.dir", folder).config("spark.driver.memory", "2g")
        spark = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "100000").getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        try:
            in_a_session(line, spark, rows, work)
        finally:
            spark.stop()


def in_a_session(line: Line, spark: Any, rows: int, work: str) -> None:
    """Both maps in turn, after one of each; then what was noised beside what this process draws for the same items."""
    table = spark.range(rows, numPartitions=4).selectExpr("id", "id % 1000 as n")
    maps = {IDENTITY: carried, f"{OURS}, noised by item": noised}
    times: dict[str, list[float]] = {name: [] for name in maps}
    answers = {}
    for turn in range(2 if line.quick else 4):
        for name, each in maps.items():
            start = perf_counter()
            frame = table.mapInArrow(each, "id long, n long")
            answers[name] = frame.selectExpr("sum(n)", "sum(n * (id % 97))").collect()[0]
            if turn:
                times[name].append((perf_counter() - start) / rows * 1e9)
    plain, ours = (median(times[name]) for name in maps)
    line.took(f"{OURS}, noised by item", work, ours, "ns")
    seen = table.mapInArrow(timed_apart, "id long, n long").selectExpr("sum(id)", "sum(n)").collect()[0]
    own = line.took(f"{OURS}, the noise itself, by processor", "a row's noise in a worker", seen[1] / seen[0], "ns")
    line.took(IDENTITY, work, plain, "ns")
    line.goal("the noise's share of two cores", own / (2 * ours), 0.1, "of it")
    line.goal("beside the identity map, by the clock", ours / plain, 1.1, "times")
    ids = np.arange(rows)
    drawn = release().responses([Identifiers.of(ids)], {"n": ids % 1000})["n"].astype(np.int64)
    sums = answers[f"{OURS}, noised by item"]
    line.checks["the same values as in one process, by two sums"] = (
        int(drawn.sum()) == sums[0] and int((drawn * (ids % 97)).sum()) == sums[1]
    )
    noise = drawn - ids % 1000
    line.checks["the variance of the distribution"] = bool(
        abs(noise.var() / float(Geometric(epsilon=1).variance()) - 1) < 8 / rows**0.5
    )
