"""Refinement decided, exactly and in floats, beside qif's linear program in the same run.

Run: PYTHONPATH=src python benchmarks/geometry/refinement_is_decided_in_two_seconds.py

Rows are random integers over their sums, remaps multiples of 1/1000. Our verdicts come with a witness, which is checked
outside the clock. qif (the package of libqif) answers in doubles, in a process of its own that is stopped after a
minute: yes or no by its default method and by its linear program, and with a witness. It is skipped where it is not
installed. Seconds are those of the processor, so that other work on the machine does not count.
"""

import multiprocessing
import os
import time
from fractions import Fraction

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from utmost.channels import Channel
from utmost.geometry import refines

LIMIT = 60
WAYS = {
    "default": lambda qif, B, A: qif.refined_by(B, A),
    "lp": lambda qif, B, A: qif.refined_by(B, A, "lp"),
    "witness": lambda qif, B, A: qif.refined_by_witness(B, A),
}
SIZES = [(100, 200, 50), (300, 300, 300), (30, 60, 15), (20, 20, 20)]


def main():
    refines(better=[[1, 0], [0, 1]], worse=[[1, 0], [0, 1]])
    for n, m, k in SIZES:
        rng = np.random.default_rng(n)
        B = random_channel(rng, n, m)
        for is_below in (True, False):
            A = B @ thousandths(rng, m, k) if is_below else random_channel(rng, n, k)
            exactly = timed(B, A, is_below)
            floats = timed(B.to_floats(), A.to_floats(), is_below)
            what = f"{n} x {m} against {n} x {k}, {'yes' if is_below else 'no'}"
            print(f"{what:33} exact {exactly:5.2f} s, floats {floats:5.2f} s; qif", end="", flush=True)
            for name in WAYS:
                theirs = by_qif(name, B.to_floats().matrix, A.to_floats().matrix)
                shown = (
                    f"{theirs:.2f} s (x {theirs / floats:.1f})" if isinstance(theirs, float) else theirs or "not done"
                )
                print(f" {name} {shown}", end="", flush=True)
            print()


def timed(B, A, is_below):
    start = time.process_time()
    verdict = refines(better=B, worse=A)
    seconds = time.process_time() - start
    assert bool(verdict) == is_below
    assert verdict.verify()
    return seconds


def by_qif(name, B, A):
    """Seconds, the text of an error or of an absence, or None where qif did not end in time."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_qif, args=(name, B, A, there))
    process.start()
    answered = here.poll(LIMIT)
    seconds = here.recv() if answered else None
    process.kill()
    process.join()
    return seconds


def _qif(name, B, A, pipe):
    try:
        import qif
    except ImportError:
        return pipe.send("not installed")
    start = time.process_time()
    try:
        WAYS[name](qif.refinement, B, A)
    except RuntimeError as error:
        return pipe.send(str(error))
    pipe.send(time.process_time() - start)


def random_channel(rng, n, m):
    weights = rng.integers(1, 1000, (n, m)).astype(object)
    return Channel([[Fraction(w, sum(row)) for w in row] for row in weights.tolist()])


def thousandths(rng, m, k):
    cuts = np.sort(rng.integers(0, 1001, (m, k - 1)), axis=1)
    parts = np.diff(np.concatenate([np.zeros((m, 1), int), cuts, np.full((m, 1), 1000)], axis=1), axis=1)
    return Channel([[Fraction(p, 1000) for p in row] for row in parts.tolist()])


if __name__ == "__main__":
    main()
