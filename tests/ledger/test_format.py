"""A ledger of another format is refused, and no unknown fact is ignored."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

import utmost as ut
from utmost import Unit
from utmost.errors import LedgerDamaged, Unsupported
from utmost.ledger import Event, Ledger

# No ledger writes an event that is damaged, and to put one into a store needs the chain to be made again.
from utmost.publish.ledger.events import START, event_bytes, read_event
from utmost.publish.ledger.sqlite_store import transaction
from utmost.publish.ledger.state import State, folded
from utmost.publish.ledger.store import STORE_VERSION

KEY = bytes(range(32))
UNTIL = ut.Promise("n", public="department", unit=Unit(1, 1), until=ut.within("10 %", steps=5))
OF_TABLE = "dataset rows promise commitment question kind values items labels"
PUBLISHED = f"{OF_TABLE} name version level how parts root label_key"


def body(**changes):
    facts = {"dataset": "d", "limit": "1"}
    return json.dumps({"format": 1, "kind": "budgeted", "time": "t", "facts": facts} | changes).encode()


def test_an_event_is_read_as_it_was_written():
    event = Event(3, "2026-01-01T00:00:00Z", "budgeted", {"dataset": "\ud800 é", "limit": "1/2"})
    assert read_event(3, event_bytes(event)) == event
    body = b'{"facts":{"dataset":"d","limit":"1"},"format":1,"kind":"budgeted","time":"2026-01-01T00:00:00Z"}'
    assert event_bytes(Event(1, "2026-01-01T00:00:00Z", "budgeted", {"limit": "1", "dataset": "d"})) == body


@pytest.mark.parametrize("changes", [{"format": 2}, {"format": 0}, {"format": True}, {"format": "1"}, {"kind": "sold"}])
def test_an_event_of_another_kind_or_format_is_refused(changes):
    with pytest.raises(Unsupported, match="another version"):
        read_event(1, body(**changes))


CRAFTED = [
    b"",
    b"7",
    b"{}",
    b"\xff",
    b'{"format":1}',
    b"[1,2]",
    b"[" * 100_000,
    b'{"format": 1, "kind": [], "time": "", "facts": {}}',
    b'{"format": 1, "kind": "opened", "time": 5, "facts": {}}',
    b'{"format": 1, "kind": "opened", "time": "", "facts": []}',
    b'{"format": ' + b"9" * 5000 + b', "kind": "opened", "time": "", "facts": {}}',
]


@pytest.mark.parametrize("text", CRAFTED, ids=[str(k) for k in range(len(CRAFTED))])
def test_what_is_no_event_is_damage(text):
    with pytest.raises(LedgerDamaged):
        read_event(1, text)


@pytest.mark.parametrize(
    ("number", "kind", "facts"),
    [
        (2, "opened", {}),
        (1, "budgeted", {"dataset": "d", "limit": "1"}),
        (2, "published", {"name": "r"}),
        (2, "answered", {"name": "r", "version": 1}),
        (2, "budgeted", {"dataset": "d", "limit": "none"}),
        (2, "resumed", {"missing": {}, "closed": [["r", 1]]}),
    ],
)
def test_facts_that_make_no_state_are_damage(number, kind, facts):
    with pytest.raises(LedgerDamaged):
        folded(State(number - 1, bytes(32)), [(Event(number, "t", kind, facts), bytes(32))])


@pytest.mark.parametrize(
    "changed", [{"met": False}, {"level": "1/2"}, {"level": "4"}, {"promised": "2"}, {"promised": "1/64"}]
)
def test_an_event_that_cannot_have_been_written_is_damage(tmp_path, changed):
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        ledger.publish("a", {"department": ["A", "B"], "n": [9000, 9000]}, UNTIL, epsilon=4)
        events = [(event, b"") for event in ledger.history()]
        assert events[-1][0].kind == "stopped"
        assert events[-1][0].facts["level"] == "1/4"
        assert folded(State(0, START), events).releases["a", 1].stopped.level == ut.level("1/4")
        wrong = replace(events[-1][0], facts={**events[-1][0].facts, **changed})
        with pytest.raises(LedgerDamaged):
            folded(State(0, START), [*events[:-1], (wrong, b"")])
        twice = replace(events[-1][0], number=events[-1][0].number + 1)
        with pytest.raises(LedgerDamaged):
            folded(State(0, START), [*events, (twice, b"")])


def test_a_ledger_of_another_version_is_refused(tmp_path):
    """It is refused before anything is read or written."""
    Ledger.open(tmp_path / "l.db", create=True, key=KEY).close()
    with closing(sqlite3.connect(tmp_path / "l.db")) as connection, connection:
        connection.execute(f"UPDATE utmost_schema SET version = {STORE_VERSION + 1}")
    connection.close()
    with pytest.raises(Unsupported, match="version 1; got 2"):
        Ledger.open(tmp_path / "l.db", key=KEY)


def test_the_file_is_kept_as_it_must_be(tmp_path):
    """The file has a rollback journal, no write-ahead log, and every commit is synced with its directory."""
    Ledger.open(tmp_path / "l.db", create=True, key=KEY).close()
    with transaction(tmp_path / "l.db", 1, write=True) as connection:
        names = "journal_mode", "synchronous"
        assert [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names] == ["delete", 3]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["l.db", "l.db.witness"]


def test_every_fact_is_there(tmp_path):
    """Events have exactly the facts that this version writes."""
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        ledger.budget("d", limit=3)
        ledger.publish("r", {"n": [1]}, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon=1, dataset="d")
        ledger.relax("r", {"n": [1]}, epsilon=2)
        ledger.charge("d", epsilon=1, what="a mean")
        kinds = {event.kind: sorted(event.facts) for event in ledger.history()}
    assert kinds == {
        "opened": ["derived", "identity", "key", "sealed", "witness"],
        "budgeted": ["dataset", "limit"],
        "charged": ["dataset", "level", "what"],
        "published": sorted(PUBLISHED.split()),
        "answered": ["how", "label_key", "level", "name", "parts", "root", "version"],
    }
