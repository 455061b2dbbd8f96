"""The charge of a plan is the privacy of its noise: by enumeration of all neighbours, in rationals."""

import json
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import utmost as ut
from counting_words import counted_with
from utmost.counting import CountedTable, read_counted
from utmost.errors import BadTable, OutOfRange
from utmost.exact import level
from utmost.privacy import Unit

# No plan says whether its charge is exact.
from utmost.publish.workloads.measuring.unit_charge import is_exact
from utmost.releases import NoisySums
from utmost.workloads import (
    Domain,
    Plan,
    Workload,
    bins,
    charge_of,
    choose_plan,
    hierarchy,
    read_plan,
    save_plan,
)
from workload_cases import workloads

PLACES = hierarchy({"N": [1], "S": [2, 3]}, names=["state", "county"])
DOMAINS = {
    "one": Domain(a=[1]),
    "two": Domain(a=[1, 2]),
    "three": Domain(a=[1, 2, 3]),
    "five": Domain(a=range(5)),
    "crossed": Domain(a=[1, 2], b=[1, 2]),
    "wide": Domain(a=[1, 2], b=[1, 2, 3]),
    "tree": Domain(place=PLACES),
    "lone": Domain(a=[1, 2, 3], b=["all of them"]),
}
KINDS = [("add-remove", False), ("add-remove", True), ("change-one", False), ("change-one", True)]
UNITS = [Unit(s, k, kind[0], nonnegative=kind[1]) for kind in KINDS for k in (1, 2, 3) for s in (1, 2)]
UNITS += [
    Unit(s, k, kind[0], nonnegative=kind[1], in_total=most)
    for kind in KINDS
    for s, k, most in ((1, 3, 2), (2, 2, 3), (2, 3, 3), (2, 3, 2), (3, 2, 4))
]


@cache
def contributions(unit, cells):
    """All that one individual may be counted with."""
    s = int(unit.sensitivity)
    values = range(0 if unit.nonnegative else -s, s + 1)
    all_values = product(values, repeat=cells)
    return [c for c in all_values if sum(x != 0 for x in c) <= unit.cells and sum(map(abs, c)) <= unit.reach]


@cache
def changes(unit, cells):
    """All whole changes of the table between two neighbours, by the definition of the relation."""
    present = np.array(contributions(unit, cells))
    both = present if unit.neighbours == "add-remove" else (present[:, None] - present[None]).reshape(-1, cells)
    return np.unique(both, axis=0)


def rows_of(domain, marginal):
    """The sums of a marginal as rows over the cells."""
    cells = np.eye(domain.size, dtype=np.int64)
    return np.array([domain.sums(cell.reshape(domain.shape), marginal).ravel() for cell in cells]).T


def largest_exponent(rows, levels, unit, cells):
    """log to the base of the noise of the largest ratio of all noise together: of each sum, over answers far beyond it.

    P(y | x) is proportional to q^(level |y - a.x|), sums are noised each by itself, and x is any table with room for
    the change; the ratio depends on it only through a.x.
    """
    moved = changes(unit, cells) @ rows.T
    answers = np.stack([-abs(moved) - 1, 0 * moved, moved, abs(moved) + 1])
    ratios = np.array(levels) * (abs(answers) - abs(answers - moved))  # their logarithms, sum by sum
    return int(ratios.max(axis=0).sum(axis=1).max(initial=0))


def measured(domain, unit, shares):
    """Rows and whole levels in proportion to the shares, and how many levels make the whole of an individual's."""
    scale = 12
    rows = [rows_of(domain, marginal) for marginal in shares]
    levels = [int(share * scale) for share, own in zip(shares.values(), rows, strict=True) for _ in own]
    return np.concatenate(rows), levels, scale * unit.epsilon_parts * int(unit.sensitivity)


def share_sets(domain):
    """A few shares for the marginals of a domain: everything, everything else but the total, and uneven ones."""
    marginals = list(domain.marginals())
    yield {marginals[0]: Fraction(1)}
    yield dict.fromkeys(marginals, Fraction(1))
    yield {marginal: Fraction(1 + place % 3, 2) for place, marginal in enumerate(marginals)}
    yield {marginal: Fraction(3 if prod(domain.group_shape(marginal)) == 1 else 1, 2) for marginal in marginals}


@pytest.mark.parametrize("name", DOMAINS)
def test_the_charge_is_the_largest_ratio_of_all_neighbours(name):
    """Never above the charge, and equal to it wherever it is called exact."""
    domain, exact = DOMAINS[name], 0
    for unit in UNITS:
        if len(contributions(unit, domain.size)) > (30 if unit.sensitivity > 1 else 150):
            continue
        for shares in share_sets(domain):
            rows, levels, whole = measured(domain, unit, shares)
            largest = Fraction(largest_exponent(rows, levels, unit, domain.size), whole)
            assert largest <= charge_of(domain, unit, shares), (unit, shares)
            if is_exact(domain, unit, shares):
                exact += 1
                assert largest == charge_of(domain, unit, shares), (unit, shares)
    assert exact > 20


