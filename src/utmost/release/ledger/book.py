"""The book: events appended one transaction at a time, each checked against all that is written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from utmost.errors import KeyRefused, LedgerDamaged, Quarantined
from utmost.release.ledger.chain import START, check_chain, check_seal, mac, seal
from utmost.release.ledger.event import Event, read_event, written
from utmost.release.ledger.key import Key
from utmost.release.ledger.loss import Loss, loss
from utmost.release.ledger.schema import missing_steps
from utmost.release.ledger.state import State, folded
from utmost.release.ledger.store import Row, Rows, Store
from utmost.release.ledger.witness import Witness, state_of

T = TypeVar("T")

_MEND = "Find out what was lost, then call resume (utmost ledger resume)."


@dataclass(slots=True)
class Page:
    """One transaction: the rows, the state, and what is appended in it.

    Attributes:
        rows: of the store.
        state: after all that is appended so far.
        appended: the new events.
    """

    key: Key
    rows: Rows
    state: State
    appended: list[Row]

    def append(self, kind: str, facts: Mapping[str, Any]) -> None:
        """Write one event more."""
        number = self.state.number + 1
        event = Event(number, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}", kind, facts)
        body = written(event)
        row = number, body, mac(self.key, self.state.mac, number, body)
        # The event is read back as anyone will read it, so that what cannot be read is not written.
        self.state = folded(self.state, [(read_event(number, body), row[2])])
        self.rows.append(row, seal(self.key, number, row[2]))
        self.appended.append(row)


class Book:
    """The events of a ledger in a store, under a key, before a witness.

    What has been read and checked is kept as a value; each transaction reads only what is new, and finds out whether
    the store still holds the event that it ended with.
    """

    __slots__ = ("_seen", "key", "store", "witness")

    def __init__(self, store: Store, key: Key, witness: Witness | None) -> None:
        self.store, self.key, self.witness = store, key, witness
        self._seen = State(0, START)

    def read(self, work: Callable[[Page], T], *, said: bool = False) -> T:
        """Look something up in one transaction.

        Args:
            said: whether what is looked up will be said to somebody: then the witness must know it first, also where
                the process that wrote it died before it could tell.
        """

        def reading(rows: Rows) -> tuple[State, list[Row], T]:
            page = Page(self.key, rows, self._now(rows), [])
            lacking = self._unwitnessed(rows, page.state.number, page.state.number) if said else []
            return page.state, lacking, work(page)

        self._seen, lacking, made = self.store.transact(reading, write=False)
        if self.witness is not None and lacking:
            self.witness.see(lacking)
        return made

    def write(self, work: Callable[[Page], T], *, quarantined: bool = False) -> T:
        """Do the work in one transaction: all of it durable and witnessed when this returns, or none of it done.

        Args:
            quarantined: whether the work may be done in a quarantine.

        Raises:
            Quarantined: for events that the work appends while there is one.
        """

        def writing(rows: Rows) -> tuple[State, list[Row], T]:
            page = Page(self.key, rows, self._now(rows), [])
            before, reason = page.state.number, None if quarantined else self.why(page)
            made = work(page)
            if page.appended and reason is not None:
                raise Quarantined(
                    "the ledger must not be in quarantine", came=reason, where=self.store.place, mend=_MEND
                )
            return page.state, self._unwitnessed(rows, page.state.number, before), made

        state, fresh, made = self.store.transact(writing, write=True)
        if self.witness is not None and fresh and not quarantined:
            self.witness.see(fresh)
        self._seen = state
        return made

    def page(self, rows: Rows) -> Page:
        """A transaction that somebody else has begun, for a ledger that is being made."""
        return Page(self.key, rows, self._now(rows), [])

    def check_writable(self, page: Page) -> None:
        """Check that there is no quarantine, before anything is drawn.

        Raises:
            Quarantined: where there is one.
        """
        reason = self.why(page)
        if reason is not None:
            raise self._quarantined(reason)

    def check_witness(self) -> None:
        """Check that what the witness holds was written under this key.

        Raises:
            LedgerDamaged: where it was not.
        """
        if self.witness is not None:
            state_of(self.key, self.witness.rows())

    def quarantine(self) -> str | None:
        """Why nothing new may be said, or None.

        A reader's snapshot may be older than the witness; among the writers the witness is never ahead. So an alarm is
        looked at again as a writer.
        """
        return self.read(self.why) and self.write(self.why, quarantined=True)

    def loss(self, page: Page) -> Loss | None:
        """What the witness knows and the ledger does not; None where there is no witness to tell."""
        if self.witness is None:
            return None
        seen = self.witness.rows()
        if not seen:
            return None
        mine = page.rows.events()
        common = 0
        for one, other in zip(mine, seen, strict=False):
            if one != other:
                break
            common += 1
        if common == 0:
            raise KeyRefused("a witness must be of this ledger", came="another ledger's", where=str(self.witness.path))
        return loss(state_of(self.key, seen[:common]), state_of(self.key, seen), page.state)

    def _now(self, rows: Rows) -> State:
        """The state that the store holds, as far as it has not been read already."""
        seen = self._seen
        if seen.number and rows.mac(seen.number) != seen.mac:
            raise Quarantined(
                "the ledger must hold what it held when it was opened",
                came="an earlier or another state",
                where=self.store.place,
                mend="Open it again; its witness tells what was lost.",
            )
        new = rows.events(seen.number)
        last = check_chain(self.key, seen.number, seen.mac, new)
        check_seal(self.key, rows.head(), seen.number + len(new), last)
        if not new:
            return seen
        return folded(seen, [(read_event(number, body), mac) for number, body, mac in new])

    def why(self, page: Page) -> str | None:
        """Why nothing new may be said, or None."""
        if page.state.quarantine is not None:
            return page.state.quarantine
        if self.witness is None:
            return None
        last = self.witness.last()
        if last is None:
            return None if page.state.number == 1 else "its witness is missing"
        number, seen = last
        if page.state.number < number:
            return f"its witness has seen {number} events, and it holds {page.state.number}"
        return None if page.rows.mac(number) == seen else "its witness has seen another history"

    def _unwitnessed(self, rows: Rows, number: int, before: int) -> list[Row]:
        """The events up to a number that the witness lacks, where it has seen those before.

        A ledger that has said nothing needs no witness yet: whoever says the first thing makes it.
        """
        if self.witness is None or number == 1:
            return []
        last = self.witness.last()
        if last is None:
            return rows.events() if before == 1 else []
        return rows.events(last[0]) if last[0] < number and rows.mac(last[0]) == last[1] else []

    def _quarantined(self, reason: str) -> Quarantined:
        return Quarantined("the ledger must not be in quarantine", came=reason, where=self.store.place, mend=_MEND)


def open_book(store: Store, key: Callable[[bool], Key], witness: Witness | None, made: Mapping[str, Any]) -> Book:
    """The book in a store; a new one where the store is empty.

    Args:
        key: the key, by whether the ledger is about to be made.
        made: the facts of a ledger that is made now.

    Raises:
        KeyRefused: for another ledger's key.
        Unsupported: for a ledger of a later version.
    """
    version = store.transact(lambda rows: rows.version(), write=False)
    is_behind = bool(missing_steps(version))
    book = Book(store, key(version == 0), witness)
    if is_behind:
        store.transact(lambda rows: _brought_up(rows, book, made), write=True)
    store.transact(lambda rows: _check_key(rows, book.key), write=False)
    rows = book.read(lambda page: page.rows.events() if page.state.number == 1 else [])
    if rows and witness is not None and witness.last() is None:
        witness.see(rows)
    return book


def _brought_up(rows: Rows, book: Book, made: Mapping[str, Any]) -> None:
    """Bring the tables up to date, and begin a new ledger; another process may have done so in the meantime."""
    version = rows.version()
    rows.migrate(version)
    if version == 0:
        Page(book.key, rows, State(0, START), []).append("opened", {**made, "key": book.key.fingerprint})


def _check_key(rows: Rows, key: Key) -> None:
    """A wrong key is told from a damaged ledger by the fingerprint in the first event."""
    first = rows.body(1)
    if first is None:
        raise LedgerDamaged("a ledger must have a first event", where="event 1")
    stored = read_event(1, first).facts.get("key")
    if stored != key.fingerprint:
        raise KeyRefused("the key must be this ledger's", came="another key", where="key")
