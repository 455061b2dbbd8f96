"""Running Python and the command line on the package under test, in a process of their own or in this one."""

import contextlib
import io
import itertools
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from unittest import mock

import utmost
from utmost.interfaces.cli.main import (  # commands have no public name
    COMMANDS,
    RESEARCH_COMMANDS,
    app,
    command_named,
    command_of,
    every_command,
    main,
)
from utmost.interfaces.cli.option_words import in_options
from utmost.tables.files.toml_files import toml_value

__all__ = [
    "COMMANDS", "RESEARCH_COMMANDS", "app", "called", "command_named", "command_of", "every_command", "in_options",
    "main", "new_ledger", "python", "utmost_command", "with_recipe",
]  # fmt: skip
SOURCES = Path(utmost.__file__).parents[1]
PLAIN = {"PYTHONPATH": str(SOURCES), "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}


def python(*arguments, check=True, **options):
    """Run Python; text in, text out."""
    environment = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"} | PLAIN
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        **{"check": check, "capture_output": True, "text": True, "encoding": "utf-8", "env": environment} | options,
    )


def new_ledger(place):
    """Create a ledger, as `utmost ledger create` does, and return its place."""
    utmost.Ledger.open(place, create=True).close()
    return place


def utmost_command(*arguments, check=False, **options):
    """Run the command line."""
    return python("-m", "utmost", *arguments, check=check, **options)


_RECIPES, _NUMBERS = tempfile.TemporaryDirectory(prefix="recipes-"), itertools.count()


def changed(words, *options):
    """The words of a command with other values of some options: ``changed(words, "--n", "-1")``."""
    left = list(words)
    for option in options[::2]:
        if option in left:
            del left[left.index(option) : left.index(option) + 2]
    return [*left, *options]


def with_recipe(*arguments):
    """A command line, with the options that only a recipe has in a new recipe, before the lines of one it names."""
    keys = {key.opts[-1]: key for key in command_named(arguments[0]).recipe_keys}
    words, lines = [], {}
    rest = iter(map(str, arguments))
    for word in rest:
        if word not in keys:
            words.append(word)
            continue
        name, value = word.removeprefix("--"), True if keys[word].is_flag else next(rest)
        if name in ("sign", "key-file", "witness") or (name == "cost" and "." in value):
            value = str(Path(value).absolute())
        lines[name] = value.split(",") if keys[word].multiple else value
    if not lines:
        return words
    folder, more = Path(_RECIPES.name), ""
    if "--recipe" in words:
        at = words.index("--recipe")
        named = Path(words[at + 1])
        folder, more, words = (
            named.absolute().parent,
            named.read_text(encoding="utf-8"),
            [*words[:at], *words[at + 2 :]],
        )
    path = folder / f"recipe-{next(_NUMBERS)}.toml"
    text = "".join(f"{name} = {toml_value(value)}\n" for name, value in lines.items())
    path.write_text(text + more, encoding="utf-8")
    return [*words, "--recipe", str(path)]


def called(*arguments, cwd=".", program=main):
    """Run the command line in this process, in another directory: the same answer, without the wait for a process.

    For tests of what a command says; what a process is and how it ends is for `utmost_command`.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with (
        contextlib.chdir(cwd),
        mock.patch.dict(os.environ, PLAIN),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        os.environ.pop("FORCE_COLOR", None)
        try:
            program([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code or 0
    shown = [stream.buffer.getvalue().decode() for stream in (out, err)]
    return subprocess.CompletedProcess(arguments, code, *shown)
