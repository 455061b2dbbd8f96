"""Programs of few rows and many dense columns that sum to one in every row, near their optimum and near its centre.

min c x over x >= 0 with A x = 1, for A of (n, N) with N many times n: the master of a column generation. Its prices are
what the next columns are found by, and prices from the middle of the set of optimal ones are better for that than those
of a vertex, so that an interior point is what is wanted, and to no more than some digits.
"""

from dataclasses import dataclass

import numpy as np

from utmost.core.exact.arrays import Floats

_MOST_STEPS = 60
_RIDGE = 1e-13  # beside a unit diagonal
_REFINEMENTS = 8
_HALVED = 64  # rows from which a triangular matrix is inverted by halves
_SHORT_OF = 0.95  # of the way to the boundary
_INSIDE = 1e-2  # of the mean: how far from zero the first point is
_MOVED, _LEAST_MOVED = 3.0, 1e-12  # times what a new column is worth: how far inside the next point is
_STALLED, _STALLED_FAR = 4, 16  # steps without progress: where sums are nearly right rounding ends it, else little room
_NEARLY = 1e-3
_LOST = 10.0  # times what is wanted: a start that leads no nearer is given up


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Nearly optimal shares x of the columns, prices of the rows, and what each column costs beyond its price.

    Attributes:
        shares: (N,) positive.
        prices: (n,) multipliers of the rows.
        excess: (N,) positive: c - A' prices.
        off: how far from 1 the sum of a row is at most.
    """

    shares: Floats
    prices: Floats
    excess: Floats
    off: float


def central_shares(
    columns: Floats,
    costs: Floats,
    weights: Floats,
    gap: float,
    exactness: float = 1e-9,
    near: tuple[Floats, Floats] | None = None,
) -> Shares:
    """The shares of columns that sum to 1 in each row at least cost, to a gap.

    Args:
        columns: (n, N), N >= n, not negative, every row with a positive entry.
        costs: (N,).
        weights: (n,) positive, of sum 1, and <weights, column> = 1 for each column: the equations are then written in
            what the columns differ from the constant one by, however little that is.
        gap: how far above the optimum the cost may be.
        exactness: how far from 1 a row's sum may be.
        near: shares (N,), 0 for new columns, and prices (n,) that were best before there were these: half of the steps.

    Returns: the best point that was reached, which is as wanted unless rounding comes before.

    Cost: 10 to 25 steps of O(n^2 N).

    Source: the predictor and corrector of Mehrotra.

    >>> columns, costs = np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0]]), np.array([1.0, 1.0, 0.5])
    >>> found = central_shares(columns, costs, np.full(2, 0.5), 1e-9)
    >>> found.shares.round(6).tolist()
    [0.0, 0.0, 1.0]
    """
    rows = _Differences.of(columns, weights)
    program = rows.of_columns(columns), costs, rows.sums
    best, merit = None, np.inf
    if near is not None:
        best, merit = _Point.near(*program, near[0], rows.multipliers(near[1])).followed(gap, exactness)
    # A start on the boundary may lead nowhere; kept, its prices would be those of the next rounds, too, for ever.
    if best is None or not merit <= _LOST:
        again, its_merit = _Point.first(*program).followed(gap, exactness)
        best = again if best is None or its_merit < merit else best
    return Shares(best.x, rows.prices(best.y), best.s, float(abs(1 - columns @ best.x).max()))


@dataclass(frozen=True, slots=True, eq=False)
class _Differences:
    """The same equations: the weighted one first, and how much each row but one differs from it, in its own unit."""

    weights: Floats
    units: Floats
    left_out: int

    @classmethod
    def of(cls, columns: Floats, weights: Floats) -> "_Differences":
        # A row without differences is divided by next to nothing, and stays 0.
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
        """What has these `prices`."""
        common = prices[self.left_out] / self.weights[self.left_out]
        own = prices - common * self.weights
        own[self.left_out] = 0.0
        y = own * self.units
        y[self.left_out] = common + own.sum()
        return np.asarray(y)


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    A: Floats
    c: Floats
    b: Floats
    x: Floats
    y: Floats
    s: Floats

    @classmethod
    def first(cls, A: Floats, c: Floats, b: Floats) -> "_Point":
        """Mehrotra's start: the least squares solutions, moved inside."""
        solve = _Normal(A, np.ones(len(c))).solve
        x = A.T @ solve(b)
        y = solve(A @ c)
        s = c - A.T @ y
        x = x + max(-1.5 * x.min(), 0.0) + _INSIDE * max(float(x.mean()), 1e-300)
        s = s + max(-1.5 * s.min(), 0.0) + _INSIDE * max(float(abs(c).mean()), 1e-300)
        product = x @ s
        return cls(A, c, b, x + 0.5 * product / s.sum(), y, s + 0.5 * product / x.sum())

    @classmethod
    def near(cls, A: Floats, c: Floats, b: Floats, x: Floats, y: Floats) -> "_Point":
        """From the optimum of fewer columns, moved inside by as much as the best new one is worth."""
        excess = c - A.T @ y
        worth = max(-float(excess.min()), 0.0)
        s = np.maximum(excess, 0.0) + max(_MOVED * worth, _LEAST_MOVED)
        product = max(worth * float(x.mean()), float(x @ np.maximum(excess, 0.0)) / len(x))
        x = np.maximum(x, product / s)
        return cls(A, c, b, x, y, np.maximum(s, 0.1 * product / x))

    def merit(self, gap: float, exactness: float) -> float:
        """At most 1 where everything is as wanted."""
        dual = float(abs(self.c - self.A.T @ self.y - self.s) @ self.x)
        return max(float(self.x @ self.s) / gap, self.off / exactness, dual / gap)

    def followed(self, gap: float, exactness: float) -> "tuple[_Point, float]":
        """The best point on the way to the optimum, and its merit."""
        at, best, best_merit, stalled = self, self, np.inf, 0
        for steps in range(_MOST_STEPS + 1):
            merit = at.merit(gap, exactness)
            # The best point is kept: beyond its digits the method wanders, and the last point may be worse.
            best, stalled = (at, 0) if merit < 0.9 * best_merit else (best, stalled + 1)
            best_merit = min(merit, best_merit)
            patience = _STALLED if best.off < _NEARLY else _STALLED_FAR
            if merit <= 1.0 or stalled > patience or steps == _MOST_STEPS:
                break
            at = at.next()
        return best, best_merit

    @property
    def off(self) -> float:
        """How far from 1 the sum of a row is at most."""
        return float(abs(self.b - self.A @ self.x).max())

    def next(self) -> "_Point":
        """One step: towards the optimum first, then its second order and the centre."""
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
        # The second-order term of a step that could not be taken is no correction: as much of it as was taken.
        second = dx * ds * min(1.0, p * d + 0.1)
        dx, dy, ds = newton((ahead / mean) ** 3 * mean - x * s - second)
        p, d = (min(1.0, _SHORT_OF * _longest(*pair)) for pair in ((x, dx), (s, ds)))
        return _Point(A, self.c, self.b, x + p * dx, self.y + d * dy, s + d * ds)


