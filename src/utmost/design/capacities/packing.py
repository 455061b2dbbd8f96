"""Compute a capacity from the packing or the covering program, a linear program of n variables in place of n^2.

With E = alpha^d and F = alpha^-d, the best bounds of the capacities from duals z >= 0 are the values of

    multiplicative:  min sum z, E z >= 1, z >= 0   =   max sum w, E w <= 1, w >= 0;
    additive:        max sum z, F z <= 1, z >= 0   =   min sum w, F w >= 1, w >= 0.

Every feasible z bounds the capacity. A mechanism attains the bound if, for every secret j, and for x = j and every
secret x with z_x > 0, the entry (x, j) is w_j E[x, j] (multiplicative capacity) or w_j F[x, j] (additive capacity). A
small linear program finds the other entries of this mechanism. If this program has no solution, the capacity may be
smaller than the bound (for some metrics it is), and only a larger program can compute the capacity.

**For large types there are two bounds, which are often equal.**

The dual z of the packing or covering program gives one bound. The weights w give the columns w_j E_j (w_j F_j for the
additive capacity) of the secrets with w_j > 0. The sum of row x over the columns with w_j > 0 can differ from 1 only if
z_x = 0. A linear program changes the entries of the rows with z_x = 0, as far as the rows with z_x > 0 allow, to make
the largest difference of a row sum from 1 as small as possible. Entries that a known symmetry exchanges share one
variable, and only violated inequalities are added. The upper envelopes of the columns are private; they are scaled so
that a private rest column makes the rows sum to 1. If all differences become 0, the two bounds are equal up to
rounding.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Array, Floats, frozen
from utmost.core.programs.exact_optima import solve_exactly
from utmost.core.programs.highs import InfeasibleProgram, solve
from utmost.core.programs.linear_program import LinearProgram
from utmost.design.capacities.capacity_evidence import CapacityCertificate, largest_power
from utmost.design.capacities.implicit_mechanisms import EnvelopeMechanism
from utmost.design.capacities.magnitude import lowered_dual, mechanism_and_dual, raised_dual, reduced_similarity, spread
from utmost.design.capacities.pair_program import Classes
from utmost.design.capacities.similarity import Similarity, row_sums
from utmost.design.channels.channel import Channel
from utmost.design.leakage.channel_capacity import CapacityKind
from utmost.design.optima.nearly_private import private_matrix
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.families import EuclideanGridMetric, ManhattanGridMetric
from utmost.design.spaces.space import Space
from utmost.errors import PromiseBroken, SolverFailed


def known_symmetries(space: Space) -> NDArray[np.intp]:
    """Return permutations (g, n) that preserve distances: reflections and rotations of a lattice, else the identity."""
    metric = space.metric
    if not isinstance(metric, EuclideanGridMetric | ManhattanGridMetric):
        return np.arange(space.size)[None, :]
    points = np.arange(space.size).reshape(metric.rows, metric.cols)
    sheets = [points, points[::-1], points[:, ::-1], points[::-1, ::-1]]
    if metric.rows == metric.cols:
        sheets += [sheet.T for sheet in sheets]
    return np.unique([sheet.ravel() for sheet in sheets], axis=0)


_MOST_EXACT_CLASSES = 40
_MOST_CLASSES = 1_000
_MOST_ENTRIES = 4_000
_MOST_ROWS = 60_000
_LARGEST = 1e12
# exp(-75) is far below the rounding error of a float near 1.
_NEGLIGIBLE_EXPONENT = 75.0


@dataclass(frozen=True, slots=True, eq=False)
class Packing:
    """The solution of the packing program (multiplicative capacity) or the covering program (additive capacity)."""

    weights: Array  # (n,) the primal solution w, in Fractions
    dual: Array  # (n,) the dual z >= 0, in Fractions, certainly feasible
    is_exact: bool  # whether w and z are exactly optimal


def packing(ptype: PrivacyType, kind: CapacityKind, similarity: Similarity, classes: Classes) -> Packing | None:
    """Return the solution of the packing (or covering) program, exact if alpha^d is rational; None if the program is
    too large.
    """
    farthest = float(similarity.level.epsilon_float * max(map(float, similarity.lengths)))
    # A float program with entries F = e^(epsilon d) above 10^12 would be too inaccurate.
    if len(classes) > _MOST_CLASSES or (kind == "additive" and farthest > math.log(_LARGEST)):
        return None
    exactly = similarity.is_rational and len(classes) <= _MOST_EXACT_CLASSES
    sign = 1 if kind == "multiplicative" else -1
    table = similarity.fractions if exactly else similarity.floats
    reduced = reduced_similarity(similarity, classes, table if sign > 0 else 1 / table)
    # Minimise -sign sum |A| w_A subject to sum_B reduced[A, B] w_B <= 1 (or >= 1 if additive), w >= 0, for classes A,
    # B.
    k, sizes = len(classes), classes.sizes.tolist()
    unit: Any = Fraction(1) if exactly else 1.0
    rows, columns = (part.ravel() for part in np.indices((k, k)))
    cost = np.array([-sign * unit * size for size in sizes], dtype=reduced.dtype)
    ones, infinite = np.full(k, unit, dtype=reduced.dtype), np.full(k, math.inf, dtype=reduced.dtype)
    lower, upper = (-infinite, ones) if sign > 0 else (ones, infinite)
    program = LinearProgram.of_triplets(cost, rows, columns, reduced.ravel(), lower, upper)
    solution = (solve_exactly if exactly else solve)(program)
    weights = spread([max(Fraction(w), Fraction(0)) for w in solution.primal.tolist()], classes)
    # Divide the multiplier of the row of a class equally among its members; the duals of a minimum have the other sign.
    shares = [
        max(-sign * Fraction(y), Fraction(0)) / size for y, size in zip(solution.duals.tolist(), sizes, strict=True)
    ]
    dual = spread(shares, classes)
    if not exactly:
        dual = raised_dual(dual, min(row_sums(ptype, dual, 1)[0])) if sign > 0 else lowered_dual(ptype, dual)
    return Packing(frozen(weights), frozen(dual), exactly)


def by_packing(
    ptype: PrivacyType, kind: CapacityKind, similarity: Similarity, packed: Packing
) -> CapacityCertificate | None:
    """Return the certificate of a capacity if a mechanism is found that attains the bound of the packing, else None."""
    completed = completion(ptype, kind, similarity, packed)
    if completed is None:
        return None
    try:
        certificate = CapacityCertificate(ptype, kind, completed, packed.dual)
    except PromiseBroken:
        return None
    # Accept a gap of 0, or a gap due to float rounding; larger programs handle types with wider gaps.
    is_near = certificate.gap <= (0 if packed.is_exact else 1e-9 * float(certificate.upper))
    return certificate if is_near else None


def bound_by_packing(ptype: PrivacyType, kind: CapacityKind, packed: Packing, dual: Array) -> CapacityCertificate:
    """Return the certificate made of ``dual`` and the mechanism that `mechanism_and_dual` computes from the packing."""
    mechanism, _ = mechanism_and_dual(ptype, packed.weights)
    return CapacityCertificate(ptype, kind, mechanism, dual)


def central_dual(ptype: PrivacyType, similarity: Similarity) -> Array:
    """Return a dual z of the additive capacity: alpha^r at a centre of the space, where r is the radius of the space,
    and 0 elsewhere.
    """
    # If alpha^r is so small that floats do not distinguish the capacity from 1, z is 0 everywhere.
    radii = similarity.kinds.max(axis=1)
    dual = np.full(similarity.size, Fraction(0), dtype=object)
    if similarity.level.epsilon_float * float(similarity.lengths[int(radii.min())]) < _NEGLIGIBLE_EXPONENT:
        dual[int(radii.argmin())] = Fraction(1)
    return lowered_dual(ptype, dual)


def completion(ptype: PrivacyType, kind: CapacityKind, similarity: Similarity, packed: Packing) -> Channel | None:
    """Return an exactly private mechanism that attains the bound of a packing; None if none is found."""
    # The entries in rows x with z_x > 0 are known, and bound the entries in the other rows (the free rows). The program
    # has the privacy constraints between free rows, and the row sums.
    sign = 1 if kind == "multiplicative" else -1
    columns = np.flatnonzero(packed.weights > 0)
    known, free = np.flatnonzero(packed.dual > 0), np.flatnonzero(packed.dual == 0)
    if len(free) * len(columns) > _MOST_ENTRIES or len(free) ** 2 * len(columns) > _MOST_ROWS or len(known) == 0:
        return None
    table = similarity.fractions if packed.is_exact else similarity.floats
    powers = table if sign > 0 else 1 / table
    weights = packed.weights[columns] if packed.is_exact else packed.weights[columns].astype(np.float64)
    matrix = powers[similarity.kinds[:, columns]] * weights
    if len(free):
        # Privacy between a free row and the known rows bounds each free entry from both sides, so the known rows need
        # no variables.
        near = table[similarity.kinds[np.ix_(free, known)]]
        low = np.max(near[:, :, None] * matrix[None, known], axis=1)
        high = np.min(matrix[None, known] / near[:, :, None], axis=1)
        for i, c in np.argwhere(free[:, None] == columns):
            low[i, c] = high[i, c] = matrix[free[i], c]
        if not packed.is_exact:
            high = np.maximum(low, high)
        if (low > high).any():
            return None
        program = _completion_program(table, similarity, free, low, high, packed.is_exact)
        try:
            solution = (solve_exactly if packed.is_exact else solve)(program)
        except (InfeasibleProgram, SolverFailed):
            return None
        matrix[free] = solution.primal.reshape(low.shape)
    return Channel(matrix if packed.is_exact else private_matrix(ptype, matrix))


def _completion_program(
    table: Array, similarity: Similarity, free: Array, low: Array, high: Array, exactly: bool
) -> LinearProgram:
    """Return the program for the entries m[x, j] of the free rows x (those with z_x = 0), with low <= m <= high,
    m[x] >= alpha^d(x, y) m[y] and row sums 1.
    """
    f, k = low.shape
    unit: Any = Fraction(1) if exactly else 1.0
    x, y = (part.ravel() for part in np.nonzero(~np.eye(f, dtype=bool)))
    factors = table[similarity.kinds[free[x], free[y]]]
    entries, pairs = np.arange(k), len(x) * k
    rows = np.concatenate([np.arange(pairs), np.arange(pairs), pairs + np.repeat(np.arange(f), k)])
    columns = np.concatenate([(x[:, None] * k + entries).ravel(), (y[:, None] * k + entries).ravel(), np.arange(f * k)])
    ones = np.full(pairs, unit, dtype=table.dtype)
    values = np.concatenate([ones, -np.repeat(factors, k), np.full(f * k, unit, dtype=table.dtype)])
    lower = np.concatenate([np.full(pairs, 0 * unit, dtype=table.dtype), np.full(f, unit, dtype=table.dtype)])
    upper = np.concatenate([np.full(pairs, np.inf, dtype=table.dtype), np.full(f, unit, dtype=table.dtype)])
    cost = np.full(f * k, 0 * unit, dtype=table.dtype)
    return LinearProgram.of_triplets(
        cost, rows, columns, values, lower, upper, column_lower=low.ravel(), column_upper=high.ravel()
    )


_MOST_DIFFERENT_ENTRIES = 2_500
_MOST_WORK = 1e9
_ROUNDS = 25
# This is larger than the rounding error of a float product. The envelope corrects smaller violations before the proof.
_BROKEN = 1e-13


def by_envelope(
    ptype: PrivacyType, kind: CapacityKind, similarity: Similarity, packed: Packing
) -> CapacityCertificate | None:
    """Return the certificate for a large type, with the columns of a packing changed so that rows nearly sum to 1; None
    if the program for the changes is too large or fails.
    """
    try:
        heights = _MovedEntries.of(ptype, kind, similarity, packed).heights()
        return CapacityCertificate(ptype, kind, scaled_envelope(ptype, heights), packed.dual)
    except (PromiseBroken, SolverFailed, InfeasibleProgram):
        return None


def scaled_envelope(ptype: PrivacyType, heights: Floats) -> EnvelopeMechanism:
    """Return the envelopes of ``heights``, whose rows nearly sum to 1, scaled so that the rest column is private."""
    # Scale the columns by theta, which is computed as in `mechanism_and_dual`.
    facts = EnvelopeMechanism(ptype, heights).facts()
    least, most = facts.least, facts.most
    near = largest_power(ptype)
    spare = (most - least) / 2**20 + Fraction(heights.shape[1] + 16, 1 << 50)
    theta = float((1 - near) / (most + spare - near * (least - spare)))
    return EnvelopeMechanism(ptype, heights * theta)


@dataclass(frozen=True, slots=True, eq=False)
class _MovedEntries:
    """The entries (x, c) with z_x = 0 and w_c > 0, which a program changes. Entries that a symmetry exchanges share one
    variable.
    """

    similarity: Similarity
    free: NDArray[np.intp]  # (f,) the secrets x
    columns: NDArray[np.intp]  # (k,) the secrets c
    low: Floats  # (f, k) lower bounds of the entries, from the other rows
    high: Floats  # (f, k) upper bounds of the entries, from the other rows
    start: Floats  # (n, k) the columns before the change
    entry: NDArray[np.intp]  # (f, k) the index of the variable of each entry

    @classmethod
    def of(cls, ptype: PrivacyType, kind: CapacityKind, similarity: Similarity, packed: Packing) -> "_MovedEntries":
        weights = packed.weights.astype(np.float64)
        columns = np.flatnonzero(weights > 0)
        known, free = np.flatnonzero(packed.dual > 0), np.flatnonzero(packed.dual == 0)
        if len(free) == 0 or len(free) * len(known) * len(columns) > _MOST_WORK:
            raise SolverFailed("the program must have fewer columns", came=len(columns))
        powers, is_raised = similarity.floats[similarity.kinds[:, columns]], kind == "multiplicative"
        start = powers * weights[columns] if is_raised else weights[columns] / powers
        bound = np.empty((len(free), len(columns)))
        for i, x in enumerate(free.tolist()):
            near = similarity.floats[similarity.kinds[known, x]][:, None]
            bound[i] = (start[known] / near).min(axis=0) if is_raised else (start[known] * near).max(axis=0)
        # Entries that a symmetry exchanges get the same code, and so the same variable.
        group = known_symmetries(ptype.space)
        codes = (group[:, free][:, :, None] * similarity.size + group[:, columns][:, None, :]).min(axis=0)
        _, entry = np.unique(codes, return_inverse=True)
        entry = entry.reshape(codes.shape)
        if entry.max() >= _MOST_DIFFERENT_ENTRIES:
            raise SolverFailed(
                f"the program must have at most {_MOST_DIFFERENT_ENTRIES} variables", came=int(entry.max()) + 1
            )
        low, high = (start[free], bound) if is_raised else (bound, start[free])
        return cls(similarity, free, columns, low, np.maximum(low, high), start, entry)

    def heights(self) -> Floats:
        """Return the columns (n, k) that minimise the largest difference of a row sum from 1."""
        # Solve the program again with the inequalities that its solution violates, until it violates none.
        rows = np.zeros((0, 3), dtype=np.int64)
        powers = self.similarity.floats[self.similarity.kinds[np.ix_(self.free, self.free)]]
        values = self.low
        for _ in range(_ROUNDS):
            values = self._solved(rows, powers)
            # For each entry, the inequality that it violates most, as (variable of x, variable of y, x f + y).
            broken = []
            for c in range(values.shape[1]):
                reach = powers * values[:, c]
                y = reach.argmax(axis=1)
                x = np.flatnonzero(reach[np.arange(len(y)), y] > values[:, c] * (1 + _BROKEN) + _BROKEN * 1e-3)
                broken.append(np.column_stack([self.entry[x, c], self.entry[y[x], c], x * len(y) + y[x]]))
            if not any(map(len, broken)):
                break
            rows = np.unique(np.concatenate([rows, *broken]), axis=0)
        moved = self.start.copy()
        moved[self.free] = values
        return np.clip(moved, 0.0, 1.0)

    def _solved(self, rows: NDArray[np.int64], powers: Floats) -> Floats:
        """Return the m that minimises the largest |row sum - 1|, subject to ``rows`` and low <= m <= high."""
        f = len(self.free)
        count, p = int(self.entry.max()) + 1, len(rows)
        _, leaders = np.unique(self.entry.min(axis=1), return_index=True)
        sums = [np.unique(self.entry[i], return_counts=True) for i in leaders]
        row = np.concatenate([np.full(len(e), i) for i, (e, _) in enumerate(sums)])
        entries, often = (np.concatenate(parts) for parts in zip(*sums, strict=True))
        s = len(leaders)
        at = np.arange(p) + 2 * s
        x, y = np.divmod(rows[:, 2], f)
        different = rows[:, 0] != rows[:, 1]
        program = LinearProgram.of_triplets(
            np.append(np.zeros(count), 1.0),
            np.concatenate([row, np.arange(s), row + s, np.arange(s) + s, at, at[different]]),
            np.concatenate([entries, np.full(s, count), entries, np.full(s, count), rows[:, 0], rows[different, 1]]),
            np.concatenate([often, -np.ones(s), often, np.ones(s), np.ones(p), -powers[x, y][different]]),
            np.concatenate([np.full(s, -np.inf), np.ones(s), np.zeros(p)]),
            np.concatenate([np.ones(s), np.full(s, np.inf), np.full(p, np.inf)]),
            column_lower=np.append(self._per_variable(self.low, np.maximum), 0.0),
            column_upper=np.append(
                np.maximum(self._per_variable(self.high, np.minimum), self._per_variable(self.low, np.maximum)), 1.0
            ),
        )
        return np.asarray(solve(program).primal[:-1][self.entry])

    def _per_variable(self, values: Floats, choose: np.ufunc) -> Floats:
        """Return one value for each variable, chosen by ``choose`` among the values of all entries that share the
        variable; these values differ only by rounding.
        """
        order = np.argsort(self.entry.ravel(), kind="stable")
        starts = np.searchsorted(self.entry.ravel()[order], np.arange(int(self.entry.max()) + 1))
        return np.asarray(choose.reduceat(values.ravel()[order], starts))
