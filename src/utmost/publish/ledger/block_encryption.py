"""The storage format of responses: blocks of integers of a fixed width, each level encrypted under its own key.

**The length of a stored block reveals nothing.** Each integer of a block takes a number of bytes that depends only on
public facts (see `utmost.promises.Noise.word`). The smallest sufficient number of bytes would reveal the largest
integer, and encryption does not hide a length.
"""

import hmac
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from utmost.core.exact.arrays import objects
from utmost.core.exact.levels import Level
from utmost.core.exact.written_levels import level_text
from utmost.core.sampling.integers import Integers, narrowed
from utmost.core.sampling.item_words import length_prefixed
from utmost.core.sampling.random_bits import entropy
from utmost.errors import KeyRefused, LedgerDamaged
from utmost.publish.ledger.key import KEY_BYTES, Key
from utmost.publish.ledger.store import PartReader
from utmost.publish.promises.lattice import WORD_WIDTHS, width_of


def stored(integers: Integers, width: int) -> bytes:
    """Encode integers in ``width`` bytes each (1, 2, 4, 8, 16, ...), or in more bytes if one of them does not fit."""
    # More bytes are needed only if the noise is too large for ``width`` bytes. This has negligible probability, but
    # such noise must be stored, too, so that the distribution stays exact.
    smallest, largest = (int(integers.min()), int(integers.max())) if integers.size else (0, 0)
    width = max(width, width_of(1 + max(largest, -smallest - 1).bit_length()))
    least = -(1 << (8 * width - 1))
    integers = narrowed(integers)
    if width <= 8 or integers.dtype == object:
        return _block(integers.size, width, least, _offsets(integers, least, width))
    # int64 is never converted to Python integers.
    low = integers.astype(np.int64)
    words = np.empty((low.size, width // 8), "<u8")
    words[:, 0] = low.view(np.uint64)
    words[:, 1:] = _above(low, width)
    return _block(integers.size, width, least, words.tobytes())


def packed(integers: Integers) -> bytes:
    """Encode integers for a digest: equal integers give equal bytes, for any type of array."""
    # Little-endian: count, width of an offset, length of the least (4 bytes each), the least, the offsets.
    if integers.size == 1:  # small tables have many blocks of one integer, for which NumPy is slow
        return _block(1, 1, int(integers[0]), b"\0")
    least = int(integers.min()) if integers.size else 0
    span = (int(integers.max()) - least) if integers.size else 0
    width = next((w for w in WORD_WIDTHS if span < 1 << (8 * w)), (span.bit_length() + 7) // 8)
    return _block(integers.size, width, least, _offsets(integers, least, width))


def unpacked(content: bytes) -> Integers:
    """Decode the integers that `stored` or `packed` encoded, to int64 if all of them fit."""
    count, width, length = (int.from_bytes(content[at : at + 4], "little") for at in (0, 4, 8))
    body = content[12 + length :]
    if len(content) < 12 + length or not width or not length or len(body) != count * width:
        raise LedgerDamaged(
            "a stored block must have the length that its header states",
            came=f"{len(content)} bytes",
            where="responses",
        )
    least = int.from_bytes(content[12 : 12 + length], "little", signed=True)
    if width <= 8:
        offsets = np.frombuffer(body, dtype=f"<u{width}")
        largest = least + int(offsets.max(initial=0))
        if least >= -(1 << 63) and largest < 1 << 63:
            # The sum wraps modulo 2^64; the result is right, since it fits int64.
            return (offsets.astype(np.uint64) + np.uint64(least % (1 << 64))).view(np.int64)
        return narrowed(offsets.astype(object) + least)
    # Words of 16 bytes and more nearly always hold small numbers: if all higher words only repeat the sign, read the
    # lowest 64 bits of all at once.
    if width % 8 == 0 and least == -(1 << (8 * width - 1)):
        words = np.frombuffer(body, dtype="<u8").reshape(count, width // 8)
        low = words[:, 0].astype(np.uint64).view(np.int64)
        if (words[:, 1:] == _above(low, width)).all():
            return low
    starts = range(0, len(body), width)
    return narrowed(objects(least + int.from_bytes(body[at : at + width], "little") for at in starts))


def _block(count: int, width: int, least: int, words: bytes) -> bytes:
    base = least.to_bytes(least.bit_length() // 8 + 1, "little", signed=True)
    head = b"".join(n.to_bytes(4, "little") for n in (count, width, len(base)))
    return head + base + words


def _above(low: Integers, width: int) -> Integers:
    """For each 64-bit x, return the words of x + 2^(8 width - 1) except the lowest; shape (n, width // 8 - 1)."""
    signs = (low >> 63).view(np.uint64)
    above = np.repeat(signs[:, np.newaxis], width // 8 - 1, axis=1)
    # Adding 2^(8 width - 1) flips the highest bit only; the carry beyond it is dropped.
    above[:, -1] ^= np.uint64(1 << 63)
    return above


def _offsets(integers: Integers, least: int, width: int) -> bytes:
    if width <= 8 and integers.dtype != object:
        return (integers.astype(np.int64).view(np.uint64) - np.uint64(least % (1 << 64))).astype(f"<u{width}").tobytes()
    return b"".join((integer - least).to_bytes(width, "little") for integer in integers.tolist())


_NONCE_BYTES = 12


def parts_digest(parts: Iterable[bytes]) -> str:
    """Return one digest of the parts of an event, in order; the event stores it, so that no part can be exchanged."""
    return sha256(b"".join(sha256(part).digest() for part in parts)).hexdigest()


class SealedLedger(Protocol):
    """The facts about a ledger that the encryption of its responses needs."""

    @property
    def identity(self) -> str: ...

    @property
    def is_sealed(self) -> bool: ...


class SealedRelease(Protocol):
    """The facts about a release that the encryption of its responses needs."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int: ...

    @property
    def bound(self) -> bytes:
        """The digest of all public facts about the release."""


@dataclass(frozen=True, slots=True, repr=False)
class Seal:
    """The encryption of the blocks of one response: AES-256-GCM, or no encryption."""

    secret: bytes | None  # Key; None if the ledger is not encrypted
    facts: bytes = b""  # Digest of all public facts, authenticated together with the numbers of the event and the part

    def sealed(self, event: int, part: int, content: bytes) -> bytes:
        """Encrypt one part of an event; the length of the result depends only on the length of ``content``."""
        if self.secret is None:
            return content
        # A ledger that was put back to an earlier state uses a key twice, so the nonce must not be a counter.
        nonce = entropy(_NONCE_BYTES)
        return nonce + AESGCM(self.secret).encrypt(nonce, content, self._associated_data(event, part))

    def opened(self, event: int, part: int, content: bytes) -> bytes:
        """Decrypt what `sealed` returned for the same event and part."""
        if self.secret is None:
            return content
        try:
            return AESGCM(self.secret).decrypt(
                content[:_NONCE_BYTES], content[_NONCE_BYTES:], self._associated_data(event, part)
            )
        except (InvalidTag, ValueError):
            raise LedgerDamaged(
                "a stored block must be unchanged",
                came="a block with another seal",
                where=f"event {event}, part {part}",
            ) from None

    def _associated_data(self, event: int, part: int) -> bytes:
        return self.facts + event.to_bytes(8, "big") + part.to_bytes(8, "big")


def response_facts(identity: str, release: SealedRelease, level: Level) -> bytes:
    """Return the digest of all public facts about a response: identity of the ledger, facts of the release, level."""
    return sha256(length_prefixed((identity, release.bound.hex(), level_text(level)))).digest()


def level_seal(key: Key, ledger: SealedLedger, release: SealedRelease, level: Level) -> Seal:
    """Make the seal that encrypts the answer at one level under its own key."""
    if not ledger.is_sealed:
        return Seal(None)
    # The key is derived from all public facts: if one of them is changed, the derived key opens nothing.
    facts = response_facts(ledger.identity, release, level)
    return Seal(key.derived("bound level", facts.hex()), facts)


def recipient_seal(secret: bytes, identity: str, release: SealedRelease, level: Level) -> Seal:
    """Make the seal of a response from the key of its level; the ledger's key is not needed."""
    if len(secret) != KEY_BYTES:
        raise KeyRefused(f"the key of a level must be {KEY_BYTES} bytes", where=repr(release.name))
    return Seal(secret, response_facts(identity, release, level))


def checked_parts(rows: PartReader, event: int, count: int, root: str) -> Iterator[bytes]:
    """Yield the parts of an event in order; raise LedgerDamaged if a part is missing or was changed."""
    taken = sha256()
    for part in range(count):
        content = rows.part(event, part)
        if content is None:
            raise LedgerDamaged(
                "the store must contain every part of an event", came=f"no part {part}", where=f"event {event}"
            )
        taken.update(sha256(content).digest())
        yield content
    if not hmac.compare_digest(taken.hexdigest(), root):
        raise LedgerDamaged(
            "the stored parts of an event must be unchanged", came="parts with another digest", where=f"event {event}"
        )
