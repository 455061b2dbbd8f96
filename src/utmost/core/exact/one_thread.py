"""Linear algebra in one thread, for small matrices."""

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
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context in which BLAS uses one thread."""
    # A second thread waits busily on matrices of 100 by 100: a design of 100 places takes 14 seconds of processor time
    # in two threads and 8 in one. The number of threads is a setting of the whole process: the first context sets and
    # restores it. A context that begins meanwhile, in another thread or a forked child, changes nothing and does not
    # wait.
    if not _turn.acquire(blocking=False):
        yield
        return
    try:
        with _libraries().limit(limits=1, user_api="blas"):
            yield
    finally:
        _turn.release()
