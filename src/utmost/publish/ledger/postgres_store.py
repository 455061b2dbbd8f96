"""Store a ledger in PostgreSQL 15 or later, in serialisable transactions that are repeated after a conflict."""

import os
import random
import re
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from utmost.errors import LedgerDamaged, LedgerError, LedgerUnavailable, Unsupported, UtmostError
from utmost.publish.ledger.store import CHANGED, MEND_CHANGED, EventPart, Rows

T = TypeVar("T")

_OLDEST = 150000  # PostgreSQL 15 or later; an older server is refused
_ASKED = "SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = pg_catalog.current_schema()"
# The two keys of the advisory lock: a number that no other program is likely to use, and a hash of the schema's name.
# The lock is taken before the transaction begins: a serialisable transaction that waits for a lock reads the database
# as it was before the wait.
_NUMBERS = "(731159012, hashtext(current_schema()))"
_LOCK, _UNLOCK = f"SELECT pg_advisory_lock{_NUMBERS}", f"SELECT pg_advisory_unlock{_NUMBERS}"
_COPY = "COPY utmost_parts (event, part, content) FROM STDIN (FORMAT BINARY)"
_FIRST_WAIT, _LONGEST_WAIT = 0.002, 0.25

# The tables of a ledger in the catalog: name, columns, constraints.
_TABLES = {
    "utmost_schema": ("version integer not null", ""),
    "utmost_events": ("number bigint not null, body bytea not null, mac bytea not null", "PRIMARY KEY (number)"),
    "utmost_head": ("number bigint not null, seal bytea not null", ""),
    "utmost_parts": (
        "event bigint not null, part bigint not null, content bytea not null",
        "PRIMARY KEY (event, part)",
    ),
}
# Every table of the current schema with the name of a ledger's table, and everything in the catalog that would change
# the effect of a statement on it.
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

# Connections of a parent process, which its forked child must neither use nor close.
_inherited: list[Any] = []


