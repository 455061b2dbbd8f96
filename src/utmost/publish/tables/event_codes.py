"""Columns of events as codes: persons by their text, values of an axis by their place.

Integers and text agree, in every library and file: 7 and "7" are one person. Floats, truth values, dates and times have
no such text and are refused, so that one table of events is never counted in two ways. Bins take numbers of any type
and text that spells one; what is neither is refused by its type, since as a value outside the bins it would be a silent
0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import BadTable, NotANumber, OutOfRange
from utmost.laws.exact import exact
from utmost.laws.sampling.item_words import Identifiers
from utmost.publish.tables.arrow_identifiers import arrow_identifiers
from utmost.publish.tables.cell_values import kind_of
from utmost.publish.tables.columns import integer_column, is_hashable, is_missing
from utmost.publish.tables.extra import extra
from utmost.publish.workloads import Axis
from utmost.publish.workloads.axes import text_of

_CAST = "Cast it to text or to integers first."
_FLOATS = "Libraries make floats of integers beside a missing cell: cast it to a nullable integer type, such as Int64, "
_FLOATS += "or to text; numbers with a point are counted by bins."
_NUMBERS = "Make it a number first, such as the year of a date; or declare its values as a list, and cast it to text."
MISSING, OUTSIDE = -2, -1
_INT64 = np.iinfo(np.int64)


def distinct_cells(column: Any, name: str) -> tuple[NDArray[np.int64], list[Any]]:
    """The cells of a column by number, and the distinct cells that the numbers stand for; -1 for a missing cell.

    Args:
        column: an Arrow array, a NumPy array, or a sequence.
        name: of the column, for the message.

    Raises:
        BadTable: for a cell that is no single value.

    >>> distinct_cells(["a", None, "a", 3], "user")
    (array([ 0, -1,  0,  1]), ['a', 3])
    """
    check_type(column, name)
    if hasattr(column, "dictionary_encode"):
        return _arrow_cells(column)
    if isinstance(column, np.ndarray) and not isinstance(column, np.ma.MaskedArray) and column.dtype.kind in "iuU":
        values, codes = np.unique(column, return_inverse=True)
        return codes.astype(np.int64), values.tolist()
    cells = column.tolist() if isinstance(column, np.ndarray) else column
    numbers: dict[Any, int] = {}
    codes = np.empty(len(cells), dtype=np.int64)
    for row, cell in enumerate(cells):
        if is_missing(cell):
            codes[row] = -1
        elif is_hashable(cell):
            codes[row] = numbers.setdefault((cell.__class__, cell), len(numbers))
        else:
            raise _refused(cell, name)
    return codes, [cell for _, cell in numbers]


def check_type(column: Any, name: str) -> None:
    """Check that a column whose type is known holds no dates, times or truth values, be there cells in it or none.

    Args:
        column: an Arrow array, a NumPy array, or a sequence; or the field of an Arrow schema.
        name: of the column, for the message.

    Raises:
        BadTable: where it does.
    """
    kind: Any = getattr(column, "dtype", getattr(column, "type", None))
    if isinstance(kind, np.dtype):
        is_timed, is_truth = kind.kind in ("M", "m"), kind.kind == "b"
    elif type(kind).__module__ == "pyarrow.lib":
        import pyarrow.types as kinds

        kind = kind.value_type if kinds.is_dictionary(kind) else kind
        is_timed, is_truth = kinds.is_temporal(kind), kinds.is_boolean(kind)
    else:
        return
    if is_timed or is_truth:
        raise BadTable(
            "the cells must be text or integers, or numbers on an axis of bins",
            came=f"dates or times ({kind})" if is_timed else "truth values",
            where=f"column {name!r}",
            remedy=_NUMBERS if is_timed else _CAST,
        )


def _arrow_cells(column: Any) -> tuple[NDArray[np.int64], list[Any]]:
    import pyarrow

    if isinstance(column, pyarrow.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
    if isinstance(column, pyarrow.ChunkedArray):  # more text than one Arrow array can hold
        return distinct_cells(column.to_pylist(), "")
    encoded = column if isinstance(column, pyarrow.DictionaryArray) else column.dictionary_encode()
    codes = encoded.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    values = encoded.dictionary.to_pylist()
    gone = np.array([is_missing(value) for value in values] + [True], dtype=bool)
    return np.where(gone[codes], -1, codes), values


def _refused(cell: Any, name: str) -> BadTable:
    if isinstance(cell, int) and not isinstance(cell, bool):
        came = "an integer of thousands of digits"
    else:
        came = "a number with a point" if isinstance(cell, float | np.floating | Decimal) else kind_of(cell)
    remedy = _FLOATS if isinstance(cell, float | np.floating) else _CAST
    return BadTable("the cells must be text or integers", came=came, where=f"column {name!r}", remedy=remedy)


@dataclass(frozen=True, slots=True, eq=False)
class Persons:
    """The persons met so far, by text; their codes say nothing but who is who, and no result depends on their order.

    Attributes:
        name: of the column.
        texts: each person's text, by code.
    """

    name: str
    texts: list[str] = field(default_factory=list)
    _codes: dict[str, int] = field(default_factory=dict)

    def codes(self, column: Any) -> NDArray[np.int64]:
        """The code of each event's person.

        Raises:
            BadTable: for an event without a person, and for a person that is neither text nor an integer.
        """
        codes, cells = distinct_cells(column, self.name)
        if len(codes) and codes.min() < 0:
            raise BadTable(
                "every event must name its person",
                came="an event without one",
                where=f"column {self.name!r}",
                remedy="Leave such events out, or give each a person of its own: as one person they would be cut to "
                "what one person may change.",
            )
        return np.array([self._code(cell) for cell in cells], dtype=np.int64)[codes] if len(codes) else codes

    def _code(self, cell: Any) -> int:
        if is_missing(cell):  # a category that no event has
            return -1
        text = cell if type(cell) is str else text_of(cell)
        if text is None:
            raise _refused(cell, self.name)
        return self.add(text)

    def add(self, text: str) -> int:
        """The code of a person by the text."""
        code = self._codes.setdefault(text, len(self.texts))
        if code == len(self.texts):
            self.texts.append(text)
        return code


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TextsInArrow(Sequence[str]):
    """The texts of persons in Arrow, by code: as `Persons.texts`, and as identifiers without a Python object for each.

    Attributes:
        column: an Arrow array of text or integers, none missing.
    """

    column: Any

    def __len__(self) -> int:
        return len(self.column)

    def __getitem__(self, code: Any) -> Any:
        return str(self.column[code].as_py())

    def identifiers(self, codes: NDArray[np.int64]) -> Identifiers:
        """The texts of some persons as identifiers: bytes, as `text_identifiers` makes them."""
        arrow = extra("pyarrow", "tables")
        some = self.column.take(arrow.array(codes)).cast(arrow.large_string())
        return arrow_identifiers(some.cast(arrow.large_binary()), "person")


Places = Callable[[Any], NDArray[np.int64]]
"""From a column to the place of each cell among the values of an axis; below 0 `OUTSIDE`, where it is none of them, and
`MISSING`, where nothing stands."""


def places_on(axis: Axis, name: str) -> Places:
    """The reader of one axis's column: as `Axis.place` for each cell of a type that is read, from a table made once.

    Raises:
        OutOfRange: for a blank label, since a blank cell is a missing one.
        BadTable: from the reader, for cells of a listed axis that are neither text nor integers; and for cells of bins
            that are no numbers, where text that spells none is put to an ``other`` and refused without one.

    >>> from utmost.publish.workloads import bins, plain
    >>> places_on(plain(["A", "B"]), "department")(["B", "C", None]).tolist()
    [1, -1, -2]
    >>> places_on(bins(0, 1, width="0.1"), "share")(np.array([0.3, 0.7, 1.0])).tolist()
    [3, 7, -1]
    """
    labels = {text_of(label): place for place, label in enumerate(axis.labels[0])}
    if any(map(is_missing, labels)):
        remedy = "Say what a blank stands for in the data, or let an other= on the axis take missing values in."
        raise OutOfRange("a label must not be blank: a blank cell is a missing one", where=name, remedy=remedy)
    outside = OUTSIDE if axis.other is None else labels[text_of(axis.other)]
    if axis.edges is not None:
        return _bin_reader(axis, outside, name)

    def place(cell: Any) -> int:
        text = text_of(cell)
        if text is None and not is_missing(cell):
            raise _refused(cell, name)
        return labels.get(text, outside)

    return lambda column: _by_cell(column, name, place, outside)


def _by_cell(column: Any, name: str, place: Callable[[Any], int], outside: int) -> NDArray[np.int64]:
    codes, cells = distinct_cells(column, name)
    used = np.bincount(codes[codes >= 0], minlength=len(cells)) > 0  # a category that no event has is never refused
    places = [place(cell) if is_used else outside for cell, is_used in zip(cells, used.tolist(), strict=True)]
    return np.array([*places, MISSING if outside < 0 else outside], dtype=np.int64)[codes]


def _bin_reader(axis: Axis, outside: int, name: str) -> Places:
    assert axis.edges is not None, "only bins have edges"
    bare, bins = replace(axis, other=None), len(axis.edges) - 1
    finite, is_open = [edge for edge in axis.edges if isinstance(edge, Fraction)], axis.edges[0] == -np.inf
    thresholds: dict[str, NDArray[Any] | None] = {}

    def place(cell: Any) -> int:
        if not _is_number(cell) and (axis.other is None or not isinstance(cell, str)):
            came = "text that is no number" if isinstance(cell, str) else kind_of(cell)
            raise BadTable("the cells of bins must be numbers", came=came, where=f"column {name!r}", remedy=_NUMBERS)
        number = bare.place(cell)
        return outside if number is None else number

    def read(column: Any) -> NDArray[np.int64]:
        numbers = _plain_numbers(column)
        if numbers is None:
            return _by_cell(column, name, place, outside)
        kind = numbers.dtype.kind
        if kind not in thresholds:
            thresholds[kind] = _thresholds(finite, kind)
        edges = thresholds[kind]
        if edges is None:
            return _by_cell(numbers, name, place, outside)
        place_of = np.searchsorted(edges, numbers, side="right") - 1 + is_open
        is_inside = (place_of >= 0) & (place_of < bins)
        if kind == "f":
            is_inside &= np.isfinite(numbers)
        places = np.where(is_inside, place_of, outside).astype(np.int64)
        return np.where(np.isnan(numbers), MISSING, places) if kind == "f" and outside < 0 else places

    return read


def _is_number(cell: Any) -> bool:
    """Whether a cell is a number by its type, or text that spells one; whatever the number is, infinite or not."""
    if isinstance(cell, str):
        try:
            exact(cell, "cell")
        except NotANumber:
            return cell.strip().lower().lstrip("+-") in _NOT_FINITE
        return True
    is_number = isinstance(cell, int | float | Fraction | Decimal | np.integer | np.floating)
    return is_number and not isinstance(cell, bool | np.timedelta64)


_NOT_FINITE = ("nan", "inf", "infinity")


def _plain_numbers(column: Any) -> NDArray[Any] | None:
    """The column as int64 or float64 without missing integers; None where it is something else."""
    if hasattr(column, "dictionary_encode"):
        import pyarrow

        kind = column.type
        if not (pyarrow.types.is_floating(kind) or (pyarrow.types.is_integer(kind) and column.null_count == 0)):
            return None
        column = np.asarray(column.to_numpy(zero_copy_only=False))
    if not isinstance(column, np.ndarray) or isinstance(column, np.ma.MaskedArray):
        return None
    if column.dtype.kind == "f" and column.dtype.itemsize <= 8:
        return column.astype(np.float64)
    return column.astype(np.int64) if column.dtype.kind in "iu" and column.dtype != np.uint64 else None


def _thresholds(edges: Sequence[Fraction], kind: str) -> NDArray[Any] | None:
    """The least int64, or float64, that is not below each edge; None where there is none.

    A float is read as the decimal it prints, which grows with the float, so comparing with the least one that reads as
    the edge or more is comparing with the edge itself.
    """
    if kind == "i":
        least = [-(-edge.numerator // edge.denominator) for edge in edges]
        return np.array(least, dtype=np.int64) if _INT64.min <= least[0] and least[-1] <= _INT64.max else None
    if max(abs(edges[0]), abs(edges[-1])) > 10**300:
        return None
    return np.array([_least_float(edge) for edge in edges], dtype=np.float64)


def _least_float(edge: Fraction) -> float:
    found = float(edge)
    while exact(found) >= edge:
        found = float(np.nextafter(found, -np.inf))
    while exact(found) < edge:
        found = float(np.nextafter(found, np.inf))
    return found


def amounts_in(column: Any, name: str, before: int) -> NDArray[Any]:
    """The integers of a column of amounts: int64, or an object array of Python integers.

    Args:
        column: an Arrow array, a NumPy array, or a sequence.
        name: of the column, for the message.
        before: how many rows came before these.

    Raises:
        BadTable: at the first cell that is missing or no integer.
    """
    if hasattr(column, "dictionary_encode"):
        import pyarrow

        whole = pyarrow.types.is_integer(column.type) and column.null_count == 0
        column = column.to_numpy(zero_copy_only=False) if whole else column.to_pylist()
    return integer_column(column, name, lambda row: f"row {before + row + 1}", reals=False)
