"""Machine code: compiled at first use, kept on the disk where that can be, and said aloud while somebody waits for it.

Numba keeps what it compiles beside the file that it compiles, or, where that folder cannot be written, in the user's
own cache; `NUMBA_CACHE_DIR` names another place. Where there is none, each process compiles anew.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from utmost.core.exact.long_work import long_work

F = TypeVar("F", bound=Callable[..., Any])
_said: ContextVar[Callable[[], object] | None] = ContextVar("said", default=None)


@contextmanager
def compilation_told(say: Callable[[], object]) -> Iterator[None]:
    """Call ``say`` once if anything is compiled within, before it is: seconds in which nothing else is seen.

    What is read from the disk is not said. In this thread alone.
    """
    before = _said.set(say)
    try:
        yield
    finally:
        _said.reset(before)


def in_machine_code(function: F, *, inside: bool = False, **options: Any) -> F:
    """The function compiled by numba, which must be installed, at its first call.

    Args:
        inside: whether other compiled functions alone call it: a way in from Python takes a fifth of a compilation.
        options: of `numba.njit`, beside ``cache``.
    """
    from numba import njit

    _listen()
    chosen: dict[str, Any] = {"no_cfunc_wrapper": True, "no_cpython_wrapper": inside, **options}
    compiler: Callable[..., Any] = njit
    try:
        return cast(F, compiler(cache=True, **chosen)(function))
    except RuntimeError:  # numba finds no folder that it can write to
        return cast(F, compiler(**chosen)(function))


def is_compiled_already(function: Any) -> bool:
    """Whether some process has left machine code of a function of `in_machine_code` on this disk, since it was written.

    >>> is_compiled_already(print)
    False
    """
    folder = getattr(getattr(function, "stats", None), "cache_path", None)
    if folder is None:
        return False
    source = Path(function.__code__.co_filename)
    entries = Path(folder).glob(f"{source.stem}.{function.__qualname__}-*.nbi")
    return any(entry.stat().st_mtime >= source.stat().st_mtime for entry in entries)


@cache
def _listen() -> None:
    """Hear of each compilation, once for all."""
    from numba.core import event

    class Said(event.Listener):
        """Says the first one, and shows that something is compiled for as long as it is."""

        def __init__(self) -> None:
            self._shown: list[Any] = []

        def on_start(self, event: Any) -> None:
            say = _said.get()
            if say is not None:
                _said.set(None)
                say()
            self._shown.append(long_work("Compiling, once on this machine"))
            self._shown[-1].__enter__()

        def on_end(self, event: Any) -> None:
            self._shown.pop().__exit__(None, None, None)

    register: Callable[[str, event.Listener], None] = event.register
    register("numba:compile", Said())
