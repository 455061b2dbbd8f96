"""All cells in one draw: the variance of a cell and its margin, beside noise on cells alone, by public calls.

Run: PYTHONPATH=src python benchmarks/release/one_draw_has_less_noise_than_cells_alone.py

Cells alone have geometric noise, or a staircase, at their share of the level. One-way tables alone have the level
divided among tables and total. The last column is the time of one release of the table.
"""

import time

import numpy as np

import utmost as ut
from utmost.core.noise.total_beside import TotalBeside
from utmost.exact import level
from utmost.noise import CellsDraw, Geometric, TablesDraw
from utmost.publish.counting.counted import CountedTable

UNITS = [
    ("a row of 2 cells", ut.Unit(1, 2, nonnegative=True), 2),
    ("a row of 2 cells, s = 5", ut.Unit(5, 2, nonnegative=True), 2),
    ("2 of 3 cells", ut.Unit(1, 2, nonnegative=True), 3),
    ("2 of 3 cells, signed", ut.Unit(1, 2), 3),
    ("5 of 10 cells", ut.Unit(1, 5, nonnegative=True), 10),
    ("5 of 10 cells, signed", ut.Unit(1, 5), 10),
    ("5 of 10 cells, s = 20, in all 50", ut.Unit(20, 5, nonnegative=True, in_all=50), 10),
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
            one = float(noise.at(level(epsilon)).law.variance)
            alone = float(Geometric(unit.per_cell(level(epsilon)), unit.sensitivity).variance())
            if unit.in_all is None:
                alone = float(ut.Promise("n", unit=unit).once("squared").at(epsilon).law.variance())
            margins = f"{noise.margin(level(epsilon), '0.95')}, {ut.CellNoise(unit).margin(level(epsilon), '0.95')}"
            print(f"{name:34s} {epsilon!s:>7s} {one:10.4g} {alone:10.4g} {alone / one:6.2f} {margins:>12s}")


def tables():
    print(f"\n{'one-way tables':12s} {'cell':>8s} {'total':>8s} {'value':>8s} {'equal shares':>13s} {'times':>6s}")
    for sizes in SIZES:
        law = TablesDraw(1, sizes)
        cell, total = float(law.variance), float(law.total_variance)
        value, shares = len(sizes) * cell + total, len(sizes) + 1
        equal = shares * float(Geometric(level(1).scaled(f"1/{shares}")).variance())
        name = f"{len(sizes)} of {sizes[0]}"
        print(f"{name:14s} {cell:8.4g} {total:8.4g} {value:8.5g} {equal:13.5g} {equal / value:6.2f}")


def beside():
    print("\ncells and total: one draw alone, beside a total of its own, share of the draw")
    several = TotalBeside.least(lambda at: TablesDraw(at, (2,) * 20), level(1), lambda of: 20 * of.cells[2] + of.total)
    few = TotalBeside.least(lambda at: CellsDraw(at, 10, 5), level(1), lambda of: of.cells[10] + of.total, 5)
    for name, found, draws, law in (
        ("20 one-way tables of 2", several, 20, TablesDraw(1, (2,) * 20)),
        ("5 of 10 cells", few, 1, CellsDraw(1, 10, 5)),
    ):
        first = law.sizes[0] if isinstance(law, TablesDraw) else law.size
        total = float(law.variance_of([1] * first + [0] * (law.size - first)))
        alone = draws * float(law.variance) + total
        both = draws * found.cells[first] + found.total
        print(f"{name:24s} {alone:8.5g} {both:8.5g} {found.share}")


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
