"""Rollbacks and restored backups are detected, and lost answers are charged."""

import shutil
import sqlite3
import warnings
from contextlib import closing
from pathlib import Path

import pytest

import utmost as ut
from asking import publish_items
from ledger.crash_points import (
    a_call_while_a_backup_is_copied,
    last_event,
    pending,
    the_process_dies_before_the_witness_is_told,
)
from utmost.channels import Channel
from utmost.errors import BudgetUnused, KeyRefused, LedgerDamaged, OutOfRange, PrivacyWarning, Quarantined
from utmost.exact import level
from utmost.ledger import Ledger
from utmost.local import read_mechanism
from utmost.sampling import Identifiers
from utmost.spaces import discrete

KEY = bytes(range(32))
TABLE = {"n": [10, 20, 30]}
PROMISE = {"columns": "n", "unit": ut.Unit(1, 1)}
COIN = read_mechanism(Channel([["2/3", "1/3"], ["1/3", "2/3"]]), discrete(2))


@pytest.fixture
def here(tmp_path):
    return tmp_path


def opened(here, **options):
    return Ledger.open(here / "l.db", create=True, **{"key": KEY, "witness": here / "w"} | options)


def put_back(here, after, keep="old.db"):
    """A ledger with one release is copied with its witness; then ``after`` runs; then the copy replaces the ledger."""
    with opened(here) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon="1/2")
        shutil.copy(here / "l.db", here / keep)
        shutil.copy(here / "w", here / "old.w")
        after(ledger)
    shutil.copy(here / keep, here / "l.db")


def test_a_rolled_back_ledger_says_nothing_new(here):
    """Stored answers can be viewed; every call that writes is refused."""
    put_back(here, lambda ledger: ledger.relax("r", TABLE, epsilon=2).table)
    with opened(here) as ledger:
        assert "witness has 3 events" in ledger.status().quarantine
        assert ledger.view("r", epsilon="1/2").table
        for call in (
            lambda: ledger.relax("r", TABLE, epsilon=2).table,
            lambda: ledger.view("r", epsilon="1/4").table,
            lambda: ledger.publish("s", TABLE, ut.Promise(**PROMISE), epsilon=1).table,
            lambda: ledger.budget("r", limit=9),
        ):
            with pytest.raises(Quarantined, match="resume"):
                call()
        assert len(ledger.history()) == 2
        assert ledger.verify()


def test_an_answer_of_another_history_is_not_repeated_by_who_has_not_read_it(here):
    """It is found under the lock, in the store but not in the witness: the first caller got another answer."""

    def publish(ledger):
        return ledger.publish("s", TABLE, ut.Promise(**PROMISE), epsilon=1, dataset="r")

    late = []

    def after(ledger):
        late.append(opened(here))
        publish(ledger)

    put_back(here, after)
    with opened(here, witness=here / "old.w") as other:
        publish(other)
    with late[0] as ledger, pytest.raises(Quarantined, match="another history"):
        publish(ledger)


def test_resumed_it_is_charged_with_exactly_what_was_lost(here):
    """Relaxed from 1/2 to 2 and lost: the spent level is 2 again, and the release is never relaxed again."""

    def after(ledger):
        ledger.relax("r", TABLE, epsilon=2)
        ledger.publish("s", TABLE, ut.Promise(**PROMISE), epsilon=3, dataset="r")

    put_back(here, after)
    with opened(here) as ledger:
        with pytest.raises(OutOfRange, match="reason must be"):
            ledger.resume("")
        ledger.resume("the disk died")
        assert ledger.spent(dataset="r") == level(5)
        assert ledger.status().quarantine is None
        with pytest.raises(Quarantined, match="new version"):
            ledger.relax("r", TABLE, epsilon=2)
        assert ledger.view("r", epsilon="1/4").table
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1, version=2)
        assert ledger.spent(dataset="r") == level(6)
        ledger.relax("r", TABLE, epsilon=2, version=2)
        assert ledger.verify()
        with pytest.raises(OutOfRange, match="quarantine"):
            ledger.resume("again")


