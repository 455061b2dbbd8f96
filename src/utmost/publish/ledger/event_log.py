"""The event log of a ledger: events are appended in transactions, and each transaction checks all earlier events."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from utmost.errors import (
    KeyRefused,
    LedgerDamaged,
    LedgerError,
    LedgerUnavailable,
    Quarantined,
    WitnessMissing,
    warn,
)
from utmost.publish.ledger.duplicate_data import KnownDigests
from utmost.publish.ledger.events import START, Event, check_chain, check_seal, event_bytes, mac, read_event, seal
from utmost.publish.ledger.key import Key
from utmost.publish.ledger.state import State, folded
from utmost.publish.ledger.store import EventPart, Rows, Store, StoredRow, check_version
from utmost.publish.ledger.witness import (
    DRAW_IS_STORED,
    RollbackLoss,
    Witness,
    WitnessRecord,
    after_draw,
    rollback_loss,
    state_of,
)

T = TypeVar("T")

_MEND = "Find out what was lost, then resume the ledger: ledger.resume, or utmost ledger resume."
_REMEDY_OPEN = "Correct the name, or create a ledger: create=True, or utmost ledger create."


@dataclass(slots=True)
class Transaction:
    """One transaction: the rows of the store, the state, and new events, which `write_down` writes to the store."""

    key: Key
    rows: Rows
    state: State  # State after all events that are appended so far
    digests: KnownDigests  # Digests of all releases, by which the same data are recognised
    reason: str | None = None  # Reason for refusing new answers; None if they are allowed
    appended: list[StoredRow] = field(default_factory=list)
    parts: list[EventPart] = field(default_factory=list)
    # Numbers of older events whose responses are about to be returned again
    repeated: set[int] = field(default_factory=set)

    def append(self, kind: str, facts: Mapping[str, Any], parts: Iterable[bytes] = ()) -> None:
        """Append an event, whose ``parts`` get separate rows in the store."""
        number = self.state.number + 1
        event = Event(number, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}", kind, facts)
        body = event_bytes(event)
        row = number, body, mac(self.key, self.state.mac, number, body)
        # The event is parsed as every later reader will parse it, so that no unreadable event is written.
        self.state = folded(self.state, [(read_event(number, body), row[2])])
        if kind == "published":
            _ = self.state.releases[facts["name"], facts["version"]].request
        # The row is not in the store yet: `write_down` writes all events of a transaction at once, after the witness
        # has them.
        self.appended.append(row)
        self.parts += ((number, part, content) for part, content in enumerate(parts))

    def part(self, event: int, part: int) -> bytes | None:
        """Return part number ``part`` of an event, which the store need not have yet; None if there is no such part."""
        if event <= self.state.number - len(self.appended):
            return self.rows.part(event, part)
        return next((content for number, index, content in self.parts if (number, index) == (event, part)), None)

    def write_down(self) -> None:
        if self.appended:
            number, _, last = self.appended[-1]
            self.rows.write(self.appended, seal(self.key, number, last), self.parts)


class EventLog:
    """Reads and writes the events of a ledger; a key authenticates them, and a witness detects a rollback."""

    # The state that was read and checked is kept in `_seen`; each transaction reads only newer events, and checks that
    # the store still holds the last event of `_seen`. proofs/theory/ledger.md proves that no store can make the log
    # return two different answers; the order of steps in `write` is the one of the proof.
    __slots__ = ("_digests", "_seen", "key", "store", "witness")

    def __init__(self, store: Store, key: Key, witness: Witness | None) -> None:
        self.store, self.key, self.witness = store, key, witness
        self._seen, self._digests = State(0, START), KnownDigests()

    def read(self, work: Callable[[Transaction], T], *, settle: bool = False) -> T:
        """Read in one transaction; with ``settle``, the witness first marks all stored events as settled."""

        def reading(rows: Rows) -> tuple[Transaction, list[StoredRow], T]:
            transaction = self.transaction(rows)
            answer = work(transaction)
            return transaction, self._check_repeated(transaction) if settle and answer is not None else [], answer

        # The witness settles after the transaction, when the store surely has the event, and before the answer is
        # returned.
        transaction, unsettled, answer = self.store.transact(reading, write=False)
        if self.witness is not None and unsettled:
            self.witness.settle(unsettled)
        self._seen = transaction.state
        return answer

    def write(self, work: Callable[[Transaction], T], *, quarantined: bool = False, replace_witness: bool = False) -> T:
        """Do ``work`` in one transaction; when `write` returns, the events of ``work`` are durable and settled.

        Args:
            quarantined: Whether the work is allowed in a quarantine.
            replace_witness: Whether the witness may replace its history by that of the ledger.
        """
        drawn: tuple[StoredRow, T] | None = None

        def writing(rows: Rows) -> tuple[State, list[StoredRow], T]:
            nonlocal drawn
            transaction = self.transaction(rows)
            # Order: finish an interrupted transaction; draw; the witness stores the draw; the store commits; the
            # witness settles; return.
            settled, histories_differ = self._finish_pending(transaction)
            # The store reported a conflict and calls again: if the commit had succeeded without a reply, the store has
            # the draw, and this draw is returned; there is no second one.
            if drawn is not None and rows.mac(drawn[0][0]) == drawn[0][2]:
                return transaction.state, settled, drawn[1]
            # The noise is drawn while the lock is held: no other process can add levels meanwhile.
            before = transaction.state
            answer = work(transaction)
            if transaction.appended and transaction.reason is not None and not quarantined:
                raise refused_in_quarantine(self.store.place, transaction.reason)
            if transaction.appended and self.witness is not None:
                if replace_witness and histories_differ:
                    self.witness.start_over(rows.events(), transaction.appended, transaction.parts)
                    histories_differ = False
                elif not histories_differ:
                    # The witness stores the draw first: if the store is put back to an older copy after this, the
                    # witness knows the draw, and the level counts as spent.
                    self.witness.intend((before.number, before.mac), transaction.appended, transaction.parts)
                if not histories_differ:
                    # From here on a repeated call finishes this draw; a second draw would be a second answer.
                    drawn = transaction.appended[-1], answer
            transaction.write_down()
            return transaction.state, [] if histories_differ else settled + transaction.appended, answer

        try:
            state, settled, answer = self.store.transact(writing, write=True)
            if self.witness is not None and settled:
                self.witness.settle(settled)
        except LedgerUnavailable as error:
            if drawn is not None or error.remedy == DRAW_IS_STORED:
                raise after_draw(error) from None
            raise after_draw(error, earlier=True) if self._has_pending() else error from None
        self._seen = state
        return answer

    def answer(self, work: Callable[[Transaction, bool], T | None], *, look: bool) -> T:
        """Return the stored answer, or draw a new one, in as few transactions as possible.

        Args:
            work: Function of a transaction and a flag, True if the function may draw. The function returns None if no
                answer is stored and the flag is False.
            look: Whether the answer may be stored already; it is then first looked up without a lock.
        """
        answer = self.read(lambda transaction: work(transaction, False), settle=True) if look else None
        if answer is not None:
            return answer

        # Under the lock ``work`` looks again: another process may have answered meanwhile.
        def look_again(transaction: Transaction) -> T:
            # In quarantine a ledger repeats and shows stored answers; it draws nothing new, not even a view at another
            # level.
            found = work(transaction, transaction.reason is None)
            if found is None:
                raise refused_in_quarantine(self.store.place, str(transaction.reason))
            if not transaction.appended:
                self._check_repeated(transaction)  # `write` has finished and settles all older events itself
            return found

        return self.write(look_again)

    @property
    def seen(self) -> State:
        """The state as this process read it last; other processes may have written since."""
        return self._seen

    def transaction(self, rows: Rows) -> Transaction:
        return Transaction(self.key, rows, self._present_state(rows), self._digests)

    def check_writable(self, transaction: Transaction) -> None:
        """Refuse to draw in a quarantine."""
        if transaction.reason is not None:
            raise refused_in_quarantine(self.store.place, transaction.reason)

    def check_witness(self) -> None:
        """Check that the events of the witness were written under this key."""
        if self.witness is not None:
            state_of(self.key, self.witness.rows())

    def quarantine(self) -> str | None:
        """Return the reason for refusing new answers; None if they are allowed."""

        def reason(transaction: Transaction) -> str | None:
            if transaction.state.quarantine is not None or self.witness is None:
                return transaction.state.quarantine
            return self._difference(transaction, self.witness.record())

        # A reader's snapshot may be older than the witness; for a writer the witness is ahead only by pending events.
        # If a reader finds a difference, a writer therefore checks again.
        return self.read(reason) and self.write(lambda transaction: transaction.reason, quarantined=True)

    def loss(self, transaction: Transaction) -> RollbackLoss | None:
        """Compare store and witness; return what a rollback has lost, or None if there is no witness with events."""
        if self.witness is None:
            return None
        seen = self.witness.rows()
        if not seen:
            return None
        mine = transaction.rows.events()
        common = 0
        for own, other in zip(mine, seen, strict=False):
            if own != other:
                break
            common += 1
        if common == 0:
            raise KeyRefused(
                "the witness must belong to this ledger",
                came="the witness of another ledger",
                where=str(self.witness.path),
            )
        loss = rollback_loss(state_of(self.key, seen[:common]), state_of(self.key, seen), transaction.state)
        # A lost "resumed" event has charged what was lost before it, and the charge is lost and charged again with it.
        earlier = (one for number, body, _ in seen[common:] for one in read_event(number, body).facts.get("lost", ()))
        return replace(loss, events=(*earlier, *(last.hex() for _, _, last in seen[common:])))

    def _present_state(self, rows: Rows) -> State:
        """Return the state of the store; read only the events after the last one that this process has read."""
        seen = self._seen
        if seen.number and rows.mac(seen.number) != seen.mac:
            raise Quarantined(
                "the ledger must still contain all events that it had when it was opened",
                came="an earlier or another state",
                where=self.store.place,
                remedy="Open the ledger again: its witness shows what was lost.",
            )
        # Only new events are read and checked; the mac of the last known event covers all before it.
        new = rows.events(seen.number)
        # The head names the last event: without it, a chain whose end was cut off would still verify.
        last = check_chain(self.key, seen.number, seen.mac, new)
        check_seal(self.key, rows.head(), seen.number + len(new), last)
        if not new:
            return seen
        return folded(seen, [(read_event(number, body), mac) for number, body, mac in new])

    @staticmethod
    def _difference(transaction: Transaction, record: WitnessRecord) -> str | None:
        """Say how the events of the ledger differ from those of its witness; None if they are the same."""
        last = record.last
        if last is None:
            return None if transaction.state.number == 1 else "its witness is missing"
        number, seen = last
        # The store has fewer events than the witness settled, and a settled event may have been published.
        if transaction.state.number < number:
            return f"its witness has {number} events, and the ledger has {transaction.state.number}"
        # If the store has another event than a pending one, somebody has written without this witness.
        pending = (row for row in record.pending if row[0] <= transaction.state.number)
        if transaction.rows.mac(number) == seen and all(transaction.rows.mac(row[0]) == row[2] for row in pending):
            return None
        return "its witness has seen another history"

    def _check_repeated(self, transaction: Transaction) -> list[StoredRow]:
        """Check that stored responses may be returned again; return the events that the witness must settle first."""
        if self.witness is None:
            return []
        record = self.witness.record()
        if record.last is None:
            if transaction.state.number > 1:
                warn(
                    f"the witness of this ledger is missing: {self.witness.path}. This stored answer was repeated; "
                    "a new answer will be refused. Put the file back, or resume the ledger (utmost ledger resume)",
                    WitnessMissing,
                )
            return []
        # A ledger that lacks its witness or differs from it may return the responses that both have.
        if self._difference(transaction, record) is None:
            settled, _ = record.last
            return transaction.rows.events(settled - 1) if transaction.state.number > settled else []
        if any(self.witness.mac(number) != transaction.rows.mac(number) for number in transaction.repeated):
            raise refused_in_quarantine(self.store.place, "its witness has seen another history")
        return []

    def _finish_pending(self, transaction: Transaction) -> tuple[list[StoredRow], bool]:
        """Finish the pending events; return the events to settle after the commit, and whether the histories differ."""
        transaction.reason = transaction.state.quarantine
        if self.witness is None:
            return [], False
        record = self.witness.record()
        difference = self._difference(transaction, record)
        if difference is not None:
            transaction.reason = transaction.reason or difference
            return [], True
        if record.last is None or record.last[0] < transaction.state.number:
            self.witness.settle(transaction.rows.events(0 if record.last is None else record.last[0] - 1))
            record = self.witness.record()
        pending = list(record.pending)
        if pending:
            # The witness is trusted no more than the store: its events must continue the chain under the key.
            check_chain(self.key, transaction.state.number, transaction.state.mac, pending)
            parts = self.witness.parts(pending[0][0])
            transaction.rows.write(pending, seal(self.key, pending[-1][0], pending[-1][2]), parts)
            transaction.state = folded(
                transaction.state, [(read_event(number, body), mac) for number, body, mac in pending]
            )
        return pending, False

    def _has_pending(self) -> bool:
        """Whether the witness can be read and has a draw that was not returned to anybody."""
        try:
            return self.witness is not None and bool(self.witness.record().pending)
        except LedgerError:
            return False


def refused_in_quarantine(place: str, reason: str) -> Quarantined:
    """Return the error for a request for a new answer from a ledger in quarantine."""
    return Quarantined(
        "the ledger must not be in quarantine", came=f"a quarantine: {reason}", where=place, remedy=_MEND
    )


def open_log(
    store: Store,
    key: Callable[[bool], Key],
    witness: Callable[[State], Witness | None],
    opening: Mapping[str, Any] | None,
) -> EventLog:
    """Open the log in a store; create it if the store is empty and ``opening`` is given.

    Args:
        key: Function that returns the key; its argument says whether the ledger is about to be created.
        witness: Function that returns the witness; its argument is the state after the first event.
        opening: Facts of the first event of a new ledger; None if the ledger must exist.
    """
    # The key is read before anything is created: a wrong key leaves the store unchanged.
    version = store.transact(lambda rows: rows.version(), write=False)
    check_version(version)
    if version == 0 and opening is None:
        absent = LedgerUnavailable(
            "there must be a ledger at this place", came="none", where=store.place, remedy=_REMEDY_OPEN
        )
        absent.is_absent = True
        raise absent
    log = EventLog(store, key(version == 0), None)
    if version == 0 and opening is not None:
        first = {**opening, "key": log.key.fingerprint}
        store.transact(lambda rows: _begin(rows, log, first), write=True)
    store.transact(lambda rows: _check_key(rows, log.key), write=False)

    def begun(transaction: Transaction) -> tuple[Witness | None, list[StoredRow]]:
        return witness(transaction.state), transaction.rows.events() if transaction.state.number == 1 else []

    log.witness, rows = log.read(begun)
    if rows and log.witness is not None and log.witness.record().last is None:
        log.witness.settle(rows)
    return log


def _begin(rows: Rows, log: EventLog, opening: Mapping[str, Any]) -> None:
    """Create the ledger, unless another process has created it meanwhile."""
    if rows.version() == 0:
        rows.create()
        transaction = Transaction(log.key, rows, State(0, START), KnownDigests())
        transaction.append("opened", opening)
        transaction.write_down()


def _check_key(rows: Rows, key: Key) -> None:
    """Check the fingerprint in the first event, which distinguishes a wrong key from a damaged ledger."""
    first = rows.body(1)
    if first is None:
        raise LedgerDamaged("a ledger must have a first event", where="event 1")
    stored = read_event(1, first).facts.get("key")
    if stored != key.fingerprint:
        raise KeyRefused("the key must be the key of this ledger", came="another key", where="key")
