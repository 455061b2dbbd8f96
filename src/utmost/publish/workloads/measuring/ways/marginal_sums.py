"""Measure sums over the groups of marginals of a vast domain; the errors are computed by residual subspaces."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from utmost.core.exact.levels import Level
from utmost.core.privacy.unit import Unit
from utmost.publish.workloads.bounds.workload_bounds import bounds_of
from utmost.publish.workloads.bounds.workload_evidence import WorkloadBounds
from utmost.publish.workloads.measuring.even_levels import EvenLevels
from utmost.publish.workloads.measuring.marginal_spaces import MarginalErrors
from utmost.publish.workloads.measuring.wanted_sums import undetermined
from utmost.publish.workloads.measuring.ways.group_sums import GroupSums, of_largest_share, variances_by_spaces
from utmost.publish.workloads.measuring.ways.way import Shares
from utmost.publish.workloads.reconstruction.estimates import LeastSquares
from utmost.publish.workloads.reconstruction.marginal_reconstruction import MarginalReconstruction
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Marginal


@dataclass(frozen=True, slots=True)
class MarginalSums(GroupSums):
    """Measure sums over groups of a domain that is too large for an array."""

    is_cleanable: ClassVar[bool] = False

    def check_determined(self, workload: Workload, unit: Unit, shares: Shares) -> None:
        even = EvenLevels.of(workload)
        missing = MarginalErrors.of(even.workload, even.reduced_shares(shares)).undetermined()
        if missing is not None:
            raise undetermined(workload.parts[missing].name)

    def variances(self, workload: Workload, unit: Unit, shares: Shares, level: Level) -> dict[str, float]:
        level, shares = of_largest_share(unit, shares, level)
        return variances_by_spaces(workload, unit, shares, level)

    def reconstruction(self, weights: Mapping[Marginal, int]) -> LeastSquares:
        return MarginalReconstruction(self.domain, weights)

    def bounds(self, workload: Workload, unit: Unit, shares: Shares, level: Level) -> WorkloadBounds:
        return bounds_of(workload, unit, level, shares)
