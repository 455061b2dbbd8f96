"""Small functions of utmost.tables, each with one example."""

from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np

from utmost.core.exact.arrays import objects
from utmost.core.privacy.amount import Amount
from utmost.tables.axes.axes import label_text, text_of
from utmost.tables.axes.axis_facts import axis_of_facts, spelled_periods
from utmost.tables.axes.clock import DAY, Clock, Period, read_time, shown_time
from utmost.tables.axes.domain import finest_common, is_finer, with_level, words_in
from utmost.tables.axes.hat_functions import class_code, class_number, hat_count, hat_rows, hat_spread, hat_sums
from utmost.tables.cells.axis_places import places_on
from utmost.tables.cells.cell_values import is_masked_array
from utmost.tables.cells.columns import exact_column, is_hashable, is_missing, is_plainly_there
from utmost.tables.cells.event_amounts import rounded_amounts, without_missing
from utmost.tables.cells.odd_cells import looks_missing, odd_number
from utmost.tables.cells.spelling import Spelling
from utmost.tables.cells.time_cells import period_reader
from utmost.tables.files.codebooks import _groups
from utmost.tables.files.csv_table import _named_header
from utmost.tables.files.files import ending_of
from utmost.tables.files.sidecars import sidecar_path
from utmost.tables.files.signatures import signature_path
from utmost.tables.files.table_formats import with_blanks
from utmost.tables.files.text_files import ending_of_content, read_encoding, read_separator
from utmost.tables.files.toml_files import toml_key
from utmost.tables.frames.adapters import column_order, distinct_names
from utmost.tables.frames.any_table import is_engine_table, opened_table, published_names
from utmost.tables.frames.pandas_frames import is_pandas
from utmost.tables.frames.wide_integers import wide_in_arrow
from utmost.workloads import bins, periods, plain


def test_text_of():
    assert (text_of(7), text_of("7"), text_of(np.int64(7)), text_of(True), text_of(7.0)) == ("7", "7", "7", None, None)
    assert (text_of(Decimal("7")), text_of(Decimal("7.0"))) == ("7", None)


def test_label_text():
    assert (label_text(True), label_text(np.bool_(False)), label_text(7.0)) == ("true", "false", None)


def test_axis_of_facts():
    assert axis_of_facts("age", {"bins": [0, 18, 65, None]}).labels[0] == ("0 to 17", "18 to 64", "65+")


def test_spelled_periods():
    assert spelled_periods({"months": ["2025-01", "2026-01"], "missing": "not stated"}) == {
        "periods": ["2025-01", "2026-01"],
        "every": "month",
        "missing": "not stated",
    }


def test_period_starting():
    assert (shown_time(Period("week").starting(0)), shown_time(Period("quarter").starting(100 * DAY))) == (
        "1969-12-29",
        "1970-04-01",
    )


def test_clock_span():
    half_past_one_on_july_2nd = (1372728600, 1372728601)
    assert Clock(Period("day"), "Europe/Paris").span("2013-07-01T23:30Z") == half_past_one_on_july_2nd


