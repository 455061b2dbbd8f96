"""Readers that return, for each cell of a column, the position of its value (label, bin or period) on an axis."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.numbers import exact
from utmost.errors import BadTable, NotANumber, OutOfRange
from utmost.tables.axes.axes import Axis, label_text, plain
from utmost.tables.cells.cell_values import is_masked_array, kind_of
from utmost.tables.cells.columns import is_missing, missing_floats
from utmost.tables.cells.event_codes import (
    DECLARE,
    MISSING,
    OUTSIDE,
    LeadingZeros,
    PlaceReader,
    by_cell,
    missing_place,
    refused_cell,
)
from utmost.tables.cells.odd_cells import MARK_ANYWAY, TEXT_KIND, odd_number
from utmost.tables.cells.spelling import PLAIN_SPELLING, Spelling
from utmost.tables.cells.time_cells import period_reader

_INT64 = np.iinfo(np.int64)
_MOST = 1 << 16


def places_on(
    axis: Axis, name: str, general: Spelling = PLAIN_SPELLING, zeros: LeadingZeros | None = None
) -> PlaceReader:
    """Return a function from a column to the position of each cell among the values of an axis; cells without a value
    get a negative number instead.
    """
    labels = {label_text(label): place for place, label in enumerate(axis.labels[0])}
    if any(map(is_missing, labels)):
        remedy = 'Declare a label for missing values, missing="not stated", and remove the blank from the list.'
        raise OutOfRange(
            "a label must not be blank: a blank cell is missing", came="a blank", where=name, remedy=remedy
        )
    outside, spelling = (
        OUTSIDE if axis.other is None else labels[label_text(axis.other)],
        axis.spelling.completed_by(general),
    )
    if axis.clock is not None:
        return period_reader(axis, name, spelling)
    if axis.on is not None:
        births = period_reader(axis.births, name, spelling)

        def ages(column: Any) -> NDArray[np.int64]:
            # The latest birth dates are the youngest ages, so positions are reversed. Birth dates after the declared
            # day are outside the axis.
            places = births(column)
            is_group = (places >= 0) & (places < axis.declared)
            return np.where(is_group, axis.declared - 1 - places, places)

        return ages
    if axis.edges is not None:
        return _bin_reader(axis, outside, name, spelling, zeros)
    # Integer labels, written as floats: some libraries turn 1 into "1.0" in a column with missing cells.
    floats = frozenset(f"{label}.0" for label in labels if label is not None and _WHOLE.fullmatch(label))
    # Labels with leading zeros, by the integer that remains if a dataframe drops the zeros: 1 for "01".
    padded: dict[str, list[str]] = {}
    for label in labels:
        if label is not None and _PADDED.fullmatch(label):
            padded.setdefault(str(int(label)), []).append(label)
    missing = missing_place(axis)

    def place(cell: Any) -> int:
        text = axis.text(cell)
        if text is None and not is_missing(cell):
            raise refused_cell(cell, name)
        if text is None or text in labels:
            return labels.get(text, outside)
        if spelling.is_missing(text):
            return missing
        # Leading zeros that a dataframe lost are restored if there is no doubt: 1 is "01" if the list has neither "1"
        # nor "001".
        alike = padded.get(text, ())
        if len(alike) > 1:
            raise BadTable(
                "an integer must match exactly one value of the axis",
                came="an integer that matches several values with leading zeros",
                where=f"column {name!r}",
                remedy="Read the column as text, such as by pandas.read_csv(..., dtype=str), or list the values as in "
                "the data.",
            )
        if not alike and text.strip() in floats:
            raise refused_cell(float(text), name)
        return labels[alike[0]] if alike else outside

    return _by_known_cell(axis, name, place, zeros, labels)


_PADDED = re.compile(r"0[0-9]{1,99}")
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,15})")


def _by_known_cell(
    axis: Axis,
    name: str,
    place: Callable[[Any], int],
    zeros: LeadingZeros | None,
    labels: Collection[str | None] | None,
) -> PlaceReader:
    """Return a reader that looks up each distinct cell once. The reader stores the positions of texts and integers for
    later batches.
    """
    known: dict[str | int, int] = {}

    def remembered(cell: Any) -> int:
        if type(cell) is not str and type(cell) is not int:
            return place(cell)
        if cell not in known:
            if len(known) >= _MOST:
                known.clear()
            known[cell] = place(cell)
        return known[cell]

    return lambda column: by_cell(column, axis, name, remembered, zeros, labels)


_NUMBERS = int, float, Fraction, Decimal, np.integer, np.floating


def _bin_reader(axis: Axis, outside: int, name: str, spelling: Spelling, zeros: LeadingZeros | None) -> PlaceReader:
    assert axis.edges is not None, "only bins have edges"
    bins, missing = len(axis.edges) - 1, missing_place(axis)
    finite, is_open = [edge for edge in axis.edges if isinstance(edge, Fraction)], axis.edges[0] == -np.inf
    thresholds: dict[str, NDArray[Any] | None] = {}
    marks = missing_floats(spelling)

    def place(cell: Any) -> int:
        number = cell
        if isinstance(cell, str):
            if cell.strip().lower().lstrip("+-") in _INFINITE:  # infinity lies outside all bins, also open ones
                return outside
            number = spelling.cell(cell)
            if number is None:
                return missing
            if isinstance(number, str):
                if axis.other is not None:
                    return outside
                came, remedy = odd_number(number, spelling)
                remedy = f"{remedy} {MARK_ANYWAY} {DECLARE}" if came == TEXT_KIND else remedy
                raise BadTable(
                    "the cells for an axis of bins must be numbers", came=came, where=f"column {name!r}", remedy=remedy
                )
        elif not isinstance(cell, _NUMBERS) or isinstance(cell, bool | np.timedelta64):
            came = kind_of(cell)
            raise BadTable(
                "the cells for an axis of bins must be numbers", came=came, where=f"column {name!r}", remedy=DECLARE
            )
        try:
            exactly = exact(number, "cell")
        except NotANumber:  # the number is infinite
            return outside
        if spelling.marks_number(exactly):
            return missing
        if axis.whole and exactly.denominator != 1:
            required, came = "the cells of bins of integers must be integers", "a number that is not whole"
            raise BadTable(required, came=came, where=f"column {name!r}", remedy=_HALF_OPEN)
        at = axis.bin_of(exactly, exactly)
        return outside if at is None else at

    by_known_cell = _by_known_cell(axis, name, place, zeros, None)

    def read(column: Any) -> NDArray[np.int64]:
        numbers = _as_plain_numbers(column)
        if numbers is None:
            return by_known_cell(column)
        kind = numbers.dtype.kind
        if kind not in thresholds:
            thresholds[kind] = _thresholds(finite, kind)
        edges = thresholds[kind]
        if edges is None:
            return by_cell(numbers, axis, name, place)
        if axis.whole and kind == "f" and (np.isfinite(numbers) & (numbers != np.floor(numbers))).any():
            return by_cell(numbers, axis, name, place)  # refuses the first number that is not whole
        place_of = np.searchsorted(edges, numbers, side="right") - 1 + is_open
        is_inside = (place_of >= 0) & (place_of < bins)
        if kind == "f":
            is_inside &= np.isfinite(numbers)
        places = np.where(is_inside, place_of, outside).astype(np.int64)
        if len(marks):
            places = np.where(np.isin(numbers, marks), missing, places)
        return np.where(np.isnan(numbers), missing, places) if kind == "f" else places

    return read


_INFINITE = ("inf", "infinity")
_HALF_OPEN = "For bins of decimals such as [0, 5), declare the edges with whole=False; else round the column down."


def _as_plain_numbers(column: Any) -> NDArray[Any] | None:
    """Return a column of numbers as int64 (if none is missing) or float64, or None for any other column."""
    if hasattr(column, "dictionary_encode"):
        import pyarrow

        kind = column.type
        if not (pyarrow.types.is_floating(kind) or (pyarrow.types.is_integer(kind) and column.null_count == 0)):
            return None
        column = np.asarray(column.to_numpy(zero_copy_only=False))
    if not isinstance(column, np.ndarray) or is_masked_array(column):
        return None
    if column.dtype.kind == "f" and column.dtype.itemsize <= 8:
        return column.astype(np.float64)
    return column.astype(np.int64) if column.dtype.kind in "iu" and column.dtype != np.uint64 else None


def _thresholds(edges: Sequence[Fraction], kind: str) -> NDArray[Any] | None:
    """For each edge, the least int64 or float64 that is not below it, or None if an edge has no such number."""
    # A float is read as the decimal that Python prints for it, which increases with the float. So a comparison with the
    # least float that is read as the edge or more gives the same result as a comparison with the edge.
    if kind == "i":
        least = [-(-edge.numerator // edge.denominator) for edge in edges]
        return np.array(least, dtype=np.int64) if _INT64.min <= least[0] and least[-1] <= _INT64.max else None
    if max(abs(edges[0]), abs(edges[-1])) > 10**300:
        return None
    floats = []
    for edge in edges:
        nearest = float(edge)  # the nearest float may be below the edge: take the next floats until one is not
        while exact(nearest) >= edge:
            nearest = float(np.nextafter(nearest, -np.inf))
        while exact(nearest) < edge:
            nearest = float(np.nextafter(nearest, np.inf))
        floats.append(nearest)
    return np.array(floats, dtype=np.float64)


def reader_of(
    axis: Axis, general: Spelling = PLAIN_SPELLING, zeros: LeadingZeros | None = None
) -> Callable[[Mapping[str, Any]], NDArray[np.int64]]:
    """Return a function from a batch of columns to each row's position on the axis. Listed keys are read from several
    columns.
    """
    if axis.rows is None:
        (column,) = axis.columns
        place_on_axis = places_on(axis, column, general, zeros)
        return lambda batch: place_on_axis(batch[column])
    # An unlisted key is outside the axis, and a key with a missing cell is missing. Keys are found from the left: first
    # the position of the first value among the groups of its level, then that of the next value.
    spelling, keys = axis.spelling.completed_by(general), axis.rows[: axis.declared]
    outside = OUTSIDE if axis.other is None else axis.size - 1
    readers, steps = [], []
    before = np.zeros(len(keys), dtype=np.int64)
    for at, name in enumerate(axis.columns):
        values = plain(dict.fromkeys(key[at] for key in keys))
        readers.append(places_on(values, name, spelling, zeros))
        number = {label_text(label): place for place, label in enumerate(values.labels[0])}
        codes = before * values.size + np.array([number[label_text(key[at])] for key in keys], dtype=np.int64)
        known, before = np.unique(codes, return_inverse=True)
        steps.append((values.size, known))
    row_of = np.empty(len(keys), dtype=np.int64)
    row_of[before] = np.arange(len(keys))

    def read(batch: Mapping[str, Any]) -> NDArray[np.int64]:
        group: Any = 0
        is_gone = is_stray = np.False_
        for name, reader, (size, known) in zip(axis.columns, readers, steps, strict=True):
            values = reader(batch[name])
            # Keys are found column by column: the group found so far and the value in this column give the next group.
            codes = group * size + np.maximum(values, 0)
            group = np.minimum(np.searchsorted(known, codes), len(known) - 1)
            is_gone = is_gone | (values == MISSING)
            is_stray = is_stray | (values < 0) | (known[group] != codes)
        places = np.where(is_gone, missing_place(axis), np.where(is_stray, outside, row_of[group]))
        return places.astype(np.int64)

    return read
