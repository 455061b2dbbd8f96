"""Distinct values: each person's own cut to a bound, alike by every door, and never added up."""

import json
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

import utmost as ut
from counting_marks import pair_mark
from counting_words import counted_with
from utmost.counting import CountedTable
from utmost.errors import NotDetermined, NothingCounted, OutOfRange, WrongKind
from utmost.privacy import Amount, Unit
from utmost.workloads import Plan, Workload

pa = pytest.importorskip("pyarrow")

KEY = bytes(range(32))
LISTED = ut.Domain.listed({"product": ["a"], "size": ["b"]}).axes[0]
PRODUCTS = ["tea", "milk", "salt", "Öl", "7"]
ROWS = 90
EVENTS = {
    "user": [f"u{row * row % 11}" for row in range(ROWS)],
    "shop": ["ABC?"[(row + row // 9) % 4] for row in range(ROWS)],
    "product": [[*PRODUCTS, "beer", None][(row * 5 + row // 7) % 7] for row in range(ROWS)],
    "paid": [row % 5 for row in range(ROWS)],
}
DOMAIN = ut.Domain(shop=["A", "B", "C"])
WORDS = {"person": "user", "at_most": 2, "domain": DOMAIN, "key": KEY}


def products(at_most=2, of=PRODUCTS):
    return ut.distinct("product", of=of, at_most=at_most)


def counted(events=EVENTS, at_most=2, cells=2):
    return counted_with(events, measures={"products": products(at_most)}, **{**WORDS, "at_most": cells})["products"]


def sets_of(events):
    """Of each person and shop of the domain the declared products, by a route of its own."""
    sets = {}
    for user, shop, bought in zip(events["user"], events["shop"], events["product"], strict=True):
        if shop in "ABC" and bought in PRODUCTS:
            sets.setdefault((user, shop), set()).add(bought)
    return sets


def test_without_a_cut_it_is_count_distinct():
    """Bounds beyond what anybody has: the number of DuckDB's own COUNT(DISTINCT), and of sets."""
    table = counted(at_most=5, cells=3)
    sets = sets_of(EVENTS)
    assert table.cells.tolist() == [
        len(set().union(*(s for (_, at), s in sets.items() if at == shop))) for shop in "ABC"
    ]
    duckdb = pytest.importorskip("duckdb")
    events = pa.table(EVENTS)  # noqa: F841  (DuckDB finds it by its name)
    listed = ", ".join(f"'{value}'" for value in PRODUCTS)
    query = f"SELECT count(DISTINCT product) FROM events WHERE shop <> '?' AND product IN ({listed}) GROUP BY shop"
    assert table.cells.tolist() == [row[0] for row in duckdb.sql(f"{query} ORDER BY shop").fetchall()]


@pytest.mark.parametrize("each_row", [False, True])
def test_a_value_that_is_not_declared_is_reported(each_row):
    whose = {"each_row": True, "domain": DOMAIN} if each_row else WORDS
    found = counted_with(EVENTS, measures={"products": products(1 if each_row else 2), "n": ut.count()}, **whose)
    outside = f"outside, product as products: {EVENTS['product'].count('beer')} events"
    assert outside in str(found["products"].report)


SHOPS, VALUES = "AB", ["x", "y", "z"]
PAIRS = list(product(SHOPS, VALUES))
OWN = [chosen for size in range(4) for chosen in combinations(PAIRS, size)]


@pytest.mark.parametrize(("cells", "most"), [(1, 1), (1, 2), (2, 1), (2, 2)])
@pytest.mark.parametrize("beside", [(), (("A", "x"), ("B", "y"))])
def test_no_person_changes_more_than_the_unit_over_all_neighbours(cells, most, beside):
    """All of a person's sets of up to three pairs, absent or replaced by another, beside others; attained.

    The loss of geometric noise of ratio exp(-1/(c s)) on each cell is |change|_1/(c s), a rational; c is doubled for a
    record that is replaced.
    """
    tables = {}
    for own in OWN:
        rows = [("a", *pair) for pair in own] + [("b", *pair) for pair in beside] + [("c", "A", "x")]
        events = dict(zip(("user", "shop", "product"), map(list, zip(*rows, strict=True)), strict=True))
        table = ut.count_measures(
            events,
            {"shop": list(SHOPS)},
            ut.Counting("user", at_most=cells, key=KEY),
            {"v": ut.distinct("product", of=VALUES, at_most=most)},
        )["v"]
        assert table.unit == Unit(most, cells, amount=Amount("v", distinct=3))
        tables[own] = table.cells
    losses = {"add-remove": set(), "change-one": set()}
    for own, after in tables.items():
        for other, before in tables.items():
            change = after - before
            if other == ():
                assert change.min() >= 0
                assert np.count_nonzero(change) <= cells
            assert abs(change).max() <= most
            relation = "change-one" if own and other else "add-remove"
            losses[relation].add(Fraction(int(abs(change).sum()), cells * most))
    assert max(losses["add-remove"]) <= 1
    assert max(losses["change-one"]) <= 2
    if not beside:
        assert max(losses["add-remove"]) == (1 if cells * most <= 3 else Fraction(3, 4))


def by_definition(events, cells, most):
    """The definition, a person and a shop at a time: what is kept looks at that person's own rows alone."""
    sets, union = sets_of(events), [set(), set(), set()]
    for user in {user for user, _ in sets}:
        shops = [at for at, shop in enumerate("ABC") if (user, shop) in sets]
        for shop in chosen_of(user, shops, cells, b"atom"):
            values = [PRODUCTS.index(value) for value in sets[user, "ABC"[shop]]]
            union[shop].update(chosen_of(user, values, most, b"value"))
    return [len(values) for values in union]


def chosen_of(user, numbers, most, purpose):
    return sorted(numbers, key=lambda number: pair_mark(purpose, KEY, user, number))[:most]


@pytest.mark.parametrize(("cells", "most"), [(1, 1), (1, 3), (2, 1), (2, 2), (3, 2)])
def test_a_persons_values_are_those_of_the_least_hashes(cells, most):
    assert counted(at_most=most, cells=cells).cells.tolist() == by_definition(EVENTS, cells, most)


def test_values_are_any_axis():
    """Groups, bins and periods of an axis; `other` is one value; a number as text and as an integer is one."""
    events = {"user": list("aabbc"), "day": ["2024-01-01", "2024-01-02", "2024-02-01", "2024-01-01", "2024-01-01"]}
    events |= {"age": [3, 30, 4, 99, None], "code": [7, "7", "8", "strange", "odd"]}
    words = {"person": "user", "domain": ut.Domain(), "at_most": 1}
    found = counted_with(
        events,
        measures={
            "days": ut.distinct("day", of=ut.workloads.periods("2024-01", "2024-03", every="month"), at_most=9),
            "ages": ut.distinct("age", of=ut.workloads.edges([0, 10, 50, None]), at_most=9),
            "codes": ut.distinct("code", of={"values": [7, 8], "other": "else"}, at_most=9),
            "numbers": ut.distinct("code", of=["7"], at_most=1),
        },
        **words,
    )
    assert {name: int(table.cells) for name, table in found.items()} == {"days": 2, "ages": 3, "codes": 3, "numbers": 1}
    assert found["days"].unit.sensitivity == 2  # of two declared values no more than two count
    assert found["codes"].table()["codes"].tolist() == [3]


def test_parts_rows_and_other_measures_keep_their_own(tmp_path):
    """Parts count apart; beside a sum and a mean the same persons are kept in the same shops."""
    parts = counted_with(EVENTS, part="shop", measures={"products": products()}, **WORDS)
    assert set(parts) == set("ABC")
    assert all(int(of["products"].cells.sum()) <= 5 for of in parts.values())
    beside = {"mean": ut.sum("paid", each=(0, 4), most_events=2), "products": products(), "n": ut.count(3)}
    found = counted_with(EVENTS, measures=beside, **WORDS)
    alone = counted_with(EVENTS, measures={"n": ut.count(3), "mean": beside["mean"]}, **WORDS)
    assert found["n"].cells.tolist() == alone["n"].cells.tolist()
    assert found["mean"].cells.tolist() == alone["mean"].cells.tolist()
    rows = ut.count_measures(EVENTS, DOMAIN, ut.Counting(each_row=True), {"products": products(1)})["products"]
    assert rows.unit.cells == 1
    assert rows.cells.tolist() == [
        len({v for (_, at), s in sets_of(EVENTS).items() if at == shop for v in s}) for shop in "ABC"
    ]


def adding():
    """Everything that would add cells up, by name."""
    table = counted()
    cells = Plan(table.domain, table.unit, {"shop": 1})
    release = ut.release(table, cells, epsilon=1, once=True).table
    other = ut.release(np.array([1, 2, 3]), Plan(DOMAIN, Unit(1, 1), {"shop": 1}), epsilon=1, once=True).table
    yield "a true total", lambda: table.table()
    yield "a measured total", lambda: Plan(table.domain, table.unit, {"shop": "1/2", "": "1/2"})
    yield "a wanted total", lambda: ut.choose_plan(Workload(DOMAIN, {"shop": 1, "": 1}), table.unit, epsilon=1)
    yield (
        "wanted sums",
        lambda: Plan(DOMAIN, table.unit, {"shop": 1}, Workload.sums(DOMAIN, [{"shop": ["A", "B"]}])),
    )
    yield "total", lambda: release.total()
    yield "sum", lambda: release.total({"shop": ["A", "B"]})
    yield "difference", lambda: release.difference({"shop": ["A", "B"]}, {"shop": "C"})
    yield "ratio", lambda: release.ratio({"shop": "A"}, {})
    yield "mean", lambda: release.mean("shop", values=[1, 2, 3])
    yield "mean of another", lambda: other.mean(sums=release)
    yield "by another", lambda: release.mean(sums=other)
    yield "marginal", lambda: release[""]
    yield "bars", lambda: release.bars("")
    yield "withheld", lambda: release.withhold("", below=3)
    yield "clean", lambda: release.clean()
    yield "change", lambda: ut.statements.change(*map(ut.releases.Answer.of_sums, (release, other)))


@pytest.mark.parametrize("name", [name for name, _ in adding()])
def test_what_adds_cells_is_refused(name):
    with pytest.raises(NotDetermined, match=r"have no sum.*Read single cells, or count again"):
        dict(adding())[name]()


def test_quantiles_of_an_axis_are_refused():
    domain = ut.Domain(age=ut.workloads.edges([0, 10, 50, None]))
    unit = Unit(2, 1, amount=Amount("products", distinct=5))
    release = ut.release(np.array([3, 1, 2]), Plan(domain, unit, {"age": 1}), epsilon=1, once=True).table
    with pytest.raises(NotDetermined, match="have no sum"):
        release.median("age")


def test_cells_are_planned_released_compared_and_read(tmp_path):
    """A workload of cells alone: every door down to the file; ratios and differences of two cells have their bars."""
    table = counted()
    plan = ut.choose_plan(Workload(table.domain, {"shop": 1}), table.unit, epsilon=400)
    assert plan.shares == {(0,): Fraction(1)}
    release = ut.release(table, plan, epsilon=400, once=True).table
    assert release["shop"]["products"].tolist() == table.cells.tolist()
    assert release.total({"shop": "A"}).value == table.cells[0]
    assert release.difference({"shop": "A"}, {"shop": "B"}).value == table.cells[0] - table.cells[1]
    assert release.ratio({"shop": "A"}, {"shop": "B"}).estimate == pytest.approx(table.cells[0] / table.cells[1])
    release.save(tmp_path / "release.json")
    again = ut.read_release(tmp_path / "release.json")
    assert again.unit == table.unit
    with pytest.raises(NotDetermined):
        again.total()
    cells = ut.release(table, ut.Promise.of_counted(table), epsilon=400, once=True)
    assert list(cells.table["products"]) == table.cells.tolist()
    cells.save(tmp_path / "cells.csv")
    read = ut.read_release(tmp_path / "cells.csv")
    assert read.noise.unit.amount == Amount("products", distinct=5)
    assert read.total({"shop": "A"}).value == table.cells[0]
    for refused in (
        lambda: read.total(),
        lambda: read.ratio({"shop": "A"}),
        lambda: ut.releases.CellBars(read.noise).means(2, 1),
        lambda: ut.statements.change(read, ut.releases.Answer.of_sums(release)),
    ):
        with pytest.raises(NotDetermined):
            refused()
    table.save(tmp_path / "true.json")
    assert json.loads((tmp_path / "true.json").read_text())


REFUSED = {
    "no values": (ut.distinct("product", of=[]), "at least one"),
    "none declared": (ut.distinct("product", of=None), "no declared values"),
    "nothing of a person": (products(0), "at_most must be at least 1"),
    "persons": (ut.distinct("user", of=["u1"]), "must name another column than person"),
    "an axis": (ut.distinct("shop", of=["A"]), "must be different columns"),
    "no column": (ut.distinct("", of=["A"]), "the name of a column"),
    "two columns": (ut.distinct("product", of=LISTED), "one column"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_sense_is_refused(case):
    measure, text = REFUSED[case]
    with pytest.raises((OutOfRange, WrongKind), match=text):
        counted_with(EVENTS, measures={"v": measure}, **WORDS)


def test_a_row_has_one_value_and_an_unit_of_sums_is_another():
    with pytest.raises(OutOfRange, match=r"at_most.*1"):
        ut.count_measures(EVENTS, DOMAIN, ut.Counting(each_row=True), {"v": products(2)})
    for unit in (Unit(2, 2), Unit(2, 2, amount=Amount("products"))):
        with pytest.raises(OutOfRange, match="must have measures of one kind"):
            ut.release(counted(), ut.Promise(unit=unit), epsilon=1, once=True)
    with pytest.raises(OutOfRange, match=r"distinct=.*step"):
        Amount("products", step="0.5", distinct=3)
    assert Amount.of(Amount("products", distinct=3).facts()) == Amount("products", distinct=3)
    assert eval(repr(Amount("products", distinct=3))) == Amount("products", distinct=3)


def test_nothing_declared_is_told():
    with pytest.warns(NothingCounted, match="'product as v'"):
        found = counted_with(EVENTS, measures={"v": ut.distinct("product", of=["nothing"])}, **WORDS)["v"]
    assert not found.cells.any()
    assert found.report.outside_domain == ROWS
    assert isinstance(found, CountedTable)
