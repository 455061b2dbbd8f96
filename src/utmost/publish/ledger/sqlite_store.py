"""A ledger in SQLite: in one file, where every commit is synced; or in the memory of a process, which ends with it.

A file has a rollback journal; a connection that is done with it serves the next transaction while nobody else changes
the file. A memory has one connection, which no fork nor copy shares.
"""

import atexit
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote
from weakref import finalize

from utmost.core.sampling.process_memory import ProcessMemory
from utmost.errors import LedgerDamaged, LedgerError, LedgerUnavailable
from utmost.publish.ledger.key import make_file
from utmost.publish.ledger.store import CHANGED, MEND_CHANGED, TABLES, Rows

T = TypeVar("T")

# The primary result codes of SQLite that say nothing about the content: busy, locked, out of memory, read-only,
# interrupted, I/O error, full, cannot open, locking protocol, permission, authorisation.
_UNAVAILABLE = {5, 6, 7, 8, 9, 10, 13, 14, 15, 3, 23}
# A schema that somebody else wrote must call no function, and a damaged page must end in an error, not in a value.
_READER = ("trusted_schema=OFF", "cell_size_check=ON")
# No write-ahead log: SQLite before 3.51.3 could damage a file by it. EXTRA forces the folder to the disk, too, once the
# journal is gone: a commit that was answered is still there after a power cut.
# Responses are blocks of a mebibyte: on pages four times SQLite's own they are written and read back in half the time.
# A file that is there keeps the pages it has.
_WRITER = (*_READER, "page_size=16384", "journal_mode=DELETE", "synchronous=EXTRA")
# Numbers in the file's header that a ledger leaves alone.
_UNUSED = ("user_version", "application_id", "auto_vacuum")
_ASKED = "SELECT name FROM sqlite_master WHERE type = 'table'"

FileMark = tuple[int, ...]
"""Marks by which a file is known to be changed, or another one: device, inode, size, and times of change in ns."""

# Connections that wait for the next reader or writer of a file; how many of them, and for how many such places.
_idle: dict[tuple[str, float, bool], list[tuple[int, FileMark, sqlite3.Connection]]] = {}
_MOST_IDLE, _MOST_FILES = 4, 32
# A change just after the last one may bear its time, since clocks of files tick: so long files must have been quiet for
# readers. Who writes has the lock, and SQLite compares the file's own counter of changes with that of its last commit.
_QUIET = 50_000_000
_inherited: list[sqlite3.Connection] = []
"""Connections of a parent process: never used, and never closed, by the child of a fork."""


class SqliteStore:
    """A file. A connection serves one transaction at a time, and the next one while nobody else changes the file.

    ``journal_mode=DELETE`` and ``synchronous=EXTRA`` make a commit durable, directory entry included, when it returns.

    Args:
        path: Path of the file; made with mode 0600 where there is none, when something is written.
        timeout: Number of seconds to wait for other writers.
    """

    __slots__ = ("_path", "_timeout", "_turn")

    def __init__(self, path: Path, timeout: float) -> None:
        self._path, self._timeout = path, timeout
        self._turn = os.getpid(), threading.Lock()

    @property
    def place(self) -> str:
        """The path."""
        return str(self._path)

    @property
    def path(self) -> Path:
        """The path."""
        return self._path

    def name_of_database(self) -> str:
        """The path, however it was named."""
        return os.fspath(self._path.absolute())

    def transact(self, work: Callable[[Rows], T], *, write: bool) -> T:
        """Do the work in one transaction, see `Store`."""
        if not write:
            return in_transaction(self._path, lambda connection: work(rows_on(connection)), self._timeout, write=False)
        # SQLite opens what is there alone (mode=rw): the file is made here, with the rights of a ledger's.
        make_file(self._path)
        # Threads take turns here: SQLite's own wait polls, and may pass over one of them until its time is up.
        lock = self._lock()
        if not lock.acquire(timeout=self._timeout):
            raise LedgerUnavailable("the ledger must be free to write", came="other writers", where=self.place)

        # Looked at inside the transaction that writes: a trigger or another index that somebody adds would act on our
        # rows.
        def checked(connection: sqlite3.Connection) -> T:
            if odd := _odd(connection):
                raise LedgerDamaged(CHANGED, came=odd[0], where=self.place, remedy=MEND_CHANGED)
            return work(rows_on(connection))

        try:
            return in_transaction(self._path, checked, self._timeout, write=True)
        finally:
            lock.release()

    def problems(self) -> list[str]:
        """The faults that SQLite's own check of all pages and indices finds."""
        lines = in_transaction(self._path, _integrity, self._timeout, write=False)
        return [line for line in lines if line != "ok"] + in_transaction(self._path, _odd, self._timeout, write=False)

    def close(self) -> None:
        """Give the connections back that wait."""
        forget_idle()

    def _lock(self) -> threading.Lock:
        """The turn of this process's threads; a forked child must not wait for a thread that it does not have."""
        pid, lock = self._turn
        if pid != os.getpid():
            # A lock that was held at the fork stays held for ever in the child.
            self._turn = pid, lock = os.getpid(), threading.Lock()
        return lock


