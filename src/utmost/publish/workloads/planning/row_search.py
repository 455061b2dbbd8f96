"""Search for integer rows along an axis: their entries, and the levels of the values and of the rows.

The search begins with real rows. Let theta_ij be the level that row i spends on value j, and let c_j = E - sum_i
theta_ij be the level that is left for the value itself. The information matrix is X = diag p(c) + theta' theta / 2,
with the precision p(c) = 2 sinh(c/2)^2 of geometric noise at level c, or its limit c^2/2. L-BFGS minimizes tr(M X^-1),
by Woodbury's identity. Then the c_j are replaced by a few different levels, the rows are optimized again for these
levels, and each column is rounded to whole parts of E, so that every value is charged exactly E. The error has many
local minima: this is a search, without a proof of optimality. The start is pseudorandom with a fixed seed.

Source: p-identity plans [mckenna2018], with integer rows, and noise at every level.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats

Slope = Callable[[Floats], tuple[float, Floats]]

_MEMORY = 12
_HALVINGS = 30
_ENOUGH = 1e-10
_LLOYD = 40


@dataclass(frozen=True, slots=True, eq=False)
class RealRows:
    """Real rows along an axis, as levels that they spend on each value, and their error tr(M X^-1)."""

    error: float
    rows: Floats  # theta, the levels that rows spend; (rows, values)
    left: Floats  # c, the levels left for the values; (values,)


def real_rows(
    gram: Floats,
    count: int,
    level: float,
    *,
    exact: bool,
    steps: int = 400,
    seed: int = 0,
    start: RealRows | None = None,
    inside: float = 1e-4,
) -> RealRows:
    """Search for ``count`` real rows for the Gram matrix M, if each value spends ``level``."""
    # `exact` chooses the precision p(c) of a value; else it is c^2/2. A descent never leaves a zero, so it starts
    # `inside`.
    values = len(gram)

    def slope(free: Floats) -> tuple[float, Floats]:
        u = (free * free).reshape(count, values)
        # Squares divided by 1 + their sum leave each value a positive level.
        below = 1 + u.sum(axis=0)
        left, rows = level / below, level * u / below
        error, on_values, on_rows = _slopes(gram, left, rows, exact)
        weighed = left * on_rows - left / below * ((on_rows * u).sum(axis=0) + on_values)
        return error, (2 * free.reshape(count, values) * weighed).ravel()

    begin = np.random.default_rng(seed).random(count * values) if start is None else (start.rows / start.left).ravel()
    free = lbfgs_descent(slope, np.sqrt(begin + inside**2), steps)
    u = (free * free).reshape(count, values)
    below = 1 + u.sum(axis=0)
    return RealRows(slope(free)[0], level * u / below, level / below)


def refitted(gram: Floats, rows: Floats, left: Floats, level: float, *, exact: bool) -> RealRows:
    """Search for the best real rows near ``rows`` that leave exactly the level ``left`` to each value."""
    count, values = rows.shape
    spent = level - left

    def slope(free: Floats) -> tuple[float, Floats]:
        u = (free * free).reshape(count, values) + 1e-300  # avoids a division by 0
        # After this scaling, the squares spend exactly `spent`.
        scale = spent / u.sum(axis=0)
        error, _, on_rows = _slopes(gram, left, u * scale, exact)
        weighed = scale * (on_rows - (on_rows * u).sum(axis=0) / u.sum(axis=0))
        return error, (2 * free.reshape(count, values) * weighed).ravel()

    free = lbfgs_descent(slope, np.sqrt(np.maximum(rows, _ENOUGH)).ravel(), 150)
    u = (free * free).reshape(count, values) + 1e-300
    return RealRows(slope(free)[0], u * spent / u.sum(axis=0), left)


def few_levels(left: Floats, count: int) -> Floats:
    """Replace ``left`` by near levels with ``count`` different values, by Lloyd's algorithm for their logarithms."""
    logs = np.log(left)
    centres = np.quantile(logs, (np.arange(count) + 0.5) / count)
    for _ in range(_LLOYD):
        nearest = np.abs(logs[:, None] - centres).argmin(axis=1)
        centres = np.array([logs[nearest == k].mean() if (nearest == k).any() else centres[k] for k in range(count)])
    return np.asarray(np.exp(centres[np.abs(logs[:, None] - centres).argmin(axis=1)]))


