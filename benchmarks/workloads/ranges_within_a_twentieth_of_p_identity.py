"""All ranges of an ordered axis: hat functions beside the values against HDMM's p-identity plans, whose rows are
real.

    python benchmarks/workloads/ranges_within_a_twentieth_of_p_identity.py 256 1024

A p-identity plan is A = [I; B] D with B >= 0 of p rows and D = diag(1/(1 + column sums of B)), so that every
column has l1 norm 1. With Laplace noise its error in units of 2/epsilon^2 is tr(W'W (A'A)^-1), minimised by L-BFGS.
Written from the formula of McKenna, Miklau, Hay and Machanavajjhala, *Optimizing error of high-dimensional
statistical queries under differential privacy* (PVLDB 11, 2018), section 5; one start at random.

`rounded` makes integers of at most ``most`` of the same rows, which geometric noise on the integers can measure.
"""

import sys
import time

import numpy as np
from scipy.optimize import minimize

from utmost.privacy import Unit
from utmost.workloads import Domain, Workload, bins, choose_plan


def gram(n):
    """W'W of all n(n+1)/2 ranges, per range."""
    places = np.arange(n, dtype=float)
    found = (np.minimum.outer(places, places) + 1) * (n - np.maximum.outer(places, places))
    return found / (n * (n + 1) / 2)


def error_and_slope(flat, M, p):
    """tr(M D^-1 X D^-1) with X = (I + B'B)^-1, and its gradient in B."""
    B = flat.reshape(p, -1)
    s = 1 + B.sum(axis=0)
    small = np.linalg.inv(np.eye(p) + B @ B.T)
    X = np.eye(B.shape[1]) - B.T @ small @ B
    MX = M * X
    left = B @ X
    slope = -2 * (left @ (M * np.outer(s, s))) @ X + 2 * (MX @ s)[None, :]
    return float(s @ MX @ s), slope.ravel()


def p_identity(n, p, steps, seed=0):
    """The error per range in units of 2/epsilon^2, and B."""
    M = gram(n)
    start = np.random.default_rng(seed).random(p * n)
    found = minimize(
        error_and_slope, start, (M, p), "L-BFGS-B", jac=True, bounds=[(0, None)] * (p * n), options={"maxiter": steps}
    )
    return found.fun, found.x.reshape(p, n)


def rounded(B, level, most=16):
    """The error per range of the same rows with integer coefficients, by geometric noise; as a multiple of the
    variance at the whole level.

    A row b of B D becomes a = round(b most / max b), with the level max b / most: it loads a cell by level a_j. The
    identity takes what is left of each cell's level.
    """
    rows = B / (1 + B.sum(axis=0))
    rows = rows[rows.max(axis=1) > 1e-6]
    levels = level * rows.max(axis=1) / most
    rows = np.rint(rows / rows.max(axis=1, keepdims=True) * most)
    left = level - levels @ rows
    assert (left > 0).all(), "no cell's load is above the level"
    p = 2 * np.sinh(levels / 2) ** 2
    X = np.linalg.inv(np.diag(2 * np.sinh(left / 2) ** 2) + rows.T @ (p[:, None] * rows))
    return float(np.sum(gram(B.shape[1]) * X)) * 2 * np.sinh(level / 2) ** 2


def main():
    for n in map(int, sys.argv[1:] or ["256"]):
        started = time.process_time()
        theirs, B = p_identity(n, n // 16, 150)
        print(f"n = {n}: p-identity {theirs:.2f} of 2/epsilon^2 ({time.process_time() - started:.0f} s)")
        for epsilon in (0.1, 1, 3):
            chosen = choose_plan(Workload.ranges(Domain(a=bins(n)), "a"), Unit(1, 1), epsilon=epsilon)
            laplace, whole = theirs * 2 / epsilon**2, rounded(B, epsilon) / (2 * np.sinh(epsilon / 2) ** 2)
            print(
                f"  epsilon {epsilon}: ours {chosen.value:.4g}, p-identity {laplace:.4g} (ours is "
                f"{chosen.value / laplace:.2f} times it), its rows with integers up to 16 {whole:.4g}"
            )


if __name__ == "__main__":
    main()
