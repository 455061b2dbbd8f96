"""Read the cells of a column as numbers for a release, or raise an error that names row and column.

An error names the kind of a cell, and never its content: cells and identifiers are confidential, and messages are
written to logs. Whether an error occurs also depends on the data, so only the curator may see errors.
"""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import objects
from utmost.errors import BadTable
from utmost.tables.cells.cell_values import exactly, is_masked_array, kind_of
from utmost.tables.cells.spelling import PLAIN_SPELLING, Spelling
from utmost.tables.frames.adapters import Column, check_column

RowName = Callable[[int], str]
"""A function from the position of a row to its name for users: "row 4 (line 5)"."""

_INT64 = np.iinfo(np.int64)
_MOST_WRITTEN = 13_952  # bits of an integer of 4 200 digits; Python prints at most 4 300
AMOUNT_STEP = 'Amounts with decimals are rounded to a step: add step="0.01".'
_REALS = 'Pass numbers="reals" for real values.'
SMALLER_UNIT = "Pass integers, in a smaller unit such as cents."


def integer_column(column: Column, name: str, place: RowName, *, not_whole: str | None = None) -> NDArray[Any]:
    """Read a column of integers, as int64 if all fit, else as Python ints. Floats and Decimals are allowed if they are
    integers.
    """

    def integer(cell: Any, row: int) -> int:
        if isinstance(cell, Integral) and not isinstance(cell, bool | np.bool_ | np.timedelta64):
            return int(cell)
        if isinstance(cell, float | np.floating | Decimal | Fraction):
            number = exactly(cell)
            if number is not None and number.denominator == 1:
                return number.numerator
        raise _refusal(cell, row, name, place, "an integer", not_whole)

    array = _plain(column, name, place)
    if array is not None and array.dtype.kind == "i":
        return array.astype(np.int64)
    cells = list(column) if array is None else array.tolist()
    if not set(map(type, cells)) <= {int}:
        cells = [integer(cell, row) for row, cell in enumerate(cells)]
    fits = not cells or (min(cells) >= _INT64.min and max(cells) <= _INT64.max)
    whole = np.array(cells, dtype=np.int64 if fits else object)
    for row, cell in enumerate(cells) if whole.dtype == object else ():
        if cell.bit_length() > _MOST_WRITTEN:
            raise _refusal(cell, row, name, place, "an integer of at most 4200 digits", not_whole)
    return whole


def real_column(column: Column, name: str, place: RowName, *, not_whole: str | None = None) -> NDArray[Any]:
    """Read a column of reals, as float64 if all are floats, else exactly as Fractions.

    >>> real_column([Decimal("0.1"), 2], "income", str).tolist()
    [Fraction(1, 10), Fraction(2, 1)]
    """

    def real(cell: Any, row: int) -> Fraction:  # NaN, infinities, truth values and text are refused
        if isinstance(cell, Rational | float | np.floating | Decimal) and not isinstance(cell, bool | np.timedelta64):
            number = (
                Fraction(int(cell.numerator), int(cell.denominator)) if isinstance(cell, Rational) else exactly(cell)
            )
            if number is not None:
                return number
        raise _refusal(cell, row, name, place, "a finite number", not_whole)

    array = _plain(column, name, place)
    if array is not None and array.dtype.kind == "f" and bool(np.isfinite(array).all()):
        return array.astype(np.float64)
    cells = column if array is None else array.tolist()
    if set(map(type, cells)) == {float}:
        floats = np.array(cells, dtype=np.float64)
        if bool(np.isfinite(floats).all()):
            return floats
    return objects(real(cell, row) for row, cell in enumerate(cells))


def check_distinct(column: Column, name: str, place: RowName) -> None:
    """Check that no identifier is missing, and that no two rows have the same identifier."""
    # This fast test suffices for most columns of integers and text.
    if is_plainly_there(column) and isinstance(column, np.ndarray):
        ascending = np.sort(column)
        if not (ascending[1:] == ascending[:-1]).any():
            return
    elif is_plainly_there(column) and len(set(column)) == len(column):
        return
    seen: dict[Any, int] = {}
    for row, key in enumerate(column.tolist() if isinstance(column, np.ndarray) else column):
        if is_missing(key) or not is_hashable(key):
            raise BadTable("every row must have an identifier", came=kind_of(key), where=_where(row, name, place))
        if key in seen:
            raise not_distinct(f"the one that is also in {place(seen[key])}", _where(row, name, place))
        seen[key] = row


def is_plainly_there(column: Column) -> bool:
    """Whether every cell is clearly an integer or nonblank text. Other cells may be identifiers, too."""
    if isinstance(column, np.ndarray):
        return column.dtype.kind in "iu" and column.ndim == 1 and not is_masked_array(column)
    kinds = set(map(type, column))
    return kinds == {int} or (kinds == {str} and all(map(str.strip, column)))


def not_distinct(came: str, where: str) -> BadTable:
    """Return the error for an identifier that occurs in two rows."""
    remedy = "Make one row for each group: an individual counted twice changes two cells."
    return BadTable("identifiers must be distinct", came=came, where=where, remedy=remedy)


def _plain(column: Any, name: str, place: RowName) -> NDArray[Any] | None:
    """Return the column if it is a one-dimensional NumPy array, or None for another sequence."""
    check_column(column, name)
    if not isinstance(column, np.ndarray):
        return None
    if column.ndim != 1:
        raise BadTable("a column must be one-dimensional", came=f"shape {column.shape}", where=f"column {name!r}")
    if is_masked_array(column) and (masked := np.ma.getmaskarray(column)).any():
        raise _refusal(None, int(masked.argmax()), name, place, "a number", None)
    return np.asarray(column)


