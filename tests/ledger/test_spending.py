"""Sums of epsilons: exact, compared exactly, and rounded only for display."""

from fractions import Fraction

import pytest

import utmost as ut
from utmost.errors import BudgetExceeded
from utmost.ledger import Ledger

PROMISE = ut.Promise("n", unit=ut.Unit(1, 1))


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        yield ledger


def spend(ledger, *levels):
    for at, level in enumerate(levels):
        name = f"r{len(ledger.releases)}"
        ledger.publish(name, {"n": [at, len(name), 7]}, PROMISE, epsilon=level, dataset="d", independent=True)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_a_sum_does_not_hang_on_the_order_and_is_met_to_the_last(ledger, order):
    """A third, a third and a third are exactly 1; any further epsilon exceeds the limit."""
    ledger.budget("d", limit=1)
    parts = [ut.level("1/3"), ut.level("1/6"), ut.level("1/2")]
    spend(ledger, *(parts[at] for at in order))
    assert ledger.spent(dataset="d") == ut.level(1)
    with pytest.raises(BudgetExceeded):
        spend(ledger, "1e-50")


def test_sums_are_shown_rounded_up_and_what_is_left_rounded_down(ledger):
    """1 + ln 2 is 1.69314718055994530942."""
    ledger.budget("d", limit=2)
    spend(ledger, 1, ut.level(alpha="1/2"))
    assert Fraction(ledger.spent(dataset="d").epsilon) > Fraction(16931471805599453, 10**16)
    assert (
        Fraction(3068528194400545, 10**16)
        < Fraction(ledger.budget("d").remaining)
        < Fraction(30685281944005469058, 10**20)
    )


def test_sums_that_are_written_differently_go_against_the_spender(ledger):
    """ln 6 = ln 2 + ln 3: equal, but treated as exceeding the limit."""
    ledger.budget("d", limit=ut.level(alpha="1/6"))
    spend(ledger, ut.level(alpha="1/2"))
    with pytest.raises(BudgetExceeded):
        spend(ledger, ut.level(alpha="1/3"))
