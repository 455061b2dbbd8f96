"""The cells of a published table as numbers: their sums, differences, means, ratios and marginals, with margins.

Everything here is computed from published values, so it costs no epsilon. Rows are selected by public columns only: if
noisy values selected them, margins would hold less often than their confidence.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import mapping, optional, sequence_of, text
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact, read_confidence
from utmost.core.noise.ratio_bars import RatioBar, ratio_of_margins
from utmost.core.privacy.unit import Unit
from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel
from utmost.publish.promises.one_draw_noise import COUNT, GROUP, TABLE, TOTAL_LABEL, OneDrawAtLevel, OneWayDraw
from utmost.publish.promises.until import Stop
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.cell_bars import CellBars
from utmost.publish.releases.estimates import Estimate
from utmost.tables.axes.clock import UNITS, period_span
from utmost.tables.axes.domain import Marginal, Where, words_in
from utmost.tables.axes.ordered_axes import bin_ends
from utmost.tables.cells.columns import integer_column, real_column
from utmost.tables.files import files
from utmost.tables.frames.adapters import LabelledTable, no_column
from utmost.tables.frames.any_table import adapter_of, labelled

RowSet = frozenset[int]
"""Indices of rows of a table."""

RowSelection = RowSet | Where | None
"""Rows of a table: their indices, or labels by public column; None for all rows."""

Combined = Sequence[tuple[Fraction, RowSet]]
"""A linear combination of cells of one column: each coefficient with its rows; no row has two coefficients."""


def sum_of(rows: RowSet) -> Combined:
    return [(Fraction(1), rows)]


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedCells(ABC):
    """The cells of a published table as numbers, and the labels of their rows as text.

    Each result is a linear combination of cells, or a ratio of two sums. A subclass defines the noise: it computes the
    margin and the variance of a combination, and the interval of a ratio.
    """

    table: Any
    cells: dict[str, list[Fraction]]
    labels: dict[str, list[str]]  # Labels of the rows as text, by public column
    confidence: Fraction  # Default confidence of results
    unit: Unit | None  # Unit of privacy; None for the noise of another tool
    stop: Stop | None  # Facts of the stopping rule; None without one

    @abstractmethod
    def margin(self, column: str, combined: Combined, confidence: Fraction) -> int | float:
        """Return the margin of a linear combination of cells, for noise at a fixed level."""

    @abstractmethod
    def variance(self, column: str, combined: Combined) -> float:
        """Return the variance of the error of a linear combination of cells."""

    @abstractmethod
    def ratio_bar(self, above: tuple[str, RowSet], below: tuple[str, RowSet], confidence: Fraction) -> RatioBar:
        """Return an interval of the ratio of two sums, for noise at a fixed level."""

    def alike(self, column: str, rows: RowSet) -> Any:
        """Return a key that is equal for sums of cells whose errors have the same distribution."""
        return len(rows)

    def total(
        self, where: RowSelection = None, *, column: str | None = None, confidence: Number | None = None
    ) -> Estimate:
        (rows,) = self.added(where)
        return self._estimate(column, sum_of(rows), confidence)

    def difference(
        self, first: RowSelection, second: RowSelection, *, column: str | None = None, confidence: Number | None = None
    ) -> Estimate:
        """Return the sum over one selection minus the sum over another; cells in both selections cancel."""
        more, less = self.added(first, second)
        return self._estimate(column, [(Fraction(1), more - less), (Fraction(-1), less - more)], confidence)

    def mean(
        self,
        where: RowSelection = None,
        *,
        minus: RowSelection = frozenset(),
        column: str | None = None,
        confidence: Number | None = None,
    ) -> Estimate:
        """Return the mean of the cells of a selection, minus the mean of another selection if ``minus`` has rows."""
        rows, others = self.added(where, minus)
        if not rows or rows & others:
            came = "a common row" if rows else "no row"
            raise OutOfRange(
                "a mean needs at least one row, and two means that are compared must have no row in common",
                came=came,
                remedy="Select other labels.",
            )
        means = [(Fraction(1, len(rows)), rows)]
        if others:
            means.append((Fraction(-1, len(others)), others))
        return self._estimate(column, means, confidence)

    def ratio(
        self,
        where: RowSelection,
        over: RowSelection = None,
        *,
        column: str | None = None,
        over_column: str | None = None,
        confidence: Number | None = None,
    ) -> RatioBar:
        """Return an interval that contains the true ratio of two sums, or "not determined"."""
        above, sure = self.column(column), self._read_confidence(confidence)
        below = above if over_column is None else self.column(over_column)
        bar = self.ratio_bar((above, self._rows(where)), (below, self._rows(over)), self.at_one_level(sure))
        return replace(bar, confidence=sure)

    def __getitem__(self, names: str | Sequence[str] | Marginal) -> LabelledTable:
        """Return one marginal as a table: labels of public columns, sums of the released columns, and their margins."""
        known = (*self.labels, *self.cells)
        wanted = (
            list(words_in(names, known.__contains__)) if isinstance(names, str) else sequence_of(names, text, "names")
        )
        for name in wanted:
            if name not in self.labels:
                remedy = f"Pass public columns: {', '.join(self.labels) or 'none'}; all columns are in answer.table."
                raise OutOfRange("marginal must name public columns", came=repr(name), remedy=remedy)
        adapter, groups = adapter_of(self.table), dict[tuple[str, ...], list[int]]()
        for row in range(self.rows):
            groups.setdefault(tuple(self.labels[name][row] for name in wanted), []).append(row)
        labels = {}
        for name in wanted:
            shown = adapter.column(self.table, name)
            labels[name] = [shown[rows[0]] for rows in groups.values()]
        columns: dict[str, Any] = {}
        summed = [frozenset(rows) for rows in groups.values()]
        for name in self.cells:
            margins = dict[Any, int | float]()
            for rows in summed:
                self.added(rows)
                if (alike := self.alike(name, rows)) not in margins:
                    margins[alike] = self.margin(name, sum_of(rows), self.at_one_level(self.confidence))
            columns[name] = plain_column([self.value(name, sum_of(rows)) for rows in summed])
            columns[f"{name}_margin"] = np.array([margins[self.alike(name, rows)] for rows in summed])
        return labelled(adapter.kind(self.table, ()), labels, columns)

    def added(self, *selections: RowSelection) -> list[RowSet]:
        """Return the rows of each selection, whose cells are to be summed; refuse to sum several distinct counts."""
        listed = [self._rows(one) for one in selections]
        if self.unit is not None:
            self.unit.check_adds(is_one_cell=max(map(len, listed)) <= 1, came="a sum over several")
        return listed

    def value(self, column: str, combined: Combined) -> Fraction:
        cells = self.cells[column]
        sums = (size * sum((cells[row] for row in rows), Fraction(0)) for size, rows in combined)
        return sum(sums, Fraction(0))

    def at_one_level(self, confidence: Fraction) -> Fraction:
        """Return the confidence that margins at one level need for ``confidence`` to hold under a stopping rule."""
        return confidence if self.stop is None else self.stop.at_one_level(confidence)

    def _estimate(self, column: str | None, combined: Combined, confidence: Number | None) -> Estimate:
        name, sure = self.column(column), self._read_confidence(confidence)
        value, margin = self.value(name, combined), self.margin(name, combined, self.at_one_level(sure))
        return Estimate(plain_number(value), margin, self.variance(name, combined), sure, value)

    def _read_confidence(self, confidence: Number | None) -> Fraction:
        return self.confidence if confidence is None else read_confidence(confidence)

    @property
    def counted(self) -> str:
        """The things that a column "count" counts, people or events; empty for the noise of another tool."""
        return "" if self.unit is None else self.unit.counted_noun

    @property
    def rows(self) -> int:
        return len(next(iter(self.cells.values())))

    def column(self, name: str | None) -> str:
        """Check the name of a released column; if it is None, return the only column."""
        optional(name, text, "column")
        if name is None and len(self.cells) == 1:
            return next(iter(self.cells))
        if name not in self.cells:
            required = f"column must be one of {', '.join(self.cells)}"
            raise OutOfRange(
                required, came=name or "none", remedy=f"Pass, for example, column={next(iter(self.cells))!r}."
            )
        return name

    def chosen(self, where: Iterable[str] = ()) -> RowSet:
        """Return the rows that satisfy all selections, such as ``ward=a,b``, ``age=20..40``, ``quarter=2013Q2``."""
        rows = frozenset(range(self.rows))
        for selection in where:
            # A column's name may contain an equals sign or end in a blank, and a label may contain a comma: try the
            # names of the table first.
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

    def rows_where(self, where: Where | None = None) -> RowSet:
        """Return the rows with these labels in the named public columns; all rows if ``where`` is None."""
        rows = frozenset(range(self.rows))
        for name, wanted in ({} if where is None else mapping(where, "where")).items():
            labels = [wanted] if isinstance(wanted, str) or not hasattr(wanted, "__iter__") else wanted
            rows &= self._taken(name, map(str, labels))
        return rows

    def _taken(self, name: str, labels: Iterable[str]) -> RowSet:
        """Return the rows with one of these labels in a public column."""
        if name in self.cells:
            remedy = "Name a public column: margins hold less often for cells that are selected by noisy values."
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
                f"each selected label must be a label of column {name!r}",
                came=", ".join(map(repr, sorted(unknown))),
                remedy=f"Did you mean {near[0]!r}?"
                if near
                else f"Select labels of the column, of which the first is {self.labels[name][0]!r}.",
            )
        return frozenset(row for row, label in enumerate(self.labels[name]) if label in wanted)

    @property
    def units_of_time(self) -> tuple[str, ...]:
        """The units of time that select rows, such as year; none unless exactly one public column has periods."""
        return () if self._time_column is None else tuple(unit for unit in UNITS if unit not in self.labels)

    @property
    def _time_column(self) -> str | None:
        # A label of four digits may be a code, so it does not show that a column has periods.
        found = [
            name
            for name, labels in self.labels.items()
            if any(len(text) > 4 and _is_period(text) for text in set(labels))
        ]
        return found[0] if len(found) == 1 else None

    def _within(self, name: str, part: str, unit: str | None) -> list[str]:
        """Return the labels in a range of bins or periods, such as ``18..65`` or ``2013Q2``; else the text itself."""
        labels, (low, dots, high) = list(dict.fromkeys(self.labels.get(name, ()))), part.partition("..")
        if not labels or (part in labels and unit is None):
            return [part]
        bins = {label: ends for label in labels if (ends := bin_ends(label)) is not None}
        shown = (
            "Name labels of the column: "
            f"{name}={','.join(labels[:_LABELS_SHOWN])}{',...' * (len(labels) > _LABELS_SHOWN)}."
        )
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
            raise OutOfRange(
                "the start of a range must be below its end", came=repr(part), where=repr(name), remedy=shown
            )
        return [label for label, (start, stop) in bins.items() if first <= start and stop <= last]

    def _rows(self, rows: RowSelection) -> RowSet:
        return rows if isinstance(rows, frozenset) else self.rows_where(rows)


_LABELS_SHOWN = 12
_DIGITS = re.compile(r"\d{4}", re.ASCII)


def _is_period(text: str) -> bool:
    """Whether a text is a period that begins with its year, such as 2013Q2; a bare number must have four digits."""
    return _DIGITS.match(text) is not None and (len(text) == 4 or not text.isdigit()) and period_span(text) is not None


def _periods_within(
    spans: Mapping[str, tuple[int, int]], part: str | tuple[str, str], unit: str | None, name: str, remedy: str
) -> list[str]:
    """Return the labels of periods inside ``part``: one longer period, or a range from a first to before a last one."""
    starts, stops = {start for start, _ in spans.values()}, {stop for _, stop in spans.values()}
    if isinstance(part, str):
        whole = period_span(part, unit)
        if whole is None or whole[0] not in starts or whole[1] not in stops:
            kind = "these periods" if unit is None else f"all periods of this {unit}"
            raise OutOfRange(f"the table must have {kind}", came=repr(part), where=repr(name), remedy=remedy)
        first, last = whole
    else:
        ends = [None if not end else period_span(end, unit) for end in part]
        for end, span, edges in zip(part, ends, (starts, {*starts, *stops}), strict=True):
            if end and (span is None or span[0] not in edges):
                required = "a range must begin and end at the bounds of periods"
                raise OutOfRange(required, came=repr(end), where=repr(name), remedy=remedy)
        first = min(starts) if ends[0] is None else ends[0][0]
        last = max(stops) if ends[1] is None else ends[1][0]
    if first >= last:
        raise OutOfRange(
            "the start of a range must be below its end", came="..".join(part), where=repr(name), remedy=remedy
        )
    return [label for label, (start, stop) in spans.items() if first <= start and stop <= last]


@dataclass(frozen=True, slots=True, eq=False)
class IndependentCells(ReleasedCells):
    """The cells of an answer; the noise of different cells is independent, and has one distribution."""

    answer: Answer[Any]
    noise: CellNoiseAtLevel

    @property
    def bars(self) -> CellBars:
        return CellBars(self.noise)

    def alone(self, confidence: Number) -> int | float:
        """Return the margin of each cell; it holds for that cell alone."""
        return self.answer.margin(confidence)

    def together(self, confidence: Number) -> int | float:
        """Return the margin that holds for all cells with the probability ``confidence``."""
        return self.bars.together(self.rows * len(self.cells), self.at_one_level(read_confidence(confidence)))

    def at(self, level: Level) -> CellNoiseAtLevel:
        """Return the noise of the same promise at another level."""
        noise = self.answer.promise.noise.at(level, self.noise.confidence)
        assert isinstance(noise, CellNoiseAtLevel), "the noise of cells is planned cell by cell"
        return noise

    def margin(self, column: str, combined: Combined, confidence: Fraction) -> int | float:
        return self.bars.combined([(abs(size), len(rows)) for size, rows in combined], confidence)

    def variance(self, column: str, combined: Combined) -> float:
        of_one = float(self.noise.drawn.variance()) * float(self.noise.width or 1) ** 2
        return sum(float(size) ** 2 * len(rows) for size, rows in combined) * of_one

    def ratio_bar(self, above: tuple[str, RowSet], below: tuple[str, RowSet], confidence: Fraction) -> RatioBar:
        (top, rows), (bottom, over) = above, below
        return self.bars.ratio(
            self.value(top, sum_of(rows)),
            self.value(bottom, sum_of(over)),
            above=len(rows),
            below=len(over),
            shared=len(rows & over) if top == bottom else 0,
            confidence=confidence,
        )

    def with_bars(self, confidence: Number) -> Any:
        """Add columns with the ends of each cell's two intervals: one for this cell, one for all cells together."""
        alone, together = exact(self.alone(confidence)), exact(self.together(confidence))
        margins = {name: ([alone] * self.rows, [together] * self.rows) for name in self.cells}
        return with_interval_ends(self.table, self.cells, margins)


