"""The spelling of numbers and missing cells in text. Only this module reads such text, for all file formats and
dataframes.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from utmost.errors import OutOfRange, WrongKind

NOT_A_NUMBER = ("nan", "NaN")
"""Texts that mean an empty cell even if they are not declared, because programs write missing numbers in this way."""

_NAMED = {"comma": ",", "point": ".", "apostrophe": "'", "space": " "}
_ALIKE = {" ": " \u00a0\u2009\u202f", "'": "'\u2019"}
"""Marks that look the same in print: the spaces that typesetters put between digits, and both apostrophes."""
_LONGEST = 4000  # most digits of a number, and largest size of its exponent


@dataclass(frozen=True, slots=True)
class Spelling:
    """The spelling of numbers, dates and missing values in the cells of a table or column.

    Args:
        decimal: Decimal mark, "." or ","; by default a point.
        thousands: Mark between groups of three digits: ",", ".", "'" or " ", or its name "comma", "point",
            "apostrophe" or "space"; by default no mark.
        missing_marks: Texts and integers that mean a missing cell, such as ["NA", ".", -9], in addition to the empty
            cell, nan and NaN. A mark that an axis lists among its values is a value on that axis.
        pattern: Pattern of dates and times on an axis of `periods`, such as "%d.%m.%Y", "%m/%d/%y %H:%M", "%b %d %Y"
            or "Q%q %Y". With a pattern, text is read by the pattern. ISO dates are read as well, unless the pattern
            begins with "%Y". By default text is read as ISO text and similar forms.
        currency: Currency or unit that may come before or after a number: "$", "EUR", "kg"; by default none.

    Raises:
        OutOfRange: if a mark is unknown, if ``decimal`` and ``thousands`` are the same mark, if a missing mark is
            empty, or if the currency has a digit or a sign.
        WrongKind: if a mark is no text (a missing mark may be an integer, too), or if ``missing_marks`` is no list.

    >>> Spelling(",", "point", ["NA", -9])
    Spelling(decimal=',', thousands='.', missing_marks=('NA', '-9'), pattern=None, currency=None)
    """

    decimal: str | None = None
    thousands: str | None = None
    missing_marks: Sequence[str | int] = ()
    pattern: str | None = None
    currency: str | None = None

    def __post_init__(self) -> None:
        for name in ("decimal", "thousands", "pattern", "currency"):
            if not isinstance(getattr(self, name), str | None):
                remedy = (
                    "Write one pattern only: ISO dates, such as 2013-05-17, are read besides it."
                    if name == "pattern"
                    else ""
                )
                raise WrongKind(f"{name} must be text", came=type(getattr(self, name)).__name__, remedy=remedy)
        for name in ("decimal", "thousands"):
            mark = getattr(self, name)
            object.__setattr__(self, name, _NAMED.get(mark, mark))
        object.__setattr__(self, "missing_marks", _missing_marks(self.missing_marks))
        if self.decimal not in (None, ".", ","):
            remedy = 'Write decimal=",".'
            raise OutOfRange("decimal must be a point or a comma", came=repr(self.decimal), remedy=remedy)
        if self.thousands is not None and self.thousands not in _NAMED.values():
            required = "thousands must be a comma, a point, an apostrophe or a space"
            raise OutOfRange(required, came=repr(self.thousands), remedy="Write , or . or apostrophe or space.")
        if self.thousands is not None and self.thousands == (self.decimal or "."):
            other = "," if self.thousands == "." else "."
            raise OutOfRange(
                "thousands and decimal must be different marks",
                came=f"{self.thousands!r} for both",
                remedy=f'Declare another decimal mark: decimal="{other}".',
            )
        if self.currency is not None:
            object.__setattr__(self, "currency", self.currency.strip())
            if not self.currency or _NO_CURRENCY.search(self.currency):
                required = "currency must be a sign or letters"
                raise OutOfRange(required, came=repr(self.currency), remedy="Write, for example, $, EUR or kg.")

    def completed_by(self, general: "Spelling") -> "Spelling":
        """The spelling of one column: marks that its axis declares override those of ``general``, the spelling of the
        whole table. The missing marks of both spellings are used.
        """
        if general in (self, PLAIN_SPELLING):
            return self
        marks = dict.fromkeys((*self.missing_marks, *general.missing_marks))
        decimal, thousands = self.decimal or general.decimal, self.thousands or general.thousands
        pattern, currency = self.pattern or general.pattern, self.currency or general.currency
        return Spelling(decimal, thousands, tuple(marks), pattern, currency)

    def without_currency(self, text: str) -> str:
        """The text of a number without the declared currency before or after it."""
        if self.currency is None:
            return text
        # The currency may also come between the sign and the digits.
        sign, rest = (text[:1], text[1:].lstrip()) if text[:1] in ("+", "-") else ("", text)
        if rest.startswith(self.currency):
            rest = rest.removeprefix(self.currency).lstrip()
        elif rest.endswith(self.currency):
            rest = rest.removesuffix(self.currency).rstrip()
        return sign + rest

    def number(self, text: str) -> int | Decimal | None:
        """The exact number that a text spells, or None for other text.

        >>> [Spelling(",", ".").number(text) for text in ("1.234,50", "1234", "1.23", "1,234,5")]
        [Decimal('1234.50'), 1234, None, None]
        >>> [Spelling(currency="$").number(text) for text in ("$5", "-$ 2.5", "7 $", "3", "$$1")]
        [5, Decimal('-2.5'), 7, 3, None]
        """
        plain = text.strip()
        if _INTEGER.fullmatch(plain):
            return int(plain)
        plain = self.without_currency(plain)
        decimal = self.decimal or "."
        if self.thousands is not None:
            grouped = _grouped(self.thousands).match(plain)
            if grouped is not None:
                plain = (
                    re.sub(rf"[{_ALIKE.get(self.thousands, self.thousands)}]", "", grouped[0]) + plain[grouped.end() :]
                )
        if decimal == ",":
            if "." in plain:
                return None
            plain = plain.replace(",", ".")
        if len(plain) > 2 * _LONGEST:
            return None
        if _INTEGER.fullmatch(plain):
            return int(plain)
        # This import is late, because the command line needs spellings at its start, but no libraries for numbers.
        from utmost.core.exact.numbers import spelled

        number = spelled(plain)
        return None if number is None or abs(number.adjusted()) > _LONGEST else number

    def is_missing(self, text: str) -> bool:
        """Whether a text denotes a missing cell.

        >>> [Spelling(missing_marks=("NA",)).is_missing(text) for text in ("", " nan", "NA", "na")]
        [True, True, True, False]
        """
        plain = text.strip()
        return not plain or plain in NOT_A_NUMBER or plain in self.missing_marks

    def cell(self, text: str) -> int | Decimal | str | None:
        """Read a cell of a column of numbers: its number, None for a missing cell, and the text otherwise.

        >>> [Spelling(",").cell(text) for text in ("7", "2,5", "2.5", "nan")]
        [7, Decimal('2.5'), '2.5', None]
        """
        if self.is_missing(text):
            return None
        number = self.number(text)
        if number is None:
            return text.strip()
        return None if self.marks_number(number) else number

    @property
    def missing_numbers(self) -> tuple[Fraction, ...]:
        """The missing marks that are numbers: -9, 999."""
        return _numbers(self)

    def marks_number(self, number: Any) -> bool:
        """Whether a finite number in a column of numbers is a missing mark."""
        return bool(self.missing_marks) and Fraction(number) in self.missing_numbers

    def facts(self) -> dict[str, Any]:
        """The declared marks as JSON values."""
        declared: dict[str, Any] = {"decimal": self.decimal, "thousands": self.thousands, "pattern": self.pattern}
        declared |= {"missing_marks": list(self.missing_marks), "currency": self.currency}
        return {name: mark for name, mark in declared.items() if mark}


def _missing_marks(marks: object) -> tuple[str, ...]:
    """Read missing marks as text, without repetitions."""
    if isinstance(marks, str) or not isinstance(marks, Iterable):
        remedy = 'Pass, for example, missing_marks=["NA", "."].'
        raise WrongKind("missing_marks must be a list", came=type(marks).__name__, remedy=remedy)
    texts = []
    for mark in marks:
        if not isinstance(mark, str | int) or isinstance(mark, bool):
            raise WrongKind("a missing mark must be text or an integer", came=type(mark).__name__)
        if not str(mark).strip():
            raise OutOfRange(
                "a missing mark must not be empty",
                came=repr(mark),
                remedy="Leave out the empty mark: an empty cell is always missing.",
            )
        texts.append(str(mark).strip())
    return tuple(dict.fromkeys(texts))


PLAIN_SPELLING = Spelling()
"""The default spelling: numbers with a point, and the empty cell as the only missing mark."""


_NO_CURRENCY = re.compile(r"[\d+\-.,'\u2019\s]")
_INTEGER = re.compile(rf"[+-]?[0-9]{{1,{_LONGEST}}}")


@lru_cache(maxsize=8)
def _grouped(mark: str) -> re.Pattern[str]:
    """A pattern of digits in groups of three at the beginning of a number, with this mark between the groups."""
    marks = _ALIKE.get(mark, re.escape(mark))
    return re.compile(rf"[+-]?[0-9]{{1,3}}(?:(?P<mark>[{marks}])[0-9]{{3}})(?:(?P=mark)[0-9]{{3}})*(?![0-9{marks}])")


@lru_cache(maxsize=64)
def _numbers(spelling: Spelling) -> tuple[Fraction, ...]:
    read = (spelling.number(str(mark)) for mark in spelling.missing_marks)
    return tuple(Fraction(number) for number in read if number is not None)
