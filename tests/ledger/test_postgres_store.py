"""If the server breaks off, conflicts or refuses, the transaction is repeated, or a typed error has the remedy."""

import time

import psycopg
import pytest

import utmost as ut
from postgres import fresh_database, server
from utmost.errors import KeyRefused, LedgerDamaged, LedgerUnavailable, Quarantined, Unsupported
from utmost.interfaces.service.api.problems import public_words
from utmost.ledger import Ledger

# Collisions of transactions are planted in the store.
from utmost.publish.ledger.postgres_store import PostgresStore

KEY = bytes(range(32))
TABLE = {"n": [10, 20, 30]}
PROMISE = {"columns": "n", "unit": ut.Unit(1, 1)}


@pytest.fixture
def ledger():
    with Ledger.open(fresh_database(), create=True, key=KEY, witness=False, timeout=60) as ledger:
        yield ledger


def test_a_session_that_the_server_ended_is_begun_again(ledger):
    """The server ends the session between two calls; nothing is lost, and nothing is answered twice."""
    first = ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1).table
    with psycopg.connect(f"{server()}/postgres", autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    assert ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1).table == first
    assert ledger.relax("r", TABLE, epsilon=2).table


@pytest.mark.parametrize("failure", [psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected])
def test_a_collision_is_done_again(ledger, monkeypatch, failure):
    """The transaction fails twice and succeeds the third time: one event, one answer."""
    ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
    real, calls = PostgresStore._in_transaction, []

    def colliding(connection, work):
        calls.append(connection)
        if len(calls) < 3:
            raise failure("could not serialize access")
        return real(connection, work)

    monkeypatch.setattr(PostgresStore, "_in_transaction", staticmethod(colliding))
    made = ledger.relax("r", TABLE, epsilon=2).table
    monkeypatch.undo()
    assert len(calls) >= 3
    assert ledger.relax("r", TABLE, epsilon=2).table == made
    assert len(ledger.history("r")) == 2


def test_a_collision_that_does_not_end_is_a_typed_error(monkeypatch):
    with Ledger.open(fresh_database(), create=True, key=KEY, witness=False, timeout=0.05) as ledger:

        def colliding(connection, work):
            raise psycopg.errors.SerializationFailure("could not serialize access")

        with monkeypatch.context() as patched:
            patched.setattr(PostgresStore, "_in_transaction", staticmethod(colliding))
            with pytest.raises(LedgerUnavailable, match="same call again"):
                ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
        assert ledger.releases == ()


def test_another_writer_is_waited_for_only_so_long():
    """The wait for a writer ends at the timeout; the lock of another schema does not block."""
    from utmost.publish.ledger.postgres_store import _LOCK

    one, other = fresh_database(), fresh_database()
    Ledger.open(one, create=True, key=KEY, witness=False).close()
    with psycopg.connect(one, autocommit=True) as holder:
        holder.execute(_LOCK)
        with Ledger.open(one, key=KEY, witness=False, timeout=0.1) as ledger, pytest.raises(LedgerUnavailable):
            ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
        with Ledger.open(other, create=True, key=KEY, witness=False, timeout=60) as ledger:
            assert ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1).table


def test_tables_that_are_gone_are_damage(ledger):
    ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
    with psycopg.connect(ledger._log.store._address, autocommit=True) as other:
        other.execute("DROP TABLE utmost_parts")
    with pytest.raises(LedgerDamaged, match="tables"):
        ledger.view("r", epsilon=1)


def test_a_server_ledger_needs_a_key(monkeypatch):
    monkeypatch.delenv("UTMOST_LEDGER_KEY", raising=False)
    monkeypatch.delenv("UTMOST_LEDGER_KEY_FILE", raising=False)
    with pytest.raises(KeyRefused, match="UTMOST_LEDGER_KEY"):
        Ledger.open(fresh_database(), create=True)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:hushhush@host:5/db?password=hushhush",
        "postgresql://me:hush/hush@host/db",
        "postgresql://me:hush@hush@host/db",
        "postgresql://me:hush?hush@host/db",
        "postgresql://me:[hush#hush@host/db?options=a@b",
    ],
)
def test_the_password_is_not_in_the_place(address):
    """No part of the password is there, whatever characters it has that should be escaped."""
    assert PostgresStore(address, 1).place in ("postgresql://host/db", "postgresql://")


class Server:
    """The facts of a server that a store checks before it trusts the server."""

    def __init__(self, version, fsync):
        self.info, self._fsync = type("Info", (), {"server_version": version}), fsync

    def execute(self, statement):
        assert statement == "SHOW fsync"
        return self

    def fetchone(self):
        return (self._fsync,)


