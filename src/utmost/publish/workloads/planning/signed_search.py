"""Search for signed rows for a few cells that one individual changes together, if no individual lowers a cell.

With rows a_i at levels e_i, the precision matrix is X = sum of p(e_i) a_i a_i', p(e) = cosh e - 1, and the mean
variance of the k cells is tr X^-1 / k. The levels form a polytope: sum_i e_i |a_i d| <= E for the 2^k - 1 changes d.
Since p is convex with p'(0) = 0, few rows are best, and a descent that starts with all rows ends in bad corners. So the
search first compares sets of rows at equal levels: from several starts, it exchanges, adds or drops one row at a time.
Then the search optimizes the levels of the best sets, and, for four and five cells, of a set that a branch and bound
found.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product
from math import gcd

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats
from utmost.core.exact.one_thread import one_blas_thread
from utmost.core.noise.signed_cells import SignedRows, charge_of_rows
from utmost.errors import OutOfRange

MOST_CELLS_SEARCHED = 5  # rows for more cells are searched in groups of cells

LARGEST_GROUP = 7  # `paired_rows` takes one cell and three pairs of cells, without a search


Gram = tuple[tuple[float, ...], ...]

_GROUP_STEPS = 1000  # the shares of groups are proportional to integers of about this sum
_PARTS = (4, 12, 60, 1000)  # shares are rounded to multiples of 1/parts, then scaled
_EQUAL, _PLAIN = 1e-9, 1e-4  # the relative loss allowed for fewer rows, and for simpler shares
_STARTS, _MOVES, _POLISHED = 24, 40, 8
_WIDEST, _NARROWEST, _DIRECTIONS = 0.3, 1e-4, 48  # steps of the descent, in the logarithms of shares
_SILENT = 40.0  # above this level precisions exceed floats, and the rows of this level are used
_LOST = 1e-12  # a precision below this fraction of the largest precision is lost in floats
_TRACE = 1 / 400  # a row with a smaller share is left out, if possible
_FOUND = {
    4: ((0, 1, -1, 0), (1, 0, 0, -1), (1, -1, -1, 1), (1, 1, 1, 1)),
    5: ((0, 0, 0, 1, 0), (0, 0, 1, -1, 1), (0, 0, 1, 0, -1), (1, -1, 0, 0, 0), (1, 1, 0, -1, 0)),
}
"""The best row sets with entries up to 1, by number of cells, from a branch and bound; the search misses them."""


@lru_cache(maxsize=256)
def signed_rows(
    cells: int, epsilon: float, *, square: bool = False, gram: Gram | None = None
) -> tuple[SignedRows, tuple[Fraction, ...]]:
    """Return rows for 1 to 5 cells, and budget shares that spend the level exactly; this takes up to half a second."""
    # `epsilon` is the level of all cells, for sensitivity 1. `square` requests as many rows as cells, so that the cells
    # determine the sums. `gram` is M of tr(M X^-1), by default with equal weights of the cells.
    if not 1 <= cells <= MOST_CELLS_SEARCHED:
        raise OutOfRange(f"signed rows can be searched only for 1 to {MOST_CELLS_SEARCHED} cells", came=cells)
    epsilon = min(epsilon, _SILENT)
    with one_blas_thread():
        pool, sets = _searched(cells, square, gram)
        polished = [_optimized(pool, chosen, epsilon) for chosen in sets]
    least = min(variance for variance, _, _ in polished)
    _, rows, shares = min(
        (len(rows), rows, shares) for variance, rows, shares in polished if variance <= least * (1 + _EQUAL)
    )
    return rows, shares


def grouped_rows(
    cells: int, epsilon: float, *, square: bool = False
) -> tuple[tuple[int, ...], tuple[Fraction, ...], tuple[tuple[SignedRows, tuple[Fraction, ...]], ...]]:
    """Split cells into groups of 1 to 5, or 7; return the groups' sizes, shares of the level, and rows."""
    # The error of groups at shares w is the sum of c/w^2. It is least if w is proportional to c^(1/3); then it is the
    # cube of the sum of the c^(1/3). So choose the groups with the least sum of c^(1/3).
    sizes = [size for size in (*range(1, MOST_CELLS_SEARCHED + 1), LARGEST_GROUP) if size <= cells]
    roots = {}
    for size in sizes:
        part = epsilon * size / cells  # an estimate of the group's level, which the shares below fix
        roots[size] = (size * _error_of(*_rows_of_group(size, part, square=square), part)) ** (1 / 3)
    best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for count in range(1, cells + 1):
        ends = [(*best[count - size], size) for size in sizes if size <= count]
        best.append(min((value + roots[size], (*before, size)) for value, before, size in ends))
    total, groups = best[cells]
    groups = tuple(sorted(groups))
    whole = [max(1, round(_GROUP_STEPS * roots[size] / total)) for size in groups]
    shares = tuple(Fraction(part, sum(whole)) for part in whole)
    rows = tuple(
        _rows_of_group(size, epsilon * float(share), square=square) for size, share in zip(groups, shares, strict=True)
    )
    return groups, shares, rows


