"""Every console block of the README and the docs says what the command line really prints."""

import doctest
import re
import shlex
import shutil
from pathlib import Path

import pytest

from running import called

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

# What a slow machine says once in ten seconds, and a new one once.
_PROGRESS = re.compile(r"Designing: round \d+, relative gap |Compiling this search, once on this machine")


def console_blocks(page):
    """The ```console blocks of a page, as (command, expected output); a command may go on after a backslash."""
    blocks, block = [], None
    for line in page.read_text(encoding="utf-8").splitlines():
        if line == "```console":
            block = []
        elif line.startswith("```") and block is not None:
            blocks.append([(command, "\n".join(lines)) for command, lines in block])
            block = None
        elif block and block[-1][0].endswith("\\") and not block[-1][1]:
            block[-1] = (block[-1][0].removesuffix("\\") + line.strip(), [])
        elif block is not None and line.startswith("$ "):
            block.append((line[2:], []))
        elif block is not None:
            block[-1][1].append(line)
    return blocks


def is_drawn(command):
    """Whether what the command shows was drawn, so that its numbers differ each time."""
    released = command.startswith("cat ") and "examples/" not in command and not command.endswith(".json")
    drawn = command.startswith(("utmost release", "utmost respond")) and "--dry-run" not in command
    return released or drawn


def masked(text):
    """The text with all numbers alike, and all bars."""
    return re.sub(r"[━─●]+", "━", re.sub(r"-?\d+", "#", text))


def is_as_shown(command, expected, printed):
    """Whether a command printed what the page shows, up to what was drawn."""
    want = "\n".join(line.rstrip() for line in expected.splitlines()) + "\n"
    if is_drawn(command):
        printed, want = masked(printed), masked(want)
    return doctest.OutputChecker().check_output(want, printed, FLAGS)


def run(command, directory):
    """Run one command of a block: `utmost ...` or `cat FILE`, the former with its errors in its output."""
    program, *arguments = shlex.split(command)
    if program == "cat":
        return (directory / arguments[0]).read_text(encoding="utf-8")
    assert program == "utmost", f"a console block runs utmost or cat, not {program}"
    ended = called(*arguments, cwd=directory)
    said = [line for line in ended.stderr.splitlines(keepends=True) if not _PROGRESS.match(line)]
    return "".join(said) + ended.stdout


def page_case(page):
    """A page; that of the papers takes long, and tests/papers runs the same commands."""
    marks = [pytest.mark.slow] if page.name == "reproduce-the-papers.md" else []
    return pytest.param(page, id=str(page.relative_to(ROOT)), marks=marks)


@pytest.mark.parametrize("page", [page_case(page) for page in PAGES])
def test_console_blocks_print_what_they_show(page, tmp_path):
    """Blocks of one page run in order, in one directory that holds the examples."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for block in console_blocks(page):
        for command, expected in block:
            shown = run(command, tmp_path)
            assert is_as_shown(command, expected, shown), f"$ {command}\n{shown}\n--- {page.name}:\n{expected}"
