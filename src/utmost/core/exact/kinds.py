"""Arguments are of the kinds that a signature names: one check for every public function.

A number, an array and a table are read by the readers of their own rooms, which say what is wrong with them. What is
left is an argument of another kind altogether: an int for a space, text for a channel, a number without a length for a
list. Python would fail somewhere below, with an error about our code. `checked` reads the annotations of a function
once, and refuses what no annotation names.
"""

import collections.abc
import inspect
import types
import typing
from collections.abc import Callable
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import Any, Literal, NamedTuple, ParamSpec, TypeVar, Union

import numpy as np

from utmost.core.exact.arguments import (
    MOST_ELEMENTS,
    integer,
    is_integer,
    label,
    path,
    real,
    size_of,
    truth,
    wrong_kind,
)
from utmost.errors import OutOfRange, Unsupported

P = ParamSpec("P")
R = TypeVar("R")
_Reader = Callable[[Any, str], Any]

_CONTAINERS: dict[Any, tuple[tuple[str, ...], str]] = {
    collections.abc.Sequence: (("__len__", "__getitem__"), "a sequence"),
    collections.abc.Collection: (("__len__", "__iter__"), "a collection"),
    collections.abc.Iterable: (("__iter__",), "iterable"),
    collections.abc.Mapping: (("items", "__getitem__"), "a mapping"),
}
_NO_PLACE = 1 << 30


class _LeftOut:
    """What a shared word is where it is left out: its function knows."""

    def __repr__(self) -> str:
        return "<optional>"


_LEFT_OUT = _LeftOut()


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, behind a check that refuses arguments of a kind that its annotations do not name.

    A parameter annotated as one of our nouns takes its instances, ``int`` whatever denotes an integer (which the
    function then gets), ``float`` a finite number, ``bool`` a truth value, ``str`` text, a path what can be
    one, and containers what has their methods. ``Any``, ``object``, functions, numbers and arrays are left to the
    readers of the function. Words that several functions share, ``**words: Unpack[SomeWords]``, are checked one by one,
    and the signature that Python shows lists them.

    Raises:
        WrongKind: naming the parameter and the kind that is wanted; of what came only the name of its type.
        NotANumber: for an integer or a float that is none.
        OutOfRange: for text that can be no path.
        Unsupported: where the memory does not suffice.
        TypeError: as Python does, for a word that is no parameter, with the nearest that is.

    >>> @checked
    ... def half(n: int) -> float:
    ...     return n / 2
    >>> half("3")
    1.5
    >>> half([])
    Traceback (most recent call last):
    utmost.errors.NotANumber: n must be a finite number; got []. Pass an int, a Fraction, a Decimal, a float, or text...
    """
    parameters: list[_Parameter] | None = None
    known: frozenset[str] | None = None
    signature = _spelled(function)

    @wraps(function)
    def checked_call(*arguments: P.args, **named: P.kwargs) -> R:
        nonlocal parameters, known
        if parameters is None:  # at the first call, when every name of the annotations is there
            known = _names_of(signature or inspect.signature(function))
            parameters = _parameters(function)
        if known is not None and not named.keys() <= known:
            _check_words(function, known, tuple(named))
        read_arguments: list[Any] = list(arguments)
        count = len(read_arguments)
        for place, name, exact_kinds, read, takes_all in parameters:
            if place < count:
                for at in range(place, count) if takes_all else (place,):
                    if type(read_arguments[at]) not in exact_kinds:
                        read_arguments[at] = read(read_arguments[at], name)
            elif name in named and type(named[name]) not in exact_kinds:
                named[name] = read(named[name], name)
        try:
            return function(*read_arguments, **named)
        except MemoryError:
            name = function.__name__
            raise Unsupported(
                "what is asked for must fit the memory", where=name, remedy="Ask for a smaller one."
            ) from None

    if signature is not None:
        checked_call.__dict__["__signature__"] = signature
    return checked_call


def spelled(function: Callable[P, R]) -> Callable[P, R]:
    """The function, with the shared words that it takes in its signature; any other is refused with the nearest name.

    Raises:
        TypeError: for a word that is none of them.
    """
    signature = _spelled(function)
    assert signature is not None, "it takes shared words"
    known = _names_of(signature) or frozenset()

    @wraps(function)
    def spelled_call(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            _check_words(function, known, tuple(named))
            return function(*arguments, **named)
        finally:
            del arguments, named  # among them may be a key, which no frame of an error may show

    spelled_call.__dict__["__signature__"] = signature
    return spelled_call


def named(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which refuses a word that is no parameter of it with the nearest that is, as `checked` does.

    Raises:
        TypeError: for a word that is no parameter.

    >>> @named
    ... def half(number): ...
    >>> half(nunber=1)
    Traceback (most recent call last):
    TypeError: half() got an unexpected keyword argument 'nunber'. Did you mean 'number'?
    """
    code = inspect.unwrap(function).__code__
    known = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])

    @wraps(function)
    def named_call(*arguments: P.args, **words: P.kwargs) -> R:
        try:
            if not words.keys() <= known:
                _check_words(function, known, tuple(words))
            return function(*arguments, **words)
        finally:
            del arguments, words  # among them may be a token, which no frame of an error may show

    return named_call


