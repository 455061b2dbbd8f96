"""Measure sums weighted by hat functions along one axis, and sums over the groups of marginals."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isinf
from typing import ClassVar

from utmost.core.exact.levels import Level
from utmost.core.exact.levels import level as level_of
from utmost.core.privacy.unit import Unit
from utmost.errors import Unsupported
from utmost.publish.workloads.bounds.workload_evidence import WorkloadBounds, level_of_cells
from utmost.publish.workloads.measuring.even_levels import EvenLevels
from utmost.publish.workloads.measuring.hat_errors import hat_variances
from utmost.publish.workloads.measuring.measured_marginals import is_difference, place_of_hats
from utmost.publish.workloads.measuring.variance_components import precision
from utmost.publish.workloads.measuring.wanted_sums import undetermined
from utmost.publish.workloads.measuring.ways.group_sums import IN_PAIRS, GroupSums, of_largest_share
from utmost.publish.workloads.measuring.ways.way import FREE_ESTIMATES, ITS_SHARE, Shares, bounds_without_marginals
from utmost.publish.workloads.reconstruction.estimates import LeastSquares
from utmost.publish.workloads.reconstruction.hat_reconstruction import HatReconstruction
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Marginal

_OF_HATS = (
    f"{ITS_SHARE} A cell that changes by 1 changes the sums under hat functions of spacing s by s in all, so that they "
    "get noise at 1/s of that share. Epsilon is divided among all cells that one individual may change. A cell lies in "
    "one sum of a marginal; in a marginal of hat functions, the cell's weights add up to s. "
    f"The shares add up to 1. {FREE_ESTIMATES}"
)


@dataclass(frozen=True, slots=True)
class HatSums(GroupSums):
    """Measure sums weighted by the hat functions of one axis, and sums over groups."""

    method: ClassVar[str] = "independent"
    proof: ClassVar[str] = _OF_HATS

    def check(self, unit: Unit, shares: Shares) -> None:
        if any(map(is_difference, shares)):
            remedy = "Measure hat functions together with groups, or differences together with groups."
            raise Unsupported(
                "hat functions can be measured together with groups, not with differences",
                came="differences",
                remedy=remedy,
            )
        GroupSums.check(self, unit, shares)

    def check_determined(self, workload: Workload, unit: Unit, shares: Shares) -> None:
        for name, variance in self.variances(workload, unit, shares, level_of(1)).items():
            if isinf(variance):
                raise undetermined(name)

    def variances(self, workload: Workload, unit: Unit, shares: Shares, level: Level) -> dict[str, float]:
        """Compute the variances by equations along the axis of hat functions, in each eigenspace of the other axes."""
        level, shares = of_largest_share(unit, shares, level)
        return variances_along(workload, place_of_hats(shares) or 0, unit, shares, level)

    def reconstruction(self, weights: Mapping[Marginal, int]) -> LeastSquares:
        return HatReconstruction(self.domain, weights)

    def bounds(self, workload: Workload, unit: Unit, shares: Shares, level: Level) -> WorkloadBounds:
        why = IN_PAIRS if unit.is_shared else "hat functions overlap"
        return bounds_without_marginals(workload, unit, level, why)


def variances_along(workload: Workload, place: int, unit: Unit, shares: Shares, level: Level) -> dict[str, float]:
    """Return the mean variance of each part's answers, by least-squares equations along the axis ``place``."""
    even, whole = EvenLevels.of(workload), float(level_of_cells(unit, level).epsilon_float)
    variances = hat_variances(even.workload, place, even.reduced_shares(shares), whole)
    return {name: variance / float(precision(whole)) for name, variance in variances.items()}
