"""The witness: a second copy of a ledger's events, in another file, which shows what a rollback of the ledger lost.

A missing file reads as a witness without events. `EventLog._difference` reports that the witness is missing; the ledger
then repeats stored answers with a warning, and refuses new ones as in quarantine.

A ledger's seal cannot distinguish an old copy of the ledger from the present one, since both were sealed. So every
event is written to the witness before it is written to the ledger's store. The witness has one event of each number.
The last events of the witness may be *pending*:

    pending   the answer is drawn, and the witness has stored it; nobody has seen it; the ledger's store may have it
    settled   the ledger's store has reported that it has stored the event; from then on the answer may be returned

A ledger that lacks a settled event, or has another event in its place, was rolled back or restored, or its store
returns false data. A ledger that lacks a pending event was interrupted during a commit: the next writer finishes the
event as it was drawn.

**The cost of a rollback, computed from the events of the witness and of the ledger.**

Let p be the last event that witness and ledger have in common. Let c be the level of a release at p, w its level in the
witness, and s its level in the ledger after new answers (s = c for a ledger that gave none). The cost is

    published after p          w          all answers are lost
    w = c                      0          only views are lost: functions of stored responses and random bits
    w > c, s = c               w - c      together with c, which is charged already, this is w
    w > c, s > c               w + c      two continuations of one response

In the last line, f(v_c, v_w) f(v_c, v_s) / f(v_c) is the distribution of the common response and its two continuations,
and one individual changes the factors by at most exp(w), exp(s) and exp(c); s is charged already.

A mechanism that answers each person once is closed if it lost answers: it repeats stored answers and answers no new
person, which costs nothing. If the ledger has answered persons since p, a person may have two answers: the level of the
mechanism is charged again.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from utmost.core.exact.intervals import round_up
from utmost.core.exact.levels import Level
from utmost.errors import LedgerDamaged, LedgerError, LedgerUnavailable, Quarantined
from utmost.publish.ledger.events import START, check_chain, read_event
from utmost.publish.ledger.key import Key, make_file
from utmost.publish.ledger.sqlite_store import transaction
from utmost.publish.ledger.state import ReleaseKey, State, folded
from utmost.publish.ledger.store import EventPart, StoredRow

_TABLES = (
    "CREATE TABLE IF NOT EXISTS utmost_witness (number BIGINT PRIMARY KEY, body BLOB NOT NULL, mac BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS utmost_pending (number BIGINT PRIMARY KEY, body BLOB NOT NULL, mac BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS utmost_pending_parts (event BIGINT NOT NULL, part BIGINT NOT NULL, "
    "content BLOB NOT NULL, PRIMARY KEY (event, part))",
)
_MADE = "SELECT name FROM sqlite_master WHERE name = 'utmost_witness'"

DRAW_IS_STORED = (
    "No answer was given. The draw is stored and its level is spent: remove the cause, and make the same call again."
)
_KEPT_EARLIER = (
    "No answer was given, and nothing was drawn now. The draw of an earlier call is stored and its level is spent: "
    "remove the cause, and make the same call again."
)


@dataclass(frozen=True, slots=True)
class WitnessRecord:
    """The last settled event of a witness, and its pending events."""

    last: tuple[int, bytes] | None  # Number and mac of the last settled event; None before the first
    pending: tuple[StoredRow, ...]


@dataclass(frozen=True, slots=True)
class Witness:
    """A file that stores the events of one ledger."""

    path: Path  # Path of the file. Backups of the ledger must not restore this file.
    timeout: float
    # Whether responses are encrypted. If not, the pages of the file that had them are overwritten on settlement.
    is_sealed: bool = False

    def record(self) -> WitnessRecord:
        with self._reading() as connection:
            if connection is None:
                return WitnessRecord(None, ())
            return WitnessRecord(_last(connection), tuple(_rows(connection, "utmost_pending")))

    def mac(self, number: int) -> bytes | None:
        """Return the mac of a settled event; None if there is none of this number."""
        with self._reading() as connection:
            if connection is None:
                return None
            row = connection.execute("SELECT mac FROM utmost_witness WHERE number = ?", (number,)).fetchone()
            return None if row is None else bytes(row[0])

    def rows(self) -> list[StoredRow]:
        with self._reading() as connection:
            if connection is None:
                return []
            return _rows(connection, "utmost_witness") + _rows(connection, "utmost_pending")

    def parts(self, number: int) -> list[EventPart]:
        """Return the parts of all pending events whose number is at least ``number``."""
        with self._reading() as connection:
            query = "SELECT event, part, content FROM utmost_pending_parts WHERE event >= ? ORDER BY event, part"
            return [] if connection is None else connection.execute(query, (number,)).fetchall()

    def intend(self, after: tuple[int, bytes], rows: list[StoredRow], parts: list[EventPart]) -> None:
        """Store events as pending, before the ledger's store gets them; refuse unless the last event is ``after``."""
        is_written = False
        try:
            with self._writing() as connection:
                pending = _rows(connection, "utmost_pending")
                # One transaction compares and adds: two processes cannot both add a successor of the same event.
                if ((pending[-1][0], pending[-1][2]) if pending else _last(connection)) != after:
                    raise self._history_error()
                _write(connection, "utmost_pending", rows, parts)
                is_written = True
        except LedgerUnavailable as error:
            # The commit may have failed after it took effect: then the draw may be stored, and its level is spent.
            raise after_draw(error) if is_written and self._may_hold(rows[-1]) else error from None

    def settle(self, rows: list[StoredRow]) -> None:
        """Mark events as settled, once they are in the ledger's store: their answers may then be returned."""

        # One of three cases is required: the events are pending in this witness; or the first of them is settled, and
        # the others follow it; or the witness is empty. Otherwise somebody has written to the ledger without this
        # witness.
        with self._writing() as connection:
            query = "SELECT number, body, mac FROM utmost_witness WHERE number = ?"
            settled: list[StoredRow | None] = [connection.execute(query, row[:1]).fetchone() for row in rows]
            pending = {row[0]: row for row in _rows(connection, "utmost_pending")}
            # An event that is not pending is added if it follows a settled one, or if the witness is empty.
            follow = settled[0] is not None or _last(connection) is None
            for row, there in zip(rows, settled, strict=True):
                if (there or pending.get(row[0], row if follow else None)) != row:
                    raise self._history_error()
            # OR IGNORE: another process may have settled the same events, found equal above.
            connection.executemany("INSERT OR IGNORE INTO utmost_witness VALUES (?, ?, ?)", rows)
            end = rows[-1][0]
            # The responses are deleted: the witness keeps only what it needs.
            connection.execute("DELETE FROM utmost_pending WHERE number <= ?", (end,))
            connection.execute("DELETE FROM utmost_pending_parts WHERE event <= ?", (end,))

    def start_over(self, settled: list[StoredRow], rows: list[StoredRow], parts: list[EventPart]) -> None:
        """Replace all events by a new history, whose last events are pending."""
        with self._writing() as connection:
            connection.execute("PRAGMA secure_delete=ON")
            for name in ("utmost_witness", "utmost_pending", "utmost_pending_parts"):
                connection.execute(f"DELETE FROM {name}")
            connection.executemany("INSERT INTO utmost_witness VALUES (?, ?, ?)", settled)
            _write(connection, "utmost_pending", rows, parts)

    def _may_hold(self, row: StoredRow) -> bool:
        try:
            return row in self.record().pending
        except LedgerError:
            return True

    def _history_error(self) -> Quarantined:
        return Quarantined(
            "the ledger and its witness must have the same history",
            came="another event in the witness",
            where=str(self.path),
            remedy="No answer was given. Open the ledger again: its status shows the difference.",
        )

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """Open a connection for one transaction; yield None if the witness was never written."""
        with transaction(self.path, self.timeout, write=False) as connection:
            yield connection if connection.execute(_MADE).fetchone() is not None else None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        make_file(self.path)
        with transaction(self.path, self.timeout, write=True) as connection:
            for table in _TABLES:
                connection.execute(table)
            # Unencrypted pending responses must not stay in unused pages. Encrypted ones may, as in the ledger's store;
            # overwriting them took a sixth of the time of a large publication.
            connection.execute(f"PRAGMA secure_delete={'OFF' if self.is_sealed else 'ON'}")
            yield connection