class PostgresStore:
    """A ledger's tables in a database; a transaction uses an idle connection of this process, or a new one.

    Writers wait for each other at a lock, so that serialisable transactions rarely conflict; after a conflict or a
    broken connection the transaction is repeated, up to the timeout.

    Args:
        address: postgresql://user:password@host:port/database, or any other address that libpq accepts.
        timeout: Number of seconds to wait for other writers, and to repeat a transaction.
    """

    __slots__ = ("_address", "_idle", "_timeout")

    def __init__(self, address: str, timeout: float) -> None:
        self._address, self._timeout = address, timeout
        self._idle: tuple[int, list[Any]] = os.getpid(), []

    @property
    def place(self) -> str:
        """Host and database, parsed as libpq does; empty if another part of the address may contain a password."""
        rest = re.sub(r"^[^@/]*@", "", self._address.partition("://")[2]).partition("?")[0]
        return "postgresql://" + ("" if "@" in rest else re.sub(r":\d+(?=[,/]|$)", "", rest))

    def name_of_database(self) -> str:
        """Return host, port, database and schema as the server reports them, the same for every form of the address."""
        connection = self._connected()
        try:
            info = connection.info
            database, schema = connection.execute("SELECT current_database(), current_schema()").fetchone()
            return f"postgresql://{info.host or info.hostaddr}:{info.port}/{database} {schema}"
        finally:
            self._give_back(connection, False)

    def transact(self, work: Callable[[Rows], T], *, write: bool) -> T:
        import psycopg

        # A commit whose outcome is unknown after a broken connection is repeated: if it succeeded, the work finds its
        # result.
        last, wait = time.monotonic() + self._timeout, _FIRST_WAIT
        while True:
            connection, is_sound = None, False
            try:
                connection = self._connected()
                answer = self._once(connection, work, write=write)
                is_sound = True
                return answer
            except UtmostError:
                is_sound = True
                raise
            # Two writers conflicted: the server has rolled this transaction back.
            except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected) as error:
                again: psycopg.Error = error
            except psycopg.OperationalError as error:
                if connection is None and (refused := self._refused(error)) is not None:
                    raise refused from None
                # On a sound connection the error is definite; a broken one may have committed, which the next attempt
                # finds out.
                if connection is not None and not connection.broken:
                    raise self._translated(error) from None
                again = error
            except psycopg.Error as error:
                raise self._translated(error) from None
            finally:
                self._give_back(connection, is_sound)
            if time.monotonic() + wait > last:
                raise self._translated(again) from None
            # The time of the next attempt needs no secure randomness.
            time.sleep(wait * random.uniform(0.5, 1))  # noqa: S311
            # The wait doubles and has a random part, so that two writers do not conflict again at the same time.
            wait = min(2 * wait, _LONGEST_WAIT)

    def problems(self) -> list[str]:
        """List how the tables differ from a ledger's; PostgreSQL itself refuses to read pages with wrong checksums."""
        return self.transact(_schema_differences, write=False)

    def close(self) -> None:
        idle = self._idle_here()
        while idle:
            idle.pop().close()

    def _once(self, connection: Any, work: Callable[[Rows], T], *, write: bool) -> T:
        if not write:
            return self._in_transaction(connection, work)
        # One writer at a time: without a lock, writers that draw for hours would conflict at the end and lose the work.
        connection.execute(_LOCK)
        try:
            return self._in_transaction(connection, lambda rows: work(self._checked(rows)))
        finally:
            if not connection.broken:
                connection.execute(_UNLOCK)

    def _checked(self, rows: Rows) -> Rows:
        """Check that the schema is empty or has exactly the tables of a ledger; return the rows."""
        odd = _schema_differences(rows)
        if odd:
            raise LedgerDamaged(CHANGED, came=odd[0], where=self.place, remedy=MEND_CHANGED)
        return rows

    @staticmethod
    def _in_transaction(connection: Any, work: Callable[[Rows], T]) -> T:
        def run(statement: str, values: Sequence[Any]) -> Any:
            return connection.execute(statement.replace("?", "%s"), values, binary=True)

        with connection.transaction():
            load = partial(_copy, connection)
            return work(Rows(run, lambda: {row[0] for row in connection.execute(_ASKED)}, "BYTEA", load))

    def _idle_here(self) -> list[Any]:
        """Return this process's idle connections; a parent's stay open, since closing them would end its sessions."""
        process, idle = self._idle
        if process != os.getpid():
            _inherited.extend(idle)
            self._idle = os.getpid(), []
        return self._idle[1]

    def _connected(self) -> Any:
        """Return an idle connection of this process; if there is none, a new one."""
        with suppress(IndexError):
            return self._idle_here().pop()
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
            # A database may be configured to confirm commits before they are on the disk; this session turns that off.
            connection.execute("SET synchronous_commit = on")
            connection.execute(f"SET lock_timeout = '{max(1, int(1000 * self._timeout))}ms'")
        except BaseException:
            connection.close()
            raise
        return connection

    def _give_back(self, connection: Any, is_sound: bool) -> None:
        """Store a sound connection for reuse; close any other one, since it may still hold the lock."""
        if connection is None:
            return
        # A connection is sound after a commit or an error of this package; other errors may leave a transaction open.
        if is_sound and not connection.broken:
            self._idle_here().append(connection)
        else:
            connection.close()

    def _check_server(self, connection: Any) -> None:
        """Check the version of the server, and that it writes commits to its disk."""
        version = connection.info.server_version
        if version < _OLDEST:
            raise Unsupported("PostgreSQL must be version 15 or later", came=version // 10000, where=self.place)
        if connection.execute("SHOW fsync").fetchone() == ("off",):
            raise Unsupported(
                "the server must force each transaction to its disk", came="fsync = off", where=self.place
            )

    def _refused(self, error: Any) -> LedgerUnavailable | None:
        """Return the error if the server refuses user, password or database; None if it may accept them later."""
        # libpq gives no SQLSTATE of a refused connection; a server in another language is asked until the timeout.
        message, connection = str(error), getattr(error, "pgconn", None)
        user, remedy = "PGUSER, or postgresql://USER@HOST/DATABASE.", ""
        if connection is not None and connection.needs_password:
            required, came = "the server must get a password", "none"
            remedy = "Set PGPASSWORD, or write the password into ~/.pgpass."
        elif "password authentication failed" in message:
            required, came = "the server must accept user and password", "a refusal (28P01)"
            remedy = f"Correct PGPASSWORD or ~/.pgpass, and {user}"
        elif re.search(r'FATAL:\s+database ".*" does not exist', message):
            required, came = "the database must exist on the server", "none of this name (3D000)"
            remedy = "Create it, once: createdb DATABASE; or correct its name."
        elif re.search(r'FATAL:\s+role ".*" does not exist', message):
            required, came = "the user must exist on the server", "none of this name (28000)"
            remedy = f"Create it, or correct {user}"
        elif "pg_hba.conf" in message:
            required, came = "the server must allow this user to connect from here", "a refusal (28000)"
            remedy = "Add a line to its pg_hba.conf, or turn TLS on: postgresql://HOST/DATABASE?sslmode=require."
        else:
            return None
        return LedgerUnavailable(required, came=came, where=self.place, remedy=remedy)

    def _translated(self, error: Any) -> LedgerError:
        """Return the error of this package for an error of psycopg, without the statement and its values."""
        import psycopg

        # The error names only the class: the message of the server quotes the statement and its values.
        came = type(error).__name__
        if isinstance(error, psycopg.errors.DataCorrupted | psycopg.errors.UndefinedTable | psycopg.ProgrammingError):
            return LedgerDamaged("the database must have the ledger's tables", came=came, where=self.place)
        remedy = "Nothing was spent; make the same call again once the cause is removed."
        return LedgerUnavailable(
            "the server must be reachable, with free space", came=came, where=self.place, remedy=remedy
        )


def _schema_differences(rows: Rows) -> list[str]:
    """List how the schema differs from a ledger's tables; empty if it has none of these tables."""
    tables = {name: (columns, keys, odd) for name, columns, keys, odd in rows.ask(_CATALOG)}
    odd = [f"{name}: {what}" for name, (_, _, what) in sorted(tables.items()) if what]
    odd += [f"{name}: other columns" for name in sorted(tables) if tables[name][:2] != _TABLES[name]]
    return odd + [f"{name}: it is missing" for name in _TABLES if tables and name not in tables]


def _copy(connection: Any, parts: Iterable[EventPart]) -> None:
    """Write parts by one COPY statement in binary form; do nothing if there are none."""
    left = iter(parts)
    first = next(left, None)
    if first is None:
        return
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        copy.set_types(["int8", "int8", "bytea"])
        for part in chain([first], left):
            copy.write_row(part)
