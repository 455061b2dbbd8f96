"""The walks: a tutorial says what to install and how long it takes; a page that does not do what it shows is told."""

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
walks = runpy.run_path(str(ROOT / ".ci/walks.py"))
TUTORIALS = sorted((ROOT / "docs/tutorial").glob("*.md"))


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_says_what_to_install_and_how_long_it_takes(page):
    text = page.read_text(encoding="utf-8")
    assert walks["extras"](page) == ""
    assert re.search(r"Ten minutes to read, (some|about) \w+ seconds? to run", text)
    assert "`examples`" in text or "examples/" not in text


def test_the_install_that_a_page_asks_for_is_found(tmp_path):
    for said, wanted in (
        ("You need (`pip install .`)", ""),
        ('pip install ".[tables,plot]" && x', "tables,plot"),
        ("pip install . && utmost", ""),
    ):
        (tmp_path / "page.md").write_text(f"# Page\n{said}\n")
        assert walks["extras"](tmp_path / "page.md") == wanted
    (tmp_path / "page.md").write_text("pip install .sh")
    with pytest.raises(SystemExit, match="does not say"):
        walks["extras"](tmp_path / "page.md")


def test_what_a_page_shows_and_does_not_do_is_told(tmp_path):
    """One wrong command, one wrong line of Python and one warning; the right ones beside them are no faults."""
    page = tmp_path / "page.md"
    page.write_text(
        "`pip install .`\n```console\n$ cat examples/curator.pub\n-----BEGIN PUBLIC KEY-----\n...\n"
        "$ cat examples/curator.pub\nnothing\n```\n```python\n>>> 1 + 1\n2\n>>> 1 + 1\n3\n\n```\n"
    )
    found = walks["walk"](page, Path(sys.executable).parent)
    assert found.faults[0].splitlines()[0] == "$ cat examples/curator.pub"
    assert len(found.faults) == 2
    assert "Expected:\n    3\nGot:\n    2" in found.faults[1]
    assert found.longest[0] > 0
    page.write_text(">>> import warnings\n>>> warnings.warn('old')\n\n`pip install .`\n")
    (fault,) = walks["walk"](page, Path(sys.executable).parent).faults
    assert "UserWarning: old" in fault