def after_draw(error: LedgerUnavailable, *, earlier: bool = False) -> LedgerUnavailable:
    """Return the error with a remedy which says that the draw of this call, or of an ``earlier`` call, is stored."""
    remedy = _KEPT_EARLIER if earlier else DRAW_IS_STORED
    return LedgerUnavailable(error.required, came=error.came, where=error.where, remedy=remedy)


def state_of(key: Key, rows: list[StoredRow]) -> State:
    """Verify a chain of events under the key; return the state after the last one."""
    check_chain(key, 0, START, rows)
    return folded(State(0, START), [(read_event(number, body), mac) for number, body, mac in rows])


def _last(connection: sqlite3.Connection) -> tuple[int, bytes] | None:
    row = connection.execute("SELECT number, mac FROM utmost_witness ORDER BY number DESC LIMIT 1").fetchone()
    if row is None:
        return None
    number, mac = row
    if type(number) is not int or type(mac) is not bytes:
        raise LedgerDamaged("a witness must contain the events of its ledger", where="witness")
    return number, mac


def _rows(connection: sqlite3.Connection, table: str) -> list[StoredRow]:
    return list(connection.execute(f"SELECT number, body, mac FROM {table} ORDER BY number"))


def _write(connection: sqlite3.Connection, table: str, rows: list[StoredRow], parts: list[EventPart]) -> None:
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
    connection.executemany("INSERT INTO utmost_pending_parts VALUES (?, ?, ?)", parts)


