"""Small exact linear programs over any ordered field: minimise c x where A x = b, x >= 0, with the dual.

The numbers may be of any type with exact arithmetic and comparisons: Fractions, or the irrational numbers of a privacy
type on a Euclidean grid. `IntegerTableau` takes the same arguments, and is faster for integers.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.core.exact.arrays import Array
from utmost.core.programs.tableau import Solution, Tableau
from utmost.errors import Infeasible


@dataclass(frozen=True, slots=True, eq=False)
class FieldTableau(Tableau):
    """A feasible basis of {x >= 0: A x = b}, with the equations in terms of the basis."""

    rows: Array  # (k, m + k + 1): A, the artificial columns and b, expressed in the basis
    basis: tuple[int, ...]  # basic column of each row
    # The first rows, expressed in the artificial columns. Later rows are computed from these, since irrational numbers
    # grow with every pivot.
    first: Array

    @classmethod
    def feasible(cls, matrix: Array, right: Array) -> "FieldTableau":
        """A first basis for A (k, m) and b (k,), found by minimising the sum of artificial variables. If there is no
        feasible point, `Infeasible` is raised.
        """
        k, m = matrix.shape
        signs = [-1 if b < 0 else 1 for b in right]
        rows = np.zeros((k, m + k + 1), dtype=object)
        for i, sign in enumerate(signs):
            rows[i, :m], rows[i, -1] = matrix[i] * sign, right[i] * sign
            rows[i, m + i] = 1
        cost = np.array([0] * m + [1] * k, dtype=object)
        best = cls(rows, tuple(range(m, m + k)), rows)._descend(cost, m + k)
        if any(best.rows[i, -1] != 0 for i, j in enumerate(best.basis) if j >= m):
            raise Infeasible("the equations must have a nonnegative solution", came=f"{k} rows, {m} columns")
        first = rows.copy()
        first[:, m : m + k] *= np.array(signs, dtype=object)  # so that duals have the right sign
        return replace(best, first=first)._without_artificial(m)._renewed()

    def minimise(self, cost: Array) -> "tuple[Solution, FieldTableau]":
        """Return the optimum, and its basis as a start for similar costs. If the cost is unbounded below,
        `SolverFailed` is raised.
        """
        k, m = len(self.basis), len(cost)
        padded = np.concatenate([cost.astype(object), np.zeros(k, dtype=object)])
        best = self._descend(padded, m)
        best = best if best.basis == self.basis else best._renewed()
        x: list[Any] = [0] * m
        for row, j in enumerate(best.basis):
            if j < m:
                x[j] = best.rows[row, -1]
        reduced = best._reduced(padded)
        dual = tuple(_number(-r) for r in reduced[m : m + k])
        return Solution(_number(-reduced[-1]), tuple(map(_number, x)), dual), best

    def _reduced(self, cost: Array) -> Array:
        """The reduced costs of all columns, and minus the cost of the basis."""
        reduced = np.append(cost, 0)
        for row, j in zip(self.rows, self.basis, strict=True):
            if cost[j] != 0:
                reduced = reduced - row * cost[j]
        reduced[list(self.basis)] = 0
        return reduced

    def _ratio(self, row: int, column: int) -> Any:
        return _quotient(self.rows[row, -1], self.rows[row, column])

    def _pivot(self, row: int, column: int) -> "FieldTableau":
        rows, head = self.rows.copy(), self.rows[row, column]
        rows[row] = [_quotient(entry, head) if entry is not head else 1 for entry in rows[row]]
        for i in range(len(rows)):
            factor = rows[i, column]
            if i != row and factor != 0:
                rows[i] = rows[i] - rows[row] * factor
                rows[i, column] = 0
        basis = (*self.basis[:row], column, *self.basis[row + 1 :])
        return FieldTableau(rows, basis, self.first)

    def _renewed(self) -> "FieldTableau":
        """The same basis, with rows computed anew from the rows of the first tableau."""
        at, free = replace(self, rows=self.first, basis=(-1,) * len(self.basis)), set(range(len(self.basis)))
        for j in self.basis:
            row = next(i for i in sorted(free) if at.rows[i, j] != 0)
            free.remove(row)
            at = at._pivot(row, j)
        return at


def _quotient(x: Any, y: Any) -> Any:
    return _number(x) / y


def _number(x: Any) -> Any:
    # A quotient of two Python integers would be a float.
    return Fraction(x) if isinstance(x, int) else x
