"""The best levels of a few families or rows, certified within a tolerance, by branch and bound.

The precision P(r) of a share r, in units of the precision of the largest share, is convex with P(0) = 0 and P(1) = 1.
So the error, which is convex in precisions, is no convex function of the shares. On a box of shares low <= r <= high,
though, P is below its chord, and with the chord in its place the error is convex and not larger: a tangent plane bounds
it over the whole box, by the best vertex of the box and of what keeps the level: shares of which no way to change the
cells spends more than 1. The box with the least bound is halved, until that bound is within the tolerance of the best
shares met so far.

Bounds are computed in floats and lowered by one part in 10^9, which is a thousand times their rounding.
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
from utmost.publish.workloads.measuring.unit_charge import is_exact, rooms, spent_by
from utmost.publish.workloads.measuring.variance_components import VarianceComponents, precision
from utmost.publish.workloads.planning.candidate_families import candidate_families, named_candidates, search_starts
from utmost.publish.workloads.planning.share_exchange import WeighedError, best_shares
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Family

_LOWERED = 1e-9
_TANGENTS = 12
_STEPS = np.linspace(0.1, 1, 10)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CertifiedShares(Display):
    """Shares of the level, their weighted error, and a bound that no shares of these families are below.

    Attributes:
        shares: Share of each family; floats, as `Plan` has them.
        value: the weighted error of these shares.
        bound: Lower bound on the error of every plan of the class ``holds_for``.
        boxes: Number of boxes that were halved.
        tolerance: Tolerance that was asked for.
        holds_for: the class of plans that the bound is about.
    """

    shares: Mapping[Family, float]
    value: float
    bound: float
    boxes: int
    tolerance: float = field(repr=False)
    holds_for: str

    @property
    def within(self) -> float:
        """How many times the bound the value is."""
        return self.value / self.bound

    @property
    def is_certified(self) -> bool:
        """Whether the bound is within the tolerance; else the boxes ran out first."""
        return self.value <= self.bound * (1 + self.tolerance) * (1 + _LOWERED)


class ErrorOfPrecisions(Protocol):
    """An error that is convex and falling in the precisions of what is measured."""

    def precisions(self, shares: Floats) -> Floats:
        """The precisions at shares (..., n), each convex in its share."""

    def values(self, precisions: Floats) -> Floats:
        """The errors, (...); inf where not all is determined."""

    def slopes(self, precisions: Floats) -> Floats:
        """The derivatives of the error by each of the precisions, (n,), none of them positive."""


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """Shares low <= r <= high that keep the level: ``spent`` r <= 1; high is cut to what low leaves.

    Attributes:
        spent: Part of the level that a share 1 of each family spends, for each way to change the cells; (ways, n).
    """

    low: Floats
    high: Floats
    spent: Floats

    @classmethod
    def of(cls, low: Floats, high: Floats, spent: Floats) -> "Box | None":
        """The box; None where all shares in it spend too much, or could all be larger."""
        left = 1 - spent @ low
        # Shares are floats: what spends too much by their rounding still keeps the level.
        if left.min() < -1e-12 or (spent @ high).max() < 1 - 1e-12:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            most = np.where(spent > 0, left[:, None] / spent, np.inf).min(axis=0)
        # Rounded outward: a box may hold shares too many, and none too few, or its bound would be none.
        return cls(low, np.maximum(low, np.minimum(high, low + most + 1e-12)), spent)

    def middle(self) -> Floats:
        """Shares on the way from low to high, as large as the level allows."""
        width = self.high - self.low
        grown = self.spent @ width
        ways = grown > 1e-300  # a box without width in a direction does not bound the way
        reach = ((1 - self.spent @ self.low)[ways] / grown[ways]).min(initial=1)
        return np.asarray(self.low + max(0.0, reach) * width)

    def least(self, slopes: Floats) -> tuple[Floats, float]:
        """Shares in the box with the least slopes . r, and a number that this is not below; no slope is positive.

        Where there is one way alone, what is left over goes where it gains most for what it spends. Else a linear
        program, whose multipliers y of the ways prove slopes . r >= the least of (slopes + y spent) . r, less sum y.
        """
        if len(self.spent) == 1:
            spent, shares = self.spent[0], self.low.copy()
            left = 1 - float(spent @ self.low)
            with np.errstate(divide="ignore"):
                order = np.argsort(np.where(spent > 0, slopes / spent, -np.inf))
            for place in order:
                room = self.high[place] - self.low[place]
                shares[place] += (added := min(room, max(left, 0.0) / spent[place]) if spent[place] > 0 else room)
                left -= added * spent[place]
            return shares, float(slopes @ shares)
        rows, columns = np.nonzero(self.spent)
        bounds = {"column_lower": self.low, "column_upper": self.high}
        ends = {"lower": np.full(len(self.spent), -np.inf), "upper": np.maximum(1.0, self.spent @ self.low)}
        solution = solve(LinearProgram.of_triplets(slopes, rows, columns, self.spent[rows, columns], **ends, **bounds))
        # Any y >= 0 proves a bound: the solver guesses it, and is not believed.
        y = np.maximum(-solution.duals, 0)
        reduced = slopes + y @ self.spent
        proven = float(np.where(reduced > 0, reduced * self.low, reduced * self.high).sum() - y @ ends["upper"])
        return np.clip(solution.primal, self.low, self.high), proven

    def halves(self) -> "list[Box]":
        """The two halves across the longest side, where shares in them keep the level."""
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
    families: Iterable[Any] | None = None,
    *,
    start: Mapping[Any, Number] | None = None,
    tolerance: Number = "1/50",
    most_boxes: int = 20_000,
    progress: Callable[[int, float], None] | None = None,
) -> CertifiedShares:
    """The best shares of a level over a few families, with a bound on what any shares could reach.

    Args:
        workload: Wanted sums, and how much the error of each counts.
        unit: Unit of privacy.
        epsilon: the level of the whole release.
        families: Families that may be measured; all of use where None. Up to four take seconds; the boxes grow
            exponentially.
        tolerance: Factor by which the error found may exceed the bound, less 1; > 0.
        start: shares to begin with; searched where None.
        most_boxes: Number of boxes after which the bound reached is returned, and
            `CertifiedShares.is_certified` says no.
        progress: is told how many boxes were halved and within which factor the error is, every hundred boxes.

    Raises:
        OutOfRange: for an invalid tolerance or families, and families that do not determine a wanted answer.
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
        remedy = "Leave exactly= out; what is certified then holds for less than is promised."
        raise Unsupported("certified shares need totals that are not public", came="exactly=True", remedy=remedy)
    chosen = candidate_families(workload) if families is None else named_candidates(workload, families)
    rules = rooms(unit, workload.domain.size)
    if families is None and any(room.free for room in rules):
        chosen |= {workload.domain.family(""): 1}
    blocks = VarianceComponents.of(workload.domain, chosen, workload.eigenspaces)
    whole, spectrum = float(level_of_cells(unit, level(epsilon)).epsilon_float), workload.spectrum(blocks)
    spent = np.array(spent_by(workload.domain, unit, chosen), dtype=float)
    largest = largest_share(spent)
    error = WeighedError.of(blocks, [spectrum], whole * largest)
    if start is None:
        starts = []
        for room in rules:
            by_rule = WeighedError.of(blocks, [spectrum], whole, room)
            found = best_shares(by_rule, search_starts(workload, chosen, by_rule)) + by_rule.free
            starts.append(np.asarray(float(room.scale) * found))
    else:
        starts = [_given(workload, list(chosen), start)]
    search = Search(error, spent * largest, starts)
    most = natural(most_boxes, "most_boxes")
    bound, boxes = search.certify(gap, most, progress)
    unit_variance = 1 / float(precision(error.level))
    shares = dict(zip(chosen, (largest * search.shares).tolist(), strict=True))
    exactly = "" if is_exact(workload.domain, unit, chosen) else ", charged as Plan.charge says, which is no less"
    holds_for = f"one level per family of these, linear unbiased estimates{exactly}"
    return CertifiedShares(shares, search.value * unit_variance, bound * unit_variance, boxes, gap, holds_for)


