"""The interface between a ledger and a database: tables, rows, and one transaction at a time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Protocol, TypeVar

from utmost.errors import LedgerDamaged, Unsupported

STORE_VERSION = 1
"""The version of the tables."""

TABLES = (
    "CREATE TABLE utmost_schema (version INTEGER NOT NULL)",
    f"INSERT INTO utmost_schema VALUES ({STORE_VERSION})",
    "CREATE TABLE utmost_events (number BIGINT PRIMARY KEY, body BYTES NOT NULL, mac BYTES NOT NULL)",
    "CREATE TABLE utmost_head (number BIGINT NOT NULL, seal BYTES NOT NULL)",
    "CREATE TABLE utmost_parts (event BIGINT NOT NULL, part BIGINT NOT NULL, content BYTES NOT NULL, "
    "PRIMARY KEY (event, part))",
)
"""The statements that make the tables; BYTES stands for the store's own type of byte strings."""


def check_version(version: int) -> None:
    """Check that a store's tables have the version `STORE_VERSION`, or 0, which stands for an empty store."""
    if version not in (0, STORE_VERSION):
        raise Unsupported(
            f"the tables of the ledger must have version {STORE_VERSION}",
            came=version,
            where="ledger",
            remedy="Open the ledger with the version of utmost that wrote it.",
        )


T = TypeVar("T")
Query = Callable[[str, Sequence[Any]], Any]
"""A function that runs one statement, with ``?`` for each value; the result has fetchone, fetchall, and __iter__."""

StoredRow = tuple[int, bytes, bytes]
"""A stored event: number, body, mac."""

EventPart = tuple[int, int, bytes]
"""A stored part of an event: number of the event, number of the part, content."""


CHANGED = "the tables must be those that a ledger makes, without triggers or other additions"
MEND_CHANGED = "No answer was given, because somebody changed the database: undo the change, then verify the ledger."


class Store(Protocol):
    """A database; `SqliteStore` and `PostgresStore` implement this protocol."""

    @property
    def place(self) -> str:
        """Address of the database, without any secret."""

    def name_of_database(self) -> str:
        """Return the identity of the database, the same for every form of its address, without any secret."""

    def transact(self, work: "Callable[[Rows], T]", *, write: bool) -> T:
        """Do the work in one transaction, which is durable when this method returns; if it raises, nothing is changed.

        Only one writer is active at a time; the work may be called more than once, and takes effect once. Before
        anything is written the tables are compared with those that a ledger makes: see `problems`.

        Raises:
            LedgerUnavailable: if the store is locked, full or cannot be reached.
            LedgerDamaged: if the store is not a database, or has other tables, triggers or similar additions.
        """

    def problems(self) -> list[str]:
        """List the faults of the database's files, and every difference from a ledger's tables, columns and indices."""

    def close(self) -> None:
        """Close the connections."""


class PartReader(Protocol):
    """A reader of the parts of events: the rows of a store, or a transaction with its appended events."""

    def part(self, event: int, part: int) -> bytes | None:
        """Return the part of an event; None if there is none."""


