"""The records of a service, as its verbs write them: once for each idempotency key, and each with a line in the trail.

What writes takes an idempotency key. The same request under it, in any worker and at any time, finds the record that it
made; another request under it is refused. The name of a new record is derived from the key, so nothing needs to be
remembered of an answer but a digest of what was asked.
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

T = TypeVar("T")

_LONGEST_KEY = 200
_MOST_NOTED = 10_000

ANY = "any"
"""Instead of a level: every one."""


class ServiceContext:
    """The state that all verbs share: the records, a key for names, and the time.

    Args:
        records: Records of the service.
        key: 32 bytes, by which names are derived.
        clock: seconds since 1970.
    """

    __slots__ = ("_key", "_noted", "clock", "records")

    def __init__(self, records: Records, key: bytes, clock: Callable[[], float] = time.time) -> None:
        self.records, self._key, self.clock = records, key, clock
        self._noted: set[tuple[Any, ...]] = set()  # so that what was read before costs no look at the store

    def name(self, kind: str, token: Token, key: object) -> str:
        """The name of what a token makes under an idempotency key."""
        if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY or not key.isprintable():
            remedy = "Send Idempotency-Key: a fresh text for each request, and the same one when it is repeated."
            where = "Idempotency-Key"
            raise OutOfRange(
                "a request that writes must have an idempotency key",
                came="none, or a long one",
                where=where,
                remedy=remedy,
            )
        # Of a token that many hold, the keys of each are that person's own.
        about = [kind, token.name, key, *([token.owner] if token.is_shared else [])]
        return hmac.digest(self._key, json.dumps(about).encode(), sha256)[:12].hex()

    def again(self, store: RecordTransaction, kind: str, name: str, facts: Any) -> dict[str, Any] | None:
        """The record that this request made before; None where it comes for the first time, which is noted."""
        if not self.check_same(store, name, facts):
            store.put("request", name, {"asked": self._fingerprint(facts)})
            return None
        return store.get(kind, name)

    def check_same(self, store: RecordTransaction, name: str, facts: Any) -> bool:
        """Whether a request came before; under its key nothing else may come.

        Raises:
            RequestReused: where something else came.
        """
        before = store.get("request", name)
        if before is not None and before["asked"] != self._fingerprint(facts):
            remedy = "Use a fresh key for each request."
            raise RequestReused("an idempotency key must be for one request", came="another request", remedy=remedy)
        return before is not None

    def _fingerprint(self, facts: Any) -> str:
        return hmac.digest(self._key, json.dumps(facts, sort_keys=True).encode(), sha256).hex()

    def trail(self, store: RecordTransaction, token: Token, done: str, **about: Any) -> None:
        """Write down who did what, after everything that is written already; no value."""
        note(store, token, self.clock(), done, **about)

    def trail_once_a_day(self, token: Token, done: str, **about: Any) -> None:
        """Write down what is done ever so often: once a day for a token, and for what it is about."""
        now = self.clock()
        known = (int(now // 86_400), token.name, token.owner, done, *map(str, about.values()))
        if known in self._noted:
            return
        if len(self._noted) >= _MOST_NOTED:
            self._noted.clear()
        # Looked up by a reader first: whoever writes waits for all others who do.
        if not self.records.read(lambda store: is_noted(store, token, now, done, **about)):
            self.records.write(lambda store: note_once_a_day(store, token, now, done, **about))
        self._noted.add(known)

    def person(self, store: RecordTransaction, token: Token) -> Token:
        """The token, with every name by which its owner is known through other tokens, valid or not.

        Cost: reads all tokens.
        """
        return replace(token, also=names_of(store, token.names))

    def known(self, store: RecordTransaction, kind: str, name: object, token: Token, verb: str) -> dict[str, Any]:
        """A record that a token asks for by its name.

        Raises:
            NotAllowed: for a token whose role may never.
            UnknownRecord: where there is none, and in the same words for one about a release that the token is not for.
        """
        token.check_role(verb)
        record = store.get(kind, name) if isinstance(name, str) else None
        if record is None or not token.may(verb, record["release"]):
            raise UnknownRecord(
                f"the name must be that of a {kind} that you may see",
                came="none of this name",
                remedy="See the list of them.",
            )
        return record


def tokens_of(store: RecordTransaction) -> list[Token]:
    """All tokens that were ever made."""
    return [Token.of_kept(name, record) for name, record in store.all("token")]


def names_of(store: RecordTransaction, names: Iterable[str]) -> frozenset[str]:
    """All names of the person of whom these are some.

    Names of one token are one person's, and so are those of tokens that share one, however long the chain.
    """
    person, known, tokens = {*names}, -1, tokens_of(store)
    while known < len(person):
        known = len(person)
        person.update(*(token.names for token in tokens if token.is_of(person)))
    return frozenset(person)


def granted(token: Token, release: str) -> Level | str | None:
    """The largest level of a release that a token is for by its grants; ANY, or None."""
    grants = [grant.up_to for grant in token.grants if grant.covers(release, None)]
    levels = [most for most in grants if most is not None]
    return ANY if len(levels) < len(grants) else max(levels, default=None)


def reaches(most: Level | str | None, at: Level) -> bool:
    """Whether a level is within what `granted` gave."""
    return most == ANY or (isinstance(most, Level) and not at > most)
