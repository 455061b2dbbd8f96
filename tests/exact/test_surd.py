"""Sums of square roots: canonical form, arithmetic, order and enclosure."""

from fractions import Fraction
from math import isqrt, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.exact import Surd, nearest

squares = st.fractions(min_value=0, max_value=200, max_denominator=12)
coefficients = st.fractions(min_value=-5, max_value=5, max_denominator=9)


@st.composite
def surds(draw):
    return sum((Surd.sqrt(draw(squares)) * draw(coefficients) for _ in range(draw(st.integers(0, 3)))), Surd.of(0))


@given(squares)
def test_the_radicand_is_squarefree(square):
    """sqrt(x) = c sqrt(r) with r squarefree and c^2 r = x."""
    for radicand, coefficient in Surd.sqrt(square).terms:
        assert coefficient**2 * radicand == square
        assert all(radicand % (p * p) for p in range(2, isqrt(radicand) + 1))


@pytest.mark.parametrize("n", [2**61, (2**31 - 1) ** 2, 10**18, 999983 * 1000003, 7200])
def test_large_radicands_are_reduced(n):
    """The square part is taken out by trial division up to the cube root."""
    ((radicand, coefficient),) = Surd.sqrt(n).terms
    assert coefficient**2 * radicand == n
    assert radicand == {2**61: 2, 999983 * 1000003: n, 7200: 2}.get(n, 1)


@given(surds(), surds())
def test_addition_and_subtraction_undo_each_other(a, b):
    """(a + b) - b = a, and equality is equality of numbers."""
    assert (a + b) - b == a
    assert hash((a + b) - b) == hash(a)
    assert a - a == 0


@given(surds(), surds())
def test_order_agrees_with_floats_where_floats_can_tell(a, b):
    """a < b as real numbers; exactly one of <, =, > holds."""
    assert (a < b) + (a == b) + (a > b) == 1
    if abs(float(a) - float(b)) > 1e-9:
        assert (a < b) == (float(a) < float(b))


@given(surds(), st.integers(1, 200))
def test_the_interval_contains_the_number(a, bits):
    """A finer interval lies within a coarser one, both near the float value, and the width is a unit a term."""
    coarse, fine = a.interval(bits), a.interval(bits + 80)
    assert coarse.lower <= fine.upper
    assert fine.lower <= coarse.upper
    assert coarse.high - coarse.low <= len(a.terms)
    assert abs(nearest(a.interval(200)) - sum(float(c) * sqrt(r) for r, c in a.terms)) < 1e-9


def test_nearly_equal_surds_are_told_apart():
    """sqrt(10^10 + 1) - 10^5 is about 5e-6, positive."""
    gap = Surd.sqrt(10**10 + 1) - 10**5
    assert gap > 0
    assert gap < Fraction(1, 10**5)
    assert float(gap) == pytest.approx(5e-6)


def test_rational_surds_are_rational_numbers():
    """sqrt(9/4) = 3/2, also for == and hash."""
    assert Surd.sqrt("9/4") == Fraction(3, 2)
    assert hash(Surd.sqrt(4)) == hash(Fraction(2))
    assert Surd.sqrt(4).simplified() == 2
    assert isinstance(Surd.sqrt(2).simplified(), Surd)
    assert 1 - Surd.sqrt(1) == 0
    assert Surd.sqrt(2) != "sqrt(2)"


def test_squares_of_many_digits_are_taken_apart():
    """p q of two primes above 10^12, and (p / 10^6)^2 + 1/7: a survey's coordinates have such squares of distances."""
    p, q = 10**12 + 39, 10**12 + 61
    assert Surd.sqrt(p * q * q).terms == ((p, Fraction(q)),)
    assert Surd.sqrt(Fraction(p, q) ** 2 * 12).terms == ((3, Fraction(2 * p, q)),)
    assert Surd.sqrt(Fraction(p, 10**6) ** 2 + Fraction(1, 7)) > Fraction(p, 10**6)
