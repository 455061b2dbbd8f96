"""Readers of arguments: each converts a value to the required type, or raises an error that names the parameter.

Each reader takes a value and the name of the parameter. The error also names the required type. Numbers are read by
`exact`, levels by `level`, and arrays by `as_array`.
"""

import os
import sys
import typing
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from utmost.core.exact.numbers import exact, exact_integer
from utmost.errors import OutOfRange, WrongKind

T = TypeVar("T")
_ArgumentReader = Callable[[Any, str], Any]

MOST_ELEMENTS = 10**8
"""The most elements of a list, since each element needs a Python object."""

# Linux refuses a path that is longer than this, with an error of its own.
_LONGEST_PATH = 4096


def wrong_kind(name: str, required: str, value: object) -> WrongKind:
    """Return the error for an argument that is not ``required``; the message names only the argument's type."""
    return WrongKind(f"{name} must be {required}", came="None" if value is None else type(value).__name__)


def is_integer(value: object) -> typing.TypeGuard[int | np.integer[Any]]:
    """Whether a value is an integer of Python or NumPy. A boolean does not count as an integer."""
    # Most values are Python's integers: the quickest test comes first.
    return type(value) is int or (isinstance(value, int | np.integer) and not isinstance(value, bool))


def integer(value: Any, name: str) -> int:
    """Read an integer from a number, or from text that denotes a number."""
    return value if type(value) is int else exact_integer(value, name)


def real(value: Any, name: str) -> float:
    if type(value) is float and value - value == 0:
        return value
    try:
        return float(exact(value, name))
    except OverflowError:
        raise OutOfRange(f"{name} must be at most 1e308", came="more") from None


def truth(value: Any, name: str) -> bool:
    """Read a boolean of Python or NumPy."""
    if not isinstance(value, bool | np.bool_):
        raise wrong_kind(name, "True or False", value)
    return bool(value)


def text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise wrong_kind(name, "text", value)
    return value


def label(value: Any, name: str) -> Any:
    """Check that a value can be a label: a label must be hashable."""
    try:
        hash(value)
    except Exception:  # a user's own class may raise anything
        raise wrong_kind(name, "a label, such as a number or text", value) from None
    return value


def instance(value: Any, kind: type[T] | tuple[type[T], ...], name: str) -> T:
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        required = " or ".join(f"{'an' if k.__name__[0] in 'AEIOU' else 'a'} {k.__name__}" for k in kinds)
        raise wrong_kind(name, required, value)
    return value


def sequence(value: Any, name: str, *, or_text: bool = False) -> Any:
    """Check that a value has a length, and an element at each index. Text is refused unless ``or_text`` is set."""
    return _having(value, ("__len__", "__getitem__"), name, "a sequence", or_text=or_text)


def collection(value: Any, name: str, *, or_text: bool = False) -> Any:
    """Check that a value has a length and can be iterated. Text is refused unless ``or_text`` is set."""
    return _having(value, ("__len__", "__iter__"), name, "a collection", or_text=or_text)


def iterable(value: Any, name: str, *, or_text: bool = False) -> Any:
    return _having(value, ("__iter__",), name, "iterable", or_text=or_text)


def mapping(value: Any, name: str) -> Any:
    return _having(value, ("items", "__getitem__"), name, "a mapping", or_text=False)


def sequence_of(values: Any, reader: _ArgumentReader | type, name: str) -> Any:
    """Check that a value is a sequence of elements that ``reader`` accepts: a reader of this module, or a class."""
    sequence(values, name, or_text=reader is label)
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and reader in (integer, real, label):
        return values
    if size_of(values, name) > MOST_ELEMENTS:
        raise OutOfRange(f"{name} must have at most {MOST_ELEMENTS} elements", came="more")
    where = f"every element of {name}"
    for element in values:
        if isinstance(reader, type):
            instance(element, reader, where)
        else:
            reader(element, where)
    return values


def one_of(value: Any, among: Any, name: str, where: str | None = None, remedy: str | None = None) -> Any:
    """Check that a value is one of the strings of the ``Literal`` type ``among``."""
    words = typing.get_args(among)
    if not isinstance(value, str):
        raise wrong_kind(name, f"one of {', '.join(words)}", value)
    if value not in words:
        raise OutOfRange(f"{name} must be one of {', '.join(words)}", came=value, where=where, remedy=remedy)
    return value


def path(value: Any, name: str) -> Any:
    """Check that a value can be a path: no NUL, no lone surrogate, at most 4096 bytes.

    >>> path("a/b.csv", "path")
    'a/b.csv'
    """
    if not isinstance(value, str | bytes | os.PathLike):
        raise wrong_kind(name, "a path", value)
    spelling = os.fspath(value)
    encoded = spelling.encode("utf-8", "surrogatepass") if isinstance(spelling, str) else spelling
    if b"\0" in encoded or len(encoded) > _LONGEST_PATH:
        came = "a NUL character" if b"\0" in encoded else f"{len(encoded)} bytes"
        raise OutOfRange(
            f"{name} must be a path of at most {_LONGEST_PATH} bytes, without NUL",
            came=came,
            remedy="Choose a shorter name.",
        )
    if isinstance(spelling, str):
        try:
            os.fsencode(spelling)
        except UnicodeEncodeError:
            raise OutOfRange(f"{name} must be a path in Unicode", came="a lone surrogate") from None
    return os.fsdecode(value) if isinstance(value, bytes) else value


def size_of(value: Any, name: str) -> int:
    """Return the length of a value, or `sys.maxsize` if the value is longer."""
    try:
        return len(value)
    except OverflowError:
        return sys.maxsize
    except (TypeError, ValueError):
        raise wrong_kind(name, "a sequence", value) from None


def _having(value: Any, methods: tuple[str, ...], name: str, required: str, *, or_text: bool) -> Any:
    if or_text and isinstance(value, str):
        return value
    is_scalar = isinstance(value, type | str | bytes) or (isinstance(value, np.ndarray) and value.ndim == 0)
    if is_scalar or not all(hasattr(value, method) for method in methods):
        raise wrong_kind(name, required, value)
    return value


def optional(value: T | None, reader: Callable[[Any, str], T], name: str) -> T | None:
    """Return None for None, and otherwise the value that ``reader`` returns."""
    return None if value is None else reader(value, name)
