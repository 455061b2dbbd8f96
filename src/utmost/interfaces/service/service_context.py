"""State shared by a service's actions: records, each written once for an idempotency key, and the trail.

A repeated request under its idempotency key, in any worker and at any time, finds the record that it made; another
request under the same key is refused. The name of a new record is derived from the key, so that only a digest of the
request must be stored.
"""

import hmac
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import sha256
from typing import Any, TypeVar

from utmost.core.exact.levels import Level
from utmost.errors import OutOfRange, RequestReused, UnknownRecord
from utmost.interfaces.service.access.tokens import Token
from utmost.interfaces.service.records import Records, RecordTransaction
from utmost.interfaces.service.trail import is_noted, note, note_once_a_day
from utmost.publish.ledger.verification import is_newer_receipt

T = TypeVar("T")

_LONGEST_KEY = 200  # characters of an idempotency key
_MOST_NOTED = 10_000

ANY = "any"
"""Stands for any level."""


class ServiceContext:
    """The state that all actions share: the records, a key of 32 bytes for names, and the time."""

    __slots__ = ("_key", "_noted", "clock", "records")

    def __init__(self, records: Records, key: bytes, clock: Callable[[], float] = time.time) -> None:
        self.records, self._key, self.clock = records, key, clock
        self._noted: set[tuple[Any, ...]] = set()  # daily lines of the trail that were written

    def record_name(self, kind: str, token: Token, key: object) -> str:
        """Return the name of the record that a token makes under an idempotency key."""
        if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY or not key.isprintable():
            remedy = (
                "Send the header Idempotency-Key: a new text for each request, and the same text if "
                "the request is repeated."
            )
            where = "Idempotency-Key"
            raise OutOfRange(
                "a request that writes must have an idempotency key",
                came="no key, or a long key",
                where=where,
                remedy=remedy,
            )
        # People who share a token have separate keys.
        about = [kind, token.name, key, *([token.owner] if token.is_shared else [])]
        return hmac.digest(self._key, json.dumps(about).encode(), sha256)[:12].hex()

    def earlier_record(self, store: RecordTransaction, kind: str, name: str, facts: Any) -> dict[str, Any] | None:
        """Return the record that this request made before; for a first request, note the request and return None."""
        if not self.check_same(store, name, facts):
            store.put("request", name, {"asked": self._fingerprint(facts)})
            return None
        return store.get(kind, name)

    def check_same(self, store: RecordTransaction, name: str, facts: Any) -> bool:
        """Return whether this request came before under its idempotency key; refuse the key of a different request."""
        before = store.get("request", name)
        if before is not None and before["asked"] != self._fingerprint(facts):
            remedy = "Send a new key for each request."
            raise RequestReused(
                "each idempotency key must belong to only one request",
                came="another request with this key",
                remedy=remedy,
            )
        return before is not None

    def _fingerprint(self, facts: Any) -> str:
        return hmac.digest(self._key, json.dumps(facts, sort_keys=True).encode(), sha256).hex()

    def trail(self, store: RecordTransaction, token: Token, done: str, **about: Any) -> None:
        """Add a line to the trail, after all other writes: who did what, without confidential values."""
        note(store, token, self.clock(), done, **about)

    def trail_once_a_day(self, token: Token, done: str, **about: Any) -> None:
        """Record in the trail what a token did or was refused: at most one line a day with these details."""
        now = self.clock()
        known = (int(now // 86_400), token.name, token.owner, done, *map(str, about.values()))
        if known in self._noted:
            return
        if len(self._noted) >= _MOST_NOTED:
            self._noted.clear()
        # Read first, because a write waits for all other writers.
        if not self.records.read(lambda store: is_noted(store, token, now, done, **about)):
            self.records.write(lambda store: note_once_a_day(store, token, now, done, **about))
        self._noted.add(known)

    def person(self, store: RecordTransaction, token: Token) -> Token:
        """Return the token with `also`, the names that its owner has in all other tokens, valid or not, because all
        tokens of one owner count as one person.
        """
        # Cost: reads all tokens.
        return replace(token, also=names_of(store, token.names))

    def visible_record(
        self, store: RecordTransaction, kind: str, name: object, token: Token, verb: str
    ) -> dict[str, Any]:
        """Return a record by name; one refusal covers missing records and records that the token may not see."""
        token.check_role(verb)
        record = store.get(kind, name) if isinstance(name, str) else None
        if record is None or not token.may(verb, record["release"]):
            raise UnknownRecord(
                f"there must be a {kind} of this name that you may see",
                came="none of this name",
                remedy="Choose a name from the list.",
            )
        return record


def tokens_of(store: RecordTransaction) -> list[Token]:
    return [Token.of_kept(name, record) for name, record in store.all("token")]


def names_of(store: RecordTransaction, names: Iterable[str]) -> frozenset[str]:
    """Return all names of the person who has these names; tokens with a common name belong to one person."""
    # Names in one token belong to one person, and so do the names in tokens that share a name, transitively.
    person, known, tokens = {*names}, -1, tokens_of(store)
    while known < len(person):
        known = len(person)
        person.update(*(token.names for token in tokens if token.is_of(person)))
    return frozenset(person)


def put_receipt(store: RecordTransaction, receipt: str, *, only_newer: bool = True) -> None:
    """Record the newest receipt of the ledger, which shows at the next start whether an older ledger was put back."""
    before = newest_receipt(store)
    # A request that took its receipt earlier may write it later.
    if before is None or not only_newer or not is_newer_receipt(before, receipt):
        store.put("receipt", "newest", {"receipt": receipt})


def newest_receipt(store: RecordTransaction) -> str | None:
    record = store.get("receipt", "newest")
    return None if record is None else str(record["receipt"])


def granted_level(token: Token, release: str) -> Level | str | None:
    """Return the largest level of a release in a token's grants: a level, ANY, or None without a grant."""
    grants = [grant.up_to for grant in token.grants if grant.covers(release, None)]
    levels = [most for most in grants if most is not None]
    return ANY if len(levels) < len(grants) else max(levels, default=None)


def is_granted(most: Level | str | None, at: Level) -> bool:
    """Check whether a level is at most the result of `granted_level`."""
    return most == ANY or (isinstance(most, Level) and not at > most)
