"""The account of a counting: how many events were read, and what became of them, for the curator's eyes alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
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
        pairs: how many cells of persons there were before any was left out.
        kept_of: what is kept by the bounds on one person: "events", "amount of paid" or "distinct values of page"; None
            where they cut nothing because they are being chosen.
        counted, kept: how much of it there was inside the domain, and how much is left: events, or the sizes of the
            sums of persons in cells.
        without_amount: by column of amounts, how many events inside the domain have none and were left out of its sums.
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
    pairs: int = 0
    kept_of: str | None = None
    counted: int = 0
    kept: int = 0
    without_amount: Mapping[str, int] = field(default_factory=dict)

    def __reduce__(self) -> Any:
        raise Unsupported(
            "the account of a counting is shown and never written",
            came="a pickle or a copy of it",
            remedy="Count again where it is to be seen.",
        )

    @property
    def lost(self) -> tuple[list[str], list[str]]:
        """On which axes events lie outside the domain, and on which they have no value."""
        return [name for name, events in self.outside.items() if events], [
            name for name, events in self.missing.items() if events
        ]

    @property
    def share_kept(self) -> str:
        """How much is kept of all that was read: of events their number, too, of amounts the per cent alone."""
        whole = self.events if self.kept_of == "events" else self.counted
        percent = 100 * self.kept // whole if whole else 100
        shown = "less than 1 %" if percent == 0 and self.kept else f"{percent} %"
        advice = (
            "; fewer than half: `count_contributions` and `utmost bounds` weigh larger bounds" if percent < 50 else ""
        )
        if self.kept_of == "events":
            return f"{self.kept} of {self.events} ({shown}){advice}"
        return f"{shown} of what persons have in cells{advice}"

    @property
    def rows(self) -> dict[str, str]:
        """What is shown, by name."""
        return {
            "events read": str(self.events),
            **({} if self.kept_of is None else {f"{self.kept_of} kept": self.share_kept}),
            "left out": f"{self.left_out} events outside the domain",
            **{f"outside, {name}": f"{count} events" for name, count in self.outside.items()},
            **{f"missing, {name}": f"{count} events" for name, count in self.missing.items()},
            **{
                f"missing, {name}": f"{count} events, left out of its sums"
                for name, count in self.without_amount.items()
            },
            "persons": f"{self.persons} with events inside the domain",
            **({} if self.cut is None else {"moved, each": f"{self.cut} amounts of events, by each"}),
            "moved": f"{self.moved} sums of a person in a cell, by per_cell or in_all",
            "dropped": f"{self.dropped} cells of a person, by at_most",
        }

    def __str__(self) -> str:
        return "\n".join([self.notice, *(f"  {name}: {text}" for name, text in self.rows.items())])
