"""An interior point method for linear programs with few rows and many dense columns, for column generation.

min c x over x >= 0 with A x = 1, for A of shape (n, N) with N much larger than n. The prices of the rows (the duals)
find the next columns. For this purpose, prices from the middle of the optimal set are better than prices at a vertex,
and a few digits of each price suffice.
"""

from dataclasses import dataclass

import numpy as np

from utmost.core.exact.arrays import Floats

_MOST_STEPS = 60
_RIDGE = 1e-13  # ridge that is added to a unit diagonal
_REFINEMENTS = 8
_HALVED = 64  # from this many rows on, a triangular matrix is inverted by halves
_SHORT_OF = 0.95  # fraction of the distance to the boundary that a step takes
_INSIDE = 1e-2  # distance of the first point from zero, divided by the mean of its entries
# distance of a warm start from the boundary, as a multiple of the gain of the best column
_MOVED, _LEAST_MOVED = 3.0, 1e-12
_STALLED, _STALLED_FAR = 4, 16  # steps without progress that end the method: if row sums are nearly 1, and otherwise
_NEARLY = 1e-3
_LOST = 10.0  # a warm start with a larger best merit is discarded


@dataclass(frozen=True, slots=True, eq=False)
class CentralShares:
    """Nearly optimal shares x of the columns, prices of the rows, and reduced costs."""

    shares: Floats  # positive shares (N,)
    prices: Floats  # multipliers of the rows (n,)
    excess: Floats  # positive reduced costs c - A' prices (N,)
    error: float  # largest distance of a row's sum from 1


def central_shares(
    columns: Floats,
    costs: Floats,
    weights: Floats,
    gap: float,
    exactness: float = 1e-9,
    near: tuple[Floats, Floats] | None = None,
) -> CentralShares:
    """Find shares x > 0, shape (N,), of least cost with ``columns`` (n, N) @ x = 1. The cost is accurate to ``gap``,
    the equations to ``exactness``.
    """
    # The columns are not negative, every row has a positive entry, and <weights, column> = 1 for each column: the
    # equations are written in the differences of the columns from the constant one, which may be small. ``near`` has
    # the shares (0 for new columns) and prices of the last optimum; such a warm start takes half of the steps. The
    # result is the best point reached, which misses the gap or the exactness only by rounding. Cost: 10 to 25 steps of
    # O(n^2 N). Source: the predictor and corrector of Mehrotra.
    rows = _Differences.of(columns, weights)
    program = rows.of_columns(columns), costs, rows.sums
    best, merit = None, np.inf
    if near is not None:
        best, merit = _InteriorPoint.near(*program, near[0], rows.multipliers(near[1])).followed(gap, exactness)
    # A warm start near the boundary may make no progress, and its prices would spoil all later rounds: start again.
    if best is None or not merit <= _LOST:
        again, its_merit = _InteriorPoint.first(*program).followed(gap, exactness)
        best = again if best is None or its_merit < merit else best
    return CentralShares(best.x, rows.prices(best.y), best.s, float(abs(1 - columns @ best.x).max()))


@dataclass(frozen=True, slots=True, eq=False)
class _Differences:
    """Rewrites A x = 1: one equation is a weighted mean of the rows, and the others are scaled differences of rows from
    the mean.
    """

    weights: Floats
    units: Floats
    left_out: int

    @classmethod
    def of(cls, columns: Floats, weights: Floats) -> "_Differences":
        # A row that equals the mean stays 0.
        return cls(weights, np.maximum(abs(columns - 1).max(axis=1), 1e-300), int(weights.argmax()))

    @property
    def sums(self) -> Floats:
        sums = np.zeros(len(self.weights))
        sums[self.left_out] = 1.0
        return sums

    def of_columns(self, columns: Floats) -> Floats:
        differences = (columns - 1) / self.units[:, None]
        differences[self.left_out] = 1.0
        return differences

    def prices(self, y: Floats) -> Floats:
        own = y / self.units
        own[self.left_out] = 0.0
        return np.asarray(own + (y[self.left_out] - own.sum()) * self.weights)

    def multipliers(self, prices: Floats) -> Floats:
        """Invert `prices`: return the multipliers of the rewritten equations for these prices."""
        common = prices[self.left_out] / self.weights[self.left_out]
        own = prices - common * self.weights
        own[self.left_out] = 0.0
        y = own * self.units
        y[self.left_out] = common + own.sum()
        return np.asarray(y)


