"""Memory and time of `utmost release` on Parquet files of growing size: the memory should stay where it is.

Run: PYTHONPATH=src python benchmarks/tables/a_release_streams_in_the_same_memory_at_any_size.py [rows ...]

A file has an identifier and a column of counts, in groups of 2^20 rows. Each release is a process of its own, whose
peak of resident memory the system keeps. Of the released file the identifiers are compared, and the mean of the noise
is checked. The files, 4 to 30 bytes a row, lie in a temporary folder (TMPDIR says where), and are deleted; more than
10^8 rows are a folder of files, written one after the other. 10^9 rows need some 40 GB of disk: no size is begun for
which there is no room.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from itertools import pairwise
from math import log
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

GROUP, FILE = 1 << 20, 10**8
ROOM = 40
"""Bytes on the disk for a row, of the table and of its release together, at most."""
WHAT = ("--columns", "visits", "--public", "cell", "--id", "cell")
SAY = (*WHAT, "--sensitivity", "1", "--cells", "1", "--epsilon", "1")


def write(path, rows):
    """The table at a path: one file, or a folder of files of 10^8 rows each."""
    if rows <= FILE:
        return write_file(path, 0, rows)
    path.mkdir()
    for start in range(0, rows, FILE):
        write_file(path / f"part-{start // FILE:04}.parquet", start, min(rows, start + FILE))


def write_file(path, first, last):
    schema = pa.schema([("cell", pa.int64()), ("visits", pa.int64())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(first, last, GROUP):
            cells = np.arange(start, min(last, start + GROUP))
            writer.write_table(pa.table([cells, cells % 97], schema=schema))


def released(source, target):
    """Seconds by the clock and of processor, and the peak of memory in MiB."""
    command = [sys.executable, "-m", "utmost", "release", str(source), *SAY, "--out", str(target)]
    start = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    took = perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return took, used.ru_utime + used.ru_stime, used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def check(target, rows):
    """The identifiers are those of the source, in order, and the noise has mean 0: six standard deviations."""
    seen = off = 0
    for batch in pq.ParquetFile(target).iter_batches(batch_size=GROUP):
        cells, visits = batch.column("cell").to_numpy(), batch.column("visits").to_numpy()
        assert (cells == np.arange(seen, seen + len(cells))).all()
        seen, off = seen + len(cells), off + int((visits - cells % 97).sum())
    assert seen == rows
    assert 0 < abs(off) < 6 * 1.36 * rows**0.5  # the noise of epsilon 1 has a deviation of 1.36


def main():
    sizes = [int(float(text)) for text in sys.argv[1:]] or [10**6, 10**7, 10**8]
    found = []
    for rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            if shutil.disk_usage(folder).free < ROOM * rows:
                sys.exit(f"{rows:,} rows need {ROOM * rows / 2**30:.0f} GiB of disk")
            source, target = Path(folder) / "visits.parquet", Path(folder) / "released.parquet"
            write(source, rows)
            took, worked, peak = released(source, target)
            check(target, rows)
            files = source.glob("*.parquet") if source.is_dir() else [source]
            size = sum(path.stat().st_size for path in files) / 2**20
        found.append((rows, worked, peak))
        each = 1e9 * worked / rows
        said = f"{rows:,} rows, {size:,.0f} MiB: {took:.1f} s, {worked:.1f} s of processor, {each:.0f} ns a row"
        print(f"{said}, peak {peak:.0f} MiB", flush=True)
    for (one, first, low), (two, second, high) in pairwise(found):
        growth = log(second / first) / log(two / one)
        print(f"from {one:,} to {two:,}: time ~ n^{growth:.2f}, memory {high / low:.2f} times")


if __name__ == "__main__":
    main()
