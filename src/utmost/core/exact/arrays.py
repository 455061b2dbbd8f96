"""Arrays in one of two kinds of numbers: float64, or objects that are all `Fraction`."""

from collections.abc import Callable, Iterable
from dataclasses import Field, fields
from decimal import Decimal
from fractions import Fraction
from functools import wraps
from numbers import Real
from typing import Any, ClassVar, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import MOST_ELEMENTS, size_of, wrong_kind
from utmost.core.exact.numbers import exact
from utmost.errors import NotANumber, OutOfRange, UtmostError, WrongKind, quoted

P = ParamSpec("P")
R = TypeVar("R")

Array = NDArray[Any]
"""A read-only array in one of the two kinds of numbers: dtype float64, or dtype object with a `Fraction` in every
entry."""

Floats = NDArray[np.float64]

Indices = NDArray[np.intp]

# To make a Fraction takes ten times as long as to look it up, and losses and distances are full of small integers.
_SMALL = tuple(Fraction(k) for k in range(1025))


def as_array(values: object, name: str = "array", ndim: int | None = None) -> Array:
    """A read-only copy of ``values``, either in float64 or in exact numbers.

    The copy is exact if every entry is an integer, a Fraction, a Decimal, or text such as "1/2". One float makes the
    whole array float64: a rounded number cannot give an exact result.

    Args:
        values: Anything that NumPy reads as an array of numbers.
        name: Name of the array, for messages.
        ndim: Number of dimensions that the array must have.

    Raises:
        NotANumber: if an entry is a boolean, NaN, infinite, None or of another type (the message names its position),
            if a list is ragged, or if the array does not have ``ndim`` dimensions.

    >>> as_array([1, "1/2"]).tolist(), as_array([1, 0.5]).tolist()
    ([Fraction(1, 1), Fraction(1, 2)], [1.0, 0.5])
    """
    raw = plain_array(values, name)
    if raw.dtype.kind in "bfU" and not isinstance(values, np.ndarray):
        raw = np.asarray(values, dtype=object)  # NumPy reads [True, 0.5] as floats and [0.5, "1/2"] as text
    if raw.dtype == object and not _holds_only_fractions(raw):
        for x in raw.flat:
            if isinstance(x, Iterable) and not isinstance(x, str):
                raise NotANumber(f"the {name} must be a rectangular array of numbers", came=values)
    if ndim is not None and raw.ndim != ndim:
        raise NotANumber(f"the {name} must have {ndim} dimension{'s' * (ndim > 1)}", came=f"shape {raw.shape}")
    if raw.size == 0:
        return frozen(np.empty(raw.shape, dtype=object))
    if raw.dtype.kind in "iu":
        return frozen(fractions(raw))
    if raw.dtype.kind == "f" and raw.dtype.itemsize <= 8:
        array = raw.astype(np.float64)
    elif raw.dtype == object and _holds_only_fractions(raw):
        array = raw.copy()
    elif raw.dtype.kind in "OUT":
        has_float = any(isinstance(x, float | np.floating) for x in raw.flat)
        array = np.empty(raw.shape, dtype=np.float64 if has_float else object)
        for position, x in np.ndenumerate(raw.astype(object)):
            try:
                array[position] = x if isinstance(x, float | np.floating) else exact(x)
            except NotANumber as error:
                raise NotANumber(_at(name, position), came=quoted(x), remedy=error.remedy) from None
            except OverflowError:
                remedy = "Pass the floats as fractions or text: one float makes all entries floats."
                raise NotANumber(
                    f"the {name} must hold numbers that a float can hold", came="a larger one", remedy=remedy
                ) from None
    else:
        raise NotANumber(f"the {name} must hold numbers", came=f"dtype {raw.dtype}")
    if not is_exact(array):
        for bad in np.argwhere(~np.isfinite(array))[:1]:
            position = tuple(bad.tolist())
            raise NotANumber(_at(name, position), came=float(array[position]))
    return frozen(array)


