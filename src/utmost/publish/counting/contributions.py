"""How many persons each bound would leave whole: what `at_most` and `per_cell` are chosen by, counted like any table.

Each person falls into one cell, that of the least bound which cuts nothing of that person. The cell is a function of
the person's own rows, so one person changes one cell by 1: proofs/theory/counting.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, one_of, wrong_kind
from utmost.core.exact.numbers import Number, exact_integer
from utmost.core.exact.progress_bar import Progress, progress_bar
from utmost.core.privacy.amount import Amount
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange
from utmost.publish.counting.bounding import Pairs, begins
from utmost.publish.counting.counted import CountedTable
from utmost.publish.counting.counted_events import EVENTS, counted_cells, read_outside
from utmost.publish.counting.counted_measures import CountedMeasure, MeasureSpec
from utmost.publish.counting.counting import Counting
from utmost.publish.counting.counting_rule import CountingRule
from utmost.publish.counting.declared_axes import chosen_axes, declared_domain
from utmost.tables.axes.axes import Label, plain
from utmost.tables.axes.domain import Domain
from utmost.tables.cells.event_batches import spelling_of_table
from utmost.tables.cells.spelling import PLAIN, Spelling

_FITS = 1 << 62

MORE = "more"
"""The label of the persons whom even the largest bound cuts."""

AT_MOST, PER_CELL, IN_ALL = "at_most", "per_cell", "in_all"
"""Which bound is to be chosen, as `count_table` calls it: the only axis of a table of contributions."""


@progress_bar("Counting contributions")
def count_contributions(
    events: Any,
    domain: Domain | Mapping[str, Any],
    counting: Counting,
    bound: str,
    limits: Sequence[Number],
    *,
    measure: MeasureSpec = EVENTS,
    by: str | Sequence[str] | None = None,
    spelling: Spelling = PLAIN,
    outside: str | None = None,
    progress: Progress | None = None,
) -> CountedTable:
    """Count the persons for whom each of some limits is the least that cuts nothing: to choose a bound.

    Args:
        events, domain, by: Arguments of `count_table`; the domain is that of the table which is to be published.
        counting: Owner of each event, by ``person`` or ``each_row``, and the neighbouring relation; the bound is left
            out.
        bound: The bound that is to be chosen: "at_most", by the number of cells in which a person has events;
            "per_cell", by the largest size of a person's sum in a cell; or "in_all", by the sizes of a person's sums in
            all cells together.
        limits: Limits to compare, ascending, >= 1, such as ``range(1, 21)`` or [1, 2, 5, 10]; of amounts in their own
            unit.
        measure: Quantity that "per_cell" and "in_all" bound: events, or the `sum` of amounts, with step and ends.
        spelling, outside, progress: Arguments of `count_table`.

    Returns:
        A table over one axis, called as the bound, whose labels are the limits and "more", with ``Unit(1, 1)``. It
        holds
        true counts: release it like any other table, see `bound_costs`. Persons without events in the domain, or whose
        sums are all 0, are in no cell.

    Raises:
        OutOfRange: for another bound, limits that do not ascend from above 0, amounts beside "at_most", bounds in the
            measure, and rows that are persons but for the size of their amount.
        NotDeclared, BadTable, Unsupported: as `count_table`.

    Warns:
        NothingCounted, RowsLeftOut: as `count_table`.

    Cost: as `count_table`, without the hashes.

    >>> events = {"user": ["ann", "ann", "bob", "ann"], "page": ["A", "B", "A", "A"]}
    >>> pages = Domain(page=["A", "B", "C"])
    >>> count_contributions(events, pages, Counting("user"), "at_most", [1, 2]).table("at_most")
    {'at_most': array(['1', '2', 'more'], dtype='<U21'), 'count': array([1, 1, 0])}
    >>> count_contributions(events, pages, Counting("user"), "per_cell", [1]).table("per_cell")["count"].tolist()
    [1, 1]
    """
    spec, counting = instance(measure, MeasureSpec, "measure"), instance(counting, Counting, "counting")
    one_of(bound, Literal["at_most", "per_cell", "in_all"], "bound")
    if counting != Counting(counting.person, counting.each_row, neighbours=counting.neighbours):
        remedy = "Pass ut.Counting(person=...) alone: the limits stand in place of a bound."
        raise OutOfRange("counting must say who one person is, and bound nothing", came="a bound", remedy=remedy)
    if counting.each_row and (bound != PER_CELL or spec.values is None):
        remedy = 'Pass bound="per_cell" and measure=ut.sum("income"): the limits are those of one amount.'
        raise OutOfRange(
            'bound must be "per_cell" with an amount where each row is a person', came=bound, remedy=remedy
        )
    if replace(spec, values=None, step=None, each=None, missing=None) != EVENTS:
        remedy = "Leave per_cell=, in_all=, most_events= and distinct values out of the measure."
        raise OutOfRange(
            "measure must be ut.count(), or ut.sum() without bounds", came="a bound, or distinct values", remedy=remedy
        )
    if bound == AT_MOST and spec != EVENTS:
        remedy = "Leave measure= out: at_most is chosen by where a person has events."
        raise OutOfRange('bound="at_most" counts events, not amounts', came="a measure of amounts", remedy=remedy)
    if isinstance(limits, str) or not isinstance(limits, Sequence):
        raise wrong_kind("limits", "a list of bounds", limits)
    largest = limits[-1] if bound != AT_MOST and limits else None
    read = CountedMeasure.of(replace(spec, per_cell=largest), each_row=counting.each_row, name=None)
    bounds = _bounds(limits, bound, read.amount)
    axes = tuple(chosen_axes(declared_domain(domain, by), by))
    marks = spelling_of_table(events, spelling)
    rule = _Sized(counting.person, (read,), axes, None, marks, 1, None, b"", bounds=bounds, of=bound)
    flat, kind, report = counted_cells(events, rule, progress, read_outside(outside))
    labels: list[Label] = [_label(limit, read.amount) for limit in bounds]
    unit = Unit(1, 1, counting.neighbours, nonnegative=counting.neighbours == "change-one")
    assert isinstance(flat, np.ndarray), "there are few bounds"
    axis = Domain({bound: plain(labels, other=MORE)})
    return CountedTable(axis, flat, unit, kind, report=report, individual=counting.individual, proved=True)


def _bounds(listed: Sequence[Number], name: str, amount: Amount | None) -> tuple[int, ...]:
    """The bounds, of amounts in steps."""
    read = tuple(exact_integer(bound, name) if amount is None else amount.steps(bound, name) for bound in listed)
    if not read or read[0] < 1 or any(low >= high for low, high in pairwise(read)):
        remedy = "Pass limits=[1, 2, 5, 10], say."
        raise OutOfRange(
            f"the limits of {name} must be positive and each larger than the one before",
            came=list(listed),
            remedy=remedy,
        )
    return read


def _label(bound: int, amount: Amount | None) -> Label:
    """A bound as it is written, of amounts in their own unit."""
    number = Fraction(bound) if amount is None else bound * amount.step
    return int(number) if number.denominator == 1 or amount is None else amount.text(bound)


@dataclass(slots=True, eq=False, repr=False)
class _Sized(CountingRule):
    """How events are read, and into which cell a person falls: that of the least bound which is not passed."""

    bounds: tuple[int, ...] = field(kw_only=True)
    of: str = field(kw_only=True)

    def __post_init__(self) -> None:
        CountingRule.__post_init__(self)
        self.size = len(self.bounds) + 1  # one for those who pass them all

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(_Sized, bounds=self.bounds, of=self.of), CountingRule.__reduce__(self)[1]

    @property
    def kept_of(self) -> None:
        """Nothing: no bound cuts."""

    def chosen(self, pairs: Pairs, texts: Sequence[str]) -> Pairs:
        """The cell of each of these persons, all of whose pairs these are."""
        changed = pairs.where(pairs.sums != 0)
        self.tally.bound(pairs, clipped=0, removed=0)
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
