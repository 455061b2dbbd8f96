"""Prices of levels: the price of a step to a larger epsilon, and prices that nobody can undercut.

**Theorem.** A level costs p(e) for a buyer who has no level yet. A holder of e' pays p(e) - p(e') for a larger e, and
nothing for a smaller one. Assume that responses at levels e_1, ..., e_m together reveal no more than the response at
the largest level, as in a gradual release. Then

1. A buyer whose largest level is e has paid p(e), whatever the steps and their order, and has as much information as
after one purchase at e: buying in steps costs nothing extra. 2. If and only if p does not decrease, no buyer and no
pool of buyers gets for less than p(e) as much information as from a response at e.

*Proof.* 1: The steps to larger levels cost differences of p, whose sum telescopes to p(e); steps to smaller levels cost
nothing. The response at e has the noise of e, and all other responses can be drawn from it without the data. 2: A buyer
who wants the response at e can buy any e' >= e and add noise, for p(e'). The price p(e') is at least p(e) if p does not
decrease, and less than p(e) for some e and e' if p decreases. A pool of buyers has no more information than its member
with the largest level, who by statement 1 has paid the price of that level.

For independent responses the theorem fails: an answer at level e can be combined from many answers at small levels.
"""

from collections.abc import Mapping
from fractions import Fraction

from utmost.core.exact.arguments import instance, mapping
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, exact
from utmost.errors import OutOfRange

Prices = Mapping[Level, Fraction]
"""The price of each level for a first purchase."""


def read_prices(prices: Mapping[Level | Number, Number]) -> dict[Level, Fraction]:
    """Read the price of each level, and sort the levels by epsilon; a larger epsilon must not be cheaper.

    Args:
        prices: Mapping from each epsilon or level to its price; prices are not negative and do not fall as epsilon
            grows.

    Raises:
        OutOfRange: if the mapping is empty, if a level has two prices, if a price is negative, or if prices fall as
            epsilon grows.

    >>> [str(price) for price in read_prices({"1": 35, "1/4": 10}).values()]
    ['10', '35']
    >>> read_prices({1: 10, 2: 9})
    Traceback (most recent call last):
    utmost.errors.OutOfRange: prices: prices must not be negative, nor fall as epsilon grows. Pass prices ...
    """
    mapping(prices, "prices")
    read = sorted((level(at), exact(price, "price")) for at, price in prices.items())
    if not read:
        raise OutOfRange("at least one level must have a price", came="none", where="prices")
    if len({at for at, _ in read}) < len(read):
        raise OutOfRange("each level must have exactly one price", where="prices")
    worth = [price for _, price in read]
    if worth[0] < 0 or worth != sorted(worth):
        remedy = (
            "Pass prices of at least 0 that do not fall as epsilon grows: a larger epsilon includes the smaller ones."
        )
        raise OutOfRange("prices must not be negative, nor fall as epsilon grows", where="prices", remedy=remedy)
    return dict(read)


def step_price(prices: Prices, held: Level | None, to: Level) -> Fraction:
    """The price of a level for a holder of another level: the difference of their prices, or 0 for a smaller epsilon.

    Args:
        prices: Prices of the levels for sale, from `read_prices`.
        held: Largest level that the buyer already has, or None if the buyer has none.
        to: One of the levels for sale.

    Raises:
        OutOfRange: if the level is not for sale.

    >>> prices = read_prices({"1/4": 10, "1": 35})
    >>> step_price(prices, None, level(1)), step_price(prices, level("1/4"), level(1))
    (Fraction(35, 1), Fraction(25, 1))
    """
    mapping(prices, "prices")
    instance(to, Level, "to")
    if held is not None:
        instance(held, Level, "held")
    if to not in prices:
        raise OutOfRange("the level must be one of those for sale", came=str(to), where="step_price")
    had = max((price for at, price in prices.items() if held is not None and not at > held), default=Fraction(0))
    return max(Fraction(0), prices[to] - had)
