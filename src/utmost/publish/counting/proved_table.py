"""Tables that were counted from people, as they are known before the file of any of them is loaded."""

from utmost.core.exact.arguments import optional, text
from utmost.errors import OutOfRange

_LONGEST_INDIVIDUAL = 200


class ProvedTable:
    """A table that knows its own labels, and what one individual changes; `CountedTable` is one."""

    __slots__ = ()


def read_individual(individual: object) -> str | None:
    """Who one individual is, in a few words that a sentence can hold.

    Raises:
        WrongKind, OutOfRange: for what is no text of one line, or a long one.
    """
    words = optional(individual, text, "individual")
    if words is None or (
        0 < len(words) <= _LONGEST_INDIVIDUAL and words.isprintable() and words == words.strip().rstrip(".")
    ):
        return words
    required = f"who one individual is must be said in 1 to {_LONGEST_INDIVIDUAL} printable characters, without a stop"
    raise OutOfRange(required, came=repr(words), where="individual", remedy='Write individual="one household", say.')
