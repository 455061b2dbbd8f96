"""What is counted of each person and atom: events, or the sum of an amount; with the bounds of what one changes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange
from utmost.laws.exact import Number
from utmost.laws.privacy import Amount
from utmost.publish.tables.event_amounts import rounded_amounts
from utmost.publish.tables.event_batches import Batch
from utmost.publish.tables.event_codes import amounts_in

Ends = tuple[int, int]
"""The lowest and the highest of what is allowed, in steps."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What is counted: events, or the sum of a column; in steps of an amount, within bounds.

    Attributes:
        column: the column of amounts; None, and events are counted.
        amount: what is summed, and in which steps; None for events.
        is_rounded: whether amounts are rounded to the step; else they must be integers.
        each: the ends between which the amount of each event is moved; None where it stays.
        ends: the ends between which a person's sum in an atom is moved.
    """

    column: str | None
    amount: Amount | None
    is_rounded: bool
    each: Ends | None
    ends: Ends

    @classmethod
    def of(
        cls,
        values: str | None,
        step: Number | None,
        each: Any,
        per_atom: Any,
        *,
        each_row: bool,
        name: str | None = None,
    ) -> "Measure":
        """The measure that the words of `count_table` say.

        Args:
            name: of the amounts; the column's when left out.

        Raises:
            OutOfRange: for bounds that leave nothing or are no multiples of the step, amounts without a bound on a
                person's sum, and a step or a bound on values where there are none.
        """
        if values is None and not (step is None and each is None):
            came = "step" if step is not None else "each"
            raise OutOfRange(f"{came}= is of amounts", came="no values=", remedy='Pass values="amount", say.')
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

    @property
    def bound(self) -> int:
        """The largest size of what one person changes in a cell."""
        return max(abs(self.ends[0]), abs(self.ends[1]))

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
