"""Find the remap P of a channel B for which B P is nearest to a channel A, in floats or by an exact linear program.

The nearest remap P minimises ||B P - A||. If the minimum is 0, P proves that A refines B. If the minimum is positive,
let R = B P - A for the nearest remap P. A consumer with the loss R and a uniform prior has a smaller loss with A than
with B. The difference of the two losses is sum_y min_w (B' R)[y, w] - <A, R> = ||R||^2, up to a factor. So R proves
that A does not refine B.
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

# Columns scaled to sum 1 that differ by more than 1e-9 are not proportional; within 1e-12, float columns count as
# equal.
_SURELY_DIFFERENT, _SAME = 1e-9, 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class MergedPair:
    """B and A with proportional columns merged and zero columns removed. If there is a remap from B to A, there is one
    from the merged B to the merged A.
    """

    coarse: Array  # (n, m'), B with merged columns
    fine: Array  # (n, k'), A with merged columns
    near: tuple[Floats, Floats]  # `coarse` and `fine` as floats
    rows: Array  # (m,) for each column of B, the index of the merged column that contains it; 0 for a zero column
    # (k', k) entry [i, j]: column j of A as a fraction of merged column i; None if none was merged
    shares: Array | None

    @classmethod
    def of(cls, B: Array, A: Array) -> "MergedPair":
        """Return the merged pair of two matrices with equal numbers of rows, both exact or both float64."""
        near = to_floats(B), to_floats(A)
        groups, parts = _proportional_columns(B, near[0]), _proportional_columns(A, near[1])
        rows = np.zeros(B.shape[1], dtype=np.intp)
        for k, group in enumerate(groups):
            rows[group] = k
        shares = None
        if len(parts) < A.shape[1]:
            shares = np.full((len(parts), A.shape[1]), Fraction(0) if is_exact(A) else 0.0, dtype=A.dtype)
            for w, part in enumerate(parts):
                sums = A[:, part].sum(axis=0)
                shares[w, part] = sums / sums.sum()
        merged = _summed_columns(near[0], groups), _summed_columns(near[1], parts)
        return cls(_summed_columns(B, groups), _summed_columns(A, parts), merged, rows, shares)

    def unmerged(self, remap: Array) -> Array:
        """Convert a remap from `coarse` to `fine` into a remap from B to A. Impossible outcomes of B get row 0 of
        ``remap``.
        """
        return (remap if self.shares is None else matrix_product(remap, self.shares))[self.rows]


def _proportional_columns(matrix: Array, near: Floats) -> list[list[int]]:
    """Return groups of indices of proportional columns. Columns that floats do not tell apart are compared in
    exact arithmetic.
    """
    if not is_exact(matrix):
        return merged_columns(matrix, _SAME)[1]
    groups = merged_columns(near, _SURELY_DIFFERENT)[1]
    return groups if len(groups) == matrix.shape[1] else merged_columns(matrix, 0)[1]


def _summed_columns(matrix: Array, groups: list[list[int]]) -> Array:
    if len(groups) == matrix.shape[1]:
        return matrix
    return np.stack([matrix[:, group].sum(axis=1) for group in groups], axis=1)


_SHORTEN = 0.9995
# Iterates with a smaller gap do not improve: if some entries must be 0, the equations become too ill-conditioned.
_SMALLEST_GAP = 1e-18


def nearest_remaps(B: Floats, A: Floats) -> Iterator[Floats]:
    """Yield positive row-stochastic P with decreasing ||B P - A||: at most 40 iterates of an interior point method."""
    # If many P attain the minimum, the iterates tend to their analytic centre, a P with as few zeros as possible. With
    # E = P / S for the dual S, a Newton step needs (B'B + 1/E_w)^-1 for each column w, a rank-n change of a diagonal
    # matrix, and one system for the row sums. Cost: O(k n m (n + m) + m^3) per iterate; 10 to 20 usually suffice.
    m, k = B.shape[1], A.shape[1]
    P = np.full((m, k), 1 / k)
    slope = B.T @ (B @ P - A)
    # The dual S starts positive, and differs from a feasible dual by a constant in each row.
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
        # Mehrotra's two steps: the predictor determines the amount of centring and the second-order correction.
        dP, dS, _ = step.towards(-P * S)
        reach = min(_longest_step(P, dP), _longest_step(S, dS))
        centre = float(((P + reach * dP) * (S + reach * dS)).mean() / gap) ** 3 * gap
        dP, dS, dz = step.towards(centre - P * S - dP * dS)
        reach = _SHORTEN * min(_longest_step(P, dP), _longest_step(S, dS))
        P, S, z = P + reach * dP, S + reach * dS, z + reach * dz


class _Newton:
    """The factored Newton equations at one iterate of the interior point method."""

    def __init__(self, B: Floats, P: Floats, S: Floats, dual_residual: Floats, row_residual: Floats) -> None:
        self.P, self.S, self.dual_residual, self.row_residual = P, S, dual_residual, row_residual
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
        """Return the Newton step: changes (dP, dS, dz) of the iterate with S dP + P dS = target."""
        right = (target / self.P - self.dual_residual).T
        dz = np.linalg.lstsq(self.sums, self.row_residual - self._applied(right).sum(axis=0), rcond=None)[0]
        dP = self._applied(right + dz).T
        return dP, (target - self.S * dP) / self.P, dz

    def _applied(self, v: Floats) -> Floats:
        """Return (B'B + 1/E_w)^-1 v_w for each column w of A, (k, m)."""
        inner = self.weighted @ v[:, :, None]
        return np.asarray(self.E * v - (inner.transpose(0, 2, 1) @ self.solved)[:, 0, :])


def _longest_step(at: Floats, step: Floats) -> float:
    """Return the largest t <= 1 such that no entry of ``at`` + t ``step`` is negative."""
    falling = step < 0
    return min(1.0, float((-at[falling] / step[falling]).min())) if falling.any() else 1.0


_DEEP = (0.1, 0.02, 0.002)
_ROUNDS = 150
_INTERIOR = 1e-9
# The interior point method is used if an iterate has at most this many numbers.
_MOST_NUMBERS = 3 * 10**7


@dataclass(frozen=True, slots=True, eq=False)
class RemapCandidate:
    """A candidate: a matrix that may be near a remap from B to A, or a loss that may prove that no such remap
    exists.
    """

    remap: Floats | None  # (m, k), with row sums near 1, and positive if possible
    loss: Floats | None  # (n, k) prior times loss; a proof if sum_y min_w (B' loss)[y, w] > <A, loss>


def remap_candidates(B: Floats, A: Floats) -> Iterator[RemapCandidate]:
    """Yield candidates for B (n, m), without zero columns, and A (n, k); the candidates that are fastest to compute
    come first.
    """
    # Compute the pseudoinverse of B: by QR if columns or rows are clearly independent, else by singular values.
    tall = B.shape[0] >= B.shape[1]
    Q, R = np.linalg.qr(B if tall else B.T)
    sizes = abs(np.diag(R))
    if sizes.min() > 1e-10 * sizes.max():  # clearly independent: the inverse loses at most ten digits
        inverse, rank = np.linalg.solve(R, Q.T), len(R)
        back = inverse if tall else inverse.T
    else:
        back, rank = np.linalg.pinv(B), int(np.linalg.matrix_rank(B))
    at = _affine(B, A, back, np.full((B.shape[1], A.shape[1]), 1 / A.shape[1]))
    missed = B @ at - A
    if abs(missed).max() > 1e-9:  # no matrix P has B P = A, and the residual proves it as a loss
        yield RemapCandidate(None, missed)
    if rank == B.shape[1]:
        # Columns are independent, so only one P has B P = A; if P has a negative entry in row y, the loss is e_y B^-1.
        y, w = np.unravel_index(int((at / abs(back).sum(axis=1, keepdims=True)).argmin()), at.shape)
        if at[y, w] < 0:
            loss = np.zeros((back.shape[1], at.shape[1]))
            loss[:, w] = back[y]
            yield RemapCandidate(None, loss)
        yield RemapCandidate(at, None)
        return
    yield from _projected(B, A, back, at)
    if B.size * A.shape[1] > _MOST_NUMBERS:
        return
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


def _affine(B: Floats, A: Floats, back: Floats, at: Floats) -> Floats:
    """Return the matrix nearest to ``at`` with B P = A (in least squares) and row sums 1. The two corrections
    commute.
    """
    at = at + back @ (A - B @ at)
    return np.asarray(at + (1 - at.sum(axis=1, keepdims=True)) / at.shape[1])


def _projected(B: Floats, A: Floats, back: Floats, at: Floats) -> Iterator[RemapCandidate]:
    """Yield losses that may refute B P = A. If alternating projections find a remap P > 0 with B P = A, this
    remap is yielded last.
    """
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


def _refuting(B: Floats, A: Floats, remap: Floats) -> RemapCandidate | None:
    """Return B P - A of a remap P as a loss if this loss clearly proves that no remap turns B into A, else None."""
    missed = B @ remap - A
    margin = (B.T @ missed).min(axis=1).sum() - (A * missed).sum()
    # The margin must exceed rounding errors, and the residual must exceed the tolerance with which a remap is accepted.
    return RemapCandidate(None, missed) if margin > 1e-3 * (missed**2).sum() > 1e-22 else None


@dataclass(frozen=True, slots=True, eq=False)
class NearestRemap:
    """The least max |B P - A| over all remaps P, with proofs of the lower and of the upper bound."""

    distance: Fraction  # 0 if and only if A is a refinement of B
    remap: Array  # (m, k), a remap P that attains the distance
    # (n, k) with absolute values that sum to at most 1: sum_y min_w (B' loss)[y, w] - <A, loss> = distance.
    loss: Array


def nearest_remap_exactly(B: Array, A: Array) -> NearestRemap:
    """Return the nearest remap of exact matrices B (n, m) and A (n, k), by a program of m k + 1 variables."""
    (n, m), k = B.shape, A.shape[1]
    # Minimise t subject to B P - t <= A, -B P - t <= -A and P 1 = 1; the variables are the entries of P by rows, and t.
    triplets: list[tuple[int, int, Any]] = []
    for sign, first in ((1, 0), (-1, n * k)):
        for x in range(n):
            for w in range(k):
                row = first + x * k + w
                triplets += [(row, y * k + w, sign * B[x, y]) for y in range(m) if B[x, y]]
                triplets.append((row, m * k, Fraction(-1)))
    triplets += [(2 * n * k + y, y * k + w, Fraction(1)) for y in range(m) for w in range(k)]
    rows, columns, values = zip(*triplets, strict=True)
    flat, below = A.ravel().tolist(), [-math.inf] * (2 * n * k)
    cost, units = as_array([0] * (m * k) + [1]), [Fraction(1)] * m
    upper, lower = as_array([*flat, *(-a for a in flat), *units]), objects([*below, *units])
    program = LinearProgram.of_triplets(cost, rows, columns, as_array(values), lower, upper)
    solution = solve_exactly(program)
    sides = solution.duals[: 2 * n * k].reshape(2, n, k)
    return NearestRemap(solution.value, solution.primal[: m * k].reshape(m, k), sides[1] - sides[0])
