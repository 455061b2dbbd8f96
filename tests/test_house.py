"""The reference lists every public name, and the hooks run what CI runs."""

import re
import runpy
from pathlib import Path

import utmost
from running import every_command

ROOT = Path(__file__).parents[1]
api = runpy.run_path(str(ROOT / ".ci/api.py"))
cli = runpy.run_path(str(ROOT / ".ci/cli.py"))


def test_the_reference_lists_every_public_name():
    """Where it does not: run python .ci/api.py."""
    assert (ROOT / "docs/reference/api.md").read_text(encoding="utf-8").endswith(api["section"]())


def test_the_page_of_commands_is_that_of_the_command_line():
    """Where it is not: run python .ci/cli.py."""
    assert (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8").endswith(cli["section"]())


def test_the_help_of_commands_shows_options_and_pages_that_there_are():
    """An example in help uses options of its command, and "More:" names a page of docs/."""
    for words, command in every_command():
        options = {option for each in command.params for option in each.opts}
        for paragraph in cli["paragraphs"](command):
            if paragraph.startswith("utmost "):
                assert set(re.findall(r"(?<= )--[a-z-]+", paragraph)) <= options, words
            for page in re.findall(r"^More: (docs/\S+\.md)", paragraph):
                assert (ROOT / page).exists(), (words, page)


def test_the_hooks_run_what_ci_runs():
    hooks = re.findall(r"entry: ([^,]+),", (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    checks = (ROOT / ".ci/run").read_text(encoding="utf-8").replace("ruff format --check .", "ruff format").split("\n")
    assert len(hooks) == 4
    assert [hook for hook in hooks if not any(line.strip().removesuffix(" .") == hook for line in checks)] == []


def test_the_citation_is_of_this_version():
    assert f"\nversion: {utmost.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
