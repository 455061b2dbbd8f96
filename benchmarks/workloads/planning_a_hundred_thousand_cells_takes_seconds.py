"""Two- and three-way tables of 10^5 cells, a tree, and all ranges of 2^17 bins: how long a plan takes, what it saves.

Run: PYTHONPATH=src python benchmarks/workloads/planning_a_hundred_thousand_cells_takes_seconds.py
"""

from itertools import combinations
from time import process_time

from utmost.privacy import Unit
from utmost.workloads import Domain, Plan, Workload, bins, choose_plan, hierarchy


def marginals(domain, most=3):
    names = domain.columns
    return {" ".join(chosen): 1 for size in range(most + 1) for chosen in combinations(names, size)}


def workloads():
    two, three = Domain(a=range(250), b=range(400)), Domain(a=range(40), b=range(50), c=range(50))
    six = Domain({name: range(7) for name in "abcdef"})
    places = {f"region {i}": [f"place {i}.{j}" for j in range(1000)] for i in range(100)}
    tree = Domain(place=hierarchy(places, names=["region", "place"]))
    line = Domain(age=bins(2**17))
    yield "250 x 400, all marginals", Workload(two, marginals(two))
    yield "40 x 50 x 50, all marginals", Workload(three, marginals(three))
    yield "7^6, all pairs, singles, total", Workload(six, marginals(six, 2))
    yield "100 regions of 1000 places", Workload(tree, {"place": 1, "region": 1, "": 1})
    yield "all 8.6e9 ranges of 2^17 bins", Workload.ranges(line, "age")


def main():
    for name, wanted in workloads():
        began = process_time()
        found = choose_plan(wanted, Unit(1, 1), epsilon=1)
        seconds = process_time() - began
        cells = Plan(wanted.domain, Unit(1, 1), {wanted.domain.finest: 1}, wanted, found.level)
        print(
            f"{name:32s} {wanted.domain.size:7d} cells, {len(found.shares):2d} marginals measured, "
            f"{seconds:6.2f} s; {cells.value / found.value:8.1f} times less error than the cells alone"
        )
        assert seconds < 60


if __name__ == "__main__":
    main()
