"""The labels of a release: its public columns as they were published, so that a view says which row is which.

They are public facts, as the names of the columns are. The event that publishes a release keeps them among its parts,
block by block, and holds their digest, which every seal binds with the other facts: a recipient who reads a sealed
level without the ledger's key knows that no label has been changed. They are kept in the clear: whoever reads the file
without any key reads them, too, as the threat model says; and their length is no function of what is released.
"""

import hmac
import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from itertools import chain
from math import isfinite
from typing import Any

import numpy as np

from utmost.errors import LedgerDamaged
from utmost.ledger.store import Rows
from utmost.ledger.vault import BLOCK

Cells = Mapping[str, list[Any]]
"""Public columns by name, as lists of plain values."""

Named = tuple[Sequence[str], Cells]
"""The columns of a table in order, and the public ones among them; both empty where a ledger keeps no labels."""


@dataclass(frozen=True, slots=True)
class Labels:
    """What an event says of the labels that it keeps.

    Attributes:
        order: the public and the released columns, in the order of the table.
        digest: of the parts that hold the cells.
        parts: how many these are.
    """

    order: tuple[str, ...]
    digest: str
    parts: int

    @classmethod
    def of(cls, order: Sequence[str], kept: Sequence[bytes]) -> "Labels":
        """The labels in these parts."""
        return cls(tuple(order), _digest(kept), len(kept))

    def facts(self) -> dict[str, Any]:
        """The same as an event keeps it."""
        return {"order": list(self.order), "digest": self.digest, "parts": self.parts}

    @classmethod
    def of_facts(cls, facts: Any, rows: int) -> "Labels | None":
        """What an event keeps of a table with so many rows.

        Raises:
            TypeError, ValueError: for what is none.
        """
        if facts is None:
            return None
        order, digest, parts = facts["order"], facts["digest"], facts["parts"]
        if type(order) is not list or any(type(name) is not str for name in order) or type(digest) is not str:
            raise TypeError("labels")
        if type(parts) is not int or parts != -(-rows // BLOCK):
            raise ValueError("labels")
        return cls(tuple(order), digest, parts)


def label_parts(columns: Mapping[str, Any], rows: int) -> tuple[bytes, ...]:
    """The cells of public columns as an event keeps them, so many rows to a part; none where no column is public."""
    if not columns:
        return ()
    cells = {name: list(map(_written, _plain(column))) for name, column in columns.items()}
    blocks = ({name: column[at : at + BLOCK] for name, column in cells.items()} for at in range(0, rows, BLOCK))
    return tuple(zlib.compress(json.dumps(block, separators=(",", ":")).encode("ascii"), 6) for block in blocks)


def stored_labels(rows: Rows, event: int, end: int, labels: Labels | None) -> Cells:
    """The public columns of a release; none where the ledger keeps no labels of it.

    Args:
        event, end: of the event that published it the number, and the part that follows the labels.

    Raises:
        LedgerDamaged: where they are not as they were written.
    """
    if labels is None:
        return {}
    kept = [rows.part(event, part) or b"" for part in range(end - labels.parts, end)]
    try:
        if not hmac.compare_digest(_digest(kept), labels.digest):
            raise ValueError
        blocks = [json.loads(zlib.decompress(part)) for part in kept]
        names = list(blocks[0])
        return {name: list(map(_read, chain.from_iterable(block[name] for block in blocks))) for name in names}
    except (ValueError, KeyError, TypeError, IndexError, ArithmeticError, AttributeError, zlib.error):
        raise LedgerDamaged("labels must be as they were written", came="others", where=f"event {event}") from None


def _digest(parts: Iterable[bytes]) -> str:
    return sha256(b"".join(sha256(part).digest() for part in parts)).hexdigest()


def _plain(column: Any) -> list[Any]:
    found: list[Any] = column.tolist() if isinstance(column, np.ndarray) else list(column)
    return found


def _written(cell: Any) -> Any:
    """A cell as a JSON value: what JSON cannot say comes with the name of its kind, or else as text."""
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
    """The cell that was written so."""
    if not isinstance(cell, dict):
        return cell
    ((kind, text),) = cell.items()
    return _KINDS[kind](text)
