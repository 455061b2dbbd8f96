"""The labels of a release: its public columns as they were published, which identify the rows of later answers.

The event that publishes a release stores the labels in blocks among its parts, and their digest among its facts. The
encryption of every response authenticates these facts: whoever reads an encrypted level without the ledger's key is
assured that no label has been changed.

**In an encrypted ledger nobody reads labels without a key.** They are encrypted under their own key,

    K_labels = HKDF(ledger key; identity, name, version, a random salt)

and the event of each response stores K_labels encrypted under the key of the response's level. So whoever may read a
level reads the labels, and whoever has only the file and the witness cannot even test a guess, since the digest is of
encrypted bytes. A block is padded to 16 bytes a cell, at least 1 KiB, and doubled until the labels fit, so that its
length reveals little.
"""

import hmac
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from math import isfinite
from typing import Any, Protocol

import numpy as np

from utmost.core.exact.arrays import plain_cells
from utmost.errors import BadTable, LedgerDamaged
from utmost.publish.ledger.block_encryption import Seal, SealedRelease, parts_digest
from utmost.publish.ledger.key import Key
from utmost.publish.ledger.store import Rows
from utmost.publish.promises.drawing import BLOCK

PublicCells = Mapping[str, list[Any]]
"""Mapping from names of public columns to lists of plain values."""

