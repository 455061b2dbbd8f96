"""Axes of a domain: declared values and their groupings. This module makes axes of plain lists and of trees.

An axis declares its values before anybody is counted, so that the published labels reveal nothing about individuals.
The **levels** of an axis are nested groupings of the values into runs, from single values to coarser groups. Above all
levels lies "all", the one group of all values.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, iterable, mapping, optional, sequence_of, text, wrong_kind
from utmost.core.exact.arrays import frozen, unpickler
from utmost.core.exact.display import Display
from utmost.core.exact.numbers import Number, exact
from utmost.errors import NotANumber, OutOfRange, Unsupported, WrongKind
from utmost.tables.axes.clock import Clock, Period, read_time, time_at
from utmost.tables.axes.hat_functions import (
    CLASS_MARK,
    DIFFERENCE,
    DIFFERENCE_MARK,
    MARK,
    class_number,
    hat_count,
    hat_rows,
)
from utmost.tables.axes.time_patterns import DAY
from utmost.tables.cells.spelling import PLAIN_SPELLING, Spelling

Label = str | int | bool
"""A declared value: text, an integer or a boolean. Values with the same text are the same value."""

Edge = Fraction | float
"""The edge of a bin; -inf or inf at an open end."""

MOST_VALUES = 10**8  # values of an axis


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Axis(Display):
    """One axis of a domain. The functions `plain`, `hierarchy`, `bins`, `edges`, `ages`, `periods` and `listed` make
    axes; so does `Domain`, from a list.

    Attributes:
        levels: Names of the levels, the finest first. The empty text stands for the name that the axis has in a domain.
        labels: Labels of the groups of each level, in order.
        starts: Index of the first value of each group of each level; a group ends where the next one begins.
        edges: Edges of bins, ascending, one more than there are bins; the first and the last may be infinite. Edges of
            periods are in seconds of the clock, see `Clock`. None for axes without bins or periods.
        other: Label for values that are not declared; if None, they are left out.
        whole: Whether the labels of bins between listed edges are those of integers ("0 to 4"); None for other axes.
        missing: Label for missing cells, the last label; if None, they count as ``other``, or are left out.
        clock: Reader of times, for periods, or None for other axes.
        truth: Whether booleans were declared, so that booleans in the data are read. The labels are text.
        rows: For listed keys, the values of each key, beginning with the value in the coarsest column; None for other
            axes.
        spelling: Declared marks in the cells of the axis' column.
        column: Name of the events' column that has the values, or None if the column has the name of the finest level.
        on: For ages, the day on which they are computed from birth dates, or None for other axes.
    """

    levels: tuple[str, ...]
    labels: tuple[tuple[Label, ...], ...] = field(repr=False)
    starts: tuple[NDArray[np.intp], ...] = field(repr=False)
    edges: tuple[Edge, ...] | None = field(default=None, repr=False)
    other: Label | None = None
    whole: bool | None = field(default=None, repr=False)
    missing: Label | None = None
    clock: Clock | None = field(default=None, repr=False)
    truth: bool = field(default=False, repr=False)
    rows: tuple[tuple[Label, ...], ...] | None = field(default=None, repr=False)
    spelling: Spelling = field(default=PLAIN_SPELLING, repr=False)
    column: str | None = None
    on: date | None = field(default=None, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        ordered = self.edges, self.other, self.whole, self.missing, self.clock
        read = self.truth, self.rows, self.spelling, self.column, self.on
        return _rebuilt, (self.levels, self.labels, self.starts, *ordered, *read)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of events that contain the values of this axis: one column, or for listed keys one
        for each level.
        """
        if self.rows is not None:
            return self.levels[::-1]
        return self.levels[:1] if self.column is None else (self.column,)

    def label_columns(self, level: int) -> dict[str, Sequence[Label]]:
        """The labels of a level's groups as columns: one column, or for listed keys one for each column of the
        level.
        """
        if self.rows is None or level < 0:
            return {self.level_name(level): self.group_labels(level)}
        firsts = [self.rows[start] for start in self.group_starts(level).tolist()]
        names = self.columns[: len(self.levels) - level]
        return {name: [row[place] for row in firsts] for place, name in enumerate(names)}

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.labels[0])

    @property
    def blocks(self) -> tuple[int, ...] | None:
        """The number of values in each group, for each level and then for "all", or None if the groups of a level have
        different sizes.
        """
        if len(self.levels) == 1:
            return 1, self.size
        sizes_of_levels = []
        for starts in self.starts:
            sizes = np.diff(starts, append=self.size)
            if (sizes != sizes[0]).any():
                return None
            sizes_of_levels.append(int(sizes[0]))
        return (*sizes_of_levels, self.size)

    def groups(self, level: int) -> int:
        """The number of groups of a level: 1 for "all" and for a difference, and the number of hat functions of spacing
        s for the level -s.
        """
        if level == DIFFERENCE:
            return 1
        if level < 0:
            return hat_count(self.size, -level)
        return len(self.labels[level]) if level < len(self.levels) else 1

    def level_name(self, level: int) -> str:
        """The name of a level: ``age/16``, ``age~32`` (hat functions), ``sex-`` (difference), ``age#3`` (rows)."""
        if level == DIFFERENCE:
            return f"{self.levels[0]}{DIFFERENCE_MARK}"
        number = class_number(level)
        if number is not None:
            return f"{self.levels[0]}{CLASS_MARK}{number}"
        return self.levels[level] if level >= 0 else f"{self.levels[0]}{MARK}{-level}"

    def can_narrow(self, places: NDArray[np.intp]) -> bool:
        """Whether `narrowed` works for ``places``. All places of an axis are allowed. A part of the places is allowed
        only if the axis has one level and no listed keys; on an axis of bins, the places must also be neighbours.
        """
        if len(places) == self.size:
            return True
        if len(self.levels) > 1 or self.rows is not None:
            return False
        if self.edges is None:
            return True
        low, high = int(places[0]), int(places[-1]) + 1
        is_run = high - low == len(places) and high <= self.declared
        return is_run and all(isinstance(edge, Fraction) for edge in (self.edges[low], self.edges[high]))

    def narrowed(self, places: NDArray[np.intp]) -> "Axis":
        """The axis with only the values at ``places``, if `can_narrow` allows it.

        >>> plain(["A", "B", "C"]).narrowed(np.array([0, 2])).labels
        (('A', 'C'),)
        """
        if len(places) == self.size:
            return self
        kept = tuple(self.labels[0][place] for place in places.tolist())
        edges = None if self.edges is None else self.edges[int(places[0]) : int(places[-1]) + 2]
        other, missing = (label if label in kept else None for label in (self.other, self.missing))
        starts = (np.arange(len(kept), dtype=np.intp),)
        return replace(self, labels=(kept,), starts=starts, edges=edges, other=other, missing=missing)

    def group_labels(self, level: int) -> tuple[Label, ...]:
        """The labels of a level's groups. The label of a hat function names the first and the last value to which it
        gives a weight.

        >>> plain(range(4)).group_labels(-3)
        ('0..0', '0..3', '2..3')
        """
        if level >= 0:
            return self.labels[level]
        if level == DIFFERENCE:
            return (" less ".join(str(text_of(label)) for label in self.labels[0]),)
        if class_number(level) is not None:
            remedy = "Read the noisy sums from the .measured attribute of the release."
            raise Unsupported("rows that a plan lists have no labels", came=self.level_name(level), remedy=remedy)
        under = (np.flatnonzero(row)[[0, -1]] for row in hat_rows(self.size, -level))
        return tuple("..".join(str(text_of(self.labels[0][end])) for end in ends) for ends in under)

    def group_starts(self, level: int) -> NDArray[np.intp]:
        """The index of the first value of each group of a level; the result is [0] for "all"."""
        return self.starts[level] if level < len(self.levels) else np.zeros(1, dtype=np.intp)

    def group_sizes(self, level: int) -> NDArray[np.intp]:
        """Number of values in each group of a level."""
        return np.diff(self.group_starts(level), append=self.size)

    def group_of(self, level: int) -> NDArray[np.intp]:
        """For each value of the axis, the index of its group at a level."""
        return np.searchsorted(self.group_starts(level), np.arange(self.size), side="right") - 1

    @property
    def extras(self) -> tuple[Label, ...]:
        """The labels after the declared values: ``other`` and ``missing``, if they are declared."""
        return tuple(label for label in (self.other, self.missing) if label is not None)

    @property
    def declared(self) -> int:
        """Number of declared values, which come before the labels ``other`` and ``missing``."""
        return self.size - len(self.extras)

    def text(self, value: Any) -> str | None:
        """The text that identifies a value. If booleans are declared, True, "True" and "TRUE" are the same.

        >>> plain([False, True]).text("TRUE"), plain(["yes", "no"]).text(True), plain(["yes", "no"]).text("TRUE")
        ('true', None, 'TRUE')
        """
        if not self.truth:
            return None if _is_truth(value) else label_text(value)
        text = label_text(value)
        return text.strip().lower() if text is not None and text.strip().lower() in ("true", "false") else text

    def place(self, value: Any) -> int | None:
        """The position of a value of the data among the values of the axis, or None if the axis does not have this
        value.

        >>> plain(["A", "B"]).place("B"), plain(range(5)).place(7)
        (1, None)
        """
        is_marked = isinstance(value, str) and self.text(value) not in self._places and self.spelling.is_missing(value)
        if value is None or is_marked:
            return self.size - 1 if self.extras else None
        place = self._bin(value) if self.edges is not None else self._places.get(self.text(value))
        return self._places[text_of(self.other)] if place is None and self.other is not None else place

    @property
    def _places(self) -> dict[str | None, int]:
        return {label_text(label): place for place, label in enumerate(self.labels[0])}

    def edge(self, value: Any) -> Fraction:
        """Return a value as an edge: a number unchanged; on an axis of periods, a time as its second on the clock.

        Raises:
            NotANumber, OutOfRange: if the value is no number, or on an axis of periods no time.
        """
        return exact(value, "edge") if self.clock is None else Fraction(read_time(value, "edge"))

    def edge_shown(self, edge: Edge) -> Edge | datetime:
        """An edge as it is shown to people: a number, or on an axis of periods a time of the wall clock."""
        return edge if self.clock is None or not isinstance(edge, Fraction) else time_at(int(edge))

    def bin_of(self, low: Number, high: Number) -> int | None:
        """The index of the bin that contains both numbers, or None if no bin does."""
        assert self.edges is not None, "only bins have edges"
        # A value on an edge is in the bin above: a bin contains its lower edge, but not its upper edge.
        first, last = bisect_right(self.edges, low) - 1, bisect_right(self.edges, high) - 1
        return first if first == last and 0 <= first < len(self.edges) - 1 else None

    @property
    def births(self) -> "Axis":
        """The axis of ages as an axis of birth dates, in periods of days, the oldest persons first."""
        assert self.edges is not None, "ages have edges"
        assert self.on is not None, "ages are counted on a day"
        # A person has completed n years on a day if born before the beginning of the next day, n years earlier.
        born = [
            -inf if edge == inf else Fraction(read_time(_years_before(self.on, int(edge)), "on") + DAY)
            for edge in reversed(self.edges)
        ]
        labels = (*reversed(self.labels[0][: self.declared]), *self.extras)
        clock = Clock(Period("day"), None, self.spelling.pattern)
        return replace(self, labels=(labels,), edges=tuple(born), clock=clock)

    def _bin(self, value: Any) -> int | None:
        if isinstance(value, bool | np.bool_) or value is None:
            return None
        if self.on is not None and self.clock is None:
            place = self.births._bin(value)
            return None if place is None else self.declared - 1 - place
        if self.clock is not None:
            span = self.clock.span(value)
            return None if span is None else self.bin_of(span[0], span[1] - 1)
        try:
            number = exact(self.spelling.number(value) if isinstance(value, str) else value, "value")
        except NotANumber:
            return None
        return None if self.whole and number.denominator != 1 else self.bin_of(number, number)

    def named(self, name: str) -> "Axis":
        """The same axis, with this name for each level without a name."""
        levels = tuple(own if own[:1] not in ("", "/") else name + own for own in self.levels)
        return self if levels == self.levels else replace(self, levels=levels)


