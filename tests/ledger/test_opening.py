"""Opening a ledger: allowed places, and what is refused before anything is created."""

import os
import shutil
import sqlite3

import pytest

import utmost as ut
from asking import asked
from ledger.crash_points import (
    a_look_around_every_write,
    the_draws_of_a_key_drift,
    the_store_cannot_write,
    the_witness_has_no_room,
)
from postgres import fresh_database
from utmost.errors import (
    AlreadyPublished,
    BudgetExceeded,
    LedgerUnavailable,
    NotANumber,
    NotPublished,
    OutOfRange,
    Unsupported,
    WrongKind,
)
from utmost.exact import level
from utmost.ledger import Ledger
from utmost.testing import seeded_ledger

KEY = bytes(range(32))
TABLE = {"n": [10, 20, 30]}
PROMISE = {"columns": "n", "unit": ut.Unit(1, 1)}


@pytest.mark.parametrize("place", [":memory:", "sqlite:///:memory:", "", 7, None, "mysql://host/db", "http://host"])
def test_a_place_must_be_a_path_or_an_address(place):
    with pytest.raises((OutOfRange, WrongKind)):
        Ledger.open(place, create=True, key=KEY)


@pytest.mark.parametrize(
    "wrong",
    [{"sealed": 1}, {"derived": "yes"}]
    + [{"timeout": wrong} for wrong in (-1, True, float("nan"), "soon")]
    + [{"witness": wrong} for wrong in (True, "", 3)],
    ids=str,
)
def test_options_are_read_strictly(tmp_path, wrong):
    with pytest.raises((OutOfRange, NotANumber, WrongKind)):
        Ledger.open(tmp_path / "l.db", create=True, key=KEY, **wrong)
    assert list(tmp_path.iterdir()) == []


def test_without_psycopg_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(Unsupported, match=r"utmost\[postgres\]"):
        Ledger.open("postgresql://host/db", create=True, key=KEY)


def test_every_way_to_name_a_file_is_the_same_ledger(tmp_path):
    for place in (tmp_path / "l.db", f"{tmp_path}/l.db", f"sqlite:///{tmp_path}/l.db"):
        with Ledger.open(place, create=True, key=KEY) as ledger:
            ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
            assert len(ledger.releases) == 1
            assert ledger.status().place == str(tmp_path / "l.db")


def test_a_file_name_with_odd_characters_is_that_file(tmp_path):
    with Ledger.open(tmp_path / "a?b #1%.db", create=True, key=KEY) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
    assert (tmp_path / "a?b #1%.db").exists()


def test_how_a_ledger_was_made_stays(tmp_path):
    """Options for a new ledger do not change an existing one."""
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY, sealed=False, derived=True) as ledger:
        assert (ledger.status().sealed, ledger.status().derived) == (False, True)
    with Ledger.open(tmp_path / "l.db", key=KEY) as ledger:
        assert (ledger.status().sealed, ledger.status().derived) == (False, True)


def test_a_file_that_cannot_be_written_is_a_typed_error(tmp_path):
    with pytest.raises(LedgerUnavailable):
        Ledger.open(tmp_path, create=True, key=KEY)


def test_spent_is_asked_of_one_thing(tmp_path):
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        for wrong in ({}, {"name": "r", "dataset": "r"}):
            with pytest.raises(OutOfRange, match="exactly one"):
                ledger.spent(**wrong)


def test_history_is_told_by_release_and_by_dataset(tmp_path):
    """The history of a dataset has its releases, its limits and its losses."""
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        ledger.budget("d", limit=9)
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1, dataset="d")
        ledger.relax("r", TABLE, epsilon=2)
        ledger.publish("s", TABLE, ut.Promise(**PROMISE), epsilon=1, independent=True)
        assert [event.kind for event in ledger.history(dataset="d")] == ["budgeted", "published", "answered"]
        assert [event.number for event in ledger.history("r", dataset="d")] == [3, 4]
        assert [event.kind for event in ledger.history("s")] == ["published"]
        assert ledger.history("r", dataset="s") == ()
        for ask in (ledger.budget, lambda name: ledger.history(dataset=name)):
            with pytest.raises(NotPublished, match=r"'studnets'.*'d', 's'"):
                ask("studnets")


def test_a_version_stays_in_its_dataset(tmp_path):
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
        with pytest.raises(OutOfRange, match="dataset='r'"):
            ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1, version=2, dataset="d")
        with pytest.raises(AlreadyPublished):
            ledger.publish(
                "r", {**TABLE, "who": ["a", "b", "c"]}, ut.Promise(id_column="who", drop="who", **PROMISE), epsilon=1
            )


