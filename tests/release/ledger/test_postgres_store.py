"""The server may break off, collide or refuse: the transaction is done again, or a typed error says what to do."""

import psycopg
import pytest

from postgres import fresh_database, server
from utmost.errors import KeyRefused, LedgerDamaged, LedgerUnavailable
from utmost.release.ledger import Ledger
from utmost.release.ledger.postgres_store import PostgresStore

KEY = bytes(range(32))
TABLE = {"n": [10, 20, 30]}
PROMISE = {"columns": "n", "sensitivity": 1, "cells": 1}


@pytest.fixture
def ledger():
    with Ledger.open(fresh_database(), key=KEY, timeout=5) as ledger:
        yield ledger


def test_a_session_that_the_server_ended_is_begun_again(ledger):
    """Between two calls; nothing is lost, nothing said twice."""
    first = ledger.publish("r", TABLE, epsilon=1, **PROMISE)
    with psycopg.connect(f"{server()}/postgres", autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    assert ledger.publish("r", TABLE, epsilon=1, **PROMISE) == first
    assert ledger.relax("r", TABLE, epsilon=2)


@pytest.mark.parametrize("failure", [psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected])
def test_a_collision_is_done_again(ledger, monkeypatch, failure):
    """Twice refused, the third time done: one event, one answer."""
    ledger.publish("r", TABLE, epsilon=1, **PROMISE)
    real, calls = PostgresStore._in_transaction, []

    def colliding(connection, work):
        calls.append(connection)
        if len(calls) in (2, 3):
            raise failure("could not serialize access")
        return real(connection, work)

    monkeypatch.setattr(PostgresStore, "_in_transaction", staticmethod(colliding))
    made = ledger.relax("r", TABLE, epsilon=2)
    monkeypatch.undo()
    assert ledger.relax("r", TABLE, epsilon=2) == made
    assert len(ledger.history("r")) == 2


def test_a_collision_that_does_not_end_is_a_typed_error(monkeypatch):
    with Ledger.open(fresh_database(), key=KEY, timeout=0.05) as ledger:

        def colliding(connection, work):
            raise psycopg.errors.SerializationFailure("could not serialize access")

        with monkeypatch.context() as patched:
            patched.setattr(PostgresStore, "_in_transaction", staticmethod(colliding))
            with pytest.raises(LedgerUnavailable, match="same call again"):
                ledger.publish("r", TABLE, epsilon=1, **PROMISE)
        assert ledger.releases == ()


def test_another_writer_is_waited_for_only_so_long():
    """The lock of a schema is another schema's no obstacle."""
    from utmost.release.ledger.postgres_store import _LOCK

    one, other = fresh_database(), fresh_database()
    Ledger.open(one, key=KEY).close()
    with psycopg.connect(one, autocommit=True) as holder:
        holder.execute(_LOCK)
        with Ledger.open(one, key=KEY, timeout=0.1) as ledger, pytest.raises(LedgerUnavailable):
            ledger.publish("r", TABLE, epsilon=1, **PROMISE)
        with Ledger.open(other, key=KEY, timeout=5) as ledger:
            assert ledger.publish("r", TABLE, epsilon=1, **PROMISE)


def test_tables_that_are_gone_are_damage(ledger):
    ledger.publish("r", TABLE, epsilon=1, **PROMISE)
    with psycopg.connect(ledger._book.store._address, autocommit=True) as other:
        other.execute("DROP TABLE utmost_parts")
    with pytest.raises(LedgerDamaged, match="tables"):
        ledger.view("r", epsilon=1)


def test_a_server_ledger_needs_a_key(monkeypatch):
    monkeypatch.delenv("UTMOST_LEDGER_KEY", raising=False)
    monkeypatch.delenv("UTMOST_LEDGER_KEY_FILE", raising=False)
    with pytest.raises(KeyRefused, match="UTMOST_LEDGER_KEY"):
        Ledger.open(fresh_database())


def test_the_password_is_not_in_the_place():
    assert PostgresStore("postgresql://me:hushhush@host:5/db?password=hushhush", 1).place == "postgresql://host/db"
