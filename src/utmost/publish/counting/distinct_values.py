"""Count the distinct values in each cell: each value counts once, and only a few values of each person count.

Each (value, cell) pair has a cell number of its own, under which persons are counted. The result for a cell is the
number of values for which at least one person is counted there. Engines can therefore add up these pairs like the cells
of other measures. See proofs/theory/counting.md.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.publish.counting.bounding import Pairs, begins, least_hashed
from utmost.publish.counting.cell_totals import CELL
from utmost.tables.optional_imports import extra

_COMPACT = 1 << 22


def keep_values(
    pairs: Pairs, first: int, size: int, most: int, persons: Sequence[str], key: bytes
) -> tuple[Pairs, int]:
    """Keep at most ``most`` distinct values of one person in a cell, those with the least keyed hash; return also the
    number of (person, cell) pairs that lost values.
    """
    # Cell number (first + v) * size + a is value v in cell a. Each kept pair has the sum 1.
    values, cells = np.divmod(pairs.cells - first * size, size)
    order = np.lexsort((values, cells, pairs.persons))
    who, cells = pairs.persons[order], cells[order]
    runs = np.cumsum(begins(who, cells)) - 1
    # The hash is of person and value: a value has the same hash in all cells of a person.
    by_value = Pairs(who, values[order], np.ones(len(order), dtype=np.int64))
    is_chosen = least_hashed(by_value, most, persons, key=key, purpose=b"value", runs=runs)
    chosen = by_value.where(is_chosen)
    return Pairs(chosen.persons, (first + chosen.cells) * size + cells[is_chosen], chosen.sums), len(
        np.unique(runs[~is_chosen])
    )


class ValuesSeen:
    """Stores (value, cell) pairs with at least one person; memory grows with these, not with all declared values."""

    def __init__(self, first: int) -> None:  # numbers from `first` on are (value, cell) pairs
        self._first, self._rows, self._limit = first, 0, _COMPACT
        self._parts: list[NDArray[np.int64]] = []

    def taken(self, pairs: Pairs) -> Pairs:
        """Store the (value, cell) pairs of measures of distinct values; return the pairs of other measures."""
        is_sum = pairs.cells < self._first
        self._add(pairs.cells[~is_sum])
        return pairs.where(is_sum)

    def without_stored(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Store the cells of distinct values in an engine's batches; yield the batches without these cells."""
        arrow = extra("pyarrow", "tables")
        for batch in batches:
            cells = np.asarray(batch.column(CELL).to_numpy())
            self._add(cells[cells >= self._first])
            yield batch.filter(arrow.array(cells < self._first))

    def counts(self, first: int, tables: int, size: int) -> NDArray[np.int64]:
        """For each cell, return how many values some person has; value v < ``tables`` has the table ``first`` + v."""
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
        """Return the numbers of all (value, cell) pairs so far, ascending, each once."""
        if len(self._parts) != 1:
            self._parts = [np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *self._parts]))]
        return self._parts[0]
