"""The market at a service's desk: offers that curators make, and orders that recipients make of them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number
from utmost.core.exact.written_levels import level_text
from utmost.errors import NotAllowed, OutOfRange, UnknownRecord
from utmost.interfaces.service.access.tokens import Token
from utmost.interfaces.service.approvals import APPROVED, ASKED, CANCELLED, REFUNDED
from utmost.interfaces.service.desk import (
    MOST_ORDERS,
    Desk,
    bought,
    held,
    largest_bought,
    names_of,
    note_bought,
    orders_of,
    paid,
    put_order,
    reaches,
)
from utmost.interfaces.service.held_releases import Releases
from utmost.interfaces.service.market import Offer, Order, read_offer
from utmost.interfaces.service.records import Shelf
from utmost.interfaces.service.waiting import note_order
from utmost.publish.ledger.events import check_name


class Market:
    """Offers and orders.

    Args:
        desk: what all verbs share.
        releases: what can be offered.
    """

    __slots__ = ("_desk", "_releases")

    def __init__(self, desk: Desk, releases: Releases) -> None:
        self._desk, self._releases = desk, releases

    def offer(
        self,
        token: Token,
        key: str,
        release: str,
        prices: Mapping[Any, Number],
        currency: str,
        version: int | None = None,
    ) -> Offer:
        """Offer levels of a release at prices: levels that are there or follow from them, by one open offer at a time.

        Raises:
            OutOfRange: for a level beyond the loosest, which only the table could give.
            Unsupported, NeedsTable: for a level that does not follow from those that are there.
            NotAllowed: where an offer of this release and version is open.
        """
        name = self._desk.name("offer", token, key)
        before = self._desk.records.read(lambda shelf: shelf.get("offer", name))
        if version is None and before is not None:  # the same request, which meant the newest version of its time
            version = before["version"]
        offered = self._releases.release(token, release, version)
        offer = read_offer(name, release, offered.version, prices, check_name(currency, "currency"))
        token.check("offer", release, offer.prices[-1][0])
        # What is sold must be there: to make more of it would take the table.
        loosest = max(offered.levels)
        if offer.prices[-1][0] > loosest:
            remedy = "Relax the release first, with the table."
            required = f"what is offered must be there: levels up to {loosest}"
            raise OutOfRange(required, came=offer.prices[-1][0], where="prices", remedy=remedy)
        for at, _ in offer.prices:
            if at not in offered.levels:  # what is sold is made without the table
                offered.noise.check_tightened(at, repr(release))

        def work(shelf: Shelf) -> Offer:
            # As it was asked for: repeated, the request gives the same offer, also one that was closed since.
            record = self._desk.again(shelf, "offer", name, {**offer.kept(), "is_open": True})
            if record is not None:
                return Offer.of_kept(name, record)
            others = (Offer.of_kept(other, record) for other, record in shelf.all("offer"))
            if any(other.is_open and (other.release, other.version) == (release, offered.version) for other in others):
                remedy = "Close that one first: by two at once, levels could be had for less."
                raise NotAllowed(
                    "one offer of a release is open at a time", came="another", where=release, remedy=remedy
                )
            shelf.put("offer", name, offer.kept())
            self._desk.trail(shelf, token, "offer", offer=name, release=release)
            return offer

        return self._desk.records.write(work)

    def offers(self, token: Token) -> list[Offer]:
        """The offers of releases that a token is for; closed ones for curators alone.

        An offer of a release that is gone, since the ledger was put back further than the records, is left out.
        """
        there = {(release.name, release.version) for release in self._releases.all(token)}
        records = self._desk.records.read(lambda shelf: shelf.all("offer"))
        offers = [Offer.of_kept(name, record) for name, record in records]
        closed = token.may_ever("offer")
        return [offer for offer in offers if (offer.release, offer.version) in there and (offer.is_open or closed)]

    def close_offer(self, token: Token, name: str) -> Offer:
        """Take an offer back; orders that were made stay."""

        def work(shelf: Shelf) -> Offer:
            offer = Offer.of_kept(name, self._desk.known(shelf, "offer", name, token, "offer"))
            token.check("offer", offer.release)
            closed = replace(offer, is_open=False)
            shelf.put("offer", name, closed.kept())
            self._desk.trail(shelf, token, "close offer", offer=name)
            return closed

        return self._desk.records.write(work)

    def order(self, token: Token, key: str, offer: str, at: Level) -> Order:
        """Order a level; it costs its price, less what was paid for others in this currency."""
        name = self._desk.name("order", token, key)

        def work(shelf: Shelf) -> Order:
            offered = Offer.of_kept(offer, self._desk.known(shelf, "offer", offer, token, "order"))
            token.check("order", offered.release)
            record = self._desk.again(shelf, "order", name, [offer, level_text(at)])
            if record is not None:
                return Order.of_kept(name, record)
            if not offered.is_open:
                raise UnknownRecord("an offer must be open", came="one that is closed", where=offer)
            # In the same write as the order: of two at once, the second must see the first.
            buyer = self._desk.person(shelf, token)
            has = held(shelf, buyer, offered.release, offered.version)
            holding = buyer.names, offered.release, offered.version
            if reaches(has, at):
                raise NotAllowed("an order must be for more than is held", came=at, where=offer)
            orders = orders_of(shelf, holding)
            if len(orders) >= MOST_ORDERS:
                remedy = "Ask a curator for a token with a grant of the level."
                required = f"at most {MOST_ORDERS} orders of a release are taken from a buyer"
                raise NotAllowed(required, came="one more", where=offer, remedy=remedy)
            if any(waiting.state == ASKED and not at > waiting.level for waiting in orders):
                remedy = "Wait for the decision, or cancel that order."
                raise NotAllowed("an order must be for more than is ordered", came=at, where=offer, remedy=remedy)
            largest = has if isinstance(has, Level) else None
            due = offered.step(paid(shelf, holding, offered.currency), at)
            about = (offered.release, offered.version, at, token.owner, largest, due, offered.currency)
            order = Order(name, offer, *about, int(self._desk.clock()), also=token.names[1:])
            put_order(shelf, order)
            note_order(shelf, order)
            self._desk.trail(shelf, token, "order", order=name, offer=offer, level=level_text(at))
            return order

        return self._desk.records.write(work)

    def orders(self, token: Token) -> list[Order]:
        """A buyer's own orders, or for curators those of the releases that the token is for; oldest first."""
        if token.may_ever("decide orders"):
            records = self._desk.records.read(lambda shelf: shelf.all("order"))
            decidable = (Order.of_kept(name, record) for name, record in records)
            return sorted((order for order in decidable if token.may("decide orders", order.release)), key=_by_time)
        there = self._releases.all(token)

        def mine(shelf: Shelf) -> list[Order]:
            names = self._desk.person(shelf, token).names
            holdings = ((names, release.name, release.version) for release in there)
            return [order for holding in holdings for order in orders_of(shelf, holding)]

        return sorted(self._desk.records.read(mine), key=_by_time)

    def credit(self, token: Token, offer: Offer) -> Fraction:
        """What the owner of a token has paid for levels of what is offered, in its currency."""

        def work(shelf: Shelf) -> Fraction:
            holding = self._desk.person(shelf, token).names, offer.release, offer.version
            return paid(shelf, holding, offer.currency)

        return self._desk.records.read(work)

    def decide_order(self, token: Token, name: str, state: str) -> Order:
        """Approve or refuse an order, refund an approved one; or, for the buyer, cancel one that waits.

        An approved one lets every token of the buyer's view the level. What it costs is worked out then.

        Raises:
            OutOfRange: for another state.
            NotAllowed: for the buyer's own decision, for another one than was made, and for a level that the buyer has
                bought meanwhile.
        """
        verb = "order" if state == CANCELLED else "decide orders"

        def work(shelf: Shelf) -> Order:
            order = Order.of_kept(name, self._desk.known(shelf, "order", name, token, verb))
            buyers = tuple(sorted(names_of(shelf, (order.buyer, *order.also))))
            holding, asker = (buyers, order.release, order.version), self._desk.person(shelf, token)
            if state in (CANCELLED, REFUNDED):
                decided = _taken_back(order, state, asker, self._desk.clock(), lambda: bought(shelf, holding))
            else:
                token.check("decide orders", order.release, order.level)
                decided = order.decided_as(state, asker, self._desk.clock())
            if decided == order:
                return order
            if decided.state == APPROVED:
                if reaches(largest_bought(shelf, holding), order.level):
                    remedy = "Refuse it."
                    raise NotAllowed("a level is sold once to a buyer", came=order.level, where=name, remedy=remedy)
                # Priced when it is approved: what was bought since it was ordered is credited.
                offer = shelf.get("offer", order.offer)
                if offer is not None:
                    due = Offer.of_kept(order.offer, offer).step(paid(shelf, holding, order.currency), order.level)
                    decided = replace(decided, due=due)
            shelf.put("order", name, decided.kept())
            note_order(shelf, decided)
            note_bought(shelf, holding)
            self._desk.trail(shelf, token, decided.state, order=name, due=str(decided.due), currency=order.currency)
            return decided

        return self._desk.records.write(work)


def _by_time(order: Order) -> tuple[int, str]:
    return order.made, order.name


def _taken_back(order: Order, state: str, token: Token, now: float, approved: Callable[[], list[Order]]) -> Order:
    """An order that its buyer cancels while it waits, or that a curator refunds once it was approved.

    Orders are refunded from the largest level down: else what was credited to a larger one would be paid back.
    """
    if state == CANCELLED and not order.is_of(token):
        raise NotAllowed("an order is cancelled by its buyer", came="another", where=order.name)
    if state == REFUNDED:
        token.check("decide orders", order.release, order.level)
        if order.is_of(token):
            raise NotAllowed("a second person must decide", came="the buyer's own token", where=order.name)
    if order.state == state:
        return order
    if state == REFUNDED and any(
        other.level > order.level and other.currency == order.currency for other in approved()
    ):
        remedy = "Refund the order of the larger level first."
        raise NotAllowed("the largest level is refunded first", came="a smaller one", where=order.name, remedy=remedy)
    needed = ASKED if state == CANCELLED else APPROVED
    if order.state != needed:
        raise NotAllowed(f"an order must be {needed} to be {state}", came=order.state, where=order.name)
    return replace(order, state=state, decided_by=token.owner, decided=int(now))
