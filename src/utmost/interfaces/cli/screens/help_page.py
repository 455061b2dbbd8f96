"""A page of help as wide as the screen, also on narrow ones."""

import re
from typing import Any

import click

from utmost.interfaces.cli.screens.terminal import Screen

_WIDEST, _NARROWEST = 80, 20  # characters
_JOINED = "\N{NON-BREAKING HYPHEN}"  # what click does not end a line at: `add-remove` and `--at-most` are typed whole


class HelpPage(click.HelpFormatter):
    """Click's page, which is by itself never narrower than 50 characters."""

    def __init__(self, *ignored: Any, **also: Any) -> None:
        super().__init__(width=max(min(Screen().width, _WIDEST), _NARROWEST) - 2)

    def write_dl(self, rows: Any, col_max: int = 30, col_spacing: int = 2) -> None:
        """Names and what is said of them, which has half of the page at least; a longer name has its own line."""
        rows = [(name, text.replace("-", _JOINED)) for name, text in rows]
        super().write_dl(rows, min(col_max, self.width // 2 - col_spacing), col_spacing)

    def write_text(self, text: str) -> None:
        """Sentences, between whose words lines end."""
        super().write_text(text.replace("-", _JOINED))

    def getvalue(self) -> str:
        """The page, without blanks at the ends of its lines."""
        return re.sub(" +\n", "\n", super().getvalue()).replace(_JOINED, "-")


class HelpContext(click.Context):
    """The context of a command whose help is such a page."""

    formatter_class = HelpPage
