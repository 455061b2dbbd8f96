"""Turn a `MemoryError` into an error about the argument that was too large."""

from collections.abc import Iterator
from contextlib import contextmanager

from utmost.errors import Unsupported


@contextmanager
def fitting_memory(where: str) -> Iterator[None]:
    """A context, or a decorator, that raises `Unsupported` if arrays do not fit into memory.

    >>> with fitting_memory("table"):
    ...     raise MemoryError
    Traceback (most recent call last):
    utmost.errors.Unsupported: table: the result must fit into memory; got a larger one. Compute a smaller result.
    """
    try:
        yield
    except MemoryError:
        raise Unsupported(
            "the result must fit into memory",
            came="a larger one",
            where=where,
            remedy="Compute a smaller result.",
        ) from None
