"""Verify finds every change that was made without the ledger, and no changed value is ever returned."""

import random
import shutil
import sqlite3
from contextlib import closing

import psycopg
import pytest

import utmost as ut
from ledger.crash_points import a_budget_is_passed_over, an_answer_claims_another_law
from utmost.errors import LedgerDamaged, LedgerError, Unsupported
from utmost.ledger import Ledger

KEY = bytes(range(32))
TABLE = {"n": list(range(100, 1100))}
PROMISE = {"columns": "n", "unit": ut.Unit(1, 1)}

CHANGES = {
    "an event's text": "UPDATE utmost_events SET body = ? WHERE number = 3",
    "an event dropped": "DELETE FROM utmost_events WHERE number = 3",
    "the last event dropped": "DELETE FROM utmost_events WHERE number = (SELECT max(number) FROM utmost_events)",
    "two events swapped": "UPDATE utmost_events SET number = -number WHERE number IN (3, 4);"
    "UPDATE utmost_events SET number = 7 + number WHERE number < 0",
    "an event's mac": "UPDATE utmost_events SET mac = ? WHERE number = 2",
    "an event repeated": "INSERT INTO utmost_events SELECT number + 4, body, mac FROM utmost_events WHERE number = 5",
    "the head's number": "UPDATE utmost_head SET number = number - 1",
    "the head's seal": "UPDATE utmost_head SET seal = ?",
    "no head": "DELETE FROM utmost_head",
    "two heads": "INSERT INTO utmost_head SELECT number, seal FROM utmost_head",
    "a response's bytes": "UPDATE utmost_parts SET content = ? WHERE event = 4",
    "a response dropped": "DELETE FROM utmost_parts WHERE event = 4",
    "a commitment changed": "UPDATE utmost_parts SET content = ? WHERE event = 3 AND part = 0",
    "responses swapped": "UPDATE utmost_parts SET event = -event WHERE event IN (4, 5);"
    "UPDATE utmost_parts SET event = 9 + event WHERE event < 0",
    "a part too many": "INSERT INTO utmost_parts VALUES (4, 7, ?)",
    "a part moved": "UPDATE utmost_parts SET part = 5 WHERE event = 4",
    "tables of no version": "DELETE FROM utmost_schema",
    "tables of no version yet": "UPDATE utmost_schema SET version = 0",
}


def changed(place, statements):
    """Run statements on the database without the ledger."""
    is_server = str(place).startswith("postgresql")
    with closing(psycopg.connect(place) if is_server else sqlite3.connect(place)) as connection, connection:
        for statement in statements.split(";"):
            values = (b"x" * 32,) * statement.count("?")
            connection.execute(statement.replace("?", "%s") if is_server else statement, values)
    connection.close()


def filled(ledger):
    """Five events: opened, budget, published, relaxed, viewed."""
    ledger.budget("r", limit=5)
    ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon="1/2")
    ledger.relax("r", TABLE, epsilon=2)
    ledger.view("r", epsilon=1)


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_in_the_database_is_found(place, reopened, change):
    """Both an open ledger and one that is opened afterwards find the change."""
    first = reopened()
    filled(first)
    assert first.verify()
    changed(place, CHANGES[change])
    with pytest.raises(LedgerError):
        first.verify()
    with pytest.raises(LedgerDamaged):
        reopened().verify()


def test_what_was_changed_is_not_given_out(place, reopened):
    """A view checks what it reads, even if nobody calls verify."""
    first = reopened(sealed=False)
    filled(first)
    changed(
        place, "UPDATE utmost_parts SET content = (SELECT content FROM utmost_parts WHERE event = 5) WHERE event = 4"
    )
    for call in (lambda: first.view("r", epsilon=2).table, lambda: first.view("r", epsilon="3/2").table):
        with pytest.raises(LedgerDamaged, match="event 4"):
            call()
    assert first.view("r", epsilon=1).table


