"""One number, figure or claim of a paper beside what the library computes."""

from dataclasses import dataclass
from typing import Any

EQUAL, CORRECTED, EXTENDED, DIFFERS = "equal", "corrected", "extended", "DIFFERS"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One printed result of a paper, the value that was found, and how the two agree.

    Attributes:
        verdict: "equal" to what is printed; "corrected" where the print is wrong and the value found is the known right
            one; "extended" where the paper gives no value and the one found is the known one; "DIFFERS" otherwise.
    """

    place: str
    what: str
    paper: str
    found: str
    verdict: str
    note: str = ""


def equal(place: str, what: str, printed: Any, computed: Any, *, shown: tuple[str, str] | None = None) -> Comparison:
    """The printed value against the found one; ``shown`` is how the two are written where they are long."""
    paper, here = shown or (str(printed), str(computed))
    return Comparison(place, what, paper, here, EQUAL if printed == computed else DIFFERS)


def counted(
    place: str, what: str, right: int, cases: int, printed: str = "always", computed: str = "{} of {}, exactly"
) -> Comparison:
    """A statement for all, of so many cases; ``computed`` is how the two numbers are written."""
    return equal(place, what, cases, right, shown=(printed, computed.format(right, cases)))


def corrected(place: str, what: str, printed: str, known: Any, computed: Any, note: str) -> Comparison:
    """A misprint or a claim that does not hold, against the right value, which must be found."""
    return Comparison(place, what, printed, str(computed), CORRECTED if known == computed else DIFFERS, note)


def extended(place: str, what: str, known: Any, computed: Any, note: str = "") -> Comparison:
    """A value that the paper does not print, against the known one."""
    return Comparison(place, what, "", str(computed), EXTENDED if known == computed else DIFFERS, note)


def rounded(number: Any, digits: int) -> str:
    """A number to so many significant digits, so that prints can be compared.

    >>> rounded(1.19423215531, 6)
    '1.19423'
    """
    return f"{float(number):.{digits}g}"
