"""Measure what each person adds to each cell, within bounds: events, the sum of an amount, or distinct values."""

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
from utmost.tables.axes.axes import Axis
from utmost.tables.axes.domain import Domain
from utmost.tables.cells.event_amounts import rounded_amounts, without_missing
from utmost.tables.cells.event_batches import Batch
from utmost.tables.cells.event_codes import amounts_in
from utmost.tables.cells.odd_cells import MARK_ANYWAY, TEXT_KIND, declare_mark
from utmost.tables.cells.spelling import Spelling

AmountBounds = Number | Sequence[Number]
"""Bounds on one person's contribution to one cell: an upper bound from 0, or (lowest, highest)."""

AmountEnds = tuple[int, int]
"""The lowest and the highest allowed number, in steps."""


LARGEST_DOMAIN = 1 << 62
MISSING_AMOUNT = "a missing amount"
LEAVE_OUT = "leave out"

_KINDS = "a mapping from names to ut.count(), ut.sum(...) and ut.distinct(...)"


@dataclass(frozen=True, slots=True)
class MeasureSpec:
    """The quantity that is computed for each cell: events, a sum of amounts, or a number of distinct values.

    Make one with `count`, `sum` or `distinct`.

    Attributes:
        values, step, each, per_cell, most_events, in_total, missing: Arguments of `sum`; of `count` if ``values`` is
            None.
        distinct, of, at_most: Column, declared values and bound of `distinct`.
    """

    values: str | None = None
    step: Number | None = None
    each: AmountBounds | None = None
    per_cell: AmountBounds | None = None
    most_events: int | None = None
    distinct: str | None = None
    of: Any = None
    at_most: int | None = None
    in_total: Number | None = None
    missing: str | None = None


def count(per_cell: AmountBounds | None = None, *, in_total: int | None = None) -> MeasureSpec:
    """Count events: a measure of `count_table` or `count_measures`.

    Args:
        per_cell: Largest number of events of a person that count in a cell; by default 1, or ``in_total`` if given.
        in_total: Largest number of events of a person that count in the whole table. If a person has more events, the
            person's number of events in each cell is reduced in proportion. If persons differ much in their numbers of
            events, ``in_total`` removes far fewer events than ``per_cell`` for the same noise. A table counted with
            ``in_total`` is released by a plan, see `release`.

    >>> events = {"user": ["ann", "ann", "bob"], "shop": ["A", "A", "B"], "paid": [3, 5, 2]}
    >>> from utmost.counting import Counting, count_measures
    >>> measures = {"visits": count(2), "spent": sum("paid", per_cell=6)}
    >>> tables = count_measures(events, {"shop": ["A", "B"]}, Counting("user", at_most=1), measures)
    >>> tables["visits"].cells.tolist(), tables["spent"].table("shop")["spent"].tolist()
    ([2, 1], [6, 2])
    """
    return MeasureSpec(per_cell=per_cell, in_total=in_total)


def sum(
    column: str,
    *,
    step: Number | None = None,
    each: AmountBounds | None = None,
    per_cell: AmountBounds | None = None,
    most_events: int | None = None,
    in_total: Number | None = None,
    missing: str | None = None,
) -> MeasureSpec:
    """Sum a column of amounts: a measure of `count_table` or `count_measures`.

    Args:
        column: Column of amounts; integers unless ``step`` is given.
        step: Step of the amounts: each amount is rounded to a multiple of it, half to even. A float counts as its exact
            binary value, a Decimal or text as its exact decimal value. Bounds and tables are in the amounts' own unit.
        each: Range to which the amount of each event is clipped first: a number s for [0, s], or (lowest, highest).
        per_cell: Range to which the sum of one person in one cell is clipped, written like ``each``. If each row is a
            person, the default is ``each``.
        most_events: Largest number of events of a person that count in a cell; takes the place of ``per_cell``. The
            events are then counted, too, without further noise: the domain has one more axis, and the release has
            means, see `Answer.with_means`.
        in_total: Upper bound on the sum of the absolute values of a person's sums over all cells; with ``most_events``,
            the largest number of events of a person that count, see `count`.
        missing: "leave out" leaves events without an amount out of sums and means; with ``most_events`` they still
            count as events, but events with an amount count first. The counting report states how many had no amount.
            None refuses missing amounts.

    >>> sum("paid", step="0.01", each=(0, 1000), per_cell=(0, 5000)).values
    'paid'
    """
    return MeasureSpec(column, step, each, per_cell, most_events, in_total=in_total, missing=missing)