class VolatileStore(ProcessMemory):
    """One connection to a database that is nowhere but here; transactions follow one another.

    What is there can be read in a forked child; nothing is written by one.
    """

    __slots__ = ("__weakref__", "_connection")

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        finalize(self, self._connection.close)  # an answer that a process remembers is never closed, only dropped

    @property
    def place(self) -> str:
        """This process."""
        return "the memory of this process"

    def name_of_database(self) -> str:
        """This process's memory."""
        return self.place

    def transact(self, work: Callable[[Rows], T], *, write: bool) -> T:
        """Do the work in one transaction, see `Store`.

        Raises:
            Unsupported: for writing in a forked child.
        """
        with self._alone():
            if write:
                self._check_owner()
            self._connection.execute("BEGIN")
            try:
                result = work(rows_on(self._connection))
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            return result

    def problems(self) -> list[str]:
        """None: nobody else has this memory."""
        return []

    def close(self) -> None:
        """Forget everything."""
        self._connection.close()


def in_transaction(path: Path, work: Callable[[sqlite3.Connection], T], timeout: float, *, write: bool) -> T:
    """Do the work on a connection that nobody else has, in one transaction that is durable when this returns.

    Raises:
        LedgerUnavailable, LedgerDamaged: for what SQLite reports.
    """
    mark = _mark(path, write=write)
    try:
        connection = _waiting((str(path), timeout, write), mark) or _connected(path, timeout, write=write)
        try:
            # isolation_level=None left all of this to us: Python's own BEGIN would come late, before the first write.
            # Who writes takes the lock before reading: what the work has read is still so when it commits.
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            answer = work(connection)
            connection.execute("COMMIT")
        except BaseException:
            connection.close()  # rolls back what was not committed
            raise
        if not _keep((str(path), timeout, write), _mark(path, write=True) if write else mark, connection):
            connection.close()
        return answer
    except sqlite3.Error as error:
        raise _translated(error, str(path)) from None
    except UnicodeDecodeError:  # SQLite's own message quotes a damaged name
        raise LedgerDamaged("the file must be a sound SQLite database", where=str(path)) from None


