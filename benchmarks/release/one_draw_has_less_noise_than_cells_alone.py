"""All cells in one draw: the variance of a cell and its margin, beside noise on cells alone, by public calls.

Run: PYTHONPATH=src python benchmarks/release/one_draw_has_less_noise_than_cells_alone.py

Cells alone have geometric noise, or a staircase, at their share of the level. One-way tables alone have the level
divided among tables and total. The last column is the time of one release of the table.
"""

import time

import numpy as np

import utmost as ut
from utmost.exact import level
from utmost.noise import Geometric, TablesDraw
from utmost.publish.counting.counted import CountedTable

UNITS = [
    ("a row of 2 cells", ut.Unit(1, 2, nonnegative=True), 2),
    ("a row of 2 cells, s = 5", ut.Unit(5, 2, nonnegative=True), 2),
    ("2 of 3 cells", ut.Unit(1, 2, nonnegative=True), 3),
    ("2 of 3 cells, signed", ut.Unit(1, 2), 3),
    ("5 of 10 cells", ut.Unit(1, 5, nonnegative=True), 10),
    ("5 of 10 cells, signed", ut.Unit(1, 5), 10),
    ("5 of 10 cells, s = 20, in all 50", ut.Unit(20, 5, nonnegative=True, in_total=50), 10),
    ("2 replaced", ut.Unit(1, 1, "change-one", nonnegative=True), 2),
    ("5 replaced", ut.Unit(1, 1, "change-one", nonnegative=True), 5),
    ("30 replaced", ut.Unit(1, 1, "change-one", nonnegative=True), 30),
]
LEVELS = ("1/10", 1, 3)
SIZES = [(2,) * 2, (2,) * 5, (2,) * 10, (2,) * 20, (3,) * 5, (5,) * 10]


def cells():
    print(f"{'variance of a cell':34s} {'epsilon':>7s} {'one draw':>10s} {'alone':>10s} {'times':>6s} {'margins':>12s}")
    for name, unit, n in UNITS:
        for epsilon in LEVELS:
            noise = ut.OneDraw(unit, n)
            one = float(noise.at(level(epsilon)).distribution.variance)
            alone = float(Geometric(unit.per_cell(level(epsilon)), unit.sensitivity).variance())
            if unit.in_total is None:
                alone = float(ut.Promise("n", unit=unit).once("squared").at(epsilon).distribution.variance())
            margins = f"{noise.margin(level(epsilon), '0.95')}, {ut.CellNoise(unit).margin(level(epsilon), '0.95')}"
            print(f"{name:34s} {epsilon!s:>7s} {one:10.4g} {alone:10.4g} {alone / one:6.2f} {margins:>12s}")


def tables():
    print(f"\n{'one-way tables':12s} {'cell':>8s} {'total':>8s} {'value':>8s} {'equal shares':>13s} {'times':>6s}")
    for sizes in SIZES:
        distribution = TablesDraw(1, sizes)
        cell, total = float(distribution.variance), float(distribution.total_variance)
        value, shares = len(sizes) * cell + total, len(sizes) + 1
        equal = shares * float(Geometric(level(1).scaled(f"1/{shares}")).variance())
        name = f"{len(sizes)} of {sizes[0]}"
        print(f"{name:14s} {cell:8.4g} {total:8.4g} {value:8.5g} {equal:13.5g} {equal / value:6.2f}")


def beside():
    """Cells, their total and other tables: the plan, which can be relaxed, and what a release made once may take."""
    print("\nseveral tables: weighted variance; shares of the total and of other tables")
    several, grid = {f"a{i}": ["yes", "no"] for i in range(20)}, {"a": range(4), "b": range(3)}
    cases = [
        ("20 one-way tables of 2", several, dict.fromkeys([*several, ""], 1), ut.Unit(1, 1)),
        ("5 of 10 cells", {"a": range(10)}, {"a": 1, "": 1}, ut.Unit(1, 5, nonnegative=True)),
        ("5 of 10 cells, signed", {"a": range(10)}, {"a": 1, "": 1}, ut.Unit(1, 5)),
        ("5 of 10 cells, s = 20", {"a": range(10)}, {"a": 1, "": 1}, ut.Unit(20, 5, nonnegative=True)),
        ("a row of 5", {"a": range(5)}, {"a": 1, "": 1}, ut.Unit(1, 5, nonnegative=True)),
        ("5 replaced", {"a": range(5)}, {"a": 1, "": 1}, ut.Unit(1, 1, "change-one", nonnegative=True)),
        ("3 of 4 x 3, and rows", grid, {"a b": 1, "a": 1}, ut.Unit(1, 3, nonnegative=True)),
        ("6 of 4 x 3, and all", grid, {"a b": 1, "a": 1, "b": 1, "": 1}, ut.Unit(1, 6, nonnegative=True)),
        ("20 of 2, and one of 4", several, dict.fromkeys([*several, "", "a0 a1"], 1), ut.Unit(1, 1)),
    ]
    for name, axes, wanted, unit in cases:
        plan = ut.choose_plan(ut.Workload(ut.Domain(axes), wanted), unit, epsilon=1)
        errors = ", ".join(f"{kind} {error:.5g}" for kind, error in plan.once_errors.items())
        least = plan.least_once
        share = "none" if least is None else ", ".join(map(str, (least.total_share, *least.table_shares.values())))
        print(f"{name:24s} plan {plan.value:.5g}, {errors}; {share}")


def times():
    domain = ut.Domain({f"a{i}": ["yes", "no"] for i in range(12)})
    table = CountedTable(domain, np.ones(domain.shape, int), ut.Unit(1, 1))
    promises = [
        ("5 of 10 cells", {"n": [7] * 10}, ut.Promise("n", noise=ut.OneDraw(ut.Unit(1, 5, nonnegative=True), 10))),
        ("25 of 50 cells", {"n": [7] * 50}, ut.Promise("n", noise=ut.OneDraw(ut.Unit(1, 25, nonnegative=True), 50))),
        ("12 one-way tables", table, ut.Promise(noise=ut.OneWayDraw.of_counted(table))),
    ]
    print("\nseconds of a release, the first and the next")
    for name, data, promise in promises:
        spent = []
        for _ in range(2):
            began = time.perf_counter()
            ut.release(data, promise, epsilon=1, once=True)
            spent.append(time.perf_counter() - began)
        print(f"{name:20s} {spent[0]:.3f} {spent[1]:.3f}")


if __name__ == "__main__":
    cells()
    tables()
    beside()
    times()
