"""What does not fit the memory is too large an argument, and said to be one."""

from collections.abc import Iterator
from contextlib import contextmanager

from utmost.errors import Unsupported


@contextmanager
def fitting_memory(where: str) -> Iterator[None]:
    """Around what makes an array as large as its arguments ask for; it decorates functions, too.

    Raises:
        Unsupported: where the memory does not suffice.

    >>> with fitting_memory("table"):
    ...     raise MemoryError
    Traceback (most recent call last):
    utmost.errors.Unsupported: table: what is asked for must fit the memory. Ask for a smaller one.
    """
    try:
        yield
    except MemoryError:
        raise Unsupported(
            "what is asked for must fit the memory", where=where, remedy="Ask for a smaller one."
        ) from None
