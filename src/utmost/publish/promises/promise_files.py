"""Promises as JSON files: what is decided before anybody looks at the data, for an approver or a later run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from utmost.core.exact import arguments
from utmost.errors import OutOfRange
from utmost.publish.promises.codec import Form
from utmost.publish.promises.promise import Promise
from utmost.tables.files.atomic import write_together
from utmost.tables.files.json_files import write_json

_BESIDE = {"kind", "format", "utmost", "digest"}


def _facts(promise: Promise) -> dict[str, Any]:
    return promise.facts() | {"digest": promise.digest}


def _value(facts: Mapping[str, Any]) -> Promise:
    return Promise.of_facts({name: fact for name, fact in facts.items() if name not in _BESIDE})


PROMISE_FORM = Form("promise", "a promise", _facts, _value)
"""Promises as documents: the words of `Promise.facts`, and the digest by which two promises are one."""


def save_promise(promise: Promise, path: Path | str, *, overwrite: bool = False) -> None:
    """Write a promise, whole or not at all: ``Promise.save``.

    Raises:
        OutOfRange: for a file that does not end in .json.
        Unsupported: where the file exists.
    """
    path = Path(path)
    if path.suffix.lower() != ".json":
        raise OutOfRange("a promise is written as .json", came=path.name, where="path")
    write_together({path: lambda file: write_json(PROMISE_FORM.document(promise), file)}, overwrite=overwrite)


def read_promise(path: Path | str) -> Promise:
    """The promise in a file that ``Promise.save`` or ``utmost promise`` wrote.

    Raises:
        BadTable: for what is no promise, and naming a field that is missing, unknown, or no longer fits the digest.
        OutOfRange, NotANumber, WrongKind: for words that go not together.
        Unsupported: for a format of a later version.

    >>> from utmost import Unit
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "promise.json"
    >>> promise = Promise("admitted", public="department", unit=Unit(1, 1))
    >>> promise.save(path)
    >>> read_promise(path) == promise
    True
    """
    return PROMISE_FORM.read(Path(arguments.path(path, "path")))
