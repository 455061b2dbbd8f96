"""The market at a service's desk: offers that curators make, and orders that recipients make of them."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from utmost.doors.service.approvals import APPROVED, ASKED
from utmost.doors.service.desk import Desk, Holding, bought, held, largest_bought, note_bought, paid, reaches
from utmost.doors.service.held_releases import Releases
from utmost.doors.service.market import CANCELLED, REFUNDED, Offer, Order, read_offer
from utmost.doors.service.records import Shelf
from utmost.doors.service.tokens import Token
from utmost.errors import NotAllowed, OutOfRange, UnknownRecord
from utmost.laws.exact import Level, Number
from utmost.laws.exact.written_levels import level_text
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
            NotAllowed: where an offer of this release and version is open.
        """
        found = self._releases.release(token, release, version)
        name = self._desk.name("offer", token, key)
        made = read_offer(name, release, found.version, prices, check_name(currency, "currency"))
        token.check("offer", release, made.prices[-1][0])
        loosest = max(found.levels)
        if made.prices[-1][0] > loosest:
            remedy = "Relax the release first, with the table."
            required = f"what is offered must be there: levels up to {loosest}"
            raise OutOfRange(required, came=made.prices[-1][0], where="prices", remedy=remedy)

        def work(shelf: Shelf) -> Offer:
            kept = self._desk.again(shelf, "offer", name, {**made.kept(), "is_open": True})
            if kept is not None:
                return Offer.of_kept(name, kept)
            others = (Offer.of_kept(other, one) for other, one in shelf.all("offer"))
            if any(one.is_open and (one.release, one.version) == (release, found.version) for one in others):
                remedy = "Close that one first: by two at once, levels could be had for less."
                raise NotAllowed(
                    "one offer of a release is open at a time", came="another", where=release, remedy=remedy
                )
            shelf.put("offer", name, made.kept())
            self._desk.trail(shelf, token, "offer", offer=name, release=release)
            return made

        return self._desk.records.write(work)

    def offers(self, token: Token) -> list[Offer]:
        """The offers of releases that a token is for; closed ones for curators alone.

        An offer of a release that is gone, since the ledger was put back further than the records, is left out.
        """
        there = {(one.name, one.version) for one in self._releases.all(token)}
        kept = self._desk.records.read(lambda shelf: shelf.all("offer"))
        found = [Offer.of_kept(name, one) for name, one in kept]
        closed = token.may_ever("offer")
        return [one for one in found if (one.release, one.version) in there and (one.is_open or closed)]

    def close_offer(self, token: Token, name: str) -> Offer:
        """Take an offer back; orders that were made stay."""

        def work(shelf: Shelf) -> Offer:
            found = Offer.of_kept(name, self._desk.known(shelf, "offer", name, token, "offer"))
            token.check("offer", found.release)
            closed = replace(found, is_open=False)
            shelf.put("offer", name, closed.kept())
            self._desk.trail(shelf, token, "close offer", offer=name)
            return closed

        return self._desk.records.write(work)

    def order(self, token: Token, key: str, offer: str, at: Level) -> Order:
        """Order a level; it costs its price, less what was paid for others in this currency.

        Raises:
            NotAllowed: where the token allows the level already, or waits for it.
        """
        name = self._desk.name("order", token, key)

        def work(shelf: Shelf) -> Order:
            made = Offer.of_kept(offer, self._desk.known(shelf, "offer", offer, token, "order"))
            token.check("order", made.release)
            kept = self._desk.again(shelf, "order", name, [offer, level_text(at)])
            if kept is not None:
                return Order.of_kept(name, kept)
            if not made.is_open:
                raise UnknownRecord("an offer must be open", came="one that is closed", where=offer)
            has = held(shelf, token, made.release, made.version)
            holding = token.owner, made.release, made.version
            if reaches(has, at):
                raise NotAllowed("an order must be for more than is held", came=at, where=offer)
            if any(not at > one.level for one in self._waiting(shelf, holding)):
                remedy = "Wait for the decision, or cancel that order."
                raise NotAllowed("an order must be for more than is ordered", came=at, where=offer, remedy=remedy)
            largest = has if isinstance(has, Level) else None
            due = made.step(paid(shelf, holding, made.currency), at)
            about = (made.release, made.version, at, token.owner, largest, due, made.currency)
            order = Order(name, offer, *about, int(self._desk.clock()), also=token.person[1:])
            shelf.put("order", name, order.kept())
            self._desk.trail(shelf, token, "order", order=name, offer=offer, level=level_text(at))
            return order

        return self._desk.records.write(work)

    def orders(self, token: Token) -> list[Order]:
        """A buyer's own orders, or for curators those of the releases that the token is for; oldest first."""
        kept = self._desk.records.read(lambda shelf: shelf.all("order"))
        found = sorted((Order.of_kept(name, one) for name, one in kept), key=lambda one: (one.made, one.name))
        if token.may_ever("decide orders"):
            return [one for one in found if token.may("decide orders", one.release)]
        return [one for one in found if one.buyer == token.owner]

    def credit(self, token: Token, offer: Offer) -> Fraction:
        """What the owner of a token has paid for levels of what is offered, in its currency."""
        holding = token.owner, offer.release, offer.version
        return self._desk.records.read(lambda shelf: paid(shelf, holding, offer.currency))

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
            holding = order.buyer, order.release, order.version
            if state in (CANCELLED, REFUNDED):
                decided = _taken_back(order, state, token, self._desk.clock(), bought(shelf, holding))
            else:
                token.check("decide orders", order.release, order.level)
                decided = order.decided_as(state, token, self._desk.clock())
            if decided == order:
                return order
            if decided.state == APPROVED:
                if reaches(largest_bought(shelf, holding), order.level):
                    remedy = "Refuse it."
                    raise NotAllowed("a level is sold once to a buyer", came=order.level, where=name, remedy=remedy)
                offer = shelf.get("offer", order.offer)
                if offer is not None:
                    due = Offer.of_kept(order.offer, offer).step(paid(shelf, holding, order.currency), order.level)
                    decided = replace(decided, due=due)
            shelf.put("order", name, decided.kept())
            note_bought(shelf, holding)
            self._desk.trail(shelf, token, decided.state, order=name, due=str(decided.due), currency=order.currency)
            return decided

        return self._desk.records.write(work)

    def _waiting(self, shelf: Shelf, holding: Holding) -> list[Order]:
        """The orders of a buyer that wait for a decision, of one version of a release."""
        orders = (Order.of_kept(name, kept) for name, kept in shelf.all("order"))
        return [
            order for order in orders if order.state == ASKED and (order.buyer, order.release, order.version) == holding
        ]


def _taken_back(order: Order, state: str, token: Token, now: float, approved: list[Order]) -> Order:
    """An order that its buyer cancels while it waits, or that a curator refunds once it was approved.

    Orders are refunded from the largest level down: else what was credited to a larger one would be paid back.
    """
    if order.state == state:
        return order
    if state == CANCELLED and not order.is_of(token):
        raise NotAllowed("an order is cancelled by its buyer", came="another", where=order.name)
    if state == REFUNDED:
        token.check("decide orders", order.release, order.level)
        if order.is_of(token):
            raise NotAllowed("a second person must decide", came="the buyer's own token", where=order.name)
        if any(one.level > order.level and one.currency == order.currency for one in approved):
            remedy = "Refund the order of the larger level first."
            raise NotAllowed(
                "the largest level is refunded first", came="a smaller one", where=order.name, remedy=remedy
            )
    needed = ASKED if state == CANCELLED else APPROVED
    if order.state != needed:
        raise NotAllowed(f"an order must be {needed} to be {state}", came=order.state, where=order.name)
    return replace(order, state=state, decided_by=token.owner, decided=int(now))
