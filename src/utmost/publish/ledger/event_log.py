"""The log: events appended one transaction at a time, each checked against all that is written."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from utmost.errors import KeyRefused, LedgerDamaged, LedgerError, LedgerUnavailable, Quarantined
from utmost.publish.ledger.duplicate_data import KnownDigests
from utmost.publish.ledger.events import START, Event, check_chain, check_seal, event_bytes, mac, read_event, seal
from utmost.publish.ledger.key import Key
from utmost.publish.ledger.state import State, folded
from utmost.publish.ledger.store import EventPart, Rows, Store, StoredRow, check_version
from utmost.publish.ledger.witness import RollbackLoss, Witness, WitnessRecord, kept, rollback_loss, state_of

T = TypeVar("T")

_MEND = "Find out what was lost, then call resume (utmost ledger resume)."
_REMEDY_OPEN = "Correct the name, or make a new ledger: create=True (utmost ledger create)."


@dataclass(slots=True)
class Transaction:
    """One transaction: the rows, the state, and what is appended in it. The store sees it when it is written down.

    Attributes:
        rows: Rows of the store.
        state: State after all that is appended so far.
        digests: Digests by which values are known again, as far as this process has opened them.
        reason: Reason why nothing new may be answered; None where it may.
        appended: the new events, and ``parts`` what is kept of them.
        repeated: the numbers of older events whose responses are about to be said again.
    """

    key: Key
    rows: Rows
    state: State
    digests: KnownDigests
    reason: str | None = None
    appended: list[StoredRow] = field(default_factory=list)
    parts: list[EventPart] = field(default_factory=list)
    repeated: set[int] = field(default_factory=set)

    def append(self, kind: str, facts: Mapping[str, Any], parts: Iterable[bytes] = ()) -> None:
        """One event more, with the parts that the store keeps beside it."""
        number = self.state.number + 1
        event = Event(number, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}", kind, facts)
        body = event_bytes(event)
        row = number, body, mac(self.key, self.state.mac, number, body)
        # The event is read back as anyone will read it, so that what cannot be read is not written.
        self.state = folded(self.state, [(read_event(number, body), row[2])])
        if kind == "published":
            _ = self.state.releases[facts["name"], facts["version"]].request
        # Only remembered: `write_down` gives the store all of a transaction at once, after the witness has it.
        self.appended.append(row)
        self.parts += ((number, part, content) for part, content in enumerate(parts))

    def part(self, event: int, part: int) -> bytes | None:
        """One part of an event, also of one that is appended and not written down yet."""
        if event <= self.state.number - len(self.appended):
            return self.rows.part(event, part)
        return next((content for number, place, content in self.parts if (number, place) == (event, part)), None)

    def write_down(self) -> None:
        """Give the store what was appended, and check that it holds it."""
        if self.appended:
            number, _, last = self.appended[-1]
            self.rows.write(self.appended, seal(self.key, number, last), self.parts)


class EventLog:
    """The events of a ledger in a store, under a key, before a witness.

    What has been read and checked is kept as a value; each transaction reads only what is new, and finds out whether
    the store still holds the event that it ended with. Why no store can make it say two things is proved in
    proofs/theory/ledger.md; the order of steps in `write` is that proof's.
    """

    __slots__ = ("_digests", "_seen", "key", "store", "witness")

    def __init__(self, store: Store, key: Key, witness: Witness | None) -> None:
        self.store, self.key, self.witness = store, key, witness
        self._seen, self._digests = State(0, START), KnownDigests()

    def read(self, work: Callable[[Transaction], T], *, unsettled_too: bool = False) -> T:
        """Look something up in one transaction.

        Args:
            unsettled_too: Whether somebody will be told what is looked up: then the witness must hold it as settled
                first, also where the process that wrote it died before it could answer.

        Raises:
            Quarantined: for something that would be said, from another history than that of the witness.
        """

        def reading(rows: Rows) -> tuple[Transaction, list[StoredRow], T]:
            transaction = self.transaction(rows)
            answer = work(transaction)
            return transaction, self._unsettled(transaction) if unsettled_too and answer is not None else [], answer

        # Settled after the transaction and before the answer leaves: what the store does not hold for sure is not said.
        transaction, unsettled, answer = self.store.transact(reading, write=False)
        if self.witness is not None and unsettled:
            self.witness.settle(unsettled)
        self._seen = transaction.state
        return answer

    def write(self, work: Callable[[Transaction], T], *, quarantined: bool = False, over: bool = False) -> T:
        """Do the work in one transaction: all of it durable and settled when this returns.

        The work draws; the witness holds what was drawn; the store is given it, read back, and commits; the witness
        settles it; it is returned. What was cut off before is carried out first.

        Args:
            quarantined: Whether the work may be done in a quarantine.
            over: Whether the witness starts over with the history as it is now.

        Raises:
            Quarantined: for events that the work appends while there is one.
        """
        drawn: tuple[StoredRow, T] | None = None

        def writing(rows: Rows) -> tuple[State, list[StoredRow], T]:
            nonlocal drawn
            transaction = self.transaction(rows)
            settled, apart = self._carried_out(transaction)
            # The store collided and calls again: where the commit went through unheard, the draw is there, and there is
            # no other.
            if drawn is not None and rows.mac(drawn[0][0]) == drawn[0][2]:
                return transaction.state, settled, drawn[1]
            # Drawn in here, with the lock held: the levels that the noise is drawn from cannot grow meanwhile.
            before = transaction.state
            answer = work(transaction)
            if transaction.appended and transaction.reason is not None and not quarantined:
                raise self._quarantined(transaction.reason)
            if transaction.appended and self.witness is not None:
                if over and apart:
                    self.witness.start_over(rows.events(), transaction.appended, transaction.parts)
                    apart = False
                elif not apart:
                    # The witness first: a store that is put back after this has been seen to hold it, and it counts as
                    # spent.
                    self.witness.intend((before.number, before.mac), transaction.appended, transaction.parts)
                if not apart:
                    # From here on a repetition carries out this draw; a second draw would be a second answer.
                    drawn = transaction.appended[-1], answer
            transaction.write_down()
            return transaction.state, [] if apart else settled + transaction.appended, answer

        try:
            state, settled, answer = self.store.transact(writing, write=True)
            if self.witness is not None and settled:
                self.witness.settle(settled)
        except LedgerUnavailable as error:
            raise kept(error) if drawn is not None or self._has_pending() else error from None
        self._seen = state
        return answer

    def answer(self, work: Callable[[Transaction, bool], T | None], *, look: bool) -> T:
        """The answer that is stored, or a new one, in as few transactions as there can be.

        Args:
            work: Answer in a transaction, and whether it may be drawn there; None where it may not and is not stored.
            look: Whether it may be stored, as far as has been read: then it is looked up without a lock first. Under
                the lock it is looked up in any case, since somebody else may have answered meanwhile.

        Raises:
            Quarantined: for a new answer, before it is drawn, and for a stored one that the witness does not have.
        """
        answer = self.read(lambda transaction: work(transaction, False), unsettled_too=True) if look else None
        if answer is not None:
            return answer

        def writing(transaction: Transaction) -> T:
            found = work(transaction, transaction.reason is None)
            if found is None:
                raise self._quarantined(str(transaction.reason))
            if not transaction.appended:
                self._unsettled(transaction)
            return found

        return self.write(writing)

    @property
    def seen(self) -> State:
        """The state as it was read last, in whatever transaction; others may have written since."""
        return self._seen

    def transaction(self, rows: Rows) -> Transaction:
        """A transaction that somebody has begun."""
        return Transaction(self.key, rows, self._now(rows), self._digests)

    def check_writable(self, transaction: Transaction) -> None:
        """Check that there is no quarantine, before anything is drawn.

        Raises:
            Quarantined: where there is one.
        """
        if transaction.reason is not None:
            raise self._quarantined(transaction.reason)

    def check_witness(self) -> None:
        """Check that what the witness holds was written under this key.

        Raises:
            LedgerDamaged: where it was not.
        """
        if self.witness is not None:
            state_of(self.key, self.witness.rows())

    def quarantine(self) -> str | None:
        """The reason why nothing new may be answered; None where it may.

        A reader's snapshot may be older than the witness; among the writers the witness is never ahead by more than is
        pending. So an alarm is looked at again as a writer.
        """
        return self.read(self._why) and self.write(lambda transaction: transaction.reason, quarantined=True)

    def loss(self, transaction: Transaction) -> RollbackLoss | None:
        """The loss that the witness can see and the ledger cannot; None where there is no witness."""
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
            raise KeyRefused("a witness must be of this ledger", came="another ledger's", where=str(self.witness.path))
        return rollback_loss(state_of(self.key, seen[:common]), state_of(self.key, seen), transaction.state)

    def _now(self, rows: Rows) -> State:
        """The state that the store holds, as far as it has not been read already."""
        seen = self._seen
        if seen.number and rows.mac(seen.number) != seen.mac:
            raise Quarantined(
                "the ledger must hold what it held when it was opened",
                came="an earlier or another state",
                where=self.store.place,
                remedy="Open it again; its witness says what was lost.",
            )
        # Only what is new is read and checked; what was checked before is held by its mac.
        new = rows.events(seen.number)
        # The chain ends where the head says: events that were cut off at the end would leave a chain that is sound.
        last = check_chain(self.key, seen.number, seen.mac, new)
        check_seal(self.key, rows.head(), seen.number + len(new), last)
        if not new:
            return seen
        return folded(seen, [(read_event(number, body), mac) for number, body, mac in new])

    def _why(self, transaction: Transaction) -> str | None:
        """The reason why nothing new may be answered; None where it may."""
        if transaction.state.quarantine is not None or self.witness is None:
            return transaction.state.quarantine
        return self._apart(transaction, self.witness.record())

    @staticmethod
    def _apart(transaction: Transaction, record: WitnessRecord) -> str | None:
        """The difference between a ledger and its witness, in words; None where their history is one.

        Another event in the place of a pending one: it was drawn, and somebody has written without this witness.
        """
        last = record.last
        if last is None:
            return None if transaction.state.number == 1 else "its witness is missing"
        number, seen = last
        # Fewer than the witness has settled, and settled means that somebody may have been told.
        if transaction.state.number < number:
            return f"its witness has seen {number} events, and it holds {transaction.state.number}"
        pending = (row for row in record.pending if row[0] <= transaction.state.number)
        if transaction.rows.mac(number) == seen and all(transaction.rows.mac(row[0]) == row[2] for row in pending):
            return None
        return "its witness has seen another history"

    def _unsettled(self, transaction: Transaction) -> list[StoredRow]:
        """The events that the witness must settle before any response of the transaction is repeated.

        A ledger whose witness is gone, or that differs from it, repeats what both have.

        Raises:
            Quarantined: for a response that the witness does not have.
        """
        record = WitnessRecord(None, ()) if self.witness is None else self.witness.record()
        last = record.last
        if self.witness is None or last is None:
            return []
        if self._apart(transaction, record) is None:
            return transaction.rows.events(last[0] - 1) if transaction.state.number > last[0] else []
        if any(self.witness.mac(number) != transaction.rows.mac(number) for number in transaction.repeated):
            raise self._quarantined("its witness has seen another history")
        return []

    def _carried_out(self, transaction: Transaction) -> tuple[list[StoredRow], bool]:
        """Carry out what was pending, where the store goes on from what the witness has settled.

        Returns:
            The events that the witness must settle after the commit; and whether the two have parted.
        """
        transaction.reason = transaction.state.quarantine
        if self.witness is None:
            return [], False
        record = self.witness.record()
        apart = self._apart(transaction, record)
        if apart is not None:
            transaction.reason = transaction.reason or apart
            return [], True
        if record.last is None or record.last[0] < transaction.state.number:
            self.witness.settle(transaction.rows.events(0 if record.last is None else record.last[0] - 1))
            record = self.witness.record()
        pending = list(record.pending)
        if pending:
            # The witness is no more trusted than the store: what it holds must follow under the key.
            check_chain(self.key, transaction.state.number, transaction.state.mac, pending)
            parts = self.witness.parts(pending[0][0])
            transaction.rows.write(pending, seal(self.key, pending[-1][0], pending[-1][2]), parts)
            transaction.state = folded(
                transaction.state, [(read_event(number, body), mac) for number, body, mac in pending]
            )
        return pending, False

    def _has_pending(self) -> bool:
        """Whether the witness, as far as it can be read, holds something that was drawn and said to nobody."""
        try:
            return self.witness is not None and bool(self.witness.record().pending)
        except LedgerError:
            return False

    def _quarantined(self, reason: str) -> Quarantined:
        return Quarantined("the ledger must not be in quarantine", came=reason, where=self.store.place, remedy=_MEND)


def open_log(
    store: Store,
    key: Callable[[bool], Key],
    witness: Callable[[State], Witness | None],
    opening: Mapping[str, Any] | None,
) -> EventLog:
    """The log in a store; a new one where the store is empty.

    Args:
        key: the key, by whether the ledger is about to be made.
        witness: the witness of a ledger, by what its first event says.
        opening: the facts of a ledger that is made now; None where one must be there.

    Raises:
        LedgerUnavailable: where there is none.
        KeyRefused: for another ledger's key.
        Unsupported: for a ledger of another version.
    """
    # The key is looked for before anything is made: a wrong one leaves the store as it was.
    version = store.transact(lambda rows: rows.version(), write=False)
    check_version(version)
    if version == 0 and opening is None:
        absent = LedgerUnavailable("there must be a ledger", came="none", where=store.place, remedy=_REMEDY_OPEN)
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
    if rows and log.witness is not None and log.witness.last() is None:
        log.witness.settle(rows)
    return log


def _begin(rows: Rows, log: EventLog, opening: Mapping[str, Any]) -> None:
    """Begin a new ledger, unless another process has done so in the meantime."""
    if rows.version() == 0:
        rows.create()
        transaction = Transaction(log.key, rows, State(0, START), KnownDigests())
        transaction.append("opened", opening)
        transaction.write_down()


def _check_key(rows: Rows, key: Key) -> None:
    """A wrong key is distinguished from a damaged ledger by the fingerprint in the first event."""
    first = rows.body(1)
    if first is None:
        raise LedgerDamaged("a ledger must have a first event", where="event 1")
    stored = read_event(1, first).facts.get("key")
    if stored != key.fingerprint:
        raise KeyRefused("the key must be this ledger's", came="another key", where="key")
