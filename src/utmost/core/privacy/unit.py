"""The unit of privacy: how much of a table one individual can change."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, one_of, text, wrong_kind
from utmost.core.exact.arrays import PickledByFields
from utmost.core.exact.display import number_words
from utmost.core.exact.field_forms import form
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact, exact_integer, natural, written_number
from utmost.core.privacy.amount import Amount
from utmost.errors import NotANumber, NotDetermined, OutOfRange, Unsupported

Neighbours = Literal["add-remove", "change-one"]
"""The neighbouring relation: one individual is added or removed, or one individual's record is replaced."""

_LARGEST = 10**100  # no query has a larger sensitivity, and long numbers take time
_REQUIRED = {"sensitivity", "cells", "neighbours"}
# A record is replaced in two steps: one record is removed, and then another is added. Each step has its own privacy
# loss.
_STEPS: dict[Neighbours, int] = {"add-remove": 1, "change-one": 2}
_CHANGE: dict[Neighbours, tuple[str, str]] = {
    "add-remove": ("Adding or removing any one individual", "changes"),
    "change-one": ("Replacing any one individual's record", "counts in"),
}
_LOWERS: dict[str | bool, str] = {True: "no; this is assumed, and true for counts", False: "yes"}
_TOTAL: dict[str | bool, str] = {
    True: "public; every individual is assumed to change that many cells by exactly these amounts",
    False: "gets noise, like every sum",
}
_HIDDEN: dict[str | bool, str] = {
    "add-remove": "whether a person is in the data (add-remove)",
    "change-one": "the content of a person's record; the number of people is public (change-one)",
}


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Unit(PickledByFields):
    """The effect of one individual on a table: at most ``cells`` cells change, each by at most ``sensitivity``.

    Under both neighbouring relations, the two numbers describe the *presence* of one individual: the change of the
    table when that individual's record is added. ``change-one`` replaces a record: one record is removed and another
    added. So a release that is epsilon/2-private for add-remove is epsilon-private for change-one, and the library
    divides epsilon by twice the cells. A caller does not double or halve any number.

    Args:
        sensitivity: Largest change of one cell by one individual's presence, > 0. For amounts the sensitivity is a
            number of steps.
        cells: Number of released cells that one individual's presence changes, >= 1, over all released columns.
        neighbours: "add-remove" or "change-one".
        amount: `Amount` that is summed, or whose distinct values are counted; None for counts, and for numbers without
            a name.
        nonnegative: Whether one individual's presence **lowers no cell**, as for counts, and for sums of amounts
            between 0 and the sensitivity. If True, a plan may use a larger epsilon for each sum under "change-one",
            because a replaced record lowers some cells and raises others.
        in_total: Largest sum of the changes of all cells, at least the sensitivity; None for cells times sensitivity.
            A smaller ``in_total`` gives each cell in a plan a larger budget share.
        exactly: Whether **every** individual's changes reach these bounds: everybody changes ``cells`` cells by the
            sensitivity each (or all cells by ``in_total`` together), for example exactly one cell by 1. If so,
            replacing a record leaves the total unchanged, and the total is public. ``exactly`` needs "change-one" and
            ``nonnegative``.

    Raises:
        OutOfRange, NotANumber: if a number is outside its range, if the relation is unknown, or if ``exactly`` is
            passed without "change-one" and ``nonnegative``.
    >>> Unit(1, 2).epsilon_parts, Unit(1, 2, "change-one").epsilon_parts
    (2, 4)
    >>> Unit(500_000, 2, amount=Amount("spent", "0.01")).largest_change_named
    '5000 of spent'
    >>> Unit(1, 2, "change-one", nonnegative=True)
    Unit(1, cells=2, neighbours='change-one', nonnegative=True)
    >>> Unit(20, 30, in_total=100).epsilon_parts                           # 5 cells of 20, or 30 smaller ones
    Fraction(5, 1)
    """

    sensitivity: Fraction = field(metadata=form("one individual changes a cell by at most"))
    cells: int = field(metadata=form("cells that one individual changes, at most"))
    neighbours: Neighbours = field(metadata=form("what is hidden", words=_HIDDEN))
    amount: Amount | None = field(metadata=form("amount that is summed"))
    nonnegative: bool = field(metadata=form("one individual can lower a cell", words=_LOWERS))
    in_total: Fraction | None = field(metadata=form("one individual changes all cells together by at most"))
    exactly: bool = field(metadata=form("the total", words=_TOTAL))

    def __init__(
        self,
        sensitivity: Number,
        cells: Number,
        neighbours: str = "add-remove",
        amount: Any = None,
        nonnegative: bool = False,
        in_total: Number | None = None,
        exactly: bool = False,
    ) -> None:
        number = written_number(sensitivity, "sensitivity")
        above, below = number.numerator, number.denominator
        if above > 0 and not (below <= above * _LARGEST and above <= below * _LARGEST):
            raise OutOfRange(
                "sensitivity must lie between 1e-100 and 1e100",
                came="another number",
                remedy="Count in larger or smaller units.",
            )
        if number <= 0:
            raise OutOfRange(
                "sensitivity must be positive",
                came=sensitivity,
                remedy="Pass the largest change of one cell by one individual: 1 for a count.",
            )
        object.__setattr__(self, "sensitivity", number)
        try:
            count = exact_integer(cells, "cells")
        except NotANumber as error:
            raise OutOfRange("cells must be an integer", came=error.came) from None
        if count > _LARGEST:
            remedy = "Pass the number of cells of the table."
            raise OutOfRange("cells must be at most 1e100", came="more", remedy=remedy)
        if count < 1:
            remedy = "Pass the number of released cells that one individual changes, over all released columns."
            raise OutOfRange("cells must be at least 1", came=cells, remedy=remedy)
        object.__setattr__(self, "cells", count)
        remedy = "add-remove: one individual is added or removed; change-one: one individual's record is replaced."
        object.__setattr__(self, "neighbours", one_of(neighbours, Neighbours, "neighbours", remedy=remedy))
        object.__setattr__(self, "amount", None if amount is None else Amount.of(amount))
        object.__setattr__(self, "nonnegative", _promised(nonnegative))
        most = None if in_total is None else written_number(in_total, "in_total")
        if most is not None and most < number:
            remedy = "Pass the largest change of all cells together by one individual, or a smaller sensitivity."
            raise OutOfRange(
                "in_total must be at least the sensitivity", came=in_total, where="in_total", remedy=remedy
            )
        object.__setattr__(self, "in_total", None if most is None or most >= number * count else most)
        object.__setattr__(self, "exactly", _promised(exactly, "exactly"))
        if exactly and (self.neighbours != "change-one" or not nonnegative):
            missing = [] if self.neighbours == "change-one" else ['neighbours="change-one"']
            named = " and ".join(missing if nonnegative else [*missing, "nonnegative=True"])
            raise OutOfRange(f"exactly= needs {named}", remedy=f"Pass {named}, or leave out exactly=.")
        if exactly and self.reach.denominator != 1:
            required = "with exactly=True the changes of one individual must add up to a whole number"
            raise OutOfRange(required, came=str(self.reach), where="in_total", remedy="Count in smaller steps.")

    def __repr__(self) -> str:
        """The call that creates this unit, without default arguments."""
        more = [f"cells={self.cells}"]
        more += [] if self.neighbours == "add-remove" else [f"neighbours={self.neighbours!r}"]
        more += [] if self.amount is None else [f"amount={self.amount!r}"]
        more += ["nonnegative=True"] if self.nonnegative else []
        more += [] if self.in_total is None else [f"in_total={_typed(self.in_total)}"]
        more += ["exactly=True"] if self.exactly else []
        return f"Unit({_typed(self.sensitivity)}, {', '.join(more)})"

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "Unit":
        """Read a unit from the fields that `facts` wrote. Other fields are ignored.

        Raises:
            OutOfRange, NotANumber, WrongKind: if the fields describe no unit.
        >>> unit = Unit(100, 2, amount=Amount("spent", "0.05"))
        >>> Unit.of_facts(unit.facts()) == unit
        True
        """
        if not isinstance(facts, Mapping) or not set(facts) >= _REQUIRED:
            raise wrong_kind("facts", f"a mapping with {', '.join(sorted(_REQUIRED))}", facts)
        numbers = facts["sensitivity"], facts["cells"], facts["neighbours"], facts.get("amount")
        promised = {name: facts.get(name, False) for name in ("nonnegative", "exactly")}
        return cls(*numbers, in_total=facts.get("in_total"), **promised)

    def facts(self) -> dict[str, Any]:
        """The unit as JSON values. An amount of None, and flags that are False, are left out."""
        amount: dict[str, Any] = {} if self.amount is None else {"amount": self.amount.facts()}
        amount |= {"nonnegative": True} if self.nonnegative else {}
        amount |= {} if self.in_total is None else {"in_total": str(self.in_total)}
        amount |= {"exactly": True} if self.exactly else {}
        return {"sensitivity": str(self.sensitivity), "cells": self.cells, "neighbours": self.neighbours, **amount}

    @property
    def step(self) -> Fraction:
        """The step of the amount; 1 if there is no amount."""
        return Fraction(1) if self.amount is None else self.amount.step

    @property
    def is_shared(self) -> bool:
        """Whether the same noise serves sums and counts. If so, the sensitivity bounds the changes of a sum and its
        count together.
        """
        return self.amount is not None and self.amount.between is not None

    @property
    def is_distinct(self) -> bool:
        """Whether a cell is a number of distinct values, which does not add up over cells."""
        return self.amount is not None and self.amount.distinct is not None

    @property
    def needs_sizes(self) -> bool:
        """Whether the unit bounds the sum of the changes of all cells. Only geometric noise uses this bound."""
        return self.is_shared or self.in_total is not None

    @property
    def leaves_totals(self) -> bool:
        """Whether neighbours differ by a replaced record, and the presence of a record lowers no cell."""
        return self.neighbours == "change-one" and self.nonnegative

    @property
    def reach(self) -> Fraction:
        """The most by which one individual's presence changes all cells together."""
        return self.sensitivity * self.cells if self.in_total is None else self.in_total

    @property
    def whole_cells(self) -> int:
        """The largest number of cells that one individual's presence can all change by the whole sensitivity."""
        return int(self.reach // self.sensitivity)

    def on_cells(self, count: int) -> "Unit":
        """The unit of a table of ``count`` cells, since no individual changes more cells than the table has.

        A unit with ``exactly``, or whose amount has a lower and an upper end, stays unchanged.

        >>> Unit(1, 30).on_cells(6), Unit(1, 6).on_cells(30)
        (Unit(1, cells=6), Unit(1, cells=6))
        """
        if exact_integer(count, "count") >= self.cells or self.exactly or self.is_shared:
            return self
        return replace(self, cells=count)

    @property
    def largest_change(self) -> str:
        """The sensitivity, and the bound of all cells together, in words and in the unit of the amount."""
        return self._most("")

    @property
    def largest_change_named(self) -> str:
        """The sensitivity with the name of the amount: "5000 of paid"."""
        return self._most(self._of_amount)

    @property
    def _of_amount(self) -> str:
        return "" if self.amount is None or self.is_distinct or self.is_shared else f" of {self.amount.name}"

    def _most(self, of: str) -> str:
        if self.is_shared and self.amount is not None:
            low, high = self.amount.ends
            between = f" with {self.amount.name} from {self.text(low)} to {self.text(high)}"
            events, in_total = self._events
            each = f"{_some(events, 'event')}{between}"
            return each if in_total is None else f"{each}, and all together by at most {in_total} of them"
        each = f"{self.text(self.sensitivity)}{of}"
        return each if self.in_total is None else f"{each}, and all together by at most {self.text(self.in_total)}{of}"

    @property
    def change_text(self) -> str:
        """The difference of two neighbouring datasets: "Adding or removing any one individual"."""
        return _CHANGE[self.neighbours][0]

    @property
    def verb(self) -> str:
        """The verb between an individual, or its record, and the cells: "changes" or "counts in"."""
        return _CHANGE[self.neighbours][1]

    @property
    def neighbours_text(self) -> str:
        """A neighbouring dataset, in words."""
        if self.neighbours == "add-remove":
            return "the same data with one individual more or one fewer"
        charged = "both are charged"
        if self.nonnegative:
            charged = "the charge is for the decrease of some sums and the increase of others"
        return f"the same data with one individual's record replaced by another: a removal and an addition; {charged}"

    @property
    def steps_of_a_record(self) -> int:
        """The factor of epsilon that bounds the effect of changing one individual's record: 2 for "add-remove", else
        1.
        """
        return 2 // _STEPS[self.neighbours]

    def cells_text(self, cell: str) -> str:
        """The number of cells that one individual changes, in words.
        >>> Unit(1, 2).cells_text("cell")
        '2 cells'
        """
        text(cell, "cell")
        return f"{self.cells} {'group' if self.is_shared else cell}{'s' * (self.cells != 1)}"

    def changes_text(self, cell: str) -> str:
        """The most that one individual changes, in words.

        >>> Unit(1, 2).changes_text("cell")
        'at most 2 cells, each by at most 1'
        >>> Unit(2, 2, in_total=2).changes_text("cell")
        'at most 2 cells, by at most 2 in total'
        """
        many = self.cells_text(cell)
        if not self.is_shared and self.in_total == self.sensitivity:
            return f"at most {many}, by at most {self.text(self.sensitivity)}{self._of_amount} in total"
        if not self.is_shared or self.amount is None:
            return f"at most {many}, {'each ' * (self.cells > 1)}by at most {self.largest_change_named}"
        low, high = (self.text(end) for end in self.amount.ends)
        amounts = f"({self.amount.name} from {low} to {high})"
        events, in_total = self._events
        all_events = "" if in_total is None else f", and at most {_some(in_total, 'event')} in total"
        if events == 1:
            return (
                f"at most {many}, and counts {'once in each' if self.cells > 1 else 'there once'}{all_events} {amounts}"
            )
        where = "each" if self.cells > 1 else "it"
        return f"at most {many}, with at most {_some(events, 'event')} in {where}{all_events} {amounts}"

    @property
    def counted_noun(self) -> str:
        """The noun for counts: "people" if one individual is at most once in a cell, else "events".

        >>> Unit(1, 1).counted_noun, Unit(1, 3).counted_noun, Unit(2, 1).counted_noun
        ('people', 'people (each up to 3 times)', 'events')
        """
        each, in_total = Fraction(self.sensitivity if self.amount is None else 0), self.in_total
        if self.amount is not None and self.is_shared:
            each, in_total = self._events
        if each != 1:
            return "events"
        times = self.cells if in_total is None else min(self.cells, int(in_total))
        return "people" if times == 1 else f"people (each up to {times} times)"

    @property
    def quantity(self) -> str:
        """The quantity in each cell of a counted table, in words, such as the number of events.

        >>> Unit(1, 3).quantity, Unit(2, 1).quantity
        ('number of people; the cells together count each up to 3 times', 'number of events, at most 2 of each person
        in a cell')
        >>> Unit(100, 1, amount=Amount("spent", "0.05")).quantity
        'sum of spent'
        """
        if self.amount is not None and not self.is_shared:
            return f"number of different {self.amount.name}" if self.is_distinct else f"sum of {self.amount.name}"
        each, in_total = self._events if self.is_shared else (Fraction(self.sensitivity), self.in_total)
        most = self.cells if in_total is None else min(self.cells, int(in_total))
        if each != 1:
            bound = f"{each} of each person in a cell" if in_total is None else f"{in_total} of each person in total"
            counted = f"number of events, at most {bound}"
        else:
            counted = "number of people"
            counted += ", each at most once" if most == 1 else f"; the cells together count each up to {most} times"
        return f"{counted}; and sums and means of amounts" if self.is_shared else counted

    def uncounted_text(self, cell: str, size: int | None) -> str:
        """The part of one individual's data that a table of ``size`` cells does not count, in words, or "" if none.

        Bounds that other bounds imply are omitted. Further events that have an amount are omitted, too: see
        `averaged_text`.

        >>> Unit(1, 2).uncounted_text("cell", 4)
        'what one individual has in more than 2 cells, or beyond 1 in any cell'
        >>> Unit(1, 2).uncounted_text("cell", 2)
        'what one individual has beyond 1 in any cell'
        >>> Unit(20, 20, in_total=20).uncounted_text("cell", 100)
        'what one individual has beyond 20 in total'
        """
        most = None if size is None else natural(size, "size")
        each, in_total, each_text = self.sensitivity, self.in_total, self.largest_change_named
        in_total_text = "" if in_total is None else self.text(in_total)
        is_averaged = self.is_shared and self.amount is not None
        if is_averaged:
            each, in_total = self._events
            in_total_text = "" if in_total is None else _some(in_total, "event")
        elif in_total is not None:
            each_text = self.text(each)
        # Changes are whole numbers: an individual in more than in_total cells changes more than in_total together.
        is_of_cells = (most is None or self.cells < most) and (in_total is None or in_total > self.cells)
        bounds = [f"in more than {self.cells_text(cell)}"] if is_of_cells else []
        if not is_averaged and (in_total is None or in_total > each):
            bounds.append(f"beyond {each_text} in any {'group' if self.is_shared else 'cell'}")
        bounds += [] if in_total is None else [f"beyond {in_total_text} in total"]
        return f"what one individual has {', or '.join(bounds)}" if bounds else ""

    def averaged_text(self, cell: str) -> str:
        """How several events of one individual in one cell count, in words, or "" if no amount is summed.

        >>> Unit(100, 1, amount=Amount("income", 1, (0, 100))).averaged_text("group")
        'several events of one individual in a group count as 1, with their average amount'
        """
        if not self.is_shared or self.amount is None:
            return ""
        most = self._events[0]
        more = "several events" if most == 1 else f"more than {_some(most, 'event')}"
        return f"{more} of one individual in a {cell} count as {most}, with their average amount"

    @property
    def _events(self) -> tuple[Fraction, Fraction | None]:
        """The largest numbers of events of one individual in a cell and in total, if the same noise serves sums and
        counts.
        """
        assert self.amount is not None, "events are counted beside an amount"
        low, high = self.amount.ends
        in_total = None if self.in_total is None else Fraction(self.in_total, high - low)
        return Fraction(self.sensitivity, high - low), in_total

    def text(self, steps: int | Fraction) -> str:
        """A number of steps in words, in the unit of the amount."""
        return number_words(exact(steps, "steps")) if self.amount is None else self.amount.text(steps)

    def check_plain(self) -> None:
        """Check that noise is added to the values themselves: amounts have no step other than 1, and no bound covers
        all cells together.
        """
        self.check_each_cell("their unit")
        if self.step != 1:
            remedy = (
                'Count the amounts with ut.count_table(..., measure=ut.sum("paid", step="0.25")), or leave out amount=.'
            )
            raise Unsupported(
                "a unit with steps of an amount needs a table from count_table",
                came=f"steps of {self.step}",
                remedy=remedy,
            )

    def check_each_cell(self, came: str) -> None:
        """Check that each cell may have its own noise of any distribution, because no bound covers all cells
        together.
        """
        if self.needs_sizes:
            what = (
                "sums and counts with the same noise" if self.is_shared else "cells with a bound on their total change"
            )
            remedy = "Release the counted table by a plan: ut.choose_plan, or utmost plan."
            raise Unsupported(f"{what} need geometric noise", came=came, remedy=remedy)

    def check_part(self, part: object) -> None:
        """Check that a table that is one part of a dataset does not use ``nonnegative`` under "change-one".

        A replacement may remove a record from one part and add one to another part. The release of each of these two
        parts then spends half of the level. So the removal or addition of one record may cost a part at most half of
        the level.
        """
        if part is not None and self.leaves_totals:
            raise OutOfRange(
                "parts of a dataset need a unit without nonnegative=, because a replaced record may move between parts",
                came="nonnegative=True",
                remedy="Plan the release with a unit that has nonnegative=False.",
            )

    def check_adds(self, *, is_one_cell: bool, came: str) -> None:
        """Check that cells may be added up. Distinct counts may not be added up, because two cells may have values in
        common.

        Args:
            is_one_cell: Whether each answer is one cell, so that no cells are added up.
            came: The user's request, which the message quotes.

        Raises:
            NotDetermined: if the cells are distinct counts, and ``is_one_cell`` is False.
        >>> Unit(1, 2).check_adds(is_one_cell=False, came="a total")
        """
        if self.is_distinct and not is_one_cell:
            raise NotDetermined(
                "numbers of distinct values have no sum: two cells may have values in common",
                came=came,
                remedy="Read single cells, or count again by the columns of the sum alone: by none for the total.",
            )

    def numbers(self, steps: NDArray[Any]) -> NDArray[Any]:
        """Convert numbers of steps to the unit of the amount."""
        return steps if self.amount is None else self.amount.numbers(steps)

    def margin(self, steps: int | float) -> int | float:
        """Convert a margin from a number of steps to the unit of the amount."""
        return steps if self.amount is None else self.amount.margin(steps)

    @property
    def epsilon_parts(self) -> int | Fraction:
        """The number of equal parts into which epsilon is divided: the cells, doubled under "change-one".

        With ``in_total``, the quotient in_total / sensitivity replaces the cells. The result may be a fraction.
        """
        cells = self.cells if self.in_total is None else self.in_total / self.sensitivity
        return cells * _STEPS[self.neighbours]

    @property
    def cell_share_text(self) -> str:
        """The budget share of each cell: 1 over `epsilon_parts`, as text.
        >>> Unit(1, 4).cell_share_text
        '1/4'
        """
        return str(1 / Fraction(self.epsilon_parts))

    @property
    def epsilon_parts_json(self) -> int | str:
        """`epsilon_parts` as a JSON value."""
        return self.epsilon_parts if isinstance(self.epsilon_parts, int) else str(self.epsilon_parts)

    def per_cell(self, level: Level) -> Level:
        """The level of the noise of each cell when the whole table may spend ``level``.

        If one individual changes at most k cells by at most D each, noise of level epsilon/k with sensitivity D on
        every cell makes the table epsilon-private. If the absolute changes add up to at most P, *geometric* noise of
        level epsilon D/P also makes the table epsilon-private.
        >>> from utmost.exact import level
        >>> Unit(1, 2, "change-one").per_cell(level(epsilon=1)).epsilon
        Fraction(1, 4)
        """
        return instance(level, Level, "level").scaled(Fraction(1, self.epsilon_parts))


def read_unit(
    unit: Unit | None = None,
    sensitivity: Number | None = None,
    cells: Number | None = None,
    neighbours: str | None = None,
    amount: Any = None,
    *,
    needs: tuple[str, ...] = ("sensitivity", "cells"),
) -> Unit:
    """Read the unit from ``unit``, or from the next four arguments, of which ``needs`` names the required ones."""
    numbers = {"sensitivity": sensitivity, "cells": cells, "neighbours": neighbours, "amount": amount}
    if unit is not None:
        named = [f"{name}=" for name, value in numbers.items() if value is not None]
        if not isinstance(unit, Unit):
            raise wrong_kind("unit", "a Unit", unit)
        if named:
            remedy = "Pass either unit= or the other arguments."
            raise OutOfRange(
                "the largest change by one individual must be passed only once",
                came=f"unit= and {', '.join(named)}",
                remedy=remedy,
            )
        # Only plans of sums use these two flags.
        return replace(unit, nonnegative=False, exactly=False) if unit.nonnegative or unit.exactly else unit
    missing = [f"{name}=" for name in needs if numbers[name] is None]
    if missing:
        remedy = "Pass unit=ut.Unit(sensitivity, cells)."
        raise OutOfRange(
            "a release needs the largest change by one individual", came=f"no {' and no '.join(missing)}", remedy=remedy
        )
    return Unit(
        1 if sensitivity is None else sensitivity,
        1 if cells is None else cells,
        "add-remove" if neighbours is None else neighbours,
        amount,
    )


def _typed(number: Fraction) -> str:
    return str(number) if number.denominator == 1 else repr(str(number))


def _some(count: Fraction, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _promised(value: bool, name: str = "nonnegative") -> bool:
    if value is not True and value is not False:
        remedy = "Pass True or False."
        raise OutOfRange(f"{name} must be true or false", came=value, remedy=remedy)
    return value