def checked_parts(kind: type[R]) -> type[R]:
    """The class, behind the same checked_call: a frozen value whose parts are of the kinds that it is declared with.

    >>> from dataclasses import dataclass
    >>> @checked_parts
    ... @dataclass(frozen=True)
    ... class Side:
    ...     length: int
    >>> Side("x")
    Traceback (most recent call last):
    utmost.errors.NotANumber: length must be a finite number; got x...
    """
    # A subclass would have another name and other fields.
    kind.__init__ = checked(kind.__init__)  # type: ignore[method-assign]  # of the very class
    return kind


class _Parameter(NamedTuple):
    """A parameter with a reader: its place (beyond every call for a keyword), the types of which every value passes as
    it came, without the reader, and whether it takes all arguments that follow.
    """

    place: int
    name: str
    exact_kinds: frozenset[type]
    read: _Reader
    takes_all: bool


def _parameters(function: Callable[..., Any]) -> list[_Parameter]:
    """The parameters that have a reader."""
    taken = {
        name: kind for name, kind in function.__annotations__.items() if name != "return"
    }  # which may be unread yet
    hints = typing.get_type_hints(types.SimpleNamespace(__annotations__=taken), inspect.unwrap(function).__globals__)
    words = _shared_words(function)
    hints |= {} if words is None else typing.get_type_hints(words)
    readable = []
    for place, parameter in enumerate((_spelled(function) or inspect.signature(function)).parameters.values()):
        if parameter.kind is parameter.VAR_KEYWORD or parameter.name not in hints:
            continue
        hint = hints[parameter.name]
        read = _reader(hint)
        if read is not None:
            at = place if parameter.kind is not parameter.KEYWORD_ONLY else _NO_PLACE
            takes_all = parameter.kind is parameter.VAR_POSITIONAL
            readable.append(_Parameter(at, parameter.name, _exact_kinds(hint), read, takes_all))
    return readable


def _shared_words(function: Callable[..., Any]) -> type | None:
    """The words that ``**words: Unpack[SomeWords]`` of a function stands for."""
    for kind in inspect.unwrap(function).__annotations__.values():
        if typing.get_origin(kind) is typing.Unpack:
            words: type = typing.get_args(kind)[0]
            return words
    return None


def _spelled(function: Callable[..., Any]) -> inspect.Signature | None:
    """The signature with shared words one by one, for whoever asks what a function takes; None where it has none."""
    words = _shared_words(function)
    if words is None:
        return None
    signature = inspect.signature(function)
    own = [parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_LEFT_OUT, annotation=kind)
        for name, kind in words.__annotations__.items()
    ]
    return signature.replace(parameters=[*own, *shared])


def _names_of(signature: inspect.Signature) -> frozenset[str] | None:
    """The names by which a function takes arguments; None where it takes any."""
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature.parameters.values()):
        return None
    return frozenset(signature.parameters)


def _check_words(function: Callable[..., Any], known: frozenset[str], words: tuple[str, ...]) -> None:
    for word in words:  # without what came by them: among that may be a key
        if word not in known:
            near = get_close_matches(word, known - {"self", "cls"}, 1)
            name = function.__qualname__.removesuffix(".__init__")
            remedy = f". Did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{name}() got an unexpected keyword argument {word!r}{remedy}")


def _exact_kinds(hint: Any) -> frozenset[type]:
    """The types that a reader leaves as they came: the classes of an annotation without elements, paths and floats."""
    kinds = _kinds(hint)
    if Path in kinds:
        return frozenset()
    return frozenset(kind for kind in kinds if inspect.isclass(kind) and kind is not float and not _is_protocol(kind))