class Rows:
    """The rows of a ledger in a transaction.

    Args:
        run: Function that runs one statement.
        tables: Function that returns the names of all tables of the store.
        bytes_type: Name of the store's type of byte strings.
        load: Function that writes many parts; if left out, each part is written by its own statement.
    """

    __slots__ = ("_bytes_type", "_load", "_run", "_tables")

    def __init__(
        self,
        run: Query,
        tables: Callable[[], set[str]],
        bytes_type: str,
        load: Callable[[Iterable[EventPart]], None] | None = None,
    ) -> None:
        self._run, self._tables, self._bytes_type, self._load = run, tables, bytes_type, load

    def ask(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a query on the database's catalog, or on tables that are not the ledger's."""
        rows: list[Any] = self._run(query, values).fetchall()
        return rows

    def run(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Run a statement on tables that are not the ledger's."""
        self._run(statement.replace("BYTES", self._bytes_type), values)

    def version(self) -> int:
        tables = self._tables()
        if "utmost_schema" not in tables:
            return 0  # if some of the other tables exist, creating them fails
        return _integral(_one(self._run("SELECT version FROM utmost_schema", ()).fetchall(), "utmost_schema")[0])

    def has_tables(self) -> bool:
        """Whether the store has at least one table of a ledger, sound or damaged."""
        return any(name.startswith("utmost_") for name in self._tables())

    def create(self) -> None:
        for statement in TABLES:
            self._run(statement.replace("BYTES", self._bytes_type), ())

    def head(self) -> tuple[int, bytes] | None:
        """Return the number of the last event, and its seal (a MAC, see `events`); None before the first event."""
        rows = self._run("SELECT number, seal FROM utmost_head", ()).fetchall()
        if not rows:
            return None
        number, seal = _one(rows, "utmost_head")
        return _integral(number), _bytes(seal)

    def events(self, after: int = 0) -> list[StoredRow]:
        rows = self._run("SELECT number, body, mac FROM utmost_events WHERE number > ? ORDER BY number", (after,))
        return [(_integral(number), _bytes(body), _bytes(mac)) for number, body, mac in rows.fetchall()]

    def event(self, number: int) -> StoredRow | None:
        row = self._run("SELECT body, mac FROM utmost_events WHERE number = ?", (number,)).fetchone()
        return None if row is None else (number, _bytes(row[0]), _bytes(row[1]))

    def body(self, number: int) -> bytes | None:
        return self._found("SELECT body FROM utmost_events WHERE number = ?", number)

    def mac(self, number: int) -> bytes | None:
        return self._found("SELECT mac FROM utmost_events WHERE number = ?", number)

    def write(self, events: Sequence[StoredRow], seal: bytes, parts: Iterable[EventPart]) -> None:
        """Write events with their parts and the new head; read them back, since a damaged store may drop writes."""
        # Only digests of streamed parts stay in memory: the parts of a large ledger would not fit.
        mark = (lambda content: content) if isinstance(parts, list) else (lambda content: sha256(content).digest())
        written = []

        def noted() -> Iterator[EventPart]:
            for event, part, content in parts:
                written.append((event, part, mark(content)))
                yield event, part, content

        # Parts are written first, so that no event refers to missing parts.
        if self._load is not None:
            self._load(noted())
        else:
            for part in noted():
                self._run("INSERT INTO utmost_parts VALUES (?, ?, ?)", part)
        for row in events:
            self._run("INSERT INTO utmost_events VALUES (?, ?, ?)", row)
        self._run("DELETE FROM utmost_head", ())
        self._run("INSERT INTO utmost_head VALUES (?, ?)", (events[-1][0], seal))
        # The rows are read back in the transaction: a trigger or a rule that somebody added may have redirected them.
        wrong = None
        if self.head() != (events[-1][0], seal):
            wrong = "utmost_head"
        elif self.events(events[0][0] - 1) != list(events):
            wrong = "utmost_events"
        elif any(mark(self.part(event, part) or b"") != marked for event, part, marked in written):
            wrong = "utmost_parts"
        if wrong is not None:
            raise LedgerDamaged(
                "the store must contain what was just written",
                came="other content",
                where=wrong,
                remedy="No answer was given, because somebody changed the database: verify the ledger, or restore it.",
            )

    def part(self, event: int, part: int) -> bytes | None:
        return self._found("SELECT content FROM utmost_parts WHERE event = ? AND part = ?", event, part)

    def parts(self) -> Iterator[tuple[int, int]]:
        """Return the numbers (event, part) of all parts, in order."""
        rows = self._run("SELECT event, part FROM utmost_parts ORDER BY event, part", ())
        return ((_integral(event), _integral(part)) for event, part in rows.fetchall())

    def _found(self, query: str, *values: int) -> bytes | None:
        row = self._run(query, values).fetchone()
        return None if row is None else _bytes(row[0])


def _one(rows: list[Any], table: str) -> Any:
    if len(rows) != 1:
        raise LedgerDamaged("this table of the ledger must have exactly one row", came=len(rows), where=table)
    return rows[0]


def _integral(value: Any) -> int:
    if type(value) is not int:
        raise LedgerDamaged("a number in the store must be an integer", came=type(value).__name__, where="ledger")
    return value


def _bytes(value: Any) -> bytes:
    if not isinstance(value, bytes | memoryview):
        raise LedgerDamaged("the store must return binary content as bytes", came=type(value).__name__, where="ledger")
    return bytes(value)
