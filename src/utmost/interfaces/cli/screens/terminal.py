"""Print text, tables and charts on a terminal, or into a pipe or log, within its width, without control characters.

The screens need only four features of terminal libraries: wrapped words, columns that share a width, a few styles, and
protection from control sequences in printed text. This module has these four, and imports nothing heavy.
"""

import json
import os
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from itertools import groupby, zip_longest
from typing import Any, TextIO

from utmost.interfaces.cli.screens.control_characters import harmless

_WIDTH = 80  # characters of a line by default
_FACES = {"bold": "1", "dim": "2"}
_COLOURS = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "magenta": "35", "cyan": "36"}
_PART = 20  # if a column has room for fewer characters of a word, each cell is printed on a line of its own
_BETWEEN = 3  # characters between columns of a table with titles; other tables have two


class ScreenText:
    """Text with a style for each character; it wraps at the end of a line."""

    __slots__ = ("characters", "styles")

    def __init__(self, text: str = "", style: str = "") -> None:
        self.characters = ""
        self.styles: list[str] = []
        self.append(text, style)

    def append(self, text: str, style: str = "") -> "ScreenText":
        shown = harmless(text).replace("\t", "    ")
        self.characters += shown
        self.styles += [style] * len(shown)
        return self

    def part(self, start: int, end: int) -> "ScreenText":
        """Return the characters from position `start` up to, but not including, position `end`."""
        part = ScreenText()
        part.characters, part.styles = self.characters[start:end], self.styles[start:end]
        return part

    def lines(self, width: int, *, wraps: bool = True) -> Iterator["ScreenText"]:
        """Split the text into lines of at most this width; without wrapping, long lines end in an ellipsis."""
        start = 0
        for line in self.characters.split("\n"):
            end = start + len(line)
            if cells(line) <= width:
                yield self.part(start, end)
            elif wraps:
                for low, high in _wrapped(line, width):
                    yield self.part(start + low, start + high)
            else:
                yield self.part(start, start + _fitting(line, width - 1)).append("…")
            start = end + 1

    @property
    def width(self) -> int:
        """Number of terminal characters of the longest line."""
        return max(map(cells, self.characters.split("\n")))

    @property
    def word(self) -> int:
        """Number of terminal characters of the longest word."""
        return max(map(cells, self.characters.split()), default=0)


@cache
def _sign_width(sign: str) -> int:
    if unicodedata.combining(sign):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def cells(text: str) -> int:
    """Return how many characters of a terminal a text takes: two for East Asian signs, none for combining accents."""
    return len(text) if text.isascii() else sum(map(_sign_width, text))


def _fitting(text: str, width: int) -> int:
    """Return how many signs of a text fit a width; at least one, so that loops over lines end."""
    used = 0
    for at, sign in enumerate(text):
        used += _sign_width(sign)
        if used > width:
            return max(at, 1)
    return len(text)


