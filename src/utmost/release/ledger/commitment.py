"""The commitment to the values of a release: one keyed digest for each column and run of rows.

    digest_(c, b) = HMAC(K_commit, c || b || values of column c in run b)

K_commit is derived from the ledger's key, the release's name and its version, so that without the key nobody can test a
guess at a value, nor see that two versions have values in common. (What tells the same data under two names is
`utmost.release.ledger.sameness`.) With the key one can: a digest covers few rows so
that a curator whose table has changed is told where. Row order is committed to with the values.
"""

import hmac
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from utmost.errors import DataChanged
from utmost.release.ledger.key import Key
from utmost.release.ledger.numbers import packed
from utmost.release.ledger.source import Source
from utmost.sampling.wide import Integers

_BYTES = 16
_MOST_RUNS = 1024


def commitment(key: Key, name: str, version: int, source: Source) -> bytes:
    """The digests of all columns, one after the other; that of the identifiers last, where there are any."""
    secret = key.derived("commitment", name, str(version))
    columns = [_packed_runs(column) for column in source.columns.values()]
    if source.identifiers is not None:
        columns.append(_text_runs(source.identifiers))
    return b"".join(
        hmac.digest(secret, c.to_bytes(4, "big") + b.to_bytes(4, "big") + run, sha256)[:_BYTES]
        for c, runs in enumerate(columns)
        for b, run in enumerate(runs)
    )


def check_unchanged(committed: bytes, now: bytes, source: Source, rows: int, where: str, mend: str) -> None:
    """Check that two commitments to a release agree.

    Raises:
        DataChanged: naming the first columns and rows that differ, and no value.
    """
    if source.rows != rows:
        raise DataChanged(f"the table must have the {rows} rows published", came=source.rows, where=where, mend=mend)
    if hmac.compare_digest(committed, now):
        return
    step, names = _run(rows), [*source.columns, "identifiers"]
    differs = (at for at in range(0, len(now), _BYTES) if committed[at : at + _BYTES] != now[at : at + _BYTES])
    column, run = divmod(next(differs) // _BYTES, -(-rows // step))
    first, last = run * step + 1, min((run + 1) * step, rows)
    span = f"row {first}" if first == last else f"rows {first} to {last}"
    came = f"others in column {names[column]!r}, {span}"
    raise DataChanged("the values must be those that were published", came=came, where=where, mend=mend)


def _packed_runs(column: Integers) -> list[bytes]:
    """The runs of a column as bytes that hang on the values alone."""
    step = _run(column.size)
    return [packed(column[start : start + step]) for start in range(0, column.size, step)]


def _text_runs(column: NDArray[np.object_]) -> list[bytes]:
    step = _run(column.size)
    texts = [text.encode("utf-8", "surrogatepass") for text in column.tolist()]
    sized = [len(text).to_bytes(8, "big") + text for text in texts]
    return [b"".join(sized[start : start + step]) for start in range(0, len(sized), step)]


def _run(rows: int) -> int:
    """So many rows to a digest: one where there are few rows, and never more than 1024 digests to a column."""
    return max(1, -(-rows // _MOST_RUNS))
