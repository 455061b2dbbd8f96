"""Read levels in requests as exact numbers, and refuse levels of so many digits that an answer would take hours.

A draw at a level between two others needs enough binary digits to distinguish the three levels, and its time grows
with the cube of the number of digits. By a level of thousands of digits, anybody who may view could block all writers
for hours; a level of 200 digits takes a fraction of a second.
"""

import re

from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import exact
from utmost.core.exact.written_levels import level_from_text
from utmost.errors import NotALevel, OutOfRange

_DIGITS = 200  # a level in a request has at most 200 digits
_LN = re.compile(r"(?:([0-9./]{1,400}) *\*? *)?ln *([1-9][0-9./]{0,400})")
_TOO_LONG = 10**_DIGITS


def read_level(written: str | int | float) -> Level:
    """Read a level from an address, a form or JSON: "1/4", 0.25, "ln2" or "alpha=1/2" as in commands, "-log(1/2)"."""
    # Text is exact; a float is the decimal that it prints.
    text = written.strip() if isinstance(written, str) else written
    logarithm = _LN.fullmatch(text) if isinstance(text, str) else None
    if isinstance(text, str) and text.startswith("alpha="):
        read = level(alpha=text.removeprefix("alpha="))
    elif logarithm is not None:
        read = level(alpha=1 / exact(logarithm[2], "epsilon")).scaled(exact(logarithm[1] or 1, "epsilon"))
    else:
        read = level_from_text(text) if isinstance(text, str) and "log" in text else level(text)
    numbers = (read.power,) if read.base is None else (read.power, read.base)
    if max(part for number in numbers for part in number.as_integer_ratio()) >= _TOO_LONG:
        raise NotALevel(
            f"a level in a request must have at most {_DIGITS} digits", came="a longer one", where="epsilon"
        )
    return read


def read_whole_number(text: str, name: str) -> int | None:
    """Read an integer; return None for empty text."""
    if not text:
        return None
    if len(text) > 30 or not text.removeprefix("-").isdecimal() or not text.isascii():
        raise OutOfRange(f"{name} must be a whole number", came="other text", remedy="Write 1, say.")
    return int(text)
