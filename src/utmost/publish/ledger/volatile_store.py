"""The memory of one process as a store: a database in memory that ends with it, and that no fork nor copy shares."""

import sqlite3
from collections.abc import Callable
from typing import TypeVar

from utmost.laws.sampling.process_memory import ProcessMemory
from utmost.publish.ledger.sqlite_store import rows_on
from utmost.publish.ledger.store import Rows

T = TypeVar("T")


class VolatileStore(ProcessMemory):
    """One connection to a database that is nowhere but here; transactions follow one another.

    What is there can be read in a forked child; nothing is written by one.
    """

    __slots__ = ("_connection",)

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)

    @property
    def place(self) -> str:
        """This process."""
        return "the memory of this process"

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
