"""Where each row is a person: the sums are those that loops give, and the unit is what one row changes."""

import json
from collections import Counter
from decimal import Decimal

import numpy as np
import pytest

import utmost as ut
from counting_words import counted_with
from utmost.errors import BadTable, NothingCounted, OutOfRange, WrongKind
from utmost.privacy import Unit
from utmost.workloads import edges

DOMAIN = ut.Domain(sex=["w", "m", "x"], age=edges([0, 15, 65, None]))
ROWS = {
    "sex": ["w", "m", "w", "?", "x", "w", "m", None, "w"],
    "age": [3, 70, 14, 30, 15, 14, 64, 20, None],
    "pay": [5, -3, 100, 7, 0, 250, 9, 1, 2],
}


def looped(rows, low=0, high=1, values=None, by=("sex", "age")):
    labels = {"sex": ["w", "m", "x"], "age": ["0 to 14", "15 to 64", "65+"]}
    sums = Counter()
    for row in zip(*(rows[name] for name in ("sex", "age", "pay")), strict=True):
        sex, age, pay = row
        place = {
            "sex": labels["sex"].index(sex) if sex in labels["sex"] else None,
            "age": None if age is None or age < 0 else int(age >= 15) + int(age >= 65),
        }
        if all(place[name] is not None for name in by):
            amount = 1 if values is None else pay
            sums[tuple(place[name] for name in by)] += min(high, max(low, amount))
    shape = [len(labels[name]) for name in by]
    found = np.zeros(shape, dtype=object)
    for cell, total in sums.items():
        found[cell] += total
    return found.tolist()


@pytest.mark.parametrize(
    ("options", "bounds"),
    [
        ({}, {}),
        ({"by": "sex"}, {"by": ("sex",)}),
        ({"values": "pay", "per_cell": 100}, {"values": "pay", "high": 100}),
        (
            {"values": "pay", "per_cell": (-2, 9), "by": ["age", "sex"]},
            {"values": "pay", "low": -2, "high": 9, "by": ("age", "sex")},
        ),
    ],
)
def test_a_table_is_what_a_loop_gives(options, bounds):
    counted = counted_with(ROWS, each_row=True, domain=DOMAIN, **options)
    assert counted.cells.tolist() == looped(ROWS, **bounds)
    high, low = bounds.get("high", 1), bounds.get("low", 0)
    named = options.get("values")
    assert counted.unit == Unit(max(high, -low), 1, amount=named and {"name": named, "step": 1})
    assert counted.report.events == 9


@pytest.mark.parametrize("neighbours", ["add-remove", "change-one"])
def test_one_row_changes_what_the_unit_says_and_no_more(neighbours):
    """Every row taken out, and every row replaced by every other: brute force."""
    options = {"each_row": True, "domain": DOMAIN, "values": "pay", "per_cell": (-2, 9), "neighbours": neighbours}
    whole = counted_with(ROWS, **options)
    attained = 0
    for out in range(9):
        for other in range(9) if neighbours == "change-one" else [None]:
            rows = {name: [*column[:out], *column[out + 1 :]] for name, column in ROWS.items()}
            if other is not None:
                rows = {name: [*column, ROWS[name][other]] for name, column in rows.items()}
            moved = np.abs(counted_with(rows, **options).cells - whole.cells)
            assert np.count_nonzero(moved) <= whole.unit.epsilon_parts
            assert moved.max() <= whole.unit.sensitivity * (2 if neighbours == "change-one" else 1)
            attained = max(attained, int(moved.sum()))
    assert attained <= whole.unit.epsilon_parts * whole.unit.sensitivity
    assert attained >= 9


def test_parts_of_rows_share_nobody():
    parts = ut.count_table(ROWS, DOMAIN, ut.Counting(each_row=True), part="sex")
    assert [parts[label].cells.tolist() for label in ("w", "m", "x")] == looped(ROWS)
    assert {part.unit for part in parts.values()} == {Unit(1, 1)}
    assert len({part.part[0] for part in parts.values()}) == 1


def test_sums_stay_exact_beyond_64_bits_and_rows_may_be_many():
    huge = 2**61
    counted = ut.count_table(
        {"a": ["p"] * 5 + ["q"], "n": [huge] * 6},
        {"a": ["p", "q"]},
        ut.Counting(each_row=True),
        measure=ut.sum("n", per_cell=2**62),
    )
    assert counted.cells.tolist() == [5 * huge, huge]
    many = {"a": np.arange(2_500_000) % 3}
    counted = ut.count_table(many, {"a": [0, 1]}, ut.Counting(each_row=True))
    assert counted.cells.tolist() == [833_334, 833_333]
    assert (counted.report.events, counted.report.outside_domain, counted.report.persons) == (
        2_500_000,
        833_333,
        1_666_667,
    )


