"""Search for hat functions: the axis, the spacings, and the budget shares of hat functions and of other marginals.

As a function of the spacings the error has many small local minima, and it is not convex in the shares, so the search
has no proof of optimality. The search starts from one spacing and from two, of sizes that suit ranges and prefixes. The
search changes the spacings by a half, then by a fifth, then by a twentieth, and optimizes the shares each time. The
search is deterministic.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite

import numpy as np

from utmost.core.exact.arrays import Floats
from utmost.errors import Unsupported
from utmost.publish.workloads.measuring.axis_sums import IN_ORDER
from utmost.publish.workloads.measuring.even_levels import EvenLevels
from utmost.publish.workloads.measuring.hat_errors import HatErrors
from utmost.publish.workloads.measuring.marginal_spaces import is_vast
from utmost.publish.workloads.measuring.unit_charge import ShareCondition
from utmost.publish.workloads.measuring.variance_components import precision
from utmost.publish.workloads.measuring.wanted_sums import axes_in_order
from utmost.publish.workloads.measuring.ways.way import Shares
from utmost.publish.workloads.planning.least_under_conditions import least_under_conditions
from utmost.publish.workloads.planning.searches.plan_search import (
    FoundSums,
    PlanRequest,
    SearchObstacle,
    mean_alone,
)
from utmost.publish.workloads.planning.share_exchange import lattice_shares
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Marginal, finest_common, with_level
from utmost.tables.axes.hat_functions import hat_count

MOST_SEARCHED, MOST_NUMBERS = 400, 10**7
"""Limits along an axis: the number of hat functions (each error solves as many linear equations), and that number times
the number of values.
"""

_SHARE_STEPS = 1000
_MARGINALS = 12
_FACTORS = (1.5, 1.2, 1.05)
_GUESSES = ((0.5,), (0.36, 0.7))
_MOVES = (0.5, 0.15, 0.04)


class HatSearch:
    name = "hat functions"

    def obstacle(self, request: PlanRequest) -> SearchObstacle | None:
        remedy = 'Ask for Workload.ranges or Workload.prefixes of an axis, or pass method="marginals".'
        if not axes_in_order(request.workload):
            return SearchObstacle(
                "hat functions can be measured only for ranges and prefixes of an axis of three or more values", remedy
            )
        if is_vast(request.workload.domain) or request.unit.is_distinct:
            return SearchObstacle(
                "hat functions need a smaller domain, and sums or counts other than distinct counts", remedy
            )
        return mean_alone(self.name, request)

    def search(self, request: PlanRequest) -> FoundSums:
        return FoundSums(least_under_conditions(request, _shares, repeats=False))


def _shares(request: PlanRequest, condition: ShareCondition) -> Shares:
    """Search along each axis with wanted ranges, prefixes or windows; return the best shares of all searches."""
    even = EvenLevels.of(request.workload)
    places = axes_in_order(even.workload)
    searched = [_SpacingSearch(even.workload, place, request.level_of_cells, condition).best() for place in places]
    shares, error = min(searched, key=lambda result: result[1])
    if not isfinite(error):
        remedy = 'Declare wider bins, or pass method="marginals".'
        required = f"at most {MOST_SEARCHED} widths of hat functions are searched, of {MOST_NUMBERS} weights in all"
        raise Unsupported(required, remedy=remedy)
    return {even.restored(marginal): share for marginal, share in shares.items()}


class _SpacingSearch:
    """The search along one axis, with the results for all spacings tried so far."""

    def __init__(self, workload: Workload, place: int, level: float, condition: ShareCondition) -> None:
        self.workload, self.place, self.level, self.condition = workload, place, level, condition
        self.size = workload.domain.axes[place].size
        # `beside` are marginals without hat functions. `crossings` are marginals in whose groups on the other axes hat
        # functions are measured.
        wanted = list(workload.marginals)
        ordered = [part.marginal(workload.domain) for part in workload.parts if isinstance(part.sums[place], IN_ORDER)]
        needed = [marginal for marginal in wanted if marginal[place] == 0]
        values = with_level(finest_common(needed), place, 0)
        others = [marginal for marginal in dict.fromkeys([*wanted, *ordered]) if marginal[place] > 0]
        crossings = list(dict.fromkeys([*ordered, values]))
        # Each marginal adds a direction to every trial, so with more than a dozen only the finest are tried.
        if len(crossings) * 2 + len(others) + 1 > _MARGINALS:
            crossings, others = [values], others[: _MARGINALS - 3]
            values = with_level(finest_common(wanted), place, 0)
        totals = [workload.domain.marginal("")] if condition.free > 0 else []
        self.beside, self.crossings = list(dict.fromkeys([values, *others, *totals])), crossings
        self.most = min(MOST_SEARCHED, MOST_NUMBERS // self.size)
        self.known: dict[tuple[int, ...], tuple[float, Floats]] = {}

    def best(self) -> tuple[dict[Marginal, Fraction], float]:
        """Return shares in multiples of 1/1000 at the best spacings, and their error; ({}, inf) if there are none."""
        for guess in _GUESSES:
            # Widen spacings that give too many hat functions.
            least = -(-self.size * 2 // max(1, self.most))
            fitting: list[int] = []
            for power in guess:
                spacing = round(self.size**power)
                fitting.append(max(2, spacing, least, *(last + 1 for last in fitting)))
            self._descend_from(tuple(fitting))
        if not self.known:
            return {}, float("inf")
        chosen = min(self.known, key=lambda spacing_set: self.known[spacing_set][0])
        marginals, errors = self._problem(chosen)
        steps = lattice_shares(errors, self.known[chosen][1], _SHARE_STEPS)
        parts = {marginal: Fraction(int(count), _SHARE_STEPS) for marginal, count in zip(marginals, steps, strict=True)}
        error = float(errors(steps / _SHARE_STEPS)) / float(precision(errors.largest))
        return self.condition.shares(self.workload.domain, parts), error

    def _descend_from(self, spacings: tuple[int, ...]) -> None:
        """Change one spacing at a time, by smaller and smaller factors, while the error decreases."""
        if not self._has_error(spacings, None):
            return
        for factor in _FACTORS:
            going = True
            while going:
                going = False
                for place, up in [(place, up) for place in range(len(spacings)) for up in (True, False)]:
                    # A spacing changes by at least one.
                    times = factor if up else 1 / factor
                    spacing = spacings[place]
                    near = round(spacing * times)
                    changed = max(spacing + 1, near) if up else min(spacing - 1, near)
                    moved = (*spacings[:place], changed, *spacings[place + 1 :])
                    if self._has_error(moved, self.known[spacings][1]) and self._value(moved) < self._value(spacings):
                        spacings, going = moved, True

    def _has_error(self, spacings: tuple[int, ...], start: Floats | None) -> bool:
        """Whether these spacings are allowed and have a finite error; each error is computed only once."""
        if not (
            list(spacings) == sorted(set(spacings))
            and 2 <= spacings[0] <= spacings[-1] <= 2 * self.size
            and sum(hat_count(self.size, spacing) for spacing in spacings) <= self.most
        ):
            return False
        if spacings not in self.known:
            marginals, errors = self._problem(spacings)
            begin = np.full(len(marginals), 1 / len(marginals)) if start is None else start
            # Change one share at a time, by smaller and smaller factors.
            shares, value = begin, float(errors(begin))
            for move in _MOVES:
                for _ in range(20):
                    before = value
                    for place in range(len(shares)):
                        for sign in (move, -move):
                            tried = shares.copy()
                            tried[place] *= np.exp(sign)
                            tried /= tried.sum()
                            now = float(errors(tried))
                            if now < value:
                                shares, value = tried, now
                                break
                    if not value < before * (1 - 1e-6):  # any shares satisfy the level, so the search may end early
                        break
            self.known[spacings] = value, shares
        return isfinite(self.known[spacings][0])

    def _value(self, spacings: tuple[int, ...]) -> float:
        return self.known[spacings][0]

    def _problem(self, spacings: Sequence[int]) -> tuple[list[Marginal], HatErrors]:
        hats = [with_level(crossing, self.place, -spacing) for spacing in spacings for crossing in self.crossings]
        marginals = [*hats, *self.beside]
        return marginals, HatErrors(self.workload, self.place, tuple(marginals), self.level, self.condition)
