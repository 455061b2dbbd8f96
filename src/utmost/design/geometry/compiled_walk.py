"""The compiled kernel search: a depth-first walk over sets of independent columns, with its tableau.

**The tableau of the compiled kernel search, in floating point and in prime fields at once.**

A tableau is kept twice: in floating point with a running error bound, and in prime fields. An entry that is nonzero in
a field is nonzero; one that is zero in all of them is zero and set to zero in floating point too; the sign of any other
is read off where it exceeds the bound.

**The walk.**

A kernel is a set of independent vertices (columns) of which the vector of ones, the target, is a combination with
positive coefficients. The walk chooses columns in ascending order, so each set is met once; it pivots each chosen
column into a row, so that a layer of the tableau holds all columns, and the target, in terms of the chosen ones. A set
of n - 2 columns is completed by pairs all at once. What neither floating point nor prime fields decide is left to the
caller and exact numbers.

Every comparison has three outcomes: beyond the error bound a float decides; an entry that is zero in all prime fields
has been set to 0.0 and counts as zero; the rest is open. An answer "no" must be certain, for nobody asks again; where
it is not, the set goes on, and ends as a kernel that is certain or as one that is open.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.balls import ROUNDING
from utmost.core.exact.compilation import in_machine_code

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """The function in machine code."""
    return in_machine_code(function)


def compiled_inside(function: F) -> F:
    """The function in machine code, for other compiled functions alone."""
    return in_machine_code(function, inside=True)


_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
ZERO = np.uint64(0)


class Walk(NamedTuple):
    """All that the walk knows, so that it can stop anywhere and go on. Level l has l columns chosen.

    ``tableau`` (n-1, n, m+1): depth, row, column; the last column is the target, the vector of ones.
    ``error``, ``size`` (n-1, m+1): bounds on the error and the magnitude of a column's entries.
    ``residues`` (n-1, F, n, m+1): the tableau in F fields, rows up to factors. ``primes``, ``inverses`` (F,): below
    2^31, and -1/p modulo 2^32. ``chosen``, ``rows`` (n,): the chosen columns; their pivot rows from rows[2] on, and in
    rows[0], rows[1] the last two unpivoted ones. ``used`` (n,): which rows are pivoted. ``coming`` (n,): the column to
    try next at each depth; ``depth`` (1,). ``rays`` (m, n), ``ray_error`` (m, 2): see `_cast_rays`. ``sizes`` (n+1,
    n+1): kernels by size and by how many of their columns are among the first ``lead``. ``certain``, ``doubt``: kernels
    and open sets, with ``filled`` (2,) rows in use.
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
    depth: NDArray[np.int64]
    rays: NDArray[np.float64]
    ray_error: NDArray[np.float64]
    sizes: NDArray[np.int64]
    certain: NDArray[np.int16]
    doubt: NDArray[np.int16]
    filled: NDArray[np.int64]
    lead: int
    keep: bool


@compiled_inside
def times_modulo(a: Any, b: Any, p: Any, inverse: Any) -> Any:
    """a b / 2^32 modulo p (Montgomery's product): the factor is the same for all terms of a sum, and harmless."""
    t = a * b
    r = (t + ((t & _LOW) * inverse & _LOW) * p) >> _HALF
    return r - p if r >= p else r


@compiled_inside
def minus_modulo(a: Any, b: Any, p: Any) -> Any:
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
    """Depth k + 1: column j becomes a unit column; columns after j and the target are brought up to date."""
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
    # How far the pivot surely is from 0: where that is nothing, no later sign is known, and the fields decide alone.
    certain = abs(head) - head_error
    for i in range(j + 1, m + 1):
        f = old[row, i] / head
        # The error of a quotient: those of its two terms over the least that the divisor may be, and its rounding.
        off = np.inf if certain <= 0 else (error[k, i] + abs(f) * head_error) / certain + ROUNDING * abs(f)
        grown = size[k, i] + head_size * abs(f)
        size[k + 1, i] = abs(f)
        # Of value = old - factor * f below: the errors of all three, and four roundings of what they may grow to.
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
    # Cross-multiplied, since an inverse in a field costs as much as thirty products: rows are known up to a factor.
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
    """Whether some row shows that no columns from ``start`` on complete the chosen ones.

    An unpivoted row needs a column with the sign of the target; a pivoted one whose target is not positive needs a
    column with a negative entry, or its coefficient stays so.
    """
    tableau, error = walk.tableau[k], walk.error[k]
    n, m = tableau.shape[0], tableau.shape[1] - 1
    for row in range(n):
        target = tableau[row, m]
        # Farkas: in such a row the later columns all lie on one side, and the target strictly on the other.
        if walk.used[row]:
            # A chosen column's coefficient is target - sum x_i entry_i, x_i > 0: only negative entries raise it.
            if target > error[m] or (target > -error[m] and target != 0.0):
                continue
            sign = -1.0
        else:
            # Nothing stands for this row yet: sum x_i entry_i = target needs an entry of the target's sign.
            if abs(target) <= error[m]:
                continue
            sign = 1.0 if target > 0 else -1.0
        helped = False
        for i in range(start, m):
            # An entry of uncertain sign may help: pruning must be certain.
            if sign * tableau[row, i] > -error[i] and tableau[row, i] != 0.0:
                helped = True
                break
        if not helped:
            return True
    return False


