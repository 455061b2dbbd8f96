"""The forms of a record's fields: how each field is written as JSON, read back, and named to people.

The metadata of each field of a frozen dataclass contain its form. The forms define how a record is written as JSON,
read and digested, and which fields are shown on pages and screens, so that a new field is listed nowhere else.
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
    """How a field of a record is written as JSON, read from JSON, and shown to people."""

    title: str  # a few words for people
    write: Callable[[Any], Any] = _same  # converts the value to JSON; None, before or after, omits the field
    read: Callable[[Any, str], Any] = _same_read  # converts the JSON value, given the field's JSON name, to an argument
    name: str = ""  # the name in JSON, where it differs from the name of the field
    words: Mapping[str | bool, str] = field(default_factory=dict)  # text shown for each string or boolean
    hint: str = ""  # a line of help under the field in an HTML form
    parts: Mapping[str, "FieldForm"] = field(
        default_factory=dict
    )  # the forms of a value written as several JSON fields


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
    """The metadata of a dataclass field with this form; see `FieldForm`."""
    return {"form": FieldForm(title, write, read, name, words or {}, hint, parts or {})}


def _forms(kind: Any) -> Iterator[tuple[str, str, FieldForm]]:
    """Yield the name, the name in JSON, and the form of each field that has a form."""
    for each in fields(kind):
        if (found := each.metadata.get("form")) is not None:
            yield each.name, found.name or each.name, found


def json_forms(kind: type) -> dict[str, FieldForm]:
    """Map the name in JSON of each JSON field of a record to the form of this field."""
    listed: dict[str, FieldForm] = {}
    for _, name, found in _forms(kind):
        listed |= found.parts or {name: found}
    return listed


def texts_of(kind: type) -> dict[str, str]:
    """Map the name in JSON of each field that is a text for people to the field's title."""
    return {name: found.title for name, found in json_forms(kind).items() if found.hint}


def facts_of(record: Any) -> dict[str, Any]:
    """The record as JSON values, without the fields that are None."""
    facts: dict[str, Any] = {}
    for attribute, name, found in _forms(record):
        value = getattr(record, attribute)
        if value is not None and (written := found.write(value)) is not None:
            facts |= written if found.parts else {name: written}
    return facts


def arguments_of(kind: type, facts: Mapping[str, Any], noun: str) -> dict[str, Any]:
    """Read the constructor's arguments of a record from JSON values. Missing and null fields are left out."""
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
    """Yield the title and value of each JSON field that is not empty. Fields without a form come last, under their JSON
    names.
    """
    known = json_forms(kind)
    for name in (*known, *(name for name in facts if name not in known)):
        fact = facts.get(name)
        if fact is None or fact == [] or fact == {}:
            continue
        found = known.get(name)
        title, words = (name, {}) if found is None else (found.title, found.words)
        yield title, words.get(fact, fact) if isinstance(fact, str | bool) else fact
