"""Count persons by the smallest bound that would remove none of their events, to choose a bound on contributions.

Each person is in one cell: the cell of the smallest bound that removes nothing of this person's events. The cell
depends on the person's own rows only, so that one person changes one cell by 1: proofs/theory/counting.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, one_of, wrong_kind
from utmost.core.exact.numbers import Number, exact_integer
from utmost.core.exact.progress_bar import Progress, progress_bar
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange
from utmost.publish.counting.bounding import Pairs, PairSums, begins
from utmost.publish.counting.counted import CountedTable
from utmost.publish.counting.counted_events import EVENTS, counted_cells, read_outside
from utmost.publish.counting.counted_measures import CountedMeasure, MeasureSpec
from utmost.publish.counting.counting import Counting
from utmost.publish.counting.counting_rule import CountingRule
from utmost.publish.counting.declared_axes import chosen_axes, declared_domain
from utmost.tables.axes.axes import Label, plain
from utmost.tables.axes.domain import Domain
from utmost.tables.cells.event_batches import spelling_of_table
from utmost.tables.cells.spelling import PLAIN_SPELLING, Spelling

_FITS = 1 << 62

MORE = "more"
"""The label of persons whom even the largest bound would change."""

AT_MOST, PER_CELL, IN_TOTAL = "at_most", "per_cell", "in_total"
"""The names of the bounds that can be chosen; the table's axis has the name of the chosen bound."""


def count_contributions(
    events: Any,
    domain: Domain | Mapping[str, Any],
    counting: Counting,
    bound: str,
    limits: Sequence[Number],
    *,
    measure: MeasureSpec = EVENTS,
    by: str | Sequence[str] | None = None,
    spelling: Spelling = PLAIN_SPELLING,
    outside: str | None = None,
    progress: Progress | None = None,
) -> CountedTable:
    """Count persons by the smallest limit that would remove none of their events, to choose a bound on contributions.

    Args:
        events, domain, by: Arguments of `count_table`; the domain is that of the table to be published.
        counting: `Counting` with ``person`` or ``each_row``, and with the neighbouring relation, but without a bound.
        bound: Bound to choose. "at_most" bounds the number of cells in which a person has events, "per_cell" the
            absolute value of a person's sum in a cell, and "in_total" the total of these absolute values over all
            cells.
        limits: Limits to compare, ascending, >= 1, such as ``range(1, 21)`` or [1, 2, 5, 10]; limits of amounts are in
            the amounts' own unit.
        measure: Quantity bounded by "per_cell" and "in_total": events, or the `sum` of amounts, with ``step`` and
            ``each``.
        spelling, outside, progress: Arguments of `count_table`.

    Returns:
        A table over one axis, whose name is that of the bound, and whose labels are the limits and "more". The unit of
        this table is ``Unit(1, 1)``. The table has true counts: release it like any other table, see `bound_costs`.
        Persons who have no events in the domain, or only sums of 0, are in no cell.

    Raises:
        OutOfRange: if no bound has this name; if the limits do not ascend or are not positive; if amounts are measured
            for "at_most"; if ``counting`` or the measure has a bound; or if ``each_row`` is set, unless "per_cell" of
            an amount is to be chosen.
        NotDeclared, BadTable, Unsupported: as for `count_table`.

    Warns:
        NothingCounted, RowsLeftOut: as for `count_table`.

    Cost: that of `count_table`, without the time for hashes.

    >>> events = {"user": ["ann", "ann", "bob", "ann"], "page": ["A", "B", "A", "A"]}
    >>> pages = Domain(page=["A", "B", "C"])
    >>> count_contributions(events, pages, Counting("user"), "at_most", [1, 2]).table("at_most")
    {'at_most': array(['1', '2', 'more'], dtype='<U21'), 'count': array([1, 1, 0])}
    >>> count_contributions(events, pages, Counting("user"), "per_cell", [1]).table("per_cell")["count"].tolist()
    [1, 1]
    """
    spec, counting = instance(measure, MeasureSpec, "measure"), instance(counting, Counting, "counting")
    one_of(bound, Literal["at_most", "per_cell", "in_total"], "bound")
    if counting != Counting(counting.person, counting.each_row, neighbours=counting.neighbours):
        remedy = "Pass, for example, ut.Counting(person=...) alone: limits= has the bounds."
        raise OutOfRange(
            "counting must have person= or each_row=True, but neither at_most= nor together= nor key=",
            came="one of these",
            remedy=remedy,
        )
    if counting.each_row and (bound != PER_CELL or spec.values is None):
        remedy = (
            'Compare bounds of one amount: bound="per_cell" with measure=ut.sum("income"), or on the command line '
            "--contributions per-cell=10,100 with --values income."
        )
        raise OutOfRange(
            "if each row is a person, only bounds of one amount can be compared", came=bound, remedy=remedy
        )
    if replace(spec, values=None, step=None, each=None, missing=None) != EVENTS:
        remedy = "Leave per_cell=, in_total=, most_events= and distinct values out of the measure."
        raise OutOfRange(
            "measure must be ut.count(), or ut.sum() without bounds", came="a bound, or distinct values", remedy=remedy
        )
    if bound == AT_MOST and spec != EVENTS:
        remedy = "Leave the amounts out: at_most is the number of cells in which a person has events."
        raise OutOfRange(
            "the bound at_most can be chosen from events, not from amounts", came="a measure of amounts", remedy=remedy
        )
    if isinstance(limits, str) or not isinstance(limits, Sequence):
        raise wrong_kind("limits", "a list of bounds", limits)
    largest = limits[-1] if bound != AT_MOST and limits else None
    read = CountedMeasure.of(replace(spec, per_cell=largest), each_row=counting.each_row, name=None)
    amount = read.amount
    bounds = tuple(exact_integer(one, bound) if amount is None else amount.steps(one, bound) for one in limits)
    if not bounds or bounds[0] < 1 or any(low >= high for low, high in pairwise(bounds)):
        remedy = "Pass ascending bounds, such as 1, 2, 5 and 10."
        raise OutOfRange(
            "the bounds in limits= (--contributions) must be positive and ascending", came=list(limits), remedy=remedy
        )
    axes = tuple(chosen_axes(declared_domain(domain, by), by))
    spelling = spelling_of_table(events, spelling)
    rule = _LimitRule(counting.person, (read,), axes, None, spelling, 1, None, b"", bounds=bounds, of=bound)
    with progress_bar("Counting contributions", progress):
        flat, kind, report = counted_cells(events, rule, read_outside(outside))
    labels: list[Label] = list(bounds)
    if amount is not None:
        labels = [
            amount.text(limit) if (limit * amount.step).denominator > 1 else int(limit * amount.step)
            for limit in bounds
        ]
    unit = Unit(1, 1, counting.neighbours, nonnegative=counting.neighbours == "change-one")
    assert isinstance(flat, np.ndarray), "there are few bounds"
    axis = Domain({bound: plain(labels, other=MORE)})
    return CountedTable(axis, flat, unit, kind, report=report, individual=counting.individual, proved=True)


