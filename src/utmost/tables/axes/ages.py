"""The axis of ages: groups of completed years of age on a given day, read from birth dates."""

from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction

from utmost.core.exact.arguments import instance, text, wrong_kind
from utmost.errors import OutOfRange
from utmost.tables.axes.axes import Axis, Label
from utmost.tables.axes.clock import read_time, time_at
from utmost.tables.axes.ordered_axes import BinEdges, DeclaredGroups, edges
from utmost.tables.axes.time_patterns import time_pattern
from utmost.tables.cells.spelling import PLAIN_SPELLING, Spelling

_LARGEST = 200  # years of the oldest age


def ages(
    column: str,
    listed: BinEdges,
    *,
    on: str | date,
    groups: DeclaredGroups | None = None,
    spelling: Spelling = PLAIN_SPELLING,
    other: Label | None = None,
    missing: Label | None = None,
) -> Axis:
    """An axis of age groups: the age, in completed years on a declared day, is computed from birth dates.

    A person completes a year on the birthday; a person born on 29 February completes it on 1 March in years without
    this day. Birth dates after the declared day, and ages outside the groups, are outside the domain.

    Args:
        column: Column of birth dates: dates, or text that `periods` reads.
        listed: Ages at which groups begin, ascending, followed by the age at which the last group ends, or by None if
            the last group has no end: ``[0, 18, 30, 45, 65, None]``. ``range(0, 101)`` makes groups of single years.
        on: Day on which ages are computed, such as "2025-01-01".
        groups: Dict from names to coarser levels, as for `edges`.
        spelling: Pattern of dates in text, and missing marks: ``Spelling(pattern="%d.%m.%Y")``.
        other: Label for birth dates outside the domain; if None, they are left out.
        missing: Label for missing birth dates; if None, they count as ``other``, or are left out.

    Raises:
        OutOfRange, NotANumber: if the ages do not ascend, are no integers or exceed 200, or if the day is invalid.

    >>> age = ages("birth_date", [0, 18, 65, None], on="2025-01-01").named("age")
    >>> age.labels[0], age.columns
    (('0 to 17', '18 to 64', '65+'), ('birth_date',))
    >>> [age.place(born) for born in ("2007-01-01", "2007-01-02", "2025-01-02")]
    [1, 0, None]
    """
    text(column, "column")
    if not isinstance(on, str | date):
        raise wrong_kind("on", "a day, such as 2025-01-01", on)
    if isinstance(listed, range):
        listed = list(listed)
    day = time_at(read_time(on.date() if isinstance(on, datetime) else on, "on")).date()
    axis = edges(listed, groups=groups, spelling=spelling, other=other, missing=missing, column=column)
    finite = [edge for edge in axis.edges or () if isinstance(edge, Fraction)]
    if (
        axis.edges is None
        or axis.edges[0] != finite[0]
        or not axis.whole
        or not 0 <= finite[0] <= finite[-1] <= _LARGEST
    ):
        remedy = "Pass, for example, [0, 18, 30, 45, 65, None]."
        raise OutOfRange(f"ages must be integers from 0 to {_LARGEST}", came="other values", remedy=remedy)
    if day.year <= finite[-1]:
        raise OutOfRange(
            "on= must be later than the birth of the oldest person counted",
            came=str(day),
            remedy='Pass, for example, on="2025-01-01".',
        )
    if instance(spelling, Spelling, "spelling").pattern is not None:
        time_pattern(str(spelling.pattern))
    return replace(axis, on=day)
