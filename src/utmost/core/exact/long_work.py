"""Long work tells: its name, how much is done and how long the rest may take, on a terminal and in a notebook.

What may take longer than a second enters `long_work` under a name, and says how far it is where it knows; it never asks
who looks on. Nothing is shown in the first second, nothing where standard error is neither a terminal nor a
notebook's, and nothing is left when the work ends, however it ends. Work within work takes its place on the line.

A second thread draws the line, so that work in machine code is seen as well, and saying how far one is costs no more
than keeping three numbers.
"""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Event, Thread
from time import monotonic
from typing import Any, Protocol

_PATIENCE, _EVERY = 1.0, 0.2  # seconds before a line comes, and between two of them
_BAR, _WIDEST = 24, 120  # characters


class Told(Protocol):
    """What long work calls to say how far it is."""

    def __call__(self, done: float = 0, total: float | None = None, note: str = "") -> object:
        """So much is done, of so much in all where that is known; a note may say more."""


class Screen(Protocol):
    """Where a line is shown: a terminal, a notebook, or a list in a test."""

    def show(self, line: str) -> object:
        """Show a line in the place of the one before; an empty one leaves nothing."""

    @property
    def width(self) -> int:
        """So many characters fit."""


@dataclass(slots=True, eq=False)
class Work:
    """One piece of work, as far as it has said."""

    name: str
    begun: float
    done: float = 0
    total: float | None = None
    note: str = ""

    def at(self, done: float = 0, total: float | None = None, note: str = "") -> None:
        """See `Told`."""
        self.done, self.total, self.note = done, total, note

    def line(self, now: float, width: int) -> str:
        """What is shown of it.

        >>> work = Work("Counting", begun=0)
        >>> work.line(now=12, width=80)
        'Counting, 12 s'
        >>> work.at(30, 120, note="flights")
        >>> work.line(now=12, width=80)
        'Counting  [######------------------]  25 %, flights, 36 s left'
        """
        seconds, note = now - self.begun, f", {self.note}" if self.note else ""
        if not self.total:
            line = f"{self.name}{note}, {_time(seconds)}"
        else:
            share = min(max(self.done / self.total, 0.0), 1.0)
            bar = "#" * int(share * _BAR)
            left = f", {_time(seconds * (1 - share) / share)} left" if share > 0 else ""
            line = f"{self.name}  [{bar:-<{_BAR}}] {share:4.0%}{note}{left}".replace("%", " %")
        return "".join(sign if sign.isprintable() else "?" for sign in line)[:width]


def _time(seconds: float) -> str:
    """Seconds, minutes or hours, as one says them."""
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1):.0f} s"


@dataclass(slots=True)
class Watch:
    """Whoever looks on: a screen and a clock, and the work that is being done, innermost last.

    Attributes:
        ticks: whether a thread draws the line; without one, `draw` does.
    """

    screen: Screen
    clock: Callable[[], float] = monotonic
    ticks: bool = True
    works: list[Work] = field(default_factory=list)

    def draw(self) -> None:
        """Show the innermost work once the outermost has lasted for a second."""
        works = [*self.works]
        if works and self.clock() - works[0].begun >= _PATIENCE:
            self.screen.show(works[-1].line(self.clock(), self.screen.width))

    @contextmanager
    def working(self, name: str) -> Iterator[Told]:
        """See `long_work`."""
        work = Work(name, self.clock())
        self.works.append(work)
        try:
            if len(self.works) > 1 or not self.ticks:
                yield work.at
            else:
                with self._drawn():
                    yield work.at
        finally:
            self.works.remove(work)
            if not self.works:
                self.screen.show("")

    @contextmanager
    def _drawn(self) -> Iterator[None]:
        ended = Event()

        def draw_on() -> None:
            while not ended.wait(_EVERY):
                self.draw()

        thread = Thread(target=draw_on, name="long work", daemon=True)
        with suppress(RuntimeError):  # where there are no threads, as in a browser, there is no line
            thread.start()
        try:
            yield
        finally:
            ended.set()
            if thread.is_alive():
                thread.join()


class StandardError:
    """The last line of a terminal, or of a notebook's cell, written over again and again."""

    def __init__(self) -> None:
        self._shown = 0

    def show(self, line: str) -> None:
        """Write over what was shown."""
        if line or self._shown:
            blank = "" if line else "\r"
            sys.stderr.write(f"\r{line.ljust(self._shown)}{blank}")
            sys.stderr.flush()
            self._shown = len(line)

    @property
    def width(self) -> int:
        """That of the terminal."""
        return min(shutil.get_terminal_size().columns - 1, _WIDEST)


_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)
_drawing: list[Watch] = []  # of all threads one at most has the line


@contextmanager
def long_work(name: str) -> Iterator[Told]:
    """Do what may take long under a name; how far it is, it says by calling what it gets.

    >>> with long_work("Counting") as told:
    ...     told(1, 3)
    """
    watch = _watch.get()
    if watch is not None:
        with watch.working(name) as told:
            yield told
        return
    if _drawing or not is_watched():
        yield _nobody
        return
    watch = Watch(StandardError())
    _drawing.append(watch)
    before = _watch.set(watch)
    try:
        with watch.working(name) as told:
            yield told
    finally:
        _watch.reset(before)
        _drawing.remove(watch)


def tell(done: float = 0, total: float | None = None, note: str = "") -> None:
    """Say of the innermost work how far it is, where the one who knows is not the one who began it.

    >>> tell(1, 3)
    """
    watch = _watch.get()
    if watch is not None and watch.works:
        watch.works[-1].at(done, total, note)


@contextmanager
def watched_by(watch: Watch | None) -> Iterator[None]:
    """Let somebody look on at what is done within, in this thread; where None, whoever is there."""
    before = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(before)


def is_watched() -> bool:
    """Whether anybody would see a line: standard error is a terminal, or that of a notebook."""
    stream: Any = sys.stderr
    if _watch.get() is not None:
        return True
    try:
        return bool(stream.isatty()) or type(stream).__module__.startswith("ipykernel.")
    except (AttributeError, ValueError):  # none, or closed
        return False


def _nobody(done: float = 0, total: float | None = None, note: str = "") -> None:
    """What is said where nobody looks."""
