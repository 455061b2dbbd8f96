"""The records of a service: sealed, of a length that short documents do not change."""

import pytest

from utmost.errors import LedgerDamaged
from utmost.interfaces.service.service_context import newest_receipt, put_receipt
from utmost.ledger import Ledger
from utmost.service import Service


@pytest.fixture
def records(tmp_path):
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        yield Service(ledger).context.records


def rows(records):
    return records._transact(lambda table: table.ask("SELECT kind, name, body, mac FROM utmost_service"), write=False)


def test_a_thief_of_the_records_reads_none(records, tmp_path):
    """Owner, reason and terms lie nowhere in the file, and short documents have one length."""
    document = {"owner": "Ada Quintessa", "reason": "compare the wards", "terms": {"dataset": "hospital"}}
    records.write(lambda store: (store.put("proposal", "a", document), store.put("proposal", "b", {})))
    content = (tmp_path / "l.db.service").read_bytes()
    for word in ("Quintessa", "wards", "hospital", "reason"):
        for spelt in (word.encode(), word.encode("utf-16-le"), word.encode().hex().encode()):
            assert spelt not in content
    assert len({len(body) for _, _, body, _ in rows(records)}) == 1
    assert records.read(lambda store: store.get("proposal", "a")) == document
    assert [one for _, one in records.read(lambda store: store.all("proposal"))] == [document, {}]
    long = {"reason": "é\ud800" * 5000}
    records.write(lambda store: store.put("proposal", "a", long))
    assert records.read(lambda store: store.get("proposal", "a")) == long


def test_a_record_under_another_name_is_refused(records):
    """What was sealed under one name is nothing under another."""
    records.write(lambda store: store.put("t", "n", {"owner": "Bo"}))
    kind, _, body, mac = rows(records)[0]
    records._transact(
        lambda table: table.run("INSERT INTO utmost_service VALUES (?, ?, ?, ?)", (kind, "m", body, mac)), write=True
    )
    with pytest.raises(LedgerDamaged):
        records.read(lambda store: store.get("t", "m"))


def test_the_newest_receipt_stays_when_an_earlier_request_writes_last(tmp_path):
    """A request takes its receipt before it writes it, so that two requests may write in the other order."""
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        records = Service(ledger).context.records
        receipts = [ledger.receipt()]
        for limit in range(1, 10):  # the tenth event: numbers, not texts, are compared
            ledger.budget("wages", limit=limit)
            receipts.append(ledger.receipt())
    for written in (receipts[8], receipts[9], receipts[0], receipts[8]):
        records.write(lambda store, line=written: put_receipt(store, line))
    assert records.read(newest_receipt) == receipts[9]
