"""A coarse release decides which fine cells are measured: in two stages, and as one plan with a public rule.

    PYTHONPATH=src python benchmarks/workloads/two_stages_beside_one_plan_and_a_rule.py

Aircraft of examples/flights.csv by airline and quarter, at most 4 cells each; and 2 000 made-up people in a cell each,
who are in 10 of 200 groups of 50 cells. Epsilon 1 in all; errors are against the table of all pairs of person and cell,
before anything is bounded. Fine cells of a group are measured, or shown, where its noisy sum is at least twice the
standard deviation of its noise; else each of them gets an equal part of that sum, or 0.

two stages  groups at 1/4, then the cells of the chosen groups alone, listed as a domain, at 3/4
one plan    groups at 1/4 and all cells at 3/4; the rule afterwards
one stage   all cells at 1; raw, and clean with the total held

Last, of 300 groups of any size the sexes, four age bands or 24 ages by sex, chosen by the noisy size, as the Detailed
DHC of the Census of 2020 does: `release_detailed` at 1/8 and 7/8; one plan that measures groups and cells alone, of
which bands and sexes are sums; and one that measures each breakdown at a third of 7/8. Errors are of the rows that the
first sums choose in each, from which those of other plans differ by chance alone.
"""

import numpy as np
from against_neighbours import flights, true_cells
from holding_the_total_betters_clean_sums import errors

import utmost as ut
from utmost import Counting
from utmost.counting import CountedTable, count_table
from utmost.privacy import Unit
from utmost.releases import release_detailed
from utmost.workloads import Domain, Plan, edges


def crowded():
    """People in few of many groups."""
    draw = np.random.default_rng(7)
    groups, cells = draw.integers(0, 10, 2000) * 20, draw.geometric(0.08, 2000) % 50
    columns = {"group": [f"g{i}" for i in groups.tolist()], "cell": [f"c{i}" for i in cells.tolist()]}
    axes = {"group": [f"g{i}" for i in range(200)], "cell": [f"c{i}" for i in range(50)]}
    return [f"p{i}" for i in range(2000)], columns, axes, 1


def compare(people, columns, axes, most, repeats):
    (group, groups), (cell, cells) = axes.items()
    domain, coarse_domain = Domain({group: list(groups), cell: list(cells)}), Domain({group: list(groups)})
    texts = [f"{one}|{other}" for one, other in zip(columns[group], columns[cell], strict=True)]
    truth = true_cells(people, texts, [f"{one}|{other}" for one in groups for other in cells])
    truth, events = truth.reshape(domain.shape), {"person": people, **columns}
    counted = count_table(events, domain, Counting("person", at_most=most))
    coarse = counted.cells.sum(axis=1)  # one person changes at most as much in all as in the cells
    plan = Plan(domain, counted.unit, {group: "1/4", f"{group} {cell}": "3/4"})
    alone, first_plan = (
        Plan(domain, counted.unit, {domain.finest: 1}),
        Plan(coarse_domain, counted.unit, {group: 1}),
    )
    least = 2 * np.sqrt(2) * 4 * most
    tables = {name: [] for name in ("two stages", "one plan", "one stage, raw", "one stage, clean, held")}
    for _ in range(repeats):
        first = ut.release(coarse, first_plan, epsilon="1/4", once=True).table
        sums = first.measured[coarse_domain.finest]
        chosen = [label for label, value in zip(groups, sums.tolist(), strict=True) if value >= least]
        keys = Domain.listed([(label, other) for label in chosen for other in cells], names=[group, cell])
        fine = count_table(events, keys, Counting("person", at_most=most))
        second = ut.release(fine, Plan(keys, fine.unit, {keys.finest: 1}), epsilon="3/4", once=True).table
        tables["two stages"].append(spread(sums, sums >= least, second.measured[keys.finest], truth.shape))
        whole = ut.release(counted, plan, epsilon=1, once=True).table
        sums, values = whole.measured[domain.marginal(group)].ravel(), whole.measured[domain.finest]
        tables["one plan"].append(spread(sums, sums >= least, values[sums >= least], truth.shape))
        stage = ut.release(counted, alone, epsilon=1, once=True).table
        tables["one stage, raw"].append(stage.measured[domain.finest])
        tables["one stage, clean, held"].append(stage.clean(hold="total").cells)
    for name, estimates in tables.items():
        print(f"  {name:24} {errors(estimates, truth)}", flush=True)


def spread(sums, is_chosen, fine, shape):
    """The cells of chosen groups as measured, of the others an equal part of their sum, or 0."""
    table = np.repeat(np.maximum(sums, 0)[:, None] / shape[1], shape[1], axis=1)
    table[is_chosen] = np.reshape(fine, (-1, shape[1]))
    return table


def details():
    """Root mean square errors of the rows of each breakdown, by what measured them."""
    draw = np.random.default_rng(3)
    sizes = (10 ** draw.uniform(0.5, 4, 300)).astype(int)
    ages, sexes = edges([*range(0, 120, 5), None], groups={"band": [0, 30, 60, 90, None]}), ["men", "women"]
    domain = Domain(group=[f"g{i}" for i in range(sizes.size)], age=ages, sex=sexes)
    cells = np.array([draw.multinomial(size, np.full(48, 1 / 48)) for size in sizes]).reshape(domain.shape)
    counted, rule = CountedTable(domain, cells, Unit(1, 1)), {"sex": 20, "band": 100, "age sex": 1000}
    names = {name: domain.marginal(f"group {name}") for name in rule}
    truth = {name: domain.sums(cells, marginal) for name, marginal in names.items()}
    plans = {
        "one plan of cells": Plan(domain, counted.unit, {"group": "1/8", "group age sex": "7/8"}),
        "one plan of all": Plan(domain, counted.unit, {"group": "1/8"} | {f"group {name}": "7/24" for name in rule}),
    }
    errors_of = {}
    for _ in range(5):
        release = release_detailed(counted, "group", rule, epsilon=1)
        table = release.tables[1]
        chosen = release.rule.chosen(release.first)
        where = release.rule.keys(domain, chosen)
        for detail, value, at in zip(table["detail"], table["count"], where.values(), strict=True):
            errors_of.setdefault(("two stages", str(detail)), []).append(value - truth[str(detail)].ravel()[at])
        for title, plan in plans.items():
            whole = ut.release(counted, plan, epsilon=1, once=True).table
            estimates = {name: whole[f"group {name}"]["count"] for name in rule}
            for (_, detail, _), at in where.items():
                off = estimates[detail][at] - truth[detail].ravel()[at]
                errors_of.setdefault((title, detail), []).append(off)
    for title in ("two stages", *plans):
        row = {name: round(float(np.sqrt(np.mean(np.square(errors_of[title, name])))), 2) for name in rule}
        print(f"  {title:24} {row}", flush=True)


def main():
    for title, data, repeats in (("flights", flights(), 100), ("few of many groups", crowded(), 20)):
        print(f"{title}: root mean square error of cells, of each axis, of the total")
        compare(*data, repeats)
    print("detail by size: root mean square error of the rows of each breakdown")
    details()


if __name__ == "__main__":
    main()
