"""How many distinct values occur in a cell: of each person few of them, and of all persons each once.

A value in a cell is noted as a cell of its own, in which persons are counted; a cell's number is how many of its
values somebody has. So every engine adds up what it always does. See proofs/theory/counting.md.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.publish.counting.bounding import Pairs, begins, least_hashed
from utmost.publish.counting.cell_totals import CELL
from utmost.tables.optional_imports import extra

_COMPACT = 1 << 22


def few_values(pairs: Pairs, first: int, size: int, most: int, persons: Sequence[str], key: bytes) -> tuple[Pairs, int]:
    """The ``most`` values of each person and cell with the least hash of key, person and value, each once.

    Args:
        pairs: Pairs in which cell number (first + v) * size + a is value v in cell a.
        size: Number of cells.

    Returns:
        The pairs that are kept, each with the sum 1; and of how many cells of persons values were left out.
    """
    values, cells = np.divmod(pairs.cells - first * size, size)
    order = np.lexsort((values, cells, pairs.persons))
    who, cells = pairs.persons[order], cells[order]
    runs = np.cumsum(begins(who, cells)) - 1
    # Values stand in place of cells: a value has one hash in all cells of a person.
    by_value = Pairs(who, values[order], np.ones(len(order), dtype=np.int64))
    is_chosen = least_hashed(by_value, most, persons, key=key, purpose=b"value", runs=runs)
    chosen = by_value.where(is_chosen)
    return Pairs(chosen.persons, (first + chosen.cells) * size + cells[is_chosen], chosen.sums), len(
        np.unique(runs[~is_chosen])
    )


class ValuesSeen:
    """Which values somebody has in which cells; memory goes with these, and not with all that are declared.

    Args:
        first: the number of the first cell that is of a value; the cells before are sums of their own.
    """

    def __init__(self, first: int) -> None:
        self._first, self._rows, self._limit = first, 0, _COMPACT
        self._parts: list[NDArray[np.int64]] = []

    def taken(self, pairs: Pairs) -> Pairs:
        """The pairs that are no values; the cells of the others are taken in."""
        is_sum = pairs.cells < self._first
        self._add(pairs.cells[~is_sum])
        return pairs.where(is_sum)

    def taken_from(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The pairs of an engine's batches of cells and totals."""
        arrow = extra("pyarrow", "tables")
        for batch in batches:
            cells = np.asarray(batch.column(CELL).to_numpy())
            self._add(cells[cells >= self._first])
            yield batch.filter(arrow.array(cells < self._first))

    def counts(self, first: int, tables: int, size: int) -> NDArray[np.int64]:
        """The number of values of some tables that somebody has in each cell.

        Args:
            first, tables: the number of the first table, and how many there are.
            size: Number of cells of a table.
        """
        seen = self._seen()
        own = seen[(seen >= first * size) & (seen < (first + tables) * size)]
        return np.bincount(own % size, minlength=size).astype(np.int64)

    def _add(self, cells: NDArray[np.int64]) -> None:
        if not len(cells):
            return
        self._parts.append(np.unique(cells))
        self._rows += len(self._parts[-1])
        if self._rows > self._limit:
            self._rows = len(self._seen())
            self._limit = 2 * self._rows + _COMPACT

    def _seen(self) -> NDArray[np.int64]:
        """The cells so far, each once."""
        if len(self._parts) != 1:
            self._parts = [np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *self._parts]))]
        return self._parts[0]
