"""Where to look for a remap between two channels, or for a loss that rules it out: floats, which prove nothing yet."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from utmost.exact import Floats
from utmost.geometry.nearest_remap import nearest_remaps

_DEEP = (0.1, 0.02, 0.002)
_ROUNDS = 150
_INTERIOR = 1e-9
# Iterates of the interior point method that hold at most so many numbers at once.
_MOST = 3 * 10**7


@dataclass(frozen=True, slots=True, eq=False)
class Clue:
    """A remap that may be (near) one, or a joint loss that may tell A from every remap of B; the other is None.

    Attributes:
        remap: (m, k), rows summing to about 1; positive, if it can be.
        loss: (n, k), prior times loss: sum_y min_w (B' loss)[y, w] > <A, loss> is to be checked.
    """

    remap: Floats | None
    loss: Floats | None


def clues(B: Floats, A: Floats) -> Iterator[Clue]:
    """Clues, the cheap ones first, and those at last that an interior point method finds.

    Args:
        B: (n, m), no zero columns. A: (n, k).
    """
    back, rank = _pseudoinverse(B)
    at = _affine(B, A, back, np.full((B.shape[1], A.shape[1]), 1 / A.shape[1]))
    missed = B @ at - A
    if abs(missed).max() > 1e-9:
        yield Clue(None, missed)
    if rank == B.shape[1]:
        yield from _of_the_only(at, back)
        return
    yield from _projected(B, A, back, at)
    if B.size * A.shape[1] <= _MOST:
        yield from _interior(B, A, back)


def _pseudoinverse(B: Floats) -> tuple[Floats, int]:
    """The pseudoinverse and the rank: by orthogonal columns (or rows) where these are independent, else by SVD."""
    tall = B.shape[0] >= B.shape[1]
    Q, R = np.linalg.qr(B if tall else B.T)
    sizes = abs(np.diag(R))
    if sizes.min() > 1e-10 * sizes.max():
        back = np.linalg.solve(R, Q.T)
        return np.asarray(back if tall else back.T), len(R)
    return np.asarray(np.linalg.pinv(B)), int(np.linalg.matrix_rank(B))


def _affine(B: Floats, A: Floats, back: Floats, at: Floats) -> Floats:
    """The nearest matrix with B P = A (as nearly as can be) and rows that sum to 1: the two corrections commute."""
    at = at + back @ (A - B @ at)
    return np.asarray(at + (1 - at.sum(axis=1, keepdims=True)) / at.shape[1])


def _of_the_only(at: Floats, back: Floats) -> Iterator[Clue]:
    """With independent columns one matrix has B P = A; where it is negative, in row y and column w, loss e_y B^-1."""
    lengths = abs(back).sum(axis=1, keepdims=True)
    y, w = np.unravel_index(int((at / lengths).argmin()), at.shape)
    if at[y, w] < 0:
        loss = np.zeros((back.shape[1], at.shape[1]))
        loss[:, w] = back[y]
        yield Clue(None, loss)
    yield Clue(at, None)


def _projected(B: Floats, A: Floats, back: Floats, at: Floats) -> Iterator[Clue]:
    """Projections in turn on {B P = A} and on {P >= a little}: where the remaps have an interior, one in it."""
    k = A.shape[1]
    for deep in _DEEP:
        for turn in range(_ROUNDS):
            if at.min() > _INTERIOR:
                yield Clue(at, None)
                return
            lifted = np.maximum(at, deep / k)
            if turn % 50 == 0:
                clipped = np.maximum(at, 0)
                found = _telling(B, A, clipped / clipped.sum(axis=1, keepdims=True))
                if found is not None:
                    yield found
            at = _affine(B, A, back, at + 1.5 * (lifted - at))
    yield Clue(at, None)


def _interior(B: Floats, A: Floats, back: Floats) -> Iterator[Clue]:
    last = None
    for turn, nearest in enumerate(nearest_remaps(B, A)):
        found = _telling(B, A, nearest)
        if found is not None:
            yield found
        last = _affine(B, A, back, nearest)
        if turn and last.min() > _INTERIOR:
            break
    if last is not None:
        yield Clue(last, None)


def _telling(B: Floats, A: Floats, remap: Floats) -> Clue | None:
    """What is missed by a remap, as a loss, where it tells the two apart."""
    missed = B @ remap - A
    margin = (B.T @ missed).min(axis=1).sum() - (A * missed).sum()
    return Clue(None, missed) if margin > 1e-3 * (missed**2).sum() > 1e-22 else None
