"""Programs whose columns keep bounded ratios, by an interior-point method made for them.

The program of a consumer (min sum_w c_w . v_w over columns v_w with v_w[i] >= a_ij v_w[j], all columns together
summing to 1 in every entry) has n k variables and n^2 k rows. Solvers for any program see neither that its columns meet
in n sums only, nor that few rows bind. This method keeps a matrix of n x n for each column and one for the sums, and a
list of rows: those that bind most, and every other pair once a column comes near it. It lets go of columns that fade.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from utmost.errors import SolverFailed
from utmost.exact import Floats

Numbers = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class RatioRows:
    """Rows ``v_w[low] - factor v_w[high] >= 0``, sorted by the column w.

    Attributes:
        size: the length n of a column.
        columns: how many columns there are.
        column, low, high: (N,) which column, and which two of its entries.
        factor: (N,) the factor a of the pair.
    """

    size: int
    columns: int
    column: Numbers
    low: Numbers
    high: Numbers
    factor: Floats

    @classmethod
    def everywhere(cls, columns: int, low: Numbers, high: Numbers, factors: Floats) -> "RatioRows":
        """The same pairs in every column."""
        pairs = len(low)
        column = np.repeat(np.arange(columns), pairs)
        low, high = np.tile(low, columns), np.tile(high, columns)
        return cls(len(factors), columns, column, low, high, factors[low, high])

    def __len__(self) -> int:
        return len(self.column)

    def slacks(self, values: Floats) -> Floats:
        """A v for columns (k, n): shape (N,)."""
        flat = values.ravel()
        start = self.column * self.size
        return np.asarray(flat[start + self.low] - self.factor * flat[start + self.high])

    def combined(self, multipliers: Floats) -> Floats:
        """A' z, shape (k, n)."""
        start, total = self.column * self.size, self.columns * self.size
        gains = np.bincount(start + self.low, weights=multipliers, minlength=total)
        gains -= np.bincount(start + self.high, weights=self.factor * multipliers, minlength=total)
        return np.asarray(gains.reshape(self.columns, self.size))

    def normal_matrix(self, w: int, weights: Floats) -> tuple[Floats, Floats]:
        """A_w' D A_w of column w for positive weights D, scaled to a unit diagonal, and the scale of each entry."""
        n, part = self.size, slice(*np.searchsorted(self.column, [w, w + 1]))
        low, high, factor, d = self.low[part], self.high[part], self.factor[part], weights[part]
        half: Floats = np.asarray(np.bincount(low * n + high, weights=-factor * d, minlength=n * n).reshape(n, n))
        off: Floats = np.asarray(half + half.T)
        diagonal = np.bincount(low, weights=d, minlength=n) + np.bincount(high, weights=factor**2 * d, minlength=n)
        scale = 1 / np.sqrt(diagonal)
        off *= scale[:, None]
        off *= scale[None, :]
        off.flat[:: n + 1] = 1.0
        return off, scale

    def codes(self) -> Numbers:
        """One number for each row."""
        return (self.column * self.size + self.low) * self.size + self.high

    def merged(self, more: "RatioRows") -> tuple["RatioRows", Numbers]:
        """These rows and more, sorted by column, and where each row of the two lists together has gone."""
        both = [
            np.concatenate([getattr(self, name), getattr(more, name)]) for name in ("column", "low", "high", "factor")
        ]
        order = np.argsort(both[0], kind="stable")
        return RatioRows(self.size, self.columns, *(part[order] for part in both)), order

    def without(self, dropped: NDArray[np.bool_]) -> tuple["RatioRows", NDArray[np.bool_]]:
        """The rows of the columns that are not dropped, renumbered, and which rows these are."""
        kept, number = ~dropped[self.column], np.cumsum(~dropped) - 1
        parts = (number[self.column[kept]], self.low[kept], self.high[kept], self.factor[kept])
        return RatioRows(self.size, int((~dropped).sum()), *parts), kept