def _rows_of_group(size: int, epsilon: float, *, square: bool) -> tuple[SignedRows, tuple[Fraction, ...]]:
    return signed_rows(size, epsilon, square=square) if size <= MOST_CELLS_SEARCHED else paired_rows(size // 2)


def paired_rows(pairs: int) -> tuple[SignedRows, tuple[Fraction, ...]]:
    """Return rows for one cell x and pairs (y, z): x at share 1/2; y - z and x - y - z of each pair at 1/(2 pairs)."""
    # If x changes, it costs 1/2, and each pair costs one share, however it changes: 1 in all. If x does not change,
    # each pair costs at most two shares: at most 1 in all.
    cells = 2 * pairs + 1
    rows = [tuple(int(at == 0) for at in range(cells))]
    for first in range(1, cells, 2):
        second = first + 1
        rows.append(tuple((at == first) - (at == second) for at in range(cells)))
        rows.append(tuple((at == 0) - (at in (first, second)) for at in range(cells)))
    return tuple(rows), (Fraction(1, 2), *[Fraction(1, 2 * pairs)] * (2 * pairs))


@dataclass(frozen=True, slots=True, eq=False)
class _Pool:
    """Rows to choose from; no row is a multiple of another."""

    rows: NDArray[np.int64]  # (rows, cells)
    loads: Floats  # |a d| for each change d and row a; (changes, rows)
    gram: Floats  # M of tr(M X^-1); (cells, cells)

    @classmethod
    def of(cls, cells: int, gram: Floats) -> "_Pool":
        top = 2 if cells <= 3 else 1
        entries = product(range(-top, top + 1), repeat=cells)
        rows = np.array([row for row in entries if any(row) and next(filter(None, row)) > 0 and gcd(*row) == 1])
        return cls(rows, _loads(rows), gram)

    def values(self, sets: NDArray[np.intp]) -> Floats:
        """Return tr(M X^-1) for sets of rows, (sets, rows), at equal levels that spend the full level."""
        chosen = self.rows[sets].astype(float)
        X = np.einsum("bij,bik->bjk", chosen, chosen)
        charges = self.loads[:, sets].sum(axis=2).max(axis=0)
        full = np.abs(np.linalg.det(X)) > 0.5  # the determinant is an integer
        values = np.full(len(sets), np.inf)
        values[full] = (np.linalg.inv(X[full]) * self.gram).sum(axis=(1, 2)) * charges[full] ** 2
        return values


@lru_cache(maxsize=32)
def _searched(cells: int, square: bool, gram: Gram | None) -> tuple[_Pool, list[tuple[int, ...]]]:
    """Search sets of rows by exchanges at equal levels; return all rows, the best sets, and the set of single cells."""
    # The result is the same at every level, so it is cached.
    pool = _Pool.of(cells, np.eye(cells) / cells if gram is None else np.array(gram))
    alone = tuple(int(np.flatnonzero((pool.rows == row).all(axis=1))[0]) for row in np.eye(cells, dtype=int))
    seen: dict[tuple[int, ...], float] = {alone: float(pool.values(np.array([alone]))[0])}
    random = np.random.default_rng(0)
    counts = [cells if square else cells + start % 3 for start in range(_STARTS)]
    starts = [alone, *(tuple(random.permutation(len(pool.rows))[:count].tolist()) for count in counts)]
    for start in starts:
        place, value = tuple(sorted(start)), np.inf
        for _ in range(_MOVES):
            best, least = place, value
            for sets in filter(len, _neighbours(place, len(pool.rows), cells, square=square)):
                values = pool.values(sets)
                for nearest in np.argsort(values, kind="stable")[:4]:
                    seen[tuple(sorted(sets[nearest].tolist()))] = float(values[nearest])
                if values.min() < least * (1 - 1e-12):  # ignore smaller gains, or the search would cycle
                    best, least = tuple(sorted(sets[int(values.argmin())].tolist())), float(values.min())
            if best == place:
                break
            place, value = best, least
    nearest_sets = sorted(seen, key=lambda chosen: (seen[chosen], chosen))[:_POLISHED]
    return pool, [*nearest_sets, alone, *_found(pool)]


def _found(pool: _Pool) -> list[tuple[int, ...]]:
    """Return the set of `_FOUND` for this number of cells, with the cells in the best order."""
    cells = pool.rows.shape[1]
    if cells not in _FOUND:
        return []
    places = {tuple(row): place for place, row in enumerate(pool.rows.tolist())}
    places |= {tuple(-entry for entry in row): place for row, place in places.items()}
    known = np.array(_FOUND[cells])
    orders = [tuple(places[tuple(row)] for row in known[:, order].tolist()) for order in permutations(range(cells))]
    return [orders[int(pool.values(np.array(orders)).argmin())]]


def _neighbours(place: tuple[int, ...], pool: int, cells: int, *, square: bool) -> Iterator[NDArray[np.intp]]:
    """Yield arrays of sets that differ from a set by one row: exchanged, added, or left out."""
    others = np.setdiff1d(np.arange(pool), place)
    size = len(place)
    # Exchange each row of the set for each row outside it.
    exchanged = np.tile(np.array(place), (size * len(others), 1))
    exchanged[np.arange(len(exchanged)), np.repeat(np.arange(size), len(others))] = np.tile(others, size)
    yield exchanged
    if square:
        return
    if size < 2 * cells:
        yield np.column_stack([np.tile(np.array(place), (len(others), 1)), others])
    if size > cells:
        yield np.array([place[:at] + place[at + 1 :] for at in range(size)])


def _optimized(pool: _Pool, chosen: Sequence[int], epsilon: float) -> tuple[float, SignedRows, tuple[Fraction, ...]]:
    """Optimize shares at the level; return the weighted variance, the rows without tiny shares, and their shares."""
    rows = pool.rows[list(chosen)]
    loads = pool.loads[:, list(chosen)]
    shares = _descended(rows, loads, epsilon, pool.gram)
    while len(rows) > rows.shape[1] and shares.min() < _TRACE:
        left = np.arange(len(rows)) != shares.argmin()
        if np.linalg.matrix_rank(rows[left]) < rows.shape[1]:
            break
        rows, loads = rows[left], loads[:, left]
        shares = _descended(rows, loads, epsilon, pool.gram)
    listed = tuple(tuple(map(int, row)) for row in rows)
    rounded = []
    for parts in _PARTS:
        whole = [Fraction(max(1, round(float(share) * parts)), parts) for share in shares]
        spent = charge_of_rows(listed, whole, nonnegative=True)
        exact = tuple(share / spent for share in whole)
        rounded.append((_error_of(listed, exact, epsilon, pool.gram), exact))
    least = min(variance for variance, _ in rounded)
    variance, exact = next(pair for pair in rounded if pair[0] <= least * (1 + _PLAIN))
    order = sorted(range(len(listed)), key=lambda at: (-exact[at], listed[at]))
    return variance, tuple(listed[at] for at in order), tuple(exact[at] for at in order)


def _descended(rows: NDArray[np.int64], loads: Floats, epsilon: float, gram: Floats) -> Floats:
    """Search for shares of little error from equal shares: random steps (fixed seed), which shrink when none gains."""
    random = np.random.default_rng(0)
    share = np.ones(len(rows))
    value, width = _errors(rows, loads, share[None], epsilon, gram)[0], _WIDEST
    while width > _NARROWEST:
        steps = random.normal(scale=width, size=(_DIRECTIONS, len(rows)))
        tried = share * np.exp(np.concatenate([steps, np.diag(np.full(len(rows), width))]))
        errors = _errors(rows, loads, tried, epsilon, gram)
        nearest = int(errors.argmin())
        if errors[nearest] < value * (1 - 1e-9):  # else try smaller steps
            share, value = tried[nearest], errors[nearest]
        else:
            width /= 2
    return np.asarray(share / (loads @ share).max())


def _errors(rows: NDArray[np.int64], loads: Floats, shares: Floats, epsilon: float, gram: Floats) -> Floats:
    """Return tr(M X^-1) at shares that are scaled to spend the level, divided by 2/epsilon^2."""
    levels = shares * (epsilon / (shares @ loads.T).max(axis=1, keepdims=True))
    precisions = 2 * np.sinh(np.minimum(levels, 700.0) / 2) ** 2 * (2 / epsilon**2)
    A = rows.astype(float)
    X = np.einsum("bi,ij,ik->bjk", precisions, A, A)
    try:
        inverses = np.linalg.inv(X)
    except np.linalg.LinAlgError:  # if only a total is wanted, the other rows have nearly no level
        inverses = np.linalg.inv(X + _LOST * X.trace(axis1=1, axis2=2)[:, None, None] * np.eye(A.shape[1]))
    return np.asarray((inverses * gram).sum(axis=(1, 2)))


def _error_of(rows: SignedRows, shares: Sequence[Fraction], epsilon: float, gram: Floats | None = None) -> float:
    """Return tr(M X^-1) at shares that spend the level; M is ``gram``, by default for the cells' mean variance."""
    A = np.array(rows)
    weights = np.eye(A.shape[1]) / A.shape[1] if gram is None else gram
    return float(_errors(A, _loads(A), np.array([[float(share) for share in shares]]), epsilon, weights)[0])


def _loads(rows: NDArray[np.int64]) -> Floats:
    """Return |a d| for each row a and each nonzero change d in {0, 1}^cells; (changes, rows)."""
    changes = np.array([change for change in product((0, 1), repeat=rows.shape[1]) if any(change)])
    return np.asarray(np.abs(changes @ rows.T), dtype=float)
