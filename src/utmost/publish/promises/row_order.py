"""Warn of rows that are sorted by a released column: the answer keeps the order of the rows, and no noise hides it."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from utmost.core.exact.arrays import plain_cells
from utmost.errors import RowsSorted, warn
from utmost.tables.frames.adapters import Column

_CHANCE = 120
"""Rows that can be in at least so many orders are sorted by chance once in sixty times."""

_DIGITS = re.compile(r"([0-9]+)")


@dataclass(slots=True, eq=False)
class SortedColumn:
    """Reads a column block by block, and finds out whether its cells rise or fall from the first to the last row."""

    rises: bool = True
    falls: bool = True
    last: Any = None  # the last cell of the block before, None before the first
    run: int = 0  # number of last cells that are equal
    rows: int = 0
    fixed: float = 0.0  # logarithm of the number of orders of equal cells, without those of the last run

    @property
    def is_sorted(self) -> bool:
        """Whether the cells rise or fall, and are not all equal."""
        return self.rises != self.falls

    @property
    def may_be_sorted(self) -> bool:
        return self.rises or self.falls

    def add(self, cells: list[Any]) -> None:
        """Read the next block."""
        if not self.may_be_sorted or not cells:
            return
        try:
            for above, here in pairwise([self.last, *cells] if self.rows else cells):
                self.rises, self.falls = self.rises and above <= here, self.falls and here <= above
                if not self.may_be_sorted:
                    return
        except (TypeError, ArithmeticError):  # missing cells, cells of several types, or a signalling NaN
            self.rises = self.falls = False
            return
        self.last, self.rows = cells[-1], self.rows + len(cells)

    def add_numbers(self, cells: Any) -> None:
        """Read the next block of a released column, as an array; count the permutations of equal cells."""
        whole = cells if not self.rows else np.concatenate([np.asarray([self.last], cells.dtype), cells])
        above, here = whole[:-1], whole[1:]
        self.rises, self.falls = self.rises and bool((above <= here).all()), self.falls and bool((here <= above).all())
        if not self.may_be_sorted or not len(cells):
            return
        ends = np.flatnonzero(above != here) + (1 if not self.rows else 0)
        lengths = np.diff(np.concatenate([[0], ends, [len(cells)]])).tolist()
        lengths[0] += self.run
        self.fixed += sum(math.lgamma(length + 1) for length in lengths[:-1])
        self.run, self.last, self.rows = lengths[-1], cells[-1], self.rows + len(cells)

    @property
    def orders(self) -> float:
        """The logarithm of the number of different orders of the cells."""
        return math.lgamma(self.rows + 1) - self.fixed - math.lgamma(self.run + 1)


@dataclass(slots=True, eq=False)
class RowOrder:
    """The order of the rows of a table, read block by block."""

    released: dict[str, SortedColumn] = field(default_factory=dict)
    public: dict[str, SortedColumn] = field(default_factory=dict)

    def add(self, true: Mapping[str, Any], public: Iterable[str], label: Callable[[str], Column]) -> None:
        """Read the next rows; skip the public columns once it is clear that no released column is sorted."""
        for name, cells in true.items():
            column = self.released.setdefault(name, SortedColumn())
            if column.may_be_sorted:
                column.add_numbers(np.asarray(cells))
        if self.may_be_sorted:
            for name in public:
                column = self.public.setdefault(name, SortedColumn())
                if column.may_be_sorted:
                    column.add([*map(_natural, plain_cells(label(name)))])

    @property
    def may_be_sorted(self) -> bool:
        return any(column.may_be_sorted for column in self.released.values())

    def warn(self) -> None:
        """Warn (RowsSorted) if the rows are sorted by a released column and by no public one, and not by chance."""
        if any(column.is_sorted for column in self.public.values()):
            return
        for name, column in self.released.items():
            if column.is_sorted and column.orders > math.log(_CHANCE) - 1e-9:
                said = f"The rows are sorted by the released column {name!r}, and the promise does not cover their "
                said += "order: it shows which true value is larger. Sort the rows by a public column before the "
                warn(f"{said}release.", RowsSorted)


def _natural(cell: Any) -> Any:
    """Return a text as parts that sort as people sort texts: numbers by size, letters without regard to case."""
    if not isinstance(cell, str):
        return cell
    parts = _DIGITS.split(cell)
    return tuple(
        (len(part.lstrip("0")), part.lstrip("0")) if at % 2 else part.casefold() for at, part in enumerate(parts)
    )
