"""Linear algebra in one thread, where a second has nothing to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

_turn = Lock()


@cache
def _libraries() -> "ThreadpoolController":
    """The libraries that this process has loaded; loaded late, as most of what is imported never asks."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context in which linear algebra has one thread.

    Matrices of 100 by 100 give a second one nothing to do, and it waits busily: a design of 100 places takes 14 seconds
    of processor in two threads and 8 in one, more on a busy machine. The number is one setting of the process, which
    whoever comes first changes and puts back; who comes meanwhile (in another thread, or in a child that was forked
    meanwhile) does not wait.
    """
    if not _turn.acquire(blocking=False):
        yield
        return
    try:
        with _libraries().limit(limits=1, user_api="blas"):
            yield
    finally:
        _turn.release()
