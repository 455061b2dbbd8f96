"""A number is read exactly as it was written, or refused aloud."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import utmost as ut
from utmost.errors import NotANumber, OutOfRange
from utmost.exact import exact, exact_integer


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (3, Fraction(3)),
        (0.1, Fraction(1, 10)),
        (1e-6, Fraction(1, 10**6)),
        ("1/3", Fraction(1, 3)),
        (" 2.5 / 5 ", Fraction(1, 2)),
        ("1e-3", Fraction(1, 1000)),
        (Decimal("0.30"), Fraction(3, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int8(-7), Fraction(-7)),
        (Fraction(2, 6), Fraction(1, 3)),
    ],
)
def test_a_number_is_the_rational_it_prints(written, meant):
    assert exact(written) == meant


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_survives_the_round_trip(x):
    """Reading a float as the decimal it prints loses nothing: that decimal rounds back to it."""
    assert float(exact(x)) == x


@pytest.mark.parametrize(
    "bad",
    [
        True,
        np.True_,
        None,
        "x",
        "",
        "1/0",
        "1/2/3",
        "nan",
        "1_0",
        "１２",
        "٣",
        "0x10",
        "1_0/3",
        "3/１",
        "1e1_0",
        "1e99999999999999999999",
        "1e99999",
        "-inf",
        float("nan"),
        float("inf"),
        1j,
        [1],
        b"1",
    ],
)
def test_everything_else_is_refused_with_its_name(bad):
    with pytest.raises(NotANumber, match=r"epsilon.*finite"):
        exact(bad, "epsilon")


def test_an_integer_is_read_where_one_is_meant():
    assert exact_integer("1e9") == 10**9
    assert exact_integer(3.0) == 3


def test_a_confidence_that_no_statement_could_print_is_refused():
    promise = ut.Promise("n", unit=ut.Unit(1, 1))
    with pytest.raises(OutOfRange, match="digits"):
        ut.release({"n": [1, 2]}, promise, epsilon=1, once=True, confidence=Fraction(1, 10**5000 + 1)).statement()
