"""Compare a number, figure or claim of a paper with the value that the library computes."""

from dataclasses import dataclass
from typing import Any

EQUAL, CORRECTED, EXTENDED, DIFFERS = "equal", "corrected", "extended", "DIFFERS"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a paper prints, what the library computes for it, and the verdict: whether the two agree."""

    place: str
    what: str
    paper: str
    found: str
    # "equal" if the computed value is the printed one. If the computed value is known to be right, "corrected" means
    # that the printed value is wrong, and "extended" that the paper prints none. Otherwise "DIFFERS".
    verdict: str
    note: str = ""


def equal(place: str, what: str, printed: Any, computed: Any, *, shown: tuple[str, str] | None = None) -> Comparison:
    """Compare a printed and a computed value; ``shown`` replaces the texts of the printed and the computed value."""
    paper, here = shown or (str(printed), str(computed))
    return Comparison(place, what, paper, here, EQUAL if printed == computed else DIFFERS)


def counted(
    place: str, what: str, right: int, cases: int, printed: str = "always", computed: str = "{} of {}, exactly"
) -> Comparison:
    """Compare the number ``right`` of cases in which a statement is true with the number of all cases. ``computed`` is
    the text for both numbers.
    """
    return equal(place, what, cases, right, shown=(printed, computed.format(right, cases)))


def corrected(place: str, what: str, printed: str, known: Any, computed: Any, note: str) -> Comparison:
    """Compare a computed value with the value known to be right, where the paper has a misprint or claims too much."""
    return Comparison(place, what, printed, str(computed), CORRECTED if known == computed else DIFFERS, note)


def extended(place: str, what: str, known: Any, computed: Any, note: str = "") -> Comparison:
    """Compare a computed value with the value known to be right, where the paper prints no value."""
    return Comparison(place, what, "", str(computed), EXTENDED if known == computed else DIFFERS, note)


def rounded(number: Any, digits: int) -> str:
    """Return a number rounded to significant digits: "1.19423" for 1.19423215531 and 6."""
    return f"{float(number):.{digits}g}"
