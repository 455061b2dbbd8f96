"""Search for the kernels of a privacy type in compiled code, by a depth-first search over sets of independent vertices.

**The tableau, in floating point and in prime fields.**

The simplex tableau of the walk is stored twice: in floating point with a running error bound, and modulo several
primes. A rational entry that is nonzero modulo one prime is nonzero. An entry that is zero modulo all primes is taken
as zero, and set to zero in floating point too. The sign of any other entry is known if the absolute value of its float
exceeds the error bound.

**The walk.**

A kernel is a set of independent vertices (columns) such that the vector of ones, the target, is a combination of the
columns with positive coefficients. The walk chooses columns in ascending order, so it visits each set once. The walk
pivots each chosen column into a row, so a layer of the tableau expresses all columns, and the target, in terms of the
chosen columns. From n - 2 chosen columns, one double loop finds all pairs that complete them to a kernel. If neither
floating point nor prime fields decide whether a set is a kernel, the caller decides with exact numbers.

The comparison of an entry with 0 has three outcomes. A float beyond the error bound decides the sign. An entry that is
zero in all prime fields has been set to 0.0 and counts as zero. In any other case the sign is open. The walk never
visits a set twice, so it rejects a set only if the signs that exclude a kernel are certain. A set with an open sign is
stored as an open set.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.balls import ROUNDING
from utmost.core.exact.compilation import in_machine_code

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    return in_machine_code(function)


def compiled_inside(function: F) -> F:
    """Compile the function to machine code, for calls from other compiled functions only."""
    return in_machine_code(function, inside=True)


_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
ZERO = np.uint64(0)


class Walk(NamedTuple):
    """The whole state of a walk, so that the walk can stop and continue anywhere; at depth k, k columns are chosen."""

    tableau: NDArray[np.float64]  # (n-1, n, m+1) by depth, row, column; the last column is the target
    error: NDArray[np.float64]  # (n-1, m+1) for each depth and column, a bound on the error of any entry
    size: NDArray[np.float64]  # (n-1, m+1) for each depth and column, a bound on the absolute value of any entry
    residues: NDArray[np.uint64]  # (n-1, F, n, m+1) the tableau modulo F primes; each row is known up to a factor
    primes: NDArray[np.uint64]  # (F,) primes p below 2^31
    inverses: NDArray[np.uint64]  # (F,) -1/p modulo 2^32
    chosen: NDArray[np.int64]  # (n,) the chosen columns
    # (n+1,) rows[c + 2] is the pivot row of chosen column c; rows[0] and rows[1] are the last two unpivoted rows
    rows: NDArray[np.int64]
    used: NDArray[np.bool_]  # (n,) whether each row is pivoted
    coming: NDArray[np.int64]  # (n,) the column to try next at each depth
    depth: NDArray[np.int64]  # (1,) the number of chosen columns; -1 at the end of the walk
    rays: NDArray[np.float64]  # (m, n) the rays that `_cast_rays` computes
    ray_error: NDArray[np.float64]  # (m, 2) the error bounds that `_cast_rays` computes
    sizes: NDArray[np.int64]  # (n+1, n+1) kernels by size and by the number of their columns among the first `lead`
    certain: NDArray[np.int16]  # (., n) the column numbers of each kernel, filled up with -1
    doubt: NDArray[np.int16]  # (., n) the column numbers of each open set, filled up with -1
    filled: NDArray[np.int64]  # (2,) the numbers of rows in use in `certain` and `doubt`
    lead: int  # the number of columns in the orbit that is searched; they come first
    keep: bool  # whether kernels are stored, not only counted


@compiled_inside
def times_modulo(a: Any, b: Any, p: Any, inverse: Any) -> Any:
    """Return a b / 2^32 modulo p (Montgomery's product). The factor 1 / 2^32 does not change whether a sum of products
    is 0.
    """
    t = a * b
    r = (t + ((t & _LOW) * inverse & _LOW) * p) >> _HALF
    return r - p if r >= p else r


@compiled_inside
def minus_modulo(a: Any, b: Any, p: Any) -> Any:
    return a - b if a >= b else a + p - b


@compiled
def largest_row(column: NDArray[np.float64], used: NDArray[np.bool_]) -> int:
    """Return the unused row with the largest absolute entry; among several such rows, the first."""
    best = -1
    for row in range(len(column)):
        if not used[row] and (best < 0 or abs(column[row]) > abs(column[best])):
            best = row
    return best


@compiled
def pivot(walk: Walk, k: int, j: int, row: int) -> None:
    """Compute layer k + 1 of the tableau: pivot column j in a row, and update the later columns and the target."""
    _pivot_floats(walk.tableau[k], walk.tableau[k + 1], walk.error, walk.size, k, j, row)
    for f in range(len(walk.primes)):
        _pivot_residues(walk.residues[k, f], walk.residues[k + 1, f], walk.primes[f], walk.inverses[f], j, row)
    _clear_zeros(walk.tableau[k + 1], walk.error[k + 1], walk.residues[k + 1], j + 1)


@compiled_inside
def _pivot_floats(
    old: NDArray[np.float64], new: NDArray[np.float64], error: Any, size: Any, k: int, j: int, row: int
) -> None:
    n, m = old.shape[0], old.shape[1] - 1
    head, head_error, head_size = old[row, j], error[k, j], size[k, j]
    # Lower bound of |pivot|. If it is not positive, no later sign is known in floats, and only the fields decide.
    certain = abs(head) - head_error
    for i in range(j + 1, m + 1):
        f = old[row, i] / head
        # The error of the quotient f: the errors of numerator and divisor, divided by the lower bound of the divisor,
        # plus one rounding.
        off = np.inf if certain <= 0 else (error[k, i] + abs(f) * head_error) / certain + ROUNDING * abs(f)
        grown = size[k, i] + head_size * abs(f)
        size[k + 1, i] = abs(f)
        # Bound the error of `value` below by the errors of old, factor and f, and four roundings of their bounds.
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


@compiled_inside
def _pivot_residues(
    old: NDArray[np.uint64], new: NDArray[np.uint64], p: np.uint64, inverse: np.uint64, j: int, row: int
) -> None:
    n, m = old.shape[0], old.shape[1] - 1
    # Cross-multiply, because one inverse modulo p takes as long as thirty products. This multiplies each row by a
    # factor.
    head = old[row, j]
    for other in range(n):
        factor = old[other, j]
        if other == row:
            for i in range(j + 1, m + 1):
                new[other, i] = old[other, i]
        else:
            for i in range(j + 1, m + 1):
                new[other, i] = minus_modulo(
                    times_modulo(head, old[other, i], p, inverse), times_modulo(factor, old[row, i], p, inverse), p
                )


@compiled_inside
def _clear_zeros(tableau: NDArray[np.float64], error: NDArray[np.float64], residues: Any, start: int) -> None:
    n, m = tableau.shape[0], tableau.shape[1] - 1
    for row in range(n):
        for i in range(start, m + 1):
            if abs(tableau[row, i]) <= error[i] and _is_zero(residues, row, i):
                tableau[row, i] = 0.0


@compiled_inside
def _is_zero(residues: NDArray[np.uint64], row: int, i: int) -> bool:
    zero = True
    for f in range(len(residues)):
        zero &= residues[f, row, i] == ZERO
    return zero


@compiled_inside
def _is_hopeless(walk: Walk, k: int, start: int) -> bool:
    """Return whether a row proves that no kernel consists of the k chosen columns and of columns from ``start`` on."""
    # In an unpivoted row, some column must have the sign of the target. In a pivoted row with a target <= 0, some
    # column must have a negative entry, otherwise the coefficient of the chosen column stays <= 0.
    tableau, error = walk.tableau[k], walk.error[k]
    n, m = tableau.shape[0], tableau.shape[1] - 1
    for row in range(n):
        target = tableau[row, m]
        # Farkas' lemma: a row proves infeasibility if it separates all later columns from the target.
        if walk.used[row]:
            # The coefficient of a chosen column is target - sum x_i entry_i with x_i > 0, so only negative entries
            # make it larger.
            if target > error[m] or (target > -error[m] and target != 0.0):
                continue
            sign = -1.0
        else:
            # No column is pivoted in this row: sum x_i entry_i = target needs an entry with the sign of the target.
            if abs(target) <= error[m]:
                continue
            sign = 1.0 if target > 0 else -1.0
        helped = False
        for i in range(start, m):
            # An entry of uncertain sign may make a kernel possible, and a set may be skipped only if that is
            # impossible.
            if sign * tableau[row, i] > -error[i] and tableau[row, i] != 0.0:
                helped = True
                break
        if not helped:
            return True
    return False


@compiled_inside
def _record(walk: Walk, k: int, verdict: int) -> None:
    """Store the first k chosen columns as a kernel (verdict 1) or an open set (verdict 2)."""
    if verdict == 0:
        return
    if verdict == 1:
        # `count_by_walk` weights a kernel by the number of its columns in the orbit, the first `lead` columns.
        leading = 0
        while leading < k and walk.chosen[leading] < walk.lead:
            leading += 1
        walk.sizes[k, leading] += 1
        if not walk.keep:
            return
    store = walk.certain if verdict == 1 else walk.doubt
    row = walk.filled[verdict - 1]
    walk.filled[verdict - 1] += 1
    for c in range(len(walk.chosen)):
        store[row, c] = walk.chosen[c] if c < k else -1


@compiled_inside
def _spanning_verdict(walk: Walk, k: int) -> int:
    """Return the verdict on k columns that span the target: 1 if all coefficients are positive, 0 if not, 2 if a sign
    is open.
    """
    tableau, bound = walk.tableau[k], walk.error[k, -1]
    answer = 1
    for c in range(k):
        x = tableau[walk.rows[c + 2], -1]
        # If a coefficient is 0, fewer columns span the target, so the set is not minimal, and hence no kernel.
        if x < -bound or x == 0.0:
            return 0
        if x <= bound:
            answer = 2
    return answer


@compiled_inside
def _cast_rays(walk: Walk, k: int, start: int) -> bool:
    """Write the rays of the columns from ``start`` on into ``walk.rays``; return False if error bounds are too wide."""
    # Let s be the entry of a column in rows[1] after rows[0] has cleared the target from rows[1]. Columns p and q
    # complete a kernel of size n if and only if s_p > 0 > s_q and rays[p] + rays[q] > 0 in every entry before the last:
    # then p / |s_p| + q / |s_q| is a positive multiple of the target, and the entries of the sum of rays are
    # proportional to the coefficients of the chosen columns. The last entry of a ray is s; ray_error[., 1] bounds the
    # error of s, and ray_error[., 0] that of the other entries.
    tableau, error, size, rays, ray_error = walk.tableau[k], walk.error[k], walk.size[k], walk.rays, walk.ray_error
    n, m = tableau.shape[0], tableau.shape[1] - 1
    first, second = walk.rows[0], walk.rows[1]
    u, off = tableau[first, m], error[m]
    # u is the larger target of the two rows, and the divisor below; the test keeps its relative error below 1/16.
    if abs(u) <= 16 * off:
        return False
    # The target is 0 in row `second` minus w times row `first`, so the entries of p and q must cancel there.
    w = tableau[second, m] / u
    # Relative errors of a quotient add up; 1.1 exceeds 1 / (1 - 1/16), the effect of the error of the divisor.
    w_off = 1.1 * off * (1 + abs(w)) / abs(u) + ROUNDING * abs(w)
    for j in range(start, m):
        t = tableau[first, j]
        s = tableau[second, j] - w * t
        s_off = error[j] * (1 + abs(w)) + w_off * (abs(t) + error[j]) + 4 * ROUNDING * (abs(s) + abs(w * t))
        rays[j, n - 1], ray_error[j, 1] = s, s_off
        if abs(s) <= 16 * s_off:
            continue  # s is zero or of open sign; `_complete` handles this column
        # Rays are scaled to |s| = 1, so both columns of a pair have coefficient 1: adding two rays costs O(n).
        inverse = 1 / abs(s)
        relative = s_off * inverse + off / abs(u) + 4 * ROUNDING
        scaled = t * inverse / u
        scaled_off = 2 * (error[j] * inverse / abs(u) + abs(scaled) * relative)
        # Bound the error of other entries: the errors of target and column, each times the magnitude of the other
        # factor.
        others = size[m] * scaled_off + off * abs(scaled) + 2 * inverse * (error[j] + size[j] * relative)
        rays[j, 0] = scaled
        ray_error[j, 0] = max(scaled_off, others + 4 * ROUNDING * (size[m] * abs(scaled) + inverse * size[j]))
        for c in range(n - 2):
            rays[j, c + 1] = tableau[walk.rows[c + 2], m] * scaled - tableau[walk.rows[c + 2], j] * inverse
    return True


@compiled_inside
def _s_is_zero(walk: Walk, k: int, j: int) -> bool:
    m = walk.tableau.shape[2] - 1
    first, second = walk.rows[0], walk.rows[1]
    # s is a minor of two rows and two columns, so the unknown factors of the rows do not change whether s is 0.
    for f in range(len(walk.primes)):
        r, p, inverse = walk.residues[k, f], walk.primes[f], walk.inverses[f]
        if times_modulo(r[first, m], r[second, j], p, inverse) != times_modulo(r[second, m], r[first, j], p, inverse):
            return False
    return True


@compiled_inside
def _entry_is_zero(walk: Walk, k: int, entry: int, i: int, j: int) -> bool:
    """Return whether one entry of rays[i] + rays[j] is 0 modulo all primes."""
    m = walk.tableau.shape[2] - 1
    first, second = walk.rows[0], walk.rows[1]
    for f in range(len(walk.primes)):
        r, p, v = walk.residues[k, f], walk.primes[f], walk.inverses[f]
        # For s_i > 0 > s_j, the sum of the scaled rays is zero if and only if ray i times s_j equals ray j times s_i.
        # The unknown factors of rows multiply both products, so they do not matter.
        s_i = minus_modulo(
            times_modulo(r[first, m], r[second, i], p, v), times_modulo(r[second, m], r[first, i], p, v), p
        )
        s_j = minus_modulo(
            times_modulo(r[first, m], r[second, j], p, v), times_modulo(r[second, m], r[first, j], p, v), p
        )
        total = minus_modulo(times_modulo(r[first, i], s_j, p, v), times_modulo(r[first, j], s_i, p, v), p)
        if entry > 0:
            row = walk.rows[entry + 1]
            own = minus_modulo(times_modulo(r[row, i], s_j, p, v), times_modulo(r[row, j], s_i, p, v), p)
            total = minus_modulo(times_modulo(r[row, m], total, p, v), times_modulo(r[first, m], own, p, v), p)
        if total != ZERO:
            return False
    return True


@compiled_inside
def _close_verdict(walk: Walk, k: int, i: int, j: int, bound: float) -> int:
    """Return the verdict 0 (no kernel) if some entry of rays[i] + rays[j] is zero, else the verdict 2 (open)."""
    # An entry is a coefficient up to a factor, and no coefficient of a kernel is 0.
    for c in range(k + 1):
        if abs(walk.rays[i, c] + walk.rays[j, c]) <= bound and _entry_is_zero(walk, k, c, i, j):
            return 0
    return 2


@compiled_inside
def _single_verdict(walk: Walk, k: int, j: int) -> int:
    """Return whether column j with s = 0 (see `_cast_rays`) completes a kernel of size n - 1: 1 yes, 0 no, 2 open."""
    tableau, m = walk.tableau[k], walk.tableau.shape[2] - 1
    u, t, off, t_off = tableau[walk.rows[0], m], tableau[walk.rows[0], j], walk.error[k, m], walk.error[k, j]
    # With s = 0, the column and the target are proportional in the two last rows. The coefficient x = u / t must be
    # positive.
    if t == 0.0 or (t * u < 0 and abs(t) > t_off):
        return 0
    if abs(t) <= 16 * t_off:
        return 2
    x = u / t
    relative = off / abs(u) + t_off / abs(t) + 4 * ROUNDING
    bound = off + 2 * x * (t_off + relative * walk.size[k, j]) + 4 * ROUNDING * (walk.size[k, m] + x * walk.size[k, j])
    answer = 1
    for c in range(k):
        row = walk.rows[c + 2]
        value = tableau[row, m] - x * tableau[row, j]
        if value < -bound:
            return 0
        if value <= bound:
            if _minor_is_zero(walk, k, row, j):
                return 0
            answer = 2
    return answer


@compiled_inside
def _minor_is_zero(walk: Walk, k: int, row: int, j: int) -> bool:
    m, first = walk.tableau.shape[2] - 1, walk.rows[0]
    for f in range(len(walk.primes)):
        r, p, v = walk.residues[k, f], walk.primes[f], walk.inverses[f]
        if times_modulo(r[row, m], r[first, j], p, v) != times_modulo(r[first, m], r[row, j], p, v):
            return False
    return True


@compiled_inside
def _complete(walk: Walk, k: int, start: int, ups: NDArray[np.int64], downs: NDArray[np.int64]) -> None:
    """Find all kernels that consist of the k = n - 2 chosen columns and one or two columns from ``start`` on."""
    m, n = walk.tableau.shape[2] - 1, walk.tableau.shape[1]
    clear = _cast_rays(walk, k, start)
    n_up, n_down = 0, 0
    # The two columns of a pair have s of opposite signs, so each column with s > 0 is tried with each with s < 0.
    for j in range(start, m):
        s = walk.rays[j, n - 1]
        if clear and abs(s) > 16 * walk.ray_error[j, 1]:
            if s > 0:
                ups[n_up] = j
                n_up += 1
            else:
                downs[n_down] = j
                n_down += 1
        elif _s_is_zero(walk, k, j):
            # A column with s = 0 is in no pair, because no other s cancels it; it may complete a kernel of size n - 1.
            walk.chosen[k] = j
            _record(walk, k + 1, _single_verdict(walk, k, j) if clear else 2)
        else:
            _doubt_all(walk, k, start, j)
    rays, ray_error = walk.rays, walk.ray_error
    for a in range(n_up):
        i = ups[a]
        for b in range(n_down):
            j = downs[b]
            bound = ray_error[i, 0] + ray_error[j, 0]
            # This loop takes most of the time. Most pairs fail at one of the first entries. Pairs that add up to a
            # negative multiple of the target fail at entry 0.
            lowest = np.inf
            for c in range(n - 1):
                total = rays[i, c] + rays[j, c]
                if total < lowest:
                    lowest = total
                    if total < -bound:
                        break
            if lowest >= -bound:
                verdict = 1 if lowest > bound else _close_verdict(walk, k, i, j, bound)
                walk.chosen[k], walk.chosen[k + 1] = min(i, j), max(i, j)
                _record(walk, k + 2, verdict)


@compiled_inside
def _doubt_all(walk: Walk, k: int, start: int, j: int) -> None:
    """Store each pair of column j, whose s (see `_cast_rays`) has an open sign, with another column as an open set."""
    m, n = walk.tableau.shape[2] - 1, walk.tableau.shape[1]
    # If both columns of a pair have an open sign, the call for the earlier column stores it.
    for i in range(start, m):
        has_sign = abs(walk.rays[i, n - 1]) > 16 * walk.ray_error[i, 1]
        if i > j or (i < j and has_sign):
            walk.chosen[k], walk.chosen[k + 1] = min(i, j), max(i, j)
            _record(walk, k + 2, 2)


@compiled
def complete(walk: Walk) -> bool:
    """Record all kernels that contain the n - 2 chosen columns; return False if these columns span the target."""
    n, m = walk.tableau.shape[1], walk.tableau.shape[2] - 1
    # The row with the larger target comes first, because `_cast_rays` divides by that target.
    walk.rows[0] = largest_row(walk.tableau[n - 2, :, m], walk.used)
    if walk.tableau[n - 2, walk.rows[0], m] == 0.0:
        return False
    walk.used[walk.rows[0]] = True
    walk.rows[1] = largest_row(walk.tableau[n - 2, :, m], walk.used)
    walk.used[walk.rows[0]] = False
    _complete(walk, n - 2, n - 2, np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64))
    return True


@compiled
def resume_walk(walk: Walk, patience: int) -> bool:
    """Continue the walk. Return True if the walk paused because its arrays were nearly full or ``patience`` sets had
    been completed, and False if the walk has ended.
    """
    n, m = walk.tableau.shape[1], walk.tableau.shape[2] - 1
    ups, downs = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    # One call of `_complete` stores at most all pairs of columns, so one check before the call is enough.
    pairs = m * (m + 1) // 2 + 1
    room_found = len(walk.certain) - pairs if walk.keep else 1
    room_doubt = len(walk.doubt) - pairs
    completed = 0
    while walk.depth[0] >= 0:
        if walk.filled[0] > room_found or walk.filled[1] > room_doubt or completed >= patience:
            return True
        k = walk.depth[0]
        j = walk.coming[k]
        walk.coming[k] += 1
        # The first column stays column 0, the representative of the orbit: the other kernels of the orbit are images of
        # kernels with it.
        if j >= m or (k == 0 and j > 0):
            walk.depth[0] = k - 1
            if k > 0:
                walk.used[walk.rows[k + 1]] = False
            continue
        # The largest entry is the pivot, to keep errors small. If all entries are 0, column j depends on the chosen
        # columns.
        row = largest_row(walk.tableau[k, :, j], walk.used)
        if walk.tableau[k, row, j] == 0.0:
            continue
        walk.chosen[k], walk.rows[k + 2] = j, row
        walk.used[row] = True
        pivot(walk, k, j, row)
        walk.rows[0] = largest_row(walk.tableau[k + 1, :, m], walk.used)
        # If the target is 0 in all unpivoted rows, the chosen columns span it, and no superset is a kernel.
        if walk.tableau[k + 1, walk.rows[0], m] == 0.0:
            _record(walk, k + 1, _spanning_verdict(walk, k + 1))
        elif not _is_hopeless(walk, k + 1, j + 1):
            if k + 1 < n - 2:
                walk.depth[0] = k + 1
                walk.coming[k + 1] = j + 1
                continue
            walk.used[walk.rows[0]] = True
            walk.rows[1] = largest_row(walk.tableau[k + 1, :, m], walk.used)
            walk.used[walk.rows[0]] = False
            _complete(walk, k + 1, j + 1, ups, downs)
            completed += 1
        walk.used[row] = False
    return False
