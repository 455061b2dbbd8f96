"""The best budget shares of a few marginals or rows, certified within a tolerance, by branch and bound.

Let P(r) be the precision at a share r over the precision at the largest share; P is convex with P(0) = 0 and P(1) = 1.
The error is convex in precisions, but not in shares. On a box of shares low <= r <= high, P lies below its chord. If
the chord replaces P, the error becomes convex in the shares, and no larger, so a tangent plane bounds it from below
over the box. The least value of this plane is at a vertex of the part of the box in which no change by one individual
spends more than the level. The box with the least bound is halved until its bound is within the tolerance of the best
shares found so far.

Bounds are computed in floats and lowered by one part in 10^9, a thousand times their rounding error.
"""

import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from utmost.core.exact.arguments import instance, mapping
from utmost.core.exact.arrays import Floats
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, exact, natural
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.privacy.unit import Unit
from utmost.core.programs.highs import solve
from utmost.core.programs.linear_program import LinearProgram
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.workloads.bounds.workload_evidence import level_of_cells
from utmost.publish.workloads.measuring.unit_charge import is_exact, share_conditions, spent_by
from utmost.publish.workloads.measuring.variance_components import VarianceComponents, precision
from utmost.publish.workloads.planning.candidate_marginals import candidate_marginals, named_candidates, search_starts
from utmost.publish.workloads.planning.share_exchange import WeighedError, best_shares
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Marginal

_LOWERED = 1e-9
_TANGENTS = 12
_STEP_LENGTHS = np.linspace(0.1, 1, 10)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CertifiedShares(Display):
    """Budget shares, their weighted error, and a lower bound on the error at any shares."""

    shares: Mapping[Marginal, float]  # budget share of each marginal, or of each row
    value: float  # weighted error at these shares
    bound: float  # lower bound on the error of every plan in the class `holds_for`
    boxes: int  # number of boxes that were halved
    tolerance: float = field(repr=False)
    holds_for: str  # description of the class of plans, for people

    @property
    def within(self) -> float:
        """The value divided by the bound, a ratio of at least 1."""
        return self.value / self.bound

    @property
    def is_certified(self) -> bool:
        """Whether the value is within the tolerance of the bound; False if the search stopped too early."""
        return self.value <= self.bound * (1 + self.tolerance) * (1 + _LOWERED)


