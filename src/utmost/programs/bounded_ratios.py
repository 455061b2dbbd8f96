r"""Programs whose columns keep bounded ratios, by an interior-point method made for them.

The program of a consumer (min sum_w c_w . v_w over columns v_w with v_w[i] >= a_ij v_w[j], all columns together
summing to 1 in every entry) has n k variables and n^2 k rows. Solvers for any program see neither that its columns meet
in n sums only, nor that few rows bind. This method keeps a matrix of n x n for each column and one for the sums, takes
rows in when a column comes near them, and lets go of columns that fade.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from utmost.errors import SolverFailed
from utmost.exact import Floats
from utmost.programs.ratio_newton import Direction, NewtonStep, Residuals, Sums, best_share, longest
from utmost.programs.ratio_rows import Numbers, RatioRows, near_pairs, nearly_broken

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
        lower, upper: bounds of the optimum over the columns that were kept, the upper one after mending what is broken.
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

    Cost: some 30 to 60 steps of O(k n^3); memory k n^2 floats.

    Source: the predictor and corrector of Mehrotra with the multiple corrections of Gondzio, on program (2) to (6) of
    [ghosh2009] by columns.
    """
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
        """A lower bound from the prices, and the cost after constant columns have mended what is broken."""
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
