"""Calls that a how-to or a tutorial names in its text or tables work on the objects that its own code made."""

import ast
import builtins
import re
import shutil
import warnings
from functools import reduce
from pathlib import Path

import pytest

import utmost as ut
from docs.pages import forget, run_page
from running import called, every_command
from utmost.errors import Unsupported

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("docs/howto/*.md"), *ROOT.glob("docs/tutorial/*.md")])
_CODE = re.compile(r"```.*?```", re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")


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


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_calls_named_in_the_text_work_on_the_pages_own_objects(path, monkeypatch, tmp_path):
    """`clean()` and `spread("age")` of the busy statistician's page failed on the release that the page makes."""
    page = path.read_text(encoding="utf-8")
    calls = list(calls_named(page))
    if not any(f"{root_of(call)} = " in page or f"import {root_of(call)}" in page for _, call in calls):
        pytest.skip("it names no call of what its code made")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        namespace = run_page(path)
        for span, call in calls:
            if root_of(call) in namespace and not hasattr(builtins, root_of(call)):
                try:
                    eval(span, namespace)
                except Unsupported as error:  # a package that is not installed here
                    if "pip install" not in str(error):
                        raise
        forget(namespace)


def commands_named():
    """The commands of utmost between single backticks, and the options that stand with them."""
    for path in PAGES:
        text = re.sub(r"\s+", " ", _CODE.sub("", path.read_text(encoding="utf-8")))
        for span in re.findall(r"`(utmost [a-z][^`]*)`", text):
            words = span.split()
            verbs = [word for word in words[1:3] if re.fullmatch("[a-z][a-z-]*", word)]
            yield (
                verbs if verbs[0] in {"ledger", "research"} else verbs[:1],
                {word for word in words if word.startswith("--")},
            )


def test_commands_named_in_the_text_have_the_options_that_stand_with_them():
    wanted = {}
    for verbs, options in commands_named():
        wanted.setdefault(tuple(verbs), set()).update(options)
    assert len(wanted) > 10
    for verbs, options in wanted.items():
        shown = called(*verbs, "--help")
        assert shown.returncode == 0, verbs
        assert options <= set(re.findall(r"--[a-z][a-z-]*", shown.stdout)), verbs


def test_options_and_names_on_pages_are_there():
    """`--option` is one of some command, but for those of pytest; `ut.name` is a name of the library."""
    options = {name for _, command in every_command() for each in command.params for name in each.opts}
    options |= {name for _, command in every_command() for each in command.params for name in each.secondary_opts}
    options |= {"--help", "--version", "--install-completion", "--show-completion", "--quick", "--bits"}
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]:
        for span in _SPAN.findall(_CODE.sub("", page.read_text(encoding="utf-8"))):
            named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", span))
            assert named <= options, (page.name, named - options)
            for name in re.findall(r"\but\.([a-zA-Z_.]*\w)", span):
                reduce(getattr, name.split("."), ut)
