"""Rows published with noise by item: nanoseconds of processor a row, and times the commitment's, beside DuckDB.

Run with PYTHONPATH=src, and OMP_NUM_THREADS=1; how many rows, a million if left out. Identifiers are integers or text
of 19 letters, in any order, in an Arrow table in memory; then the same table as a relation of DuckDB, on one thread,
whose answer is a frame yet to be evaluated: the evaluation is timed apart. What came to memory has its answer by then.
The commitment to them and to one column is the least that a ledger must compute of every row.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

import utmost as ut
from utmost.publish.releases.item_commitment import committed_rows
from utmost.sampling import Identifiers

PROMISE = {"columns": "x", "unit": ut.Unit(1, 1), "id_column": "id"}


def published(table, **more):
    """Seconds of processor: until the release is answered, and of an engine until its answer has been evaluated."""
    with tempfile.TemporaryDirectory() as folder, ut.Ledger.open(Path(folder) / "l.db", create=True) as ledger:
        start = time.process_time()
        answer, published = (
            ledger.publish("visits", table, ut.Promise(**PROMISE, **more), epsilon=1),
            time.process_time(),
        )
        if not isinstance(table, pa.Table):
            rows = sum(batch.num_rows for batch in answer.table.to_arrow_reader(1 << 20))
            assert rows == len(table)
        return published - start, time.process_time() - start


def main():
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    draw = np.random.default_rng(0)
    values, order = draw.integers(0, 100, rows), draw.permutation(rows)
    texts = pa.array(order).cast(pa.string())
    text = pa.compute.binary_join_element_wise("person-", pa.compute.utf8_lpad(texts, 12, "0"), "")
    for name, keys in (("integers", pa.array(order)), ("text", text)):
        table = pa.table({"id": keys, "x": values})
        identifiers = Identifiers.of(keys.to_numpy(zero_copy_only=False))
        start = time.process_time()
        committed_rows(bytes(32), [identifiers], [values])
        least = time.process_time() - start
        del identifiers
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
        relation = duckdb.connect(config={"threads": 1}).from_arrow(table)
        engine, evaluated = published(relation, public="id")
        engine_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
        ours, _ = published(table, drop="id", keyed_by_id=True)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
        print(
            f"{name}: in memory {ours / rows * 1e9:.0f} ns a row, {ours / least:.1f} times the commitment, "
            f"{ours / engine:.1f} times DuckDB's relation ({engine / rows * 1e9:.0f} ns a row), "
            f"{ours / evaluated:.2f} times with its answer evaluated ({evaluated / rows * 1e9:.0f}); "
            f"peak before {held:,.0f}, of DuckDB's {engine_peak:,.0f}, of both {peak:,.0f} MiB",
            flush=True,
        )


if __name__ == "__main__":
    main()
