"""Events: what the ledger is made of, each written once, never edited, and chained to all before it.

An event of another ``format`` than `FORMAT`, or of a kind that is not known here, is refused: nothing unknown is passed
over.

Everything else that a ledger knows is a function of the list of its events, see `utmost.publish.ledger.state`.

**The chain that binds each event to all before it, under the ledger's key.**

    mac_0 = 0,   mac_n = HMAC(K_chain, mac_(n-1) || n || body_n),   seal = HMAC(K_head, n || mac_n)

Without the key nobody can change, add, reorder or drop an event; the seal of the last one, made under a key of its own,
keeps anyone from cutting the chain back to an earlier event. Only a whole ledger put back to an earlier state passes:
that is what witnesses are for.
"""

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from utmost.core.exact.display import Display
from utmost.errors import LedgerDamaged, OutOfRange, Unsupported
from utmost.publish.ledger.key import Key
from utmost.publish.ledger.store import StoredRow

_LONGEST = 200


def check_name(name: object, what: str) -> str:
    """A name of a release, a dataset or a request: some text on one line.

    >>> check_name("admissions 1973", "name")
    'admissions 1973'
    """
    is_text = isinstance(name, str) and 0 < len(name) <= _LONGEST and name.isprintable() and name == name.strip()
    if is_text and name not in (".", ".."):  # which browsers and file systems take out of a path
        return str(name)
    raise OutOfRange(
        f"{what} must be printable text of 1 to {_LONGEST} characters, not dots, without spaces at its ends",
        came=repr(name) if isinstance(name, str) else type(name).__name__,
        remedy='Write "admissions 2026", say.',
    )


FORMAT = 1

KINDS = (
    *("opened", "published", "answered", "stopped", "offered", "drawn"),
    *("budgeted", "charged", "quarantined", "resumed"),
)
"""A ledger is made; a release is published; it is answered at one level more; its rule stopped; a mechanism is bound to
a name; persons are answered from it; a budget is set; what another tool spent is charged; a quarantine begins; it
ends."""

EventFacts = Mapping[str, Any]


@dataclass(frozen=True, slots=True, repr=False)
class Event(Display):
    """One event.

    Attributes:
        number: 1, 2, ...
        time: Time of writing, UTC, by the writer's clock.
        kind: one of `KINDS`.
        facts: Facts of the event, as JSON values.
    """

    number: int
    time: str
    kind: str
    facts: EventFacts


def event_bytes(event: Event) -> bytes:
    """The event as it is stored: JSON with its names in order and no spaces.

    >>> event_bytes(Event(1, "2026-01-01T00:00:00Z", "budgeted", {"dataset": "d", "limit": "1"}))
    b'{"facts":{"dataset":"d","limit":"1"},"format":1,"kind":"budgeted","time":"2026-01-01T00:00:00Z"}'
    """
    body = {"format": FORMAT, "kind": event.kind, "time": event.time, "facts": dict(event.facts)}
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def read_event(number: int, body: bytes) -> Event:
    """The event that was stored so."""
    where = f"event {number}"
    try:
        event = json.loads(body.decode("ascii"))  # as `event_bytes` writes it
        form, kind, time, facts = event["format"], event["kind"], event["time"], event["facts"]
        right = isinstance(kind, str) and isinstance(facts, dict) and isinstance(time, str)
    except (ValueError, KeyError, TypeError, RecursionError):
        right = False
    if not right:
        raise LedgerDamaged("an event must be JSON with its four parts", where=where) from None
    # `type(...) is`: true is an int to Python, and a format to nobody.
    if type(form) is not int or form != FORMAT or kind not in KINDS:
        raise Unsupported(
            f"an event must be of format {FORMAT} and of a kind that this version knows",
            came=f"{kind!r} of format {form!r}",
            where=where,
            remedy="The ledger was written by another version of utmost: open it with that.",
        )
    return Event(number, time, kind, facts)


START = bytes(32)
"""The mac before the first event."""


def mac(key: Key, before: bytes, number: int, body: bytes) -> bytes:
    """The mac of an event that follows one with the mac ``before``."""
    return _mac(key.derived("chain"), before, number, body)


def _mac(secret: bytes, before: bytes, number: int, body: bytes) -> bytes:
    return hmac.digest(secret, before + number.to_bytes(8, "big") + body, "sha256")


def seal(key: Key, number: int, mac: bytes) -> bytes:
    """The seal of a chain that ends with this event."""
    return hmac.digest(key.derived("head"), number.to_bytes(8, "big") + mac, sha256)


def check_chain(key: Key, number: int, before: bytes, rows: list[StoredRow]) -> bytes:
    """Check that the rows continue a chain, and return the last mac.

    Args:
        number, before: Number and mac of the event that the rows follow; 0 and `START` for a whole chain.
    """
    secret = key.derived("chain")
    for place, (stored_number, body, stored) in enumerate(rows, start=number + 1):
        if stored_number != place:
            raise LedgerDamaged("every event must be there", came=f"event {stored_number}", where=f"event {place}")
        # Over the mac before, not over what the store says of it: a row that was exchanged breaks the chain from there
        # on.
        before = _mac(secret, before, stored_number, body)
        if not hmac.compare_digest(before, stored):
            raise LedgerDamaged(
                "an event must be as it was written", came="another mac", where=f"event {stored_number}"
            )
    return before


def check_seal(key: Key, head: tuple[int, bytes] | None, number: int, mac: bytes) -> None:
    """Check that the chain ends where its head says."""
    # In constant time, as every mac: a store that may guess must learn nothing from how long it takes.
    if head is None or head[0] != number or not hmac.compare_digest(head[1], seal(key, number, mac)):
        raise LedgerDamaged(
            "the last event must be the one that was sealed",
            came="no seal" if head is None else f"a seal of event {head[0]} on a chain of {number}",
            where="utmost_head",
        )
