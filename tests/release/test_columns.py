"""Every cell is read as the number that it is, or is refused with its row and column before anything is drawn."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import utmost as ut
from repeated_bits import nothing_is_drawn
from utmost.errors import BadTable

ONE = ut.Unit(1, 1)
INTEGERS = ut.Promise("n", unit=ONE)
REALS = ut.Promise("n", noise=ut.CellNoise(ONE, numbers="reals"))
KEYED = ut.Promise("n", unit=ONE, keyed_by_id=True, id_column="id", public="id")


def released(column, promise=INTEGERS):
    """The column as released at a level without noise."""
    return ut.release({"n": column}, promise, epsilon=5000, once=True).table["n"]


def refused(table, promise, says):
    with nothing_is_drawn(), pytest.raises(BadTable, match=says) as found:
        ut.release(table, promise, epsilon=1, once=True)
    return found.value


@given(st.lists(st.integers(-(2**80), 2**80), min_size=1))
def test_integers_are_read_as_they_are(values):
    """Integers of any size are unchanged; an array is int64 exactly if all of them fit."""
    assert list(released(values)) == values
    cells = released(np.array(values, dtype=object))
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
    assert list(released(column)) == [1, 2, 3, 4, 5, 6]


def test_integers_beyond_int64_stay_python_ints():
    assert list(released(np.array([2**64 - 1], dtype=np.uint64))) == [2**64 - 1]
    assert list(released([1e300])) == [int(1e300)]


TIMES = [np.timedelta64(2, unit) for unit in ("D", "ns")]
NO_NUMBERS = [None, "", "12", b"12", True, np.True_, float("nan"), float("inf"), Decimal("NaN"), 1j, [1], {}, *TIMES]


@pytest.mark.parametrize("bad", [1.5, *NO_NUMBERS], ids=repr)
def test_a_cell_that_is_no_integer_is_refused_with_its_place(bad):
    refused({"n": [1, 2, bad, 4]}, INTEGERS, r"row 3 .*column 'n': the cell must be an integer")


@pytest.mark.parametrize("bad", NO_NUMBERS, ids=repr)
def test_a_cell_that_is_no_real_number_is_refused_with_its_place(bad):
    refused({"n": [1, 2, bad, 4]}, REALS, r"row 3 .*column 'n': the cell must be a finite number")


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
@pytest.mark.parametrize("promise", [INTEGERS, REALS], ids=["integers", "reals"])
def test_arrays_of_anything_else_are_refused(column, promise):
    refused({"n": column}, promise, r"row [12] .*column 'n'")


@pytest.mark.parametrize("column", ["12", b"12", 12, None, np.zeros((2, 2)), np.float64(1), {1}, {1: 2}], ids=repr)
@pytest.mark.parametrize("promise", [INTEGERS, REALS], ids=["integers", "reals"])
def test_a_column_must_be_one_dimensional(column, promise):
    refused({"n": column}, promise, "column 'n'")


@pytest.mark.parametrize(("cell", "remedy"), [(1.5, 'numbers="reals"'), (True, "for whom it is true")])
def test_the_remedy_fits_the_cell(cell, remedy):
    refused({"n": [cell]}, INTEGERS, remedy)


@pytest.mark.parametrize("missing", [pd.NA, pd.NaT, None, "", " ", float("nan")])
@pytest.mark.parametrize("promise", [INTEGERS, REALS], ids=["integers", "reals"])
def test_every_way_of_saying_missing_is_understood(missing, promise):
    for column in ([1, missing], pd.Series([1, missing], dtype=object), np.array([1, missing], dtype=object)):
        refused({"n": column}, promise, r"row 2 .*Fill it or drop the row")


@pytest.mark.parametrize(
    "missing",
    [pd.NA, pd.NaT, None, "", float("nan"), np.float32("nan"), Decimal("NaN"), Decimal("sNaN"), [1], ([],)],
    ids=repr,
)
def test_a_missing_identifier_is_refused(missing):
    refused({"id": ["a", missing], "n": [1, 2]}, KEYED, r"row 2 .*column 'id': every row must have an identifier")


@pytest.mark.parametrize("kind", [list, np.array], ids=["list", "array"])
@pytest.mark.parametrize("keys", [[3, 1, 2], ["c", "a", "ä"], [2**63, 1, 0]], ids=["integers", "texts", "large"])
def test_identifiers_are_distinct_or_refused_with_both_rows(kind, keys):
    assert len(ut.release({"id": kind(keys), "n": [1, 2, 3]}, KEYED, epsilon=1, once=True).table["n"]) == 3
    twice = {"id": kind([*keys, keys[1]]), "n": [1, 2, 3, 4]}
    refused(twice, KEYED, r"row 4 .*column 'id': identifiers must be distinct; .* row 2")
    if isinstance(keys[0], str):
        refused({"id": kind([*keys, " "]), "n": [1] * 4}, KEYED, r"row 4 .*every row must have an identifier")
    refused({"id": [1, True], "n": [1, 2]}, KEYED, r"row 2 .*column 'id': identifiers must be distinct; .* row 1")


@pytest.mark.parametrize(
    "bad", [9876543.5, "9876543x", Decimal("9876543.5"), ["9876543"], b"9876543", 9876543j], ids=repr
)
def test_no_refusal_tells_a_cell_or_an_identifier(bad):
    real = bad if not isinstance(bad, float | Decimal) else "9876543"
    for table, promise in (
        ({"n": [1, bad]}, INTEGERS),
        ({"n": [1, real]}, REALS),
        ({"id": [bad, bad], "n": [1, 2]}, KEYED),
        ({"n": b"9876543"}, INTEGERS),
        ({"n": {9876543}}, REALS),
    ):
        found = refused(table, promise, ".")
        assert "9876543" not in f"{found} {found.came!r} {found.args}"
        assert found.__cause__ is None
