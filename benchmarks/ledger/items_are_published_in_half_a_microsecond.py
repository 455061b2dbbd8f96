"""A million rows published with noise by item, in memory: nanoseconds of processor a row, and times the commitment's.

Run with PYTHONPATH=src, and OMP_NUM_THREADS=1. Identifiers are integers or text of 19 letters, in any order; the
commitment to them and to one column is the least that a ledger must compute of every row.
"""

import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

import utmost as ut
from utmost.laws.sampling import Identifiers
from utmost.laws.sampling.item_words import item_tags
from utmost.publish.releases.item_commitment import committed_rows

ROWS = 1_000_000


def main():
    draw = np.random.default_rng(0)
    values, order = draw.integers(0, 100, ROWS), draw.permutation(ROWS)
    for name, keys in (("integers", order), ("text", [f"person-{k:012d}" for k in order])):
        table = pa.table({"id": keys, "x": values})
        identifiers = Identifiers.of(keys)
        promise = {"columns": "x", "sensitivity": 1, "cells": 1, "epsilon": 1}
        start = time.process_time()
        committed_rows(bytes(32), item_tags(bytes(32), [identifiers]), [values])
        least = time.process_time() - start
        with tempfile.TemporaryDirectory() as folder, ut.Ledger.open(Path(folder) / "l.db", create=True) as ledger:
            start = time.process_time()
            ledger.publish("visits", table, **promise, drop="id", id_column="id", noise="items")
            seconds = time.process_time() - start
        print(f"{name}: {seconds / ROWS * 1e9:.0f} ns a row, {seconds / least:.1f} times the commitment")


if __name__ == "__main__":
    main()
