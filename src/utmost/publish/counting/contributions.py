"""How many persons each bound would leave whole: what `at_most` and `per_cell` are chosen by, counted like any table.

Each person falls into one cell, that of the least bound which cuts nothing of that person. The cell is a function of
the person's own rows, so one person changes one cell by 1: docs/theory/counting.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import optional, text, wrong_kind
from utmost.core.exact.long_work import long_work
from utmost.core.exact.numbers import Number, exact_integer
from utmost.core.privacy.amount import Amount
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange
from utmost.publish.counting.bounding import Pairs, begins
from utmost.publish.counting.counted import CountedTable
from utmost.publish.counting.counted_events import Kept, counted_cells, read_outside
from utmost.publish.counting.counted_measures import Bounds, Measure, MeasureSpec
from utmost.publish.counting.counting_plan import Counting
from utmost.publish.counting.declared_axes import declared_domain
from utmost.tables.axes.axes import Label, plain
from utmost.tables.axes.domain import Domain
from utmost.tables.cells.event_batches import Progress, declared_spelling
from utmost.tables.cells.spelling import Spelling

_FITS = 1 << 62

MORE = "more"
"""The label of the persons whom even the largest bound cuts."""

AT_MOST, PER_CELL, IN_ALL = "at_most", "per_cell", "in_all"
"""Which bound is to be chosen, as `count_table` calls it: the only axis of a table of contributions."""


@long_work("Counting contributions")
def count_contributions(
    events: Any,
    *,
    person: str,
    domain: Domain | Mapping[str, Any] | None = None,
    by: str | Sequence[str] | None = None,
    at_most: Sequence[int] | None = None,
    per_cell: Sequence[Number] | None = None,
    in_all: Sequence[Number] | None = None,
    values: str | None = None,
    step: Number | None = None,
    each: Bounds | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    missing_marks: Sequence[str | int] = (),
    neighbours: str = "add-remove",
    outside: str | None = None,
    progress: Progress | None = None,
) -> CountedTable:
    """Count of how many persons each of some bounds is the least that cuts nothing, to choose one for `count_table`.

    The words are those of `count_table`, with a list of bounds in place of the one that is to be chosen: ``at_most`` by
    in how many cells a person has events, ``per_cell`` by the largest size of a person's sum in a cell, ``in_all`` by
    the sizes of a person's sums in all cells together.

    Args:
        events, person, domain, by: as for `count_table`; the domain is that of the table which is to be published.
        at_most: bounds for the cells of a person, ascending, >= 1, such as ``range(1, 21)`` or [1, 2, 5, 10].
        per_cell: instead, bounds for a person's sum in a cell: of events, or of ``values`` in their own unit.
        in_all: or bounds for the sizes of all sums of a person, added up.
        values, step, each: of ``per_cell`` and ``in_all``, as for `count_table`.
        decimal, thousands, missing_marks, neighbours, outside, progress: as for `count_table`.

    Returns:
        A table over one axis, called "at_most", "per_cell" or "in_all", whose labels are the bounds and "more", with
        ``Unit(1, 1)``. It holds true counts: release it like any other table, see `bound_costs`. Persons without
        events in the domain, or whose sums are all 0, are in no cell.

    Raises:
        OutOfRange: for none or several of the lists, bounds that do not ascend from above 0, and ``values`` of
            ``at_most``.
        NotDeclared, BadTable, Unsupported: as `count_table`.

    Warns:
        NothingCounted, RowsLeftOut: as `count_table`.

    Cost: as `count_table`, without the hashes.

    >>> events = {"user": ["ann", "ann", "bob", "ann"], "page": ["A", "B", "A", "A"]}
    >>> pages = Domain(page=["A", "B", "C"])
    >>> count_contributions(events, person="user", domain=pages, at_most=[1, 2]).table("at_most")
    {'at_most': array(['1', '2', 'more'], dtype='<U21'), 'count': array([1, 1, 0])}
    >>> count_contributions(events, person="user", domain=pages, per_cell=[1]).table("per_cell")["count"].tolist()
    [1, 1]
    """
    person, values, neighbours = (
        text(person, "person"),
        optional(values, text, "values"),
        text(neighbours, "neighbours"),
    )
    lists: dict[str, Sequence[Number] | None] = {AT_MOST: at_most, PER_CELL: per_cell, IN_ALL: in_all}
    spelling = Spelling.of(decimal, thousands, missing_marks).beside(declared_spelling(events))
    stated = [name for name, bounds_of in lists.items() if bounds_of is not None]
    if len(stated) != 1:
        remedy = "Pass at_most=[1, 2, 5, 10], say; or per_cell=[10, 100] or in_all=[10, 100] to choose that."
        came = " and ".join(f"{name}=" for name in stated) or "none"
        raise OutOfRange("one bound is chosen at a time", came=came, remedy=remedy)
    if stated == [AT_MOST] and not (values is None and step is None and each is None):
        remedy = "Leave values=, step= and each= out: at_most is chosen by where a person has events."
        raise OutOfRange("at_most is of events", came="amounts", remedy=remedy)
    name, listed = stated[0], lists[stated[0]]
    if isinstance(listed, str) or not isinstance(listed, Sequence):
        raise wrong_kind(name, "a list of bounds", listed)
    largest = listed[-1] if name != AT_MOST and listed else None
    measure = Measure.of(MeasureSpec(values=values, step=step, each=each, per_cell=largest), each_row=False)
    bounds = _bounds(listed, name, measure.amount)
    plan = Counting.of(declared_domain(domain, by), by, None, person, (measure,), spelling)
    sized = _Sized(plan, 1, None, b"", bounds=bounds, of=name)
    flat, kind, account = counted_cells(events, sized, progress, read_outside(outside))
    labels: list[Label] = [_label(bound, measure.amount) for bound in bounds]
    unit = Unit(1, 1, neighbours, nonnegative=neighbours == "change-one")
    assert isinstance(flat, np.ndarray), "there are few bounds"
    return CountedTable(Domain({name: plain(labels, other=MORE)}), flat, unit, kind, account=account)


def _bounds(listed: Sequence[Number], name: str, amount: Amount | None) -> tuple[int, ...]:
    """The bounds, of amounts in steps."""
    read = tuple(exact_integer(bound, name) if amount is None else amount.steps(bound, name) for bound in listed)
    if not read or read[0] < 1 or any(low >= high for low, high in pairwise(read)):
        remedy = f"Pass {name}=[1, 2, 5, 10], say."
        raise OutOfRange(f"the bounds of {name} must ascend from above 0", came=list(listed), remedy=remedy)
    return read


def _label(bound: int, amount: Amount | None) -> Label:
    """A bound as it is written, of amounts in their own unit."""
    number = Fraction(bound) if amount is None else bound * amount.step
    return int(number) if number.denominator == 1 or amount is None else amount.text(bound)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Sized(Kept):
    """How events are read, and into which cell a person falls: that of the least bound which is not passed."""

    bounds: tuple[int, ...] = field(kw_only=True)
    of: str = field(kw_only=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return _sized, (self.plan, self.bounds, self.of)

    @property
    def size(self) -> int:
        """How many cells there are: one for each bound, and one for those who pass them all."""
        return len(self.bounds) + 1

    @property
    def kept_of(self) -> None:
        """Nothing: no bound cuts."""

    @property
    def bound(self) -> int:
        """The largest size of what one person changes in a cell."""
        return 1

    def chosen(self, pairs: Pairs, texts: Sequence[str]) -> Pairs:
        """The cell of each of these persons, all of whose pairs these are."""
        changed = pairs.where(pairs.sums != 0)
        self.tally.bound(pairs, 0, 0)
        # Pairs are sorted by person: a person begins where the number changes.
        starts = np.flatnonzero(begins(changed.persons))
        sizes: NDArray[Any] = np.diff(starts, append=len(changed.persons))
        if self.of != AT_MOST and len(starts):
            over_cells = np.maximum if self.of == PER_CELL else np.add
            sizes = over_cells.reduceat(_added_without_wrapping(np.abs(changed.sums)), starts)
        kind = np.int64 if sizes.dtype != object and self.bounds[-1] < _FITS else object
        cells = np.searchsorted(np.array(self.bounds, dtype=kind), sizes.astype(kind), side="left")
        return Pairs(changed.persons[starts], cells.astype(np.int64), np.ones(len(starts), dtype=np.int64))


def _added_without_wrapping(sizes: NDArray[Any]) -> NDArray[Any]:
    return sizes.astype(object) if int(sizes.max(initial=0)) * len(sizes) >= _FITS else sizes


def _sized(plan: Counting, bounds: tuple[int, ...], of: str) -> _Sized:
    return _Sized(plan, 1, None, b"", bounds=bounds, of=of)