def whole_rows(rows: Floats, left: Floats, level: float, parts: int) -> NDArray[np.int64]:
    """Round rows to whole multiples of 1/``parts`` of the level; at least one part is left to each value."""
    # Round the total of each column first, then divide it among the rows by largest remainders.
    budget = np.minimum(np.rint((level - left) / level * parts), parts - 1).astype(np.int64)
    wanted = rows / np.maximum(rows.sum(axis=0), 1e-300) * budget
    whole = np.floor(wanted).astype(np.int64)
    # Missing parts go to the largest remainders of each column.
    order = np.argsort(whole - wanted, axis=0, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(len(rows))[:, None].repeat(rows.shape[1], axis=1), axis=0)
    whole += rank < budget - whole.sum(axis=0)
    return np.asarray(whole[whole.any(axis=1)])


def lbfgs_descent(slope: Slope, start: Floats, steps: int) -> Floats:
    """Return a point below the start by L-BFGS [nocedal1980]; each step is halved until the value decreases."""
    x = start
    value, gradient = slope(x)
    moves: list[tuple[Floats, Floats, float]] = []
    for _ in range(steps):
        way = -_times_inverse_hessian(gradient, moves)
        down = float(way @ gradient)
        if down >= 0:
            # The stored steps give an ascent direction: drop them.
            moves, way = [], -gradient
            down = float(way @ gradient)
        # Limit the first step to the length 1, since the curvature is unknown.
        length = 1.0 if moves else min(1.0, 1 / max(float(np.abs(gradient).sum()), 1e-300))
        for _ in range(_HALVINGS):
            after = x + length * way
            lower, turned = slope(after)
            # Armijo's rule: the value must decrease by a fraction of what the gradient predicts.
            if lower <= value + 1e-4 * length * down:
                break
            length /= 2
        else:
            return x
        moved, changed = after - x, turned - gradient
        bent = float(moved @ changed)
        # Only steps with positive curvature keep the matrix positive definite.
        if bent > 1e-12 * float(changed @ changed):
            moves = [*moves[-_MEMORY + 1 :], (moved, changed, 1 / bent)]
        gained, x, value, gradient = value - lower, after, lower, turned
        if gained <= _ENOUGH * abs(value):
            break
    return x


def _times_inverse_hessian(gradient: Floats, moves: Sequence[tuple[Floats, Floats, float]]) -> Floats:
    """Multiply the gradient by the inverse Hessian that is estimated from the last steps."""
    turned, pulls = gradient.copy(), []
    for moved, changed, curve in reversed(moves):
        pulls.append(curve * float(moved @ turned))
        turned -= pulls[-1] * changed
    if moves:
        moved, changed, curve = moves[-1]
        turned /= curve * float(changed @ changed)
    for (moved, changed, curve), pull in zip(moves, reversed(pulls), strict=True):
        turned += (pull - curve * float(changed @ turned)) * moved
    return turned


def _slopes(gram: Floats, left: Floats, rows: Floats, exact: bool) -> tuple[float, Floats, Floats]:
    """Return tr(M X^-1), and its derivatives with respect to the levels of the values and of the rows."""
    # With D = diag p(c), L L' = 2 + theta D^-1 theta' and K = D^-1 theta' L^-T: X^-1 = D^-1 - K K'.
    own = 2 * np.sinh(left / 2) ** 2 if exact else left * left / 2
    grown = np.sinh(left) if exact else left
    across = rows / own
    try:
        root = np.linalg.cholesky(2 * np.eye(len(rows)) + across @ rows.T)
    except np.linalg.LinAlgError:  # some value's level is so near 0 that the matrix is singular in floats
        return np.inf, left, rows
    K = np.linalg.solve(root, across).T
    seen = gram @ K
    inner = K.T @ seen
    diagonal = gram.diagonal()
    error = float((diagonal / own).sum() - np.trace(inner))
    # the diagonal of X^-1 M X^-1, and theta X^-1 M X^-1
    both = diagonal / own**2 - 2 * (seen * K).sum(axis=1) / own + ((K @ inner) * K).sum(axis=1)
    below = rows / own - (rows @ K) @ K.T
    across = below @ gram
    across = across / own - (across @ K) @ K.T
    return error, -both * grown, -across
