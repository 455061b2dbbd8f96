"""One Newton step of the interior-point method for columns of bounded ratios."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from utmost.errors import SolverFailed
from utmost.exact import Floats
from utmost.programs.ratio_rows import RatioRows

Direction = tuple[Floats, Floats, Floats, Floats]
"""Changes of columns, slacks, multipliers and prices."""

_REFINEMENTS = 12
_RIDGE = 1e-14  # beside a unit diagonal: below the rounding of the matrix itself


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """What ties the columns together: all of them sum to 1 entry by entry, or a single one sums to 1.

    Attributes:
        by_entry: whether sum_w v_w[i] = 1 for each i (the rows of a channel); else sum_i v[i] = 1 for one column v.
    """

    by_entry: bool

    def of(self, values: Floats) -> Floats:
        """The sums of columns (k, n)."""
        return np.asarray(values.sum(axis=0 if self.by_entry else 1))

    def spread(self, prices: Floats, shape: tuple[int, int]) -> Floats:
        """The transposed map: each price on the entries that it is for."""
        return np.broadcast_to(prices if self.by_entry else prices[:, None], shape)

    def schur(self, inverse: Floats) -> Floats:
        """The sums of the inverse of one column's matrix."""
        return inverse if self.by_entry else inverse.sum().reshape(1, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Residuals:
    """By how much an iterate misses the equations of the two programs."""

    dual: Floats
    primal: Floats
    sums: Floats

    def zero(self) -> "Residuals":
        """No residuals: for corrections within a step."""
        return Residuals(np.zeros_like(self.dual), np.zeros_like(self.primal), np.zeros_like(self.sums))


class NewtonStep:
    r"""The Newton equations at one iterate, factorised once and solved for several right-hand sides.

    With slacks s = A v, multipliers z and D = diag(z / s), each column has its own matrix H_w = A_w' D A_w, and the
    columns meet in the prices alone: (sum_w H_w^{-1}) dmu = ... is the only joint system. Residuals of the dual
    equations are solved for again, since D spans many orders of magnitude near the optimum.

    Cost: O(k n^3) to factorise, O(k n^2 + N) for each right-hand side.
    """

    def __init__(self, rows: RatioRows, sums: Sums, slacks: Floats, multipliers: Floats, tolerance: float) -> None:
        self.rows, self.sums, self.slacks, self.multipliers = rows, sums, slacks, multipliers
        self.tolerance = tolerance
        n, weights = rows.size, multipliers / slacks
        self.inverses = np.empty((rows.columns, n, n))
        joint: Floats | float = 0.0
        for w in range(rows.columns):
            self.inverses[w] = _inverse(*rows.normal_matrix(w, weights))
            joint = joint + sums.schur(self.inverses[w])
        self.joint = np.asarray(joint)

    def solve(self, products: Floats, residuals: Residuals) -> Direction:
        """The direction that changes s z by ``products`` to first order and takes the residuals away."""
        found = self._once(products, residuals)
        last = np.inf
        for _ in range(_REFINEMENTS):
            left = residuals.dual - self._dual_change(found)
            size = float(np.abs(left).max())
            if size < self.tolerance or size > 0.5 * last:
                break
            last = size
            missing = Residuals(left, np.zeros_like(residuals.primal), residuals.sums - self.sums.of(found[0]))
            found = added(found, self._once(np.zeros_like(products), missing))
        return found

    def _dual_change(self, step: Direction) -> Floats:
        return self.rows.combined(step[2]) + self.sums.spread(step[3], step[0].shape)

    def _once(self, products: Floats, residuals: Residuals) -> Direction:
        rows, z, s = self.rows, self.multipliers, self.slacks
        right = rows.combined((products - z * residuals.primal) / s) - residuals.dual
        alone = self._apply(right)
        prices = np.linalg.solve(self.joint, residuals.sums - self.sums.of(alone))
        columns = alone + self._apply(self.sums.spread(prices, right.shape))
        slacks = rows.slacks(columns) + residuals.primal
        return columns, slacks, (products - z * slacks) / s, prices

    def _apply(self, right: Floats) -> Floats:
        return np.asarray(np.matmul(self.inverses, right[:, :, None])[:, :, 0])


def added(step: Direction, more: Direction, share: float = 1.0) -> Direction:
    """A direction and a share of another."""
    return step[0] + share * more[0], step[1] + share * more[1], step[2] + share * more[2], step[3] + share * more[3]


def longest(values: Floats, change: Floats) -> float:
    """The largest step, at most 1, that keeps positive values from passing 0."""
    fastest = float((change / values).min())
    return min(1.0, -1 / fastest) if fastest < 0 else 1.0


def best_share(
    step: Direction, more: Direction, shares: tuple[float, ...], score: Callable[[Direction], tuple[float, float]]
) -> tuple[tuple[float, float], Direction]:
    """Of the directions step + share * more the one with the longest steps (primal, dual)."""
    tried = [(score(trial), trial) for trial in (added(step, more, share) for share in shares)]
    return max(tried, key=lambda pair: (min(pair[0]), sum(pair[0])))


def _inverse(matrix: Floats, scale: Floats) -> Floats:
    matrix.flat[:: len(matrix) + 1] += _RIDGE
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        raise SolverFailed(
            "the equations of an interior point must have a solution", came="a singular matrix"
        ) from None
    inverse *= scale[:, None]
    inverse *= scale[None, :]
    return np.asarray(inverse)
