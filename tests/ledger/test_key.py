"""The ledger's key is found, stays private and is never shown; the key of one level opens only that level."""

import hmac
import logging
import os
import pickle
import sqlite3
import sys
import traceback
from contextlib import closing
from hashlib import sha256

import numpy as np
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

import utmost as ut
from utmost.errors import DataChanged, KeyRefused, LedgerError, NotPublished, Unsupported, WrongKind
from utmost.ledger import Ledger, read_sealed

KEY = bytes(range(32))
TABLE = {"n": [10, 20, 30]}
PROMISE = {"columns": "n", "unit": ut.Unit(1, 1)}


def test_a_new_ledger_makes_a_key_file_that_is_its_owners_alone(tmp_path):
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        first = ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1).table
    assert (tmp_path / "l.db.key").stat().st_mode & 0o777 == 0o600
    with Ledger.open(f"sqlite:///{tmp_path}/l.db", create=True) as ledger:
        assert ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1).table == first


def test_a_new_ledger_in_no_folder_says_what_to_do(tmp_path):
    with pytest.raises(KeyRefused, match="folder"):
        Ledger.open(tmp_path / "none" / "l.db", create=True)


def test_without_its_key_a_ledger_is_not_opened(tmp_path):
    """No new key is made for it: a new key would be that of another ledger."""
    Ledger.open(tmp_path / "l.db", create=True).close()
    (tmp_path / "l.db.key").rename(tmp_path / "kept")
    with pytest.raises(KeyRefused, match=r"\.secret\.toml"):
        Ledger.open(tmp_path / "l.db")
    assert not (tmp_path / "l.db.key").exists()
    Ledger.open(tmp_path / "l.db", key=tmp_path / "kept").close()
    with pytest.raises(KeyRefused, match="key of this ledger"):
        Ledger.open(tmp_path / "l.db", key=KEY)


@pytest.mark.skipif(os.name != "posix", reason="access is not settled by mode bits")
def test_a_key_file_that_others_can_read_is_refused(tmp_path):
    Ledger.open(tmp_path / "l.db", create=True).close()
    (tmp_path / "l.db.key").chmod(0o640)
    with pytest.raises(KeyRefused, match="chmod 600"):
        Ledger.open(tmp_path / "l.db")


def test_the_environment_gives_the_key(tmp_path, monkeypatch):
    monkeypatch.setenv("UTMOST_LEDGER_KEY", KEY.hex())
    Ledger.open(tmp_path / "l.db", create=True).close()
    assert not (tmp_path / "l.db.key").exists()
    monkeypatch.delenv("UTMOST_LEDGER_KEY")
    (tmp_path / "k").write_text(KEY.hex())
    (tmp_path / "k").chmod(0o600)
    monkeypatch.setenv("UTMOST_LEDGER_KEY_FILE", str(tmp_path / "k"))
    Ledger.open(tmp_path / "l.db").close()


@pytest.mark.parametrize("key", [b"short", 7, "no/such/file", "", b""])
def test_what_is_no_key_is_refused(tmp_path, key):
    with pytest.raises((KeyRefused, WrongKind)):
        Ledger.open(tmp_path / "l.db", create=True, key=key)
    assert not (tmp_path / "l.db.key").exists()


def test_a_key_file_must_be_hexadecimal_and_long(tmp_path):
    for text in ("words", "ab" * 31):
        (tmp_path / "k").write_text(text)
        (tmp_path / "k").chmod(0o600)
        with pytest.raises(KeyRefused) as caught:
            Ledger.open(tmp_path / "l.db", create=True, key=tmp_path / "k")
        assert text not in str(caught.value)


def test_the_key_is_shown_nowhere(tmp_path, caplog):
    """The key is not in reprs, errors, logs, tracebacks with locals, pickles, nor the files of the ledger."""
    caplog.set_level(logging.DEBUG)
    with Ledger.open(tmp_path / "l.db", create=True, witness=tmp_path / "w") as ledger:
        ledger.publish("r", {"n": [987654321]}, ut.Promise(**PROMISE), epsilon=1)
        ledger.backup(tmp_path / "b.db")
        assert repr(ledger._log.key) == "Key(...)", "neither the secret nor what is derived from it"
        shown = [repr(ledger), repr(ledger.status()), repr(ledger.history()), ledger.receipt()]
        try:
            ledger.relax("r", {"n": [987654322]}, epsilon=2)
        except LedgerError:
            kind, error, trace = sys.exc_info()
            frames = traceback.TracebackException(kind, error, trace, capture_locals=True)
            shown.append("".join(frames.format()))
        with pytest.raises(Unsupported):
            pickle.dumps(ledger._log.key)
    text = "\n".join([*shown, caplog.text])
    secret = bytes.fromhex((tmp_path / "l.db.key").read_text())
    for form in (secret.hex(), repr(secret)[2:-1]):
        assert form not in text
    for path in ("l.db", "w", "b.db"):
        assert secret not in (tmp_path / path).read_bytes()
        assert b"987654321" not in (tmp_path / path).read_bytes()


