"""Prices of levels: the price of a step to a larger level, and which prices nobody can get around.

**Theorem.** Charge p(to) - p(held) for a step from the largest level held to a larger one, p(to) from nothing, and
nothing for a level that is not larger. Where responses at levels e_1, ..., e_m together tell no more than the one at
the largest level, as in a gradual release,

1. whoever ends with largest level e has paid p(e), whatever the steps and their order, and knows as much as after one
   purchase at e: a market without friction;
2. nobody learns as much as from a response at e for less than p(e), alone or by pooling, exactly if p does not fall.

*Proof.* 1: The steps that raise the largest level held cost differences of p, whose sum telescopes to p(e); the others
cost nothing. The last response has the noise of e, and the others are drawn from it without the data. 2: Who wants the
response at e can buy any e' >= e and blur it, for p(e'): not less than p(e) if p does not fall, and less for some e if
it falls. A pool knows no more than the largest level in it, whose holder has paid for it by 1. []

Without that condition, for independent responses, an answer at level e is put together from many at small levels, and
the theorem fails.
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
    """Prices of levels that nobody can get around, smallest level first.

    Args:
        prices: Price by epsilon or level; not negative, and not falling as the level grows.

    Raises:
        OutOfRange: for no level, a level with two prices, a negative price, or one that falls as the level grows.

    >>> [str(price) for price in read_prices({"1": 35, "1/4": 10}).values()]
    ['10', '35']
    >>> read_prices({1: 10, 2: 9})
    Traceback (most recent call last):
    utmost.errors.OutOfRange: prices: prices must not be negative, nor fall as the level grows. Else whoever ...
    """
    mapping(prices, "prices")
    read = sorted((level(at), exact(price, "price")) for at, price in prices.items())
    if not read:
        raise OutOfRange("an offer must have a level", came="none", where="prices")
    if len({at for at, _ in read}) < len(read):
        raise OutOfRange("a level must have one price", where="prices")
    worth = [price for _, price in read]
    if worth[0] < 0 or worth != sorted(worth):
        remedy = "Else whoever wants a level would buy a larger one, and everything it says of smaller ones, for less."
        raise OutOfRange("prices must not be negative, nor fall as the level grows", where="prices", remedy=remedy)
    return dict(read)


def step_price(prices: Prices, held: Level | None, to: Level) -> Fraction:
    """The price of a level for a holder of another one: the difference of the prices; nothing for a lower level.

    Args:
        prices: Prices of the levels on offer, not falling.
        held: Largest level held, from this offer or elsewhere; None for none.
        to: One of the levels on offer.

    Raises:
        OutOfRange: for a level that is not on offer.

    >>> prices = read_prices({"1/4": 10, "1": 35})
    >>> step_price(prices, None, level(1)), step_price(prices, level("1/4"), level(1))
    (Fraction(35, 1), Fraction(25, 1))
    """
    mapping(prices, "prices")
    instance(to, Level, "to")
    if held is not None:
        instance(held, Level, "held")
    if to not in prices:
        raise OutOfRange("the level must be one of those on offer", came=str(to), where="step_price")
    had = max((price for at, price in prices.items() if held is not None and not at > held), default=Fraction(0))
    return max(Fraction(0), prices[to] - had)
