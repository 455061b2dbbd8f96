"""How near remaps of one channel come to another, entry by entry: a linear program solved exactly, with its dual."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.errors import Unsupported
from utmost.exact import Array, as_array
from utmost.programs import LinearProgram, solve_exactly
from utmost.programs.whole import Tableau, whole


@dataclass(frozen=True, slots=True, eq=False)
class NearestRemap:
    """min over remaps P of max |B P - A|.

    Attributes:
        distance: that number; 0 exactly if A is a refinement of B.
        remap: (m, k) where it is attained.
        loss: (n, k) with absolute values that sum to at most 1, and sum_y min_w (B' loss)[y, w] - <A, loss> = distance.
    """

    distance: Fraction
    remap: Array
    loss: Array


def nearest_remap_exactly(B: Array, A: Array) -> NearestRemap:
    """The nearest remap of two exact matrices, by HiGHS and exact arithmetic, or in whole numbers where it is missing.

    Args:
        B: (n, m). A: (n, k).

    Cost: a program of m k + 1 variables and 2 n k + m rows.
    """
    try:
        value, x, duals = _by_solver(B, A)
    except Unsupported:
        value, x, duals = _in_whole_numbers(B, A)
    n, k = A.shape
    upper, lower = (np.array(duals[part : part + n * k], dtype=object).reshape(n, k) for part in (0, n * k))
    remap = np.array([*x[: B.shape[1] * k], None], dtype=object)[:-1].reshape(B.shape[1], k)
    return NearestRemap(value, remap, upper - lower)


def _entries(B: Array, A: Array) -> list[tuple[int, int, Any]]:
    """B P - t <= A, -B P - t <= -A, P 1 = 1: the entries of P row by row, then t."""
    (n, m), k = B.shape, A.shape[1]
    triplets: list[tuple[int, int, Any]] = []
    for sign, first in ((1, 0), (-1, n * k)):
        for x in range(n):
            for w in range(k):
                row = first + x * k + w
                triplets += [(row, y * k + w, sign * B[x, y]) for y in range(m) if B[x, y]]
                triplets.append((row, m * k, Fraction(-1)))
    return triplets + [(2 * n * k + y, y * k + w, Fraction(1)) for y in range(m) for w in range(k)]


def _by_solver(B: Array, A: Array) -> tuple[Fraction, list[Any], list[Any]]:
    (n, m), k = B.shape, A.shape[1]
    rows, columns, values = zip(*_entries(B, A), strict=True)
    flat = A.ravel().tolist()
    upper = [*flat, *(-a for a in flat), *[Fraction(1)] * m]
    lower = [*[-np.inf] * (2 * n * k), *[Fraction(1)] * m]
    held = np.array([*lower, None], dtype=object)[:-1]
    cost = as_array([0] * (m * k) + [1])
    found = solve_exactly(LinearProgram.of_triplets(cost, rows, columns, as_array(values), held, as_array(upper)))
    return found.value, found.primal.tolist(), [-z for z in found.duals.tolist()]


def _in_whole_numbers(B: Array, A: Array) -> tuple[Fraction, list[Any], list[Any]]:
    (n, m), k = B.shape, A.shape[1]
    count = 2 * n * k + m
    matrix = np.full((count, m * k + 1 + 2 * n * k), Fraction(0), dtype=object)
    for row, column, value in _entries(B, A):
        matrix[row, column] += value
    for row in range(2 * n * k):
        matrix[row, m * k + 1 + row] = Fraction(1)
    flat = A.ravel().tolist()
    right = [*flat, *(-a for a in flat), *[Fraction(1)] * m]
    scaled = [whole([*row, b]) for row, b in zip(matrix, right, strict=True)]
    rows = np.array([integers for integers, _ in scaled], dtype=object)
    cost = np.zeros(matrix.shape[1], dtype=object)
    cost[m * k] = 1
    found, _ = Tableau.feasible(rows[:, :-1], rows[:, -1]).minimise(cost)
    return found.value, list(found.x), [-z * d for z, (_, d) in zip(found.dual, scaled, strict=True)]
