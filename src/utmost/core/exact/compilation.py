"""Compile functions by numba at their first use, and show a progress bar during each compilation.

Numba stores machine code beside the source file, or in the user's cache folder if the source folder is read-only.
`NUMBA_CACHE_DIR` names another folder. Without a writable folder each process compiles the functions again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from utmost.core.exact.progress_bar import progress_bar

F = TypeVar("F", bound=Callable[..., Any])
_announce: ContextVar[Callable[[], object] | None] = ContextVar("announce", default=None)


@contextmanager
def on_compilation(announce: Callable[[], object]) -> Iterator[None]:
    """Call ``announce`` before the first compilation in this context and thread. A function whose machine code is
    stored on disk is not compiled.
    """
    before = _announce.set(announce)
    try:
        yield
    finally:
        _announce.reset(before)


def in_machine_code(function: F, *, inside: bool = False, **options: Any) -> F:
    """Let numba compile a function at its first call. Set ``inside`` if only compiled functions call the function."""
    from numba import njit

    _show_compilations()
    # Wrapping a function for calls from Python takes a fifth of its compilation time.
    chosen: dict[str, Any] = {"no_cfunc_wrapper": True, "no_cpython_wrapper": inside, **options}
    compiler: Callable[..., Any] = njit
    try:
        return cast(F, compiler(cache=True, **chosen)(function))
    except RuntimeError:  # numba finds no folder that it can write to
        return cast(F, compiler(**chosen)(function))


def is_compiled_already(function: Any) -> bool:
    """Whether the disk has machine code, newer than the source file, of a function that `in_machine_code` decorates."""
    folder = getattr(getattr(function, "stats", None), "cache_path", None)
    if folder is None:
        return False
    source = Path(function.__code__.co_filename)
    entries = Path(folder).glob(f"{source.stem}.{function.__qualname__}-*.nbi")
    return any(entry.stat().st_mtime >= source.stat().st_mtime for entry in entries)


@cache  # one listener for the process
def _show_compilations() -> None:
    from numba.core import event

    class Compilations(event.Listener):
        """Calls ``announce`` before the first compilation, and shows a progress bar during each compilation."""

        def __init__(self) -> None:
            self._bars: list[Any] = []

        def on_start(self, event: Any) -> None:
            announce = _announce.get()
            if announce is not None:
                _announce.set(None)
                announce()
            self._bars.append(progress_bar("Compiling, once on this machine"))
            self._bars[-1].__enter__()

        def on_end(self, event: Any) -> None:
            self._bars.pop().__exit__(None, None, None)

    register: Callable[[str, event.Listener], None] = event.register
    register("numba:compile", Compilations())
