"""Readers that return the position of the period in which each date or time of a column lies.

Typed columns of NumPy and Arrow are read as arrays: instants are converted to the clock of the axis by a table of the
changes of its UTC offset. Lists and text are read cell by cell, with the same results.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import BadTable
from utmost.tables.axes.axes import Axis, label_text
from utmost.tables.axes.clock import has_zone
from utmost.tables.axes.time_patterns import DAY, time_pattern
from utmost.tables.cells.cell_values import is_masked_array, kind_of
from utmost.tables.cells.columns import is_marked, is_missing
from utmost.tables.cells.event_codes import OUTSIDE, PlaceReader, by_cell, check_type, missing_place
from utmost.tables.cells.odd_cells import MARK_ANYWAY, looks_missing, odd_number
from utmost.tables.cells.spelling import PLAIN_SPELLING, Spelling

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_SECONDS = {"D": DAY, "h": 3600, "m": 60}
_ISO = 'Write ISO text, such as "2013-05-17" or "2013-05-17T09:30"; or declare the pattern of the text on its axis: '
_ISO += 'spelling=ut.Spelling(pattern="%d.%m.%Y").'
_ISO_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}(?:[T ].*)?", re.ASCII)
_UNREADABLE = "Or add other= to the axis: all cells that cannot be read then count under that label."
_NUMBERS = "Integers are read as 2013 on an axis of years, 201305 of months, 20130517 of days. Others need a "
_NUMBERS += 'pattern on their axis, spelling=ut.Spelling(pattern="%d%m%Y"), or must be converted to dates.'
_DATES = "Convert the times to dates: the day of an instant depends on the time zone."
_ZONED = 'Declare on the axis the zone in which you count days and months: zone="America/New_York", or "UTC".'


def period_reader(axis: Axis, name: str, spelling: Spelling = PLAIN_SPELLING) -> PlaceReader:
    """Return the reader of a column for an axis of periods; see `places_on`."""
    assert axis.clock is not None, "periods have a clock"
    if axis.clock.pattern is None and spelling.pattern is not None:
        axis = replace(axis, clock=replace(axis.clock, pattern=spelling.pattern))
    edges, clock = axis.edges, axis.clock
    assert edges is not None, "periods have edges"
    assert clock is not None, "periods have a clock"
    finite = np.array([int(edge) for edge in edges if isinstance(edge, Fraction)], dtype=np.int64)
    steps = np.diff(finite)
    is_even = (steps == steps[0]).all()
    outside = OUTSIDE if axis.other is None else [*map(label_text, axis.labels[0])].index(label_text(axis.other))

    def place(cell: Any) -> int:
        if is_missing(cell) or (isinstance(cell, np.datetime64) and np.isnat(cell)) or is_marked(cell, spelling):
            return missing_place(axis)
        span = clock.span(cell)
        if span is None:
            if isinstance(cell, str) and axis.other is not None:
                return outside
            raise _refused_time(cell, name, axis, spelling)
        at = axis.bin_of(span[0], span[1] - 1)
        # A cell that covers more than one period, such as a year on an axis of months, is refused.
        if at is None and edges[0] < span[1] and span[0] < edges[-1]:
            raise _too_long(axis, name)
        return outside if at is None else at

    def before(seconds: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of edges at or before each second."""
        if is_even:
            count: NDArray[np.int64] = np.clip((seconds - finite[0]) // steps[0] + 1, 0, len(finite))
            return count
        return np.searchsorted(finite, seconds, side="right").astype(np.int64)

    def read(column: Any) -> NDArray[np.int64]:
        times = _typed_times(column, axis, name)
        if times is None:
            is_typed = hasattr(column, "dictionary_encode") or getattr(column, "dtype", np.dtype(object)).kind != "O"
            return by_cell(column, axis, name, place) if is_typed else _places_one_by_one(column, place)
        starts, length, gone = times
        # Only finite edges are counted, so a first edge at minus infinity shifts the positions.
        places = before(starts) - (edges[0] != -np.inf)
        if (finite % length).any() and (places != before(starts + (length - 1)) - (edges[0] != -np.inf))[~gone].any():
            raise _too_long(axis, name)
        is_inside = (places >= 0) & (places < len(edges) - 1)
        return np.where(gone, missing_place(axis), np.where(is_inside, places, outside)).astype(np.int64)

    return read


def _places_one_by_one(column: Any, place: Callable[[Any], int]) -> NDArray[np.int64]:
    """The positions of the cells of a list. Equal texts have the same position, but equal times may be different
    instants.
    """
    texts: dict[str, int] = {}
    places = np.empty(len(column), dtype=np.int64)
    for row, cell in enumerate(column):
        if type(cell) is not str:
            places[row] = place(cell)
        elif cell in texts:
            places[row] = texts[cell]
        else:
            places[row] = texts[cell] = place(cell)
    return places


def _typed_times(column: Any, axis: Axis, name: str) -> tuple[NDArray[np.int64], int, NDArray[np.bool_]] | None:
    """Return first seconds on the clock, the length of all spans, and a mask of missing cells; None for other types."""
    check_type(column, name, axis)
    clock, edges = axis.clock, axis.edges
    assert edges is not None, "periods have edges"
    assert clock is not None, "periods have a clock"
    if isinstance(column, np.ndarray) and not is_masked_array(column) and column.dtype.kind == "M":
        unit, step = np.datetime_data(column.dtype)
        if unit not in (*_PER_SECOND, *_SECONDS) or step != 1:
            return None
        if unit in _SECONDS:
            # Days, hours or minutes that int64 cannot represent in seconds become times far outside every axis.
            length = _SECONDS[unit]
            most = np.iinfo(np.int64).max // (2 * length)
            return np.clip(column.astype(np.int64), -most, most) * length, length, np.isnat(column)
        return column.astype("datetime64[s]").astype(np.int64), 1, np.isnat(column)
    if not hasattr(column, "dictionary_encode"):
        return None
    import pyarrow
    import pyarrow.types as kinds

    if kinds.is_dictionary(column.type) and kinds.is_temporal(column.type.value_type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if not kinds.is_date(kind) and not kinds.is_timestamp(kind):
        return None
    gone = np.asarray(column.is_null().to_numpy(zero_copy_only=False), dtype=bool)
    if kinds.is_date(kind):
        # Arrow would refuse milliseconds that are not whole days, with an error that quotes them.
        ticks = column.cast(pyarrow.int32() if kinds.is_date32(kind) else pyarrow.int64()).fill_null(0)
        days = ticks.to_numpy(zero_copy_only=False).astype(np.int64) // (1 if kinds.is_date32(kind) else DAY * 1000)
        return days * DAY, DAY, gone
    ticks = column.cast(pyarrow.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    seconds = ticks // _PER_SECOND[kind.unit]
    if kind.tz is not None:
        if clock.zone is None:
            raise BadTable(
                "times with a time zone need an axis with a time zone",
                came=f"times in {kind.tz}",
                where=f"column {name!r}",
                remedy=_ZONED if axis.on is None else _DATES,
            )
        finite = [int(edge) for edge in edges if isinstance(edge, Fraction)]
        seconds = clock.moved(seconds, finite[0], finite[-1])
    return seconds, 1, gone


def _refused_time(cell: Any, name: str, axis: Axis, spelling: Spelling) -> BadTable:
    came, remedy = kind_of(cell), _ISO
    assert axis.clock is not None, "the axis is one of periods"
    if isinstance(cell, str):
        came, remedy = "text that is not a time", f"{_ISO} {_UNREADABLE}"
        pattern = None if axis.clock.pattern is None else time_pattern(axis.clock.pattern)
        if (_ISO_DATE if pattern is None else pattern.form).fullmatch(cell.strip()):
            came, remedy = "a date that does not exist, like 30 February", f"Correct the cell. {_UNREADABLE}"
        elif pattern is not None:
            came = "text that does not match the pattern"
            remedy = f"Correct the cell, or the declared pattern. {_UNREADABLE}"
        if not any(letter.isdigit() for letter in cell):
            came, remedy = "text without a digit", MARK_ANYWAY
        elif axis.clock.pattern is None and has_zone(cell):
            came, remedy = "text of a time with a zone", _ZONED if axis.on is None else _DATES
        if looks_missing(cell):
            came, remedy = odd_number(cell, spelling)
    elif isinstance(cell, int | float | np.integer | np.floating) and not isinstance(cell, bool | np.timedelta64):
        came, remedy = "a number", _NUMBERS
    elif getattr(cell, "tzinfo", None) is not None:
        came, remedy = "a time with a zone", _ZONED if axis.on is None else _DATES
    required = "the cells of periods must be dates or times" if axis.on is None else "birth dates must be dates"
    return BadTable(required, came=came, where=f"column {name!r}", remedy=remedy)


def _too_long(axis: Axis, name: str) -> BadTable:
    assert axis.clock is not None, "the axis is one of periods"
    if axis.on is not None:
        came, year = "a month or year that spans two age groups", str(axis.on)[:4]
        remedy = f'Write days of birth; or declare "{year}-12-31" as the day of the count: years of birth then suffice.'
        return BadTable("birth dates must have a day", came=came, where=f"column {name!r}", remedy=remedy)
    return BadTable(
        f"each cell must be a date or a time that lies within one {axis.clock.period}",
        came="a longer period",
        where=f"column {name!r}",
        remedy="Count by longer periods, or write more exact dates into the cells.",
    )
