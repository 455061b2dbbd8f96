"""R6: the power goes at any point of the disk's traffic; whatever was answered before is there, and all is whole.

What this shows: every write, truncation, sync, creation and deletion that SQLite asks of the operating system is
recorded while the ledger works, the witness's included. A cut keeps what was synced, and of what was not a random part,
sector by sector, in any order. What it takes on trust is that a sync means what it says, and that sectors of 512 bytes
are written whole or not at all.
"""

import random
import shutil
import sqlite3

import pytest

from disk import after_power_cut, library, recording
from reliability.clients import NEEDED, Record, ask, random_request
from utmost.ledger import Ledger

pytestmark = pytest.mark.skipif(library() is None, reason="SQLite is built into Python here")


def recorded_life(folder, requests, seed):
    """A ledger at work: the operations of the disk, and after how many of them each answer was given."""
    operations, given, rng = [], [], random.Random(seed)
    with recording(operations), Ledger.open(folder / "l.db", create=True) as ledger:
        given.append((len(operations), None))
        for _ in range(requests):
            item, level, how = random_request(rng, items=5)
            try:
                values = ask(ledger, item, level, how)
            except NEEDED:
                continue
            given.append((len(operations), [item, level, values]))
    return operations, given


def check_after_cut(operations, given, seed, folder, key):
    """Everything that was given before the cut is given again, or the ledger had not been made yet."""
    after_power_cut(operations, seed, folder)
    shutil.copy(key, folder / key.name)
    record = Record()
    record.take([line for at, line in given if at <= len(operations) and line is not None])
    with Ledger.open(folder / "l.db", create=True) as ledger:
        record.check(ledger)
        assert ledger.status().quarantine is None or not record.answers
    return len(record.answers)


def survive_power_cuts(tmp_path, cuts, requests):
    life = tmp_path / "life"
    life.mkdir()
    operations, given = recorded_life(life, requests, seed=6)
    rng, kept = random.Random(66), 0
    for cut in range(cuts):
        folder = tmp_path / f"cut{cut}"
        folder.mkdir()
        point = given[0][0] + rng.randrange(len(operations) - given[0][0] + 1)
        kept += check_after_cut(operations[:point], given, cut, folder, life / "l.db.key")
        shutil.rmtree(folder)
    return kept


@pytest.mark.slow
def test_five_hundred_power_cuts(tmp_path):
    print(survive_power_cuts(tmp_path, cuts=600, requests=60), "answers found again")


def lost_after_cuts(tmp_path, synchronous, cuts=60):
    """How often a plain table of SQLite loses a commit, or more, to a cut."""
    operations, marks = [], []
    with recording(operations):
        connection = sqlite3.connect(tmp_path / f"{synchronous}.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode=DELETE"), connection.execute(f"PRAGMA synchronous={synchronous}")
        connection.execute("CREATE TABLE t (n INTEGER, text TEXT)")
        for n in range(1, 9):
            marks.append((len(operations), n - 1))
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO t VALUES (?, ?)", [(n, "x" * 400)] * 20)
            connection.execute("COMMIT")
        connection.close()
    rng, lost = random.Random(1), 0
    for cut in range(cuts):
        folder = tmp_path / f"{synchronous}{cut}"
        folder.mkdir()
        point = rng.randrange(marks[0][0], len(operations) + 1)
        after_power_cut(operations[:point], cut, folder)
        try:
            found = (
                sqlite3.connect(folder / f"{synchronous}.db")
                .execute("SELECT COALESCE(MAX(n), 0), COUNT(*) FROM t")
                .fetchone()
            )
        except sqlite3.DatabaseError:
            found = (0, -1)
        promised = max(n for at, n in marks if at <= point)
        lost += found[0] < promised or found[1] != 20 * found[0]
    return lost


def test_the_simulated_cuts_tell_a_disk_that_is_synced_from_one_that_is_not(tmp_path):
    """With synchronous=EXTRA, as the ledger has it, a plain table loses nothing; without syncs it loses a lot."""
    assert lost_after_cuts(tmp_path, "EXTRA") == 0
    assert lost_after_cuts(tmp_path, "OFF") > 10