FIVE = Workload(Domain(cell=range(5)), {"cell": 1, "": 1})
COUNTS = Unit(1, 1, "change-one", nonnegative=True)
TWO = Unit(1, 2, "change-one", nonnegative=True)
RELEASED = {
    "cells": (choose_plan(FIVE, COUNTS, epsilon=1), True),
    "cells of two": (choose_plan(FIVE, replace(TWO, sensitivity=2), epsilon=1), True),
    "fewer cells": (choose_plan(FIVE, Unit(2, 9), epsilon=1, aim="mean"), True),
    "bounded in all": (choose_plan(FIVE, Unit(2, 4, in_total=5), epsilon=1, aim="mean"), True),
    "replaced, bounded in all": (
        choose_plan(FIVE, Unit(2, 2, "change-one", nonnegative=True, in_total=3), epsilon=1),
        True,
    ),
    "hat functions in all": (Plan(Domain(age=bins(5)), Unit(2, 3, in_total=5), {"age~2": "1/2", "": "1/2"}), True),
    "tree": (Plan(DOMAINS["tree"], COUNTS, {"county": "1/3", "state": "2/3", "": 1}), True),
    "hat functions": (Plan(Domain(age=bins(5)), COUNTS, {"age~2": "1/2", "age": "1/2", "": 1}), True),
    "wide hat functions": (Plan(Domain(age=bins(5)), TWO, {"age~4": "1/4", "age": "1/2", "": "5/4"}), False),
}


@pytest.mark.parametrize("name", RELEASED)
def test_what_is_drawn_keeps_the_level_to_the_last(name):
    """The chances of a release, in rationals, over all neighbours: e^epsilon, and where it is exact no less."""
    (chosen, is_attained), whole = RELEASED[name], level(alpha=Fraction(1, 2**5760))
    s = int(chosen.unit.sensitivity)  # levels are of a change by that, and of hat functions by their spacing
    alphas = {f: of.scaled(Fraction(1, s * max(1, -min(f)))).alpha for f, of in chosen.levels(whole).items()}
    largest = 1
    for change in changes(chosen.unit, chosen.domain.size):
        moved = {marginal: int(np.abs(sums).sum()) for marginal, sums in chosen.sums(change).items()}
        largest = max(largest, prod((alphas[marginal] ** -size for marginal, size in moved.items()), start=Fraction(1)))
    assert largest == 1 / whole.alpha if is_attained else largest <= 1 / whole.alpha


