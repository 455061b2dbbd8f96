"""Store a ledger in SQLite: in a file, with every commit synced to the disk, or in the memory of this process.

A file has a rollback journal; a finished connection is reused for the next transaction while nobody else changes the
file. A store in memory has one connection, which is shared with no fork and no copy.
"""

import atexit
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote
from weakref import finalize

from utmost.core.sampling.process_memory import ProcessMemory
from utmost.errors import LedgerDamaged, LedgerUnavailable
from utmost.publish.ledger.key import make_file
from utmost.publish.ledger.store import CHANGED, MEND_CHANGED, TABLES, Rows

T = TypeVar("T")

# The primary result codes of SQLite that do not depend on the content: busy, locked, out of memory, read-only,
# interrupted, I/O error, full, cannot open, locking protocol, permission, authorisation.
_UNAVAILABLE = {5, 6, 7, 8, 9, 10, 13, 14, 15, 3, 23}
# A foreign schema must not call functions, and a damaged page must raise an error instead of giving a value.
_READER = ("trusted_schema=OFF", "cell_size_check=ON")
# No write-ahead log: with it, SQLite before 3.51.3 could damage a file. EXTRA also syncs the folder after the journal
# is removed, so that a commit survives a power cut. Responses are blocks of a mebibyte: with pages of four times
# SQLite's default, writing and reading take half the time. An existing file keeps its page size.
_WRITER = (*_READER, "page_size=16384", "journal_mode=DELETE", "synchronous=EXTRA")
# Numbers in the file's header that must be 0 in a ledger.
_UNUSED = ("user_version", "application_id", "auto_vacuum")
_ASKED = "SELECT name FROM sqlite_master WHERE type = 'table'"

FileMark = tuple[int, ...]
"""Device, inode, size and change times (ns) of a file; the tuple differs once the file is changed or replaced."""

# Idle connections for the next reader or writer, by path, timeout, and whether they write. At most `_MOST_IDLE` of them
# are stored under a key, and at most `_MOST_FILES` keys.
_idle: dict[tuple[str, float, bool], list[tuple[int, FileMark, sqlite3.Connection]]] = {}
_MOST_IDLE, _MOST_FILES = 4, 32
# Two changes within one tick of the file clock have the same time: a reader reuses a connection only if the file was
# unchanged for longer than this, in ns. A writer has the lock, and SQLite compares the file's change counter with its
# last commit.
_QUIET = 50_000_000
_inherited: list[sqlite3.Connection] = []
"""Connections of a parent process: never used, and never closed, by the child of a fork."""


class SqliteStore:
    """A ledger's file; a connection serves one transaction at a time, and is reused while nobody else changes the file.

    ``journal_mode=DELETE`` and ``synchronous=EXTRA`` make a commit durable, with its directory entry, before the commit
    returns.

    Args:
        path: Path of the file; the first write makes it, with mode 0600.
        timeout: Number of seconds to wait for other writers.
    """

    __slots__ = ("_path", "_timeout", "_turn")

    def __init__(self, path: Path, timeout: float) -> None:
        self._path, self._timeout = path, timeout
        self._turn = os.getpid(), threading.Lock()

    @property
    def place(self) -> str:
        return str(self._path)

    @property
    def path(self) -> Path:
        return self._path

    def name_of_database(self) -> str:
        return os.fspath(self._path.absolute())

    def transact(self, work: Callable[[Rows], T], *, write: bool) -> T:
        if not write:
            with transaction(self._path, self._timeout, write=False) as connection:
                return work(rows_on(connection))
        # Without write permission a draw would fail at its commit, with its level already spent. SQLite writes its
        # journal to the folder.
        for place in (self._path, self._path.parent):
            if place.exists() and not os.access(place, os.W_OK):
                raise LedgerUnavailable(
                    "the file of the ledger and its folder must be writable",
                    came="read-only",
                    where=str(place),
                    remedy="Nothing was drawn or spent. Change the permissions of the file, or move the "
                    "ledger to another disk.",
                )
        # SQLite opens existing files only (mode=rw): the file is made here, with the mode of a ledger's file.
        make_file(self._path)
        # Threads queue here: SQLite waits by polling, and one thread could starve until its timeout.
        pid, lock = self._turn
        if pid != os.getpid():
            # A lock that was held at the fork stays held for ever in the child.
            self._turn = pid, lock = os.getpid(), threading.Lock()
        if not lock.acquire(timeout=self._timeout):
            raise LedgerUnavailable(
                "no other process may write to the ledger at the same time",
                came="a lock of another writer",
                where=self.place,
            )
        try:
            with transaction(self._path, self._timeout, write=True) as connection:
                # A trigger or an index that somebody added would change what is written.
                if odd := _schema_differences(connection):
                    raise LedgerDamaged(CHANGED, came=odd[0], where=self.place, remedy=MEND_CHANGED)
                return work(rows_on(connection))
        finally:
            lock.release()

    def problems(self) -> list[str]:
        """List the faults that SQLite finds in pages and indices, and the differences from a ledger's tables."""
        with transaction(self._path, self._timeout, write=False) as connection:
            lines = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
            return [line for line in lines if line != "ok"] + _schema_differences(connection)

    def close(self) -> None:
        forget_idle()


