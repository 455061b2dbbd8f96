"""Fit the help pages of click to the width of the screen, also to a narrow one."""

import re
from typing import Any

import click

from utmost.interfaces.cli.screens.terminal import Screen

_WIDEST, _NARROWEST = 80, 20  # characters
_JOINED = "\N{NON-BREAKING HYPHEN}"  # click ends no line at it, so that words such as `--at-most` stay on one line


class HelpPage(click.HelpFormatter):
    """A help page of click, which may be narrower than click's minimum of 50 characters."""

    def __init__(self, *ignored: Any, **also: Any) -> None:
        super().__init__(width=max(min(Screen().width, _WIDEST), _NARROWEST) - 2)

    def write_dl(self, rows: Any, col_max: int = 30, col_spacing: int = 2) -> None:
        """Write names beside their texts, which get at least half of the page; a long name gets a line of its own."""
        rows = [(name, text.replace("-", _JOINED)) for name, text in rows]
        super().write_dl(rows, min(col_max, self.width // 2 - col_spacing), col_spacing)

    def write_text(self, text: str) -> None:
        """Write sentences; lines end only between words."""
        super().write_text(text.replace("-", _JOINED))

    def getvalue(self) -> str:
        """Return the page, without blanks at the ends of lines."""
        return re.sub(" +\n", "\n", super().getvalue()).replace(_JOINED, "-")


class HelpContext(click.Context):
    """A context of click that writes help as a `HelpPage`."""

    formatter_class = HelpPage
