"""What sums are wanted, and which strategy measures them."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.publish.workloads.axes import Axis as Axis
    from utmost.publish.workloads.axes import hierarchy as hierarchy
    from utmost.publish.workloads.axes import plain as plain
    from utmost.publish.workloads.branch_and_bound import certified_shares as certified_shares
    from utmost.publish.workloads.cells_together import pair_noise as pair_noise
    from utmost.publish.workloads.cells_together import ways_together as ways_together
    from utmost.publish.workloads.chosen_strategy import strategy as strategy
    from utmost.publish.workloads.domain import Domain as Domain
    from utmost.publish.workloads.levels_of_rows import certified_rows as certified_rows
    from utmost.publish.workloads.listed_keys import listed as listed
    from utmost.publish.workloads.marginal_search import marginals as marginals
    from utmost.publish.workloads.ordered_axes import bins as bins
    from utmost.publish.workloads.public_facts import between as between
    from utmost.publish.workloads.shared_level import SharedLevel as SharedLevel
    from utmost.publish.workloads.shared_level import share_level as share_level
    from utmost.publish.workloads.time_axes import periods as periods
    from utmost.publish.workloads.unequal_trees import tree_estimate as tree_estimate
    from utmost.publish.workloads.unequal_trees import tree_variances as tree_variances
    from utmost.publish.workloads.workload import Workload as Workload
    from utmost.publish.workloads.workload_bounds import bounds_of as bounds_of
    from utmost.publish.workloads.workload_evidence import check_lower_bounds as check_lower_bounds
    from utmost.publish.workloads.workload_strategy import Strategy as Strategy
else:
    __getattr__ = RoomNames(__name__, __file__)
    __all__ = sorted(__getattr__.names)
