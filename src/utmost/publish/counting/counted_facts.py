"""Fields of a counted table's file besides unit and cells, such as its measure. This module loads fast."""

from dataclasses import dataclass, field, fields
from typing import Any

from utmost.core.exact.arguments import optional, text, truth
from utmost.core.exact.field_forms import form
from utmost.errors import OutOfRange, WrongKind

_LONGEST_INDIVIDUAL = 200

Part = tuple[str, str]
"""The name of a partition of individuals into disjoint parts, and the name of a part."""

BY_COUNTING = "by counting"
"""The JSON value for a unit that is proved because utmost counted the table."""


def read_proved(fact: object, name: str) -> bool:
    """Return True for the JSON value that says that counting proved the unit; refuse every other value."""
    if fact != BY_COUNTING:
        raise OutOfRange(f'{name} must be "{BY_COUNTING}", or left out', came=repr(fact), remedy=f"Leave out {name}.")
    return True


def read_individual(individual: str | None) -> str | None:
    """Check a description of one individual: a short text of one line without a full stop."""
    optional(individual, text, "individual")
    if individual is None:
        return None
    is_plain = individual.isprintable() and individual == individual.strip().rstrip(".")
    if is_plain and 0 < len(individual) <= _LONGEST_INDIVIDUAL:
        return individual
    required = f"individual must be 1 to {_LONGEST_INDIVIDUAL} printable characters without a full stop"
    remedy = 'Write, for example, individual="one household".'
    raise OutOfRange(required, came=repr(individual), remedy=remedy)


def read_part(part: object) -> Part | None:
    """Check a pair of names, one of a partition and one of a part of it; None stands for no partition."""
    if part is None:
        return None
    if not isinstance(part, list | tuple) or len(part) != 2 or not all(isinstance(name, str) for name in part):
        raise WrongKind("part must be two names: the name of the partition, and the name of the part", where="part")
    return part[0], part[1]


EACH_ROW = "one row: for a person with k rows epsilon is k times as large"
"""The description of one individual where each row counts as another person; counting cannot check this."""

_PROVED: dict[str | bool, str] = {
    BY_COUNTING: "proved: utmost counts the table, and keeps of each individual no more than this",
    False: "declared by the publisher: nothing shows that utmost counted the table",
}

PART_FORM = form("partition and part", write=list)
INDIVIDUAL_FORM = form("one individual is", hint="For example one household.")
PROVED_FORM = form(
    "what one individual changes is",
    words=_PROVED,
    write=lambda proved: BY_COUNTING if proved else None,  # the field of a declared unit is left out
    read=read_proved,
)
"""JSON forms of those fields that a promise has, too."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CountedFacts:
    """The facts that every file of a counted table has beside its unit and cells."""

    # The fields are explained at `CountedTable`. `Promise.of_table` copies each field that a promise has, too.
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

    def counted_facts(self) -> dict[str, Any]:
        """Return the fields of `CountedFacts` by name."""
        return {each.name: getattr(self, each.name) for each in fields(CountedFacts)}
