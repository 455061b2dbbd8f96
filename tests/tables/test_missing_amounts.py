"""Events without an amount: refused, or left out of sums and means by a stated rule, and counted among all events."""

import json
import math
import random
import re
import warnings
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import utmost as ut
from utmost.errors import BadTable, OutOfRange, UtmostError
from utmost.privacy import Amount, Unit
from utmost.workloads import Plan

LEAVE = "leave out"
EACH_ROW = ut.Counting(each_row=True)
REGIONS = ["01", "02", "Köln", "empty"]
DOMAIN = ut.Domain(region=REGIONS)


def people(rows: int = 400) -> dict[str, list]:
    source = random.Random(3)
    amounts = [None if source.random() < 0.3 else source.randrange(-40_000, 250_000) / 100 for _ in range(rows)]
    return {"region": [source.choice(REGIONS[:3]) for _ in range(rows)], "income": amounts}


PEOPLE = people()
INCOME = ut.mean("income", each=(-100, 2000), step="0.01", missing=LEAVE)


def truth(events: dict[str, list], low: Fraction, high: Fraction) -> tuple[list[int], list[int], list[Fraction]]:
    """Numbers of events, of those with an amount, and the sums of amounts moved between the ends."""
    rows = list(zip(events["region"], events["income"], strict=True))
    stated = [
        (region, min(max(round(Fraction(income) * 100), low * 100), high * 100))
        for region, income in rows
        if income is not None
    ]
    return (
        [events["region"].count(region) for region in REGIONS],
        [sum(region == of for of, _ in stated) for region in REGIONS],
        [Fraction(sum(income for of, income in stated if of == region), 100) for region in REGIONS],
    )


def released(counted, epsilon=2000):
    return ut.release(counted, Plan(counted.domain, counted.unit, {"region": 1}), epsilon=epsilon, once=True).table


def entrances(folder: Path):
    yield PEOPLE
    yield pd.DataFrame(PEOPLE)
    yield pl.DataFrame(PEOPLE)
    yield pa.table(PEOPLE)
    yield duckdb.from_arrow(pa.table(PEOPLE))
    amounts = [np.nan if amount is None else amount for amount in PEOPLE["income"]]
    yield {"region": PEOPLE["region"], "income": np.array(amounts)}
    yield {"region": PEOPLE["region"], "income": np.ma.masked_invalid(amounts)}
    pq.write_table(pa.table(PEOPLE), folder / "p.parquet")
    yield folder / "p.parquet"
    text = [random.choice(["NA", "", " ", "nan"]) if amount is None else str(amount) for amount in PEOPLE["income"]]
    lines = [f"{region},{income}" for region, income in zip(PEOPLE["region"], text, strict=True)]
    (folder / "p.csv").write_text("\n".join(["region,income", *lines]) + "\n", encoding="utf-8")
    yield folder / "p.csv"


def test_missing_amounts_are_left_out_of_sums_and_means_alone(tmp_path):
    events, stated, sums = truth(PEOPLE, Fraction(-100), Fraction(2000))
    spelling = ut.Spelling(missing_marks=["NA"])
    for table in entrances(tmp_path):
        counted = ut.count_table(table, DOMAIN, EACH_ROW, measure=INCOME, spelling=spelling)
        assert counted.report.without_amount == {"income": 400 - sum(stated)}, type(table)
        assert (counted.report.kept, counted.report.counted) == (400, 400)
        true = counted.table("region")
        for name, column in (("count", events), ("income_count", stated), ("income_sum", map(float, sums))):
            assert np.asarray(true[name]).tolist() == list(column)
        shown = released(counted)
        for region, n, total in zip(REGIONS, stated, sums, strict=True):
            assert float(shown.total({"region": region}, column="income").value) == pytest.approx(float(total), abs=5)
            if n:
                assert shown.mean("income", where={"region": region}).estimate == pytest.approx(
                    float(total / n), rel=1e-3
                )


