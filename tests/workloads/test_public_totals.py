"""Everybody in exactly so many cells: what that promise is charged, and the total that it makes public."""

import json
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import utmost as ut
from utmost.counting import CountedTable
from utmost.errors import OutOfRange, Unsupported
from utmost.privacy import Unit
from utmost.workloads import (
    Domain,
    Plan,
    Workload,
    bounds_of,
    certified_shares,
    charge_of,
    check_lower_bounds,
    choose_plan,
)

EVERYBODY = Unit(1, 1, "change-one", nonnegative=True, exactly=True)


@pytest.mark.parametrize(("epsilon", "value"), [("1/10", 791.84), (1, 7.757), (3, 0.732)])
def test_a_hundred_cells_and_a_public_total(epsilon, value):
    """(1 - 1/n) v(epsilon/2) for each cell, and nothing for the total: half of what a private total leaves."""
    wanted = Workload(Domain(cell=range(100)), {"cell": 1, "": 1})
    chosen = choose_plan(wanted, EVERYBODY, epsilon=epsilon)
    assert chosen.value == pytest.approx(value, rel=1e-4)
    assert (chosen.charge, chosen.shares[(0,)]) == (1, 1)
    assert chosen.variances[""] < 1e-4


@pytest.mark.parametrize(
    ("sizes", "cells", "s"), [((4,), 1, 1), ((5,), 2, 1), ((3,), 2, 1), ((2, 2), 1, 2), ((2, 3), 2, 1)]
)
def test_the_charge_is_the_largest_over_all_replacements(sizes, cells, s):
    """All records of exactly so many cells at all of the sensitivity, or less in more, of one total; in rationals."""
    domain = Domain({f"a{at}": range(size) for at, size in enumerate(sizes)})
    unit = Unit(s, cells, "change-one", nonnegative=True, exactly=True)
    shares = {marginal: Fraction(1, 2 + at) for at, marginal in enumerate(domain.marginals())}
    records = [
        np.array(record).reshape(sizes)
        for record in product(range(s + 1), repeat=domain.size)
        if sum(record) == cells * s
    ]
    changes = [after - before for after in records for before in records]
    levels = {marginal: share / unit.epsilon_parts / s for marginal, share in shares.items()}
    largest = max(
        sum(levels[marginal] * int(np.abs(domain.sums(change, marginal)).sum()) for marginal in shares)
        for change in changes
    )
    charged = charge_of(domain, unit, shares)
    assert largest <= charged
    if len(sizes) == 1 or cells == 1:
        assert largest == charged
    plain = Unit(s, cells, "change-one", nonnegative=True)
    assert charged <= charge_of(domain, plain, shares)


def test_the_promise_is_said_everywhere_and_checked():
    """In facts, words, plans and statements; who does not promise it is refused such shares."""
    assert Unit.of_facts(json.loads(json.dumps(EVERYBODY.facts()))) == EVERYBODY
    assert "exactly" not in Unit(1, 1, "change-one", nonnegative=True).facts()
    domain = Domain(cell=range(6))
    chosen = choose_plan(Workload(domain, {"cell": 1, "": 1}), EVERYBODY, epsilon=1)
    facts = json.loads(json.dumps(chosen.facts()))
    assert Plan.of_facts(facts, Unit(1, 1, "change-one")).shares == chosen.shares
    for left_out in ("exactly", "nonnegative"):
        with pytest.raises(OutOfRange):
            Plan.of_facts({name: fact for name, fact in facts.items() if name != left_out}, Unit(1, 1, "change-one"))
    said = ut.release(np.arange(6), chosen, epsilon=1, once=True).table.facts()
    assert "the total is public" in said["guarantee"]
    assert chosen.summary()


def test_a_release_tells_the_total_and_nothing_else(tmp_path):
    """No warning, as the total says nothing; kept in a ledger, relaxed, and the file verified by its own statement."""
    domain, cells = Domain(cell=range(6)), np.array([5, 0, 3, 2, 9, 1])
    chosen = choose_plan(Workload(domain, {"cell": 1, "": 1}), EVERYBODY, epsilon=1)
    release = ut.release(cells, chosen, epsilon=1, once=True).table
    assert release.total({}).value == 20
    assert release.total({"cell": 2}).margin > 3
    release.save(tmp_path / "r.json")

    assert ut.read_release(tmp_path / "r.json").unit == EVERYBODY


def test_what_is_refused():
    """Of records added, of cells that may fall, of every cell; of a count; and where a part may be left for another."""
    for wrong in ({"neighbours": "add-remove"}, {"nonnegative": False}, {"exactly": 1}):
        with pytest.raises(OutOfRange):
            Unit(1, 1, **{"neighbours": "change-one", "nonnegative": True, "exactly": True, **wrong})
    with pytest.raises(OutOfRange, match="confidential"):
        choose_plan(
            Workload(Domain(cell=range(2)), {"cell": 1}), Unit(1, 2, "change-one", None, True, None, True), epsilon=1
        )
    domain = Domain(cell=["a", "b", "c"])
    counted = ut.count_table({"cell": list("abcab")}, domain, ut.Counting(each_row=True, neighbours="change-one"))
    chosen = choose_plan(Workload(domain, {"cell": 1, "": 1}), EVERYBODY, epsilon=1)
    with pytest.raises(OutOfRange, match="left out"):
        ut.release(counted, chosen, epsilon=1, once=True)
    with pytest.raises(Unsupported):
        certified_shares(chosen.workload, EVERYBODY, 1)


def test_bounds_are_those_of_answers_alone():
    """Of the total nothing is claimed; a cell that everybody else's cells tell is one."""
    wanted = Workload(Domain(cell=range(4)), {"cell": 1, "": 1})
    bounds = bounds_of(wanted, EVERYBODY, 1)
    check_lower_bounds(bounds)
    assert set(bounds.by_class()) == {"per answer"}
    assert bounds.parts[1] == 0
    assert 0 < bounds.per_answer.value <= choose_plan(wanted, EVERYBODY, epsilon=1).value


def test_a_unit_of_more_cells_than_were_counted_is_refused():
    """Of three of four cells one alone is left to be entered: the level would be spent twice by whoever is in two."""
    domain = Domain(cell=list("abcd"))
    counted = CountedTable(domain, np.array([1, 1, 1, 1]), Unit(1, 2, "change-one", nonnegative=True, exactly=True))
    wanted = Workload(domain, {"cell": 1})
    wider = choose_plan(wanted, Unit(1, 3, "change-one", nonnegative=True, exactly=True), epsilon=1)
    assert charge_of(domain, counted.unit, wider.shares) * counted.unit.epsilon_parts / wider.unit.epsilon_parts == 2
    with pytest.raises(OutOfRange, match="proved"):
        ut.release(counted, wider, epsilon=1, once=True)
    ut.release(counted, choose_plan(wanted, counted.unit, epsilon=1), epsilon=1, once=True)
