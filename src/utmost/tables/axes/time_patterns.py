"""Dates and times in a declared pattern, such as "%d.%m.%Y", read the same way on every machine.

The pattern also decides the length of a time: "%m/%Y" means months, "%d.%m.%Y" days, "%H" hours. Names of months are
English, whereas `time.strptime` uses the machine's language. "%z" reads the zone of a time: Z, +02:00, -0500.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from utmost.errors import OutOfRange

_MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august"]
_MONTHS += ["september", "october", "november", "december"]
_SHORT = [name[:3] for name in _MONTHS]
_DIRECTIVES = {
    "Y": ("year", r"\d{4}", 4),
    "y": ("short_year", r"\d\d", 2),
    "m": ("month", r"\d\d?", 2),
    "d": ("day", r"\d\d?", 2),
    "j": ("day_of_year", r"\d{1,3}", 3),
    "q": ("quarter", r"[1-4]", 1),
    "b": ("short_month", "|".join(_SHORT), 0),
    "B": ("long_month", "|".join(_MONTHS), 0),
    "a": ("weekday", "mon|tue|wed|thu|fri|sat|sun", 0),
    "H": ("hour", r"\d\d?", 2),
    "I": ("hour_of_12", r"\d\d?", 2),
    "p": ("half", r"[ap]\.?m\.?", 0),
    "M": ("minute", r"\d\d?", 2),
    "S": ("second", r"\d\d?", 2),
    "f": ("fraction", r"\d{1,9}", 0),
    "z": ("zone", r"Z|UTC|GMT|[+-]\d\d:?\d\d", 0),
}
DAY, _HOUR = 86_400, 3600
EPOCH = date(1970, 1, 1).toordinal()
_REMEDY = 'Write, for example, "%d.%m.%Y", "%m/%d/%y %H:%M", "%b %d %Y" or "Q%q %Y".'


@dataclass(frozen=True, slots=True)
class TimePattern:
    """A pattern of dates and times, compiled to a regular expression."""

    form: re.Pattern[str]
    # Number of digits up to which lost leading zeros are restored; 0 if the pattern begins with a year of four digits,
    # None if it has other characters than digits.
    digits: int | None
    has_zone: bool  # whether texts contain their zone, so that spans are in UTC

    def span(self, text: str) -> tuple[int, int] | None:
        """The span of a text: its first second, and the first second after it, counted from 1970, or None for text that
        does not fit.
        """
        text = text.strip()
        # A column of such digits is one of integers to many readers, but one of text if a single cell is no integer. So
        # the text 7052013 must be read as the integer is.
        if self.digits is not None and text.isascii() and text.isdigit():
            text = text.zfill(self.digits)
        match = self.form.fullmatch(text)
        if match is None:
            return None
        parts = {name: part.lower() for name, part in match.groupdict().items()}
        try:
            return _span(parts)
        except ValueError:  # for example 31 February
            return None

    def span_of_integer(self, number: int) -> tuple[int, int] | None:
        """The time span of an integer that lacks leading zeros; 7052013 is read as 07052013 by "%d%m%Y"."""
        return None if self.digits is None or number < 0 else self.span(str(number))


@lru_cache(maxsize=64)
def time_pattern(text: str) -> TimePattern:
    """Read a pattern; an unknown or duplicate directive, and a missing year, raise `OutOfRange`."""
    pieces, names, width = list[str](), list[str](), 0
    parts = re.findall(r"%.|[^%]|%", text, re.DOTALL) if isinstance(text, str) else []
    is_numeric = [part[0] == "%" and _DIRECTIVES.get(part[1:], ("", "", 0))[2] > 0 for part in parts]
    for at, part in enumerate(parts):
        if part == "%%" or part[0] != "%":
            pieces.append(r"\s+" if part.isspace() else re.escape(part[-1]))
            continue
        if part[1:] not in _DIRECTIVES:
            known = ", ".join(f"%{name}" for name in _DIRECTIVES)
            raise OutOfRange(
                f"the directives of a pattern must be among {known}", came=repr(part), where="pattern", remedy=_REMEDY
            )
        name, form, digits = _DIRECTIVES[part[1:]]
        # A part that is next to other digits needs a fixed number of digits.
        is_fixed = any(is_numeric[beside] for beside in (at - 1, at + 1) if 0 <= beside < len(parts))
        pieces.append(f"(?P<{name}>{f'[0-9]{{{digits}}}' if is_fixed and digits > 1 else form})")
        names.append(name)
        width += digits
    # A literal Z in a pattern is refused: it would be read as local time.
    if isinstance(text, str) and _LITERAL_ZONE.search(text):
        remedy = "Write %z in place of Z: %z reads Z, UTC, +02:00 and -0500."
        raise OutOfRange("a pattern must read the time zone by %z", came=repr(text), where="pattern", remedy=remedy)
    # A pattern needs a year. Each part may occur only once, and needs the next longer part: a day needs a month.
    had = {_KIND.get(name, name) for name in names}
    needs = {"month": "year", "quarter": "year", "day_of_year": "year", "day": "month", "hour": "day"}
    needs |= {"minute": "hour", "second": "minute", "fraction": "second", "zone": "hour"}
    has_day = "day" in had or "day_of_year" in had
    is_whole = all(needs[part] in had or (part == "hour" and has_day) for part in had if part in needs)
    is_clock = ("half" in had) == ("hour_of_12" in names)
    if len(had) < len(names) or "year" not in had or not is_whole or not is_clock or {"quarter", "month"} <= had:
        required = "a pattern must have a year, a month if it has a day, a day if it has an hour, and no part twice"
        raise OutOfRange(required, came=repr(text), where="pattern", remedy=_REMEDY)

    most_digits = (0 if parts[0] == "%Y" else width) if parts and all(is_numeric) else None
    whole = re.compile("".join(pieces), re.IGNORECASE | re.ASCII)
    return TimePattern(whole, most_digits, "zone" in names)


_LITERAL_ZONE = re.compile(r"%[HIMSf] ?(Z|UTC|GMT)$")
_KIND = {"short_year": "year", "short_month": "month", "long_month": "month", "hour_of_12": "hour"}


def _span(parts: dict[str, str]) -> tuple[int, int]:
    number: Callable[[str], int] = lambda name: int(parts[name])  # noqa: E731
    # A year of two digits means a year from 1969 to 2068, as in POSIX and Python.
    year = number("year") if "year" in parts else (number("short_year") - 69) % 100 + 1969
    if "quarter" in parts:
        return _months(year, 3 * number("quarter") - 2, 3)
    if "day_of_year" in parts:
        first = date(year, 1, 1).toordinal() + number("day_of_year") - 1
        if date.fromordinal(first).year != year:
            raise ValueError
        start = (first - EPOCH) * DAY
    else:
        if not {"month", "short_month", "long_month"} & set(parts):
            return _months(year, 1, 12)
        named = parts.get("short_month") or parts.get("long_month")
        month = number("month") if named is None else _SHORT.index(named[:3]) + 1
        if "day" not in parts:
            return _months(year, month, 1)
        start = first_second(date(year, month, number("day")))
    if not {"hour", "hour_of_12"} & set(parts):
        return start, start + DAY
    hour = number("hour" if "hour" in parts else "hour_of_12")
    if "hour" not in parts:
        if not 1 <= hour <= 12:
            raise ValueError
        hour = hour % 12 + 12 * parts["half"].startswith("p")
    minute, second = (number(name) if name in parts else 0 for name in ("minute", "second"))
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError
    start += hour * _HOUR + minute * 60 + second
    zone = parts.get("zone", "z")
    if zone not in ("z", "utc", "gmt"):  # a zone such as "+02:00" is ahead of UTC
        hours, minutes = int(zone[1:3]), int(zone[-2:])
        if hours > 23 or minutes > 59:
            raise ValueError
        start -= (-1 if zone[0] == "-" else 1) * (hours * _HOUR + minutes * 60)
    return start, start + (1 if "minute" in parts else _HOUR)


def first_second(day: date) -> int:
    """The first second of a day, counted from 1970-01-01."""
    return (day.toordinal() - EPOCH) * DAY


def _months(year: int, month: int, count: int) -> tuple[int, int]:
    years, later = divmod(month - 1 + count, 12)
    return first_second(date(year, month, 1)), first_second(date(year + years, later + 1, 1))