TableLabels = tuple[Sequence[str], PublicCells]
"""The names of a table's columns in order, and its public columns; both empty if the ledger stores no labels."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Facts about the stored labels (public columns) of a release, as its event stores them."""

    order: tuple[str, ...]  # Names of the public and the released columns, in the order of the table
    digest: str  # Digest of the parts that have the cells
    parts: int  # Number of these parts
    salt: str | None = None  # Salt of the key that encrypts the labels; None if they are not encrypted

    @classmethod
    def of(cls, order: Sequence[str], blocks: Sequence[bytes], salt: str | None = None) -> "Labels":
        return cls(tuple(order), parts_digest(blocks), len(blocks), salt)

    def facts(self) -> dict[str, Any]:
        salted = {} if self.salt is None else {"salt": self.salt}
        return {"order": list(self.order), "digest": self.digest, "parts": self.parts, **salted}

    @classmethod
    def of_facts(cls, facts: Any, rows: int) -> "Labels | None":
        if facts is None:
            return None
        order, digest, parts, salt = facts["order"], facts["digest"], facts["parts"], facts.get("salt")
        if type(order) is not list or any(type(name) is not str for name in (*order, digest, salt or "")):
            raise TypeError("labels")
        if type(parts) is not int or parts != -(-rows // BLOCK):
            raise ValueError("labels")
        return cls(tuple(order), digest, parts, salt)


class LabelledRelease(SealedRelease, Protocol):
    @property
    def labels(self) -> Labels | None:
        """The description of the stored labels; None if no labels are stored."""


_OPEN = Seal(None)


def label_seal(key: Key, identity: str, release: LabelledRelease) -> Seal:
    salt = None if release.labels is None else release.labels.salt
    return salted_seal(key, identity, release.name, release.version, salt)


def salted_seal(key: Key, identity: str, name: str, version: int | None, salt: str | None) -> Seal:
    return _OPEN if salt is None else Seal(key.derived("labels", identity, name, str(version), salt), b"labels")


def label_key_under(level: Seal, event: int, labels: Seal) -> str | None:
    """Encrypt the key of the labels under the key of a level; return hexadecimal digits, or None without encryption."""
    return None if labels.secret is None else _keyring(level).sealed(event, 0, labels.secret).hex()


def opened_label_seal(level: Seal, event: int, encrypted_key: str | None) -> Seal:
    """Decrypt the key of the labels with the key of a level; return the seal that decrypts the labels."""
    if encrypted_key is None:
        return _OPEN
    try:
        content = bytes.fromhex(encrypted_key)
    except ValueError:
        content = b""  # decryption fails
    return Seal(_keyring(level).opened(event, 0, content), b"labels")


def _keyring(level: Seal) -> Seal:
    return Seal(level.secret, b"label key" + level.facts)


def label_texts(columns: Mapping[str, Any], rows: int) -> list[bytes]:
    """Write the cells of public columns as JSON, one text for each block of `BLOCK` rows."""
    try:
        written = dict[str, list[Any]]()
        for name, column in columns.items():
            cells = plain_cells(column)
            written[name] = cells if set(map(type, cells)) <= {str} else list(map(_written, cells))
        blocks = ({name: cells[at : at + BLOCK] for name, cells in written.items()} for at in range(0, rows, BLOCK))
        return [json.dumps(block, separators=(",", ":")).encode("ascii") for block in blocks]
    except ValueError:  # Python's limit for the conversion of integers to text
        remedy = "Convert the column to text."
        raise BadTable(
            "a public integer must have at most 4300 digits", came="a longer integer", remedy=remedy
        ) from None


def label_parts(
    texts: Sequence[bytes], rows: int, columns: int, seal: Seal = _OPEN, event: int = 0, first: int = 0
) -> tuple[bytes, ...]:
    """Compress the texts of `label_texts`, or pad and encrypt them; ``first`` is the number of the first part."""
    if seal.secret is None:
        return tuple(zlib.compress(text, 6) for text in texts)
    size = max(_LEAST, _WORD * min(rows, BLOCK) * columns)
    while size < max(map(len, texts)):
        size *= 2
    return tuple(seal.sealed(event, part, text.ljust(size)) for part, text in enumerate(texts, first))


_WORD, _LEAST = 16, 1 << 10


def stored_labels(rows: Rows, event: int, end: int, labels: Labels | None, seal: Seal = _OPEN) -> PublicCells:
    """Read the public columns from the parts of an event before part ``end``; empty if ``labels`` is None."""
    if labels is None:
        return {}
    places = range(end - labels.parts, end)
    parts_stored = [rows.part(event, part) or b"" for part in places]
    try:
        if not hmac.compare_digest(parts_digest(parts_stored), labels.digest):
            raise ValueError
        if seal.secret is None:
            blocks = [json.loads(zlib.decompress(part)) for part in parts_stored]
        else:
            blocks = [json.loads(seal.opened(event, *part)) for part in zip(places, parts_stored, strict=True)]
        names = list(blocks[0])
        return {name: list(map(_read, chain.from_iterable(block[name] for block in blocks))) for name in names}
    except (ValueError, KeyError, TypeError, IndexError, ArithmeticError, AttributeError, zlib.error):
        raise LedgerDamaged("stored labels must be unchanged", came="other labels", where=f"event {event}") from None


def _written(cell: Any) -> Any:
    """Return a cell as JSON: the value itself, or {kind: text} for a kind in `_KINDS`, or else its text."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    if cell is None or type(cell) in (bool, int, str) or (type(cell) is float and isfinite(cell)):
        return cell
    if type(cell).__name__ in ("NAType", "NaTType"):
        return None
    for name, kind in (("decimal", Decimal), ("fraction", Fraction), ("real", float)):
        if isinstance(cell, kind):
            return {name: str(cell)}
    if isinstance(cell, bytes):
        return {"bytes": cell.hex()}
    if isinstance(cell, date):
        return {"time" if isinstance(cell, datetime) else "date": cell.isoformat()}
    return str(cell)


_KINDS: Mapping[str, Callable[[str], Any]] = {
    "decimal": Decimal,
    "fraction": Fraction,
    "real": float,
    "bytes": bytes.fromhex,
    "time": datetime.fromisoformat,
    "date": date.fromisoformat,
}


def _read(cell: Any) -> Any:
    if not isinstance(cell, dict):
        return cell
    ((kind, text),) = cell.items()
    return _KINDS[kind](text)
