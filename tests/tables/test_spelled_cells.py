"""Cells as offices and programs write them: declared marks, patterns of dates, gaps in categories, odd workbooks."""

import datetime as dt
import functools
import re
import warnings
from datetime import datetime
from fractions import Fraction

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pytest

import utmost as ut
from counting_words import contributions_with, counted_with
from running import with_recipe
from small_sizes import set_sizes
from utmost import Spelling
from utmost.errors import BadTable, OutOfRange, PrivacyWarning, WrongKind
from utmost.workloads import ages, bins, edges, hierarchy, listed, periods, plain

AXES = {
    "a list": plain(["A", "B"], spelling=Spelling(missing_marks=["NA", -9])),
    "a tree": hierarchy({"N": ["A"], "S": ["B"]}, names=["part", "kind"], spelling=Spelling(missing_marks=["."])),
    "keys": listed([("A", "x"), ("B", "y")], names=["kind", "item"], spelling=Spelling(missing_marks=["."])),
    "bins": bins(0, 10, spelling=Spelling(decimal=",", thousands=".", missing_marks=["NA"])),
    "edges": edges([0, 10, None], spelling=Spelling(thousands="space")),
    "periods": periods("2013", "2014", every="month", spelling=Spelling(missing_marks=["NA"], pattern="%d.%m.%Y")),
}


@pytest.mark.parametrize("kind", AXES)
def test_a_domain_file_keeps_what_is_declared(kind):
    domain = (
        ut.Domain(x=AXES[kind]) if kind not in ("a tree", "keys") else ut.Domain({AXES[kind].levels[0]: AXES[kind]})
    )
    again = ut.Domain.of_facts(domain.facts())
    assert (again.axes[0].spelling, again.axes[0].clock) == (domain.axes[0].spelling, domain.axes[0].clock)
    assert again.same_as(domain)
    assert domain.axes[0].spelling != Spelling()


def test_what_declares_nothing_adds_no_word_to_a_domain():
    facts = ut.Domain(x=edges([0, 10, None]), y=["A"], z=periods("2013", "2014", every="month")).facts()
    assert facts["y"] == ["A"]
    assert not {"decimal", "thousands", "missing_marks", "pattern"} & (set(facts["x"]) | set(facts["z"]))


@pytest.mark.parametrize(
    ("declared", "error"),
    [
        ({"decimal": ";"}, OutOfRange),
        ({"thousands": "x"}, OutOfRange),
        ({"thousands": "."}, OutOfRange),
        ({"thousands": ",", "decimal": ","}, OutOfRange),
        ({"missing_marks": "NA"}, WrongKind),
        ({"missing_marks": [""]}, OutOfRange),
        ({"missing_marks": [True]}, WrongKind),
    ],
)
def test_marks_that_are_none_are_refused(declared, error):
    with pytest.raises(error):
        Spelling(**declared)
    with pytest.raises((error, WrongKind)):
        counted_with({"x": [1]}, each_row=True, domain={"x": [1]}, **declared)


def test_a_missing_mark_is_no_value_of_its_own_axis():
    with pytest.raises(OutOfRange, match="missing_marks"):
        plain(["NA", "A"], spelling=Spelling(missing_marks=["NA"]))


@pytest.mark.parametrize(
    ("pattern", "text", "every", "first", "last"),
    [
        ("%d.%m.%Y", "7.5.2013", "day", "2013-05-07", "2013-05-08"),
        ("%m/%d/%y %H:%M", "8/6/20 18:57", "day", "2020-08-06", "2020-08-07"),
        ("%b %d %Y", "Jan 1 2000", "day", "2000-01-01", "2000-01-02"),
        ("%B %Y", "march 2013", "month", "2013-03", "2013-04"),
        ("%m/%Y", "12/2013", "month", "2013-12", "2014-01"),
        ("Q%q%Y", "Q42010", "quarter", "2010-10", "2011-01"),
        ("%Y", "2013", "year", "2013", "2014"),
        ("%y%m%d", "690228", "day", "1969-02-28", "1969-03-01"),
        ("%Y-%j", "2013-60", "day", "2013-03-01", "2013-03-02"),
        ("%d/%m/%Y %I%p", "17/05/2013 12am", "day", "2013-05-17", "2013-05-18"),
        ("%d/%m/%Y %H:%M:%S.%f", "17/05/2013 23:59:59.456", "day", "2013-05-17", "2013-05-18"),
        ("100%% %Y", "100% 2013", "year", "2013", "2014"),
    ],
)
def test_a_pattern_says_when(pattern, text, every, first, last):
    axis = periods(first, last, every=every, other="else", spelling=Spelling(pattern=pattern))
    assert axis.place(text) == 0
    assert axis.labels[0] == (axis.labels[0][0], "else")
    if "%q" not in pattern:  # Python's own reader is the second opinion
        assert datetime.strptime(text, pattern).isoformat().startswith(first)


