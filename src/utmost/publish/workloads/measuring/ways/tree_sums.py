"""Measure sums over the groups of one axis; groups may differ in size, as states and counties do."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isinf

import numpy as np

from utmost.core.exact.levels import Level
from utmost.core.exact.levels import level as level_of
from utmost.core.privacy.unit import Unit
from utmost.errors import Unsupported
from utmost.publish.workloads.bounds.workload_evidence import level_of_cells
from utmost.publish.workloads.measuring.unequal_trees import TreeError
from utmost.publish.workloads.measuring.variance_components import precision
from utmost.publish.workloads.measuring.wanted_sums import axes_in_order, undetermined
from utmost.publish.workloads.measuring.ways.group_sums import GroupSums, of_largest_share
from utmost.publish.workloads.measuring.ways.hat_sums import variances_along
from utmost.publish.workloads.measuring.ways.way import Shares
from utmost.publish.workloads.reconstruction.estimates import LeastSquares
from utmost.publish.workloads.reconstruction.least_squares import Reconstruction
from utmost.publish.workloads.reconstruction.tree_reconstruction import TreeReconstruction
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Marginal


@dataclass(frozen=True, slots=True)
class TreeSums(GroupSums):
    """Measure sums over the groups of the levels of one axis; the groups of a level may differ in size."""

    def check_determined(self, workload: Workload, unit: Unit, shares: Shares) -> None:
        for name, variance in self.variances(workload, unit, shares, level_of(1)).items():
            if isinf(variance):
                raise undetermined(name)

    def variances(self, workload: Workload, unit: Unit, shares: Shares, level: Level) -> dict[str, float]:
        """Compute variances of ranges, prefixes and windows by equations along the axis; others by two tree passes."""
        level, shares = of_largest_share(unit, shares, level)
        if axes_in_order(workload):
            return variances_along(workload, 0, unit, shares, level)
        by_level = np.zeros(len(workload.domain.axes[0].levels) + 1)
        for marginal, share in shares.items():
            by_level[marginal[0]] = float(share)
        errors = {part.name: TreeError.of(workload.reweighted({part.name: 1}), unit, level) for part in workload.parts}
        whole = float(precision(float(level_of_cells(unit, level).epsilon_float)))
        return {name: float(error(by_level)) / whole for name, error in errors.items()}

    def reconstruction(self, weights: Mapping[Marginal, int]) -> LeastSquares:
        """Return least squares by averages if the groups of each measured level have one size, else by the tree."""
        try:
            return Reconstruction(self.domain, weights)
        except Unsupported:
            return TreeReconstruction(self.domain, weights)