def test_keys_are_derived_by_hkdf(tmp_path):
    """The first block of HKDF-Expand of RFC 5869, equal to that of the cryptography library, of a purpose with its
    length. Ledgers of all versions open with it, and no purpose is the beginning of another. The first event holds one
    such key."""
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        shown = ledger.history()[0].facts["key"]
    secret, purpose = hmac.digest(b"utmost ledger", KEY, sha256), b"fingerprint"
    derived = HKDFExpand(hashes.SHA256(), 32, len(purpose).to_bytes(4, "big") + purpose).derive(secret)
    assert shown == derived[:8].hex()


def test_the_chain_and_its_seal_are_those_of_the_theory(tmp_path):
    """HMAC-SHA-256 of what is stored, as proofs/theory/ledger.md writes it down: ledgers of all versions verify."""
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY, witness=False) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
    with closing(sqlite3.connect(tmp_path / "l.db")) as connection:
        events = connection.execute("SELECT number, body, mac FROM utmost_events ORDER BY number").fetchall()
        (head,) = connection.execute("SELECT number, seal FROM utmost_head").fetchall()
    chain, seal = (
        HKDFExpand(hashes.SHA256(), 32, len(purpose).to_bytes(4, "big") + purpose).derive(
            hmac.digest(b"utmost ledger", KEY, sha256)
        )
        for purpose in (b"chain", b"head")
    )
    before = bytes(32)
    for number, body, mac in events:
        before = hmac.digest(chain, before + number.to_bytes(8, "big") + body, sha256)
        assert mac == before
    assert head == (len(events), hmac.digest(seal, len(events).to_bytes(8, "big") + before, sha256))


def test_a_levels_key_opens_that_level_alone(tmp_path):
    """It reads from a backup the same answer that the ledger gives at that level."""
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon="1/2")
        ledger.relax("r", TABLE, epsilon=2)
        ledger.publish("r", {"n": [1]}, ut.Promise(**PROMISE), version=2, epsilon=1)
        keys = {epsilon: ledger.level_key("r", epsilon=epsilon, version=1) for epsilon in ("1/2", 2)}
        said = {epsilon: ledger.view("r", epsilon=epsilon, version=1).table for epsilon in keys}
        ledger.backup(tmp_path / "b.db")
        with pytest.raises(Unsupported, match="encrypted"):
            ledger.level_key("r", epsilon=1, version=1)
    for epsilon, key in keys.items():
        assert read_sealed(tmp_path / "b.db", "r", key, version=1).table == said[epsilon]
    with pytest.raises(KeyRefused, match="decrypt an answered level"):
        read_sealed(tmp_path / "b.db", "r", bytes(32), version=1)
    with pytest.raises(KeyRefused):
        read_sealed(tmp_path / "b.db", "r", keys[2], version=2)
    with pytest.raises(NotPublished):
        read_sealed(tmp_path / "b.db", "s", keys[2])
    with pytest.raises(NotPublished):
        read_sealed(tmp_path / "none.db", "r", keys[2])


def test_an_open_ledger_can_be_read_without_a_key_and_not_written(tmp_path):
    """Without encryption, responses can be read, but the chain still protects them from changes."""
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY, sealed=False) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
        with pytest.raises(Unsupported):
            ledger.level_key("r", epsilon=1)
        assert not ledger.status().sealed


def test_a_new_key_is_whole_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    """After a power cut the file with this name has a complete key, or does not exist."""
    path, forced, force = tmp_path / "new.key", [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: forced.append((os.fstat(file).st_size, path.exists())) or force(file))
    Ledger.open(tmp_path / "new", create=True).close()
    assert forced[0] == (path.stat().st_size, False)


def test_events_are_counted_again_by_the_key_of_the_ledger(tmp_path):
    events = {"person": [n // 8 for n in range(320)], "shop": [n % 8 for n in range(320)]}
    domain = ut.Domain(shop=list(range(8)))

    def counted(key=None):
        return ut.count_table(events, domain, ut.Counting("person", at_most=2, key=key))

    with ut.Ledger.open(tmp_path / "l.db", create=True) as ledger:
        first = counted(ledger.counting_key())
        ledger.publish("visits", first, ut.Promise.of_counted(first), epsilon=1)
        with pytest.raises(DataChanged):
            ledger.relax("visits", counted(), epsilon=2)
        assert ledger.relax("visits", counted(ledger.counting_key()), epsilon=2).epsilon == 2
    with ut.Ledger.open(tmp_path / "other.db", create=True) as other:
        assert not np.array_equal(counted(other.counting_key()).cells, first.cells)


def test_a_key_file_of_bytes_is_asked_for_digits(tmp_path):
    """A file that exists is not called unreadable, and its key in hexadecimal digits is accepted."""
    file, key = tmp_path / "key", bytes(range(128, 160))
    file.write_bytes(key)
    file.chmod(0o600)
    with pytest.raises(KeyRefused, match="hexadecimal") as refused:
        Ledger.open(tmp_path / "l.db", create=True, key=file)
    assert "digits" in refused.value.remedy
    file.write_text(key.hex())
    Ledger.open(tmp_path / "l.db", create=True, key=file).close()
