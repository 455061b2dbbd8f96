"""Progress of long work, on a terminal only: a pipe or a log sees nothing of it."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from utmost.adapters.screens.parts import screen

Item = TypeVar("Item")

# Below so many rows a bar would only flicker.
_LONG = 100_000


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Say on a terminal what is going on; nothing in a pipe or a log."""
    console = screen(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(escape(what)):
        yield


def watched(rows: Iterable[list[str]], count: int) -> Iterator[list[str]]:
    """The rows as they are, with a bar where they are many."""
    console = screen(stderr=True)
    if count < _LONG or not console.is_terminal:
        yield from rows
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        yield from progress.track(rows, total=count, description="Writing")


@contextmanager
def counted(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A function to call as ``progress(done, total)``, which draws a bar on a terminal; None for a pipe or a log."""
    console = screen(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(escape(what), total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def share_done(what: str) -> Iterator[Callable[[float], None]]:
    """A bar that is moved by telling it the share that is done, between 0 and 1."""
    console = screen(stderr=True)
    if not console.is_terminal:
        yield lambda done: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(escape(what), total=1.0)
        yield lambda done: progress.update(task, completed=done)


def tallied(items: Iterable[Item], what: str) -> Iterator[Item]:
    """The items as they are, with their number so far where nobody knows how many will come."""
    console = screen(stderr=True)
    if not console.is_terminal:
        yield from items
        return
    columns = (SpinnerColumn(), TextColumn("{task.completed:,} {task.description}"))
    with Progress(*columns, console=console, transient=True) as progress:
        yield from progress.track(items, total=None, description=escape(what))