def _kinds(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (Union, types.UnionType) else (hint,)


def _is_protocol(kind: type) -> bool:
    return bool(getattr(kind, "_is_protocol", False))


def _reader(hint: Any) -> _Reader | None:
    """The reader of an annotation; None where anything may come."""
    kinds = _kinds(hint)
    if any(_is_free(kind) for kind in kinds) or {int, float} <= {*kinds}:
        return None
    if Path in kinds:
        return _optional(_path, kinds)
    if len(kinds) == 1 or (len(kinds) == 2 and type(None) in kinds):
        single = {int: integer, float: real, bool: truth}.get(next(k for k in kinds if k is not type(None)))
        if single is not None:
            return _optional(single, kinds)
    accepts = [_accepts(kind) for kind in kinds if kind is not type(None)]
    wanted = " or ".join(dict.fromkeys(text for _, text in accepts))
    element = _element(kinds)

    def read(value: Any, name: str) -> Any:
        if value is None and type(None) in kinds:
            return value
        for accept, _ in accepts:
            if accept(value):
                break
        else:
            raise wrong_kind(name, wanted, value)
        if element is not None and not isinstance(value, str):
            _check_elements(value, element, name)
        return value

    return read


def _element(kinds: tuple[Any, ...]) -> _Reader | None:
    """The reader of each element, where the annotation is a sequence of nouns, of text or of integers."""
    for kind in kinds:
        if typing.get_origin(kind) in (collections.abc.Sequence, collections.abc.Collection, collections.abc.Iterable):
            (inside,) = typing.get_args(kind) or (Any,)
            return label if inside is collections.abc.Hashable else _reader(inside)
    return None


def _check_elements(value: Any, read: _Reader, name: str) -> None:
    """Read each element of what has a length; arrays of integers are sure to hold such."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu" and read in (integer, real, label):
        return
    if not hasattr(value, "__len__"):
        return
    if size_of(value, name) > MOST_ELEMENTS:
        raise OutOfRange(f"{name} must have at most {MOST_ELEMENTS} elements", came="more")
    where = f"every element of {name}"
    for element in value:
        read(element, where)


def _is_free(kind: Any) -> bool:
    """Whether the function reads such an argument itself: anything, a number, an array, a cost or a loss."""
    if kind in (Any, object) or isinstance(kind, TypeVar) or kind in (Fraction, Decimal, complex):
        return True
    return typing.get_origin(kind) in (np.ndarray, collections.abc.Callable)


def _optional(read: _Reader, kinds: tuple[Any, ...]) -> _Reader:
    if type(None) not in kinds:
        return read
    return lambda value, name: None if value is None else read(value, name)


def _accepts(kind: Any) -> tuple[Callable[[Any], bool], str]:
    """Whether a value is of a kind, and the kind in words."""
    origin = typing.get_origin(kind) or kind
    if origin is Literal:
        return (lambda value: isinstance(value, str)), "text"
    if origin in _CONTAINERS:
        methods, words = _CONTAINERS[origin]
        letters = (
            bool({collections.abc.Hashable, Any, object} & {*typing.get_args(kind)})
            and origin is not collections.abc.Mapping
        )
        return (lambda value: _has(value, methods) or (letters and isinstance(value, str))), words
    if origin in (tuple, list, dict, set, bytes, str, bool, slice):
        words = {str: "text", bool: "True or False", bytes: "bytes"}.get(origin, f"a {origin.__name__}")
        return (lambda value: isinstance(value, origin)), words
    if origin is int:
        return is_integer, "an integer"
    if inspect.isclass(origin) and not _is_protocol(origin):
        article = "an" if origin.__name__[0] in "AEIOU" else "a"
        return (lambda value: isinstance(value, origin)), f"{article} {origin.__name__}"
    if inspect.isclass(origin):
        names = tuple(sorted(typing.get_type_hints(origin) | _members(origin)))
        return (lambda value: _has(value, names)), f"a {origin.__name__}"
    return (lambda value: True), str(kind)


def _members(protocol: type) -> dict[str, Any]:
    return {name: None for name, value in vars(protocol).items() if callable(value) and name not in _PLAIN}


_PLAIN = {
    *vars(typing.Protocol),
    *vars(object),
    "__init__",
    "__subclasshook__",
    "__parameters__",
    "__abstractmethods__",
}


def _has(value: Any, methods: tuple[str, ...]) -> bool:
    if isinstance(value, (type, str, bytes)) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return False
    for method in methods:  # noqa: SIM110
        if not hasattr(value, method):
            return False
    return True


def _path(value: Any, name: str) -> Any:
    """A path, left as it came; ``True`` and ``False`` and bytes pass where the annotation has them."""
    if isinstance(value, bool | bytes):
        return value
    return path(value, name)
