"""Read and check all values of a release before any noise is drawn.

The type does not matter: 3, 3.0 and Decimal(3) are the same value in a release. An error names the position and the
kind of an invalid value, but never the value.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import is_integer
from utmost.core.exact.arrays import plain_array
from utmost.core.exact.numbers import exact
from utmost.core.sampling.draw import CHUNK
from utmost.core.sampling.grid import snapped
from utmost.core.sampling.integers import Integers, narrowed
from utmost.errors import NotANumber

_NO_INTEGER = "a release on the integers needs integer values"
_NO_NUMBER = "a value must be a finite number"
_USE_REALS = 'For real values pass numbers="reals", or Laplace or Staircase noise.'
_EXACT = 2.0**62
_REPLACE = "Drop or replace this value before the release."


@dataclass(frozen=True, slots=True, eq=False)
class CellValues:
    """The values of a release after they were read and checked."""

    size: int
    # Function from (start, stop) to values[start:stop] as integers (for reals: grid steps).
    integers: Callable[[int, int], Integers]
    shape: tuple[int, ...] | None  # shape of the input; None for a single number


def integer_cells(values: Any) -> CellValues:
    """Read values for a release on the integers. Floats, Decimals and Fractions are allowed if they are integers."""
    flat, shape = _flat(values)
    kind = flat.dtype.kind
    if kind == "O":
        flat = narrowed(_each(flat, shape, _integer))
    elif kind == "u":
        wide = object if flat.max(initial=0) >= 1 << 63 else np.int64
        return CellValues(flat.size, lambda start, stop: flat[start:stop].astype(wide), shape)
    elif kind == "f":
        bad = np.flatnonzero(~np.isfinite(flat) | (flat != np.floor(flat)))
        if bad.size:
            raise _refusal(flat, int(bad[0]), shape, _NO_INTEGER, _USE_REALS)
        fits = np.all(np.abs(flat) < _EXACT)
        flat = flat.astype(np.int64) if fits else narrowed(_each(flat, shape, _integer))
    elif kind != "i" and flat.size:
        raise _refusal(flat, 0, shape, _NO_INTEGER, None)
    return CellValues(flat.size, lambda start, stop: flat[start:stop], shape)


def real_cells(values: Any, exponent: int) -> CellValues:
    """Read values for a release on the reals, exactly, as integers on the grid of width 2^-exponent."""
    flat, shape = read_reals(values)
    return CellValues(flat.size, lambda start, stop: snapped(flat[start:stop], exponent), shape)


def column_cells(column: NDArray[Any], exponent: int | None) -> CellValues:
    """Return the cells of a column that was read: integers, or reals on the grid of width 2^-exponent."""
    if exponent is None:
        return CellValues(column.size, lambda start, stop: column[start:stop], column.shape)
    return CellValues(column.size, lambda start, stop: snapped(column[start:stop], exponent), column.shape)


def read_reals(values: Any) -> tuple[NDArray[Any], tuple[int, ...] | None]:
    """Return real values exactly in one row, and the shape of the input (None for a single number)."""
    flat, shape = _flat(values)
    kind = flat.dtype.kind
    if kind == "O":
        flat = _each(flat, shape, _real)
    elif kind == "f":
        for start in range(0, flat.size, CHUNK):
            bad = np.flatnonzero(~np.isfinite(flat[start : start + CHUNK]))
            if bad.size:
                raise _refusal(flat, start + int(bad[0]), shape, _NO_NUMBER, _REPLACE)
    elif kind not in "iu" and flat.size:
        raise _refusal(flat, 0, shape, _NO_NUMBER, None)
    return flat, shape


def is_masked_array(values: Any) -> bool:
    # If the caller has a masked array, numpy.ma is already imported. It is not imported for other callers.
    return "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray)


def _flat(values: Any) -> tuple[NDArray[Any], tuple[int, ...] | None]:
    """Return the values in one row, and their shape. A list becomes float64 only if all its values are floats."""
    if is_masked_array(values) and np.ma.is_masked(values):
        place = int(np.flatnonzero(np.ma.getmaskarray(values))[0])
        raise NotANumber(
            "a value must not be masked",
            where=where_is(place, values.shape),
            remedy="Fill or drop masked values first.",
        )
    if not isinstance(values, list | tuple):
        array = plain_array(values, "values")
        return array.reshape(-1), None if array.ndim == 0 and not isinstance(values, np.ndarray) else array.shape
    try:
        array = np.array(values, dtype=object)
    except ValueError:
        raise NotANumber("nested lists must have one shape", where="values") from None
    flat = array.reshape(-1)
    return (flat.astype(np.float64) if set(map(type, flat)) == {float} else flat), array.shape


def _each(flat: NDArray[Any], shape: tuple[int, ...] | None, read: Callable[[Any], Any]) -> NDArray[Any]:
    numbers = np.empty(flat.size, object)
    for place, value in enumerate(flat):
        try:
            numbers[place] = read(value)
        except NotANumber as error:
            raise _refusal(flat, place, shape, error.required, error.remedy) from None
    return numbers


def _integer(value: Any) -> int:
    if is_integer(value):
        return int(value)
    if isinstance(value, float | np.floating | Fraction | Decimal):
        number = exactly(value)
        if number is not None and number.denominator == 1:
            return number.numerator
        raise NotANumber(_NO_INTEGER, remedy=_REPLACE if number is None else _USE_REALS)
    raise NotANumber(_NO_INTEGER)


def exactly(value: Any) -> Fraction | None:
    """The exact number that a float (its binary value), a Decimal or a rational denotes, or None for any other value.

    >>> exactly(0.5), exactly(Decimal("0.1")), exactly(float("nan")), exactly(Decimal("1e99999999"))
    (Fraction(1, 2), Fraction(1, 10), None, None)
    """
    try:
        return exact(value) if isinstance(value, Decimal) else Fraction(*map(int, value.as_integer_ratio()))
    except (NotANumber, ValueError, OverflowError):
        return None


def _real(value: Any) -> Any:
    if is_integer(value):
        return int(value)
    if isinstance(value, float | np.floating) and np.isfinite(value):
        return value
    number = exactly(value) if isinstance(value, Fraction | Decimal) else None
    if number is not None:
        return number
    raise NotANumber(_NO_NUMBER, remedy=_REPLACE)


def _refusal(
    flat: NDArray[Any], place: int, shape: tuple[int, ...] | None, required: str, remedy: str | None
) -> NotANumber:
    return NotANumber(required, came=kind_of(flat[place]), where=where_is(place, shape), remedy=remedy)


def kind_of(value: Any) -> str:
    """Describe the kind of a value that is no number. Messages show the kind, because they must not show confidential
    values.
    """
    if isinstance(value, bool | np.bool_):
        return "a truth value"
    if isinstance(value, str):
        return "text" if value.strip() else "nothing (a missing value)"
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return "nothing (a missing value)"
    if isinstance(value, float | np.floating | Decimal | Fraction):
        return "no finite number" if exactly(value) is None else "a number that is not whole"
    if isinstance(value, list | tuple | dict | np.ndarray):
        return "a nested cell (a list or a record)"
    return f"a {type(value).__name__}"


def where_is(place: int, shape: tuple[int, ...] | None) -> str:
    """Write the position of a value as in Python: "values[1, 0]"."""
    if not shape:
        return "values"
    return f"values[{', '.join(str(i) for i in np.unravel_index(place, shape))}]"
