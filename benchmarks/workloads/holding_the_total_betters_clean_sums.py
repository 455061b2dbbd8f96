"""Clean tables with the released total held, beside the raw estimates, plain clean tables and the likeliest table.

    PYTHONPATH=src python benchmarks/workloads/holding_the_total_betters_clean_sums.py

Root mean square errors of the cells, of the sums over each axis and of the total, epsilon 1, 40 releases each: aircraft
of examples/flights.csv by airline and quarter, and by airline and month (at most 4 cells each), and the applicants of
Berkeley. Three plans: the cells alone, equal shares of cells and axes, a plan for all these tables alike. All four
estimates see the same noise. The likeliest non-negative table under independent two-sided geometric noise minimises
sum_S epsilon_S |A_S x - y_S|_1: a linear program. Where private-pgm is installed (`mbi`, JAX_ENABLE_X64=1) its table
stands beside them, from the same noisy sums.
"""

import csv

import numpy as np
from against_neighbours import EXAMPLES, berkeley, flights, wanted

import utmost as ut
from utmost import Counting
from utmost.counting import count_table
from utmost.programs import LinearProgram, solve
from utmost.workloads import Domain, Plan, Workload, choose_plan

try:
    import mbi
except ImportError:
    mbi = None
REPEATS = 40


def months():
    """The flights by airline and month."""
    people, columns, axes, most = flights()
    with (EXAMPLES / "flights.csv").open(encoding="utf-8") as file:
        months = [row["month"] for row in csv.DictReader(file)]
    labels = sorted(set(months), key=int)
    return people, {"carrier": columns["carrier"], "month": months}, {"carrier": axes["carrier"], "month": labels}, most


def likeliest(release):
    """The likeliest cells >= 0."""
    domain, n = release.domain, release.domain.size
    rows, columns, values, sums, costs, start = [], [], [], [], [np.zeros(n)], 0
    for marginal, y in release.measured.items():
        groups = domain.spread(np.arange(y.size), marginal).ravel()
        over = n + 2 * start + np.arange(2 * y.size)
        rows += [start + groups, start + np.repeat(np.arange(y.size), 2)]
        columns += [np.arange(n), over]
        values += [np.ones(n), np.tile([1.0, -1.0], y.size)]
        costs.append(np.full(2 * y.size, float(release.plan.shares[marginal])))
        sums.append(y.ravel().astype(float))
        start += y.size
    at = np.concatenate(sums)
    triplets = map(np.concatenate, (costs, rows, columns, values))
    return solve(LinearProgram.of_triplets(*triplets, at, at)).primal[:n].reshape(domain.shape)


def private_pgm(release):
    """What private-pgm makes of the same noisy sums."""
    names, measured = tuple("abc"[: len(release.domain.shape)]), []
    for marginal, y in release.measured.items():
        clique = tuple(name for name, level in zip(names, marginal, strict=True) if level == 0)
        scale = float(1 / release.plan.shares[marginal])
        measured.append(mbi.LinearMeasurement(y.ravel().astype(float), clique, stddev=scale))
    model = mbi.estimation.MirrorDescent().estimate(mbi.Domain(names, release.domain.shape), measured, iters=2000)
    return np.asarray(model.project(names).datavector()).reshape(release.domain.shape)


def errors(estimates, truth):
    """Root mean square errors of the cells, of each axis, of the total."""
    off, axes = np.array(estimates, dtype=float) - truth, range(truth.ndim)
    sums = [off, *(off.sum(axis=tuple(1 + b for b in axes if b != a)) for a in axes), off.reshape(len(off), -1).sum(1)]
    return "  ".join(f"{np.sqrt((of**2).mean()):8.2f}" for of in sums)


def main():
    for title, data in (("flights", flights), ("flights by month", months), ("berkeley", berkeley)):
        people, columns, axes, most = data()
        domain = Domain({name: list(labels) for name, labels in axes.items()})
        counted = count_table({"person": people, **columns}, domain, Counting("person", at_most=most))
        names = [domain.marginal_name(marginal) for marginal in wanted(domain)]
        choices = {
            "cells alone": Plan(domain, counted.unit, {domain.finest: 1}),
            "equal shares": Plan(domain, counted.unit, dict.fromkeys(names[:-1], f"1/{len(names) - 1}")),
            "planned": choose_plan(Workload(domain, dict.fromkeys(names, 1)), counted.unit, epsilon=1),
        }
        print(f"{title}: {domain.size} cells, {int((counted.cells == 0).sum())} of them 0")
        for name, chosen in choices.items():
            found = {"raw": [], "clean": [], "clean, total held": [], "likeliest": []}
            for _ in range(REPEATS):
                release = ut.release(counted, chosen, epsilon=1, once=True).table
                found["raw"].append(release.reconstruction.floats(release.measured, domain.finest))
                found["clean"].append(release.clean().cells)
                found["clean, total held"].append(release.clean(hold="total").cells)
                found["likeliest"].append(likeliest(release))
                if mbi is not None:
                    found.setdefault("private-pgm", []).append(private_pgm(release))
            for estimate, tables in found.items():
                print(f"  {name:13} {estimate:18} {errors(tables, counted.cells)}", flush=True)


if __name__ == "__main__":
    main()
