"""Finding a remap between two channels, or the joint loss that rules it out."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from utmost.core.exact.arrays import Array, Floats, as_array, as_rationals, is_exact, to_floats
from utmost.core.exact.linear_algebra import denominators, independent, matrix_product, solve_lifted
from utmost.design.channels.channel import Channel
from utmost.design.geometry.nearest_remaps import MergedPair, nearest_remap_exactly, remap_candidates
from utmost.design.geometry.refinement_proofs import prefers
from utmost.design.spaces import priors
from utmost.design.spaces.consumer import Consumer
from utmost.errors import SolverFailed

_BITS = (1, 3, 6, 10, 16, 24, 36, 50)


def preferring_consumer(
    loss: Array, near: tuple[Floats, Floats], A: Channel, B: Channel, slack: float
) -> Consumer | None:
    """A consumer who prefers A to B, with the loss given up to rounding and to what is the same for all actions.

    The prior is uniform. The entries are rounded to as few bits as do; an exact loss is taken as it is at last.

    Args:
        loss: (n, k), of either sign.
        near: Columns of B and of A in floats, for a first look.
        slack: Tolerance of `prefers` for float64 channels.
    """
    rough = to_floats(loss) if is_exact(loss) else loss
    size = float(abs(rough).max())
    if not np.isfinite(size) or size == 0:
        return None
    exactly = A.is_exact and B.is_exact
    for bits in _BITS:
        # A loss of few bits says more to a reader, and is as good a proof.
        rounded = np.rint(rough / size * 2.0**bits)
        if _seems_to_prefer(rounded, *near):
            consumer = _uniform_consumer(rounded.astype(np.int64), exactly)
            if prefers(consumer, A, B, slack):
                return consumer
    if is_exact(loss):
        consumer = _uniform_consumer(loss * int(np.lcm.reduce(denominators(loss).ravel())), exactly)
        return consumer if prefers(consumer, A, B, slack) else None
    return None


def _seems_to_prefer(joint: Floats, B: Floats, A: Floats) -> bool:
    """Whether floats see a preference beyond their rounding: what they do not see is left to exact losses."""
    mine, theirs = ((C.T @ joint).min(axis=1).sum() for C in (A, B))
    return bool(theirs - mine > 1e-13 * abs(joint).sum())  # beyond what rounds in the sums


def _uniform_consumer(integers: Array, exactly: bool) -> Consumer:
    """Uniform prior; rows shifted to a least loss of 0; actions that are the same, once."""
    shifted = integers - integers.min(axis=1, keepdims=True)
    actions = sorted({tuple(int(x) for x in action) for action in shifted.T})
    matrix = as_array([list(row) for row in zip(*actions, strict=True)])
    uniform = priors.uniform(len(matrix))
    return Consumer(uniform, matrix) if exactly else Consumer(to_floats(uniform), to_floats(matrix))


def one_column(entries: list[Fraction], column: int, width: int) -> Array:
    """A joint loss that is zero but for one action."""
    loss = np.full((len(entries), width), Fraction(0), dtype=object)
    loss[:, column] = entries
    return loss


RemapCheck = Callable[[Array], bool]
"""Whether a remap is near enough."""

Refutes = Callable[[Array], bool]
"""Whether a joint loss, float or exact, leads to a consumer that was checked."""


def near_remap(pair: MergedPair, is_near: RemapCheck, refutes: Refutes) -> Array | None:
    """A row-stochastic P that is near enough; None once a loss has been found that rules all of them out.

    Args:
        pair: Float64 channels.
        is_near: Function that tells whether a remap (m', k') of the merged pair is near enough.
        refutes: Function that is called with losses until it accepts one.

    Raises:
        SolverFailed: where the nearest remap is as far off as the tolerance, within the rounding of floats.
    """
    for candidate in remap_candidates(*pair.near):
        if candidate.loss is not None and refutes(candidate.loss):
            return None
        if candidate.remap is not None:
            remap = _stochastic(candidate.remap)
            if is_near(remap):
                return remap
    nearest = nearest_remap_exactly(as_rationals(pair.coarse), as_rationals(pair.fine))
    remap = _stochastic(to_floats(nearest.remap))
    if is_near(remap):
        return remap
    if refutes(nearest.loss):
        return None
    raise SolverFailed(
        "a refinement of floats must be decided by more than their rounding",
        came=f"a nearest remap {float(nearest.distance):.3g} off",
        remedy="Give another tolerance, or rational channels.",
    )


def _stochastic(near: Array) -> Array:
    """Negative entries put to 0, rows summing to 1."""
    clipped = np.maximum(near, 0.0)
    return np.asarray(clipped / clipped.sum(axis=1, keepdims=True))


_ROUNDED_BITS = 44
_SMALL_DENOMINATORS = (1, 60, 10**4, 10**7)


def exact_remap(pair: MergedPair, refutes: Refutes) -> Array | None:
    """The remap P >= 0 with B P = A and rows that sum to 1; None once a loss has been found that rules it out.

    Independent columns leave one candidate, which a linear system gives. Otherwise floats lead to an interior
    P, and the exact correction, through as many independent columns as there are, is too small to matter. Where no
    remap is interior, one with small denominators is tried, and then the linear program is solved exactly.

    Args:
        pair: B and A, exact.
        refutes: Function that is called with losses until it accepts one.
    """
    B, A = pair.coarse, pair.fine
    rows, columns = independent(B)
    only = len(columns) == B.shape[1]
    last = None
    for candidate in remap_candidates(*pair.near):
        if candidate.loss is not None and refutes(candidate.loss):
            return None
        if candidate.remap is not None and not only:
            last = candidate.remap
            corrected = _corrected(B, A, pair.near[0], candidate.remap, rows, columns)
            if corrected is not None:
                return corrected
    if only:
        return _only_remap(B, A, rows, refutes)
    simple = None if last is None else _remap_of_small_denominators(B, A, last)
    return _by_program(B, A, refutes) if simple is None else simple


def _only_remap(B: Array, A: Array, rows: list[int], refutes: Refutes) -> Array | None:
    """P = B^-1 A on independent rows: refuted by a row of B outside their span of A, or by a negative entry."""
    P = solve_lifted(B[rows], A[rows])
    rest = [x for x in range(len(B)) if x not in set(rows)]
    off = matrix_product(B[rest], P) - A[rest]
    # One witness is enough.
    for i, w in np.argwhere(off != 0)[:1].tolist():
        loss = _combination_of_rows(B, rows, -B[rest[i]])
        loss[rest[i]] = Fraction(1)
        _refute(one_column(list(loss * (1 if off[i, w] > 0 else -1)), w, A.shape[1]), refutes)
        return None
    if (P >= 0).all():
        return P
    y, w = np.unravel_index(int(P.argmin()), P.shape)
    loss = _combination_of_rows(B, rows, as_array([int(j == y) for j in range(B.shape[1])]))
    _refute(one_column(list(loss), int(w), A.shape[1]), refutes)
    return None


def _combination_of_rows(B: Array, rows: list[int], target: Array) -> Array:
    """A combination of independent rows of B that is the target, with a weight, maybe 0, for every row."""
    weights = np.full(len(B), Fraction(0), dtype=object)
    weights[rows] = solve_lifted(B[rows].T, target[:, None])[:, 0]
    return weights


def _corrected(B: Array, A: Array, rough: Array, near: Array, rows: list[int], columns: list[int]) -> Array | None:
    """A remap next to a positive float one: what it misses is made up for by the independent columns."""
    if near.min() <= 0:
        return None
    P = _rounded(near)
    missed = A - matrix_product(B, P)
    # Columns that floats find far apart: through nearly dependent ones a small miss is a large correction.
    chosen = _well_conditioned(rough[rows], len(rows))
    try:
        correction = solve_lifted(B[np.ix_(rows, chosen)], missed[rows])
    except SolverFailed:
        chosen = columns
        correction = solve_lifted(B[np.ix_(rows, chosen)], missed[rows])
    P[chosen] += correction
    if (P[chosen] < 0).any():
        return None
    exactly = len(rows) == len(B) or (matrix_product(B[:, chosen], correction) == missed).all()
    return P if exactly else None


def _rounded(near: Array) -> Array:
    """Positive rows as dyadic rationals that sum to exactly 1."""
    unit = 1 << _ROUNDED_BITS
    integers = np.rint(near * unit).astype(np.int64)
    # What rounding left over goes to the largest entry of a row, which can bear it and stay positive.
    integers[np.arange(len(near)), near.argmax(axis=1)] += unit - integers.sum(axis=1)
    rounded = np.empty(near.shape, dtype=object)
    for y, row in enumerate(integers.tolist()):
        rounded[y] = [Fraction(v, unit) for v in row]
    return rounded


def _well_conditioned(B: Array, rank: int) -> list[int]:
    """Independent columns, each the longest one beside those chosen before."""
    rest, chosen = B.copy(), []
    for _ in range(rank):
        y = int((rest**2).sum(axis=0).argmax())
        chosen.append(y)
        # Gram and Schmidt, with the longest column that is left at each step.
        unit = rest[:, y] / np.linalg.norm(rest[:, y])
        rest = rest - np.outer(unit, unit @ rest)
        rest[:, chosen] = 0
    return chosen


def _remap_of_small_denominators(B: Array, A: Array, near: Array) -> Array | None:
    """A remap of small denominators next to a float one, where there is one."""
    for limit in _SMALL_DENOMINATORS:
        guess = np.array([[Fraction(max(p, 0.0)).limit_denominator(limit) for p in row] for row in near.tolist()])
        if (guess.sum(axis=1) == 1).all() and (matrix_product(B, guess) == A).all():
            return guess
    return None


def _by_program(B: Array, A: Array, refutes: Refutes) -> Array | None:
    nearest = nearest_remap_exactly(B, A)
    if nearest.distance == 0:
        return nearest.remap
    _refute(nearest.loss, refutes)
    return None


def _refute(loss: Array, refutes: Refutes) -> None:
    """Check a loss that was derived exactly, and must lead to a consumer."""
    if not refutes(loss):
        raise SolverFailed("a loss of an exact dual must distinguish the channels", where="refinement")
