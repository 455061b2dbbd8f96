"""Where responses are kept: block by block, each level under a key of its own where the ledger is sealed."""

import hmac
from collections.abc import Iterator
from hashlib import sha256

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from utmost.errors import LedgerDamaged
from utmost.exact import Level
from utmost.release.ledger.key import Key
from utmost.release.ledger.numbers import packed, unpacked
from utmost.release.ledger.store import Rows
from utmost.release.statement import level_text
from utmost.sampling.bits import entropy
from utmost.sampling.wide import Integers

_NONCE_BYTES = 12


class Root:
    """The digest of the parts of an event, in order: what binds them to the event.

    Attributes:
        count: how many parts it has taken in.
    """

    __slots__ = ("_digest", "count")

    def __init__(self) -> None:
        self.count, self._digest = 0, sha256()

    def add(self, content: bytes) -> None:
        """Take one part more in."""
        self._digest.update(sha256(content).digest())
        self.count += 1

    @property
    def text(self) -> str:
        """The digest so far."""
        return self._digest.hexdigest()


def level_key(key: Key, name: str, version: int, level: Level) -> bytes:
    """The key under which one level of one version of a release is sealed."""
    return key.derived("level", name, str(version), level_text(level))


def sealed(secret: bytes | None, event: int, part: int, block: Integers) -> bytes:
    """A block of responses as it is stored, bound to its place; AES-256-GCM under ``secret`` if there is one."""
    content = packed(block)
    if secret is None:
        return content
    # A ledger that was put back to an earlier state uses a key again, so the nonce must not be a counter.
    nonce = entropy(_NONCE_BYTES)
    return nonce + AESGCM(secret).encrypt(nonce, content, _place(event, part))


def opened(secret: bytes | None, event: int, part: int, content: bytes) -> Integers:
    """The block that was stored so.

    Raises:
        LedgerDamaged: where the content has been changed, or belongs to another place or level.
    """
    if secret is None:
        return unpacked(content)
    try:
        plain = AESGCM(secret).decrypt(content[:_NONCE_BYTES], content[_NONCE_BYTES:], _place(event, part))
    except (InvalidTag, ValueError):
        raise LedgerDamaged(
            "a sealed block must be as it was written", came="another seal", where=f"event {event}, part {part}"
        ) from None
    return unpacked(plain)


def checked_parts(rows: Rows, event: int, count: int, root: str) -> Iterator[bytes]:
    """The parts of an event, in order. At the end they are known to be what was written.

    Raises:
        LedgerDamaged: for a part that is missing, or parts that are not those of the event.
    """
    taken = Root()
    for part in range(count):
        content = rows.part(event, part)
        if content is None:
            raise LedgerDamaged("every part must be there", came=f"no part {part}", where=f"event {event}")
        taken.add(content)
        yield content
    if not hmac.compare_digest(taken.text, root):
        raise LedgerDamaged("the parts must be those that were written", came="another digest", where=f"event {event}")


def _place(event: int, part: int) -> bytes:
    return event.to_bytes(8, "big") + part.to_bytes(8, "big")
