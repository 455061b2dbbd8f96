"""Small functions of utmost.tables, each with one example."""

from fractions import Fraction

import numpy as np

from utmost.core.exact.arrays import objects
from utmost.tables.axes.axis_facts import spelled_periods
from utmost.tables.axes.domain import with_level, words_in
from utmost.tables.axes.hat_functions import class_code, class_number, hat_count, hat_rows, hat_spread, hat_sums
from utmost.tables.cells.columns import exact_column, is_plainly_there
from utmost.tables.files.text_files import ending_of_content
from utmost.tables.files.toml_files import toml_key
from utmost.tables.frames.any_table import published_names
from utmost.tables.frames.wide_integers import wide_in_arrow


def test_spelled_periods():
    assert spelled_periods({"months": ["2025-01", "2026-01"], "missing": "not stated"}) == {
        "periods": ["2025-01", "2026-01"],
        "every": "month",
        "missing": "not stated",
    }


def test_words_in():
    assert list(words_in("age group sex", {"age group", "sex"}.__contains__)) == ["age group", "sex"]


def test_with_level():
    assert with_level((0, 1, 0), 1, 2) == (0, 2, 0)


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


def test_is_plainly_there():
    assert (is_plainly_there(["a", "b"]), is_plainly_there(["a", " "]), is_plainly_there([1, True])) == (
        True,
        False,
        False,
    )


def test_exact_column():
    assert exact_column(objects([Fraction(1, 2), Fraction(-0)])).tolist() == [0.5, 0.0]


def test_ending_of_content():
    assert (
        ending_of_content(b"ward,n"),
        ending_of_content(b"PAR1..."),
        ending_of_content(b'{"n": 1}\n{"n": 2}\n'),
    ) == (".csv", ".parquet", ".jsonl")


def test_toml_key():
    assert (toml_key("at-most"), toml_key("age group")) == ("at-most", '"age group"')


def test_published_names():
    assert published_names({"n": [1], "n_margin": [3]}) == ["n", "n_margin"]


def test_wide_in_arrow():
    assert (str(wide_in_arrow([1 << 63]).type), str(wide_in_arrow([10**38]).type)) == ("decimal128(38, 0)", "string")