def test_the_table_says_how_many_have_an_amount_and_is_verified(run, tmp_path):
    counted = ut.count_table(PEOPLE, DOMAIN, EACH_ROW, measure=INCOME)
    release = released(counted, epsilon=1)
    release.save(tmp_path / "t.csv", means=True)
    header = (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()[0]
    names = "region,count,count_margin,income_count,income_count_margin,income_sum,income_sum_margin"
    assert header == f"{names},income_mean,income_mean_lower,income_mean_upper"
    ended = run("verify", tmp_path / "t.csv")
    assert ended[0] == 0
    release.save(tmp_path / "r.json")
    again = ut.read_release(tmp_path / "r.json")
    assert again.unit == counted.unit
    assert again.unit.amount.missing
    status, out, _ = run("statement", tmp_path / "r.json")
    assert status == 0
    assert "rows without income were left out of its sums and means" in " ".join(out.split())
    assert "an event without an amount adds h - l to the third" in release.statement["noise"]["theorem"]
    assert release.statement["promise"]["noise"]["plan"]["unit"]["amount"]["missing"] == "left out of the sums"


def test_the_statement_has_the_margins_and_losses_of_the_published_tables(run, tmp_path):
    """It had those of each table's noise alone, larger than the table's; and it called averaged events uncounted."""
    counted = ut.count_table(PEOPLE, DOMAIN, EACH_ROW, measure=INCOME)
    plan = Plan(counted.domain, counted.unit, {"region": "1/2", "": "1/2"})
    release = ut.release(counted, plan, epsilon=1).table
    release.save(tmp_path / "r.json")
    said = " ".join(run("statement", tmp_path / "r.json")[1].split())
    for name, columns in release.column_bars("region", "").items():
        for column in ("count", "income_count", "income_sum"):
            stated = re.search(rf"{name or 'total'}: {column} ± ([\d.e+]*\d)", said)
            assert float(stated[1]) == pytest.approx(columns[column], rel=1e-4), (name, column)
    who = ut.count_table(PEOPLE | {"who": range(400)}, DOMAIN, ut.Counting("who", at_most=1), measure=INCOME)
    ut.release(who, ut.Promise.of_counted(who), epsilon=1).save(tmp_path / "w.json")
    said = " ".join(run("statement", tmp_path / "w.json")[1].split())
    lost = "what one individual has in more than 1 group, and rows with values outside the declared lists: "
    lost += "they are in no figure, and no margin covers them. Several events of one individual in a group count as 1"
    assert lost in said


def test_margins_are_those_of_three_independent_noises():
    counted = ut.count_table(PEOPLE, DOMAIN, EACH_ROW, measure=ut.mean("income", each=(0, 10), step=1, missing=LEAVE))
    release = released(counted, epsilon="1/2")
    alpha = math.exp(-0.05)
    variance = 2 * alpha / (1 - alpha) ** 2
    assert release.unit == Unit(10, 1, amount=Amount("income", 1, (0, 10), missing=True))
    assert release.total({"region": "01"}).variance == pytest.approx(3 * variance / 100)
    assert release.total({"region": "01"}, column="income").variance == pytest.approx(variance)


@pytest.mark.parametrize("in_total", [None, 4])
@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_person_changes_the_three_parts_by_no_more_than_is_proved(most, in_total):
    source = random.Random(most)
    domain = ut.Domain(region=REGIONS[:2])
    measure = ut.mean("income", each=(-3, 5), most_events=most, in_total=in_total, missing=LEAVE)
    for _ in range(60):
        rows = source.randrange(1, 9)
        events = {
            "who": ["a"] * rows,
            "region": [source.choice(REGIONS[:2]) for _ in range(rows)],
            "income": [source.choice([None, *range(-9, 9)]) for _ in range(rows)],
        }
        counted = ut.count_table(events, domain, ut.Counting("who", at_most=2), measure=measure, outside=LEAVE)
        cells = counted.cells
        assert (cells >= 0).all()
        assert (cells.sum(axis=1) <= counted.unit.sensitivity).all()
        assert cells.sum() <= counted.unit.reach
        kept = sum(min(events["region"].count(region), most) for region in REGIONS[:2])
        assert cells.sum() == 8 * (kept if in_total is None else min(kept, in_total))
        if in_total is None:
            for place, region in enumerate(REGIONS[:2]):
                own = [income for of, income in zip(events["region"], events["income"], strict=True) if of == region]
                stated = [min(max(income, -3), 5) + 3 for income in own if income is not None]
                kept = min(len(stated), most)  # events with an amount count first
                above, third = (
                    round(Fraction(sum(stated) * kept, max(len(stated), 1))),
                    8 * (min(len(own), most) - kept),
                )
                assert cells[place].tolist() == [above, 8 * kept - above, third]


def test_a_person_with_some_missing_amounts_counts_once_with_the_average_of_the_others(run, tmp_path):
    """A half of such a person counted without an income, and the warning said that half of all was lost."""
    events = {"who": list("aaabbc"), "region": ["01"] * 6, "income": [10, None, 20, 6, None, None]}
    measure = ut.mean("income", each=(0, 100), missing=LEAVE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = ut.count_table(events, DOMAIN, ut.Counting("who", at_most=1), measure=measure).table("region")
    assert [np.asarray(table[name])[0] for name in ("count", "income_count", "income_sum")] == [3, 2, 21]
    rows = zip(*events.values(), strict=True)
    lines = [f"{who},{region},{'' if income is None else income}" for who, region, income in rows]
    (tmp_path / "p.csv").write_text("\n".join(["who,region,income", *lines]) + "\n")
    (tmp_path / "d.json").write_text('{"region": ["01"]}')
    asked = ["count", tmp_path / "p.csv", "--person", "who", "--at-most", "1", "--domain", tmp_path / "d.json"]
    code, _, err = run(*asked, "--mean", "income=0,100", "--leave-out", "amounts", "--out", tmp_path / "c.json")
    assert (code, "because of missing amounts of income. " in err) == (0, True)
    (tmp_path / "q.csv").write_text("who,region,income\n" + "a,01,3\n" * 9)
    asked[1] = tmp_path / "q.csv"
    code, _, err = run(*asked, "--mean", "income=0,100", "--leave-out", "nothing", "--out", tmp_path / "e.json")
    assert (code, "half" in err) == (0, False), err


def test_sums_alone_leave_missing_amounts_out():
    events = {"who": ["a", "a", "b"], "region": ["01"] * 3, "income": [3, None, 4]}
    measure = ut.sum("income", per_cell=10, missing=LEAVE)
    counted = ut.count_table(events, DOMAIN, ut.Counting("who", at_most=1), measure=measure)
    assert counted.cells.tolist() == [7, 0, 0, 0]
    assert counted.report.without_amount == {"income": 1}
    assert "missing, income" in str(counted.report)
    assert counted.unit == Unit(10, 1, amount=Amount("income", missing=True))
    both = {"visits": ut.count(5), "spent": measure}
    tables = ut.count_measures(events, DOMAIN, ut.Counting("who", at_most=1), both)
    assert (tables["visits"].cells.tolist(), tables["spent"].cells.tolist()) == ([3, 0, 0, 0], [7, 0, 0, 0])


def test_each_measure_of_one_pass_reports_its_own_missing_amounts(run, tmp_path):
    """Two of one column, too: none is counted twice, and none is named where another lost it."""
    events = {"region": ["01"] * 4, "income": [3, None, 4, None], "rent": [1, 2, None, 3]}
    measures = {"count": ut.count()} | {
        name: ut.mean(column, each=each, missing=LEAVE)
        for name, column, each in (("low", "income", 5), ("high", "income", 9), ("rent", "rent", 9))
    }
    tables = ut.count_measures(events, DOMAIN, EACH_ROW, measures)
    reports = {name: table.report.without_amount for name, table in tables.items()}
    assert reports == {"count": {}, "low": {"low": 2}, "high": {"high": 2}, "rent": {"rent": 1}}
    assert tables["rent"].report.losses() == ["missing amounts of rent"]
    pq.write_table(pa.table(events), tmp_path / "p.parquet")
    (tmp_path / "m.json").write_text(
        json.dumps(
            {name: {"values": name, "each": [0, 9], "most_events": 1, "missing": LEAVE} for name in ("income", "rent")}
        )
    )
    (tmp_path / "d.json").write_text('{"region": ["01"]}')
    line = [
        "count",
        tmp_path / "p.parquet",
        "--each-row",
        "--domain",
        tmp_path / "d.json",
        "--out",
        tmp_path / "c.json",
    ]
    ended = run(*line, "--measures", tmp_path / "m.json", "--report", tmp_path / "report.json")
    assert ended[0] == 0, ended
    assert json.loads((tmp_path / "report.json").read_text())["without_amount"] == {"income": 2, "rent": 1}


@pytest.mark.parametrize("income", [[None, None], [float("nan")] * 2, []])
def test_all_missing_or_nobody_at_all(income):
    events = {"region": ["01"] * len(income), "income": income}
    shown = released(ut.count_table(events, DOMAIN, EACH_ROW, measure=INCOME))
    assert round(shown.total({"region": "01"}).value) == len(income)
    assert not shown.mean("income").determined
    assert shown.with_means("region")["income_mean"] == [None] * 4


@pytest.mark.parametrize("column", [["1", "NA"], [1, None], [2.0, float("nan")], np.array([1.0, np.nan])])
@pytest.mark.parametrize("step", [None, "0.5"])
def test_a_missing_amount_is_refused_with_a_remedy_that_works(column, step):
    events = {"region": ["01", "02"], "income": column}
    words = {"spelling": ut.Spelling(missing_marks=["NA"])}
    with pytest.raises(BadTable, match=r'row 2, column .income.*missing="leave out"'):
        ut.count_table(events, DOMAIN, EACH_ROW, measure=ut.mean("income", each=(0, 9), step=step), **words)
    measure = ut.mean("income", each=(0, 9), step=step or "0.5", missing=LEAVE)
    assert ut.count_table(events, DOMAIN, EACH_ROW, measure=measure, **words).report.without_amount == {"income": 1}


@pytest.mark.parametrize(
    "make",
    [
        lambda: ut.count_table(PEOPLE, DOMAIN, EACH_ROW, measure=ut.mean("income", each=(0, 9), missing="drop")),
        lambda: ut.count_table(PEOPLE, DOMAIN, EACH_ROW, measure=ut.counting.MeasureSpec(missing=LEAVE)),
        lambda: Amount("page", distinct=3, missing=True),
        lambda: Amount.of({"name": "paid", "step": "1", "missing": "kept"}),
    ],
)
def test_other_rules_are_refused(make):
    with pytest.raises(UtmostError) as refused:
        make()
    assert type(refused.value) is OutOfRange