def test_a_receipt_of_lost_events_holds_once_they_are_charged(here):
    """Also after a second loss, of the event that charged the first; not for events that no witness knew."""
    receipts = []

    def after(ledger):
        ledger.relax("r", TABLE, epsilon=2)
        receipts.append(ledger.receipt())
        ledger.view("r", epsilon=1)

    put_back(here, after)
    for _ in range(2):
        with opened(here) as ledger:
            ledger.resume("the disk died")
            ledger.check(receipts[0])
            ledger.publish("s", TABLE, ut.Promise(**PROMISE), epsilon=1, dataset="r")
            receipts.append(ledger.receipt())
            assert ledger.status().quarantine is None
        shutil.copy(here / "old.db", here / "l.db")
    shutil.copy(here / "old.w", here / "w")
    with opened(here) as ledger, pytest.raises(Quarantined):
        ledger.check(receipts[1])
    with opened(here) as ledger:
        ledger.resume("ledger and witness were put back", {"r": 9})
        for receipt in receipts:
            with pytest.raises(Quarantined):
                ledger.check(receipt)


def test_losing_only_views_costs_nothing(here):
    """A view is a function of stored responses and of random bits: the release may be relaxed as before."""
    put_back(here, lambda ledger: ledger.view("r", epsilon="1/4").table)
    with opened(here) as ledger:
        ledger.resume("restored")
        assert ledger.spent("r") == level("1/2")
        assert ledger.relax("r", TABLE, epsilon=2).table


def test_a_budget_that_was_set_and_lost_is_set_again(here):
    """The witness has the limit; if the ledger has another one since, the smaller limit applies."""

    def after(ledger):
        ledger.budget("r", limit=4)
        for name in "st":
            with pytest.warns(BudgetUnused, match=f"no release names dataset '{name}'"):
                ledger.budget(name, limit=1)

    put_back(here, after)
    with opened(here, witness=here / "old.w") as ledger:
        for name, limit in (("s", 3), ("t", "1/3")):
            with pytest.warns(BudgetUnused):
                ledger.budget(name, limit=limit)
    with opened(here) as ledger:
        ledger.resume("restored")
        assert [ledger.budget(name).limit for name in "rst"] == [level(4), level(1), level("1/3")]


def test_two_histories_are_charged_with_both(here):
    """A copy that was written to with a copy of its witness, and the original: two continuations of one response."""
    put_back(here, lambda ledger: ledger.relax("r", TABLE, epsilon=2).table, keep="copy.db")
    with opened(here, witness=here / "old.w") as copy:
        copy.relax("r", TABLE, epsilon=3)
    with opened(here) as ledger:
        assert "another history" in ledger.status().quarantine
        with pytest.raises(Quarantined):
            ledger.view("r", epsilon=3)
        ledger.resume("two copies were in use")
        # 3 is in the books; 2 and the common 1/2 are charged.
        assert ledger.spent(dataset="r") == level("11/2")


def test_without_a_witness_somebody_must_say_what_is_missing(here):
    """A ledger without its witness is in quarantine; after resume none of its releases can be relaxed."""
    with opened(here) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
    (here / "w").unlink()
    with opened(here) as ledger:
        assert "witness is missing" in ledger.status().quarantine
        with pytest.raises(OutOfRange, match="missing="):
            ledger.resume("the witness was lost")
        ledger.resume("the witness was lost", missing={"r": "1/2"})
        assert ledger.spent(dataset="r") == level("3/2")
        with pytest.raises(Quarantined):
            ledger.relax("r", TABLE, epsilon=2)


def test_a_lost_loss_is_charged_again(here):
    """A loss that was charged in a first quarantine is charged again after a second rollback."""
    put_back(here, lambda ledger: ledger.relax("r", TABLE, epsilon=2).table)
    shutil.copy(here / "l.db", here / "older.db")
    with opened(here) as ledger:
        ledger.resume("first")
    shutil.copy(here / "older.db", here / "l.db")
    with opened(here) as ledger:
        ledger.resume("second")
        assert ledger.spent(dataset="r") == level(2)
        with pytest.raises(Quarantined):
            ledger.relax("r", TABLE, epsilon=3)


def test_a_mechanism_that_was_closed_stays_closed_after_another_rollback(here):
    """Otherwise a person who was answered in the first lost history would get a second answer."""

    def answered(ledger, *persons):
        return ledger.respond("coin", COIN, dict.fromkeys(persons, 0))

    with opened(here) as ledger:
        first = answered(ledger, "kept")
        shutil.copy(here / "l.db", here / "old.db")
        answered(ledger, "lost")
    for reason in ("first", "second"):
        shutil.copy(here / "old.db", here / "l.db")
        with opened(here) as ledger:
            ledger.resume(reason)
            assert answered(ledger, "kept") == first
            with pytest.raises(Quarantined):
                answered(ledger, "lost")


