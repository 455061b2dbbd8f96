"""The commitment to the values of a release: one keyed digest for each column and run of rows.

    digest_(c, b) = HMAC(K_commit, c || b || values of column c in run b)

K_commit is derived from the ledger's key, the release's name and its version, so that without the key nobody can test a
guess at a value, nor see that two versions have values in common. With the key one can: a digest covers few rows so
that a curator whose table has changed learns where. Row order is committed to with the values.
"""

import hmac
from fractions import Fraction
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.sampling.integers import Integers
from utmost.errors import DataChanged
from utmost.publish.ledger.block_encryption import packed
from utmost.publish.ledger.key import Key
from utmost.publish.releases.item_commitment import committed_rows, first_difference
from utmost.publish.releases.source import Source

_BYTES = 16
_MOST_RUNS = 256


def commitment(key: Key, name: str, version: int, source: Source) -> bytes:
    """The digests of all columns, one after the other; that of the identifiers last, where there are any.

    Where the noise is addressed by item, the sums of the rows' digests by item block: see `ItemCommitment`.
    """
    if source.items is not None:
        by_item = commitment_secret(key, name, version)
        return committed_rows(by_item, [source.items], list(source.columns.values())).content
    secret = key.derived("commitment", name, str(version))
    columns = [_packed_runs(column) for column in source.columns.values()]
    if source.identifiers is not None:
        columns.append(_text_runs(source.identifiers))
    return b"".join(
        hmac.digest(secret, c.to_bytes(4, "big") + b.to_bytes(4, "big") + run, sha256)[:_BYTES]
        for c, runs in enumerate(columns)
        for b, run in enumerate(runs)
    )


def commitment_secret(key: Key, name: str, version: int) -> bytes:
    """The secret under which a release by item is committed to."""
    return key.derived("item commitment", name, str(version))


def noise_secret(key: Key, name: str, version: int, committed: bytes) -> bytes:
    """The secret of the noise of a release by item: one for each table that could be published so."""
    return key.derived("item noise", name, str(version), sha256(committed).hexdigest())


def check_unchanged(committed: bytes, now: bytes, source: Source, rows: int, where: str, remedy: str) -> None:
    """Check that two commitments to a release agree: yes or no for the whole table, and not where they differ.

    Whoever is told where a guess differs finds every value by walking it; so only `difference` says it, to whoever
    holds the ledger's key.
    """
    if source.rows != rows:
        raise DataChanged(
            f"the table must have the {rows} rows published", came=source.rows, where=where, remedy=remedy
        )
    if not hmac.compare_digest(committed, now):
        if source.items is not None:
            source.check_distinct()
        raise DataChanged(OTHERS, came="others", where=where, remedy=remedy)


OTHERS = "identifiers and values must be those that were published"
"""The requirement on a table that is brought again."""


def difference(committed: bytes, now: bytes, source: Source, rows: int) -> str | None:
    """The place where a table first differs from the published one, in words without a value; None if it does not."""
    if source.rows != rows:
        return f"the table has {source.rows} rows, and {rows} were published"
    if hmac.compare_digest(committed, now):
        return None
    if source.items is not None:
        return f"item block {first_difference(committed, now)}"
    step, names = _run(rows), [*source.columns, "identifiers"]
    differs = (at for at in range(0, len(now), _BYTES) if committed[at : at + _BYTES] != now[at : at + _BYTES])
    column, run = divmod(next(differs) // _BYTES, -(-rows // step))
    first, last = run * step + 1, min((run + 1) * step, rows)
    span = f"row {first}" if first == last else f"rows {first} to {last}"
    return f"column {names[column]!r}, {span}"


def _packed_runs(column: Integers) -> list[bytes]:
    """The runs of a column as bytes that depend on the values alone."""
    step = _run(column.size)
    return [cell_bytes(column[start : start + step]) for start in range(0, column.size, step)]


def cell_bytes(column: NDArray[Any]) -> bytes:
    """Cells as bytes that depend on the values alone."""
    if column.dtype.kind == "f":
        return column.astype(">f8").tobytes()
    if column.size and isinstance(column[0], Fraction):
        return ",".join(map(str, column.tolist())).encode()
    return packed(column)


def _text_runs(column: NDArray[np.object_]) -> list[bytes]:
    step = _run(column.size)
    texts = [text.encode("utf-8", "surrogatepass") for text in column.tolist()]
    sized = [len(text).to_bytes(8, "big") + text for text in texts]
    return [b"".join(sized[start : start + step]) for start in range(0, len(sized), step)]


def _run(rows: int) -> int:
    """Number of rows to a digest: one where there are few rows, and never more than 256 digests to a column."""
    return max(1, -(-rows // _MOST_RUNS))
