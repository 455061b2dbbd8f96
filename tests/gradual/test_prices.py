"""Prices of levels: steps in any order cost the price of the last level, and prices that fall can be got around."""

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import NotALevel, NotANumber, OutOfRange
from utmost.exact import level
from utmost.gradual import read_prices, step_price

LEVELS = [level(e) for e in ("1e-6", "1/4", 1, 50)]


def paid(prices, walk):
    held, total = None, Fraction(0)
    for to in walk:
        total += step_price(prices, held, to)
        held = to if held is None else max(held, to)
    return total


@given(st.lists(st.fractions(0, 10), min_size=4, max_size=4))
def test_whatever_the_steps_the_last_level_costs_its_price(steps):
    """Theorem, part 1: for every order of every subset of levels, over all prices that do not fall."""
    prices = read_prices({at: sum(steps[: k + 1]) for k, at in enumerate(LEVELS)})
    for count in range(1, 5):
        for walk in permutations(LEVELS, count):
            assert paid(prices, walk) == prices[max(walk)]


@given(st.lists(st.integers(0, 5), min_size=4, max_size=4))
def test_nobody_gets_around_a_price_exactly_if_none_falls(worth):
    """Theorem, part 2: the cheapest way to know what level e says is to buy some level from e on, and blur it."""
    prices = dict(zip(LEVELS, map(Fraction, worth), strict=True))
    cheapest = {at: min(price for other, price in prices.items() if other >= at) for at in LEVELS}
    safe = cheapest == prices
    assert safe == (worth == sorted(worth))
    if safe:
        assert read_prices(prices) == prices
    else:
        with pytest.raises(OutOfRange):
            read_prices(prices)


@pytest.mark.parametrize("prices", [{}, {1: -1}, {1: 2, 2: 1}, {1: 2, "1": 3}])
def test_bad_prices_are_refused(prices):
    with pytest.raises(OutOfRange):
        read_prices(prices)


def test_prices_are_numbers_of_levels():
    with pytest.raises(NotANumber):
        read_prices({1: "much"})
    with pytest.raises(NotALevel):
        read_prices({-1: 1})
