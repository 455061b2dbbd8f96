"""Signed rows along an axis of which one individual changes whole rows: charge, estimates, plans, releases, proofs."""

import copy
import json
import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import utmost as ut
from counting_words import counted_with
from utmost.errors import OutOfRange, Unsupported, WrongKind
from utmost.exact import level
from utmost.privacy import Unit
from utmost.workloads import Domain, Plan, ProductRows, SignedAxis, Workload, choose_plan, values_alone

THREE = SignedAxis([[1, 0, 0], [1, -1, -1], [0, 1, -1]], ["8/15", "7/15", "7/15"])
DOMAIN = Domain(region=["N", "S"], quarter=["q1", "q2", "q3"])
COUNTS = Unit(1, 3, nonnegative=True)


def planned(domain=DOMAIN, unit=COUNTS, wanted=None, **how):
    workload = Workload(domain, wanted or {"region quarter": 1, "region": 1, "": 1})
    return choose_plan(workload, unit, epsilon=1, together="quarter", **how)


@pytest.mark.parametrize("unit", [COUNTS, Unit(1, 6, nonnegative=True), Unit(2, 3, "change-one", nonnegative=True)])
def test_the_charge_is_the_largest_over_all_neighbours(unit):
    """Every record of 0 to s in the cells of so many rows, every replacement, in rationals; all products of rows."""
    chosen = planned(unit=unit, method="signed")
    s, rows = int(unit.sensitivity), unit.cells // 3
    records = [
        np.array(cells).reshape(2, 3)
        for cells in product(range(s + 1), repeat=6)
        if sum(any(cells[3 * row : 3 * row + 3]) for row in range(2)) <= rows
    ]
    levels = {marginal: share / unit.epsilon_parts / s for marginal, share in chosen.shares.items()}

    def spent(change):
        return sum(levels[marginal] * abs(sums).sum() for marginal, sums in chosen.sums(change).items())

    if unit.neighbours == "add-remove":
        largest = max(spent(record) for record in records)
    else:
        corners = [record for record in records if set(record.ravel().tolist()) <= {0, s}]
        largest = max(spent(after - before) for after in corners for before in corners)
    assert largest == chosen.charge == 1


def test_rows_are_searched_for_what_is_wanted():
    """Where the total over the columns is wanted above all, it is measured."""
    domain = Domain(quarter=["q1", "q2", "q3"])
    wanted = Workload(domain, {"quarter": "1/1000", "": 1})
    chosen = choose_plan(wanted, COUNTS, epsilon=1, together="quarter", method="signed")
    assert chosen.variances[""] < 1.3 * 17.83  # the level of a row on its total alone
    assert chosen.charge == 1


def test_a_plan_is_read_back_and_copied():
    """As JSON values, pickled, copied; forged rows that spend more than the level are refused."""
    chosen = planned()
    facts = json.loads(json.dumps(chosen.facts()))
    for again in (Plan.of_facts(facts, Unit(1, 3)), pickle.loads(pickle.dumps(chosen)), copy.deepcopy(chosen)):
        assert again.shares == chosen.shares
        assert again.facts() == chosen.facts()
    place = next(at for at, listed in enumerate(facts["rows"]) if "signed" in listed)
    for change in (
        {"shares": ["1", "1", "1"]},
        {"signed": [[1, 0], [0, 1]]},
        {"signed": [[1, 1, 1], [2, 2, 2], [1, 1, 1]]},
        {"signed": [["1", 0, 0], [0, 1, 0], [0, 0, 1]]},
        {"nonsense": 1},
    ):
        rows = list(facts["rows"])
        rows[place] = {**rows[place], **change}
        with pytest.raises((OutOfRange, WrongKind)):
            Plan.of_facts({**facts, "rows": rows}, Unit(1, 3))
    for change in ({"nonnegative": False}, {"together": None}, {"together": "region"}):
        with pytest.raises((OutOfRange, Unsupported)):
            Plan.of_facts({**facts, **change}, Unit(1, 3))


