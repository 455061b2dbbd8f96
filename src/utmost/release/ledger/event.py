"""Events: what the ledger is made of. Each is written once, and never edited.

The law by which events evolve
    A kind or a fact is never removed and its meaning is never changed; what is new gets a new name and a larger
    ``format``. An event of an older format is read through the `UPGRADES` to today's. An event of a later format, or of
    a kind that is not known here, is refused: nothing unknown is passed over.

Everything else that a ledger knows is a function of the list of its events, see `utmost.release.ledger.state`.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from utmost.errors import LedgerDamaged, Unsupported

FORMAT = 2

KINDS = ("opened", "published", "answered", "budgeted", "quarantined", "resumed")
"""A ledger is made; a release is published; it is answered at one level more; a budget is set; a quarantine
begins; it ends."""

Facts = Mapping[str, Any]


def _second(facts: Facts) -> Facts:
    """Format 2 tells of a witness, of seals, bounds and snapping, and keeps a digest of the values."""
    if "identity" in facts:
        facts = {**facts, "witness": None}
    if "root" not in facts:
        return facts
    if "promise" not in facts:
        return {"seal": 1, **facts}
    promise = facts["promise"]
    floor = None if promise.get("grid") is None else "floor"
    known: Facts = {"seal": 1, "values": None, "public": [], "rows_from": "declared"}
    return {**known, **facts, "promise": {"largest": None, "snapping": floor, **promise}}


UPGRADES: Mapping[int, Callable[[Facts], Facts]] = {1: _second}
"""From a format to the next: the facts of an event as the next format would have written them."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event.

    Attributes:
        number: 1, 2, ...
        time: when it was written, UTC, as the writer's clock had it.
        kind: one of `KINDS`.
        facts: what it says, as JSON values.
    """

    number: int
    time: str
    kind: str
    facts: Facts


def written(event: Event) -> bytes:
    """The event as it is stored: JSON with its names in order and no spaces.

    >>> written(Event(1, "2026-01-01T00:00:00Z", "budgeted", {"dataset": "d", "limit": "1"}))
    b'{"facts":{"dataset":"d","limit":"1"},"format":2,"kind":"budgeted","time":"2026-01-01T00:00:00Z"}'
    """
    body = {"format": FORMAT, "kind": event.kind, "time": event.time, "facts": dict(event.facts)}
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def read_event(number: int, body: bytes, upgrades: Mapping[int, Callable[[Facts], Facts]] = UPGRADES) -> Event:
    """The event that was stored so.

    Raises:
        Unsupported: for an event of a later format, or of an unknown kind.
        LedgerDamaged: for what is no event.
    """
    where = f"event {number}"
    try:
        found = json.loads(body)
        form, kind, time, facts = found["format"], found["kind"], found["time"], found["facts"]
        right = isinstance(kind, str) and isinstance(facts, dict) and isinstance(time, str)
    except (ValueError, KeyError, TypeError, RecursionError):
        right = False
    if not right:
        raise LedgerDamaged("an event must be JSON with its four parts", where=where) from None
    last = max(upgrades, default=FORMAT - 1) + 1
    if type(form) is not int or not 1 <= form <= last or kind not in KINDS:
        raise Unsupported(
            "an event must be of a kind that this version knows",
            came=f"{kind!r} of format {form!r}",
            where=where,
            mend="The ledger was written by a later version of utmost: open it with that.",
        )
    try:
        for older in range(form, last):
            facts = upgrades[older](facts)
    except (TypeError, ValueError, AttributeError):
        raise LedgerDamaged("an event must hold its facts", where=where) from None
    return Event(number, time, kind, facts)