def _years_before(day: date, years: int) -> date:
    """The last birth date of persons who have completed this number of years on a day.

    >>> _years_before(date(2025, 2, 28), 1), _years_before(date(2025, 3, 1), 1), _years_before(date(2024, 2, 29), 1)
    (datetime.date(2024, 2, 28), datetime.date(2024, 3, 1), datetime.date(2023, 2, 28))
    """
    try:
        return day.replace(year=day.year - years)
    except ValueError:  # born on 29 February: the year is completed on 1 March where there is no such day
        return date(day.year - years, 2, 28)


@unpickler
def _rebuilt(levels: Any, labels: Any, starts: Any, *rest: Any) -> Axis:
    return Axis(levels, labels, tuple(frozen(start.copy()) for start in starts), *rest)


def text_of(value: Any) -> str | None:
    """The text that identifies a value: 7 and "7" are the same. None if the value is neither text nor an integer, or is
    an integer of more than 4000 digits.
    """
    if isinstance(value, str):
        return str(value)
    # A decimal without decimal places counts as an integer: engines return wide integers (HUGEINT) as decimal(38, 0).
    if isinstance(value, Decimal) and value.as_tuple().exponent == 0:
        value = int(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64):
        return str(int(value)) if abs(int(value)) < _LARGEST_SPELLED else None
    return None


