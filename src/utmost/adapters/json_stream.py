"""JSON that is too long to hold: an object whose last field is a list, written item by item."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, TextIO


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
