"""Write statements, designs and other documents as JSON, and read them with every field checked.

A document is a JSON object with its kind, the number of its format, the version of utmost that wrote it, and the fields
of its kind. Exact numbers are text; floats are JSON numbers, which round-trip exactly. A document of another format is
refused.

A reader parses the fields that do not follow from others, computes all other fields again, and compares: a missing,
unknown or different field is refused. A `Form` reads and writes designs, plans or promises; a `StatementForm` reads
and writes statements of one kind. No other code compares fields.
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
from utmost.publish.promises.statement_kinds import STATEMENT_FORMAT, VERSION_PATTERN, check_format
from utmost.tables.files.json_files import read_json
from utmost.tables.files.saving import Digest
from utmost.version import __version__

Value = TypeVar("Value")

_WRONG_FIELDS = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
# Another machine may round the last digits differently; a larger difference is not a rounding error.
_ROUNDING = 2.0**-46


@dataclass(frozen=True, slots=True)
class Form(Generic[Value]):
    """The writer and the reader of documents of one kind."""

    kind: str
    noun: str  # Name of the kind in messages: "a design"
    facts: Callable[[Value], dict[str, Any]]
    # Function from the fields of a document to the value; it computes everything that can be computed again
    value: Callable[[Mapping[str, Any]], Value]
    # Names of computed floats, whose last digits may be rounded differently on another machine
    rounded: frozenset[str] = frozenset()

    def document(self, value: Value) -> dict[str, Any]:
        """Return the document that describes a value, as plain data."""
        return {**header(self.kind), **self.facts(value)}

    def read(self, path: Path) -> Value:
        """Read the value that the document in a file describes, as `of` does."""
        return self.of(read_json(path, f"{self.noun} must"), str(path))

    def of(self, document: Any, where: str) -> Value:
        """Read the value that a document describes; refuse a field that does not follow from the others."""
        check_header(document, self.kind, self.noun, where=where)
        with fields(self.noun, where):
            value = self.value(document)
            expected = self.document(value) | {"utmost": str(document["utmost"])}
        for name in differing(document, expected, self.rounded):
            required = f"the fields of {self.noun} must agree with one another"
            raise BadTable(required, came="another value", where=f"{where}, {name!r}")
        return value


@dataclass(frozen=True, slots=True)
class StatementForm(Form[Value]):
    """The writer and the reader of statements of one kind; a statement contains the digest of a table, or null."""

    def statement(self, value: Value, digest: Digest | None) -> dict[str, Any]:
        """Return the statement that describes a value, as plain data, with the digest of its table."""
        return table_statement(self.kind, self.facts(value), digest)

    def checked(self, statement: Any) -> Value:
        """Return the value that a statement describes; refuse a field that does not follow from the others."""
        if not isinstance(statement, Mapping):
            raise wrong_kind("statement", f"{self.noun}, as a mapping", statement)
        check_header(statement, self.kind, self.noun)
        try:
            value = self.value(statement)
            expected = json.loads(json.dumps(self.statement(value, digest_of(statement))))
        except (BadTable, Unsupported):
            raise
        except (UtmostError, *_WRONG_FIELDS) as error:
            came = error.required if isinstance(error, UtmostError) else type(error).__name__
            raise BadTable("a statement must contain a valid promise", came=came) from None
        # `utmost verify` and `check_statement` write the statement again, and name the first field that differs.
        stated_field(statement, "utmost", str)
        if path := _first_difference(statement, written_by(expected, statement), self.rounded):
            raise does_not_follow(".".join(path))
        return value


def table_statement(kind: str, facts: Mapping[str, Any], digest: Digest | None) -> dict[str, Any]:
    """Return a statement: the header of its kind, its fields, and the digest of the table (null for None)."""
    return {**header(kind), **facts, "table": None if digest is None else dict(digest)}


def written_by(expected: Any, statement: Any) -> Any:
    """Replace the version of utmost in ``expected``, and in documents inside it, by the one in ``statement``."""
    if not isinstance(expected, dict) or not isinstance(statement, dict):
        return expected
    again = {name: written_by(fact, statement.get(name)) for name, fact in expected.items()}
    is_document = isinstance(again.get("utmost"), str) and isinstance(statement.get("utmost"), str)
    return again | {"utmost": statement["utmost"]} if is_document else again


def _first_difference(stated: Mapping[str, Any], expected: Mapping[str, Any], rounded: frozenset[str]) -> list[str]:
    """Return the path of names to the first field in which two documents differ; empty if they are equal."""
    for name in differing(stated, expected, rounded):
        value, other = stated.get(name), expected.get(name)
        inner = _first_difference(value, other, rounded) if isinstance(value, dict) and isinstance(other, dict) else []
        return [str(name), *inner]
    return []


def digest_of(statement: Mapping[str, Any]) -> Digest | None:
    """Return the digest of the table in a statement; None if the field is null."""
    if statement.get("table") is None:
        return None
    digest: Digest = stated_field(statement, "table", dict)
    if set(digest) != {"of", "sha256"} or digest["of"] not in DIGESTED or not isinstance(digest["sha256"], str):
        raise does_not_follow("table")
    if not re.fullmatch("[0-9a-f]{64}", digest["sha256"]):
        raise does_not_follow("table")
    return digest


DIGESTED = ("file", "cells", "sums")
"""The input of a digest: the bytes of a file, the cells of a table, or the sums of a plan."""

_MOST_ROWS = 1 << 63


def names_of(statement: Mapping[str, Any], field: str) -> list[str]:
    """Return a statement's field that is a list of different texts, such as names of columns."""
    names: list[str] = stated_field(statement, field, list)
    if not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        raise does_not_follow(field)
    return names


