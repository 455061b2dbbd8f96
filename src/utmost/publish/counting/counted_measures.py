"""Quantities that are counted of each person and cell: events, the sum of an amount, distinct values; within bounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.numbers import Number, exact_integer, natural
from utmost.core.privacy.amount import Amount
from utmost.core.privacy.unit import Unit
from utmost.errors import BadTable, OutOfRange
from utmost.publish.counting.bounding import Pairs
from utmost.tables.axes.axes import Axis
from utmost.tables.axes.domain import Domain
from utmost.tables.cells.event_amounts import rounded_amounts, without_missing
from utmost.tables.cells.event_batches import Batch
from utmost.tables.cells.event_codes import amounts_in
from utmost.tables.cells.odd_cells import MISSING_KIND, declare_mark
from utmost.tables.cells.spelling import Spelling

AmountBounds = Number | Sequence[Number]
"""Bounds on what one person adds to one cell: at most so much from 0 on, or between two ends."""

AmountEnds = tuple[int, int]
"""The lowest and the highest of what is allowed, in steps."""


LARGEST_DOMAIN = 1 << 62
LEAVE_OUT = "leave out"

_KINDS = "a mapping from names to ut.count(), ut.sum(...) and ut.distinct(...)"


@dataclass(frozen=True, slots=True)
class MeasureSpec:
    """The measure of each cell: events, the sum of amounts, or distinct values; made by `count`, `sum`, `distinct`.

    Attributes:
        values, step, each, per_cell, most_events, in_all, missing: Arguments of `sum`; without ``values`` see `count`.
        distinct, of, at_most: the column, the values and the bound of `distinct`.
    """

    values: str | None = None
    step: Number | None = None
    each: AmountBounds | None = None
    per_cell: AmountBounds | None = None
    most_events: int | None = None
    distinct: str | None = None
    of: Any = None
    at_most: int | None = None
    in_all: Number | None = None
    missing: str | None = None


def count(per_cell: AmountBounds | None = None, *, in_all: int | None = None) -> MeasureSpec:
    """Count events, as the measure of `count_table`, or as one of `count_measures`.

    Args:
        per_cell: Number of events of a person that count in a cell; 1 if left out, or as many as ``in_all``.
        in_all: Number of events of a person that count in the whole table. If a person has more events, some are kept,
            spread evenly, so that each cell loses in proportion. If persons differ much in their numbers of events,
            ``in_all`` removes far less than ``per_cell`` for the same noise. Such a table is released by a plan, see
            `release`.

    >>> events = {"user": ["ann", "ann", "bob"], "shop": ["A", "A", "B"], "paid": [3, 5, 2]}
    >>> from utmost.counting import Counting, count_measures
    >>> measures = {"visits": count(2), "spent": sum("paid", per_cell=6)}
    >>> tables = count_measures(events, {"shop": ["A", "B"]}, Counting("user", at_most=1), measures)
    >>> tables["visits"].cells.tolist(), tables["spent"].table("shop")["spent"].tolist()
    ([2, 1], [6, 2])
    """
    return MeasureSpec(per_cell=per_cell, in_all=in_all)


def sum(
    column: str,
    *,
    step: Number | None = None,
    each: AmountBounds | None = None,
    per_cell: AmountBounds | None = None,
    most_events: int | None = None,
    in_all: Number | None = None,
    missing: str | None = None,
) -> MeasureSpec:
    """Sum a column of amounts, as the measure of `count_table`, or as one of `count_measures`.

    Args:
        column: The column of amounts, integers unless a step is given.
        step: Amounts are rounded to its multiples, half to even, as exactly what they are: a float is its binary value,
            a Decimal and text in a file the decimal. Bounds and tables are in the amounts' own unit.
        each: Range into which the amount of each event is moved first: a number s for [0, s], or the pair of the lowest
            and the highest amount.
        per_cell: Range into which the sum of one person in one cell is moved, likewise; where each row is a person, as
            ``each`` if left out.
        most_events: Number of events of a person in a cell that count, in place of ``per_cell``. Events are then
            counted beside the sums at no cost, the domain has one more axis, and the release gives means, see
            `Answer.with_means`.
        in_all: The most to which the sizes of a person's sums may add up over all cells; with ``most_events`` the
            number of events of a person that count, see `count`.
        missing: "leave out" to leave events without an amount out of sums and means; with ``most_events`` they are
            still counted among all events. The counting report says how many there were. Without this word a missing
            amount is refused.

    >>> sum("paid", step="0.01", each=(0, 1000), per_cell=(0, 5000)).values
    'paid'
    """
    return MeasureSpec(column, step, each, per_cell, most_events, in_all=in_all, missing=missing)


def mean(
    column: str,
    *,
    each: AmountBounds,
    step: Number | None = None,
    most_events: int = 1,
    in_all: Number | None = None,
    missing: str | None = None,
) -> MeasureSpec:
    """Count events, sum a column of amounts and give its mean, in one release: `sum` with ``most_events``.

    Args:
        column, each, step, most_events, in_all, missing: Arguments of `sum`.

    >>> mean("income", each=(0, 200_000)) == sum("income", each=(0, 200_000), most_events=1)
    True
    """
    return MeasureSpec(column, step, each, most_events=most_events, in_all=in_all, missing=missing)


def distinct(column: str, *, of: Any, at_most: int = 1) -> MeasureSpec:
    """Count the distinct values in each cell, as the measure of `count_table`, or as one of `count_measures`.

    Of the values of one person in a cell at most ``at_most`` count, those with the least hash of key, person and value.
    The number of a cell is the number of different values that count for anybody there, so one person changes it by at
    most ``at_most``. Two cells
    may have values in common, so such numbers do not add up: totals and coarser tables are counted anew, each at a
    level of its own. How many *persons* there are is what `count` says.

    Args:
        column: Column of values, which is neither the persons' column nor an axis.
        of: the declared values: a list, or what `Domain` or `Domain.of_facts` takes for an axis. Others count in
            nothing, and are told to the curator; ``other`` of an axis takes them in, as one value.
        at_most: Most values of one person that count in a cell, >= 1; where rows are persons 1.

    Source: COUNT(DISTINCT) with bounded contributions, proofs/theory/counting.md.

    >>> events = {"user": ["ann", "ann", "bob"], "shop": ["A", "A", "A"], "product": ["tea", "milk", "tea"]}
    >>> from utmost.counting import Counting, count_table
    >>> products = distinct("product", of=["tea", "milk", "salt"], at_most=2)
    >>> table = count_table(events, {"shop": ["A", "B"]}, Counting("user", at_most=1), measure=products)
    >>> table.cells.tolist(), table.unit.sensitivity
    ([2, 0], Fraction(2, 1))
    """
    return MeasureSpec(distinct=column, of=of, at_most=at_most)


def read_measures(measures: Mapping[str, MeasureSpec]) -> Mapping[str, MeasureSpec]:
    """Measures by name, found to be such.

    Raises:
        OutOfRange: for no measure. WrongKind: for anything but measures.
    """
    if not isinstance(measures, Mapping):
        raise wrong_kind("measures", _KINDS, measures)
    if not measures:
        raise OutOfRange("there must be a measure", came="none", where="measures")
    for name, measure in measures.items():
        if not isinstance(measure, MeasureSpec) or not isinstance(name, str) or not name:
            raise wrong_kind("measures", _KINDS, measure)
    return measures


@dataclass(frozen=True, slots=True)
class CountedMeasure:
    """A counted quantity: events, the sum of a column in steps of an amount, or its distinct values; within bounds.

    Attributes:
        column: the column of amounts; None, and events are counted.
        amount: Summed amount with its steps; None for events.
        is_rounded: whether amounts are rounded to the step; else they must be integers.
        each: the ends between which the amount of each event is moved; None where it stays.
        ends: the ends between which a person's sum in a cell lies.
        is_moved: whether it is moved there; else it lies there once all sums are cut by ``in_all``.
        most_events: Most events of one person in a cell, where events are counted beside their amounts; None elsewhere.
        in_all: the most to which the sizes of a person's sums may add up, of counted events their number; or None.
        distinct: the values of which the distinct ones are counted; None elsewhere.
    """

    column: str | None
    amount: Amount | None
    is_rounded: bool
    each: AmountEnds | None
    ends: AmountEnds
    most_events: int | None = None
    distinct: Axis | None = None
    in_all: int | None = None
    is_moved: bool = True

    @classmethod
    def of(cls, words: MeasureSpec, *, each_row: bool, name: str | None) -> "CountedMeasure":
        """The measure as it is read of events.

        Args:
            name: Name of the amounts; the column's when left out.

        Raises:
            OutOfRange: for bounds that leave nothing or are no multiples of the step, amounts without a bound on a
                person's sum, and a step or a bound on values where there are none.
        """
        values, step, each, per_cell = words.values, words.step, words.each, words.per_cell
        if words.missing not in (None, LEAVE_OUT):
            remedy = 'Pass missing="leave out", or leave it out: then a missing amount is refused.'
            raise OutOfRange(f"missing must be {LEAVE_OUT!r}", came=repr(words.missing), where="missing", remedy=remedy)
        if words.distinct is not None or words.of is not None or words.at_most is not None:
            return cls._distinct(words, each_row=each_row, name=name)
        if values is None and not (step is None and each is None and words.missing is None):
            came = "step" if step is not None else "each" if each is not None else "missing"
            raise OutOfRange(
                f"{came}= needs values=, the column of amounts", came="none", remedy='Pass values="amount", say.'
            )
        if words.most_events is not None:
            return cls._shared(words, each_row=each_row, name=name)
        left_out = words.missing is not None
        amount = None if values is None else Amount(name or values, 1 if step is None else step, missing=left_out)
        event = None if each is None else _ends(each, "each", amount)
        # The only row of a person is the person's sum.
        if per_cell is None and event is not None and each_row:
            return cls(values, amount, step is not None, event, event)
        in_all = None if words.in_all is None else _ends(words.in_all, "in_all", amount)[1]
        if in_all is not None and per_cell is None:
            # What sizes add up to in all bounds each; and none is negative where no event is.
            least = 0 if values is None or (event is not None and event[0] >= 0) else -in_all
            return cls(values, amount, step is not None, event, (least, in_all), in_all=in_all, is_moved=False)
        if per_cell is None and not (step is None and each is None):
            remedy = "Add per_cell=5000, say, for sums from 0 to 5000 in the unit of the amounts."
            raise OutOfRange("per_cell must say by how much one person may change a cell", came="none", remedy=remedy)
        ends = _ends(1 if per_cell is None else per_cell, "per_cell", amount)
        return cls(values, amount, step is not None, event, ends, in_all=in_all)

    @classmethod
    def _shared(cls, words: MeasureSpec, *, each_row: bool, name: str | None) -> "CountedMeasure":
        """The measure of sums and counts together."""
        most = natural(words.most_events, "most_events", least=1)
        if words.values is None or words.each is None or words.per_cell is not None or (each_row and most > 1):
            came = "no values=" if words.values is None else "no each=" if words.each is None else "per_cell="
            came = "more than one event of a row" if each_row and most > 1 else came
            remedy = 'Pass values="amount", each=(0, 1000), most_events=5, say; what a person may change follows.'
            raise OutOfRange(
                "most_events= needs values= and each=, the lowest and the highest amount", came=came, remedy=remedy
            )
        step = 1 if words.step is None else words.step
        plain = Amount(name or words.values, step)
        low, high = _ends(words.each, "each", plain)
        ends_of_each = plain.text(low), plain.text(high)
        amount = Amount(plain.name, step, ends_of_each, missing=words.missing is not None)
        in_all = None if words.in_all is None else natural(words.in_all, "in_all", least=1)
        ends = (0, (high - low) * most)
        return cls(words.values, amount, words.step is not None, (low, high), ends, most, in_all=in_all)

    @classmethod
    def _distinct(cls, words: MeasureSpec, *, each_row: bool, name: str | None) -> "CountedMeasure":
        """The measure of distinct values."""
        most = natural(1 if words.at_most is None else words.at_most, "at_most", least=1)
        if words != MeasureSpec(distinct=words.distinct, of=words.of, at_most=words.at_most) or words.of is None:
            came = "no declared values" if words.of is None else "values=, step=, each=, per_cell= or most_events="
            remedy = 'Pass ut.distinct("product", of=["tea", "milk"], at_most=3), say.'
            raise OutOfRange(
                "distinct= needs of=, the list of values, and no other words than at_most=", came=came, remedy=remedy
            )
        if not isinstance(words.distinct, str) or not words.distinct:
            raise wrong_kind("distinct", "the name of a column", words.distinct)
        if each_row and most > 1:
            remedy = "Leave out at_most=: with each_row=True a person has one value."
            raise OutOfRange("at_most must be 1 where each row is a person", came=most, remedy=remedy)
        declare = Domain.of_facts if isinstance(words.of, Mapping) else Domain
        axis = declare({words.distinct: words.of}).axes[0]
        if axis.columns != (words.distinct,):
            raise OutOfRange(
                "distinct must name one column",
                came=f"{len(axis.columns)} columns",
                remedy="List the values of one column in of=.",
            )
        amount = Amount(name or words.distinct, distinct=axis.size)
        return cls(None, amount, is_rounded=False, each=None, ends=(0, min(most, axis.size)), distinct=axis)

    @property
    def tables(self) -> int:
        """The number of tables that are added up: for sums and counts one for each part, for distinct values each."""
        if self.distinct is not None:
            return self.distinct.size
        return 1 if self.most_events is None or self.amount is None else len(self.amount.labels)

    @property
    def leaves_missing(self) -> bool:
        """Whether events without an amount are left out of the sums."""
        return self.column is not None and self.amount is not None and self.amount.missing

    @property
    def bound(self) -> int:
        """The largest size of what one person changes in a cell."""
        return max(abs(self.ends[0]), abs(self.ends[1]))

    @property
    def counts_events(self) -> bool:
        """Whether events are counted, with their amounts or without."""
        return self.distinct is None and (self.column is None or self.most_events is not None)

    def moved(self, pairs: Pairs) -> tuple[Pairs, int]:
        """The pairs with their sums between the ends, without those that change nothing, and how many were moved."""
        low, high = self.ends if self.most_events is None else (0, self.most_events)
        if not self.is_moved:
            return pairs.where(pairs.sums != 0), 0
        return pairs.clipped(low, high), int(np.count_nonzero((pairs.sums < low) | (pairs.sums > high)))

    @property
    def events_in_steps(self) -> int:
        """The number of steps of both parts of an event, for sums and counts together; else 1."""
        return 1 if self.most_events is None or self.each is None else self.each[1] - self.each[0]

    def unit(self, cells: int, neighbours: str, *, in_parts: bool, raised: bool = False) -> Unit:
        """The change by one person, in at most so many cells; ``raised`` where it matters that none falls."""
        matters = not in_parts if neighbours == "change-one" else raised
        promised = matters and self.ends[0] >= 0 and self.most_events is None
        if self.in_all is None:
            return Unit(self.bound, cells, neighbours, self.amount, nonnegative=promised)
        in_all = self.in_all * self.events_in_steps
        changed, most = min(cells, self.in_all), min(self.bound, in_all)
        return Unit(most, changed, neighbours, self.amount, nonnegative=promised, in_all=in_all)

    def parts(self, counts: Pairs, sums: Pairs, missing: Pairs | None = None) -> list[Pairs]:
        """The parts of `AmountPair`, of no more events than are counted.

        Of more events each part is that of all in proportion, rounded down, so that their mean stays as it is.

        Args:
            counts, sums, missing: Number of events, sum of their amounts above the low end, and number of those without
                an amount, for the same pairs of person and cell.

        Returns:
            A table's pairs for each part, as `Pairs.clipped`; numbers of a pair are >= 0, and together at most the
            bound.
        """
        assert self.most_events is not None, "events are counted"
        assert self.each is not None, "between two ends"
        wide, most = self.each[1] - self.each[0], int(counts.sums.max(initial=0))
        largest = max(self.bound, int(sums.sums.max(initial=0)) * self.most_events, wide * most * self.most_events)
        events = np.minimum(counts.sums, self.most_events).astype(object if largest >= 1 << 62 else np.int64)
        of_all = np.maximum(counts.sums, 1).astype(events.dtype)
        above = sums.sums.astype(events.dtype) * events // of_all
        third = np.zeros_like(above) if missing is None else wide * missing.sums.astype(events.dtype) * events // of_all
        parts = [Pairs(counts.persons, counts.cells, above)]
        parts.append(Pairs(sums.persons, sums.cells, wide * events - above - third))
        if missing is not None:
            parts.append(Pairs(missing.persons, missing.cells, third))
        return [part.where(part.sums != 0) for part in parts]

    def sizes_in_cells(self, pairs: Pairs, numbers: NDArray[np.int64], cells: int) -> NDArray[Any]:
        """The quantity of each person and cell that ``in_all`` bounds: the size of the sum, or how many events count.

        Args:
            pairs: Pairs of this measure; of sums and counts together both parts.
            numbers: Number of the person and cell of each.
            cells: Number of such numbers.
        """
        sizes = np.zeros(cells, dtype=pairs.sums.dtype)
        np.add.at(sizes, numbers, np.abs(pairs.sums))
        return np.asarray(sizes // self.events_in_steps)

    def left_of(
        self,
        pairs: Pairs,
        numbers: NDArray[np.int64],
        sizes: NDArray[Any],
        left: NDArray[Any],
        part: NDArray[np.int64],
    ) -> Pairs:
        """The pairs once their sizes are cut; of sums and counts in proportion, and below the high end what is left.

        Args:
            pairs, numbers: Arguments of `sizes_in_cells`, which gave ``sizes``.
            left: Rest of each size, from 0 to the size.
            part: Place of the part of each pair of sums and counts together.
        """
        if self.most_events is None:
            sums = np.where(pairs.sums < 0, -left[numbers], left[numbers])
        else:
            largest = int(pairs.sums.max(initial=0)) * int(left.max(initial=0))
            # Sizes are multiplied by what is left before they are divided: products may leave int64.
            kind = object if largest >= 1 << 62 else pairs.sums.dtype
            cut = np.zeros((self.tables, len(sizes)), dtype=kind)
            cut[part, numbers] = pairs.sums
            cut = cut * left // sizes
            cut[1] = 0
            cut[1] = self.events_in_steps * left - cut.sum(axis=0)
            sums = cut[part, numbers].astype(np.int64 if self.bound < 1 << 62 else object)
        return Pairs(pairs.persons, pairs.cells, sums).where(sums != 0)

    def amounts(self, batch: Batch, before: int, spelling: Spelling) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
        """The amounts of the events of a batch in steps, as they came, and which are missing.

        Where missing amounts are left out they are 0.

        Raises:
            BadTable: for an amount that is no number, and a missing one that is not left out.
        """
        assert self.column is not None, "amounts are summed"
        column, gone = batch[self.column], None
        if self.leaves_missing:
            column, gone = without_missing(column, spelling)
        try:
            if self.is_rounded:
                assert self.amount is not None, "a step is of amounts"
                return rounded_amounts(column, self.column, before, self.amount, spelling), gone
            return amounts_in(column, self.column, before, spelling), gone
        except BadTable as error:
            if error.came == MISSING_KIND:
                remedy = (
                    f'{declare_mark(spelling)} With missing="leave out" in ut.mean or ut.sum such amounts are left out.'
                )
                raise BadTable(error.required, came=error.came, where=error.where, remedy=remedy) from None
            if gone is None and (missing := without_missing(column, spelling)[1]).any():
                row = before + int(missing.argmax()) + 1
                if error.where is not None and error.where.startswith(f"row {row},"):
                    raise BadTable(
                        "every event must have an amount",
                        came="a missing one",
                        where=error.where,
                        remedy='Pass missing="leave out" in ut.mean or ut.sum: the report then counts it.',
                    ) from None
            raise

    def within(self, amounts: NDArray[Any]) -> NDArray[Any]:
        """Amounts of events, moved between the ends for each."""
        if self.each is None:
            return amounts
        low, high = self.each
        if amounts.dtype != object and max(abs(low), abs(high)) >= 1 << 62:
            amounts = amounts.astype(object)
        moved: NDArray[Any] = np.clip(amounts, low, high)
        return moved


def _ends(bounds: Any, where: str, amount: Amount | None) -> AmountEnds:
    """The lowest and the highest, in steps; of a number alone, from 0 on."""
    ends = tuple(bounds) if isinstance(bounds, tuple | list) else (0, bounds)
    if len(ends) != 2:
        remedy = f"Pass {where}=(0, 1000), say."
        raise OutOfRange(
            f"{where} must be one number, or a lowest and a highest", came=f"{len(ends)} numbers", remedy=remedy
        )
    low, high = (exact_integer(end, where) if amount is None else amount.steps(end, where) for end in ends)
    if low > high or low == high == 0:
        raise OutOfRange(
            f"{where} must allow a change: the lowest below the highest",
            came=bounds,
            remedy="Give the most by which a person may change a cell, 1 or more, or the pair of both ends.",
        )
    return low, high