def read_tolerance(tolerance: Number) -> float:
    """The factor by which an error may exceed its bound, less 1."""
    gap = float(exact(tolerance, "tolerance"))
    if not gap > 0:
        raise OutOfRange("the tolerance must be positive", came=tolerance, remedy='Pass tolerance="1/50".')
    return gap


def largest_share(spent: Floats) -> float:
    """The largest share that one of those measured can have by itself."""
    return float((1 / spent.max(axis=0)).max())


def _given(workload: Workload, families: list[Family], start: Mapping[Any, Number]) -> Floats:
    named = {workload.domain.family(name): float(exact(share, "share")) for name, share in start.items()}
    shares = np.array([named.get(family, 0.0) for family in families])
    if (shares < 0).any() or not shares.sum() > 0:
        raise OutOfRange("the shares to start with must be of these families, and positive", came="others")
    return shares


class Search:
    """The best shares met so far, and the boxes that may hold better ones.

    Args:
        error: Error of precisions, in units of those at the largest share, which is 1.
        spent: Part of the level that each spends at that share, for each way to change the cells; (ways, n).
        starts: shares to begin with, some of them not 0; they are made to spend the level.
    """

    def __init__(self, error: ErrorOfPrecisions, spent: Floats, starts: Iterable[Floats]) -> None:
        self.error, self.spent, self.value = error, spent, np.inf
        for shares in starts:
            self.keep(np.asarray(shares / (spent @ shares).max()))

    def certify(self, gap: float, most: int, progress: Callable[[int, float], None] | None) -> tuple[float, int]:
        """A bound below every error, and how many boxes were halved for it."""
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
        # A box that was left had, when it was left, a bound of at least the value found by then / (1 + gap).
        return min([self.value / (1 + gap), *(lower_bound for lower_bound, _, _ in waiting[:1])]), boxes

    def bound(self, box: Box, gap: float) -> float:
        """A number below the error of all shares in a box; better shares met on the way are kept."""
        low, high = self.error.precisions(box.low), self.error.precisions(box.high)
        # More share everywhere is less error.
        best = float(self.error.values(high)) * (1 - _LOWERED)
        width = box.high - box.low
        # A chord over no width says nothing: level there.
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
            # And that is convex: on the whole box it lies above its tangent.
            slopes = steep * self.error.slopes(chords)
            vertex, least = box.least(slopes)
            tangent = value + least - float(slopes @ shares)
            best = max(best, tangent - _LOWERED * float(value - 2 * slopes @ (vertex + shares)))
            shares = self._nearer(low - steep * box.low, steep, shares, vertex)
        return best

    def _nearer(self, base: Floats, steep: Floats, shares: Floats, vertex: Floats) -> Floats:
        """The best of ten points on the way to the vertex, for the error with chords."""
        tried = shares + _STEPS[:, None] * (vertex - shares)
        values = self.error.values(base + steep * tried)
        return np.asarray(tried[int(values.argmin())])

    def keep(self, shares: Floats) -> None:
        """Keep shares that are better than the best so far, or the first."""
        value = float(self.error.values(self.error.precisions(shares)))
        if value < self.value or not hasattr(self, "shares"):
            self.shares, self.value = shares, value