def test_read_time():
    assert (read_time("1970-01-02", "start"), read_time(date(1970, 2, 1), "stop") // DAY) == (86400, 31)


def test_shown_time():
    assert (shown_time(0), shown_time(3600)) == ("1970-01-01", "1970-01-01T01:00:00")


def test_words_in():
    assert list(words_in("age group sex", {"age group", "sex"}.__contains__)) == ["age group", "sex"]


def test_with_level():
    assert with_level((0, 1, 0), 1, 2) == (0, 2, 0)


def test_finest_common():
    assert finest_common([(0, 1), (1, 0)]) == (0, 0)


def test_is_finer():
    assert (is_finer((0, 1), (0, 2)), is_finer((0, 1), (1, 0))) == (True, False)


def test_class_code():
    assert (class_number(class_code(3)), class_number(-3), class_number(0)) == (3, None, None)


def test_hat_count():
    assert [hat_count(10, spacing) for spacing in (2, 4, 5, 100)] == [6, 4, 4, 2]


def test_hat_sums():
    assert hat_sums(np.array([1, 1, 1, 1, 1]), 2).tolist() == [1, 4, 4, 1]


def test_hat_spread():
    assert hat_spread(np.array([1, 1, 1]), 4, 2).tolist() == [2, 2, 2, 2]


def test_hat_rows():
    assert hat_rows(6, 3).tolist() == [[1, 0, 0, 0, 0, 0], [2, 3, 2, 1, 0, 0], [0, 0, 1, 2, 3, 2], [0, 0, 0, 0, 0, 1]]


def test_places_on():
    assert places_on(plain(["A", "B"]), "department")(["B", "C", None, "nan"]).tolist() == [1, -1, -2, -2]
    assert places_on(bins(0, 1, width="0.1"), "share")(np.array([0.3, 0.7, 1.0])).tolist() == [3, 7, -1]


def test_is_masked_array():
    assert not (is_masked_array(np.array([1])))


def test_is_plainly_there():
    assert (is_plainly_there(["a", "b"]), is_plainly_there(["a", " "]), is_plainly_there([1, True])) == (
        True,
        False,
        False,
    )


def test_is_missing():
    assert [is_missing(cell) for cell in (None, " ", float("nan"), Decimal("NaN"), 0, "0")] == [
        True,
        True,
        True,
        True,
        False,
        False,
    ]


def test_is_hashable():
    assert (is_hashable((1, "a")), is_hashable((1, []))) == (True, False)


def test_exact_column():
    assert exact_column(objects([Fraction(1, 2), Fraction(-0)])).tolist() == [0.5, 0.0]


def test_rounded_amounts():
    assert rounded_amounts([0.125, 0.375, 2], "spent", 0, Amount("spent", "0.25")).tolist() == [0, 2, 8]


def test_without_missing():
    column, missing = without_missing(["7", "NA", None], Spelling(missing_marks=["NA"]))
    assert (column, missing.tolist()) == ([7, 0, 0], [False, True, True])


def test_looks_missing():
    assert [looks_missing(text) for text in ("NA", " .. ", "7")] == [True, True, False]


def test_odd_number():
    assert odd_number("1,234.50", Spelling())[0] == "a number with commas between thousands"


def test_period_reader():
    months = periods("2013-01", "2013-04", every="month", missing="unknown")
    assert period_reader(months, "date")(["2013-02-28", "2013-04-01", None, "2013-01"]).tolist() == [1, -1, 3, 0]


def test_groups():
    assert (
        _groups(Decimal("120.5"), Decimal(210), has_decimals=True),
        _groups(Decimal(1), Decimal(5), has_decimals=False),
    ) == ({"bins": [120, 215], "width": 5}, {"edges": [1, 2, 3, 4, 5, 6]})


def test_named_header():
    assert _named_header(["", "sex"], Path("t.csv")) == ["column 1", "sex"]


def test_ending_of():
    assert (ending_of(Path("counts.csv.gz")), ending_of(Path("counts.parquet"))) == (".csv", ".parquet")


def test_sidecar_path():
    assert sidecar_path(Path("released.csv")).name == "released.csv.json"


def test_signature_path():
    assert signature_path(Path("released.csv.json")).name == "released.csv.json.sig"


def test_with_blanks():
    assert with_blanks({"n": [5, 7], "n_margin": [3, 3]}, {"n": [5, None], "mark": ["", "x"]}, {"mark": "n"}) == {
        "n": [5, None],
        "mark": ["", "x"],
        "n_margin": [3, 3],
    }


def test_ending_of_content():
    assert (
        ending_of_content(b"ward,n"),
        ending_of_content(b"PAR1..."),
        ending_of_content(b'{"n": 1}\n{"n": 2}\n'),
    ) == (".csv", ".parquet", ".jsonl")


def test_read_separator():
    assert (read_separator("tab"), read_separator(";")) == ("\t", ";")


def test_read_encoding():
    assert (read_encoding("latin1"), read_encoding("UTF8")) == ("iso8859-1", None)


def test_toml_key():
    assert (toml_key("at-most"), toml_key("age group")) == ("at-most", '"age group"')


def test_distinct_names():
    assert distinct_names(["n", "n_margin"]) == ["n", "n_margin"]


def test_column_order():
    assert column_order(["sex", "admitted", "year"], {"admitted_margin": "admitted"}) == [
        "sex",
        "admitted",
        "admitted_margin",
        "year",
    ]


def test_opened_table():
    assert opened_table({"n": [1]}) == {"n": [1]}


def test_is_engine_table():
    assert not (is_engine_table({"n": [1]}))


def test_published_names():
    assert published_names({"n": [1], "n_margin": [3]}) == ["n", "n_margin"]


def test_is_pandas():
    assert not (is_pandas({"n": [1]}))


def test_wide_in_arrow():
    assert (str(wide_in_arrow([1 << 63]).type), str(wide_in_arrow([10**38]).type)) == ("decimal128(38, 0)", "string")
