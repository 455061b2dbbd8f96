"""Bins between listed edges, as of age groups: labels, open ends, groups, and the same cells through every door."""

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import utmost as ut
from utmost import Counting
from utmost.counting import count_table
from utmost.errors import NotANumber, OutOfRange, WrongKind
from utmost.privacy import Unit
from utmost.workloads import Domain, Plan, Workload, bins, choose_plan, edges

AGES = [0, 5, 15, 25, 65, None]
BROAD = {"broad": [0, 15, 65, None]}


def test_labels_are_those_of_whole_numbers_or_of_reals():
    assert edges(AGES).labels[0] == ("0 to 4", "5 to 14", "15 to 24", "25 to 64", "65+")
    assert edges(AGES, whole=False).labels[0] == ("[0, 5)", "[5, 15)", "[15, 25)", "[25, 65)", "[65, inf)")
    assert edges([None, 0, 1, 10]).labels[0] == ("under 0", 0, "1 to 9")
    assert edges([None, "0.5", 2]).labels[0] == ("(-inf, 1/2)", "[1/2, 2)")
    assert edges([0, 18, None], other="unknown").labels[0] == ("0 to 17", "18+", "unknown")
    grouped = edges(AGES, groups=BROAD).named("age")
    assert (grouped.levels, grouped.labels[1]) == (("age", "broad"), ("0 to 14", "15 to 64", "65+"))
    assert grouped.group_of(1).tolist() == [0, 0, 1, 1, 2]


@pytest.mark.parametrize(
    "wrong",
    [
        {"listed": []}, {"listed": [1]}, {"listed": [1, 1]}, {"listed": [2, 1]}, {"listed": [None, None]},
        {"listed": [0, None, 2]}, {"listed": [0, "0.5"], "whole": True}, {"listed": [0, math.inf]},
        {"listed": AGES, "groups": {"g": [0, 7, None]}}, {"listed": AGES, "groups": {"g": [0, 15]}},
        {"listed": AGES, "groups": {"a": [0, 15, None], "b": [0, 25, None]}},
        {"listed": AGES, "groups": BROAD, "other": "65+"},
    ],
)  # fmt: skip
def test_edges_that_make_no_bins_are_refused(wrong):
    with pytest.raises((OutOfRange, NotANumber)):
        edges(**wrong)


def test_bins_take_no_list_and_no_groups_that_are_none():
    with pytest.raises(OutOfRange):
        bins(3, groups={"g": [0, 4]})
    with pytest.raises(WrongKind, match="edges"):
        bins([0, 1])


@pytest.mark.parametrize(
    "axis",
    [
        edges(AGES, whole=False),
        edges([None, 0, 18, None], whole=False),
        edges([-3, "0.1", "0.3", 7]),
        edges([None, 2, 3], whole=False),
    ],
)
@pytest.mark.parametrize("other", [None, "else"])
def test_columns_of_every_kind_are_read_as_single_cells_are(axis, other):
    """Vectorised where it can be: against bisection, cell by cell; infinite and missing cells are in no bin."""
    axis = axis if other is None else edges([*(None if edge in (-math.inf, math.inf) else edge for edge in axis.edges)],
                                           whole=axis.whole, other=other)  # fmt: skip
    whole = [-(10**9), -3, -1, 0, 1, 2, 3, 4, 5, 14, 15, 17, 18, 24, 25, 64, 65, 66, 120, 10**9]
    broken = [-0.1, 0.0, 0.1, 0.3, 0.30000000000000004, 4.999, 5.0, 64.9999, 65.0, 1e300]

    def read(cells):
        table = count_table({"age": cells}, Domain(age=axis), Counting(each_row=True), outside="leave out")
        return table.cells.tolist(), table.report.outside_domain

    for cells in (whole, broken, [Decimal("0.3"), 5, "7", Fraction(1, 3)]):
        places = [axis.place(cell) for cell in cells]
        outside = places.count(None)
        assert read(cells) == ([places.count(place) for place in range(axis.size)], outside)
    for made in (np.array(whole), pd.Series(whole).to_numpy(), pa.array(whole), pl.Series(whole).to_arrow()):
        assert read(made) == read(whole)
    for made in (np.array(broken), pa.array(broken)):
        assert read(made) == read(broken)
    infinite = read(np.array([np.inf, -np.inf]))
    assert infinite == (([0] * axis.size, 2) if other is None else ([*[0] * (axis.size - 1), 2], 0))


EVENTS = {
    "who": [f"p{n}" for n in range(60)],
    "age": [n * 2 for n in range(60)],
    "sex": ["men", "women"] * 30,
}


def test_age_groups_are_counted_planned_and_released():
    """Counts by every door are one table; sums of groups and of ranges follow from the release."""
    domain = Domain(age=edges(AGES, groups=BROAD), sex=["men", "women"])
    counted = count_table(EVENTS, domain, Counting("who", at_most=1), by=["age", "sex"])
    expected = np.zeros((5, 2), int)
    for age, sex in zip(EVENTS["age"], EVENTS["sex"], strict=True):
        expected[[age < top for top in (5, 15, 25, 65, 10**6)].index(True), int(sex == "women")] += 1
    assert np.array_equal(np.asarray(counted.cells).reshape(5, 2), expected)
    duckdb = pytest.importorskip("duckdb")
    for made in (pl.LazyFrame(EVENTS), duckdb.from_arrow(pa.table(EVENTS)), pd.DataFrame(EVENTS)):
        again = count_table(made, domain, Counting("who", at_most=1), by=["age", "sex"])
        assert np.array_equal(again.cells, counted.cells)
    with pytest.raises(OutOfRange, match="by 5, 15, 25, 65"):
        domain.selection({"age": slice(7, 65)})
    chosen = choose_plan(Workload(domain, {"age sex": 1}), Unit(1, 1), epsilon=20)
    released = ut.release(counted, chosen, epsilon=20, once=True).table
    true = int(expected[4].sum())
    assert abs(released.total({"age": slice(65, None)}).value - true) <= 3
    assert abs(released.total({"broad": "65+"}).value - true) <= 3


