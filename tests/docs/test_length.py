"""Tutorials and how-tos are for busy people: each is short, and begins with what one gets.

The words are those of ``cat docs/tutorial/*.md docs/howto/*.md | wc -w``, code and tables included; there were
39 348 in November 2026, and at most half of these may be. What is looked up stands in the reference, without a limit.
"""

from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted([*(DOCS / "tutorial").glob("*.md"), *(DOCS / "howto").glob("*.md")])
MOST, MOST_OF_ONE, FIRST_SCREEN = 39_348 // 2, 1_150, 170


def words(text):
    return len(text.split())


def test_tutorials_and_how_tos_have_at_most_half_of_the_words_that_they_had():
    assert sum(words(page.read_text(encoding="utf-8")) for page in PAGES) <= MOST


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_begins_with_what_one_gets_and_the_lines_that_do_it(page):
    """Before the first code, or the first table, there is no more than a screen of a phone."""
    text = page.read_text(encoding="utf-8")
    assert words(text) <= MOST_OF_ONE
    assert words(text.partition("```")[0]) <= FIRST_SCREEN
