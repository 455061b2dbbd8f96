"""Tables that were counted from people, as they are known before the file of any of them is loaded."""

from utmost.core.exact.arguments import optional, text
from utmost.errors import OutOfRange

_LONGEST_INDIVIDUAL = 200


class ProvedTable:
    """A table that knows its own labels, and what one individual changes; `CountedTable` is one."""

    __slots__ = ()


def read_individual(individual: str | None) -> str | None:
    """Who one individual is, in a few words that a sentence can hold.

    Raises:
        WrongKind, OutOfRange: for what is no text of one line, or a long one.
    """
    optional(individual, text, "individual")
    if individual is None:
        return None
    is_plain = individual.isprintable() and individual == individual.strip().rstrip(".")
    if is_plain and 0 < len(individual) <= _LONGEST_INDIVIDUAL:
        return individual
    required = f"who one individual is must be said in 1 to {_LONGEST_INDIVIDUAL} printable characters, without a stop"
    remedy = 'Write individual="one household", say.'
    raise OutOfRange(required, came=repr(individual), where="individual", remedy=remedy)
