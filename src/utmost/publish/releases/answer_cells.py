"""The cells of an answer as numbers with margins, and sums, means and ratios of cells.

All of it is computed from published values, and spends nothing. Rows are selected by public columns only: with a
selection by noisy values, margins would hold less often than their confidence.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import mapping, optional, text, truth
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.intervals import round_up
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact, read_confidence
from utmost.core.noise.ratio_bars import RatioBar
from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel
from utmost.publish.promises.one_draw_noise import GROUP, TABLE, TOTAL, OneDrawAtLevel, OneWayDraw
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.cell_bars import CellBars
from utmost.publish.releases.estimates import Estimate
from utmost.tables.axes.clock import UNITS, period_span
from utmost.tables.axes.domain import Where
from utmost.tables.axes.ordered_axes import bin_ends
from utmost.tables.cells.columns import integer_column, real_column
from utmost.tables.files import files
from utmost.tables.frames.adapters import no_column
from utmost.tables.frames.any_table import adapter_of

RowSelection = frozenset[int] | Where | None
"""Rows of a table: their numbers, or labels by public column; None for all rows."""


@dataclass(frozen=True, slots=True)
class SumOfCells:
    """A sum, a difference or a mean of released cells, with its margin of error.

    Attributes:
        value: Sum of the released cells.
        margin: Distance within which the true sum lies, with probability ``confidence`` or more.
        cells: Number of cells in the sum.
        confidence: Confidence of the margin.
    """

    value: Fraction
    margin: int | float
    cells: int
    confidence: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class LabelledCells:
    """The released cells of a table as numbers, and the labels of their rows as text."""

    cells: dict[str, list[Fraction]]
    labels: dict[str, list[str]]  # Cells of each public column, as text

    @property
    def rows(self) -> int:
        return len(next(iter(self.cells.values())))

    def column(self, name: str | None) -> str:
        """The name of a released column, checked; the only one if ``name`` is None."""
        optional(name, text, "column")
        if name is None and len(self.cells) == 1:
            return next(iter(self.cells))
        if name not in self.cells:
            required = f"column must be one of {', '.join(self.cells)}"
            raise OutOfRange(required, came=name or "none", remedy=f"Pass column={next(iter(self.cells))!r}, say.")
        return name

    def chosen(self, where: Iterable[str] = ()) -> frozenset[int]:
        """The rows with the labels of all selections: ``department=A,B``, ``age=20..40`` or ``quarter=2013Q2``."""
        rows = frozenset(range(self.rows))
        for selection in where:
            # A name may contain an equals sign or end in a blank, and a label may contain a comma: existing names have
            # priority.
            whole = max(
                (name for name in (*self.labels, *self.cells) if selection.startswith(f"{name}=")), key=len, default=""
            )
            name, equals, listed = (whole, "=", selection[len(whole) + 1 :]) if whole else selection.partition("=")
            name = whole or name.strip()
            if not equals or not listed.strip():
                remedy = f"Write {next(iter(self.labels), 'sex')}=LABEL, with commas between several labels."
                raise OutOfRange("a selection must be COLUMN=LABEL", came=repr(selection), remedy=remedy)
            unit = name if name in self.units_of_time else None
            name = name if unit is None else str(self._time_column)
            is_label = unit is None and listed in self.labels.get(name, ())
            labels = [listed] if is_label else [label.strip() for label in listed.split(",")]
            rows &= self._taken(name, [label for part in labels for label in self._within(name, part, unit)])
        return rows

    def rows_where(self, where: Where | None = None) -> frozenset[int]:
        """The rows with these labels, by the name of a public column; all rows without a selection."""
        rows = frozenset(range(self.rows))
        for name, wanted in ({} if where is None else mapping(where, "where")).items():
            labels = [wanted] if isinstance(wanted, str) or not hasattr(wanted, "__iter__") else wanted
            rows &= self._taken(name, map(str, labels))
        return rows

    def _taken(self, name: str, labels: Iterable[str]) -> frozenset[int]:
        """The rows with one of these labels in a public column."""
        if name in self.cells:
            remedy = "Margins hold less often for cells that are selected by noisy values: name a public column."
            raise OutOfRange(
                "rows must be selected by public columns", came=f"{name!r}, which has noise", remedy=remedy
            )
        if name not in self.labels:
            raise no_column(name, list(self.labels))
        wanted = set(labels)
        unknown = wanted - set(self.labels[name])
        if unknown:
            near = get_close_matches(min(unknown), self.labels[name], 1)
            raise OutOfRange(
                f"a label must be one of column {name!r}",
                came=", ".join(map(repr, sorted(unknown))),
                remedy=f"Did you mean {near[0]!r}?" if near else f"Its labels begin with {self.labels[name][0]!r}.",
            )
        return frozenset(row for row, label in enumerate(self.labels[name]) if label in wanted)

    @property
    def units_of_time(self) -> tuple[str, ...]:
        """The kinds of period by which rows can be selected: all, if one public column has periods as labels."""
        return () if self._time_column is None else tuple(unit for unit in UNITS if unit not in self.labels)

    @property
    def _time_column(self) -> str | None:
        # Labels of four digits may be codes.
        found = [
            name
            for name, labels in self.labels.items()
            if any(len(text) > 4 and _is_period(text) for text in set(labels))
        ]
        return found[0] if len(found) == 1 else None

    def _within(self, name: str, part: str, unit: str | None) -> list[str]:
        """The labels of a range of bins or periods, such as ``18..65`` or ``2013Q2``; another text is unchanged."""
        labels, (low, dots, high) = list(dict.fromkeys(self.labels.get(name, ()))), part.partition("..")
        if not labels or (part in labels and unit is None):
            return [part]
        bins = {label: ends for label in labels if (ends := bin_ends(label)) is not None}
        shown = f"Name its labels: {name}={','.join(labels[:_LABELS_SHOWN])}{',...' * (len(labels) > _LABELS_SHOWN)}."
        spans = {label: span for label in labels if _is_period(label) and (span := period_span(label)) is not None}
        if spans and (unit is not None or (not bins and (dots or period_span(part) is not None))):
            return _periods_within(spans, (low.strip(), high.strip()) if dots else part, unit, name, shown)
        if not dots and bins and (ends := bin_ends(part)) is not None:
            first, last = ends
        elif not dots:
            return [part]
        elif not bins:
            raise OutOfRange("a range needs a column of bins", came=repr(part), where=repr(name), remedy=shown)
        else:
            first = exact(low.strip(), name) if low.strip() else min(start for start, _ in bins.values())
            last = exact(high.strip(), name) if high.strip() else max(stop for _, stop in bins.values())
        if first not in {start for start, _ in bins.values()} or last not in {stop for _, stop in bins.values()}:
            required = "a range must begin and end at edges of bins"
            raise OutOfRange(required, came=repr(part), where=repr(name), remedy=shown)
        if first >= last:
            raise OutOfRange("a range must begin below its end", came=repr(part), where=repr(name), remedy=shown)
        return [label for label, (start, stop) in bins.items() if first <= start and stop <= last]

    def _rows(self, rows: RowSelection) -> frozenset[int]:
        return rows if isinstance(rows, frozenset) else self.rows_where(rows)


_LABELS_SHOWN = 12
_DIGITS = re.compile(r"\d{4}", re.ASCII)


def _is_period(text: str) -> bool:
    """Whether a text is a period with its year first, as labels are: no number of other than four digits."""
    return _DIGITS.match(text) is not None and (len(text) == 4 or not text.isdigit()) and period_span(text) is not None


def _periods_within(
    spans: Mapping[str, tuple[int, int]], part: str | tuple[str, str], unit: str | None, name: str, remedy: str
) -> list[str]:
    """The labels of the periods in another one, or from one on and before another."""
    starts, stops = {start for start, _ in spans.values()}, {stop for _, stop in spans.values()}
    if isinstance(part, str):
        whole = period_span(part, unit)
        if whole is None or whole[0] not in starts or whole[1] not in stops:
            kind = "periods" if unit is None else f"a {unit}, all of it"
            raise OutOfRange(f"the table must have {kind}", came=repr(part), where=repr(name), remedy=remedy)
        first, last = whole
    else:
        ends = [None if not end else period_span(end, unit) for end in part]
        for end, span, edges in zip(part, ends, (starts, {*starts, *stops}), strict=True):
            if end and (span is None or span[0] not in edges):
                required = "a range must begin and end where periods do"
                raise OutOfRange(required, came=repr(end), where=repr(name), remedy=remedy)
        first = min(starts) if ends[0] is None else ends[0][0]
        last = max(stops) if ends[1] is None else ends[1][0]
    if first >= last:
        raise OutOfRange("a range must begin below its end", came="..".join(part), where=repr(name), remedy=remedy)
    return [label for label, (start, stop) in spans.items() if first <= start and stop <= last]


@dataclass(frozen=True, slots=True, eq=False)
class AnswerCells(LabelledCells):
    """The sums of an answer whose cells have independent noise."""

    answer: Answer[Any]  # Answer with a table in memory
    noise: CellNoiseAtLevel

    @classmethod
    def of(cls, answer: Answer[Any]) -> "AnswerCells":
        """The cells of an answer; Unsupported without independent noise, or if the table is not in memory."""
        noise, columns = answer.noise, answer.columns
        if not isinstance(noise, CellNoiseAtLevel):
            remedy = "Read answer.table, which has the margins where there are any."
            came = answer.promise.noise.kind
            raise Unsupported("sums of cells need cells with independent noise", came=came, remedy=remedy)
        if answer.is_drawn_later:
            came, remedy = "a table that is drawn while it is written", "Write it to a file, and read that."
            raise Unsupported("sums of cells need values in memory", came=came, remedy=remedy)
        is_whole = noise.grid is None and noise.unit.step.denominator == 1
        numbers = cell_numbers(answer.table, columns, is_whole=is_whole)
        return cls(numbers, row_labels(answer.table, columns), answer, noise)

    @property
    def counted(self) -> str:
        """The things that a column "count" counts: people or events."""
        return self.answer.unit.counted

    @property
    def bars(self) -> CellBars:
        return CellBars(self.noise)

    def _at_one_level(self, confidence: Fraction) -> Fraction:
        """The confidence at a fixed level, such that margins hold with ``confidence`` where a rule stopped."""
        stop = self.answer.stop
        return confidence if stop is None else stop.at_one_level(confidence)

    def alone(self, confidence: Number) -> int | float:
        """The margin of each cell alone."""
        return self.bars.alone(confidence) if self.answer.stop is None else self.answer.margin(confidence)

    def together(self, confidence: Number) -> int | float:
        return self.bars.together(self.rows * len(self.cells), self._at_one_level(read_confidence(confidence)))

    def at(self, level: Level) -> CellNoiseAtLevel:
        noise = self.answer.promise.noise.at(level, self.noise.confidence)
        assert isinstance(noise, CellNoiseAtLevel), "the noise of cells is planned cell by cell"
        return noise

    def total(
        self,
        rows: RowSelection = None,
        column: str | None = None,
        *,
        minus: RowSelection = frozenset(),
        mean: bool = False,
        confidence: Number = DEFAULT_CONFIDENCE,
    ) -> SumOfCells:
        """The sum of the cells of some rows minus those of others; with ``mean``, the difference of their means."""
        cells, sure = self.cells[self.column(column)], read_confidence(confidence)
        rows, minus = self._rows(rows), self._rows(minus)
        self.noise.unit.check_adds(is_one_cell=max(len(rows), len(minus)) <= 1, came="a sum over several")
        if truth(mean, "mean"):
            return self._mean(cells, rows, minus, sure)
        more, less = rows - minus, minus - rows
        value = sum((cells[row] for row in more), Fraction(0)) - sum((cells[row] for row in less), Fraction(0))
        count = len(more) + len(less)
        return SumOfCells(value, self.bars.total(count, self._at_one_level(sure)), count, sure)

    def _mean(
        self, cells: Sequence[Fraction], rows: frozenset[int], minus: frozenset[int], sure: Fraction
    ) -> SumOfCells:
        if not rows:
            raise OutOfRange("a mean needs at least one row", came="none", remedy="Select other labels.")
        value, fixed = _mean_of(cells, rows), self._at_one_level(sure)
        if not minus:
            return SumOfCells(value, round_up(exact(self.bars.total(len(rows), fixed)) / len(rows)), len(rows), sure)
        if rows & minus:
            raise OutOfRange(
                "two means that are compared must have no row in common",
                came="a row in both",
                remedy="Select other labels for one.",
            )
        margin = self.bars.means(len(rows), len(minus), fixed)
        return SumOfCells(value - _mean_of(cells, minus), margin, len(rows) + len(minus), sure)

    def ratio(
        self,
        rows: RowSelection,
        over: RowSelection = None,
        column: str | None = None,
        over_column: str | None = None,
        confidence: Number = DEFAULT_CONFIDENCE,
    ) -> RatioBar:
        """An interval that contains the true ratio of two sums, or "not determined", see `CellBars.ratio`."""
        rows, over = self._rows(rows), self._rows(over)
        above = self.column(column)
        below = above if over_column is None else self.column(over_column)
        sums = [sum((self.cells[of][row] for row in some), Fraction(0)) for of, some in ((above, rows), (below, over))]
        shared = len(rows & over) if above == below else 0
        sure = read_confidence(confidence)
        fixed = self._at_one_level(sure)
        bar = self.bars.ratio(*sums, above=len(rows), below=len(over), shared=shared, confidence=fixed)
        return replace(bar, confidence=sure)

    def with_bars(self, confidence: Number = DEFAULT_CONFIDENCE) -> Any:
        """The table with the ends of each cell's interval in new columns, for one cell and for all at once."""
        alone, together = exact(self.alone(confidence)), exact(self.together(confidence))
        margins = {name: ([alone] * self.rows, [together] * self.rows) for name in self.cells}
        return with_interval_ends(self.answer.table, self.cells, margins)


