"""Counting and releasing events that do not fit in memory, in DuckDB within a memory limit: time, memory and growth.

Run: PYTHONPATH=src python benchmarks/tables/events_beyond_memory_are_counted_by_duckdb.py [events ...]

Each size is a process of its own: events of persons, 16 of each, over 1200 cells of which 10 are kept of a person, in
Parquet files; DuckDB has 2 GB, two threads and a folder to spill to. Then as many cells as there are persons are
released, and the released file is read once more. Peak memory is that of the whole process.
"""

import resource
import subprocess
import sys
import tempfile
from itertools import pairwise
from math import log
from pathlib import Path
from time import perf_counter

import duckdb

import utmost as ut

LIMIT = "2GB"
DOMAIN = ut.Domain(page=list(range(400)), country=["A", "B", "C"])
EVENTS = """
COPY (SELECT 'user ' || (hash(i * 2) % {persons}) AS person,
             CAST(floor(1 / (0.0025 + (hash(i * 3 + 1) % 1000000) / 1000000.0)) AS BIGINT) AS page,
             chr(65 + CAST(hash(i * 5 + 2) % 3 AS INT)) AS country
      FROM range({start}, {end}) r(i)) TO '{path}'
"""
EACH, FILE = 16, 10_000_000


def limited(folder):
    con = duckdb.connect()
    con.execute(f"SET memory_limit = '{LIMIT}'; SET threads = 2; SET temp_directory = '{folder}/spill'")
    con.execute("SET preserve_insertion_order = false")
    return con


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def one_size(count, folder):
    con, persons = limited(folder), max(1, count // EACH)
    start = perf_counter()
    events = con.sql(f"SELECT * FROM '{folder}/events-*.parquet'")
    counted = ut.count_table(events, DOMAIN, ut.Counting("person", at_most=10, key=b"k" * 32))
    took = perf_counter() - start
    assert 0 < counted.cells.sum() <= min(count, 10 * persons)
    print(f"counted  {took:8.1f} s, {1e9 * took / count:6.0f} ns an event, {peak():5.2f} GB", flush=True)
    start = perf_counter()
    con.execute(f"CREATE VIEW cells AS SELECT i AS cell, i % 97 AS visits FROM range({persons}) r(i)")
    promise = ut.Promise("visits", public="cell", id_column="cell", unit=ut.Unit(1, 1))
    made = ut.release(con.table("cells"), promise, epsilon=1, once=True)
    made.table.write_parquet(f"{folder}/released.parquet")
    took = perf_counter() - start
    rows, off = con.sql(f"SELECT count(*), avg(visits - cell % 97) FROM '{folder}/released.parquet'").fetchall()[0]
    assert rows == persons
    assert abs(off) < 10 / persons**0.5
    print(f"released {took:8.1f} s, {1e9 * took / persons:6.0f} ns a cell, {peak():5.2f} GB", flush=True)


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "--one":
        return one_size(int(sys.argv[2]), sys.argv[3])
    sizes = [int(float(text)) for text in sys.argv[1:]] or [10_000_000, 30_000_000, 100_000_000]
    times = []
    for count in sizes:
        with tempfile.TemporaryDirectory() as folder:
            con = limited(folder)
            for start in range(0, count, FILE):
                path = Path(folder) / f"events-{start // FILE:04}.parquet"
                end, persons = min(count, start + FILE), max(1, count // EACH)
                con.execute(EVENTS.format(start=start, end=end, persons=persons, path=path))
            con.close()
            size = sum(path.stat().st_size for path in Path(folder).glob("*.parquet"))
            print(f"{count:,} events in {size / 2**30:.2f} GiB of Parquet, memory_limit {LIMIT}", flush=True)
            start = perf_counter()
            subprocess.run([sys.executable, __file__, "--one", str(count), folder], check=True)
            times.append(perf_counter() - start)
    for (one, two), (first, second) in zip(pairwise(sizes), pairwise(times), strict=True):
        print(f"growth from {one:,} to {two:,}: time ~ n^{log(second / first) / log(two / one):.2f}")


if __name__ == "__main__":
    main()