def logical(path):
    """Everything that a ledger reads from its file."""
    connection = sqlite3.connect(path)
    try:
        return [
            connection.execute(f"SELECT * FROM utmost_{name} ORDER BY 1, 2").fetchall()
            for name in ("events", "parts", "head")
        ]
    finally:
        connection.close()


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A ledger of about sixty kilobytes."""
    path = tmp_path_factory.mktemp("damage") / "l.db"
    with Ledger.open(path, create=True, key=KEY, witness=False) as ledger:
        filled(ledger)
    return path


def damaged(original, tmp_path, content):
    """Whether verify reports a difference from what was written; only typed errors may be raised."""
    path = tmp_path / "x.db"
    shutil.copy(f"{original}", path)
    path.write_bytes(content)
    try:
        with Ledger.open(path, create=True, key=KEY, witness=False) as ledger:
            ledger.verify()
    except LedgerError:
        return True
    except Unsupported as error:
        return "version" in str(error)
    return False


def test_every_flipped_bit_is_found_or_lies_where_nothing_is_read(original, tmp_path):
    """A flipped bit that verify does not find lies in bytes that SQLite does not use: everything that is read is
    unchanged."""
    raw, before, source = original.read_bytes(), logical(original), random.Random(1)
    found = 0
    for _ in range(120):
        content = bytearray(raw)
        content[source.randrange(len(content))] ^= 1 << source.randrange(8)
        if damaged(original, tmp_path, content):
            found += 1
        else:
            assert logical(tmp_path / "x.db") == before
    assert found > 30


def test_every_truncation_is_found(original, tmp_path):
    """Truncate the file at page boundaries and elsewhere."""
    raw, source = original.read_bytes(), random.Random(2)
    cuts = [*range(4096, len(raw), 4096), *(source.randrange(1, len(raw)) for _ in range(15))]
    assert all(damaged(original, tmp_path, raw[:cut]) for cut in cuts)


def test_every_pair_of_swapped_pages_is_found(original, tmp_path):
    raw, source = original.read_bytes(), random.Random(3)
    pages = [raw[at : at + 4096] for at in range(0, len(raw), 4096)]
    for _ in range(25):
        one, other = source.sample(range(len(pages)), 2)
        if pages[one] != pages[other]:
            swapped = list(pages)
            swapped[one], swapped[other] = pages[other], pages[one]
            assert damaged(original, tmp_path, b"".join(swapped))


def test_a_file_that_is_no_ledger_is_refused(tmp_path):
    (tmp_path / "x.db").write_text("department,admitted\nA,601\n" * 100)
    with pytest.raises(LedgerDamaged, match="SQLite"):
        Ledger.open(tmp_path / "x.db", create=True, key=KEY)
    with pytest.raises(LedgerError):
        Ledger.open(tmp_path / "nowhere" / "x.db", create=True, key=KEY)


def test_a_faulty_writer_is_found_too(tmp_path, monkeypatch):
    """A writer with the right key exceeds a limit, or writes a response with another distribution."""
    with Ledger.open(tmp_path / "a.db", create=True, key=KEY) as ledger:
        ledger.budget("r", limit=1)
        with monkeypatch.context() as patched:
            a_budget_is_passed_over(patched)
            ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=2)
        with pytest.raises(LedgerDamaged, match=r"event 3.*budget"):
            ledger.verify()
    with Ledger.open(tmp_path / "b.db", create=True, key=KEY) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
        with monkeypatch.context() as patched:
            an_answer_claims_another_law(patched)
            ledger.relax("r", TABLE, epsilon=2)
        with pytest.raises(LedgerDamaged, match=r"event 3.*relax"):
            ledger.verify()


def test_the_history_of_a_release_is_that_of_the_whole_ledger_and_checks_each_event(tmp_path):
    """The history of a release reads only its own events: each must follow the one before it under the key."""
    place, promise = tmp_path / "l.db", ut.Promise("n", unit=ut.Unit(1, 1))
    with Ledger.open(place, create=True) as ledger:
        for name in ("a", "b"):
            ledger.publish(name, {"n": [len(name)]}, promise, epsilon=1, dataset="d")
            ledger.relax(name, {"n": [len(name)]}, epsilon=2)
        ledger.publish("a", {"n": [3]}, promise, epsilon=1, version=2, dataset="d")
        whole = [event for event in ledger.history() if event.facts.get("name") == "a"]
        assert list(ledger.history("a")) == whole
        assert [event.number for event in whole] == [2, 3, 6]
        with closing(sqlite3.connect(place)) as raw, raw:
            (body,) = raw.execute("SELECT body FROM utmost_events WHERE number = 3").fetchone()
            changed = body.replace(b'"how":"relax"', b'"how":"tight"')
            assert changed != body
            raw.execute("UPDATE utmost_events SET body = ? WHERE number = 3", (changed,))
        with pytest.raises(LedgerDamaged):
            ledger.history("a")
        assert len(ledger.history("b")) == 2
