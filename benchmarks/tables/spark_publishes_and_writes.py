"""Spark: a table published by item and written as Parquet, beside reading and writing it alone, in turn in one run.

Run: PYTHONPATH=src python benchmarks/tables/spark_publishes_and_writes.py [rows] [threads] [turns]

The whole of a release: a ledger's publication of what Spark reads from Parquet, which checks, commits and knows the
table again, and the write of what was released. By the clock, and by the processor time of Spark with all its workers.
Each turn publishes into a ledger of its own, as it is and persisted by Spark before; the first turn is not counted.

In the same turns stands the floor of a publication: rows must be read for the checks, be handed to Python for the
commitment, from which the secret of the noise follows, and be handed there and back for the noise, and be written. Each
of these is done alone, by workers that do nothing: what is above their sum is utmost's.
"""

import os
import shutil
import sys
import tempfile
import time
import warnings
from pathlib import Path
from statistics import median

import pyarrow as arrow
from spark_says_the_same_bytes_thrice import SAY, processor, session
from spark_says_the_same_bytes_thrice import identity as identity_of_batches

import utmost as ut


def timed(work):
    """By the clock, and of processor."""
    start, spent = time.perf_counter(), processor()
    work()
    return time.perf_counter() - start, processor() - spent


def identity(spark, source, target):
    spark.read.parquet(source).write.mode("overwrite").parquet(target)


def read(spark, source):
    """Read both columns, and keep nothing."""
    spark.read.parquet(source).selectExpr("sum(cell)", "max(visits)").collect()


def swallowed(spark, source):
    """Hand all rows to Python, which says how many there were."""
    spark.read.parquet(source).mapInArrow(counted, "n long").collect()


def counted(batches):
    yield arrow.record_batch([arrow.array([sum(batch.num_rows for batch in batches)])], names=["n"])


def handed_over(spark, source, target):
    """Hand all rows to Python and back, and write them."""
    frame = spark.read.parquet(source)
    frame.mapInArrow(identity_of_batches, frame.schema).write.mode("overwrite").parquet(target)


def published(spark, source, target, here, persist):
    frame = spark.read.parquet(source)
    frame = frame.persist() if persist else frame
    place = Path(here) / "ledger"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    with ut.Ledger.open(place / "l.db", create=True, key=bytes(32)) as ledger:
        ledger.publish("visits", frame, ut.Promise(**SAY), epsilon="1/2").table.write.mode("overwrite").parquet(target)
    frame.unpersist()


def main():
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    turns = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    warnings.simplefilter("ignore")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = session(threads)
    print(f"Spark {spark.version}, local[{threads}], {rows:,} rows", flush=True)
    with tempfile.TemporaryDirectory() as here:
        source, target = f"{here}/counts", f"{here}/written"
        spark.range(0, rows, 1, 8).selectExpr("id AS cell", "id % 97 AS visits").write.parquet(source)
        ways = {
            "read and write": lambda: identity(spark, source, target),
            "read": lambda: read(spark, source),
            "hand to Python": lambda: swallowed(spark, source),
            "hand to Python and back, and write": lambda: handed_over(spark, source, target),
            "publish and write": lambda: published(spark, source, target, here, persist=False),
            "persisted, publish and write": lambda: published(spark, source, target, here, persist=True),
        }
        times = {way: [] for way in ways}
        for turn in range(turns + 1):
            for way, work in ways.items():
                seconds = timed(work)
                print(f"  {way}: {seconds[0]:.1f} s, {seconds[1]:.1f} of processor", flush=True)
                if turn:
                    times[way].append(seconds)
        for at, clock in enumerate(("by the clock", "of processor")):
            base = median(seconds[at] for seconds in times["read and write"])
            floor = sum(median(seconds[at] for seconds in times[way]) for way in list(ways)[1:4])
            print(f"  {clock}: the floor of a publication {floor:.1f} s, {floor / base:.2f} times reading and writing")
            for way in list(ways)[1:]:
                took = median(seconds[at] for seconds in times[way])
                print(f"  {clock}: {way} {took:.1f} s, {took / base:.2f} times reading and writing ({base:.1f} s)")
    spark.stop()


if __name__ == "__main__":
    main()