_LARGEST_SPELLED = 10**4000  # Python prints no integer of more than 4300 digits


def label_text(value: Any) -> str | None:
    """The text that identifies a value of a listed axis: as for `text_of`, and also for booleans and intervals."""
    if _is_truth(value):
        return str(bool(value)).lower()
    return str(value) if _is_interval(value) else text_of(value)


def _is_interval(value: Any) -> bool:
    """Whether a value is an interval that pandas.cut made."""
    return type(value).__name__ == "Interval" and hasattr(value, "closed")


def plain(
    labels: Iterable[Any],
    *,
    other: Label | None = None,
    missing: Label | None = None,
    column: str | None = None,
    spelling: Spelling = PLAIN_SPELLING,
) -> Axis:
    """An axis of listed values, in the order of the list.

    Args:
        labels: Values: texts, integers, booleans, or intervals of pandas.cut. No two values may be equal when they are
            written as text.
        other: Label for all other values of the data; if None, they are left out.
        missing: Label for missing cells, the last one; if None, they count as ``other``, or are left out.
        column: Events' column that has the values; by default the column with the name of the axis.
        spelling: Missing marks of the column, if they differ from those of the whole table, see `Spelling`.

    Raises:
        OutOfRange: if the list is empty, if a value occurs twice, or if a missing mark is also a value.
        WrongKind: if a value has none of these types.

    >>> plain(["A", "B"], other="other", missing="not stated").labels
    (('A', 'B', 'other', 'not stated'),)
    """
    other, missing = outside_label(other, "other"), outside_label(missing, "missing")
    iterable(labels, "labels", or_text=True)
    listed: list[Label] = [str(label) if _is_interval(label) else label for label in labels]
    for label in listed:
        if label_text(label) is None:
            remedy = "Declare dates and times with ut.workloads.periods, numbers with ut.workloads.bins."
            required = "the values of an axis must be text, integers or truth values"
            raise WrongKind(required, came=type(label).__name__, where="labels", remedy=remedy)
    shown, starts = with_outside_labels([listed], [range(len(listed))], other, missing)
    _check_marks(spelling, listed)
    has_truth = any(map(_is_truth, listed))
    return Axis(
        ("",),
        shown,
        starts,
        None,
        other,
        None,
        missing,
        truth=has_truth,
        spelling=spelling,
        column=named_column(column),
    )


