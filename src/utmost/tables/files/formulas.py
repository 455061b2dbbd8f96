"""Find text that a spreadsheet would compute, by one rule for every text file that is written.

A CSV file has no types of cells: a spreadsheet computes text after "=" as a formula, which may call other programs and
open addresses (`=HYPERLINK(...)`). Labels of public columns come from users' files, so a written file must not contain
text that becomes a formula.
"""

import re
from collections.abc import Iterable, Iterator

from utmost.errors import BadTable

# Before a formula, spreadsheets skip blanks, control characters, byte order marks and quotes. They accept full-width
# signs.
_SKIPPED = rb"(?:[\x00-\x20\x7f\x27]|\xc2\xa0|\xe2\x80[\x80-\x8f]|\xe3\x80\x80|\xef\xbb\xbf)*"
_SIGN = rb"(?:[+\-@]|\xef\xbc[\x8b\x8d\xa0])"
_EQUALS = rb"(?:=|\xef\xbc\x9d)"
_NUMBER = rb"[0-9.]+(?:[eE][+\-]?[0-9]+)?(?:[,;|\t\r\n]|\Z)"
_NO_NUMBER = rb"(?!" + _NUMBER + rb")"
# A label such as "-5 to 0", "+65" or "-" is no formula: it neither calls a program nor refers to another file. A label
# with a comma is in quotes. A spreadsheet with another separator reads the text after that separator as a cell.
_FORMULA = re.compile(
    rb"(?:\A|[,;|\t\r\n])" + _SKIPPED
    + rb"(?:(?:\"" + _SKIPPED + rb")*" + _EQUALS
    + rb"|\"" + _SKIPPED + _SIGN + rb"(?:[^\"]|\"\")*?[(!\[|]"
    + rb"|" + _SIGN + _NO_NUMBER + rb"[^,;|\t\r\n\"]*(?:[(!\[]|\|[^|\t\r\n\"]*!))"
)  # fmt: skip
# Every formula contains one of these marks, so a table of numbers need not be searched.
_MARKS = (b"=", b"(", b"!", b"[", b"|", b"\xef\xbc\x9d")
# The possible beginning of a formula. In a long table whose labels contain brackets, this search is five times as fast.
_MAYBE = re.compile(
    rb"[=+\-@\xef](?<![^\x00-\x20,;|'\"\x7f\xa0\x80-\x8f\xbf].)(?!(?<=[,;|\t\r\n][+\-])" + _NUMBER + rb")", re.DOTALL
)


def is_computed(text: bytes) -> bool:
    """Whether a spreadsheet would compute a cell of a CSV file, or a part of the cell."""
    is_likely = any(mark in text for mark in _MARKS) and _MAYBE.search(text) is not None
    return is_likely and _FORMULA.search(text) is not None


def without_formulas(pieces: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Yield the pieces (rows, bytes) of a text file unchanged; refuse a cell that a spreadsheet would compute."""
    for rows, text in pieces:
        if is_computed(text):
            raise BadTable(
                "a text file must have no text that spreadsheets compute: text after =, or a call after +, - or @",
                came="a name or label that begins like this",
                remedy="Write .xlsx, .parquet or .jsonl, which keep it as text; or rename it.",
            )
        yield rows, text