class VolatileStore(ProcessMemory):
    """A database in the memory of this process, with one connection; a forked child can read it, but not write."""

    __slots__ = ("__weakref__", "_connection")

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        finalize(self, self._connection.close)  # nobody calls close() on a remembered answer

    @property
    def place(self) -> str:
        return "the memory of this process"

    def name_of_database(self) -> str:
        return self.place

    def transact(self, work: Callable[[Rows], T], *, write: bool) -> T:
        """Do the work in one transaction, see `Store`; refuse to write in a forked child."""
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
        return []

    def close(self) -> None:
        self._connection.close()


@contextmanager
def transaction(path: Path, timeout: float, *, write: bool) -> Iterator[sqlite3.Connection]:
    """Open an exclusive connection for one transaction, which is durable when the block ends."""
    mark = _mark(path, write=write)
    try:
        connection = _idle_connection((str(path), timeout, write), mark) or _connected(path, timeout, write=write)
        try:
            # isolation_level=None: Python's own BEGIN would come late, before the first write. A writer takes the lock
            # before it reads, so that its reads are still valid when it commits.
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            connection.close()  # rolls back what was not committed
            raise
        if not _push_idle((str(path), timeout, write), _mark(path, write=True) if write else mark, connection):
            connection.close()
    except sqlite3.Error as error:
        # SQLite's messages contain no stored values.
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _UNAVAILABLE:
            required = "the file of the ledger must be writable within the timeout"
            remedy = "Nothing was spent; make the same call again once the cause is removed."
            raise LedgerUnavailable(required, came=str(error), where=str(path), remedy=remedy) from None
        raise LedgerDamaged("the file must be a sound SQLite database", came=str(error), where=str(path)) from None
    except UnicodeDecodeError:  # SQLite's own message quotes a damaged name
        raise LedgerDamaged("the file must be a sound SQLite database", where=str(path)) from None


def _mark(path: Path, *, write: bool) -> FileMark | None:
    """Return the mark of a file; None if the file is missing or, for a reader, was changed less than `_QUIET` ago."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    if not write and time.time_ns() - max(facts.st_mtime_ns, facts.st_ctime_ns) < _QUIET:
        return None
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def _idle_connection(place: tuple[str, float, bool], mark: FileMark | None) -> sqlite3.Connection | None:
    """Return an idle connection of this process to the unchanged file; None if there is no such connection."""
    # A new connection reads and parses the schema first: a third of the time of a stored view, a quarter of a
    # publication.
    for before, connection in _pop_idle(_idle.get(place, [])):
        if before == mark:
            return connection
        connection.close()
    return None


def _pop_idle(waiting: list[tuple[int, FileMark, sqlite3.Connection]]) -> Iterator[tuple[FileMark, sqlite3.Connection]]:
    """Remove and yield idle connections of this process; no two threads get the same connection."""
    while waiting:
        try:
            process, before, connection = waiting.pop()
        except IndexError:  # another thread was quicker
            return
        if process == os.getpid():
            yield before, connection
        else:
            _inherited.append(connection)


def _push_idle(place: tuple[str, float, bool], mark: FileMark | None, connection: sqlite3.Connection) -> bool:
    """Store a connection for reuse while the file has this mark; return False if there is no mark or no room."""
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
    for waiting in list(_idle.values()):
        for _, connection in _pop_idle(waiting):
            connection.close()
    _idle.clear()


atexit.register(forget_idle)


def _schema_differences(connection: sqlite3.Connection) -> list[str]:
    """List the differences from a ledger's schema: in tables, columns, indices, triggers, views and unused settings."""
    schema = _schema(connection)
    expected = _expected() if b"utmost_schema" in schema else {}
    odd = [f"schema: {name.decode('utf-8', 'replace')}" for name in sorted(schema.keys() ^ expected.keys())]
    odd += [f"schema: {name.decode()}" for name in schema.keys() & expected.keys() if schema[name] != expected[name]]
    odd += [f"temporary: {row[0]}" for row in connection.execute("SELECT name FROM sqlite_temp_master")]
    return odd + [f"PRAGMA {name}" for name in _UNUSED if connection.execute(f"PRAGMA {name}").fetchone() != (0,)]


@lru_cache
def _expected() -> dict[bytes, Any]:
    # The schema is read from a new, empty ledger, so that the schema is defined only once, by `TABLES`.
    model = sqlite3.connect(":memory:")
    try:
        for statement in TABLES:
            model.execute(statement.replace("BYTES", "BLOB"))
        return _schema(model)
    finally:
        model.close()


def _schema(connection: sqlite3.Connection) -> dict[bytes, Any]:
    """Return {name: definition} of the objects of the schema, in bytes, since a damaged name need not be text."""
    query = (
        "SELECT CAST(name AS BLOB), CAST(type AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB) FROM sqlite_master"
    )
    return {row[0]: row[1:] for row in connection.execute(query)}


def rows_on(connection: sqlite3.Connection) -> Rows:
    return Rows(connection.execute, lambda: {row[0] for row in connection.execute(_ASKED)}, "BLOB")


def _connected(path: Path, timeout: float, *, write: bool) -> sqlite3.Connection:
    """Open a new connection; a reader of a file that does not exist gets an empty database in memory."""
    if path.is_dir():
        remedy = "Nothing was spent; pass a file in that directory, for example ledger.db."
        raise LedgerUnavailable("a ledger must be a file", came="a directory", where=str(path), remedy=remedy)
    there = write or path.exists()
    # The path is quoted: ? and # in it would otherwise start options of the address.
    address = f"file:{quote(str(path.absolute()))}?mode=rw" if there else ":memory:"
    connection = sqlite3.connect(address, uri=there, timeout=timeout, isolation_level=None, check_same_thread=False)
    try:
        for pragma in _WRITER if write else _READER:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection
