"""A bound on all that one person changes: the rule by hand, the unit by brute force, every door, a release."""

from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import utmost as ut
from counting_marks import person_mark
from counting_words import counted_with
from utmost.errors import NotANumber, NothingCounted, OutOfRange, Unsupported
from utmost.privacy import Unit
from utmost.workloads import Domain, Plan, Workload, bounds_of, check_lower_bounds, choose_plan

KEY = bytes(range(32))
DOMAIN = Domain(shop=["A", "B", "C"])
SALES = {
    "user": [f"u{(row * row) % 7}" for row in range(90)],
    "shop": ["ABC?"[(row + row // 9) % 4] for row in range(90)],
    "paid": [Decimal((row * 37) % 23 - 9) / 4 for row in range(90)],
}
COUNTS = {"in_total": 7}
SUMS = {"values": "paid", "step": "0.5", "each": (-2, 3), "per_cell": (-4, 6), "in_total": 7}
BOTH = {"values": "paid", "step": "0.5", "each": (-1, 2), "most_events": 4, "in_total": 6}
ALL = {"counts": COUNTS, "few cells": {**COUNTS, "at_most": 2, "per_cell": 5}, "sums": SUMS, "both": BOTH}


def counted(events=None, **words):
    return counted_with(SALES if events is None else events, person="user", domain=DOMAIN, key=KEY, **words)


def comb(user, sizes, most):
    """The definition, in rationals: teeth at equal distances on a person's sizes, one behind the other."""
    total = sum(sizes)
    if total <= most:
        return sizes
    begin = Fraction(person_mark(b"in all", KEY, user) * total >> 64)
    teeth = [(tooth * total - begin) / most for tooth in range(1, most + 1)]  # where most c + u passes a multiple of T
    ends = np.cumsum(sizes).tolist()
    return [sum(end - size < tooth <= end for tooth in teeth) for size, end in zip(sizes, ends, strict=True)]


def by_hand(words):
    """The table where all cells of a person are kept, event by event."""
    table = {shop: [0, 0] for shop in "ABC"}
    for user in dict.fromkeys(SALES["user"]):
        events = {shop: [] for shop in "ABC"}
        for name, shop, paid in zip(*SALES.values(), strict=True):
            if name == user and shop in events:
                events[shop].append(paid)
        steps = {shop: [round(Fraction(paid) * 2) for paid in of] for shop, of in events.items()}
        if "values" not in words:
            sizes = [len(of) for of in events.values()]
            for shop, left in zip(events, comb(user, sizes, words["in_total"]), strict=True):
                table[shop][0] += left
        elif "most_events" not in words:
            sums = [min(12, max(-8, sum(min(6, max(-4, x)) for x in of))) for of in steps.values()]
            for shop, x, left in zip(steps, sums, comb(user, [abs(x) for x in sums], 14), strict=True):
                table[shop][0] += left if x > 0 else -left
        else:
            above = [sum(min(4, max(-2, x)) + 2 for x in of) for of in steps.values()]
            counts = [min(4, len(of)) for of in steps.values()]
            above = [
                round(Fraction(a * n, max(1, len(of)))) for a, n, of in zip(above, counts, steps.values(), strict=True)
            ]
            for shop, a, n, left in zip(steps, above, counts, comb(user, counts, 6), strict=True):
                kept = round(Fraction(a * left, max(1, n)))
                table[shop][0] += kept
                table[shop][1] += 6 * left - kept
    return list(table.values()) if "most_events" in words else [value for value, _ in table.values()]


@pytest.mark.parametrize("name", ["counts", "sums", "both"])
def test_the_table_is_the_one_of_the_rule_a_person_at_a_time(name):
    assert counted(**ALL[name]).cells.tolist() == by_hand(ALL[name])


@pytest.mark.parametrize("name", ALL)
def test_no_person_changes_more_than_the_unit_and_somebody_all_of_it(name):
    table, reached = counted(**ALL[name]), []
    for user in dict.fromkeys(SALES["user"]):
        others = [row for row, of in enumerate(SALES["user"]) if of != user]
        without = counted({column: [cells[row] for row in others] for column, cells in SALES.items()}, **ALL[name])
        change = np.abs(table.cells - without.cells).reshape(3, -1).sum(axis=1)
        assert change.max() <= table.unit.sensitivity
        assert np.count_nonzero(change) <= table.unit.cells
        assert change.sum() <= table.unit.reach
        reached.append(change.sum())
    assert max(reached) == table.unit.reach


def test_all_small_neighbours_charge_at_most_the_level_and_one_all_of_it():
    """Every multiset of a person's events in three cells beside another person, by the noise of two marginals."""
    alone = counted({"user": ["b"], "shop": ["A"]}, per_cell=2, in_total=3)
    assert alone.unit == Unit(2, 3, in_total=3)
    plan = Plan(DOMAIN, alone.unit, {"shop": "2/3", "": "1/3"})
    levels, charges = plan.levels(ut.level(1)), set()
    for numbers in product(range(4), repeat=3):
        shops = [shop for shop, n in zip("ABC", numbers, strict=True) for _ in range(n)]
        change = counted({"user": ["b", *"a" * len(shops)], "shop": ["A", *shops]}, per_cell=2, in_total=3).cells
        change = change - alone.cells
        charges.add(
            sum(
                Fraction(int(abs(sums).sum())) * levels[marginal].epsilon / 2
                for marginal, sums in plan.sums(change).items()
            )
        )
    assert max(charges) == plan.charge == 1


def test_cells_lose_in_proportion_over_all_beginnings():
    """Over many keys the mean is most/T of each size, and exactly most are left each time."""
    domain, sizes = Domain(shop=range(5)), np.array([1, 6, 0, 2, 3])
    events = {"user": ["ann"] * 12, "shop": np.repeat(range(5), sizes)}
    keys = (n.to_bytes(16) for n in range(200))
    left = [counted_with(events, person="user", domain=domain, in_total=5, key=key).cells for key in keys]
    assert (np.sum(left, axis=1) == 5).all()
    assert (left <= sizes).all()
    assert np.abs(np.mean(left, axis=0) - sizes * 5 / 12).max() < 6 * 0.5 / 200**0.5


def test_sizes_beyond_int64_are_cut_exactly():
    events = {"user": ["ann"] * 3, "shop": ["A", "B", "C"], "paid": [10**30, 3, 2 * 10**30]}
    left = counted(events, values="paid", in_total=10**20).cells
    assert sum(left.tolist()) == 10**20
    assert abs(left[2] - 2 * left[0]) <= 3


@pytest.mark.parametrize("name", ALL)
def test_nobody_at_all_is_an_empty_table(name):
    for shops in ([], ["?"]):
        nobody = {"user": ["u"] * len(shops), "shop": shops, "paid": [Decimal(1)] * len(shops)}
        if shops:
            with pytest.warns(NothingCounted):
                assert not counted(nobody, **ALL[name]).cells.any()
        else:
            assert not counted(nobody, **ALL[name]).cells.any()


def test_several_measures_share_cells_and_have_bounds_of_their_own():
    measures = {
        "visits": ut.count(in_total=7),
        "spent": ut.sum("paid", step="0.5", each=(-2, 3), per_cell=(-4, 6), in_total=7),
    }
    tables = counted(measures=measures)
    assert [tables[name].unit.in_total for name in measures] == [7, 14]
    assert tables["visits"].cells.tolist() == by_hand(COUNTS)
    assert tables["spent"].cells.tolist() == by_hand(SUMS)
    measures["persons"] = ut.count()
    with pytest.raises(OutOfRange, match="at_most"):
        counted(measures=measures)
    assert counted(measures=measures, at_most=3)["persons"].unit == Unit(1, 3)


def test_parts_are_bounded_each_by_itself():
    parts = counted(part="shop", **COUNTS)
    assert {table.unit for table in parts.values()} == {Unit(7, 1)}
    months = Domain(shop=["A", "B", "C"], paid=ut.workloads.bins(-3, 4))
    parts = ut.count_table(
        SALES, months, ut.Counting("user", neighbours="change-one", key=KEY), measure=ut.count(in_total=3), part="shop"
    )
    assert parts["A"].unit == Unit(3, 3, "change-one", in_total=3)
    assert not parts["A"].unit.nonnegative


def test_noise_is_what_the_bound_in_total_leaves():
    """A thousand events in 50 cells, 100 in all: the noise is that of 100 in one cell, and not of 50 times 100."""
    unit = Unit(100, 50, in_total=100)
    domain = Domain(a=range(50))
    bounded, one = (
        Plan(domain, of, {"a": 1}, Workload(domain, {"a": 1})).variances_at(ut.level(1)) for of in (unit, Unit(100, 1))
    )
    assert bounded == one


def test_bounds_are_of_the_same_changes_and_checked_again():
    """Of 5 changes of 2 in cells of 2 and of 4: below what any plan has, above those of one cell, and certified."""
    wanted = Workload(Domain(a=range(6)), {"a": 1, "": 1})
    unit, one, more = Unit(2, 4, in_total=5), Unit(2, 1), Unit(2, 3)
    bounds = bounds_of(wanted, unit, 1)
    check_lower_bounds(bounds)
    value = choose_plan(wanted, unit, epsilon=1).value
    for kind, bound in bounds.by_class().items():
        least, most = (bounds_of(wanted, other, 1).by_class()[kind].value for other in (one, more))
        assert least <= bound.value <= min(most, value)
    assert "at most 5 in total" in bounds.per_answer.hypotheses


def test_what_needs_each_cell_by_itself_is_refused():
    table = counted(**ALL["few cells"])
    assert table.unit.in_total == 7
    for call in (
        lambda: ut.Promise.of_counted(table, noise=ut.CellNoise(table.unit, half_step=True)),
        lambda: ut.release(table, ut.Promise("count", public="shop", unit=table.unit), epsilon=1),
    ):
        with pytest.raises(Unsupported, match="geometric noise"):
            call()
    cells = ut.release(table, ut.Promise.of_counted(table), epsilon=1, once=True).table
    assert (cells.unit, list(cells.plan.shares.values())) == (table.unit, [1])  # by the plan of its cells
    with pytest.raises(OutOfRange, match="smaller"):
        ut.release(table, Plan(DOMAIN, Unit(5, 2, in_total=6), {"shop": 1}), epsilon=1, once=True)
    assert ut.release(table, ut.Promise.of_counted(table, unit=ut.Unit(5, 2)), epsilon=1, once=True).unit == Unit(
        5, 2
    )  # larger, and said
    with pytest.raises(Unsupported, match="together= and in_total="):
        Plan(Domain(row=[1, 2], a=["x", "y"]), Unit(2, 2, in_total=3), {"row": 1}, together="a")
    with pytest.raises(OutOfRange, match=r"in_total.*sensitivity"):
        Unit(5, 2, in_total=4)
    with pytest.raises(OutOfRange, match="each_row="):
        ut.count_table(SALES, DOMAIN, ut.Counting(each_row=True), measure=ut.count(in_total=3))
    for wrong, refused in ((0, OutOfRange), (-1, OutOfRange), ("1/2", NotANumber)):
        with pytest.raises(refused):
            counted(in_total=wrong)


def test_contributions_say_what_a_bound_in_total_cuts(tmp_path):
    """Persons by the sizes of all their sums; the margin is that of the noise that such a bound needs."""
    contributions = ut.count_contributions(SALES, DOMAIN, ut.Counting("user"), "in_total", [10, 20, 30])
    inside = [user for user, shop in zip(SALES["user"], SALES["shop"], strict=True) if shop != "?"]
    sizes = [inside.count(user) for user in dict.fromkeys(inside)]
    by_bound = [sum(low < size <= high for size in sizes) for low, high in ((0, 10), (10, 20), (20, 30), (30, 999))]
    assert contributions.cells.tolist() == by_bound
    costs = ut.statements.bound_costs(contributions, DOMAIN, epsilon=1, public=True)
    for row in costs.rows:
        plan = Plan(DOMAIN, Unit(row.bound, 3, in_total=row.bound), {"shop": 1})
        assert {row.margin} == set(ut.Promise(noise=plan).margins(epsilon=1).values())
    with pytest.raises(OutOfRange, match=r"^bound"):
        ut.count_contributions(SALES, DOMAIN, ut.Counting("user"), "per_person", [1])


@pytest.mark.parametrize("shops", ["ABC", "AAA", "???"])
def test_means_of_amounts_beyond_int64_are_bounded_in_total(shops):
    """One event that counts fills the whole range of an amount, also where few numbers of events are left."""
    events = {"user": ["ann"] * 3, "shop": list(shops), "paid": [10**20, 3, 0]}
    table = counted(events, values="paid", each=(0, 10**20), most_events=3, in_total=1, at_most=3)
    assert int(table.cells.sum()) == (10**20 if shops != "???" else 0)
    assert (table.unit.sensitivity, table.unit.cells) == (10**20, 1)


def test_amounts_beyond_int64_are_bounded_in_every_door():
    """Sums of a person that no int64 holds are cut to what one holds, in proportion, of either sign."""
    pytest.importorskip("pyarrow")
    events = {"user": ["ann"] * 3 + ["bob"], "shop": ["A", "B", "B", "C"], "paid": [1 << 62, -(1 << 62), -(1 << 62), 5]}
    table = counted(events, values="paid", in_total=90)
    assert table.unit == Unit(90, 3, amount={"name": "paid", "step": 1}, in_total=90)
    assert table.cells.tolist() == [30, -60, 5]
    pandas, duckdb = pytest.importorskip("pandas"), pytest.importorskip("duckdb")
    for frame in (pandas.DataFrame(events), duckdb.from_df(pandas.DataFrame(events))):
        assert counted(frame, values="paid", in_total=90).cells.tolist() == [30, -60, 5]


def test_amounts_beyond_int64_of_which_nothing_is_left():
    """All are moved to 0, and there is no pair to be bounded: it was an error of NumPy's."""
    events = {"user": ["ann"], "shop": ["A"], "paid": [-(2**62)]}
    bounds = {"values": "paid", "step": "1/2", "each": (0, 5), "in_total": 1}
    assert counted_with(events, person="user", domain=DOMAIN, **bounds).cells.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("words", "none_falls"),
    [
        ({}, True),
        ({"values": "paid", "step": "0.25", "each": (0, 5)}, True),
        ({"values": "paid", "step": "0.25", "each": (-1, 5)}, False),
        ({"values": "paid", "step": "0.25"}, False),
    ],
    ids=str,
)
def test_nobody_lowers_a_cell_exactly_where_no_event_does(words, none_falls):
    """Where a record is replaced it is worth up to half of the charge: not forgotten, and not taken for granted."""
    unit = counted(in_total=10, at_most=2, neighbours="change-one", **words).unit
    assert unit.nonnegative == none_falls
