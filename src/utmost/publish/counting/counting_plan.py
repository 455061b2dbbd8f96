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
    """Which columns are read, and into which cell an event falls: the part counts first, then the cell in it.

    Attributes:
        person: Column of persons; None where each row is one.
        measures: What is counted of each cell, each in one table or several.
        axes: Axes of the table.
        part: Axis of the parts; None where the table is whole.
        spelling: Marks that are declared for the cells of all columns.
        read: Axes whose values are read, the part's first.
        valued: Axis of the values of each measure of distinct values.
        summed: Columns of amounts, each once.
        columns: Columns that are read, each once; none where rows alone are counted, which any column does.
        shape: Number of values of each axis.
        cells: Number of cells of one part.
        parts: Number of parts; 1 where the table is whole.
        bits: Bits of the numbers of cells where there are more cells than numbers, see `NumberedCells`; else None.
        numbers: Number of numbers that cells of a part have: one each, or fewer where there are too many.
        each_size: Number of cells of one table, in all parts.
        size: Number of cells of sums, of all measures and in all parts.
        first_tables: Number of each measure's first table; those of values come behind all sums.
        reported: Place of the measure that the report regards: the first that counts events, else the first.
    """

    person: str | None
    measures: tuple[CountedMeasure, ...]
    axes: tuple[Axis, ...]
    part: Axis | None
    spelling: Spelling
    read: tuple[Axis, ...]
    valued: tuple[Axis, ...]
    summed: list[str]
    columns: list[str]
    shape: tuple[int, ...]
    cells: int
    parts: int
    bits: int | None
    numbers: int
    each_size: int
    size: int
    first_tables: list[int]
    reported: int

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
        of_parts = None if part is None else part_axis(domain, part)
        axes = tuple(
            axis for axis in chosen_axes(domain, by) if of_parts is None or axis.levels[0] != of_parts.levels[0]
        )
        read = axes if of_parts is None else (of_parts, *axes)
        valued = tuple(measure.distinct for measure in measures if measure.distinct is not None)
        if person is not None and any(person == values.levels[0] for values in valued):
            remedy = "Pass measure=ut.count(): it counts each person once in a cell."
            raise OutOfRange("distinct must name another column than person", came=repr(person), remedy=remedy)
        who = [] if person is None else [person]
        summed = list(dict.fromkeys(measure.column for measure in measures if measure.column is not None))
        keys = [name for axis in read for name in axis.columns]
        columns = list(dict.fromkeys([*who, *keys, *(name for axis in valued for name in axis.columns), *summed]))
        others = [*who, *dict.fromkeys(values.columns[0] for values in valued), *summed]
        if len({*others, *keys}) < len(others) + len(set(keys)):
            raise OutOfRange(
                "persons, amounts and axes must be different columns",
                came="one column twice",
                where=", ".join(columns),
                remedy="Name another column for one of them: the values of an axis are published, and persons are not.",
            )
        shape, parts = tuple(axis.size for axis in axes), 1 if of_parts is None else of_parts.size
        cells, tables = prod(shape), sum(measure.tables for measure in measures)
        bits = number_bits(tables * parts) if tables * parts * cells >= LARGEST_DOMAIN else None
        if bits is not None and any(measure.distinct is not None or measure.tables > 1 for measure in measures):
            remedy = "Count over fewer axes, or plain counts and sums."
            came = f"{cells:.3g}" if cells < 10**300 else "more"
            raise OutOfRange(
                "means and distinct values need a domain of fewer than 2^62 cells", came=came, remedy=remedy
            )
        numbers = cells if bits is None else 1 << bits
        first_tables, start = [0] * len(measures), 0
        for at in sorted(range(len(measures)), key=lambda at: measures[at].distinct is not None):
            first_tables[at], start = start, start + measures[at].tables
        sums = sum(measure.tables for measure in measures if measure.distinct is None)
        made = cls(
            person=person,
            measures=measures,
            axes=axes,
            part=of_parts,
            spelling=spelling,
            read=read,
            valued=valued,
            summed=summed,
            columns=columns,
            shape=shape,
            cells=cells,
            parts=parts,
            bits=bits,
            numbers=numbers,
            each_size=parts * numbers,
            size=sums * parts * numbers,
            first_tables=first_tables,
            reported=next((at for at, measure in enumerate(measures) if measure.counts_events), 0),
        )
        for measure in measures:
            made.axes_of(measure)  # refuses a name that an axis has
        return made

    def axes_of(self, measure: CountedMeasure) -> dict[str, Any]:
        """The axes of what a measure counts, by the columns that hold their values: of sums and counts one more.

        Raises:
            OutOfRange: where an axis has its name.
        """
        named: dict[str, Any] = {axis.levels[0]: axis for axis in self.axes}
        if measure.amount is None or measure.most_events is None:
            return named
        if measure.amount.name in named:
            remedy = "Count by other axes, or name the measure otherwise."
            raise OutOfRange(
                "an amount must not have the name of an axis", came=repr(measure.amount.name), remedy=remedy
            )
        return {**named, measure.amount.name: measure.amount.labels}


def number_bits(tables: int) -> int:
    """The bits of the numbers of cells of so many tables, in each of which there are more cells than numbers."""
    return (LARGEST_DOMAIN // tables).bit_length() - 1
