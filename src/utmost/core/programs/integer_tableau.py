"""Small exact linear programs in integers: minimise c x where A x = b, x >= 0, with the dual."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.core.exact.arrays import Array
from utmost.core.programs.tableau import Solution, Tableau
from utmost.errors import Infeasible


@dataclass(frozen=True, slots=True, eq=False)
class IntegerTableau(Tableau):
    """A feasible basis of {x >= 0: A x = b}, as the integer tableau of Edmonds: all entries have one common
    denominator.
    """

    rows: Array  # integers (k, m + k + 1): A, the artificial columns and b, expressed in the basis
    basis: tuple[int, ...]  # basic column of each row
    denominator: int  # common denominator of all entries

    @classmethod
    def feasible(cls, matrix: Array, right: Array) -> "IntegerTableau":
        """A first basis for integers A (k, m) and b (k,), found by minimising the sum of artificial variables. If there
        is no feasible point, `Infeasible` is raised.
        """
        k, m = matrix.shape
        signs = np.array([-1 if b < 0 else 1 for b in right], dtype=object)
        rows = np.concatenate([matrix.astype(object), np.eye(k, dtype=object), right.astype(object)[:, None]], axis=1)
        rows = rows * signs[:, None]
        rows[:, m : m + k] = np.eye(k, dtype=np.int64).astype(object)
        start = cls(rows, tuple(range(m, m + k)), 1)
        cost = np.array([0] * m + [1] * k, dtype=object)
        best = start._descend(cost, m + k)
        if any(best.rows[i, -1] for i, j in enumerate(best.basis) if j >= m):
            raise Infeasible("the equations must have a nonnegative solution", came=f"{k} rows, {m} columns")
        best.rows[:, m : m + k] *= signs  # columns of the identity again, so that duals have the right sign
        return best._without_artificial(m)

    def minimise(self, cost: Array) -> "tuple[Solution, IntegerTableau]":
        """Return the optimum, and its basis as a start for similar costs. If the cost is unbounded below,
        `SolverFailed` is raised.
        """
        k, m = len(self.basis), len(cost)
        padded = np.concatenate([cost.astype(object), np.zeros(k, dtype=object)])
        best = self._descend(padded, m)
        x = [Fraction(0)] * m
        for row, j in enumerate(best.basis):
            if j < m:
                x[j] = Fraction(int(best.rows[row, -1]), best.denominator)
        reduced = best._reduced(padded)
        dual = tuple(Fraction(-int(r), best.denominator) for r in reduced[m : m + k])
        return Solution(Fraction(-int(reduced[-1]), best.denominator), tuple(x), dual), best

    def _reduced(self, cost: Array) -> Array:
        """The reduced costs of all columns, and minus the cost of the basis, as numerators over the common
        denominator.
        """
        full = np.append(cost, 0) * self.denominator
        return np.asarray(full - cost[list(self.basis)] @ self.rows)

    def _ratio(self, row: int, column: int) -> Fraction:
        return Fraction(int(self.rows[row, -1]), int(self.rows[row, column]))

    def _pivot(self, row: int, column: int) -> "IntegerTableau":
        head = self.rows[row, column]
        rows = (self.rows * head - np.outer(self.rows[:, column], self.rows[row])) // self.denominator
        rows[row] = self.rows[row]
        basis = (*self.basis[:row], column, *self.basis[row + 1 :])
        return IntegerTableau(-rows, basis, -int(head)) if head < 0 else IntegerTableau(rows, basis, int(head))
