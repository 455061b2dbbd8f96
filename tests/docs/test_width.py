"""Code of tutorials and how-tos is read on a phone and in half a window: at most 80 columns."""

from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted([*(DOCS / "tutorial").glob("*.md"), *(DOCS / "howto").glob("*.md")])
WIDTH = 80


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_is_at_most_eighty_columns(page):
    is_code, wide = False, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("```"):
            is_code = not is_code
        elif is_code and len(line) > WIDTH:
            wide.append((number, line))
    assert wide == []
