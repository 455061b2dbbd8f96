"""Keyed digests of what is published, by which the same data are known again under another name.

For a column with the steps n_1 ... n_r on the grid 2^-k, the digest is

    HMAC(K, sorted values),    the values as integers times a power of two, in lowest terms,

so the order of the rows, the names of release and column, and whether counts were released as integers or as reals make
no difference. K is one key for the whole ledger, hence equal columns have equal digests, and a file with these digests
would tell that two tables agree. So an event keeps them **sealed**, under a key derived from the ledger's and a random
nonce, and in a length that hangs on the number of columns alone: without the key they are noise.

A column of which all cells are equal says little about whose data it is, and is passed over.
"""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from utmost.errors import LedgerDamaged
from utmost.ledger.blocks import packed
from utmost.ledger.key import Key
from utmost.ledger.source import Source
from utmost.sampling.integers import Integers
from utmost.sampling.random_bits import entropy

_BYTES, _NONCE_BYTES = 16, 12


@dataclass(frozen=True, slots=True)
class Likeness:
    """By what a table is known again; digests under the ledger's key.

    Attributes:
        labels: of the names of the columns of text beside the released ones.
        texts: of their cells, in the order of the rows.
        columns: of the values of each released column, in any order of the rows.
    """

    labels: bytes
    texts: bytes
    columns: tuple[bytes, ...]

    @classmethod
    def of(cls, key: Key, source: Source, exponent: int | None) -> "Likeness":
        """The digests of a table.

        Args:
            exponent: the values are in steps of 2^-exponent; None for integers.
        """
        return cls(*row_names(key, source), value_digests(key, source, exponent))

    def sealed(self, key: Key, name: str, version: int) -> str:
        """The digests as an event keeps them."""
        nonce, content = entropy(_NONCE_BYTES), b"".join((self.labels, self.texts, *self.columns))
        return (nonce + AESGCM(key.derived("likeness seal")).encrypt(nonce, content, _about(name, version))).hex()

    @classmethod
    def opened(cls, key: Key, kept: str, name: str, version: int) -> "Likeness":
        """The digests that an event keeps.

        Raises:
            LedgerDamaged: where they are not as they were written.
        """
        try:
            whole = bytes.fromhex(kept)
            nonce, content = whole[:_NONCE_BYTES], whole[_NONCE_BYTES:]
            plain = AESGCM(key.derived("likeness seal")).decrypt(nonce, content, _about(name, version))
        except (InvalidTag, ValueError):
            where = f"{name!r}, version {version}"
            raise LedgerDamaged("digests must be as they were written", came="another seal", where=where) from None
        parts = [plain[at : at + _BYTES] for at in range(0, len(plain), _BYTES)]
        return cls(parts[0], parts[1], tuple(parts[2:]))


def row_names(key: Key, source: Source) -> tuple[bytes, bytes]:
    """The digests of the columns of text beside the released ones: of their names, and of their cells in order."""
    secret, texts = key.derived("likeness"), source.texts()
    return _digest(secret, "labels", _joined(texts)), _digest(secret, "texts", *map(_joined, texts.values()))


def value_digests(key: Key, source: Source, exponent: int | None) -> tuple[bytes, ...]:
    """The digest of the values of each released column, in any order of the rows."""
    secret = key.derived("likeness")
    return tuple(_column(secret, column, exponent or 0) for column in source.columns.values())


def _joined(texts: Iterable[str]) -> bytes:
    return "\0".join(texts).encode("utf-8", "surrogatepass")


def _column(secret: bytes, column: Integers, exponent: int) -> bytes:
    """The digest of a column in any order; one that is like no other where all its cells are equal."""
    if not column.size or (column == column[0]).all():
        return entropy(_BYTES)
    ordered = np.sort(column)
    ones = int(np.bitwise_or.reduce(ordered))
    shift = (ones & -ones).bit_length() - 1
    return _digest(secret, "values", str(exponent - shift).encode(), packed(ordered >> shift))


def _digest(secret: bytes, what: str, *parts: bytes) -> bytes:
    sized = b"".join(len(part).to_bytes(8, "big") + part for part in (what.encode(), *parts))
    return hmac.digest(secret, sized, sha256)[:_BYTES]


def _about(name: str, version: int) -> bytes:
    return f"{version}:{name}".encode("utf-8", "surrogatepass")
