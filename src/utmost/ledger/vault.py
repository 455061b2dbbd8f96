"""Where responses are kept: block by block, each level under a key of its own where the ledger is sealed."""

import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from utmost.errors import KeyRefused, LedgerDamaged
from utmost.exact import Level
from utmost.ledger.key import KEY_BYTES, Key
from utmost.ledger.store import Rows
from utmost.release.statements import level_text
from utmost.sampling.random_bits import entropy

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


class About(Protocol):
    """What a response is of: its release, with the digest of all public facts about it."""

    @property
    def name(self) -> str:
        """The name of the release."""

    @property
    def version(self) -> int:
        """Which version of it."""

    @property
    def bound(self) -> bytes:
        """The digest of all public facts about it."""


@dataclass(frozen=True, slots=True, repr=False)
class Seal:
    """How the blocks of one response are sealed: AES-256-GCM, or not at all.

    Attributes:
        secret: the key; None where the ledger is not sealed.
        facts: what is authenticated beside the number of the event and the part: the digest of all public facts; empty
            for blocks of format 1, which are bound to their place alone.
    """

    secret: bytes | None
    facts: bytes = b""

    def sealed(self, event: int, part: int, content: bytes) -> bytes:
        """A block as it is stored; as long as the content alone makes it."""
        if self.secret is None:
            return content
        # A ledger that was put back to an earlier state uses a key again, so the nonce must not be a counter.
        nonce = entropy(_NONCE_BYTES)
        return nonce + AESGCM(self.secret).encrypt(nonce, content, self._place(event, part))

    def opened(self, event: int, part: int, content: bytes) -> bytes:
        """The block that was stored so.

        Raises:
            LedgerDamaged: where the content or a fact about it has been changed, or it belongs to another place.
        """
        if self.secret is None:
            return content
        try:
            return AESGCM(self.secret).decrypt(content[:_NONCE_BYTES], content[_NONCE_BYTES:], self._place(event, part))
        except (InvalidTag, ValueError):
            raise LedgerDamaged(
                "a sealed block must be as it was written", came="another seal", where=f"event {event}, part {part}"
            ) from None

    def _place(self, event: int, part: int) -> bytes:
        return self.facts + event.to_bytes(8, "big") + part.to_bytes(8, "big")


def response_facts(identity: str, about: About, level: Level) -> bytes:
    """The digest of all public facts about a response: of the ledger, the release, and the level."""
    facts = identity, about.bound.hex(), level_text(level)
    return sha256(b"".join(len(fact.encode()).to_bytes(4, "big") + fact.encode() for fact in facts)).digest()


def level_key(key: Key, identity: str, about: About, level: Level, form: int) -> bytes:
    """The key under which one level of one version of a release is sealed.

    It is derived from all public facts, so that whoever changes one of them holds the key to nothing; in format 1 it is
    derived from name, version and level alone.
    """
    if form == 1:
        return key.derived("level", about.name, str(about.version), level_text(level))
    return key.derived("bound level", response_facts(identity, about, level).hex())


def level_seal(key: Key, identity: str, about: About, level: Level, form: int, *, is_sealed: bool) -> Seal:
    """The seal of a response, for whoever holds the ledger's key."""
    if not is_sealed:
        return Seal(None)
    secret = level_key(key, identity, about, level, form)
    return Seal(secret, b"" if form == 1 else response_facts(identity, about, level))


def handed_key(key: Key, identity: str, about: About, level: Level, form: int) -> bytes:
    """The key of a level as a recipient gets it: 32 bytes; in format 1 the digest of the public facts after them."""
    secret = level_key(key, identity, about, level, form)
    return secret + response_facts(identity, about, level) if form == 1 else secret


def handed_seal(handed: bytes, identity: str, about: About, level: Level, form: int) -> Seal:
    """The seal of a response, for whoever holds the key of its level.

    Raises:
        KeyRefused: where the key is of another length, or of other facts.
    """
    facts = response_facts(identity, about, level)
    if form == 1 and not hmac.compare_digest(handed[KEY_BYTES:], facts):
        raise KeyRefused(
            "the key of a level of format 1 must come with the facts about it",
            where=repr(about.name),
            mend="Ask the ledger's curator for level_key again.",
        )
    if form != 1 and len(handed) != KEY_BYTES:
        raise KeyRefused(f"the key of a level must be {KEY_BYTES} bytes", where=repr(about.name))
    return Seal(handed[:KEY_BYTES], b"" if form == 1 else facts)


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