def test_an_open_ledger_notices_a_rollback_itself(here):
    """The state that a process has read detects a rollback, too."""
    with opened(here, witness=False) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon="1/2")
        shutil.copy(here / "l.db", here / "old.db")
        ledger.relax("r", TABLE, epsilon=2)
        shutil.copy(here / "old.db", here / "l.db")
        with pytest.raises(Quarantined, match="witness shows"):
            ledger.relax("r", TABLE, epsilon=2)


def test_receipts_tell_a_rollback(here):
    """A line of text detects a rollback; from then on the ledger is in quarantine."""
    with opened(here, witness=False) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon="1/2")
        early = ledger.receipt()
        shutil.copy(here / "l.db", here / "old.db")
        ledger.relax("r", TABLE, epsilon=2)
        late = ledger.receipt()
        ledger.check(early)
        ledger.check(late)
        for forged in ("", "a:\ud800", f"\ud800{late}", f"{late}\ud800", early.replace(":2:", ":3:"), late[:-1], None):
            with pytest.raises(KeyRefused, match=r"^receipt"):
                ledger.check(forged)
    shutil.copy(here / "old.db", here / "l.db")
    with opened(here, witness=False) as ledger:
        ledger.check(early)
        with pytest.raises(KeyRefused, match="receipt"):
            ledger.check(late.replace(":3:", ":2:"))
        with pytest.raises(Quarantined):
            ledger.check(late)
    with opened(here, witness=False) as ledger:
        assert "receipt" in ledger.status().quarantine
        with pytest.raises(OutOfRange, match="missing="):
            ledger.resume("rolled back")
        ledger.resume("rolled back", missing={"r": 2})
        assert ledger.spent(dataset="r") == level("5/2")


def test_the_witness_is_told_before_anything_is_said(here, monkeypatch):
    """A process that dies between commit and witness has returned nothing; the next call settles before it answers."""
    with opened(here) as ledger:
        with monkeypatch.context() as patched:
            the_process_dies_before_the_witness_is_told(patched)
            with pytest.raises(OSError, match="died"):
                ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
            with pytest.raises(OSError, match="died"):
                ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
        assert last_event(here / "w") == 2


def test_a_damaged_witness_is_found(here):
    """The chain covers the events of the witness, as it does those of the ledger."""
    import sqlite3

    with opened(here) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
        assert ledger.verify()
        with closing(sqlite3.connect(here / "w")) as connection, connection:
            connection.execute("UPDATE utmost_witness SET body = ? WHERE number = 1", (b"{}",))
        connection.close()
        with pytest.raises(LedgerDamaged):
            ledger.verify()
        (here / "w").write_bytes(b"no witness at all" * 100)
        with pytest.raises(LedgerDamaged):
            ledger.relax("r", TABLE, epsilon=2)
        assert ledger.spent("r") == level(1)


def test_a_witness_of_another_ledger_is_refused(here):
    with Ledger.open(here / "other.db", create=True, key=KEY, witness=here / "w"):
        pass
    with opened(here, witness=here / "own") as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
    with opened(here) as ledger:
        with pytest.raises(Quarantined):
            ledger.relax("r", TABLE, epsilon=2)
        with pytest.raises(KeyRefused, match="of another ledger"):
            ledger.resume("wrong witness")


def test_a_backup_restores_everything_and_is_found_out(place, reopened, ledger, tmp_path):
    """From either store: the restored ledger repeats its answers, and gives no new one before it is resumed."""
    first = ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon="1/2").table
    ledger.backup(tmp_path / "backup.db")
    with pytest.raises(OutOfRange, match="new file"):
        ledger.backup(tmp_path / "backup.db")
    ledger.relax("r", TABLE, epsilon=2)
    with pytest.raises(OutOfRange, match="without a ledger"):
        Ledger.restore(tmp_path / "backup.db", place, key=KEY, witness=tmp_path / "witness")
    with Ledger.restore(tmp_path / "backup.db", tmp_path / "new.db", key=KEY, witness=tmp_path / "witness") as other:
        assert other.status().quarantine == "it was restored from a backup"
        assert other.view("r", epsilon="1/2").table == first
        with pytest.raises(Quarantined):
            other.view("r", epsilon="1/4")
        other.resume("the server was lost")
        assert other.spent(dataset="r") == level(2)
        assert other.verify()
    assert Path(tmp_path / "backup.db").exists()


