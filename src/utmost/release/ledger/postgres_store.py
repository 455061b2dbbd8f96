"""A ledger in PostgreSQL 15 or later: serialisable transactions, retried where they collide."""

import os
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

from utmost.errors import LedgerDamaged, LedgerError, LedgerUnavailable, Unsupported
from utmost.release.ledger.store import Rows

T = TypeVar("T")

_OLDEST = 150000
_ASKED = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
# A number that no other program is likely to take, and the schema. The lock is taken ahead of the transaction: a
# serialisable one that waited inside would look at the database as it was before the wait.
_NUMBERS = "(731159012, hashtext(current_schema()))"
_LOCK, _UNLOCK = f"SELECT pg_advisory_lock{_NUMBERS}", f"SELECT pg_advisory_unlock{_NUMBERS}"
_FIRST_WAIT, _LONGEST_WAIT = 0.002, 0.25

# Connections of a parent process. Closing one here would end the parent's session, too.
_inherited: list[Any] = []


class PostgresStore:
    """A database. Each thread of each process has a connection of its own.

    Writers wait for one another at a lock, so that under serialisable isolation they rarely collide; where they do, or
    where the connection breaks, the transaction is done again, up to the timeout.

    Args:
        address: postgresql://user:password@host:port/database; anything that libpq takes.
        timeout: how many seconds to wait for other writers, and to try again.
    """

    __slots__ = ("_address", "_own", "_timeout")

    def __init__(self, address: str, timeout: float) -> None:
        self._address, self._timeout = address, timeout
        self._own = threading.local()

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
            try:
                return self._once(work, write=write)
            except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected) as error:
                again: psycopg.Error = error
            except psycopg.OperationalError as error:
                if not self._is_broken():
                    raise self._translated(error) from None
                again = error
            except psycopg.Error as error:
                raise self._translated(error) from None
            if time.monotonic() + wait > last:
                raise self._translated(again) from None
            # When to try again is no secret.
            time.sleep(wait * random.uniform(0.5, 1))  # noqa: S311
            wait = min(2 * wait, _LONGEST_WAIT)

    def problems(self) -> list[str]:
        """What the server finds wrong with its pages: those whose checksums fail cannot be read at all."""
        return []

    def close(self) -> None:
        """Close this thread's connection."""
        connection = getattr(self._own, "connection", None)
        if connection is not None and self._own.process == os.getpid():
            connection.close()
            self._own.connection = None

    def _once(self, work: Callable[[Rows], T], *, write: bool) -> T:
        connection = self._connected()
        if not write:
            return self._in_transaction(connection, work)
        connection.execute(_LOCK)
        try:
            return self._in_transaction(connection, work)
        finally:
            if not connection.closed:
                connection.execute(_UNLOCK)

    @staticmethod
    def _in_transaction(connection: Any, work: Callable[[Rows], T]) -> T:
        with connection.transaction():
            return work(Rows(_query(connection), lambda: {row[0] for row in connection.execute(_ASKED)}, "BYTEA"))

    def _connected(self) -> Any:
        own = self._own
        connection = getattr(own, "connection", None)
        if connection is not None and own.process != os.getpid():
            _inherited.append(connection)
            connection = None
        if connection is None or connection.closed:
            connection = self._connect()
            own.connection, own.process = connection, os.getpid()
        return connection

    def _connect(self) -> Any:
        import psycopg

        connection = psycopg.connect(
            self._address, autocommit=True, connect_timeout=max(2, int(min(self._timeout, 30))), prepare_threshold=None
        )
        if connection.info.server_version < _OLDEST:
            connection.close()
            raise Unsupported("PostgreSQL must be version 15 or later", came=connection.info.server_version // 10000)
        connection.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
        connection.execute("SET synchronous_commit = on")
        connection.execute(f"SET lock_timeout = '{max(1, int(1000 * self._timeout))}ms'")
        if connection.execute("SHOW fsync").fetchone() == ("off",):
            connection.close()
            raise Unsupported(
                "the server must write to its disk before it says so", came="fsync = off", where=self.place
            )
        return connection

    def _is_broken(self) -> bool:
        connection = getattr(self._own, "connection", None)
        return connection is None or connection.closed or connection.broken

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
