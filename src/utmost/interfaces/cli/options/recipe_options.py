"""Read and write recipes: files with everything about a release except its data and the options of a single run.

A key is the name of an option. `utmost init` has an option for every key, `utmost release` for the everyday ones.
"""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from utmost.errors import BadTable, OutOfRange
from utmost.interfaces.cli.options.people_options import split_names

OF_A_RUN = {"recipe", "out", "request", "dry-run", "json", "yes", "help"}
"""Options that a recipe cannot have."""

_PATHS = {"domain", "plan", "promise", "key-file", "witness", "sign"}
"""Options with file names, which a recipe gives relative to its own folder."""

_HEAD = """\
# A recipe: everything about a release except the data. Each key is an option of `utmost init`.
# utmost release DATA.csv --recipe {name}{named} --dry-run
"""


def take_recipe(context: click.Context, path: Path) -> None:
    """Use the options of a recipe; an option on the command line replaces the recipe's."""
    # Commands other than `utmost release` use the options that they have, and need the level on the command line.
    from utmost.tables.files.toml_files import read_toml, toml_key

    if path.suffix.lower() != ".toml":
        raise OutOfRange(
            "a recipe must be a .toml file", came=str(path), where="--recipe", remedy="Write a recipe with utmost init."
        )
    own = known = _options_of(context.command)
    if context.command.name != "release":
        assert context.parent is not None, "every command is one of utmost"
        release = context.parent.command.get_command(context.parent, "release")  # type: ignore[attr-defined]
        known = _options_of(release)
        own = {name: word for name, word in own.items() if name != "epsilon"}
    defaults: dict[str, Any] = {}
    for key, value in read_toml(path, "a recipe must").items():
        where = f"{path.name}, {toml_key(key)}"
        if key not in known:
            near = get_close_matches(key.replace("_", "-"), known, 1)
            remedy = f"Did you mean {near[0]!r}?" if near else f"Its keys are {', '.join(sorted(known))}."
            if key in OF_A_RUN:
                remedy = f"Write --{key} on the command line, because it is different in each run."
            raise OutOfRange(
                "each key of a recipe must be an option of utmost release", came=repr(key), where=where, remedy=remedy
            )
        read = _value(known[key], key, value, path, where)
        # TOML can write this character, which no command line has and no path may have.
        if any("\0" in str(each) for each in (read if isinstance(read, list) else [read])):
            raise _refused("without a NUL character", value, where)
        if key in own:
            defaults[str(own[key].name)] = read
    # An option on the command line overrides that of the recipe, since a recipe only changes defaults.
    context.default_map = defaults


def _options_of(command: click.Command) -> dict[str, click.Option]:
    """Return, by name, the options of a command that a recipe may have, and those that only a recipe has."""
    words = [*command.params, *getattr(command, "recipe_keys", ())]
    options = {key_of(word): word for word in words if isinstance(word, click.Option)}
    return {name: word for name, word in options.items() if name not in OF_A_RUN}


def key_of(word: click.Parameter) -> str:
    return word.opts[-1].removeprefix("--")


def key_remedy(key: click.Option, words: Sequence[str]) -> str:
    """Return the remedy for an option that only a recipe has: the line to write in a recipe."""
    from utmost.tables.files.toml_files import toml_value

    option = key.opts[-1]
    at = next(k for k, word in enumerate(words) if word.partition("=")[0] == option)
    _, _, text = words[at].partition("=")
    if not text and at + 1 < len(words) and not key.is_flag:
        text = words[at + 1]
    value: Any = True if key.is_flag else split_names([text]) if key.multiple else text
    is_named = any(word.partition("=")[0] == "--recipe" for word in words)
    file = "the recipe" if is_named else "a file release.toml, and add --recipe release.toml"
    return f"Write {key_of(key)} = {toml_value(value)} in {file}."


def _value(word: click.Option, key: str, value: Any, path: Path, where: str) -> Any:
    """Return a TOML value in the form in which click accepts it from a command line."""
    if key == "domain" and isinstance(value, dict):
        return str(path)
    if key == "mean" and isinstance(value, dict):
        return [f"{column}={','.join(str(end) for end in _listed(ends, where))}" for column, ends in value.items()]
    if word.is_flag:
        if not isinstance(value, bool):
            raise _refused("true or false", value, where)
        return value
    if word.multiple:
        return [_named(str(each)) if key != "mean" else str(each) for each in _listed(value, where)]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _refused("text or a number", value, where)
    if key in _PATHS or (key == "ledger" and "://" not in str(value)) or (key == "cost" and "." in str(value)):
        return str(path.parent / str(value))
    return value if isinstance(value, int) else str(value)


def _listed(value: Any, where: str) -> list[Any]:
    listed = value if isinstance(value, list) else [value]
    for each in listed:
        if isinstance(each, bool) or not isinstance(each, str | int | float):
            raise _refused("a list of texts or numbers", each, where)
    return listed


def _refused(required: str, value: Any, where: str) -> BadTable:
    return BadTable(f"the value must be {required}", came=type(value).__name__, where=where)


def _named(name: str) -> str:
    """Return a name as `split_names` reads it: in quotes if it has a comma, a quote, or blanks at its ends."""
    is_plain = "," not in name and not name.startswith('"') and name == name.strip() and name
    return name if is_plain else '"' + name.replace('"', '""') + '"'


def recipe_text(name: str, given: Mapping[str, Any], domain: Mapping[str, Any] | None) -> str:
    """Return a recipe as text, from its file name, TOML values by option, and the domain as JSON values."""
    from utmost.tables.files.toml_files import toml_key, toml_value

    lines = [f"{toml_key(key)} = {toml_value(value)}\n" for key, value in given.items()]
    if domain is not None:
        lines += ["\n[domain]\n", *(f"{toml_key(axis)} = {toml_value(facts)}\n" for axis, facts in domain.items())]
    return _HEAD.format(name=name, named=named_by_date(given)) + "".join(lines)


def named_by_date(given: Mapping[str, Any]) -> str:
    """Return a --name option of dataset and date for the shell, if a recipe with a ledger names no release; else ""."""
    if "ledger" not in given or "name" in given:
        return ""
    dataset = str(given.get("dataset", ""))
    return f' --name "{dataset if _SHELL_NAME.fullmatch(dataset) else "NAME"}-$(date +%F)"'


_SHELL_NAME = re.compile(r"[\w.-]+", re.ASCII)  # a shell changes nothing of such text between double quotes


def recipe_schema(release: click.Command) -> dict[str, Any]:
    """Return the JSON Schema of a recipe, for editors that complete and check TOML."""
    one: dict[str, Any] = {"type": ["string", "number"]}
    properties: dict[str, Any] = {}
    for name, word in sorted(_options_of(release).items()):  # the values that `_value` accepts
        several: list[dict[str, Any]] = [{"type": "array", "items": one}] if word.multiple else []
        named: list[dict[str, Any]] = [{"type": "object"}] if name in ("domain", "mean") else []
        kind: dict[str, Any] = {"type": "boolean"} if word.is_flag else {"anyOf": [one, *several, *named]}
        properties[name] = {**kind, "description": word.help or ""}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "recipe",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