class ErrorOfPrecisions(Protocol):
    """An error that is a convex and decreasing function of the precisions of the measured sums."""

    def precisions(self, shares: Floats) -> Floats:
        """Return the precisions at shares (..., n); each is a convex function of its share."""

    def values(self, precisions: Floats) -> Floats:
        """Return the errors, (...); inf if an answer is not determined."""

    def slopes(self, precisions: Floats) -> Floats:
        """Return the derivatives of the error with respect to each precision, (n,), all <= 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """The shares r with low <= r <= high and ``spent`` . r <= 1; `of` lowers ``high`` if this excludes no such r."""

    low: Floats
    high: Floats
    # for each extreme change by one individual, the loss at share 1 of each marginal, as part of the level; (changes,
    # n)
    spent: Floats

    @classmethod
    def of(cls, low: Floats, high: Floats, spent: Floats) -> "Box | None":
        """Make a box; return None if all shares in it spend more than the level, or all spend less."""
        left = 1 - spent @ low
        # Allow for the rounding of shares, which are floats.
        if left.min() < -1e-12 or (spent @ high).max() < 1 - 1e-12:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            most = np.where(spent > 0, left[:, None] / spent, np.inf).min(axis=0)
        # Round outward: if the box excluded allowed shares, its bound would not be valid.
        return cls(low, np.maximum(low, np.minimum(high, low + most + 1e-12)), spent)

    def middle(self) -> Floats:
        """Return shares on the line from low to high, as large as the level allows."""
        width = self.high - self.low
        grown = self.spent @ width
        ways = grown > 1e-300  # a change that spends nothing along the line does not limit the step
        reach = ((1 - self.spent @ self.low)[ways] / grown[ways]).min(initial=1)
        return np.asarray(self.low + max(0.0, reach) * width)

    def least(self, slopes: Floats) -> tuple[Floats, float]:
        """Return the r in the box where ``slopes`` . r is least, and a proven bound below this; all slopes are <= 0."""
        # A knapsack: spend the level that is left first on the shares that gain most for the level they spend.
        if len(self.spent) == 1:
            spent, shares = self.spent[0], self.low.copy()
            left = 1 - float(spent @ self.low)
            with np.errstate(divide="ignore"):
                order = np.argsort(np.where(spent > 0, slopes / spent, -np.inf))
            for place in order:
                gap = self.high[place] - self.low[place]
                shares[place] += (added := min(gap, max(left, 0.0) / spent[place]) if spent[place] > 0 else gap)
                left -= added * spent[place]
            return shares, float(slopes @ shares)
        rows, columns = np.nonzero(self.spent)
        bounds = {"column_lower": self.low, "column_upper": self.high}
        ends = {"lower": np.full(len(self.spent), -np.inf), "upper": np.maximum(1.0, self.spent @ self.low)}
        solution = solve(LinearProgram.of_triplets(slopes, rows, columns, self.spent[rows, columns], **ends, **bounds))
        # By duality, for any y >= 0: slopes . r >= the least of (slopes + y spent) . r over the box, minus sum y. So
        # the proof does not depend on the accuracy of the solver.
        y = np.maximum(-solution.duals, 0)
        reduced = slopes + y @ self.spent
        proven = float(np.where(reduced > 0, reduced * self.low, reduced * self.high).sum() - y @ ends["upper"])
        return np.clip(solution.primal, self.low, self.high), proven

    def halves(self) -> "list[Box]":
        """Halve the box across its longest side, and return the halves that `of` does not exclude."""
        side = int(np.argmax(self.high - self.low))
        middle = (self.low[side] + self.high[side]) / 2
        lower, upper = self.high.copy(), self.low.copy()
        lower[side], upper[side] = middle, middle
        halves = [Box.of(self.low, lower, self.spent), Box.of(upper, self.high, self.spent)]
        return [box for box in halves if box is not None]


@progress_bar("Certifying shares")
def certified_shares(
    workload: Workload,
    unit: Unit,
    epsilon: Number | Level,
    marginals: Iterable[Any] | None = None,
    *,
    start: Mapping[Any, Number] | None = None,
    tolerance: Number = "1/50",
    most_boxes: int = 20_000,
    progress: Callable[[int, float], None] | None = None,
) -> CertifiedShares:
    """Search for the best budget shares of a few marginals, with a lower bound on the error at any shares.

    Args:
        workload: Wanted sums, and the weight of the error of each.
        unit: Unit of privacy.
        epsilon: Privacy level of the whole release.
        marginals: Marginals that may be measured; None for all that may reduce the error. Four marginals take seconds;
            the time grows exponentially with their number.
        tolerance: Largest allowed (error / bound) - 1, > 0.
        start: Shares to begin with; None to search for them.
        most_boxes: Number of boxes after which the search stops; `CertifiedShares.is_certified` is then False.
        progress: Function that is called every hundred boxes with the number of halved boxes and the ratio error /
            bound.

    Raises:
        OutOfRange: if the tolerance or a marginal is invalid, or if the marginals do not determine a wanted answer.
        Unsupported: if the groups of a level differ in size, or if totals are public.

    Source: proofs/theory/workload-bounds.md.

    >>> from utmost.workloads import Domain
    >>> wanted = Workload(Domain(a=[*range(20)], b=[*range(50)]), {"a": 1, "b": 1}, per_answer=True)
    >>> found = certified_shares(wanted, Unit(1, 1), 1, ["a", "b"])
    >>> round(found.shares[(0, 1)], 2), found.is_certified
    (0.42, True)
    """
    instance(workload, Workload, "workload")
    instance(unit, Unit, "unit")
    if start is not None:
        mapping(start, "start")
    gap = read_tolerance(tolerance)
    if unit.exactly:
        remedy = "Leave exactly= out of the unit: the bound is then for a unit that protects more."
        raise Unsupported(
            "shares can be certified only for totals that are not public", came="exactly=True", remedy=remedy
        )
    chosen = candidate_marginals(workload) if marginals is None else named_candidates(workload, marginals)
    rules = share_conditions(unit, workload.domain.size)
    if marginals is None and any(condition.free for condition in rules):
        chosen |= {workload.domain.marginal(""): 1}
    blocks = VarianceComponents.of(workload.domain, chosen, workload.eigenspaces)
    whole, spectrum = float(level_of_cells(unit, level(epsilon)).epsilon_float), workload.spectrum(blocks)
    spent = np.array(spent_by(workload.domain, unit, chosen), dtype=float)
    largest = largest_share(spent)
    error = WeighedError.of(blocks, [spectrum], whole * largest)
    if start is None:
        starts = []
        for condition in rules:
            by_rule = WeighedError.of(blocks, [spectrum], whole, condition)
            found = best_shares(by_rule, search_starts(workload, chosen, by_rule)) + by_rule.free
            starts.append(np.asarray(float(condition.scale) * found))
    else:
        named = {workload.domain.marginal(name): float(exact(part, "share")) for name, part in start.items()}
        begun = np.array([named.get(marginal, 0.0) for marginal in chosen])
        if (begun < 0).any() or not begun.sum() > 0:
            raise OutOfRange("start must have a positive share for each of the candidate tables", came="other shares")
        starts = [begun]
    search = Search(error, spent * largest, starts)
    most = natural(most_boxes, "most_boxes")
    bound, boxes = search.certify(gap, most, progress)
    unit_variance = 1 / float(precision(error.level))
    shares = dict(zip(chosen, (largest * search.shares).tolist(), strict=True))
    exactly = "" if is_exact(workload.domain, unit, chosen) else ", charged as Plan.charge says, which is no less"
    holds_for = f"one level for each of these marginals, linear unbiased estimates{exactly}"
    return CertifiedShares(shares, search.value * unit_variance, bound * unit_variance, boxes, gap, holds_for)


def read_tolerance(tolerance: Number) -> float:
    """Read the largest allowed (error / bound) - 1, a positive number."""
    gap = float(exact(tolerance, "tolerance"))
    if not gap > 0:
        raise OutOfRange("the tolerance must be positive", came=tolerance, remedy='Pass tolerance="1/50".')
    return gap


def largest_share(spent: Floats) -> float:
    """Return the largest share that a marginal or row can have if nothing else is measured."""
    return float((1 / spent.max(axis=0)).max())


class Search:
    """A branch-and-bound search: the best shares found so far, and a bound from boxes that may have better shares."""

    # Shares are ratios to the largest share, and precisions are ratios to the precision at the largest share; for
    # `spent` see `Box`.
    def __init__(self, error: ErrorOfPrecisions, spent: Floats, starts: Iterable[Floats]) -> None:
        self.error, self.spent, self.value = error, spent, np.inf
        for shares in starts:
            self.keep(np.asarray(shares / (spent @ shares).max()))

    def certify(self, gap: float, most: int, progress: Callable[[int, float], None] | None) -> tuple[float, int]:
        """Return a lower bound on every error, and the number of boxes that were halved to find it."""
        whole = Box.of(np.zeros(self.spent.shape[1]), 1 / self.spent.max(axis=0), self.spent)
        assert whole is not None, "some shares spend the level"
        waiting = [(self.bound(whole, gap), 0, whole)]
        boxes = halves = 0
        while waiting and waiting[0][0] * (1 + gap) < self.value and boxes < most:
            _, _, box = heapq.heappop(waiting)
            boxes += 1
            for half in box.halves():
                halves += 1
                lower_bound = self.bound(half, gap)
                if lower_bound * (1 + gap) < self.value:
                    heapq.heappush(waiting, (lower_bound, halves, half))
            if progress is not None and boxes % 100 == 0:
                progress(boxes, self.value / max(waiting[0][0], 1e-300) if waiting else 1 + gap)
        # A box was discarded only if its bound was at least (best value at that time) / (1 + gap).
        return min([self.value / (1 + gap), *(lower_bound for lower_bound, _, _ in waiting[:1])]), boxes

    def bound(self, box: Box, gap: float) -> float:
        """Return a lower bound on the error over a box; if the search meets better shares on the way, store them."""
        low, high = self.error.precisions(box.low), self.error.precisions(box.high)
        # The error decreases in all shares.
        best = float(self.error.values(high)) * (1 - _LOWERED)
        width = box.high - box.low
        # The slope of a chord is 0 if the box has no width on its side.
        steep = np.where(width > 1e-15, (high - low) / np.where(width > 1e-15, width, 1), 0)
        shares = box.middle()
        for _ in range(_TANGENTS):
            self.keep(shares)
            if best * (1 + gap) >= self.value:
                break
            # Precision lies below its chord, so the error with chords is below the error.
            chords = low + steep * (shares - box.low)
            value = float(self.error.values(chords))
            if not value < np.inf:
                break
            # The error with chords is convex, so over the whole box it lies above its tangent.
            slopes = steep * self.error.slopes(chords)
            vertex, least = box.least(slopes)
            tangent = value + least - float(slopes @ shares)
            best = max(best, tangent - _LOWERED * float(value - 2 * slopes @ (vertex + shares)))
            tried = shares + _STEP_LENGTHS[:, None] * (vertex - shares)
            values = self.error.values((low - steep * box.low) + steep * tried)
            shares = np.asarray(tried[int(values.argmin())])
        return best

    def keep(self, shares: Floats) -> None:
        """Store shares if their error is less than that of the best shares so far, or if they are the first."""
        value = float(self.error.values(self.error.precisions(shares)))
        if value < self.value or not hasattr(self, "shares"):
            self.shares, self.value = shares, value