def mean(
    column: str,
    *,
    each: AmountBounds,
    step: Number | None = None,
    most_events: int = 1,
    in_total: Number | None = None,
    missing: str | None = None,
) -> MeasureSpec:
    """Measure the number of events, the sum and the mean of a column in one release: `sum` with ``most_events``.

    Args:
        column, each, step, most_events, in_total, missing: Arguments of `sum`.

    >>> mean("income", each=(0, 200_000)) == sum("income", each=(0, 200_000), most_events=1)
    True
    """
    return MeasureSpec(column, step, each, most_events=most_events, in_total=in_total, missing=missing)


def distinct(column: str, *, of: Any, at_most: int = 1) -> MeasureSpec:
    """Count the distinct values in each cell: a measure of `count_table` or `count_measures`.

    At most ``at_most`` values of one person count in a cell: those with the least hash of key, person and value. The
    value of a cell is the number of different values that count for at least one person, so that one person changes
    this number by at most ``at_most``. Two cells may have values in common, so that these numbers do not add up: count
    totals and coarser tables separately, each at its own privacy level. Use `count` for the number of *persons*.

    Args:
        column: Column of values; neither the column of persons nor an axis.
        of: Declared values: a list, or an axis as `Domain` or `Domain.of_facts` takes it. Other values are not
            counted, except as one value under ``other`` of the axis; the counting report says how many there were.
        at_most: Largest number of values of one person that count in a cell, >= 1; 1 if each row is a person.

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
    if not isinstance(measures, Mapping):
        raise wrong_kind("measures", _KINDS, measures)
    if not measures:
        raise OutOfRange("measures must map at least one name to a measure", came="none", where="measures")
    for name, measure in measures.items():
        if not isinstance(measure, MeasureSpec) or not isinstance(name, str) or not name:
            raise wrong_kind("measures", _KINDS, measure)
    return measures


@dataclass(frozen=True, slots=True)
class CountedMeasure:
    """A checked measure with all its bounds; amounts and their bounds are in steps."""

    column: str | None  # column of amounts; None where events are counted
    amount: Amount | None  # the amount with its step; None for events
    is_rounded: bool  # whether amounts are rounded to the step; else they must be integers
    each: AmountEnds | None  # range to which each event's amount is clipped
    ends: AmountEnds  # range of a person's sum in a cell
    # largest number of one person's events in a cell, if sums and counts share one noise
    most_events: int | None = None
    distinct: Axis | None = None  # axis of the values that `distinct` counts
    # upper bound on the total of a person's absolute sums; for counts, or with most_events, on the number of events
    in_total: int | None = None
    clips_sums: bool = True  # False if `in_total` alone already keeps sums within `ends`

    @classmethod
    def of(cls, spec: MeasureSpec, *, each_row: bool, name: str | None) -> "CountedMeasure":
        """Check a measure, and complete its bounds."""
        values, step, each, per_cell = spec.values, spec.step, spec.each, spec.per_cell
        if spec.missing not in (None, LEAVE_OUT):
            remedy = 'Pass missing="leave out"; or leave out missing=, and missing amounts raise an error.'
            raise OutOfRange(
                f"missing= must be {LEAVE_OUT!r} or None", came=repr(spec.missing), where="missing", remedy=remedy
            )
        if spec.distinct is not None or spec.of is not None or spec.at_most is not None:
            return cls._distinct(spec, each_row=each_row, name=name)
        if values is None and not (step is None and each is None and spec.missing is None):
            came = "step" if step is not None else "each" if each is not None else "missing"
            raise OutOfRange(
                f"{came}= needs values=, the column of amounts",
                came="none",
                remedy='Pass, for example, values="amount".',
            )
        if spec.most_events is not None:
            return cls._with_most_events(spec, each_row=each_row, name=name)
        left_out = spec.missing is not None
        amount = None if values is None else Amount(name or values, 1 if step is None else step, missing=left_out)
        event = None if each is None else _ends(each, "each", amount)
        # A person's only row is the person's sum.
        if per_cell is None and event is not None and each_row:
            return cls(values, amount, step is not None, event, event)
        in_total = None if spec.in_total is None else _ends(spec.in_total, "in_total", amount)[1]
        if in_total is not None and per_cell is None:
            # in_total bounds each single sum, too. If no amount is negative, no sum is.
            least = 0 if values is None or (event is not None and event[0] >= 0) else -in_total
            return cls(values, amount, step is not None, event, (least, in_total), in_total=in_total, clips_sums=False)
        if per_cell is None and not (step is None and each is None):
            remedy = "Pass, for example, per_cell=5000 for sums from 0 to 5000 in the unit of the amounts."
            raise OutOfRange(
                "per_cell must be given: the most by which one person changes a cell", came="none", remedy=remedy
            )
        ends = _ends(1 if per_cell is None else per_cell, "per_cell", amount)
        if values is None and each_row and ends != (0, 1):
            remedy = "Leave out per_cell=: each row is one event."
            raise OutOfRange("per_cell must be 1 where each row is a person", came=per_cell, remedy=remedy)
        return cls(values, amount, step is not None, event, ends, in_total=in_total)

    @classmethod
    def _with_most_events(cls, spec: MeasureSpec, *, each_row: bool, name: str | None) -> "CountedMeasure":
        """Return the measure that counts events and sums their amounts, with one noise for both."""
        most = natural(spec.most_events, "most_events", least=1)
        if each_row and most > 1:
            remedy = "Pass most_events=1: each row is one event."
            raise OutOfRange("most_events must be 1 where each row is a person", came=most, remedy=remedy)
        if spec.values is None or spec.each is None:
            needed = {"values=": ('values="amount"', spec.values), "each=": ("each=(0, 1000)", spec.each)}
            missing = {name: example for name, (example, value) in needed.items() if value is None}
            came, remedy = f"no {' and no '.join(missing)}", f"Pass, for example, {', '.join(missing.values())}."
            raise OutOfRange(
                "most_events= needs values=, the column of amounts, and each=, the lowest and the highest amount",
                came=came,
                remedy=remedy,
            )
        if spec.per_cell is not None:
            required = "only one of most_events= and per_cell= may be given: both bound one person's events in a cell"
            raise OutOfRange(required, came="both", remedy="Leave out per_cell=.")
        step = 1 if spec.step is None else spec.step
        plain = Amount(name or spec.values, step)
        low, high = _ends(spec.each, "each", plain)
        ends_of_each = plain.text(low), plain.text(high)
        amount = Amount(plain.name, step, ends_of_each, missing=spec.missing is not None)
        in_total = None if spec.in_total is None else natural(spec.in_total, "in_total", least=1)
        ends = (0, (high - low) * most)
        return cls(spec.values, amount, spec.step is not None, (low, high), ends, most, in_total=in_total)

    @classmethod
    def _distinct(cls, spec: MeasureSpec, *, each_row: bool, name: str | None) -> "CountedMeasure":
        most = natural(1 if spec.at_most is None else spec.at_most, "at_most", least=1)
        if spec != MeasureSpec(distinct=spec.distinct, of=spec.of, at_most=spec.at_most) or spec.of is None:
            came = "no declared values" if spec.of is None else "values=, step=, each=, per_cell= or most_events="
            remedy = 'Pass, for example, ut.distinct("product", of=["tea", "milk"], at_most=3).'
            raise OutOfRange(
                "distinct= needs of=, the list of values, and allows no other argument of a measure but at_most=",
                came=came,
                remedy=remedy,
            )
        if not isinstance(spec.distinct, str) or not spec.distinct:
            raise wrong_kind("distinct", "the name of a column", spec.distinct)
        if each_row and most > 1:
            remedy = "Leave out at_most=: with each_row=True each person has one value."
            raise OutOfRange("at_most must be 1 where each row is a person", came=most, remedy=remedy)
        declare = Domain.of_facts if isinstance(spec.of, Mapping) else Domain
        axis = declare({spec.distinct: spec.of}).axes[0]
        if axis.columns != (spec.distinct,):
            raise OutOfRange(
                "distinct= must name one column",
                came=f"{len(axis.columns)} columns",
                remedy="List the values of one column in of=.",
            )
        amount = Amount(name or spec.distinct, distinct=axis.size)
        return cls(None, amount, is_rounded=False, each=None, ends=(0, min(most, axis.size)), distinct=axis)

    @property
    def tables(self) -> int:
        """The number of tables of sums: one for each part of an `AmountPair`, or for each distinct value; else 1."""
        if self.distinct is not None:
            return self.distinct.size
        return 1 if self.most_events is None or self.amount is None else len(self.amount.labels)

    @property
    def leaves_missing(self) -> bool:
        return self.column is not None and self.amount is not None and self.amount.missing

    @property
    def bound(self) -> int:
        """The largest absolute change of a cell by one person."""
        return max(abs(self.ends[0]), abs(self.ends[1]))

    @property
    def counts_events(self) -> bool:
        return self.distinct is None and (self.column is None or self.most_events is not None)

    def clip_sums(self, sums: NDArray[Any]) -> tuple[NDArray[Any], int]:
        """Clip the sums of persons in cells to `ends`; return the sums, and how many of them were clipped."""
        if not self.clips_sums:
            return sums, 0
        low, high = self.ends if self.most_events is None else (0, self.most_events)
        beyond = max(abs(low), abs(high)) >= LARGEST_DOMAIN
        clipped = np.clip(sums.astype(object) if beyond else sums, low, high)
        return clipped if beyond else clipped.astype(np.int64), int(np.count_nonzero((sums < low) | (sums > high)))

    @property
    def counts_once(self) -> bool:
        """Whether all events of a person in a cell count as one, so that bounds remove only (person, cell) pairs."""
        return self.in_total is None and (self.most_events == 1 or (self.ends == (0, 1) and self.amount is None))

    @property
    def steps_of_event(self) -> int:
        """The number of steps that one event adds to all parts together; 1 without ``most_events``."""
        return 1 if self.most_events is None or self.each is None else self.each[1] - self.each[0]

    def unit(self, cells: int, neighbours: str, *, in_parts: bool, must_not_lower: bool = False) -> Unit:
        """Return the unit that counting proves; ``must_not_lower`` says that plans need cells that no person lowers."""
        matters = not in_parts if neighbours == "change-one" else must_not_lower
        promised = matters and self.ends[0] >= 0 and self.most_events is None
        if self.in_total is None:
            return Unit(self.bound, cells, neighbours, self.amount, nonnegative=promised)
        in_total = self.in_total * self.steps_of_event
        changed, most = min(cells, self.in_total), min(self.bound, in_total)
        return Unit(most, changed, neighbours, self.amount, nonnegative=promised, in_total=in_total)

    def parts(
        self, counts: NDArray[np.int64], sums: NDArray[Any], missing: NDArray[np.int64] | None = None
    ) -> list[NDArray[Any]]:
        """Compute the parts of `AmountPair` for each (person, cell) pair. A person with more than ``most_events``
        events in a cell counts with that many events, and with the average of all the amounts.
        """
        # For each (person, cell) pair: `counts` has the number of events, `sums` their amounts above the low end,
        # `missing` the number of events without an amount. If there are more than `most_events` events, those with an
        # amount count first, and their amounts are reduced in proportion and rounded to the nearest step: rounded down,
        # the means of persons with several events would be too low. The results are >= 0, and together at most `bound`.
        assert self.most_events is not None, "only a measure with most_events has parts"
        assert self.each is not None, "most_events needs each="
        wide, most = self.each[1] - self.each[0], int(counts.max(initial=0))
        largest = max(self.bound, int(sums.max(initial=0)) * self.most_events, wide * most * self.most_events)
        events = np.minimum(counts, self.most_events).astype(object if largest >= 1 << 62 else np.int64)
        stated = (counts if missing is None else counts - missing).astype(events.dtype)
        kept = np.minimum(stated, events)
        above = _nearest_quotient(sums.astype(events.dtype) * kept, np.maximum(stated, 1))
        parts = [above, wide * kept - above]
        return parts if missing is None else [*parts, wide * (events - kept)]

    def sizes_of(self, parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Return the size of each (person, cell) pair; `in_total` bounds the sum of a person's sizes."""
        return np.asarray(np.sum([np.abs(part) for part in parts], axis=0) // self.steps_of_event)

    def reduced_to(
        self, parts: Sequence[NDArray[Any]], sizes: NDArray[Any], left: NDArray[Any]
    ) -> Sequence[NDArray[Any]]:
        """Reduce each pair to its size in ``left``.

        All parts of an amount are reduced in proportion, except that the second part gets the rest.
        """
        if self.most_events is None:
            return [np.where(parts[0] < 0, -left, left)]
        most = int(left.max(initial=1))
        largest = max(self.steps_of_event, *(int(part.max(initial=0)) for part in parts)) * most
        # Multiply before the division; products may exceed int64.
        left = left.astype(object) if largest >= 1 << 62 else left
        products = np.array(parts, dtype=left.dtype) * left
        cut = products // np.maximum(sizes, 1)
        # Only the amounts are rounded to the nearest step: then the sum is at most `steps_of_event * left`.
        cut[0] = _nearest_quotient(products[0], np.maximum(sizes, 1))
        cut[1] = 0
        cut[1] = self.steps_of_event * left - cut.sum(axis=0)
        return list(cut.astype(np.int64 if self.bound < 1 << 62 else object))

    def amounts(
        self, batch: Batch, before: int, spelling: Spelling, known: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
        """Return the amounts as numbers of steps (0 if missing), and which are missing (None if these are refused)."""
        assert self.column is not None, "amounts are summed"
        column, gone = batch[self.column], None
        if self.leaves_missing:
            column, gone = without_missing(column, spelling, known)
        try:
            if self.is_rounded:
                assert self.amount is not None, "only amounts have a step"
                return rounded_amounts(column, self.column, before, self.amount, spelling, known), gone
            return amounts_in(column, self.column, before, spelling), gone
        except BadTable as error:
            declare = declare_mark(error.came, spelling)
            if error.came == "text" and spelling.decimal is not None:  # a number, but not in this spelling
                raise BadTable(
                    error.required,
                    came=f"a number whose decimal mark is not {spelling.decimal!r}, as declared",
                    where=error.where,
                    remedy="Write all numbers of the column with one decimal mark, before you count.",
                ) from None
            if declare is None and error.came == TEXT_KIND:
                declare = f"{error.remedy} {MARK_ANYWAY}"
            if declare is not None:
                remedy = f'{declare} With missing="leave out" in ut.mean or ut.sum such amounts are left out.'
                raise BadTable(error.required, came=error.came, where=error.where, remedy=remedy) from None
            if gone is None and (missing := without_missing(column, spelling)[1]).any():
                row = before + int(missing.argmax()) + 1
                if error.where is not None and error.where.startswith(f"row {row},"):
                    raise BadTable(
                        "every event must have an amount",
                        came=MISSING_AMOUNT,
                        where=error.where,
                        remedy='Pass missing="leave out" in ut.mean or ut.sum; the counting report shows '
                        "the number of missing amounts.",
                    ) from None
            raise

    def clip_amounts(self, amounts: NDArray[Any]) -> NDArray[Any]:
        """Clip amounts of events to `each`, after they were rounded to the step."""
        if self.each is None:
            return amounts
        low, high = self.each
        if amounts.dtype != object and max(abs(low), abs(high)) >= 1 << 62:
            amounts = amounts.astype(object)
        clipped: NDArray[Any] = np.clip(amounts, low, high)
        return clipped


def _nearest_quotient(numbers: NDArray[Any], divisors: NDArray[Any]) -> NDArray[Any]:
    """Divide integers >= 0 by positive integers; return the nearest integers, of two equally near ones the even one."""
    quotients = numbers // divisors
    twice = 2 * (numbers - quotients * divisors)
    is_above = (twice > divisors) | ((twice == divisors) & (quotients % 2 == 1))
    return np.asarray(quotients + is_above.astype(quotients.dtype))


def _ends(bounds: Any, where: str, amount: Amount | None) -> AmountEnds:
    """Return the lowest and the highest number of ``bounds``, as numbers of steps; a single number s means (0, s)."""
    ends = tuple(bounds) if isinstance(bounds, tuple | list) else (0, bounds)
    if len(ends) != 2:
        remedy = f"Pass, for example, {where}=(0, 1000)."
        raise OutOfRange(
            f"{where} must be one number, or a pair of the lowest and the highest number",
            came=f"{len(ends)} numbers",
            remedy=remedy,
        )
    low, high = (exact_integer(end, where) if amount is None else amount.steps(end, where) for end in ends)
    if low > high or low == high == 0:
        raise OutOfRange(
            f"{where} must be a positive number, or a pair of a number and a larger number",
            came=", ".join(str(end) for end in ends),
            remedy=f"Pass, for example, {where}=1000 or {where}=(0, 1000).",
        )
    return low, high
