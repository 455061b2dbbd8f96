"""All rectangles of a square: levels by group of rows inside a product, and mixtures of a product with marginals.

Run: PYTHONPATH=src python benchmarks/workloads/what_the_planner_does_not_mix.py [SIDE ...]

A product of listed rows measures each class of entries of one axis with each of the other, at the product of their
shares. Would other levels by class do better? For the estimates of the product the error is a sum of V/e^2 over pairs
of classes, which is least under the charges of all kinds of cells by a convex program: printed is what it would save.
Then the level is divided between the marginals that `choose_plan` chooses and the product, and least squares taken of
both: printed are the errors, at 0 all is the product's and at 1 all the marginals'. Small levels, 1/10.
"""

import sys

import numpy as np
from scipy.optimize import minimize

from utmost.privacy import Unit
from utmost.publish.workloads.planning.product_search import product_rows
from utmost.workloads import Domain, Workload, bins, choose_plan

EPSILON = 0.1
PARTS = (0, 0.02, 0.1, 0.35, 0.65, 0.9, 0.98, 1)


def main(*sides):
    for n in sides or (16, 32):
        domain = Domain(x=bins(n), y=bins(n))
        wanted = Workload.ranges(domain, "x", "y")
        first = np.arange(n) + 1.0
        gram = np.minimum.outer(first, first) * np.minimum.outer(n + 1 - first, n + 1 - first)
        listed, error = product_rows(wanted, EPSILON)
        marginals = choose_plan(wanted, Unit(1, 1), epsilon="1/10", method="marginals")
        print(f"{n} x {n}: products {error:.1f}, marginals {marginals.value:.1f}")
        classes = " x ".join(str(len(axis.places)) for axis in listed.axes)
        print(f"  levels by class, {classes} of them: {saved(listed, gram):.1e} less")
        mixed = mixtures(domain, gram, listed, marginals)
        print("  mixed: " + ", ".join(f"{part} {error:.1f}" for part, error in mixed.items()), flush=True)


def saved(listed, gram):
    """The share of the error that the best levels of pairs of classes save, for the estimates as they are."""
    axes = listed.axes
    parts = [np.array([float(share) for share in axis.shares]) for axis in axes]
    costs = []
    for axis, share in zip(axes, parts, strict=True):
        B = axis.float_estimates(share**2)
        entries = np.einsum("ij,ik,kj->j", B, gram, B)
        costs.append(np.array([entries[places].sum() for places in axis.places]))
    V, levels = np.outer(*costs).ravel(), np.outer(*parts).ravel()
    charges = np.einsum("ia,jb->ijab", *map(loads, axes)).reshape(-1, V.size)
    assert np.allclose(charges @ levels, 1)
    error = (V / levels**2).sum()

    def dual(logarithms):
        prices = np.exp(logarithms)
        slopes = charges.T @ prices
        best = (2 * V / slopes) ** (1 / 3)
        value = (V / best**2 + slopes * best).sum() - prices.sum()
        return -np.log(value), -(charges @ best - 1) * prices / value

    start = np.log(np.full(len(charges), 2 * error / len(charges)))
    found = minimize(dual, start, jac=True, method="L-BFGS-B", options={"maxiter": 3000, "maxfun": 6000})
    return 1 - np.exp(-found.fun) / error


def loads(axis):
    """What a value of each class is charged by each class: once by its own, and by the rows as their entries say."""
    own = len(axis.places) - bool(len(axis.rows))
    table = np.eye(own, len(axis.places))
    if len(axis.rows):
        table[:, -1] = [axis.rows[:, axis.places[number][0]].sum() for number in range(own)]
    return table


def mixtures(domain, gram, listed, marginals):
    """The mean variance of a range by least squares, by the part of the level that the marginals have."""
    n = domain.shape[0]
    cells = np.eye(n * n).reshape(-1, n, n)
    by_marginals = np.zeros((n * n, n * n))
    for marginal, share in marginals.shares.items():
        sums = np.array([domain.sums(cell, marginal).ravel() for cell in cells]).T
        by_marginals += float(share) ** 2 * sums.T @ sums
    by_products = np.kron(*(information(axis, n) for axis in listed.axes))
    M, ranges = np.kron(gram, gram), (n * (n + 1) / 2) ** 2

    def error(part):
        X = part**2 * by_marginals + (1 - part) ** 2 * by_products
        return float(np.trace(np.linalg.solve(X, M))) * 2 / EPSILON**2 / ranges

    return {part: error(part) for part in PARTS}


def information(axis, n):
    shares = np.zeros(n)
    for places, share in zip(axis.places[: len(axis.places) - bool(len(axis.rows))], axis.shares, strict=False):
        shares[places] = float(share)
    return np.diag(shares**2) + float(axis.shares[-1]) ** 2 * axis.rows.T @ axis.rows


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
