"""JSON files: read whole or refused, and written item by item where they are too long to hold."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TextIO

from utmost.errors import BadTable, UtmostError

_WRONG_FIELDS = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def read_json(path: Path, what: str, parse_float: Callable[[str], Any] | None = None) -> Any:
    """What a JSON file holds.

    Args:
        path: the file, UTF-8.
        what: what it should hold, for the message: "a design must".
        parse_float: makes a number of the text of one with a point or an exponent.

    Raises:
        BadTable: for what is no JSON or holds a name twice, for NaN and infinities, for a nest too deep to read, and
            for a number of more than 4300 digits.
    """
    try:
        return json.loads(
            path.read_text(encoding="utf-8"),
            parse_float=parse_float,
            object_pairs_hook=_once,
            parse_constant=_no_number,
        )
    except (ValueError, RecursionError) as error:
        raise BadTable(f"{what} be JSON", came=str(error), where=str(path)) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object in which no name stands twice: readers would not agree on which of them counts."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name that stands twice")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"the number {name}")


@contextmanager
def fields(path: Path, what: str) -> Iterator[None]:
    """Read the fields of a JSON file: whatever is not as it should be there is a `BadTable` that names the file.

    Raises:
        BadTable: for a field that is missing, or holds something else.
    """
    try:
        yield
    except UtmostError:
        raise
    except _WRONG_FIELDS as error:
        raise BadTable(f"{what} have all its fields", came=type(error).__name__, where=str(path)) from None


def write_list(head: Mapping[str, Any], name: str, items: Iterable[Any], file: TextIO) -> None:
    """Write an object with the fields of ``head`` and then the list ``name``, one item a line.

    >>> import sys
    >>> write_list({"kind": "numbers"}, "items", iter([[1, 2], [3]]), sys.stdout)
    {
    "kind": "numbers",
    "items": [
    [1, 2],
    [3]
    ]
    }
    """
    file.write("{\n")
    for key, value in head.items():
        file.write(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)},\n")
    file.write(f"{json.dumps(name)}: [")
    separator = "\n"
    for item in items:
        file.write(separator + json.dumps(item, ensure_ascii=False))
        separator = ",\n"
    file.write("\n]\n}\n")
