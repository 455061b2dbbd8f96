"""Verify finds every change that was made without the ledger, and no changed value is ever returned."""

import sqlite3
from contextlib import closing

import psycopg
import pytest

import utmost as ut
from ledger.crash_points import a_budget_is_passed_over, an_answer_claims_another_distribution
from utmost.errors import LedgerDamaged, LedgerError
from utmost.ledger import Ledger

KEY = bytes(range(32))
TABLE = {"n": list(range(100, 1100))}
PROMISE = {"columns": "n", "unit": ut.Unit(1, 1)}


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
            an_answer_claims_another_distribution(patched)
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
