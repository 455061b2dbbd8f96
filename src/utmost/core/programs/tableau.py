"""The simplex method on any exact tableau: which column enters, which row leaves, and what an optimum proves."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from utmost.core.exact.arrays import Array
from utmost.errors import SolverFailed


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """An optimum and the proof of it: ``dual @ A <= cost`` and ``dual @ b == value``.

    Attributes:
        value: the least cost.
        x: where it is attained, Fractions.
        dual: one multiplier for each row, Fractions.
    """

    value: Fraction
    x: tuple[Fraction, ...]
    dual: tuple[Fraction, ...]


class Tableau(ABC):
    """A feasible basis of {x >= 0: A x = b}, and everything in terms of it.

    Attributes:
        rows: (k, m + k + 1) exact numbers: A, the artificial columns and b, in terms of the basis.
        basis: (k,) the basic column of each row.
    """

    __slots__ = ()

    rows: Array
    basis: tuple[int, ...]

    @abstractmethod
    def _reduced(self, cost: Array) -> Array:
        """The reduced costs of all columns, and minus the cost of the basis, up to one positive factor."""

    @abstractmethod
    def _ratio(self, row: int, column: int) -> Any:
        """How far a column can enter before the basic variable of a row is 0."""

    @abstractmethod
    def _pivot(self, row: int, column: int) -> Self:
        """The basis in which a column has taken a row."""

    def _descend(self, cost: Array, allowed: int) -> Self:
        """Pivots until no column below ``allowed`` lowers the cost.

        The steepest column enters while the cost falls; where it stalls, Bland's rule, which cannot cycle.
        """
        at, stalled = self, False
        while True:
            reduced = at._reduced(cost)
            falling = [j for j in range(allowed) if reduced[j] < 0]
            if not falling:
                return at
            column = falling[0] if stalled else min(falling, key=lambda j: reduced[j])
            row = at._leaving(column)
            if row is None:
                raise SolverFailed("the cost must have a lower bound", came=f"column {column} lowers it without end")
            stalled = at.rows[row, -1] == 0
            at = at._pivot(row, column)

    def _leaving(self, column: int) -> int | None:
        """The row that bounds the column first; of several, the one with the lowest basic variable."""
        ratios = [(self._ratio(i, column), j, i) for i, j in enumerate(self.basis) if self.rows[i, column] > 0]
        return min(ratios)[2] if ratios else None

    def _without_artificial(self, m: int) -> Self:
        """Artificial variables, all zero by now, leave the basis wherever another column can take their row."""
        at = self
        for row, j in enumerate(self.basis):
            others = [c for c in range(m) if at.rows[row, c] != 0] if j >= m else []
            if others:
                at = at._pivot(row, others[0])
        return at