def with_interval_ends(
    table: Any, cells: Mapping[str, Sequence[Fraction]], margins: Mapping[str, tuple[list[Fraction], list[Fraction]]]
) -> Any:
    """The table with the ends of each cell's intervals, from its margins alone and for all cells at once."""
    adapter = adapter_of(table)
    names = set(adapter.names(table))
    laid: dict[str, NDArray[Any]] = {}
    after: dict[str, str] = {}
    for name, column in cells.items():
        alone, together = margins[name]
        ends = {"low": (-1, alone), "high": (1, alone), "all_low": (-1, together), "all_high": (1, together)}
        for end, (sign, distances) in ends.items():
            laid[f"{name}_{end}"] = plain_column(
                [x + sign * distance for x, distance in zip(column, distances, strict=True)]
            )
            after[f"{name}_{end}"] = name
    for name in laid:
        if name in names:
            remedy = "Rename that column."
            raise BadTable(f"the table must leave the name {name!r} free", came="a column of it", remedy=remedy)
    return adapter.with_columns(table, laid, after)


def one_draw_total(
    answer: Answer[Any], noise: OneDrawAtLevel, where: Where | None, column: str | None, sure: Fraction
) -> Estimate:
    """A sum of cells with the noise of one draw, with its margin."""
    numbers = cell_numbers(answer.table, answer.columns, is_whole=noise.unit.step.denominator == 1)
    cells = LabelledCells(numbers, row_labels(answer.table, answer.columns))
    planned = answer.promise.noise
    selected = _in_one_table(planned, where) if isinstance(planned, OneWayDraw) else where
    chosen, rows = cells.column(column), cells.rows_where(selected)
    value = sum((cells.cells[chosen][row] for row in rows), Fraction(0))
    taken = [Fraction(int(name == chosen and row in rows)) for name in cells.cells for row in range(cells.rows)]
    shown = int(value) if value.denominator == 1 else float(value)
    return Estimate(shown, noise.sum_margin(taken, sure), noise.sum_variance(taken), sure, value)


