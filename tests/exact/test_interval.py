"""An interval contains every result of an operation on numbers that its operands contain."""

import operator
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from utmost.exact import Interval, level, narrow_interval, nearest, round_down, round_up

BITS = 24
rationals = st.fractions(min_value=-50, max_value=50, max_denominator=997)


def around(x: Fraction, slack: int = 0) -> Interval:
    narrow = Interval.of(x, BITS)
    return Interval(narrow.low - slack, narrow.high + slack, BITS)


@given(rationals, rationals, st.integers(0, 9), st.sampled_from([operator.add, operator.sub, operator.mul]))
def test_the_ring_operations_contain_the_exact_result(x, y, slack, operation):
    assert operation(around(x, slack), around(y, slack)).contains(operation(x, y))
    assert operation(around(x, slack), y).contains(operation(x, y))
    assert operation(x, around(y, slack)).contains(operation(x, y))


@given(rationals, rationals, st.integers(0, 9))
def test_the_quotient_contains_the_exact_quotient(x, y, slack):
    assume(abs(y) > Fraction(10, 1 << BITS))
    assert (around(x, slack) / around(y, slack)).contains(x / y)
    assert (x / around(y, slack)).contains(x / y)


@given(st.fractions(min_value=Fraction(1, 9), max_value=3, max_denominator=97), st.integers(-6, 9))
def test_a_power_contains_the_exact_power(x, exponent):
    assert (around(x) ** exponent).contains(x**exponent)


@given(rationals, st.integers(1, 60))
def test_another_precision_still_contains_the_number(x, bits):
    assert around(x).at(bits).contains(x)


@given(rationals)
def test_the_enclosure_of_a_rational_is_as_narrow_as_can_be(x):
    assert around(x).width <= Fraction(1, 1 << BITS)
    assert (around(x).width == 0) == ((1 << BITS) % x.denominator == 0)


def test_order_is_claimed_only_when_certain():
    assert around(Fraction(1, 3)).is_below(Fraction(1, 2))
    assert not around(Fraction(1, 3)).is_below(Fraction(1, 3))
    assert (-around(Fraction(1, 3))).is_below(0)


@given(st.integers(-(10**6), 10**6), st.integers(0, 10**6), st.integers(0, 60))
def test_the_middle_is_halfway_between_the_ends(low, width, bits):
    interval = Interval(low, low + width, bits)
    assert 2 * interval.middle == interval.lower + interval.upper


LEVELS = [
    *(level(epsilon) for epsilon in ("1/2", 1, "137/100", "1/1000000007", "1e-40", 700, 745, 10**6, 2.0**-200)),
    *(level(alpha="1/3").scaled(by) for by in ("1/2", 5, "1e-30", "1000/7", 700)),
]


@pytest.mark.parametrize("number", LEVELS, ids=str)
def test_settled_floats_are_those_of_any_number_of_bits(number):
    for around in (number.alpha_interval, number.epsilon_interval):
        found, wide = narrow_interval(around), around(4000)
        assert [f(found) for f in (nearest, round_up, round_down)] == [f(wide) for f in (nearest, round_up, round_down)]


def test_floats_are_settled_with_128_bits_where_these_suffice():
    """alpha was computed to 1128 bits and a statement to 1200, whatever the level."""
    asked = []

    def around(number, bits):
        asked.append(bits)
        return number.alpha_interval(bits)

    narrow_interval(lambda bits: around(level("1/2"), bits))
    assert asked == [128]
    narrow_interval(lambda bits: around(level(600), bits))
    assert asked[-1] == 1024


def test_a_number_that_is_a_float_is_settled_in_the_end():
    """exp and log never end on a float; another interval may enclose one for ever, and goes to the safe side."""
    half = narrow_interval(lambda bits: Interval((1 << (bits - 1)) - 1, (1 << (bits - 1)) + 1, bits))
    assert half.bits == 1200
    assert nearest(half) == 0.5 < round_up(half)