def named_column(column: str | None) -> str | None:
    """Check the name of the column of an axis; None stays None."""
    if optional(column, text, "column") == "":
        raise OutOfRange("column must be the name of a column", came="an empty name", remedy="Leave out column=.")
    return column


def _check_marks(spelling: Spelling, labels: Iterable[Label]) -> None:
    """Check that no missing mark of an axis is also one of its values."""
    instance(spelling, Spelling, "spelling")
    if {label_text(label) for label in labels} & set(spelling.missing_marks):
        remedy = "Remove it from the values, or from missing_marks."
        raise OutOfRange(
            "a missing mark must not be a value of the axis", came="a mark that is also a value", remedy=remedy
        )


def hierarchy(
    branches: Mapping[Label, Any],
    *,
    names: Sequence[str],
    other: Label | None = None,
    missing: Label | None = None,
    column: str | None = None,
    spelling: Spelling = PLAIN_SPELLING,
) -> Axis:
    """An axis of values in groups, where groups may be parts of larger groups.

    Args:
        branches: Nested mappings from the label of each group to the groups in it; the smallest groups are lists of
            values. All branches must have the same depth.
        names: Names of the levels, the coarsest first.
        other: Label for all other values of the data, which are a separate branch at each level; if None, they are left
            out.
        missing: Label for missing cells, the last branch at each level; if None, they count as ``other``, or are
            left out.
        column: Events' column that has the values of the finest level, see `plain`.
        spelling: Missing marks of the column, see `plain`.

    Raises:
        OutOfRange: if a branch is empty, if the depth of a branch is not the number of names, or if a label occurs
            twice at one level.

    >>> place = hierarchy({"North": ["N1", "N2"], "South": ["S1"]}, names=["region", "district"])
    >>> place.levels, place.labels
    (('district', 'region'), (('N1', 'N2', 'S1'), ('North', 'South')))
    """
    mapping(branches, "branches")
    other, missing = outside_label(other, "other"), outside_label(missing, "missing")
    depth = len(sequence_of(names, text, "names"))
    if depth < 2 or len(set(names)) < depth or not all(isinstance(name, str) and name for name in names):
        remedy = 'Pass the names, the coarsest first, for example names=["region", "district"].'
        raise OutOfRange("a tree must have at least two levels, each with its own name", came=names, remedy=remedy)
    labels: list[list[Label]] = [[] for _ in names]
    starts: list[list[int]] = [[] for _ in names]
    _descend(branches, 0, labels, starts)
    if any(_is_truth(label) for level in labels for label in level):
        raise OutOfRange(
            "the values of a tree must be text or integers", came="a truth value", remedy='Write "yes" and "no".'
        )
    shown, runs = with_outside_labels(labels[::-1], starts[::-1], other, missing)
    _check_marks(spelling, shown[0])
    levels, held = tuple(reversed(names)), named_column(column)
    return Axis(levels, shown, runs, None, other, None, missing, spelling=spelling, column=held)


