"""Opening a ledger: from a place, a key and a witness to its book."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from utmost.errors import OutOfRange, Unsupported
from utmost.release.ledger.book import Book, open_book
from utmost.release.ledger.key import Given, found_key
from utmost.release.ledger.sqlite_store import SqliteStore
from utmost.release.ledger.store import Store
from utmost.release.ledger.witness import Witness

_LONGEST_WAIT = 10**6


Place = str | Path

_POSTGRES = ("postgresql://", "postgres://")


def opened_book(
    place: Place,
    *,
    key: Given,
    witness: Place | bool | None,
    sealed: bool,
    derived: bool,
    timeout: float,
) -> Book:
    """The book at a place, made where there is none; see `Ledger.open`."""
    for name, value in (("sealed", sealed), ("derived", derived)):
        if not isinstance(value, bool):
            raise OutOfRange(f"{name} must be true or false", came=value)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 <= timeout <= _LONGEST_WAIT:
        raise OutOfRange(f"timeout must be a number of seconds, at most {_LONGEST_WAIT}", came=timeout)
    store = store_at(place, timeout)
    beside = store.path if isinstance(store, SqliteStore) else None
    made = {"identity": secrets.token_hex(16), "sealed": sealed, "derived": derived}
    key_file = None if beside is None else _with(beside, ".key")
    watching = witness_at(witness, beside, timeout)
    with closed_on_error(store):
        return open_book(store, lambda fresh: found_key(key, key_file, fresh=fresh), watching, made)


@contextmanager
def closed_on_error(store: Store) -> Iterator[None]:
    """Let go of the store's connections where it turns out not to be usable."""
    try:
        yield
    except BaseException:
        store.close()
        raise


def store_at(place: Place, timeout: float) -> Store:
    """The store that a place names.

    Raises:
        OutOfRange: for an address of another kind.

    >>> store_at("sqlite:///releases.db", 1).place
    'releases.db'
    """
    if isinstance(place, Path):
        return SqliteStore(place, timeout)
    if not isinstance(place, str) or not place:
        raise OutOfRange("a ledger must have a path or an address", came=place)
    if place.startswith(_POSTGRES):
        return _postgres(place, timeout)
    if place.startswith("sqlite:///"):
        return SqliteStore(Path(place.removeprefix("sqlite:///")), timeout)
    if "://" in place:
        mend = 'Pass a path, "sqlite:///path" or "postgresql://...".'
        raise OutOfRange("a ledger lives in SQLite or PostgreSQL", came=place.partition("://")[0] + "://", mend=mend)
    return SqliteStore(Path(place), timeout)


def _postgres(address: str, timeout: float) -> Store:
    try:
        import psycopg  # noqa: F401
    except ImportError:
        mend = 'Run: pip install "utmost[postgres]"'
        raise Unsupported("a ledger in PostgreSQL needs psycopg", came="none", where="ledger", mend=mend) from None
    from utmost.release.ledger.postgres_store import PostgresStore

    return PostgresStore(address, timeout)


def witness_at(witness: Place | bool | None, beside: Path | None, timeout: float) -> Witness | None:
    """The witness that was named, or the one beside an SQLite file.

    Raises:
        OutOfRange: for what is no path.
    """
    if isinstance(witness, str | Path) and str(witness):
        return Witness(Path(witness), timeout)
    if witness is False:
        return None
    if witness is None:
        return None if beside is None else Witness(_with(beside, ".witness"), timeout)
    raise OutOfRange("a witness must be the path of a file", came=witness, mend="Pass False for none.")


def _with(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)
