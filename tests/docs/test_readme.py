"""The README's two commands: each on a line of its own, in one form, and doing what they say."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from running import called, utmost_command

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_main_job_runs_as_written():
    """`pip install . && utmost release examples/...` stands alone on a line, and its second half releases the table."""
    (line,) = re.findall(r"^pip install \. && utmost release examples/.*$", README, re.MULTILINE)
    ended = utmost_command(*shlex.split(line.partition("&& utmost ")[2]), cwd=ROOT)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[0] == "department,sex,outcome,count,count_margin"
    assert len(ended.stdout.splitlines()) == 25
    assert all(line.endswith(",3") for line in ended.stdout.splitlines()[1:])
    promised = "Adding or removing any one individual multiplies or divides the chance of any result by at most 2.72"
    assert promised in " ".join(ended.stderr.split())


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


def test_every_page_leads_to_the_glossary():
    """Its words are found from wherever they are met."""
    docs = ROOT / "docs"
    pages = [page for room in ("tutorial", "howto", "theory", "reference") for page in (docs / room).glob("*.md")]
    without = [page.name for page in pages if "glossary.md" not in page.read_text(encoding="utf-8")]
    assert without == ["glossary.md"]


def test_the_tutorial_says_what_two_cells_cost():
    """The table of three ways to noise an applicant's two cells holds the figures that its command prints."""
    program = "benchmarks/release/per_cell_noise_is_not_the_least_for_two_cells.py"
    tutorial = (ROOT / "proofs/theory/cells-together.md").read_text(encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    ended = subprocess.run([sys.executable, program], cwd=ROOT, env=environment, capture_output=True, text=True)
    printed = re.findall(r"([\d.]+), ± (\d+) +([\d.]+), ± (\d+)", ended.stdout)
    shown = re.findall(r"\| ([\d.]+) \| ([\d.]+) \| ± (\d+) \| ± (\d+) \|", tutorial)
    assert [(f"{float(a):.2f}", f"{float(c):.2f}", b, d) for a, b, c, d in printed] == shown
    assert len(shown) == 3


def test_every_claim_names_tests_and_benchmarks_that_are_there():
    """`tests/...py::name` and `benchmarks/...py` in the table of claims exist, each test by its name."""
    claims = (ROOT / "proofs/claims.md").read_text(encoding="utf-8")
    named = re.findall(r"\b((?:tests|benchmarks|docs)/[\w/.-]+\.(?:py|md))(?:::(\w+))?", claims)
    assert len(named) > 20
    for path, test in named:
        text = (ROOT / path).read_text(encoding="utf-8")
        assert not test or f"\ndef {test}(" in text, f"{path}::{test}"


def _shown_by_commands():
    """The commands of the table of claims; those of `utmost-papers` run in tests/papers."""
    claims = (ROOT / "proofs/claims.md").read_text(encoding="utf-8")
    return sorted(set(re.findall(r"`utmost (\w[^`]* [^`]*)`", claims)))


@pytest.mark.parametrize("command", _shown_by_commands())
def test_every_command_that_shows_a_claim_runs(command):
    ended = called(*shlex.split(command), cwd=ROOT)
    assert ended.returncode == 0, ended.stderr


def test_every_link_to_a_heading_finds_it():
    """The part after # is the heading in small letters, its spaces as hyphens and without punctuation."""
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target, anchor in re.findall(r"\]\(([^):#]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
            headings = re.findall(
                r"^#+ (.*)$", (page.parent / target if target else page).read_text("utf-8"), re.MULTILINE
            )
            slugs = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
            assert anchor in slugs, f"{page.name}: {target}#{anchor}"


def test_every_relative_link_leads_somewhere():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples/README.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_file_that_a_page_names_is_there():
    """`room/file.py` in a page is a path of the repository, below src/utmost, or below benchmarks."""
    named = re.compile(r"`(?:src/utmost/)?((?:\w+/)+\w+\.py)`")
    trees = [ROOT / "src" / "utmost", ROOT, ROOT / "benchmarks"]
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for path in named.findall(page.read_text(encoding="utf-8")):
            assert any((tree / path).exists() for tree in trees), (page.name, path)
