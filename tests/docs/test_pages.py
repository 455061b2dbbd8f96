"""The code of the README and of every page does what the page shows, and so do the calls that its text names."""

import ast
import builtins
import re
import shutil
import warnings

import pytest

from docs.pages import ROOT, blocks, forget, run_page, strange_options
from utmost.errors import Unsupported

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "proofs").rglob("*.md"))]
WITH_CODE = [page for page in PAGES if blocks(page)]
READ_BY_USERS = ("docs/howto", "docs/tutorial")
_CODE = re.compile(r"```.*?```", re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")


def test_a_command_in_a_sentence_takes_the_options_behind_it():
    """A key of a recipe is no option."""
    found = {page.name: strange_options(page.read_text(encoding="utf-8")) for page in PAGES}
    assert {name: options for name, options in found.items() if options} == {}


def test_a_key_of_a_recipe_behind_a_command_is_found():
    assert strange_options("Write `utmost release t.csv --cost squared --epsilon 1`.") == ["release --cost"]


@pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning")  # of `ut.release`, whose answer is let go
@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_code_of_a_page_does_what_the_page_shows(page, tmp_path, monkeypatch):
    """Each page in a folder of its own, which holds the examples."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names = run_page(page)
    if str(page.relative_to(ROOT)).startswith(READ_BY_USERS):
        check_calls_in_the_text(page, names)
    forget(names)


def check_calls_in_the_text(page, names):
    """`clean()` and `spread("age")` of the busy statistician's page failed on the release that the page makes."""
    text = page.read_text(encoding="utf-8")
    calls = list(calls_named(text))
    if not any(f"{root_of(call)} = " in text or f"import {root_of(call)}" in text for _, call in calls):
        return  # it names no call of what its code made
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for span, call in calls:
            if root_of(call) in names and not hasattr(builtins, root_of(call)):
                try:
                    eval(span, names)
                except Unsupported as error:  # a package that is not installed here
                    if "pip install" not in str(error):
                        raise


def calls_named(page):
    """The calls between single backticks, outside of code blocks; those with an ellipsis are no code."""
    for span in dict.fromkeys(_SPAN.findall(_CODE.sub("", page))):
        try:
            call = ast.parse(span, mode="eval").body
        except SyntaxError:
            continue
        if isinstance(call, ast.Call) and "..." not in span:
            yield span, call


def root_of(node):
    """The name that a call begins with."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None
