"""Twelve workloads: how many times the least error of any mechanism a plan has, by the bound for all answers together.

Run: PYTHONPATH=src python benchmarks/workloads/how_far_from_the_least_error.py [NAMES THAT BEGIN SO]

For each level: the plan's error over the bounds of any mechanism, each answer by itself and all answers together. Every
bound is computed again from its certificate.
"""

import sys
from collections.abc import Callable

from utmost.privacy import Unit
from utmost.workloads import Domain, Workload, bins, bounds_of, check_lower_bounds, choose_plan, hierarchy

LEVELS = ("1/10", 1, 3)
ONE = Unit(1, 1)
COUNTS = Unit(1, 1, "change-one", nonnegative=True)


def berkeley() -> Workload:
    """Admitted and applicants, by department and sex, by each, and in all."""
    domain = Domain(department=list("ABCDEF"), sex=["men", "women"], outcome=["admitted", "rejected"])
    marginals = ("department sex", "department", "sex", "")
    return Workload(domain, {name: 1 for of in marginals for name in (f"{of} outcome=admitted".strip(), of)})


def tree() -> Workload:
    """Eight regions of 25 districts, and all."""
    places = {f"{i}": [f"{i}.{j}" for j in range(25)] for i in range(8)}
    place = hierarchy(places, names=["region", "district"])
    return Workload(Domain(place=place), {"district": 1, "region": 1, "": 1})


def marginals() -> Workload:
    """All tables of two of eight attributes of five values."""
    domain = Domain({f"x{i}": range(5) for i in range(8)})
    return Workload(domain, {f"x{i} x{j}": 1 for j in range(8) for i in range(j)})


TABLE = Domain(region=range(20), age=range(50))
CELLS = Domain(cell=range(100))

WORKLOADS: dict[str, tuple[Callable[[], Workload], Unit]] = {
    "100 cells": (lambda: Workload(CELLS, {"cell": 1}), ONE),
    "100 cells and total": (lambda: Workload(CELLS, {"cell": 1, "": 1}), ONE),
    "100 cells and total, change-one": (lambda: Workload(CELLS, {"cell": 1, "": 1}), COUNTS),
    "100 cells, an individual in three": (lambda: Workload(CELLS, {"cell": 1}), Unit(1, 3)),
    "20 x 50, all four tables": (lambda: Workload(TABLE, {"region age": 1, "region": 1, "age": 1, "": 1}), ONE),
    "20 x 50, sides and total": (lambda: Workload(TABLE, {"region": 1, "age": 1, "": 1}), ONE),
    "Berkeley": (berkeley, ONE),
    "tree of 8 x 25": (tree, ONE),
    "pairs of 8 attributes of 5": (marginals, ONE),
    "ranges of 64": (lambda: Workload.ranges(Domain(age=bins(64)), "age"), ONE),
    "prefixes of 256": (lambda: Workload.prefixes(Domain(age=bins(256)), "age"), ONE),
    "ranges of 32 x 32": (lambda: Workload.ranges(Domain(x=bins(32), y=bins(32)), "x", "y"), ONE),
}


def main(start: str) -> None:
    print(f"{'error at most ... times the least of any mechanism':36}" + "".join(f"{level!s:>18}" for level in LEVELS))
    for name, (workload, unit) in WORKLOADS.items():
        if not name.startswith(start):
            continue
        wanted, factors = workload(), []
        for epsilon in LEVELS:
            error, bounds = choose_plan(wanted, unit, epsilon=epsilon).value, bounds_of(wanted, unit, epsilon)
            check_lower_bounds(bounds)
            times = bounds.ratios(error)
            factors.append(f"{times['per answer']:8.3g} -> {times['any mechanism']:6.3g}")
        print(f"{name:36}" + "".join(factors), flush=True)


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
