"""The tableau of the compiled kernel search, in floating point and in prime fields at once.

A tableau is kept twice: in floating point with a running error bound, and in prime fields. An entry that is nonzero in
a field is nonzero; one that is zero in all of them is zero and set to zero in floating point too; the sign of any other
is read off where it exceeds the bound.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from utmost.geometry.compiled import compiled, inlined

ROUNDING = 2.0**-52
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
ZERO = np.uint64(0)


class Walk(NamedTuple):
    """All that the walk knows, so that it can stop anywhere and go on. Level l has l columns chosen.

    ``tableau`` (n-1, n, m+1): level, row, column; the last column is the target, the vector of ones.
    ``error``, ``size`` (n-1, m+1): bounds on the error and the magnitude of a column's entries.
    ``residues`` (n-1, F, n, m+1): the tableau in F fields, rows up to factors. ``primes``, ``inverses`` (F,): below
    2^31, and -1/p modulo 2^32. ``chosen``, ``rows`` (n,): the chosen columns; their pivot rows from rows[2] on, and in
    rows[0], rows[1] the last two unpivoted ones. ``used`` (n,): which rows are pivoted. ``coming`` (n,): the column to
    try next on each level; ``level`` (1,). ``rays`` (m, n), ``fog`` (m, 2): see `_cast_rays`. ``sizes`` (n+1, n+1):
    kernels by size and by how many of their columns are among the first ``lead``. ``found``, ``doubt``: kernels and
    open sets, with ``filled`` (2,) rows in use.
    """

    tableau: NDArray[np.float64]
    error: NDArray[np.float64]
    size: NDArray[np.float64]
    residues: NDArray[np.uint64]
    primes: NDArray[np.uint64]
    inverses: NDArray[np.uint64]
    chosen: NDArray[np.int64]
    rows: NDArray[np.int64]
    used: NDArray[np.bool_]
    coming: NDArray[np.int64]
    level: NDArray[np.int64]
    rays: NDArray[np.float64]
    fog: NDArray[np.float64]
    sizes: NDArray[np.int64]
    found: NDArray[np.int16]
    doubt: NDArray[np.int16]
    filled: NDArray[np.int64]
    lead: int
    keep: bool


@inlined
def times(a: Any, b: Any, p: Any, inverse: Any) -> Any:
    """a b / 2^32 modulo p (Montgomery's product): the factor is the same for all terms of a sum, and harmless."""
    t = a * b
    r = (t + ((t & _LOW) * inverse & _LOW) * p) >> _HALF
    return r - p if r >= p else r


@inlined
def minus(a: Any, b: Any, p: Any) -> Any:
    """a - b modulo p."""
    return a - b if a >= b else a + p - b


@compiled
def largest_row(column: NDArray[np.float64], used: NDArray[np.bool_]) -> int:
    """The unused row with the largest entry; the first of several."""
    best = -1
    for row in range(len(column)):
        if not used[row] and (best < 0 or abs(column[row]) > abs(column[best])):
            best = row
    return best


@compiled
def pivot(walk: Walk, k: int, j: int, row: int) -> None:
    """Level k + 1: column j becomes a unit column; columns after j and the target are brought up to date."""
    _pivot_floats(walk.tableau[k], walk.tableau[k + 1], walk.error, walk.size, k, j, row)
    for f in range(len(walk.primes)):
        _pivot_residues(walk.residues[k, f], walk.residues[k + 1, f], walk.primes[f], walk.inverses[f], j, row)
    _clear_zeros(walk.tableau[k + 1], walk.error[k + 1], walk.residues[k + 1], j + 1)


@compiled
def _pivot_floats(
    old: NDArray[np.float64], new: NDArray[np.float64], error: Any, size: Any, k: int, j: int, row: int
) -> None:
    n, m = old.shape[0], old.shape[1] - 1
    head, head_error, head_size = old[row, j], error[k, j], size[k, j]
    certain = abs(head) - head_error
    for i in range(j + 1, m + 1):
        f = old[row, i] / head
        off = np.inf if certain <= 0 else (error[k, i] + abs(f) * head_error) / certain + ROUNDING * abs(f)
        grown = size[k, i] + head_size * abs(f)
        size[k + 1, i] = abs(f)
        bound = error[k, i] + head_size * off + head_error * (abs(f) + off) + 4 * ROUNDING * grown
        error[k + 1, i] = max(bound, off)
        new[row, i] = f
    for other in range(n):
        if other != row:
            factor = old[other, j]
            for i in range(j + 1, m + 1):
                value = old[other, i] - factor * new[row, i]
                new[other, i] = value
                size[k + 1, i] = max(size[k + 1, i], abs(value))


@compiled
def _pivot_residues(
    old: NDArray[np.uint64], new: NDArray[np.uint64], p: np.uint64, inverse: np.uint64, j: int, row: int
) -> None:
    n, m = old.shape[0], old.shape[1] - 1
    head = old[row, j]
    for other in range(n):
        factor = old[other, j]
        if other == row:
            for i in range(j + 1, m + 1):
                new[other, i] = old[other, i]
        else:
            for i in range(j + 1, m + 1):
                new[other, i] = minus(times(head, old[other, i], p, inverse), times(factor, old[row, i], p, inverse), p)


@compiled
def _clear_zeros(tableau: NDArray[np.float64], error: NDArray[np.float64], residues: Any, start: int) -> None:
    n, m = tableau.shape[0], tableau.shape[1] - 1
    for row in range(n):
        for i in range(start, m + 1):
            if abs(tableau[row, i]) <= error[i] and _is_zero(residues, row, i):
                tableau[row, i] = 0.0


@compiled
def _is_zero(residues: NDArray[np.uint64], row: int, i: int) -> bool:
    zero = True
    for f in range(len(residues)):
        zero &= residues[f, row, i] == ZERO
    return zero