@dataclass(frozen=True, slots=True, eq=False)
class OneDrawCells(ReleasedCells):
    """The cells of an answer whose noise was drawn jointly for all cells, in one draw."""

    noise: OneDrawAtLevel
    one_way: OneWayDraw | None  # One-way noise, if used: levels of its domain select rows, too

    def margin(self, column: str, combined: Combined, confidence: Fraction) -> int | float:
        return self.noise.sum_margin(self._coefficients(column, combined), confidence)

    def variance(self, column: str, combined: Combined) -> float:
        return self.noise.sum_variance(self._coefficients(column, combined))

    def ratio_bar(self, above: tuple[str, RowSet], below: tuple[str, RowSet], confidence: Fraction) -> RatioBar:
        half = 1 - (1 - confidence) / 2
        (top, up), (bottom, down) = (
            (self.value(name, sum_of(rows)), exact(self.margin(name, sum_of(rows), half)))
            for name, rows in (above, below)
        )
        return ratio_of_margins(top, up, bottom, down, confidence)

    def _coefficients(self, column: str, combined: Combined) -> list[Fraction]:
        """Return the coefficient of each cell, column by column."""
        of_rows = {row: size for size, rows in combined for row in rows}
        return [of_rows.get(row, Fraction(0)) * (name == column) for name in self.cells for row in range(self.rows)]

    def chosen(self, where: Iterable[str] = ()) -> RowSet:
        texts = list(where)
        names = {text.partition("=")[0].strip(): text.partition("=")[2] for text in texts}
        if self.one_way is None or (texts and names.keys() <= {TABLE, GROUP}):
            return ReleasedCells.chosen(self, texts)
        return self.rows_where({name: [one.strip() for one in listed.split(",")] for name, listed in names.items()})

    def rows_where(self, where: Where | None = None) -> RowSet:
        wanted = {} if where is None else mapping(where, "where")
        if self.one_way is None or (wanted and wanted.keys() <= {TABLE, GROUP}):
            return ReleasedCells.rows_where(self, wanted)
        if not wanted:
            return ReleasedCells.rows_where(self, {TABLE: TOTAL_LABEL})
        domain = self.one_way.domain
        marginal = domain.marginal(list(wanted))
        name = next((name for name, own in self.one_way.marginals.items() if own == marginal), None)
        if name is None:
            remedy = f"Name one of the released tables: {', '.join(self.one_way.marginals)}, and the total."
            raise OutOfRange(
                "a selection must name levels of one released table only", came=" ".join(wanted), remedy=remedy
            )
        listed = [wanted[level] for level in domain.level_names(marginal)]
        labels = [one if isinstance(one, list | tuple | set | frozenset) else [one] for one in listed]
        groups = [" ".join(map(str, group)) for group in product(*labels)]
        return ReleasedCells.rows_where(self, {TABLE: name, GROUP: groups})

    def __getitem__(self, names: str | Sequence[str] | Marginal) -> LabelledTable:
        """Return one marginal as a table; for one-way tables, one of the released tables."""
        if self.one_way is None:
            return ReleasedCells.__getitem__(self, names)
        domain = self.one_way.domain
        marginal = domain.marginal("" if names == TOTAL_LABEL else names)
        by_marginal = {domain.marginal(""): TOTAL_LABEL} | {own: name for name, own in self.one_way.marginals.items()}
        if marginal not in by_marginal:
            remedy = f"Name one of the released tables: {', '.join(self.one_way.marginals)}, and the total."
            raise OutOfRange("marginal must name a table of the release", came=repr(names), remedy=remedy)
        of_table = [row for row, name in enumerate(self.labels[TABLE]) if name == by_marginal[marginal]]
        adapter, counts = adapter_of(self.table), {}
        for name in (COUNT, f"{COUNT}_margin"):
            column = adapter.column(self.table, name)
            counts[name] = np.array([column[row] for row in of_table])
        return labelled(adapter.kind(self.table, ()), domain.group_labels(marginal), counts)


