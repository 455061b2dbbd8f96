"""A ledger, its witness, its store, its clients and its service in one process, under one coin.

A history is a few lives. In each of them processes run at once and are sent calls, twice or late or in another order,
until they end, are killed in the middle of something, or lose their power; the disk may fail, or lie about what it has
synced; clocks jump. Between two lives somebody may put an older store back, or cut its end off, or a process forks. The
code is the library's as it ships: what is simulated is the disk below SQLite, or the files above it (`places`), the
clock, the operating system's randomness, the network, and whose turn it is. Everything follows from one number, so
whatever is found is found again.

The log and the random bits are watched where they stand.
"""

import os
import pickle
import random
import sqlite3
from collections import Counter
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from simulation import raw
from simulation.calls import DATASET, WIDE, Call, calls, noise
from simulation.places import OnDisk, in_memory
from simulation.processes import Processes
from utmost.core.sampling import random_bits
from utmost.errors import (
    BudgetExceeded,
    LedgerError,
    LedgerUnavailable,
    NeedsTable,
    NotAllowed,
    NotPublished,
    Quarantined,
    Unsupported,
    UtmostError,
)
from utmost.ledger import Ledger
from utmost.publish.ledger import event_log
from utmost.service import Grant, Service

KEY = bytes(range(32))
STORE = "store/l.db"
LIMITS = (None, None, 1, "3/2")
PEOPLE = (("Ada", "curator"), ("Ada", "approver"), ("Grace", "approver"))
FATES = ("quiet", "kills", "cut", "failing", "broken", "lying")
CUTS = (
    "DELETE FROM utmost_events WHERE number = (SELECT max(number) FROM utmost_events)",
    "DELETE FROM utmost_parts WHERE event = (SELECT max(number) FROM utmost_events);"
    "DELETE FROM utmost_events WHERE number = (SELECT max(number) FROM utmost_events);"
    "UPDATE utmost_head SET number = number - 1",
    "DELETE FROM utmost_parts WHERE event = (SELECT max(event) FROM utmost_parts)",
    "UPDATE utmost_parts SET content = x'00' WHERE event = (SELECT max(event) FROM utmost_parts)",
    None,
)
begun = {}
"""Ledgers that are there when a history begins, by what they have."""


class Violation(AssertionError):
    """The protocol broke its word."""


def must(holds, *words):
    """Raise a violation where something does not hold."""
    if not holds:
        raise Violation(" ".join(map(str, words)))


class Clock:
    """The time, also in the place of a module's `datetime`; it may jump.

    Attributes:
        seconds: since 1970.
    """

    def __init__(self):
        self.seconds = 1_800_000_000.0

    def __call__(self):
        return self.seconds

    def now(self, zone=UTC):
        """The time as the library asks for it."""
        return datetime(1970, 1, 1, tzinfo=zone) + timedelta(seconds=self.seconds)


