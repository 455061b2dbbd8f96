"""The interface between a ledger and a database: one transaction at a time over a few rows, and their tables."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Protocol, TypeVar

from utmost.errors import LedgerDamaged, Unsupported

VERSION = 1
"""The version of the tables."""

TABLES = (
    "CREATE TABLE utmost_schema (version INTEGER NOT NULL)",
    f"INSERT INTO utmost_schema VALUES ({VERSION})",
    "CREATE TABLE utmost_events (number BIGINT PRIMARY KEY, body BYTES NOT NULL, mac BYTES NOT NULL)",
    "CREATE TABLE utmost_head (number BIGINT NOT NULL, seal BYTES NOT NULL)",
    "CREATE TABLE utmost_parts (event BIGINT NOT NULL, part BIGINT NOT NULL, content BYTES NOT NULL, "
    "PRIMARY KEY (event, part))",
)
"""The statements that make the tables; BYTES stands for the store's own type of byte strings."""


def check_version(version: int) -> None:
    """Check that a store is empty, which is version 0, or has the tables of this version.

    Raises:
        Unsupported: for tables of another version.
    """
    if version not in (0, VERSION):
        raise Unsupported(
            f"the ledger's tables must be of version {VERSION}",
            came=version,
            where="ledger",
            remedy="Open it with the version of utmost that wrote it.",
        )


T = TypeVar("T")
Query = Callable[[str, Sequence[Any]], Any]
"""Runs one statement, with ``?`` for each value; the result has fetchone and fetchall, and iterates."""

StoredRow = tuple[int, bytes, bytes]
"""An event as it is stored: number, body, mac."""

EventPart = tuple[int, int, bytes]
"""A part of an event as it is stored: the event's number, the part's, the content."""


CHANGED = "the tables must be those that a ledger makes, and nothing may act on them"
MEND_CHANGED = "Nothing was said. Somebody changed the database: take the change away, and see the runbook."


class Store(Protocol):
    """A database. `SqliteStore` and `PostgresStore` are stores."""

    @property
    def place(self) -> str:
        """Address of the database, without any secret."""

    def name_of_database(self) -> str:
        """Identity of the database, however it was addressed, without any secret."""

    def transact(self, work: "Callable[[Rows], T]", *, write: bool) -> T:
        """Do the work in one transaction: all of it durable when this returns, or nothing of it done.

        Writers follow one another; the work may be done more than once before it is done for good. Before anything is
        written the tables are compared with those that a ledger makes: see `problems`.

        Raises:
            LedgerUnavailable: where the store is locked, full or out of reach.
            LedgerDamaged: where it is no longer a database, or has other tables, or anything that acts on them.
        """

    def problems(self) -> list[str]:
        """Faults that the database finds in its files, and what is not as a ledger made it: tables, columns, indices;
        triggers, rules, views, row security, tables that are not logged or that hide others."""

    def close(self) -> None:
        """Let go of connections."""


class PartReader(Protocol):
    """Whatever gives the parts of events: the rows of a store, or a transaction with what is appended in it."""

    def part(self, event: int, part: int) -> bytes | None:
        """One part of an event."""


