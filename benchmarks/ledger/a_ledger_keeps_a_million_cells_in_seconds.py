"""Publish, relax, view and verify in a ledger, for tables of a thousand, a million and ten million cells.

Each figure is one call, on a ledger in a new SQLite file that is synced to the disk; the ratio is to drawing the same
noise with a `GradualRelease` in memory, which keeps nothing. Where no largest value is declared, a cell of a large
table takes 16 bytes on the disk whatever is in it, and all but the draw takes as long as that many bytes do.

Run: PYTHONPATH=src python benchmarks/ledger/a_ledger_keeps_a_million_cells_in_seconds.py [--largest N] [cells ...]
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from utmost import Unit
from utmost.ledger import Ledger
from utmost.promises import Promise
from utmost.publish.releases.item_commitment import value_sums
from utmost.releases import GradualRelease

UNIT = {"columns": ["n"], "unit": Unit(1, 1)}


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def in_memory(table):
    answer = GradualRelease(table["n"], sensitivity=1)
    return seconds(lambda: answer.at(epsilon="1/2")), seconds(lambda: answer.at(epsilon=2))


def in_a_ledger(folder, table, promise):
    """The seconds of each call, and the bytes of the file."""
    with Ledger.open(folder / "l.db", create=True) as ledger:
        calls = {
            "publish": lambda: ledger.publish("r", table, Promise(**UNIT, **promise), epsilon="1/2").table,
            "relax": lambda: ledger.relax("r", table, epsilon=2).table,
            "view, a level that is stored": lambda: ledger.view("r", epsilon=2).table,
            "view, a level in between": lambda: ledger.view("r", epsilon=1).table,
            "verify": ledger.verify,
            "of publish: known again": lambda: value_sums(bytes(32), table["n"], None),
        }
        return {name: seconds(call) for name, call in calls.items()}, (folder / "l.db").stat().st_size


def main():
    arguments, promise = sys.argv[1:], {}
    if arguments[:1] == ["--largest"]:
        promise, arguments = {"largest": int(arguments[1])}, arguments[2:]
    sizes = [int(float(text)) for text in arguments] or [1_000, 1_000_000, 10_000_000]
    for cells in sizes:
        table = {"n": np.arange(cells) % 1000}
        publish, relax = in_memory(table)
        with tempfile.TemporaryDirectory() as folder:
            found, size = in_a_ledger(Path(folder), table, promise)
        print(f"{cells:,} cells; the file has {size / cells / 3:.2f} bytes a response")
        for name, took in found.items():
            beside = {"publish": publish, "relax": relax}.get(name)
            ratio = "" if beside is None else f"   {took / beside:6.1f} times the draw in memory"
            print(f"  {name:30s} {took:9.3f} s  {took / cells * 1e9:10.0f} ns a cell{ratio}")
        assert found["publish"] < 60 or cells > 1_000_000


if __name__ == "__main__":
    main()