class History:
    """One history, and what must hold of it.

    Args:
        folder: where its files are; whatever is there is taken away.
        seed: from which all of it follows.
        where: the kind of place that keeps its files.

    Attributes:
        answers: item to answer, of all that was answered and that no rollback has lost.
        happened: how often each kind of thing happened.
    """

    def __init__(self, folder, seed, where=OnDisk):
        self.coin, self._entropy = random.Random(f"{seed} turns"), random.Random(f"{seed} bits")
        self.folder, self.clock, self.processes = Path(folder), Clock(), Processes(self.coin)
        self.place = where(self.folder, self._before, self._sleep)
        self.store, self.witness = self.folder / STORE, self.folder / "witness" / "w"
        self.with_service, self.limit = self.coin.random() < 0.12, self.coin.choice(LIMITS)
        self.calls, self.tokens = calls(self.coin, self.with_service), {}
        self.answers, self.happened, self._tried, self._approved = {}, Counter(), set(), set()
        self._snapshots, self._is_rolled_back, self._fate, self._is_off = [], False, "quiet", False
        self._operations, self._ends, self._left, self._waiting, self._is_child = 0, [], 0, [], False

    def run(self):
        """Live it; raise `Violation` where something breaks."""
        with self._in_place(), self.place.simulated():
            self._begin()
            for _ in range(self.coin.randrange(1, 4)):
                self._life()
                self._between()
            self._end()
        return self

    @contextmanager
    def _in_place(self):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(random_bits, "_block", self._bits)
            patched.setattr(random_bits, "_seen", ())
            patched.setattr(random_bits.SYSTEM, "_thread", random_bits._ThreadState())
            patched.setattr(event_log, "datetime", self.clock)
            yield

    def _bits(self, count):
        return self._entropy.randbytes(count)

    def _before(self, operation):
        """What becomes of an operation of the disk."""
        process = self.processes.current
        if process is not None:
            self._operations += 1
            is_broken = self._fate == "broken" and self._operations >= self._ends[0]
            if is_broken or (self._fate == "failing" and self.coin.random() < 0.01):
                self.happened[f"{self._fate} disk"] += 1
                return self.place.CODES[operation.kind]
            if self._operations in self._ends:
                self._is_off, process.is_alive = self._fate in ("cut", "lying"), False
                self.happened["power cut" if self._is_off else "kill"] += 1
            elif self.coin.random() < 0.1:
                self.processes.pause()
            if self._is_off or not process.is_alive:
                return self.place.CODES[operation.kind]
            if (
                self._fate == "lying"
                and operation.kind == self.place.LIES
                and operation.path in (str(self.store), f"{self.store}-journal")
            ):
                self.happened["sync that was none"] += 1
                self.place.lie(operation)
                return 0
        self.place.note(operation)
        return 0

    def _sleep(self, microseconds):
        self.clock.seconds += microseconds / 1e6
        if not self._is_child:
            self.processes.pause()

    def _opened(self, *, create=True):
        return Ledger.open(self.store, create=create, key=KEY, witness=self.witness)

    def _begin(self):
        """An empty folder, or a ledger that is there, with its limit and the tokens of its service."""
        self._become({})
        if self.coin.random() < 0.1 and not self.with_service and self.limit is None:
            return
        shape = self.with_service, self.limit
        if shape not in begun:
            own, self._entropy = self._entropy, random.Random(f"{shape} bits")  # the same, whoever comes first
            with self._opened() as ledger:
                if self.limit is not None:
                    ledger.budget(DATASET, self.limit)
                make = Service(ledger, clock=self.clock).bearers.make if self.with_service else None
                for owner, role in PEOPLE if make else ():
                    self.tokens[owner, role] = make(None, f"{owner} {role}", owner, role, (Grant("*"),))[0]
            begun[shape], self._entropy = (self.place.files(), self.tokens), own
            random_bits._seen, random_bits.SYSTEM._thread = (
                (),
                random_bits._ThreadState(),
            )  # as where it was begun before
        files, self.tokens = begun[shape]
        self._become(files)

    def _life(self):
        """Processes at once, until each has ended, whichever way."""
        self._fate, now = self.coin.choice(FATES), self._operations
        ends = sorted(now + self.coin.randrange(1, self.place.LONG) for _ in range(2))
        self._ends = {"kills": ends, "cut": ends[:1], "broken": ends[:1], "lying": ends[1:]}.get(self._fate, [])
        self._left, self._waiting = self.coin.randrange(3, 9), list(self.calls)
        self.processes.run([self._live] * self.coin.randrange(1, 4))
        fate, is_off, self._fate, self._is_off, self._ends = self._fate, self._is_off, "quiet", False, []
        if is_off or fate == "lying":  # in the end a disk that lied has written everything, unless its power was cut
            self._become(self.place.after_power_cut(self.coin) if is_off else self.place.files())
        if fate == "lying":
            self._replace_what_is_damaged()

    def _live(self, process):
        """One process: opens the ledger, takes calls as they come in, and answers."""
        ledger = service = answer = None
        while self._left > 0 and self._waiting:
            self._left -= 1
            call = self._waiting.pop(self.coin.randrange(len(self._waiting)))
            if self.coin.random() < 0.05:
                self.clock.seconds += self.coin.choice((-1, 1)) * self.coin.choice((3600, 86_400))
                self.happened["clock jump"] += 1
            try:
                if ledger is None:
                    ledger = self._opened()
                if service is None and self.with_service:
                    service = Service(ledger, clock=self.clock)
                answer = self._asked(call, ledger, service)
            except UtmostError as error:
                if process.is_alive and not self._is_off:
                    with suppress(sqlite3.OperationalError):  # who looks may die, too
                        self._check_refusal(call, error)
                answer = None
            if self._is_off or not process.is_alive:
                return
            if answer is not None:
                self._take(call, answer)
            if answer is None or self.coin.random() < 0.3:
                self._waiting.append(call)  # its answer got lost on the way, or it is sent twice
            self.processes.pause()

    def _asked(self, call, ledger, service):
        self._tried.add(call.item)
        if call.verb == "approve" and call.by == "Grace":
            self._approved.add((call.of, *call.item))
        return call.asked(ledger) if service is None else call.asked_of_service(service, self.tokens)

    def _between(self):
        """What happens while nobody lives."""
        self._check_accounts()
        has_store = bool(self._rows(self.store, raw.STORE)) and self.place.is_whole(self.store)
        if self._is_rolled_back:
            self._resume()
        elif self._snapshots and self.coin.random() < 0.3:
            self.happened["store put back"] += 1
            self._store_becomes(self.coin.choice(self._snapshots))
            self._notice_rollback()
        elif has_store and self.coin.random() < 0.15:
            self._cut_the_end_off()
        elif not self.with_service and self.coin.random() < self.place.FORKS:
            self._fork()
        elif has_store:
            self._snapshots.append(self.place.files()[STORE])

    def _end(self):
        """Once nothing happens any more, calls have their answers, and all that was answered is answered again."""
        if self._is_rolled_back:
            self._resume()
        with self._opened() as ledger:
            service = Service(ledger, clock=self.clock) if self.with_service else None
            last = [call for call in self.calls if self.coin.random() < self._share_asked_in_the_end(call)]
            for call in last:
                self._answered(call, ledger, service)
            again = {call.item for call in last}
            for item in sorted(self.answers.keys() - again):
                must(Call("view", *item).asked(ledger) == self.answers[item], item, "is not answered as before")
            if self.coin.random() < 0.2:
                ledger.verify()
            must(ledger.status().quarantine is None, "an alarm for nothing")
            self._check_accounts(ledger)
        used = raw.nonces(self.place, self.store)
        must(len(set(used)) == len(used), "a nonce was used twice")
        wide = [tuple(noise(*one)) for one in self.answers.items() if one[0][2] == WIDE]
        must(len(set(wide)) == len(wide), "two releases have one noise")

    def _share_asked_in_the_end(self, call):
        """How often a call is made again; what a person answered can be looked up in no other way."""
        if call.item not in self.answers:
            return self.place.MORE
        return 1 if call.verb == "respond" else self.place.AGAIN

    def _answered(self, call, ledger, service=None):
        """What is answered now, when nothing is in the way; None where it is rightly refused."""
        try:
            answer = self._asked(call, ledger, service)
        except UtmostError as error:
            self._check_refusal(call, error, is_last=True)
            return None
        self._take(call, answer)
        return answer

    def _rows(self, path, *tables):
        return raw.rows(self.place, path, *tables)

    def _become(self, files):
        """Let the folder hold these files, by their paths, and nothing else; all of it for good."""
        for path in (self.store, self.witness):
            path.parent.mkdir(exist_ok=True)
        self.place.become(files)

    def _store_becomes(self, content):
        files = self.place.files()
        files.pop(f"{STORE}-journal", None)
        self._become(files | {STORE: content})

    def _replace_what_is_damaged(self):
        """A disk that lied may have left anything: where that is no ledger, the newest copy is put back."""
        try:
            with self._opened(create=False) as ledger:
                ledger.verify()
        except (LedgerError, Unsupported):
            self.happened["damaged by a disk that lied"] += 1
            self._answers_are_lost_with_the_ledger() if not self._snapshots else self._store_becomes(
                self._snapshots[-1]
            )
        self._notice_rollback()

    def _answers_are_lost_with_the_ledger(self):
        """There is no copy: another ledger is begun."""
        self._begin()
        for known in (self.answers, self._tried, self._approved):
            known.clear()

    def _notice_rollback(self):
        """The ledger must find out whether it lacks something that its witness has settled."""
        if not (self.store.exists() and self.witness.exists()):
            return
        there = set(self._rows(self.store, raw.STORE))
        self._is_rolled_back = not there.issuperset(self._rows(self.witness, raw.SETTLED))
        with self._opened() as ledger:
            reason = ledger.status().quarantine
        must((reason is not None) == self._is_rolled_back, "rolled back:", self._is_rolled_back, "and says:", reason)

    def _resume(self):
        """The curator ends the quarantine: whatever was ever drawn counts, exactly."""
        spent = raw.Account(self._rows(self.witness, raw.SETTLED, raw.PENDING)).spent
        with self._opened() as ledger:
            ledger.resume("put back")
            account = raw.Account(self._rows(self.store, raw.STORE))
            must(account.spent == spent, "resumed at", account.spent, "where", spent, "was said")
            self.answers = {item: answer for item, answer in self.answers.items() if item in account.items}
            self._is_rolled_back = False
            self.happened["resumed"] += 1
            self._check_accounts(ledger)
        self._snapshots.clear()

    def _cut_the_end_off(self):
        """Whoever can write the store takes something from its end: it is found out, or nothing has changed."""
        content, before, cut = self.place.files()[STORE], raw.everything(self.place, self.store), self.coin.choice(CUTS)
        if cut is None:
            self._store_becomes(content[: -self.coin.choice((512, 4096, 5000))])
        else:
            with closing(in_memory(content)) as connection:
                connection.executescript(cut)
                self._store_becomes(connection.serialize())
        try:
            with self._opened() as ledger:
                ledger.verify()
            must(raw.everything(self.place, self.store) == before, "an end that is not there was not missed:", cut)
        except (LedgerError, Unsupported):
            self.happened["end cut off"] += 1
        self._store_becomes(content)

    def _fork(self):
        """A process forks with its ledger open: parent and child go on, each with bits of its own."""
        first, parent, child = (Call("publish", f"forked {number}", 1, WIDE) for number in range(3))
        with self._opened() as ledger:
            if self._answered(first, ledger) is None:
                return
            receive, send = os.pipe()
            number = os.fork()
            if not number:
                self._report(child, ledger, send)
            os.close(send)
            with open(receive, "rb") as pipe:
                answer, done = pickle.load(pipe)
            os.waitpid(number, 0)
            self.place.heard(done)
            self._tried.add(child.item)
            if not isinstance(answer, BudgetExceeded):
                must(isinstance(answer, list), "in a forked child:", repr(answer))
                self._take(child, answer)
            self._answered(parent, ledger)
        self.happened["fork"] += 1

    def _report(self, call, ledger, send):
        """In the child: what was answered, and what the disk was asked for."""
        self._is_child, self._entropy = True, random.Random(f"{self._entropy.random()} child")
        self.place.forked()
        try:
            answer = call.asked(ledger)
        except BaseException as error:
            answer = error if isinstance(error, BudgetExceeded) else repr(error)
        with open(send, "wb") as pipe:
            pickle.dump((answer, self.place.sent()), pipe)
        os._exit(0)

    def _take(self, call, answer):
        """An answer is out: it is the only one, it is witnessed, and nothing takes it back."""
        if call.verb == "approve":
            must(call.by != "Ada", "somebody approved a proposal of her own")
        if call.verb in ("propose", "approve"):
            return
        before = self.answers.setdefault(call.item, answer)
        must(before == answer, "two answers for", call.item)
        try:
            account = raw.Account(self._rows(self.witness, raw.SETTLED))
        except sqlite3.OperationalError:  # who looks may die, too
            return
        is_witnessed = account.persons if call.verb == "respond" else call.item in account.items
        must(is_witnessed, "the witness is behind at", call.item)

    def _check_refusal(self, call, error, *, is_last=False):
        """Whether a call is refused for a reason: what cannot be yet, or must not be."""
        if isinstance(error, LedgerUnavailable):
            must(self._fate in ("failing", "broken") and not is_last, "out of reach on a sound disk:", repr(error))
        elif isinstance(error, NotAllowed):
            must(call.by == "Ada", "refused:", repr(error))
        elif isinstance(error, Quarantined):
            is_closed = self.happened["resumed"] and not self._is_open(call)
            must(self._is_rolled_back or is_closed, "an alarm for nothing:", repr(error))
        elif isinstance(error, BudgetExceeded):
            drawn = {
                *self._rows(self.store, raw.STORE),
                *self._rows(self.witness, raw.PENDING),
            }  # what is pending counts
            account = raw.Account(sorted(drawn))
            more = max(Fraction(0), Fraction(call.epsilon) - account.largest(call.item[:2]))
            is_beyond = self.limit is not None and account.spent + more > Fraction(self.limit)
            must(is_beyond, "refused within the limit:", call)
        else:
            must(call.is_before_its_time(error), call, "failed:", repr(error))
            account = raw.Account(self._rows(self.store, raw.STORE)) if is_last else None
            if isinstance(error, NeedsTable) and is_last:
                must(Fraction(call.epsilon) > account.largest(call.item[:2]), "has it already:", repr(error))
            elif isinstance(error, (NotPublished, Unsupported)) and is_last:
                must(call.item[:2] not in account.levels, "is there:", repr(error))

    def _is_open(self, call):
        account = raw.Account(self._rows(self.store, raw.STORE))
        if call.verb == "respond":
            return ("poll", 1) not in account.closed
        return call.item[:2] not in account.closed or Fraction(call.epsilon) <= account.largest(call.item[:2])

    def _check_accounts(self, ledger=None):
        """The events say nothing that nobody asked for, and what was answered; the ledger's sum is theirs."""
        if not self.store.exists():
            must(not self.answers, "the ledger is gone")
            return
        account = raw.Account(self._rows(self.store, raw.STORE))
        if ledger is not None:
            there = {budget.dataset: budget.spent for budget in ledger.status().datasets}
            spent = there.get(DATASET, 0)  # an empty ledger has no dataset
            must(spent == account.spent, "spent:", spent, "and by its events:", account.spent)
        is_within = self.limit is None or self.happened["resumed"] or account.spent <= Fraction(self.limit)
        must(is_within, "spent:", account.spent, "of", self.limit)
        must(account.items <= self._tried, "nobody asked for", account.items - self._tried)
        answered = {item for item in self.answers if item[2] != "answer"}
        must(self._is_rolled_back or answered <= account.items, "lost:", answered - account.items)
        for kind, facts in account.events if self.with_service else ():
            verb = {"published": "publish", "answered": "relax"}.get(kind)
            if verb and facts["how"] in ("fresh", "relax"):
                wanted = (verb, facts["name"], facts["version"], facts["level"])
                must(wanted in self._approved, "nobody approved", wanted)
