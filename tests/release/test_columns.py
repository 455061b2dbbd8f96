"""Cells: every one becomes the number it is, or is refused with its row and column."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import BadTable
from utmost.tables.cells.columns import check_distinct, integer_column, real_column


def row(position):
    return f"row {position + 1}"


@given(st.lists(st.integers(-(2**80), 2**80)))
def test_integers_are_read_as_they_are(values):
    """Every integer survives, of any size; int64 is used exactly when all of them fit."""
    cells = integer_column(values, "n", row)
    assert cells.tolist() == values
    assert (cells.dtype == np.int64) == all(-(2**63) <= v < 2**63 for v in values)


@pytest.mark.parametrize(
    "column",
    [
        [1, 2.0, Decimal("3"), Fraction(4), np.int8(5), np.float32(6)],
        np.array([1, 2, 3, 4, 5, 6], dtype=np.uint64),
        np.array([1.0, 2, 3, 4, 5, 6]),
        np.array([1, 2, 3, 4, 5, 6], dtype=np.int16),
        np.array([1, 2, 3, 4, 5, 6], dtype=object),
        (1, 2, 3, 4, 5, 6),
        range(1, 7),
    ],
)
def test_whole_numbers_of_every_type_are_integers(column):
    cells = integer_column(column, "n", row)
    assert cells.dtype == np.int64
    assert cells.tolist() == [1, 2, 3, 4, 5, 6]


def test_integers_beyond_int64_stay_python_ints():
    assert integer_column(np.array([2**64 - 1], dtype=np.uint64), "n", row).tolist() == [2**64 - 1]
    assert integer_column([1e300], "n", row).tolist() == [int(1e300)]


NO_NUMBERS = [None, "", "12", b"12", True, np.True_, float("nan"), float("inf"), Decimal("NaN"), 1j, [1], {}]


@pytest.mark.parametrize("bad", [1.5, *NO_NUMBERS], ids=repr)
def test_a_cell_that_is_no_integer_is_refused_with_its_place(bad):
    with pytest.raises(BadTable, match=r"row 3, column 'n': the cell must be an integer"):
        integer_column([1, 2, bad, 4], "n", row)


@pytest.mark.parametrize("bad", NO_NUMBERS, ids=repr)
def test_a_cell_that_is_no_real_number_is_refused_with_its_place(bad):
    with pytest.raises(BadTable, match=r"row 3, column 'x': the cell must be a finite number"):
        real_column([1, 2, bad, 4], "x", row)


@pytest.mark.parametrize(
    "column",
    [
        np.array([1.0, np.nan, 2.5]),
        np.array([1.0, np.inf]),
        np.array([True, False]),
        np.array(["1", "2"]),
        np.array(["2024-01-01"], dtype="datetime64[D]"),
        np.array([1 + 0j]),
        np.ma.masked_array([1, 2, 3], mask=[False, True, False]),
    ],
    ids=lambda c: str(c.dtype),
)
def test_arrays_of_anything_else_are_refused(column):
    with pytest.raises(BadTable, match=r"row [12], column 'x'"):
        integer_column(column, "x", row)
    with pytest.raises(BadTable, match=r"row [12], column 'x'"):
        real_column(column, "x", row)


@pytest.mark.parametrize("column", ["12", b"12", 12, None, np.zeros((2, 2)), np.float64(1), {1}, {1: 2}], ids=repr)
@pytest.mark.parametrize("read", [integer_column, real_column])
def test_a_column_must_be_one_dimensional(read, column):
    with pytest.raises(BadTable, match="column 'x'"):
        read(column, "x", row)


def test_real_column_that_are_all_floats_stay_floats():
    assert real_column([0.1, 2.5], "x", row).dtype == np.float64
    assert real_column(np.array([0.1], dtype=np.float32), "x", row).dtype == np.float64


@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=20), min_size=1))
def test_decimals_are_read_without_rounding(values):
    assert real_column(values, "x", row).tolist() == [Fraction(v) for v in values]


def test_an_empty_column_is_fine():
    assert integer_column([], "n", row).shape == (0,)
    assert real_column([], "x", row).shape == (0,)


def test_the_remedy_fits_the_cell():
    with pytest.raises(BadTable, match="Fill it or drop the row"):
        integer_column([None], "n", row)
    with pytest.raises(BadTable, match='numbers="reals"'):
        integer_column([1.5], "n", row)
    with pytest.raises(BadTable, match="for whom it is true"):
        integer_column([True], "n", row)


@pytest.mark.parametrize("missing", [pd.NA, pd.NaT, None, "", " ", float("nan")])
def test_every_way_of_saying_missing_is_understood(missing):
    for read in (integer_column, real_column):
        for column in ([1, missing], pd.Series([1, missing], dtype=object), np.array([1, missing], dtype=object)):
            with pytest.raises(BadTable, match=r"row 2, .*Fill it or drop the row"):
                read(column, "n", row)


@pytest.mark.parametrize(
    "missing",
    [pd.NA, pd.NaT, None, "", float("nan"), np.float32("nan"), Decimal("NaN"), Decimal("sNaN"), [1], ([],)],
    ids=repr,
)
def test_a_missing_identifier_is_refused(missing):
    with pytest.raises(BadTable, match="row 2, column 'id': every row must have an identifier"):
        check_distinct(["a", missing], "id", row)


def test_an_identifier_in_two_rows_is_refused_with_both():
    with pytest.raises(
        BadTable, match="row 3, column 'id': identifiers must be distinct; got the one that is also in row 1"
    ):
        check_distinct(["a", "b", "a"], "id", row)
    check_distinct(np.array(["a", "b"]), "id", row)


@pytest.mark.parametrize("kind", [list, np.array], ids=["list", "array"])
@pytest.mark.parametrize("keys", [[3, 1, 2], ["c", "a", "ä"], [2**63, 1, 0]], ids=["integers", "texts", "large"])
def test_whole_columns_are_distinct_where_their_rows_are(kind, keys):
    """What is known of a column at once is what its rows say one by one; a blank text is nothing at all."""
    check_distinct(kind(keys), "id", row)
    check_distinct(kind(keys[:0]), "id", row)
    with pytest.raises(BadTable, match=r"row 4, column 'id': identifiers must be distinct; .* row 2"):
        check_distinct(kind([*keys, keys[1]]), "id", row)
    if isinstance(keys[0], str):
        with pytest.raises(BadTable, match="row 4, column 'id': every row must have an identifier"):
            check_distinct(kind([*keys, " "]), "id", row)
    with pytest.raises(BadTable, match=r"row 2, column 'id': identifiers must be distinct; .* row 1"):
        check_distinct([1, True], "id", row)


@pytest.mark.parametrize(
    "bad", [9876543.5, "9876543x", Decimal("9876543.5"), ["9876543"], b"9876543", 9876543j], ids=repr
)
def test_no_refusal_tells_a_cell_or_an_identifier(bad):
    refusals = [
        lambda: integer_column([1, bad], "n", row),
        lambda: real_column([1, bad if not isinstance(bad, float | Decimal) else "9876543"], "n", row),
        lambda: check_distinct([bad, bad], "id", row),
        lambda: integer_column(b"9876543", "n", row),
        lambda: real_column({9876543}, "n", row),
    ]
    for refused in refusals:
        with pytest.raises(BadTable) as found:
            refused()
        assert "9876543" not in f"{found.value} {found.value.came!r} {found.value.args}"
        assert found.value.__cause__ is None
