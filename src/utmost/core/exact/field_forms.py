"""One table of the fields of a record: how each is written as JSON, read back, and named to people.

A field of a frozen dataclass carries its form in its metadata. The JSON form of the record, its reading, its digest and
the rows of pages and screens all follow from these forms, so that a new field is listed nowhere else.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from utmost.core.exact.arguments import mapping
from utmost.errors import OutOfRange


def _same(value: Any) -> Any:
    return value


def _same_read(value: Any, name: str) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class FieldForm:
    """The form of one field.

    Attributes:
        title: A few words for people.
        write: Function from the value to JSON; a value that is None, or is written as None, is left out.
        read: Function from JSON, and the name of the field, to the argument of the constructor.
        name: The name in JSON, where it is not that of the field.
        words: A sentence for each value that is a word or a truth.
        hint: A line of help under the field, where a page asks for it.
        parts: The JSON fields, each with its own form, of a value that is written as several of them.
    """

    title: str
    write: Callable[[Any], Any] = _same
    read: Callable[[Any, str], Any] = _same_read
    name: str = ""
    words: Mapping[str | bool, str] = field(default_factory=dict)
    hint: str = ""
    parts: Mapping[str, "FieldForm"] = field(default_factory=dict)


def form(
    title: str,
    *,
    write: Callable[[Any], Any] = _same,
    read: Callable[[Any, str], Any] = _same_read,
    name: str = "",
    words: Mapping[str | bool, str] | None = None,
    hint: str = "",
    parts: Mapping[str, FieldForm] | None = None,
) -> dict[str, FieldForm]:
    """The metadata of a dataclass field with this form; see `FieldForm`.

    >>> @dataclass(frozen=True)
    ... class Side:
    ...     length: int = field(metadata=form("length of the side", write=str, read=lambda fact, name: int(fact)))
    >>> facts_of(Side(3)), arguments_of(Side, {"length": "3"}, "side"), list(rows_of(Side, {"length": "3"}))
    ({'length': '3'}, {'length': 3}, [('length of the side', '3')])
    """
    return {"form": FieldForm(title, write, read, name, words or {}, hint, parts or {})}


def _forms(kind: Any) -> Iterator[tuple[str, str, FieldForm]]:
    """The name of each field that has a form, its name in JSON, and the form."""
    for each in fields(kind):
        if (found := each.metadata.get("form")) is not None:
            yield each.name, found.name or each.name, found


def json_forms(kind: type) -> dict[str, FieldForm]:
    """The form of each JSON field of a record, by its name in JSON."""
    listed: dict[str, FieldForm] = {}
    for _, name, found in _forms(kind):
        listed |= found.parts or {name: found}
    return listed


def facts_of(record: Any) -> dict[str, Any]:
    """The record as JSON values; a field that is None is left out."""
    facts: dict[str, Any] = {}
    for attribute, name, found in _forms(record):
        value = getattr(record, attribute)
        if value is not None and (written := found.write(value)) is not None:
            facts |= written if found.parts else {name: written}
    return facts


def arguments_of(kind: type, facts: Mapping[str, Any], noun: str) -> dict[str, Any]:
    """The arguments of the constructor of a record that JSON values describe; what is missing or null is left out.

    Raises:
        OutOfRange: for a field that the record does not have.
        WrongKind: for facts that are no mapping.
    """
    given = {name: fact for name, fact in mapping(facts, noun).items() if fact is not None}
    known = json_forms(kind)
    if unknown := [str(name) for name in given if name not in known]:
        raise OutOfRange(f"the fields of {noun} are {', '.join(sorted(known))}", came=min(unknown), where=noun)
    arguments: dict[str, Any] = {}
    for attribute, name, found in _forms(kind):
        if found.parts and (parts := {part: given[part] for part in found.parts if part in given}):
            arguments[attribute] = found.read(parts, attribute)
        elif name in given:
            arguments[attribute] = found.read(given[name], name)
    return arguments


def rows_of(kind: type, facts: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The JSON values of a record for people: title and value of each field that says something, in order.

    A field that the record does not have comes last, under its own name: whatever the values hold is shown.
    """
    known = json_forms(kind)
    for name in (*known, *(name for name in facts if name not in known)):
        fact = facts.get(name)
        if fact is None or fact == [] or fact == {}:
            continue
        found = known.get(name)
        title, words = (name, {}) if found is None else (found.title, found.words)
        yield title, words.get(fact, fact) if isinstance(fact, str | bool) else fact
