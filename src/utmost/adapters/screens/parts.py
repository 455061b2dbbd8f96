"""What the screens are made of: facts in aligned rows, tables, numbers as people read them."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table


def screen(*, stderr: bool = False) -> Console:
    """The terminal, or the pipe, as it is now."""
    return Console(stderr=stderr, highlight=False)


def facts(rows: Mapping[str, str]) -> Table:
    """Names and what is said of them, one a row."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in rows.items():
        table.add_row(escape(name), escape(text))
    return table


def grid(titles: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> Table:
    """A table of texts: the first ``left`` columns to the left, numbers to the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), header_style="bold")
    for at, title in enumerate(titles):
        table.add_column(escape(title), justify="left" if at < left else "right", no_wrap=at >= left)
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def number(value: Any, digits: int = 6) -> str:
    """A number as people read it: whole ones whole, others to a few digits.

    >>> number(3), number(Fraction(1, 2)), number(0.36787944117)
    ('3', '0.5', '0.367879')
    """
    if isinstance(value, int) or (isinstance(value, Fraction) and value.denominator == 1):
        return str(value)
    return f"{float(value):.{digits}g}"


def percent(value: Any) -> str:
    """A probability in per cent.

    >>> percent(0.95), percent(Fraction(999, 1000))
    ('95 %', '99.9 %')
    """
    return f"{number(100 * Fraction(value))} %"