def _in_one_table(noise: OneWayDraw, where: Where | None) -> Where:
    """A selection by names of levels as one of rows; without a selection the total."""
    wanted = {} if where is None else mapping(where, "where")
    if not wanted:
        return {TABLE: TOTAL}
    if wanted.keys() <= {TABLE, GROUP}:
        return wanted
    family = noise.domain.family(list(wanted))
    name = next((name for name, own in noise.families.items() if own == family), None)
    if name is None:
        remedy = f"The tables are: {', '.join(noise.families)}, and the total."
        raise OutOfRange("a selection must be of one released table", came=" ".join(wanted), remedy=remedy)
    listed = [wanted[level] for level in noise.domain.level_names(family)]
    labels = [one if isinstance(one, list | tuple | set | frozenset) else [one] for one in listed]
    return {TABLE: name, GROUP: [" ".join(map(str, group)) for group in product(*labels)]}


def cell_numbers(table: object, released: Sequence[str], *, is_whole: bool) -> dict[str, list[Fraction]]:
    adapter = adapter_of(table)
    place: Callable[[int], str] = partial(adapter.place, table)
    read = integer_column if is_whole else real_column
    columns = {name: read(adapter.column(table, name), name, place).tolist() for name in released}
    return {name: [exact(cell, name) for cell in column] for name, column in columns.items()}


def row_labels(table: object, released: Sequence[str]) -> dict[str, list[str]]:
    """The labels of the rows as text, by public column."""
    added = {name + end for name in released for end in ("", "_margin")}
    columns = files.columns(table)
    return {name: ["" if c is None else str(c) for c in cells] for name, cells in columns.items() if name not in added}


def plain_column(numbers: list[Fraction]) -> NDArray[Any]:
    """Numbers as a column: integers if all are integers, else floats."""
    if all(number.denominator == 1 for number in numbers):
        return np.array([int(number) for number in numbers])
    return np.array([float(number) for number in numbers])


def _mean_of(cells: Sequence[Fraction], rows: frozenset[int]) -> Fraction:
    return sum((cells[row] for row in rows), Fraction(0)) / len(rows)
