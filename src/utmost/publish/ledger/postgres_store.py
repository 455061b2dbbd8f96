"""A ledger in PostgreSQL 15 or later: serialisable transactions, retried where they collide."""

import os
import random
import re
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from utmost.errors import LedgerDamaged, LedgerError, LedgerUnavailable, Unsupported, UtmostError
from utmost.publish.ledger.store import CHANGED, MEND_CHANGED, EventPart, Rows

T = TypeVar("T")

_OLDEST = 150000
_ASKED = "SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = pg_catalog.current_schema()"
# A number that no other program is likely to take, and the schema. The lock is taken ahead of the transaction: a
# serialisable one that waited inside would look at the database as it was before the wait.
_NUMBERS = "(731159012, hashtext(current_schema()))"
_LOCK, _UNLOCK = f"SELECT pg_advisory_lock{_NUMBERS}", f"SELECT pg_advisory_unlock{_NUMBERS}"
_COPY = "COPY utmost_parts (event, part, content) FROM STDIN (FORMAT BINARY)"
_FIRST_WAIT, _LONGEST_WAIT = 0.002, 0.25

# What a ledger's tables are like in the catalog: name, columns, constraints.
_TABLES = {
    "utmost_schema": ("version integer not null", ""),
    "utmost_events": ("number bigint not null, body bytea not null, mac bytea not null", "PRIMARY KEY (number)"),
    "utmost_head": ("number bigint not null, seal bytea not null", ""),
    "utmost_parts": (
        "event bigint not null, part bigint not null, content bytea not null",
        "PRIMARY KEY (event, part)",
    ),
}
# Every table of a ledger's name that this session can see by that name or that stands in its schema, and what is odd
# about it. Whatever is not listed in the catalog so would act on rows between a statement and the table.
_CATALOG = """
SELECT c.relname,
       (SELECT string_agg(a.attname || ' ' || pg_catalog.format_type(a.atttypid, a.atttypmod)
                 || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
                 || CASE WHEN a.atthasdef OR a.attgenerated <> '' OR a.attidentity <> '' THEN ' computed' ELSE '' END,
                 ', ' ORDER BY a.attnum)
          FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
       (SELECT coalesce(string_agg(pg_catalog.pg_get_constraintdef(k.oid), '; ' ORDER BY k.conname), '')
          FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype <> 'n'),
       pg_catalog.concat_ws(', ',
         CASE WHEN c.relkind <> 'r' THEN 'it is no table' END,
         CASE WHEN c.relpersistence <> 'p' THEN 'it is not logged' END,
         CASE WHEN c.relrowsecurity OR c.relforcerowsecurity
                   OR EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid) THEN 'row security' END,
         CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid) THEN 'a trigger' END,
         CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_rewrite w WHERE w.ev_class = c.oid) THEN 'a rule' END,
         CASE WHEN c.relispartition OR EXISTS (SELECT FROM pg_catalog.pg_inherits h
                   WHERE h.inhrelid = c.oid OR h.inhparent = c.oid) THEN 'inheritance' END,
         CASE WHEN c.relkind = 'r' AND c.relam <> (SELECT oid FROM pg_catalog.pg_am WHERE amname = 'heap')
              THEN 'another way to store rows' END,
         CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid
                   AND NOT (i.indisprimary AND i.indisvalid AND i.indisready)) THEN 'another index' END,
         CASE WHEN c.oid IS DISTINCT FROM pg_catalog.to_regclass(pg_catalog.quote_ident(c.relname))
              THEN 'another table hides it' END,
         CASE WHEN (SELECT s FROM pg_catalog.unnest(pg_catalog.current_schemas(true)) WITH ORDINALITY AS u(s, n)
                     WHERE pg_catalog.left(s::text, 7) <> 'pg_temp' ORDER BY n LIMIT 1) <> 'pg_catalog'
              THEN 'a search path' END)
  FROM pg_catalog.pg_class c
 WHERE c.relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = pg_catalog.current_schema())
   AND c.relname IN ('utmost_schema', 'utmost_events', 'utmost_head', 'utmost_parts')
"""

# Connections of a parent process.
_inherited: list[Any] = []


