"""Sums of cells over all persons, for a domain with too many cells for an array: only cells with events are stored."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import with_room_for
from utmost.publish.counting.bounding import begins
from utmost.publish.counting.numbered_cells import NumberedCells
from utmost.tables.axes.few_cells import MOST_LAID, FewCells

_COMPACT, _FITS = 1 << 22, 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class SparseTotals:
    """The sums of the cells with events; all other cells are 0."""

    cells: NDArray[np.int64]  # numbers of the cells, ascending, each once
    sums: NDArray[Any]  # int64 or Python integers

    @classmethod
    def of(cls, parts: Iterable[tuple[NDArray[np.int64], NDArray[Any]]]) -> "SparseTotals":
        """Add up lists of sums in which each cell occurs at most once; memory does not grow with the domain."""
        nothing = np.zeros(0, dtype=np.int64)
        known, waiting, rows, limit = cls(nothing, nothing), list[tuple[Any, Any]](), 0, _COMPACT
        for cells, sums in parts:
            waiting.append((cells, sums))
            rows += len(cells)
            if rows > limit:
                known, waiting, rows = known._plus(waiting), [], 0
                limit = len(known.cells) + _COMPACT
        return known._plus(waiting)

    def between(self, low: int, high: int) -> "SparseTotals":
        """Return the cells with numbers low..high - 1, renumbered from 0."""
        first, last = np.searchsorted(self.cells, [low, high])
        return SparseTotals(self.cells[first:last] - low, self.sums[first:last])

    def as_array(self, size: int) -> NDArray[Any]:
        whole = np.zeros(size, dtype=self.sums.dtype)
        whole[self.cells] = self.sums
        return whole

    def by_part(
        self, shape: tuple[int, ...], parts: int, tables: int, numbered: NumberedCells | None = None
    ) -> list[NDArray[Any] | FewCells]:
        """Split the cells by part: an array of ``shape`` for each part, or its nonzero cells if it is too large."""
        # A cell number counts tables, then parts, then indices in the domain. If there are several tables, one for each
        # part of an amount, they become the last axis.
        if numbered is not None:
            part, number = np.divmod(self.cells, 1 << numbered.bits)
            return [numbered.few(number[part == at], self.sums[part == at]) for at in range(parts)]
        cells = prod(shape)
        table, rest = np.divmod(self.cells, parts * cells)
        part, cell = np.divmod(rest, cells)
        whole = shape if tables == 1 else (*shape, tables)
        numbers = cell * tables + table
        tables_of_parts: list[NDArray[Any] | FewCells] = []
        for own in (part == number for number in range(parts)):
            if prod(whole) > MOST_LAID:
                tables_of_parts.append(FewCells.of_numbers(whole, numbers[own], self.sums[own]))
            else:
                ordered = SparseTotals.of([(numbers[own], self.sums[own])])
                tables_of_parts.append(ordered.as_array(prod(whole)).reshape(whole))
        return tables_of_parts

    def _plus(self, parts: list[tuple[NDArray[np.int64], NDArray[Any]]]) -> "SparseTotals":
        if not parts:
            return self
        cells = np.concatenate([self.cells, *(part for part, _ in parts)])
        sums = np.concatenate([self.sums, *(part for _, part in parts)])
        order = np.argsort(cells, kind="stable")
        cells, sums = cells[order], sums[order]
        starts = np.flatnonzero(begins(cells))
        sums = with_room_for(sums, len(parts) + 1)  # a cell occurs once in each part at most
        return SparseTotals(cells[starts], np.add.reduceat(sums, starts) if len(starts) else sums)
