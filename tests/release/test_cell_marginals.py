"""Marginals of a table of cells by public columns: sums, labels and margins."""

from datetime import date
from fractions import Fraction

import numpy as np
import pytest

import utmost as ut
from utmost.errors import OutOfRange, Unsupported, WrongKind

TABLE = {
    "ward": ["a", "a", "b", "b", "a"],
    "day": [date(2026, 1, day) for day in (1, 2, 1, 2, 2)],
    "ill": [4, 7, 9, 2, 1],
    "well": [40, 70, 90, 20, 10],
}
PROMISE = ut.Promise(["ill", "well"], public=["ward", "day"], unit=ut.Unit(1, 2))


def of_rows(answer, column, rows):
    return sum(int(answer.table[column][row]) for row in rows)


@pytest.mark.parametrize("is_once", [True, False])
def test_sums_of_cells_by_public_columns(is_once):
    """Equal to total() for every group, in the order of the rows, with unchanged labels."""
    answer = ut.release(TABLE, PROMISE, epsilon=1, once=is_once)
    wards = answer["ward"]
    assert list(wards) == ["ward", "ill", "ill_margin", "well", "well_margin"]
    assert wards["ward"].tolist() == ["a", "b"]
    assert wards["ill"].tolist() == [of_rows(answer, "ill", rows) for rows in ([0, 1, 4], [2, 3])]
    for place, ward in enumerate("ab"):
        total = answer.total({"ward": ward}, column="well")
        assert (wards["well"][place], wards["well_margin"][place]) == (total.value, total.margin)
    both = answer["day ward"]
    assert both["day"].tolist() == [date(2026, 1, 1), date(2026, 1, 2), date(2026, 1, 1), date(2026, 1, 2)]
    assert both["ill"].tolist() == [of_rows(answer, "ill", rows) for rows in ([0], [1, 4], [2], [3])]
    assert answer[["ward", "day"]]["ill"].tolist() == both["ill"].tolist()
    whole = answer[""]
    assert (whole["ill"].tolist(), next(iter(whole))) == ([of_rows(answer, "ill", range(5))], "ill")


def test_amounts_and_one_draw_have_their_own_margins():
    """Sums in steps of an amount, and cells with noise in one draw."""
    people = {"ward": [*"abab"], "sex": [*"ffmm"], "paid": [1.5, 2.25, 3, 0.5]}
    domain = ut.Domain(ward=[*"ab"], sex=[*"fm"])
    sums = ut.count_table(people, domain, ut.Counting(each_row=True), measure=ut.sum("paid", step="0.25", each=(0, 4)))
    paid = ut.release(sums, ut.Promise.of_counted(sums), epsilon=1)
    assert paid["ward"]["paid_margin"].tolist() == [paid.total({"ward": ward}).margin for ward in "ab"]
    assert paid.total({"ward": "a"}).margin == ut.releases.CellBars(paid.noise).total(2)
    drawn = ut.Promise("n", public="ward", noise=ut.OneDraw(ut.Unit(1, 3, nonnegative=True), 4))
    answer = ut.release({"ward": [*"abca"], "n": [1, 2, 3, 4]}, drawn, epsilon=1, once=True)
    expected = [
        answer.noise.sum_margin([Fraction(n < size) for n in range(4)], answer.confidence) for size in (2, 1, 1)
    ]
    assert answer["ward"]["n_margin"].tolist() == expected
    assert [answer.total({"ward": ward}).margin for ward in "abc"] == expected


def test_dataframes_give_their_kind_and_a_stopped_rule_its_confidence():
    polars = pytest.importorskip("polars")
    answer = ut.release(polars.DataFrame(TABLE), PROMISE, epsilon=1)
    assert isinstance(answer["ward"], polars.DataFrame)
    rule = ut.Promise("ill", public="ward", unit=ut.Unit(1, 1), until=ut.within("40 %"))
    stopped = ut.release({"ward": [*"aab"], "ill": [400, 7, 9]}, rule, epsilon=4)
    assert stopped["ward"]["ill_margin"].tolist() == [stopped.total({"ward": ward}).margin for ward in "ab"]


