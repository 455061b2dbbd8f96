"""Times as a wall clock shows them, and the span of time that a cell means, in whole seconds.

A time is counted as the wall clock of the declared zone shows it, in seconds since 1970-01-01T00:00 on that clock. So a
day has 24 hours: an hour that the clock shows twice, when summer time ends, is one hour, and an hour that the clock
skips is an hour without events. Dates, and times without a zone, are times of this clock. Times with a zone are
converted to the declared zone.

A cell means a span of time: "2013-05" means a month, a date means a day, and a time means a second. A cell that spans
more than one period of an axis is refused, since the cell lies in no single period.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.numbers import first_integer
from utmost.errors import OutOfRange
from utmost.tables.axes.time_patterns import DAY, EPOCH, first_second, time_pattern

UNITS = ("hour", "day", "week", "month", "quarter", "half year", "year")
_MONTHS = {"month": 1, "quarter": 3, "half year": 6, "year": 12}
_SECONDS = {"hour": 3600, "day": DAY, "week": 7 * DAY}
LEAST_SECONDS = {**_SECONDS, "month": 28 * DAY, "quarter": 90 * DAY, "half year": 181 * DAY, "year": 365 * DAY}
"""The least length of each unit in seconds."""
_MONDAY = 4 * DAY  # Monday, 1970-01-05
_YEAR = r"(?P<year>\d{4})"
_SPELLED = tuple(
    re.compile(form, re.ASCII)
    for form in (
        _YEAR,
        _YEAR + r"[-/](?P<month>\d\d)",
        _YEAR + r"[- ]?[Mm](?P<month>\d\d?)",
        _YEAR + r"[- /]?[Qq](?P<quarter>[1-4])",
        r"[Qq](?P<quarter>[1-4])[- /]?" + _YEAR,
        _YEAR + r"[- /]?[HhSs](?P<half>[12])",
        r"[HhSs](?P<half>[12])[- /]?" + _YEAR,
        _YEAR + r"-?W(?P<week>\d\d)",
    )
)
_ISO_TEXT = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?", re.ASCII)
_WHOLE = re.compile(r"\d{4,8}(?:\.0*)?", re.ASCII)
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d\d?)\2(\d\d?)(?:[T ]+(\d\d?)(:.+)?)?", re.ASCII)
_HOUR = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d", re.ASCII)

Span = tuple[int, int]
"""The first second of a span, and the first second after it."""


@dataclass(frozen=True, slots=True)
class Period:
    """Periods of one kind. Each period has ``times`` units, such as 2 ISO weeks. An ISO week begins on Monday."""

    unit: str
    times: int = 1

    @classmethod
    def named(cls, text: str) -> "Period":
        """Read the kind of periods that a text names: "month", "2 weeks"."""
        spelled = re.fullmatch(rf"(?:(\d{{1,6}}) )?({'|'.join(UNITS)})s?", text.strip(), re.ASCII)
        if spelled is None or int(spelled[1] or 1) < 1:
            remedy = 'Write, for example, "day", "week", "month", or "6 hours".'
            raise OutOfRange(
                f"a period must be a unit of time, or a number of units: {', '.join(UNITS)}",
                came=repr(text),
                remedy=remedy,
            )
        return cls(spelled[2], int(spelled[1] or 1))

    def __str__(self) -> str:
        return self.unit if self.times == 1 else f"{self.times} {self.unit}s"

    def edges(self, first: int, last: int) -> list[int]:
        """The edges of the periods from the second ``first`` on, up to the first edge at or after ``last``."""
        if self.starting(first) != first:
            remedy = f"Write {shown_time(self.starting(first))} as the start."
            raise OutOfRange(
                f"the first period must begin when a {self.unit} begins",
                came=shown_time(first),
                where="start",
                remedy=remedy,
            )
        if self.unit in _SECONDS:
            step = _SECONDS[self.unit] * self.times
            return list(range(first, last + (first - last) % step + 1, step))
        # Months and years differ in length, so their edges are computed one by one.
        months, edges = _MONTHS[self.unit] * self.times, [first]
        while edges[-1] < last:
            day = _day(edges[-1])
            year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
            if year > 9999:
                raise OutOfRange("periods must end before the year 10000", came=year, where="stop")
            edges.append(first_second(date(year, month + 1, 1)))
        return edges

    def starting(self, second: int) -> int:
        """The first second of the unit that contains ``second``."""
        if self.unit in _SECONDS:
            offset = _MONDAY if self.unit == "week" else 0
            return second - (second - offset) % _SECONDS[self.unit]
        day, months = _day(second), _MONTHS[self.unit]
        return first_second(date(day.year, (day.month - 1) // months * months + 1, 1))

    def label(self, low: int, high: int) -> str:
        """The label of the period between two edges: "1970-01 to 1970-02", "1970-01-01T01"."""
        first = self._spelled(low)
        return first if self.times == 1 else f"{first} to {self._spelled(high - 1)}"

    def _spelled(self, second: int) -> str:
        day = _day(second)
        if self.unit == "hour":
            return f"{day}T{second % DAY // 3600:02}"
        if self.unit == "week":
            year, week, _ = day.isocalendar()
            return f"{year:04}-W{week:02}"
        if self.unit == "quarter":
            return f"{day.year:04}-Q{(day.month + 2) // 3}"
        if self.unit == "half year":
            return f"{day.year:04}-H{(day.month + 5) // 6}"
        return str(day)[: {"day": 10, "month": 7, "year": 4}[self.unit]]


@dataclass(frozen=True, slots=True)
class Clock:
    """The wall clock that reads the times of an axis of periods."""

    period: Period  # kind of the periods of the finest level
    zone: str | None = None  # name of the zone, such as "Europe/Paris"; None refuses times with a zone
    pattern: str | None = None  # pattern of times in text; None for ISO text and similar forms

    def __post_init__(self) -> None:
        if self.pattern is not None and self.zone is None and time_pattern(self.pattern).has_zone:
            remedy = 'Declare the zone in which you count: zone="America/New_York", or "UTC".'
            raise OutOfRange("a pattern with %z needs a time zone", came="none", where="zone", remedy=remedy)

    def span(self, cell: Any) -> Span | None:
        """The span of a date, time, text or integer on this clock, or None if ``cell`` is no time or its zone is
        unusable.
        """
        if isinstance(cell, tuple):  # a tuple in the data is no time; below, a tuple is a span
            return None
        if isinstance(cell, np.datetime64):
            unit = np.datetime_data(cell.dtype)[0]
            if np.isnat(cell) or unit in ("W", "generic"):
                return None
            if unit not in ("Y", "M"):
                start = int(cell.astype("datetime64[s]").astype(np.int64))
                return start, start + (DAY if unit == "D" else 1)
            cell = _spelled_time(str(cell))
        elif isinstance(cell, str):
            cell = self._spelled(cell.strip())
        elif isinstance(cell, int | float | Decimal | np.integer | np.floating):
            cell = self._numbered(cell)
        if isinstance(cell, tuple):
            return cell
        if isinstance(cell, datetime):
            return self._second(cell)
        if isinstance(cell, date):
            return first_second(cell), first_second(cell) + DAY
        if type(cell).__name__ == "Period" and hasattr(cell, "start_time"):
            return _whole_seconds(cell.start_time), _whole_seconds(cell.end_time) + 1
        return None

    def _spelled(self, text: str) -> Any:
        if self.pattern is not None:
            pattern = time_pattern(self.pattern)
            span = pattern.span(text)
            # A text in the pattern can look like an ISO date only if the pattern begins with the year, such as
            # %Y-%d-%m.
            if span is None and not self.pattern.startswith("%Y") and _ISO_TEXT.fullmatch(text):
                return _spelled_time(text)
            if span is None or not pattern.has_zone:
                return span
            start = self._second(time_at(span[0]).replace(tzinfo=UTC))
            return None if start is None else (start[0], start[0] + span[1] - span[0])
        if _WHOLE.fullmatch(text):
            return self._numbered(Decimal(text))
        return _spelled_time(text)

    def _numbered(self, cell: Any) -> Any:
        """The span of a whole number: four digits are a year (2013), six a month on axes of months or longer periods
        (201305), eight a day (20130517).
        """
        # An integer may be stored as a float if its column has missing cells.
        most = 10**9 if self.pattern is None else 10**15  # %Y%m%d%H%M%S has 14 digits
        if isinstance(cell, bool | np.timedelta64) or cell != cell or abs(cell) >= most or cell != int(cell):
            return None
        if self.pattern is not None:
            return time_pattern(self.pattern).span_of_integer(int(cell))
        digits = str(int(cell))
        if len(digits) == 6:
            digits = f"{digits[:4]}-{digits[4:]}" if self.period.unit in _MONTHS else ""
        elif len(digits) == 8:
            digits = f"{digits[:4]}-{digits[4:6]}-{digits[6:]}"
        return _spelled_time(digits) if len(digits) in (4, 7, 10) else None

    def _second(self, time: datetime) -> Span | None:
        if time.tzinfo is not None:
            if self.zone is None:  # a time with a zone is refused if the axis has no zone
                return None
            try:
                time = time.astimezone(zone_named(self.zone))
            except OverflowError:  # such times lie in the first or last hours of the calendar
                return None
        return _whole_seconds(time), _whole_seconds(time) + 1

    def moved(self, seconds: NDArray[np.int64], first: int, last: int) -> NDArray[np.int64]:
        """Convert seconds of UTC to the clock of the zone; only results between ``first`` and ``last`` are reliable."""
        assert self.zone is not None, "a clock without a zone never changes"
        changes, offsets = _offsets(self.zone, first - 2 * DAY, last + 2 * DAY)
        return seconds + offsets[np.searchsorted(changes, seconds, side="right")]


@lru_cache(maxsize=16)
def _offsets(zone: str, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The seconds at which a zone's clock changes, and its offsets from UTC before, between and after the changes."""
    # If the offsets at the two ends of a quarter of a day differ, bisection finds the second of the change.
    place = zone_named(zone)

    def offset(second: int) -> int:
        moment = datetime.fromtimestamp(0, UTC) + timedelta(seconds=second)
        difference = moment.astimezone(place).utcoffset()
        assert difference is not None, "a zone has a difference"
        return int(difference.total_seconds())

    low, high = _in_calendar(first), _in_calendar(last)
    changes, offsets = [], [offset(low)]
    for start in range(low, high, DAY // 4):
        end = min(start + DAY // 4, high)
        while offset(end) != offsets[-1]:
            start = first_integer(start, end, lambda second: offset(second) != offsets[-1])
            changes.append(start)
            offsets.append(offset(start))
    return np.array(changes, dtype=np.int64), np.array(offsets, dtype=np.int64)


def zone_named(name: str) -> tzinfo:
    """The time zone with this name in the IANA database."""
    from zoneinfo import ZoneInfo

    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        remedy = 'Write, for example, "Europe/Paris". If the system has no time zones, install the package tzdata.'
        raise OutOfRange("zone must be a time zone", came=repr(name), where="zone", remedy=remedy) from None


def period_span(text: str, unit: str | None = None) -> Span | None:
    """The span of a written period or of a label "FIRST to LAST"; None for other text, and for a span that is not one
    ``unit``.

    >>> period_span("2013Q2") == period_span("2013-04 to 2013-06"), period_span("2013Q2", "month"), period_span("north")
    (True, None, None)
    """
    first, _, last = text.partition(" to ")
    low, high = (Clock(Period("month")).span(part) for part in (first, last or first))
    if low is None or high is None or high[1] <= low[0]:
        return None
    is_one = unit is None or (Period(unit).starting(low[0]) == low[0] and Period(unit).edges(*low)[1] == high[1])
    return (low[0], high[1]) if is_one else None


def read_time(time: Any, where: str) -> int:
    """The first second of a date or of a time without a zone, which may be written as text."""
    span = Clock(Period("day")).span(time)
    if span is None:
        came = repr(time) if isinstance(time, str) else type(time).__name__
        remedy = 'Write "2013-05", "2013-05-17" or "2013-05-17T09", without a zone.'
        raise OutOfRange("the ends of periods must be dates or times", came=came, where=where, remedy=remedy)
    return span[0]


def shown_time(second: int) -> str:
    """A second of a wall clock as text: a date at the beginning of a day, else a time."""
    time = time_at(second)
    return str(time.date()) if second % DAY == 0 else time.isoformat()


def has_zone(text: str) -> bool:
    """Whether a text is a time with a zone: "2013-01-01T06:00:00Z"."""
    return getattr(_spelled_time(text.strip()), "tzinfo", None) is not None


def time_at(second: int) -> datetime:
    """The time that a wall clock shows at a second."""
    return datetime(1970, 1, 1) + timedelta(seconds=second)


def _spelled_time(text: str) -> Any:
    """The span, date or time that a text means, or None for text without such a meaning."""
    ordered = _YEAR_FIRST.fullmatch(text)
    if ordered is not None:  # with the year first, the order is year, month, day, with any separator
        year, _, month, day, hour, rest = ordered.groups()
        text = f"{year}-{month:0>2}-{day:0>2}" + (f"T{hour:0>2}{rest or ''}" if hour else "")
    for form in _SPELLED:
        spelled = form.fullmatch(text)
        if spelled is not None:
            return _span_of_period({name: int(part) for name, part in spelled.groupdict().items()})
    try:
        if _HOUR.fullmatch(text):
            start = _whole_seconds(datetime.fromisoformat(text))
            return start, start + 3600
        return date.fromisoformat(text) if len(text) <= 10 else datetime.fromisoformat(text)
    except ValueError:
        return None


def _span_of_period(parts: dict[str, int]) -> Span | None:
    unit = next((name for name in ("month", "quarter", "week", "half") if name in parts), "year")
    number, unit = parts.get(unit, 1), "half year" if unit == "half" else unit
    try:
        if unit == "week":
            start = date.fromisocalendar(parts["year"], parts["week"], 1)
        else:
            start = date(parts["year"], 1 + (number - 1 if unit != "year" else 0) * _MONTHS[unit], 1)
        low, high = Period(unit).edges(first_second(start), first_second(start) + 1)
    except (ValueError, OutOfRange):
        return None
    return low, high


def _whole_seconds(time: datetime) -> int:
    # Summer time: the wall clock counts, so the hour that it shows twice is one cell, and the skipped hour is empty.
    return first_second(time.date()) + time.hour * 3600 + time.minute * 60 + time.second


def _day(second: int) -> date:
    return date.fromordinal(second // DAY + EPOCH)


def _in_calendar(second: int) -> int:
    """Clamp a second to the years 1 to 9999, without the first two and the last two days."""
    return min(max(second, first_second(date(1, 1, 3))), first_second(date(9999, 12, 29)))