def near_pairs(factors: Floats, neighbours: int = 4) -> tuple[Numbers, Numbers]:
    """Ordered pairs to begin with: each entry and its nearest ones, those with the largest factors, ties included."""
    n = len(factors)
    if n == 1:  # the one entry is only not negative: the pair with itself, whose factor is 0
        return np.zeros(1, dtype=np.intp), np.zeros(1, dtype=np.intp)
    if n - 1 <= neighbours:
        return tuple(np.nonzero(factors))  # type: ignore[return-value]
    least = np.sort(factors, axis=1)[:, -neighbours] * (1 - 1e-9)
    near = (factors >= least[:, None]) & (factors > 0)
    return tuple(np.nonzero(near | near.T))  # type: ignore[return-value]


def nearly_broken(values: Floats, factors: Floats, rows: RatioRows, within: float) -> tuple[RatioRows, Floats]:
    """For each entry of each column the pair nearest to being broken, if it is within a share of that and no row yet.

    Args:
        values: (k, n) the columns.
        factors: (n, n), 0 where a pair is implied by others.
        rows: the rows held already.
        within: how much of v_i the slack may be at most.

    Returns: the new rows, and by how much each column breaks its worst pair, (k,).

    Cost: O(k n^2), one multiplication for each.
    """
    product, entries, found = np.empty_like(factors), np.arange(rows.size), []
    worst = np.zeros(rows.columns)
    for w, v in enumerate(values):
        np.multiply(factors, v[None, :], out=product)
        high = product.argmax(axis=1)
        needed = product[entries, high]
        worst[w] = max(0.0, float((needed - v).max()))
        low = np.flatnonzero(needed > (1 - within) * v)
        found.append((np.full(len(low), w), low, high[low]))
    column, low, high = (np.concatenate(parts) for parts in zip(*found, strict=True))
    new = RatioRows(rows.size, rows.columns, column, low, high, factors[low, high])
    fresh = ~np.isin(new.codes(), rows.codes()) & (new.factor > 0)
    return RatioRows(rows.size, rows.columns, column[fresh], low[fresh], high[fresh], new.factor[fresh]), worst


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


