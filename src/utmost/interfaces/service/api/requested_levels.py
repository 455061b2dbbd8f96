"""Levels as requests ask for them: exact text, short enough that an answer at them is drawn at once.

A level between two others takes as many binary digits to draw as it takes to tell the three apart, and the work grows
with the cube of that. So whoever may view at all could keep every writer waiting for hours by a level of thousands of
digits; with at most 200 it takes a fraction of a second.
"""

from utmost.core.exact.levels import Level, level
from utmost.core.exact.written_levels import level_from_text
from utmost.errors import NotALevel, OutOfRange

_DIGITS = 200
_TOO_LONG = 10**_DIGITS


def read_level(written: str | int | float) -> Level:
    """A level in an address, a form or JSON: "1/4", 0.25, or "-log(1/2)" as the ledger writes it.

    Text is exact, and a float is the decimal that it prints.

    >>> read_level("1/4"), read_level(" 0.5 "), read_level("-log(1/3)")
    (level(epsilon='1/4'), level(epsilon='1/2'), level(alpha='1/3'))
    """
    text = written.strip() if isinstance(written, str) else written
    read = level_from_text(text) if isinstance(text, str) and "log" in text else level(text)
    numbers = (read.power,) if read.base is None else (read.power, read.base)
    if max(part for number in numbers for part in number.as_integer_ratio()) >= _TOO_LONG:
        raise NotALevel(
            f"a level in a request must have at most {_DIGITS} digits", came="a longer one", where="epsilon"
        )
    return read


def whole(text: str, name: str) -> int | None:
    """A whole number as text, or None for an empty one.

    Raises:
        OutOfRange: for an invalid level.
    """
    if not text:
        return None
    if len(text) > 30 or not text.removeprefix("-").isdecimal() or not text.isascii():
        raise OutOfRange(f"{name} must be a whole number", came="other text", remedy="Write 1, say.")
    return int(text)