@dataclass(slots=True, eq=False, repr=False)
class _LimitRule(CountingRule):
    """Puts each person into the cell of the least limit that the person does not exceed."""

    bounds: tuple[int, ...] = field(kw_only=True)
    of: str = field(kw_only=True)

    def __post_init__(self) -> None:
        CountingRule.__post_init__(self)
        self.size = len(self.bounds) + 1  # one cell for persons who exceed all limits

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(_LimitRule, bounds=self.bounds, of=self.of), CountingRule.__reduce__(self)[1]

    @property
    def kept_of(self) -> None:
        """None: nothing is removed."""

    def chosen(self, of_persons: Sequence[PairSums], texts: Sequence[str]) -> Pairs:
        """Return the cell of each person; ``of_persons`` has all pairs of these persons."""
        pairs = of_persons[0][self.columns_of_tables[0]]
        changed = pairs.where(pairs.sums != 0)
        self.tally.bound(pairs, clipped=0, removed=0)
        # Pairs are sorted by person: the next person begins where the code changes.
        starts = np.flatnonzero(begins(changed.persons))
        sizes: NDArray[Any] = np.diff(starts, append=len(changed.persons))
        if self.of != AT_MOST and len(starts):
            over_cells = np.maximum if self.of == PER_CELL else np.add
            amounts = np.abs(changed.sums)
            if int(amounts.max(initial=0)) * len(amounts) >= _FITS:
                amounts = amounts.astype(object)  # sums of int64 would wrap
            sizes = over_cells.reduceat(amounts, starts)
        kind = np.int64 if sizes.dtype != object and self.bounds[-1] < _FITS else object
        # A person counts once, at the smallest of the bounds that removes nothing from this person; beyond all, at
        # "more".
        cells = np.searchsorted(np.array(self.bounds, dtype=kind), sizes.astype(kind), side="left")
        return Pairs(changed.persons[starts], cells.astype(np.int64), np.ones(len(starts), dtype=np.int64))