class Rows:
    """The rows of a ledger inside one transaction.

    Args:
        run: runs one statement.
        tables: the names of all tables that the store holds.
        bytes_type: the store's name for byte strings.
        load: writes many parts; statements one by one if left out.
    """

    __slots__ = ("_bytes_type", "_load", "_run", "_tables")

    def __init__(
        self,
        run: Query,
        tables: Callable[[], set[str]],
        bytes_type: str,
        load: Callable[[Iterable[EventPart]], None] | None = None,
    ) -> None:
        self._run, self._tables, self._bytes_type = run, tables, bytes_type
        self._load = self._insert if load is None else load

    def ask(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a query: what the database says about itself, or what tables hold that are not a ledger's."""
        rows: list[Any] = self._run(query, values).fetchall()
        return rows

    def run(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Run a statement on tables that are not a ledger's."""
        self._run(statement.replace("BYTES", self._bytes_type), values)

    def version(self) -> int:
        """The version of the tables; 0 for an empty store."""
        tables = self._tables()
        if "utmost_schema" not in tables:
            return 0  # where there are other tables of a ledger, making them fails
        return _integral(_one(self._run("SELECT version FROM utmost_schema", ()).fetchall(), "utmost_schema")[0])

    def create(self) -> None:
        """Make the tables of an empty store."""
        for statement in TABLES:
            self._run(statement.replace("BYTES", self._bytes_type), ())

    def head(self) -> tuple[int, bytes] | None:
        """The number of the last event and its seal; None before the first."""
        rows = self._run("SELECT number, seal FROM utmost_head", ()).fetchall()
        if not rows:
            return None
        number, seal = _one(rows, "utmost_head")
        return _integral(number), _bytes(seal)

    def events(self, after: int = 0) -> list[StoredRow]:
        """The events with larger numbers, in order."""
        rows = self._run("SELECT number, body, mac FROM utmost_events WHERE number > ? ORDER BY number", (after,))
        return [(_integral(number), _bytes(body), _bytes(mac)) for number, body, mac in rows.fetchall()]

    def event(self, number: int) -> StoredRow | None:
        """One event; None where there is no such event."""
        row = self._run("SELECT body, mac FROM utmost_events WHERE number = ?", (number,)).fetchone()
        return None if row is None else (number, _bytes(row[0]), _bytes(row[1]))

    def body(self, number: int) -> bytes | None:
        """The body of one event; None where there is no such event."""
        return self._found("SELECT body FROM utmost_events WHERE number = ?", number)

    def mac(self, number: int) -> bytes | None:
        """The mac of one event; None where there is no such event."""
        return self._found("SELECT mac FROM utmost_events WHERE number = ?", number)

    def write(self, events: Sequence[StoredRow], seal: bytes, parts: Iterable[EventPart]) -> None:
        """Events more with their parts, and the head moved on; read back, as a store may swallow what it is given."""
        # Of parts that are streamed digests alone are kept: those of a large ledger are never in memory at once.
        mark = (lambda content: content) if isinstance(parts, list) else (lambda content: sha256(content).digest())
        written = []

        def noted() -> Iterator[EventPart]:
            for event, part, content in parts:
                written.append((event, part, mark(content)))
                yield event, part, content

        # Parts first: the event that names them is there only if they are.
        self._load(noted())
        for row in events:
            self._run("INSERT INTO utmost_events VALUES (?, ?, ?)", row)
        self._run("DELETE FROM utmost_head", ())
        self._run("INSERT INTO utmost_head VALUES (?, ?)", (events[-1][0], seal))
        # Read back inside the transaction, which a trigger or a rule of somebody else's could have redirected.
        wrong = None
        if self.head() != (events[-1][0], seal):
            wrong = "utmost_head"
        elif self.events(events[0][0] - 1) != list(events):
            wrong = "utmost_events"
        elif any(mark(self.part(event, part) or b"") != marked for event, part, marked in written):
            wrong = "utmost_parts"
        if wrong is not None:
            raise LedgerDamaged(
                "the store must hold what was just written",
                came="something else",
                where=wrong,
                remedy="Nothing was said. Somebody changed the database: run verify, and see the runbook.",
            )

    def part(self, event: int, part: int) -> bytes | None:
        """One part of an event."""
        return self._found("SELECT content FROM utmost_parts WHERE event = ? AND part = ?", event, part)

    def parts(self) -> Iterator[tuple[int, int]]:
        """The places of all parts, in order."""
        rows = self._run("SELECT event, part FROM utmost_parts ORDER BY event, part", ())
        return ((_integral(event), _integral(part)) for event, part in rows.fetchall())

    def _insert(self, parts: Iterable[EventPart]) -> None:
        for part in parts:
            self._run("INSERT INTO utmost_parts VALUES (?, ?, ?)", part)

    def _found(self, query: str, *values: int) -> bytes | None:
        row = self._run(query, values).fetchone()
        return None if row is None else _bytes(row[0])


def _one(rows: list[Any], table: str) -> Any:
    if len(rows) != 1:
        raise LedgerDamaged("there must be exactly one row", came=len(rows), where=table)
    return rows[0]


def _integral(value: Any) -> int:
    if type(value) is not int:
        raise LedgerDamaged("a number must be an integer", came=type(value).__name__, where="ledger")
    return value


def _bytes(value: Any) -> bytes:
    if not isinstance(value, bytes | memoryview):
        raise LedgerDamaged("the store must give back bytes", came=type(value).__name__, where="ledger")
    return bytes(value)
