"""The one form of documents: how evidence is written as JSON, and read back as what it says and nothing more.

A document is a JSON object with its kind, the number of its format and the version that wrote it, and then the fields
of its kind. Exact numbers stand as text, floats as JSON numbers, which give the same float back. A document
of another format is refused.

A reader takes from a document what does not follow from the rest of it, computes the rest again, writes the document
of what it found, and compares: a field that is missing, unknown, or says something else is refused. Designs, plans and
promises are a `Form`, every statement of something published is a `StatementForm`: no other code compares fields.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from utmost.core.exact.arguments import wrong_kind
from utmost.errors import BadTable, PromiseBroken, Unsupported, UtmostError
from utmost.publish.promises.statement_kinds import FORMAT, VERSION, check_format
from utmost.tables.files.json_files import read_json
from utmost.tables.files.saving import Digest
from utmost.version import __version__

Value = TypeVar("Value")

_WRONG_FIELDS = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
# Another machine may round another way in the last places; what is further off was not written by a computation.
_ROUNDING = 2.0**-46


@dataclass(frozen=True, slots=True)
class Form(Generic[Value]):
    """How the documents of one kind are written and read.

    Attributes:
        kind: Text of the field ``kind``.
        noun: Name of the kind in messages: "a design".
        facts: Function from a value to the fields of its kind.
        value: Function from the fields of a document to the value, with everything that can be computed computed again.
        rounded: the names of computed floats, which another machine may round another way in the last places.
    """

    kind: str
    noun: str
    facts: Callable[[Value], dict[str, Any]]
    value: Callable[[Mapping[str, Any]], Value]
    rounded: frozenset[str] = frozenset()

    def document(self, value: Value) -> dict[str, Any]:
        """The document of a value, as plain data."""
        return {**header(self.kind), **self.facts(value)}

    def read(self, path: Path) -> Value:
        """The value in a file: see `of`."""
        return self.of(read_json(path, f"{self.noun} must"), str(path))

    def of(self, document: Any, where: str) -> Value:
        """The value of which a document tells.

        Raises:
            BadTable: for another kind, and naming a field that is missing, unknown, or does not follow from the others.
            Unsupported: for another format.
            PromiseBroken: for evidence that proves nothing.
        """
        check_header(document, self.kind, self.noun, where=where)
        with fields(self.noun, where):
            value = self.value(document)
            expected = self.document(value) | {"utmost": str(document["utmost"])}
        for name in differing(document, expected, self.rounded):
            required = f"what {self.noun} says must follow from the rest of it"
            raise BadTable(required, came="something else", where=f"{where}, {name!r}")
        return value


@dataclass(frozen=True, slots=True)
class StatementForm(Form[Value]):
    """How the statements of one kind are written and read: documents that have the digest of a table, or null."""

    def statement(self, value: Value, digest: Digest | None) -> dict[str, Any]:
        """The statement of a value, as plain data, with the digest of its table."""
        return table_statement(self.kind, self.facts(value), digest)

    def checked(self, statement: Any) -> Value:
        """The value of which a statement tells, once it was written again and every field was found equal.

        Raises:
            BadTable: naming the first field that does not follow from the others.
            Unsupported: for a format or a cost that is not known.
            WrongKind: for what is no mapping.
        """
        if not isinstance(statement, Mapping):
            raise wrong_kind("statement", f"{self.noun}, as a mapping", statement)
        check_header(statement, self.kind, self.noun)
        with _promise_that_holds():
            value = self.value(statement)
            expected = json.loads(json.dumps(self.statement(value, digest_of(statement))))
        stated_field(statement, "utmost", str)
        if path := _first_difference(statement, written_by(expected, statement), self.rounded):
            raise does_not_follow(".".join(path))
        return value


def table_statement(kind: str, facts: Mapping[str, Any], digest: Digest | None) -> dict[str, Any]:
    """The statement of a kind: header, fields, and the digest of the table, where there is one."""
    return {**header(kind), **facts, "table": None if digest is None else dict(digest)}


def written_by(expected: Any, statement: Any) -> Any:
    """A statement as the version would have written it that wrote another one, and those inside it."""
    if not isinstance(expected, dict) or not isinstance(statement, dict):
        return expected
    again = {name: written_by(fact, statement.get(name)) for name, fact in expected.items()}
    is_document = isinstance(again.get("utmost"), str) and isinstance(statement.get("utmost"), str)
    return again | {"utmost": statement["utmost"]} if is_document else again


@contextmanager
def _promise_that_holds() -> Iterator[None]:
    """Whatever a promise that cannot be made raises is a `BadTable`, but for what is not supported."""
    try:
        yield
    except (BadTable, Unsupported):
        raise
    except (UtmostError, *_WRONG_FIELDS) as error:
        came = error.required if isinstance(error, UtmostError) else type(error).__name__
        raise BadTable("a statement must hold a promise that can be made", came=came) from None


def _first_difference(stated: Mapping[str, Any], expected: Mapping[str, Any], rounded: frozenset[str]) -> list[str]:
    """The names that lead to the first field in which two documents differ; none where they are alike."""
    for name in differing(stated, expected, rounded):
        value, other = stated.get(name), expected.get(name)
        inner = _first_difference(value, other, rounded) if isinstance(value, dict) and isinstance(other, dict) else []
        return [str(name), *inner]
    return []


def digest_of(statement: Mapping[str, Any]) -> Digest | None:
    """The digest of the table, where the statement has one."""
    if statement.get("table") is None:
        return None
    digest: Digest = stated_field(statement, "table", dict)
    if set(digest) != {"of", "sha256"} or digest["of"] not in DIGESTED or not isinstance(digest["sha256"], str):
        raise does_not_follow("table")
    if not re.fullmatch("[0-9a-f]{64}", digest["sha256"]):
        raise does_not_follow("table")
    return digest


DIGESTED = ("file", "cells", "sums")
"""The content of a digest: the bytes of a file, the cells of a table, or the sums of a plan."""

_MOST_ROWS = 1 << 63


def names_of(statement: Mapping[str, Any], field: str) -> list[str]:
    """The names of different columns, or texts, in a field."""
    names: list[str] = stated_field(statement, field, list)
    if not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        raise does_not_follow(field)
    return names


def stated_field(statement: Mapping[str, Any], field: str, kind: type) -> Any:
    """The value of a field, found to be of this very kind."""
    value = statement.get(field)
    if type(value) is not kind:
        raise BadTable(f"a statement must hold its {field}", came=type(value).__name__, where=field)
    return value


def stated_rows(statement: Mapping[str, Any]) -> int:
    """Number of rows of a table, which can be compared with the table alone."""
    rows: int = stated_field(statement, "rows", int)
    if not 0 <= rows < _MOST_ROWS:
        raise does_not_follow("rows")
    return rows


def does_not_follow(field: str) -> BadTable:
    """The refusal of a field that says something else."""
    remedy = "Ask the curator for the statement as it was published."
    required = "what a statement says must follow from its promise and level"
    return BadTable(required, came="something else", where=field, remedy=remedy)


def header(kind: str) -> dict[str, Any]:
    """The fields with which every document begins."""
    return {"kind": kind, "format": FORMAT, "utmost": __version__}


def check_header(document: Any, kind: str, noun: str, where: str = "") -> None:
    """Check that this is a document of a kind, in the format that is read."""
    known_kind = document.get("kind") if isinstance(document, Mapping) else None
    if known_kind != kind:
        raise BadTable(
            f"{noun} must be of the kind {kind!r}",
            came="another",
            where=where or "kind",
            remedy=f"Name a file that holds {noun}.",
        )
    check_format(document, noun, where)
    version = document.get("utmost", __version__)
    if not isinstance(version, str) or not VERSION.fullmatch(version):
        required = f"{noun} must name the version that wrote it, such as {__version__}"
        raise BadTable(required, came="another", where=f"{where}, 'utmost'" if where else "utmost")


def differing(
    document: Mapping[str, Any], expected: Mapping[str, Any], rounded: frozenset[str] = frozenset()
) -> list[str]:
    """The names of the fields that two documents do not both have, or in which they are not alike.

    >>> differing({"a": 1, "b": "1/2", "x": 0}, {"a": True, "b": "1/2", "y": 0})
    ['a', 'y', 'x']
    """
    return [
        name
        for name in dict.fromkeys([*expected, *document])
        if name not in document or name not in expected or not _alike(document[name], expected[name], rounded, name)
    ]


def _alike(value: Any, other: Any, rounded: frozenset[str], name: str) -> bool:
    """Equal, and of the same kinds: 1, 1.0 and true are three things."""
    if type(value) is not type(other):
        return False
    if isinstance(value, dict):
        return value.keys() == other.keys() and all(_alike(value[key], other[key], rounded, key) for key in value)
    if isinstance(value, list):
        return len(value) == len(other) and all(_alike(a, b, rounded, name) for a, b in zip(value, other, strict=True))
    if isinstance(value, float) and name in rounded:
        return bool(abs(value - other) <= _ROUNDING * abs(other))
    return bool(value == other)


def plain(value: Any) -> Any:
    """Numbers, and arrays of them, as JSON has them: Fractions as text, arrays as nested lists.

    >>> plain(np.array([[Fraction(1, 3), Fraction(2)]], dtype=object)), plain(0.5)
    ([['1/3', '2']], 0.5)
    """
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(x) for x in value]
    return str(value) if isinstance(value, Fraction) else value


@contextmanager
def fields(noun: str, where: str) -> Iterator[None]:
    """Whatever is not as it should be in the fields of a document is a `BadTable` or `PromiseBroken` that names it."""
    try:
        yield
    except PromiseBroken as error:
        required = f"{noun} must prove what it states: {error.required}"
        raise PromiseBroken(required, came=error.came, where=where) from None
    except UtmostError:
        raise
    except KeyError as error:
        raise BadTable(f"{noun} must have all its fields", came=f"none called {error}", where=where) from None
    except _WRONG_FIELDS as error:
        raise BadTable(f"{noun} must have all its fields", came=type(error).__name__, where=where) from None
