"""The best strategy with one level per family, certified within a tolerance, by branch and bound; for few families.

The precision P(r) of a share r, in units of the precision of the whole level, is convex with P(0) = 0 and P(1) = 1. So
the error sum_T m_T / (L P(r))_T is no convex function of the shares. On a box of shares low <= r <= high, though, P is
below its chord, and with the chord in its place the error is convex and not larger: a tangent plane bounds it over the
whole box, by the best vertex of box and simplex. The box with the least bound is halved, until that bound is within the
tolerance of the best shares met so far.

Bounds are computed in floats and lowered by one part in 10^9, which is a thousand times their rounding.
"""

import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack

import numpy as np

from utmost.errors import OutOfRange, Unsupported
from utmost.laws.exact import Floats, Level, Number, checked, exact, level, natural
from utmost.laws.exact.long_work import long_work
from utmost.laws.exact.shown import Shown
from utmost.laws.privacy import Unit
from utmost.publish.workloads.blocks import Blocks, precision
from utmost.publish.workloads.candidates import candidate_families, named_candidates, search_starts
from utmost.publish.workloads.domain import Family
from utmost.publish.workloads.strategy_search import WeighedError, best_shares
from utmost.publish.workloads.unit_charge import Room, is_exact, rooms
from utmost.publish.workloads.workload import Workload
from utmost.publish.workloads.workload_evidence import level_of_cells

