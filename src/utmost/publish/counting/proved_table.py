"""Tables that were counted from people, as they are known before the file of any of them is loaded."""

from utmost.core.exact.arguments import optional, text
from utmost.errors import OutOfRange

_LONGEST_INDIVIDUAL = 200

BY_COUNTING = "by counting"
"""The word in JSON for a unit that is proved, since utmost counted the table."""


class ProvedTable:
    """A table that knows its own labels, and what one individual changes; `CountedTable` is one."""

    __slots__ = ()


def read_proved(fact: object, name: str) -> bool:
    """Whether a unit is proved, from JSON.

    Raises:
        OutOfRange: for another word.
    """
    if fact != BY_COUNTING:
        raise OutOfRange(f'{name} must be "{BY_COUNTING}", or left out', came=repr(fact), remedy="Leave it out.")
    return True


def written_proved(proved: bool) -> str | None:
    """The same as JSON; None, which is left out, where the unit is declared."""
    return BY_COUNTING if proved else None


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
    required = f"individual must be 1 to {_LONGEST_INDIVIDUAL} printable characters without a full stop"
    remedy = 'Write individual="one household", say.'
    raise OutOfRange(required, came=repr(individual), remedy=remedy)
