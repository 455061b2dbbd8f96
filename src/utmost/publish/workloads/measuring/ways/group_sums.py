"""Measure the sums over the groups of marginals; all groups of a level must have one size.

The errors are computed by eigenspaces.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Array, Floats
from utmost.core.exact.levels import Level
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange
from utmost.publish.workloads.bounds.workload_bounds import bounds_of
from utmost.publish.workloads.bounds.workload_evidence import WorkloadBounds, level_of_cells
from utmost.publish.workloads.measuring.even_levels import EvenLevels
from utmost.publish.workloads.measuring.marginal_spaces import MarginalErrors, is_vast
from utmost.publish.workloads.measuring.measured_marginals import is_listed, marginal_in_words, place_of_hats
from utmost.publish.workloads.measuring.unit_charge import charge_of
from utmost.publish.workloads.measuring.variance_components import VarianceComponents
from utmost.publish.workloads.measuring.wanted_sums import check_determined, wants_marginals
from utmost.publish.workloads.measuring.ways.way import (
    FREE_ESTIMATES,
    ITS_SHARE,
    Shares,
    Sums,
    bounds_without_marginals,
)
from utmost.publish.workloads.reconstruction.estimates import LeastSquares
from utmost.publish.workloads.reconstruction.least_squares import Reconstruction
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Domain, Marginal
from utmost.tables.axes.few_cells import FewCells

_LOUDEST = 600.0  # the variance of noise at a higher level is 0 in floats

IN_PAIRS = "one individual changes the two parts of a sum together"


_OF_GROUPS = (
    f"{ITS_SHARE} One individual changes no more sums of a marginal than are charged, "
    f"and the shares add up to 1. {FREE_ESTIMATES}"
)

_TO_BOTH = "one cell of a pair and h - x to the other, so that one individual changes both together"
_TO_THREE = (
    "one cell of three and h - x to another, an event without an amount adds h - l to the third, so that one "
    "individual changes all three together"
)
_OF_SHARED = (
    f"{ITS_SHARE} An amount x between l and h adds x - l to "
    f"{_TO_BOTH} by no more than h - l for each event, in no more pairs than are charged, "
    f"and the shares add up to 1. {FREE_ESTIMATES}"
)

_IN_TOTAL = (
    "One individual's changes of all cells add up to no more than in_total. The privacy loss of geometric noise "
    "depends on this sum alone: the noise is as if one individual changed in_total / sensitivity cells"
)

_EXACTLY = {
    "and the shares add up to 1": (
        "and for every change that one individual may make, the sum over all measured sums of level times change is at "
        "most epsilon"
    ),
    "and the shares of sums add up to 1, as do those of differences": (
        "and the shares of sums, and those of differences, add up to no more than the number of rows that one "
        "individual can change allows"
    ),
}
"""Clauses of a theorem, and the clauses that replace them if the shares add up to more than 1."""


@dataclass(frozen=True, slots=True)
class GroupSums:
    """Measure sums over the groups of marginals: the default method."""

    is_cleanable: ClassVar[bool] = True
    method: ClassVar[str] = "marginals"
    pair: ClassVar[None] = None
    proof: ClassVar[str] = _OF_GROUPS
    domain: Domain

    def check(self, unit: Unit, shares: Shares) -> None:
        place_of_hats(shares)
        unit.check_adds(is_one_cell=all(map(self.domain.is_of_cells, shares)), came="a plan that measures sums")
        if any(map(is_listed, shares)):
            raise OutOfRange("rows= must be given to measure classes of rows", came="no rows", where="rows")
        total = sum(shares.values(), Fraction(0))
        # Shares may add up to more than 1 if no individual can change all parts, or if the total is public.
        if total != 1 and not (total > 1 and self.charge(unit, shares) in ((0, 1) if unit.exactly else (1,))):
            remedy = "Write shares that add up to 1, or leave out share= to let utmost choose the shares."
            raise OutOfRange("the shares must be positive and add up to 1", came="other shares", remedy=remedy)

    def charge(self, unit: Unit, shares: Shares) -> Fraction:
        return charge_of(self.domain, unit, shares)

    def adds_to_one(self, shares: Shares) -> bool:
        return sum(shares.values(), Fraction(0)) == 1

    def shape(self, marginal: Marginal) -> tuple[int, ...]:
        """Return the number of groups along each axis; in a vast domain, only along axes with several groups."""
        if is_vast(self.domain):
            groups = [axis.groups(level) for axis, level in zip(self.domain.axes, marginal, strict=True)]
            return tuple(count for count in groups if count > 1)
        return self.domain.group_shape(marginal)

    def words(self, marginal: Marginal) -> str:
        return marginal_in_words(self.domain, marginal)

    def kind(self, marginal: Marginal) -> str:
        return self.words(marginal) if min(marginal, default=0) < 0 else ""

    def sums(self, cells: NDArray[Any] | FewCells, marginals: Iterable[Marginal]) -> Sums:
        return ((marginal, self.domain.sums(cells, marginal)) for marginal in marginals)

    def check_determined(self, workload: Workload, unit: Unit, shares: Shares) -> None:
        even = EvenLevels.of(workload)
        check_determined(even.workload, even.reduced_shares(shares))

    def variances(self, workload: Workload, unit: Unit, shares: Shares, level: Level) -> dict[str, float]:
        """Compute the variances by eigenspaces; for many tables or a vast domain, by residual subspaces."""
        level, shares = of_largest_share(unit, shares, level)
        if wants_marginals(workload):
            return variances_by_spaces(workload, unit, shares, level)
        blocks, spectra = _components(workload, tuple(shares))
        levels = levels_of(unit, shares, level)
        return {name: blocks.value(spectrum, levels) for name, spectrum in spectra.items()}

    def reconstruction(self, weights: Mapping[Marginal, int]) -> LeastSquares:
        return Reconstruction(self.domain, weights)

    def theorem(self, unit: Unit, shares: Shares) -> str:
        theorem = _OF_SHARED if unit.is_shared and self.proof is _OF_GROUPS else self.proof
        if theorem is _OF_SHARED and unit.amount is not None and unit.amount.missing:
            theorem = theorem.replace(_TO_BOTH, _TO_THREE)
        if unit.in_total is not None:
            theorem = f"{theorem}. {_IN_TOTAL}"
        return theorem if self.adds_to_one(shares) else exactly_charged(theorem)

    def bounds(self, workload: Workload, unit: Unit, shares: Shares, level: Level) -> WorkloadBounds:
        # For many tables, the given marginals of a bound are the measured ones. If sums and counts share noise, there
        # is no bound over given marginals.
        if wants_marginals(workload):
            return bounds_of(workload, unit, level, shares)
        return (
            bounds_without_marginals(workload, unit, level, IN_PAIRS)
            if unit.is_shared
            else bounds_of(workload, unit, level)
        )


@lru_cache(maxsize=8)
def _components(workload: Workload, marginals: tuple[Marginal, ...]) -> tuple[VarianceComponents, dict[str, Array]]:
    """Return the eigenspaces, and the spectrum of each part, which are the same at every level."""
    even = EvenLevels.of(workload)
    blocks = VarianceComponents.of(even.workload.domain, map(even.reduced, marginals), even.workload.eigenspaces)
    return blocks, {part.name: part.spectrum(blocks) for part in even.workload.parts}


def exactly_charged(theorem: str) -> str:
    """Reword a theorem for shares that add up to more than 1, which some units allow (see `unit_charge`)."""
    for plain, exact in _EXACTLY.items():
        theorem = theorem.replace(plain, exact)
    return theorem


def of_largest_share(unit: Unit, shares: Shares, level: Level) -> tuple[Level, dict[Marginal, Fraction]]:
    """Let m be the largest share, at least 1: return the level of share m, and all shares divided by m."""
    # Reduce a share first if it is so large that the variance of its noise would be 0 in floats.
    loudest = Fraction(max(1.0, _LOUDEST / max(1.0, float(level_of_cells(unit, level).epsilon_float))))
    bounded = {marginal: min(share, loudest) for marginal, share in shares.items()}
    largest = max(Fraction(1), *bounded.values())
    return level.scaled(largest), {marginal: share / largest for marginal, share in bounded.items()}


def variances_by_spaces(workload: Workload, unit: Unit, shares: Shares, level: Level) -> dict[str, float]:
    """Return the mean variance of each part's answers, computed by residual subspaces."""
    even = EvenLevels.of(workload)
    errors = MarginalErrors.of(even.workload, even.reduced_shares(shares))
    levels = levels_of(unit, shares, level)
    return {part.name: variance for part, variance in zip(workload.parts, errors.variances(levels), strict=True)}


def levels_of(unit: Unit, shares: Shares, level: Level) -> Floats:
    """Return the level of each marginal's noise, for a change of a cell by 1."""
    return np.array([float(share) for share in shares.values()]) * float(level_of_cells(unit, level).epsilon_float)
