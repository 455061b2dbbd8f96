"""The post-processing of one channel that comes nearest to another, in floats: min ||B P - A|| over all remaps P.

With R = B P - A at the nearest P, the loss R tells the two apart: sum_y min_w (B' R)[y, w] - <A, R> = ||R||^2 is by how
much a consumer with this loss (and uniform prior, and up to scale) prefers A. So one program gives both witnesses.
"""

from collections.abc import Iterator

import numpy as np

from utmost.exact import Floats

_SHORTEN = 0.9995
# Beyond, where some entries must vanish, the equations are too ill-conditioned for floats to come nearer.
_CLOSED = 1e-18


def nearest_remaps(B: Floats, A: Floats, most: int = 40) -> Iterator[Floats]:
    """Positive row-stochastic P of ever smaller ||B P - A||: the iterates of a primal-dual interior point method.

    Where many P attain the least distance they tend to the analytic centre of these, so to a P with as few zeros as
    can be. With E = P / S for the dual S the Newton step needs (B'B + 1/E_w)^-1 for each column w, which is a
    change of rank n of a diagonal matrix, and one system for the row sums.

    Args:
        B: (n, m). A: (n, k). most: how many iterates at most.

    Cost: O(k n m (n + m) + m^3) for each; 10 to 20 are enough as a rule.

    >>> *_, last = nearest_remaps(np.eye(2), np.array([[0.5, 0.5], [0.25, 0.75]]))
    >>> last.round(6).tolist()
    [[0.5, 0.5], [0.25, 0.75]]
    """
    m, k = B.shape[1], A.shape[1]
    P = np.full((m, k), 1 / k)
    slope = B.T @ (B @ P - A)
    S = slope - slope.min(axis=1, keepdims=True)
    S += max(float(S.mean()), 1e-12)
    z = (slope - S).mean(axis=1)
    for _ in range(most):
        yield P
        gap = float((P * S).mean())
        if gap < _CLOSED:
            return
        slope = B.T @ (B @ P - A)
        step = _Newton(B, P, S, slope - z[:, None] - S, 1 - P.sum(axis=1))
        if not step.is_sound:
            return
        dP, dS, _ = step.towards(-P * S)
        reach = min(_reach(P, dP), _reach(S, dS))
        centre = float(((P + reach * dP) * (S + reach * dS)).mean() / gap) ** 3 * gap
        dP, dS, dz = step.towards(centre - P * S - dP * dS)
        reach = _SHORTEN * min(_reach(P, dP), _reach(S, dS))
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


def _reach(at: Floats, step: Floats) -> float:
    """How far, up to 1, one can go before an entry is no longer positive."""
    falling = step < 0
    return min(1.0, float((-at[falling] / step[falling]).min())) if falling.any() else 1.0
