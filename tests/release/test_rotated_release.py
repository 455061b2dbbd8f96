"""Releasing sums and differences of two columns: margins by enumeration, statements, clean tables, ledgers."""

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest

import utmost as ut
from counting_words import counted_with
from utmost.counting import CountedTable, read_counted
from utmost.errors import BadTable, OutOfRange
from utmost.exact import level
from utmost.noise import Geometric, RotatedPair
from utmost.privacy import Unit
from utmost.releases import NoisySums
from utmost.testing import seeded_ledger
from utmost.workloads import Domain, Plan, Workload, choose_plan, read_plan, save_plan

PLACES = Domain(row=list("ABC"), column=["visits", "nights"])
WANTED = Workload(PLACES, {"row column": 1, "column": 1, "row": 1, "": 1})
SHARES = {"row column": "3/4", "column": "1/4", "row": "1/3", "": "2/3"}
ROTATED = Plan(PLACES, Unit(1, 2), SHARES, WANTED, level(1), together="column")
ALONE = Plan(PLACES, Unit(1, 2), {"row column": 1, "row": 1}, WANTED, level(1), together="column")
CELLS = np.array([[512, 89], [353, 17], [3, 0]])
TABLE = CountedTable(PLACES, CELLS, Unit(1, 2), together="column")


def given(made, measured):
    """A release with given noisy numbers."""
    return NoisySums(ut.Promise(noise=made), level(1), Fraction(19, 20), measured)


def test_an_answers_error_has_the_distribution_found_by_enumeration():
    r"""One row: P(\|error\| <= r), summed over both geometric variables, compared with the stated margin."""
    domain = Domain(column=["a", "b"])
    made = Plan(domain, Unit(1, 2), {"column": 1, "": 1}, together="column")
    release = given(made, {(0,): np.array([7]), (1,): np.array([12])})
    distribution, masses = {k: float(Geometric("1/2").pmf(k)) for k in range(-60, 61)}, {}
    for one, other in itertools.product(distribution, repeat=2):
        size = abs(one + other) / 2
        masses[size] = masses.get(size, 0.0) + distribution[one] * distribution[other]
    for sure in ("0.5", "0.9", "0.95", "0.99"):
        found = release.total({"column": "a"}, confidence=sure).margin
        reached = [sum(mass for size, mass in masses.items() if size <= r) for r in (found - 0.5, found)]
        assert reached[0] < float(sure) <= reached[1]
        assert found == RotatedPair(1).margin(sure)
    assert (release.total({"column": "a"}).value, release.total({"column": "b"}).value) == (9.5, 2.5)


def test_everything_that_a_release_gives():
    """Tables, margins, totals, clean tables; a document is read again and checked, and refused after a change."""
    release = ut.release(TABLE, ROTATED, epsilon=1, once=True).table
    facts = json.loads(json.dumps(release.facts()))
    again = NoisySums.of_facts(facts)
    assert again.total({"row": "A"}) == release.total({"row": "A"})
    assert sorted(again.bars()) == ["", "column", "row", "row column"]
    assert "these are the two cells of one row" in facts["guarantee"]
    assert "made more accurate later" in facts["noise"]["theorem"]
    assert facts["noise"]["marginals"][0]["of"] == "differences of 'visits' and 'nights'"
    assert release.raw("row column")["row"].tolist() == ["A", "B", "C"]
    assert release.raw("column")["measured"].shape == (1,)
    clean = release.clean()
    assert clean.cells.min() >= 0
    assert clean.total() == clean["row"]["clean"].sum() == clean["row column"]["clean"].sum()
    for name, value in (("together", None), ("together", "row"), ("shares", {"row column": "1", "row": "1"})):
        with pytest.raises(BadTable):
            NoisySums.of_facts(facts | {name: value})


def test_clean_cells_are_the_nearest_where_the_weights_allow():
    """Equal shares: the least squares of sums and differences are those of the cells, and these are rounded."""
    exactly = {(0, 0): np.array([400, 300, 3]), (0, 1): np.array([600, 370, 3])}
    assert given(ALONE, exactly).clean().cells.tolist() == [[500, 100], [335, 35], [3, 0]]
    below = {(0, 0): np.array([10, 0, 0]), (0, 1): np.array([4, 2, 2])}
    assert given(ALONE, below).clean().cells.tolist() == [[7, 0], [1, 1], [1, 1]]


