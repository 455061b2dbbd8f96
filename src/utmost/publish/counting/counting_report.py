"""The counting report for the curator: how many events were read, clipped, removed and left out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from utmost.errors import Unsupported

SIMILAR = "whose identifiers differ only by blanks, leading zeros, capitals or Unicode form"
"""Words after "persons" that say which persons are similar."""


def percent_lost(count: int, events: int) -> str:
    """Return ``count / events`` as text in per cent, rounded up so that no loss is "0 %"; with tenths below 10 %."""
    tenths = -(-1000 * count // events)
    return f"{tenths / 10:g} %" if tenths < 100 else f"{-(-100 * count // events)} %"


_SUM_BOUNDS = "per_cell, most_events or in_total"


@dataclass(frozen=True, slots=True)
class CountingReport:
    """True numbers of events counted, clipped, removed and left out. No published file contains these numbers."""

    notice: ClassVar[str] = "Confidential, for the curator only: true counts, which no published file contains."

    events: int  # events that were read
    outside_domain: int  # events that have an undeclared value or no value on some axis, or that no measure counts
    # By axis, or by column of distinct values: events with an undeclared value (0 if the axis has `other`).
    outside: Mapping[str, int]
    missing: Mapping[str, int]  # by axis or column, too: events without a value (0 if the axis has `missing`)
    persons: int  # persons with an event inside the domain
    clipped_sums: int  # (person, cell) pairs clipped by per_cell or in_total, or with distinct values left out
    removed: int  # (person, cell) pairs removed by at_most, or by the choice of one part
    # by amount: events inside the domain whose amount was clipped
    clipped_amounts: Mapping[str, int] = field(default_factory=dict)
    pairs: int = 0  # (person, cell) pairs before any was removed
    # The quantity of `counted` and `kept`: "events", "amount of paid", "distinct values of page"; None without bounds.
    kept_of: str | None = None
    counted: int = 0  # events, or sizes of persons' sums, inside the domain
    kept: int = 0  # events, or sizes of persons' sums, within the bounds on one person
    without_amount: Mapping[str, int] = field(
        default_factory=dict
    )  # by amount: events inside the domain without this amount
    # By axis: events whose value begins with a zero that was ignored, such as 01005 where numbers or 1005 are declared.
    leading_zeros: Mapping[str, int] = field(default_factory=dict)
    # Persons whose identifier differs from another one only by blanks, leading zeros, capitals or Unicode form
    similar_persons: int = 0
    counts_once: bool = False  # whether all events of a person in a cell count as one

    def __reduce__(self) -> Any:
        raise Unsupported(
            "a counting report cannot be pickled or copied",
            came="a pickle or a copy",
            remedy="Count again where the report is needed, or store report.facts().",
        )

    def of_measure(self, amount: str | None) -> "CountingReport":
        """Return the report of one measure among several: without the missing and clipped amounts of other measures."""
        own = (
            {name: n for name, n in each.items() if name == amount}
            for each in (self.clipped_amounts, self.without_amount)
        )
        clipped, without = own
        return replace(self, clipped_amounts=clipped, without_amount=without)

    @property
    def lost(self) -> tuple[list[str], list[str]]:
        """The axes with events outside the domain, and the axes with events without a value."""
        return [name for name, events in self.outside.items() if events], [
            name for name, events in self.missing.items() if events
        ]

    @property
    def percent_kept(self) -> int:
        """The kept percentage of all events that were read, or of the total amount inside the domain, rounded down."""
        whole = self.events if self.kept_of == "events" else self.counted
        return 100 * self.kept // whole if whole else 100

    @property
    def keeps_half(self) -> bool:
        """Whether the bounds keep at least half of the events (else `FewEventsKept`); exactly half is enough.

        If a person counts once in a cell, (person, cell) pairs are compared in place of events.
        """
        if self.counts_once:
            return 2 * self.removed <= self.pairs
        return 2 * self.kept >= self.counted

    @property
    def share_kept(self) -> str:
        """`percent_kept` as text; if events are counted, with their number; if less than half is kept, with advice."""
        whole = self.events if self.kept_of == "events" else self.counted
        tenths = 1000 * self.kept // whole if whole else 1000
        shown = "less than 0.1 %" if tenths == 0 and self.kept else f"{tenths / 10:g} %"
        advice = "; all events of a person in a cell count as one" if self.counts_once and self.clipped_sums else ""
        if not self.keeps_half:
            advice = "; fewer than half: `count_contributions` and `utmost bounds` test larger bounds"
        if self.kept_of == "events":
            return f"{self.kept} of {self.events} ({shown}){advice}"
        return f"{shown} of what persons have in cells{advice}"

    @property
    def rows(self) -> dict[str, str]:
        """The lines of the report for a screen, as {name: text}."""
        gone = self.without_amount
        return {
            "events read": str(self.events),
            **({} if self.kept_of is None else {f"{self.kept_of} kept": self.share_kept}),
            "outside the domain": self._with_percent(self.outside_domain),
            **{f"outside, {name}": self._with_percent(count) for name, count in self.outside.items()},
            **{f"missing and left out, {name}": self._with_percent(count) for name, count in self.missing.items()},
            **{f"missing, {name}": f"{count} events, left out of its sums" for name, count in gone.items()},
            **{
                f"leading zeros, {name}": self._with_percent(count)
                for name, count in self.leading_zeros.items()
                if count
            },
            "persons": f"{self.persons} with events inside the domain",
            **({"similar persons": f"{self.similar_persons}, {SIMILAR}"} if self.similar_persons else {}),
            **{f"clipped, {name}": f"{count} amounts of events" for name, count in self.clipped_amounts.items()},
            **(
                {"several events in a cell": f"{self.clipped_sums} times; there a person counts once"}
                if self.counts_once
                else {"clipped sums": f"{self.clipped_sums} sums of a person in a cell, by {_SUM_BOUNDS}"}
            ),
            "removed by at_most": f"{self.removed} of {self.pairs} (person, cell) pairs"
            + (f" ({percent_lost(self.removed, self.pairs)})" if self.removed else ""),
        }

    def losses(self, amount_bound: str = "--each", sum_bound: str | None = "--per-cell or --in-total") -> list[str]:
        """Name, without any number, the options and the columns because of which something was not counted."""
        # `sum_bound` is None where a person counts once in a cell: further events of a person are then no loss.
        outside, missing = self.lost
        return [
            *(["--at-most"] if self.removed else []),
            *([sum_bound] if self.clipped_sums and sum_bound else []),
            *([amount_bound] if any(self.clipped_amounts.values()) else []),
            *(f"values of {name} outside the domain" for name in outside),
            *(f"missing values of {name}" for name in missing),
            *(f"missing amounts of {name}" for name, count in self.without_amount.items() if count),
        ]

    def _with_percent(self, count: int) -> str:
        """Return a number of events, and its percentage of all events read, rounded up."""
        return f"{count} events" + (f" ({percent_lost(count, self.events)})" if count else "")

    def facts(self) -> dict[str, Any]:
        """Return the report as JSON values, which are as confidential as the data."""
        return {
            "kind": "utmost counting report",
            "warning": self.notice,
            "events": self.events,
            "kept_of": self.kept_of,
            "counted": self.counted,
            "kept": self.kept,
            "percent_kept": self.percent_kept,
            "outside_domain": self.outside_domain,
            "outside": dict(self.outside),
            "missing_left_out": dict(self.missing),
            "without_amount": dict(self.without_amount),
            "leading_zeros": dict(self.leading_zeros),
            "persons": self.persons,
            "similar_persons": self.similar_persons,
            "clipped_amounts": dict(self.clipped_amounts),
            "clipped_sums": self.clipped_sums,
            "removed": self.counted - self.kept,
            "removed_cells_of_persons": self.removed,
            "cells_of_persons": self.pairs,
        }

    def __str__(self) -> str:
        return "\n".join([self.notice, *(f"  {name}: {text}" for name, text in self.rows.items())])
