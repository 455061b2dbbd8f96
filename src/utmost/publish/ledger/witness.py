"""The witness: a copy of the events that knows when the ledger has been put back, and what that lost.

A witness: a copy of the events, kept elsewhere, that fixes each event before the ledger's store ever sees it.

A ledger's own seal cannot distinguish an old ledger from the present one: the old one was sealed, too. So the witness
hears it first. It holds the events one after another, one of each number, and of the last ones whether they are
*settled*:

    pending   drawn, and kept here with its responses; nobody has been answered, and the store may hold it or not
    settled   the store has reported that it holds it; from then on it may be said

A ledger that lacks a settled event, or has another in its place, was rolled back, restored, or kept by a store that
lies. A ledger that lacks a pending one was cut off in mid-commit: whoever writes next carries it out as it was drawn.

**What a rollback has lost, and what it costs: from what the witness saw, and what the ledger still knows.**

Let p be the last event that both have. A release had the level c then, got the level w in what the witness saw later,
and the level s in what the ledger wrote since (s = c for a ledger that was quarantined at once). Then

    published after p          w          all that was said of it is lost
    w = c                      0          only views are lost: functions of what is stored, and of coins
    w > c, s = c               w - c      so that with c, which the books still have, it comes to w
    w > c, s > c               w + c      two continuations of one response

The last line: f(v_c, v_w) f(v_c, v_s) / f(v_c) is the law of the common response and its two continuations, and one
individual changes the factors by at most exp(w), exp(s) and exp(c); s is in the books already.

A mechanism that answers each person once and lost answers is closed: who is kept is repeated, and nobody is answered a
second time, which costs nothing. Where the ledger has answered since, a person may have two answers: its level again.
"""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from utmost.core.exact.intervals import round_up
from utmost.core.exact.levels import Level
from utmost.errors import LedgerDamaged, LedgerError, LedgerUnavailable, Quarantined
from utmost.publish.ledger.events import START, check_chain, read_event
from utmost.publish.ledger.key import Key, make_file
from utmost.publish.ledger.sqlite_store import in_transaction
from utmost.publish.ledger.state import ReleaseKey, State, folded
from utmost.publish.ledger.store import EventPart, StoredRow

T = TypeVar("T")

_TABLES = (
    "CREATE TABLE IF NOT EXISTS utmost_witness (number BIGINT PRIMARY KEY, body BLOB NOT NULL, mac BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS utmost_pending (number BIGINT PRIMARY KEY, body BLOB NOT NULL, mac BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS utmost_pending_parts (event BIGINT NOT NULL, part BIGINT NOT NULL, "
    "content BLOB NOT NULL, PRIMARY KEY (event, part))",
)
_MADE = "SELECT name FROM sqlite_master WHERE name = 'utmost_witness'"

KEPT = "No answer was given. What was drawn is kept and counts: the same call, once the cause is removed, gives it."


@dataclass(frozen=True, slots=True)
class WitnessRecord:
    """The record of a witness, in short.

    Attributes:
        last: number and mac of the last settled event; None before the first.
        pending: the events after it.
    """

    last: tuple[int, bytes] | None
    pending: tuple[StoredRow, ...]


