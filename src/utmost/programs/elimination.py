"""Sparse linear systems over the rationals, solved exactly by elimination."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from flint import fmpq

from utmost.errors import SolverFailed

Row = dict[int, fmpq]


def solve_sparse(rows: Sequence[Mapping[int, Fraction]], right: Sequence[Fraction]) -> list[Fraction]:
    """The solution z of a square nonsingular system ``sum_j rows[i][j] z_j = right[i]``.

    The next pivot is taken in a shortest row, in its shortest column: bases of linear programs about privacy are nearly
    triangular, and little fills in.

    Raises:
        SolverFailed: when the system is singular.

    >>> solve_sparse([{0: Fraction(1), 1: Fraction(1)}, {0: Fraction(1), 1: Fraction(-1)}], [Fraction(3), Fraction(1)])
    [Fraction(2, 1), Fraction(1, 1)]
    """
    work: list[Row] = [{j: _flint(value) for j, value in row.items() if value} for row in rows]
    sides = [_flint(value) for value in right]
    order = _eliminate(work, sides)
    solution: dict[int, fmpq] = {}
    for i, j in reversed(order):
        known = sum((value * solution[k] for k, value in work[i].items() if k != j), fmpq())
        solution[j] = (sides[i] - known) / work[i][j]
    return [Fraction(int(solution[j].p), int(solution[j].q)) for j in range(len(rows))]


def _eliminate(work: list[Row], sides: list[fmpq]) -> list[tuple[int, int]]:
    """Bring the rows to a permuted triangular form in place; the pivots in order."""
    holders: dict[int, set[int]] = {j: set() for j in range(len(work))}
    for i, row in enumerate(work):
        for j in row:
            holders[j].add(i)
    buckets = _Buckets(work)
    order = []
    for _ in range(len(work)):
        i = buckets.shortest()
        j = min(work[i], key=lambda column: (len(holders[column]), column))
        for k in work[i]:
            holders[k].discard(i)
        for other in sorted(holders[j]):
            _subtract(work, sides, holders, other, i, j)
            buckets.moved(other)
        order.append((i, j))
    return order


def _subtract(work: list[Row], sides: list[fmpq], holders: dict[int, set[int]], other: int, i: int, j: int) -> None:
    """Clear column j of row ``other`` with row i."""
    target, factor = work[other], work[other][j] / work[i][j]
    for k, value in work[i].items():
        left = target[k] - factor * value if k in target else -factor * value
        if k == j or left == 0:
            target.pop(k, None)
            holders[k].discard(other)
        else:
            target[k] = left
            holders[k].add(other)
    sides[other] -= factor * sides[i]


class _Buckets:
    """Rows not yet used, by length."""

    def __init__(self, work: list[Row]) -> None:
        self.work = work
        self.length = [len(row) for row in work]
        self.rows: dict[int, set[int]] = {}
        for i, size in enumerate(self.length):
            self.rows.setdefault(size, set()).add(i)

    def shortest(self) -> int:
        """Take the row with the fewest entries (the first of them) out, for use as a pivot row."""
        size = min(size for size, rows in self.rows.items() if rows)
        if size == 0:
            raise SolverFailed("the basis of a linear program must be nonsingular")
        i = min(self.rows[size])
        self.rows[size].discard(i)
        return i

    def moved(self, i: int) -> None:
        """Note that row i has changed its length."""
        size = len(self.work[i])
        if size != self.length[i]:
            self.rows[self.length[i]].discard(i)
            self.rows.setdefault(size, set()).add(i)
            self.length[i] = size


def _flint(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)
