"""Small rational linear systems, column by column."""

from collections.abc import Sequence
from fractions import Fraction

Vector = Sequence[Fraction]


def solve_columns(columns: Sequence[Vector], target: Vector) -> list[Fraction] | None:
    """The x with sum_j x_j columns[j] = target for independent columns; None where the target is outside their span.

    >>> solve_columns([[Fraction(1), Fraction(1)], [Fraction(0), Fraction(2)]], [Fraction(1), Fraction(2)])
    [Fraction(1, 1), Fraction(1, 2)]
    """
    table, pivots = _reduced([[*row, t] for row, t in zip(zip(*columns, strict=True), target, strict=True)])
    k = len(columns)
    assert pivots[:k] == list(range(k)), "the columns are independent"
    return None if k in pivots else [table[c][k] for c in range(k)]


def null_vector(columns: Sequence[Vector]) -> list[Fraction] | None:
    """Some x != 0 with sum_j x_j columns[j] = 0; None for independent columns."""
    table, pivots = _reduced([list(row) for row in zip(*columns, strict=True)])
    free = next((j for j in range(len(columns)) if j not in pivots), None)
    if free is None:
        return None
    x = [Fraction(0)] * len(columns)
    x[free] = Fraction(1)
    for row, j in enumerate(pivots):
        x[j] = -table[row][free]
    return x


def _reduced(table: list[list[Fraction]]) -> tuple[list[list[Fraction]], list[int]]:
    """The reduced row echelon form, and the pivot column of each of its rows."""
    pivots: list[int] = []
    for j in range(len(table[0])):
        row = len(pivots)
        pivot = next((i for i in range(row, len(table)) if table[i][j]), None)
        if pivot is None:
            continue
        table[row], table[pivot] = table[pivot], table[row]
        head = table[row][j]
        table[row] = [x / head for x in table[row]]
        for i, other in enumerate(table):
            if i != row and (factor := other[j]):
                table[i] = [x - factor * y for x, y in zip(other, table[row], strict=True)]
        pivots.append(j)
        if len(pivots) == len(table):
            break
    return table, pivots
