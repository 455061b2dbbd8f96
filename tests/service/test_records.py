"""The records of a service: sealed, of a length that short documents do not change."""

import json
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256

import pytest

from utmost.core.exact.written_levels import level_text
from utmost.errors import LedgerDamaged
from utmost.exact import level
from utmost.interfaces.service.access.tokens import Token
from utmost.interfaces.service.desk import held, note_bought, put_order
from utmost.interfaces.service.market import Order
from utmost.interfaces.service.records import Records
from utmost.publish.ledger.sqlite_store import SqliteStore
from utmost.service import Grant

KEY = bytes(range(32))


@pytest.fixture
def records(tmp_path):
    return Records(SqliteStore(tmp_path / "l.db", 5.0), KEY)


def rows(records):
    return records._transact(lambda table: table.ask("SELECT kind, name, body, mac FROM utmost_service"), write=False)


def test_a_thief_of_the_records_reads_none(records, tmp_path):
    """Owner, reason and terms lie nowhere in the file, and short documents have one length."""
    document = {"owner": "Ada Quintessa", "reason": "compare the wards", "terms": {"dataset": "hospital"}}
    records.write(lambda shelf: (shelf.put("proposal", "a", document), shelf.put("proposal", "b", {})))
    content = (tmp_path / "l.db.service").read_bytes()
    for word in ("Quintessa", "wards", "hospital", "reason"):
        for spelt in (word.encode(), word.encode("utf-16-le"), word.encode().hex().encode()):
            assert spelt not in content
    assert len({len(body) for _, _, body, _ in rows(records)}) == 1
    assert records.read(lambda shelf: shelf.get("proposal", "a")) == document
    assert [one for _, one in records.read(lambda shelf: shelf.all("proposal"))] == [document, {}]
    long = {"reason": "é\ud800" * 5000}
    records.write(lambda shelf: shelf.put("proposal", "a", long))
    assert records.read(lambda shelf: shelf.get("proposal", "a")) == long


def test_a_record_under_another_name_is_refused(records):
    """What was sealed under one name is nothing under another."""
    records.write(lambda shelf: shelf.put("t", "n", {"owner": "Bo"}))
    kind, _, body, mac = rows(records)[0]
    records._transact(
        lambda table: table.run("INSERT INTO utmost_service VALUES (?, ?, ?, ?)", (kind, "m", body, mac)), write=True
    )
    with pytest.raises(LedgerDamaged):
        records.read(lambda shelf: shelf.get("t", "m"))


def test_nobody_without_the_key_tests_who_bought_what(records):
    """Names of what was bought are keyed; one of an older version, a digest that can be guessed, still holds."""
    token = Token("t", "Bo", "recipient", (Grant("r", level("1/4")),), 0, 1)
    order = Order("o", "f", "r", 1, level(1), "Bo", None, Fraction(1), "EUR", 0)
    guess = sha256(json.dumps(["Bo", "r", 1]).encode()).hexdigest()
    records.write(lambda shelf: shelf.put("bought", guess, {"level": level_text(level("1/2"))}))
    assert records.read(lambda shelf: held(shelf, token, "r", 1)) == level("1/2")
    records.write(lambda shelf: put_order(shelf, replace(order, state="approved")))
    records.write(lambda shelf: note_bought(shelf, (("Bo",), "r", 1)))
    assert records.read(lambda shelf: held(shelf, token, "r", 1)) == level(1)
    names = {name for kind, name, _, _ in rows(records)} - {guess, "o"}
    assert len(names) == 2  # of what was ordered, and of what was bought
    assert Records(SqliteStore(records._store.path, 5.0), bytes(32)).read(lambda s: s.hidden("Bo", "r", 1)) not in names
