"""A ledger whose noise repeats, for tests of what is built on it."""

from pathlib import Path

from utmost.release.ledger import Ledger
from utmost.release.ledger.key import given_key
from utmost.release.ledger.opening import opened_book
from utmost.testing.randomness import SeededRandomness

_KEY = bytes(32)


def seeded_ledger(
    place: str | Path,
    seed: int | str | bytes,
    *,
    create: bool = True,
    key: bytes | str | Path | None = _KEY,
    witness: str | Path | bool | None = False,
    sealed: bool = True,
    timeout: float = 60.0,
) -> Ledger:
    """A `Ledger` with bits from a seed, and a key that everyone knows. It is not private.

    Args:
        place, create, key, witness, sealed, timeout: as for `Ledger.open`.
        seed: an int, text or bytes.

    >>> from tempfile import TemporaryDirectory
    >>> def published(seed):
    ...     with TemporaryDirectory() as here, seeded_ledger(f"{here}/ledger.db", seed) as ledger:
    ...         return ledger.publish("n", {"n": [10, 20]}, columns="n", epsilon=1, sensitivity=1, cells=1)
    >>> published(7) == published(7)
    True
    """
    book = opened_book(
        place, create=create, key=given_key(key), witness=witness, sealed=sealed, derived=False, timeout=timeout
    )
    return Ledger(book, SeededRandomness(seed))