def test_a_damaged_backup_is_not_restored(here):
    with opened(here) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
        ledger.backup(here / "b.db")
    content = bytearray((here / "b.db").read_bytes())
    at = content.index(b'"published"')
    content[at + 3] ^= 1
    (here / "b.db").write_bytes(content)
    with pytest.raises(LedgerDamaged):
        Ledger.restore(here / "b.db", here / "new.db", key=KEY)
    with pytest.raises(OutOfRange, match=r"nothing\.db"):
        Ledger.restore(here / "nothing.db", here / "new.db", key=KEY)


def test_derived_noise_repeats_itself_after_a_rollback(here):
    """After a rollback a ledger gives the answers that it gave, or would have given, in any order."""
    options = {"derived": True, "witness": False}
    with opened(here, **options) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon="1/4")
        shutil.copy(here / "l.db", here / "old.db")
        higher = ledger.relax("r", TABLE, epsilon=2).table
        lower, between = ledger.view("r", epsilon="1/8").table, ledger.view("r", epsilon=1).table
    shutil.copy(here / "old.db", here / "l.db")
    with opened(here, **options) as ledger:
        assert ledger.relax("r", TABLE, epsilon=1).table == between
        assert ledger.relax("r", TABLE, epsilon=2).table == higher
        assert ledger.view("r", epsilon="1/8").table == lower


@pytest.mark.parametrize("watched", [True, False])
def test_noise_by_item_is_closed_in_a_ledger_of_derived_noise_too(here, watched):
    """Its nodes depend on the order of levels: 0.1, 0.3 lost, and 0.1, 0.2, 0.3 would be two continuations of 0.1,
    which cost 0.3 + 0.3 + 0.1, where the spent level would be 0.5."""
    options = {"derived": True} | ({} if watched else {"witness": False})
    table, items = TABLE | {"id": ["a", "b", "c"]}, {"public": "id", "id_column": "id", "keyed_by_id": True}
    ids, committed = [Identifiers.of(["a", "b", "c"])], {"n": [10, 20, 30]}
    with opened(here, **options) as ledger:
        ledger.publish("rows", TABLE, ut.Promise(**PROMISE), epsilon="0.1", dataset="d")
        ledger.publish("kept", table, ut.Promise(**PROMISE, **items), epsilon="0.1", dataset="d")
        sums = ledger.items.commitment_key("engine", ut.Promise(columns="n", unit=ut.Unit(1, 1))).committed(
            ids, committed
        )
        publish_items(ledger, "engine", sums, ut.Promise(id_column="id", **PROMISE), epsilon="0.1", dataset="d")
        shutil.copy(here / "l.db", here / "old.db")
        lost = ledger.relax("rows", TABLE, epsilon="0.3").table
        ledger.relax("kept", table, epsilon="0.3")
        ledger.items.relax("engine", sums, epsilon="0.3")
        receipt = ledger.receipt()
    shutil.copy(here / "old.db", here / "l.db")
    with opened(here, **options) as ledger:
        if not watched:
            with pytest.raises(Quarantined):
                ledger.check(receipt)
        ledger.resume("rolled back", missing=None if watched else {"d": "0.6"})
        assert ledger.spent(dataset="d") == level("0.9")
        assert ledger.relax("rows", TABLE, epsilon="0.2").table
        assert ledger.relax("rows", TABLE, epsilon="0.3").table == lost
        with pytest.raises(Quarantined, match="new version"):
            ledger.relax("kept", table, epsilon="0.2")
        with pytest.raises(Quarantined, match="new version"):
            ledger.items.relax("engine", sums, epsilon="0.2")
        assert ledger.view("kept", epsilon="0.05").table


def test_a_receipt_of_another_ledger_with_the_same_key_is_refused(here):
    """Such a receipt does not concern this ledger, which is not quarantined."""
    with Ledger.open(here / "other.db", create=True, key=KEY, witness=here / "v") as other:
        other.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
        receipt = other.receipt()
    with opened(here) as ledger:
        with pytest.raises(KeyRefused, match="of another ledger"):
            ledger.check(receipt)
        assert ledger.status().quarantine is None


def test_backups_made_at_once_are_one_or_none(here, monkeypatch):
    """Of two simultaneous backups with one name, one is made, and the other finds the name taken; neither disturbs the
    other."""
    with opened(here) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
        a_call_while_a_backup_is_copied(monkeypatch, lambda: ledger.backup(here / "b.db"))
        with pytest.raises(OutOfRange, match=r"^backup"):
            ledger.backup(here / "b.db")
        assert not list(here.glob("*.part*"))
    assert Ledger.restore(here / "b.db", here / "new.db", key=KEY).verify().events == 3


