"""The repr of values: one line of text, and a card in a notebook."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from math import floor
from typing import Any, ClassVar

import numpy as np

from utmost.core.exact import card_writer

LONGEST = 200
"""The most characters of the repr of a value."""

_OF_ONE, _OF_A_NUMBER, _OF_A_LIST = 60, 24, 48


class Display:
    """A value with a repr of one line, and a card in a notebook; neither of the two shows a cell of a table."""

    __slots__ = ()

    _shown: ClassVar[tuple[str, ...]] = ()
    """Names of the attributes in the repr; if empty, the fields of the dataclass are shown."""

    def __repr__(self) -> str:
        return one_line(self)

    def _repr_html_(self) -> str:
        """The HTML card of a value in a notebook: its public attributes, and for some types a small picture."""
        return card_writer.write_card(self)


def few(words: Sequence[str], most: int = 24) -> str:
    """Join words by commas: the first ``most`` of them, then the number of those left out."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def one_line(value: Any) -> str:
    """The name of a value's type and the value's attributes, in one line of at most `LONGEST` characters."""
    names = displayed_fields(value)
    parts = [str(bool(value))] if "__bool__" in dir(type(value)) else []
    for name in names:
        part = f"{name}={brief(getattr(value, name))}"
        if len(", ".join([*parts, part])) > LONGEST - len(type(value).__name__) - len("(, ...)"):
            parts.append("...")
            break
        parts.append(part)
    return f"{type(value).__name__}({', '.join(parts)})"


def displayed_fields(value: Any) -> tuple[str, ...]:
    """The attributes that the repr of a value shows: those in ``_shown`` of its class, else its dataclass fields."""
    listed = getattr(type(value), "_shown", ())
    return listed or tuple(field.name for field in fields(value) if field.repr) if is_dataclass(value) else listed


def brief(value: Any) -> str:
    """A short text for a value: its repr if that is short, else its approximate value, its size or its type."""
    if isinstance(value, np.ndarray):
        return f"{' x '.join(map(str, value.shape))} array" if value.ndim else "array"
    if isinstance(value, bool | np.bool_ | float | np.floating) or value is None:
        return str(value)
    if isinstance(value, int | Fraction | np.integer):
        # Python refuses to print very long integers: the length is tested first.
        most = 10**_OF_A_NUMBER
        text = str(value) if abs(value.numerator) < most and value.denominator < most else ""
        return text if text and len(text) <= _OF_A_NUMBER else f"~{_near(value)}"
    if isinstance(value, str):
        return repr(value) if len(value) <= _OF_ONE else repr(value[: _OF_ONE - 3] + "...")
    if isinstance(value, tuple | list):
        return _listed([brief(item) for item in value[:9]], len(value), "()" if isinstance(value, tuple) else "[]")
    if isinstance(value, Mapping):
        items = [f"{brief(key)}: {brief(item)}" for key, item in list(value.items())[:9]]
        return _listed(items, len(value), "{}")
    # Objects of this package have a short repr. Any other object may contain data, so only its type is shown.
    name = type(value).__name__
    if not type(value).__module__.startswith("utmost.") or (callable(value) and not is_dataclass(value)):
        return getattr(value, "__name__", name)
    text = repr(value)
    return text if len(text) <= _OF_ONE and "\n" not in text else f"{name}(...)"


def _near(value: Any) -> str:
    try:
        return f"{float(value):.6g}"
    except OverflowError:  # a fraction that is too large or too small for a float is shown as the power of two below it
        return f"{'-' if value < 0 else ''}2^{abs(int(value)).bit_length() - 1}"


def _listed(items: list[str], length: int, ends: str) -> str:
    text = ends[0] + ", ".join(items) + ("," if ends == "()" and length == 1 else "") + ends[1]
    return text if len(items) == length and len(text) <= _OF_A_LIST else f"{length} items"


def decimal_text(value: int | Fraction) -> str:
    """Write a number as a finite decimal, or else as a fraction."""
    number, places = Fraction(value), 0
    rest = number.denominator
    for prime in (2, 5):
        times = 0
        while rest % prime == 0:
            rest, times = rest // prime, times + 1
        places = max(places, times)
    if rest != 1:
        return str(number)
    digits = str(abs(floor(number * 10**places))).rjust(places + 1, "0")
    sign = "-" if number < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else f"{sign}{digits}"


def number_words(value: int | Fraction) -> str:
    """Write a number for people: as a short decimal, or else as a fraction with its approximate value."""
    if max(abs(value.numerator), value.denominator) < 10**_OF_A_NUMBER:
        text, fraction = decimal_text(value), str(value)
        if "/" not in text and len(text) <= _OF_A_NUMBER:
            return text
        if len(fraction) <= _OF_A_NUMBER:
            return f"{fraction} (about {_near(value)})"
    return f"about {_near(value)}"