def test_an_old_server_and_one_that_forgets_are_refused():
    store = PostgresStore("postgresql://host/db", 1)
    store._check_server(Server(150000, "on"))
    with pytest.raises(Unsupported, match="version 15"):
        store._check_server(Server(140012, "on"))
    with pytest.raises(Unsupported, match="disk"):
        store._check_server(Server(160000, "off"))


def test_threads_come_and_go_without_their_connections(ledger):
    """Idle connections are reused: there are as many as simultaneous transactions."""
    from concurrent.futures import ThreadPoolExecutor

    ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
    for _ in range(5):
        with ThreadPoolExecutor(3) as pool:
            assert all(pool.map(lambda _: ledger.view("r", epsilon=1).table, range(6)))
    assert 1 <= len(ledger._log.store._idle_here()) <= 4


def test_a_reader_whose_snapshot_is_older_than_the_witness_cries_no_wolf(tmp_path, monkeypatch):
    """A writer commits and settles between a reader's snapshot and its look at the witness: no false alarm."""
    from utmost.publish.ledger.witness import Witness

    place, witness = fresh_database(), tmp_path / "w"
    with (
        Ledger.open(place, create=True, key=KEY, witness=witness) as reader,
        Ledger.open(place, key=KEY, witness=witness) as writer,
    ):
        writer.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
        real, looks = Witness.record, []

        def late(self):
            looks.append(self)
            if len(looks) == 1:
                writer.relax("r", TABLE, epsilon=2)
            return real(self)

        monkeypatch.setattr(Witness, "record", late)
        assert reader.status().quarantine is None
        assert len(reader.history()) == 3


def test_a_commit_is_on_the_disk_whatever_the_server_is_set_to():
    """A role or an address may ask for commits that are reported before they are written; the store overrides it."""
    with Ledger.open(f"{fresh_database()}%20-csynchronous_commit%3Doff", create=True, key=KEY, witness=False) as ledger:
        (connection,) = ledger._log.store._idle_here()
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
        reset = "SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit'"
        assert connection.execute(reset).fetchone() == ("off",), "the address asks for it"


def _refusal(words, *, needs_password=False):
    connection = type("Connection", (), {"needs_password": needs_password})()
    return type("Refused", (psycopg.OperationalError,), {"pgconn": connection})(words)


PASSWORD = 'connection to server at "db.example" failed: FATAL:  password authentication failed for user "keeper"'
CAUSES = {
    "database": (None, r"the database must exist .*3D000.*createdb"),
    "user": (None, r"the user must exist .*28000"),
    "wrong password": (_refusal(PASSWORD), r"accept user and password; got a refusal \(28P01\).*PGPASSWORD"),
    "no password": (_refusal("fe_sendauth", needs_password=True), r"must get a password; got none.*PGPASSWORD"),
    "host": (_refusal('FATAL:  no pg_hba.conf entry for host "1.2.3.4"'), r"must allow this user .*pg_hba\.conf"),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_a_refused_connection_is_not_repeated_and_names_its_cause(cause, monkeypatch):
    """And a service tells its clients neither host nor database."""
    refused, says = CAUSES[cause]
    address = {"database": f"{server()}/nowhere", "user": f"{server().replace('postgres@', 'ghost@')}/postgres"}
    if refused is not None:
        monkeypatch.setattr(psycopg, "connect", lambda *_, **__: (_ for _ in ()).throw(refused))
    began = time.monotonic()
    with pytest.raises(LedgerUnavailable, match=says) as raised:
        Ledger.open(address.get(cause, "postgresql://keeper@db.example/ledger"), key=KEY, witness=False)
    assert time.monotonic() - began < 20
    words = public_words(raised.value)
    for hidden in ("postgresql", "db.example", "keeper", "nowhere"):
        assert hidden not in words, hidden
    assert "operator of the service" in words


def test_a_client_sees_no_place_of_a_ledger_in_quarantine():
    for place in ("../put/p.db", "postgresql://db.example/ledger"):
        error = Quarantined(
            "the ledger must not be in quarantine", came="it was restored", where=place, remedy="resume"
        )
        assert place not in public_words(error)
    release = Quarantined("a release gets no further answers", where="'r', version 1", remedy="Publish a new version.")
    assert str(release) == public_words(release)


def test_creating_a_ledger_makes_its_key_and_no_other_call_does(tmp_path):
    """The key of an existing ledger that is missing must be found again: a new one would open nothing."""
    address, key = fresh_database(), tmp_path / "ledger.key"
    with pytest.raises(LedgerUnavailable):
        Ledger.open(address, key=key)
    assert not key.exists()
    with Ledger.open(address, create=True, key=key) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
    assert key.stat().st_mode & 0o777 == 0o600
    Ledger.open(address, key=key).close()
    key.rename(tmp_path / "moved")
    for create in (False, True):
        with pytest.raises(KeyRefused, match="must exist and be readable"):
            Ledger.open(address, create=create, key=key)
    assert not key.exists()
