"""The library's sentences in the words of the command line: `numbers="reals"` becomes `--numbers reals`.

Errors and warnings of the library name its arguments. `message_and_remedy` and `text_in_options` name the options of a
command instead, or the keys of a recipe; values stay unchanged.
"""

import re
from collections.abc import Collection
from dataclasses import fields

from utmost.errors import BadTable, UtmostError
from utmost.interfaces.cli.options.promise_options import PromiseTexts

_SAME_NAME = """
at_most below by cells claim column columns complementary confidence cost currency dataset decimal delta domain
drop each each_row encoding epsilon exactly gap given grid half_step hold in_total independent largest loss margin
mark measures method missing_marks most_events n name neighbours nested noise nonnegative numbers once over part
per per_cell person persons prior public public_key relative_margin relaxable request response rows sensitivity
separator share shares size source statement step sums thousands together until up_to values want what where
witness
"""
"""Arguments whose option has the same name."""

_OPTIONS = {
    **{name: f"--{name.replace('_', '-')}" for name in _SAME_NAME.split()},
    **{each.name: f"--{each.name.replace('_', '-')}" for each in fields(PromiseTexts)},
    "amount": "--sum",
    "id_column": "--id",
    "released_cells": "--once",
    "version": "--data-version",
    "marginal": "--want",
    "key": "--key-file",
}
"""Options of the command line, by the names of the library's arguments."""

_ASSIGNED = re.compile(
    rf"(?<![(\w])(?<!up to )({'|'.join(_OPTIONS)})=(True\b|\[?(?:\"[^\"]*\"|'[^']*'|[\w/.^()-]*[\w)])?\]?)"
)
_PYTHON_CALL = re.compile(r"(ut\.[\w.]+\((?:[^()]|\([^()]*\))*\))")
_SPELLING = re.compile(
    r"(?:ut\.count_table\(\.\.\., spelling=)?ut\.Spelling\(((?:(?:decimal|thousands|currency|missing_marks)=[^)]*)+)\)+"
)
_SELECTED = re.compile(r"where=\{'([^']*)': (?:slice\(([^,()]*), ([^,()]*)\)|\[([^\]]*)\])\}")
_NUMBERED = re.compile(r"values=\{((?:'[^']*': [\w/.-]+(?:, )?)+)\}")
_QUOTED, _NUMBER = re.compile(r"'([^']*)'"), re.compile(r"'([^']*)': ([\w/.-]+)")
_AXES, _KINDS = re.compile(r"ut\.workloads\.([a-z]+)(?![\w(])"), {"hierarchy": "tree"}  # kinds of axes in a domain file
_AXIS_KEY = re.compile(
    r'(?<![(\w])(?:(other|whole|fanout|groups|on|zone)=(?:("[^"]*"|True|False)|(?!\w))'
    r'|(missing)=("(?!leave out)[^"]*"))'
)
_PATTERN = re.compile(r'spelling=ut\.Spelling\(pattern="([^"]*)"\)')
_LEFT_OUT = re.compile(r'(outside|missing)="leave out"(?: in ut\.mean or ut\.sum)?')
_LEFT_OUT_BY = {"outside": "outside", "missing": "amounts"}
_ALPHA = re.compile(r'(?<![(\w])alpha="([^"]*)"')
_PAIR = re.compile(rf"(?<![(\w])({'|'.join(_OPTIONS)})=\((-?[\d.]+), (-?[\d.]+)\)")
_BEGINS = re.compile(rf"^({'|'.join(_OPTIONS)})(?= must )")
_A_NUMBER = re.compile(r"(--[a-z-]+) must be a finite number$")
_OF_PAIRS = {"--at", "--given", "--missing", "--share", "--values", "--weight"}
"""Options with a value such as NAME=NUMBER, of which the number is only a part."""
_LEVEL = re.compile(r"\b(epsilon|alpha)=(?=\d)")
_LEVEL_SHOWN = re.compile(r"\b[Ll]evel\((epsilon|alpha)=((?:[^()]|\([^()]*\))*)\)")
_FRACTION = re.compile(r"Fraction\((-?\d+), (\d+)\)")
_SPECIAL = re.compile(r"[ *?<>#\\]|^[-.:]+$")  # characters that a shell reads
_NAMED = re.compile(rf"^((?:no )?)({'|'.join(_OPTIONS)})=(\d*)(?:True)?$")


