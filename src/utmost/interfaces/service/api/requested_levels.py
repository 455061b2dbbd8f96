"""Read levels in requests as exact numbers, and refuse levels of so many digits that an answer would take hours.

A draw at a level between two others needs enough binary digits to distinguish the three levels: each digit takes time
for each cell, and the tables of the draw take a time that grows as the cube of the number of digits. With a level of
many digits, anybody who may view a release could block all writers for hours; with 50 digits, a hundred thousand cells
take a second.
"""

import re

from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import exact
from utmost.core.exact.written_levels import level_from_text
from utmost.errors import NotALevel, OutOfRange

_DIGITS = 50  # a level in a request has at most 50 digits
_LONGEST = 256  # characters of a level: four numbers of 51, and words
_LN = re.compile(r"(?:([0-9./]{1,400}) *\*? *)?ln *([1-9][0-9./]{0,400})")
_LARGEST = 10**_DIGITS


def read_level(written: str | int | float) -> Level:
    """Read a level from an address, a form or JSON: "1/4", 0.25, "ln2" or "alpha=1/2" as in commands, "-log(1/2)"."""
    # Text is exact; a float is the decimal that it prints.
    text = written.strip() if isinstance(written, str) else written
    if isinstance(text, str) and len(text) > _LONGEST:  # the root of a long alpha takes seconds
        raise _too_long()
    logarithm = _LN.fullmatch(text) if isinstance(text, str) else None
    if isinstance(text, str) and text.startswith("alpha="):
        read = level(alpha=text.removeprefix("alpha="))
    elif logarithm is not None:
        read = level(alpha=1 / exact(logarithm[2], "epsilon")).scaled(exact(logarithm[1] or 1, "epsilon"))
    else:
        read = level_from_text(text) if isinstance(text, str) and "log" in text else level(text)
    numbers = (read.power,) if read.base is None else (read.power, read.base)
    if max(part for number in numbers for part in number.as_integer_ratio()) > _LARGEST:
        raise _too_long()
    return read


def _too_long() -> NotALevel:
    required = f"a level in a request must have at most {_DIGITS} digits"
    return NotALevel(required, came="a longer one", where="epsilon", remedy="Send fewer digits, or a fraction: 1/3.")


def read_whole_number(text: str, name: str) -> int | None:
    """Read an integer; return None for empty text."""
    if not text:
        return None
    if len(text) > 30 or not text.removeprefix("-").isdecimal() or not text.isascii():
        raise OutOfRange(f"{name} must be a whole number", came="other text", remedy="Write, for example, 1.")
    return int(text)
