"""R13: full disks, failing writes and locks. A typed error, nothing half done, and the same value on the next try."""

import sqlite3
import time
from contextlib import closing, suppress

import pytest

from disk import FULL, IO_ERROR_DELETE, IO_ERROR_SYNC, IO_ERROR_WRITE, Disk, library
from reliability.clients import ask, first_level, table
from utmost.errors import LedgerUnavailable, UtmostError
from utmost.ledger import Ledger

watched = pytest.mark.skipif(library() is None, reason="SQLite is built into Python here")
FAILURES = {
    "full disk": ({"write", "open"}, FULL),
    "failing writes": ({"write", "truncate"}, IO_ERROR_WRITE),
    "failing syncs": ({"sync"}, IO_ERROR_SYNC),
    "failing deletions": ({"delete"}, IO_ERROR_DELETE),
}


def failing(kinds, code, first, times):
    """Refuse so many operations of these kinds, from the first-th on; says whether it did."""
    seen = [0]

    def before(operation):
        if operation.kind not in kinds:
            return 0
        seen[0] += 1
        return code if first < seen[0] <= first + times else 0

    return before, seen


def calls(ledger):
    """One call of each kind; the answers in order."""
    return [
        ask(ledger, 0, first_level(0), "publish"),
        ask(ledger, 0, "4", "relax"),
        ask(ledger, 0, "1", "view"),
        ask(ledger, 0, "1/4", "view"),
    ]


def survive_failures(tmp_path, failure, times, points):
    """Wherever the disk fails, an answer that got out stays, and what did not is settled by the next try."""
    kinds, code = FAILURES[failure]
    for first in points:
        place = tmp_path / f"{first}.db"
        with Ledger.open(place, create=True) as ledger:
            before, seen = failing(kinds, code, first, times)
            given = []
            with Disk(before), suppress(LedgerUnavailable):
                for level, how in (("1/4", "publish"), ("4", "relax"), ("1", "view")):
                    given.append((level, ask(ledger, 0, level, how)))
            again = calls(ledger)
            assert again == calls(ledger)
            assert ledger.verify()
            for level, values in given:
                assert ask(ledger, 0, level, "view") == values
        with Ledger.open(place) as ledger:
            assert calls(ledger) == again
        if seen[0] <= first:
            return
    pytest.fail("there is no end to the operations")


@watched
@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 10**9], ids=["once", "for good"])
@pytest.mark.parametrize("failure", FAILURES)
def test_every_operation_may_fail(tmp_path, failure, times):
    survive_failures(tmp_path, failure, times, range(400))


@watched
def test_a_witness_that_holds_nothing_is_not_said_to(tmp_path):
    """Its disk fails in the commit, before anything is there: nothing was spent, and the message says so."""
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        ask(ledger, 0, first_level(0), "publish")
        failing_syncs = Disk(lambda done: IO_ERROR_SYNC if done.kind == "sync" and ".witness" in done.path else 0)
        with failing_syncs, pytest.raises(LedgerUnavailable, match="Nothing was spent"):
            ask(ledger, 0, "4", "relax")
        assert len(ledger.levels("item 0")) == 1


@watched
def test_a_ledger_that_cannot_be_made(tmp_path):
    """Nothing is left that would look like a ledger; the next try makes one."""
    for first in range(0, 60, 3):
        place = tmp_path / f"{first}.db"
        before, seen = failing({"write", "open", "sync"}, FULL, first, 10**9)
        with Disk(before), suppress(LedgerUnavailable):
            Ledger.open(place, create=True).close()
        with Ledger.open(place, create=True) as ledger:
            assert calls(ledger)
        if seen[0] <= first:
            return
    pytest.fail("there is no end to the operations")


@pytest.mark.parametrize("spoiled", ["directory", "empty text", "other database"])
def test_what_is_no_ledger_is_refused_and_left_alone(tmp_path, spoiled):
    place = tmp_path / "l.db"
    if spoiled == "directory":
        place.mkdir()
    elif spoiled == "empty text":
        place.write_text("this is a letter, not a ledger\n" * 200)
    else:
        with closing(sqlite3.connect(place)) as other, other:
            other.execute("CREATE TABLE utmost_events (a)")
        other.close()
    before = place.read_bytes() if place.is_file() else None
    with pytest.raises(UtmostError):
        Ledger.open(place, create=True)
    assert (place.read_bytes() if place.is_file() else None) == before


def test_a_file_that_may_only_be_read(tmp_path):
    """Views of what is stored may be had or not; nothing new is answered, and nothing is lost."""
    place = tmp_path / "l.db"
    with Ledger.open(place, create=True) as ledger:
        first = ask(ledger, 0, first_level(0), "publish")
    place.chmod(0o400)
    # A superuser may write whatever the mode says.
    with suppress(LedgerUnavailable), Ledger.open(place) as ledger:
        ledger.relax("item 0", table(0), epsilon=4)
    place.chmod(0o600)
    with Ledger.open(place) as ledger:
        assert ask(ledger, 0, "1/4", "view") == first
        assert ledger.verify()


def once_it_is_there(call, patience=60.0):
    """The answer of a call that a busy machine may not have time for at once."""
    last = time.monotonic() + patience
    while True:
        try:
            return call()
        except LedgerUnavailable:
            assert time.monotonic() < last


def test_the_server_goes_away(postgresql, postgres_server):
    """The server is stopped and started in the middle of a ledger's life."""
    place, options = postgresql[0], postgresql[1] | {"timeout": 0.5}
    with Ledger.open(place, create=True, **options) as ledger:
        first = ask(ledger, 0, first_level(0), "publish")
        postgres_server.stop()
        with pytest.raises(LedgerUnavailable):
            ask(ledger, 0, "4", "relax")
        with pytest.raises(LedgerUnavailable):
            Ledger.open(place, **options)
        postgres_server.start()
        assert once_it_is_there(lambda: ask(ledger, 0, "1/4", "view")) == first
        assert ledger.levels("item 0") == (ledger.spent("item 0"),)


@pytest.mark.slow
def test_the_server_crashes_again_and_again(postgresql, postgres_server):
    """It is stopped at once, with no time to write anything down; what was answered is in its log."""
    place, options = postgresql
    given = {}
    for level in ("1/4", "1/2", "1", "2", "4"):
        with Ledger.open(place, create=True, **options) as ledger:
            given[level] = ask(ledger, 0, level, "publish" if level == "1/4" else "relax")
        postgres_server.stop("immediate")
        postgres_server.start()
        with Ledger.open(place, **options) as ledger:
            assert ledger.verify()
            assert all(ask(ledger, 0, one, "view") == values for one, values in given.items())
