"""What is counted of each person and atom: events, or the sum of an amount; with the bounds of what one changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange
from utmost.laws.exact import Number, exact_integer, natural, wrong_kind
from utmost.laws.privacy import Amount
from utmost.publish.tables.bounding import Pairs
from utmost.publish.tables.event_amounts import rounded_amounts
from utmost.publish.tables.event_batches import Batch
from utmost.publish.tables.event_codes import amounts_in

Bounds = Number | Sequence[Number]
"""What one person may add to one atom: at most so much from 0 on, or between two ends."""

Ends = tuple[int, int]
"""The lowest and the highest of what is allowed, in steps."""


@dataclass(frozen=True, slots=True)
class MeasureWords:
    """What is counted, in the words of `count_table`; made by `count` and `sum`.

    Attributes:
        values, step, each, per_atom, most_events: as for `count_table`.
    """

    values: str | None = None
    step: Number | None = None
    each: Bounds | None = None
    per_atom: Bounds | None = None
    most_events: int | None = None


def count(per_atom: Bounds | None = None) -> MeasureWords:
    """Events are counted, as one of the ``measures`` of `count_table`; there `count` itself may stand for `count()`.

    Args:
        per_atom: how many events of a person count in an atom; 1 when left out.

    >>> events = {"user": ["ann", "ann", "bob"], "shop": ["A", "A", "B"], "paid": [3, 5, 2]}
    >>> words = {"person": "user", "domain": {"shop": ["A", "B"]}, "at_most": 1}
    >>> from utmost.publish.counting import count_table
    >>> tables = count_table(events, measures={"visits": count(2), "spent": sum("paid", per_atom=6)}, **words)
    >>> tables["visits"].atoms.tolist(), tables["spent"].table("shop")["spent"].tolist()
    ([2, 1], [6, 2])
    """
    return MeasureWords(per_atom=per_atom)


def sum(
    column: str,
    *,
    step: Number | None = None,
    each: Bounds | None = None,
    per_atom: Bounds | None = None,
    most_events: int | None = None,
) -> MeasureWords:
    """A column of amounts is summed, as one of the ``measures`` of `count_table`.

    Args:
        column: of amounts.
        step, each, per_atom, most_events: as for `count_table`.

    >>> sum("paid", step="0.01", each=(0, 1000), per_atom=(0, 5000)).values
    'paid'
    """
    return MeasureWords(column, step, each, per_atom, most_events)


def read_measures(measures: Any, words: MeasureWords, *, each_row: bool) -> dict[str, "Measure"]:
    """The measures by name; the one that the words say where no measures are given.

    Raises:
        OutOfRange: for both, and for no measure.
        WrongKind: for measures that are none.
    """
    if measures is None:
        return {"": Measure.of(words, each_row=each_row)}
    if words != MeasureWords():
        remedy = 'Say it in the measures: measures={"spent": ut.sum("paid", per_atom=100)}.'
        raise OutOfRange(
            "what is counted is said once", came="values=, step=, each= or per_atom= beside measures=", remedy=remedy
        )
    if not isinstance(measures, Mapping):
        raise wrong_kind("measures", "a mapping from names to ut.count and ut.sum(...)", measures)
    if not measures:
        raise OutOfRange("there must be a measure", came="none", where="measures")
    read = {}
    for name, measure in measures.items():
        stated = count() if measure is count else measure
        if not isinstance(stated, MeasureWords) or not isinstance(name, str) or not name:
            raise wrong_kind("measures", "a mapping from names to ut.count and ut.sum(...)", measure)
        read[name] = Measure.of(stated, each_row=each_row, name=name)
    return read


def most_atoms(person: str | None, at_most: int | None, together: str | None, *, each_row: bool) -> int:
    """How many atoms one person may change.

    Raises:
        OutOfRange: where it is not said, or said twice, whose events these are; and for no atoms.
    """
    if not each_row:
        if person is None or at_most is None:
            came = "no person" if person is None else "no at_most"
            remedy = "Pass person= and at_most=; or each_row=True, where each row is another person."
            raise OutOfRange(
                "whose events these are must be said, and how many atoms one may change", came=came, remedy=remedy
            )
        if exact_integer(at_most, "at_most") < 1:
            remedy = "Give how many atoms a person may change."
            raise OutOfRange("at_most must be at least 1", came=at_most, remedy=remedy)
        return at_most
    if person is not None or together is not None or at_most not in (None, 1):
        came = "a person" if person is not None else "together" if together is not None else f"at_most={at_most}"
        remedy = "Leave person=, together= and at_most= out; or name the column of persons."
        raise OutOfRange("each row is a person, who changes one atom", came=came, where="each_row", remedy=remedy)
    return 1


@dataclass(frozen=True, slots=True)
class Measure:
    """What is counted: events, or the sum of a column; in steps of an amount, within bounds.

    Attributes:
        column: the column of amounts; None, and events are counted.
        amount: what is summed, and in which steps; None for events.
        is_rounded: whether amounts are rounded to the step; else they must be integers.
        each: the ends between which the amount of each event is moved; None where it stays.
        ends: the ends between which a person's sum in an atom is moved.
        most_events: where events are counted beside their amounts, how many of one person in an atom; None elsewhere.
    """

    column: str | None
    amount: Amount | None
    is_rounded: bool
    each: Ends | None
    ends: Ends
    most_events: int | None = None

    @classmethod
    def of(cls, words: MeasureWords, *, each_row: bool, name: str | None = None) -> "Measure":
        """The measure that words say.

        Args:
            name: of the amounts; the column's when left out.

        Raises:
            OutOfRange: for bounds that leave nothing or are no multiples of the step, amounts without a bound on a
                person's sum, and a step or a bound on values where there are none.
        """
        values, step, each, per_atom = words.values, words.step, words.each, words.per_atom
        if values is None and not (step is None and each is None):
            came = "step" if step is not None else "each"
            raise OutOfRange(f"{came}= is of amounts", came="no values=", remedy='Pass values="amount", say.')
        if words.most_events is not None:
            return cls._shared(words, each_row=each_row, name=name)
        amount = None if values is None else Amount(name or values, 1 if step is None else step)
        event = None if each is None else _ends(each, "each", amount)
        if per_atom is None and event is not None and each_row:
            return cls(values, amount, step is not None, event, event)
        if per_atom is None and not (step is None and each is None):
            remedy = "Say it in the unit of the amounts: per_atom=(0, 5000)."
            raise OutOfRange(
                "the most by which one person may change an atom must be said", came="no per_atom", remedy=remedy
            )
        ends = _ends(1 if per_atom is None else per_atom, "per_atom", amount)
        return cls(values, amount, step is not None, event, ends)

    @classmethod
    def _shared(cls, words: MeasureWords, *, each_row: bool, name: str | None) -> "Measure":
        """The measure of sums and counts together."""
        most = natural(words.most_events, "most_events", least=1)
        if words.values is None or words.each is None or words.per_atom is not None or (each_row and most > 1):
            came = "no values=" if words.values is None else "no each=" if words.each is None else "per_atom="
            came = "more than one event of a row" if each_row and most > 1 else came
            remedy = 'Pass values="amount", each=(0, 1000), most_events=5, say; what a person may change follows.'
            raise OutOfRange("sums and counts together are of amounts between two ends", came=came, remedy=remedy)
        step = 1 if words.step is None else words.step
        plain = Amount(name or words.values, step)
        low, high = _ends(words.each, "each", plain)
        amount = Amount(plain.name, step, (plain.text(low), plain.text(high)))
        return cls(words.values, amount, words.step is not None, (low, high), (0, (high - low) * most), most)

    @property
    def tables(self) -> int:
        """How many numbers of an atom come of it: of sums and counts together two."""
        return 1 if self.most_events is None else 2

    @property
    def bound(self) -> int:
        """The largest size of what one person changes in a cell."""
        return max(abs(self.ends[0]), abs(self.ends[1]))

    def both_parts(self, counts: Pairs, sums: Pairs) -> list[Pairs]:
        """What persons have above the low end and below the high one, of no more events than are counted.

        Args:
            counts, sums: of the same pairs of person and cell, the events and their amounts above the low end.

        Returns:
            Two tables' pairs, as `Pairs.clipped`; both numbers of a pair are >= 0, and together at most the bound.
        """
        assert self.most_events is not None, "events are counted"
        assert self.each is not None, "between two ends"
        wide, is_large = self.each[1] - self.each[0], self.bound >= 1 << 62
        events = np.minimum(counts.sums, self.most_events).astype(object if is_large else np.int64)
        above = np.minimum(sums.sums.astype(events.dtype), wide * events)
        parts = [Pairs(counts.persons, counts.cells, above), Pairs(sums.persons, sums.cells, wide * events - above)]
        return [part.where(part.sums != 0) for part in parts]

    def amounts(self, batch: Batch, before: int) -> NDArray[Any] | None:
        """The amounts of the events of a batch in steps, as they came; None where each event counts as one.

        Raises:
            BadTable: for an amount that is missing or no number.
        """
        if self.column is None:
            return None
        if self.is_rounded:
            assert self.amount is not None, "a step is of amounts"
            return rounded_amounts(batch[self.column], self.column, before, self.amount)
        return amounts_in(batch[self.column], self.column, before)

    def within(self, amounts: NDArray[Any]) -> NDArray[Any]:
        """Amounts of events, moved between the ends for each."""
        if self.each is None:
            return amounts
        low, high = self.each
        if amounts.dtype != object and max(abs(low), abs(high)) >= 1 << 62:
            amounts = amounts.astype(object)
        moved: NDArray[Any] = np.clip(amounts, low, high)
        return moved


def _ends(bounds: Any, where: str, amount: Amount | None) -> Ends:
    """The lowest and the highest, in steps; of a number alone, from 0 on."""
    ends = tuple(bounds) if isinstance(bounds, tuple | list) else (0, bounds)
    if len(ends) != 2:
        raise OutOfRange(f"{where} must be one number, or a lowest and a highest", came=f"{len(ends)} numbers")
    counted = Amount("events") if amount is None else amount
    low, high = (counted.steps(end, where) for end in ends)
    if low > high or low == high == 0:
        raise OutOfRange(
            f"{where} must leave one person something to change",
            came=bounds,
            remedy="Give the most by which a person may change an atom, 1 or more, or the pair of both ends.",
        )
    return low, high