class PostgresStore:
    """A database. A transaction takes an idle connection of this process, or a new one, and leaves it for the next.

    Writers wait for one another at a lock, so that under serialisable isolation they rarely collide; where they do, or
    where the connection breaks, the transaction is done again, up to the timeout.

    Args:
        address: postgresql://user:password@host:port/database; anything that libpq takes.
        timeout: Number of seconds to wait for other writers, and to try again.
    """

    __slots__ = ("_address", "_idle", "_timeout")

    def __init__(self, address: str, timeout: float) -> None:
        self._address, self._timeout = address, timeout
        self._idle: tuple[int, list[Any]] = os.getpid(), []

    @property
    def place(self) -> str:
        """Host and database, without the password."""
        return _place(self._address)

    def name_of_database(self) -> str:
        """Address of the tables as the server says it: host, port, database and schema, however it was addressed."""
        connection = self._taken()
        try:
            info = connection.info
            database, schema = connection.execute("SELECT current_database(), current_schema()").fetchone()
            return f"postgresql://{info.host or info.hostaddr}:{info.port}/{database} {schema}"
        finally:
            self._left(connection, False)

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
                answer = self._once(connection, work, write=write)
                is_sound = True
                return answer
            except UtmostError:
                is_sound = True
                raise
            # Two writers collided, which serialisable transactions report in place of waiting: nothing of ours was
            # kept.
            except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected) as error:
                again: psycopg.Error = error
            except psycopg.OperationalError as error:
                # With a sound connection the server means what it says; a broken one may have committed, and the next
                # turn finds out.
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
            # Doubled, with a part of chance, so that writers who collided once do not collide in step.
            wait = min(2 * wait, _LONGEST_WAIT)

    def problems(self) -> list[str]:
        """Oddities of the tables, see `Store`. Pages whose checksums fail cannot be read at all."""
        return self.transact(_odd, write=False)

    def close(self) -> None:
        """Close this process's idle connections."""
        idle = self._own()
        while idle:
            idle.pop().close()

    def _once(self, connection: Any, work: Callable[[Rows], T], *, write: bool) -> T:
        if not write:
            return self._in_transaction(connection, work)
        # One writer at a time: without it those who draw for hours would collide at the end, and draw for nothing.
        connection.execute(_LOCK)
        try:
            return self._in_transaction(connection, lambda rows: work(self._checked(rows)))
        finally:
            if not connection.broken:
                connection.execute(_UNLOCK)

    def _checked(self, rows: Rows) -> Rows:
        """The rows of an empty schema, or of tables as a ledger makes them."""
        odd = _odd(rows)
        if odd:
            raise LedgerDamaged(CHANGED, came=odd[0], where=self.place, remedy=MEND_CHANGED)
        return rows

    @staticmethod
    def _in_transaction(connection: Any, work: Callable[[Rows], T]) -> T:
        with connection.transaction():
            load = partial(_copy, connection)
            return work(Rows(_query(connection), lambda: {row[0] for row in connection.execute(_ASKED)}, "BYTEA", load))

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
        # Only after a commit or a refusal of ours: anything else may have left it in the middle of a transaction.
        if is_sound and not connection.broken:
            self._own().append(connection)
        else:
            connection.close()

    def _connect(self) -> Any:
        import psycopg

        connection = psycopg.connect(
            # autocommit, so that the advisory lock is taken outside of any transaction; see `_LOCK`.
            self._address,
            autocommit=True,
            connect_timeout=max(2, int(min(self._timeout, 30))),
            prepare_threshold=None,
        )
        try:
            self._check_server(connection)
            connection.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
            # A database may be set to answer before it writes; this session's answers are on the disk.
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

        # The kind alone: the server's words quote the statement, and with it what was to be kept.
        came = type(error).__name__
        if isinstance(error, psycopg.errors.DataCorrupted | psycopg.errors.UndefinedTable | psycopg.ProgrammingError):
            return LedgerDamaged("the database must hold the ledger's tables", came=came, where=self.place)
        remedy = "Nothing was spent; make the same call again once the cause is removed."
        return LedgerUnavailable("the server must be reachable, with room", came=came, where=self.place, remedy=remedy)


def _place(address: str) -> str:
    """Host and database of an address, read as libpq reads it; nothing of one that may have a password elsewhere."""
    rest = re.sub(r"^[^@/]*@", "", address.partition("://")[2]).partition("?")[0]
    return "postgresql://" + ("" if "@" in rest else re.sub(r":\d+(?=[,/]|$)", "", rest))


def _odd(rows: Rows) -> list[str]:
    """Differences from the tables that a ledger makes; none for a schema without any."""
    tables = {name: (columns, keys, odd) for name, columns, keys, odd in rows.ask(_CATALOG)}
    odd = [f"{name}: {what}" for name, (_, _, what) in sorted(tables.items()) if what]
    odd += [f"{name}: other columns" for name in sorted(tables) if tables[name][:2] != _TABLES[name]]
    return odd + [f"{name}: it is missing" for name in _TABLES if tables and name not in tables]


def _copy(connection: Any, parts: Iterable[EventPart]) -> None:
    """Write parts by COPY: one statement for all of them, their bytes as they are; none for no parts."""
    left = iter(parts)
    first = next(left, None)
    if first is None:
        return
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        copy.set_types(["int8", "int8", "bytea"])
        for part in chain([first], left):
            copy.write_row(part)


def _query(connection: Any) -> Callable[[str, Sequence[Any]], Any]:
    return lambda statement, values: connection.execute(statement.replace("?", "%s"), values, binary=True)
