"""Functions for what commands print: facts in aligned rows, tables, numbers for people, progress of long work."""

import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from fractions import Fraction
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from utmost.core.exact.compilation import on_compilation
from utmost.core.exact.progress_bar import Report, progress_bar, shows_progress
from utmost.core.exact.written_levels import level_words
from utmost.errors import PrivacyWarning, warn
from utmost.interfaces.cli.screens.signals import on_signal
from utmost.interfaces.cli.screens.terminal import Screen, ScreenColumn, ScreenGroup, ScreenTable, ScreenText

if TYPE_CHECKING:
    from utmost.publish.releases.release_facts import ReleaseFacts

DRY = "Nothing was drawn. A release would promise the following."

NOT_REMEMBERED = (
    "This release is not stored in a ledger: every other release of the same people adds its epsilon to "
    "this one. With a ledger (utmost ledger create FILE, then --ledger FILE --name N), this release and a more "
    "accurate "
    "one together cost only the larger epsilon."
)
NOT_IN_A_LEDGER = "This release is not stored in a ledger: another release of the same people adds its epsilon."
_IN_STATEMENT = frozenset({"level", "noise", "how it was drawn", "why this noise"})
"""Facts that the screen leaves out if a statement is written."""
_LONG_FRACTION, _LONG_NUMBER = 20, 7  # characters


def screen(*, stderr: bool = False) -> Screen:
    """Return the screen on standard output, or on standard error."""
    return Screen(stderr=stderr)


def promised(headline: str, promise: str, rows: Mapping[str, str]) -> ScreenGroup:
    """Return a headline, a promise in words and facts for a screen."""
    return ScreenGroup(ScreenText(headline, style="bold"), ScreenText(f"{promise}\n"), facts(rows))


def shown_facts(
    headline: str,
    release: "ReleaseFacts",
    out: Path | None = None,
    *,
    is_whole: bool = False,
    more: Mapping[str, str] | None = None,
    written: str = "",
    then: str = "",
) -> ScreenGroup:
    """Return a release for a screen: a headline, the promise, and the most important facts."""
    # `out` is the written file, with its statement beside it; `written` names other files. With `is_whole` the complete
    # promise is shown, else one line. `more` are further facts; `then` is the next step of the publisher.
    files = written if out is None else f"{out} and {out}.json"
    rows = {fact.label: fact.value for fact in release.first if not (files and fact.label in _IN_STATEMENT)}
    rows |= dict(more or {}) | ({"written": files} if files else {}) | ({"next": then} if then else {})
    return promised(headline, release.guarantee if is_whole else release.line, rows)


def facts(rows: Mapping[str, str]) -> ScreenTable:
    """Return a screen table with a name and its text in each row."""
    return ScreenTable([ScreenColumn(style="dim", wraps=False), ScreenColumn()], list(rows.items()))


def grid(titles: Sequence[str], rows: Iterable[Sequence[str | ScreenText]], *, left: int = 1) -> ScreenTable:
    """Return a screen table: the first `left` columns aligned left and wrapped, numbers aligned right."""
    columns = [ScreenColumn(title, right=at >= left, wraps=at < left) for at, title in enumerate(titles)]
    return ScreenTable(columns, list(rows), has_titles=True)


def others(count: int, what: str) -> list[ScreenText]:
    """Return a line that says how many rows are not shown; nothing if all rows are shown."""
    return [ScreenText(f"and {count:,} {what}", style="dim")] if count > 0 else []


def number(value: Any, digits: int = 6) -> str:
    """Format a number for people: integers completely, others to a few digits."""
    if isinstance(value, int) or (isinstance(value, Fraction) and value.denominator == 1):
        return str(value)
    return f"{float(value):.{digits}g}"


def with_exact(value: Any, exactly: str | None, digits: int = 12, longest: int = 1000) -> str:
    """Format a number for people, with its exact value if the exact value is different and short enough."""
    short = number(value, digits)
    return short if exactly is None or exactly == short or len(exactly) > longest else f"{short} = {exactly}"


def matrix_grid(names: Sequence[str], matrix: Any) -> ScreenTable:
    """Return a channel as a screen table: a row for each secret, a column for each outcome."""
    rows = [[name, *map(entry_text, row)] for name, row in zip(names, matrix.tolist(), strict=True)]
    return grid(["", *(f"y{y}" for y in range(matrix.shape[1]))], rows)


def entry_text(value: Any) -> str:
    """Format an entry of a matrix: a short number or fraction as it is, a longer one to six digits."""
    text = str(value)
    return text if len(text) < (_LONG_FRACTION if "/" in text else _LONG_NUMBER) else f"{float(Fraction(text)):.6g}"


def warn_of_rule(release: Any) -> None:
    """Warn that a stopping rule was not met at its last level; the answer is published all the same."""
    stop = release.stop
    if stop is None or stop.is_met is not False:
        return
    rule = release.promise.until
    text = f"The rule was not met at the last level, epsilon = {level_words(stop.promised)}: the margin of some chosen "
    text += (
        f"cell is above {rule.percent} of its released value. The table is published at that level, and its statement "
    )
    text += 'has "met": false. Cells near 0 never meet such a rule: choose larger cells, "10 % where COLUMN=LABEL".'
    warn(text, PrivacyWarning)


def percent(value: Any) -> str:
    return f"{number(100 * Fraction(value))} %"


Item = TypeVar("Item")

_SILENT = 10.0  # seconds between two lines in a pipe or a log


@contextmanager
def logged_progress(what: str) -> Iterator[Report]:
    """Show a progress bar; without one, print a line on standard error if code must be compiled, in ten seconds."""
    line = ScreenText("Compiling this search, once on this machine: this takes some ten seconds", style="dim")
    console = screen(stderr=True)
    with (
        progress_bar(what) as report,
        nullcontext() if shows_progress() else on_compilation(lambda: console.print(line)),
    ):
        yield report


@contextmanager
def gap_progress(what: str, *, ends_at_once: bool) -> Iterator[Callable[[int, float], None]]:
    """Yield a function ``progress(rounds, gap)``; it prints a line every ten seconds unless there is a progress bar."""
    # With `ends_at_once`, Ctrl-C ends the command and reports the gap so far, because proving a bound may take minutes;
    # otherwise Ctrl-C interrupts the work, which may have an answer.
    last, console, is_seen, reached = [monotonic()], screen(stderr=True), shows_progress(), list[float]()

    def stop(*_: object) -> NoReturn:
        gap = f"at a relative gap of {reached[-1]:.1e}" if reached else "before a bound was found"
        console.print(
            ScreenText(
                f"{what}: interrupted {gap}. With --out the best result so far is written; with a larger --gap the "
                f"search ends earlier."
            )
        )
        sys.exit(128 + signal.SIGINT)

    def say(rounds: int, gap: float) -> None:
        reached.append(gap)
        if not is_seen and monotonic() - last[0] >= _SILENT:
            last[0] = monotonic()
            console.print(ScreenText(f"{what}: round {rounds}, relative gap {gap:.1e}"))

    with logged_progress(what), on_signal(signal.SIGINT, stop) if ends_at_once else nullcontext():
        yield say


def tallied(items: Iterable[Item], what: str) -> Iterator[Item]:
    """Yield the items unchanged, and show how many there were so far; the total is unknown."""
    with logged_progress(what) as report:
        for count, item in enumerate(items, start=1):
            report(note=f"{count:,}")
            yield item