def test_no_rows_and_rows_outside():
    none = ut.count_table(
        {"a": [], "n": []}, {"a": ["p"]}, ut.Counting(each_row=True), measure=ut.sum("n", per_cell=2**70)
    )
    assert none.cells.tolist() == [0]
    empty = ut.count_table({"a": []}, {"a": ["p"]}, ut.Counting(each_row=True))
    assert (empty.cells.tolist(), empty.unit) == ([0], Unit(1, 1))
    with pytest.warns(NothingCounted):
        ut.count_table({"a": ["z"]}, {"a": ["p"]}, ut.Counting(each_row=True))
    with pytest.raises(BadTable, match="column 'a'"):
        ut.count_table({"a": [1.5]}, {"a": ["p"]}, ut.Counting(each_row=True))
    with pytest.raises(BadTable):
        ut.count_table(
            {"a": ["p"], "n": [Decimal("1.5")]}, {"a": ["p"]}, ut.Counting(each_row=True), measure=ut.sum("n")
        )


@pytest.mark.parametrize(
    "said",
    [
        {}, {"person": "sex"}, {"at_most": 2}, {"each_row": True, "person": "sex"}, {"each_row": True, "at_most": 2},
        {"each_row": True, "together": "age"}, {"person": "sex", "at_most": 0},
    ],
)  # fmt: skip
def test_whose_rows_they_are_is_said_once(said):
    with pytest.raises(OutOfRange):
        counted_with(ROWS, domain=DOMAIN, **said)


def test_a_type_that_lists_its_values_is_an_axis():
    """Types declare: the same axis as their list, in their order; one that lists none is refused."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    listed = ut.Domain(a=["y", "x", "z"])
    rows = {"a": ["x", "y", "x"]}
    kind = pandas.CategoricalDtype(["y", "x", "z"])
    frames = (pandas.DataFrame(rows).astype(kind), polars.DataFrame(rows, schema={"a": polars.Enum(["y", "x", "z"])}))
    for dtype, frame in zip((kind, polars.Enum(["y", "x", "z"])), frames, strict=True):
        domain = ut.Domain(a=dtype)
        assert domain.same_as(listed)
        assert json.loads(json.dumps(domain.facts())) == listed.facts()
        assert ut.count_table(frame, domain, ut.Counting(each_row=True)).cells.tolist() == [1, 2, 0]
    assert ut.Domain(a=pandas.CategoricalDtype([3, 1])).axes[0].labels == ((3, 1),)
    with pytest.raises(WrongKind):
        ut.Domain(a=pandas.CategoricalDtype())
    with pytest.raises(WrongKind):
        ut.Domain(a=pandas.CategoricalDtype([0.5]))


def test_the_total_of_rows_alone_needs_no_column(tmp_path):
    """Any column says how many rows there are, be nothing in it; a table without columns has no rows."""
    pa, polars, duckdb = (pytest.importorskip(name) for name in ("pyarrow", "polars", "duckdb"))
    rows = {"x": [None, "a", "b"], "y": [1, 2, 3]}
    arrow = pa.table(rows)
    (tmp_path / "rows.csv").write_text("x,y\n,1\na,2\nb,3\n", encoding="utf-8")
    frames = (arrow, polars.DataFrame(arrow), polars.DataFrame(arrow).lazy(), duckdb.from_arrow(arrow))
    for table in (rows, *frames, arrow.to_pandas(), tmp_path / "rows.csv"):
        assert int(ut.count_table(table, ut.Domain(), ut.Counting(each_row=True)).cells) == 3
    with pytest.raises(BadTable, match="at least one column"):
        ut.count_table({}, ut.Domain(), ut.Counting(each_row=True))


def test_groups_and_periods_of_pandas_and_wide_integers_are_read():
    pandas, duckdb = pytest.importorskip("pandas"), pytest.importorskip("duckdb")
    groups = pandas.cut(pandas.Series([3, 7, 20]), [0, 5, 15, 25], right=False)
    for declared in (groups.cat.categories, groups.dtype, ["[0, 5)", "[5, 15)", "[15, 25)"]):
        domain = ut.Domain(g=declared)
        assert domain.axes[0].labels == (("[0, 5)", "[5, 15)", "[15, 25)"),)
        for column in (pandas.DataFrame({"g": groups}), {"g": list(groups)}):
            assert ut.count_table(column, domain, ut.Counting(each_row=True)).cells.tolist() == [1, 1, 1]
    months = ut.Domain(m=ut.workloads.periods("2013-01", "2013-03", every="month", missing="none"))
    for spans, counts in (
        (["2013-01", "2013-02", None], [1, 1, 1]),
        (["2013-02-01", "2013-02-09", "2013-03-01"], [0, 2, 0]),
    ):
        frame = pandas.DataFrame({"m": pandas.PeriodIndex(spans, freq="M" if len(spans[0]) == 7 else "D")})
        assert ut.count_table(frame, months, ut.Counting(each_row=True)).cells.tolist() == counts
    wide = duckdb.sql("SELECT (i % 3)::HUGEINT AS u, (i % 2 + 1)::HUGEINT AS x FROM range(10) t(i)")
    words = {"person": "u", "at_most": 1, "domain": ut.Domain(x=[1, 2]), "key": bytes(32)}
    plain = {"u": [i % 3 for i in range(10)], "x": [i % 2 + 1 for i in range(10)]}
    for table in (wide, wide.to_arrow_table(), wide.to_arrow_table().to_pandas()):
        assert counted_with(table, **words).cells.tolist() == counted_with(plain, **words).cells.tolist()
    with pytest.raises(BadTable, match="with a point"):
        counted_with(duckdb.sql("SELECT 1.50::DECIMAL(4, 2) AS u, 1 AS x"), **words)
