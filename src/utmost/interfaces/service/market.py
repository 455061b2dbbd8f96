r"""Offers and orders: accuracy sold by the step.

An offer prices some levels of a release. Whoever has paid p for levels of it and buys level f pays price(f) - p, and
nothing where p is more: what was given is credited with nothing, nor is what was paid in another currency. All answers
of a release are one chain (Koufogiannis, Han and Pappas 2015, Section 6): whoever holds answers at several levels,
bought by one or by many, knows what the loosest of them says and nothing more. So the price needs one condition only:

    e <= f  implies  price(e) <= price(f).

*Claim.* Then nobody buys an answer at level f for less than price(f), however it is bought, nor from several offers one
after the other, of which one is open at a time. *Proof.* After the step to f what was paid is max(p, price(f)). Answers
at levels below f, however many, are a function of the one at the largest of them and of fresh randomness, so they are
worth no more than that one, and its price is at most price(f). ∎

No money moves here: an order is approved by the curator, who knows whether it was paid.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from pydantic import Field

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number
from utmost.core.exact.written_levels import level_of_text
from utmost.core.gradual.prices import read_prices
from utmost.errors import OutOfRange
from utmost.interfaces.service.access.tokens import Token
from utmost.interfaces.service.api.record_forms import (
    HIDDEN,
    Count,
    Currency,
    LevelText,
    Money,
    Person,
    Record,
    ReleaseName,
    Seconds,
    Written,
    read_level_if_any,
)
from utmost.interfaces.service.approvals import ASKED, State, decided

_LARGEST = 10**100


@dataclass(frozen=True, slots=True)
class Offer(Written):
    """Levels of a release at prices.

    Attributes:
        name: of the offer.
        release, version: what is offered.
        prices: (level, price), strictest level first; prices do not fall.
        currency: in which they are.
        is_open: whether it can be ordered from.
    """

    READ: ClassVar = {"prices": lambda prices: tuple((level_of_text(at), Fraction(price)) for at, price in prices)}

    name: Record
    release: ReleaseName
    version: Count
    prices: Annotated[tuple[tuple[LevelText, Money], ...], Field(examples=[[["1/4", "10"], ["1", "35"]]])]
    currency: Currency
    is_open: bool = True

    def price(self, at: Level) -> Fraction:
        """What a level costs from nothing."""
        for offered, price in self.prices:
            if offered == at:
                return price
        remedy = f"Offered are {', '.join(str(offered) for offered, _ in self.prices)}."
        raise OutOfRange("a level must be one that is offered", came=at, where=self.name, remedy=remedy)

    def step(self, paid: Fraction, to: Level) -> Fraction:
        """What a level costs whoever has paid for others in this currency: the rest of its price, or nothing.

        >>> from utmost.exact import level
        >>> offer = read_offer("o", "admissions", 1, {"1/4": 10, "1": 35}, "EUR")
        >>> offer.step(Fraction(0), level(1)), offer.step(Fraction(10), level(1))
        (Fraction(35, 1), Fraction(25, 1))
        """
        return max(Fraction(0), self.price(to) - paid)


def read_offer(name: str, release: str, version: int, prices: Mapping[Any, Number], currency: str) -> Offer:
    """An offer whose prices cannot be got around."""
    read = read_prices(prices)
    if any(max(price.numerator, price.denominator) > _LARGEST for price in read.values()):
        raise OutOfRange("a price must be written in at most 100 digits", where="prices")
    return Offer(name, release, version, tuple(read.items()), currency)


@dataclass(frozen=True, slots=True)
class Order(Written):
    """A level that somebody wants to buy.

    Attributes:
        name: of the order.
        offer, release, version, level: what is ordered.
        buyer: the owner of the token that ordered; whoever has a token of that owner's may view what was bought.
        held: the largest level held when it was ordered, or None.
        due, currency: what it costs, worked out again when it is approved.
        made: when.
        also: by what else the buyer is known as a person, see `Token.person`.
        state: "asked", "approved", "refused", "cancelled" by the buyer, or "refunded".
        decided_by, decided: by whom and when, once it is decided.
    """

    READ: ClassVar = {"level": level_of_text, "held": read_level_if_any, "due": Fraction, "also": tuple}

    name: Record
    offer: Record
    release: ReleaseName
    version: Count
    level: LevelText
    buyer: Person
    held: Annotated[LevelText | None, Field(examples=["1/4"])]
    due: Money
    currency: Currency
    made: Seconds
    state: State = ASKED
    decided_by: Person | None = None
    decided: Seconds | None = None
    also: Annotated[tuple[str, ...], HIDDEN] = ()

    def is_of(self, token: Token) -> bool:
        """Whether it was ordered by the person that a token belongs to."""
        return token.is_of((self.buyer, *self.also))

    def decided_as(self, state: str, token: Token, now: float) -> "Order":
        """The order as decided by a token's owner; deciding the same again changes nothing."""
        return decided(self, state, token, now)
