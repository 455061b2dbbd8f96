"""A witness: a copy of the events, kept elsewhere, that knows when the ledger has been put back to an earlier state.

A ledger's own seal cannot tell an old ledger from the present one: the old one was sealed, too. The witness is written
after each commit and before the response is returned, so whatever was said is known to it. A ledger that lacks an event
that its witness has, or has another in its place, has been rolled back or restored.
"""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from utmost.errors import LedgerDamaged
from utmost.release.ledger.chain import START, check_chain
from utmost.release.ledger.event import read_event
from utmost.release.ledger.key import Key
from utmost.release.ledger.sqlite_store import in_transaction
from utmost.release.ledger.state import State, folded
from utmost.release.ledger.store import Row

_TABLE = "CREATE TABLE utmost_witness (number BIGINT PRIMARY KEY, body BLOB NOT NULL, mac BLOB NOT NULL)"
_EXISTS = "SELECT name FROM sqlite_master WHERE name = 'utmost_witness'"


@dataclass(frozen=True, slots=True)
class Witness:
    """A file that holds the events of one ledger.

    Attributes:
        path: of the file. Keep it where no backup of the ledger is restored over it.
        timeout: how many seconds to wait for others who write it.
    """

    path: Path
    timeout: float

    def last(self) -> tuple[int, bytes] | None:
        """The number and mac of the last event it has seen; None where it has seen none."""
        if not self.path.exists():
            return None
        return in_transaction(self.path, _last, self.timeout, write=False)

    def rows(self) -> list[Row]:
        """The events it has seen."""
        if not self.path.exists():
            return []
        return in_transaction(self.path, _all, self.timeout, write=False)

    def see(self, rows: list[Row]) -> None:
        """Take in events that follow those it has; ones that it has are passed over."""

        def work(connection: sqlite3.Connection) -> None:
            if connection.execute(_EXISTS).fetchone() is None:
                connection.execute(_TABLE)
            connection.executemany("INSERT OR IGNORE INTO utmost_witness VALUES (?, ?, ?)", rows)

        in_transaction(self.path, work, self.timeout, write=True)

    def start_over(self, rows: list[Row]) -> None:
        """Take these events in the place of all it has."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("DROP TABLE IF EXISTS utmost_witness")
            connection.execute(_TABLE)
            connection.executemany("INSERT INTO utmost_witness VALUES (?, ?, ?)", rows)

        in_transaction(self.path, work, self.timeout, write=True)


def state_of(key: Key, rows: list[Row]) -> State:
    """What the events of a whole chain say.

    Raises:
        LedgerDamaged: for events that were not written under this key.
    """
    check_chain(key, 0, START, rows)
    return folded(State(0, START), [(read_event(number, body), mac) for number, body, mac in rows])


def _last(connection: sqlite3.Connection) -> tuple[int, bytes] | None:
    if connection.execute(_EXISTS).fetchone() is None:
        return None
    found = connection.execute("SELECT number, mac FROM utmost_witness ORDER BY number DESC LIMIT 1").fetchone()
    if found is None:
        return None
    number, mac = found
    if type(number) is not int or type(mac) is not bytes:
        raise LedgerDamaged("a witness must hold events", where="witness")
    return number, mac


def _all(connection: sqlite3.Connection) -> list[Row]:
    if connection.execute(_EXISTS).fetchone() is None:
        return []
    return list(connection.execute("SELECT number, body, mac FROM utmost_witness ORDER BY number"))
