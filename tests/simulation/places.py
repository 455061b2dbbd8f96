"""Where a world keeps its files: on a disk below SQLite, sector by sector; or in memory, transaction by transaction.

Both have the same face, and a history does not know which it lives in. On a disk everything is as the library ships:
each transaction opens its file, and writes, truncations, syncs and deletions may fail, tear or lie. In memory each file
is one open database, so that many more histories are lived; processes take turns, die or meet errors at each statement
and on either side of a commit, and a power cut leaves any of the states that a store had while it lied about syncs.

Disks stand in the place of the store.
"""

import sqlite3
from collections import namedtuple
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import ClassVar

import pytest

from disk import FULL, IO_ERROR_DELETE, IO_ERROR_SYNC, IO_ERROR_WRITE, Disk, Medium
from simulation import calls
from utmost.publish.ledger import sqlite_store

BUSY = 5
WAIT = 20_000
"""Microseconds between two looks at a lock."""


class OnDisk:
    """Files of the machine, under a disk that is simulated.

    Args:
        folder: where they are.
        before: called with each operation of the disk; 0 lets it happen, an error code of SQLite refuses it.
        sleep: called with the microseconds for which somebody waits.
    """

    ROWS = 40
    """Of each table."""
    LONG = 500
    """Operations within which a process dies that dies."""
    CODES: ClassVar = {
        "write": IO_ERROR_WRITE,
        "truncate": IO_ERROR_WRITE,
        "open": FULL,
        "sync": IO_ERROR_SYNC,
        "delete": IO_ERROR_DELETE,
    }
    LIES = "sync"
    """The operation of which a disk lies."""
    FORKS, AGAIN, MORE = 0.12, 1, 1
    """How often a process forks; and how many calls are made in the end of those that were answered, where the others
    are looked up, and of those that nobody was answered."""

    def __init__(self, folder, before, sleep):
        self._folder, self._disk, self._child = folder, Disk(before, sleep), None

    @contextmanager
    def simulated(self):
        """While this is the only disk there is."""
        with self._disk:
            yield

    def files(self):
        """What each file holds, by its path in the folder."""
        return {str(path.relative_to(self._folder)): path.read_bytes() for path in self._folder.glob("*/*")}

    def become(self, files):
        """Hold these files and nothing else, all of them for good."""
        sqlite_store.forget_idle()
        named = {self._folder / path: content for path, content in files.items()}
        for path in self._folder.glob("*/*"):
            if path not in named:
                path.unlink()
        for path, content in named.items():
            path.write_bytes(content)
        self._medium = Medium({str(path): content for path, content in named.items()})

    def note(self, operation):
        """An operation that happens."""
        (self._medium.note if self._child is None else self._child.append)(operation)

    def lie(self, operation):
        """An operation that does not happen, though it is said to."""

    def after_power_cut(self, coin):
        """The files as a power cut leaves them."""
        return self._medium.after_power_cut(coin)

    def is_whole(self, path):
        """Whether a file can be copied: nothing of it is written half."""
        return not path.with_name(f"{path.name}-journal").exists()

    @contextmanager
    def reading(self, path):
        """A connection to what a file holds now, for whoever looks from outside; None where it is not there."""
        if not path.exists():
            yield None
            return
        with closing(sqlite3.connect(path, timeout=60, isolation_level=None)) as connection:
            yield connection

    def forked(self):
        """In a child: what it does from here on is noted."""
        self._child = []

    def sent(self):
        """In a child: what its parent must hear of."""
        return self._child

    def heard(self, sent):
        """In a parent: what its child did."""
        for operation in sent:
            self._medium.note(operation)