@pytest.mark.parametrize("text", ["31.02.2013", "2013-17-05", "2013/05/17", "17.05.13", "x17.05.2013", "17.13.2013"])
def test_what_a_pattern_does_not_spell_is_no_time(text):
    days = ut.Domain(x=periods("2013-05-17", "2013-05-18", every="day", spelling=Spelling(pattern="%d.%m.%Y")))
    assert ut.count_table({"x": ["17.05.2013 "]}, days, ut.Counting(each_row=True)).cells.tolist() == [1]
    with pytest.raises(BadTable):
        ut.count_table({"x": [text]}, days, ut.Counting(each_row=True))


@pytest.mark.parametrize(
    "pattern", ["", "%d.%m", "%Y-%d", "%Y %Y", "%Y %y", "%Q", "%", "%Y %H", "%Y-%m-%d %I", "%q %m %Y"]
)
def test_patterns_that_leave_something_open_are_refused(pattern):
    with pytest.raises(OutOfRange):
        periods("2013", "2014", every="year", spelling=Spelling(pattern=pattern))


def test_an_integer_has_lost_the_zeros_of_its_day():
    days = periods("2013-05-07", "2013-05-09", every="day", spelling=Spelling(pattern="%d%m%Y"))
    for cells in (["07052013", "08052013"], [7052013, 8052013]):
        assert ut.count_table({"x": cells}, ut.Domain(x=days), ut.Counting(each_row=True)).cells.tolist() == [1, 1]


@pytest.mark.parametrize("table", [pd.DataFrame, dict])
@pytest.mark.parametrize("gap", [[], [np.nan]])
def test_groups_of_cut_are_counted_beside_a_gap(table, gap):
    """pandas lists such intervals as floats once a cell is missing."""
    cut = pd.cut(pd.Series([1, 5, 12, *gap]), [0, 5, 10, 20])
    counted = ut.count_table(table({"x": cut}), ut.Domain(x=list(cut.cat.categories)), ut.Counting(each_row=True))
    assert counted.cells.tolist() == [2, 0, 1]
    released = ut.release(
        pd.DataFrame({"x": cut, "n": 1}), ut.Promise(columns="n", public="x", unit=ut.Unit(1, 1)), epsilon=1, once=True
    )
    assert str(released.table["x"][0]) == "(0, 5]"


def saved(book, folder):
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


SHEETS = {
    "a formula": (lambda sheet: sheet.append(["m", "=1+2"]), "cell B3: a formula must have a stored value"),
    "merged cells": (lambda sheet: sheet.merge_cells("A2:B2"), "cells A2:B2: the cells of a table must not be merged"),
    "a merged header": (lambda sheet: sheet.merge_cells("A1:B1"), "cells A1:B1"),
    "a title": (lambda sheet: sheet.insert_rows(1) or sheet.__setitem__("A1", "Title"), "header must be the first row"),
    "two names alike": (lambda sheet: sheet.__setitem__("B1", "p"), "header must be the first row"),
}


@pytest.mark.parametrize("kind", SHEETS)
def test_odd_sheets_are_refused_by_their_cell(kind, tmp_path):
    book = openpyxl.Workbook()
    for row in (["p", "x"], ["n", 4]):
        book.active.append(row)
    spoil, said = SHEETS[kind]
    spoil(book.active)
    with pytest.raises(BadTable, match=re.escape(said)):
        ut.count_table(saved(book, tmp_path), {"p": ["n"]}, ut.Counting(each_row=True))


def test_a_merged_cell_is_found_wherever_a_piece_of_the_file_ends(tmp_path, monkeypatch):
    book = openpyxl.Workbook()
    for row in (["p", "x"], ["n", 4]):
        book.active.append(row)
    book.active.merge_cells("A2:B2")
    for chunk in range(20, 60):
        # Planted where it is used: a piece ends at each place.
        set_sizes(monkeypatch, sheet_characters=chunk)
        with pytest.raises(BadTable, match="A2:B2"):
            ut.count_table(saved(book, tmp_path), {"p": ["n"]}, ut.Counting(each_row=True))


