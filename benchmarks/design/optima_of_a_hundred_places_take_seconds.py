"""Optimal mechanisms for places on Euclidean grids, beside HiGHS on all pairs, HiGHS on essential edges, and qif.

Run: PYTHONPATH=src python benchmarks/design/optima_of_a_hundred_places_take_seconds.py [largest side, 10]

Prior: Dirichlet, without symmetry, or for side 20 the population of France (examples/france_20x20.csv), which takes
two minutes. Loss: distance; epsilon 1 a step. Ours: channel and proven gap, by column generation, repaired and
checked. HiGHS: the program in floats by the simplex method at tolerance 1e-10, without repair or proof. qif: its own
program. Each neighbour stops where a minute does not do; qif is left out where it is not installed. Times are seconds
of processor, one thread, so that other work on the machine does not enter. "off" is how far the reported loss lies
outside the proven interval, relatively: a negative number is a loss below the optimum.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import math
import sys
import time
from importlib.util import find_spec

import numpy as np

from utmost.design import certificate_of_rays, user_program
from utmost.documents.consumer_files import prior_file
from utmost.privacy import PrivacyType
from utmost.programs import LinearProgram, solve
from utmost.spaces import Consumer, grid, losses

SIDES = (3, 4, 5, 6, 7, 8, 10)
FRANCE = 20
PAIRS_TO, EDGES_TO, QIF_TO = 6, 7, 5


def main():
    most = int(sys.argv[1]) if len(sys.argv) > 1 else max(SIDES)
    spent = {}
    for side in [s for s in (*SIDES, FRANCE) if s <= most]:
        space, n = grid(side, side), side * side
        france, epsilon = side == FRANCE, 1.0
        prior = (
            prior_file("weights:examples/france_20x20.csv", n).astype(float)
            if france
            else np.random.default_rng(side).dirichlet(np.ones(n))
        )
        consumer, ptype = Consumer(prior, losses.distance(space)), PrivacyType(space, epsilon=epsilon)
        seconds, found = timed(lambda p=ptype, c=consumer: certificate_of_rays(p, c))
        keep(spent, "ours", n, seconds)
        print(
            f"{n:4} places: ours {seconds:8.2f} s, loss {found.upper:.9f}, relative gap {found.gap / found.upper:.0e}"
        )
        for name, limit, work in (
            ("HiGHS, edges", EDGES_TO, lambda p=ptype, c=consumer: solve(user_program(p, c)).value),
            ("HiGHS, all pairs", PAIRS_TO, lambda s=space, c=consumer, e=epsilon: solve(all_pairs(s, c, e)).value),
            ("qif", QIF_TO, lambda s=space, c=consumer, e=epsilon: qif_loss(s, c, e)),
        ):
            if side <= limit and (name != "qif" or find_spec("qif")):
                seconds, loss = timed(work)
                keep(spent, name, n, seconds)
                off = min(0.0, loss - found.lower) + max(0.0, loss - found.upper)
                print(
                    f"{name:>24} {seconds:8.2f} s, {seconds / spent['ours'][n]:6.1f} times ours, "
                    f"off {off / found.upper:+.0e}",
                    flush=True,
                )
    for name, times in spent.items():
        (small, fast), (large, slow) = [(n, t) for n, t in times.items() if n >= 16][:: max(1, len(times) - 2)][:2]
        print(f"growth of {name}, {small} to {large} places: n^{math.log(slow / fast) / math.log(large / small):.1f}")


def timed(work):
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def keep(spent, name, n, seconds):
    spent.setdefault(name, {})[n] = seconds


def all_pairs(space, consumer, epsilon):
    """x_ir >= exp(-epsilon d(i, j)) x_jr for all i, j, r."""
    n = space.size
    i, j = np.nonzero(~np.eye(n, dtype=bool))
    factors = np.exp(-epsilon * np.asarray(space.distances)[i, j])
    r = np.arange(n)
    rows = np.arange(len(i) * n)
    return LinearProgram.of_triplets(
        (consumer.prior[:, None] * consumer.loss).ravel(),
        np.concatenate([rows, rows, len(rows) + np.repeat(r, n)]),
        np.concatenate([(i[:, None] * n + r).ravel(), (j[:, None] * n + r).ravel(), np.arange(n * n)]),
        np.concatenate([np.ones(len(rows)), -np.repeat(factors, n), np.ones(n * n)]),
        np.concatenate([np.zeros(len(rows)), np.ones(n)]),
        np.concatenate([np.full(len(rows), np.inf), np.ones(n)]),
    )


def qif_loss(space, consumer, epsilon):
    import qif

    d = np.asarray(space.distances)
    channel = qif.mechanism.d_privacy.min_loss_given_d(
        consumer.prior, space.size, lambda x, y: epsilon * float(d[x, y]), lambda x, y: float(d[x, y])
    )
    return qif.utility.expected_distance(lambda x, y: float(d[x, y]), consumer.prior, channel)


if __name__ == "__main__":
    main()