@dataclass(frozen=True, slots=True, eq=False)
class _InteriorPoint:
    A: Floats
    c: Floats
    b: Floats
    x: Floats
    y: Floats
    s: Floats

    @classmethod
    def first(cls, A: Floats, c: Floats, b: Floats) -> "_InteriorPoint":
        """Mehrotra's starting point: the least squares solutions, moved away from the boundary."""
        solve = _Normal(A, np.ones(len(c))).solve
        x = A.T @ solve(b)
        y = solve(A @ c)
        s = c - A.T @ y
        x = x + max(-1.5 * x.min(), 0.0) + _INSIDE * max(float(x.mean()), 1e-300)
        s = s + max(-1.5 * s.min(), 0.0) + _INSIDE * max(float(abs(c).mean()), 1e-300)
        product = x @ s
        return cls(A, c, b, x + 0.5 * product / s.sum(), y, s + 0.5 * product / x.sum())

    @classmethod
    def near(cls, A: Floats, c: Floats, b: Floats, x: Floats, y: Floats) -> "_InteriorPoint":
        """A warm start: the optimum for fewer columns, moved away from the boundary in proportion to the gain of the
        best new column.
        """
        excess = c - A.T @ y
        worth = max(-float(excess.min()), 0.0)
        s = np.maximum(excess, 0.0) + max(_MOVED * worth, _LEAST_MOVED)
        product = max(worth * float(x.mean()), float(x @ np.maximum(excess, 0.0)) / len(x))
        x = np.maximum(x, product / s)
        return cls(A, c, b, x, y, np.maximum(s, 0.1 * product / x))

    def merit(self, gap: float, exactness: float) -> float:
        """The largest of gap, error and dual error, each divided by its allowed value. The merit is at most 1 at a
        solution.
        """
        dual = float(abs(self.c - self.A.T @ self.y - self.s) @ self.x)
        return max(float(self.x @ self.s) / gap, self.error / exactness, dual / gap)

    def followed(self, gap: float, exactness: float) -> "tuple[_InteriorPoint, float]":
        """Take steps until the gap and the exactness are reached; return the best point and its merit."""
        at, best, best_merit, stalled = self, self, np.inf, 0
        for steps in range(_MOST_STEPS + 1):
            merit = at.merit(gap, exactness)
            # The best point is kept, since rounding may make later points worse.
            best, stalled = (at, 0) if merit < 0.9 * best_merit else (best, stalled + 1)
            best_merit = min(merit, best_merit)
            patience = _STALLED if best.error < _NEARLY else _STALLED_FAR
            if merit <= 1.0 or stalled > patience or steps == _MOST_STEPS:
                break
            at = at.next()
        return best, best_merit

    @property
    def error(self) -> float:
        """The largest violation of an equation A x = b."""
        return float(abs(self.b - self.A @ self.x).max())

    def next(self) -> "_InteriorPoint":
        """Return the next point, after one step of Mehrotra's predictor and corrector."""
        A, x, s = self.A, self.x, self.s
        primal, dual = self.b - A @ x, self.c - A.T @ self.y - s
        ratio = x / s
        normal = _Normal(A, ratio)

        def newton(products: Floats) -> tuple[Floats, Floats, Floats]:
            dy = normal.solve(primal - A @ (products / s - ratio * dual))
            ds = dual - A.T @ dy
            return products / s - ratio * ds, dy, ds

        dx, _, ds = newton(-x * s)
        p, d = _longest(x, dx), _longest(s, ds)
        mean = float(x @ s) / len(x)
        ahead = float((x + p * dx) @ (s + d * ds)) / len(x)
        # The second-order term is scaled by the length of the predictor's step.
        second = dx * ds * min(1.0, p * d + 0.1)
        dx, dy, ds = newton((ahead / mean) ** 3 * mean - x * s - second)
        p, d = (min(1.0, _SHORT_OF * _longest(*pair)) for pair in ((x, dx), (s, ds)))
        return _InteriorPoint(A, self.c, self.b, x + p * dx, self.y + d * dy, s + d * ds)