def row_contributions(unit, rows):
    """All that one individual may be counted with in both cells of whole rows, and in no others."""
    low = 0 if unit.nonnegative else -1
    both = list(product(range(low, 2), repeat=2))
    cells = product(both, repeat=rows)
    return [sum(c, ()) for c in cells if sum(one != (0, 0) for one in c) <= unit.cells // 2]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_sums_and_differences_are_charged_no_less_than_they_cost(kind, rows):
    """By the most of the level that a plan may take; attained, but where a replacement leaves a total as it is."""
    domain = Domain(row=range(rows), column=["a", "b"])
    for unit in (Unit(1, 2, kind[0], nonnegative=kind[1]), Unit(1, 4, kind[0], nonnegative=kind[1])):
        found = np.array(row_contributions(unit, rows))
        differ = found if unit.neighbours == "add-remove" else (found[:, None] - found[None]).reshape(-1, 2 * rows)
        for total in (0, 1):
            plans = []
            for scale in (1, 2):
                shares = {"row column": scale, "row": scale} | (
                    {"row": Fraction(scale, 2), "": Fraction(scale, 2)} if total else {}
                )
                with suppress(OutOfRange):
                    plans.append(Plan(domain, unit, shares, together="column"))
            made = plans[-1]
            cost = sum(
                float(made.shares[marginal]) * np.abs(sums @ differ.T).sum(axis=0)
                for marginal, sums in sums_of_cells(made).items()
            )
            assert cost.max() <= unit.epsilon_parts * made.charge + 1e-12
            if not total or not unit.nonnegative:
                assert cost.max() == pytest.approx(float(unit.epsilon_parts * made.charge))


def sums_of_cells(made):
    """What each marginal measures as rows over the cells."""
    cells = [made.sums(cell.reshape(made.domain.shape)) for cell in np.eye(made.domain.size, dtype=int)]
    return {marginal: np.array([one[marginal].ravel() for one in cells]).T for marginal in made.shares}


@settings(max_examples=4)
@given(workloads(most=16), st.sampled_from(KINDS), st.integers(1, 4))
def test_a_plan_is_never_worse_for_what_is_promised(wanted, kind, cells):
    """Than with shares that add up to 1, which is what the same plan had before; it spends the level, and no more."""
    unit = Unit(1, cells, kind[0], nonnegative=kind[1])
    chosen = choose_plan(wanted, unit, epsilon=2)
    assert chosen.charge == 1 or sum(chosen.shares.values()) == 1
    plain = Plan(wanted.domain, unit, least_plain(wanted, unit), wanted, level(2), level(2))
    assert chosen.value <= plain.value * (1 + 1e-6)


def least_plain(wanted, unit):
    """Shares that add up to 1, searched as for one cell and add-remove at the level of a cell."""
    return choose_plan(wanted, Unit(1, 1), epsilon=Fraction(2, unit.epsilon_parts)).shares


HALVES = {"cell": 1, "": 1}
CELLS = Domain(cell=list("abcd"))


def test_shares_that_cost_more_than_the_level_are_refused():
    """Also less than all of it, which is a mistake; shares that add up to 1 are what they always were."""
    for unit in (Unit(1, 1), Unit(1, 1, "change-one"), Unit(1, 1, nonnegative=True)):
        with pytest.raises(OutOfRange, match="add up to 1"):
            Plan(CELLS, unit, HALVES)
    for shares in ({"cell": "11/10", "": 1}, {"cell": 1, "": "11/10"}, {"cell": "1/2", "": 1}, {"": 3}):
        with pytest.raises(OutOfRange, match="add up to 1"):
            Plan(CELLS, COUNTS, shares)
    assert Plan(CELLS, COUNTS, {"cell": "1/2", "": "1/2"}).charge == Fraction(1, 2)
    with pytest.raises(OutOfRange, match="true or false"):
        Unit(1, 1, "change-one", nonnegative="yes")


def test_two_cells_of_one_row_are_replaced_for_nothing():
    pair = Workload(Domain(column=["a", "b"]), {"column": 1})
    chosen = choose_plan(pair, Unit(1, 2, "change-one", nonnegative=True), epsilon=1, together="column")
    assert chosen.value == pytest.approx(choose_plan(pair, Unit(1, 2), epsilon=1, together="column").value)
    assert chosen.charge == 1


EVENTS = {"person": ["ann", "bob", "cyd", "ann"], "cell": list("abca")}
PART = {"person": ["ann", "bob"], "cell": ["a", "b"], "side": ["left", "right"]}


def counted(**options):
    return counted_with(EVENTS, person="person", domain=CELLS, at_most=1, neighbours="change-one", **options)


def test_counting_promises_what_it_proves():
    """Not for sums that may be negative, nor for parts, between which a replaced record may move."""
    assert counted().unit == COUNTS
    assert not ut.count_table(
        {**EVENTS, "v": [1] * 4},
        CELLS,
        ut.Counting("person", at_most=1, neighbours="change-one"),
        measure=ut.sum("v", per_cell=(-1, 1)),
    ).unit.nonnegative
    parts = ut.count_table(
        PART,
        {"cell": list("ab"), "side": ["left", "right"]},
        ut.Counting("person", at_most=1, neighbours="change-one"),
        part="side",
    )
    assert not any(table.unit.nonnegative for table in parts.values())
    for table in (*parts.values(), CountedTable(CELLS, np.zeros(4, int), Unit(1, 1, "change-one"))):
        chosen = Plan(table.domain, COUNTS, HALVES)
        with pytest.raises(OutOfRange, match=r"at_most=|nonnegative="):
            ut.release(table, chosen, epsilon=1, once=True)
    with pytest.raises(OutOfRange, match="between parts"):
        CountedTable(CELLS, np.zeros(4, int), COUNTS, part=("p", "left"))
    with pytest.raises(OutOfRange, match="between parts"):
        ut.Promise(noise=Plan(CELLS, COUNTS, HALVES), part=("p", "left"))


def test_the_promise_travels_with_what_is_written(tmp_path):
    table = counted()
    table.save(tmp_path / "counted.json")
    assert read_counted(tmp_path / "counted.json").unit == COUNTS
    chosen = choose_plan(Workload(CELLS, {"cell": 1, "": 1}), table.unit, epsilon=1)
    save_plan(chosen, tmp_path / "plan.json")
    assert read_plan(tmp_path / "plan.json").unit == COUNTS
    facts = ut.release(table, chosen, epsilon=1, once=True).table.facts()
    assert NoisySums.of_facts(facts).plan.unit == COUNTS
    assert facts["promise"]["noise"]["plan"]["nonnegative"] is True
    assert "no individual lowers" in facts["guarantee"]
    for change in (
        lambda promise: promise["noise"]["plan"].pop("nonnegative"),
        lambda promise: promise["noise"]["plan"].update(nonnegative=False),
        lambda promise: promise["noise"]["plan"]["unit"].update(neighbours="add-remove"),
        lambda promise: promise.update(part=["p", "a"]),
    ):
        other = json.loads(json.dumps(facts))
        change(other["promise"])
        with pytest.raises(BadTable):
            NoisySums.of_facts(other)


def test_what_adds_up_to_one_says_what_it_always_said():
    """No new field and no new sentence where nothing is promised, whatever the charge is."""
    chosen = Plan(CELLS, Unit(1, 1, "change-one"), {"cell": "1/2", "": "1/2"})
    facts = ut.release(np.zeros(4, int), chosen, epsilon=1, once=True).table.facts()
    assert "nonnegative" not in facts
    assert "the shares add up to 1" in facts["noise"]["theorem"]
    assert "nonnegative" not in chosen.facts()
    assert Unit(1, 1).facts() == {"sensitivity": "1", "cells": 1, "neighbours": "add-remove"}
