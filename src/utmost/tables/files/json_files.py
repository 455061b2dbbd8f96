"""JSON files, read so strictly that all readers agree on their content: duplicate names and NaN are refused."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TextIO

from utmost.errors import BadTable


def read_json(path: Path, what: str, parse_float: Callable[[str], Any] | None = None) -> Any:
    """Read a JSON file. Messages begin with ``what``, such as "a design must"."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"the number {constant}")

    # The file may be in UTF-8, or in UTF-16 or UTF-32 with a byte order mark.
    try:
        with path.open("rb") as file:
            content = file.read()
        return json.loads(
            content.decode(json.detect_encoding(content)),
            parse_float=parse_float,
            object_pairs_hook=members_once,
            parse_constant=refuse,
        )
    except OSError as error:
        raise BadTable(
            f"{what} be a file that can be read", came=error.strerror or type(error).__name__, where=str(path)
        ) from None
    except UnicodeDecodeError:
        raise BadTable(f"{what} be JSON", came="bytes that are no text in UTF-8", where=str(path)) from None
    except RecursionError:
        raise BadTable(f"{what} be JSON", came="brackets nested too deep to read", where=str(path)) from None
    except json.JSONDecodeError as error:
        came = f"other text, at line {error.lineno}, column {error.colno}" if error.doc.strip() else "nothing"
        raise BadTable(f"{what} be JSON", came=came, where=str(path)) from None
    except ValueError as error:
        raise BadTable(f"{what} be JSON", came=str(error), where=str(path)) from None


def write_json(document: Mapping[str, Any], file: BinaryIO) -> None:
    file.write(encoded(document))


def encoded(document: Mapping[str, Any]) -> bytes:
    """Return a document as the bytes of its file. If the document contains a lone surrogate, all non-ASCII characters
    are escaped.
    """
    try:
        return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:
        return (json.dumps(document, indent=2) + "\n").encode()


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


def members_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Read a JSON object. Repeated names are refused, because readers disagree about them."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a name that is given twice")
    return members
