"""Keyed digests of what is published, by which the same data are known again under another name.

The digest of a column is that of a multiset: HMAC(K, how many cells, the sum of their digests modulo 2^128), each cell
the number that it is, in lowest terms. So the order of the rows, the names of release and column, whether counts were
released as integers or as reals, and whether an engine holds the table or it came here make no difference. K is one
key for the whole ledger, hence equal columns have equal digests, and a file with these digests would reveal that two
tables agree. So an event keeps them **sealed**, under a key derived from the ledger's and a random nonce, and in a
length that depends on the number of columns alone: without the key they are noise.

A column of which all cells are equal says little about whose data it is, and is passed over.
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
    """Digests of a table under the ledger's key, by which the same data are known again.

    Attributes:
        labels: Digest of the names of the columns of text beside the released ones.
        texts: Digest of the cells of these columns, in the order of the rows.
        columns: Digests of the values of each released column, in any order of the rows.
    """

    labels: bytes
    texts: bytes
    columns: tuple[bytes, ...]

    @classmethod
    def of(cls, key: Key, source: Source, labels: Mapping[str, Column]) -> "TableDigests":
        """The digests of a table; its public columns come as they are published."""
        return cls(*text_digests(key, source.texts(labels)), value_digests(key, source))

    @classmethod
    def of_items(cls, key: Key, commitment: ItemCommitment) -> "TableDigests":
        """The digests of a table that was committed to where it is held; its rows are named by identifiers alone."""
        return cls(*text_digests(key, {}), digests_of_sums(key, commitment.columns))

    def sealed(self, key: Key, name: str, version: int) -> str:
        """The digests as the event of a release keeps them."""
        nonce, content = entropy(_NONCE_BYTES), b"".join((self.labels, self.texts, *self.columns))
        return (nonce + AESGCM(key.derived("likeness seal")).encrypt(nonce, content, _release(name, version))).hex()

    @classmethod
    def opened(cls, key: Key, sealed: str, name: str, version: int) -> "TableDigests":
        """The digests that an event keeps.

        Raises:
            LedgerDamaged: where they are not as they were written.
        """
        try:
            whole = bytes.fromhex(sealed)
            nonce, content = whole[:_NONCE_BYTES], whole[_NONCE_BYTES:]
            plain = AESGCM(key.derived("likeness seal")).decrypt(nonce, content, _release(name, version))
        except (InvalidTag, ValueError):
            where = f"{name!r}, version {version}"
            raise LedgerDamaged("digests must be as they were written", came="another seal", where=where) from None
        parts = [plain[at : at + _BYTES] for at in range(0, len(plain), _BYTES)]
        return cls(parts[0], parts[1], tuple(parts[2:]))


class KnownDigests:
    """The digests of the columns of all releases of a ledger, opened once in a process.

    A release is known by its sealed digests, which have a nonce of their own: what a transaction appended and then took
    back is never found again.
    """

    __slots__ = ("_columns", "_seen")

    def __init__(self) -> None:
        self._seen = set[str]()
        self._columns = dict[bytes, list[tuple[ReleaseKey, str, int]]]()

    def holders(self, key: Key, releases: dict[ReleaseKey, Published], digest: bytes) -> list[tuple[Published, int]]:
        """The releases that hold a column with this digest, and the number of the column in each.

        Args:
            releases: All releases of the ledger, in the order in which they were published.
        """
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
    """The digests of columns of text: of their names, and of their cells in order; see `Source.texts`."""
    secret = key.derived("likeness")
    names, *columns = ("\0".join(column).encode("utf-8", "surrogatepass") for column in (texts, *texts.values()))
    return _digest(secret, "labels", names), _digest(secret, "texts", *columns)


def value_digests(key: Key, source: Source) -> tuple[bytes, ...]:
    """The digests of the values of each released column, in any order of the rows."""
    secret, exponent = likeness_secret(key), source.promise.lasting_noise.exponent
    sums = (
        None if not column.size or (column == column[0]).all() else packed_sum(value_sums(secret, column, exponent))
        for column in source.columns.values()
    )
    return digests_of_sums(key, sums)


def likeness_secret(key: Key) -> bytes:
    """The secret under which the cells of each column are added up, one for the whole ledger."""
    return key.derived("likeness cells")


def digests_of_sums(key: Key, sums: Iterable[bytes | None]) -> tuple[bytes, ...]:
    """The digest of each column whose cells were added up.

    A column without a sum, and one of a single cell, which is equal to itself, get a digest that is like no other.
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
