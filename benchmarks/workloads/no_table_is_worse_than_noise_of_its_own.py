"""What the default of `choose_plan` gains and costs: limits of tables, cells that nobody reads, rows, noise made once.

Run: PYTHONPATH=src python benchmarks/workloads/no_table_is_worse_than_noise_of_its_own.py [WORKLOADS]

First random workloads of two or three axes: how far the plan of the least weighted error lets a table be worse than
noise on it alone at its budget share, and what it costs to keep all within. Then natural calls beside what is possible:
the plan of marginals on the unit as it stands, the plan, and noise made once; variances, weighted.
"""

import random
import sys
import time

from utmost.core.exact.levels import level
from utmost.privacy import Unit
from utmost.publish.workloads.planning.searches.plan_search import PlanRequest
from utmost.publish.workloads.planning.table_limits import table_limits
from utmost.workloads import Domain, Plan, Workload, choose_plan

COUNTS = Unit(1, 5, nonnegative=True)
CALLS = [
    ("one cell of six, of which one individual may change all", (6,), {"x0=0": 1}, Unit(1, 6), 1),
    *((f"all {n} cells of one individual", (n,), {"x0": 1}, Unit(1, n, nonnegative=True), 1) for n in (2, 3, 4, 5)),
    ("cells of sensitivity 5", (10,), {"x0": 1}, Unit(5, 1), 4),
    ("5 of 10 cells, and their total", (10,), {"x0": 1, "": 1}, COUNTS, 1),
    ("five cells and total, change-one", (5,), {"x0": 1, "": 1}, Unit(1, 1, "change-one", nonnegative=True), 1),
    ("20 yes or no, and total", (2,) * 20, {f"x{at}": 1 for at in range(20)} | {"": 1}, Unit(1, 1), 1),
    ("10 of 5 values", (5,) * 10, {f"x{at}": 1 for at in range(10)}, Unit(1, 1), 1),
]


def main(count=60):
    random.seed(1)
    worse, costs, seconds = [], [], [0.0, 0.0]
    for _ in range(count):
        shape = [random.choice([2, 3, 5, 8, 20]) for _ in range(random.choice([2, 3]))]
        domain = Domain({f"x{at}": range(size) for at, size in enumerate(shape)})
        marginals = random.sample(list(domain.marginals()), random.randint(2, min(5, 2 ** len(shape))))
        wanted = Workload(domain, {marginal: random.choice([1, 1, 1, 5, "1/3"]) for marginal in marginals})
        unit = random.choice([Unit(1, 1), Unit(1, 3), Unit(1, 2, "change-one", nonnegative=True)])
        epsilon, plans = random.choice(["1/10", 1, 4]), []
        for place, aim in enumerate(("mean", "each")):
            start = time.process_time()
            plans.append(choose_plan(wanted, unit, epsilon=epsilon, aim=aim))
            seconds[place] += time.process_time() - start
        limits = table_limits(PlanRequest(wanted, plans[1].unit, level(epsilon), None, "each", None))
        least, each = (max(variance / limits[name] for name, variance in plan.variances.items()) for plan in plans)
        assert each <= 1 + 1e-9
        worse.append(least)
        costs.append(plans[1].value / plans[0].value)
    beyond = sorted(times for times in worse if times > 1 + 1e-9)
    print(
        f"{count} workloads: a table beyond its limit in {len(beyond)}, by {max(beyond, default=1):.3f} times at most"
    )
    print(
        f"within all limits the weighted error is {max(costs):.3f} times at most, {sum(costs) / count:.4f} on average"
    )
    print(f"searches: {seconds[0] / count:.3f} and {seconds[1] / count:.3f} s on average")
    print("\nwanted | marginals | plan | made once")
    for name, shape, wanted, unit, epsilon in CALLS:
        domain = Domain({f"x{at}": range(size) for at, size in enumerate(shape)})
        asked = Workload(domain, wanted)
        plan = choose_plan(asked, unit, epsilon=epsilon)
        cells = Plan(domain, unit, {domain.finest: 1}, asked, level(epsilon)) if len(shape) == 1 else plan
        once = min(plan.once_errors.values(), default=plan.value)
        print(f"{name} | {cells.value:.4g} | {plan.value:.4g} | {min(once, plan.value):.4g}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
