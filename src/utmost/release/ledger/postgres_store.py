"""A ledger in PostgreSQL 15 or later: serialisable transactions, retried where they collide."""

import os
import random
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

from utmost.errors import LedgerDamaged, LedgerError, LedgerUnavailable, Unsupported, UtmostError
from utmost.release.ledger.store import Rows

T = TypeVar("T")

_OLDEST = 150000
_ASKED = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
# A number that no other program is likely to take, and the schema. The lock is taken ahead of the transaction: a
# serialisable one that waited inside would look at the database as it was before the wait.
_NUMBERS = "(731159012, hashtext(current_schema()))"
_LOCK, _UNLOCK = f"SELECT pg_advisory_lock{_NUMBERS}", f"SELECT pg_advisory_unlock{_NUMBERS}"
_FIRST_WAIT, _LONGEST_WAIT = 0.002, 0.25

# Connections of a parent process.
_inherited: list[Any] = []


class PostgresStore:
    """A database. A transaction takes an idle connection of this process, or a new one, and leaves it for the next.

    Writers wait for one another at a lock, so that under serialisable isolation they rarely collide; where they do, or
    where the connection breaks, the transaction is done again, up to the timeout.

    Args:
        address: postgresql://user:password@host:port/database; anything that libpq takes.
        timeout: how many seconds to wait for other writers, and to try again.
    """

    __slots__ = ("_address", "_idle", "_timeout")

    def __init__(self, address: str, timeout: float) -> None:
        self._address, self._timeout = address, timeout
        self._idle: tuple[int, list[Any]] = os.getpid(), []

    @property
    def place(self) -> str:
        """Host and database, without the password."""
        parts = urlsplit(self._address)
        return f"postgresql://{parts.hostname or ''}{parts.path}"

    def transact(self, work: Callable[[Rows], T], *, write: bool) -> T:
        """Do the work in one transaction, see `Store`.

        A commit whose outcome a broken connection hides is done again: if it took place, the work finds its result.
        """
        import psycopg

        last, wait = time.monotonic() + self._timeout, _FIRST_WAIT
        while True:
            connection, is_sound = None, False
            try:
                connection = self._taken()
                made = self._once(connection, work, write=write)
                is_sound = True
                return made
            except UtmostError:
                is_sound = True
                raise
            except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected) as error:
                again: psycopg.Error = error
            except psycopg.OperationalError as error:
                if connection is not None and not connection.broken:
                    raise self._translated(error) from None
                again = error
            except psycopg.Error as error:
                raise self._translated(error) from None
            finally:
                self._left(connection, is_sound)
            if time.monotonic() + wait > last:
                raise self._translated(again) from None
            # When to try again is no secret.
            time.sleep(wait * random.uniform(0.5, 1))  # noqa: S311
            wait = min(2 * wait, _LONGEST_WAIT)

    def problems(self) -> list[str]:
        """What the server finds wrong with its pages: those whose checksums fail cannot be read at all."""
        return []

    def close(self) -> None:
        """Close this process's idle connections."""
        idle = self._own()
        while idle:
            idle.pop().close()

    def _once(self, connection: Any, work: Callable[[Rows], T], *, write: bool) -> T:
        if not write:
            return self._in_transaction(connection, work)
        connection.execute(_LOCK)
        try:
            return self._in_transaction(connection, work)
        finally:
            if not connection.broken:
                connection.execute(_UNLOCK)

    @staticmethod
    def _in_transaction(connection: Any, work: Callable[[Rows], T]) -> T:
        with connection.transaction():
            return work(Rows(_query(connection), lambda: {row[0] for row in connection.execute(_ASKED)}, "BYTEA"))

    def _own(self) -> list[Any]:
        """The idle connections of this process. A parent's are left alone: closing one would end its session."""
        process, idle = self._idle
        if process != os.getpid():
            _inherited.extend(idle)
            self._idle = os.getpid(), []
        return self._idle[1]

    def _taken(self) -> Any:
        try:
            return self._own().pop()
        except IndexError:
            return self._connect()

    def _left(self, connection: Any, is_sound: bool) -> None:
        """Keep the connection for others; one whose transaction was cut off may still hold the lock, and is closed."""
        if connection is None:
            return
        if is_sound and not connection.broken:
            self._own().append(connection)
        else:
            connection.close()

    def _connect(self) -> Any:
        import psycopg

        connection = psycopg.connect(
            self._address, autocommit=True, connect_timeout=max(2, int(min(self._timeout, 30))), prepare_threshold=None
        )
        try:
            self._check_server(connection)
            connection.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
            connection.execute("SET synchronous_commit = on")
            connection.execute(f"SET lock_timeout = '{max(1, int(1000 * self._timeout))}ms'")
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_server(self, connection: Any) -> None:
        """Only a server of version 15 or later, that writes to its disk before it says so, can keep the promise."""
        version = connection.info.server_version
        if version < _OLDEST:
            raise Unsupported("PostgreSQL must be version 15 or later", came=version // 10000, where=self.place)
        if connection.execute("SHOW fsync").fetchone() == ("off",):
            raise Unsupported("the server must write to its disk first", came="fsync = off", where=self.place)

    def _translated(self, error: Any) -> LedgerError:
        """psycopg's error as one of ours, without the statement and its values."""
        import psycopg

        came = type(error).__name__
        if isinstance(error, psycopg.errors.DataCorrupted | psycopg.errors.UndefinedTable | psycopg.ProgrammingError):
            return LedgerDamaged("the database must hold the ledger's tables", came=came, where=self.place)
        mend = "Nothing was spent; make the same call again once the cause is mended."
        return LedgerUnavailable("the server must be reachable, with room", came=came, where=self.place, mend=mend)


def _query(connection: Any) -> Callable[[str, Sequence[Any]], Any]:
    return lambda statement, values: connection.execute(statement.replace("?", "%s"), values, binary=True)