@dataclass(frozen=True, slots=True)
class RollbackLoss:
    missing: Mapping[str, tuple[Level, ...]]  # Lost levels of each dataset, to charge to its budget
    closed: tuple[ReleaseKey, ...]  # Releases and mechanisms that lost answers and must not be relaxed
    limits: Mapping[str, Level]  # Lost limits of datasets; the smaller one, if the ledger has another
    events: tuple[str, ...] = ()  # MACs of the lost events, in hexadecimal


def rollback_loss(common: State, witness: State, ledger: State) -> RollbackLoss:
    """Compute the losses by a rollback; ``common`` is the state at the last event that ledger and witness share."""
    missing: dict[str, list[Level]] = {}
    closed: list[ReleaseKey] = []
    for item, seen in witness.releases.items():
        spends = missing.setdefault(seen.dataset, [])
        own = common.releases.get(item)
        if own is None:
            spends.append(seen.spent)
        elif seen.spent > own.spent:
            closed.append(item)
            # Two continuations of one response cost w + c more than the charged level s, see the head of this file.
            again = ledger.releases[item].spent > own.spent
            spends.extend([seen.spent, own.spent] if again else [_difference(seen.spent, own.spent)])
    for item, mechanism in witness.mechanisms.items():
        spends = missing.setdefault(mechanism.dataset, [])
        if item not in common.mechanisms:
            spends.append(mechanism.spent)
        elif mechanism.persons > common.mechanisms[item].persons:
            closed.append(item)
            again = ledger.mechanisms[item].persons > common.mechanisms[item].persons
            # A person may have one answer in each history: the whole level is charged a second time.
            spends.extend([mechanism.spent] if again else [])
    for charge, spent in witness.charges.items():
        if charge not in common.charges:
            missing.setdefault(charge[0], []).append(spent)
    for dataset, spending in witness.missing.items():
        if spending != common.missing.get(dataset):
            missing.setdefault(dataset, []).extend(spending.levels)
    closed += [
        item
        for item, release in witness.releases.items()
        if not release.relaxable and item in ledger.releases and ledger.releases[item].relaxable
    ]
    closed += [
        item
        for item, mechanism_seen in witness.mechanisms.items()
        if not mechanism_seen.open and item in ledger.mechanisms
    ]
    forgotten = {}
    for dataset, limit in witness.limits.items():
        before, mine = common.limits.get(dataset), ledger.limits.get(dataset)
        if limit != before and (mine == before or mine is None or limit < mine):
            forgotten[dataset] = limit
    charged = {dataset: tuple(levels) for dataset, levels in missing.items() if levels}
    return RollbackLoss(charged, tuple(dict.fromkeys(closed)), forgotten)


def _difference(large: Level, small: Level) -> Level:
    """Subtract two levels; the epsilon of the result is rounded up if it is irrational."""
    if large.base == small.base:
        return Level(large.base, large.power - small.power)
    bits = 256
    # With different bases the difference is irrational: rounded up, at a precision at which it is not 0.
    while True:  # terminates, since the levels differ
        between = large.epsilon_interval(bits) - small.epsilon_interval(bits)
        if between.lower > 0:
            return Level(None, Fraction(round_up(between)))
        bits *= 2
