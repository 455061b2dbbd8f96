"""Store the records of a service (tokens, proposals, trail) beside its ledger, encrypted and with a MAC.

A document is JSON under a kind and a name. Each document is encrypted, padded to 512 bytes times a power of two, and
has a MAC over kind, name and ciphertext. So whoever has the database without the ledger's key can read no owner, reason
or request, and can make or change no record. But an *older* copy of a record can be put in its place: a witness detects
this in the ledger, and nothing detects it in these records, as the security page says.

Records are in a file beside an SQLite ledger (``releases.db.service``, mode 0600), and in a separate table in a
PostgreSQL database.
"""

import hmac
import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Protocol, TypeVar

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from utmost.core.sampling.random_bits import entropy
from utmost.errors import LedgerDamaged, OutOfRange
from utmost.publish.ledger.key import make_file
from utmost.publish.ledger.sqlite_store import SqliteStore, transaction
from utmost.publish.ledger.store import Rows, Store

T = TypeVar("T")
Document = dict[str, Any]

_TABLE = "utmost_service"
_NONCE, _LEAST = 12, 512  # bytes; a record is padded to 512 or a larger power of two, so that its length tells little
_MAKE = f"""CREATE TABLE IF NOT EXISTS {_TABLE}
            (kind TEXT NOT NULL, name TEXT NOT NULL, body BYTES NOT NULL, mac BYTES NOT NULL,
             PRIMARY KEY (kind, name))"""


class RecordTable(Protocol):
    """Runs SQL on the table of records inside one transaction."""

    def ask(self, query: str, values: Any = ()) -> list[Any]: ...

    def run(self, statement: str, values: Any = ()) -> None: ...


def ignore_notice(about: str) -> None: ...


class RecordTransaction:
    """Reads and writes the documents of a service inside one transaction."""

    # `notices` are sent after the transaction is durable, see `Records.notify`.

    __slots__ = ("_key", "_table", "notices")

    def __init__(self, table: RecordTable, key: bytes) -> None:
        self._table, self._key = table, key
        self.notices: list[str] = []

    def get(self, kind: str, name: str) -> Document | None:
        """Return a document; None if there is none, also for a name that cannot exist."""
        if not name.isprintable():
            return None
        rows = self._table.ask(f"SELECT body, mac FROM {_TABLE} WHERE kind = ? AND name = ?", (kind, name))
        return self._read(kind, name, *rows[0]) if rows else None

    def all(self, kind: str, after: str = "", most: int | None = None) -> list[tuple[str, Document]]:
        """Return the documents of a kind in the order of their names, after the name `after`."""
        query = f"SELECT name, body, mac FROM {_TABLE} WHERE kind = ? AND name > ? ORDER BY name"
        rows = self._table.ask(query + ("" if most is None else f" LIMIT {int(most)}"), (kind, after))
        return [(name, self._read(kind, name, body, mac)) for name, body, mac in rows]

    def newest(self, kind: str, before: str = "", most: int = 1) -> list[tuple[str, Document]]:
        """Return the documents of a kind in reverse order of their names, before the name `before` if given."""
        query = f"SELECT name, body, mac FROM {_TABLE} WHERE kind = ?{' AND name < ?' if before else ''}"
        values = (kind, before) if before else (kind,)
        rows = self._table.ask(f"{query} ORDER BY name DESC LIMIT {int(most)}", values)
        return [(name, self._read(kind, name, body, mac)) for name, body, mac in rows]

    def count(self, kind: str) -> int:
        return int(self._table.ask(f"SELECT count(*) FROM {_TABLE} WHERE kind = ?", (kind,))[0][0])

    def hidden(self, *parts: str | int) -> str:
        """Return a name derived from parts by the key; without the key nobody can test a guess of the parts."""
        return hmac.digest(self._key, b"name" + json.dumps(parts).encode(), sha256).hex()

    def last(self, kind: str) -> str:
        """Return the alphabetically last name of a kind; empty if there is none."""
        return str(self._table.ask(f"SELECT coalesce(max(name), '') FROM {_TABLE} WHERE kind = ?", (kind,))[0][0])

    def put(self, kind: str, name: str, document: Mapping[str, Any]) -> None:
        """Encrypt and write a document; it replaces an earlier document of the same kind and name."""
        text = json.dumps(document, sort_keys=True, separators=(",", ":")).encode("utf-8", "surrogatepass")
        size, nonce = _LEAST, entropy(_NONCE)
        while size < len(text):
            size *= 2
        body = nonce + self._cipher().encrypt(nonce, text.ljust(size), None)
        self._table.run(f"DELETE FROM {_TABLE} WHERE kind = ? AND name = ?", (kind, name))
        self._table.run(f"INSERT INTO {_TABLE} VALUES (?, ?, ?, ?)", (kind, name, body, self._mac(kind, name, body)))

    def drop(self, kind: str, name: str) -> None:
        """Delete a document, if it exists."""
        self._table.run(f"DELETE FROM {_TABLE} WHERE kind = ? AND name = ?", (kind, name))

    def drop_before(self, kind: str, name: str) -> None:
        """Delete all documents of a kind whose names come before this name."""
        self._table.run(f"DELETE FROM {_TABLE} WHERE kind = ? AND name < ?", (kind, name))

    def _read(self, kind: str, name: str, body: Any, mac: Any) -> Document:
        if not hmac.compare_digest(self._mac(kind, name, bytes(body)), bytes(mac)):
            raise LedgerDamaged(
                "a record must be as the service wrote it", came="another record", where=f"{kind} {name}"
            )
        sealed = bytes(body)
        document: Document = json.loads(self._cipher().decrypt(sealed[:_NONCE], sealed[_NONCE:], None))
        return document

    def _cipher(self) -> AESGCM:
        return AESGCM(hmac.digest(self._key, b"seal of records", sha256))

    def _mac(self, kind: str, name: str, body: bytes) -> bytes:
        parts = (kind.encode(), name.encode("utf-8", "surrogatepass"), body)
        return hmac.digest(self._key, b"".join(len(part).to_bytes(8, "big") + part for part in parts), sha256)