def exact_sums(columns: Floats, weights: Floats, shares: Floats) -> Floats:
    """Shares nearby whose sums are 1 to rounding: those that are large change, by what the rows are off."""
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
    """A D A' of positive D, by a root of its inverse, with refinement by conjugate gradients."""

    def __init__(self, A: Floats, d: Floats) -> None:
        self.A, self.d = A, d
        half = A * np.sqrt(d)
        M = half @ half.T
        self.scale = 1 / np.sqrt(np.diag(M))
        M *= self.scale[:, None]
        M *= self.scale
        # Rows that depend on each other make M singular at the optimum; refinement takes the ridge back out.
        M.flat[:: len(M) + 1] += _RIDGE
        try:
            self.root = _lower_inverse(np.asarray(np.linalg.cholesky(M), dtype=np.float64))
        except np.linalg.LinAlgError:  # rounding has taken an eigenvalue below zero: it is raised to the ridge
            values, vectors = np.linalg.eigh(M)
            self.root = vectors.T / np.sqrt(np.maximum(values, _RIDGE))[:, None]

    def _roughly(self, right: Floats) -> Floats:
        return np.asarray(self.scale * (self.root.T @ (self.root @ (self.scale * right))))

    def solve(self, right: Floats) -> Floats:
        """The least residual on the way: where rows depend on each other, further steps lead astray."""
        solution = self._roughly(right)
        left = right - self.A @ (self.d * (self.A.T @ solution))
        best, least = solution, float(np.linalg.norm(left * self.scale))
        goal = 1e-13 * float(np.linalg.norm(right * self.scale))  # beyond it steps only move rounding about
        z = self._roughly(left)
        along, size = z, float(left @ z)
        # Conjugate gradients of the matrix itself, behind the factor of the ridged one.
        for _ in range(_REFINEMENTS):
            image = self.A @ (self.d * (self.A.T @ along))
            bend = float(along @ image)
            if least <= goal or not (size > 0 and bend > 0):
                break
            solution = solution + size / bend * along
            left = left - size / bend * image
            off = float(np.linalg.norm(left * self.scale))
            if off < least:
                best, least = solution, off
            z = self._roughly(left)
            size, before = float(left @ z), size
            along = z + (size / before) * along
        return best


def _lower_inverse(L: Floats) -> Floats:
    """The inverse of a lower triangular matrix, by halves: as products, a fifth of the time of a general inverse."""
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
