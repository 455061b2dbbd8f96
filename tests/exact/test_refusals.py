"""Calls that levels, intervals and exact arithmetic refuse, each by its class of error."""

from fractions import Fraction
from math import inf, nan

import pytest

from utmost.errors import NotALevel, NotANumber, OutOfRange
from utmost.exact import (
    Interval,
    Level,
    Surd,
    as_array,
    exact_integer,
    exp_interval,
    level,
    log_interval,
    matrix_product,
)


@pytest.mark.parametrize("bad", [True, None, nan, inf, -inf, 0, -1, "zero", "", "0", [1], 1j])
def test_no_epsilon(bad):
    with pytest.raises(NotALevel):
        level(epsilon=bad)


@pytest.mark.parametrize("bad", [True, nan, inf, 0, 1, -0.5, "3/2", "one half"])
def test_no_alpha(bad):
    with pytest.raises(NotALevel):
        level(alpha=bad)


@pytest.mark.parametrize(
    "fields", [(None, Fraction(-1)), (None, Fraction(0)), (None, None), (Fraction(2), Fraction(1))]
)
def test_no_fields_of_a_level(fields):
    with pytest.raises(NotALevel):
        Level(*fields)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: level(), NotALevel),
        (lambda: level(epsilon=1, alpha="1/2"), NotALevel),
        (lambda: level(Level.of_epsilon(1), alpha="1/2"), NotALevel),
        (lambda: level(epsilon=1).scaled(0), NotALevel),
        (lambda: level(epsilon=1).alpha_fraction(), NotALevel),
        (lambda: exact_integer(Fraction(7, 2)), NotANumber),
        (lambda: as_array([[1]], "prior", ndim=1), NotANumber),
        (lambda: matrix_product(as_array([[1, 2]]), as_array([[1, 2]])), OutOfRange),
        (lambda: Surd.sqrt(-1), OutOfRange),
        (lambda: exp_interval(Fraction(10**7), 8), OutOfRange),
        (lambda: log_interval(Fraction(0), 8), OutOfRange),
        (lambda: 1 / Interval(-1, 1, 24), OutOfRange),
        (lambda: Interval.of(1, 24) + Interval.of(1, 8), OutOfRange),
    ],
)
def test_refused(call, error):
    with pytest.raises(error):
        call()
