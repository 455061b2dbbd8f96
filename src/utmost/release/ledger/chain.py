r"""The chain that binds each event to all before it, under the ledger's key.

    mac_0 = 0,   mac_n = HMAC(K_chain, mac_(n-1) || n || body_n),   seal = HMAC(K_head, n || mac_n)

Without the key nobody can change, add, reorder or drop an event; the seal of the last one, made under a key of its own,
keeps anyone from cutting the chain back to an earlier event. Only a whole ledger put back to an earlier state passes:
that is what witnesses are for.
"""

import hmac
from hashlib import sha256

from utmost.errors import LedgerDamaged
from utmost.release.ledger.key import Key
from utmost.release.ledger.store import Row

START = bytes(32)
"""What stands for the mac before the first event."""


def mac(key: Key, before: bytes, number: int, body: bytes) -> bytes:
    """The mac of an event that follows one with the mac ``before``."""
    return hmac.digest(key.derived("chain"), before + number.to_bytes(8, "big") + body, sha256)


def seal(key: Key, number: int, mac: bytes) -> bytes:
    """The seal of a chain that ends with this event."""
    return hmac.digest(key.derived("head"), number.to_bytes(8, "big") + mac, sha256)


def check_chain(key: Key, number: int, before: bytes, rows: list[Row]) -> bytes:
    """Check that the rows continue a chain, and return the last mac.

    Args:
        number, before: of the event that the rows follow; 0 and `START` for a whole chain.

    Raises:
        LedgerDamaged: at the first event that was not written so.
    """
    for place, (found, body, stored) in enumerate(rows, start=number + 1):
        if found != place:
            raise LedgerDamaged("every event must be there", came=f"event {found}", where=f"event {place}")
        before = mac(key, before, found, body)
        if not hmac.compare_digest(before, stored):
            raise LedgerDamaged("an event must be as it was written", came="another mac", where=f"event {found}")
    return before


def check_seal(key: Key, head: tuple[int, bytes] | None, number: int, mac: bytes) -> None:
    """Check that the chain ends where its head says.

    Raises:
        LedgerDamaged: where it does not.
    """
    if head is None or head[0] != number or not hmac.compare_digest(head[1], seal(key, number, mac)):
        raise LedgerDamaged(
            "the last event must be the one that was sealed",
            came="no seal" if head is None else f"a seal of event {head[0]} on a chain of {number}",
            where="utmost_head",
        )
