"""Convert columns of events to codes. A person is identified by a text, and a value of an axis by its position.

Integers and text agree, in every library and file: 7 and "7" are the same person. Floats, booleans, dates and times,
which libraries write in different ways, are refused. So every library gives the same counts. Bins take numbers of any
type, and text that spells a number. Cells of other types are refused: if they counted as values outside the bins,
counts would be 0 without a warning.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.sampling.item_words import Identifiers
from utmost.errors import BadTable
from utmost.tables.axes.axes import Axis, text_of
from utmost.tables.cells.cell_values import is_masked_array, kind_of
from utmost.tables.cells.columns import AMOUNT_STEP, integer_column, is_hashable, is_missing, number_cells
from utmost.tables.cells.spelling import PLAIN_SPELLING, Spelling
from utmost.tables.frames.arrow_arrays import integers_of_arrow, integers_to_arrow
from utmost.tables.frames.arrow_identifiers import arrow_identifiers
from utmost.tables.optional_imports import extra

_CAST = "Cast it to text or to integers first."
_FLOATS = "Libraries turn integers with a missing cell into floats: cast the column to a nullable integer type, "
_FLOATS += "such as Int64, or to text. To count numbers with decimals declare bins."
DECLARE = (
    "Declare dates and times with ut.workloads.periods, birth dates with ut.workloads.ages, truth values with "
    "[False, True], numbers with ut.workloads.bins;"
)
DECLARE += " or cast it to text, and declare its values as a list."
MISSING, OUTSIDE = -2, -1


def distinct_cells(column: Any, name: str, axis: Axis | None = None) -> tuple[NDArray[np.int64], list[Any]]:
    """Return the distinct cells, and for each row the index of its cell among them (-1 if missing).

    >>> distinct_cells(["a", None, "a", 3], "user")
    (array([ 0, -1,  0,  1]), ['a', 3])
    """
    check_type(column, name, axis)
    if hasattr(column, "dictionary_encode"):
        import pyarrow

        if isinstance(column.type, pyarrow.BaseExtensionType):  # such as UUIDs, which Arrow cannot encode
            return distinct_cells(column.to_pylist(), name, axis)
        if isinstance(column, pyarrow.ChunkedArray):
            column = column.unify_dictionaries().combine_chunks()
        if isinstance(column, pyarrow.ChunkedArray):  # more text than fits into one Arrow array
            return distinct_cells(column.to_pylist(), "")
        encoded = column if isinstance(column, pyarrow.DictionaryArray) else column.dictionary_encode()
        indices = encoded.indices.cast("int64")
        codes = integers_of_arrow(indices.fill_null(-1) if indices.null_count else indices)
        values = encoded.dictionary.to_pylist()
        gone = np.array([is_missing(value) for value in values] + [True], dtype=bool)
        return (np.where(gone[codes], -1, codes) if gone[:-1].any() else codes), values
    if isinstance(column, np.ndarray) and not is_masked_array(column) and column.dtype.kind in "iuU":
        values, codes = np.unique(column, return_inverse=True)
        return codes.astype(np.int64), values.tolist()
    cells = column.tolist() if isinstance(column, np.ndarray) else column
    numbers: dict[tuple[type, Any, Any], int] = {}
    codes = np.empty(len(cells), dtype=np.int64)
    for row, cell in enumerate(cells):
        if is_missing(cell):
            codes[row] = -1
        elif is_hashable(cell):
            # Equal Decimals may have different texts: Decimal("1") is the person 1, and Decimal("1.0") is refused.
            places = cell.as_tuple().exponent if cell.__class__ is Decimal else 0
            codes[row] = numbers.setdefault((cell.__class__, cell, places), len(numbers))
        else:
            raise refused_cell(cell, name)
    return codes, [cell for _, cell, _ in numbers]


def check_type(column: Any, name: str, axis: Axis | None = None) -> None:
    """Check that a column, even an empty one, has no type of dates, times or booleans that its axis does not take."""
    takes_time = axis is not None and (axis.clock is not None or axis.on is not None)
    takes_truth = axis is not None and axis.truth
    kind: Any = getattr(column, "dtype", getattr(column, "type", None))
    if isinstance(kind, np.dtype):
        is_timed, is_moment, is_truth = kind.kind in ("M", "m"), kind.kind == "M", kind.kind == "b"
    elif type(kind).__module__ == "pyarrow.lib":
        import pyarrow.types as kinds

        kind = kind.value_type if kinds.is_dictionary(kind) else kind
        if kinds.is_nested(kind):
            raise nested_cells(name)
        is_timed, is_truth = kinds.is_temporal(kind), kinds.is_boolean(kind)
        is_moment = kinds.is_date(kind) or kinds.is_timestamp(kind)
    else:
        return
    if (is_timed and not (takes_time and is_moment)) or (is_truth and not takes_truth):
        raise BadTable(
            "the cells must be text or integers, or numbers on an axis of bins",
            came=f"dates or times ({kind})" if is_timed else "truth values",
            where=f"column {name!r}",
            remedy=DECLARE,
        )


def nested_cells(name: str) -> BadTable:
    """Return the error for a column of lists or records."""
    return BadTable(
        "each cell must hold one value",
        came="nested cells (lists or records)",
        where=f"column {name!r}",
        remedy="Turn each field into a column, or each element into a row.",
    )


def refused_cell(cell: Any, name: str) -> BadTable:
    """Refuse a float, date or truth value as a person or listed value: libraries write these in different ways. The
    message names only the kind of the cell.
    """
    if isinstance(cell, int) and not isinstance(cell, bool):
        came = "an integer of thousands of digits"
    else:
        came = "a number with a point" if isinstance(cell, float | np.floating | Decimal) else kind_of(cell)
    remedy = _FLOATS if isinstance(cell, float | np.floating) else _CAST
    if isinstance(cell, list | tuple | dict | np.ndarray):
        remedy = "Write the values that you want to count into a separate column first."
    return BadTable("the cells must be text or integers", came=came, where=f"column {name!r}", remedy=remedy)


@dataclass(frozen=True, slots=True, eq=False)
class PersonCodes:
    """The persons of the events so far, numbered in the order of their first event; no result depends on that order."""

    name: str  # name of the column
    spelling: Spelling = PLAIN_SPELLING  # spelling; its missing marks are not counted as persons
    texts: list[str] = field(default_factory=list)  # each person's text, by code
    _codes: dict[str, int] = field(default_factory=dict)

    def codes(self, column: Any) -> NDArray[np.int64]:
        def code_of(cell: Any) -> int:
            if is_missing(cell):  # a category without events
                return -1
            text = cell if type(cell) is str else text_of(cell)
            if text is None:
                raise refused_cell(cell, self.name)
            if self.spelling.is_missing(text):
                return -1
            # Text is compared as it is: two texts that differ by a space or a capital are two persons, with separate
            # bounds.
            code = self._codes.setdefault(text, len(self.texts))
            if code == len(self.texts):
                self.texts.append(text)
            return code

        codes, cells = distinct_cells(column, self.name)
        is_there = not len(codes) or codes.min() >= 0
        numbers = np.array([*map(code_of, cells), -1], dtype=np.int64)[codes] if is_there else codes
        # A missing person is refused, whatever `missing=` says: bounds of persons do not hold for events of nobody.
        if len(numbers) and numbers.min() < 0:
            raise BadTable(
                "every event must name its person",
                came="an event without a person",
                where=f"column {self.name!r}",
                remedy="Delete the rows without a person, or give each one its own person: they would count as one.",
            )
        return numbers


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TextsInArrow(Sequence[str]):
    """The texts that identify persons, in the order of the persons' codes, stored in an Arrow array instead of a Python
    list.
    """

    column: Any

    def __len__(self) -> int:
        return len(self.column)

    def __getitem__(self, code: Any) -> Any:
        return str(self.column[code].as_py())

    def identifiers(self, codes: NDArray[np.int64]) -> Identifiers:
        """Return the texts of some persons as identifiers, as `counting.bounding.identified` makes them."""
        arrow = extra("pyarrow", "tables")
        some = self.column.take(integers_to_arrow(codes)).cast(arrow.large_string())
        return arrow_identifiers(some.cast(arrow.large_binary()), "person")


PlaceReader = Callable[[Any], NDArray[np.int64]]
"""Function from a column to the position of each cell among the values of an axis: `OUTSIDE` for a value that is not on
the axis, `MISSING` for a missing cell (both are negative).
"""


@dataclass(slots=True, eq=False)
class LeadingZeros:
    """Counts the cells whose leading zeros an axis ignores. Cells with leading zeros may be codes, not numbers."""

    cells: int = 0

    def see(self, cells: Sequence[Any], counts: Sequence[int], labels: Collection[str | None] | None) -> None:
        """Count the cells whose leading zeros are ignored. ``labels`` are the labels of the axis, or None if the axis
        reads numbers.
        """
        for cell, count in zip(cells, counts, strict=True):
            if type(cell) is str and cell.startswith("0") and count and _PADDED.fullmatch(cell):
                is_read = labels is None or (cell not in labels and str(int(cell)) in labels)
                self.cells += count if is_read else 0


_PADDED = re.compile(r"0[0-9]{1,99}")


def by_cell(
    column: Any,
    axis: Axis,
    name: str,
    place: Callable[[Any], int],
    zeros: LeadingZeros | None = None,
    labels: Collection[str | None] | None = None,
) -> NDArray[np.int64]:
    """Return the position of each cell, from one call of ``place`` per distinct cell, or `missing_place`."""
    codes, cells = distinct_cells(column, name, axis)
    counts = np.bincount(codes + 1, minlength=len(cells) + 1)[1:].tolist()
    if zeros is not None:
        zeros.see(cells, counts, labels)
    # A category without events is not read, and so never refused.
    places = [place(cell) if count else OUTSIDE for cell, count in zip(cells, counts, strict=True)]
    return np.array([*places, missing_place(axis)], dtype=np.int64)[codes]


def missing_place(axis: Axis) -> int:
    """The position of missing cells: that of the label ``missing``, else of ``other``, else `MISSING`."""
    return MISSING if not axis.extras else axis.size - 1


def amounts_in(column: Any, name: str, before: int, spelling: Spelling = PLAIN_SPELLING) -> NDArray[Any]:
    """Read a column of integer amounts, as int64 or Python integers; ``before`` is the number of earlier rows."""
    column = number_cells(column, spelling)
    if hasattr(column, "dictionary_encode"):
        import pyarrow

        whole = pyarrow.types.is_integer(column.type) and column.null_count == 0
        column = column.to_numpy(zero_copy_only=False) if whole else column.to_pylist()
    return integer_column(column, name, lambda row: f"row {before + row + 1}", not_whole=AMOUNT_STEP)