def plain_array(values: object, name: str = "array") -> NDArray[Any]:
    """The values as a NumPy array of any dtype.

    Raises:
        NotANumber: if a list is ragged or too deeply nested, if there are more than 10^8 entries, or if NumPy cannot
            convert the values.

    >>> plain_array([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    if not isinstance(values, np.ndarray) and hasattr(values, "__len__") and size_of(values, name) > MOST_ELEMENTS:
        raise NotANumber(f"the {name} must have at most {MOST_ELEMENTS} entries", came="more")
    try:
        return np.asarray(values)
    except Exception:  # NumPy passes on any error of the conversion of a value
        raise NotANumber(f"the {name} must be a rectangular array of numbers", came=type(values).__name__) from None


def check_array(value: object, name: str, ndim: int) -> None:
    """Check that a value is a NumPy array of numbers with ``ndim`` dimensions. A list is refused.

    Raises:
        WrongKind: if the value is not an array.
        NotANumber: if the array does not have ``ndim`` dimensions, or has entries that are not numbers.

    >>> check_array(np.eye(2), "matrix", 2)
    """
    if not isinstance(value, np.ndarray):
        raise wrong_kind(name, "an array", value)
    if value.ndim != ndim or value.dtype.kind not in "iufO":
        came = f"shape {value.shape}, dtype {value.dtype}"
        raise NotANumber(f"the {name} must be an array of numbers with {ndim} dimension{'s' * (ndim > 1)}", came=came)


def check_numbers(value: object, name: str) -> None:
    if isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        return
    array = plain_array(value, name)
    numbers = array.dtype == object and all(isinstance(x, Real | Decimal) for x in array.flat)
    if not (numbers or array.dtype.kind in "iuf") or not isinstance(value, np.ndarray | Real | Decimal):
        raise NotANumber(f"the {name} must be a number, or an array of numbers", came=type(value).__name__)


def indices(values: object, size: int, name: str) -> NDArray[Any]:
    """Read indices in 0..size-1 as an integer array of the same shape.

    >>> indices([2, 0], 3, "rows")
    array([2, 0])
    """
    places = plain_array(values, name)
    if places.size == 0 and places.dtype.kind in "iuf":
        places = places.astype(np.int64)
    if places.dtype.kind not in "iu" or (places.size and (places.min() < 0 or places.max() >= size)):
        raise OutOfRange(f"{name} must be integers in 0..{size - 1}", came="other numbers")
    return places


def is_exact(array: Array) -> bool:
    """Whether the array contains exact numbers, which have the dtype object."""
    return bool(array.dtype == object)


def to_floats(array: Array) -> NDArray[np.float64]:
    """The array in float64: every entry is rounded to the nearest float.

    >>> to_floats(as_array(["1/3"])).tolist()
    [0.3333333333333333]
    """
    return frozen(array.astype(np.float64))


def fractions(integers: Array) -> Array:
    """The entries of an integer array as Fractions, in the same shape."""
    numbers = integers.ravel().tolist()
    return objects(
        (_SMALL[k] if type(k) is int and 0 <= k < len(_SMALL) else Fraction(k) for k in numbers), integers.shape
    )


def objects(values: Iterable[Any], shape: int | tuple[int, ...] = -1) -> Array:
    """An object array of the values as they are. `np.array` would unpack lists and convert integers to int64.

    Args:
        values: Entries in row-major order.
        shape: Shape of the array; by default one dimension.

    >>> objects([1 << 70, Fraction(1, 2)]).dtype, objects([1, 2, 3, 4], (2, 2)).tolist()
    (dtype('O'), [[1, 2], [3, 4]])
    """
    entries = list(values)
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(shape)


def plain_cells(column: Any) -> list[Any]:
    """The cells of an array, a list or a series as Python objects."""
    cells: list[Any] = column.tolist() if isinstance(column, np.ndarray) else list(column)
    return cells


def rationals(pairs: Iterable[tuple[Any, Any]], shape: int | tuple[int, ...] = -1) -> Array:
    fractions: dict[tuple[int, int], Fraction] = {}
    entries = []
    for above, below in pairs:
        pair = int(above), int(below)
        if pair not in fractions:
            fractions[pair] = Fraction(*pair)
        entries.append(fractions[pair])
    return objects(entries, shape)


def as_rationals(array: Array) -> Array:
    """The entries as Fractions. A float becomes the rational that it equals.

    >>> as_rationals(np.array([0.5])).tolist()
    [Fraction(1, 2)]
    """
    return array if is_exact(array) else objects(map(Fraction, array.ravel().tolist()), array.shape)


def largest_size(integers: Array) -> int:
    """The largest absolute value of an integer array as a Python integer; 0 for an empty array."""
    return max(int(integers.max(initial=0)), -int(integers.min(initial=0)))


def with_room_for(integers: Array, times: int) -> Array:
    """The array as int64 if each entry, multiplied by ``times``, fits into int64 with one bit to spare; else as Python
    integers.
    """
    return integers.astype(np.int64 if largest_size(integers) * times < 1 << 62 else object, copy=False)


def unpickler(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function that unpickles a value, so that a pickle with wrong fields raises `WrongKind`."""

    @wraps(function)
    def rebuilt(*parts: P.args, **named: P.kwargs) -> R:
        try:
            return function(*parts, **named)
        except UtmostError:
            raise
        except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
            required = "a pickle must hold the fields of its value"
            raise WrongKind(required, came=type(error).__name__, where=function.__module__) from None

    return rebuilt


class PickledByFields:
    """A dataclass that is copied and unpickled by its constructor, which checks its fields and freezes its arrays."""

    __slots__ = ()

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))


def same_numbers(*arrays: Array) -> tuple[Array, ...]:
    """The arrays in one kind of numbers: exact if all of them are exact, else float64."""
    if all(is_exact(array) for array in arrays):
        return arrays
    return tuple(to_floats(array) if is_exact(array) else array for array in arrays)


def frozen(array: Array) -> Array:
    """Make an array read-only, and return it."""
    array.setflags(write=False)
    return array


def _holds_only_fractions(raw: Array) -> bool:
    return set(map(type, raw.flat)) <= {Fraction}


def _at(name: str, position: tuple[int, ...]) -> str:
    place = ", ".join(map(str, position))
    return f"entry [{place}] of the {name} must be a finite number" if position else f"{name} must be a finite number"


def as_integers(values: Any) -> tuple[Array, int]:
    """Write rationals as integers over their least common denominator: values = integers / denominator."""
    flat = [Fraction(v) for v in np.asarray(values, dtype=object).ravel()]
    denominator = int(np.lcm.reduce(np.array([v.denominator for v in flat] or [1], dtype=object)))
    integers = np.array([v.numerator * (denominator // v.denominator) for v in flat], dtype=object)
    return frozen(integers.reshape(np.shape(values))), denominator
