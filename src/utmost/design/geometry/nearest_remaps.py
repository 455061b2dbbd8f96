"""Candidates for a remap between two channels: the nearest ones, in floats and as an exact program.

The post-processing of one channel that comes nearest to another, in floats: min ||B P - A|| over all remaps P.

With R = B P - A at the nearest P, the loss R distinguishes the two: sum_y min_w (B' R)[y, w] - <A, R> = ||R||^2 is by
how much a consumer with this loss (and uniform prior, and up to scale) prefers A. So one program gives both proofs.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.core.exact.arrays import Array, Floats, as_array, is_exact, objects, to_floats
from utmost.core.exact.linear_algebra import matrix_product
from utmost.core.programs.exact_optima import solve_exactly
from utmost.core.programs.linear_program import LinearProgram
from utmost.design.channels.channel import merged_columns

_SURELY_APART = 1e-9
_SAME = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class MergedPair:
    """B and A with proportional columns merged and zero columns dropped. B refines to A exactly if they do.

    Attributes:
        coarse, fine: Merged matrices of B and A, (n, m') and (n, k').
        near: Nearest floats of both.
        rows: (m,) Merged column that each column of B went into; 0 for a zero column.
        shares: (k', k): how a merged column of A divides into the columns of A; None where none was merged.
    """

    coarse: Array
    fine: Array
    near: tuple[Floats, Floats]
    rows: Array
    shares: Array | None

    @classmethod
    def of(cls, B: Array, A: Array) -> "MergedPair":
        """The pair of two matrices with as many rows, in one kind of number."""
        near = to_floats(B), to_floats(A)
        groups, parts = _proportional_columns(B, near[0]), _proportional_columns(A, near[1])
        rows = np.zeros(B.shape[1], dtype=np.intp)
        for k, group in enumerate(groups):
            rows[group] = k
        coarse, fine = _summed_columns(B, groups), _summed_columns(A, parts)
        shares = None if len(parts) == A.shape[1] else _shares(A, parts)
        return cls(coarse, fine, (_summed_columns(near[0], groups), _summed_columns(near[1], parts)), rows, shares)

    def unmerged(self, remap: Array) -> Array:
        """A remap (m', k') of the merged pair as one of the pair; impossible outcomes take the first row of it."""
        return (remap if self.shares is None else matrix_product(remap, self.shares))[self.rows]


def _proportional_columns(matrix: Array, near: Floats) -> list[list[int]]:
    """Proportional columns; exact ones are compared only where floats do not distinguish all of them."""
    if not is_exact(matrix):
        return merged_columns(matrix, _SAME)[1]
    groups = merged_columns(near, _SURELY_APART)[1]
    return groups if len(groups) == matrix.shape[1] else merged_columns(matrix, 0)[1]


def _summed_columns(matrix: Array, groups: list[list[int]]) -> Array:
    if len(groups) == matrix.shape[1]:
        return matrix
    return np.stack([matrix[:, group].sum(axis=1) for group in groups], axis=1)


def _shares(A: Array, parts: list[list[int]]) -> Array:
    shares = np.full((len(parts), A.shape[1]), Fraction(0) if is_exact(A) else 0.0, dtype=A.dtype)
    for w, part in enumerate(parts):
        sums = A[:, part].sum(axis=0)
        shares[w, part] = sums / sums.sum()
    return shares


_SHORTEN = 0.9995
# Beyond, where some entries must vanish, the equations are too ill-conditioned for floats to come nearer.
_SMALLEST_GAP = 1e-18


def nearest_remaps(B: Floats, A: Floats) -> Iterator[Floats]:
    """Positive row-stochastic P of ever smaller ||B P - A||: 40 iterates of a primal-dual interior point method.

    Where many P attain the least distance they tend to the analytic centre of these, so to a P with as few zeros as
    can be. With E = P / S for the dual S the Newton step needs (B'B + 1/E_w)^-1 for each column w, which is a
    change of rank n of a diagonal matrix, and one system for the row sums.

    Args:
        B: (n, m). A: (n, k).

    Cost: O(k n m (n + m) + m^3) for each; 10 to 20 are enough as a rule.

    >>> *_, last = nearest_remaps(np.eye(2), np.array([[0.5, 0.5], [0.25, 0.75]]))
    >>> last.round(6).tolist()
    [[0.5, 0.5], [0.25, 0.75]]
    """
    m, k = B.shape[1], A.shape[1]
    P = np.full((m, k), 1 / k)
    slope = B.T @ (B @ P - A)
    # The duals start positive, off from what they must be by a number a row.
    S = slope - slope.min(axis=1, keepdims=True)
    S += max(float(S.mean()), 1e-12)
    z = (slope - S).mean(axis=1)
    for _ in range(40):
        yield P
        gap = float((P * S).mean())
        if gap < _SMALLEST_GAP:
            return
        slope = B.T @ (B @ P - A)
        step = _Newton(B, P, S, slope - z[:, None] - S, 1 - P.sum(axis=1))
        if not step.is_sound:
            return
        # Mehrotra's two steps: one at the edge tells how far to centre, and what its second order leaves.
        dP, dS, _ = step.towards(-P * S)
        reach = min(_longest_step(P, dP), _longest_step(S, dS))
        centre = float(((P + reach * dP) * (S + reach * dS)).mean() / gap) ** 3 * gap
        dP, dS, dz = step.towards(centre - P * S - dP * dS)
        reach = _SHORTEN * min(_longest_step(P, dP), _longest_step(S, dS))
        P, S, z = P + reach * dP, S + reach * dS, z + reach * dz


class _Newton:
    """Newton's equations at one iterate, factored."""

    def __init__(self, B: Floats, P: Floats, S: Floats, dual_miss: Floats, row_miss: Floats) -> None:
        self.P, self.S, self.dual_miss, self.row_miss = P, S, dual_miss, row_miss
        self.E = (P / S).T
        self.weighted = B[None] * self.E[:, None, :]
        inner = self.weighted @ B.T + np.eye(len(B))
        try:
            self.solved = np.linalg.solve(inner, self.weighted)
        except np.linalg.LinAlgError:
            self.is_sound = False
            return
        flat = (-1, B.shape[1])
        self.sums = np.diag(self.E.sum(axis=0)) - self.weighted.reshape(flat).T @ self.solved.reshape(flat)
        self.is_sound = bool(np.isfinite(self.sums).all())

    def towards(self, target: Floats) -> tuple[Floats, Floats, Floats]:
        """The step (dP, dS, dz) for S dP + P dS = target."""
        right = (target / self.P - self.dual_miss).T
        dz = np.linalg.lstsq(self.sums, self.row_miss - self._applied(right).sum(axis=0), rcond=None)[0]
        dP = self._applied(right + dz).T
        return dP, (target - self.S * dP) / self.P, dz

    def _applied(self, v: Floats) -> Floats:
        """(B'B + 1/E_w)^-1 v_w for each w; (k, m)."""
        inner = self.weighted @ v[:, :, None]
        return np.asarray(self.E * v - (inner.transpose(0, 2, 1) @ self.solved)[:, 0, :])


def _longest_step(at: Floats, step: Floats) -> float:
    """How far, up to 1, one can go before an entry is no longer positive."""
    falling = step < 0
    return min(1.0, float((-at[falling] / step[falling]).min())) if falling.any() else 1.0


_DEEP = (0.1, 0.02, 0.002)
_ROUNDS = 150
_INTERIOR = 1e-9
# Iterates of the interior point method that hold at most so many numbers at once.
_MOST_NUMBERS = 3 * 10**7


@dataclass(frozen=True, slots=True, eq=False)
class RemapCandidate:
    """A remap that may be (near) one, or a joint loss that may refute every remap of B; the other is None.

    Attributes:
        remap: (m, k), rows summing to about 1; positive, if it can be.
        loss: (n, k), prior times loss: sum_y min_w (B' loss)[y, w] > <A, loss> is to be checked.
    """

    remap: Floats | None
    loss: Floats | None


def remap_candidates(B: Floats, A: Floats) -> Iterator[RemapCandidate]:
    """Candidates, the cheap ones first, and those at last that an interior point method finds.

    Args:
        B: (n, m), no zero columns. A: (n, k).
    """
    back, rank = _pseudoinverse(B)
    at = _affine(B, A, back, np.full((B.shape[1], A.shape[1]), 1 / A.shape[1]))
    missed = B @ at - A
    if abs(missed).max() > 1e-9:  # what is far off even so is missed for good: the loss that shows it
        yield RemapCandidate(None, missed)
    if rank == B.shape[1]:
        yield from _only_candidate(at, back)
        return
    yield from _projected(B, A, back, at)
    if B.size * A.shape[1] <= _MOST_NUMBERS:
        yield from _interior(B, A, back)


def _pseudoinverse(B: Floats) -> tuple[Floats, int]:
    """The pseudoinverse and the rank: by orthogonal columns (or rows) where these are independent, else by SVD."""
    tall = B.shape[0] >= B.shape[1]
    Q, R = np.linalg.qr(B if tall else B.T)
    sizes = abs(np.diag(R))
    if sizes.min() > 1e-10 * sizes.max():  # far from dependent: ten digits of the inverse are lost at most
        back = np.linalg.solve(R, Q.T)
        return np.asarray(back if tall else back.T), len(R)
    return np.asarray(np.linalg.pinv(B)), int(np.linalg.matrix_rank(B))


def _affine(B: Floats, A: Floats, back: Floats, at: Floats) -> Floats:
    """The nearest matrix with B P = A (as nearly as can be) and rows that sum to 1: the two corrections commute."""
    at = at + back @ (A - B @ at)
    return np.asarray(at + (1 - at.sum(axis=1, keepdims=True)) / at.shape[1])


def _only_candidate(at: Floats, back: Floats) -> Iterator[RemapCandidate]:
    """With independent columns one matrix has B P = A; where it is negative, in row y and column w, loss e_y B^-1."""
    lengths = abs(back).sum(axis=1, keepdims=True)
    y, w = np.unravel_index(int((at / lengths).argmin()), at.shape)
    if at[y, w] < 0:
        loss = np.zeros((back.shape[1], at.shape[1]))
        loss[:, w] = back[y]
        yield RemapCandidate(None, loss)
    yield RemapCandidate(at, None)


def _projected(B: Floats, A: Floats, back: Floats, at: Floats) -> Iterator[RemapCandidate]:
    """Projections in turn on {B P = A} and on {P >= a little}: where the remaps have an interior, one in it."""
    k = A.shape[1]
    for deep in _DEEP:
        for turn in range(_ROUNDS):
            if at.min() > _INTERIOR:
                yield RemapCandidate(at, None)
                return
            lifted = np.maximum(at, deep / k)
            if turn % 50 == 0:
                clipped = np.maximum(at, 0)
                candidate = _refuting(B, A, clipped / clipped.sum(axis=1, keepdims=True))
                if candidate is not None:
                    yield candidate
            at = _affine(B, A, back, at + 1.5 * (lifted - at))
    yield RemapCandidate(at, None)


def _interior(B: Floats, A: Floats, back: Floats) -> Iterator[RemapCandidate]:
    last = None
    for turn, nearest in enumerate(nearest_remaps(B, A)):
        candidate = _refuting(B, A, nearest)
        if candidate is not None:
            yield candidate
        last = _affine(B, A, back, nearest)
        if turn and last.min() > _INTERIOR:
            break
    if last is not None:
        yield RemapCandidate(last, None)


def _refuting(B: Floats, A: Floats, remap: Floats) -> RemapCandidate | None:
    """The residual of a remap as a loss, if it distinguishes the two."""
    missed = B @ remap - A
    margin = (B.T @ missed).min(axis=1).sum() - (A * missed).sum()
    # Beyond rounding, and not of a remap that is near enough anyway.
    return RemapCandidate(None, missed) if margin > 1e-3 * (missed**2).sum() > 1e-22 else None


@dataclass(frozen=True, slots=True, eq=False)
class NearestRemap:
    """min over remaps P of max |B P - A|.

    Attributes:
        distance: Least max |B P - A|; 0 exactly if A is a refinement of B.
        remap: (m, k) where it is attained.
        loss: (n, k) with absolute values that sum to at most 1, and sum_y min_w (B' loss)[y, w] - <A, loss> = distance.
    """

    distance: Fraction
    remap: Array
    loss: Array


def nearest_remap_exactly(B: Array, A: Array) -> NearestRemap:
    """The nearest remap of two exact matrices.

    Args:
        B: (n, m). A: (n, k).

    Cost: a program of m k + 1 variables and 2 n k + m rows.
    """
    (n, m), k = B.shape, A.shape[1]
    rows, columns, values = zip(*_program_entries(B, A), strict=True)
    flat, below = A.ravel().tolist(), [-math.inf] * (2 * n * k)
    cost, units = as_array([0] * (m * k) + [1]), [Fraction(1)] * m
    upper, lower = as_array([*flat, *(-a for a in flat), *units]), objects([*below, *units])
    program = LinearProgram.of_triplets(cost, rows, columns, as_array(values), lower, upper)
    solution = solve_exactly(program)
    sides = solution.duals[: 2 * n * k].reshape(2, n, k)
    return NearestRemap(solution.value, solution.primal[: m * k].reshape(m, k), sides[1] - sides[0])


def _program_entries(B: Array, A: Array) -> list[tuple[int, int, Any]]:
    """B P - t <= A, -B P - t <= -A, P 1 = 1: the entries of P row by row, then t."""
    (n, m), k = B.shape, A.shape[1]
    triplets: list[tuple[int, int, Any]] = []
    for sign, first in ((1, 0), (-1, n * k)):
        for x in range(n):
            for w in range(k):
                row = first + x * k + w
                triplets += [(row, y * k + w, sign * B[x, y]) for y in range(m) if B[x, y]]
                triplets.append((row, m * k, Fraction(-1)))
    return triplets + [(2 * n * k + y, y * k + w, Fraction(1)) for y in range(m) for w in range(k)]
