"""The code of the README and of every page does what the page shows."""

import shutil

import pytest

from docs.pages import ROOT, forget, run_page, strange_options

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "proofs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_command_in_a_sentence_takes_the_options_behind_it(page):
    """A key of a recipe is no option."""
    assert strange_options(page.read_text(encoding="utf-8")) == []


def test_a_key_of_a_recipe_behind_a_command_is_found():
    assert strange_options("Write `utmost release t.csv --in-all 3 --epsilon 1`.") == ["release --in-all"]


@pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning")  # of `ut.release`, whose answer is let go
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_code_of_a_page_does_what_the_page_shows(page, tmp_path, monkeypatch):
    """Each page in a folder of its own, which holds the examples."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    forget(run_page(page))
