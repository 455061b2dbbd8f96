"""Noise by item: nanoseconds of processor time an item, of tags, draws at several levels, answers and commitments.

Run: PYTHONPATH=src python benchmarks/sampling/noise_by_item_takes_a_hundred_nanoseconds.py [items]
"""

import sys
from time import process_time

import numpy as np

from utmost.core.sampling.item_words import item_tags
from utmost.exact import level
from utmost.noise import Geometric
from utmost.privacy import Unit
from utmost.publish.promises.lattice import lattice_of
from utmost.publish.releases.item_commitment import CommitmentKey
from utmost.releases import ItemResponder
from utmost.sampling import Identifiers

SECRET = bytes(range(32))
LATTICE = lattice_of("integers", Unit(sensitivity=1, cells=1, neighbours="add-remove"))


def nanoseconds(call, items):
    """The least of five runs, the first of which warms up."""
    times = []
    for _ in range(5):
        start = process_time()
        found = call()
        times.append(process_time() - start)
    return min(times) / items * 1e9, found


def show(what, call, items):
    spent, found = nanoseconds(call, items)
    print(f"{what:45} {spent:7.1f} ns an item")
    return found


def main():
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    numbers, texts = Identifiers.of(np.arange(n)), Identifiers.of([f"user-{at:020d}" for at in range(n)])
    tags = show("tag of an integer", lambda: item_tags(SECRET, [numbers]), n)
    show("tag of a text of 25 letters", lambda: item_tags(SECRET, [texts]), n)
    for path in (("1",), ("1", "2"), ("1", "3", "2"), ("1", "1/2"), ("1/1000",), ("1/1000000",), ("50",)):
        levels = tuple(map(level, path))
        release = ItemResponder(SECRET, ("n",), LATTICE, levels, levels[-1])
        noise = show(f"noise, path {' '.join(path)}", lambda at=release: at.noise("n", at.level, tags), n)
        distribution = Geometric(levels[-1])
        print(f"{'':45} variance {noise.var():.6g}, of the distribution {float(distribution.variance()):.6g}")
    values = {"n": np.arange(n) % 100, "m": np.arange(n) % 7}
    release = ItemResponder(SECRET, ("n",), LATTICE, (level(1),), level(1))
    show("answer of one column, tag and all", lambda: release.responses([numbers], values), n)
    key = CommitmentKey(SECRET, ("n", "m"), LATTICE)
    show("commitment to a row of two columns", lambda: key.committed([numbers], values), n)


if __name__ == "__main__":
    main()
