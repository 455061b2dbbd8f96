r"""The packing and the covering program: n variables in place of n^2, and a mechanism that completes their answer.

With E = alpha^d and F = 1/E, the duals of the capacities among z >= 0 are

    multiplicative:  min sum z, E z >= 1, z >= 0   =   max sum w, E w <= 1, w >= 0;
    additive:        max sum z, F z <= 1, z >= 0   =   min sum w, F w >= 1, w >= 0.

Every z bounds the capacity. It is attained if there is a mechanism whose column j has w_j at j and is as steep as
possible (w_j E, or w_j F) at every secret x with z_x > 0: the other entries are found by a small program, or there are
none; then the bound may be strict (it is for some metrics), and a larger program has to decide.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.channels import Channel
from utmost.design.capacity.certificate import CapacityCertificate
from utmost.design.capacity.checker import Kind
from utmost.design.capacity.classes import Classes
from utmost.design.capacity.kernel import Kernel
from utmost.design.capacity.magnitude import reduced_kernel, spread
from utmost.design.capacity.row_sums import row_sums
from utmost.design.capacity.sandwich import lowered, raised, sandwich
from utmost.design.repair import private_matrix
from utmost.errors import PromiseBroken, SolverFailed
from utmost.exact import Array, frozen
from utmost.privacy import PrivacyType
from utmost.programs import InfeasibleProgram, LinearProgram, solve, solve_exactly

_MOST_EXACT_CLASSES = 40
_MOST_CLASSES = 1_000
_MOST_ENTRIES = 4_000
_MOST_ROWS = 60_000
_LARGEST = 1e12
# exp(-75) is far below the last place of a float next to 1.
_FAR = 75.0


@dataclass(frozen=True, slots=True, eq=False)
class Packing:
    """The answer of the packing or covering program.

    Attributes:
        weights: (n,) w, Fractions; exact only where ``is_exact``.
        dual: (n,) z >= 0, Fractions, certainly feasible.
        is_exact: whether both are exactly optimal.
    """

    weights: Array
    dual: Array
    is_exact: bool


def packing(ptype: PrivacyType, kind: Kind, kernel: Kernel, classes: Classes) -> Packing | None:
    """The packing (or covering) program, exactly where alpha^d is rational and the classes are few; None if too large.

    Cost: a dense linear program in k variables and rows for k classes of secrets.
    """
    farthest = float(kernel.level.epsilon_float * max(map(float, kernel.lengths)))
    if len(classes) > _MOST_CLASSES or (kind == "additive" and farthest > math.log(_LARGEST)):
        return None
    exactly = kernel.is_rational and len(classes) <= _MOST_EXACT_CLASSES
    sign = 1 if kind == "multiplicative" else -1
    table = kernel.fractions if exactly else kernel.floats
    reduced = reduced_kernel(kernel, classes, table if sign > 0 else 1 / table)
    found = (solve_exactly if exactly else solve)(_program(reduced, classes, sign))
    sizes = classes.sizes.tolist()
    weights = spread([max(Fraction(w), Fraction(0)) for w in found.primal.tolist()], classes)
    # The multiplier of a class's row is shared by its members; rows of a minimum have duals of the other sign.
    shares = [max(-sign * Fraction(y), Fraction(0)) / size for y, size in zip(found.duals.tolist(), sizes, strict=True)]
    dual = spread(shares, classes)
    if not exactly:
        dual = raised(dual, min(row_sums(ptype, dual, 1)[0])) if sign > 0 else lowered(ptype, dual)
    return Packing(frozen(weights), frozen(dual), exactly)


def by_packing(ptype: PrivacyType, kind: Kind, kernel: Kernel, found: Packing) -> CapacityCertificate | None:
    """The certificate of a capacity whose packing can be completed to a mechanism, else None."""
    completed = completion(ptype, kind, kernel, found)
    if completed is None:
        return None
    try:
        certificate = CapacityCertificate(ptype, kind, completed, found.dual)
    except PromiseBroken:
        return None
    is_near = certificate.gap <= (0 if found.is_exact else 1e-9 * float(certificate.upper))
    return certificate if is_near else None


def bound_by_packing(ptype: PrivacyType, kind: Kind, found: Packing, dual: Array) -> CapacityCertificate:
    """Two bounds of a capacity: a dual, and the weights of the packing, scaled down until a rest fits."""
    mechanism, _ = sandwich(ptype, found.weights)
    return CapacityCertificate(ptype, kind, mechanism, dual)


def central_dual(ptype: PrivacyType, kernel: Kernel) -> Array:
    """z = alpha^r on a secret from which all are within distance r, r least: a dual of the additive capacity.

    It is 0 where it would be too small for a float to tell the capacity from 1.
    """
    radii = kernel.kinds.max(axis=1)
    dual = np.full(kernel.size, Fraction(0), dtype=object)
    if kernel.level.epsilon_float * float(kernel.lengths[int(radii.min())]) < _FAR:
        dual[int(radii.argmin())] = Fraction(1)
    return lowered(ptype, dual)


def completion(ptype: PrivacyType, kind: Kind, kernel: Kernel, found: Packing) -> Channel | None:
    """The mechanism that completes a packing, exactly private; None if there is none or it is too large to look for.

    The rows x with z_x > 0 are known. The other entries lie between the steepest columns through those rows; what is
    left are privacy among the other secrets, and the row sums.
    """
    sign = 1 if kind == "multiplicative" else -1
    columns = np.flatnonzero(found.weights > 0)
    known, free = np.flatnonzero(found.dual > 0), np.flatnonzero(found.dual == 0)
    if len(free) * len(columns) > _MOST_ENTRIES or len(free) ** 2 * len(columns) > _MOST_ROWS or len(known) == 0:
        return None
    table = kernel.fractions if found.is_exact else kernel.floats
    powers = table if sign > 0 else 1 / table
    weights = found.weights[columns] if found.is_exact else found.weights[columns].astype(np.float64)
    matrix = powers[kernel.kinds[:, columns]] * weights
    if len(free):
        values = _free_entries(table, kernel, matrix, known, free, columns, found.is_exact)
        if values is None:
            return None
        matrix[free] = values
    return Channel(matrix if found.is_exact else private_matrix(ptype, matrix))


def _free_entries(
    table: Array, kernel: Kernel, matrix: Array, known: Array, free: Array, columns: Array, exactly: bool
) -> Array | None:
    """The rows of secrets with z_x = 0: a feasible point between the bounds that the known rows set."""
    near = table[kernel.kinds[np.ix_(free, known)]]
    low = np.max(near[:, :, None] * matrix[None, known], axis=1)
    high = np.min(matrix[None, known] / near[:, :, None], axis=1)
    own = [(int(i), int(c)) for i, x in enumerate(free) for c in np.flatnonzero(columns == x)]
    for i, c in own:
        low[i, c] = high[i, c] = matrix[free[i], c]
    if not exactly:
        high = np.maximum(low, high)
    if (low > high).any():
        return None
    program = _completing(table, kernel, free, low, high, exactly)
    try:
        solution = (solve_exactly if exactly else solve)(program)
    except (InfeasibleProgram, SolverFailed):
        return None
    return np.asarray(solution.primal.reshape(low.shape))


def _completing(table: Array, kernel: Kernel, free: Array, low: Array, high: Array, exactly: bool) -> LinearProgram:
    """Entries m[x, j] with low <= m <= high, m[x] >= alpha^d(x, y) m[y] for free x and y, and rows that sum to 1."""
    f, k = low.shape
    one: Any = Fraction(1) if exactly else 1.0
    x, y = (part.ravel() for part in np.nonzero(~np.eye(f, dtype=bool)))
    factors = table[kernel.kinds[free[x], free[y]]]
    entries, pairs = np.arange(k), len(x) * k
    rows = np.concatenate([np.arange(pairs), np.arange(pairs), pairs + np.repeat(np.arange(f), k)])
    places = np.concatenate([(x[:, None] * k + entries).ravel(), (y[:, None] * k + entries).ravel(), np.arange(f * k)])
    ones = np.full(pairs, one, dtype=table.dtype)
    values = np.concatenate([ones, -np.repeat(factors, k), np.full(f * k, one, dtype=table.dtype)])
    lower = np.concatenate([np.full(pairs, 0 * one, dtype=table.dtype), np.full(f, one, dtype=table.dtype)])
    upper = np.concatenate([np.full(pairs, np.inf, dtype=table.dtype), np.full(f, one, dtype=table.dtype)])
    cost = np.full(f * k, 0 * one, dtype=table.dtype)
    return LinearProgram.of_triplets(cost, rows, places, values, lower, upper, low.ravel(), high.ravel())


def _program(reduced: Array, classes: Classes, sign: int) -> LinearProgram:
    """min -sign sum |A| w_A subject to sum_B reduced[A, B] w_B <= 1 (multiplicative) or >= 1 (additive), w >= 0."""
    k = len(classes)
    one: Any = Fraction(1) if reduced.dtype == object else 1.0
    rows, columns = (part.ravel() for part in np.indices((k, k)))
    cost = np.array([-sign * one * size for size in classes.sizes.tolist()], dtype=reduced.dtype)
    ones, infinite = np.full(k, one, dtype=reduced.dtype), np.full(k, math.inf, dtype=reduced.dtype)
    lower, upper = (-infinite, ones) if sign > 0 else (ones, infinite)
    return LinearProgram.of_triplets(cost, rows, columns, reduced.ravel(), lower, upper)
