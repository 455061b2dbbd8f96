"""Find every problem of the counted columns, so that one error names all of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from utmost.errors import BadTable
from utmost.publish.counting.counted_measures import MISSING_AMOUNT, CountedMeasure
from utmost.publish.counting.counting_rule import CountingRule
from utmost.tables.axes.axes import Axis
from utmost.tables.cells.axis_places import reader_of
from utmost.tables.cells.event_amounts import without_missing
from utmost.tables.cells.event_batches import Batch, read_events
from utmost.tables.cells.odd_cells import named_mark
from utmost.tables.cells.spelling import Spelling

_MOST = 6  # the largest number of problems that are named of one column

_Reader = Callable[[Batch, int, Spelling], object]


def add_other_problems(error: BadTable, events: Any, rule: CountingRule) -> None:
    """Add a note to an error for each further problem of a column, found as if earlier problems were corrected."""
    listed = [str(error)]
    for problem in _problems(events, rule):
        is_same = (problem.required, problem.came, problem.remedy) == (error.required, error.came, error.remedy)
        if is_same and str(problem.where).endswith(f", {error.where}"):
            error.where, error.args = problem.where, problem.args  # the same problem, now with the number of its row
        elif str(problem) not in listed:
            listed.append(str(problem))
            error.add_note(f"Also: {problem}")


def _problems(events: Any, rule: CountingRule) -> Iterator[BadTable]:
    for axis in (*rule.read, *rule.valued):
        yield from _of_column(events, axis.columns, (), partial(_read_axis, axis), rule.spelling)
    for measure in rule.measures:
        if measure.column is not None:
            columns = [measure.column]
            yield from _of_column(events, columns, columns, _Amounts(measure), rule.spelling)


def _of_column(
    events: Any, columns: Sequence[str], values: Sequence[str], read: _Reader, spelling: Spelling
) -> Iterator[BadTable]:
    for _ in range(_MOST):
        before = 0
        batch: Batch = {}
        try:
            for batch in read_events(events, columns, values, spelling).batches():
                read(batch, before, spelling)
                before += len(next(iter(batch.values())))
            return
        except BadTable as error:
            if error.where == f"column {columns[0]!r}":
                row = _bad_row(batch, before, spelling, read)
                where = error.where if row is None else f"row {row}, {error.where}"
                error = BadTable(error.required, came=error.came, where=where, remedy=error.remedy)
            yield error
            mark = named_mark(error.came)
            is_mended = isinstance(read, _Amounts) and read.mended(error)
            if mark is not None:
                spelling = replace(spelling, missing_marks=(*spelling.missing_marks, mark))
            elif not is_mended:
                return


def _bad_row(batch: Batch, before: int, spelling: Spelling, read: _Reader) -> int | None:
    """Find by bisection the first row whose text cannot be read; return None if the column is refused as a whole."""
    readable, refused = 0, len(next(iter(batch.values()), ()))
    while refused - readable > 1:
        middle = (readable + refused) // 2
        try:
            read({name: column[:middle] for name, column in batch.items()}, before, spelling)
            readable = middle
        except BadTable:
            refused = middle
    cells = [column[readable] for column in batch.values()] if refused else []
    texts = [cell.as_py() if hasattr(cell, "as_py") else cell for cell in cells]
    return before + refused if any(isinstance(text, str) for text in texts) else None


def _read_axis(axis: Axis, batch: Batch, before: int, spelling: Spelling) -> None:
    reader_of(axis, spelling)(batch)


@dataclass(slots=True, eq=False)
class _Amounts:
    """A reader of amounts that can go on after a problem was reported."""

    measure: CountedMeasure
    leaves_missing: bool = False

    def __call__(self, batch: Batch, before: int, spelling: Spelling) -> None:
        assert self.measure.column is not None, "amounts are summed"
        column = batch[self.measure.column]
        if self.leaves_missing:
            column = without_missing(column, spelling)[0]
        self.measure.amounts({self.measure.column: column}, before, spelling)

    def mended(self, error: BadTable) -> bool:
        """Let later calls read on as if this problem were corrected; return False if the problem cannot be skipped."""
        if error.came == MISSING_AMOUNT or named_mark(error.came) is not None:
            self.leaves_missing = True
            return True
        if "step=" in (error.remedy or "") and not self.measure.is_rounded:
            self.measure = replace(self.measure, is_rounded=True)
            return True
        return False
