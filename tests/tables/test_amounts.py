"""Sums of amounts: rounded exactly, clamped by event and by person, alike by every door, released as they are."""

import json
import random
from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import utmost as ut
from counting_marks import pair_mark
from counting_words import counted_with
from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.privacy import Amount, Unit
from utmost.workloads import Plan, Workload

pa = pytest.importorskip("pyarrow")

KEY = bytes(range(32))
CENTS = {"values": "paid", "step": "0.01", "each": (0, 1000), "per_cell": (0, 5000)}
TEXTS = ["3.005", "3.015", "0.125", "-7", "999.994", "1000.005", "2.675", "0.1", "4000", "12.5"]
EVENTS = {
    "user": [f"u{row % 7}" for row in range(60)],
    "shop": ["ABC?"[(row + row // 9) % 4] for row in range(60)],
    "paid": [Decimal(TEXTS[(row * 7 + row // 9) % 10]) for row in range(60)],
}
DOMAIN = ut.Domain(shop=["A", "B", "C"])
NUMBERS = {
    "floats": [random.Random(3).uniform(-1e4, 1e4) for _ in range(200)],
    "halves": [k / 8 for k in range(-80, 80)] + [2.675, 0.005, 1e60, -1e18, 2.0**60, 5e-324, 0.0],
    "beside halves": [
        float(np.nextafter((k + 0.5) * step, way)) for k in range(120) for step in (0.01, 0.3, 3) for way in (-9e9, 9e9)
    ],
    "integers": [*range(-40, 40), 2**63 - 1, -(2**63)],
    "decimals": [Decimal(k).scaleb(-3) for k in range(-90, 90)] + [Decimal("0.005"), Decimal("2.675")],
    "long decimals": [Decimal(10) ** 30 + Decimal("0.5"), Decimal("1.5")],
    "fractions": [Fraction(k, 300) for k in range(-9, 9)],
}
FORMS = {
    "list": list,
    "array": np.array,
    "objects": lambda cells: np.array(cells, dtype=object),
    "arrow": pa.array,
    "chunks": lambda cells: pa.chunked_array([pa.array(cells, pa.array(cells).type)[:3], pa.array(cells)[3:]]),
}


def rounded(cells, step):
    """Each amount in steps: the table of rows that are cells of their own."""
    rows = range(len(cells))
    most = Fraction(step) * 10**90
    measure = ut.sum("paid", step=step, per_cell=(-most, most))
    table = ut.count_table(
        {"row": list(rows), "paid": cells}, {"row": rows}, ut.Counting(each_row=True), measure=measure
    )
    return table.cells.tolist()


@pytest.mark.parametrize("kind", NUMBERS)
def test_every_number_is_rounded_as_the_number_that_it_is(kind):
    cells = NUMBERS[kind]
    for step in ("0.01", "3", "0.3", "1e-20", "1000000"):
        wanted = [round(Fraction(cell) / Fraction(step)) for cell in cells]
        for form in list(FORMS)[: 3 if kind == "fractions" else None]:  # Arrow has no fractions
            assert rounded(FORMS[form](cells), step) == wanted, (step, form)


def test_a_float_is_its_binary_value_and_a_decimal_its_own():
    """2.675 as a float is 2.67499999..., and 0.125 lies halfway, between an even step and an odd one."""
    for cells, steps in [([2.675], [267]), ([Decimal("2.675")], [268]), ([0.125, 0.375], [12, 38])]:
        assert rounded(cells, "0.01") == steps


@pytest.mark.parametrize(
    "cells",
    [
        [1.0, float("nan")],
        [1, None],
        [Decimal(1), Decimal("NaN")],
        [Decimal(1), Decimal("sNaN")],
        np.array([1, np.inf]),
        [1, "1,5"],
        ["1", "x"],
        [1, True],
        pa.array([1.5, None]),
        pa.array([Decimal(1), None]),
        np.ma.array([1, 2], mask=[0, 1]),
    ],
)
def test_what_is_no_number_is_refused_by_its_row(cells):
    with pytest.raises(BadTable, match=r"row 2, column 'paid'"):
        rounded(cells, "0.01")


def by_hand(events, *, each_row=False):
    """The definition, in rationals, where nobody is in more cells than are kept; and how many amounts were moved."""
    sums, moved = {}, 0
    for row, (user, shop, paid) in enumerate(zip(*events.values(), strict=True)):
        if shop in "ABC":
            cents = Fraction(round(Fraction(paid) * 100), 100)
            moved += not 0 <= cents <= 1000
            whose = (row if each_row else user, shop)
            sums[whose] = sums.get(whose, 0) + min(Fraction(1000), max(Fraction(0), cents))
    return [float(sum(min(s, 5000) for (_, at), s in sums.items() if at == shop)) for shop in "ABC"], moved


@pytest.mark.parametrize("each_row", [False, True])
def test_sums_are_those_of_the_definition(each_row):
    whose = {"each_row": True} if each_row else {"person": "user", "at_most": 3, "key": KEY}
    wanted, moved = by_hand(EVENTS, each_row=each_row)
    counted = counted_with(EVENTS, domain=DOMAIN, **whose, **CENTS)
    assert counted.table("shop")["paid"].tolist() == wanted
    assert counted.unit == Unit(500_000, 1 if each_row else 3, amount=Amount("paid", "0.01"))
    assert f"clipped, paid: {moved} amounts of events" in str(counted.report)


def test_no_person_changes_more_than_the_unit_over_all_neighbours():
    """Every small table of three events of one person beside a fixed other one: within the unit, and it is attained.

    In whichever order they come: the first and the last may stand on either side, so each pair is tried one way.
    """
    paid, bounds = ["-9", "0.004", "0.015", "7"], {"each": (0, "0.03"), "per_cell": (0, "0.05")}
    for most in (1, 2):
        reached = (0, 0)
        say = {"person": "user", "domain": DOMAIN, "at_most": most, "key": KEY, "values": "paid", "step": "0.01"}
        alone = counted_with({"user": ["b"], "shop": ["A"], "paid": [Decimal("0.02")]}, **say, **bounds)
        assert alone.unit.sensitivity == 5
        for (first, last), (shop, amount) in product(
            combinations_with_replacement(product("AB", paid), 2), product("ABC", ["-9", "7"])
        ):
            cells = set()
            for before, after in ((first, last), (last, first))[: 2 if amount == "7" else 1]:
                events = {"user": ["a", "b", "a", "a"], "shop": [before[0], "A", shop, after[0]]}
                events["paid"] = list(map(Decimal, [before[1], "0.02", amount, after[1]]))
                change = abs(counted_with(events, **say, **bounds).cells - alone.cells)
                reached = max(reached[0], int((change != 0).sum())), max(reached[1], int(change.max()))
                cells.add(tuple(change.tolist()))
            assert len(cells) == 1
        assert reached == (most, 5)


REFUSED = {
    "no multiple": ({"each": (0, "0.005")}, "each must be a multiple of the step 0.01"),
    "no bound on a person": ({"per_cell": None}, "per_cell must be given"),
    "a third": ({"step": "1/3"}, "the step of amounts must be a positive decimal"),
    "no amounts": ({"values": None}, "step= needs values="),
    "ends that cross": ({"each": (2, 1)}, "each must be a positive number, or a pair"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bounds_that_make_no_sense_are_refused(case):
    words, text = REFUSED[case]
    with pytest.raises(OutOfRange, match=text):
        counted_with(EVENTS, person="user", at_most=3, domain=DOMAIN, **{**CENTS, **words})


def counted():
    return counted_with(EVENTS, person="user", at_most=3, domain=DOMAIN, key=KEY, **CENTS)


def test_a_released_table_is_in_the_amounts_own_unit_and_follows_from_its_statement(tmp_path):
    release = ut.release(counted(), ut.Promise.of_counted(counted()), epsilon=9, once=True)
    cells = release.table
    assert list(cells) == ["shop", "paid", "paid_margin"]
    assert all(Fraction(repr(float(cell))) % Fraction("0.01") == 0 for cell in cells["paid"])
    assert release.margin() == cells["paid_margin"][0]
    assert release.margin() == release.noise.drawn.margin("0.95") / 100
    assert "by at most 5000 of paid." in release.statement["guarantee"]
    assert ut.check_statement(release.statement, cells).margin == release.margin()
    release.save(tmp_path / "paid.csv")
    read = ut.read_release(tmp_path / "paid.csv")
    total = read.total({"shop": ["A", "B"]})
    assert float(total.value) == pytest.approx(sum(cells["paid"][:2]), abs=1e-9)
    assert total.margin == pytest.approx(ut.releases.CellBars(read.noise).total(2))
    forged = json.loads(json.dumps(release.statement))
    forged["promise"]["noise"]["amount"] = {"name": "paid", "step": "0.1"}
    with pytest.raises(BadTable):
        ut.check_statement(forged, cells)


def test_everything_of_a_release_by_a_plan_is_in_that_unit():
    """Beside the same noise in steps: each number is just so many steps."""
    table = counted()
    cents = Unit(500_000, 3)
    shares = {"shop": "3/4", "": "1/4"}
    plain = Plan(DOMAIN, cents, shares, Workload(DOMAIN, {"shop": 1}), ut.level(9))
    euros = Plan(DOMAIN, table.unit, shares, plain.workload, plain.level)
    release = ut.release(table, euros, epsilon=9, once=True).table
    steps = type(release)(ut.Promise(noise=plain), release.level, release.confidence, release.measured)
    assert release["shop"]["paid"] == pytest.approx(steps["shop"]["count"] / 100)
    assert release["shop"]["paid_margin"] == pytest.approx(np.array(steps["shop"]["count_margin"]) / 100)
    for one, other in [
        (release.total(), steps.total()),
        (release.difference({"shop": "A"}, {"shop": "B"}), steps.difference({"shop": "A"}, {"shop": "B"})),
    ]:
        assert one.exact == other.exact / 100
        assert (one.margin, one.variance**0.5) == pytest.approx((other.margin / 100, other.variance**0.5 / 100))
    assert release.bars("shop")["shop"] == pytest.approx(steps.bars("shop")["shop"] / 100)
    assert release.ratio({"shop": "A"}, {}) == steps.ratio({"shop": "A"}, {})
    assert euros.variances["shop"] == pytest.approx(plain.variances["shop"] / 10_000)
    assert euros.value == plain.value
    assert release.raw("shop")["measured"].tolist() == [
        cell / 100 for cell in release.measured[DOMAIN.marginal("shop")].tolist()
    ]
    assert release.clean()["shop"]["clean"].tolist() == [cell / 100 for cell in steps.clean()["shop"]["clean"].tolist()]
    assert type(release).of_facts(release.facts()).total() == release.total()
    assert release.statement["promise"]["noise"]["plan"]["unit"]["amount"] == {"name": "paid", "step": "0.01"}


def test_a_mean_is_of_a_sum_over_a_count():
    table = counted()
    visits = ut.count_table(EVENTS, DOMAIN, ut.Counting("user", at_most=3, key=KEY), measure=ut.count(9))
    sums, counts = (
        ut.release(one, Plan(DOMAIN, one.unit, {"shop": 1}), epsilon=1000, once=True) for one in (table, visits)
    )
    mean = counts.mean(sums=sums, where={"shop": "A"}, confidence="0.999999")
    truth = table.table("shop")["paid"][0] / visits.table("shop")["count"][0]
    assert mean.lower <= truth <= mean.upper
    assert mean.upper - mean.lower < 30


def test_steps_of_another_width_are_never_mixed_up():
    with pytest.raises(OutOfRange, match="steps of 1/100"):
        ut.release(counted(), Plan(DOMAIN, Unit(500_000, 3), {"shop": 1}), epsilon=1, once=True)
    with pytest.raises(Unsupported, match="count_table"):
        ut.release(
            {"paid": [1, 2]},
            ut.Promise(columns="paid", unit=Unit(5, 1, amount=Amount("paid", "0.01"))),
            epsilon=1,
            once=True,
        )


def by_measure(events, most, key=KEY):
    """The tables of two measures, by the theory's three steps: one choice of cells for both."""
    visits, cents = {}, {}
    for user, shop, paid in zip(*events.values(), strict=True):
        if shop in "ABC":
            at = (user, "ABC".index(shop))
            visits[at] = visits.get(at, 0) + 1
            cents[at] = cents.get(at, 0) + min(3, max(0, round(Fraction(paid) * 100)))
    both = {at: (min(2, visits[at]), min(5, cents[at])) for at in visits}
    kept = []
    for user in {user for user, _ in both}:
        own = sorted((pair_mark(b"atom", key, user, place), place) for of, place in both if of == user)
        kept += [(user, place) for _, place in own[:most]]
    return [[sum(both[at][which] for at in kept if at[1] == shop) for shop in range(3)] for which in (0, 1)]


BOTH = {"visits": ut.count(per_cell=2), "spent": ut.sum("paid", step="0.01", each=(0, "0.03"), per_cell=(0, "0.05"))}


@pytest.mark.parametrize("most", [1, 2, 3])
def test_measures_are_counted_in_one_pass_over_the_same_cells(most):
    say = {"person": "user", "domain": DOMAIN, "at_most": most, "key": KEY, "measures": BOTH}
    tables = counted_with(EVENTS, **say)
    assert [table.cells.tolist() for table in tables.values()] == by_measure(EVENTS, most)
    assert tables["visits"].unit == Unit(2, most)
    assert tables["spent"].unit == Unit(5, most, amount=Amount("spent", "0.01"))


def test_measures_of_rows_and_of_parts(tmp_path):
    rows = {**EVENTS, "side": ["xy"[row % 2] for row in range(60)]}
    alone = ut.count_measures(rows, DOMAIN, ut.Counting(each_row=True), {"n": ut.count(), "spent": BOTH["spent"]})
    assert alone["n"].cells.tolist() == [EVENTS["shop"].count(shop) for shop in "ABC"]
    assert alone["spent"].unit == Unit(5, 1, amount=Amount("spent", "0.01"))
    words = {"person": "user", "domain": DOMAIN, "at_most": 2, "key": KEY, "part": {"side": ["x", "y"]}}
    parts = counted_with(rows, **words, measures=BOTH)
    assert list(parts) == ["x", "y"]
    assert {of["visits"].part[0] for of in parts.values()} == {of["spent"].part[0] for of in parts.values()}


def test_withheld_tables_of_amounts_follow_the_rule_in_their_own_unit():
    table = counted()
    release = ut.release(table, Plan(DOMAIN, table.unit, {"shop": 1}), epsilon=60, once=True).table
    rule = {"below": 3000}
    withheld = release.withhold("shop", **rule)["shop"]
    estimates = release["shop"]["paid"]
    assert withheld.shown == (estimates >= 3000).sum()
    cells = ut.release(table, ut.Promise.of_counted(table), epsilon=60, once=True)
    kept = cells.withhold(below=3000)
    assert [mark == "shown" for mark in kept.table["paid_mark"]] == [cell >= 3000 for cell in cells.table["paid"]]
    for fact in (fact for bias in (withheld.bias, kept.bias) for fact in bias):
        assert all(float(number) < 10**5 for number in fact.values() if isinstance(number, int | float))
