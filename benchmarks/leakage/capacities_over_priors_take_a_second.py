"""Capacities of one measure over all priors: one guess beside trying every set, Shannon beside qif, in one run.

Run: PYTHONPATH=src python benchmarks/leakage/capacities_over_priors_take_a_second.py

Rows are drawn from Dirichlet distributions; spiky ones (parameter 1/10) are the hard ones for one guess. The answer for
one guess is checked against all sets where these are few. qif (the package of libqif) runs Blahut-Arimoto to 1e-7 bits;
ours is to 1e-9, with the gap proved. It is skipped where it is not installed.
"""

import itertools
import time

import numpy as np

from utmost.channels import Channel
from utmost.leakage import bayes_vulnerability, shannon_entropy


def main():
    rng = np.random.default_rng(0)
    print("one guess, additive leakage, the best of all priors")
    for n, distribution in itertools.product((12, 16, 20, 40, 60), (1.0, 0.1)):
        C = Channel(rng.dirichlet(np.full(n, distribution), size=n))
        found, seconds = timed(lambda C=C: bayes_vulnerability.capacity(C, "additive"))
        assert found.certificate.verify()
        beside = ""
        if n <= 20:
            most, naive = timed(lambda C=C: best_of_all(C.matrix))
            assert abs(most - found.value) < 1e-12
            beside = f", all {2**n - 1} sets {naive:6.2f} s, {naive / seconds:7.0f} times as long"
        print(f"  {n:3} secrets, distribution {distribution:3}: {seconds:6.3f} s{beside}", flush=True)
    print("Shannon, to 1e-9 bits")
    for n, m in ((10, 10), (30, 50), (50, 30), (100, 100)):
        C = Channel(rng.dirichlet(np.ones(m), size=n))
        found, seconds = timed(lambda C=C: shannon_entropy.capacity(C, "additive"))
        gap, theirs = found.certificate.upper - found.certificate.lower, by_qif(C.matrix)
        beside = f", qif to 1e-7 {theirs:6.2f} s, {theirs / seconds:5.1f} times as long" if theirs else ""
        print(f"  {n:3} x {m:3}: {seconds:6.3f} s, proved within {gap:.0e}{beside}", flush=True)


def timed(call):
    start = time.process_time()
    answer = call()
    return answer, time.process_time() - start


def best_of_all(matrix):
    """max over sets S of (sum_y max_{x in S} C[x, y] - 1) / |S|, each set from the one without its lowest row."""
    n, m = matrix.shape
    reached = np.zeros((1 << n, m))
    for x in range(n):
        reached[1 << x : 2 << x] = np.maximum(reached[: 1 << x], matrix[x])
    sizes = np.array([s.bit_count() for s in range(1, 1 << n)])
    return float(((reached[1:].sum(axis=1) - 1) / sizes).max())


def by_qif(matrix):
    try:
        import qif
    except ImportError:
        return None
    return timed(lambda: qif.measure.shannon.add_capacity(matrix, 1e-7))[1]


if __name__ == "__main__":
    main()
