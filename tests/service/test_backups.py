"""A backup is put back when it is made, and what is put back is the service that was copied."""

import os
import re

import pytest

import utmost as ut
from postgres import fresh_database
from running import called
from service.conftest import KEY, TABLE, publish
from utmost.errors import NotAuthenticated
from utmost.exact import level
from utmost.ledger import Ledger
from utmost.service import Grant, Service


@pytest.fixture
def key(tmp_path):
    file = tmp_path / "key"
    file.write_text(KEY.hex(), encoding="utf-8")
    file.chmod(0o600)
    return str(file)


@pytest.fixture
def back_up(place, key, tmp_path):
    """`utmost serve --back-up` of the service into the folder `copy`."""
    options = ("--ledger", str(place), "--key-file", key, "--witness", str(tmp_path / "witness"))
    return lambda: called("serve", "--back-up", "copy", *options, cwd=tmp_path)


@pytest.fixture
def put_back(key, tmp_path):
    """`utmost serve --put-back` of the folder `copy` into another store."""
    options = ("--key-file", key, "--witness", str(tmp_path / "other"))
    return lambda elsewhere: called("serve", "--put-back", "copy", "--ledger", str(elsewhere), *options, cwd=tmp_path)


def copied(tmp_path):
    """The two files of a backup: the ledger, and the records of the service."""
    ledger, records = sorted((tmp_path / "copy").iterdir())
    assert records.name == f"{ledger.name}.service"
    return ledger, records


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_what_is_put_back_is_the_service_that_was_copied(service, who, bearer, back_up, put_back, tmp_path, kind):
    """From either store into either: the same tokens, values, proposals and trail; nothing of it in the clear."""
    publish(service, who, level("1/4"))
    presented, auditor = bearer("Bo", "recipient"), who("Di", "auditor")
    seen = service.releases.view(service.bearers.authenticated(presented), "admissions", level("1/8")).table
    saved = back_up()
    assert saved.returncode == 0, saved.stderr
    lines = list(service.audit.lines(auditor))
    # The fourth event is the quarantine of what was put back.
    for counted in (r"events +4\b", r"responses +2\b", rf"{len(lines)}\b"):
        assert re.search(counted, saved.stderr), saved.stderr
    assert b"admissions" not in copied(tmp_path)[1].read_bytes()
    elsewhere = tmp_path / "again.db" if kind == "sqlite" else fresh_database()
    assert put_back(elsewhere).returncode == 0
    with Ledger.open(elsewhere, key=KEY, witness=tmp_path / "other") as ledger:
        again = Service(ledger, clock=service.context.clock)
        assert list(again.audit.lines(auditor)) == lines
        bo = again.bearers.authenticated(presented)
        assert again.releases.view(bo, "admissions", level("1/8")).table == seen
        assert [proposal.state for proposal in again.proposals.all(who("Ada", "curator"))] == ["approved"]
        with pytest.raises(NotAuthenticated):
            again.bearers.authenticated(presented[:-1] + ("A" if presented[-1] != "A" else "B"))
    assert put_back(elsewhere).returncode == 2, "another store is there"
    assert back_up().returncode == 2, "another backup is there"


@pytest.mark.parametrize("part", [0, 1], ids=["ledger", "records"])
def test_a_copy_that_is_not_sound_is_not_put_back_in_silence(service, who, back_up, put_back, tmp_path, part):
    """One byte of a sealed part changed: named as damaged, whichever file it is in."""
    publish(service, who, level("1/4"))
    back_up()
    damaged = copied(tmp_path)[part]
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(damaged)) as connection, connection:
        table, column = ("utmost_service", "body") if part else ("utmost_events", "body")
        name, body = connection.execute(f"SELECT rowid, {column} FROM {table} ORDER BY rowid DESC LIMIT 1").fetchone()
        wrong = bytes(body)[:-1] + bytes([bytes(body)[-1] ^ 1])
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (wrong, name))
    connection.close()
    answer = put_back(tmp_path / "again.db")
    assert answer.returncode == 1
    assert "must be as " in answer.stderr or "must be unchanged" in answer.stderr


def test_half_a_backup_is_not_put_back(service, who, back_up, put_back, tmp_path):
    """Without the file of the records it would be a service without tokens, proposals and trail."""
    publish(service, who, level("1/4"))
    back_up()
    copied(tmp_path)[1].unlink()
    answer = put_back(tmp_path / "again.db")
    assert answer.returncode == 2
    assert "ledger.db.service" in answer.stderr
    assert not (tmp_path / "again.db").exists()
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["ledger.db"]


def test_one_command_backs_up_and_rehearses(tmp_path):
    """`utmost serve --back-up` beside a ledger with its usual key; `--put-back` elsewhere, and what it says."""
    with Ledger.open(tmp_path / "releases.db", create=True) as ledger:
        service = Service(ledger, approvals=False)
        service.bearers.make(None, "a", "Ada", "admin", (Grant("*"),))
        ledger.publish(
            "admissions", TABLE, ut.Promise(columns="admitted", public="department", unit=ut.Unit(1, 1)), epsilon=1
        )
    saved = called("serve", "--back-up", "copy", cwd=tmp_path)
    assert saved.returncode == 0, saved.stderr
    assert "restored once as a test" in saved.stderr
    options = ("--ledger", "again.db", "--key-file", str(tmp_path / "releases.db.key"))
    back = called("serve", "--put-back", "copy", *options, cwd=tmp_path)
    assert back.returncode == 0, back.stderr
    assert "quarantine" in back.stderr
    assert called("serve", "--back-up", "copy", cwd=tmp_path).returncode == 2
    assert os.path.exists(tmp_path / "again.db.service")
