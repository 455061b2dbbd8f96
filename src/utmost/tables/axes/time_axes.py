"""The axis of time: periods from hours to years, and the longer periods that consist of them."""

from collections.abc import Sequence
from datetime import date
from fractions import Fraction

from utmost.core.exact.arguments import instance, optional, sequence_of, text
from utmost.errors import OutOfRange
from utmost.tables.axes.axes import MOST_VALUES, Axis, Edge, Label, outside_label
from utmost.tables.axes.clock import Clock, Period, read_time, shown_time, zone_named
from utmost.tables.axes.ordered_axes import Ends, LabelOf, ordered_axis
from utmost.tables.axes.time_patterns import time_pattern
from utmost.tables.cells.spelling import PLAIN_SPELLING, Spelling

Time = str | date
"""A date or time without a zone, or the ISO text of a date, time, month, quarter, week or year."""

_COARSER = ("day", "month", "quarter", "year")
_LEAST_SECONDS = 3600


def periods(
    start: Time,
    stop: Time,
    *,
    every: str,
    zone: str | None = None,
    groups: Sequence[str] | None = None,
    spelling: Spelling = PLAIN_SPELLING,
    below: Label | None = None,
    above: Label | None = None,
    other: Label | None = None,
    missing: Label | None = None,
    column: str | None = None,
) -> Axis:
    """An axis of time: periods of one kind from ``start`` to ``stop``, and the longer periods that consist of them.

    A period contains its first instant, but not its last. Times are those of a wall clock: a day has 24 hours, an hour
    that the clock shows twice is one hour, and an hour that the clock skips is empty. Events may have dates or times of
    Python, NumPy, pandas, Polars, Arrow, DuckDB or Spark, ISO text, text such as "2013/05/17", "2013Q2" or "2013M05",
    or integers: 2013 on axes of years, 201305 on axes of months, 20130517 on axes of days. A time that spans more than
    one period, such as a date on an axis of hours, is refused.

    Args:
        start, stop: Beginning of the first period, and end of the last one: dates, times without a zone, or text such
            as "2013", "2013-05", "2013-Q2", "2013-W20", "2013-05-17", "2013-05-17T09". A text means the beginning of
            the time that it names.
        every: "hour", "day", "week" (ISO, from Monday), "month", "quarter", "half year", "year", or several of them,
            such as "6 hours"; "12 months" from "2024-04" on are fiscal years.
        zone: Time zone of the clock, such as "Europe/Paris". Times with a zone are converted to this zone, or refused
            if no ``zone`` is passed. Times and dates without a zone are those of this clock.
        groups: Longer periods as levels, the shortest first, such as ["week"]. Each longer period begins and ends with
            periods of the level before, and ``start`` and ``stop`` cut off no part of it. By default the levels are
            those periods among day, month, quarter and year that nest. The level of months of the axis ``date`` is
            called ``date/month``.
        spelling: Pattern of dates in text, and missing marks, if they differ from those of the whole table:
            ``Spelling(pattern="%d.%m.%Y")``.
        below, above: Labels of an additional period for all times before the first period, and of one for all times
            after the last.
        other: Label for all other times; if None, they are left out.
        missing: Label for missing cells; if None, they count as ``other``, or are left out.
        column: Events' column that has the times; by default the column with the name of the axis.

    Raises:
        OutOfRange: if ``start`` or ``stop`` is inside a period, if there is no period or more than 10^8, if the groups
            do not nest, or if a time, a kind of period or the zone is invalid.

    >>> periods("2013-11", "2014-03", every="month").labels[0]
    ('2013-11', '2013-12', '2014-01', '2014-02')
    >>> days = periods("2013-01-01", "2015-01-01", every="day", zone="Europe/Paris").named("date")
    >>> days.levels, [days.groups(level) for level in range(4)]
    (('date', 'date/month', 'date/quarter', 'date/year'), [730, 24, 8, 2])
    """
    every, zone = text(every, "every"), optional(zone, text, "zone")
    pattern = instance(spelling, Spelling, "spelling").pattern
    if groups is not None:
        sequence_of(groups, text, "groups")
    clock = Clock(Period.named(every), zone, pattern)
    if pattern is not None:
        time_pattern(pattern)
    if zone is not None:
        zone_named(zone)
    first, last = read_time(start, "start"), read_time(stop, "stop")
    if not first < last or (last - first) // _LEAST_SECONDS > MOST_VALUES:
        came = f"from {shown_time(first)} to {shown_time(last)}"
        remedy = 'Pass, for example, "2026-01" as the start and "2026-07" as the end: the end itself is not counted.'
        raise OutOfRange("stop must be later than start, by at most 10^8 hours", came=came, remedy=remedy)
    ends: Ends = {
        "below": outside_label(below, "below"),
        "above": outside_label(above, "above"),
        "other": outside_label(other, "other"),
        "missing": outside_label(missing, "missing"),
    }
    least = 2 if all(label is None for label in ends.values()) else 1  # a level with only one group would equal "all"
    levels = [("", _edges(clock.period, first, last), clock.period)]
    for name in _COARSER if groups is None else groups:
        period = Period.named(name)
        if groups is None:
            shorter = levels[-1][1]
            if period.unit == clock.period.unit or period.starting(shorter[0]) != shorter[0]:
                continue
            edges = period.edges(shorter[0], shorter[-1])
            is_between = least < len(edges) < len(shorter)
            # A set of these numbers would be slow, because their last bits are equal.
            # A longer period that the ends would cut does not become a level: days from January 15 on have no months.
            if edges[-1] != shorter[-1] or not is_between or not set(edges) < set(shorter):
                continue
        else:
            edges = _edges(period, first, last)
            if not set(edges) < set(levels[-1][1]):
                required = f"every {period} must begin when a {levels[-1][2]} begins, and be longer than it"
                raise OutOfRange(required, came=repr(name), where="groups", remedy=_REMEDY)
        levels.append((f"/{period}".replace(" ", "-"), edges, period))
    return ordered_axis(
        [_level(name, edges, period) for name, edges, period in levels],
        ends,
        spelling,
        clock=clock,
        column=column,
    )


_REMEDY = "Choose a longer period that is a multiple of the shorter one: months and years do not consist of weeks."


def _edges(period: Period, first: int, last: int) -> list[int]:
    """The edges of periods; ends that would cut a period are refused, and the error names the nearest ends."""
    edges = period.edges(first, last)
    if edges[-1] != last:
        remedy = f"Write {shown_time(edges[-1])} or {shown_time(edges[-2])} as the end."
        required = f"the last {period} must not be cut off"
        raise OutOfRange(required, came=f"{shown_time(last)} as its end", where="stop", remedy=remedy)
    return edges


def _level(name: str, edges: Sequence[int], period: Period) -> tuple[str, Sequence[Edge], LabelOf]:
    return name, [Fraction(edge) for edge in edges], lambda low, high: period.label(int(low), int(high))
