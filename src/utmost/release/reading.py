"""Reading the numbers that are to be released: every one of them, before anything is drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import NotANumber
from utmost.exact import exact
from utmost.sampling.draw import CHUNK
from utmost.sampling.grid import snapped
from utmost.sampling.wide import Integers, narrowed

_NO_INTEGER = "a law on the integers takes integers"
_NO_NUMBER = "a value must be a finite number"
_USE_REALS = "For real values use Laplace or Staircase; if they are whole, convert them to integers."
_REPLACE = "Drop or replace it before the release."


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Values that have been read.

    Attributes:
        size: how many there are.
        integers: from start and stop to the values in between, as integers: themselves, or on the grid.
        shape: of what came; None for a bare number.
    """

    size: int
    integers: Callable[[int, int], Integers]
    shape: tuple[int, ...] | None


def integer_cells(values: Any) -> Cells:
    """The values for a law on the integers.

    Raises:
        NotANumber: naming the first value that is no integer.
    """
    flat, shape = _flat(values)
    kind = flat.dtype.kind
    if kind == "O":
        flat = narrowed(_each(flat, shape, _integer))
    elif kind == "u":
        wide = object if flat.max(initial=0) >= 1 << 63 else np.int64
        return Cells(flat.size, lambda start, stop: flat[start:stop].astype(wide), shape)
    elif kind == "f" and flat.size:
        raise _refusal(
            flat, int(np.argmin(np.isfinite(flat) & (flat == np.floor(flat)))), shape, _NO_INTEGER, _USE_REALS
        )
    elif kind != "i" and flat.size:
        raise _refusal(flat, 0, shape, _NO_INTEGER, None)
    return Cells(flat.size, lambda start, stop: flat[start:stop], shape)


def real_cells(values: Any, exponent: int) -> Cells:
    """The values for a law on the reals, as integers on the grid of width 2^-exponent.

    Floats, integers, Fractions and Decimals are each taken for exactly the number that they are.

    Raises:
        NotANumber: naming the first value that is no finite number.
    """
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
    return Cells(flat.size, lambda start, stop: snapped(flat[start:stop], exponent), shape)


def _flat(values: Any) -> tuple[NDArray[Any], tuple[int, ...] | None]:
    """The values in a row, and their shape. Lists become machine numbers only where that changes nothing."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        place = int(np.flatnonzero(np.ma.getmaskarray(values))[0])
        raise NotANumber(
            "a value must not be masked", where=_where(place, values.shape), mend="Fill or drop masked values first."
        )
    if not isinstance(values, list | tuple):
        array = np.asarray(values)
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
            raise _refusal(flat, place, shape, error.required, error.mend) from None
    return numbers


def _integer(value: Any) -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    raise NotANumber(
        _NO_INTEGER, mend=_USE_REALS if isinstance(value, float | np.floating | Fraction | Decimal) else None
    )


def _real(value: Any) -> Any:
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, float | np.floating) and np.isfinite(value):
        return value
    if isinstance(value, Fraction | Decimal):
        return exact(value)
    raise NotANumber(_NO_NUMBER, mend=_REPLACE)


def _refusal(
    flat: NDArray[Any], place: int, shape: tuple[int, ...] | None, required: str, mend: str | None
) -> NotANumber:
    value = flat[place]
    came = value.item() if isinstance(value, np.generic) else value
    return NotANumber(required, came=repr(came), where=_where(place, shape), mend=mend)


def _where(place: int, shape: tuple[int, ...] | None) -> str:
    if not shape:
        return "values"
    return f"values[{', '.join(str(i) for i in np.unravel_index(place, shape))}]"