def test_dates_of_a_workbook_are_dates_where_they_are_counted_and_text_where_they_are_published(tmp_path):
    book = openpyxl.Workbook()
    for row in (["day", "n"], [datetime(2013, 1, 2), 1], [datetime(2013, 1, 2, 9, 30), 2]):
        book.active.append(row)
    path = saved(book, tmp_path)
    made = ut.release(path, ut.Promise("n", public="day", unit=ut.Unit(1, 1)), epsilon=1, once=True)
    assert made.table["day"] == ["2013-01-02", "2013-01-02 09:30:00"]
    days = ut.Domain(day=periods("2013-01-01", "2013-01-04", every="day"))
    assert ut.count_table(path, days, ut.Counting(each_row=True)).cells.tolist() == [0, 2, 0]


UNNAMED = {
    "csv": '"","s"\n"1","m"\n"2","f"\n',
    "tsv": "\ts\n1\tm\n2\tf\n",
    "two": '"","s",""\n"1","m",""\n"2","f",""\n',
}


@pytest.mark.parametrize("kind", UNNAMED)
def test_a_column_without_a_name_stops_no_count_and_is_dropped_by_its_place(run, kind, tmp_path):
    path = tmp_path / ("t.tsv" if kind == "tsv" else "t.csv")
    path.write_text(UNNAMED[kind])
    assert ut.count_table(path, {"s": ["m", "f"]}, ut.Counting(each_row=True)).cells.tolist() == [1, 1]
    asked = [
        "release",
        path,
        "--columns",
        "column 1",
        "--public",
        "s",
        "--sensitivity",
        1,
        "--cells",
        1,
        "--epsilon",
        1,
    ]
    if kind == "two":
        code, _, err = run(*asked)
        assert (code, "got 'column 3'. Pass --drop" in err) == (2, True)
        asked += ["--drop", "column 3"]
    code = run(*asked, "--out", tmp_path / f"o{path.suffix}")[0]
    assert code == 0
    assert run("verify", tmp_path / f"o{path.suffix}")[0] == 0


def test_a_column_without_a_name_stops_no_count_of_a_workbook(tmp_path):
    book = openpyxl.Workbook()
    for row in ([None, "s"], [1, "m"], [2, "f"]):
        book.active.append(row)
    assert ut.count_table(saved(book, tmp_path), {"s": ["m", "f"]}, ut.Counting(each_row=True)).cells.tolist() == [1, 1]


def test_nested_cells_stop_no_count_by_another_column(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"s": "m", "tags": [1, 2]}\n{"s": "f", "tags": {"a": 1}}\n')
    assert ut.count_table(tmp_path / "t.jsonl", {"s": ["m", "f"]}, ut.Counting(each_row=True)).cells.tolist() == [1, 1]
    with pytest.raises(BadTable, match="plain cells"):
        ut.release(tmp_path / "t.jsonl", ut.Promise("s", unit=ut.Unit(1, 1)), epsilon=1, once=True)


ODD = {
    "1,234": "a comma before three digits",
    "1,234,567": "commas between thousands",
    "1.234,50": "points between thousands",
    "1'234.50": "apostrophes between thousands",
    "1\u2019234": "apostrophes between thousands",
    "1 234,50": "blanks between thousands",
    "1\u00a0234": "blanks between thousands",
    "12,5": "a comma before its decimals",
    "EUR 12.50": "a currency or a unit",
    "12,3O": "a letter in place of a digit",
    "12.50 €": "a currency or a unit",
    "(500.00)": "in parentheses",
    "500.00-": "its sign at the end",
    "\u2212500": "a typographic minus sign",
    "12%": "a per cent sign",
    "NA": "often marks a missing cell",
    "..": "often marks a missing cell",
    "about 7 or so": "text that is no number",
    "Köln": "text that is no number",
}


@pytest.mark.parametrize("cell", ODD)
def test_odd_numbers_are_named_by_their_kind_and_never_quoted(run, cell, tmp_path):
    (tmp_path / "t.tsv").write_text(f"r\tn\nNord\t{cell}\n", encoding="utf-8")
    asked = ["release", tmp_path / "t.tsv", "--columns", "n", "--public", "r", "--sensitivity", 1, "--cells", 1]
    code, out, err = run(*asked, "--epsilon", 1)
    assert (code, out) == (1, "")
    assert ODD[cell] in err
    assert cell not in err or "missing" in ODD[cell]


