"""Invalid values, distributions, sources and methods are refused by name and place, and nothing is drawn."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from goodness import Written
from repeated_bits import nothing_is_drawn
from utmost.errors import NotANumber, OutOfRange, Unsupported
from utmost.noise import Geometric, Laplace
from utmost.releases import add_noise

COUNTS, REALS, SILENT = Geometric(epsilon=1), Laplace(epsilon=1, sensitivity=2.5), Geometric(epsilon=5000)


BAD_FOR_INTEGERS = [
    (1.5, "values:"),
    ([1, 2.5], "values[1]:"),
    ([1, None], "values[1]:"),
    ("7", "values:"),
    ([1, "2"], "values[1]:"),
    (True, "values:"),
    ([1, 2, True], "values[2]:"),
    ([[1, 2], [3, math.nan]], "values[1, 1]:"),
    (None, "values:"),
    (np.array([1.5, 2]), "values[0]:"),
    (np.array([True]), "values[0]:"),
    (np.array(["a"]), "values[0]:"),
    (np.array([1 + 2j]), "values[0]:"),
    (np.array(["2020-01-01"], "M8[D]"), "values[0]:"),
    ([Fraction(1, 2)], "values[0]:"),
    ([Decimal("1.5")], "values[0]:"),
    ([Decimal("1e99999999")], "values[0]:"),
    (pd.Series([1, None]), "values[1]:"),
    (pd.Series([1, None], dtype="Int64"), "values[1]:"),
    ({1, 2}, "values:"),
    ({"a": 1}, "values:"),
    ([1, [2]], "values[1]:"),
    (np.array([1.0, np.inf]), "values[1]:"),
    (pl.Series([1, None]), "values[1]:"),
    (np.float64(3.5), "values:"),
    (np.array([1, None], object), "values[1]:"),
]


@pytest.mark.parametrize(("values", "where"), BAD_FOR_INTEGERS, ids=lambda x: repr(x)[:40])
def test_what_is_no_integer_is_refused_by_its_place_before_anything_is_drawn(values, where):
    with nothing_is_drawn(), pytest.raises(NotANumber) as refused:
        add_noise(values, COUNTS)
    assert str(refused.value).startswith(where)


BAD_FOR_REALS = [
    (math.nan, "values:"),
    ([1.0, math.inf], "values[1]:"),
    (np.array([[0, 1], [-np.inf, 2]]), "values[1, 0]:"),
    ([1, None], "values[1]:"),
    ("1.5", "values:"),
    ([1.0, "2"], "values[1]:"),
    (True, "values:"),
    ([1.5, False], "values[1]:"),
    (np.array([True]), "values[0]:"),
    (np.array([1j]), "values[0]:"),
    (Decimal("NaN"), "values:"),
    ([Decimal("Infinity")], "values[0]:"),
    (np.array(["a"]), "values[0]:"),
    (pd.Series([1.5, None]), "values[1]:"),
    ([1.5, np.float32("nan")], "values[1]:"),
    (np.array([1.0, np.nan], np.float16), "values[1]:"),
    (pl.Series([1.5, None]), "values[1]:"),
    (1j, "values:"),
    (Decimal("1e99999999"), "values:"),
    (np.datetime64("2020-01-01"), "values:"),
]


@pytest.mark.parametrize(("values", "where"), BAD_FOR_REALS, ids=lambda x: repr(x)[:40])
def test_what_is_no_finite_number_is_refused_by_its_place_before_anything_is_drawn(values, where):
    with nothing_is_drawn(), pytest.raises(NotANumber) as refused:
        add_noise(values, REALS)
    assert str(refused.value).startswith(where)


def test_masked_values_are_refused_and_unmasked_ones_read():
    masked = np.ma.MaskedArray([[1, 2], [3, 4]], mask=[[False, False], [True, False]])
    with pytest.raises(NotANumber, match=r"values\[1, 0\].*masked"):
        add_noise(masked, COUNTS)
    assert add_noise(np.ma.MaskedArray([1, 2], mask=False), SILENT).tolist() == [1, 2]


def test_a_bad_value_far_into_an_array_is_found_at_its_place():
    values = np.zeros(70_000)
    values[66_666] = np.nan
    with pytest.raises(NotANumber, match=rf"^values\[{66_666}\]:"):
        add_noise(values, REALS)


def test_ragged_lists_are_refused():
    for ragged in ([[1, 2], [3]], [np.array([1, 2]), np.array([[1], [2]])]):
        with pytest.raises(NotANumber, match="values"):
            add_noise(ragged, COUNTS)


def test_a_float_for_a_distribution_on_the_integers_is_told_what_to_use():
    with pytest.raises(NotANumber, match='numbers="reals"'):
        add_noise([1, 2.5], COUNTS)


@pytest.mark.parametrize(
    "values",
    [
        [3, -4, 2**70],
        [3.0, -4.0, 2.0**70],
        [3, -4.0, Decimal(2**70)],
        [Fraction(3), np.int8(-4), 2**70],
        np.array([3, -4, 2.0**70]),
        np.array([3, -4, 2.0**70], np.float32),
        np.array([3, -4, 2**70], object),
    ],
    ids=lambda values: repr(values)[:40],
)
def test_a_whole_number_is_read_in_whatever_type_it_came(values):
    assert add_noise(values, SILENT).tolist() == [3, -4, 2**70]


@pytest.mark.parametrize(
    "bad", [9876543.5, "9876543x", Decimal("9876543.5"), Decimal("1e9876543"), {9876543}, 9876543j]
)
def test_no_refusal_tells_a_value(bad):
    for values in (bad, [1, bad], np.array([bad])):
        with pytest.raises(NotANumber) as found:
            add_noise(values, COUNTS)
        assert "9876543" not in f"{found.value} {found.value.args} {found.value.came!r}"
        assert found.value.__cause__ is None


@pytest.mark.parametrize("distribution", [None, 1, "geometric"])
def test_what_is_no_distribution_is_refused(distribution):
    with pytest.raises(Unsupported, match="exact draws need"):
        add_noise([1], distribution)


@pytest.mark.parametrize("randomness", [0, np.random.default_rng(1)])
def test_what_is_no_source_is_refused(randomness):
    with pytest.raises(Unsupported, match="source of random words"):
        add_noise([1], COUNTS, randomness=randomness)


@pytest.mark.parametrize("values", [1, [1], []])
def test_a_bad_method_is_refused(values):
    with pytest.raises(OutOfRange, match="method must be"):
        add_noise(values, COUNTS, method="fast")


def test_a_source_of_ones_own_is_used():
    assert type(add_noise(3, COUNTS, randomness=Written())) is int
