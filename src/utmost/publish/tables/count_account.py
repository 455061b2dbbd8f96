"""The account of a counting: how many events were read, and what became of them, for the curator's eyes alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from utmost.errors import Unsupported


@dataclass(frozen=True, slots=True)
class CountAccount:
    """What became of the events that were counted; true numbers, which are shown and never written.

    Attributes:
        events: how many were read.
        left_out: how many of them lie outside the domain, on any axis, or have no value there, or count in nothing.
        outside: by axis, how many have a value that is not declared; an ``other`` takes these in, and none is outside.
            Beside the axes, the same of the columns whose distinct values are counted.
        missing: by axis, how many have no value there; an ``other`` takes these in, too.
        persons: how many persons have an event inside the domain.
        moved: of how many cells of persons the sum was moved into ``per_cell``, or cut by ``in_all``, or distinct
            values were left out.
        dropped: how many cells of persons ``at_most`` or the choice of one part left out.
        cut: of how many events inside the domain the amount was moved into ``each``; None where nothing was said of it.
    """

    notice: ClassVar[str] = "Confidential, for the curator's eyes: true counts, which nothing that is written contains."

    events: int
    left_out: int
    outside: Mapping[str, int]
    missing: Mapping[str, int]
    persons: int
    moved: int
    dropped: int
    cut: int | None = None

    def __reduce__(self) -> Any:
        raise Unsupported(
            "the account of a counting is shown and never written",
            came="a pickle or a copy of it",
            remedy="Count again where it is to be seen.",
        )

    @property
    def rows(self) -> dict[str, str]:
        """What is shown, by name."""
        return {
            "events read": str(self.events),
            "left out": f"{self.left_out} events outside the domain",
            **{f"outside, {name}": f"{count} events" for name, count in self.outside.items()},
            **{f"missing, {name}": f"{count} events" for name, count in self.missing.items()},
            "persons": f"{self.persons} with events inside the domain",
            **({} if self.cut is None else {"moved, each": f"{self.cut} amounts of events, by each"}),
            "moved": f"{self.moved} sums of a person in a cell, by per_cell or in_all",
            "dropped": f"{self.dropped} cells of a person, by at_most",
        }

    def __str__(self) -> str:
        return "\n".join([self.notice, *(f"  {name}: {text}" for name, text in self.rows.items())])