MENDED = ["1,234", "1,234,567", "1.234,50", "1'234", "1 234", "12,5"]


@pytest.mark.parametrize("cell", MENDED)
def test_the_remedy_of_a_message_mends_it(run, cell, tmp_path):
    """The options are taken from the message, added, and the table is released."""
    table = tmp_path / "t.tsv"
    table.write_text(f"r\tn\nNord\t{cell}\n", encoding="utf-8")
    asked = ["release", table, "--columns", "n", "--public", "r", "--sensitivity", 1, "--cells", 1, "--epsilon", 1]
    asked += ["--numbers", "reals"]
    err = run(*with_recipe(*asked))[2]
    lines = re.findall(r'--(thousands|decimal) "?(,|\.(?=")|\w+)', err)
    for key, value in lines[:1] if cell == "1,234" else lines:
        asked += [f"--{key}", value]
    assert run(*with_recipe(*asked, "--out", tmp_path / "o.csv"))[0] == 0, err


def test_three_decimals_may_be_thousands(run, tmp_path):
    (tmp_path / "t.csv").write_text("r;n\nNord;1.234\n")
    asked = ["release", tmp_path / "t.csv", "--columns", "n", "--public", "r", "--sensitivity", 1, "--cells", 1]
    err = run(*asked, "--epsilon", 1)[2]
    assert '--decimal , --thousands "."' in err
    more = ["--thousands", ".", "--decimal", ",", "--out", tmp_path / "o.csv"]
    assert run(*with_recipe(*asked, "--epsilon", 1, *more))[0] == 0


def test_a_step_is_named_where_amounts_have_decimals(run, tmp_path):
    (tmp_path / "t.csv").write_text("p,paid\n1,12.50\n")
    (tmp_path / "d.json").write_text('{"p2": ["x"]}')
    asked = ["count", tmp_path / "t.csv", "--person", "p", "--at-most", 1, "--values", "paid", "--per-cell", 100]
    (tmp_path / "d.json").write_text("{}")
    assert "--step 0.01" in run(*asked, "--domain", tmp_path / "d.json")[2]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet", "t.xlsx"])
def test_options_and_arguments_say_the_same_of_every_format(run, name, tmp_path):
    cells = {"p": ["a", "b", "c"], "x": ["1.500", "5,5", "NA"]}
    path = tmp_path / name
    frame = pd.DataFrame(cells)
    {
        "t.csv": lambda: frame.to_csv(path, index=False, sep=";"),
        "t.jsonl": lambda: frame.to_json(path, orient="records", lines=True),
        "t.parquet": lambda: frame.to_parquet(path),
        "t.xlsx": lambda: frame.to_excel(path, index=False),
    }[name]()
    domain = {"x": {"edges": [0, 10, None], "whole": False, "missing": "none"}}
    words = {"decimal": ",", "thousands": ".", "missing_marks": ["NA"]}
    assert counted_with(path, person="p", at_most=1, domain=domain, **words).cells.tolist() == [1, 1, 1]
    (tmp_path / "d.json").write_text('{"x": {"edges": [0, 10, null], "whole": false, "missing": "none"}}')
    asked = ["count", path, "--person", "p", "--at-most", 1, "--domain", tmp_path / "d.json", "--out", "-"]
    code, out, err = run(*asked, "--decimal", ",", "--thousands", ".", "--missing-marks", "NA,.")
    assert (code, [line.split(",")[-1] for line in out.splitlines()[-3:]]) == (0, ["1", "1", "1"]), err


def test_bounds_and_tables_of_cells_are_read_alike():
    events = {"p": ["a", "a", "b"], "x": ["5,5", "NA", "1.500"], "paid": ["1,5", "2", "1.000"]}
    words = {"decimal": ",", "thousands": ".", "missing_marks": ["NA"]}
    domain = ut.Domain(x=edges([0, 10, None], whole=False, missing="none"))
    bounds = contributions_with(
        events, person="p", domain=domain, per_cell=[10, 2000], values="paid", step="0.5", **words
    )
    assert bounds.cells.tolist() == [1, 1, 0]
    cells = {"x": ["5,5", "1.500", "NA"], "n": ["1.000", "2", "3"]}
    table = ut.counting.cells_table(cells, domain, unit=ut.Unit(1, 1), counts="n", spelling=ut.Spelling(**words))
    assert table.cells.tolist() == [1000, 2, 3]