def test_a_loss_between_levels_of_other_bases_is_rounded_up(tmp_path):
    """From alpha = 1/2 to epsilon = 1 the loss is 1 - ln 2, rounded up."""
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=ut.level(alpha="1/2"))
        shutil.copy(tmp_path / "l.db", tmp_path / "before.db")
        ledger.relax("r", TABLE, epsilon=1)
    shutil.copy(tmp_path / "before.db", tmp_path / "l.db")
    with Ledger.open(tmp_path / "l.db", key=KEY) as ledger:
        ledger.resume("a test")
        assert 1 <= ledger.spent(dataset="r").epsilon < 1 + 1e-12


def test_derived_noise_with_half_steps_and_its_check(tmp_path):
    """The position in the uniform block is derived, too; stored noise that differs from the derived noise is
    refused."""
    options = {"columns": "n", "noise": ut.CellNoise(ut.Unit(5, 1), half_step=True)}
    with seeded_ledger(tmp_path / "a.db", 0, derived=True) as ledger:
        one = ledger.publish("r", TABLE, **asked(epsilon=1, **options)).table
        far = ledger.relax("r", TABLE, epsilon=300).table
        assert ledger.view("r", epsilon=2).table
    with seeded_ledger(tmp_path / "b.db", 0, derived=True) as ledger:
        assert ledger.publish("r", TABLE, **asked(epsilon=300, **options)).table == far
        assert ledger.view("r", epsilon=1).table == one


def test_derived_noise_that_drifted_is_refused(tmp_path, monkeypatch):
    """If a later version drew other noise, relaxing would not have the joint distribution."""
    with Ledger.open(tmp_path / "a.db", create=True, key=KEY, derived=True) as ledger:
        ledger.publish("r", {"n": list(range(50))}, ut.Promise(**PROMISE), epsilon="1/4")
        the_draws_of_a_key_drift(monkeypatch)
        with pytest.raises(Unsupported, match="the key determines"):
            ledger.relax("r", {"n": list(range(50))}, epsilon=1)


def test_a_ledger_is_made_only_where_one_is_asked_for(place):
    """A misspelt place is an error with a remedy, and nothing is created there."""
    options = {"key": KEY, "witness": False}
    with pytest.raises(LedgerUnavailable, match="create=True"):
        Ledger.open(place, **options)
    with Ledger.open(place, create=True, **options) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
    with Ledger.open(place, **options) as ledger, Ledger.open(place, create=True, **options) as other:
        assert ledger.levels("r") == other.levels("r") == (level(1),)


def test_nothing_is_left_of_a_ledger_that_was_not_made(tmp_path):
    with pytest.raises(LedgerUnavailable):
        Ledger.open(tmp_path / "l.db")
    assert list(tmp_path.iterdir()) == []


def test_whether_a_witness_is_kept_is_settled_when_the_ledger_is_made(tmp_path):
    """The first event says so, under the chain: opening without the witness later is refused."""
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        assert ledger.history()[0].facts["witness"] is True
    with pytest.raises(OutOfRange, match="witness=False"):
        Ledger.open(tmp_path / "l.db", witness=False)
    with Ledger.open(tmp_path / "m.db", create=True, witness=False) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
        assert ledger.history()[0].facts["witness"] is False
    with Ledger.open(tmp_path / "m.db") as ledger:
        assert ledger.status().quarantine is None
    assert not (tmp_path / "m.db.witness").exists()


def test_a_ledger_on_a_server_keeps_its_witness_beside_its_key(tmp_path):
    """One key may serve several ledgers; if the key is not in a file, pass the path of the witness, or False for
    none."""
    (tmp_path / "k").write_text("ab" * 32)
    (tmp_path / "k").chmod(0o600)
    places = fresh_database(), fresh_database()
    for at in places:
        with Ledger.open(at, create=True, key=tmp_path / "k") as ledger:
            ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
    assert len(list(tmp_path.glob("k.*.witness"))) == 2
    with Ledger.open(places[0], key=tmp_path / "k") as ledger:
        assert ledger.status().quarantine is None
    for call in (
        lambda: Ledger.open(places[0], key=bytes.fromhex("ab" * 32)),
        lambda: Ledger.open(fresh_database(), create=True, key=KEY),
    ):
        with pytest.raises(OutOfRange, match="witness=PATH"):
            call()