def cells_of(answer: Answer[Any]) -> IndependentCells | OneDrawCells:
    """Read the cells of an answer as numbers.

    Raises:
        Unsupported: if the noise has no margins for sums of cells, or if it is drawn while the table's file is written.
    """
    noise, table, names = answer.noise, answer.table, answer.columns
    if not isinstance(noise, CellNoiseAtLevel | OneDrawAtLevel):
        remedy = "Read answer.table, which has the margins of the cells."
        came = answer.promise.noise.kind
        raise Unsupported("cells can be added up only if they have independent noise", came=came, remedy=remedy)
    if answer.is_drawn_later:
        came, remedy = "a table that is drawn while it is written", "Write the table to a file, and read the file."
        raise Unsupported("cells can be added up only if their values are in memory", came=came, remedy=remedy)
    adapter = adapter_of(table)
    place: Callable[[int], str] = partial(adapter.place, table)
    has_grid = isinstance(noise, CellNoiseAtLevel) and noise.grid is not None
    read = real_column if has_grid or noise.unit.step.denominator > 1 else integer_column
    columns = {name: read(adapter.column(table, name), name, place).tolist() for name in names}
    numbers = {name: [exact(cell, name) for cell in column] for name, column in columns.items()}
    shared = table, numbers, row_labels(table, names), answer.confidence, noise.unit, answer.stop
    if isinstance(noise, CellNoiseAtLevel):
        return IndependentCells(*shared, answer, noise)
    planned = answer.promise.noise
    return OneDrawCells(*shared, noise, planned if isinstance(planned, OneWayDraw) else None)


def with_interval_ends(
    table: Any, cells: Mapping[str, Sequence[Fraction]], margins: Mapping[str, tuple[list[Fraction], list[Fraction]]]
) -> Any:
    """Add columns with the ends of each cell's two intervals: one for this cell, one for all cells together."""
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
            raise BadTable(
                f"no column of the table may have the name {name!r}", came="a column of this name", remedy=remedy
            )
    return adapter.with_columns(table, laid, after)


def row_labels(table: object, released: Sequence[str]) -> dict[str, list[str]]:
    """Return the labels of the rows as text, by public column."""
    added = {name + end for name in released for end in ("", "_margin")}
    columns = files.columns(table)
    return {name: ["" if c is None else str(c) for c in cells] for name, cells in columns.items() if name not in added}


def plain_number(number: Fraction) -> int | float:
    """Convert a number to an int if it is an integer, else to a float."""
    return int(number) if number.denominator == 1 else float(number)


def plain_column(numbers: list[Fraction]) -> NDArray[Any]:
    """Convert numbers to an array: of integers if all are integers, else of floats."""
    if all(number.denominator == 1 for number in numbers):
        return np.array([int(number) for number in numbers])
    return np.array([float(number) for number in numbers])
