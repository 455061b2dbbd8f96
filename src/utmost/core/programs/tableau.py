"""The simplex method on any exact tableau: the entering column, the leaving row, and the proof of an optimum."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from utmost.core.exact.arrays import Array
from utmost.errors import SolverFailed


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """An optimum and its proof: ``dual @ A <= cost`` and ``dual @ b == value``."""

    value: Fraction  # least cost
    x: tuple[Fraction, ...]  # point of least cost
    dual: tuple[Fraction, ...]  # multiplier of each row


class Tableau(ABC):
    """A feasible basis of {x >= 0: A x = b}, with the equations in terms of the basis."""

    __slots__ = ()

    rows: Array  # exact numbers (k, m + k + 1): A, the artificial columns and b, expressed in the basis
    basis: tuple[int, ...]  # basic column of each row

    @abstractmethod
    def _reduced(self, cost: Array) -> Array:
        """The reduced costs of all columns, and minus the cost of the basis, all up to one positive factor."""

    @abstractmethod
    def _ratio(self, row: int, column: int) -> Any:
        """The value of the entering variable of ``column`` at which the basic variable of ``row`` becomes 0."""

    @abstractmethod
    def _pivot(self, row: int, column: int) -> Self:
        """The neighbouring basis, in which ``column`` replaces the basic column of ``row``."""

    def _descend(self, cost: Array, allowed: int) -> Self:
        """Pivot until no column below ``allowed`` lowers the cost."""
        # The column with the most negative reduced cost enters while the cost decreases. If the cost stays the same,
        # Bland's rule chooses the column, and cannot cycle.
        at, stalled = self, False
        while True:
            reduced = at._reduced(cost)
            falling = [j for j in range(allowed) if reduced[j] < 0]
            if not falling:
                return at
            column = falling[0] if stalled else min(falling, key=lambda j: reduced[j])
            # The row that limits the entering variable first leaves; among several, the row whose basic variable has
            # the lowest index.
            ratios = [(at._ratio(i, column), j, i) for i, j in enumerate(at.basis) if at.rows[i, column] > 0]
            if not ratios:
                raise SolverFailed(
                    "the cost must have a lower bound", came=f"column {column} lowers the cost without end"
                )
            row = min(ratios)[2]
            stalled = at.rows[row, -1] == 0
            at = at._pivot(row, column)

    def _without_artificial(self, m: int) -> Self:
        """Replace artificial variables, which are all zero here, by other columns wherever possible."""
        at = self
        for row, j in enumerate(self.basis):
            others = [c for c in range(m) if at.rows[row, c] != 0] if j >= m else []
            if others:
                at = at._pivot(row, others[0])
        return at
