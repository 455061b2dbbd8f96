"""What statements of older formats call things: what follows from one is said in its words, and compared with it.

What was published stays as it is. The words of today's formats stand in the builders of statements; here are those of
older ones, and statements of today pass through unchanged.
"""

from collections.abc import Mapping
from typing import Any

from utmost.publish.releases.statement_kinds import WORKLOAD_KIND

_NEWEST_OLDER: dict[str, int] = {}
_OLDER: dict[str, str] = {}
_MARGIN, _OLDER_MARGIN = "radius", "radius"
MARGIN_WORDS = (_MARGIN,)
"""What margins of error have been called, today's word first."""

_SENTENCES: tuple[tuple[str, str], ...] = ()


def is_older(kind: Any, form: Any) -> bool:
    """Whether statements of a kind and format have older words."""
    return type(form) is int and form <= _NEWEST_OLDER.get(kind, 0)


def margin_word(statement: Mapping[str, Any]) -> str:
    """What a statement calls the margin of error, with which the names of its columns end, too."""
    return _OLDER_MARGIN if is_older(statement.get("kind"), statement.get("format")) else _MARGIN


def in_words_of(statement: Mapping[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    """What was made of a statement, with the words and the format of that statement."""
    form = statement.get("format")
    if not is_older(statement.get("kind"), form):
        return made
    renamed = {_OLDER.get(name, name): fact for name, fact in made.items()} | {"format": form}
    if "families" in renamed:
        renamed["families"] = [{_OLDER.get(name, name): fact for name, fact in of.items()} for of in made["families"]]
    return renamed


def sentence_of(kind: str, form: int, sentence: str) -> str:
    """A sentence of ours, without anybody's labels in it, as statements of a kind and format say it."""
    for today, older in _SENTENCES if is_older(kind, form) else ():
        sentence = sentence.replace(today, older)
    return sentence


def columns_of_today(statement: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a table of some release, under the names that they would have today."""
    word = margin_word(statement)
    renamed = {word: _MARGIN}
    if statement.get("kind") != WORKLOAD_KIND:
        renamed = {f"{name}_{word}": f"{name}_{_MARGIN}" for name in statement["released"]}
    return {renamed.get(name, name): column for name, column in columns.items()}
