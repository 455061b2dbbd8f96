"""Find a remap P with B P = A for two channels, or a loss that proves that no remap exists."""

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
    loss: Array,
    near: tuple[Floats, Floats],
    A: Channel,
    B: Channel,
    slack: float,
) -> Consumer | None:
    """Return a consumer who prefers A to B, with a uniform prior and a loss near ``loss`` (n, k); None if no such loss
    is found.

    ``near`` contains float matrices of B and A. ``slack`` is the tolerance of `prefers` for float64 channels.
    """
    # Round the entries of the loss to as few bits as suffice. If no rounded loss suffices, try an exact loss without
    # rounding.
    rough = to_floats(loss) if is_exact(loss) else loss
    size = float(abs(rough).max())
    if not np.isfinite(size) or size == 0:
        return None
    exactly = A.is_exact and B.is_exact
    for bits in _BITS:
        # A loss with few bits is easier to read, and proves as much.
        rounded = np.rint(rough / size * 2.0**bits)
        # A preference in floats must exceed the rounding errors of the sums.
        with_B, with_A = ((C.T @ rounded).min(axis=1).sum() for C in near)
        if with_B - with_A > 1e-13 * abs(rounded).sum():
            consumer = _uniform_consumer(rounded.astype(np.int64), exactly)
            if prefers(consumer, A, B, slack):
                return consumer
    if is_exact(loss):
        consumer = _uniform_consumer(loss * int(np.lcm.reduce(denominators(loss).ravel())), exactly)
        return consumer if prefers(consumer, A, B, slack) else None
    return None


def _uniform_consumer(integers: Array, exactly: bool) -> Consumer:
    """Return a consumer with a uniform prior. Each row of losses is shifted to a minimum of 0, and equal actions are
    merged.
    """
    shifted = integers - integers.min(axis=1, keepdims=True)
    actions = sorted({tuple(int(x) for x in action) for action in shifted.T})
    matrix = as_array([list(row) for row in zip(*actions, strict=True)])
    uniform = priors.uniform(len(matrix))
    return Consumer(uniform, matrix) if exactly else Consumer(to_floats(uniform), to_floats(matrix))


def one_column(entries: list[Fraction], column: int, width: int) -> Array:
    """Return a loss (n, width) that is zero except in one column."""
    loss = np.full((len(entries), width), Fraction(0), dtype=object)
    loss[:, column] = entries
    return loss


RemapCheck = Callable[[Array], bool]
"""A function that decides whether a remap of the merged pair is close enough."""

Refutes = Callable[[Array], bool]
"""A function that checks whether a loss, float or exact, gives a consumer who prefers A to B, which proves that no
remap exists.
"""


def near_remap(pair: MergedPair, is_near: RemapCheck, refutes: Refutes) -> Array | None:
    """Return a row-stochastic P that ``is_near`` accepts; return None as soon as ``refutes`` accepts a loss."""
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
        "the distance of the nearest remap must differ from the tolerance by more than rounding",
        came=f"a nearest remap at distance {float(nearest.distance):.3g}",
        remedy="Pass another tolerance, or rational channels.",
    )


def _stochastic(near: Array) -> Array:
    """Return a matrix with negative entries set to 0 and rows scaled to sum 1."""
    clipped = np.maximum(near, 0.0)
    return np.asarray(clipped / clipped.sum(axis=1, keepdims=True))


_ROUNDED_BITS = 44
_SMALL_DENOMINATORS = (1, 60, 10**4, 10**7)


def exact_remap(pair: MergedPair, refutes: Refutes) -> Array | None:
    """Return a remap P >= 0 with B P = A and row sums 1; return None as soon as ``refutes`` accepts a loss."""
    # If the columns of B are independent, a linear system gives the only candidate. Otherwise floats give a P without
    # zeros, and an exact correction of some rows is too small to make an entry negative. If every remap has zeros, a
    # remap with small denominators is tried, and then the linear program is solved exactly.
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
        # P = B^-1 A on independent rows. If B P = A fails in another row, or P has a negative entry, a loss refutes.
        P = solve_lifted(B[rows], A[rows])
        rest = [x for x in range(len(B)) if x not in set(rows)]
        off = matrix_product(B[rest], P) - A[rest]
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
    if last is not None:
        for limit in _SMALL_DENOMINATORS:
            guess = np.array([[Fraction(max(p, 0.0)).limit_denominator(limit) for p in row] for row in last.tolist()])
            if (guess.sum(axis=1) == 1).all() and (matrix_product(B, guess) == A).all():
                return guess
    nearest = nearest_remap_exactly(B, A)
    if nearest.distance == 0:
        return nearest.remap
    _refute(nearest.loss, refutes)
    return None


def _combination_of_rows(B: Array, rows: list[int], target: Array) -> Array:
    """Return weights (n,) with weights @ B = target; rows of B outside ``rows`` have weight 0."""
    weights = np.full(len(B), Fraction(0), dtype=object)
    weights[rows] = solve_lifted(B[rows].T, target[:, None])[:, 0]
    return weights


def _corrected(B: Array, A: Array, rough: Array, near: Array, rows: list[int], columns: list[int]) -> Array | None:
    """Return an exact remap near a positive float remap; None if the correction makes an entry negative."""
    if near.min() <= 0:
        return None
    # Round to multiples of 2^-44 with row sums exactly 1: add the remainder to the largest entry, which stays positive.
    unit = 1 << _ROUNDED_BITS
    integers = np.rint(near * unit).astype(np.int64)
    integers[np.arange(len(near)), near.argmax(axis=1)] += unit - integers.sum(axis=1)
    P = np.empty(near.shape, dtype=object)
    for y, row in enumerate(integers.tolist()):
        P[y] = [Fraction(v, unit) for v in row]
    missed = A - matrix_product(B, P)
    # Choose well-conditioned columns, because with nearly dependent columns a small residual needs a large correction.
    # Gram-Schmidt with pivoting takes the longest remaining column at each step.
    rest, chosen = rough[rows], list[int]()
    for _ in rows:
        y = int((rest**2).sum(axis=0).argmax())
        chosen.append(y)
        direction = rest[:, y] / np.linalg.norm(rest[:, y])
        rest = rest - np.outer(direction, direction @ rest)
        rest[:, chosen] = 0
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


def _refute(loss: Array, refutes: Refutes) -> None:
    """Raise SolverFailed if ``refutes`` does not accept a loss that was derived exactly."""
    if not refutes(loss):
        raise SolverFailed(
            "a loss from an exact dual must distinguish the channels", came="a loss that does not", where="refinement"
        )
