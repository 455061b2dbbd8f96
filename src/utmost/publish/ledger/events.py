"""Events: the records that a ledger consists of, each written once, never edited, and chained to all earlier ones.

The state of a ledger is a function of the list of its events, see `utmost.publish.ledger.state`. An event whose
``format`` is not `EVENT_FORMAT`, or whose kind is not in `EVENT_KINDS`, is refused.

**The MAC of an event covers all events before it, under the ledger's key:**

    mac_0 = 0,   mac_n = HMAC(K_chain, mac_(n-1) || n || body_n),   seal = HMAC(K_head, n || mac_n)

Without the key nobody can change, add, reorder or drop an event. The seal is a MAC of the last event under a separate
key; it detects that the last events were cut off. MACs cannot detect that the whole ledger was replaced by an older
copy: a witness does.
"""

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from utmost.core.exact.display import Display
from utmost.errors import LedgerDamaged, Unsupported
from utmost.publish.ledger.key import Key
from utmost.publish.ledger.store import StoredRow

EVENT_FORMAT = 1

EVENT_KINDS = (
    *("opened", "published", "answered", "stopped", "offered", "drawn"),
    *("budgeted", "charged", "quarantined", "resumed"),
)
"""The kinds of events, in this order: a ledger is created; a release is published; a release is answered at a further
level; the stopping rule of a release has stopped; a mechanism for single persons gets a name; persons are answered by a
mechanism; a budget is set; the spending of another tool is charged; a quarantine begins; a quarantine ends.
"""

EventFacts = Mapping[str, Any]


@dataclass(frozen=True, slots=True, repr=False)
class Event(Display):
    """One event of a ledger.

    Attributes:
        number: Number of the event: 1, 2, ...
        time: Time of writing, UTC, by the writer's clock.
        kind: Kind of the event, one of `EVENT_KINDS`.
        facts: Facts of the event, as JSON values.
    """

    number: int
    time: str
    kind: str
    facts: EventFacts


def event_bytes(event: Event) -> bytes:
    """Return the event as it is stored: JSON with sorted names and no spaces."""
    body = {"format": EVENT_FORMAT, "kind": event.kind, "time": event.time, "facts": dict(event.facts)}
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def read_event(number: int, body: bytes) -> Event:
    """Parse the bytes that `event_bytes` wrote."""
    where = f"event {number}"
    try:
        event = json.loads(body.decode("ascii"))
        form, kind, time, facts = event["format"], event["kind"], event["time"], event["facts"]
        right = isinstance(kind, str) and isinstance(facts, dict) and isinstance(time, str)
    except (ValueError, KeyError, TypeError, RecursionError):
        right = False
    if not right:
        raise LedgerDamaged("an event must be JSON with format, kind, time and facts", where=where) from None
    # `type(...) is`: in Python, True is an instance of int.
    if type(form) is not int or form != EVENT_FORMAT or kind not in EVENT_KINDS:
        raise Unsupported(
            f"an event must have format {EVENT_FORMAT} and a kind that this version knows",
            came=f"{kind!r} of format {form!r}",
            where=where,
            remedy="The ledger was written by another version of utmost: open it with that version.",
        )
    return Event(number, time, kind, facts)


START = bytes(32)
"""The mac before the first event."""


def mac(key: Key, before: bytes, number: int, body: bytes) -> bytes:
    """Return the mac of an event that follows an event with the mac ``before``."""
    return hmac.digest(key.derived("chain"), before + number.to_bytes(8, "big") + body, sha256)


def seal(key: Key, number: int, mac: bytes) -> bytes:
    return hmac.digest(key.derived("head"), number.to_bytes(8, "big") + mac, sha256)


def check_chain(key: Key, number: int, before: bytes, rows: list[StoredRow]) -> bytes:
    """Check that the rows continue the chain after event ``number`` with the mac ``before``; return the last mac."""
    for place, (stored_number, body, stored) in enumerate(rows, start=number + 1):
        if stored_number != place:
            raise LedgerDamaged(
                "the events must be numbered without gaps", came=f"event {stored_number}", where=f"event {place}"
            )
        # Each mac is computed from the recomputed one before it, not the stored one: an exchanged row breaks the chain.
        before = mac(key, before, stored_number, body)
        if not hmac.compare_digest(before, stored):
            raise LedgerDamaged(
                "a stored event must be unchanged", came="an event with another mac", where=f"event {stored_number}"
            )
    return before


def check_seal(key: Key, head: tuple[int, bytes] | None, number: int, mac: bytes) -> None:
    """Check that the head of the ledger has the number and the seal of the last event."""
    # The comparison takes constant time: a store that guesses seals must learn nothing from the duration.
    if head is None or head[0] != number or not hmac.compare_digest(head[1], seal(key, number, mac)):
        raise LedgerDamaged(
            "the seal of the ledger must be that of its last event",
            came="no seal" if head is None else f"a seal of event {head[0]} in a chain of {number} events",
            where="utmost_head",
        )
