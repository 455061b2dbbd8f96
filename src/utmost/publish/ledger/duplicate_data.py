"""Recognise data that are published a second time under another name, by keyed digests of the columns.

The digest of a column is the digest of a multiset: HMAC(K, number of cells, sum of the cells' digests modulo 2^128),
with each cell as a number in lowest terms. So the digest of a column does not depend on the order of the rows, on the
names of release and column, on the type (integers or reals), or on whether the table is in memory or in an engine. K is
one key for the whole ledger, so that equal columns have equal digests, and a file of bare digests would reveal that two
tables agree. Therefore an event stores the digests **encrypted**, under a key derived from the ledger's key, with a
random nonce, in a length that depends only on the number of columns.

A column whose cells are all equal does not identify a table, and is not compared.
"""

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import takewhile

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from utmost.core.sampling.random_bits import entropy
from utmost.errors import LedgerDamaged
from utmost.publish.ledger.key import Key
from utmost.publish.ledger.state import Published, ReleaseKey
from utmost.publish.releases.item_commitment import ItemCommitment, packed_sum, value_sums
from utmost.publish.releases.source import Source
from utmost.tables.frames.adapters import Column

_BYTES = 16
_NONCE_BYTES = 12


@dataclass(frozen=True, slots=True)
class TableDigests:
    """Digests of a table under the ledger's key, by which the same data are recognised."""

    labels: bytes  # Digest of the names of the text columns beside the released ones
    texts: bytes  # Digest of the cells of the text columns, in the order of the rows
    columns: tuple[bytes, ...]  # Digest of the values of each released column, for any order of the rows

    @classmethod
    def of(cls, key: Key, source: Source, labels: Mapping[str, Column]) -> "TableDigests":
        """Return the digests of a table in memory; ``labels`` are the public columns as they are published."""
        return cls(*text_digests(key, source.texts(labels)), value_digests(key, source))

    @classmethod
    def of_items(cls, key: Key, commitment: ItemCommitment) -> "TableDigests":
        """Compute the digests of a table with keyed noise from its commitment, without digests of text columns."""
        return cls(*text_digests(key, {}), digests_of_sums(key, commitment.columns))

    def sealed(self, key: Key, name: str, version: int) -> str:
        """Return the encrypted digests, as the event of a release stores them."""
        nonce, content = entropy(_NONCE_BYTES), b"".join((self.labels, self.texts, *self.columns))
        return (nonce + AESGCM(key.derived("likeness seal")).encrypt(nonce, content, _release(name, version))).hex()

    @classmethod
    def opened(cls, key: Key, sealed: str, name: str, version: int) -> "TableDigests":
        """Return the digests that an event stores; raise LedgerDamaged if they were changed."""
        try:
            whole = bytes.fromhex(sealed)
            nonce, content = whole[:_NONCE_BYTES], whole[_NONCE_BYTES:]
            plain = AESGCM(key.derived("likeness seal")).decrypt(nonce, content, _release(name, version))
        except (InvalidTag, ValueError):
            where = f"{name!r}, version {version}"
            raise LedgerDamaged(
                "stored digests must be unchanged", came="digests with another seal", where=where
            ) from None
        parts = [plain[at : at + _BYTES] for at in range(0, len(plain), _BYTES)]
        return cls(parts[0], parts[1], tuple(parts[2:]))


class KnownDigests:
    """The digests of the columns of all releases of a ledger, decrypted once in a process."""

    # A release is recognised by its encrypted digests, which have a random nonce: a release that a transaction appended
    # and rolled back is never found again.
    __slots__ = ("_columns", "_seen")

    def __init__(self) -> None:
        self._seen = set[str]()
        self._columns = dict[bytes, list[tuple[ReleaseKey, str, int]]]()

    def holders(self, key: Key, releases: dict[ReleaseKey, Published], digest: bytes) -> list[tuple[Published, int]]:
        """Return the releases that have a column with this digest, each with the index of the column."""
        # ``releases`` are in the order of publication, so that the new ones are the last.
        new = [*takewhile(lambda item: item[1].values not in self._seen, reversed(releases.items()))]
        for item, release in reversed(new):
            for at, column in enumerate(TableDigests.opened(key, release.values, *item).columns):
                self._columns.setdefault(column, []).append((item, release.values, at))
            self._seen.add(release.values)
        known = self._columns.get(digest, [])
        return [
            (releases[item], at) for item, values, at in known if item in releases and releases[item].values == values
        ]


def _release(name: str, version: int) -> bytes:
    return f"{version}:{name}".encode("utf-8", "surrogatepass")


def text_digests(key: Key, texts: Mapping[str, list[str]]) -> tuple[bytes, bytes]:
    """Return two digests, one of the names of the text columns and one of all their cells; see `Source.texts`."""
    secret = key.derived("likeness")
    names, *columns = ("\0".join(column).encode("utf-8", "surrogatepass") for column in (texts, *texts.values()))
    return _digest(secret, "labels", names), _digest(secret, "texts", *columns)


def value_digests(key: Key, source: Source) -> tuple[bytes, ...]:
    """Return a digest of each released column; equal values in any order of the rows have equal digests."""
    secret, exponent = cell_digest_secret(key), source.promise.lasting_noise.exponent
    # A column of equal cells, such as all zeros, is not compared: it does not identify a table.
    sums = (
        None if not column.size or (column == column[0]).all() else packed_sum(value_sums(secret, column, exponent))
        for column in source.columns.values()
    )
    return digests_of_sums(key, sums)


def cell_digest_secret(key: Key) -> bytes:
    """Return the key of the digests of single cells, one for the whole ledger."""
    return key.derived("likeness cells")


def digests_of_sums(key: Key, sums: Iterable[bytes | None]) -> tuple[bytes, ...]:
    """Return a digest for each column from the sum of its cells' digests. A column without a sum, or of one cell, gets
    a random digest.
    """
    secret = key.derived("likeness")
    return tuple(
        entropy(_BYTES)
        if packed is None or int.from_bytes(packed[:8], "little") == 1
        else _digest(secret, "cells", packed)
        for packed in sums
    )


def _digest(secret: bytes, kind: str, *parts: bytes) -> bytes:
    sized = b"".join(len(part).to_bytes(8, "big") + part for part in (kind.encode(), *parts))
    return hmac.digest(secret, sized, sha256)[:_BYTES]
