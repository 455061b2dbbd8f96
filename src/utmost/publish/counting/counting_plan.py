"""Which columns of events are read, which things are counted of them, and into which cell an event falls."""

from dataclasses import dataclass
from math import prod
from typing import Any

from utmost.errors import OutOfRange
from utmost.publish.counting.counted_measures import LARGEST_DOMAIN, CountedMeasure
from utmost.publish.counting.declared_axes import chosen_axes, part_axis
from utmost.tables.axes.axes import Axis
from utmost.tables.axes.domain import Domain
from utmost.tables.cells.spelling import Spelling


@dataclass(frozen=True, slots=True, eq=False)
class CountingPlan:
    """Which columns are read, and into which cell an event falls: the part counts first, then the cell in it."""

    person: str | None
    measures: tuple[CountedMeasure, ...]
    axes: tuple[Axis, ...]
    part: Axis | None
    spelling: Spelling

    @classmethod
    def of(
        cls,
        domain: Domain,
        by: Any,
        part: Any,
        person: str | None,
        measures: tuple[CountedMeasure, ...],
        spelling: Spelling,
    ) -> "CountingPlan":
        """The plan over these axes of a domain, and the axis of parts.

        Raises:
            NotDeclared, OutOfRange: for axes and parts that are not declared, one column twice, and too many cells.
        """
        axis = None if part is None else part_axis(domain, part)
        axes = tuple(
            by_axis for by_axis in chosen_axes(domain, by) if axis is None or by_axis.levels[0] != axis.levels[0]
        )
        counting = cls(person, measures, axes, axis, spelling)
        if person is not None and any(person == values.levels[0] for values in counting.valued):
            remedy = "Pass measure=ut.count(): of each person 1 in a cell."
            raise OutOfRange("how many distinct persons there are is a count", came=repr(person), remedy=remedy)
        keys = [name for axis in counting.read for name in axis.columns]
        others = [*counting.who, *dict.fromkeys(values.columns[0] for values in counting.valued), *counting.summed]
        if len({*others, *keys}) < len(others) + len(set(keys)):
            raise OutOfRange(
                "persons, amounts and axes must be read from columns of their own",
                came="one column twice",
                where=", ".join(counting.columns),
                remedy="The values of an axis are published, and persons are not.",
            )
        for measure in measures:
            counting.axes_of(measure)  # refuses a name that an axis has
        if counting.is_vast and any(measure.distinct is not None or measure.tables > 1 for measure in measures):
            remedy = "Count over fewer axes, or plain counts and sums."
            came = f"{counting.cells:.3g}" if counting.cells < 10**300 else "more"
            raise OutOfRange("such measures need a domain of fewer than 2^62 cells", came=came, remedy=remedy)
        return counting

    @property
    def named(self) -> dict[str, Axis]:
        """The axes by the columns that hold their values."""
        return {axis.levels[0]: axis for axis in self.axes}

    def axes_of(self, measure: CountedMeasure) -> dict[str, Any]:
        """The axes of what a measure counts: of sums and counts together one more.

        Raises:
            OutOfRange: where an axis has its name.
        """
        if measure.amount is None or measure.most_events is None:
            return self.named
        if measure.amount.name in self.named:
            raise OutOfRange("the axis of sums and counts must have a name of its own", came=repr(measure.amount.name))
        return {**self.named, measure.amount.name: measure.amount.labels}

    @property
    def shape(self) -> tuple[int, ...]:
        """The values of each axis."""
        return tuple(axis.size for axis in self.axes)

    @property
    def cells(self) -> int:
        """How many cells one part has."""
        return prod(self.shape)

    @property
    def is_vast(self) -> bool:
        """Whether there are more cells than numbers, in all parts and tables: see `NumberedCells`."""
        return sum(measure.tables for measure in self.measures) * self.parts * self.cells >= LARGEST_DOMAIN

    @property
    def bits(self) -> int:
        """The bits of the numbers of cells, where there are more cells than numbers."""
        return (LARGEST_DOMAIN // (sum(measure.tables for measure in self.measures) * self.parts)).bit_length() - 1

    @property
    def numbers(self) -> int:
        """How many numbers cells of a part have: one each, or fewer where there are too many."""
        return 1 << self.bits if self.is_vast else self.cells

    @property
    def parts(self) -> int:
        """Number of parts; 1 where the table is whole."""
        return 1 if self.part is None else self.part.size

    @property
    def columns(self) -> list[str]:
        """The columns that are read, each once; none where rows alone are counted, which any column does."""
        keys = [name for axis in self.labelled for name in axis.columns]
        return list(dict.fromkeys([*self.who, *keys, *self.summed]))

    @property
    def summed(self) -> list[str]:
        """The columns of amounts, each once."""
        return list(dict.fromkeys(measure.column for measure in self.measures if measure.column is not None))

    @property
    def who(self) -> list[str]:
        """The column of persons; none where each row is one."""
        return [] if self.person is None else [self.person]

    @property
    def read(self) -> tuple[Axis, ...]:
        """The axes whose values are read, the part's first."""
        return (*(() if self.part is None else (self.part,)), *self.axes)

    @property
    def valued(self) -> list[Axis]:
        """The tables of each measure of distinct values."""
        return [measure.distinct for measure in self.measures if measure.distinct is not None]

    @property
    def labelled(self) -> list[Axis]:
        """All axes whose values are read."""
        return [*self.read, *self.valued]

    @property
    def first_tables(self) -> list[int]:
        """The number of each measure's first table; those of values come behind all sums."""
        order = sorted(range(len(self.measures)), key=lambda at: self.measures[at].distinct is not None)
        firsts, start = [0] * len(order), 0
        for at in order:
            firsts[at], start = start, start + self.measures[at].tables
        return firsts