class InMemory:
    """Databases in memory, by the paths of files that are empty.

    Args:
        folder: where the empty files are.
        before: called with each step; 0 lets it happen, an error code of SQLite refuses it.
        sleep: called with the microseconds for which somebody waits.
    """

    ROWS = 3
    LONG = 250
    CODES: ClassVar = {"statement": IO_ERROR_WRITE, "commit": IO_ERROR_SYNC, "committed": IO_ERROR_DELETE}
    LIES = "commit"
    FORKS, AGAIN, MORE = 0.02, 0.5, 0.2

    def __init__(self, folder, before, sleep):
        self._folder, self.before, self.sleep, self._databases, self._undone = folder, before, sleep, {}, {}

    @contextmanager
    def simulated(self):
        """While the library's connections are those of this memory."""
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(sqlite_store, "_connected", self._connected)
            patched.setattr(calls, "ROWS", self.ROWS)
            yield

    def files(self):
        """What each file holds, by its path in the folder."""
        paths = self._folder.glob("*/*")
        return {str(path.relative_to(self._folder)): self._database(path).content() for path in paths}

    def become(self, files):
        """Hold these files and nothing else."""
        sqlite_store.forget_idle()
        named = {self._folder / path: content for path, content in files.items()}
        for path in self._folder.glob("*/*"):
            if path not in named:
                path.unlink()
        for path in named:
            path.touch()
        self._databases = {str(path): Database(content) for path, content in named.items()}
        self._undone = {}

    def note(self, step):
        """A step that happens."""

    def lie(self, step):
        """A commit that a power cut may undo, and all after it."""
        self._undone.setdefault(step.path, []).append(self._databases[step.path].before)

    def after_power_cut(self, coin):
        """The files as a power cut leaves them."""
        files = self.files()
        for path, states in self._undone.items():
            name = str(Path(path).relative_to(self._folder))
            files[name] = coin.choice([*states, files[name]])
        return files

    def is_whole(self, path):
        """Whether a file can be copied."""
        return True

    @contextmanager
    def reading(self, path):
        """A connection to what is committed; None where the file is not there."""
        yield self._database(path).read() if path.exists() else None

    def forked(self):
        """In a child: its memory is its own from here on."""

    def sent(self):
        """In a child: what its parent must hear of."""
        return self.files()

    def heard(self, sent):
        """In a parent: what its child did."""
        self.become(sent)

    def _database(self, path):
        if str(path) not in self._databases:
            self._databases[str(path)] = Database(b"")
        return self._databases[str(path)]

    def _connected(self, path, timeout, *, write):
        return Session(self, path, self._database(path) if write or path.exists() else Database(b""), timeout)


Step = namedtuple("Step", "kind path")


class Database:
    """One database, which one session may write while others read what was committed before.

    Attributes:
        before: what was committed, as bytes, when somebody last looked or began to write.
        readers: sessions that read.
        writer: the session that writes.
    """

    def __init__(self, content):
        self._connection, self._committed, self.before = in_memory(content), None, content
        self.readers, self.writer = set(), None

    def content(self):
        """What is committed, as bytes; of one that is damaged, as it came."""
        if self.writer is not None:
            return self.before
        with suppress(sqlite3.DatabaseError):  # nothing was written yet, or nothing can be
            self.before = self._connection.serialize()
        return self.before

    def read(self):
        """A connection to what is committed."""
        if self.writer is None:
            return self._connection
        if self._committed is None:
            self._committed = in_memory(self.before)
        return self._committed

    def write(self, session):
        """The connection of a writer; who reads already sees nothing of it."""
        self.before = self.content()
        self._committed = self._connection if self.readers else None
        if self.readers:
            self._connection = in_memory(self.before)
        self.writer = session
        return self._connection

    def end(self, session):
        """A session is over."""
        self.readers.discard(session)
        if self.writer is session:
            self.writer = None


def in_memory(content):
    """A connection to a database of its own."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    if content:
        connection.deserialize(content)
    return connection


class Session:
    """What the library takes for a connection of its own: one transaction."""

    def __init__(self, place, path, database, timeout):
        self._place, self._path, self._database, self._timeout = place, str(path), database, timeout * 1e6
        self._connection = None

    def execute(self, statement, values=()):
        """One statement."""
        if statement == "COMMIT":
            return self._commit()
        self._step("statement")
        return self._begin(statement) if statement.startswith("BEGIN") else self._connection.execute(statement, values)

    def executemany(self, statement, rows):
        """One statement for each of several rows."""
        self._step("statement")
        return self._connection.executemany(statement, rows)

    def close(self):
        """What was not committed has not happened."""
        if self._database.writer is self and self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._database.end(self)

    def _begin(self, statement):
        if statement == "BEGIN":
            self._connection = self._database.read()
            self._database.readers.add(self)
        else:
            self._wait(lambda: self._database.writer is None)
            self._connection = self._database.write(self)
            self._connection.execute("BEGIN")

    def _commit(self):
        if self._database.writer is self:
            self._wait(lambda: not self._database.readers)
            self._step("commit")
            self._connection.execute("COMMIT")
            self._database.end(self)
            self._step("committed")
        self._database.end(self)

    def _step(self, kind):
        code = self._place.before(Step(kind, self._path))
        if code:
            raise _failed(code)

    def _wait(self, is_free):
        waited = 0
        while not is_free():
            if waited > self._timeout:
                raise _failed(BUSY)
            self._place.sleep(WAIT)
            waited += WAIT


def _failed(code):
    error = sqlite3.OperationalError("simulated")
    error.sqlite_errorcode = code
    return error