SECONDS_TO_WAIT = 20.0
"""Seconds that a request waits for other writers before it is answered by 503. Clients and proxies wait 60 seconds."""


class Records:
    """Runs transactions on the documents of a service, encrypted by a key of 32 bytes, in a database."""

    # `timeout` is in seconds. `notify` is called after each transaction with each of its notices.

    __slots__ = ("_key", "_path", "_store", "_timeout", "notify")

    def __init__(self, store: Store, key: bytes, timeout: float = SECONDS_TO_WAIT) -> None:
        self._store, self._key, self._timeout = store, key, timeout
        self.notify: Callable[[str], None] = ignore_notice
        self._path = store.path.with_name(f"{store.path.name}.service") if isinstance(store, SqliteStore) else None
        if self._path is not None:
            make_file(self._path)
        self._transact(lambda table: table.run(_MAKE), write=True)

    @property
    def place(self) -> str:
        """Path of the file, or address of the database, without any secret."""
        return self._store.place if self._path is None else str(self._path)

    def read(self, work: Callable[[RecordTransaction], T]) -> T:
        """Run read-only work in one transaction."""
        return self._transact(lambda table: work(RecordTransaction(table, self._key)), write=False)

    def write(self, work: Callable[[RecordTransaction], T]) -> T:
        """Run work in one transaction, after those of all other writers: all of it becomes durable, or nothing."""

        def run(table: RecordTable) -> tuple[T, list[str]]:
            store = RecordTransaction(table, self._key)
            return work(store), store.notices

        outcome, notices = self._transact(run, write=True)
        for about in notices:
            self.notify(about)
        return outcome

    def copy_to(self, other: "Records") -> None:
        """Copy every record, still encrypted, to a store that has no records."""
        rows = self._transact(lambda table: table.ask(f"SELECT kind, name, body, mac FROM {_TABLE}"), write=False)

        def work(table: RecordTable) -> None:
            if table.ask(f"SELECT count(*) FROM {_TABLE}")[0][0]:
                raise OutOfRange(
                    "records must be restored to a place without records",
                    came="a place with records",
                    where=other.place,
                )
            for kind, name, body, mac in rows:
                table.run(f"INSERT INTO {_TABLE} VALUES (?, ?, ?, ?)", (kind, name, bytes(body), bytes(mac)))

        other._transact(work, write=True)

    def check(self) -> int:
        """Return the number of records, after decrypting each; refuse a record that this service did not write."""

        def work(table: RecordTable) -> int:
            kinds = [kind for (kind,) in table.ask(f"SELECT DISTINCT kind FROM {_TABLE}")]
            return sum(len(RecordTransaction(table, self._key).all(kind)) for kind in kinds)

        return self._transact(work, write=False)

    def __repr__(self) -> str:
        return f"Records({self.place!r})"

    def _transact(self, work: Callable[[RecordTable], T], *, write: bool) -> T:
        if self._path is None:
            return self._store.transact(work, write=write)
        with transaction(self._path, self._timeout, write=write) as connection:
            return work(Rows(connection.execute, set, "BLOB"))
