"""What sums are wanted, and which strategy measures them."""

from typing import TYPE_CHECKING

from utmost.provided import RoomNames

if TYPE_CHECKING:
    from utmost.publish.workloads.axes import Axis, hierarchy, plain
    from utmost.publish.workloads.branch_and_bound import CertifiedShares, certified_shares
    from utmost.publish.workloads.cells_together import CellsTogether, pair_noise, ways_together
    from utmost.publish.workloads.chosen_strategy import strategy
    from utmost.publish.workloads.domain import Domain
    from utmost.publish.workloads.listed_keys import listed
    from utmost.publish.workloads.marginal_search import marginals
    from utmost.publish.workloads.ordered_axes import bins
    from utmost.publish.workloads.product_rows import AxisRows, ProductRows
    from utmost.publish.workloads.public_facts import Between, between
    from utmost.publish.workloads.shared_level import SharedLevel, share_level
    from utmost.publish.workloads.signed_axis import SignedAxis
    from utmost.publish.workloads.time_axes import periods
    from utmost.publish.workloads.unequal_trees import tree_estimate, tree_variances
    from utmost.publish.workloads.workload import Part, Workload
    from utmost.publish.workloads.workload_bounds import bounds_of
    from utmost.publish.workloads.workload_evidence import LowerBound, WorkloadBounds, check_lower_bounds
    from utmost.publish.workloads.workload_strategy import Alternatives, Strategy
else:
    __getattr__ = RoomNames(__name__, __file__)

__all__ = [
    "Alternatives",
    "Axis",
    "AxisRows",
    "Between",
    "CellsTogether",
    "CertifiedShares",
    "Domain",
    "LowerBound",
    "Part",
    "ProductRows",
    "SharedLevel",
    "SignedAxis",
    "Strategy",
    "Workload",
    "WorkloadBounds",
    "between",
    "bins",
    "bounds_of",
    "certified_shares",
    "check_lower_bounds",
    "hierarchy",
    "listed",
    "marginals",
    "pair_noise",
    "periods",
    "plain",
    "share_level",
    "strategy",
    "tree_estimate",
    "tree_variances",
    "ways_together",
]
