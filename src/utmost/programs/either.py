"""Exact optima of rational programs with HiGHS where it is installed, and in whole numbers where it is not."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.errors import Unsupported
from utmost.programs.linear import LinearProgram, Vector
from utmost.programs.simplex import rationals_array
from utmost.programs.vertex import solve_exactly
from utmost.programs.whole import Tableau, whole


def exact_optimum(program: LinearProgram) -> tuple[Fraction, Vector, Vector]:
    """The least cost, a point that attains it, and the duals of the rows, as in `LinearSolution`; all Fractions.

    Args:
        program: with x >= 0 and no other bounds of variables, and one bound for each row, or two equal ones.

    Raises:
        Unsupported: for other bounds.
        Infeasible: where no point satisfies the rows. SolverFailed: where the cost has no lower bound.

    Cost: without HiGHS a dense tableau of integers, good for some hundred rows.

    >>> from utmost.exact import as_array
    >>> c, a, b = as_array([1, 1]), as_array([3, 1]), as_array([1])
    >>> value, x, duals = exact_optimum(LinearProgram.of_triplets(c, [0, 0], [0, 1], a, lower=b, upper=[math.inf]))
    >>> value, x.tolist(), duals.tolist()
    (Fraction(1, 3), [Fraction(1, 3), Fraction(0, 1)], [Fraction(1, 3)])
    """
    _check_bounds(program)
    try:
        found = solve_exactly(program)
    except Unsupported:
        return _in_whole_numbers(program)
    return found.value, found.primal, found.duals


def _in_whole_numbers(program: LinearProgram) -> tuple[Fraction, Vector, Vector]:
    """Every row with a slack where it is no equation, times the common denominator of its entries."""
    m, n = program.shape
    matrix = np.full((m, n + m), Fraction(0), dtype=object)
    right: list[Any] = []
    for i in range(m):
        for j, value in zip(*(part.tolist() for part in program.row(i)), strict=True):
            matrix[i, j] += Fraction(value)
        low, high = program.lower[i], program.upper[i]
        matrix[i, n + i] = Fraction(0 if low == high else 1 if math.isinf(low) else -1)
        right.append(Fraction(high if math.isinf(low) else low))
    scaled = [whole([*row, b]) for row, b in zip(matrix, right, strict=True)]
    rows = np.array([integers for integers, _ in scaled], dtype=object).reshape(m, n + m + 1)
    costs, unit = whole([*(Fraction(c) for c in program.cost.tolist()), *[Fraction(0)] * m])
    found, _ = Tableau.feasible(rows[:, :-1], rows[:, -1]).minimise(costs)
    duals = [z * scale / unit for z, (_, scale) in zip(found.dual, scaled, strict=True)]
    return found.value / unit, rationals_array(found.x[:n]), rationals_array(duals)


def _check_bounds(program: LinearProgram) -> None:
    free = (program.column_lower != 0).any() or np.isfinite(program.column_upper.astype(np.float64)).any()
    low, high = (np.isfinite(side.astype(np.float64)) for side in (program.lower, program.upper))
    if free or ((low & high) & (program.lower != program.upper)).any() or not (low | high).all():
        raise Unsupported("a program must have x >= 0 and one bound for each row", where="exact_optimum")
