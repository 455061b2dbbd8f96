"""Compute the capacity of a privacy type by the linear program of its mechanisms, made smaller by symmetry or by lazy
constraints.

**The capacity program over classes of pairs has one variable for each class of equivalent pairs of secrets.**

The program over classes of pairs is that of corollaries 17 and 18 of [fernandes2022] for mechanisms M[x, j] that depend
only on the class of (x, j). For strings of b bits the program has b + 1 variables, and for a square lattice about n^2 /
8. The multipliers of the program, divided among the rows that were merged, are multipliers of the whole program.

**The capacity program over essential edges gets only the inequalities that it needs.**

    multiplicative  maximise, additive  minimise  sum_x m[x, x]
    subject to      m[x, j] >= alpha^d(x, y) m[y, j] for essential edges {x, y} and every j,   sum_j m[x, j] = 1.

The search starts with those inequalities of each column j that compare secret j with another secret, and adds violated
inequalities until none is violated. Column j merges the outcomes after which the adversary guesses j (or "not j"), so n
columns are enough (lemma 16).

Source: [fernandes2022], lemma 16 and corollaries 17 and 18.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Array, as_rationals, frozen, objects
from utmost.core.programs.exact_optima import solve_exactly
from utmost.core.programs.highs import InfeasibleProgram, solve
from utmost.core.programs.linear_program import LinearProgram, LinearSolution
from utmost.design.capacities.capacity_evidence import CapacityCertificate, PairMultipliers, slacks
from utmost.design.capacities.similarity import Similarity
from utmost.design.channels.channel import Channel
from utmost.design.leakage.channel_capacity import CapacityKind
from utmost.design.optima.nearly_private import private_matrix
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.errors import PromiseBroken, SolverFailed


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """An equitable partition of the secrets: the number of y in class B with d(x, y) = r depends only on r, B and the
    class of x.
    """

    # The orbits of the automorphisms form an equitable partition, which refines the coarsest one. Averaging over
    # classes commutes with E = alpha^d, so linear programs in E and row sums (weighting, packing, covering) have
    # solutions that are constant on classes.
    labels: NDArray[np.intp]  # (n,) the class of each secret; classes are numbered in order of their first members
    representatives: NDArray[np.intp]  # the first member of each class
    sizes: NDArray[np.intp]  # the number of members of each class

    @classmethod
    def of(cls, similarity: Similarity) -> "Classes":
        """Return the coarsest equitable partition, by colour refinement. Cost: a few rounds of O(n^2)."""
        kinds = mixed_words(np.arange(len(similarity.lengths), dtype=np.uint64))
        labels = np.zeros(similarity.size, dtype=np.intp)
        # Hash so many rows together that they need about 16 MB.
        step = max(1, (1 << 21) // similarity.size)
        while True:
            # Hash the distances from a secret to all y, and the classes of all y, to 64 bits: the sum over y of a
            # 64-bit number for the pair (distance, class). A collision could make a program fail, but cannot make a
            # proof wrong.
            classes = mixed_words(labels.astype(np.uint64) + np.uint64(1 << 32))
            views = np.empty(similarity.size, dtype=np.uint64)
            for start in range(0, similarity.size, step):
                hashes = mixed_words(kinds[similarity.kinds[start : start + step]] ^ classes)
                views[start : start + step] = hashes.sum(axis=1, dtype=np.uint64)
            finer = row_numbers(np.column_stack([labels.astype(np.uint64), views]))
            # If no class was split, the partition is equitable, unless two different views have the same hash, which
            # has probability below n^2 / 2^64.
            if finer.max(initial=0) == labels.max(initial=0):
                break
            labels = finer
        _, representatives, sizes = np.unique(labels, return_index=True, return_counts=True)
        return cls(frozen(labels), frozen(representatives), frozen(sizes))

    def __len__(self) -> int:
        return len(self.sizes)


def mixed_words(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return pseudorandom 64-bit integers, each a function of one given integer (the finaliser of splitmix64)."""
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def row_numbers(rows: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return an index for each row. Equal rows have the same index, and the indices 0, 1, ... are in order of first
    appearance.
    """
    _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=np.intp)
    order[np.argsort(first)] = np.arange(len(first))
    named: NDArray[np.intp] = order[which.reshape(-1)]
    return named


@dataclass(frozen=True, slots=True, eq=False)
class PairClasses:
    """A coherent partition of the pairs of secrets: for classes R and S, the class of (x, y) determines how many z have
    (x, z) in R and (z, y) in S.
    """

    # The orbits of pairs under the automorphisms form a coherent partition, which refines the coarsest one. Averaging a
    # mechanism over classes preserves privacy and trace: for classes R of (x, j) and S of (y, j) that occur together at
    # one distance of x and y, the inequalities of all such triples add up to an inequality between the averages.
    labels: NDArray[np.intp]  # (n, n) the class of each pair; classes are numbered in order of their first members
    sizes: NDArray[np.intp]  # the number of pairs in each class

    @classmethod
    def of(cls, similarity: Similarity) -> "PairClasses":
        """Return the coarsest coherent partition that distinguishes distances. Cost: a few rounds of O(n^3)."""
        n = similarity.size
        labels = row_numbers(similarity.kinds.reshape(-1, 1).astype(np.uint64)).reshape(n, n)
        while True:
            # Hash each pair (x, y) by the sum over z of a 64-bit number for the classes of (x, z) and (z, y). Each half
            # of the number encodes one class, so that different pairs of classes have different numbers. Add one secret
            # z after another, because all triples would need n^3 numbers.
            here, there = labels.astype(np.uint64), labels.astype(np.uint64) << np.uint64(32)
            seen = np.zeros(labels.shape, dtype=np.uint64)
            for z in range(n):
                seen += mixed_words(here[:, z, None] + there[z, None, :])
            rows = np.column_stack([part.astype(np.uint64).ravel() for part in (labels, labels.T, seen)])
            finer = row_numbers(rows).reshape(n, n)
            if finer.max() == labels.max():
                return cls(frozen(finer), frozen(np.bincount(finer.ravel())))
            labels = finer

    def __len__(self) -> int:
        return len(self.sizes)


_MOST_SECRETS = 100
_MOST_EXACT_ROWS = 3_000
_MOST_ROWS = 80_000
# Largest accepted gap between the bounds of a float solution. A wider gap means that the solver has failed, and another
# method is tried.
_NEAR = 1e-7


def by_orbits(ptype: PrivacyType, kind: CapacityKind) -> CapacityCertificate | None:
    """Return the certificate from the program over classes of pairs; None if that program is too large or unsolved."""
    n = ptype.space.size
    if n > _MOST_SECRETS or n == 1:
        return None
    similarity = Similarity.of(ptype)
    pairs = PairClasses.of(similarity)
    if len(pairs) > n * n // 2:
        return None
    triples = Triples.of(ptype, similarity, pairs)
    if len(triples.counts) > _MOST_ROWS:
        return None
    exactly = similarity.is_rational and len(triples.counts) <= _MOST_EXACT_ROWS
    try:
        solution = (solve_exactly if exactly else solve)(_program(kind, similarity, pairs, triples, exactly))
        # Divide each dual among the secrets or triples that share a row of the program. The rows that fix sums are in
        # the order of the classes of pairs (x, x), which is the order of np.unique.
        p, numbers = len(triples.counts), as_rationals(solution.duals)
        _, row, sizes = np.unique(np.diagonal(pairs.labels), return_inverse=True, return_counts=True)
        sign = -1 if kind == "multiplicative" else 1
        dual = objects(sign * numbers[p + i] / int(sizes[i]) for i in row.tolist())
        shares = [max(y, Fraction(0)) / int(count) for y, count in zip(numbers[:p], triples.counts, strict=True)]
        used = np.flatnonzero(np.array([share != 0 for share in shares], dtype=bool)[triples.which])
        values = objects(shares[w] for w in triples.which[used])
        multipliers = PairMultipliers(triples.x[used], triples.y[used], triples.j[used], values)
        return certificate_of_answer(ptype, kind, solution.primal[pairs.labels], dual, multipliers, exactly)
    except (InfeasibleProgram, SolverFailed, PromiseBroken):
        return None


def certificate_of_answer(
    ptype: PrivacyType, kind: CapacityKind, matrix: Array, dual: Array, multipliers: PairMultipliers, exactly: bool
) -> CapacityCertificate | None:
    """Return the certificate of a solution of a program. A float solution is repaired first; the result is None if the
    gap between the bounds of the certificate stays wide.
    """
    if exactly:
        return CapacityCertificate(ptype, kind, Channel(matrix), dual, multipliers)
    channel = Channel(private_matrix(ptype, matrix))
    sign = 1 if kind == "multiplicative" else -1
    # Correct an infeasibility of the duals exactly, which widens the bound a little.
    worst = slacks(ptype, kind, dual, multipliers).min(axis=1)
    corrected = dual - sign * objects(min(slack, Fraction(0)) for slack in worst)
    certificate = CapacityCertificate(ptype, kind, channel, corrected, multipliers)
    return certificate if certificate.gap <= _NEAR * max(1.0, float(certificate.upper)) else None


class Triples:
    """Privacy inequalities m[x, j] >= alpha^d(x, y) m[y, j] along essential edges, grouped by classes of pairs."""

    # ``x``, ``y``, ``j`` and ``which`` are all triples and the index of the group of each. For each group, ``here`` and
    # ``there`` are the classes of (x, j) and (y, j), ``kind`` is the index of the distance of x and y, and ``counts``
    # is the number of triples.
    def __init__(self, x: Array, y: Array, j: Array, classes: Array) -> None:
        self.x, self.y, self.j = x, y, j
        rows, self.which, self.counts = np.unique(classes, axis=0, return_inverse=True, return_counts=True)
        self.which = self.which.reshape(-1)
        self.here, self.there, self.kind = rows.T

    @classmethod
    def of(cls, ptype: PrivacyType, similarity: Similarity, pairs: PairClasses) -> "Triples":
        """Return the inequalities of a type for all essential edges and all columns j. Cost: O(n) for each edge."""
        n = ptype.space.size
        edges = ptype.space.edges
        both = np.concatenate([edges, edges[:, ::-1]])
        x, y = np.repeat(both[:, 0], n), np.repeat(both[:, 1], n)
        j = np.tile(np.arange(n), len(both))
        # if both entries are one variable, the inequality holds
        is_constraint = pairs.labels[x, j] != pairs.labels[y, j]
        x, y, j = x[is_constraint], y[is_constraint], j[is_constraint]
        return cls(x, y, j, np.column_stack([pairs.labels[x, j], pairs.labels[y, j], similarity.kinds[x, y]]))


def _program(
    kind: CapacityKind, similarity: Similarity, pairs: PairClasses, triples: Triples, exactly: bool
) -> LinearProgram:
    """Return the program: optimise sum_x m[x, x] subject to m_R >= alpha^d m_S for each group, and row sums 1."""
    unit: Any = Fraction(1) if exactly else 1.0
    dtype = object if exactly else np.float64
    table = similarity.fractions if exactly else similarity.floats
    k, p = len(pairs), len(triples.counts)
    homes = np.diagonal(pairs.labels)
    representatives = np.unique(homes, return_index=True)[1]
    cost = np.full(k, 0 * unit, dtype=dtype)
    for home, count in zip(*np.unique(homes, return_counts=True), strict=True):
        cost[home] = unit * int(count) * (-1 if kind == "multiplicative" else 1)
    sums = [np.unique(pairs.labels[x], return_counts=True) for x in representatives]
    rows = np.concatenate([np.arange(p), np.arange(p), *(np.full(len(c), p + i) for i, (c, _) in enumerate(sums))])
    columns = np.concatenate([triples.here, triples.there, *(classes for classes, _ in sums)])
    counted = [unit * int(count) for _, counts in sums for count in counts]
    values = np.concatenate([np.full(p, unit, dtype=dtype), -table[triples.kind], np.array(counted, dtype=dtype)])
    right = np.full(len(sums), unit, dtype=dtype)
    lower = np.concatenate([np.full(p, 0 * unit, dtype=dtype), right])
    upper = np.concatenate([np.full(p, np.inf, dtype=dtype), right])
    return LinearProgram.of_triplets(cost, rows, columns, values, lower, upper)


_MOST_VARIABLES = 2_100
_MOST_EXACT_VARIABLES = 900
_ROUNDS = 60
# Float solutions violate rows by about this much. Smaller violations add no rows, since the search would not end
# otherwise. The repair of the solution corrects them.
_BROKEN = 1e-11

PrivacyRows = NDArray[np.int64]
"""An array (rows, 3) of triples (x, y, j), each for the inequality m[x, j] >= alpha^d(x, y) m[y, j]."""


def by_edge_program(ptype: PrivacyType, kind: CapacityKind) -> CapacityCertificate | None:
    """Return the certificate from the program over essential edges; None if that program is too large or unsolved."""
    n = ptype.space.size
    if n * n > _MOST_VARIABLES or n == 1:
        return None
    similarity = Similarity.of(ptype)
    exactly = similarity.is_rational and n * n <= _MOST_EXACT_VARIABLES
    try:
        rows, solution = solve_lazily(ptype, kind, similarity, exactly)
        numbers = as_rationals(solution.duals)
        used = np.flatnonzero(numbers[: len(rows)] > 0)
        multipliers = PairMultipliers(rows[used, 0], rows[used, 1], rows[used, 2], numbers[used])
        dual = numbers[len(rows) :] * (-1 if kind == "multiplicative" else 1)
        return certificate_of_answer(ptype, kind, solution.primal.reshape(n, n), dual, multipliers, exactly)
    except (InfeasibleProgram, SolverFailed, PromiseBroken):
        return None


def solve_lazily(
    ptype: PrivacyType, kind: CapacityKind, similarity: Similarity, exactly: bool
) -> tuple[PrivacyRows, LinearSolution]:
    """Return the inequalities that the program needs, and its solution, which violates none of the omitted
    inequalities.
    """
    n, edges = similarity.size, ptype.space.edges
    x, y = np.concatenate([edges, edges[:, ::-1]]).T
    # Start with the rows m[i, j] >= alpha^d m[j, j] for all i and j (multiplicative), or m[j, j] >= alpha^d m[i, j].
    i, j = (part.ravel() for part in np.nonzero(~np.eye(n, dtype=bool)))
    rows, by_simplex = np.column_stack([i, j, j] if kind == "multiplicative" else [j, i, j]), False
    for _ in range(_ROUNDS):
        solution = (solve_exactly if by_simplex else solve)(_edge_program(kind, similarity, rows, by_simplex))
        # Add only the most violated rows: if these are satisfied, most others are satisfied, too.
        table = similarity.fractions if by_simplex else similarity.floats
        matrix = solution.primal.reshape(n, -1)
        gaps = table[similarity.kinds[x, y]][:, None] * matrix[y] - matrix[x]
        edge, j = np.nonzero(gaps > (0 if by_simplex else _BROKEN))
        worst = np.argsort(-gaps[edge, j].astype(np.float64), kind="stable")[: 4 * n]
        broken = np.column_stack([x[edge[worst]], y[edge[worst]], j[worst]]).astype(np.int64)
        # The search in floats finds the needed rows. The exact program then starts with these rows, and adds further
        # rows in the same manner.
        if len(broken) == 0 and by_simplex == exactly:
            return rows, solution
        by_simplex = (exactly and len(broken) == 0) or by_simplex
        rows = np.unique(np.concatenate([rows, broken]), axis=0)
    raise SolverFailed(
        f"the program must be solved in {_ROUNDS} rounds of new rows", came=f"{len(rows)} after {_ROUNDS} rounds"
    )


def _edge_program(kind: CapacityKind, similarity: Similarity, rows: PrivacyRows, exactly: bool) -> LinearProgram:
    n, p = similarity.size, len(rows)
    unit: Any = Fraction(1) if exactly else 1.0
    dtype = object if exactly else np.float64
    table = similarity.fractions if exactly else similarity.floats
    x, y, j = rows.T
    cost = np.full(n * n, 0 * unit, dtype=dtype)
    cost[:: n + 1] = -unit if kind == "multiplicative" else unit
    at = np.concatenate([np.arange(p), np.arange(p), p + np.repeat(np.arange(n), n)])
    columns = np.concatenate([x * n + j, y * n + j, np.arange(n * n)])
    ones = np.full(p, unit, dtype=dtype)
    values = np.concatenate([ones, -table[similarity.kinds[x, y]], np.full(n * n, unit, dtype=dtype)])
    right = np.full(n, unit, dtype=dtype)
    lower = np.concatenate([0 * ones, right])
    upper = np.concatenate([np.full(p, np.inf, dtype=dtype), right])
    return LinearProgram.of_triplets(cost, at, columns, values, lower, upper)
