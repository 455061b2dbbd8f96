"""Least squares with coefficients that must not be negative, from the normal equations."""

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange, SolverFailed
from utmost.exact import as_array, checked

Floats = NDArray[np.float64]

# So many exchanges of all places at once may pass without progress before single exchanges take over.
_PATIENCE = 5
# Added to the diagonal, in units of its largest entry: dependent columns share their weight.
_RIDGE = 1e-11


@checked
def nonnegative_least_squares(gram: Floats, moments: Floats, *, tolerance: float = 1e-9) -> Floats:
    r"""The x >= 0 with the least x'Gx/2 - b'x, for G = A'A and b = A'y: of the least ||Ax - y||.

    Block principal pivoting, which is fast where the columns are nearly independent; where it makes no progress, the
    active-set method of Lawson and Hanson, which cannot fail to. At the end the conditions of Karush, Kuhn and Tucker
    hold.

    Args:
        gram: G, shape (k, k), positive semidefinite; a ridge of 1e-11 of its largest diagonal entry is added.
        moments: b, shape (k,).
        tolerance: how far a gradient may lie below zero, relative to the largest of ``moments``.

    Raises:
        SolverFailed: where rounding keeps the active set from settling.

    >>> nonnegative_least_squares(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, -1.0])).round(9).tolist()
    [0.5, 0.0]
    """
    gram, moments = (
        as_array(gram, "gram", ndim=2).astype(np.float64),
        as_array(moments, "moments", ndim=1).astype(float),
    )
    size = len(moments)
    if gram.shape != (size, size):
        raise OutOfRange(f"gram must have the shape ({size}, {size})", came=str(gram.shape))
    if not size or not np.diag(gram).max() > 0:
        return np.zeros(size)
    ridged = gram + _RIDGE * float(np.diag(gram).max()) * np.eye(size)
    slack = tolerance * max(1e-300, float(np.abs(moments).max()))
    found = _by_blocks(ridged, moments, slack)
    return found if found is not None else _one_by_one(ridged, moments, slack)


def _by_blocks(gram: Floats, moments: Floats, slack: float) -> Floats | None:
    """Free all places at 0 with a negative gradient, fix all that came out negative, until there are none."""
    free, fewest, patience = np.zeros(len(moments), np.bool_), len(moments) + 1, _PATIENCE
    while patience:
        x = _solved(gram, moments, free)
        wrong = np.where(free, x < 0, gram @ x - moments < -slack)
        count = int(np.count_nonzero(wrong))
        if not count:
            return x
        fewest, patience = (count, _PATIENCE) if count < fewest else (fewest, patience - 1)
        free = free ^ wrong
    return None


def _one_by_one(gram: Floats, moments: Floats, slack: float) -> Floats:
    """Free the place with the steepest descent; go towards the solution until a coefficient reaches 0, and fix it."""
    x, free = np.zeros(len(moments)), np.zeros(len(moments), np.bool_)
    for _ in range(30 * len(moments)):
        descent = np.where(free, -np.inf, moments - gram @ x)
        best = int(np.argmax(descent))
        if descent[best] <= slack:
            return x
        free[best] = True
        wanted = _solved(gram, moments, free)
        while (falling := free & (wanted <= 0)).any():
            shares = x[falling] / np.maximum(x[falling] - wanted[falling], 1e-300)
            x = x + float(shares.min()) * (wanted - x)
            free[np.flatnonzero(falling)[shares <= shares.min()]] = False
            x = np.where(free, np.maximum(x, 0), 0.0)
            wanted = _solved(gram, moments, free)
        x = wanted
    raise SolverFailed("the active set must settle", came=f"{len(moments)} places", where="nonnegative_least_squares")


def _solved(gram: Floats, moments: Floats, free: NDArray[np.bool_]) -> Floats:
    """The solution with 0 wherever a place is not free."""
    places = np.flatnonzero(free)
    x = np.zeros(len(moments))
    x[places] = np.linalg.solve(gram[np.ix_(places, places)], moments[places])
    return x