def stated_field(statement: Mapping[str, Any], field: str, kind: type) -> Any:
    """Return a field of a statement; check that its value has exactly the type ``kind``."""
    value = statement.get(field)
    if type(value) is not kind:
        raise BadTable(f"a statement must contain the field {field}", came=type(value).__name__, where=field)
    return value


def stated_rows(statement: Mapping[str, Any]) -> int:
    rows: int = stated_field(statement, "rows", int)
    if not 0 <= rows < _MOST_ROWS:
        raise does_not_follow("rows")
    return rows


def does_not_follow(field: str) -> BadTable:
    remedy = "Ask the curator for the statement as it was published."
    required = "every field of a statement must follow from its promise and level"
    return BadTable(required, came="something else", where=field, remedy=remedy)


def header(kind: str) -> dict[str, Any]:
    return {"kind": kind, "format": STATEMENT_FORMAT, "utmost": __version__}


def check_header(document: Any, kind: str, noun: str, where: str = "") -> None:
    known_kind = document.get("kind") if isinstance(document, Mapping) else None
    if known_kind != kind:
        raise BadTable(
            f"{noun} must be of the kind {kind!r}",
            came="another kind",
            where=where or "kind",
            remedy=f"Pass a file that contains {noun}.",
        )
    check_format(document, noun, where)
    version = document.get("utmost", __version__)
    if not isinstance(version, str) or not VERSION_PATTERN.fullmatch(version):
        required = f"{noun} must name the version of utmost that wrote it, such as {__version__}"
        raise BadTable(required, came="another value", where=f"{where}, 'utmost'" if where else "utmost")


def differing(
    document: Mapping[str, Any], expected: Mapping[str, Any], rounded: frozenset[str] = frozenset()
) -> list[str]:
    """Return the names of the fields that differ between two documents, or that only one of them has."""
    return [
        name
        for name in dict.fromkeys([*expected, *document])
        if name not in document or name not in expected or not _alike(document[name], expected[name], rounded, name)
    ]


def _alike(value: Any, other: Any, rounded: frozenset[str], name: str) -> bool:
    """Whether two JSON values are equal with equal types: 1, 1.0 and true are different."""
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
    """Convert a value to JSON: Fractions to text, arrays to nested lists.

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
    """Parse a document in this block: wrong or missing fields raise BadTable, and errors name the document."""
    try:
        yield
    except PromiseBroken as error:
        required = f"{noun} must prove what it states: {error.required}"
        raise PromiseBroken(required, came=error.came, where=where) from None
    except UtmostError:
        raise
    except KeyError as error:
        raise BadTable(f"{noun} must have all its fields", came=f"no field {error}", where=where) from None
    except _WRONG_FIELDS as error:
        raise BadTable(f"the fields of {noun} must be readable", came=type(error).__name__, where=where) from None