_libraries, _turn = cache(ThreadpoolController), Lock()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context in which linear algebra has one thread.

    Matrices of 100 by 100 give a second one nothing to do, and it waits busily: a design of 100 places takes 14 seconds
    of processor in two threads and 8 in one, more on a busy machine. The number is one setting of the process, which
    whoever comes first changes and puts back; who comes meanwhile (in another thread, or in a child that was forked
    meanwhile) does not wait.
    """
    if not _turn.acquire(blocking=False):
        yield
        return
    try:
        with _libraries().limit(limits=1, user_api="blas"):
            yield
    finally:
        _turn.release()


Stop = Callable[[float, float], bool]

_MOST_STEPS = 300
_WITHIN = 0.02  # of an entry: pairs with less slack than this become rows
_SHORT_OF = 0.995  # of the way to the boundary
_CORRECTIONS = 6
_SPREAD = 10.0  # the first products s z, in units of what the costs differ by
_FADED, _FADING, _FIRST_DROP = 0.1, 0.97, 5
_MOST_FRESH = 0.01  # of the multipliers that an entry has: the most that a new row brings
_LEAST_PRODUCT = 1e-10  # of the cost, over all rows: below it rounding decides


@dataclass(frozen=True, slots=True, eq=False)
class Interior:
    """Nearly optimal columns and multipliers, strictly inside; `lower` and `upper` hold up to float rounding.

    Attributes:
        columns: (k, n) the columns; those that were let go of are 0.
        prices: (n,) multipliers of the sums (or (1,) for a single column).
        rows: the rows held at the end, in the columns' own numbers.
        multipliers: (N,) theirs, positive.
        lower, upper: bounds of the optimum over the columns that were kept, the upper one after correcting what is
            broken.
        kept: (k,) which columns were not let go of.
        steps: how many Newton steps it took.
    """

    columns: Floats
    prices: Floats
    rows: RatioRows
    multipliers: Floats
    lower: float
    upper: float
    kept: Numbers
    steps: int


def interior_columns(
    costs: Floats, factors: Floats, stop: Stop, *, by_entry: bool = True, let_go: bool = False
) -> Interior:
    """The columns of least total cost that keep the ratios, to within what ``stop(lower, upper)`` asks for.

    Args:
        costs: (k, n) cost of each entry of each column.
        factors: (n, n) the a_ij in [0, 1), 0 where a pair is implied by others; symmetric in where it is 0.
        stop: whether the bounds are good enough.
        by_entry: sum_w v_w[i] = 1 for every i; otherwise there is one column, whose entries sum to 1.
        let_go: drop columns that fade, to be quicker; the bounds are then those of the columns that were kept.

    Raises:
        SolverFailed: when the bounds do not get there.

    Cost: some 30 to 60 steps of O(k n^3), in one thread of BLAS; memory k n^2 floats.

    Source: the predictor and corrector of Mehrotra with the multiple corrections of Gondzio, on program (2) to (6) of
    [ghosh2009] by columns.
    """
    with one_blas_thread():
        at = _Iterate.start(costs, factors, Sums(by_entry))
        for steps in range(_MOST_STEPS):
            lower, upper = at.bounds(at.take_in())
            if stop(lower, upper):
                return at.finished(lower, upper, steps)
            if let_go and steps >= _FIRST_DROP:
                at.let_go()
            at.move(*_direction(at))
            if not np.isfinite(at.prices).all():
                break
    raise SolverFailed("an interior point must come near the optimum", came=f"a gap of {upper - lower:.1e}")


class _Iterate:
    """Columns, slacks, multipliers and prices, as they change from step to step."""

    def __init__(self, costs: Floats, factors: Floats, sums: Sums) -> None:
        self.costs, self.factors, self.sums = costs, factors, sums
        self.kept = np.arange(len(costs))
        self.rows: RatioRows
        self.columns: Floats
        self.slacks: Floats
        self.multipliers: Floats
        self.prices: Floats
        self.first, self.shares = len(costs), np.full(len(costs), np.inf)

    @classmethod
    def start(cls, costs: Floats, factors: Floats, sums: Sums) -> "_Iterate":
        """Equal entries everywhere, and multipliers that make all products s z equal."""
        at = cls(costs, factors, sums)
        k, n = costs.shape
        at.rows = RatioRows.everywhere(k, *near_pairs(factors), factors)
        at.columns = np.full((k, n), 1 / (k if sums.by_entry else n))
        at.slacks = at.rows.slacks(at.columns)
        pull = at.rows.combined(1 / at.slacks)[0]
        mean = costs.mean(axis=0) if sums.by_entry else costs.mean(axis=1)
        spread = np.abs(costs - sums.spread(mean, costs.shape)).max(axis=0)
        product = _SPREAD * float((spread / pull).mean()) or 1.0
        at.multipliers = product / at.slacks
        at.prices = mean - product * (pull if sums.by_entry else np.array([pull.mean()]))
        return at

    def residuals(self) -> Residuals:
        """What is missing in the equations."""
        prices = self.sums.spread(self.prices, self.costs.shape)
        return Residuals(
            self.costs - self.rows.combined(self.multipliers) - prices,
            self.rows.slacks(self.columns) - self.slacks,
            1 - self.sums.of(self.columns),
        )

    def bounds(self, worst: Floats) -> tuple[float, float]:
        """A lower bound from the prices, and the cost after constant columns have corrected what is broken."""
        left = self.residuals().dual
        missing = np.minimum(left.min(axis=0), 0)
        lower = float(self.prices.sum() + (missing.sum() if self.sums.by_entry else missing.min()))
        shift = worst / (1 - self.factors.max())
        total = float((shift if self.sums.by_entry else shift * self.rows.size).sum())
        cost = float((self.costs * self.columns).sum() + (self.costs.sum(axis=1) * shift).sum())
        return lower, cost / (1 + total)

    def take_in(self) -> Floats:
        """Rows for pairs that are nearly broken; by how much each column breaks its worst pair."""
        new, worst = nearly_broken(self.columns, self.factors, self.rows, _WITHIN)
        if len(new):
            mean = float(self.slacks @ self.multipliers) / len(self.rows)
            room = _WITHIN * self.columns[new.column, new.low]
            slacks = np.maximum(new.slacks(self.columns), room)
            before = self.rows
            self.rows, order = before.merged(new)
            self.slacks = np.concatenate([self.slacks, slacks])[order]
            held = np.bincount(self._entry(before), weights=self.multipliers, minlength=self.columns.size)
            fresh = np.minimum(mean / slacks, _MOST_FRESH * held[self._entry(new)])
            self.multipliers = np.concatenate([self.multipliers, fresh])[order]
        return worst

    def _entry(self, rows: RatioRows) -> Numbers:
        return rows.column * rows.size + rows.low

    def let_go(self) -> None:
        """Columns with a small share of all sums leave; the largest column takes their entries, and stays private."""
        share = self.columns.sum(axis=1) / self.rows.size
        faded = (share < _FADED / self.first) & (share < _FADING * self.shares)
        self.shares = share
        if len(share) == 1 or not faded.any():
            return
        heir = int(np.argmax(share))
        self.columns[heir] += self.columns[faded].sum(axis=0)
        self.rows, kept = self.rows.without(faded)
        self.slacks, self.multipliers = self.slacks[kept], self.multipliers[kept]
        self.columns, self.costs, self.kept = self.columns[~faded], self.costs[~faded], self.kept[~faded]
        self.shares = share[~faded]
        heirs = self.rows.column == heir - int(faded[:heir].sum())
        self.slacks[heirs] = np.maximum(self.slacks[heirs], self.rows.slacks(self.columns)[heirs])

    def least_product(self) -> float:
        """The product s z to which it is worth going down."""
        return _LEAST_PRODUCT * abs(float((self.costs * self.columns).sum())) / len(self.rows)

    def move(self, primal: float, dual: float, step: Direction) -> None:
        """Go along a direction, a little less far than to the boundary."""
        self.columns = self.columns + primal * step[0]
        self.slacks = self.slacks + primal * step[1]
        self.multipliers = self.multipliers + dual * step[2]
        self.prices = self.prices + dual * step[3]

    def finished(self, lower: float, upper: float, steps: int) -> Interior:
        """The columns in their own numbers."""
        rows = RatioRows(
            self.rows.size,
            int(self.kept.max()) + 1,
            self.kept[self.rows.column],
            self.rows.low,
            self.rows.high,
            self.rows.factor,
        )
        return Interior(self.columns, self.prices, rows, self.multipliers, lower, upper, self.kept, steps)


def _direction(at: _Iterate) -> tuple[float, float, Direction]:
    """Step lengths (primal, dual) and the direction: prediction, its second order, and corrections towards the centre.

    Factorising costs far more than solving, so several corrections are worth a step that is a little longer.
    """
    s, z = at.slacks, at.multipliers
    residuals = at.residuals()
    tolerance = max(1e-3 * float(np.abs(residuals.dual).max()), 1e-14 * float(np.abs(at.costs).max()))
    newton = NewtonStep(at.rows, at.sums, s, z, tolerance)
    none = residuals.zero()

    def reach(step: Direction) -> tuple[float, float]:
        return longest(s, step[1]), longest(z, step[2])

    mean = float(s @ z) / len(s)
    step = newton.solve(-s * z, residuals)
    primal, dual = reach(step)
    ahead = float((s + primal * step[1]) @ (z + dual * step[2])) / len(s)
    target = max((ahead / mean) ** 3 * mean, min(mean, at.least_product()))
    second = newton.solve(target - step[1] * step[2], none)
    (primal, dual), step = best_share(step, second, (1.0, 0.5, 0.25, 0.1, primal * dual), reach)
    for _ in range(_CORRECTIONS):
        further = min(1.0, 1.5 * primal + 0.1), min(1.0, 1.5 * dual + 0.1)
        ends = (s + further[0] * step[1]) * (z + further[1] * step[2])
        towards = np.where(
            ends < 0.1 * target, 0.1 * target - ends, np.maximum(np.minimum(10 * target - ends, 0), -10 * target)
        )
        longer, corrected = best_share(step, newton.solve(towards, none), (1.0, 0.5, 0.2), reach)
        if sum(longer) < primal + dual + 0.01:
            break
        (primal, dual), step = longer, corrected
    return _SHORT_OF * primal, _SHORT_OF * dual, step
