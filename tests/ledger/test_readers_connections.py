"""A reader's connection is reused by the next reader of an unchanged file, and for no other file or process. The store
is imported from its module: no public call shows which connections are kept, and closed after a fork."""

import os
import sqlite3
import time
from contextlib import closing

import pytest

import asking
import utmost as ut
from utmost.errors import LedgerError
from utmost.publish.ledger import sqlite_store

QUIET = sqlite_store._QUIET / 1e9 + 0.02
PROMISE = {"columns": "n", "unit": ut.Unit(1, 1), "epsilon": 1}
TABLE = {"n": [1, 2, 3]}


@pytest.fixture
def opened(monkeypatch):
    """Every connection that is opened, for reading or writing."""
    made, connect = [], sqlite_store._connected
    monkeypatch.setattr(sqlite_store, "_connected", lambda *a, **kw: made.append(connect(*a, **kw)) or made[-1])
    sqlite_store.forget_idle()
    yield made
    sqlite_store.forget_idle()


def asked(path, query="SELECT x FROM t"):
    with sqlite_store.transaction(path, 5, write=False) as connection:
        return connection.execute(query).fetchall()


def write(path, change):
    with sqlite_store.transaction(path, 5, write=True) as connection:
        connection.execute(f"UPDATE t SET x = {change}")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (x)")
        connection.execute("INSERT INTO t VALUES (1)")
    connection.close()
    time.sleep(QUIET)
    return path


def test_readers_of_a_quiet_file_share_a_connection(file, opened):
    assert [asked(file) for _ in range(5)] == [[(1,)]] * 5
    assert len(opened) == 1


def test_a_file_that_was_just_written_is_read_anew(file, opened):
    write(file, "2")
    assert asked(file) == asked(file) == [(2,)]
    assert len(opened) == 3


def test_writers_share_a_connection_until_somebody_else_writes_or_replaces_the_file(file, opened):
    write(file, "x + 1"), write(file, "x + 1")
    assert len(opened) == 1
    with closing(sqlite3.connect(file)) as other, other:
        other.execute("UPDATE t SET x = 10")
    other.close()
    write(file, "x + 1")
    assert asked(file) == [(11,)]
    os.replace(file, file.with_suffix(".old"))
    file.write_bytes(file.with_suffix(".old").read_bytes())
    write(file, "x + 1")
    assert asked(file) == [(12,)]
    assert asked(file.with_suffix(".old")) == [(11,)]


def test_who_changes_replaces_or_removes_the_file_ends_what_waited(file, opened):
    asked(file)
    with closing(sqlite3.connect(file)) as other, other:
        other.execute("UPDATE t SET x = 3")
    other.close()
    assert asked(file) == [(3,)]
    time.sleep(QUIET)
    asked(file)
    content = file.read_bytes()
    file.write_bytes(
        content.replace(b"\x03\x01\x02\x01\x03", b"\x03\x01\x02\x01\x07")
    )  # no SQLite, so no counter of changes
    assert asked(file) == [(7,)]
    time.sleep(QUIET)
    asked(file)
    os.replace(file, file.with_suffix(".old"))
    with pytest.raises(LedgerError):
        asked(file)
    file.write_bytes(content)
    assert asked(file) == [(3,)]


def test_a_failed_reader_leaves_no_connection(file, opened):
    with pytest.raises(LedgerError):
        asked(file, "SELECT y FROM t")
    with pytest.raises(ZeroDivisionError), sqlite_store.transaction(file, 5, write=False):
        raise ZeroDivisionError
    assert not any(sqlite_store._idle.values())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_opens_its_own(file, opened):
    asked(file)
    (waiting,) = [entry[2] for entries in sqlite_store._idle.values() for entry in entries]
    if (child := os.fork()) == 0:
        right = asked(file) == [(1,)] and len(opened) == 2 and sqlite_store._inherited == [waiting]
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert asked(file) == [(1,)]
    assert len(opened) == 1


def test_a_ledger_gives_its_connections_back(tmp_path, opened):
    with ut.Ledger.open(tmp_path / "l.db", create=True) as ledger:
        ledger.publish("visits", TABLE, **asking.asked(**PROMISE))
        time.sleep(QUIET)
        first, before = ledger.view("visits", epsilon=1).table, len(opened)
        again = ledger.view("visits", epsilon=1).table
        assert list(first["n"]) == list(again["n"])
        assert len(opened) == before
        assert any(place == str(tmp_path / "l.db") for place, *_ in sqlite_store._idle)
    assert not sqlite_store._idle