def outside_label(label: Label | None, name: str) -> Label | None:
    """Check a label for values that are not declared; None stays None."""
    if label is not None and not isinstance(label, str | int | np.integer | np.bool_):
        raise wrong_kind(name, "text, an integer or a truth value", label)
    return label


def with_outside_labels(
    labels: Sequence[Sequence[Label]], starts: Sequence[Iterable[int]], *extras: Label | None
) -> tuple[tuple[tuple[Label, ...], ...], tuple[NDArray[np.intp], ...]]:
    """Return the labels and starts of levels, the finest first, with the labels ``extras`` at the end of each level."""
    added = [label for label in extras if label is not None]
    places = range(len(labels[0]), len(labels[0]) + len(added))
    shown = tuple(_distinct([*level, *added]) for level in labels)
    return shown, tuple(frozen(np.fromiter((*runs, *places), dtype=np.intp)) for runs in starts)


def _descend(branch: Any, depth: int, labels: list[list[Label]], starts: list[list[int]]) -> None:
    last = len(labels) - 1
    if isinstance(branch, Mapping) != (depth < last) or isinstance(branch, str) or not hasattr(branch, "__len__"):
        raise OutOfRange(
            f"every branch of the tree must be {last + 1} levels deep, with a list of values at its end",
            came=type(branch).__name__,
            where=f"level {depth + 1}",
            remedy='Pass, for example, {"North": ["N1", "N2"], "South": ["S1"]}.',
        )
    if len(branch) == 0:
        remedy = "Leave out the branch that has no values."
        raise OutOfRange(
            "every branch of the tree must have a value", came="none", where=f"level {depth + 1}", remedy=remedy
        )
    for label in branch:
        starts[depth].append(len(labels[last]))
        labels[depth].append(label)
        if depth < last:
            _descend(branch[label], depth + 1, labels, starts)


def _distinct(labels: Sequence[Any]) -> tuple[Label, ...]:
    texts = [label_text(label) for label in labels]
    if not labels or None in texts or len(set(texts)) < len(texts) or "" in texts:
        odd = "an empty text" if "" in texts else "another value" if None in texts else "a label twice"
        wrong = odd if labels else "none"
        raise OutOfRange(
            "an axis must have at least one value, and its values must be distinct text, integers or truth values",
            came=wrong,
            remedy={
                "none": "List at least one value.",
                "a label twice": "List each value once.",
                "an empty text": 'Leave out "": ut.workloads.plain(labels, missing="not stated") counts empty cells.',
                "another value": "Declare dates and times with ut.workloads.periods.",
            }[wrong],
        )
    whole = (isinstance(label, int | np.integer) and not _is_truth(label) for label in labels)
    return tuple(int(label) if is_int else str(text) for label, is_int, text in zip(labels, whole, texts, strict=True))


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)