@compiled_inside
def _record(walk: Walk, k: int, verdict: int) -> None:
    """The first k chosen columns written down as a kernel (1) or an open set (2)."""
    if verdict == 0:
        return
    if verdict == 1:
        # How many members of the orbit it holds: its images are counted by that.
        leading = 0
        while leading < k and walk.chosen[leading] < walk.lead:
            leading += 1
        walk.sizes[k, leading] += 1
        if not walk.keep:
            return
    store = walk.certain if verdict == 1 else walk.doubt
    place = walk.filled[verdict - 1]
    walk.filled[verdict - 1] += 1
    for c in range(len(walk.chosen)):
        store[place, c] = walk.chosen[c] if c < k else -1


@compiled_inside
def _spanning_verdict(walk: Walk, k: int) -> int:
    """The verdict on k columns that span the target: 1 if all coefficients are positive, 0 if not, 2 if it is open."""
    tableau, bound = walk.tableau[k], walk.error[k, -1]
    answer = 1
    for c in range(k):
        x = tableau[walk.rows[c + 2], -1]
        # A coefficient 0 means that fewer columns span the target already: no kernel, which is minimal.
        if x < -bound or x == 0.0:
            return 0
        if x <= bound:
            answer = 2
    return answer


@compiled_inside
def _cast_rays(walk: Walk, k: int, start: int) -> bool:
    """The ray that each column from ``start`` on can add to n - 2 chosen ones; False if the target is too small.

    Let s be a column's entry in rows[1] after that row has been cleared of the target by rows[0]. Columns p, q complete
    a kernel of size n exactly when s_p > 0 > s_q and rays[p] + rays[q] > 0 in every entry before the last:
    p / |s_p| + q / |s_q| then stands for a positive multiple of the target, and the entries are the coefficients of
    the chosen columns in proportion. The last entry is s; ray_error[., 1] bounds its error, ray_error[., 0] that of the
    others.
    """
    tableau, error, size, rays, ray_error = walk.tableau[k], walk.error[k], walk.size[k], walk.rays, walk.ray_error
    n, m = tableau.shape[0], tableau.shape[1] - 1
    first, second = walk.rows[0], walk.rows[1]
    u, off = tableau[first, m], error[m]
    # u has the largest target left; everything below divides by it, and 16 error bounds keep a relative error of 1/16.
    if abs(u) <= 16 * off:
        return False
    # Row two less w times row one: there the target is 0, so that p and q must cancel.
    w = tableau[second, m] / u
    # The relative errors of a quotient add up; 1.1 is above 1 / (1 - 1/16), what the error of the divisor can do.
    w_off = 1.1 * off * (1 + abs(w)) / abs(u) + ROUNDING * abs(w)
    for j in range(start, m):
        t = tableau[first, j]
        s = tableau[second, j] - w * t
        s_off = error[j] * (1 + abs(w)) + w_off * (abs(t) + error[j]) + 4 * ROUNDING * (abs(s) + abs(w * t))
        rays[j, n - 1], ray_error[j, 1] = s, s_off
        if abs(s) <= 16 * s_off:
            continue  # of unsure sign, or zero: `_complete` looks at it alone
        # Scaled to |s| = 1, the pair's coefficients are equal and the sum of two rays is the pair: O(n) for each pair.
        inverse = 1 / abs(s)
        relative = s_off * inverse + off / abs(u) + 4 * ROUNDING
        scaled = t * inverse / u
        scaled_off = 2 * (error[j] * inverse / abs(u) + abs(scaled) * relative)
        # The entries of the chosen columns: errors of target and column, each times the magnitude of the other factor.
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
    # s = 0 is a minor of two rows and two columns, without division: rows are known up to factors that do not matter.
    for f in range(len(walk.primes)):
        r, p, inverse = walk.residues[k, f], walk.primes[f], walk.inverses[f]
        if times_modulo(r[first, m], r[second, j], p, inverse) != times_modulo(r[second, m], r[first, j], p, inverse):
            return False
    return True