def exact_sums(columns: Floats, weights: Floats, shares: Floats) -> Floats:
    """Change shares, mostly the large ones, so that every row sums to 1 up to rounding."""
    rows = _Differences.of(columns, weights)
    A, d = rows.of_columns(columns), shares * shares
    normal = _Normal(A, d)
    for _ in range(3):
        moved = np.maximum(shares + d * (A.T @ normal.solve(rows.sums - A @ shares)), 0.0)
        if abs(rows.sums - A @ moved).max() >= abs(rows.sums - A @ shares).max():
            break
        shares = moved
    return shares


class _Normal:
    """Solves systems with the matrix A D A' for a positive diagonal D, by a factor of its inverse and by conjugate
    gradients.
    """

    def __init__(self, A: Floats, d: Floats) -> None:
        self.A, self.d = A, d
        half = A * np.sqrt(d)
        M = half @ half.T
        self.scale = 1 / np.sqrt(np.diag(M))
        M *= self.scale[:, None]
        M *= self.scale
        # Dependent rows make M singular at the optimum, so a ridge is added. Conjugate gradients remove its effect.
        M.flat[:: len(M) + 1] += _RIDGE
        try:
            self.root = _lower_inverse(np.asarray(np.linalg.cholesky(M), dtype=np.float64))
        except np.linalg.LinAlgError:  # rounding made an eigenvalue negative: it is raised to the ridge
            values, vectors = np.linalg.eigh(M)
            self.root = vectors.T / np.sqrt(np.maximum(values, _RIDGE))[:, None]

    def _roughly(self, right: Floats) -> Floats:
        return np.asarray(self.scale * (self.root.T @ (self.root @ (self.scale * right))))

    def solve(self, right: Floats) -> Floats:
        """Return the iterate of conjugate gradients with the least residual. With dependent rows, later iterates are
        worse.
        """
        solution = self._roughly(right)
        left = right - self.A @ (self.d * (self.A.T @ solution))
        best, least = solution, float(np.linalg.norm(left * self.scale))
        goal = 1e-13 * float(np.linalg.norm(right * self.scale))  # a smaller residual is only rounding
        z = self._roughly(left)
        along, size = z, float(left @ z)
        # Conjugate gradients of the matrix, preconditioned by the factor of the matrix with the ridge.
        for _ in range(_REFINEMENTS):
            image = self.A @ (self.d * (self.A.T @ along))
            bend = float(along @ image)
            if least <= goal or not (size > 0 and bend > 0):
                break
            solution = solution + size / bend * along
            left = left - size / bend * image
            residual = float(np.linalg.norm(left * self.scale))
            if residual < least:
                best, least = solution, residual
            z = self._roughly(left)
            size, before = float(left @ z), size
            along = z + (size / before) * along
        return best


def _lower_inverse(L: Floats) -> Floats:
    """Invert a lower triangular matrix by halves, in a fifth of the time of a general inversion."""
    if len(L) <= _HALVED:
        return np.asarray(np.linalg.inv(L), dtype=np.float64)
    half, inverse = len(L) // 2, np.zeros_like(L)
    top, bottom = _lower_inverse(L[:half, :half]), _lower_inverse(L[half:, half:])
    inverse[:half, :half], inverse[half:, half:] = top, bottom
    inverse[half:, :half] = -bottom @ (L[half:, :half] @ top)
    return inverse


def _longest(values: Floats, change: Floats) -> float:
    """The longest step, at most 1/0.95, at which positive values stay positive."""
    fastest = float((-change / values).max())
    return 1 / fastest if fastest > 0.95 else 1 / 0.95