def test_labels_of_a_table_of_cells_keep_their_zeros():
    domain = ut.Domain(r=["01", "02"])
    for table in ({"r": ["01", "02"], "n": ["5", "6"]}, {"r": [1, 2], "n": [5, 6]}):
        counted = ut.counting.cells_table(table, domain, unit=ut.Unit(1, 1), counts="n")
        assert counted.cells.tolist() == [5, 6]


def test_keys_that_are_missing_are_never_named(run, tmp_path):
    events = {"p": ["a", "b", "c", "d"], "k": ["x", "nan", "NA", None]}
    counts = ut.counting.count_keys(
        events, person="p", column="k", at_most=1, spelling=ut.Spelling(missing_marks=["NA"])
    )
    assert counts == {"k": ["x"], "count": [1]}
    table = tmp_path / "t.csv"
    table.write_text("p,k\n" + "".join(f"{who},{'NA' if who % 2 else 'x'}\n" for who in range(400)))
    asked = ["count", table, "--person", "p", "--unknown-keys", "k", "--at-most", 1, "--epsilon", 1, "--delta", "1e-6"]
    assert '"NA"' in run(*asked)[1]
    assert '"NA"' not in run(*asked, "--missing-marks", "NA")[1]


def test_a_declared_currency_stands_before_or_behind_a_number(run, tmp_path):
    """In amounts, on an axis of a domain file and by its option; undeclared, the refusal names the option."""
    (tmp_path / "c.csv").write_text('x,g\n"$1,234.50",a\n$ -12.50,a\n-$3,b\n4 $,b\n7,b\n', encoding="utf-8")
    (tmp_path / "d.json").write_text('{"g": ["a", "b"]}', encoding="utf-8")
    domain = ut.Domain(g=["a", "b"])
    amounts = ut.sum("x", each=(-100, 10000), step="0.01")
    marks = Spelling(thousands=",", currency="$")
    counted = ut.count_table(tmp_path / "c.csv", domain, ut.Counting(each_row=True), measure=amounts, spelling=marks)
    assert counted.cells.tolist() == [122200, 800]
    axis = ut.Domain.of_facts(
        {"x": {"edges": [0, 10, None], "whole": False, "currency": "€", "decimal": ",", "missing": "none"}}
    )
    assert ut.Domain.of_facts(axis.facts()).facts() == axis.facts()
    cells = ut.count_table({"x": ["€5", "12,5 €", None, "7"]}, axis, ut.Counting(each_row=True)).cells
    assert cells.tolist() == [2, 1, 1]
    asked = ["count", tmp_path / "c.csv", "--each-row", "--domain", tmp_path / "d.json", "--values", "x"]
    asked += ["--each=-100,10000", "--step", "0.01", "--out", "-", "--thousands", ","]
    code, _, err = run(*asked)
    assert (code, "--currency $" in err) == (1, True)
    code, _, err = run(*asked, "--currency", "$")
    assert code == 0, err
    for wrong in ("", "5", "-", "a b"):
        with pytest.raises(OutOfRange, match="currency"):
            Spelling(currency=wrong)


@pytest.mark.parametrize(
    ("cell", "came"),
    [
        ("1980-02-30", "a date that does not exist, like 30 February"),
        ("0000-00-00", "a date that does not exist, like 30 February"),
        ("27.7.1956", "text that is not a time"),
    ],
)
@pytest.mark.parametrize("wrap", [dict, pl.DataFrame])
def test_an_unreadable_birth_date_is_refused_with_its_row_and_counts_under_other(cell, came, wrap):
    """It named no row, and no remedy that helps where a file has several spellings."""
    people = wrap({"born": ["1980-01-01"] * 700 + [cell, "1990-01-01"]})

    def ages(**words):
        return ut.Domain(age=ut.workloads.ages("born", [0, 65, None], on="2025-01-01", **words))

    with pytest.raises(BadTable, match=re.escape(f"row 701, column 'born': birth dates must be dates; got {came}")):
        ut.count_table(people, ages(), ut.Counting(each_row=True))
    with pytest.raises(BadTable, match="add other= to the axis"):
        ut.count_table(people, ages(), ut.Counting(each_row=True))
    by_pattern = ages(spelling=ut.Spelling(pattern="%d.%m.%Y"))
    for text, refused in (("31.02.1980", "a date that does not exist"), ("31/02/1980", "does not match the pattern")):
        with pytest.raises(BadTable, match=refused):
            ut.count_table(wrap({"born": ["01.01.1980", text]}), by_pattern, ut.Counting(each_row=True))
    counted = ut.count_table(people, ages(other="unreadable"), ut.Counting(each_row=True))
    assert np.asarray(counted.table("age")["count"]).tolist() == [701, 0, 1]


