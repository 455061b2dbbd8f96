"""Base class of objects that store their noise in this process. Only one thread at a time may use such an object; a
copy or a forked child may not use it.

A further answer is drawn given the earlier answers. Two threads, two processes or two copies that do not see each
other's answers would draw independently. All answers together would then lose more privacy than any single thread,
process or copy knows of.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NoReturn, Self

from utmost.errors import Unsupported


class ProcessMemory:
    """An object that stores its earlier answers. Subclasses read the answers within ``_alone()``, and draw after
    ``_check_owner()``.
    """

    __slots__ = ("_lock", "_locked_in", "_owner")

    _lock: AbstractContextManager[bool]
    _locked_in: int
    _owner: int

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Create an object whose owner is set before any constructor runs, so that no subclass can forget the owner."""
        memory = super().__new__(cls)
        memory._owner = memory._locked_in = os.getpid()
        memory._lock = threading.RLock()
        return memory

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Exclude other threads while this context is open."""
        # A forked child needs a new lock, since a thread of its parent may have locked the old one.
        if self._locked_in != os.getpid():
            self._locked_in, self._lock = os.getpid(), threading.RLock()
        with self._lock:
            yield

    def _check_owner(self) -> None:
        """Check before a draw that the process is not a forked child."""
        if os.getpid() != self._owner:
            raise Unsupported(
                "a new answer must come from the process that gave the earlier answers",
                came="a forked process",
                where=type(self).__name__,
                remedy="Draw all answers in one process and pass them on, or keep the release in a Ledger.",
            )

    def __reduce__(self) -> NoReturn:
        raise Unsupported(
            "an object that remembers its answers must not be copied: each copy would draw different noise",
            where=type(self).__name__,
            remedy="Share the object, pass its answers on, or keep the release in a Ledger.",
        )
