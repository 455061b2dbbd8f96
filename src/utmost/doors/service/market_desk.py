"""The market at a service's desk: offers that curators make, and orders that recipients make of them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from utmost.doors.service.approvals import APPROVED
from utmost.doors.service.desk import Desk, held, note_bought, reaches
from utmost.doors.service.held_releases import Releases
from utmost.doors.service.market import Offer, Order, read_offer
from utmost.doors.service.records import Shelf
from utmost.doors.service.tokens import Token
from utmost.errors import NotAllowed, UnknownRecord
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
        """Offer levels of a release at prices."""
        found = self._releases.release(token, release, version)
        name = self._desk.name("offer", token, key)
        made = read_offer(name, release, found.version, prices, check_name(currency, "currency"))
        token.check("offer", release, made.prices[-1][0])

        def work(shelf: Shelf) -> Offer:
            kept = self._desk.again(shelf, "offer", name, {**made.kept(), "is_open": True})
            if kept is not None:
                return Offer.of_kept(name, kept)
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
        """Order a level; it costs the step from the largest level held.

        Raises:
            NotAllowed: where the token allows the level already.
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
            if reaches(has, at):
                raise NotAllowed("an order must be for more than is held", came=at, where=offer)
            largest = has if isinstance(has, Level) else None
            due = made.step(largest, at)
            about = (made.release, made.version, at, token.owner, largest, due, made.currency)
            order = Order(name, offer, *about, int(self._desk.clock()))
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

    def decide_order(self, token: Token, name: str, state: str) -> Order:
        """Approve or refuse an order; an approved one lets every token of the buyer's view the level."""

        def work(shelf: Shelf) -> Order:
            order = Order.of_kept(name, self._desk.known(shelf, "order", name, token, "decide orders"))
            token.check("decide orders", order.release, order.level)
            decided = order.decided_as(state, token.owner, self._desk.clock())
            if decided != order:
                shelf.put("order", name, decided.kept())
                if decided.state == APPROVED:
                    note_bought(shelf, decided)
                self._desk.trail(shelf, token, state, order=name)
            return decided

        return self._desk.records.write(work)
