"""The two kinds of numbers: what is exact, what is float64, and what is refused."""

import copy
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from utmost.errors import NotANumber
from utmost.exact import as_array, fractions, is_exact, same_numbers, to_floats


@pytest.mark.parametrize(
    "values",
    [
        [1, 2],
        ["1/2", "0.25"],
        [Decimal("0.1"), Fraction(1, 3), 7],
        np.array([1, 2], dtype=np.uint8),
        np.array(["1/2", "3"]),
        [],
        10**30,
        [10**30, -(10**30)],
    ],
)
def test_numbers_without_a_float_are_exact(values):
    """Integers, Fractions, Decimals and text make an array of Fractions."""
    array = as_array(values)
    assert is_exact(array)
    assert all(type(x) is Fraction for x in array.flat)


@pytest.mark.parametrize("values", [[1, 0.5], ["1/2", 0.5], np.float32([0.5]), [np.float64(1)], 0.5])
def test_one_float_makes_the_array_float64(values):
    """A number that was rounded once cannot make an exact array."""
    assert as_array(values).dtype == np.float64


def test_entries_are_the_numbers_that_were_given():
    """Text and Decimals are read exactly; floats are kept as they are."""
    assert as_array([["0.1", Decimal("1e-3")], [2000, "-1/3"]]).tolist() == [
        [Fraction(1, 10), Fraction(1, 1000)],
        [Fraction(2000), Fraction(-1, 3)],
    ]
    assert as_array([0.1, "1/3"]).tolist() == [0.1, 1 / 3]


@pytest.mark.parametrize(
    ("values", "where"),
    [
        ([True, 0.5], r"entry \[0\]"),
        ([1, None], r"entry \[1\]"),
        ([[0.0, 1.0], [float("nan"), 1.0]], r"entry \[1, 0\]"),
        (np.array([0.0, np.inf]), r"entry \[1\]"),
        (["1", "x"], r"entry \[1\]"),
        (["1/0"], r"entry \[0\]"),
        ([1, 2 + 0j], "must hold numbers"),
        (np.array([True]), "must hold numbers"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "must hold numbers"),
        (np.array([1], dtype=np.longdouble), "must hold numbers"),
        ([[1], [1, 2]], "rectangular"),
        ([1, [2]], "rectangular"),
        (None, "finite number"),
        (True, "finite number"),
        (float("nan"), "array must be a finite number"),
        (np.array(np.inf), "array must be a finite number"),
        ({"a": 1}, "rectangular"),
    ],
)
def test_everything_else_is_refused_with_its_position(values, where):
    """Booleans, None, NaN, infinities, complex numbers, dates and ragged lists are no arrays of numbers."""
    with pytest.raises(NotANumber, match=where):
        as_array(values)


def test_the_copy_is_read_only_and_independent():
    """Changing the original changes nothing, and the copy cannot be changed."""
    for original in (np.array([0.5, 0.5]), np.array([Fraction(1, 2)], dtype=object)):
        array = as_array(original)
        original[0] = Fraction(1)
        assert array[0] == Fraction(1, 2)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_one_kind_leaves_exactness_only_where_a_float_is_among_them():
    """Exact with exact stays exact; a float takes all with it."""
    exact, floats = as_array(["1/2"]), as_array([0.5])
    assert all(is_exact(a) for a in same_numbers(exact, exact))
    assert not any(is_exact(a) for a in same_numbers(exact, floats))
    assert to_floats(exact).tolist() == [0.5]


def test_integers_of_any_size_become_fractions():
    """Small and large integers alike, in any shape."""
    array = fractions(np.array([[0, 1024], [1025, -3]]))
    assert array.tolist() == [[0, 1024], [1025, -3]]
    assert all(type(x) is Fraction for x in copy.deepcopy(array).flat)
