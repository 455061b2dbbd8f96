"""A backup is put back when it is made, and what is put back is the service that was copied.

Backup and restore are called as the commands call them.
"""

import os

import pytest

import utmost as ut
from postgres import fresh_database
from running import called
from service.conftest import KEY, TABLE, publish
from utmost.errors import LedgerDamaged, NotAuthenticated, OutOfRange
from utmost.exact import level
from utmost.interfaces.service.backups import LEDGER, back_up, put_back
from utmost.ledger import Ledger
from utmost.service import Grant, Service


@pytest.fixture
def key(tmp_path):
    file = tmp_path / "key"
    file.write_text(KEY.hex(), encoding="utf-8")
    file.chmod(0o600)
    return str(file)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_what_is_put_back_is_the_service_that_was_copied(service, who, bearer, key, tmp_path, kind):
    """From either store into either: the same tokens, values, proposals and trail; nothing of it in the clear."""
    publish(service, who, level("1/4"))
    presented, auditor = bearer("Bo", "recipient"), who("Di", "auditor")
    seen = service.releases.view(service.bearers.authenticated(presented), "admissions", level("1/8")).table
    told = back_up(service, tmp_path / "copy", key=key)
    lines = list(service.audit.lines(auditor))
    assert (told.events, told.responses, told.trail) == (4, 2, len(lines))  # with the quarantine of what was put back
    assert {path.name for path in (tmp_path / "copy").iterdir()} == {LEDGER, f"{LEDGER}.service"}
    assert b"admissions" not in (tmp_path / "copy" / f"{LEDGER}.service").read_bytes()
    elsewhere = tmp_path / "again.db" if kind == "sqlite" else fresh_database()
    assert put_back(tmp_path / "copy", str(elsewhere), key=key, witness=str(tmp_path / "other")) == told
    with Ledger.open(elsewhere, key=KEY, witness=tmp_path / "other") as ledger:
        again = Service(ledger, clock=service.context.clock)
        assert list(again.audit.lines(auditor)) == lines
        bo = again.bearers.authenticated(presented)
        assert again.releases.view(bo, "admissions", level("1/8")).table == seen
        assert [proposal.state for proposal in again.proposals.all(who("Ada", "curator"))] == ["approved"]
        with pytest.raises(NotAuthenticated):
            again.bearers.authenticated(presented[:-1] + ("A" if presented[-1] != "A" else "B"))
    with pytest.raises(OutOfRange):
        put_back(tmp_path / "copy", str(elsewhere), key=key, witness=str(tmp_path / "other"))
    with pytest.raises(OutOfRange):
        back_up(service, tmp_path / "copy", key=key)


@pytest.mark.parametrize("file", [LEDGER, f"{LEDGER}.service"])
def test_a_copy_that_is_not_sound_is_not_put_back_in_silence(service, who, key, tmp_path, file):
    """One byte of a sealed part changed: named as damaged, whichever file it is in."""
    publish(service, who, level("1/4"))
    back_up(service, tmp_path / "copy", key=key)
    damaged = tmp_path / "copy" / file
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(damaged)) as connection, connection:
        table, column = ("utmost_service", "body") if file.endswith("service") else ("utmost_events", "body")
        name, body = connection.execute(f"SELECT rowid, {column} FROM {table} ORDER BY rowid DESC LIMIT 1").fetchone()
        wrong = bytes(body)[:-1] + bytes([bytes(body)[-1] ^ 1])
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (wrong, name))
    connection.close()
    with pytest.raises(LedgerDamaged):
        put_back(tmp_path / "copy", str(tmp_path / "again.db"), key=key, witness=str(tmp_path / "other"))


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