@pytest.mark.skipif(os.name != "posix", reason="there are no modes here")
@pytest.mark.parametrize("umask", [0, 0o022, 0o277])
def test_the_files_of_a_ledger_are_their_owners_alone(tmp_path, umask):
    """Ledger, witness, key, backup and journals have mode 0600 from their creation on, also during a transaction."""
    old, modes = os.umask(umask), {}

    def note(*_):
        for path in tmp_path.iterdir():
            modes.setdefault(path.name, set()).add(path.stat().st_mode & 0o777)

    try:
        with Ledger.open(tmp_path / "l.db", create=True, sealed=False) as ledger:
            ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1, progress=note)
            with pytest.MonkeyPatch.context() as patched:
                a_look_around_every_write(patched, note)
                ledger.relax("r", TABLE, epsilon=2)
                ledger.backup(tmp_path / "backup")
            note()
    finally:
        os.umask(old)
    assert {"l.db", "l.db.key", "l.db.witness", "l.db-journal", "l.db.witness-journal", "backup"} <= set(modes)
    assert set.union(*modes.values()) == {0o600}


@pytest.mark.parametrize("cause", ["locked", "a folder", "a full disk"])
def test_where_the_witness_cannot_be_written_nothing_is_spent(tmp_path, monkeypatch, cause):
    """The witness is written first: the message says that nothing was spent, and this is true."""
    with Ledger.open(tmp_path / "l.db", create=True, timeout=0.05) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon="1/4")
        events = len(ledger.history())
        holder = sqlite3.connect(tmp_path / "l.db.witness", isolation_level=None)
        with monkeypatch.context() as patched:
            if cause == "locked":
                holder.execute("BEGIN IMMEDIATE")
            elif cause == "a folder":
                (tmp_path / "l.db.witness").rename(tmp_path / "w")
                (tmp_path / "l.db.witness").mkdir()
            else:
                the_witness_has_no_room(patched)
            with pytest.raises(LedgerUnavailable, match="Nothing was spent"):
                ledger.relax("r", TABLE, epsilon=1)
            holder.close()
        if cause == "a folder":
            (tmp_path / "l.db.witness").rmdir()
            (tmp_path / "w").rename(tmp_path / "l.db.witness")
        assert ledger.spent("r") == level("1/4")
        assert len(ledger.history()) == events
        assert ledger.relax("r", TABLE, epsilon=1).table
        assert ledger.status().quarantine is None


def test_a_commit_that_fails_is_carried_out_by_the_next_call(place, tmp_path, monkeypatch):
    """The witness holds the draw: the error says so, and the next call, the same or another one, finishes the
    commit."""
    with Ledger.open(place, create=True, key=KEY, witness=tmp_path / "w") as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon="1/4")
        with monkeypatch.context() as patched:
            tried = the_store_cannot_write(patched)
            for _ in range(2):
                with pytest.raises(LedgerUnavailable, match="is stored"):
                    ledger.relax("r", TABLE, epsilon=1)
        drawn = [events[-1] for events, _ in tried]
        assert drawn[0] == drawn[1]
        assert ledger.status().quarantine is None
        assert ledger.spent("r") == level("1/4")
        with pytest.raises(BudgetExceeded):
            ledger.budget("r", limit=1) and ledger.relax("r", TABLE, epsilon=2).table
        assert ledger.spent("r") == level(1)
        assert ledger.history()[2].time in drawn[0][1].decode()
        assert ledger.relax("r", TABLE, epsilon=1).table["n"] == ledger.view("r", epsilon=1).table["n"]
        assert ledger.verify()


def test_a_call_that_draws_nothing_is_told_of_an_earlier_draw(place, tmp_path, monkeypatch):
    """Its own level is not said to be spent; the draw of the failed call before it is."""
    with Ledger.open(place, create=True, key=KEY, witness=tmp_path / "w") as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon="1/4")
        with monkeypatch.context() as patched:
            the_store_cannot_write(patched)
            with pytest.raises(LedgerUnavailable, match="The draw is stored") as own:
                ledger.relax("r", TABLE, epsilon=1)
            with pytest.raises(LedgerUnavailable, match="nothing was drawn now") as later:
                ledger.relax("r", TABLE, epsilon=2)
        assert "same call again" in own.value.remedy
        assert "same call again" in later.value.remedy
        assert ledger.relax("r", TABLE, epsilon=1).table
        assert ledger.spent("r") == level(1)


@pytest.mark.parametrize("place", [".", "/", "sqlite:///."])
def test_a_place_without_a_name_is_refused(place):
    """Key and witness get their names from the ledger's name."""
    with pytest.raises(OutOfRange, match=r'"releases.db"'):
        Ledger.open(place, create=True)