def test_what_is_refused():
    answer = ut.release(TABLE, PROMISE, epsilon=1)
    for name in ("ill", "region", "ward region"):
        with pytest.raises(OutOfRange, match="ward, day"):
            answer[name]
    points = ut.Promise(["x", "y"], public="who", noise=ut.PointNoise("0.01", largest=10))
    with pytest.raises(Unsupported):
        ut.release({"who": ["a"], "x": [1.0], "y": [2.0]}, points, epsilon=1)["who"]
    assert np.all(answer["ward"]["ill_margin"] > 0)


def test_differences_of_cells_have_the_distribution_of_the_cells_that_do_not_cancel():
    answer = ut.release(TABLE, PROMISE, epsilon=1)
    bars = ut.releases.CellBars(answer.noise)
    found = answer.difference({"ward": "a"}, {"ward": "b"}, column="ill")
    assert found.exact == of_rows(answer, "ill", [0, 1, 4]) - of_rows(answer, "ill", [2, 3])
    assert (found.margin, found.variance) == (bars.total(5), pytest.approx(5 * float(answer.distribution.variance())))
    day = {"day": TABLE["day"][0]}
    shared = answer.difference({"ward": "a"}, day, column="ill", confidence="0.9")
    assert shared.exact == of_rows(answer, "ill", [1, 4]) - of_rows(answer, "ill", [2])
    assert (shared.margin, shared.confidence) == (bars.total(3, "0.9"), Fraction(9, 10))
    nothing = answer.difference(day, day, column="well")
    assert (nothing.value, nothing.margin, nothing.variance) == (0, 0, 0)
    with pytest.raises(WrongKind, match="first"):
        answer.difference(None, day, column="ill")


def test_ratios_of_cells_in_one_draw_follow_from_margins_of_both_sums():
    table = {"ward": [*"abca"], "n": [100, 2000, 3000, 400]}
    promise = ut.Promise("n", public="ward", noise=ut.OneDraw(ut.Unit(1, 3, nonnegative=True), 4))
    answer = ut.release(table, promise, epsilon=1, once=True)
    bar = answer.ratio({"ward": "a"}, confidence="0.9")
    top, bottom = (answer.total(where, confidence="0.95") for where in ({"ward": "a"}, {}))
    ends = [(top.value + x * top.margin) / (bottom.value + y * bottom.margin) for x in (-1, 1) for y in (-1, 1)]
    assert (bar.lower, bar.upper) == (pytest.approx(min(ends)), pytest.approx(max(ends)))
    assert (bar.estimate, bar.confidence) == (pytest.approx(top.value / bottom.value), Fraction(9, 10))
    assert answer.difference({"ward": "a"}, {}).margin == answer.total({"ward": ["b", "c"]}).margin


def test_one_table_read_from_a_plan_and_from_cells_alike():
    """Selections, ratio columns and unknown cells: plans and tables of cells give the same answers or the same
    errors."""
    domain = ut.Domain(ward=[*"ab"], sex=[*"fm"])
    people = {"ward": [*"abab"], "sex": [*"ffmm"]}
    table = ut.count_table(people, domain, ut.Counting(each_row=True))
    plan = ut.release(table, ut.workloads.Plan(domain, table.unit, {"ward sex": 1}), epsilon=60)
    cells = ut.release(table, ut.Promise.of_counted(table), epsilon=60)
    for ask in (
        lambda answer: answer.total({"ward": "a"}).exact,
        lambda answer: answer.total({"ward": "a"}).margin,
        lambda answer: answer.difference({"ward": "a"}, {"sex": "f"}).exact,
        lambda answer: answer.difference({"ward": "a"}, {"sex": "f"}).margin,
        lambda answer: answer.ratio({"ward": "a"}).estimate,
        lambda answer: answer["ward"]["count"].tolist(),
        lambda answer: answer["ward"]["count_margin"].tolist(),
    ):
        assert ask(plan) == ask(cells)
    with pytest.raises(OutOfRange, match="over_column="):
        plan.ratio({"ward": "a"}, over_column="count")
