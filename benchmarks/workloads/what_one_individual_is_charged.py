"""What plans cost one individual, exactly: errors and bounds by unit of privacy, and the ratio counted out.

Run: PYTHONPATH=src python benchmarks/workloads/what_one_individual_is_charged.py
"""

from fractions import Fraction
from itertools import product

from utmost.privacy import Unit
from utmost.workloads import Domain, Workload, bounds_of, certified_shares, check_lower_bounds, choose_plan

LEVELS = ("1/10", 1, 3)
COUNTS = Unit(1, 1, "change-one", nonnegative=True)
SIGNS = Unit(1, 1, "change-one")


def cells_and_total():
    """Of 100 cells and their total, the error of each unit, and how far it can be from the least."""
    wanted = Workload(Domain(cell=range(100)), {"cell": 1, "": 1})
    for epsilon in LEVELS:
        counts, signs = (choose_plan(wanted, unit, epsilon=epsilon) for unit in (COUNTS, SIGNS))
        bounds, best = bounds_of(wanted, COUNTS, epsilon), certified_shares(wanted, COUNTS, epsilon)
        check_lower_bounds(bounds)
        print(
            f"100 cells and total, epsilon {epsilon!s:4}: counts {counts.value:9.5g}, signs unknown "
            f"{signs.value:9.5g}; "
            f"best of these marginals at least {best.bound:.4g}, integer rows {bounds.any_integer_plan.value:.4g}, "
            f"any unbiased mechanism {bounds.any_unbiased.value:.4g}"
        )


def few_cells():
    """One row, two cells of one row, and cells that profit from a total that nobody wants."""
    total, pair = Workload(Domain(), {"": 1}), Workload(Domain(column=["a", "b"]), {"column": 1})
    four = Workload(Domain(cell=range(4)), {"cell": 1})
    for name, unit in (("counts", COUNTS), ("signs unknown", SIGNS), ("six cells", Unit(1, 6))):
        print(f"the total alone, {name}: {choose_plan(total, unit, epsilon=1).value:.4g}")
    for name, unit in (("counts", COUNTS), ("signs unknown", SIGNS)):
        print(f"four cells, no total wanted, {name}: {choose_plan(four, unit, epsilon=1).value:.4g}")
    for name, unit in (
        ("add-remove", Unit(1, 2)),
        ("change-one, counts", Unit(1, 2, "change-one", nonnegative=True)),
        ("change-one, signs unknown", Unit(1, 2, "change-one")),
    ):
        print(f"two cells of one row, {name}: {choose_plan(pair, unit, epsilon=1, together='column').value:.4g}")
    apart = choose_plan(pair, Unit(1, 2), epsilon=1).value
    print(f"two cells of one row, independent noise, add-remove: {apart:.4g}")


def counted_out():
    """The largest exponent over all neighbours of five cells, from the shares of the plan, in rationals."""
    domain = Domain(cell=range(5))
    for name, unit, low in (("counts", COUNTS, 0), ("signs unknown", SIGNS, -1)):
        chosen = choose_plan(Workload(domain, {"cell": 1, "": 1}), unit, epsilon=1)
        records = [c for c in product(range(low, 2), repeat=5) if sum(one != 0 for one in c) <= 1]
        cells, total = (chosen.shares.get(marginal, Fraction(0)) / unit.epsilon_parts for marginal in ((0,), (1,)))
        largest = Fraction(0)
        for before, after in product(records, repeat=2):
            change = [x - y for x, y in zip(after, before, strict=True)]
            largest = max(largest, cells * sum(map(abs, change)) + total * abs(sum(change)))
        print(f"five cells and total, {name}: largest log-ratio {largest} of epsilon, charge {chosen.charge}")
        assert largest == chosen.charge == 1


if __name__ == "__main__":
    cells_and_total()
    few_cells()
    counted_out()