def test_middles_are_those_of_whole_numbers_and_an_open_end_has_none():
    """Where all are in one bin, their mean is its middle."""
    for axis, where, middle in (
        (edges([0, 5, 15]), "0 to 4", 2),
        (edges([0, 5, 15]), "5 to 14", 9.5),
        (edges([0, 5, 15], whole=False), "[0, 5)", 2.5),
        (bins(0, 40, width=10), "[0, 10)", 5),
    ):
        domain = Domain(age=axis)
        released = ut.release(
            np.full(axis.size, 1000), Plan(domain, Unit(1, 1), {"age": 1}), epsilon=1, once=True
        ).table
        assert released.mean("age", where={"age": where}).estimate == pytest.approx(middle)
    domain = Domain(age=edges(AGES))
    released = ut.release(np.ones(5, int), Plan(domain, Unit(1, 1), {"age": 1}), epsilon=1, once=True).table
    with pytest.raises(OutOfRange, match="no midpoint"):
        released.mean("age")


def test_levels_whose_names_have_spaces_are_planned_released_and_read_back(tmp_path):
    domain = Domain({"age group": edges([0, 18, 65, None]), "sex": ["m", "f"], "place of birth": ["here", "there"]})
    for marginal in domain.marginals():
        assert domain.marginal(domain.marginal_name(marginal)) == marginal
    wanted = Workload(domain, {"age group sex": 1, "place of birth": 1, "age group=65+ sex": 1, "": 1})
    released = ut.release(
        np.full((3, 2, 2), 100), choose_plan(wanted, Unit(1, 1), epsilon=1), epsilon=1, once=True
    ).table
    released.save(tmp_path / "release.json")
    again = ut.read_release(tmp_path / "release.json")
    assert again.total({"age group": "65+"}) == released.total({"age group": "65+"})
    assert list(again["age group sex"])[:2] == ["age group", "sex"]


def test_groups_by_what_they_hold_keep_order_slices_means_and_ranges():
    """Names of one's own at several levels; the file is the axis again, and it is asked as any axis of bins."""
    groups = {"band": {"5-9": range(5, 10), "0-4": range(5)}, "all": {"under 10": ["0-4", "5-9"]}}
    age = bins(0, 10, groups=groups, missing="none")
    assert age.labels[1:] == (("0-4", "5-9", "none"), ("under 10", "none"))
    domain = Domain(age=age)
    assert Domain.of_facts(json.loads(json.dumps(domain.facts()))).same_as(domain)
    assert Domain.of_facts({"age": {"bins": [0, 10], "groups": groups, "missing": "none"}}).same_as(domain)
    counts = np.array([10, 0, 0, 0, 40, 40, 0, 0, 0, 10, 7])
    with pytest.warns(ut.errors.LittleProtection):
        release = ut.release(counts, Plan(domain, ut.Unit(1, 1), {"age": 1}), epsilon=60, once=True).table
    assert release["band"]["count"].tolist() == [50, 50, 7]
    assert release.total({"age": slice(4, 6)}).value == 80
    assert release.total({"band": "5-9"}).value == 50
    assert (release.median("age").estimate, release.quantile("band", "3/4").estimate) == (4, "5-9")
    points = [2, 7, 0]
    assert release.mean("band", values=points, where={"all": "under 10"}).estimate == pytest.approx(4.5)
    assert release.cumulative("band")["count"].tolist() == [50, 100]
    stages = {"stage": {"young": ["0 to 4"], "0 to 4": ["5 to 14", "15+"]}}
    domain = Domain(age=edges([0, 5, 15, None], groups=stages, below="unborn"))
    with pytest.raises(OutOfRange, match="0, 1, 2, 3"):
        bins(0, 4, groups={"b": {"x": [0, 1], "y": [1, 2, 3]}})
    assert domain.axes[0].labels[1] == ("unborn", "young", "0 to 4")
    assert Domain.of_facts(json.loads(json.dumps(domain.facts()))).same_as(domain)
    for wrong in ({"x": [0, 2], "y": [1, 3]}, {"x": [0, 1]}, {"x": ["no"]}, {}, {"x": []}):
        with pytest.raises(OutOfRange):
            bins(0, 4, groups={"b": wrong})


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ({"bins": [0, 18, "65+"]}, NotANumber),
        ({"bins": [0, 100], "width": "ten"}, NotANumber),
        ({"periods": ["2025-01-01", "2026-01-01"], "every": "Monat"}, OutOfRange),
        ({"bins": [0]}, OutOfRange),
    ],
)
def test_what_a_domain_file_says_wrongly_is_refused_with_the_name_of_its_axis(facts, kind):
    with pytest.raises(kind, match=r"^axis 'Alter'"):
        Domain.of_facts({"Geschlecht": ["f", "m"], "Alter": facts})
