"""How many words each kind of reader reads before the first result, and how many the help of all commands has.

Run: PYTHONPATH=src python benchmarks/reading.py

A road is a list of pages, each from one heading to another. Code and output count as words, since they are read, too.
"""

import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

Part = tuple[str, str, str]
"""A page, the text with which the part begins, and the text with which the next part begins; "" is the page's end."""

ROADS: dict[str, list[Part]] = {
    "statistician: counts and mean incomes, margins, a statement": [
        ("README.md", "# utmost", "## A table, in Python"),
        ("docs/howto/for-the-busy-statistician.md", "# For", "## Several tables"),
    ],
    "data engineer: a nightly job": [
        ("README.md", "# utmost", "## A table, in Python"),
        ("docs/howto/keep-a-ledger.md", "# Keep", "## Before the first"),
    ],
    "privacy officer: what is protected, how strongly, what is asked": [
        ("README.md", "# utmost", "## Try it"),
        ("docs/howto/for-the-privacy-officer.md", "# For", "## What may be said"),
    ],
    "developer: a library call": [
        ("README.md", "# utmost", "## Sharpen it later"),
    ],
}
"""The least that each reader has to read, as the README leads."""


def words(page: str, start: str, end: str) -> int:
    """The number of words of a part of a page.

    Raises:
        ValueError: for a page without the heading.
    """
    text = (ROOT / page).read_text(encoding="utf-8")
    begin = text.index(start)
    stop = text.index(end, begin + len(start)) if end else len(text)
    return len(re.sub(r"\]\([^)]*\)|<!--.*?-->", " ", text[begin:stop]).split())


def help_words() -> dict[str, int]:
    """The number of words of the help of each command."""
    from utmost.interfaces.cli.main import app, every_command

    commands = [("", app), *every_command()]
    helps = {name: command.get_help(command.context_class(command, info_name=name)) for name, command in commands}
    return {name: len(text.split()) for name, text in helps.items()}


def main() -> None:
    """Print one line for each reader, and one for the help."""
    for reader, road in ROADS.items():
        counts = [words(*part) for part in road]
        print(f"{reader}: {sum(counts)} words ({' + '.join(map(str, counts))})")
    os.environ.update(NO_COLOR="1", TERM="dumb", COLUMNS="80")
    counted = help_words()
    longest = max(counted, key=lambda name: counted[name])
    print(f"help: {sum(counted.values())} words; the longest is that of {longest}, with {counted[longest]}")
    pages = sorted((ROOT / "docs").rglob("*.md"))
    print(f"docs: {len(pages)} pages, {sum(len(page.read_text('utf-8').split()) for page in pages)} words")


if __name__ == "__main__":
    main()