def message_and_remedy(error: UtmostError, keys: Collection[str] = ()) -> tuple[str, str | None]:
    """Return an error's message, and its remedy or None, in the words of the command line."""
    required = _BEGINS.sub(_option, _with_options(_LEVEL.sub(r"\1 = ", error.required), keys))
    # In an error about a table, `where` names a column, which may be spelled like an option: it is not replaced.
    where = error.where if isinstance(error, BadTable) else _OPTIONS.get(error.where or "", error.where)
    remedy = None if error.remedy is None else _with_options(error.remedy, keys)
    number = _A_NUMBER.match(required)
    if number and "with a point" not in (remedy or ""):
        written = "the number" if number[1] in _OF_PAIRS else number[1]
        remedy = f"Write, for example, {written} 1; fractions are 0.5 or 1/2."
    came = error.came
    if isinstance(came, str):
        came = _NAMED.sub(lambda match: f"{match[1]}{_OPTIONS[match[2]]} {match[3]}".rstrip(), came)
    if where is not None and required.startswith(f"{where} "):  # the requirement itself names the option
        where = None
    message = _for_people(str(UtmostError(required, came=came, where=where)), keys)
    return message, None if remedy is None else _for_people(remedy, keys)


def in_options(error: UtmostError) -> str:
    """Return the text of an error with options in place of arguments."""
    message, remedy = message_and_remedy(error)
    return message if remedy is None else f"{message} {remedy}"


def text_in_options(text: str, keys: Collection[str] = ()) -> str:
    """Return a sentence of the library with options in place of arguments; only recipes have the options ``keys``."""
    return _for_people(_with_options(text, keys), keys)


def _for_people(text: str, keys: Collection[str]) -> str:
    """Write levels as "epsilon = 1" and fractions as 1/2, and options that only recipes have as their keys."""
    text = _LEVEL_SHOWN.sub(r"\1 = \2", text)
    text = _FRACTION.sub(lambda match: match[1] if match[2] == "1" else f"{match[1]}/{match[2]}", text)
    if not keys:
        return text
    text, command, line = text.partition("utmost ledger create ")  # this command takes no recipe
    return re.sub(rf"--({'|'.join(keys)})\b", r"\1 in the recipe", text) + command + line


def _with_options(text: str, keys: Collection[str]) -> str:
    """Replace arguments in a sentence of the library by options: ``numbers="reals"`` by ``--numbers reals``."""

    def option(match: re.Match[str]) -> str:
        typed = _option(match)
        name, _, value = typed.removeprefix("--").replace('"', "").partition(" ")
        if name not in keys or not (value or match[2] == "True"):
            return typed
        return f'{name} = "{value}"{in_recipe}' if value else f"{name} = true{in_recipe}"

    def selected(match: re.Match[str]) -> str:  # a selection of one level: `--where "age=16..85"`
        name, low, high, labels = match.groups()
        if labels is not None:
            return f'--where "{name}={",".join(_QUOTED.findall(labels))}"'
        low, high = ("" if end == "None" else end for end in (low, high))
        return f'--where "{name}={low}..{high}"'

    def numbered(match: re.Match[str]) -> str:  # numbers by label: `--values "85+=90"`
        return f'--values "{",".join(f"{label}={number}" for label, number in _NUMBER.findall(match[1]))}"'

    def axis_key(match: re.Match[str]) -> str:  # in a domain file: `on="2025-01-01"` becomes `"on": "2025-01-01"`
        name, value = match[1] or match[3], match[2] or match[4]
        value = value.lower() if value in ("True", "False") else value
        return f'"{name}": {value}' if value else f'"{name}"'

    in_recipe = " in the recipe (--recipe FILE.toml)"

    text = _PATTERN.sub(r'"pattern": "\1"', _AXES.sub(lambda match: f'"{_KINDS.get(match[1], match[1])}"', text))
    text = _LEFT_OUT.sub(lambda match: f"--leave-out {_LEFT_OUT_BY[match[1]]}", text)
    text = _AXIS_KEY.sub(axis_key, _ALPHA.sub(r"--epsilon alpha=\1", text))
    text = _SPELLING.sub(lambda match: " ".join(match[1].split(", ")), text)
    text = _NUMBERED.sub(numbered, _SELECTED.sub(selected, text))
    parts = _PYTHON_CALL.split(text)  # every second part is a call of Python, which stays as it is
    text = "".join(
        part if k % 2 else _ASSIGNED.sub(option, _PAIR.sub(r"\1=\2,\3", part)) for k, part in enumerate(parts)
    )
    return re.sub(rf"{re.escape(in_recipe)} (?=[a-z-]+ = )", " and ", text)


def _option(match: re.Match[str]) -> str:
    value = match[2].strip("[]\"'") if match.re is _ASSIGNED else ""
    value = f'"{value}"' if _SPECIAL.search(value) else value
    return _OPTIONS[match[1]] + (f" {value}" if value not in ("", "True") else "")
