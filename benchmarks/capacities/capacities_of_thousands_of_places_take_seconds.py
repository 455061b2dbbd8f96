"""Multiplicative capacities of lattices and lines, with certificate, beside HiGHS and qif in the same run.

Run: PYTHONPATH=src python benchmarks/capacities/capacities_of_thousands_of_places_take_seconds.py

Ours: the capacity, its mechanism and its dual, checked. HiGHS, all pairs: the program of corollary 18 with a row for
every pair of secrets and column, in floats at tolerance 1e-10; adjacent: along essential edges only. qif: its own
program for the uniform prior and the binary loss. Neither repairs or proves anything; both stop where a minute does
not do, and qif is left out where it is not installed. "off" is how far the reported capacity is from the proven
interval, relatively: a positive number is more than any mechanism leaks. Growth exponents are by number of secrets,
from each size to the next.
"""

import math
import time
from importlib.util import find_spec
from itertools import pairwise

import numpy as np

from utmost.capacities import capacity
from utmost.privacy_types import PrivacyType
from utmost.programs import LinearProgram, solve
from utmost.spaces import counts, discrete, grid, hamming

HALF = {"alpha": "1/2"}
SIDES, LINES = (2, 3, 4, 5, 6, 10, 20, 40, 60), (10, 20, 40, 200, 1_000)
ALL_TO, ADJACENT_TO, QIF_TO = 25, 36, 16


def main():
    capacity(PrivacyType(grid(3, 3), **HALF))  # the first call loads the solver
    compare("lattice", [(grid(side, side), f"{side} x {side} places") for side in SIDES])
    compare("line", [(counts(n - 1), f"line of {n:,}") for n in LINES], all_to=40, adjacent_to=40, qif_to=20)
    for space, name in (
        (hamming(20), "20 bits"),
        (discrete(10**6), "10^6 at equal distance"),
        (grid(59, 59), "59 x 59"),
    ):
        seconds, found = timed(lambda space=space: capacity(PrivacyType(space, **HALF), kind="additive"))
        print(f"{name:>22}, additive: {seconds:8.3f} s, {float(found):.12f}, gap {float(found.gap):.0e}")


def compare(kind, cases, all_to=ALL_TO, adjacent_to=ADJACENT_TO, qif_to=QIF_TO):
    spent = {}
    for space, name in cases:
        ptype, n = PrivacyType(space, **HALF), space.size
        seconds, found = timed(lambda ptype=ptype: capacity(ptype))
        spent.setdefault("ours", []).append((n, seconds))
        checking, verified = timed(found.certificate.verify)
        print(
            f"{name:>22}: ours {seconds:9.3f} s by {found.method}, {float(found):.12f}, "
            f"gap {float(found.gap):.0e}, checked {verified} in {checking:.3f} s"
        )
        for label, limit, neighbour in (
            ("HiGHS, all pairs", all_to, lambda ptype=ptype: highs(ptype, all_pairs(ptype))),
            ("HiGHS, adjacent", adjacent_to, lambda ptype=ptype: highs(ptype, ptype.space.edges)),
            ("qif", qif_to, lambda ptype=ptype: qif_capacity(ptype)),
        ):
            if n <= limit and (label != "qif" or find_spec("qif")):
                took, value = timed(neighbour)
                spent.setdefault(label, []).append((n, took))
                off = min(0.0, value - float(found.lower)) + max(0.0, value - float(found.value))
                print(f"{label:>22}: {took:14.3f} s, {took / seconds:8.1f} times ours, off {off / value:+.0e}")
    for label, points in spent.items():
        exponents = [math.log(t2 / t1) / math.log(n2 / n1) for (n1, t1), (n2, t2) in pairwise(points)]
        print(f"{kind}, growth of {label}: " + ", ".join(f"n^{e:.1f}" for e in exponents))


def timed(work):
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def all_pairs(ptype):
    return np.column_stack(np.triu_indices(ptype.space.size, k=1))


def highs(ptype, pairs):
    """The capacity as HiGHS reports it: max sum_x m[x, x] subject to m[x, j] >= alpha^d m[y, j] along the pairs."""
    n = ptype.space.size
    x, y = np.concatenate([pairs, pairs[:, ::-1]]).T
    powers = np.exp(-ptype.level.epsilon_float * np.asarray(ptype.space.metric.distance(x, y), dtype=float))
    p, j = len(x) * n, np.arange(n)
    cost = np.zeros(n * n)
    cost[:: n + 1] = -1
    program = LinearProgram.of_triplets(
        cost,
        np.concatenate([np.arange(p), np.arange(p), p + np.repeat(j, n)]),
        np.concatenate([(x[:, None] * n + j).ravel(), (y[:, None] * n + j).ravel(), np.arange(n * n)]),
        np.concatenate([np.ones(p), -np.repeat(powers, n), np.ones(n * n)]),
        np.concatenate([np.zeros(p), np.ones(n)]),
        np.concatenate([np.full(p, np.inf), np.ones(n)]),
    )
    return -solve(program).value


def qif_capacity(ptype):
    import qif

    n, epsilon, distance = ptype.space.size, ptype.level.epsilon_float, ptype.space.distances

    def loss(x, y):
        return float(x != y)

    prior = np.full(n, 1 / n)
    channel = qif.mechanism.d_privacy.min_loss_given_d(prior, n, lambda x, y: float(epsilon * distance[x, y]), loss)
    return float(np.asarray(channel).max(axis=0).sum())


if __name__ == "__main__":
    main()
