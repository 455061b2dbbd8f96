"""R16: the store is the adversary. It drops, repeats, delays, rolls back, shows old rows and lies about commits.

It has all that was ever given to it, and neither key nor data. What must hold: no item has two answers at one level,
whatever the store does; and a ledger before an honest store goes on as if nothing had been.
"""

import random
import sqlite3
from collections import deque
from contextlib import closing

import pytest

from reliability.clients import NEEDED, ask, random_request
from utmost.errors import LedgerDamaged, LedgerUnavailable, Quarantined
from utmost.ledger import Ledger

# The store is the adversary: it stands in the place of the real one.
from utmost.publish.ledger import opening, sqlite_store
from utmost.publish.ledger.store import Rows

TRICKS = (
    "old state", "drop at commit", "commit and fail", "fail", "twice", "swallow", "swallow all", "old rows", "delay",
)  # fmt: skip


class HostileStore:
    """A store that does what a coin says; between two of its tricks it is honest.

    Args:
        store: where it keeps what it was given.
        rng: the coin.
        seen: every state that it ever had.
        put_off: commits to be shown later.
        played: the tricks that it did.
    """

    def __init__(self, store, rng, seen, put_off, played):
        self._store, self._rng, self._seen, self._put_off, self._played = store, rng, seen, put_off, played
        self.path, self.place = store.path, store.place

    def close(self):
        pass

    def problems(self):
        return []

    def transact(self, work, *, write):
        trick = self._rng.choice(TRICKS) if self._rng.random() < 0.5 else "honest"
        if self._put_off and self._rng.random() < 0.5:
            self._become(self._put_off.popleft())
            self._played.add("shown late")
        if trick == "old state" and self._seen:
            self._become(self._rng.choice(self._seen[-6:]))
        if write or trick in ("old state", "fail", "old rows"):
            self._played.add(trick)
        if trick == "fail":
            raise LedgerUnavailable("the store must be there")
        if trick == "twice" and write:
            self._lost(work)
        if trick == "drop at commit" and write:
            return self._lost(work)
        if trick in ("swallow", "swallow all", "old rows"):
            return self._store.transact(lambda rows: work(self._bent(rows, trick)), write=write)
        if trick == "delay" and write:
            before = self._state()
            made = self._store.transact(work, write=True)
            self._put_off.append(self._state())
            self._become(before)
            return made
        made = self._store.transact(work, write=write)
        if write:
            self._seen.append(self._state())
            if trick == "commit and fail":
                raise LedgerUnavailable("the store must be there")
        return made

    def _state(self):
        return self.path.read_bytes() if self.path.exists() else b""

    def _become(self, state):
        if state:
            self.path.write_bytes(state)

    def _lost(self, work):
        """Do the work, keep what was seen of it, roll it back, and say that it is done."""
        before = self._state()
        made = self._store.transact(work, write=True)
        self._seen.append(self._state())
        self._become(before)
        return made

    def _bent(self, rows, trick):
        """Rows that swallow some statements, or answer some questions from an older state."""
        old = self._rng.choice(self._seen) if self._seen and trick == "old rows" else None

        def run(statement, values):
            chance = self._rng.random() < 0.3
            swallowed = trick == "swallow all" or (trick == "swallow" and chance)
            if swallowed and not statement.startswith("SELECT"):
                return rows._run("SELECT 1", ())
            if old is not None and chance and statement.startswith("SELECT"):
                connection = sqlite3.connect(":memory:")
                connection.deserialize(old)
                return connection.execute(statement, values)
            return rows._run(statement, values)

        return Rows(run, rows._tables, rows._bytes_type)


def survive_a_hostile_store(tmp_path, monkeypatch, steps, seed, **options):
    """So many requests, each on a newly opened ledger or an old one.

    How many questions were answered, how often, how many were refused, and the tricks that were played.
    """
    place, rng, seen, put_off, played = tmp_path / "l.db", random.Random(seed), [], deque(), set()
    real, options = opening.store_at, options | {"key": bytes(32), "witness": tmp_path / "l.db.witness"}
    Ledger.open(place, create=True, **options).close()
    truth = place.read_bytes()
    monkeypatch.setattr(opening, "store_at", lambda *where: HostileStore(real(*where), rng, seen, put_off, played))
    # Durable or not is another test's question, and costs most of the time.
    monkeypatch.setattr(sqlite_store, "_WRITER", ("journal_mode=MEMORY", "synchronous=OFF"))
    answers, count, refused, ledger = {}, 0, 0, None
    for _ in range(steps):
        try:
            if ledger is None or rng.random() < 0.4:
                ledger = Ledger.open(place, **options)
            item, level, how = random_request(rng, items=5)
            values = ask(ledger, item, level, how)
        except NEEDED:
            continue
        except (Quarantined, LedgerDamaged):
            # Caught. The longest history that the store has is put back, as a curator would who finds it.
            refused, ledger = refused + 1, None
            put_off.clear()
            place.write_bytes(longest(tmp_path, [truth, place.read_bytes(), *seen]))
            continue
        assert answers.setdefault((item, level), values) == values, f"two answers for {item} at {level}"
        count += 1
    return len(answers), count, refused, played


def longest(tmp_path, states):
    """The state with the most events that the witness has settled."""
    with closing(sqlite3.connect(tmp_path / "l.db.witness")) as witness, witness:
        known = dict(witness.execute("SELECT number, mac FROM utmost_witness").fetchall())

    def events(state):
        connection = sqlite3.connect(":memory:")
        try:
            connection.deserialize(state)
            rows = connection.execute("SELECT number, mac FROM utmost_events ORDER BY number").fetchall()
            head = connection.execute("SELECT number FROM utmost_head").fetchone()
        except sqlite3.Error:
            return -1
        finally:
            connection.close()
        sound = head is not None and head[0] == len(rows) and all(known.get(n, mac) == mac for n, mac in rows)
        return len(rows) if sound else -1

    return max(states, key=events)


@pytest.mark.parametrize("sealed", [True, False])
def test_a_hostile_store_gets_no_second_answer(tmp_path, monkeypatch, sealed):
    asked, count, refused, played = survive_a_hostile_store(tmp_path, monkeypatch, 200, seed=29, sealed=sealed)
    assert min(count, asked, refused) > 3
    assert {*TRICKS, "shown late"} <= played


@pytest.mark.slow
def test_a_hostile_store_gets_no_second_answer_in_ten_thousand_steps(tmp_path, monkeypatch):
    for seed in range(20):
        folder = tmp_path / str(seed)
        folder.mkdir()
        with monkeypatch.context() as patched:
            print(survive_a_hostile_store(folder, patched, 500, seed, sealed=bool(seed % 2)))


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("change", [lambda content: content[:-1] + b"?", lambda content: b"", None])
def test_a_part_that_is_not_held_as_it_was_given_is_found_when_it_is_read_back(streamed, change):
    """Given at once, and streamed through: nothing is said of what the store has swallowed."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    rows = sqlite_store.rows_on(connection)
    rows.create()

    def load(parts):
        for event, part, content in parts:
            held = change(content) if change and part == 1 else content
            connection.execute("INSERT INTO utmost_parts VALUES (?, ?, ?)", (event, part, held))

    rows._load = load
    given = [(1, part, b"response %d" % part) for part in range(3)]
    write = lambda: rows.write([(1, b"body", b"mac")], b"seal", iter(given) if streamed else given)  # noqa: E731
    if change is None:
        write()
        assert [rows.part(1, part) for part in range(3)] == [content for _, _, content in given]
        return
    with pytest.raises(LedgerDamaged, match="just written"):
        write()
