"""The words of older statements: the margin of error was their "radius", a cell of a domain their "atom".

What was published stays as it is: what follows from such a statement is worked out in today's words, said in its own,
and compared with it. Statements of today pass through here unchanged.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from utmost.core.exact.numbers import exact
from utmost.core.exact.shown import number_words
from utmost.publish.promises.statement_kinds import FORMATS, PLACES_KIND, TABLE_KIND, TOGETHER_KIND, WORKLOAD_KIND

_NEWEST_OLDER = {TABLE_KIND: 2, TOGETHER_KIND: 1, PLACES_KIND: 2, WORKLOAD_KIND: 1}
_OLDER = {"margin": "radius", "margins": "radii", "domain_cells": "atoms"}
_MARGIN, _OLDER_MARGIN = "margin", "radius"
MARGIN_WORDS = (_MARGIN, _OLDER_MARGIN)
"""What margins of error have been called, today's word first."""

_LAST_OF_FRACTIONS = {TABLE_KIND: 3, TOGETHER_KIND: 2}
"""The last formats whose sentences have fractions where people read decimals."""

_SENTENCES = (("a cell", "an atom"), ("cell", "atom"))


def is_older(kind: Any, form: Any) -> bool:
    """Whether statements of a kind and format have older words.

    >>> is_older(TABLE_KIND, 2), is_older(TABLE_KIND, 3), is_older("utmost clean table", 1)
    (True, False, False)
    """
    return type(form) is int and form <= _NEWEST_OLDER.get(kind, 0)


def format_of(kind: str, sensitivity: int | Fraction) -> int:
    """The format in which a statement is written: no later one than it needs, so that earlier versions read it.

    >>> format_of(TABLE_KIND, 1), format_of(TABLE_KIND, Fraction(3, 10))
    (3, 4)
    """
    return _LAST_OF_FRACTIONS[kind] if number_words(sensitivity) == str(sensitivity) else FORMATS[kind][0]


def margin_word(statement: Mapping[str, Any]) -> str:
    """What a statement calls the margin of error, with which the names of its columns end, too.

    >>> margin_word({"kind": TABLE_KIND, "format": 2}), margin_word({"kind": TABLE_KIND, "format": 3})
    ('radius', 'margin')
    """
    return _OLDER_MARGIN if is_older(statement.get("kind"), statement.get("format")) else _MARGIN


def in_words_of(statement: Mapping[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """What was made of a statement, with the words and the format of that statement.

    >>> older = {"kind": TABLE_KIND, "format": 2, "sensitivity": "3/10"}
    >>> in_words_of(older, {"format": 4, "margin": 4, "guarantee": "by at most 0.3"})
    {'format': 2, 'radius': 4, 'guarantee': 'by at most 3/10'}
    """
    kind, form = statement.get("kind"), statement.get("format")
    if type(form) is int and form <= _LAST_OF_FRACTIONS.get(str(kind), 0):
        most = exact(statement["sensitivity"], "sensitivity")
        spelled = expected["guarantee"].replace(f"by at most {number_words(most)}", f"by at most {most}", 1)
        expected = expected | {"guarantee": spelled, "format": form}
    if not is_older(kind, form):
        return expected
    renamed = {_OLDER.get(name, name): fact for name, fact in expected.items()} | {"format": form}
    if "families" in renamed:
        renamed["families"] = [
            {_OLDER.get(name, name): fact for name, fact in of.items()} for of in expected["families"]
        ]
    return renamed


def sentence_of(kind: str, form: int, sentence: str) -> str:
    """A sentence of ours, without anybody's labels in it, as statements of a kind and format say it.

    >>> sentence_of(WORKLOAD_KIND, 1, "a cell lies in one group"), sentence_of(WORKLOAD_KIND, 2, "the cells")
    ('an atom lies in one group', 'the cells')
    """
    for today, older in _SENTENCES if is_older(kind, form) else ():
        sentence = sentence.replace(today, older)
    return sentence


def columns_of_today(statement: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a table of some release, under the names that they would have today.

    >>> columns_of_today({"kind": WORKLOAD_KIND, "format": 1}, {"sex": ["men"], "estimate": [5], "radius": [3]})
    {'sex': ['men'], 'estimate': [5], 'margin': [3]}
    """
    word = margin_word(statement)
    renamed = {} if _MARGIN in columns else {word: _MARGIN}  # a level may be called so
    if statement.get("kind") != WORKLOAD_KIND:
        renamed = {f"{name}_{word}": f"{name}_{_MARGIN}" for name in statement["released"]}
    return {renamed.get(name, name): column for name, column in columns.items()}