def _refusal(cell: Any, row: int, name: str, place: RowName, wanted: str, not_whole: str | None) -> BadTable:
    # These are needed only for an error message.
    from utmost.tables.cells.odd_cells import POINTS_OF_THOUSANDS, declare_mark, odd_number

    came, remedy = kind_of(cell), "Correct the cell."
    if is_missing(cell):
        remedy = _FILL
    elif isinstance(cell, bool | np.bool_):
        remedy = "Count the individuals for whom it is true, and release the count."
    elif isinstance(cell, float | np.floating | Decimal | Fraction) and exactly(cell) is not None:
        # A number with three decimals often comes from a file in which 1234 is written as 1.234.
        is_grouped = isinstance(cell, Decimal) and cell.as_tuple().exponent == -3 and 1 <= abs(cell) < 1000
        remedy = not_whole or _REALS
        remedy += f" {POINTS_OF_THOUSANDS}" if is_grouped else ""
    elif isinstance(cell, str):
        came, remedy = ("text", _CAST) if PLAIN_SPELLING.number(cell) is not None else odd_number(cell, PLAIN_SPELLING)
        if declare_mark(came, PLAIN_SPELLING) is not None:
            remedy = _FILL
        elif not_whole is None and "spelling=" in remedy:
            remedy = f"{_CAST_OR_SPELL}{remedy}"
    return BadTable(f"the cell must be {wanted}", came=came, where=_where(row, name, place), remedy=remedy)


_CAST = "Make the column one of numbers."
_CAST_OR_SPELL = "Make the column one of numbers. If you count events: "
_FILL = "Fill it or drop the row: whether a value is missing is itself information about individuals."


def _where(row: int, name: str, place: RowName) -> str:
    return f"{place(row)}, column {name!r}"


def is_missing(cell: Any) -> bool:
    """Whether a cell is empty: None, blank text, NaN, or the missing values of pandas."""
    if isinstance(cell, str):
        return not cell.strip()
    if isinstance(cell, float | np.floating):
        return bool(cell != cell)
    if isinstance(cell, Decimal):
        return cell.is_nan()
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")


def is_hashable(cell: Any) -> bool:
    """Whether a cell is hashable. A tuple of lists is not hashable, although tuples are."""
    try:
        hash(cell)
    except TypeError:
        return False
    return True


_MOST_KNOWN = 1 << 18


def number_cells(column: Any, spelling: Spelling, known: dict[str, Any] | None = None) -> Any:
    """Replace each text that spells a number by the number, and each missing cell by None. Other cells stay unchanged.

    ``known`` contains the numbers of texts that were read in earlier batches, and is extended.

    >>> number_cells(["7", "1.234,5", "NA", 3], Spelling(",", ".", ("NA",)))
    [7, Decimal('1234.5'), None, 3]
    """
    if hasattr(column, "dictionary_encode"):
        import pyarrow.types as kinds

        kind = column.type.value_type if kinds.is_dictionary(column.type) else column.type
        is_number = kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind)
        # Tests whether some number of an Arrow column is a missing mark.
        if is_number and not (
            spelling.missing_numbers and any(is_marked(cell, spelling) for cell in column.unique().to_pylist())
        ):
            return column
        column = column.to_pylist()
    elif isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        marks = missing_floats(spelling)
        if not len(marks) or not np.isin(column, marks).any():
            return column
    if is_masked_array(column):
        return column
    cells = column.tolist() if isinstance(column, np.ndarray) else column
    kinds_of_cells = set(map(type, cells))
    if not spelling.missing_numbers and not any(issubclass(kind, str) for kind in kinds_of_cells):
        return column
    if kinds_of_cells == {str}:
        numbers = {} if known is None else known
        if len(numbers) > _MOST_KNOWN:
            numbers.clear()
        numbers.update((cell, spelling.cell(cell)) for cell in dict.fromkeys(cells) if cell not in numbers)
        return list(map(numbers.__getitem__, cells))
    texts: dict[str, Any] = {}
    read = []
    for cell in cells:
        if not isinstance(cell, str):
            read.append(None if is_marked(cell, spelling) else cell)
            continue
        if cell not in texts:
            texts[cell] = spelling.cell(cell)
        read.append(texts[cell])
    return read


def missing_floats(spelling: Spelling) -> NDArray[np.float64]:
    """The missing marks that are numbers, as floats."""
    return np.array([float(number) for number in spelling.missing_numbers], dtype=np.float64)


def is_marked(cell: Any, spelling: Spelling) -> bool:
    """Whether a text or a number is a declared missing mark. (`is_missing` tests for empty cells.)"""
    if isinstance(cell, str):
        return spelling.is_missing(cell)
    if spelling.missing_marks and isinstance(cell, int | float | Fraction | Decimal | np.integer | np.floating):
        number = exactly(cell)
        return number is not None and spelling.marks_number(number)
    return False


def exact_column(column: NDArray[Any]) -> NDArray[Any]:
    """Return exact reals as float64 if each of them equals a float, else as Fractions."""
    if column.dtype.kind != "f":
        cells = column.tolist()
        floats = np.array([float(cell) if abs(cell) < _FLOATS else 0.0 for cell in cells])
        if any(Fraction(number) != cell for number, cell in zip(floats.tolist(), cells, strict=True)):
            return column
        column = floats
    return column + 0.0  # adding 0.0 turns -0.0 into 0.0


_FLOATS = 1 << 1000
