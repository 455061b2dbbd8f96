r"""The capacity program itself, over essential edges, with the inequalities it needs and no others.

    multiplicative  maximise, additive  minimise  sum_x m[x, x]
    subject to      m[x, j] >= alpha^d(x, y) m[y, j] for essential edges {x, y} and every j,   sum_j m[x, j] = 1.

It starts with the inequalities between each secret j and all others in column j, and takes up the broken ones until
none is. Column j is what a guess of j (or of "not j") makes of the outcomes, so n columns are enough (lemma 16).

Source: [fernandes2022], lemma 16 and corollaries 17 and 18.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.design.capacity.certificate import CapacityCertificate
from utmost.design.capacity.checker import Kind, Multipliers
from utmost.design.capacity.kernel import Kernel
from utmost.design.capacity.orbit_program import certified
from utmost.errors import PromiseBroken, SolverFailed
from utmost.exact import Array, objects
from utmost.privacy import PrivacyType
from utmost.programs import InfeasibleProgram, LinearProgram, LinearSolution, solve, solve_exactly

_MOST_VARIABLES = 2_100
_MOST_EXACT_VARIABLES = 900
_ROUNDS = 60
# A float solution breaks a row by rounding up to about this; taking in more rows would not end. Repair mends the rest.
_BROKEN = 1e-11

Rows = NDArray[np.int64]
"""(rows, 3): triples (x, y, j), meaning m[x, j] >= alpha^d(x, y) m[y, j]."""


def by_edge_program(ptype: PrivacyType, kind: Kind) -> CapacityCertificate | None:
    """The certificate that the whole program gives; None where it is too large or floats fail."""
    n = ptype.space.size
    if n * n > _MOST_VARIABLES or n == 1:
        return None
    kernel = Kernel.of(ptype)
    exactly = kernel.is_rational and n * n <= _MOST_EXACT_VARIABLES
    try:
        rows, solution = lazily_solved(ptype, kind, kernel, exactly)
        matrix = solution.primal.reshape(n, n)
        dual, multipliers = _duals(kind, rows, solution.duals, n, exactly)
        return certified(ptype, kind, matrix, dual, multipliers, exactly)
    except (InfeasibleProgram, SolverFailed, PromiseBroken):
        return None


def lazily_solved(ptype: PrivacyType, kind: Kind, kernel: Kernel, exactly: bool) -> tuple[Rows, LinearSolution]:
    """The inequalities that the program needs, and its solution, which breaks no other.

    Raises:
        SolverFailed: where that takes too many rounds.
    """
    edges = ptype.space.edges
    both = np.concatenate([edges, edges[:, ::-1]])
    rows, by_simplex = _star(kind, kernel.size), False
    for _ in range(_ROUNDS):
        solution = (solve_exactly if by_simplex else solve)(_program(kind, kernel, rows, by_simplex))
        broken = _broken(kernel, both, solution.primal.reshape(kernel.size, -1), by_simplex)
        if len(broken) == 0 and by_simplex == exactly:
            return rows, solution
        by_simplex = (exactly and len(broken) == 0) or by_simplex
        rows = np.unique(np.concatenate([rows, broken]), axis=0)
    raise SolverFailed("the program must need few of its rows", came=f"{len(rows)} after {_ROUNDS} rounds")


def _star(kind: Kind, n: int) -> Rows:
    """m[x, j] >= alpha^d m[j, j] for every x and j (or m[j, j] >= alpha^d m[x, j])."""
    x, j = (part.ravel() for part in np.nonzero(~np.eye(n, dtype=bool)))
    return np.column_stack([x, j, j] if kind == "multiplicative" else [j, x, j])


def _broken(kernel: Kernel, both: NDArray[np.intp], matrix: Array, exactly: bool) -> Rows:
    """The inequalities along essential edges that a matrix breaks: of each column and edge, the worst of its column."""
    table = kernel.fractions if exactly else kernel.floats
    x, y = both.T
    gaps = table[kernel.kinds[x, y]][:, None] * matrix[y] - matrix[x]
    edge, j = np.nonzero(gaps > (0 if exactly else _BROKEN))
    worst = np.argsort(-gaps[edge, j].astype(np.float64), kind="stable")[: 4 * kernel.size]
    return np.column_stack([x[edge[worst]], y[edge[worst]], j[worst]]).astype(np.int64)


def _program(kind: Kind, kernel: Kernel, rows: Rows, exactly: bool) -> LinearProgram:
    n, p = kernel.size, len(rows)
    one: Any = Fraction(1) if exactly else 1.0
    dtype = object if exactly else np.float64
    table = kernel.fractions if exactly else kernel.floats
    x, y, j = rows.T
    cost = np.full(n * n, 0 * one, dtype=dtype)
    cost[:: n + 1] = -one if kind == "multiplicative" else one
    at = np.concatenate([np.arange(p), np.arange(p), p + np.repeat(np.arange(n), n)])
    columns = np.concatenate([x * n + j, y * n + j, np.arange(n * n)])
    ones = np.full(p, one, dtype=dtype)
    values = np.concatenate([ones, -table[kernel.kinds[x, y]], np.full(n * n, one, dtype=dtype)])
    right = np.full(n, one, dtype=dtype)
    lower = np.concatenate([0 * ones, right])
    upper = np.concatenate([np.full(p, np.inf, dtype=dtype), right])
    return LinearProgram.of_triplets(cost, at, columns, values, lower, upper)


def _duals(kind: Kind, rows: Rows, duals: Array, n: int, exactly: bool) -> tuple[Array, Multipliers]:
    numbers = duals if exactly else objects(map(Fraction, duals.tolist()))
    dual = numbers[len(rows) :]
    used = np.flatnonzero(numbers[: len(rows)] > 0)
    multipliers = Multipliers(rows[used, 0], rows[used, 1], rows[used, 2], numbers[used])
    return (-dual if kind == "multiplicative" else dual), multipliers
