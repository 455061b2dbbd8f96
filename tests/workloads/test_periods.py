"""Axes of time: periods that nest, clocks of zones, the same cells through every door; truth values, missing cells."""

import datetime as dt
import json
import pickle
import random
import re
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import utmost as ut
from counting_words import counted_with
from utmost import Counting
from utmost.counting import count_table
from utmost.errors import BadTable, OutOfRange, WrongKind
from utmost.workloads import Domain, Workload, bins, choose_plan, edges, hierarchy, periods, plain


def counted(axis, column):
    """How many cells of a column lie in each period, in none that is declared, and in none because they are missing."""
    name = axis.levels[0] or "t"
    table = count_table({name: column}, Domain({name: axis}), Counting(each_row=True), outside="leave out")
    return table.cells.tolist(), table.report.outside[name], table.report.missing[name]


def tally(axis, places):
    """The same of places by hand; -1 lies outside, -2 is missing."""
    return [places.count(place) for place in range(axis.size)], places.count(-1), places.count(-2)


DAYS = periods("2013-01-01", "2015-01-01", every="day", zone="Europe/Paris").named("date")


def test_periods_nest_where_they_do():
    assert DAYS.levels == ("date", "date/month", "date/quarter", "date/year")
    assert [DAYS.groups(level) for level in range(5)] == [730, 24, 8, 2, 1]
    assert DAYS.labels[2][:2] == ("2013-Q1", "2013-Q2")
    assert DAYS.labels[0][59] == "2013-03-01"
    weeks = periods("2012-W01", "2013-12-30", every="day", groups=["week", "2 weeks"]).named("date")
    assert (weeks.levels, weeks.labels[2][0]) == (("date", "date/week", "date/2-weeks"), "2012-W01 to 2012-W02")
    assert weeks.group_of(1).tolist() == [day // 7 for day in range(weeks.size)]
    hours = periods("2013-05-01", "2013-05-03", every="6 hours").named("t")
    assert hours.labels == (
        tuple(f"2013-05-0{d}T{h:02} to 2013-05-0{d}T{h + 5:02}" for d in (1, 2) for h in (0, 6, 12, 18)),
        ("2013-05-01", "2013-05-02"),
    )
    assert periods("2013", "2023", every="2 years").labels == (
        ("2013 to 2014", "2015 to 2016", "2017 to 2018", "2019 to 2020", "2021 to 2022"),
    )
    assert periods("2013-03", "2013-12", every="month").levels == ("",)  # no quarter, no year is whole
    assert len(periods("0001-01-01", "9999-01-01", every="year").labels[0]) == 9998


@pytest.mark.parametrize(
    ("start", "stop", "words", "reason"),
    [
        ("2013-01-15", "2014", {"every": "month"}, "Write 2013-01-01 as the start"),
        ("2013", "2014-02", {"every": "2 months"}, "Write 2014-03-01 or 2014-01-01 as the end"),
        ("2013", "2014", {"every": "week"}, "Write 2012-12-31 as the start"),
        ("2013", "2014", {"every": "day", "groups": ["week"]}, "Write 2012-12-31 as the start"),
        ("2013", "2014", {"every": "week", "groups": ["month"]}, "as the start"),
        ("2013", "2014", {"every": "2 months", "groups": ["quarter"]}, "be longer"),
        ("2013", "2014", {"every": "month", "groups": ["month"]}, "be longer"),
        ("2013", "2014", {"every": "quarter", "groups": ["month"]}, "be longer"),
        ("2013", "2014-04", {"every": "month", "groups": ["year"]}, "cut off"),
        ("2014", "2013", {"every": "month"}, "later than start"),
        ("2013", "2013", {"every": "month"}, "later than start"),
        ("2013", "2014", {"every": "fortnight"}, "period must be a unit of time"),
        ("2013", "2014", {"every": "0 days"}, "period must be a unit of time"),
        ("2013", "2014", {"every": "month", "zone": "Europe/Atlantis"}, "time zone"),
        ("2013-13", "2014", {"every": "month"}, "must be dates"),
        ("2013-01-01T00:00Z", "2014", {"every": "month"}, "must be dates"),
        ("2013", "2014", {"every": "month", "below": "2013-01"}, "distinct"),
    ],
)
def test_what_cuts_a_period_off_or_does_not_nest_is_refused(start, stop, words, reason):
    with pytest.raises(OutOfRange, match=reason):
        periods(start, stop, **words)


@pytest.mark.parametrize("zone", ["Australia/Lord_Howe", "Asia/Kathmandu"])
def test_instants_are_what_the_clock_of_the_zone_shows(zone):
    """Arrays by the table of changes, lists one by one, text: against Python's own zones."""
    axis = periods("2013-01-01", "2014-01-01", every="hour", zone=zone, above="later")
    draw = random.Random(7)
    first = dt.datetime(2012, 12, 30, tzinfo=dt.UTC)
    instants = [first + dt.timedelta(minutes=draw.randrange(370 * 1440)) for _ in range(60)]
    for change in (dt.datetime(2013, 3, 31, tzinfo=dt.UTC), dt.datetime(2013, 11, 3, tzinfo=dt.UTC)):
        instants += [change + dt.timedelta(minutes=30 * step) for step in range(-50, 50, 2)]
    clock = [time.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for time in instants]
    hours = [(time - dt.datetime(2013, 1, 1)) // dt.timedelta(hours=1) for time in clock]
    expected = [-1 if hour < 0 else min(hour, 365 * 24) for hour in hours]
    for column in (
        instants,
        clock,
        [time.isoformat() for time in instants],
        pa.array(instants, pa.timestamp("us", "America/Sao_Paulo")),
        pa.array(instants, pa.timestamp("ns", "UTC")),
        pa.array(clock, pa.timestamp("s")),
        np.array(clock, dtype="datetime64[ms]"),
        pl.Series(instants).to_arrow(),
        pl.Series(clock).to_arrow(),
        list(pd.Series(instants)),
        pa.array(instants, pa.timestamp("us", "UTC")).dictionary_encode(),
    ):
        assert counted(axis, column) == tally(axis, expected)


def test_an_hour_that_comes_twice_is_one_and_equal_times_of_two_instants_are_two():
    hours = periods("2013-10-27", "2013-10-28", every="hour", zone="Europe/Paris")
    autumn = ["2013-10-27T00:30Z", "2013-10-27T01:30Z", "2013-10-27T02:30Z"]
    assert counted(hours, autumn) == tally(hours, [2, 2, 3])
    in_utc = periods("2013-10-27", "2013-10-28", every="hour", zone="UTC")
    twice = [dt.datetime(2013, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Paris"), fold=fold) for fold in (0, 1)]
    assert twice[0] == twice[1]
    assert counted(in_utc, twice) == tally(in_utc, [0, 1])
    spring = periods("2013-03-31", "2013-04-01", every="hour", zone="Europe/Paris")
    assert counted(spring, ["2013-03-31T00:59Z", "2013-03-31T01:00Z"]) == tally(spring, [1, 3])


def test_dates_of_every_kind_and_spans_of_text():
    date = dt.date(2013, 5, 17)
    place = (date - dt.date(2013, 1, 1)).days
    for column in (
        [date, dt.datetime(2013, 5, 17, 23, 59, 59, 999999), "2013-05-17", " 2013-05-17 ", "20130517", "2013-W20-5"],
        [pd.Timestamp(date), pd.Period("2013-05-17", "D"), np.datetime64("2013-05-17"), "2013-05-17 23:59:59.999"],
        pa.array([date], pa.date32()),
        pa.array([date], pa.date64()),
        np.array([date], dtype="datetime64[D]"),
        pl.Series([date]).to_arrow(),
    ):
        assert counted(DAYS, column) == tally(DAYS, [place] * len(column))
    months = periods("2013", "2014", every="month")
    spelled = ["2013-02", "2013-W07", np.datetime64("2013-02"), pd.Period("2013-02"), "2014"]
    assert counted(months, spelled) == tally(months, [1, 1, 1, 1, -1])
    quarters = periods("2013", "2014", every="quarter", below="before")
    early = ["2013-Q3", "2012", "1066-10-14", dt.date(1, 1, 1)]
    assert counted(quarters, early) == tally(quarters, [3, 0, 0, 0])
    assert counted(DAYS, [None, "", pd.NaT, np.datetime64("NaT", "s")]) == tally(DAYS, [-2] * 4)
    assert counted(DAYS, pa.array([None, date])) == tally(DAYS, [-2, place])
    assert counted(DAYS, np.array(["NaT", "2013-05-17"], dtype="datetime64[s]")) == tally(DAYS, [-2, place])
    assert counted(DAYS, pa.array([], pa.timestamp("us"))) == tally(DAYS, [])


def test_times_beyond_every_calendar_lie_outside():
    """Arrow and NumPy refuse to convert them, by errors that quote the cell."""
    date, far = dt.date(2013, 5, 17), [(1 << 63) - 1, 1 - (1 << 63)]
    days = (date - dt.date(1970, 1, 1)).days
    place = (date - dt.date(2013, 1, 1)).days
    for unit, ticks in (("D", days), ("h", days * 24), ("m", days * 1440), ("s", days * 86400)):
        assert counted(DAYS, np.array([*far, ticks]).view(f"M8[{unit}]")) == tally(DAYS, [-1, -1, place])
    milliseconds = pa.array([*far, days * 86_400_000 + 1], pa.int64())
    assert counted(DAYS, milliseconds.view(pa.date64())) == tally(DAYS, [-1, -1, place])
    assert counted(DAYS, milliseconds.view(pa.timestamp("ms"))) == tally(DAYS, [-1, -1, place])


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (["2013"], "longer period"), (["2013-05"], "longer period"), (["2013-W20"], "longer period"),
        ([130517], "dates or times"), ([201305], "dates or times"),
        (["17.5.2013"], "is not a time"), (["2013-02-30"], "does not exist"),
        ([(0, 86400)], "dates or times"), ([(1,)], "dates or times"),
        ([True], "truth value"), ([1.5], "dates or times"), (np.array([1, 2]), "dates or times"),
        (pa.array([1.5]), "dates or times"), (pa.array([dt.time(9)]), "times"), ([dt.time(9)], "time"),
        (pa.array([dt.timedelta(1)]), "times"), (pa.array([True]), "truth values"),
    ],
)  # fmt: skip
def test_what_says_no_day_is_refused_by_its_kind(column, reason):
    with pytest.raises(BadTable, match=reason) as refusal:
        counted(DAYS, column)
    assert "2013-0" not in str(refusal.value).replace('"2013-05-17"', "").replace('"2013-05-17T09:30"', "")


def test_a_zone_is_asked_for_where_times_say_one():
    months, hours = periods("2013", "2014", every="month"), periods("2013-05-01", "2013-05-02", every="hour")
    instant = dt.datetime(2013, 5, 1, tzinfo=dt.UTC)
    for column in ([instant], pa.array([instant]), ["2013-05-01T00:00Z"]):
        with pytest.raises(BadTable, match="zone"):
            counted(months, column)
    for column in ([dt.date(2013, 5, 1)], pa.array([dt.date(2013, 5, 1)])):
        with pytest.raises(BadTable, match="longer period"):
            counted(hours, column)


DOMAIN = Domain(
    date=periods("2013", "2014", every="month", zone="Europe/Paris", below="before", missing="no date"),
    smoker=[False, True],
    age=bins(15, 85, width=10, below="under 15", above="85+", missing="not stated"),
)


def test_a_domain_with_time_is_written_and_read_back():
    domains = [
        DOMAIN,
        Domain(t=periods("2013-W01", "2013-W09", every="2 weeks", above="later", other="?")),
        Domain(t=periods("2013-05-01T06", "2013-05-01T12", every="hour"), s=plain([True], other="no", missing="?")),
        Domain(a=edges([None, 0, 5, None], below="little", groups={"g": [None, 5, None]}, missing="none")),
        Domain(r=hierarchy({"N": ["a"], "S": ["b"]}, names=["region", "place"], other="o", missing="m")),
    ]
    for domain in domains:
        again = Domain.of_facts(json.loads(json.dumps(domain.facts())))
        for axis, other in zip(domain.axes, again.axes, strict=True):
            assert (axis.levels, axis.labels, axis.edges, axis.clock) == (
                other.levels, other.labels, other.edges, other.clock
            )  # fmt: skip
        assert again.same_as(domain)
        assert pickle.loads(pickle.dumps(domain)).same_as(domain)
    assert domains[3].axes[0].labels == (("little", "0 to 4", "5+", "none"), ("under 5", "5+", "none"))


def test_events_with_dates_are_counted_alike_through_every_door(tmp_path):
    """Lists, frames, lazy frames, DuckDB and files; sums of quarters, ranges and medians follow from the release."""
    duckdb = pytest.importorskip("duckdb")
    draw, first = random.Random(3), dt.datetime(2012, 12, 20, tzinfo=dt.UTC)
    rows = 400
    dates = [first + dt.timedelta(minutes=draw.randrange(370 * 1440)) if row % 9 else None for row in range(rows)]
    events = {
        "who": [f"p{row // 2}" for row in range(rows)],
        "date": dates,
        "smoker": [row % 3 == 0 for row in range(rows)],
        "age": [draw.randrange(100) if row % 7 else None for row in range(rows)],
    }
    words = {"person": "who", "domain": DOMAIN, "at_most": 2, "key": bytes(32)}
    counted = counted_with(events, **words)
    in_paris = [
        None if date is None else date.astimezone(ZoneInfo("Europe/Paris")).replace(tzinfo=None) for date in dates
    ]
    arrow = pa.table(events)
    pl.DataFrame(events).write_parquet(tmp_path / "events.parquet")
    spelled = {**events, "date": [None if date is None else date.isoformat() for date in dates]}
    pd.DataFrame(spelled).astype({"age": "Int64"}).to_csv(tmp_path / "events.csv", index=False)
    for table in (
        arrow, pl.DataFrame(events), pl.LazyFrame(events), pd.DataFrame(events).astype({"age": "Int64"}),
        duckdb.from_arrow(arrow), tmp_path / "events.parquet", tmp_path / "events.csv", {**events, "date": in_paris},
    ):  # fmt: skip
        again = counted_with(table, **words)
        assert np.array_equal(again.cells, counted.cells)
        assert (again.report.outside, again.report.missing) == (counted.report.outside, counted.report.missing)
    assert counted.report.outside_domain == 0
    true = counted.cells.sum(axis=(1, 2))
    released = ut.release(
        counted,
        choose_plan(Workload(DOMAIN, {"date smoker": 1, "date/quarter": 1}), counted.unit, epsilon=40),
        epsilon=40,
        once=True,
    ).table
    released.save(tmp_path / "release.json")
    again = ut.read_release(tmp_path / "release.json")
    assert abs(again.total({"date": slice("2013-02", "2013-05")}).value - true[2:5].sum()) <= 3
    assert abs(again.total({"date/quarter": "2013-Q4", "smoker": True}).value - counted.cells[10:13, 1].sum()) <= 3
    assert again.total({"smoker": "TRUE"}).value == again.total({"smoker": np.True_}).value
    half = true[:-1].sum() / 2
    median = int(np.searchsorted(np.cumsum(true[:-1]), half))
    assert DOMAIN.axes[0].labels[0][median] in again.median("date").labels
    low, high = again.quantile("date", "1/2").interval
    assert (low is -np.inf or isinstance(low, dt.datetime)) and isinstance(high, dt.datetime)  # noqa: PT018
    with pytest.raises(OutOfRange, match="values="):
        again.mean("date")


def test_truth_values_are_read_where_they_are_declared():
    axis = plain([False, True], missing="?")
    assert counted(axis, [True, False, None, "TRUE", "false", "no"]) == tally(axis, [1, 0, 2, 1, 0, -1])
    assert counted(axis, pa.array([True, None])) == tally(axis, [1, 2])
    assert counted(axis, np.array([True, False])) == tally(axis, [1, 0])
    with pytest.raises(BadTable, match="truth"):
        counted(plain(["true", "false"]), [True])
    with pytest.raises(OutOfRange, match="distinct"):
        plain([True, "true"])
    with pytest.raises(OutOfRange, match="truth"):
        hierarchy({"N": [True], "S": [False]}, names=["a", "b"])
    with pytest.raises(WrongKind):
        plain([1.5])


def test_groups_of_pandas_cut_are_an_axis():
    ages = pd.cut(pd.Series([3, 40, 70]), [0, 18, 65, 120])
    axis = Domain(age=ages.dtype).axes[0]
    assert axis.labels[0] == ("(0, 18]", "(18, 65]", "(65, 120]")
    events = {"who": [1, 2, 3], "age": ages}
    for table in (events, pd.DataFrame(events)):
        counted = count_table(table, Domain(age=ages.dtype), Counting("who", at_most=1))
        assert counted.cells.tolist() == [1, 1, 1]


def test_missing_cells_stand_apart_from_others():
    for axis in (
        plain(["a"], other="o", missing="m"),
        hierarchy({"A": ["a"], "B": ["b"]}, names=["up", "down"], other="o", missing="m"),
        edges([0, 5, 9], other="o", missing="m"),
        periods("2013", "2015", every="year", other="o", missing="m"),
    ):
        first = {"a": "a", 0: 3}.get(axis.labels[0][0], "2013-05" if axis.clock else 3)
        found = dict(zip(axis.labels[0], counted(axis, [first, "zzz", None, ""])[0], strict=True))
        assert (found["o"], found["m"]) == (1, 2)
    numbers = edges([0, 5, 9], missing="m")
    assert counted(numbers, np.array([1.0, np.nan, 99.0])) == tally(numbers, [0, 2, -1])


def test_longer_periods_that_the_ends_cut_are_no_level_and_it_is_said():
    days = Domain(day=periods("2013-01-15", "2013-03-01", every="day"))
    assert days.axes[0].levels == ("day",)
    with pytest.raises(OutOfRange, match="whole ones"):
        days.marginal("day/month")
    with pytest.raises(OutOfRange, match="a month begins"):
        periods("2013-01-15", "2013-03-01", every="day", groups=["month"])


@pytest.mark.parametrize(
    ("facts", "came"),
    [
        ({"decades": ["1990", "2020"]}, "got 'decades'. Write {\"months\""),
        ({"months": ["2026-01", "2026-07"], "every": "day"}, "got 'months', 'every'"),
        (
            {"periods": ["2026-01", "2026-07"], "evry": "month"},
            "got 'evry'",
        ),
        ({"bins": [0, 10], "width": 5, "top": 3}, "got 'top'"),
    ],
)
def test_a_strange_word_of_an_axis_is_named_with_those_that_there_are(facts, came):
    with pytest.raises(OutOfRange, match=re.escape(came)):
        Domain.of_facts({"day": facts})
