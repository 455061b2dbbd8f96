"""exp, log and sine are enclosed, tightly, at any precision: checked against the standard library's decimals."""

import threading
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction

from flint import ctx
from hypothesis import given
from hypothesis import strategies as st

from running import python
from utmost.exact import Interval, exp_interval, log_interval, sin_interval

precisions = st.integers(8, 700)
MANY = Context(prec=400, Emin=MIN_EMIN, Emax=MAX_EMAX)


def decimal_of(x: Fraction) -> Decimal:
    return MANY.divide(Decimal(x.numerator), Decimal(x.denominator))


def exp_of(x: Fraction) -> Fraction:
    """e^x to nearly four hundred digits: decimals round exp and ln correctly."""
    return Fraction(decimal_of(x).exp(MANY))


def log_of(x: Fraction) -> Fraction:
    return Fraction(decimal_of(x).ln(MANY))


@given(st.fractions(min_value=-300, max_value=60, max_denominator=10**9), precisions)
def test_exp_is_enclosed_within_a_few_units(x, bits):
    interval = exp_interval(x, bits)
    assert interval.contains(exp_of(x))
    assert interval.high - interval.low <= 3


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30).filter(lambda x: x != 1), precisions)
def test_log_is_enclosed_within_a_few_units(x, bits):
    interval = log_interval(x, bits)
    assert interval.contains(log_of(x))
    assert interval.high - interval.low <= 3


@given(st.fractions(min_value=-20, max_value=3, max_denominator=99), precisions, st.integers(0, 1 << 40))
def test_exp_of_an_interval_contains_exp_of_its_points(x, bits, slack):
    """Of narrow intervals and of wide ones."""
    around = Interval.of(x, bits)
    wide = Interval(around.low - slack % (1 << bits), around.high + slack % (1 << bits), bits)
    for interval in (around, wide):
        found = exp_interval(interval, bits)
        assert found.lower <= exp_of(interval.lower) <= exp_of(x) <= exp_of(interval.upper) <= found.upper


@given(st.fractions(min_value=-3000, max_value=500, max_denominator=10), st.integers(8, 200))
def test_exp_far_from_one_has_its_ends_in_order(x, bits):
    """Also where e^x is far below 2^-bits, or has hundreds of digits before the point."""
    interval = exp_interval(x, bits)
    assert interval.contains(exp_of(x))
    assert interval.high - interval.low <= 3
    assert interval.low >= 0


def test_the_corners():
    assert exp_interval(Fraction(0), 8) == Interval(256, 256, 8)
    assert exp_interval(Fraction(-(10**12)), 8) == Interval(0, 1, 8)
    assert log_interval(Fraction(1), 8) == Interval(0, 0, 8)
    assert exp_interval(Fraction(-1, 10**40), 64).high == 1 << 64


def test_the_precision_of_balls_is_put_back():
    before = ctx.prec
    exp_interval(Fraction(1, 3), 2000)
    assert ctx.prec == before


def test_threads_do_not_narrow_each_other():
    """Every interval is as narrow as it was asked for, whatever other threads ask for."""
    failures = []

    def work(bits):
        for k in range(1, 300):
            interval = exp_interval(Fraction(-k, 100), bits)
            if interval.high - interval.low > 3:
                failures.append((k, bits))

    threads = [threading.Thread(target=work, args=(bits,)) for bits in (16, 900, 64, 300)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


FORK = """
import os
from fractions import Fraction

# The enclosures on which thresholds of draws rest, at any precision.
from utmost.core.exact import intervals
from utmost.exact import exp_interval
with intervals._setting:  # as a thread would that computes while another one forks
    child = os.fork()
    if child == 0:
        os._exit(exp_interval(Fraction(-1), 8).low)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_fork_in_the_middle_of_a_computation_does_not_hang():
    assert python("-c", FORK, timeout=60).stdout.strip() == "94"


@given(st.fractions(-(10**9), 10**9), st.integers(20, 300), st.integers(0, 10**6))
def test_the_sine_of_an_interval_contains_the_sine_of_its_points(x, bits, slack):
    """Against the Taylor series of the angle reduced by pi of more digits."""
    around = Interval.of(x, bits)
    wide = sin_interval(Interval(around.low - slack, around.high + slack, bits), bits)
    for point in (x, around.lower - Fraction(slack, 1 << bits), around.upper + Fraction(slack, 1 << bits)):
        with localcontext() as digits:
            digits.prec = 120
            sine = _sine(Decimal(point.numerator) / Decimal(point.denominator))
        assert wide.lower - Fraction(1, 10**95) <= Fraction(sine) <= wide.upper + Fraction(1, 10**95)
    if not slack:
        assert wide.width <= Fraction(8, 1 << bits)


def _sine(x):
    """sin x in Decimals, with pi by Machin's formula."""
    pi = 4 * (4 * _arctangent(5) - _arctangent(239))
    y = x - 2 * pi * (x / (2 * pi)).to_integral_value()
    term, total, n = y, y, 1
    while abs(term) > Decimal(10) ** -115:
        term, n = -term * y * y / ((n + 1) * (n + 2)), n + 2
        total += term
    return total


def _arctangent(n):
    """arctan(1/n)."""
    term, total, k = Decimal(1) / n, Decimal(1) / n, 1
    while abs(term) > Decimal(10) ** -118:
        term, k = -term / (n * n), k + 2
        total += term / k
    return total
