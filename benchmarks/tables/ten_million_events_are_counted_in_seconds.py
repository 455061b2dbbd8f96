"""Counting people: a million events from each kind of table, and ten million from files, in time and memory.

Run: PYTHONPATH=src python benchmarks/tables/ten_million_events_are_counted_in_seconds.py [events in the file]

Persons are text; pages and countries have 400 x 3 cells, pages by a heavy-tailed distribution; 10 cells of each person
are kept. Each file, Parquet and CSV, is counted in a process of its own, so that its memory is its own; and once more
as a relation of DuckDB, where that is installed.
"""

import resource
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from utmost import Counting, count_table
from utmost.workloads import Domain

DOMAIN = Domain(page=list(range(400)), country=["A", "B", "C"])
USERS = Counting("user", at_most=10, key=b"k" * 32)
FRAME = 1_000_000
EACH = 16


def events(count, seed=0):
    """So many events, about 16 of each person."""
    rng = np.random.default_rng(seed)
    persons = pa.array(np.char.add("user ", rng.integers(0, max(1, count // EACH), count).astype(str)))
    countries = pa.DictionaryArray.from_arrays(rng.integers(0, 3, count).astype(np.int8), ["A", "B", "C"])
    pages = pa.array(rng.zipf(1.4, count) % 450)
    return pa.table({"user": persons, "page": pages, "country": countries.cast(pa.string())})


def timed(name, table):
    start, cpu = perf_counter(), process_time()
    found = count_table(table, DOMAIN, USERS)
    wall, cpu = perf_counter() - start, process_time() - cpu
    print(f"{name:<16} {wall:6.2f} s, {cpu:6.2f} s of processor; {int(found.cells.sum()):,} kept", flush=True)


def peak():
    """In KiB. What the system says of a process begins with the memory of the one that started it; of Linux's not."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))


def main():
    if len(sys.argv) > 2:
        path = Path(sys.argv[2])
        if len(sys.argv) > 3:
            import duckdb

            timed(f"duckdb, {path.suffix[1:]}", duckdb.connect(config={"threads": 1}).sql(f"SELECT * FROM '{path}'"))
        else:
            timed(path.suffix[1:], path)
        return print(f"memory: {peak() / 2**10:,.0f} MiB at the most, the packages included")
    table = events(FRAME)
    print(f"{FRAME:,} events")
    timed("arrow", table)
    timed("dict of arrays", {name: table[name].to_numpy() for name in table.column_names})
    if find_spec("pandas"):
        timed("pandas", table.to_pandas())
    if find_spec("polars"):
        import polars as pl

        timed("polars", pl.from_arrow(table))
        timed("polars, lazy", pl.from_arrow(table).lazy())
    if find_spec("duckdb"):
        import duckdb

        timed("duckdb", duckdb.from_arrow(table))
    count = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.parquet"
        with (
            pq.ParquetWriter(path, table.schema) as writer,
            csv.CSVWriter(path.with_suffix(".csv"), table.schema) as text,
        ):
            for start in range(0, count, FRAME):
                rng = np.random.default_rng(start)
                part = events(min(FRAME, count - start), start)
                ids = rng.integers(0, max(1, count // EACH), len(part)).astype(str)
                part = part.set_column(0, "user", pa.array(np.char.add("user ", ids)))
                writer.write_table(part)
                text.write_table(part)
        for file in (path, path.with_suffix(".csv")):
            print(f"{count:,} events in a file of {file.stat().st_size / 2**20:,.0f} MiB", flush=True)
            for engine in ([], ["duckdb"]) if find_spec("duckdb") else ([],):
                subprocess.run([sys.executable, __file__, "0", str(file), *engine], check=True)


if __name__ == "__main__":
    main()