def events():
    return {
        "who": [f"p{k // 4}" for k in range(240)],
        "region": ["NS"[k // 4 % 2 if k % 5 else k % 2] for k in range(240)],
        "quarter": [f"q{k % 3 + 1}" for k in range(240)],
        "spent": [(-1) ** k for k in range(240)],
    }


@pytest.mark.parametrize("neighbours", ["add-remove", "change-one"])
def test_a_count_proves_whole_rows_of_three(neighbours, tmp_path):
    """Each person is kept in one row, and the unit promises that none of its cells is lowered; released and relaxed."""
    how = {"person": "who", "domain": DOMAIN, "at_most": 3, "together": "quarter", "neighbours": neighbours}
    counted = counted_with(events(), key=bytes(32), **how)
    assert (counted.unit.cells, counted.unit.nonnegative, counted.together) == (3, True, "quarter")
    wanted = Workload(counted.domain, {"region quarter": 1})
    chosen = choose_plan(wanted, counted.unit, epsilon=1, together="quarter")
    with ut.Ledger.open(tmp_path / "l.db", create=True, key=bytes(range(32)), witness=False) as ledger:
        lower = ledger.publish("visits", counted, ut.Promise(noise=chosen), epsilon="1/2", dataset="d").table
        higher = ledger.relax("visits", counted, epsilon=2).table
        assert ledger.spent("visits") == level(2)
        assert lower.plan.facts() == higher.plan.facts() == chosen.facts()


def test_without_a_proof_there_are_no_signed_sums():
    """A table counted cell by cell, one of amounts that may be negative, and a unit without the promise."""
    chosen = planned(wanted={"region quarter": 1})
    apart = ut.count_table(events(), DOMAIN, ut.Counting("who", at_most=3))
    signed = ut.count_table(
        events(), DOMAIN, ut.Counting("who", at_most=3, together="quarter"), measure=ut.sum("spent", per_cell=(-1, 1))
    )
    assert not signed.unit.nonnegative
    for table in (apart, signed):
        with pytest.raises(OutOfRange, match="lowers a cell"):
            ut.release(table, chosen, epsilon=1, once=True)
    unit = Unit(1, 3, "change-one", nonnegative=True)
    replaced = ut.count_table(events(), DOMAIN, ut.Counting("who", at_most=3, neighbours="change-one"))
    again = Plan(DOMAIN, unit, chosen.shares, together="quarter", rows=chosen.rows)
    with pytest.raises(OutOfRange, match="whole rows"):
        ut.release(replaced, again, epsilon=1, once=True)
    for unit in (Unit(1, 3), Unit(1, 4, nonnegative=True)):
        with pytest.raises((OutOfRange, Unsupported)):
            planned(unit=unit)
    for how in ({"method": "rotated"}, {"aim": "largest"}, {"method": "hat functions"}):
        with pytest.raises(Unsupported):
            planned(**how)
    pair = Domain(region=["N", "S"], quarter=["q1", "q2"])
    with pytest.raises(Unsupported, match="three to five"):
        planned(pair, Unit(1, 2, nonnegative=True), {"region quarter": 1}, method="signed")
    assert planned(method="independent").rows is None


def test_signed_axes_are_refused_where_they_do_not_fit():
    """Two in one product; shares that leave something of the level; another axis' values."""
    domain = Domain(a=range(3), b=range(3))
    with pytest.raises(OutOfRange, match="one axis"):
        ProductRows(domain, (THREE, THREE))
    with pytest.raises(OutOfRange, match="add up to exactly the level"):
        SignedAxis(THREE.signed, ["1/2", "7/15", "7/15"])
    with pytest.raises(OutOfRange, match="determine"):
        SignedAxis([[1, 1, 0], [0, 0, 1]], ["1/4", "1/2"])
    with pytest.raises(OutOfRange, match="entry"):
        ProductRows(Domain(a=range(2)), (THREE,))
    rows = ProductRows(domain, (values_alone(domain.axes[0]), THREE))
    with pytest.raises(Unsupported):
        Plan(domain, COUNTS, rows.shares, rows=rows)
    assert max(Fraction(share) for share in rows.shares.values()) == Fraction(8, 5)


def test_shares_beyond_floats_are_refused_by_type():
    """A forged statement with a share of five thousand digits was an error of Python's."""
    with pytest.raises(OutOfRange, match="add up to exactly the level"):
        SignedAxis([[1, 0], [0, 1]], ["9" * 5000, "1/2"])
