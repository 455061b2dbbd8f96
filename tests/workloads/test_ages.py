"""Age groups read from birth dates on a declared day, and axes under another name than their column's."""

import datetime as dt
import json
import pickle
import random
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import utmost as ut
from utmost.errors import BadTable, NotANumber, OutOfRange, UtmostError, WrongKind
from utmost.workloads import Domain, ages, bins, edges, hierarchy, periods, plain

EACH_ROW = ut.Counting(each_row=True)
GROUPS = [0, 18, 30, 45, 65, None]


def completed_years(born: dt.date, on: dt.date) -> int:
    """Year by year: a year is completed on the birthday, that of 29 February on 1 March of other years."""
    years = -1
    for year in range(born.year, on.year + 1):
        try:
            birthday = born.replace(year=year)
        except ValueError:
            birthday = dt.date(year, 3, 1)
        years += birthday <= on
    return years


def counted(born, on, **words):
    axis = ages("born", GROUPS, on=on, **words)
    return ut.count_table({"born": born}, Domain(age=axis), EACH_ROW, outside="leave out")


@pytest.mark.parametrize("on", ["2024-02-28", "2024-02-29", "2024-03-01", "2025-02-28", "2025-03-01", "2025-01-01"])
def test_ages_are_exact_on_and_beside_birthdays(on):
    day = dt.date.fromisoformat(on)
    near = [
        dt.date(day.year - years, month, number)
        for years in (*range(12), 60, 99)
        for month, number in ((2, 27), (2, 28), (3, 1), (3, 2), (1, 1), (12, 31))
    ]
    leap = [dt.date(year, 2, 29) for year in range(1924, 2025, 4)]
    axis = ages("born", range(121), on=day).named("age")
    for born in near + leap:
        years = completed_years(born, day)
        assert axis.place(born) == (years if years >= 0 else None), born
    table = ut.count_table({"born": near + leap}, Domain(age=axis), EACH_ROW, outside="leave out")
    truth = [0] * 120
    for born in near + leap:
        truth[completed_years(born, day)] += born <= day
    assert table.cells.tolist() == truth


def test_every_entrance_gives_the_same_ages(tmp_path: Path):
    source = random.Random(7)
    days = [dt.date(1920, 1, 1) + dt.timedelta(days=source.randrange(40_000)) for _ in range(500)]
    born: list[dt.date | None] = [None if source.random() < 0.1 else day for day in days]
    on = dt.date(2020, 6, 30)
    names = ["0 to 17", "18 to 29", "30 to 44", "45 to 64", "65+", "not stated"]
    truth = dict.fromkeys(names, 0)
    for day in born:
        years = None if day is None else completed_years(day, on)
        if years is None or years >= 0:
            at = 5 if years is None else sum(years >= edge for edge in (18, 30, 45, 65))
            truth[names[at]] += 1
    text = [None if day is None else day.isoformat() for day in born]
    german = ["" if day is None else f"{day:%d.%m.%Y}" for day in born]
    arrow = pa.table({"born": pa.array(born, pa.date32())})
    (tmp_path / "p.csv").write_text("born\n" + "".join(f'"{cell or ""}"\n' for cell in text))
    pq.write_table(arrow, tmp_path / "p.parquet")
    axis = ages("born", GROUPS, on=on, missing="not stated")
    for events in (
        {"born": born},
        {"born": text},
        pd.DataFrame({"born": pd.to_datetime(text)}),
        pl.DataFrame({"born": born}),
        arrow,
        tmp_path / "p.csv",
        tmp_path / "p.parquet",
    ):
        table = ut.count_table(events, Domain(age=axis), EACH_ROW, outside="leave out")
        assert table.cells.tolist() == list(truth.values()), type(events)
    spelled = ages("born", GROUPS, on=on, missing="not stated", spelling=ut.Spelling(pattern="%d.%m.%Y"))
    table = ut.count_table({"born": german}, Domain(age=spelled), EACH_ROW, outside="leave out")
    assert table.cells.tolist() == list(truth.values())


def test_missing_and_future_birth_dates_are_outside():
    with pytest.warns(ut.errors.RowsLeftOut, match="'age'"):
        table = ut.count_table(
            {"born": ["1990-01-01", "", "2025-01-02"]}, Domain(age=ages("born", GROUPS, on="2025-01-01")), EACH_ROW
        )
    assert table.cells.tolist() == [0, 0, 1, 0, 0]
    assert (table.report.outside, table.report.missing) == ({"age": 1}, {"age": 1})
    other = ages("born", [18, 65], on="2025-01-01", other="other", missing="unknown")
    table = ut.count_table({"born": ["1990", "", "2025-01-02", "?"]}, Domain(age=other), EACH_ROW)
    assert dict(zip(other.labels[0], table.cells.tolist(), strict=True)) == {"18 to 64": 1, "other": 2, "unknown": 1}


