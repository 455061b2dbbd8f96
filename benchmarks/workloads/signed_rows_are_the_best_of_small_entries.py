"""Signed rows that the search takes, beside all rows of small entries: certified by branch and bound, at any levels.

    PYTHONPATH=src python benchmarks/workloads/signed_rows_are_the_best_of_small_entries.py [CELLS ENTRIES [EPSILON]]

One individual changes all of the cells of a row by at most 1 each, and lowers none. Printed: the mean variance of a
cell that is found over all rows of entries of at most so much (no two the same up to sign and factor), how many times a
bound on all levels of all these rows that is, boxes and seconds of processor. Then, for up to five cells, the same of
the rows that the search takes, alone.
"""

import sys
import time
from fractions import Fraction
from itertools import product
from math import gcd

from utmost.privacy import Unit
from utmost.publish.workloads.planning.signed_search import signed_rows
from utmost.workloads import certified_rows

LEVELS = ("1/10", "1", "3")
CASES = ((2, 3, "1/50"), (3, 1, "1/100"), (3, 2, "1/100"))
MOST_BOXES = 5_000


def small_rows(cells, largest):
    """Rows of entries of at most so much, the first that is not 0 positive."""
    rows = (row for row in product(range(-largest, largest + 1), repeat=cells) if any(row) and gcd(*row) == 1)
    return [row for row in rows if next(entry for entry in row if entry) > 0]


def show(name, rows, cells, epsilon, tolerance):
    """Certify these rows from the shares of the search, and print what came of it."""
    shares = dict(zip(*signed_rows(cells, float(Fraction(epsilon))), strict=True))
    shares |= {tuple(-entry for entry in row): share for row, share in shares.items()}
    start = [shares.get(row, Fraction(1, 10**9)) for row in rows]
    began = time.process_time()
    words = {"start": start, "tolerance": tolerance, "most_boxes": MOST_BOXES}
    best = certified_rows(rows, Unit(1, cells, nonnegative=True), epsilon, **words)
    took = time.process_time() - began
    counted = f"{len(rows)} rows{name}"
    print(
        f"{cells} cells, {counted:28} epsilon {epsilon:>4}: {best.value:10.5g}, within {best.within:.4f} "
        f"({best.boxes} boxes, {took:.1f} s)",
        flush=True,
    )


if __name__ == "__main__":
    words = sys.argv[1:]
    cases = [(int(words[0]), int(words[1]), "1/50")] if words else CASES
    levels = words[2:] or LEVELS
    for cells, largest, tolerance in cases:
        for epsilon in levels:
            show(f" of entries up to {largest}", small_rows(cells, largest), cells, epsilon, tolerance)
    for cells in () if words else (2, 3, 4, 5):
        for epsilon in levels:
            show(", the search's own", signed_rows(cells, float(Fraction(epsilon)))[0], cells, epsilon, "1/1000")