@compiled_inside
def _entry_is_zero(walk: Walk, k: int, entry: int, i: int, j: int) -> bool:
    """Whether rays[i] + rays[j] vanishes in an entry, by residues: rows are known up to a factor, so terms balance."""
    m = walk.tableau.shape[2] - 1
    first, second = walk.rows[0], walk.rows[1]
    for f in range(len(walk.primes)):
        r, p, v = walk.residues[k, f], walk.primes[f], walk.inverses[f]
        # p / |s_p| + q / |s_q| with s_p > 0 > s_q is zero exactly when p s_q - q s_p is.
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
    """The verdict on two columns whose rays add up to some entry too small to decide: 0 if one is zero, else 2."""
    # An entry that is zero in all fields is zero, and a kernel has no coefficient 0; one that is not stays open.
    for c in range(k + 1):
        if abs(walk.rays[i, c] + walk.rays[j, c]) <= bound and _entry_is_zero(walk, k, c, i, j):
            return 0
    return 2


@compiled_inside
def _single_verdict(walk: Walk, k: int, j: int) -> int:
    """The verdict on a column with s = 0: 1 if it completes a kernel of size n - 1, 0 if not, 2 if a sign is open."""
    tableau, m = walk.tableau[k], walk.tableau.shape[2] - 1
    u, t, off, t_off = tableau[walk.rows[0], m], tableau[walk.rows[0], j], walk.error[k, m], walk.error[k, j]
    # s = 0: the column is proportional to the target in both rows, with coefficient x = u / t, which must be positive.
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
    """All kernels that consist of the k = n - 2 chosen columns and one or two from ``start`` on."""
    m, n = walk.tableau.shape[2] - 1, walk.tableau.shape[1]
    clear = _cast_rays(walk, k, start)
    n_up, n_down = 0, 0
    # A pair needs s of both signs: sorted by sign, only ups times downs are looked at.
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
            # No pair holds it, as its s cancels no other: alone it completes a kernel of size n - 1, or nothing.
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
            # The hot loop: most pairs fail early, many at entry 0, the multiple of the target that they make up.
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
    """Column j has a nonzero s of open sign: every pair with it is left open, once."""
    m, n = walk.tableau.shape[2] - 1, walk.tableau.shape[1]
    # Of two columns of open sign the later one records the pair; one that has a sign is not met here by itself.
    for i in range(start, m):
        has_sign = abs(walk.rays[i, n - 1]) > 16 * walk.ray_error[i, 1]
        if i > j or (i < j and has_sign):
            walk.chosen[k], walk.chosen[k + 1] = min(i, j), max(i, j)
            _record(walk, k + 2, 2)


@compiled
def complete(walk: Walk) -> bool:
    """Complete the first n - 2 columns, chosen and pivoted, by later ones; False where they span the target alone."""
    n, m = walk.tableau.shape[1], walk.tableau.shape[2] - 1
    # Two rows are left. The one with the larger target is divided by, hence first.
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
    """Walk until the stores might overflow or ``patience`` sets have been completed (True), or all is done (False)."""
    n, m = walk.tableau.shape[1], walk.tableau.shape[2] - 1
    ups, downs = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    # One completion writes at most all pairs of columns: with so much room left it need not ask in between.
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
        # The first column is the representative of its orbit: kernels that hold another member are its images.
        if j >= m or (k == 0 and j > 0):
            walk.depth[0] = k - 1
            if k > 0:
                walk.used[walk.rows[k + 1]] = False
            continue
        # The largest entry as pivot keeps errors small. None left: the column depends on the chosen ones.
        row = largest_row(walk.tableau[k, :, j], walk.used)
        if walk.tableau[k, row, j] == 0.0:
            continue
        walk.chosen[k], walk.rows[k + 2] = j, row
        walk.used[row] = True
        pivot(walk, k, j, row)
        walk.rows[0] = largest_row(walk.tableau[k + 1, :, m], walk.used)
        # The target is 0 in all rows left: these columns span it, and no superset is independent and minimal.
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
