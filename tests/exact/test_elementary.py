"""exp and log are enclosed, tightly, at any precision: checked against an independent ball arithmetic."""

from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import OutOfRange
from utmost.exact import Interval, exp_interval, log_interval

precisions = st.integers(8, 700)


def ball(x: Fraction) -> flint.arb:
    return flint.arb(flint.fmpq(x.numerator, x.denominator))


def overlaps(interval: Interval, value: flint.arb) -> bool:
    scaled = value * flint.arb(2) ** interval.bits
    return bool(scaled >= interval.low) and bool(scaled <= interval.high)


@pytest.fixture(autouse=True)
def _many_bits():
    before, flint.ctx.prec = flint.ctx.prec, 1_000
    yield
    flint.ctx.prec = before


@given(st.fractions(min_value=-300, max_value=60, max_denominator=10**9), precisions)
def test_exp_is_enclosed_within_a_few_units(x, bits):
    interval = exp_interval(x, bits)
    assert overlaps(interval, ball(x).exp()) or x == 0
    assert interval.high - interval.low <= 3


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30).filter(lambda x: x != 1), precisions)
def test_log_is_enclosed_within_a_few_units(x, bits):
    interval = log_interval(x, bits)
    assert overlaps(interval, ball(x).log())
    assert interval.high - interval.low <= 3


@given(st.fractions(min_value=-20, max_value=3, max_denominator=99), precisions)
def test_exp_of_an_interval_contains_exp_of_its_points(x, bits):
    assert overlaps(exp_interval(Interval.of(x, bits), bits), ball(x).exp()) or x == 0


def test_the_corners():
    assert exp_interval(Fraction(0), 8) == Interval(256, 256, 8)
    assert exp_interval(Fraction(-(10**12)), 8) == Interval(0, 1, 8)
    assert log_interval(Fraction(1), 8) == Interval(0, 0, 8)
    assert exp_interval(Fraction(-1, 10**40), 64).high == 1 << 64


def test_refusals():
    with pytest.raises(OutOfRange, match="at most"):
        exp_interval(Fraction(10**7), 8)
    with pytest.raises(OutOfRange, match="positive"):
        log_interval(Fraction(0), 8)
