"""How near remaps of one channel come to another, entry by entry: a linear program solved exactly, with its dual."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from utmost.exact import Array, as_array, objects
from utmost.programs import LinearProgram, solve_exactly


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
    """The nearest remap of two exact matrices.

    Args:
        B: (n, m). A: (n, k).

    Cost: a program of m k + 1 variables and 2 n k + m rows.
    """
    (n, m), k = B.shape, A.shape[1]
    rows, columns, values = zip(*_entries(B, A), strict=True)
    flat, below = A.ravel().tolist(), [-math.inf] * (2 * n * k)
    cost, one = as_array([0] * (m * k) + [1]), [Fraction(1)] * m
    upper, lower = as_array([*flat, *(-a for a in flat), *one]), objects([*below, *one])
    program = LinearProgram.of_triplets(cost, rows, columns, as_array(values), lower, upper)
    found = solve_exactly(program)
    sides = found.duals[: 2 * n * k].reshape(2, n, k)
    return NearestRemap(found.value, found.primal[: m * k].reshape(m, k), sides[1] - sides[0])


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