def test_a_column_with_two_decimal_marks_is_named():
    paid = {"paid": ["1,5", "2.5"]}
    measure = ut.mean("paid", step="0.01", each=(0, 9))
    with pytest.raises(BadTable, match=r"row 2, column 'paid'.* a number whose decimal mark is not ',', as declared"):
        ut.count_table(
            paid, ut.Domain(), ut.Counting(each_row=True), measure=measure, spelling=ut.Spelling(decimal=",")
        )


@pytest.mark.parametrize("pattern", ["%m/%d/%Y", "%d.%m.%Y", "%d%m%Y", "%b %d %Y"])
def test_iso_dates_are_read_beside_a_pattern_that_cannot_mean_them(pattern):
    """A file of US dates with some ISO dates lost those, without a word where the axis has a label for other values."""
    days = ages("born", [0, 18, None], on="2025-01-01", other="unreadable", spelling=Spelling(pattern=pattern))
    written = dt.date(2010, 3, 4).strftime(pattern)
    texts = [written, "2010-03-04", "1990-03-04", "2010-30-04", "2010/03/04"]
    assert [days.place(text) for text in texts] == [0, 0, 1, 2, 2]
    table = {"born": [written, "2010-03-04", "1990-03-04", "2010-30-04"]}
    assert ut.count_table(table, ut.Domain(age=days), ut.Counting(each_row=True)).cells.tolist() == [2, 1, 1]


def test_a_pattern_that_begins_with_the_year_reads_by_itself():
    days = ages("born", [0, 18, None], on="2025-01-01", other="unreadable", spelling=Spelling(pattern="%Y-%d-%m"))
    assert [days.place(text) for text in ("2010-04-03", "2010-03-24")] == [0, 2]
    with pytest.raises(WrongKind, match=r"ISO dates.*are read besides it"):
        Spelling(pattern=["%m/%d/%Y", "%Y-%m-%d"])


@pytest.mark.parametrize(("cell", "read"), [("4,5", "4.5"), ("1,234", "1234"), ("$ 3", "3"), ("1.234,50", "1234.5")])
def test_the_remedy_of_a_spelled_number_says_where_it_is_declared(cell, read):
    """The first call in the message, with the arguments of the refused call, reads the number."""
    events = {"who": ["a"], "shop": ["A"], "paid": [cell]}
    paid = ut.sum("paid", each=(0, 2000), per_cell=2000, step="0.5")
    call = functools.partial(ut.count_table, events, {"shop": ["A"]}, ut.Counting("who", at_most=1), measure=paid)
    with pytest.raises(BadTable) as caught:
        call()
    spelling = re.search(r"ut\.count_table\(\.\.\., spelling=(ut\.Spelling\(.*?\))\)", str(caught.value))[1]
    assert call(spelling=eval(spelling, {"ut": ut})).table("shop")["paid"].tolist() == [Fraction(read)]
    with pytest.raises(BadTable, match="Make the column one of numbers"):
        ut.release({"n": [cell]}, ut.Promise("n", unit=ut.Unit(1, 1)), epsilon=1)


def test_a_mark_that_is_a_declared_value_is_warned_of():
    """It lost to the value in silence. Without the value, as the warning says, the same cells are missing."""
    events = {"who": [1, 2, 3], "country": ["NA", "DE", "NA"], "age": [1, 2, 3]}
    one, marks = ut.Counting("who", at_most=1), ut.Spelling(missing_marks=["NA"])

    def counted(values):
        domain = {"country": plain(values, missing="not stated"), "age": bins(0, 4)}
        return ut.count_table(events, ut.Domain(domain), one, by="country", spelling=marks).cells.tolist()

    with pytest.warns(PrivacyWarning, match="'NA' of missing cells is also a declared value of country") as warned:
        assert counted(["DE", "NA"]) == [1, 2, 0]
    assert "leave it out of the values of country" in str(warned[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        assert counted(["DE"]) == [1, 2]