def test_another_event_in_the_place_of_a_pending_one_is_a_quarantine(here, monkeypatch):
    """A process dies between witness and commit; another writes without the witness. The pending draw was never
    returned; but whoever writes without the witness may write anything, so the ledger goes into quarantine and nothing
    is dropped."""
    with opened(here) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon="1/2")
        shutil.copy(here / "l.db", here / "before.db")
        shutil.copy(here / "w", here / "copy.w")
        with monkeypatch.context() as patched:
            the_process_dies_before_the_witness_is_told(patched)
            with pytest.raises(OSError, match="died"):
                ledger.relax("r", TABLE, epsilon=2)
    shutil.copy(here / "before.db", here / "l.db")  # it had not been committed
    with opened(here, witness=here / "copy.w") as past:
        past.relax("r", TABLE, epsilon=3)
    with opened(here) as ledger:
        assert "another history" in ledger.status().quarantine
        for call in (lambda: ledger.relax("r", TABLE, epsilon=4).table, lambda: ledger.view("r", epsilon=3).table):
            with pytest.raises(Quarantined):
                call()
        assert ledger.view("r", epsilon="1/2").table
        assert pending(here / "w") == 1
        ledger.resume("written past the witness")
        assert ledger.spent(dataset="r") >= level(3)  # what was drawn and perhaps said counts
        assert ledger.status().quarantine is None
        assert ledger.view("r", epsilon="1/2").table


def test_a_mechanism_that_lost_no_answer_goes_on(here):
    """A rollback lost a relaxation, but no person's answer: nobody could be answered twice, so new persons are
    answered."""
    with opened(here) as ledger:
        first = ledger.respond("coin", COIN, {"ada": 0}, independent=True)
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon="1/2")
        shutil.copy(here / "l.db", here / "old.db")
        ledger.relax("r", TABLE, epsilon=2)
    shutil.copy(here / "old.db", here / "l.db")
    with opened(here) as ledger:
        ledger.resume("a test")
        assert ledger.respond("coin", COIN, {"ada": None}, independent=True) == first
        assert set(ledger.respond("coin", COIN, {"ben": 1}, independent=True)) == {"ben"}


@pytest.mark.parametrize("change", ["mac = 7", "number = number + 0.5"])
def test_a_witness_that_holds_no_event_is_damaged(here, change):
    """A mac that is a number, or a number that is none, is refused as damage, and not taken for another history."""
    with opened(here) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon="1/2")
    with closing(sqlite3.connect(here / "w")) as connection, connection:
        connection.execute(
            f"UPDATE utmost_witness SET {change} WHERE number = (SELECT max(number) FROM utmost_witness)"
        )
    with pytest.raises(LedgerDamaged, match=r"witness.*events"):
        last_event(here / "w")


@pytest.mark.parametrize("sealed", [True, False])
def test_a_witness_leaves_no_response_that_can_be_read(tmp_path, sealed):
    """The pending responses of an unencrypted ledger are overwritten; those of an encrypted one are only deleted, and
    were never readable."""
    table = {"n": [123456789] * 4000}
    with Ledger.open(tmp_path / "l.db", create=True, sealed=sealed) as ledger:
        ledger.publish("r", table, ut.Promise(columns="n", noise=ut.CellNoise(ut.Unit(1, 1), largest=10**9)), epsilon=5)
        parts = [content for _, part, content in _parts_of(tmp_path / "l.db") if part]
    held = (tmp_path / "l.db.witness").read_bytes()
    assert parts
    assert not pending(tmp_path / "l.db.witness")
    if not sealed:
        assert not any(part[at : at + 64] in held for part in parts for at in range(0, len(part) - 64, 64))
    assert (123456789 + (1 << 31)).to_bytes(4, "little")[1:] * 2 not in held


def _parts_of(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT event, part, content FROM utmost_parts").fetchall()


def test_a_repeated_answer_without_the_witness_warns(here):
    """A nightly job that repeats yesterday's table sees at once what would refuse tomorrow's."""
    with opened(here) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
    (here / "w").rename(here / "away")
    with opened(here) as ledger:
        with pytest.warns(PrivacyWarning, match=r"witness of this ledger is missing: .*w\. .*Put the file back"):
            ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
        with pytest.raises(Quarantined):
            ledger.publish("s", TABLE, ut.Promise(**PROMISE), epsilon=1)
    (here / "w").unlink(missing_ok=True)
    (here / "away").rename(here / "w")
    with opened(here) as ledger, warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
