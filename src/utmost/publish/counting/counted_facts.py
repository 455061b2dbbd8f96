"""The record of what a counted table says of itself, known before the file of counted tables is loaded."""

from dataclasses import dataclass, field, fields
from typing import Any

from utmost.core.exact.arguments import optional, text, truth
from utmost.core.exact.field_forms import form
from utmost.errors import OutOfRange, WrongKind

_LONGEST_INDIVIDUAL = 200

Part = tuple[str, str]
"""A partition of individuals into parts that share nobody, and one part of it."""

BY_COUNTING = "by counting"
"""The word in JSON for a unit that is proved, since utmost counted the table."""


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


def read_part(part: object) -> Part | None:
    """A partition, and one part of it."""
    if part is None:
        return None
    if not isinstance(part, list | tuple) or len(part) != 2 or not all(isinstance(name, str) for name in part):
        raise WrongKind("a part must be two names: of the partition, and of the part", where="part")
    return part[0], part[1]


_PROVED: dict[str | bool, str] = {
    BY_COUNTING: "proved: utmost counts the table, and keeps of each individual no more than this",
    False: "declared by the publisher: nothing shows that utmost counted the table",
}

PART_FORM = form("partition and part", write=list)
INDIVIDUAL_FORM = form("one individual is", hint="For example one household. A counted table says it itself.")
PROVED_FORM = form("what one individual changes is", words=_PROVED, write=written_proved, read=read_proved)
"""The forms of the fields that a promise has, too."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CountedFacts:
    """The facts that a counted table says of itself beside its unit; every `CountedTable` is such a record.

    A file of the table has each field. A promise takes over each field that it has, too: see `Promise.of_table`.

    Attributes:
        part: Partition and this part of it, where individuals were split into parts that share nobody.
        together: Axis along which the cells that one individual changes are whole rows; None where they are any cells.
        measure: Name of what was counted, where several measures were counted in one pass.
        individual: Who one individual is, in words; None where nobody said it.
        proved: Whether utmost counted the table, and so kept of each individual no more than the unit says.
    """

    part: Part | None = field(default=None, metadata=PART_FORM)
    together: str | None = field(default=None, metadata=form("cells kept together along"))
    measure: str | None = field(default=None, metadata=form("measure"))
    individual: str | None = field(default=None, metadata=INDIVIDUAL_FORM)
    proved: bool = field(default=False, metadata=PROVED_FORM)

    def __post_init__(self) -> None:
        object.__setattr__(self, "part", read_part(self.part))
        optional(self.together, text, "together")
        optional(self.measure, text, "measure")
        read_individual(self.individual)
        truth(self.proved, "proved")

    def said(self) -> dict[str, Any]:
        """The fields of this record by name."""
        return {each.name: getattr(self, each.name) for each in fields(CountedFacts)}
