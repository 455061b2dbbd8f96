"""The best levels of a few marginals or rows, certified within a tolerance, by branch and bound.

The precision P(r) at a share r, over the precision at the largest share, is convex with P(0) = 0 and P(1) = 1. The
error is convex in precisions, but not in shares. On a box of shares low <= r <= high, P lies below its chord. With the
chord in place of P the error is convex and no larger, so that a tangent plane bounds it over the box: its least value
is at a vertex of the part of the box that keeps the level, where no change by one individual spends more than 1. The
box with the least bound is halved until its bound is within the tolerance of the best shares found so far.

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
_STEPS = np.linspace(0.1, 1, 10)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CertifiedShares(Display):
    """Budget shares, their weighted error, and a lower bound on the error of any shares."""

    shares: Mapping[Marginal, float]  # share of each marginal, or row
    value: float  # weighted error at these shares
    bound: float  # lower bound on the error of every plan of the class `holds_for`
    boxes: int  # number of boxes that were halved
    tolerance: float = field(repr=False)
    holds_for: str  # the class of plans that the bound is about, for people

    @property
    def within(self) -> float:
        """The ratio of the value to the bound."""
        return self.value / self.bound

    @property
    def is_certified(self) -> bool:
        """Whether the value is within the tolerance of the bound; False if the number of boxes ran out."""
        return self.value <= self.bound * (1 + self.tolerance) * (1 + _LOWERED)


class ErrorOfPrecisions(Protocol):
    """An error that is convex and falls in the precisions of the measured sums."""

    def precisions(self, shares: Floats) -> Floats:
        """The precisions at shares (..., n); each is convex in its share."""

    def values(self, precisions: Floats) -> Floats:
        """The errors, (...); inf where an answer is not determined."""

    def slopes(self, precisions: Floats) -> Floats:
        """The derivatives of the error in each precision, (n,), all <= 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """Shares low <= r <= high with ``spent`` r <= 1; high is lowered to the level that the shares low leave."""

    low: Floats
    high: Floats
    # for each extreme change by one individual, the loss at share 1 of each marginal, over the level; (changes, n)
    spent: Floats

    @classmethod
    def of(cls, low: Floats, high: Floats, spent: Floats) -> "Box | None":
        """The box; None where all its shares spend more than the level, or all spend less."""
        left = 1 - spent @ low
        # Shares are floats: an excess by their rounding is allowed.
        if left.min() < -1e-12 or (spent @ high).max() < 1 - 1e-12:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            most = np.where(spent > 0, left[:, None] / spent, np.inf).min(axis=0)
        # Rounded outward: if the box missed allowed shares, its bound would not be valid.
        return cls(low, np.maximum(low, np.minimum(high, low + most + 1e-12)), spent)

    def middle(self) -> Floats:
        """Shares on the line from low to high, as large as the level allows."""
        width = self.high - self.low
        grown = self.spent @ width
        ways = grown > 1e-300  # a change that spends nothing along the line puts no limit on the step
        reach = ((1 - self.spent @ self.low)[ways] / grown[ways]).min(initial=1)
        return np.asarray(self.low + max(0.0, reach) * width)

    def least(self, slopes: Floats) -> tuple[Floats, float]:
        """Shares in the box with the least slopes . r, and a proven lower bound on slopes . r; all slopes are <= 0."""
        # a knapsack: the rest of the level goes first to the shares with the largest gain for the level they spend
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
        # For any y >= 0: slopes . r >= the least of (slopes + y spent) . r over the box, minus sum y. The proof does
        # not depend on the solver's accuracy.
        y = np.maximum(-solution.duals, 0)
        reduced = slopes + y @ self.spent
        proven = float(np.where(reduced > 0, reduced * self.low, reduced * self.high).sum() - y @ ends["upper"])
        return np.clip(solution.primal, self.low, self.high), proven

    def halves(self) -> "list[Box]":
        """The halves across the longest side that `of` does not exclude."""
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
    """The best budget shares of a few marginals, with a lower bound on the error at any shares.

    Args:
        workload: Wanted sums, and the weight of the error of each.
        unit: Unit of privacy.
        epsilon: Privacy level of the whole release.
        marginals: Marginals that may be measured; None for all that can be of use. Four take seconds, and the time
            grows exponentially.
        tolerance: Largest allowed (error / bound) - 1, > 0.
        start: Shares to begin with; None to search for them.
        most_boxes: Number of boxes after which the search stops; `CertifiedShares.is_certified` is then False.
        progress: Called every hundred boxes with the number of halved boxes and the error over the bound.

    Raises:
        OutOfRange: for an invalid tolerance or marginal, and marginals that do not determine a wanted answer.
        Unsupported: where the groups of a level differ in size, and where totals are public.

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
        remedy = "Leave exactly= out of the unit: the bound then is for a unit that protects more."
        raise Unsupported("certified shares need totals that are not public", came="exactly=True", remedy=remedy)
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
            raise OutOfRange("start must have a positive share for each of these tables", came="other shares")
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
    """Read the largest allowed (error / bound) - 1."""
    gap = float(exact(tolerance, "tolerance"))
    if not gap > 0:
        raise OutOfRange("the tolerance must be positive", came=tolerance, remedy='Pass tolerance="1/50".')
    return gap


def largest_share(spent: Floats) -> float:
    """The largest share that one marginal or row can have if only it is measured."""
    return float((1 / spent.max(axis=0)).max())


class Search:
    """The best shares found so far, and a bound from boxes that may have better shares."""

    # Precisions are ratios to the precision at the largest share, shares are ratios to the largest share; for `spent`
    # see `Box`.
    def __init__(self, error: ErrorOfPrecisions, spent: Floats, starts: Iterable[Floats]) -> None:
        self.error, self.spent, self.value = error, spent, np.inf
        for shares in starts:
            self.keep(np.asarray(shares / (spent @ shares).max()))

    def certify(self, gap: float, most: int, progress: Callable[[int, float], None] | None) -> tuple[float, int]:
        """A lower bound on every error, and the number of boxes that were halved for it."""
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
        # When a box was discarded, its bound was at least (best value at that time) / (1 + gap).
        return min([self.value / (1 + gap), *(lower_bound for lower_bound, _, _ in waiting[:1])]), boxes

    def bound(self, box: Box, gap: float) -> float:
        """A lower bound on the error over a box; better shares found on the way are kept."""
        low, high = self.error.precisions(box.low), self.error.precisions(box.high)
        # The error falls in all shares.
        best = float(self.error.values(high)) * (1 - _LOWERED)
        width = box.high - box.low
        # The slope of a chord is 0 where the box has no width.
        steep = np.where(width > 1e-15, (high - low) / np.where(width > 1e-15, width, 1), 0)
        shares = box.middle()
        for _ in range(_TANGENTS):
            self.keep(shares)
            if best * (1 + gap) >= self.value:
                break
            # Precision lies below its chord: the error with chords is below the error.
            chords = low + steep * (shares - box.low)
            value = float(self.error.values(chords))
            if not value < np.inf:
                break
            # The error with chords is convex: over the whole box it lies above its tangent.
            slopes = steep * self.error.slopes(chords)
            vertex, least = box.least(slopes)
            tangent = value + least - float(slopes @ shares)
            best = max(best, tangent - _LOWERED * float(value - 2 * slopes @ (vertex + shares)))
            tried = shares + _STEPS[:, None] * (vertex - shares)
            values = self.error.values((low - steep * box.low) + steep * tried)
            shares = np.asarray(tried[int(values.argmin())])
        return best

    def keep(self, shares: Floats) -> None:
        """Keep shares if they are better than the best so far, or the first."""
        value = float(self.error.values(self.error.precisions(shares)))
        if value < self.value or not hasattr(self, "shares"):
            self.shares, self.value = shares, value
