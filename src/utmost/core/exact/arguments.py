"""The readers of arguments that public functions share: an integer, a truth value, a path, one of our nouns.

Each takes what came and the name of its parameter, and returns it as what it must be, or raises an error that names the
parameter and the kind that is wanted. Numbers are read by `exact`, levels by `level_of`, arrays by `arrays`.
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
_Reader = Callable[[Any, str], Any]

MOST_ELEMENTS = 10**8
"""How many elements a list may have: each costs a Python object."""

# What is shorter than a page is a path; a system refuses longer ones with an error of its own.
_LONGEST_PATH = 4096


def wrong_kind(name: str, wanted: str, value: object) -> WrongKind:
    """The error for an argument of another kind; it says the type that came, never the value."""
    return WrongKind(f"{name} must be {wanted}", came="None" if value is None else type(value).__name__)


def is_integer(value: object) -> typing.TypeGuard[int | np.integer[Any]]:
    """Whether a value is an integer, Python's or NumPy's; a truth value is none.

    >>> [is_integer(value) for value in (5, np.int64(5), True, np.True_, 5.0, "5")]
    [True, True, False, False, False, False]
    """
    # The kind that most have is asked for first, which is quicker.
    return type(value) is int or (isinstance(value, int | np.integer) and not isinstance(value, bool))


def integer(value: Any, name: str) -> int:
    """Whatever denotes an integer, as an int.

    >>> integer("3", "n"), integer(3.0, "n")
    (3, 3)
    """
    return value if type(value) is int else exact_integer(value, name)


def real(value: Any, name: str) -> float:
    """Whatever denotes a finite number, as a float."""
    if type(value) is float and value - value == 0:
        return value
    try:
        return float(exact(value, name))
    except OverflowError:
        raise OutOfRange(f"{name} must be at most 1e308", came="more") from None


def truth(value: Any, name: str) -> bool:
    """True or False, Python's or NumPy's."""
    if not isinstance(value, bool | np.bool_):
        raise wrong_kind(name, "True or False", value)
    return bool(value)


def text(value: Any, name: str) -> str:
    """Text, as it came."""
    if not isinstance(value, str):
        raise wrong_kind(name, "text", value)
    return value


def label(value: Any, name: str) -> Any:
    """Anything that can be a label, which is what can be hashed."""
    try:
        hash(value)
    except Exception:  # what is hashed is the user's, and so is what it raises
        raise wrong_kind(name, "a label: a number or text, say", value) from None
    return value


def instance(value: Any, kind: type[T] | tuple[type[T], ...], name: str) -> T:
    """A value of a class, or of one of several.

    >>> instance(3, str, "name")
    Traceback (most recent call last):
    utmost.errors.WrongKind: name must be a str; got int.
    """
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = " or ".join(f"{'an' if k.__name__[0] in 'AEIOU' else 'a'} {k.__name__}" for k in kinds)
        raise wrong_kind(name, wanted, value)
    return value


def sequence(value: Any, name: str, *, or_text: bool = False) -> Any:
    """Something with a length and elements by their place, as it came; text is none unless that is said."""
    return _having(value, ("__len__", "__getitem__"), name, "a sequence", or_text=or_text)


def collection(value: Any, name: str, *, or_text: bool = False) -> Any:
    """Something with a length whose elements can be gone through, as it came."""
    return _having(value, ("__len__", "__iter__"), name, "a collection", or_text=or_text)


def iterable(value: Any, name: str, *, or_text: bool = False) -> Any:
    """Something whose elements can be gone through, as it came."""
    return _having(value, ("__iter__",), name, "iterable", or_text=or_text)


def mapping(value: Any, name: str) -> Any:
    """A dict, or whatever else has items and values by key, as it came."""
    return _having(value, ("items", "__getitem__"), name, "a mapping", or_text=False)


def sequence_of(values: Any, reader: _Reader | type, name: str) -> Any:
    """A sequence, each element of which a reader accepts, or is of a class; as it came.

    >>> sequence_of([1, "x"], integer, "sizes")
    Traceback (most recent call last):
    utmost.errors.NotANumber: every element of sizes must be a finite number; got x....
    """
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
    """The value, which must be one of the words of a literal type.

    Raises:
        WrongKind: for what is no text.
        OutOfRange: for another word.

    >>> from typing import Literal
    >>> one_of("max", Literal["sum", "max"], "norm")
    'max'
    """
    words = typing.get_args(among)
    if not isinstance(value, str):
        raise wrong_kind(name, f"one of {', '.join(words)}", value)
    if value not in words:
        raise OutOfRange(f"{name} must be one of {', '.join(words)}", came=value, where=where, remedy=remedy)
    return value


def path(value: Any, name: str) -> Any:
    """A path that a file system can be asked for, left as it came.

    Raises:
        WrongKind: for what is no path.
        OutOfRange: for a NUL, for text that is no Unicode, and for more than 4096 characters.

    >>> path("a/b.csv", "path")
    'a/b.csv'
    """
    if not isinstance(value, str | bytes | os.PathLike):
        raise wrong_kind(name, "a path", value)
    spelling = os.fspath(value)
    encoded = spelling.encode("utf-8", "surrogatepass") if isinstance(spelling, str) else spelling
    if b"\0" in encoded or len(encoded) > _LONGEST_PATH:
        came = "a NUL character" if b"\0" in encoded else f"{len(encoded)} bytes"
        raise OutOfRange(f"{name} must be a path of at most {_LONGEST_PATH} bytes, without NUL", came=came)
    if isinstance(spelling, str):
        try:
            os.fsencode(spelling)
        except UnicodeEncodeError:
            raise OutOfRange(f"{name} must be a path in Unicode", came="a lone surrogate") from None
    return os.fsdecode(value) if isinstance(value, bytes) else value


def size_of(value: Any, name: str) -> int:
    """The length of what has one; more than the machine counts is as many as it counts."""
    try:
        return len(value)
    except OverflowError:
        return sys.maxsize
    except (TypeError, ValueError):
        raise wrong_kind(name, "a sequence", value) from None


def _having(value: Any, methods: tuple[str, ...], name: str, wanted: str, *, or_text: bool) -> Any:
    if or_text and isinstance(value, str):
        return value
    is_scalar = isinstance(value, type | str | bytes) or (isinstance(value, np.ndarray) and value.ndim == 0)
    if is_scalar or not all(hasattr(value, method) for method in methods):
        raise wrong_kind(name, wanted, value)
    return value


def optional(value: T | None, reader: Callable[[Any, str], T], name: str) -> T | None:
    """None, or what a reader makes of the value.

    >>> optional(None, integer, "seed"), optional("7", integer, "seed")
    (None, 7)
    """
    return None if value is None else reader(value, name)
