"""Round amounts of events to whole steps: the exact value is rounded to the nearest step, and a tie to the even step.

A float has its binary value, and text and Decimals have their decimal values. So a column of floats and a column of the
decimals that they print can differ if a decimal lies halfway between two steps. No number is rounded twice: float
arithmetic is used only where its rounding cannot change the result, and all other numbers are rounded as rationals.
"""

from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import largest_size
from utmost.core.privacy.amount import Amount
from utmost.tables.cells.cell_values import is_masked_array
from utmost.tables.cells.columns import AMOUNT_STEP, is_missing, number_cells, real_column
from utmost.tables.cells.spelling import PLAIN_SPELLING, Spelling

_FITS = 1 << 62
_LONGEST = 4000  # largest exponent, in size, of a decimal that is rounded as integers
_EXACT = 1 << 53
_SURE = 2.0**-50
"""An upper bound of the relative error of a quotient of floats, which is at most 2^-51."""


def rounded_amounts(
    column: Any,
    name: str,
    before: int,
    amount: Amount,
    spelling: Spelling = PLAIN_SPELLING,
    known: dict[str, Any] | None = None,
) -> NDArray[Any]:
    """Read a column of amounts, rounded to numbers of steps: int64 or Python ints; ``before`` counts earlier rows."""
    cells, step = _plain(number_cells(column, spelling, known), amount.step)
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "iu" and not is_masked_array(cells):
        over, under = step.denominator, step.numerator
        if largest_size(cells) * over >= _FITS or under >= _FITS:
            return _packed(round(Fraction(number * over, under)) for number in cells.tolist())
        whole, rest = np.divmod(cells.astype(np.int64) * over, under)
        is_over = (2 * rest > under) | ((2 * rest == under) & (whole % 2 == 1))
        return np.asarray(whole + is_over, dtype=np.int64)
    # The distinct cells of a list of integers and decimals, since amounts of money have few; None for other columns.
    is_listed = isinstance(cells, list) and set(map(type, cells)) <= {int, Decimal}
    few: Iterable[int | Decimal] | None = None
    if is_listed:
        with suppress(TypeError):  # a signalling NaN has no hash
            few = dict.fromkeys(cells)
    if few is not None and all(
        isinstance(cell, int) or (cell.is_finite() and abs(cell.adjusted()) <= _LONGEST) for cell in few
    ):
        steps = {cell: _nearest(*cell.as_integer_ratio(), step) for cell in few}
        fits = all(abs(whole) < _FITS for whole in steps.values())
        return np.array(list(map(steps.__getitem__, cells)), dtype=np.int64 if fits else object)
    read = real_column(cells, name, lambda row: f"row {before + row + 1}", not_whole=AMOUNT_STEP)
    return _binary(read, step) if read.dtype.kind == "f" else _packed(round(number / step) for number in read)


def _nearest(numerator: int, denominator: int, step: Fraction) -> int:
    """Round a rational number to a whole number of steps, half to even."""
    above, below = numerator * step.denominator, denominator * step.numerator
    steps, rest = divmod(above, below)
    return steps + (2 * rest > below or (2 * rest == below and steps % 2 == 1))


def without_missing(
    column: Any, spelling: Spelling = PLAIN_SPELLING, known: dict[str, Any] | None = None
) -> tuple[Any, NDArray[np.bool_]]:
    """Replace missing amounts by 0; return the column and a mask of the missing amounts."""
    cells = number_cells(column, spelling, known)
    if hasattr(cells, "dictionary_encode"):
        import pyarrow.types as kinds

        if not (kinds.is_floating(cells.type) or cells.null_count):
            return cells, np.zeros(len(cells), dtype=bool)
        cells = cells.to_pylist()
    if is_masked_array(cells):
        gone = np.ma.getmaskarray(cells)
        cells = np.ma.filled(cells, 0)
    elif isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf":
        gone = np.isnan(cells) if cells.dtype.kind == "f" else np.zeros(len(cells), dtype=bool)
        return (np.where(gone, 0, cells) if gone.any() else cells), gone
    else:
        gone = np.zeros(len(cells), dtype=bool)
    gone = gone | np.fromiter(map(is_missing, cells), dtype=bool, count=len(cells))
    if not gone.any():
        return cells, gone
    return [0 if missing else cell for cell, missing in zip(cells, gone.tolist(), strict=True)], gone


def _plain(column: Any, step: Fraction) -> tuple[Any, Fraction]:
    """Return the cells as machine numbers if that changes no number, and the step in the unit of the returned cells."""
    if not hasattr(column, "dictionary_encode"):
        if isinstance(column, np.ndarray) and column.dtype.kind == "f" and not is_masked_array(column):
            return (
                column.astype(np.float64) if column.dtype.itemsize <= np.dtype(float).itemsize else column.tolist()
            ), step
        return column, step
    import pyarrow.types as kinds

    if column.null_count == 0 and (kinds.is_integer(column.type) or kinds.is_floating(column.type)):
        numbers = np.asarray(column.to_numpy(zero_copy_only=False))
        return (numbers.astype(np.float64) if kinds.is_floating(column.type) else numbers), step
    if column.null_count == 0 and kinds.is_decimal128(column.type) and len(column):
        # The numbers are returned in units of their last decimal place, if 64 bits suffice.
        whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        pieces = whole.chunks if hasattr(whole, "chunks") else [whole]
        words = [np.frombuffer(part.buffers()[1], "<i8").reshape(-1, 2)[part.offset :][: len(part)] for part in pieces]
        low, high = np.concatenate(words).T
        if bool((high == low >> 63).all()):
            return low.copy(), step * Fraction(10) ** column.type.scale
    return column.to_pylist(), step


def _binary(numbers: NDArray[np.float64], step: Fraction) -> NDArray[Any]:
    """Round floats to steps, half to even: by a quotient of floats, or as rationals if the quotient may be halfway."""
    over, under = step.denominator, step.numerator
    if max(over, under) >= _EXACT:
        return _packed(round(Fraction(number) / step) for number in numbers.tolist())
    with np.errstate(over="ignore", under="ignore"):
        quotients = numbers * over / under
    nearest = np.rint(quotients)
    size = np.abs(quotients)
    is_sure = np.abs(np.abs(quotients - nearest) - 0.5) > size * _SURE + _SURE
    doubtful = np.flatnonzero(~is_sure | ~(size < _EXACT / 8))
    if not len(doubtful):
        return nearest.astype(np.int64)
    steps = [round(Fraction(float(numbers[row])) / step) for row in doubtful.tolist()]
    fits = all(abs(whole) < _FITS for whole in steps)
    # These numbers of steps may exceed int64, so they are inserted after the conversion.
    nearest[doubtful] = 0
    rounded: NDArray[Any] = nearest.astype(np.int64).astype(np.int64 if fits else object)
    rounded[doubtful] = steps
    return rounded


def _packed(integers: Iterable[int]) -> NDArray[Any]:
    listed = list(integers)
    fits = all(abs(integer) < _FITS for integer in listed)
    return np.array(listed, dtype=np.int64 if fits else object)
