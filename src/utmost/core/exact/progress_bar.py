"""A progress bar: it shows the name of a long task, the share that is done, and the expected remaining time.

A task that may take longer than a second runs within `progress_bar`, which takes the task's name and returns a
function. The task calls the function to report its progress. The bar appears on one line after a second, only on a
terminal or in a notebook, and disappears when the task ends. While a task runs within another task, the line shows the
inner task. A separate thread draws the line. So tasks in machine code are shown as well, and reporting only stores
three numbers.
"""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Event, Thread
from time import monotonic
from typing import Any, Protocol

_PATIENCE, _EVERY = 1.0, 0.2  # seconds before the first line, and between two of them
_BAR, _WIDEST = 24, 120  # width in characters

Progress = Callable[[int, int], object]
"""A user's function, called as ``progress(done, total)`` with numbers of cells or rows."""


class Report(Protocol):
    """A function that a long task calls to report how much is done."""

    def __call__(self, done: float = 0, total: float | None = None, note: str = "") -> object:
        """Report the finished work, ``done``, and all of the work, ``total``, which is None if it is unknown."""


class LineDisplay(Protocol):
    """A display of one line: a terminal, a notebook, or a list in a test."""

    def show(self, line: str) -> object:
        """Replace the line shown before, or erase that line if ``line`` is empty."""

    @property
    def width(self) -> int: ...


@dataclass(slots=True, eq=False)
class Task:
    name: str
    begun: float
    done: float = 0
    total: float | None = None
    note: str = ""

    def report(self, done: float = 0, total: float | None = None, note: str = "") -> None:
        self.done, self.total, self.note = done, total, note

    def line(self, now: float, width: int) -> str:
        """The task as one line of text: name, bar, percentage and remaining time."""
        seconds, note = now - self.begun, f", {self.note}" if self.note else ""
        if not self.total:
            line = f"{self.name}{note}, {_time(seconds)}"
        else:
            share = min(max(self.done / self.total, 0.0), 1.0)
            bar = "#" * int(share * _BAR)
            left = f", {_time(seconds * (1 - share) / share)} left" if share > 0 else ""
            line = f"{self.name}  [{bar:-<{_BAR}}] {share:4.0%}{note}{left}".replace("%", " %")
        # The name may be the name of a file: control characters in it must not reach the terminal.
        return "".join(sign if sign.isprintable() else "?" for sign in line)[:width]


def _time(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1):.0f} s"


@dataclass(slots=True)
class ProgressLine:
    """Shows the current tasks (innermost last) on a display. If ``ticks`` is False, the caller draws the line."""

    display: LineDisplay
    clock: Callable[[], float] = monotonic
    ticks: bool = True
    tasks: list[Task] = field(default_factory=list)

    def draw(self) -> None:
        """Show the innermost task once the outermost task has lasted for a second."""
        tasks = [*self.tasks]
        if tasks and self.clock() - tasks[0].begun >= _PATIENCE:
            self.display.show(tasks[-1].line(self.clock(), self.display.width))

    @contextmanager
    def task(self, name: str) -> Iterator[Report]:
        """Run a task in this context; see `progress_bar`."""
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
        with suppress(RuntimeError):  # Python in a browser has no threads: the line is not drawn
            thread.start()
        try:
            yield
        finally:
            ended.set()
            if thread.is_alive():
                thread.join()


class StandardError:
    """A display on standard error, which overwrites the last line of a terminal or of a notebook's cell."""

    def __init__(self) -> None:
        self._shown = 0

    def show(self, line: str) -> None:
        if line or self._shown:
            blank = "" if line else "\r"
            sys.stderr.write(f"\r{line.ljust(self._shown)}{blank}")
            sys.stderr.flush()
            self._shown = len(line)

    @property
    def width(self) -> int:
        return min(shutil.get_terminal_size().columns - 1, _WIDEST)


_line: ContextVar[ProgressLine | None] = ContextVar("line", default=None)
_drawing: list[ProgressLine] = []  # only one thread draws a line at a time
_progress: ContextVar[Callable[[Any, Any], object] | None] = ContextVar("progress", default=None)


@contextmanager
def progress_bar(name: str, progress: Progress | None = None) -> Iterator[Report]:
    """A context, or a decorator, that runs a long task and returns the function with which the task reports.

    ``progress`` is called at each `report_progress` of this task, with or without a terminal, but not by tasks inside
    this one.
    """
    with ExitStack() as stack:
        if progress is not _progress.get():
            stack.callback(_progress.reset, _progress.set(progress))
        line = _line.get()
        if line is None and not _drawing and shows_progress():
            line = ProgressLine(StandardError())
            _drawing.append(line)
            stack.callback(_drawing.remove, line)
            stack.callback(_line.reset, _line.set(line))
        yield _ignore if line is None else stack.enter_context(line.task(name))


def report_progress(done: float = 0, total: float | None = None, note: str = "") -> None:
    """Report the progress of the innermost task from a function that did not begin the task."""
    line, progress = _line.get(), _progress.get()
    if line is not None and line.tasks:
        line.tasks[-1].report(done, total, note)
    if progress is not None:
        progress(done, total)


@contextmanager
def progress_on(line: ProgressLine | None) -> Iterator[None]:
    """Show the tasks of this context and thread on ``line``; None means standard error."""
    before = _line.set(line)
    try:
        yield
    finally:
        _line.reset(before)


def shows_progress() -> bool:
    """Whether a progress line would be seen: standard error is a terminal, or belongs to a notebook."""
    stream: Any = sys.stderr
    if _line.get() is not None:
        return True
    try:
        return bool(stream.isatty()) or type(stream).__module__.startswith("ipykernel.")
    except (AttributeError, ValueError):  # there is no standard error, or it is closed
        return False


def _ignore(done: float = 0, total: float | None = None, note: str = "") -> None:
    pass