def test_a_ledger_relaxes_sums_and_differences_without_loss(tmp_path):
    """Published at 1/4, viewed at 1/8, relaxed to 2: byte-equal views, one budget, and a statement with the
    guarantee."""
    with seeded_ledger(tmp_path / "ledger.sqlite", seed=3) as ledger:
        first = ledger.publish("stays", TABLE, ut.Promise(noise=ROTATED), epsilon="1/4").table
        lower = ledger.view("stays", epsilon="1/8").table
        higher = ledger.relax("stays", TABLE, epsilon=2).table
        for at, said in (("1/4", first), ("1/8", lower), (2, higher)):
            seen = ledger.view("stays", epsilon=at).table
            assert all((seen.measured[marginal] == sums).all() for marginal, sums in said.measured.items())
            assert NoisySums.of_facts(json.loads(json.dumps(seen.facts()))).plan.together == "column"
        assert ledger.spent("stays") == level(2)
        assert ledger.verify().responses == 3
        with pytest.raises(OutOfRange, match="whole rows"):
            ledger.publish("others", CountedTable(PLACES, CELLS, Unit(1, 2)), ut.Promise(noise=ROTATED), epsilon=1)


def test_the_noise_in_a_ledger_is_that_of_the_shares(tmp_path):
    """20 000 rows: after relaxing, sums and differences have the variances of their levels and are uncorrelated."""
    domain = Domain(row=range(20_000), column=["a", "b"])
    made = Plan(domain, Unit(1, 2), {"row column": 1, "row": 1}, together="column")
    table = CountedTable(domain, np.zeros(domain.shape, dtype=int), Unit(1, 2), together="column")
    with seeded_ledger(tmp_path / "ledger.sqlite", seed=4) as ledger:
        ledger.publish("zeros", table, ut.Promise(noise=made), epsilon="1/2")
        higher = ledger.relax("zeros", table, epsilon=1).table
    sums, differences = higher.measured[(0, 1)].ravel(), higher.measured[(0, 0)].ravel()
    for noise in (sums, differences):
        assert noise.var() == pytest.approx(float(Geometric("1/2").variance()), rel=0.06)
    assert abs(np.corrcoef(sums, differences)[0, 1]) < 0.03
    cells = higher["row column"]["count"]
    assert cells.var() == pytest.approx(float(RotatedPair(1).variance), rel=0.06)


def test_a_table_must_be_counted_by_rows():
    """A table that was counted by cells does not prove the unit; with two cells in all, every table does."""
    with pytest.raises(OutOfRange, match="whole rows"):
        ut.release(CountedTable(PLACES, CELLS, Unit(1, 2)), ROTATED, epsilon=1, once=True)
    one = Domain(column=["a", "b"])
    made = choose_plan(Workload(one, {"column": 1}), Unit(1, 2), epsilon=1, together="column")
    assert ut.release(CountedTable(one, np.array([3, 4]), Unit(1, 2)), made, epsilon=1, once=True).bars() == {
        "column": 4.0
    }


def rows_kept(counted, without):
    """The rows in which two tables differ, and the largest difference."""
    off = abs(counted.cells - without.cells)
    return int((off.sum(axis=1) > 0).sum()), int(off.max())


def test_counting_by_rows_keeps_both_cells_or_neither():
    """60 random event sets without each person in turn: never more rows change than proved, and sometimes as many."""
    random, attained = np.random.default_rng(11), 0
    for _ in range(60):
        size = int(random.integers(1, 25))
        events = {
            "who": [f"p{i}" for i in random.integers(0, 4, size)],
            "column": [["visits", "nights"][i] for i in random.integers(0, 2, size)],
            "row": [list("ABCx")[i] for i in random.integers(0, 4, size)],
        }
        asked = {"person": "who", "domain": PLACES, "at_most": 2, "per_cell": 2, "together": "column", "key": b"k" * 16}
        counted = counted_with(events, **asked)
        assert (counted.unit, counted.together) == (Unit(2, 2), "column")
        for person in set(events["who"]):
            kept = [i for i, who in enumerate(events["who"]) if who != person]
            without = {name: [column[i] for i in kept] for name, column in events.items()}
            rows, most = rows_kept(counted, counted_with(without, **asked))
            assert rows <= 1
            assert most <= 2
            attained += rows == 1 and most == 2
    assert attained > 3
    with pytest.raises(OutOfRange, match="a multiple of 2"):
        counted_with(events, **{**asked, "at_most": 3})


def test_documents_keep_what_is_together(tmp_path):
    """A counted table and a plan are written and read again; a table without ``together`` is read as before."""
    TABLE.save(tmp_path / "counted.json")
    again = read_counted(tmp_path / "counted.json")
    assert again.together == "column"
    assert "together" not in CountedTable(PLACES, CELLS, Unit(1, 2)).facts()
    plan = choose_plan(WANTED, Unit(1, 2), epsilon=1, together="column")
    save_plan(plan, tmp_path / "plan.json")
    read = read_plan(tmp_path / "plan.json")
    assert (read.together, read.shares) == ("column", plan.shares)
