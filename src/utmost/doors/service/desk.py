"""The records of a service, as its verbs write them: once for each idempotency key, and each with a line in the trail.

What writes takes an idempotency key. The same request under it, in any worker and at any time, finds the record that it
made; another request under it is refused. The name of a new record is derived from the key, so nothing needs to be
remembered of an answer but a digest of what was asked.
"""

import hmac
import json
import time
from collections.abc import Callable
from fractions import Fraction
from hashlib import sha256
from typing import Any, TypeVar

from utmost.doors.service.approvals import APPROVED
from utmost.doors.service.market import Order
from utmost.doors.service.records import Records, Shelf
from utmost.doors.service.tokens import Token
from utmost.errors import OutOfRange, RequestReused, UnknownRecord
from utmost.laws.exact import Level
from utmost.laws.exact.written_levels import level_of_text, level_text

T = TypeVar("T")

_LONGEST_KEY = 200

Holding = tuple[str, str, int]
"""A buyer, a release and its version."""

ANY = "any"
"""Instead of a level: every one."""


class Desk:
    """What all verbs share: the records, a key for names, and the time.

    Args:
        records: what the service keeps.
        key: 32 bytes, by which names are derived.
        clock: seconds since 1970.
    """

    __slots__ = ("_key", "clock", "records")

    def __init__(self, records: Records, key: bytes, clock: Callable[[], float] = time.time) -> None:
        self.records, self._key, self.clock = records, key, clock

    def name(self, kind: str, token: Token, key: object) -> str:
        """The name of what a token makes under an idempotency key.

        Raises:
            OutOfRange: for what is no such key.
        """
        if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY or not key.isprintable():
            remedy = "Send Idempotency-Key: a fresh text for each request, and the same one when it is repeated."
            where = "Idempotency-Key"
            raise OutOfRange("a request that writes must have an idempotency key", where=where, remedy=remedy)
        about = [kind, token.name, key, *([token.owner] if token.is_shared else [])]
        return hmac.digest(self._key, json.dumps(about).encode(), sha256)[:12].hex()

    def again(self, shelf: Shelf, kind: str, name: str, asked: Any) -> dict[str, Any] | None:
        """The record that this request made before; None where it comes for the first time, which is noted.

        Raises:
            RequestReused: where another request came under its key.
        """
        fingerprint = hmac.digest(self._key, json.dumps(asked, sort_keys=True).encode(), sha256).hex()
        before = shelf.get("request", name)
        if before is None:
            shelf.put("request", name, {"asked": fingerprint})
            return None
        if before["asked"] != fingerprint:
            remedy = "Use a fresh key for each request."
            raise RequestReused("an idempotency key must be for one request", came="another request", remedy=remedy)
        return shelf.get(kind, name)

    def trail(self, shelf: Shelf, token: Token, done: str, **about: Any) -> None:
        """Write down who did what, after everything that is written already; no value."""
        now = self.clock()
        name = max(f"{int(now * 1e6):020d}", f"{int(shelf.last('trail') or 0) + 1:020d}")
        shelf.put("trail", name, {"time": int(now), "owner": token.owner, "token": token.name, "done": done, **about})

    def known(self, shelf: Shelf, kind: str, name: object, token: Token, verb: str) -> dict[str, Any]:
        """A record that a token asks for by its name.

        Raises:
            NotAllowed: for a token whose role may never.
            UnknownRecord: where there is none, and in the same words for one about a release that the token is not for.
        """
        token.check_role(verb)
        found = shelf.get(kind, name) if isinstance(name, str) else None
        if found is None or not token.may(verb, found["release"]):
            raise UnknownRecord(f"the {kind} must be there", came="none of this name")
        return found


def held(shelf: Shelf, token: Token, release: str, version: int) -> Level | str | None:
    """The largest level of a release that a token is for, by its grants and its owner's orders; ANY, or None."""
    most = granted(token, release)
    if most == ANY:
        return ANY
    own = largest_bought(shelf, (token.owner, release, version)) if token.may_ever("order") else None
    return max((at for at in (most, own) if isinstance(at, Level)), default=None)


def granted(token: Token, release: str) -> Level | str | None:
    """The largest level of a release that a token is for by its grants alone; ANY, or None."""
    grants = [grant.up_to for grant in token.grants if grant.covers(release, None)]
    levels = [most for most in grants if most is not None]
    return ANY if len(levels) < len(grants) else max(levels, default=None)


def bought(shelf: Shelf, holding: Holding) -> list[Order]:
    """The approved orders of a buyer, of one version of a release."""
    orders = (Order.of_kept(name, kept) for name, kept in shelf.all("order"))
    return [
        order for order in orders if order.state == APPROVED and (order.buyer, order.release, order.version) == holding
    ]


def paid(shelf: Shelf, holding: Holding, currency: str) -> Fraction:
    """What a buyer has paid for levels of a release, in one currency."""
    return sum((one.due for one in bought(shelf, holding) if one.currency == currency), Fraction(0))


def note_bought(shelf: Shelf, holding: Holding) -> None:
    """Write down the largest level that a buyer's approved orders allow, so that a view looks it up in one step."""
    most = max((one.level for one in bought(shelf, holding)), default=None)
    shelf.put("bought", shelf.hidden(*holding), {"level": None if most is None else level_text(most)})


def largest_bought(shelf: Shelf, holding: Holding) -> Level | None:
    """The largest level that a buyer's approved orders allow."""
    kept = _bought(shelf, *holding)
    return None if kept is None or kept["level"] is None else level_of_text(kept["level"])


def _bought(shelf: Shelf, *holding: str | int) -> dict[str, Any] | None:
    """What is written down of a buyer, a release and its version; older records have names that can be guessed."""
    older = sha256(json.dumps(holding).encode()).hexdigest()
    return shelf.get("bought", shelf.hidden(*holding)) or shelf.get("bought", older)


def reaches(most: Level | str | None, at: Level) -> bool:
    """Whether a level is within what `held` gave."""
    return most == ANY or (isinstance(most, Level) and not at > most)
