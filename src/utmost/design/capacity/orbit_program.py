r"""The capacity program over classes of pairs: one variable for all pairs of secrets that are alike.

The program of corollaries 17 and 18 of [fernandes2022], over the essential edges, for mechanisms M[x, j] that depend on
the class of (x, j) only: of strings of b bits b + 1 variables remain, of a lattice an eighth. Its multipliers, shared
by the rows that became one, are those of the whole program.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from utmost.channels import Channel
from utmost.design.capacity.certificate import CapacityCertificate
from utmost.design.capacity.checker import Kind, Multipliers, slacks
from utmost.design.capacity.kernel import Kernel
from utmost.design.capacity.pair_classes import PairClasses
from utmost.design.repair import private_matrix
from utmost.errors import PromiseBroken, SolverFailed
from utmost.exact import Array, objects
from utmost.privacy import PrivacyType
from utmost.programs import InfeasibleProgram, LinearProgram, solve, solve_exactly

_MOST_SECRETS = 100
_MOST_EXACT_ROWS = 3_000
_MOST_ROWS = 80_000
# The solver's own accuracy: a proven gap that is wider says that it failed, and another route is tried.
_NEAR = 1e-7


def by_orbits(ptype: PrivacyType, kind: Kind) -> CapacityCertificate | None:
    """The certificate that the program over classes of pairs gives; None where it is too large or floats fail."""
    n = ptype.space.size
    if n > _MOST_SECRETS or n == 1:
        return None
    kernel = Kernel.of(ptype)
    pairs = PairClasses.of(kernel)
    if len(pairs) > n * n // 2:
        return None
    triples = Triples.of(ptype, kernel, pairs)
    if len(triples.counts) > _MOST_ROWS:
        return None
    exactly = kernel.is_rational and len(triples.counts) <= _MOST_EXACT_ROWS
    try:
        solution = (solve_exactly if exactly else solve)(_program(kind, kernel, pairs, triples, exactly))
        matrix = solution.primal[pairs.labels]
        dual, multipliers = _spread(kind, pairs, triples, solution.duals, exactly)
        return certified(ptype, kind, matrix, dual, multipliers, exactly)
    except (InfeasibleProgram, SolverFailed, PromiseBroken):
        return None


def certified(
    ptype: PrivacyType, kind: Kind, matrix: Array, dual: Array, multipliers: Multipliers, exactly: bool
) -> CapacityCertificate | None:
    """The certificate of a program's answer: as it is if exact, else repaired, and None if the repair costs much."""
    if exactly:
        return CapacityCertificate(ptype, kind, Channel(matrix), dual, multipliers)
    channel = Channel(private_matrix(ptype, matrix))
    sign = 1 if kind == "multiplicative" else -1
    worst = slacks(ptype, kind, dual, multipliers).min(axis=1)
    mended = dual - sign * objects(min(slack, Fraction(0)) for slack in worst)
    found = CapacityCertificate(ptype, kind, channel, mended, multipliers)
    return found if found.gap <= _NEAR * max(1.0, float(found.upper)) else None


class Triples:
    """Inequalities of privacy (x, y, j) along essential edges, those with the same classes of pairs as one.

    Attributes:
        x, y, j: every triple.
        which: the class of each.
        here, there: the classes of (x, j) and (y, j), by class of triple.
        kind: the kind of the distance of x and y, by class of triple.
        counts: how many triples each class has.
    """

    def __init__(self, x: Array, y: Array, j: Array, classes: Array) -> None:
        self.x, self.y, self.j = x, y, j
        rows, self.which, self.counts = np.unique(classes, axis=0, return_inverse=True, return_counts=True)
        self.which = self.which.reshape(-1)
        self.here, self.there, self.kind = rows.T

    @classmethod
    def of(cls, ptype: PrivacyType, kernel: Kernel, pairs: PairClasses) -> "Triples":
        """All triples of a type. Cost: O(n) for each essential edge."""
        n = ptype.space.size
        edges = ptype.space.edges
        both = np.concatenate([edges, edges[:, ::-1]])
        x, y = np.repeat(both[:, 0], n), np.repeat(both[:, 1], n)
        j = np.tile(np.arange(n), len(both))
        says = pairs.labels[x, j] != pairs.labels[y, j]  # a variable is never below alpha times itself
        x, y, j = x[says], y[says], j[says]
        return cls(x, y, j, np.column_stack([pairs.labels[x, j], pairs.labels[y, j], kernel.kinds[x, y]]))


def _program(kind: Kind, kernel: Kernel, pairs: PairClasses, triples: Triples, exactly: bool) -> LinearProgram:
    """min -+ sum_x m[x, x] subject to m_R >= alpha^d m_S for each class of triples, and rows that sum to 1."""
    one: Any = Fraction(1) if exactly else 1.0
    dtype = object if exactly else np.float64
    table = kernel.fractions if exactly else kernel.floats
    k, p = len(pairs), len(triples.counts)
    homes = np.diagonal(pairs.labels)
    representatives = np.unique(homes, return_index=True)[1]
    cost = np.full(k, 0 * one, dtype=dtype)
    for home, count in zip(*np.unique(homes, return_counts=True), strict=True):
        cost[home] = one * int(count) * (-1 if kind == "multiplicative" else 1)
    sums = [np.unique(pairs.labels[x], return_counts=True) for x in representatives]
    rows = np.concatenate([np.arange(p), np.arange(p), *(np.full(len(c), p + i) for i, (c, _) in enumerate(sums))])
    columns = np.concatenate([triples.here, triples.there, *(classes for classes, _ in sums)])
    counted = [one * int(count) for _, counts in sums for count in counts]
    values = np.concatenate([np.full(p, one, dtype=dtype), -table[triples.kind], np.array(counted, dtype=dtype)])
    right = np.full(len(sums), one, dtype=dtype)
    lower = np.concatenate([np.full(p, 0 * one, dtype=dtype), right])
    upper = np.concatenate([np.full(p, np.inf, dtype=dtype), right])
    return LinearProgram.of_triplets(cost, rows, columns, values, lower, upper)


def _spread(kind: Kind, pairs: PairClasses, triples: Triples, duals: Array, exactly: bool) -> tuple[Array, Multipliers]:
    """The duals of the program shared among the secrets, and the triples, that became one row."""
    p = len(triples.counts)
    numbers = duals if exactly else objects(map(Fraction, duals.tolist()))
    homes = np.diagonal(pairs.labels)
    _, place, sizes = np.unique(homes, return_inverse=True, return_counts=True)
    # Classes of secrets stand in the program in the order of their classes of pairs, which is that of np.unique.
    dual = objects(numbers[p + i] / int(sizes[i]) for i in place.tolist())
    shares = [max(value, Fraction(0)) / int(count) for value, count in zip(numbers[:p], triples.counts, strict=True)]
    used = np.flatnonzero(np.array([share != 0 for share in shares], dtype=bool)[triples.which])
    values = objects(shares[w] for w in triples.which[used])
    multipliers = Multipliers(triples.x[used], triples.y[used], triples.j[used], values)
    return (-dual if kind == "multiplicative" else dual), multipliers
