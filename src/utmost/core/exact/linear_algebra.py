"""Exact linear algebra: matrix products, ranks, and rational systems, dense and sparse."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush
from math import lcm
from operator import attrgetter, methodcaller

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat, nmod_mat
from numpy.typing import NDArray

from utmost.core.exact.arrays import Array, Floats, frozen, is_exact, largest_size, rationals, same_numbers
from utmost.errors import OutOfRange, SolverFailed

# Products of two limbs, added up 8192 times, stay below 2^53: float64 adds them exactly.
LIMB_BITS = 20
MOST_TERMS = 1 << 13


def by_integers(rows: Array) -> tuple[Array, Array]:
    """Scale each row of rationals to integers: return the integers, and the rows' denominators in shape (n, 1)."""
    ratio: Callable[[Array], tuple[Array, Array]] = np.frompyfunc(methodcaller("as_integer_ratio"), 1, 2)
    tops, below = ratio(rows)
    scales = np.lcm.reduce(below, axis=1, keepdims=True, initial=1)
    return np.asarray(tops * (scales // below)), scales


def numerators(rationals: Array) -> Array:
    return np.asarray(np.frompyfunc(attrgetter("numerator"), 1, 1)(rationals))


def denominators(rationals: Array) -> Array:
    return np.asarray(np.frompyfunc(attrgetter("denominator"), 1, 1)(rationals))


def limbs(integers: Array) -> list[Floats]:
    """Split integers M into float64 matrices M_k with M = sum of 2^(20 k) M_k and |entries of M_k| < 2^20."""
    rest, parts, mask = integers, [], (1 << LIMB_BITS) - 1
    # Limbs of 20 bits: a product of two has 40, and 2^13 of them add up within the 53 bits of a float.
    while largest_size(rest) > mask:
        parts.append((rest & mask).astype(np.float64))
        rest = rest >> LIMB_BITS
    return [*parts, rest.astype(np.float64)]


def matrix_product(left: Array, right: Array) -> Array:
    """The matrix product ``left @ right``, read-only: exact if both factors are exact, else float64.

    Args:
        left: Matrix (n, k).
        right: Matrix (k, m), or vector (k,).

    Raises:
        OutOfRange: if the shapes do not match.

    Cost: two exact 400 x 400 matrices take a second or two.

    >>> from utmost.exact import as_array
    >>> matrix_product(as_array([["1/2", "1/2"]]), as_array(["1/3", "1/6"])).tolist()
    [Fraction(1, 4)]
    """
    left, right = same_numbers(left, right)
    if left.ndim != 2 or right.ndim not in (1, 2) or left.shape[1] != right.shape[0]:
        raise OutOfRange("a product needs shapes (n, k) and (k, m)", came=f"{left.shape} and {right.shape}")
    if not is_exact(left):
        return frozen(np.asarray(left @ right))
    columns = right if right.ndim == 2 else right[:, None]
    product = np.full((left.shape[0], columns.shape[1]), Fraction(0), dtype=object)
    if left.size and columns.size:
        # One product of integer matrices by python-flint, in place of a product of Fractions for each entry: rows of
        # the left and columns of the right factor are scaled to integers, and the products scaled back.
        row_scale = [lcm(*(x.denominator for x in row)) for row in left]
        column_scale = [lcm(*(x.denominator for x in column)) for column in columns.T]
        integers = fmpz_mat(_scaled(left, row_scale)) * fmpz_mat(_scaled(columns.T, column_scale)).transpose()
        for i, row in enumerate(integers.tolist()):
            product[i] = [Fraction(int(x), row_scale[i] * column_scale[j]) for j, x in enumerate(row)]
    return frozen(product.reshape(left.shape[:1] + right.shape[1:]))


def _scaled(rows: Array, scale: list[int]) -> list[list[int]]:
    return [[x.numerator * (s // x.denominator) for x in row] for row, s in zip(rows, scale, strict=True)]


# Number of entries in a block of rows: few enough for the cache, and for BLAS to use only one thread.
_BLOCK = 1 << 15


def table_product(table: Array, places: NDArray[np.int32], weights: Array) -> list[int]:
    """The exact sums over j of table[places[x, j]] * weights[j], for each row x of the (n, m) indices ``places``."""
    # Table and weights are cut into limbs, so that float64 adds up exactly; the matrix itself is never formed.
    n, m = places.shape
    totals = [0] * n
    for first in range(0, m, MOST_TERMS):
        part = slice(first, first + MOST_TERMS)
        columns = np.array(limbs(weights[part]))
        width = min(MOST_TERMS, m - first)
        step = max(1, _BLOCK // width)
        entries = np.empty((min(n, step), width))
        for power, limb in enumerate(limbs(table)):
            for start in range(0, n, step):
                block = places[start : start + step, part]
                # One buffer, as large as the cache: np.take fills it, and the product reads it once.
                np.take(limb, block, out=entries[: len(block)], mode="clip")
                sums = (columns @ entries[: len(block)].T).astype(np.int64).T.tolist()
                for x, row in enumerate(sums, start):
                    totals[x] += sum(value << LIMB_BITS * k for k, value in enumerate(row)) << LIMB_BITS * power
    return totals


_PRIME = (1 << 61) - 1


def independent(matrix: Array) -> tuple[list[int], list[int]]:
    """Indices of the first rows and columns that form a largest square submatrix invertible modulo 2^61 - 1.

    A matrix that is invertible modulo a prime is invertible over the rationals. The rank over the rationals is at least
    the rank modulo the prime, and is larger only for finitely many primes.

    Args:
        matrix: Matrix (n, m) of Fractions.

    >>> from utmost.exact import as_array
    >>> independent(as_array([[1, 2, 3], [2, 4, 7]]))
    ([0, 1], [0, 2])
    """
    if matrix.size == 0:
        return [], []
    # The rank modulo a prime is at most the rank: rows that are independent here are independent over the rationals.
    residues = nmod_mat(fmpz_mat(by_integers(matrix)[0].tolist()), _PRIME)
    return _pivots(residues.transpose()), _pivots(residues)


def _pivots(matrix: nmod_mat) -> list[int]:
    """Return the indices of the first independent columns, in which the rows of the reduced echelon form begin."""
    reduced, rank = matrix.rref()
    columns, j = [], 0
    for i in range(rank):
        while int(reduced[i, j]) == 0:
            j += 1
        columns.append(j)
    return columns


def solve_lifted(matrix: Array, right: Array) -> Array:
    """The matrix X of Fractions with matrix @ X = right, for a square nonsingular matrix.

    Args:
        matrix: Square matrix (n, n) of Fractions.
        right: Right sides of k systems of equations: a matrix (n, k) of Fractions.

    Raises:
        SolverFailed: if the matrix is singular.

    Cost: O(n^3 + n^2 k) operations for each digit of X.

    >>> from utmost.exact import as_array
    >>> solve_lifted(as_array([[2, 1], [1, 1]]), as_array([["1/2"], ["1/3"]])).tolist()
    [[Fraction(1, 6)], [Fraction(1, 6)]]
    """
    if right.size == 0:
        return frozen(np.empty(right.shape, dtype=object))
    try:
        # Dixon's lifting works with numbers as long as those of X; in elimination they grow at each step.
        solution = _flint(matrix).solve(_flint(right), "dixon")
    except ZeroDivisionError:
        raise SolverFailed("a linear system must be nonsingular", came=f"{len(matrix)} dependent equations") from None
    return frozen(rationals(((x.p, x.q) for x in solution.entries()), right.shape))


def _flint(matrix: Array) -> fmpq_mat:
    n, m = matrix.shape
    return fmpq_mat(n, m, [fmpq(x.numerator, x.denominator) for x in matrix.ravel().tolist()])


_Row = dict[int, fmpq]


def solve_sparse(rows: Sequence[Mapping[int, Fraction]], right: Sequence[Fraction]) -> list[Fraction]:
    """The solution z of a square nonsingular system ``sum_j rows[i][j] z_j = right[i]``.

    The next pivot is in a row with the fewest nonzero entries; among the entries of this row, it is the one whose
    column has the fewest nonzero entries. Bases of linear programs about privacy are nearly triangular, so that
    elimination creates few new nonzero entries.

    Raises:
        SolverFailed: if the system is singular.

    >>> solve_sparse([{0: Fraction(1), 1: Fraction(1)}, {0: Fraction(1), 1: Fraction(-1)}], [Fraction(3), Fraction(1)])
    [Fraction(2, 1), Fraction(1, 1)]
    """
    work: list[_Row] = [{j: _fmpq(value) for j, value in row.items() if value} for row in rows]
    sides = [_fmpq(value) for value in right]
    holders: dict[int, set[int]] = {j: set() for j in range(len(work))}
    for i, row in enumerate(work):
        for j in row:
            holders[j].add(i)
    unused = _Shortest(work)
    order = []
    for _ in range(len(work)):
        i = unused.pop()
        pivot = work[i]
        j = min(pivot, key=lambda column: (len(holders[column]), column))
        for k in pivot:
            holders[k].discard(i)
        for other in sorted(holders[j]):
            target, factor = work[other], work[other][j] / pivot[j]
            for k, value in pivot.items():
                left = target[k] - factor * value if k in target else -factor * value
                if k == j or left == 0:
                    target.pop(k, None)
                    holders[k].discard(other)
                else:
                    target[k] = left
                    holders[k].add(other)
            sides[other] -= factor * sides[i]
            unused.changed(other)
        order.append((i, j))
    solution: dict[int, fmpq] = {}
    for i, j in reversed(order):
        known = sum((value * solution[k] for k, value in work[i].items() if k != j), fmpq())
        solution[j] = (sides[i] - known) / work[i][j]
    return [Fraction(int(solution[j].p), int(solution[j].q)) for j in range(len(rows))]


class _Shortest:
    """A queue of the unused rows: shortest first, and the lowest index among equals."""

    def __init__(self, work: list[_Row]) -> None:
        self.work = work
        self.lengths: list[int | None] = [len(row) for row in work]
        self.heap = [(len(row), i) for i, row in enumerate(work)]
        heapify(self.heap)

    def pop(self) -> int:
        """Remove the next pivot row from the queue, and return its index."""
        size, i = heappop(self.heap)
        # An entry of the heap is outdated if the row has another length by now.
        while self.lengths[i] != size:
            size, i = heappop(self.heap)
        if size == 0:
            raise SolverFailed("the basis of a linear program must be nonsingular")
        self.lengths[i] = None
        return i

    def changed(self, i: int) -> None:
        """Queue row i again if its length has changed."""
        size = len(self.work[i])
        if size != self.lengths[i]:
            self.lengths[i] = size
            heappush(self.heap, (size, i))


def _fmpq(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)
