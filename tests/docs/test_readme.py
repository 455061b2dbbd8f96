"""The README's two commands: each on a line of its own, in one form, and doing what they say."""

import re
import shlex
from pathlib import Path

from running import utmost_command

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_main_job_runs_as_written():
    """`pip install . && utmost release examples/...` stands alone on a line, and its second half releases the table."""
    (line,) = re.findall(r"^pip install \. && utmost release examples/.*$", README, re.MULTILINE)
    ended = utmost_command(*shlex.split(line.partition("&& utmost ")[2]), cwd=ROOT)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[0] == "department,sex,admitted,admitted_radius"
    assert len(ended.stdout.splitlines()) == 13
    assert "Whatever anyone concludes" in ended.stderr


def test_the_test_command_is_the_one_that_ci_runs():
    assert re.findall(r'^pip install "\.\[test\]" && pytest$', README, re.MULTILINE)
    assert r"""grep -m1 -x 'pip install "\.\[test\]" && pytest' README.md""" in (ROOT / ".ci/run").read_text()


def test_the_first_python_block_is_short():
    block = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    assert len(block.strip().splitlines()) < 15


def test_every_page_is_found_from_an_index():
    """Each page of docs/ is linked from docs/index.md or from the README of its own folder."""
    docs = ROOT / "docs"
    indexes = [docs / "index.md", *docs.glob("*/README.md")]
    linked = {
        (index.parent / target).resolve()
        for index in indexes
        for target in re.findall(r"\]\(([^):#]+\.md)[^)]*\)", index.read_text(encoding="utf-8"))
    }
    pages = {page.resolve() for page in docs.rglob("*.md")} - {docs / "index.md"}
    assert sorted(pages - linked - {index.resolve() for index in indexes}) == []


def test_every_relative_link_leads_somewhere():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples/README.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
