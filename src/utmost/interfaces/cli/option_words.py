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
    "id_column": "--id",
    "released_cells": "--once",
    "version": "--data-version",
    "marginal": "--want",
    "key": "--key-file",
}
"""Options of the command line, by the names of the library's arguments."""

_ASSIGNED = re.compile(rf"(?<![(\w])({'|'.join(_OPTIONS)})=(True\b|\[?(?:\"[^\"]*\"|'[^']*'|[\w/.^()-]*[\w)])?\]?)")
_PYTHON_CALL = re.compile(r"(ut\.[\w.]+\((?:[^()]|\([^()]*\))*\))")
_SPELLING = re.compile(
    r"(?:ut\.count_table\(\.\.\., spelling=)?ut\.Spelling\(((?:(?:decimal|thousands|currency|missing_marks)=[^)]*)+)\)+"
)
_SELECTED = re.compile(r"where=\{'([^']*)': (?:slice\(([^,()]*), ([^,()]*)\)|\[([^\]]*)\])\}")
_NUMBERED = re.compile(r"values=\{((?:'[^']*': [\w/.-]+(?:, )?)+)\}")
_QUOTED, _NUMBER = re.compile(r"'([^']*)'"), re.compile(r"'([^']*)': ([\w/.-]+)")
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
_CALLS = {
    "Call relax or view, or publish": "Use utmost relax or utmost view, or publish",
    'alpha="1/2"': "--epsilon alpha=1/2",
    "estimate_kernels (--estimate)": "--estimate",
    "estimate_kernels": "--estimate",
    "create=True (utmost ledger create)": "utmost ledger create",
    "call ledger.charge": "write utmost ledger charge",
    "call budget(dataset, limit=)": "utmost ledger budget --limit",
    "call resume (utmost ledger resume)": "call utmost ledger resume",
    "and call resume": "and call utmost ledger resume",
    "call its difference(where, minus)": "write utmost read RELEASE --where LABELS --minus LABELS",
    ", or pass part={column: list of labels}": "",
    "up to epsilon=": "up to epsilon = ",
    "call relax with": "call utmost relax with",
    ": with ut.release(table, plan), in a ledger with noise=plan, on the command line with": ", with",
    "ut.workloads.hierarchy": '"tree"',
    "ut.workloads.bins": '"bins"',
    "ut.workloads.edges": '"edges"',
    "ut.workloads.ages": '"ages"',
    'ut.Spelling(pattern="%d.%m.%Y")': 'on its axis in the domain file "pattern": "%d.%m.%Y"',
    'ut.Spelling(pattern="%d%m%Y")': 'on its axis in the domain file "pattern": "%d%m%Y"',
    "ut.workloads.periods": '"periods"',
    'periods(..., zone="America/New_York"), in a domain file ': "on its axis in the domain file ",
    "declare it among missing_marks": "declare it: --missing-marks MARK",
    "Make the column one of numbers. If you count events: ": "",
    "another key=": "another --count-key",
    "use the counting key of the first count, for example ut.Counting(..., key=ledger.counting_key())": (
        "give the file of the first count, or count again with its --count-key"
    ),
    'ut.count_table(..., outside="leave out")': "--leave-out outside",
    'outside="leave out"': "--leave-out outside",
    'missing="leave out" in ut.mean or ut.sum': "--leave-out amounts",
    'missing="leave out"': "--leave-out amounts",
    "person and column must be different columns": "--person and --unknown-keys must name different columns",
    "Pass the column of the keys as column=": "Write --unknown-keys COLUMN, with the column of the keys",
    "Make the promise from the counted table (Promise.of_counted, utmost promise), or without individual.": (
        "Make the promise from this counted table: utmost promise COUNTED.json --out promise.json."
    ),
    "Make the promise with part=(partition, part), or without part= for a whole table.": (
        "Make the promise from this counted table: utmost promise COUNTED.json --out promise.json."
    ),
    "Pass columns=, public= and unit=; or noise=plan. Promise.of_counted(table) fills them in.": (
        "Make the promise from this counted table: utmost promise COUNTED.json --out promise.json."
    ),
    "(ut.count_table, utmost count); or make the promise without proved=True": (
        "with utmost count; or make the promise from --columns, not from a counted table"
    ),
    "a promise with proved=True": "a promise that was made from a counted table",
    "Pass, for example, limits=[1, 2, 5, 10]": "Write --contributions at-most=1,2,5,10, say",
    "limits must be positive": "the bounds of --contributions must be positive",
    'if each row is a person, bound must be "per_cell" and measure must be a sum': (
        "with --each-row, --contributions must compare per-cell bounds of amounts"
    ),
    'Pass bound="per_cell" and measure=ut.sum("income"): the limits then bound one amount': (
        "Write --contributions per-cell=10,100, and name the column of amounts: --values income"
    ),
    "Leave measure= out": "Leave --values out",
    'bound="at_most" counts': "--contributions at-most counts",
    "or other= on the axis": 'or "other" on the axis',
    'Pass on="2025-01-01"': 'Write "on": "2025-01-01"',
    'the zone in which you count: zone="America/New_York"': (
        'on its axis in the domain file the zone in which you count: "zone": "America/New_York"'
    ),
    "Pass the table's own unit; or, if you left nobody out, dataclasses.replace(table, unit=unit)": (
        "Plan again without --exactly; or, in Python, release dataclasses.replace(table, unit=unit)"
    ),
    "declare the edges with whole=False": 'write "whole": false beside "edges" in the domain file',
    "Leave out whole=": 'Leave out "whole"',
    "Leave out fanout=": 'Leave out "fanout"',
    "groups= and fanout=": '"groups" and "fanout"',
    "Pass missing=, a label for missing values": 'Write "missing": "not stated" on the axis in the domain file',
    "plan the tables that you want by ut.choose_plan, and release the plan": "write utmost release --want",
    "plan the tables: ut.choose_plan": "plan the tables: utmost plan",
    "promise the cells with unit=": "promise the cells with --sensitivity and --cells",
    "Release the columns with unit=": "Release the columns with --sensitivity and --cells",
    'Pass within("10 %"), say': 'Write --until "10 %", say',
    "Count with ut.mean (--mean)": "Count with --mean",
    "without ut.mean": "without --mean",
    "with clean() or utmost clean": "with utmost clean",
    "ut.release(contributions, ut.Promise.of_counted(contributions), epsilon=1)": (
        "utmost release CONTRIBUTIONS --epsilon 1"
    ),
    "a table of ut.count_contributions, or of utmost count": "a table of utmost count",
    "amount must name a released amount": "--sum must name a released amount",
    "Leave amount= out": "Leave --sum out",
    "leave amount= out": "leave --sum out",
    "Pass amount=": "Write --sum ",
    'Pass an int, a Fraction, a Decimal, a float, or text such as "1/2" or "0.5", in the digits 0 to 9.': (
        "Write a number such as 1, 0.5 or 1/2, in the digits 0 to 9."
    ),
    "add other= to the axis": 'add "other" to the axis in the domain file',
    'missing="not stated" to the axis': '"missing": "not stated" to its axis in the domain file',
    "print(counted.report) shows": "The counting report, on a terminal or by utmost count --report, shows",
    "count_contributions (utmost bounds)": "utmost bounds",
    "missing={dataset: epsilon}, or missing={}": "--missing DATASET=EPSILON, or --nothing-missing",
    "unit=ut.Unit(s, k, nonnegative=True)": "--nonnegative",
    "Unit(s, k, nonnegative=True)": "--nonnegative",
    "Pass {name: (latitude, longitude)}, or a dict of columns with name=, latitude= and longitude=": (
        "Name the columns, as in --space places:towns.csv:name,lat,lon"
    ),
}
"""Texts in the library's sentences, and the texts of the command line or a domain file that replace them."""


def message_and_remedy(error: UtmostError, keys: Collection[str] = ()) -> tuple[str, str | None]:
    """Return an error's message, and its remedy or None, in the words of the command line."""
    required = _BEGINS.sub(_option, _with_options(_LEVEL.sub(r"\1 = ", error.required), keys))
    # In an error about a table, `where` names a column, which may be spelled like an option: it is not replaced.
    where = error.where if isinstance(error, BadTable) else _OPTIONS.get(error.where or "", error.where)
    remedy = None if error.remedy is None else _with_options(error.remedy, keys)
    number = _A_NUMBER.match(required)
    if number and "with a point" not in (remedy or ""):
        written = "a number such as" if number[1] in _OF_PAIRS else number[1]
        remedy = f"Write {written} 1, say; fractions are 0.5 or 1/2."
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
    """Return a sentence of the library with options in place of arguments; ``keys`` are options of recipes only."""
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

    in_recipe = " in the recipe (--recipe FILE.toml)"

    for call, words in _CALLS.items():
        text = text.replace(call, words)
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