def _wrapped(line: str, width: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each line; a line ends between words, or within a word longer than a line."""
    start = 0
    # Look only at the text that a line can hold, so that the time is linear in the length.
    while (end := start + _fitting(line[start : start + 4 * width], width)) < len(line):
        # A line ends before a space, which is dropped; only a word that is longer than a line is cut.
        space = line.rfind(" ", start, end + 1)
        if space > start and line[start:space].strip():
            end = space
        yield start, start + len(line[start:end].rstrip())
        start = end
        while line[start : start + 1] == " ":
            start += 1
    if line[start:] or not start:
        yield start, len(line)


def _narrowed(widths: list[int], room: int, may_give: list[bool]) -> list[int]:
    """Reduce the flexible widths to a common maximum so that all fit; the first columns get the remainder."""

    def at(level: int) -> list[int]:
        return [min(width, level) if may else width for width, may in zip(widths, may_give, strict=True)]

    level = max(widths, default=0) if sum(widths) <= room else max(room, 1)
    while level > 1 and sum(at(level)) > room:
        level -= 1
    narrow = at(level)
    for k, width in enumerate(widths):
        narrow[k] += narrow[k] < width and sum(narrow) < room
    return narrow


@dataclass(slots=True)
class ScreenColumn:
    """A column of a table: title, alignment, wrapping, style and least width."""

    title: str = ""
    right: bool = False
    wraps: bool = True
    style: str = ""
    least: int = 0


@dataclass(slots=True, eq=False)
class ScreenTable:
    """Rows of texts in columns that share the width of the screen."""

    # A table with titles has a line below them; in a table without titles, columns are closer together. If a number
    # would be cut, or words broken into small pieces, each cell gets a line of its own, after the title of its column.

    columns: list[ScreenColumn]
    rows: Sequence[Sequence[str | ScreenText]]
    has_titles: bool = False
    caption: str = ""

    @property
    def _between(self) -> int:
        return _BETWEEN if self.has_titles else 2

    def _texts(self) -> list[list[ScreenText]]:
        titles = [[ScreenText(column.title, "bold") for column in self.columns]] if self.has_titles else []
        rows = [
            [
                cell if isinstance(cell, ScreenText) else ScreenText(cell, column.style)
                for cell, column in zip(row, self.columns, strict=True)
            ]
            for row in self.rows
        ]
        return titles + rows

    def _around(self) -> int:
        """Return the number of characters of a line that belong to no column."""
        return self._between * (len(self.columns) - 1) + 2 * self.has_titles

    @property
    def least_width(self) -> int:
        """The least width of a screen on which no word is broken and no number is cut."""
        needed = self._needed(self._texts())
        return sum(map(max, needed, (column.least for column in self.columns))) + self._around()

    def _needed(self, texts: list[list[ScreenText]]) -> list[int]:
        """Return the least width of each column that breaks no word, or, if the column does not wrap, cuts no text."""
        return [
            max((text.word if column.wraps else text.width for text in column_texts), default=0)
            for column, column_texts in zip(self.columns, zip(*texts, strict=True), strict=True)
        ]

    def lines(self, width: int) -> Iterator[ScreenText]:
        """Return the lines of the table, at most `width` wide."""
        texts, room = self._texts(), width - self._around()
        own = [max((text.width for text in column), default=0) for column in zip(*texts, strict=True)]
        widths = [max(each, column.least) for each, column in zip(own, self.columns, strict=True)]
        needed = [max(each, column.least) for each, column in zip(self._needed(texts), self.columns, strict=True)]
        # No word has to be broken. Columns get their full width one by one, those that need the fewest characters
        # first.
        if sum(needed) <= room < sum(widths):
            left, order = room - sum(needed), sorted(range(len(widths)), key=lambda at: widths[at] - needed[at])
            for at in order:
                widths[at] = min(widths[at], needed[at] + left)
                left -= widths[at] - needed[at]
        # On a narrower screen, the widest of the wrapping columns shrink first, then the widest of all columns.
        widths = _narrowed(widths, room, [column.wraps for column in self.columns])
        widths = _narrowed(widths, room, [True] * len(widths))
        if self.has_titles:
            yield ScreenText()
        is_cut = any(  # a number is cut, or words are broken into unreadable pieces
            each < (min(need, _PART) if column.wraps else need)
            for each, need, column in zip(widths, self._needed(texts), self.columns, strict=True)
        )
        if self.has_titles and len(widths) > 1 and is_cut:
            facts: list[Sequence[str | ScreenText]] = []
            for row in texts[1:]:
                facts += [
                    (" ".join(column.title.split()), text)
                    for column, text in zip(self.columns, row, strict=True)
                    if text.characters
                ]
                facts.append(("", ""))
            table = ScreenTable([ScreenColumn(style="dim"), ScreenColumn()], facts[:-1])
            yield from ScreenGroup(table, ScreenText(self.caption, "dim")).lines(width)
            return
        for number, row in enumerate(texts):
            shown = [
                list(text.lines(each, wraps=column.wraps))
                for text, each, column in zip(row, widths, self.columns, strict=True)
            ]
            if self.has_titles and number == 0:  # titles touch the line below
                shown = [[ScreenText()] * (max(map(len, shown)) - len(lines)) + lines for lines in shown]
            for parts in zip_longest(*shown, fillvalue=ScreenText()):
                yield self._line(parts, widths)
            if self.has_titles and number == 0:
                yield ScreenText(" " + "─" * (sum(widths) + self._around() - 2))
        if self.caption:
            yield ScreenText(" " * self.has_titles + self.caption, "dim")
        elif self.has_titles:
            yield ScreenText()

    def _line(self, parts: Sequence[ScreenText], widths: list[int]) -> ScreenText:
        line = ScreenText(" " * self.has_titles)
        for at, (part, each, column) in enumerate(zip(parts, widths, self.columns, strict=True)):
            space = " " * max(each - cells(part.characters), 0)
            line.append(" " * self._between if at else "").append(space if column.right else "")
            line.characters, line.styles = line.characters + part.characters, line.styles + part.styles
            line.append("" if column.right else space)
        return line.part(0, len(line.characters.rstrip()))


_AS_JSON = ContextVar("json_on_standard_error", default=False)


def set_json_notes(as_json: bool) -> None:
    """Choose whether notes and warnings on standard error are JSON: one object in a line."""
    _AS_JSON.set(as_json)


def write_note(text: str, kind: str = "note") -> None:
    """Write a note or a warning in one line to standard error; with --json as a JSON object for programs."""
    line = f"utmost: {text}" if kind == "note" else f"utmost: {kind}: {text}"
    if _AS_JSON.get():
        line = json.dumps({kind: text}, ensure_ascii=False)
    sys.stderr.write(f"{harmless(line)}\n")


class ScreenGroup:
    """Texts and tables, one below the other."""

    def __init__(self, *members: Any) -> None:
        self.members = members

    def lines(self, width: int) -> Iterator[ScreenText]:
        for member in self.members:
            yield from member.lines(width)


class Screen:
    """Prints to standard output or standard error, which may be a terminal, a pipe or a file."""

    def __init__(self, *, stderr: bool = False) -> None:
        self.file: TextIO = sys.stderr if stderr else sys.stdout

    def print(self, *shown: ScreenText | ScreenTable | ScreenGroup) -> None:
        """Print texts and tables, one below the other."""
        if self.file is sys.stderr and _AS_JSON.get() and not self.is_terminal:
            lines = (line.characters.strip() for line in ScreenGroup(*shown).lines(self.width))
            return write_note(" ".join(filter(None, lines)))
        text = "".join(f"{self._styled(line)}\n" for line in ScreenGroup(*shown).lines(self.width))
        if "─" in text:
            try:
                "─━".encode(getattr(self.file, "encoding", None) or "utf-8")
            except UnicodeEncodeError:
                text = text.replace("─", "-").replace("━", "=")
        self.file.write(text)
        self.file.flush()

    @property
    def is_terminal(self) -> bool:
        """Whether output goes to a terminal, or FORCE_COLOR says so; a pipe or a file gets no colours and styles."""
        return bool(os.environ.get("FORCE_COLOR")) or self.file.isatty()

    @property
    def width(self) -> int:
        """The number of characters in a line: that of COLUMNS or of the terminal, or 80."""
        columns = os.environ.get("COLUMNS", "")
        if columns.isdecimal() and int(columns):
            return int(columns)
        for stream in filter(None, (sys.__stdin__, sys.__stderr__, sys.__stdout__)):
            try:
                return os.get_terminal_size(stream.fileno()).columns or _WIDTH
            except (ValueError, OSError):
                continue
        return _WIDTH

    def _styled(self, line: ScreenText) -> str:
        is_plain = os.environ.get("TERM", "").lower() in ("dumb", "unknown")
        if os.name == "nt":  # newer terminals of Windows have styles, and set a variable
            is_plain |= all(name not in os.environ for name in ("WT_SESSION", "ANSICON", "TERM", "FORCE_COLOR"))
        if is_plain or not self.is_terminal:
            return line.characters
        pieces, known = [], _FACES if os.environ.get("NO_COLOR") else _FACES | _COLOURS
        for style, signs in groupby(zip(line.styles, line.characters, strict=True), key=lambda pair: pair[0]):
            text = "".join(sign for _, sign in signs)
            codes = ";".join(known[name] for name in style.split() if name in known)
            pieces.append(f"\033[{codes}m{text}\033[0m" if codes else text)
        return "".join(pieces)
