"""A progress bar: the name of a long task, how much is done and how long the rest may take.

A task that may take longer than a second enters `progress_bar` with a name, and reports how much is done where it
knows. The line appears after a second, on a terminal or in a notebook only, and is gone when the task ends, however it
ends. A task within another takes its place on the line.

A second thread draws the line, so that tasks in machine code are shown as well, and a report costs no more than storing
three numbers.
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

_PATIENCE, _EVERY = 1.0, 0.2  # seconds before the first line, and between two of them
_BAR, _WIDEST = 24, 120  # characters

Progress = Callable[[int, int], object]
"""A function of the caller, called as ``progress(done, total)`` in cells or rows."""


class Report(Protocol):
    """A function that a long task calls to report how much is done."""

    def __call__(self, done: float = 0, total: float | None = None, note: str = "") -> object:
        """Report that ``done`` of ``total`` is done; the total may be unknown."""


class LineDisplay(Protocol):
    """A place for one line: a terminal, a notebook, or a list in a test."""

    def show(self, line: str) -> object:
        """Replace the line shown before; an empty one erases it."""

    @property
    def width(self) -> int:
        """The number of characters that fit."""


@dataclass(slots=True, eq=False)
class Task:
    """A long task and its last report."""

    name: str
    begun: float
    done: float = 0
    total: float | None = None
    note: str = ""

    def report(self, done: float = 0, total: float | None = None, note: str = "") -> None:
        """Store a report, see `Report`."""
        self.done, self.total, self.note = done, total, note

    def line(self, now: float, width: int) -> str:
        """The line that shows the task.

        >>> task = Task("Counting", begun=0)
        >>> task.line(now=12, width=80)
        'Counting, 12 s'
        >>> task.report(30, 120, note="flights")
        >>> task.line(now=12, width=80)
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
        # A name may come from a file's name: no control sequence of it reaches the terminal.
        return "".join(sign if sign.isprintable() else "?" for sign in line)[:width]


def _time(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1):.0f} s"


@dataclass(slots=True)
class ProgressLine:
    """A display, a clock, and the tasks under way, innermost last.

    Attributes:
        ticks: whether a thread draws the line; otherwise the caller does, by `draw`.
    """

    display: LineDisplay
    clock: Callable[[], float] = monotonic
    ticks: bool = True
    tasks: list[Task] = field(default_factory=list)

    def draw(self) -> None:
        """Show the innermost task once the outermost has lasted for a second."""
        tasks = [*self.tasks]
        if tasks and self.clock() - tasks[0].begun >= _PATIENCE:
            self.display.show(tasks[-1].line(self.clock(), self.display.width))

    @contextmanager
    def task(self, name: str) -> Iterator[Report]:
        """Run a task within, see `progress_bar`."""
        task = Task(name, self.clock())
        self.tasks.append(task)
        try:
            if len(self.tasks) > 1 or not self.ticks:
                yield task.report
            else:
                with self._redrawn():
                    yield task.report
        finally:
            self.tasks.remove(task)
            if not self.tasks:
                self.display.show("")

    @contextmanager
    def _redrawn(self) -> Iterator[None]:
        ended = Event()

        def draw_on() -> None:
            while not ended.wait(_EVERY):
                self.draw()

        thread = Thread(target=draw_on, name="progress bar", daemon=True)
        with suppress(RuntimeError):  # a browser has no threads, and then no line
            thread.start()
        try:
            yield
        finally:
            ended.set()
            if thread.is_alive():
                thread.join()


class StandardError:
    """The last line of a terminal or of a notebook's cell, written over again and again."""

    def __init__(self) -> None:
        self._shown = 0

    def show(self, line: str) -> None:
        """Write over the line shown before."""
        if line or self._shown:
            blank = "" if line else "\r"
            sys.stderr.write(f"\r{line.ljust(self._shown)}{blank}")
            sys.stderr.flush()
            self._shown = len(line)

    @property
    def width(self) -> int:
        """The width of the terminal, at most 120."""
        return min(shutil.get_terminal_size().columns - 1, _WIDEST)


_line: ContextVar[ProgressLine | None] = ContextVar("line", default=None)
_drawing: list[ProgressLine] = []  # at most one thread has the line


@contextmanager
def progress_bar(name: str) -> Iterator[Report]:
    """Run a long task within; it reports how much is done by calling what it gets. Also a decorator.

    >>> with progress_bar("Counting") as report:
    ...     report(1, 3)
    """
    line = _line.get()
    if line is not None:
        with line.task(name) as report:
            yield report
        return
    if _drawing or not shows_progress():
        yield _ignore
        return
    line = ProgressLine(StandardError())
    _drawing.append(line)
    before = _line.set(line)
    try:
        with line.task(name) as report:
            yield report
    finally:
        _line.reset(before)
        _drawing.remove(line)


def report_progress(done: float = 0, total: float | None = None, note: str = "") -> None:
    """Report for the innermost task, in a function that did not begin it.

    >>> report_progress(1, 3)
    """
    line = _line.get()
    if line is not None and line.tasks:
        line.tasks[-1].report(done, total, note)


@contextmanager
def progress_on(line: ProgressLine | None) -> Iterator[None]:
    """Show the tasks within on this line, in this thread; None chooses standard error."""
    before = _line.set(line)
    try:
        yield
    finally:
        _line.reset(before)


def shows_progress() -> bool:
    """Whether anybody would see a line: standard error is a terminal or a notebook's."""
    stream: Any = sys.stderr
    if _line.get() is not None:
        return True
    try:
        return bool(stream.isatty()) or type(stream).__module__.startswith("ipykernel.")
    except (AttributeError, ValueError):  # none, or closed
        return False


def _ignore(done: float = 0, total: float | None = None, note: str = "") -> None:
    pass
