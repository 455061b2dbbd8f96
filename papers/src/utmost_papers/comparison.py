"""Comparisons of a number, figure or claim of a paper with the value that the library computes."""

from dataclasses import dataclass
from typing import Any

EQUAL, CORRECTED, EXTENDED, DIFFERS = "equal", "corrected", "extended", "DIFFERS"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A printed result of a paper, the computed value, and the verdict."""

    place: str
    what: str
    paper: str
    found: str
    # "equal" to the print; "corrected" if the print is wrong and the computed value is the known right one; "extended"
    # if the paper gives no value and the computed value is the known one; otherwise "DIFFERS".
    verdict: str
    note: str = ""


def equal(place: str, what: str, printed: Any, computed: Any, *, shown: tuple[str, str] | None = None) -> Comparison:
    """Compare a printed and a computed value; ``shown`` is how to write the two if they are long."""
    paper, here = shown or (str(printed), str(computed))
    return Comparison(place, what, paper, here, EQUAL if printed == computed else DIFFERS)


def counted(
    place: str, what: str, right: int, cases: int, printed: str = "always", computed: str = "{} of {}, exactly"
) -> Comparison:
    """Compare the number of cases in which a statement holds with all cases; ``computed`` formats both numbers."""
    return equal(place, what, cases, right, shown=(printed, computed.format(right, cases)))


def corrected(place: str, what: str, printed: str, known: Any, computed: Any, note: str) -> Comparison:
    """Compare a computed value with the known right value, where the paper has a misprint or a wrong claim."""
    return Comparison(place, what, printed, str(computed), CORRECTED if known == computed else DIFFERS, note)


def extended(place: str, what: str, known: Any, computed: Any, note: str = "") -> Comparison:
    """Compare a computed value that the paper does not print with the known value."""
    return Comparison(place, what, "", str(computed), EXTENDED if known == computed else DIFFERS, note)


def rounded(number: Any, digits: int) -> str:
    """Return a number with this many significant digits: "1.19423" for 1.19423215531 and 6."""
    return f"{float(number):.{digits}g}"
