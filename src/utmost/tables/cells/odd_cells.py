"""The kind of a cell that is no number, and a remedy, for error messages. Messages quote only usual missing marks, such
as NA.
"""

import json
import re

from utmost.tables.cells.spelling import Spelling

_MISSING_KIND = ", which often marks a missing cell"

_MARKS = {"na", "n/a", "#n/a", "<na>", "n.a.", "null", "none", "nil", "nat", "missing", ".", "..", "...", ":", "?", "*"}
_MARKS |= {"-", "--", "---", "\u2013", "\u2014", "\\n", "x", "#null!", "#div/0!", "#value!", "#ref!", "#name?", "#num!"}
_MARKS |= {"nan", "-nan", "+nan"}
_BLANKS = " \u00a0\u2009\u202f"
_SIGNS = "\u2212\u2012\u2013\u2014\ufe63\uff0d"
_GROUPS = {
    ",": ("commas", re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", re.ASCII)),
    ".": ("points", re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?", re.ASCII)),
    "'": ("apostrophes", re.compile(r"\d{1,3}(?:['\u2019]\d{3})+(?:[.,]\d+)?", re.ASCII)),
    " ": ("blanks", re.compile(rf"\d{{1,3}}(?:[{_BLANKS}]\d{{3}})+(?:[.,]\d+)?", re.ASCII)),
}
_COMMAS = re.compile(r"\d,\d{3}(?!\d)", re.ASCII)
_POINTS = re.compile(r"\d\.\d{3}(?!\d)", re.ASCII)
_COMMA = re.compile(r"\d+,\d+", re.ASCII)
_DIGITS = re.compile(r"\d", re.ASCII)
_PLAIN_NUMBER = rf"[-+]?\d[\d.,'\u2019{_BLANKS}]*"
_LETTERS = re.compile(r"(?=.*\d)(?=.*[OolI])[\dOolI.,]+", re.ASCII)
_CURRENCY = re.compile(
    rf"(?:[^\W\d_]{{1,4}}\.?|[$\u20ac\u00a3\u00a5\u20b9\u20bd\u00a2])[{_BLANKS}]*{_PLAIN_NUMBER}"
    rf"|{_PLAIN_NUMBER}[{_BLANKS}]*(?:[^\W\d_]{{1,4}}\.?|[$\u20ac\u00a3\u00a5\u20b9\u20bd\u00a2])"
)
TEXT_KIND = "text that is no number"
MARK_ANYWAY = 'If it marks a missing cell, declare it, for example missing_marks=["NA"].'
ODD_TEXT = (TEXT_KIND, "Write the number with digits, a point and a sign before it.")


def _spelled(marks: str) -> str:
    return f"ut.count_table(..., spelling=ut.Spelling({marks}))"


_DECIMAL = _spelled('decimal=","')
_BOTH = _spelled('decimal=",", thousands="."')
POINTS_OF_THOUSANDS = f"If the point separates thousands, declare both marks: {_BOTH}."


def looks_missing(text: str) -> bool:
    """Whether a text is a usual mark of missing cells, such as NA: readers of bins, dates and amounts refuse the text,
    and name it in the error.
    """
    return text.strip().lower() in _MARKS


def missing_kind(mark: str) -> str:
    """The kind of an undeclared missing mark, for messages. The text quotes the mark, because marks are public."""
    return json.dumps(mark.strip(), ensure_ascii=False) + _MISSING_KIND


def named_mark(came: object) -> str | None:
    """The undeclared missing mark in a kind that `missing_kind` returned, or None for other kinds."""
    if not isinstance(came, str) or not came.endswith(_MISSING_KIND):
        return None
    return str(json.loads(came.removesuffix(_MISSING_KIND)))


def declare_mark(came: object, spelling: Spelling) -> str | None:
    """The remedy for the undeclared missing mark in a kind that `missing_kind` returned, or None for other kinds."""
    if named_mark(came) is None:
        return None
    mark = str(came).removesuffix(_MISSING_KIND)
    also = ", in addition to the declared ones" if spelling.missing_marks else ""
    return f"Declare it{also}: {_spelled(f'missing_marks=[{mark}]')}."


def odd_number(text: str, spelling: Spelling) -> tuple[str, str]:
    """Return the kind of a text that is no plain number, and a remedy, for messages."""
    plain = text.strip()
    if looks_missing(plain):
        came = missing_kind(plain)
        by_axis = f'On one axis alone, declare it in the domain file: "missing_marks": [{json.dumps(plain)}].'
        return came, f"{declare_mark(came, spelling)} {by_axis}"
    if not _DIGITS.search(plain):
        return ODD_TEXT
    if plain[0] in _SIGNS:
        return "a number with a typographic minus sign", "Write -500 with the hyphen."
    if plain[0] == "(" and plain[-1] == ")":
        return "a number in parentheses", "Write -500 for (500)."
    if plain[-1] in f"-{_SIGNS}" and _DIGITS.match(plain):
        return "a number with its sign at the end", "Write -500 for 500-."
    if plain[-1] in "%\u2030":
        return "a number with a per cent sign", "Write the number without the sign."
    unsigned = spelling.without_currency(plain).lstrip("+-")
    for mark, (marks, form) in _GROUPS.items():
        if form.fullmatch(unsigned):
            # These marks separate thousands. But a single comma or point before three digits may also be a decimal
            # mark.
            named = {"'": "apostrophe", " ": "space"}.get(mark, mark)
            thousands = _spelled(f'thousands="{named}"')
            remedy = f"If these marks separate thousands, declare the mark: {thousands}."
            if mark == "." and spelling.decimal is None:
                remedy = POINTS_OF_THOUSANDS
            if mark == "," and unsigned.count(",") == 1 and "." not in unsigned and spelling.decimal is None:
                remedy += f" If the comma is a decimal mark: {_DECIMAL}."
                return "a number with a comma before three digits", remedy
            return f"a number with {marks} between thousands", remedy
    if _COMMA.fullmatch(unsigned) and spelling.decimal != ",":
        return "a number with a comma before its decimals", f"Declare the decimal mark: {_DECIMAL}."
    if _LETTERS.fullmatch(unsigned):
        return "a number with a letter in place of a digit", "Write 0 for the letter O, and 1 for l or I."
    if _CURRENCY.fullmatch(plain):
        currency = _spelled('currency="$"')
        remedy = f"Declare the currency: {currency} for $."
        if _COMMAS.search(plain):
            remedy += ' Commas between thousands, too: thousands=",".'
        elif _POINTS.search(plain) and spelling.thousands is None:
            remedy += f" {POINTS_OF_THOUSANDS}"
        elif "," in plain and spelling.decimal is None:
            remedy += ' The comma before decimals, too: decimal=",".'
        return "a number with a currency or a unit", remedy
    return ODD_TEXT
