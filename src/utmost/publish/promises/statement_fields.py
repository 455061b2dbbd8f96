"""The fields of a statement, read one by one, and the comparison of all of them with the statement made again."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from utmost.errors import BadTable, UtmostError
from utmost.publish.promises.codec import differing

_MOST_ROWS = 1 << 63


@contextmanager
def promise_that_holds(*let_through: type[UtmostError]) -> Iterator[None]:
    """Whatever a promise that cannot be made raises is a `BadTable`, but for the refusals that are let through."""
    try:
        yield
    except (UtmostError, KeyError, TypeError) as error:
        if isinstance(error, (BadTable, *let_through)):
            raise
        came = error.required if isinstance(error, UtmostError) else type(error).__name__
        raise BadTable("a statement must hold a promise that can be made", came=came) from None


def check_follows(stated: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Check that a statement is the one that was made again, field for field, but for the version that made it.

    Args:
        stated: Statement that was read.
        expected: Statement that was made of the fields that cannot be computed.

    Raises:
        BadTable: naming the first field that is not as it was made again.
    """
    again = {**expected, "utmost": stated_field(stated, "utmost", str)}
    if path := _first_difference(stated, json.loads(json.dumps(again))):
        raise does_not_follow(".".join(path))


def _first_difference(stated: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """The names that lead to the first field in which two documents differ; none where they are alike."""
    for name in differing(stated, expected):
        value, other = stated.get(name), expected.get(name)
        inner = _first_difference(value, other) if isinstance(value, dict) and isinstance(other, dict) else []
        return [str(name), *inner]
    return []


def digest_of(stated: Mapping[str, Any]) -> Mapping[str, str] | None:
    """The digest of the table, if the statement has one."""
    digest = stated.get("table")
    if digest is None:
        return None
    parts: Mapping[str, str] = stated_field(stated, "table", dict)
    if set(parts) != {"of", "sha256"} or parts["of"] not in ("file", "cells"):
        raise does_not_follow("table")
    if not isinstance(parts["sha256"], str) or not re.fullmatch("[0-9a-f]{64}", parts["sha256"]):
        raise does_not_follow("table")
    return parts


def names_of(stated: Mapping[str, Any], field: str) -> list[str]:
    """The names of different columns, or texts, in a field."""
    names: list[str] = stated_field(stated, field, list)
    if not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        raise does_not_follow(field)
    return names


def stated_field(stated: Mapping[str, Any], field: str, kind: type) -> Any:
    """What stands in a field, of this very kind."""
    value = stated.get(field)
    if type(value) is not kind:
        raise BadTable(f"a statement must hold its {field}", came=type(value).__name__, where=field)
    return value


def stated_rows(stated: Mapping[str, Any]) -> int:
    """How many rows a table has, which can be compared with the table alone."""
    rows: int = stated_field(stated, "rows", int)
    if not 0 <= rows < _MOST_ROWS:
        raise does_not_follow("rows")
    return rows


def does_not_follow(field: str) -> BadTable:
    """The refusal of a field that says something else."""
    remedy = "Ask the curator for the statement as it was published."
    required = "what a statement says must follow from its promise and level"
    return BadTable(required, came="something else", where=field, remedy=remedy)