_LOWERED = 1e-9
_TANGENTS = 12
_STEPS = np.linspace(0.1, 1, 10)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CertifiedShares(Shown):
    """Shares of the level, their weighted error, and a bound that no shares of these families are below.

    Attributes:
        shares: of each family; floats, as `Strategy` has them.
        value: the weighted error of these shares.
        bound: that no strategy of the class ``holds_for`` has a smaller error than.
        boxes: how many were halved.
        tolerance: what was asked for.
        holds_for: the class of strategies that the bound is about.
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


@dataclass(frozen=True, slots=True, eq=False)
class _Box:
    """Shares low <= r <= high with sum 1; high is cut to what the others leave."""

    low: Floats
    high: Floats

    @classmethod
    def of(cls, low: Floats, high: Floats) -> "_Box | None":
        """The box, or None where no shares in it add up to 1."""
        if low.sum() > 1 + 1e-12 or high.sum() < 1 - 1e-12:
            return None
        return cls(low, np.maximum(low, np.minimum(high, 1 - (low.sum() - low) + 1e-12)))

    def least(self, slopes: Floats) -> Floats:
        """The shares in the box with the least slopes . r: what is left over goes where the slope is least."""
        shares, rest = self.low.copy(), 1 - self.low.sum()
        for family in np.argsort(slopes):
            shares[family] += (added := min(self.high[family] - self.low[family], max(rest, 0.0)))
            rest -= added
        return shares

    def halves(self) -> "list[_Box]":
        """The two halves across the longest side, where shares in them add up to 1."""
        side = int(np.argmax(self.high - self.low))
        middle = (self.low[side] + self.high[side]) / 2
        lower, upper = self.high.copy(), self.low.copy()
        lower[side], upper[side] = middle, middle
        halves = [_Box.of(self.low, lower), _Box.of(upper, self.high)]
        return [box for box in halves if box is not None]


class BoxWords(TypedDict, total=False):
    """Where the search of `certified_shares` begins and ends."""

    tolerance: Number
    start: Mapping[Any, Number] | None
    most_boxes: int
    progress: Callable[[int, float], None] | None


@checked
@long_work("Certifying shares")
def certified_shares(
    workload: Workload,
    unit: Unit,
    epsilon: Number | Level,
    families: Iterable[Any] | None = None,
    **search: Unpack[BoxWords],
) -> CertifiedShares:
    """The best shares of a level over a few families, with a bound on what any shares could reach.

    Args:
        workload: what is wanted, and how much the error of each counts.
        unit: what one individual changes.
        epsilon: the level of the whole release.
        families: which may be measured; all of use where None. Up to four take seconds; the boxes grow exponentially.
        tolerance: by which factor the error found may exceed the bound, less 1; > 0, and 1/50 if left out.
        start: shares to begin with; searched where None.
        most_boxes: after so many, 20 000 if left out, the bound reached is returned, and
            `CertifiedShares.is_certified` says no.
        progress: is told how many boxes were halved and within which factor the error is, every hundred boxes.

    Raises:
        OutOfRange: for a tolerance or families that are none, and families that do not determine a wanted answer.
        Unsupported: where the groups of a level differ in size, and where a replaced record may be in more than half of
            the cells, so that the levels have no common rule.

    Source: docs/theory/workload-bounds.md.

    >>> from utmost.publish.workloads import Domain
    >>> wanted = Workload(Domain(a=[*range(20)], b=[*range(50)]), {"a": 1, "b": 1}, per_answer=True)
    >>> found = certified_shares(wanted, Unit(1, 1), 1, ["a", "b"])
    >>> round(found.shares[(0, 1)], 2), found.is_certified
    (0.42, True)
    """
    tolerance, start = search.get("tolerance", "1/50"), search.get("start")
    gap = float(exact(tolerance, "tolerance"))
    if not gap > 0:
        raise OutOfRange("the tolerance must be positive", came=tolerance, remedy='Pass tolerance="1/50".')
    if unit.exactly:
        remedy = "Leave exactly= out; what is certified then holds for less than is promised."
        raise Unsupported("shares are certified where totals are not public", came="exactly=True", remedy=remedy)
    chosen = candidate_families(workload) if families is None else named_candidates(workload, families)
    room = _only_room(unit, workload.domain.size)
    if families is None and room.free:
        chosen |= {workload.domain.family(""): 1}
    blocks = Blocks.of(workload.domain, chosen, workload.eigenspaces)
    whole = float(level_of_cells(unit, level(epsilon)).epsilon_float)
    error = WeighedError.of(blocks, [workload.spectrum(blocks)], whole, room)
    starts = search_starts(workload, chosen, error)
    first = best_shares(error, starts) if start is None else _given(workload, list(chosen), start, error.free)
    reached = _Search(error, first)
    bound, boxes = reached.certify(gap, natural(search.get("most_boxes", 20_000), "most_boxes"), search.get("progress"))
    unit_variance = 1 / float(precision(error.level))
    shares = dict(zip(chosen, (float(room.scale) * (reached.shares + error.free)).tolist(), strict=True))
    exactly = "" if is_exact(workload.domain, unit, chosen) else ", charged as Strategy.charge says, which is no less"
    words = f"one level per family of these, linear unbiased estimates{exactly}"
    return CertifiedShares(shares, reached.value * unit_variance, bound * unit_variance, boxes, gap, words)


def _only_room(unit: Unit, cells: int) -> Room:
    room, *others = rooms(unit, cells)
    if others:
        remedy = "Ask for bounds_of."
        raise Unsupported("shares are certified where they have one rule", came="two", where="unit", remedy=remedy)
    return room


def _given(workload: Workload, families: list[Family], start: Mapping[Any, Number], free: Floats) -> Floats:
    named = {workload.domain.family(name): float(exact(share, "share")) for name, share in start.items()}
    start_shares = np.array([named.get(family, 0.0) for family in families])
    start_shares = np.where(free > 0, np.maximum(start_shares - free, 0), start_shares)
    if (start_shares < 0).any() or not start_shares.sum() > 0:
        raise OutOfRange("the shares to start with must be of these families, and positive", came="others")
    return np.asarray(start_shares / start_shares.sum())


class _Search:
    """The best shares met so far, and the boxes that may hold better ones."""

    def __init__(self, error: WeighedError, shares: Floats) -> None:
        self.error, self.shares, self.value = error, shares, float(error(shares))
        self.spectrum = error.spectra[0]

    def certify(self, gap: float, most: int, progress: Callable[[int, float], None] | None) -> tuple[float, int]:
        """A bound below every error, and how many boxes were halved for it."""
        families = len(self.shares)
        whole = _Box.of(np.zeros(families), np.ones(families))
        assert whole is not None, "some shares add up to 1"
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

    def bound(self, box: _Box, gap: float) -> float:
        """A number below the error of all shares in a box; better shares met on the way are kept."""
        low, high = self.error.precisions(box.low), self.error.precisions(box.high)
        with np.errstate(divide="ignore"):
            best = float((self.spectrum / (high @ self.error.loads)).sum()) * (1 - _LOWERED)
        width = box.high - box.low
        steep = np.where(width > 1e-15, (high - low) / np.where(width > 1e-15, width, 1), 0)
        shares = box.low + width * (1 - box.low.sum()) / max(float(width.sum()), 1e-300)
        for _ in range(_TANGENTS):
            self._keep(shares)
            if best * (1 + gap) >= self.value:
                break
            eigenvalues = (low + steep * (shares - box.low)) @ self.error.loads
            if not (eigenvalues > 0).all():
                break
            quotients = self.spectrum / eigenvalues
            slopes = -steep * (self.error.loads @ (quotients / eigenvalues))
            vertex = box.least(slopes)
            fall = float(slopes @ (vertex - shares))
            tangent = float(quotients.sum()) + fall
            best = max(best, tangent - _LOWERED * float(quotients.sum() - 2 * slopes @ (vertex + shares)))
            shares = self._nearer(low - steep * box.low, steep, shares, vertex)
        return best

    def _nearer(self, base: Floats, steep: Floats, shares: Floats, vertex: Floats) -> Floats:
        """The best of ten points on the way to the vertex, for the error with chords."""
        tried = shares + _STEPS[:, None] * (vertex - shares)
        eigenvalues = (base + steep * tried) @ self.error.loads
        with np.errstate(divide="ignore"):
            values = np.where(eigenvalues > 0, self.spectrum / eigenvalues, np.inf).sum(axis=1)
        return np.asarray(tried[int(values.argmin())])

    def _keep(self, shares: Floats) -> None:
        value = float(self.error(shares))
        if value < self.value:
            self.shares, self.value = shares, value
