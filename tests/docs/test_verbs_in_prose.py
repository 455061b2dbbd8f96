"""Commands, options and names that pages write in their text are there."""

import re
from functools import reduce
from pathlib import Path

import utmost as ut
from running import called, command_of, every_command
from utmost_papers.command import reproduce

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("docs/howto/*.md"), *ROOT.glob("docs/tutorial/*.md")])
_CODE = re.compile(r"```.*?```", re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")


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
    options |= {name for each in command_of("utmost-papers", reproduce, ()).params for name in each.opts}
    options |= {"--help", "--version", "--install-completion", "--show-completion", "--quick", "--bits"}
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]:
        for span in _SPAN.findall(_CODE.sub("", page.read_text(encoding="utf-8"))):
            named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", span))
            assert named <= options, (page.name, named - options)
            for name in re.findall(r"\but\.([a-zA-Z_.]*\w)", span):
                reduce(getattr, name.split("."), ut)
