"""A lost ledger is not silently created again: a mark beside its key records that it was created."""

import shutil
from concurrent.futures import ProcessPoolExecutor

import pytest

import utmost as ut
from utmost.errors import LedgerUnavailable, OutOfRange
from utmost.ledger import Ledger

TABLE, PROMISE = {"n": [1, 2]}, {"columns": "n", "unit": ut.Unit(1, 1)}


def begun(place, key_file, **options):
    with Ledger.open(place, create=True, key=key_file, **options) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)


def lose(place, folder):
    """Delete the ledger and its witness, as after a move that left the key behind."""
    if isinstance(place, str):
        import psycopg

        with psycopg.connect(place, autocommit=True) as connection:
            (schema,) = connection.execute("SELECT current_schema()").fetchone()
            connection.execute(f"DROP SCHEMA {schema} CASCADE; CREATE SCHEMA {schema}")
    else:
        place.unlink()
    for file in folder.glob("*witness*"):
        file.unlink()


def write_key(path):
    path.write_text(bytes(range(32)).hex())
    path.chmod(0o600)


def test_a_lost_ledger_is_refused_until_somebody_says_to_start_over(place, tmp_path):
    key_file = tmp_path / "a.key"
    write_key(key_file)
    begun(place, key_file)
    with Ledger.open(place, create=True, key=key_file) as ledger:
        assert ledger.spent("r") is not None, "what is there is opened as before"
    lose(place, tmp_path)
    with pytest.raises(LedgerUnavailable, match=r"Ledger\.restore.*remove the line") as refused:
        Ledger.open(place, create=True, key=key_file)
    marks = tmp_path / "a.key.ledgers"
    assert str(marks) in str(refused.value)
    assert isinstance(place, str) or not place.exists()
    title, line = marks.read_text().splitlines()
    assert repr(line) in str(refused.value), "the error says which line to remove"
    marks.write_text(f"{title}\n")
    begun(place, key_file)
    assert marks.read_text().splitlines() == [title, line]


def test_a_key_that_was_not_used_is_that_of_a_new_installation(tmp_path):
    """A key may exist before its first ledger; and one key may serve several ledgers."""
    key_file = tmp_path / "shared.key"
    write_key(key_file)
    for name in ("a.db", "b.db"):
        begun(tmp_path / name, key_file)
    assert (tmp_path / "shared.key.ledgers").read_text().splitlines()[1:] == ["a.db", "b.db"]


def test_the_usual_key_beside_a_ledger_and_a_folder_that_was_moved(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    begun(home / "l.db", None)
    moved = home.rename(tmp_path / "moved")
    with Ledger.open(moved / "l.db", create=True) as ledger:
        assert ledger.verify().events == 2
        ledger.backup(tmp_path / "backup.db")
    lose(moved / "l.db", moved)
    with pytest.raises(LedgerUnavailable, match="must exist"):
        Ledger.open(moved / "l.db", create=True)
    with Ledger.restore(tmp_path / "backup.db", moved / "l.db") as restored:
        assert restored.levels("r")


def test_a_restored_ledger_is_marked_as_well(tmp_path):
    begun(tmp_path / "l.db", None)
    with Ledger.open(tmp_path / "l.db") as ledger:
        ledger.backup(tmp_path / "backup.db")
    shutil.copy2(tmp_path / "l.db.key", tmp_path / "copy.key")
    Ledger.restore(tmp_path / "backup.db", tmp_path / "second.db", key=tmp_path / "copy.key").close()
    lose(tmp_path / "second.db", tmp_path)
    with pytest.raises(LedgerUnavailable, match="must exist"):
        Ledger.open(tmp_path / "second.db", create=True, key=tmp_path / "copy.key")


def test_a_key_in_no_file_has_no_mark(tmp_path):
    begun(tmp_path / "l.db", bytes(range(32)))
    assert list(tmp_path.glob("*.ledgers")) == []
    lose(tmp_path / "l.db", tmp_path)
    begun(tmp_path / "l.db", bytes(range(32)))


def test_processes_that_begin_one_ledger_at_once_all_succeed(tmp_path):
    with ProcessPoolExecutor(4) as pool:
        assert list(pool.map(_events, [tmp_path / "l.db"] * 4)) == [1] * 4


def _events(place):
    with Ledger.open(place, create=True) as ledger:
        return ledger.verify().events


def test_a_ledger_that_was_moved_is_noted_at_its_new_place(tmp_path):
    """It was not: if it was lost there, another one could be created with all budgets forgotten."""
    key_file, home, new = tmp_path / "shared.key", tmp_path / "home", tmp_path / "new"
    write_key(key_file)
    home.mkdir()
    new.mkdir()
    begun(home / "l.db", key_file)
    for file in home.glob("l.db*"):
        file.rename(new / file.name)
    for options in ({}, {"create": True}):
        with pytest.raises(LedgerUnavailable, match="If the ledger was moved, pass its new path"):
            Ledger.open(home / "l.db", key=key_file, **options)
    with Ledger.open(new / "l.db", key=key_file) as ledger:
        assert ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1).level == ledger.spent("r")
    assert (tmp_path / "shared.key.ledgers").read_text().splitlines()[1:] == ["home/l.db", "new/l.db"]
    lose(new / "l.db", new)
    for options in ({}, {"create": True}, {"create": True, "witness": new / "another"}):
        with pytest.raises(LedgerUnavailable, match=r"Ledger\.restore"):
            Ledger.open(new / "l.db", key=key_file, **options)


def test_the_witness_of_a_lost_ledger_is_not_simply_replaced(tmp_path):
    """At a third place the witness may be of a ledger that was lost: the remedy says what is at risk."""
    key_file = tmp_path / "shared.key"
    write_key(key_file)
    begun(tmp_path / "l.db", key_file, witness=tmp_path / "w")
    (tmp_path / "l.db").unlink()
    with pytest.raises(OutOfRange, match="If the other ledger is lost, restore it: a new ledger forgets its budgets"):
        Ledger.open(tmp_path / "other.db", create=True, key=key_file, witness=tmp_path / "w")