def _mark(path: Path, *, write: bool) -> FileMark | None:
    """The mark of a file as it is now; None where there is none, and for readers where it was changed a moment ago."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    if not write and time.time_ns() - max(facts.st_mtime_ns, facts.st_ctime_ns) < _QUIET:
        return None
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def _waiting(place: tuple[str, float, bool], mark: FileMark | None) -> sqlite3.Connection | None:
    """A connection that has this very file, of this process, since when nothing was written to it by anybody else.

    So it sees what a new one would, which reads and parses the schema first: a third of what a stored view takes, and a
    quarter of a publication.
    """
    for before, connection in _taken(_idle.get(place, [])):
        if before == mark:
            return connection
        connection.close()
    return None


def _taken(waiting: list[tuple[int, FileMark, sqlite3.Connection]]) -> Iterator[tuple[FileMark, sqlite3.Connection]]:
    """The connections that wait, each for one thread alone; none that a parent process made."""
    while waiting:
        try:
            process, before, connection = waiting.pop()
        except IndexError:  # another thread was quicker
            return
        if process == os.getpid():
            yield before, connection
        else:
            _inherited.append(connection)


def _keep(place: tuple[str, float, bool], mark: FileMark | None, connection: sqlite3.Connection) -> bool:
    """Keep a connection for the next transaction, by how the file was before it was read, or after it was written."""
    if mark is None or os.name != "posix":
        return False
    if place not in _idle and len(_idle) >= _MOST_FILES:
        forget_idle()
    waiting = _idle.setdefault(place, [])
    if len(waiting) >= _MOST_IDLE:
        return False
    waiting.append((os.getpid(), mark, connection))
    return True


def forget_idle() -> None:
    """Close the connections that wait, of all files."""
    for waiting in list(_idle.values()):
        for _, connection in _taken(waiting):
            connection.close()
    _idle.clear()


atexit.register(forget_idle)


def _integrity(connection: sqlite3.Connection) -> list[str]:
    return [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]


def _odd(connection: sqlite3.Connection) -> list[str]:
    """Differences from the tables that a ledger makes: triggers, views, columns and indices included."""
    schema = _schema(connection)
    expected = _expected() if b"utmost_schema" in schema else {}
    odd = [f"schema: {name.decode('utf-8', 'replace')}" for name in sorted(schema.keys() ^ expected.keys())]
    odd += [f"schema: {name.decode()}" for name in schema.keys() & expected.keys() if schema[name] != expected[name]]
    odd += [f"temporary: {row[0]}" for row in connection.execute("SELECT name FROM sqlite_temp_master")]
    return odd + [f"PRAGMA {name}" for name in _UNUSED if connection.execute(f"PRAGMA {name}").fetchone() != (0,)]


@lru_cache
def _expected() -> dict[bytes, Any]:
    """The schema of a ledger's tables."""
    # Made by the statements that make a ledger, so that its definition is written in one place.
    model = sqlite3.connect(":memory:")
    try:
        for statement in TABLES:
            model.execute(statement.replace("BYTES", "BLOB"))
        return _schema(model)
    finally:
        model.close()


def _schema(connection: sqlite3.Connection) -> dict[bytes, Any]:
    """Each object's definition; as bytes, since a damaged name need not be text."""
    query = (
        "SELECT CAST(name AS BLOB), CAST(type AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB) FROM sqlite_master"
    )
    return {row[0]: row[1:] for row in connection.execute(query)}


def rows_on(connection: sqlite3.Connection) -> Rows:
    """The rows that a connection reads and writes."""
    return Rows(connection.execute, lambda: {row[0] for row in connection.execute(_ASKED)}, "BLOB")


def _connected(path: Path, timeout: float, *, write: bool) -> sqlite3.Connection:
    """A connection; to nothing at all where a file that is to be read is not there. None is made here."""
    if path.is_dir():
        remedy = "Nothing was spent; name the file, ledger.db in that directory, say."
        raise LedgerUnavailable("a ledger must be a file", came="a directory", where=str(path), remedy=remedy)
    there = write or path.exists()
    # A path is quoted whole: a name with ? or # would otherwise be read as options of the address.
    address = f"file:{quote(str(path.absolute()))}?mode=rw" if there else ":memory:"
    connection = sqlite3.connect(address, uri=there, timeout=timeout, isolation_level=None, check_same_thread=False)
    try:
        for pragma in _WRITER if write else _READER:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def _translated(error: sqlite3.Error, place: str) -> LedgerError:
    """SQLite's error as one of ours. Python's own messages hold no content of the ledger."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _UNAVAILABLE:
        remedy = "Nothing was spent; make the same call again once the cause is removed."
        return LedgerUnavailable(
            "the ledger's file must be writable in time", came=str(error), where=place, remedy=remedy
        )
    return LedgerDamaged("the file must be a sound SQLite database", came=str(error), where=place)
