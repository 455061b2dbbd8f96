"""The commitment to the values of a release: one keyed digest for each column and run of rows.

    digest_(c, b) = HMAC(K_commit, c || b || values of column c in run b)

K_commit is derived from the ledger's key, the release's name and its version, so that without the key nobody can test a
guess of a value, nor see that two versions share values. A digest covers few rows, so that a curator with the key can
find the rows of a table that have changed. The commitment covers the order of the rows, too.
"""

import hmac
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from typing import Any

from numpy.typing import NDArray

from utmost.errors import DataChanged
from utmost.publish.ledger.block_encryption import packed, parts_digest
from utmost.publish.ledger.key import Key
from utmost.publish.ledger.requests import PublishRequest
from utmost.publish.releases.item_commitment import committed_rows, first_difference
from utmost.publish.releases.source import Source

_BYTES = 16
_MOST_RUNS = 256


def commitment(key: Key, name: str, version: int, source: Source) -> bytes:
    """Return the joined digests of columns and identifiers; for keyed noise, the content of an `ItemCommitment`."""
    if source.items is not None:
        by_item = commitment_secret(key, name, version)
        return committed_rows(by_item, [source.items], list(source.columns.values())).content
    secret = key.derived("commitment", name, str(version))
    columns = list[list[bytes]]()
    for column in source.columns.values():
        step = _rows_per_digest(column.size)
        # These bytes depend on the values and not on the array's type.
        columns.append([cell_bytes(column[start : start + step]) for start in range(0, column.size, step)])
    if source.identifiers is not None:
        step = _rows_per_digest(source.identifiers.size)
        texts = [text.encode("utf-8", "surrogatepass") for text in source.identifiers.tolist()]
        sized = [len(text).to_bytes(8, "big") + text for text in texts]
        columns.append([b"".join(sized[start : start + step]) for start in range(0, len(sized), step)])
    return b"".join(
        hmac.digest(secret, c.to_bytes(4, "big") + b.to_bytes(4, "big") + run, sha256)[:_BYTES]
        for c, runs in enumerate(columns)
        for b, run in enumerate(runs)
    )


def commitment_secret(key: Key, name: str, version: int) -> bytes:
    """Return the key of the commitment to a release with keyed noise."""
    return key.derived("item commitment", name, str(version))


def question_of(
    key: Key,
    identity: str,
    request: PublishRequest,
    committed: bytes,
    labels: Sequence[bytes] = (),
    universe: Mapping[str, Any] | None = None,
) -> str:
    """Return a keyed digest of everything that determines an answer; copies of the ledger return the same digest.

    Noise that follows from the ledger's key is a function of this digest. So the same question has the same noise, and
    any other question has independent noise: otherwise the difference of two answers could be exact data, and equal
    answers would be certain evidence that the values are equal.

    Args:
        identity: Identity of the ledger, by which ledgers that share a key have separate noise.
        request: Request with its version, and with the columns in the order of the table.
        committed: Commitment to the values, which covers identifiers.
        labels: Texts of the public columns, which name the rows if there are no identifiers.
        universe: Facts of the declared universe, if cells are drawn only when somebody asks for them.
    """
    asked = {
        **request.lasting_facts(),
        "version": request.version,
        "commitment": sha256(committed).hexdigest(),
        "labels": parts_digest(() if request.promise.id_column else labels),
        "universe": universe,
    }
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"))
    return key.derived("question", identity, sha256(text.encode("ascii")).hexdigest()).hex()


def noise_secret(key: Key, question: str) -> bytes:
    """Return the secret from which the noise of a release is computed, if this noise follows from the ledger's key."""
    return key.derived("noise", question)


def check_unchanged(committed: bytes, now: bytes, source: Source, rows: int, where: str, remedy: str) -> None:
    """Check that ``now``, the commitment to the table of ``source``, equals the stored commitment ``committed``."""
    # The refusal does not say where the tables differ: a caller who sees where a guess differs finds every value by
    # trying. `difference` names the rows, for the holder of the ledger's key.
    if source.rows != rows:
        raise DataChanged(
            f"the table must have the {rows} rows that were published", came=source.rows, where=where, remedy=remedy
        )
    if not hmac.compare_digest(committed, now):
        if source.items is not None:
            source.check_distinct()
        raise DataChanged(OTHERS, came="other identifiers or values", where=where, remedy=remedy)


OTHERS = "the identifiers and values of the table must be those that were published"
"""The requirement on the table of a release that exists already."""


def difference(committed: bytes, now: bytes, source: Source, rows: int) -> str | None:
    """Say where a table first differs from the published one, without a value; None if the two are equal."""
    if source.rows != rows:
        return f"the table has {source.rows} rows, and {rows} were published"
    if hmac.compare_digest(committed, now):
        return None
    if source.items is not None:
        return f"item block {first_difference(committed, now)}"
    step, names = _rows_per_digest(rows), [*source.columns, "identifiers"]
    differs = (at for at in range(0, len(now), _BYTES) if committed[at : at + _BYTES] != now[at : at + _BYTES])
    column, run = divmod(next(differs) // _BYTES, -(-rows // step))
    first, last = run * step + 1, min((run + 1) * step, rows)
    span = f"row {first}" if first == last else f"rows {first} to {last}"
    return f"column {names[column]!r}, {span}"


def cell_bytes(column: NDArray[Any]) -> bytes:
    """Encode cells as bytes that depend on the values and not on the type of the array."""
    if column.dtype.kind == "f":
        return column.astype(">f8").tobytes()
    if column.size and isinstance(column[0], Fraction):
        return ",".join(map(str, column.tolist())).encode()
    return packed(column)


def _rows_per_digest(rows: int) -> int:
    """Return the number of rows that one digest covers; a column then has at most 256 digests."""
    return max(1, -(-rows // _MOST_RUNS))
