"""A column of released counts read for one consumer: four columns beside it."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.design import Reading
from utmost.errors import BadTable
from utmost.release import doors
from utmost.release.columns import integer_column

ADDED = ("answer", "low", "high", "expected_loss")

Read = Callable[[int, int], Reading]
"""From a response and the largest count n to what it tells."""

Nearest = Callable[[int, int], int]
"""From a response and the largest count n to the nearest response that tells the same."""


def with_readings(table: Any, column: str, n: int | str, read: Read, nearest: Nearest, *, clamped: bool) -> Any:
    """The table with the best answer, the posterior interval and the expected loss behind a column of responses.

    Args:
        table: of any kind that a release takes.
        column: whole numbers.
        n: the largest count, or the column that has it for each row.
        read: asked once for each response and n that tell something different.
        nearest: which those are.
        clamped: refuse responses outside 0..n.

    Raises:
        BadTable: for a column that is missing, a name that is taken, and a cell that is no whole number in its range.
    """
    door = doors.door_of(table)
    names = door.names(table)
    for name in (column, *([n] if isinstance(n, str) else [])):
        if name not in names:
            raise doors.no_column(name, names)
    for name in ADDED:
        if name in names:
            raise BadTable(f"the table must leave the name {name!r} free", came="a column of it", mend="Rename it.")

    def place(row: int) -> str:
        return door.place(table, row)

    responses = integer_column(door.column(table, column), column, place).tolist()
    largest = integer_column(door.column(table, n), n, place).tolist() if isinstance(n, str) else [n] * len(responses)
    for row, (z, top) in enumerate(zip(responses, largest, strict=True)):
        if top < 0 or (clamped and not 0 <= z <= top):
            raise BadTable(
                f"a clamped response must lie in 0..{top}", came="another", where=f"{place(row)}, column {column!r}"
            )
    rows = list(map(_row_reader(read, nearest), responses, largest))
    laid = {name: _column([row[at] for row in rows]) for at, name in enumerate(ADDED)}
    return door.with_columns(table, laid, dict.fromkeys(ADDED, column))


def _row_reader(read: Read, nearest: Nearest) -> Callable[[int, int], tuple[int, int, int, float]]:
    @cache
    def row(response: int, n: int) -> tuple[int, int, int, float]:
        found = read(response, n)
        return found.action, *found.interval, float(found.loss)

    return lambda response, n: row(nearest(response, n), n)


def _column(cells: list[Any]) -> NDArray[Any]:
    return np.array(cells)