@dataclass(frozen=True, slots=True)
class Witness:
    """A file that holds the events of one ledger.

    Attributes:
        path: Path of the file. Keep it where no backup of the ledger is restored over it.
        timeout: Number of seconds to wait for others who write it.
        is_sealed: Whether responses come sealed, as the ledger's own store keeps them. Those that do not are
            overwritten when they are settled; of sealed ones the pages are let go.
    """

    path: Path
    timeout: float
    is_sealed: bool = False

    def record(self) -> WitnessRecord:
        """The last event that is settled, and those that are pending."""
        return self._read(
            lambda connection: WitnessRecord(_last(connection), tuple(_rows(connection, "utmost_pending"))),
            WitnessRecord(None, ()),
        )

    def last(self) -> tuple[int, bytes] | None:
        """The number and mac of the last event that is settled; None where none is."""
        return self._read(_last, None)

    def mac(self, number: int) -> bytes | None:
        """The mac of a settled event; None where it has none of this number."""

        def work(connection: sqlite3.Connection) -> bytes | None:
            row = connection.execute("SELECT mac FROM utmost_witness WHERE number = ?", (number,)).fetchone()
            return None if row is None else bytes(row[0])

        return self._read(work, None)

    def rows(self) -> list[StoredRow]:
        """All events that it holds, the pending ones last."""
        return self._read(lambda connection: [row for name in _EVENTS for row in _rows(connection, name)], [])

    def parts(self, number: int) -> list[EventPart]:
        """The parts of the pending events from this number on."""

        def work(connection: sqlite3.Connection) -> list[EventPart]:
            query = "SELECT event, part, content FROM utmost_pending_parts WHERE event >= ? ORDER BY event, part"
            return connection.execute(query, (number,)).fetchall()

        return self._read(work, [])

    def intend(self, after: tuple[int, bytes], rows: list[StoredRow], parts: list[EventPart]) -> None:
        """Hold events that are about to be given to the store, if the last one held is the one that they follow.

        Raises:
            LedgerUnavailable: where they could not be written; its remedy says whether they may have been, all the
                same.
            Quarantined: where another event is held in their place: the store let two write at once.
        """
        reached = False

        def work(connection: sqlite3.Connection) -> None:
            nonlocal reached
            pending = _rows(connection, "utmost_pending")
            # Compared and added in one transaction: two processes that draw at once cannot both follow the same event.
            if ((pending[-1][0], pending[-1][2]) if pending else _last(connection)) != after:
                raise self._another()
            _write(connection, "utmost_pending", rows, parts)
            reached = True

        try:
            self._write(work)
        except LedgerUnavailable as error:
            # A commit may fail after its work was done: then what was drawn may be held, and counts.
            raise kept(error) if reached and self._may_hold(rows[-1]) else error from None

    def settle(self, rows: list[StoredRow]) -> None:
        """The store holds these events: they may be said.

        They are pending here; or the first of them is settled, so that they are seen to follow it; or there are none
        here at all.

        Raises:
            Quarantined: where they are not of the history that is held here, also where others are pending under their
                numbers: these may have been drawn, and somebody has written to the ledger without this witness.
        """

        def work(connection: sqlite3.Connection) -> None:
            settled = [_at(connection, row[0]) for row in rows]
            pending = {row[0]: row for row in _rows(connection, "utmost_pending")}
            # What is not pending is taken over where it follows something that is settled, or where the witness is
            # empty.
            follow = settled[0] is not None or _last(connection) is None
            for row, there in zip(rows, settled, strict=True):
                if (there or pending.get(row[0], row if follow else None)) != row:
                    raise self._another()
            # OR IGNORE: another process may have settled the same events, found equal above.
            connection.executemany("INSERT OR IGNORE INTO utmost_witness VALUES (?, ?, ?)", rows)
            end = rows[-1][0]
            # The responses go with them: the witness keeps no more of what was said than it must.
            connection.execute("DELETE FROM utmost_pending WHERE number <= ?", (end,))
            connection.execute("DELETE FROM utmost_pending_parts WHERE event <= ?", (end,))

        self._write(work)

    def start_over(self, settled: list[StoredRow], rows: list[StoredRow], parts: list[EventPart]) -> None:
        """Take a new history in the place of all that it has, the last events of it pending."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("PRAGMA secure_delete=ON")
            for name in ("utmost_witness", "utmost_pending", "utmost_pending_parts"):
                connection.execute(f"DELETE FROM {name}")
            connection.executemany("INSERT INTO utmost_witness VALUES (?, ?, ?)", settled)
            _write(connection, "utmost_pending", rows, parts)

        self._write(work)

    def _may_hold(self, row: StoredRow) -> bool:
        try:
            return row in self.record().pending
        except LedgerError:
            return True

    def _another(self) -> Quarantined:
        return Quarantined(
            "the ledger and its witness must have one history",
            came="another event in the witness",
            where=str(self.path),
            remedy="Nothing was said. Open the ledger again; its status says more.",
        )

    def _read(self, work: Callable[[sqlite3.Connection], T], without: T) -> T:
        """Do the work in one transaction; where nothing was ever written, the answer is ``without``."""

        def look(connection: sqlite3.Connection) -> T:
            return without if connection.execute(_MADE).fetchone() is None else work(connection)

        return in_transaction(self.path, look, self.timeout, write=False)

    def _write(self, work: Callable[[sqlite3.Connection], None]) -> None:
        def whole(connection: sqlite3.Connection) -> None:
            for table in _TABLES:
                connection.execute(table)
            # What was pending of an open ledger is a response, and is not left in unused pages. Sealed ones the store
            # keeps just so, and to overwrite them took a sixth of a large publication.
            connection.execute(f"PRAGMA secure_delete={'OFF' if self.is_sealed else 'ON'}")
            work(connection)

        make_file(self.path)
        in_transaction(self.path, whole, self.timeout, write=True)


_EVENTS = ("utmost_witness", "utmost_pending")


def kept(error: LedgerUnavailable) -> LedgerUnavailable:
    """The same error, where the witness holds what was drawn and nobody has been answered."""
    return LedgerUnavailable(error.required, came=error.came, where=error.where, remedy=KEPT)


def state_of(key: Key, rows: list[StoredRow]) -> State:
    """The state that the events of a whole chain lead to.

    Raises:
        LedgerDamaged: for events that were not written under this key.
    """
    check_chain(key, 0, START, rows)
    return folded(State(0, START), [(read_event(number, body), mac) for number, body, mac in rows])


def _last(connection: sqlite3.Connection) -> tuple[int, bytes] | None:
    row = connection.execute("SELECT number, mac FROM utmost_witness ORDER BY number DESC LIMIT 1").fetchone()
    if row is None:
        return None
    number, mac = row
    if type(number) is not int or type(mac) is not bytes:
        raise LedgerDamaged("a witness must hold events", where="witness")
    return number, mac


def _at(connection: sqlite3.Connection, number: int) -> StoredRow | None:
    query = "SELECT number, body, mac FROM utmost_witness WHERE number = ?"
    row: StoredRow | None = connection.execute(query, (number,)).fetchone()
    return row


def _rows(connection: sqlite3.Connection, table: str) -> list[StoredRow]:
    return list(connection.execute(f"SELECT number, body, mac FROM {table} ORDER BY number"))


def _write(connection: sqlite3.Connection, table: str, rows: list[StoredRow], parts: list[EventPart]) -> None:
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
    connection.executemany("INSERT INTO utmost_pending_parts VALUES (?, ?, ?)", parts)


@dataclass(frozen=True, slots=True)
class RollbackLoss:
    """The loss of a rollback.

    Attributes:
        missing: dataset to levels that its budget must bear.
        closed: releases that must not be relaxed any more.
        limits: budgets that were set and forgotten: of two, the smaller.
    """

    missing: Mapping[str, tuple[Level, ...]]
    closed: tuple[ReleaseKey, ...]
    limits: Mapping[str, Level]


def rollback_loss(common: State, witness: State, ledger: State) -> RollbackLoss:
    """The loss that the witness can see and the ledger cannot.

    Args:
        common: the state up to the last event that both have.
        witness: State that the witness has seen.
        ledger: State of the ledger now.
    """
    missing: dict[str, list[Level]] = {}
    closed: list[ReleaseKey] = []
    for item, seen in witness.releases.items():
        spends = missing.setdefault(seen.dataset, [])
        own = common.releases.get(item)
        if own is None:
            spends.append(seen.spent)
        elif seen.spent > own.spent:
            closed.append(item)
            # Two continuations of one response, see the head of this file: their levels add up, less what both share.
            again = ledger.releases[item].spent > own.spent
            spends.extend([seen.spent, own.spent] if again else [_difference(seen.spent, own.spent)])
    for item, mechanism in witness.mechanisms.items():
        spends = missing.setdefault(mechanism.dataset, [])
        if item not in common.mechanisms:
            spends.append(mechanism.spent)
        elif mechanism.persons > common.mechanisms[item].persons:
            closed.append(item)
            again = ledger.mechanisms[item].persons > common.mechanisms[item].persons
            # A person may have been answered in both histories: once more the whole level.
            spends.extend([mechanism.spent] if again else [])
    for charge, spent in witness.charges.items():
        if charge not in common.charges:
            missing.setdefault(charge[0], []).append(spent)
    for dataset, spending in witness.missing.items():
        if spending != common.missing.get(dataset):
            missing.setdefault(dataset, []).extend(spending.levels)
    closed += [item for item, release in witness.releases.items() if _is_closed_since(item, release.relaxable, ledger)]
    closed += [
        item
        for item, mechanism_seen in witness.mechanisms.items()
        if not mechanism_seen.open and item in ledger.mechanisms
    ]
    charged = {dataset: tuple(levels) for dataset, levels in missing.items() if levels}
    return RollbackLoss(charged, tuple(dict.fromkeys(closed)), _forgotten_limits(common, witness, ledger))


def _forgotten_limits(common: State, witness: State, ledger: State) -> dict[str, Level]:
    forgotten = {}
    for dataset, limit in witness.limits.items():
        mine = ledger.limits.get(dataset)
        if limit != common.limits.get(dataset) and (mine == common.limits.get(dataset) or mine is None or limit < mine):
            forgotten[dataset] = limit
    return forgotten


def _is_closed_since(item: ReleaseKey, relaxable: bool, ledger: State) -> bool:
    return not relaxable and item in ledger.releases and ledger.releases[item].relaxable


def _difference(large: Level, small: Level) -> Level:
    """The level with the epsilon that is left, rounded up where it is irrational in another base."""
    if large.base == small.base:
        return Level(large.base, large.power - small.power)
    bits = 256
    # In another base the difference is irrational: upwards, and so fine that it is not 0.
    while True:  # ends: the levels differ
        between = large.epsilon_interval(bits) - small.epsilon_interval(bits)
        if between.lower > 0:
            return Level(None, Fraction(round_up(between)))
        bits *= 2
