"""The marginals of a released table of cells: sums of cells by public columns, with their margins."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from utmost.core.exact.arguments import sequence_of, text
from utmost.errors import OutOfRange
from utmost.publish.promises.one_draw_noise import COUNT, TABLE, TOTAL, OneDrawAtLevel, OneWayDraw
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.answer_cells import AnswerCells, LabelledCells, cell_numbers, plain_column, row_labels
from utmost.tables.axes.domain import Family, words_in
from utmost.tables.frames.adapters import LabelledTable
from utmost.tables.frames.any_table import adapter_of, labelled

MarginOf = Callable[[int], int | float]


def marginal(answer: Answer[Any], names: str | Sequence[str] | Family) -> LabelledTable:
    """One marginal as a table: its labels, the sums of the released columns, and their margins.

    Args:
        answer: Answer with a table of cells.
        names: Names of public columns, as a list or as one text with spaces between them; "" for the total.

    Raises:
        OutOfRange: for other names, and for a table that is not one of those in one draw.
    """
    noise = answer.promise.noise
    if isinstance(noise, OneWayDraw):
        # One of the tables in one draw, or a further table, with a column of labels for each of its levels
        family = noise.domain.family("" if names == TOTAL else names)
        by_family = {noise.domain.family(""): TOTAL} | {family: name for name, family in noise.families.items()}
        if family not in by_family:
            remedy = f"The tables are: {', '.join(noise.families)}, and the total."
            raise OutOfRange("the release must have the table", came=repr(names), remedy=remedy)
        adapter = adapter_of(answer.table)
        tables = [str(name) for name in adapter.column(answer.table, TABLE)]
        of_table = [row for row, name in enumerate(tables) if name == by_family[family]]
        counts = {}
        for name in (COUNT, f"{COUNT}_margin"):
            column = adapter.column(answer.table, name)
            counts[name] = np.array([column[row] for row in of_table])
        return labelled(adapter.kind(answer.table, ()), noise.domain.group_labels(family), counts)
    cells, margin_of = _cells_and_margins(answer)
    known = (*cells.labels, *cells.cells)
    wanted = list(words_in(names, known.__contains__)) if isinstance(names, str) else sequence_of(names, text, "names")
    for name in wanted:
        if name not in cells.labels:
            remedy = f"Pass some of {', '.join(cells.labels) or 'no name'}; its columns are in answer.table."
            raise OutOfRange("a marginal must be named by public columns", came=repr(name), remedy=remedy)
    adapter, groups = adapter_of(answer.table), dict[tuple[str, ...], list[int]]()
    for row in range(cells.rows):
        groups.setdefault(tuple(cells.labels[name][row] for name in wanted), []).append(row)
    first_rows = [rows[0] for rows in groups.values()]
    labels = {}
    for name in wanted:
        cells_of_label = adapter.column(answer.table, name)
        labels[name] = [cells_of_label[row] for row in first_rows]
    columns: dict[str, Any] = {}
    for name, numbers in cells.cells.items():
        columns[name] = plain_column([sum((numbers[row] for row in rows), Fraction(0)) for rows in groups.values()])
        columns[f"{name}_margin"] = np.array([margin_of(len(rows)) for rows in groups.values()])
    return labelled(adapter.kind(answer.table, ()), labels, columns)


def _cells_and_margins(answer: Answer[Any]) -> tuple[LabelledCells, MarginOf]:
    """The cells of an answer, and the margin of the sum of so many of them: all have noise of one distribution."""
    noise = answer.noise
    if not isinstance(noise, OneDrawAtLevel):
        cells = AnswerCells.of(answer)
        first = next(iter(cells.cells))
        return cells, cache(lambda n: cells.total(frozenset(range(n)), first, confidence=answer.confidence).margin)
    numbers = cell_numbers(answer.table, answer.columns, is_whole=noise.unit.step.denominator == 1)
    drawn = LabelledCells(numbers, row_labels(answer.table, answer.columns))
    places = range(drawn.rows * len(drawn.cells))
    return drawn, cache(lambda n: noise.sum_margin([Fraction(int(at < n)) for at in places], answer.confidence))
