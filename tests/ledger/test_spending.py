"""Sums of epsilons: exact, compared exactly, rounded only when shown."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.exact import level
from utmost.publish.ledger.spending import Spending
from utmost.testing import strategies


@given(st.lists(strategies.levels, max_size=5))
def test_a_sum_does_not_hang_on_the_order(some):
    assert Spending.of(some) == Spending.of(reversed(some))
    assert Spending.of(some[:2]) + Spending.of(some[2:]) == Spending.of(some)


@given(strategies.levels, strategies.levels)
def test_a_sum_exceeds_each_of_its_parts(one, other):
    both = Spending.of([one, other])
    assert both.exceeds(one)
    assert both.exceeds(other)
    assert not Spending.of([one]).exceeds(one)
    assert both.level >= max(one, other)


def test_sums_are_shown_rounded_up_and_what_is_left_rounded_down():
    mixed = Spending.of([level(1), level(alpha="1/2")])
    assert Fraction(mixed.epsilon) > Fraction(16931471805599453, 10**16)
    assert mixed.left(level(2)) < 2 - 1.6931471805599453 + 1e-15
    assert Spending().level is None
    assert Spending().epsilon == 0
    assert Spending.of([level(3)]).left(level(2)) == 0
    assert Spending.of([level("1/3")]).left(level(1)) == Fraction(2, 3)
    assert Spending.of([level(alpha="1/2")]).left(level(alpha="1/2")) == pytest.approx(0, abs=1e-300)


def test_sums_that_are_written_differently_are_refused():
    """ln 6 = ln 2 + ln 3: equal, but not seen to be; the doubt goes against the spender."""
    assert Spending.of([level(alpha="1/2"), level(alpha="1/3")]).exceeds(level(alpha="1/6"))