def test_an_axis_has_another_name_than_its_column(run, tmp_path: Path):
    people = {"reg": ["01", "02", "02"], "born": ["1990-05-01", "1950-01-01", "2010-01-01"], "ts": ["2024-02"] * 3}
    people["size"] = [3, 4, 9]
    place = hierarchy({"N": ["01"], "S": ["02"]}, names=["part", "district"], column="reg")
    domain = Domain(
        region=plain(["01", "02"], column="reg"),
        place=place,
        age=ages("born", [0, 18, 65, None], on="2025-01-01", groups={"grown up": [0, 18, None]}),
        born=periods("1950", "2020", every="10 years", column="born"),
        day=periods("2024-01", "2024-07", every="month", column="ts"),
        household=edges([1, 4, None], column="size"),
        exactly=bins(10, column="size"),
    )
    again = Domain.of_facts(json.loads(json.dumps(domain.facts())))
    assert again.same_as(domain)
    assert pickle.loads(pickle.dumps(domain)).same_as(domain)
    table = ut.count_table(people, again, EACH_ROW)
    assert table.cells.sum() == 3
    assert table.table("region household")["count"].tolist() == [1, 0, 0, 2]
    assert table.table("grown up")["count"].tolist() == [1, 2]
    assert table.table("part")["count"].tolist() == [1, 2]
    assert table.domain.selection({"age": slice(18, None)})[2].tolist() == [False, True, True]
    with pytest.raises(OutOfRange, match="different columns"):
        ut.count_table(people, domain, ut.Counting("reg", at_most=1))
    pd.DataFrame(people).to_csv(tmp_path / "p.csv", index=False)
    (tmp_path / "d.json").write_text(
        '{"region": {"values": ["01", "02"], "column": "reg"},'
        ' "age": {"ages": [0, 18, 65, null], "on": "2025-01-01", "column": "born"}}'
    )
    paths = tmp_path / "p.csv", tmp_path / "d.json", tmp_path / "t.csv"
    assert run("count", paths[0], "--each-row", "--domain", paths[1], "--out", paths[2])[0] == 0
    assert pd.read_csv(tmp_path / "t.csv", dtype=str)["count"].tolist() == ["0", "1", "0", "1", "0", "1"]


def test_half_years_and_fiscal_years():
    halves = periods("2023", "2025", every="half year").named("date")
    assert halves.labels[0] == ("2023-H1", "2023-H2", "2024-H1", "2024-H2")
    assert [halves.place(text) for text in ("2023S2", "2024-H1", "H2 2024", "2024-07-01", "2023-06-30")] == [
        1,
        2,
        3,
        3,
        0,
    ]
    fiscal = periods("2022-04", "2024-04", every="month", groups=["12 months"]).named("date")
    assert fiscal.labels[1] == ("2022-04 to 2023-03", "2023-04 to 2024-03")
    by_half = periods("2023", "2025", every="month", groups=["half year", "year"])
    assert Domain.of_facts(Domain(date=by_half).facts()).same_as(Domain(date=by_half))


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: ages("born", [18, 0], on="2025-01-01"), OutOfRange),
        (lambda: ages("born", [None, 18], on="2025-01-01"), OutOfRange),
        (lambda: ages("born", [-1, 18], on="2025-01-01"), OutOfRange),
        (lambda: ages("born", [0, 18.5], on="2025-01-01"), OutOfRange),
        (lambda: ages("born", [0, "x"], on="2025-01-01"), NotANumber),
        (lambda: ages("born", [0, 18], on="today"), OutOfRange),
        (lambda: ages("born", [0, 18], on=3), WrongKind),
        (lambda: ages("born", [0, 18], on="0010-01-01"), OutOfRange),
        (lambda: ages("", [0, 18], on="2025-01-01"), OutOfRange),
        (lambda: counted(["not a date"], "2025-01-01"), BadTable),
        (lambda: counted(["1995"], "2025-06-01"), BadTable),
        (lambda: counted([12.5], "2025-06-01"), BadTable),
        (lambda: counted([dt.datetime(1990, 1, 1, tzinfo=dt.UTC)], "2025-06-01"), BadTable),
        (lambda: Domain.of_facts({"age": {"ages": [0, 18], "on": "2025-01-01"}}), OutOfRange),
        (lambda: Domain.of_facts({"age": {"ages": [0, 18], "column": "born"}}), OutOfRange),
        (lambda: Domain.of_facts({"k": {"listed": [["a", "b"]], "names": ["x", "y"], "column": "z"}}), OutOfRange),
        (lambda: plain(["A"], column=""), OutOfRange),
    ],
)
def test_what_makes_no_age_is_refused(make, error):
    with pytest.raises(UtmostError) as refused:
        make()
    assert type(refused.value) is error
