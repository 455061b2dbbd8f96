"""Every console block of the README and the docs says what the command line really prints."""

import re
import runpy
import shlex
import shutil
from pathlib import Path

import pytest

from running import called

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
walks = runpy.run_path(str(ROOT / ".ci/walks.py"))

# What a slow machine says once in ten seconds, and a new one once.
_PROGRESS = re.compile(r"Designing: round \d+, relative gap |Compiling this search, once on this machine")


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
    for block in walks["console_blocks"](page):
        for command, expected in block:
            shown = run(command, tmp_path)
            assert walks["is_as_shown"](command, expected, shown), f"$ {command}\n{shown}\n--- {page.name}:\n{expected}"
